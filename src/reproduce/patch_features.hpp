#pragma once
/// Images as rows of a table by how well patches of the others match them (JMLR05, Section 6).
#include <array>
#include <string>

#include <subspectra/run_control.hpp>
#include "data/dataset.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/images.hpp"

namespace subspectra::reproduce {

/// Hue, saturation and value of a colour in 0..1, each in 0..1; the hue of a grey is 0.
[[nodiscard]] std::array<double, 3> hsv(double red, double green, double blue);

inline constexpr Index kHueBins = 8, kSaturationBins = 4, kValueBins = 4;
inline constexpr Index kColourBins = kHueBins * kSaturationBins * kValueBins;

/// The share of the pixels of a square patch in every bin of hue x saturation x value; they add up to 1.
[[nodiscard]] Vector colour_histogram(const ColourImage& image, Index top, Index left, Index side);

inline constexpr Index kTemplatesASide = 3;   ///< in the middle of an image, side by side
inline constexpr Index kCandidatesASide = 7;  ///< evenly over an image, from edge to edge

struct PatchTable {
  Dataset table;   ///< an image a row, a template of an image a column; labels are the folders
  Index side = 0;  ///< of a patch, pixels
};

/// Entry (image, template) is the least L1 distance (0 to 2) between the template's histogram and those of
/// the candidates in the image. Patches have 20 x 20 pixels, or a third of the shortest side of an image
/// where that is less. An image whose shorter side is above 140 pixels, seven patches, is averaged down to
/// that, or all of them to `shape`. Throws BadInput. Empty when `control` stops it.
[[nodiscard]] PatchTable patch_matching(const std::string& folder, const ImageShape& shape, int threads,
                                        const RunControl& control);

}  // namespace subspectra::reproduce
