#include "cluster/kmeans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/streams.hpp"

namespace subspectra {
namespace {

constexpr double kSamePlace = 1e-20;  // of the largest squared distance

/// One restart. Points and centres are columns here: d x n, d x K.
class Lloyd {
 public:
  Lloyd(const Matrix& x, const Vector& weights, double same, Random random)
      : x_(x),
        weights_(weights),
        same_(same),
        random_(random),
        labels_(static_cast<std::size_t>(x.cols()), 0),
        distances_(x.cols()) {}

  void run(Index clusters, Index max_iterations, const RunControl& control) {
    seed(clusters);
    for (iterations_ = 1; iterations_ <= max_iterations; ++iterations_) {
      // The seeding has assigned the points already.
      const bool moved = iterations_ == 1 || assign();
      const bool filled = fill_empty();
      converged_ = !moved && !filled;
      if (converged_) break;
      update();
      if (control.should_stop()) break;
    }
    iterations_ = std::min(iterations_, max_iterations);
    within_ = 0.0;
    for (Index i = 0; i < x_.cols(); ++i) {
      within_ += weights_[i] * (x_.col(i) - centres_.col(labels_[static_cast<std::size_t>(i)])).squaredNorm();
    }
  }

  [[nodiscard]] double within() const { return within_; }
  /// The groups that have points, numbered by the first one.
  [[nodiscard]] KMeansResult result() const {
    KMeansResult out;
    std::vector<int> number(static_cast<std::size_t>(centres_.cols()), -1);
    std::vector<Index> order;
    out.labels.reserve(labels_.size());
    for (const int label : labels_) {
      int& own = number[static_cast<std::size_t>(label)];
      if (own < 0) {
        own = static_cast<int>(order.size());
        order.push_back(label);
        out.sizes.push_back(0);
      }
      out.labels.push_back(own);
      ++out.sizes[static_cast<std::size_t>(own)];
    }
    out.centres = centres_(Eigen::all, order).transpose();
    out.within = within_;
    out.iterations = iterations_;
    out.converged = converged_;
    return out;
  }

 private:
  /// The first point by weight, each further one by weight times squared distance to the nearest one so far.
  void seed(Index clusters) {
    distances_.setOnes();
    centres_.resize(x_.rows(), clusters);
    Index found = 0;
    for (; found < clusters; ++found) {
      const Index i = draw();
      if (i < 0) break;  // every point is at a centre
      centres_.col(found) = x_.col(i);
      for (Index a = 0; a < x_.cols(); ++a) {
        const double distance = (x_.col(a) - centres_.col(found)).squaredNorm();
        if (found > 0 && !(distance < distances_[a])) continue;
        distances_[a] = distance > same_ ? distance : 0.0;
        labels_[static_cast<std::size_t>(a)] = static_cast<int>(found);
      }
    }
    centres_.conservativeResize(Eigen::NoChange, found);
  }

  /// A point with probability proportional to weight times distance; -1 when all of these are zero.
  Index draw() {
    const double total = weights_.dot(distances_);
    if (!(total > 0.0)) return -1;
    const double at = random_.uniform() * total;
    double sum = 0.0;
    Index last = -1;
    for (Index i = 0; i < x_.cols(); ++i) {
      const double own = weights_[i] * distances_[i];
      if (!(own > 0.0)) continue;
      sum += own;
      last = i;
      if (sum > at) break;
    }
    return last;
  }

  bool assign() {
    bool moved = false;
    for (Index i = 0; i < x_.cols(); ++i) {
      int best = 0;
      double least = kInfinity;
      for (Index c = 0; c < centres_.cols(); ++c) {
        const double distance = (x_.col(i) - centres_.col(c)).squaredNorm();
        if (distance < least) {
          least = distance;
          best = static_cast<int>(c);
        }
      }
      int& own = labels_[static_cast<std::size_t>(i)];
      moved = moved || own != best;
      own = best;
      distances_[i] = least;
    }
    return moved;
  }

