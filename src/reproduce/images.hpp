#pragma once
/// Images as rows of a table.
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "reproduce/experiments.hpp"

namespace subspectra::reproduce {

struct ImageTable {
  Dataset table;     ///< one image a row, pixels row by row
  ImageShape shape;  ///< not given when it could not be known
};

/// `data`, a table or a folder of images, or `images`, such a folder. Pixels of a table in the order that
/// `by_columns` says. Without `shape` a table whose number of
/// columns is a square is taken for square images.
[[nodiscard]] ImageTable load_images(const ReproduceOptions& options);

struct ImageFile {
  std::string label;  ///< the folder in the folder; empty for images beside the folders
  std::string path;
};
/// The .pgm and .ppm files of a folder and of the folders in it, in the order of their names. Throws
/// BadInput when there are none.
[[nodiscard]] std::vector<ImageFile> image_files(const std::string& folder);

struct ColourImage {
  ImageShape shape;
  Matrix rgb;  ///< a pixel a row, row by row: red, green, blue in 0..1; a grey image has three times its own
};
/// A PGM or PPM file (P2, P3, P5, P6; up to 16 bits), averaged down to `shape`, or where that is not given to
/// a shorter side of `shortest` pixels if it is longer (0: as it is). Throws BadInput.
[[nodiscard]] ColourImage read_colour_image(const std::string& path, const ImageShape& shape, Index shortest);

/// The images of a folder as grey levels, with the names of the folders in it as labels. All of one size, or
/// averaged down to `shape`. Throws BadInput.
[[nodiscard]] ImageTable read_image_folder(const std::string& folder, const ImageShape& shape);

/// Every image averaged down: pixel (i, j) of the result is the mean of its block.
[[nodiscard]] ImageTable averaged(const ImageTable& images, const ImageShape& shape);

/// Lines of text: '#' the features in `chosen` (ascending), ' ' those in `blank`, '.' the others.
[[nodiscard]] std::string mask_picture(const ImageShape& shape, const std::vector<Index>& chosen,
                                       const std::vector<Index>& blank);

}  // namespace subspectra::reproduce
