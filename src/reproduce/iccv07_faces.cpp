/// ICCV07, Figures 2 and 3: sparse eigenfaces, the variance that few pixels keep and where they lie.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reproduce/pixel_passes.hpp"

namespace subspectra::reproduce {

void sparse_eigenfaces(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  const ImageTable images = images_for(options, result);
  const auto pencil = pca_pencil(images.table, options.threads);
  const PixelPasses passes = pixel_passes(images.table, *pencil, options, control);
  const auto p = static_cast<Index>(passes.candidates.size());
  const Index k_mask = pixels_wanted(options, p);
  result.settings["k"] = k_mask;
  result.protocol.push_back(fmt::format(
      "Forward and backward GSPCA over the {} pixels that vary. The variance of a set is that of its first principal component; it is given as a fraction of that of all pixels.",
      p));
  result.spread = "";
  result.notes.emplace_back(
      "The paper's faces (about 11,000 images of 370 people, 20 x 16 pixels of which a mask of 174, taken in a factory) are not public; its figures are quoted for their shape, not as values to be met on other images.");
  result.status = control.status_or(Status::kHeuristic);
  if (!passes.finished) return;

  const double full = leading_variance(*pencil, passes.candidates, options.threads);
  std::set<Index> sizes = {1,
                           std::max<Index>(1, p / 16),
                           std::max<Index>(1, p / 8),
                           std::max<Index>(1, p / 4),
                           std::max<Index>(1, 3 * p / 8),
                           std::max<Index>(1, p / 2),
                           std::max<Index>(1, 3 * p / 4),
                           p,
                           k_mask};
  double at_mask = 0.0;
  std::vector<Index> mask;
  std::vector<Finding> curve;
  for (const Index k : sizes) {
    if (control.should_stop()) break;
    const auto forward = first_of(passes.forward, k);
    const auto backward = first_of(passes.backward, k);
    const double forward_part = leading_variance(*pencil, forward, options.threads) / full;
    const double backward_part = leading_variance(*pencil, backward, options.threads) / full;
    curve.push_back({.series = "forward", .x = k, .obtained = forward_part});
    curve.push_back({.series = "backward", .x = k, .obtained = backward_part});
    if (k == k_mask) {
      mask = backward_part > forward_part ? backward : forward;
      at_mask = std::max(forward_part, backward_part);
    }
  }
  result.results.push_back(
      {.series = fmt::format("variance kept by {} of {} pixels", k_mask, p),
       .statement =
           "using only half the pixels (k = 85 of 174) there is no appreciable loss compared to the total variance of a full mask; forward and backward passes find sparse solutions of comparable variance (Section 6, Figure 3)",
       .obtained = at_mask});
  result.results.insert(result.results.end(), curve.begin(), curve.end());
  result.details["chosen_pixels"] = mask;
  if (images.shape.given() && !mask.empty()) {
    result.pictures.emplace_back(
        fmt::format("The {} chosen pixels (#) of the first sparse eigenface{}:", k_mask,
                    passes.constant.empty() ? "" : "; pixels that never change are blank"),
        mask_picture(images.shape, mask, passes.constant));
  } else {
    result.notes.emplace_back("No picture of the pixels: give the images' size with ⟨shape HxW⟩.");
  }
  result.status = control.status_or(Status::kHeuristic);
}

}  // namespace subspectra::reproduce