  /// Lowers the sum, so that the iteration still ends.
  bool fill_empty() {
    std::vector<Index> sizes(static_cast<std::size_t>(centres_.cols()), 0);
    for (const int label : labels_) ++sizes[static_cast<std::size_t>(label)];
    bool filled = false;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      if (sizes[c] > 0) continue;
      Index farthest = -1;
      double most = same_;
      for (Index i = 0; i < x_.cols(); ++i) {
        const auto own = static_cast<std::size_t>(labels_[static_cast<std::size_t>(i)]);
        if (sizes[own] < 2 || !(weights_[i] > 0.0) || !(distances_[i] > most)) continue;
        most = distances_[i];
        farthest = i;
      }
      if (farthest < 0) continue;
      int& label = labels_[static_cast<std::size_t>(farthest)];
      --sizes[static_cast<std::size_t>(label)];
      label = static_cast<int>(c);
      ++sizes[c];
      distances_[farthest] = 0.0;
      filled = true;
    }
    return filled;
  }

  /// The centres of the groups; one without weight stays where it is.
  void update() {
    Matrix sums = Matrix::Zero(centres_.rows(), centres_.cols());
    Vector total = Vector::Zero(centres_.cols());
    for (Index i = 0; i < x_.cols(); ++i) {
      const int c = labels_[static_cast<std::size_t>(i)];
      sums.col(c) += weights_[i] * x_.col(i);
      total[c] += weights_[i];
    }
    for (Index c = 0; c < centres_.cols(); ++c) {
      if (total[c] > 0.0) centres_.col(c) = sums.col(c) / total[c];
    }
  }

  const Matrix& x_;
  const Vector& weights_;
  double same_;
  Random random_;
  std::vector<int> labels_;
  Vector distances_;  ///< squared, to the own centre
  Matrix centres_;
  double within_ = 0.0;
  Index iterations_ = 0;
  bool converged_ = false;
};

}  // namespace

KMeansResult kmeans(const MatrixRef& points, const VectorRef& weights, const KMeansOptions& options,
                    const RunControl& control) {
  const Index n = points.rows();
  if (options.clusters < 1 || options.clusters > n) {
    throw InvalidArgument({.field = "clusters",
                           .value = fmt::to_string(options.clusters),
                           .rule = fmt::format("{{value}}, but 1 <= clusters <= {} points is needed", n)});
  }
  if (options.restarts < 1 || options.max_iterations < 1) {
    throw InvalidArgument(
        fmt::format("KMeansOptions.restarts = {}, max_iterations = {}, but 1 or more is needed of both",
                    options.restarts, options.max_iterations));
  }
  if (weights.size() != 0 &&
      (weights.size() != n || !(weights.minCoeff() >= 0.0) || !(weights.sum() > 0.0))) {
    throw InvalidArgument(
        fmt::format("kmeans: {} numbers >= 0 with a positive sum are needed as weights, one a point", n));
  }
  if (!points.allFinite()) throw InvalidArgument("kmeans: points must be finite");
  const Matrix x = points.transpose();
  const Vector w = weights.size() == 0 ? Vector::Ones(n) : Vector(weights);
  const double extent = n > 0 ? (x.colwise() - x.col(0)).colwise().squaredNorm().maxCoeff() : 0.0;
  std::vector<KMeansResult> results(static_cast<std::size_t>(options.restarts));
  parallel_for(options.restarts, options.threads, [&](Index r) {
    if (r > 0 && control.should_stop()) return;  // the first one always gives an answer
    Lloyd lloyd(x, w, kSamePlace * extent, Random(options.seed, streams::kmeans_restart(r)));
    lloyd.run(options.clusters, options.max_iterations, control);
    results[static_cast<std::size_t>(r)] = lloyd.result();
  });
  constexpr double kEqual = 1e-12;  // rounding does not decide between restarts
  std::size_t best = 0;
  std::vector<double> sums;
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (results[r].labels.empty()) continue;
    sums.push_back(results[r].within);
    if (results[r].within < results[best].within - kEqual * extent * w.sum()) best = r;
  }
  KMeansResult result = std::move(results[best]);
  result.sums = std::move(sums);
  return result;
}

}  // namespace subspectra
