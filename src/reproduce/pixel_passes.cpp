#include "reproduce/pixel_passes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra::reproduce {

PixelPasses pixel_passes(const Dataset& table, const Pencil& pencil, const ReproduceOptions& options,
                         const RunControl& control) {
  PixelPasses passes;
  passes.candidates = varying_columns(table);
  for (Index j = 0; j < table.features(); ++j) {
    if (!std::binary_search(passes.candidates.begin(), passes.candidates.end(), j))
      passes.constant.push_back(j);
  }
  if (passes.candidates.size() < 2) throw BadInput(table.source() + ": fewer than two pixels vary");
  const auto units = SearchUnits::singles(passes.candidates, {});
  const GreedyOptions greedy{.threads = options.threads};
  const auto pixels = [&](const GreedyPass& pass) {
    std::vector<Index> order;
    for (const Index unit : pass.order)
      order.push_back(units.members[static_cast<std::size_t>(unit)].front());
    return order;
  };
  const auto forward = forward_pass(pencil, units, greedy, control);
  if (control.should_stop()) return passes;
  passes.forward = pixels(forward);
  const auto backward = backward_pass(pencil, units, greedy, control);
  if (control.should_stop()) return passes;
  passes.backward = pixels(backward);
  passes.finished = true;
  return passes;
}

ImageTable images_for(const ReproduceOptions& options, Reproduction& result) {
  ImageTable images = load_images(options);
  constexpr Index kMany = 400;
  const std::string given = images.shape.given()
                                ? fmt::format("{}x{} pixels", images.shape.height, images.shape.width)
                                : counted(images.table.features(), "column");
  std::string text =
      fmt::format("{}: {} of {}", images.table.source(), counted(images.table.rows(), "image"), given);
  if (options.quick && images.shape.given() && images.table.features() > kMany && images.shape.height > 1 &&
      images.shape.width > 1) {
    images = averaged(images, {.height = images.shape.height / 2, .width = images.shape.width / 2});
    text += fmt::format(", averaged down to {}x{} (⟨quick⟩)", images.shape.height, images.shape.width);
  }
  result.protocol.push_back(text + '.');
  result.settings["images"] = images.table.rows();
  result.settings["pixels"] = images.table.features();
  if (images.shape.given()) result.settings["shape"] = {images.shape.height, images.shape.width};
  return images;
}

Index pixels_wanted(const ReproduceOptions& options, Index candidates) {
  return options.k.given() ? options.k.resolved(candidates).hi : std::max<Index>(1, candidates / 2);
}

double leading_variance(const Pencil& pencil, const std::vector<Index>& pixels, int threads) {
  return renormalize(pencil, pixels, Criterion::kLargest, 1, threads).objective;
}

}  // namespace subspectra::reproduce
