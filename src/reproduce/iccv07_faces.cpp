/// ICCV07, Figures 2 to 4: sparse eigenfaces, the variance that few pixels keep, where they lie and how the
/// eigenfaces on them look.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "reproduce/pixel_passes.hpp"
#include "reproduce/png.hpp"
#include "spectral/principal_components.hpp"

namespace subspectra::reproduce {
namespace {

constexpr Index kEigenfaces = 6;  // the paper does not say how many its Figure 4 shows

Vector mean_image(const Dataset& table) {
  Vector sum = Vector::Zero(table.features());
  table.values().each_row([&](Index, const Vector& pixels) { sum += pixels; });
  return sum / static_cast<double>(table.rows());
}

/// Figure 2 (the average face, the chosen pixels) and Figure 4 (eigenfaces on all pixels that vary and on the
/// chosen ones, which are the same for all of them).
void draw_eigenfaces(const Dataset& table, const std::vector<Index>& varying, const std::vector<Index>& mask,
                     const ReproduceOptions& options, const RunControl& control, Album& album,
                     Reproduction& result) {
  const Vector mean = mean_image(table);
  album.add("mean", mean);
  album.add("mean-chosen", mask, mean(mask), kBlank);
  struct Basis {
    const char* name;
    const std::vector<Index>& pixels;
  };
  const Index count = options.components > 0 ? options.components : kEigenfaces;
  double all_variance = 0.0;
  for (const Basis& basis : {Basis{"full", varying}, Basis{"sparse", mask}}) {
    if (control.should_stop()) return;
    const auto faces = principal_components(
        table, basis.pixels, std::min(count, static_cast<Index>(basis.pixels.size())), options.threads);
    if (&basis.pixels == &varying) all_variance = faces.total_variance;
    auto& shares = result.details["eigenface_variances"][basis.name] = nlohmann::json::array();
    for (Index c = 0; c < faces.loadings.cols(); ++c) {
      album.add(fmt::format("eigenface-{}-{}", c + 1, basis.name), basis.pixels, faces.loadings.col(c),
                kBlank, GreyScale::kAroundZero);
      shares.push_back(faces.variances[c] / all_variance);
    }
  }
  result.notes.push_back(fmt::format(
      "Pictures: the mean face, from its darkest pixel to its brightest, also on the chosen pixels alone; {} on all pixels that vary (full) and on the chosen ones (sparse), grey in the middle where an entry is 0, white where it is largest in absolute value and black at minus that, turned so that the largest is positive. Pixels outside a mask are blue.",
      counted(count, "eigenface")));
}

}  // namespace

void sparse_eigenfaces(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  ReproduceOptions reading = options;
  std::string folder;
  if (!options.data.empty()) folder.swap(reading.images);  // beside ⟨data⟩ it is where pictures go
  const ImageTable images = images_for(reading, result);
  Album album(folder, images.shape, result);
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
  if (album.wanted() && !mask.empty())
    draw_eigenfaces(images.table, passes.candidates, mask, options, control, album, result);
  result.status = control.status_or(Status::kHeuristic);
}

}  // namespace subspectra::reproduce
