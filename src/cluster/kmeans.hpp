#pragma once
/// K-means: points put into K groups so that the squared distances to the groups' means add up to little.
#include <cstdint>
#include <vector>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra {

struct KMeansOptions {
  Index clusters = 2;
  Index restarts = 10;         ///< seedings; the smallest sum is kept, of equal ones the first
  Index max_iterations = 300;  ///< of one restart
  std::uint64_t seed = 0;
  int threads = 0;
};

struct KMeansResult {
  std::vector<int> labels;   ///< one a point; groups are numbered by their first point: that of point 0 is 0
  Matrix centres;            ///< one a row, clusters x d
  std::vector<Index> sizes;  ///< points of each group, none of them empty
  double within = 0.0;       ///< sum of weight times squared distance to the own centre
  std::vector<double> sums;  ///< `within` of every restart
  Index iterations = 0;      ///< of the restart that was kept
  bool converged = false;    ///< no point moved in its last iteration

  [[nodiscard]] Index clusters() const { return static_cast<Index>(sizes.size()); }
};

/// Lloyd's iteration from k-means++ seeds (Arthur & Vassilvitskii 2007). `points` n x d, `weights` n numbers
/// >= 0 with a positive sum, or empty: all 1. A point goes to the nearest centre, of equally near ones to the
/// one that was seeded first; a group that runs empty takes the point that lies farthest from its own centre,
/// the first of equal ones. Points closer than 1e-10 of the largest distance are one: there are never more
/// groups than such places. Restart i draws from stream 2^44 + i of the seed, so that the answer depends on
/// neither threads nor on how many restarts there are beside the best.   O(restarts iterations n K d).
[[nodiscard]] KMeansResult kmeans(const MatrixRef& points, const VectorRef& weights,
                                  const KMeansOptions& options, const RunControl& control);

}  // namespace subspectra
