#pragma once
/// Grey pictures of what was found.
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "reproduce/experiments.hpp"

namespace subspectra::reproduce {

/// What is black and what is white.
enum class GreyScale {
  kRange,       ///< the smallest value and the largest (all equal: black)
  kAroundZero,  ///< -m and m with m the largest absolute value: 0 is the grey in the middle
};

/// A pixel that shows nothing, in a colour of its own (kBlankColour) that no value is mistaken for.
inline constexpr double kBlank = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::array<unsigned char, 3> kBlankColour = {62, 88, 140};

/// An image of `shape`, pixels row by row, as a PNG of 8-bit grey levels; in colour (RGB) where a pixel is
/// kBlank. Every pixel becomes a square, so that the picture is some 256 pixels wide.
[[nodiscard]] std::string png_bytes(const ImageShape& shape, const Vector& pixels,
                                    GreyScale scale = GreyScale::kRange);

/// Pictures for people: written to a folder, where one is asked for, and named in the result.
class Album {
 public:
  /// No folder, no pictures. Makes the folder and tries it at once: the work before the first picture may be
  /// long. Throws InvalidArgument where `shape` is not given, Error where no file can be made in the folder.
  Album(std::string folder, const ImageShape& shape, Reproduction& result);

  [[nodiscard]] bool wanted() const { return !folder_.empty(); }
  /// Writes `pixels`, one a pixel of the shape, to ID-name.png, atomically. Throws Error.
  void add(const std::string& name, const Vector& pixels, GreyScale scale = GreyScale::kRange);
  /// The same of `values` at the pixels `places`; the others have the value `elsewhere`.
  void add(const std::string& name, const std::vector<Index>& places, const Vector& values, double elsewhere,
           GreyScale scale = GreyScale::kRange);

 private:
  std::string folder_;
  ImageShape shape_;
  Reproduction& result_;
};

}  // namespace subspectra::reproduce
