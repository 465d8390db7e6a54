#pragma once
/// What the two experiments on images share: pixels by sparse PCA.
#include "reproduce/images.hpp"
#include "reproduce/papers.hpp"
#include "search/greedy.hpp"
#include "spectral/pencil.hpp"

namespace subspectra::reproduce {

struct PixelPasses {
  std::vector<Index> candidates;         ///< pixels that vary
  std::vector<Index> constant;           ///< pixels that do not
  std::vector<Index> forward, backward;  ///< pixels in order; the set of size k is the first k
  bool finished = false;
};

/// Forward and backward GSPCA over all pixels.
[[nodiscard]] PixelPasses pixel_passes(const Dataset& table, const Pencil& pencil,
                                       const ReproduceOptions& options, const RunControl& control);

/// Under `quick` images of more than 400 pixels are averaged down to half their height and width.
[[nodiscard]] ImageTable images_for(const ReproduceOptions& options, Reproduction& result);

/// `k`, or half the pixels that vary.
[[nodiscard]] Index pixels_wanted(const ReproduceOptions& options, Index candidates);

/// Variance of the first principal component of these pixels.
[[nodiscard]] double leading_variance(const Pencil& pencil, const std::vector<Index>& pixels, int threads);

}  // namespace subspectra::reproduce
