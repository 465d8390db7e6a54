#pragma once
/// Matrices that are no tables of samples: covariances, starts of iterations.
#include <cstdint>
#include <string>

#include "core/types.hpp"
#include "data/feature_names.hpp"

namespace subspectra {

struct SquareMatrix {
  Matrix values;  ///< p x p, finite, exactly symmetric, diagonal >= 0
  FeatureNames names;
  std::string source;  ///< the path
};

/// Reads a `.npy` array or a `.csv`/`.tsv` file (each also with `.gz`): p x p numbers, with or without a
/// header row of p names and a first column of the same names. `memory_limit` as in memory_budget(). Throws
/// BadInput with FILE:LINE:COLUMN (NPY: the entry) for what is empty, not square, not finite, not symmetric,
/// or has a negative diagonal; Error when it does not fit into memory.
[[nodiscard]] SquareMatrix read_square_matrix(const std::string& path, std::uint64_t memory_limit = 0);

/// The numbers of a `.npy` array or of a `.csv`/`.tsv` file (each of the latter also with `.gz`), of any
/// shape, the text with or without a header row. Throws BadInput as above for what is empty, ragged or not
/// finite.
[[nodiscard]] Matrix read_matrix(const std::string& path, std::uint64_t memory_limit = 0);

}  // namespace subspectra
