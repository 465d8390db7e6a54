#include "reproduce/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include <subspectra/error.hpp>
#include "core/atomic_file.hpp"

namespace subspectra::reproduce {
namespace {

/// 0 to 255 from black to white; 0 where there is nothing to show.
std::vector<png_byte> grey_values(const Vector& pixels, GreyScale scale) {
  constexpr double kWhite = 255.0;
  double least = kInfinity, most = -kInfinity;
  for (const double value : pixels) {
    if (std::isnan(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  std::vector<png_byte> grey(static_cast<std::size_t>(pixels.size()), 0);
  const bool around_zero = scale == GreyScale::kAroundZero;
  if (around_zero) {
    most = std::max(std::abs(least), std::abs(most));
    least = -most;
  }
  const double range = 0.5 * most - 0.5 * least;  // halves: the difference may overflow
  for (Index i = 0; i < pixels.size(); ++i) {
    if (std::isnan(pixels[i])) continue;
    const double share = range > 0.0 ? (0.5 * pixels[i] - 0.5 * least) / range : around_zero ? 0.5 : 0.0;
    grey[static_cast<std::size_t>(i)] = static_cast<png_byte>(std::lround(kWhite * share));
  }
  return grey;
}

/// Makes the folder, and a file in it that does not stay.
void require_folder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) {
    throw Error(fmt::format("{}: the folder cannot be made ({}); name another with ⟨images⟩", folder,
                            problem.message()));
  }
  remove_stale_temporaries(folder);
  if (const int failure = new_file_failure(folder); failure != 0) {
    throw Error(fmt::format("{}: no file can be made in the folder ({}); name another with ⟨images⟩", folder,
                            std::generic_category().message(failure)));
  }
}

}  // namespace

std::string png_bytes(const ImageShape& shape, const Vector& pixels, GreyScale scale) {
  constexpr Index kWidth = 256;
  const Index side = std::max<Index>(1, kWidth / std::max(shape.width, shape.height));
  const auto grey = grey_values(pixels, scale);
  const bool blanks = pixels.hasNaN();
  const std::size_t channels = blanks ? kBlankColour.size() : 1;
  const Index width = shape.width * side, height = shape.height * side;
  std::vector<png_byte> picture;
  picture.reserve(static_cast<std::size_t>(width * height) * channels);
  for (Index i = 0; i < height; ++i) {
    for (Index j = 0; j < width; ++j) {
      const Index pixel = (i / side) * shape.width + j / side;
      if (std::isnan(pixels[pixel])) {
        picture.insert(picture.end(), kBlankColour.begin(), kBlankColour.end());
      } else {
        picture.insert(picture.end(), channels, grey[static_cast<std::size_t>(pixel)]);
      }
    }
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = blanks ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.data(), 0, nullptr) == 0) {
    const std::string reason = std::begin(image.message);
    png_image_free(&image);
    throw Error(fmt::format("the picture could not be written: {}", reason));
  }
  bytes.resize(size);
  return bytes;
}

Album::Album(std::string folder, const ImageShape& shape, Reproduction& result)
    : folder_(std::move(folder)), shape_(shape), result_(result) {
  if (folder_.empty()) return;
  if (!shape_.given()) {
    throw InvalidArgument({.field = "images",
                           .value = "DIR",
                           .rule = "{value} writes pictures, whose height and width are not known",
                           .way_out = "give ⟨shape HxW⟩"});
  }
  require_folder(folder_);
  result_.details["pictures"] = nlohmann::json::array();
}

void Album::add(const std::string& name, const Vector& pixels, GreyScale scale) {
  if (!wanted()) return;
  const std::string file = fmt::format("{}-{}.png", result_.id, name);
  write_file_atomically((std::filesystem::path(folder_) / file).string(), png_bytes(shape_, pixels, scale));
  result_.details["pictures"].push_back(file);
}

void Album::add(const std::string& name, const std::vector<Index>& places, const Vector& values,
                double elsewhere, GreyScale scale) {
  if (!wanted()) return;
  Vector pixels = Vector::Constant(shape_.height * shape_.width, elsewhere);
  for (std::size_t i = 0; i < places.size(); ++i) pixels[places[i]] = values[static_cast<Index>(i)];
  add(name, pixels, scale);
}

}  // namespace subspectra::reproduce
