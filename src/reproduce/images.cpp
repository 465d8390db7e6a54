#include "reproduce/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "core/memory.hpp"
#include "core/text.hpp"
#include "data/prepare.hpp"
#include "reproduce/papers.hpp"

namespace subspectra::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr Index kLargestSide = 16384;

/// What a file holds, as it stands there.
struct Image {
  ImageShape shape;
  double most = 255.0;  ///< largest value that a pixel may have
  Matrix pixels;        ///< a pixel a row, row by row; one column (grey) or three (red, green, blue)
};

/// The numbers and bytes of a PGM or PPM file, from its text.
class NetpbmReader {
 public:
  NetpbmReader(std::string path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}

  Image read() {
    const std::string magic = bytes_.substr(0, 2);
    if (magic != "P5" && magic != "P2" && magic != "P6" && magic != "P3")
      refuse("is neither a PGM nor a PPM image (it begins with none of P2, P3, P5, P6)");
    const bool text = magic == "P2" || magic == "P3";
    const Index channels = magic == "P3" || magic == "P6" ? 3 : 1;
    at_ = 2;
    Image image;
    image.shape.width = number(kLargestSide, "width");
    image.shape.height = number(kLargestSide, "height");
    if (image.shape.width < 1 || image.shape.height < 1) refuse("has no pixels");
    const Index most = number(65535, "largest value");
    if (most < 1) refuse("has the largest value 0; it must be 1 to 65535");
    image.most = static_cast<double>(most);
    const Index count = image.shape.width * image.shape.height;
    const Index bytes_each = most > 255 ? 2 : 1;
    if (!text) ++at_;  // one white space
    const auto present = static_cast<Index>(bytes_.size()) - static_cast<Index>(at_);
    if (present < count * channels * (text ? 1 : bytes_each)) {
      refuse(fmt::format("is too short for {} x {} pixels", image.shape.height, image.shape.width));
    }
    require_memory(8.0 * static_cast<double>(count) * static_cast<double>(channels), path_,
                   "remove it from the folder");
    image.pixels.resize(count, channels);
    for (Index i = 0; i < count; ++i) {
      for (Index c = 0; c < channels; ++c)
        image.pixels(i, c) = static_cast<double>(text ? number(most, "pixel") : sample(bytes_each));
    }
    return image;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw BadInput({.file = path_}, what + "; convert it to PGM or PPM, or remove it from the folder");
  }
  Index sample(Index bytes_each) {
    Index value = static_cast<unsigned char>(bytes_[at_++]);
    if (bytes_each == 2) value = 256 * value + static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }
  Index number(Index most, const char* what) {
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (at_ < bytes_.size() && (is_space(bytes_[at_]) || bytes_[at_] == '#')) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
      } else {
        ++at_;
      }
    }
    if (at_ >= bytes_.size() || bytes_[at_] < '0' || bytes_[at_] > '9')
      refuse(fmt::format("lacks its {}", what));
    Index value = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      value = 10 * value + (bytes_[at_] - '0');
      if (value > most) refuse(fmt::format("has a {} above {}", what, most));
    }
    return value;
  }

  std::string path_;
  std::string bytes_;
  std::size_t at_ = 0;
};

/// Mean over the block of source pixels that a target pixel stands for.
Vector box_mean(const Eigen::Ref<const Vector>& pixels, const ImageShape& from, const ImageShape& to) {
  Vector result(to.height * to.width);
  for (Index i = 0; i < to.height; ++i) {
    const Index top = i * from.height / to.height;
    const Index bottom = std::max(top + 1, (i + 1) * from.height / to.height);
    for (Index j = 0; j < to.width; ++j) {
      const Index left = j * from.width / to.width;
      const Index right = std::max(left + 1, (j + 1) * from.width / to.width);
      double sum = 0.0;
      for (Index r = top; r < bottom; ++r) {
        for (Index c = left; c < right; ++c) sum += pixels[r * from.width + c];
      }
      result[i * to.width + j] = sum / static_cast<double>((bottom - top) * (right - left));
    }
  }
  return result;
}

