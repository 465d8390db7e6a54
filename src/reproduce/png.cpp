#include "reproduce/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <vector>

#include <subspectra/error.hpp>
#include "core/atomic_file.hpp"

namespace subspectra::reproduce {
namespace {

/// 0 to 255 from the smallest to the largest of the pixels.
std::vector<png_byte> grey_values(const Vector& pixels) {
  constexpr double kWhite = 255.0;
  const double least = pixels.minCoeff();
  const double range = pixels.maxCoeff() - least;
  std::vector<png_byte> grey(static_cast<std::size_t>(pixels.size()), 0);
  if (!(range > 0.0)) return grey;
  for (Index i = 0; i < pixels.size(); ++i) {
    grey[static_cast<std::size_t>(i)] =
        static_cast<png_byte>(std::lround(kWhite * ((pixels[i] - least) / range)));
  }
  return grey;
}

}  // namespace

std::string png_bytes(const ImageShape& shape, const Vector& pixels) {
  constexpr Index kWidth = 256;
  const Index side = std::max<Index>(1, kWidth / std::max(shape.width, shape.height));
  const auto grey = grey_values(pixels);
  const Index width = shape.width * side, height = shape.height * side;
  std::vector<png_byte> picture(static_cast<std::size_t>(width * height));
  for (Index i = 0; i < height; ++i) {
    for (Index j = 0; j < width; ++j) {
      picture[static_cast<std::size_t>(i * width + j)] =
          grey[static_cast<std::size_t>((i / side) * shape.width + j / side)];
    }
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_GRAY;
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

void write_png(const std::string& folder, const std::string& name, const ImageShape& shape,
               const Vector& pixels) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) {
    throw Error(fmt::format("{}: the folder cannot be made ({}); name another with ⟨images⟩", folder,
                            problem.message()));
  }
  write_file_atomically((std::filesystem::path(folder) / name).string(), png_bytes(shape, pixels));
}

}  // namespace subspectra::reproduce
