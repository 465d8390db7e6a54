#pragma once
/// Images as rows of a table.
#include <string>

#include "subspectra/data/dataset.hpp"
#include "subspectra/reproduce/experiments.hpp"

namespace subspectra::reproduce {

struct ImageTable {
  Dataset table;     ///< one image a row, pixels row by row
  ImageShape shape;  ///< not given when it could not be known
};

/// --data or --images. Without --shape a table whose number of columns is a square is taken for square
/// images.
[[nodiscard]] ImageTable load_images(const ReproduceOptions& options);

/// The PGM files (P5, P2; up to 16 bits) of a folder and of the folders in it, whose names are then the
/// labels; in the order of their names. All of one size, or averaged down to `shape`. Throws BadInput.
[[nodiscard]] ImageTable read_image_folder(const std::string& folder, const ImageShape& shape);

/// Every image averaged down: pixel (i, j) of the result is the mean of its block.
[[nodiscard]] ImageTable averaged(const ImageTable& images, const ImageShape& shape);

/// Lines of text: '#' the features in `chosen` (ascending), ' ' those in `blank`, '.' the others.
[[nodiscard]] std::string mask_picture(const ImageShape& shape, const std::vector<Index>& chosen,
                                       const std::vector<Index>& blank);

}  // namespace subspectra::reproduce
