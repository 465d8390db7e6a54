#pragma once
/// Rows put into clusters by the features that Q-alpha finds relevant: spectral clustering of the affinity
/// A = sum_j alpha_j m_j m_j' over the chosen features, beside the same on all of them.
/// docs/methods/cluster.md
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/agreement.hpp"
#include "core/options.hpp"
#include "core/run_control.hpp"
#include "qalpha/feature_rows.hpp"
#include "qalpha/qalpha.hpp"
#include "select/methods.hpp"

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

struct ClusteringOptions {
  Index clusters = QAlphaOptions().clusters;
  Index eigenvectors = 0;
  RowScaling row_scaling = RowScaling::kUnit;
  Index kmeans_restarts = 10;
  Index kmeans_iterations = 300;
  bool no_comparison = false;

  void validate() const;  ///< throws InvalidArgument
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
/// The largest l_i/max(l_{i+1}, 5 % of l_1) over successive falling `values`. i eigenvalues above stand for i
/// clusters, or i + 1 where the affinity is centred. `most`: the rank that features and rows allow; that the
/// values end there says nothing.
[[nodiscard]] EigenGap eigen_gap(const VectorRef& values, Index most, bool centred);

/// One clustering of the rows.
struct RowClusters {
  std::vector<int> labels;   ///< one a row, numbered by first appearance
  std::vector<Index> sizes;  ///< rows of each cluster
  Vector eigenvalues;        ///< leading ones of A, falling: those used and some more
  Index eigenvectors = 0;    ///< used
  double accuracy = 0.0;     ///< largest |A u - l u|/l of those used, before the last product with A
  bool distinct = true;      ///< the last eigenvalue used and the first unused one differ
  EigenGap gap;
  double within = 0.0;                 ///< sum of squares of k-means
  std::vector<double> sums;            ///< the same of every restart
  bool converged = false;              ///< k-means
  Index passes = 0;                    ///< over the data
  std::optional<Agreement> agreement;  ///< with the labels of the table

  [[nodiscard]] Index clusters() const { return static_cast<Index>(sizes.size()); }
};

/// Spectral clustering of the samples of `rows` under A = sum_i alpha_i m_i m_i', alpha >= 0. Its leading
/// eigenvectors come from products with A by two thin products each; A is never formed.
[[nodiscard]] RowClusters spectral_clusters(const FeatureRows& rows, const VectorRef& alpha,
                                            const ClusteringOptions& options, std::uint64_t seed,
                                            const RunControl& control);

struct Clustering {
  Selection selection;          ///< weights and ranking; its path is not used
  std::vector<Index> features;  ///< ascending: what the rows were clustered on
  bool by_cut = false;          ///< their number is where the weights fall, not `k`
  RowClusters chosen;
  std::optional<RowClusters> all;    ///< on every feature that varies, equally weighted
  std::optional<double> similarity;  ///< adjusted Rand index of the two
  Index all_features = 0;            ///< that vary and are not excluded
  ClusteringOptions options;
  Status status = Status::kInterrupted;
  double cluster_s = 0.0;
  std::vector<std::string> warnings;  ///< of the clustering; the selection has its own
};

/// The methods that weigh features without labels, in the order of methods().
[[nodiscard]] std::vector<MethodInfo> clustering_methods();

/// Selects by `method`, one of clustering_methods(), then clusters. Features: `k` of `selection` (one
/// number), else those above the largest fall of the weights, or all of positive weight where none is by a
/// factor of 1.1; `include` adds to them. Labels are used for the agreement alone. Throws InvalidArgument
/// (options), and what select_features throws.
[[nodiscard]] Clustering cluster_rows(const Dataset& data, const MethodInfo& method,
                                      const SelectionOptions& selection, const OptionTexts& texts,
                                      const ClusteringOptions& options, const RunControl& control);

}  // namespace subspectra
