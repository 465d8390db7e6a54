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

#include <subspectra/cluster.hpp>

#include <subspectra/run_control.hpp>
#include "cluster/agreement.hpp"
#include "core/options.hpp"
#include "qalpha/feature_rows.hpp"
#include "qalpha/qalpha.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {

/// The number of clusters, which every page shows as that of QAlpha where it is not given.
template <>
struct OptionCodec<std::optional<Index>> {
  static std::optional<Index> parse(std::string_view text) { return OptionCodec<Index>::parse(text); }
  static std::string format(const std::optional<Index>& value) {
    return OptionCodec<Index>::format(value.value_or(QAlpha{}.clusters));
  }
  static nlohmann::json json(const std::optional<Index>& value) {
    return OptionCodec<Index>::json(value.value_or(QAlpha{}.clusters));
  }
  static std::string hint() { return OptionCodec<Index>::hint(); }
};

/// The largest l_i/max(l_{i+1}, 5 % of l_1) over successive falling `values`. i eigenvalues above stand for i
/// clusters, or i + 1 where the affinity is centred. `most`: the rank that features and rows allow; that the
/// values end there says nothing.
[[nodiscard]] EigenGap eigen_gap(const VectorRef& values, Index most, bool centred);

/// Spectral clustering of the samples of `rows` under A = sum_i alpha_i m_i m_i', alpha >= 0. Its leading
/// eigenvectors come from products with A by two thin products each; A is never formed.
[[nodiscard]] RowClusters spectral_clusters(const FeatureRows& rows, const VectorRef& alpha,
                                            const ClusterOptions& options, std::uint64_t seed,
                                            const RunControl& control);

/// The weights of these features.
[[nodiscard]] Vector weights_of(const Selection& selection, const std::vector<Index>& features);

/// The methods that weigh features without labels, in the order of the registry.
[[nodiscard]] std::vector<MethodEntry> clustering_methods();

/// Selects by `method`, one of clustering_methods(), then clusters. Features: `k` of `selection` (one
/// number), else those above the largest fall of the weights, or all of positive weight where none is by a
/// factor of 1.1; `include` adds to them. Labels are used for the agreement alone. Throws InvalidArgument
/// (options), and what run_method throws.
[[nodiscard]] Clustering cluster_rows(const Dataset& data, const Method& method,
                                      const SelectOptions& selection, const ClusterOptions& options,
                                      const RunControl& control);

}  // namespace subspectra
