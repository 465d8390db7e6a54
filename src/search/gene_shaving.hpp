#pragma once
/// Gene shaving (Hastie et al., Genome Biology 1(2), 2000): sets of features that rise and fall together,
/// found one after another without labels. docs/methods/components.md
#include <cstdint>
#include <vector>

#include <subspectra/run_control.hpp>
#include <subspectra/sparse_pca.hpp>
#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

struct ShavedSet {
  std::vector<Index> features;  ///< ascending columns of the data set
  Vector signs;                 ///< +1 or -1 each; the feature most like the leading component has +1
  double variance_ratio = 0.0;  ///< R^2: variance of the signed mean over the mean variance of the features
  double gap = 0.0;             ///< R^2 less its mean over the permuted tables
};

/// At most `count` sets. For each: with Z the centred columns, repeat {u = leading left singular vector of
/// Z_S; drop the share `shave` of the features with the smallest |z_j'u|} from S = all features down to one;
/// of the nested sets take the one whose R^2 exceeds by most what the same shaving finds when every column's
/// entries are permuted on their own; then make every column orthogonal to the set's signed mean. Fewer sets
/// where nothing varies any more or `control` stops it.
[[nodiscard]] std::vector<ShavedSet> gene_shaving(const Dataset& data, const std::vector<Index>& features,
                                                  Index count, const GeneShaving& options, std::uint64_t seed,
                                                  int threads, const RunControl& control);

}  // namespace subspectra