void require_smaller(const ImageShape& to, const ImageShape& from, const std::string& source) {
  if (to.height <= from.height && to.width <= from.width) return;
  throw InvalidArgument({.field = "shape",
                         .value = fmt::format("{}x{}", to.height, to.width),
                         .rule = fmt::format("{{value}}, but the images of {} have {}x{} pixels", source,
                                             from.height, from.width),
                         .way_out = "images are averaged down, not enlarged"});
}

Image read_image(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw BadInput({.file = path}, "cannot be read");
  return NetpbmReader(path, std::move(bytes)).read();
}

/// Brightness as television takes it (ITU-R BT.601).
Vector grey_levels(const Image& image) {
  if (image.pixels.cols() == 1) return image.pixels.col(0);
  return image.pixels * Eigen::Vector3d(0.299, 0.587, 0.114);
}

}  // namespace

std::vector<ImageFile> image_files(const std::string& folder) {
  std::vector<ImageFile> files;
  const auto take = [&](const fs::path& directory, const std::string& label) {
    for (const auto& entry : fs::directory_iterator(directory)) {
      const auto extension = entry.path().extension();
      if (entry.is_regular_file() && (extension == ".pgm" || extension == ".ppm"))
        files.push_back({label, entry.path().string()});
    }
  };
  try {
    take(folder, "");
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) take(entry.path(), entry.path().filename().string());
    }
  } catch (const fs::filesystem_error& error) {
    throw BadInput({.file = folder}, "cannot be read as a folder: " + error.code().message());
  }
  std::sort(files.begin(), files.end(),
            [](const ImageFile& a, const ImageFile& b) { return fs::path(a.path) < fs::path(b.path); });
  if (files.empty()) {
    throw BadInput({.file = folder},
                   "holds no .pgm or .ppm image, and no folder in it does; convert the images to PGM or PPM");
  }
  return files;
}

ColourImage read_colour_image(const std::string& path, const ImageShape& shape, Index shortest) {
  const Image image = read_image(path);
  ImageShape to = shape;
  if (!to.given()) {
    to = image.shape;
    const Index side = std::min(to.height, to.width);
    if (shortest > 0 && side > shortest) {  // the longer side in proportion
      to = {.height = std::max<Index>(1, to.height * shortest / side),
            .width = std::max<Index>(1, to.width * shortest / side)};
    }
  }
  require_smaller(to, image.shape, path);
  ColourImage result{.shape = to, .rgb = Matrix(to.height * to.width, 3)};
  for (Index c = 0; c < 3; ++c) {
    const Index from = std::min(c, image.pixels.cols() - 1);
    result.rgb.col(c) = box_mean(image.pixels.col(from), image.shape, to) / image.most;
  }
  return result;
}

ImageTable read_image_folder(const std::string& folder, const ImageShape& shape) {
  const auto files = image_files(folder);
  DatasetParts table;
  std::vector<std::string> labels;
  std::optional<ImageShape> common;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Image image = read_image(files[i].path);
    const ImageShape to = shape.given() ? shape : image.shape;
    require_smaller(to, image.shape, files[i].path);
    if (!common) {
      common = to;
      const auto pixels = to.height * to.width;
      require_memory(8.0 * static_cast<double>(files.size()) * static_cast<double>(pixels),
                     counted(files.size(), "image"), "give a smaller ⟨shape⟩");
      table.dense.resize(static_cast<Index>(files.size()), pixels);
    }
    if (!(to == *common)) {
      throw BadInput(
          {.file = files[i].path},
          fmt::format(
              "is {}x{} but the images before it are {}x{}; give ⟨shape HxW⟩ to average all down to one size",
              to.height, to.width, common->height, common->width));
    }
    table.dense.row(static_cast<Index>(i)) = box_mean(grey_levels(image), image.shape, to);
    labels.push_back(files[i].label);
  }
  table.source = folder;
  table.names = FeatureNames(table.dense.cols());
  if (std::none_of(labels.begin(), labels.end(), [](const std::string& label) { return label.empty(); })) {
    table.labels = Labels::from_texts("folder", labels);
  }
  return {.table = std::move(table), .shape = *common};
}

