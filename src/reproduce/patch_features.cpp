#include "reproduce/patch_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"

namespace subspectra::reproduce {
namespace {

constexpr Index kPatchSide = 20;
constexpr Index kLeastSide = 4;  ///< of a patch: fewer pixels make no histogram
constexpr Index kTemplates = kTemplatesASide * kTemplatesASide;
constexpr Index kCandidates = kCandidatesASide * kCandidatesASide;

Index bin(double share, Index bins) {
  return std::clamp<Index>(static_cast<Index>(share * static_cast<double>(bins)), 0, bins - 1);
}

/// Histograms of a grid of count x count patches, one a column; place(i, length) is where the i-th begins on
/// a side of that length.
template <class Place>
Matrix histograms(const ColourImage& image, Index side, Index count, Place place) {
  Matrix result(kColourBins, count * count);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      result.col(i * count + j) =
          colour_histogram(image, place(i, image.shape.height), place(j, image.shape.width), side);
    }
  }
  return result;
}

Matrix template_histograms(const ColourImage& image, Index side) {
  return histograms(image, side, kTemplatesASide,
                    [&](Index i, Index length) { return (length - kTemplatesASide * side) / 2 + i * side; });
}

Matrix candidate_histograms(const ColourImage& image, Index side) {
  return histograms(image, side, kCandidatesASide, [&](Index i, Index length) {
    return (i * (length - side) + (kCandidatesASide - 1) / 2) / (kCandidatesASide - 1);
  });
}

}  // namespace

std::array<double, 3> hsv(double red, double green, double blue) {
  const double most = std::max({red, green, blue}), least = std::min({red, green, blue});
  const double range = most - least;
  if (!(range > 0.0)) return {0.0, 0.0, most};
  // Sixths of the circle from red, by the largest channel.
  double hue = most == red     ? (green - blue) / range
               : most == green ? 2.0 + (blue - red) / range
                               : 4.0 + (red - green) / range;
  if (hue < 0.0) hue += 6.0;
  return {hue / 6.0, range / most, most};
}

Vector colour_histogram(const ColourImage& image, Index top, Index left, Index side) {
  Vector counts = Vector::Zero(kColourBins);
  for (Index i = top; i < top + side; ++i) {
    for (Index j = left; j < left + side; ++j) {
      const auto pixel = image.rgb.row(i * image.shape.width + j);
      const auto [hue, saturation, value] = hsv(pixel[0], pixel[1], pixel[2]);
      counts[(bin(hue, kHueBins) * kSaturationBins + bin(saturation, kSaturationBins)) * kValueBins +
             bin(value, kValueBins)] += 1.0;
    }
  }
  return counts / static_cast<double>(side * side);
}

PatchTable patch_matching(const std::string& folder, const ImageShape& shape, int threads,
                          const RunControl& control) {
  const auto files = image_files(folder);
  const auto n = static_cast<Index>(files.size());
  const auto count = static_cast<double>(n);
  const auto per_image = static_cast<double>(kColourBins * (kTemplates + kCandidates));
  require_memory(8.0 * (count * per_image + count * count * static_cast<double>(kTemplates)),
                 fmt::format("matching the patches of {}", counted(n, "image")),
                 "leave images out of the folder");
  const auto load = [&](const ImageFile& file) {
    return read_colour_image(file.path, shape, kCandidatesASide * kPatchSide);
  };
  // The patches of all images have one size, that which the smallest image allows.
  PatchTable result{.table = {}, .side = kPatchSide};
  for (const ImageFile& file : files) {
    if (control.should_stop()) return {};
    const ImageShape size = load(file).shape;
    const Index fits = std::min(size.height, size.width) / kTemplatesASide;
    if (fits < kLeastSide) {
      throw BadInput(
          {.file = file.path},
          fmt::format(
              "has {}x{} pixels, but {} on a side are needed for three patches of {}; remove it from the folder{}",
              size.height, size.width, kTemplatesASide * kLeastSide, kLeastSide,
              shape.given() ? ", or give a larger ⟨shape⟩" : ""));
    }
    result.side = std::min(result.side, fits);
  }
  std::vector<Matrix> templates(files.size()), candidates(files.size());
  parallel_for(n, threads, [&](Index i) {
    if (control.should_stop()) return;
    const auto at = static_cast<std::size_t>(i);
    const ColourImage image = load(files[at]);
    templates[at] = template_histograms(image, result.side);
    candidates[at] = candidate_histograms(image, result.side);
  });
  DatasetParts table;
  table.dense.resize(n, n * kTemplates);
  std::atomic<Index> done = 0;
  parallel_for(n, threads, [&](Index i) {
    if (control.should_stop()) return;
    const Matrix& own = candidates[static_cast<std::size_t>(i)];
    for (Index j = 0; j < n; ++j) {
      for (Index t = 0; t < kTemplates; ++t) {
        const auto wanted = templates[static_cast<std::size_t>(j)].col(t);
        double best = 2.0;
        for (Index c = 0; c < kCandidates; ++c) best = std::min(best, (own.col(c) - wanted).cwiseAbs().sum());
        table.dense(i, j * kTemplates + t) = best;
      }
    }
    control.report("patches", static_cast<double>(++done) / count);
  });
  if (control.should_stop()) return {};
  table.source = folder;
  std::vector<std::string> names, labels;
  for (const ImageFile& file : files) {
    labels.push_back(file.label);
    const std::string name =
        (file.label.empty() ? "" : file.label + '/') + std::filesystem::path(file.path).stem().string();
    for (Index t = 0; t < kTemplates; ++t)
      names.push_back(fmt::format("{}:{},{}", name, t / kTemplatesASide + 1, t % kTemplatesASide + 1));
  }
  table.names = FeatureNames(std::move(names));
  if (std::none_of(labels.begin(), labels.end(), [](const std::string& label) { return label.empty(); }))
    table.labels = Labels::from_texts("folder", labels);
  result.table = std::move(table);
  return result;
}

}  // namespace subspectra::reproduce
