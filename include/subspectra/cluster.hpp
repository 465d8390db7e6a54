#pragma once
/// Without labels: the rows put into clusters by the features that Q-alpha finds relevant.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <subspectra/dataset.hpp>
#include <subspectra/export.hpp>
#include <subspectra/qalpha.hpp>
#include <subspectra/selection.hpp>

namespace subspectra {

enum class RowScaling {
  kUnit,         ///< every row of the eigenvectors divided by its length (Ng, Jordan, Weiss 2001)
  kNone,         ///< eigenvectors as they are
  kEigenvalues,  ///< columns times sqrt(eigenvalue): the distances are those of A itself
};
template <>
struct EnumNames<RowScaling> {
  static constexpr std::array<std::pair<RowScaling, std::string_view>, 3> kNames = {
      {{RowScaling::kUnit, "unit"}, {RowScaling::kNone, "none"}, {RowScaling::kEigenvalues, "eigenvalues"}}};
};

struct ClusterOptions {
  std::optional<Index> clusters = {};  ///< not given: as many as the method has
  Index eigenvectors = 0;
  RowScaling row_scaling = RowScaling::kUnit;
  Index kmeans_restarts = 10;
  Index kmeans_iterations = 300;
  bool no_comparison = false;
  /// What the method is told; `k` of it is how many features are clustered on.
  SelectOptions select = {};

  SUBSPECTRA_EXPORT void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, "clusters of rows; as many columns has Q in the selection");
    field(
        "eigenvectors", o.eigenvectors,
        "leading eigenvectors of the affinity that place the rows. Default (0): clusters - 1 beside the constant one on centred features, clusters under ⟨no_normalize⟩");
    field("row_scaling", o.row_scaling,
          "of the rows of these eigenvectors: to unit length, none, or columns times sqrt(eigenvalue)");
    field("kmeans_restarts", o.kmeans_restarts, "k-means++ seedings; the best one is kept");
    field("kmeans_iterations", o.kmeans_iterations, "most iterations of one restart of k-means");
    field("no_comparison", o.no_comparison, "do not cluster on all features, equally weighted, as well");
  }
};

/// Where the eigenvalues of the affinity fall most.
struct EigenGap {
  Index clusters = 0;  ///< that this suggests; 0: it says nothing
  double ratio = 1.0;  ///< of the last eigenvalue above the fall to the first below
};
/// Clusters against given classes.
struct Agreement {
  Index rows = 0;         ///< that have both
  Index matched = 0;      ///< of them, those whose cluster is matched to their class
  double accuracy = 0.0;  ///< matched/rows under the best matching of clusters to classes
  double adjusted_rand = 0.0;
  std::vector<Index> matching;  ///< the class of every cluster; -1 for one beyond the number of classes
};
/// One clustering of the rows.
struct RowClusters {
  std::vector<int> labels;          ///< one a row, numbered by first appearance
  std::vector<Index> sizes;         ///< rows of each cluster
  std::vector<double> eigenvalues;  ///< leading ones of A, falling: those used and some more
  Index eigenvectors = 0;           ///< used
  double accuracy = 0.0;            ///< largest |A u - l u|/l of those used, before the last product with A
  bool distinct = true;             ///< the last eigenvalue used and the first unused one differ
  EigenGap gap;
  double within = 0.0;                 ///< sum of squares of k-means
  std::vector<double> sums;            ///< the same of every restart
  bool converged = false;              ///< k-means
  Index passes = 0;                    ///< over the data
  std::optional<Agreement> agreement;  ///< with the labels of the table

  [[nodiscard]] Index clusters() const { return static_cast<Index>(sizes.size()); }
};

struct Clustering {
  Selection selection;          ///< weights and ranking; its path is not used
  std::vector<Index> features;  ///< ascending: what the rows were clustered on
  bool by_cut = false;          ///< their number is where the weights fall, not `k`
  RowClusters chosen;
  std::optional<RowClusters> all;    ///< on every feature that varies, equally weighted
  std::optional<double> similarity;  ///< adjusted Rand index of the two
  Index all_features = 0;            ///< that vary and are not excluded
  ClusterOptions options;            ///< as used: `clusters` is a number
  Status status = Status::kInterrupted;
  double cluster_s = 0.0;
  std::vector<std::string> warnings;  ///< of the clustering; the selection has its own
};

/// Weighs the features by `method`, one that needs no labels (QAlpha and its kin), then clusters the rows on
/// the best of them and on all. Labels, where there are any, are used for the agreement alone. Throws
/// InvalidArgument (options), BadInput (values).
[[nodiscard]] SUBSPECTRA_EXPORT Clustering cluster(const Dataset& data, const Method& method = QAlpha{},
                                                   const ClusterOptions& options = {},
                                                   const RunControl& control = RunControl());

}  // namespace subspectra