ImageTable averaged(const ImageTable& images, const ImageShape& shape) {
  require_smaller(shape, images.shape, images.table.source());
  DatasetParts table;
  table.source = images.table.source();
  if (images.table.labels() != nullptr) table.labels = *images.table.labels();
  table.warnings = images.table.warnings();
  table.names = FeatureNames(shape.height * shape.width);
  table.dense.resize(images.table.rows(), shape.height * shape.width);
  images.table.values().each_row(
      [&](Index i, const Vector& pixels) { table.dense.row(i) = box_mean(pixels, images.shape, shape); });
  return {.table = std::move(table), .shape = shape};
}

namespace {

/// Pixels that come column by column, put row by row.
Dataset by_rows(const Dataset& table, const ImageShape& shape) {
  std::vector<Index> order;
  for (Index i = 0; i < shape.height; ++i) {
    for (Index j = 0; j < shape.width; ++j) order.push_back(j * shape.height + i);
  }
  DatasetDetails details = table.details();
  details.names = table.names().selected(order);
  return {std::move(details), table.values().with_features(order)};
}

ImageTable load_folder(const std::string& folder, const ReproduceOptions& options) {
  if (options.by_columns)
    throw InvalidArgument({.field = "by_columns",
                           .rule = fmt::format("is about the columns of a table, and {} is a folder", folder),
                           .way_out = "leave it out: the images know the order of their pixels"});
  return read_image_folder(folder, options.shape);
}

}  // namespace

ImageTable load_images(const ReproduceOptions& options) {
  if (!options.images.empty()) {
    if (!options.data.empty())
      throw InvalidArgument({.field = "data",
                             .value = options.data,
                             .rule = "and ⟨images⟩ are two ways to give images",
                             .way_out = "give one of them"});
    return load_folder(options.images, options);
  }
  if (std::error_code ignored; fs::is_directory(options.data, ignored))
    return load_folder(options.data, options);
  ImageTable images{.table = load_dense_table(options), .shape = options.shape};
  const Index pixels = images.table.features();
  if (!images.shape.given()) {
    const auto side = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(pixels))));
    if (side * side == pixels) images.shape = {.height = side, .width = side};
  } else if (images.shape.height * images.shape.width != pixels) {
    throw InvalidArgument(
        {.field = "shape",
         .value = fmt::format("{}x{}", images.shape.height, images.shape.width),
         .rule = fmt::format("{{value}} is {} pixels, but {} has {} columns",
                             images.shape.height * images.shape.width, images.table.source(), pixels)});
  }
  if (options.by_columns) {
    if (!images.shape.given())
      throw InvalidArgument({.field = "by_columns",
                             .rule = "needs the height and width of the images",
                             .way_out = "give ⟨shape HxW⟩"});
    images.table = by_rows(images.table, images.shape);
  }
  return images;
}

std::string mask_picture(const ImageShape& shape, const std::vector<Index>& chosen,
                         const std::vector<Index>& blank) {
  std::string text;
  for (Index i = 0; i < shape.height; ++i) {
    for (Index j = 0; j < shape.width; ++j) {
      const Index pixel = i * shape.width + j;
      const auto in = [&](const std::vector<Index>& set) {
        return std::binary_search(set.begin(), set.end(), pixel);
      };
      text += in(chosen) ? '#' : in(blank) ? ' ' : '.';
    }
    text += '\n';
  }
  return text;
}

}  // namespace subspectra::reproduce
