#pragma once
/// Tables and matrices to files that our readers, NumPy, pandas and R read back. Numbers are written with as
/// few digits as give the same number again. Files are replaced atomically.
#include <stop_token>
#include <string>

#include "core/types.hpp"
#include "data/dataset.hpp"
#include "data/feature_names.hpp"

namespace subspectra {

// --- the contents
/// A text as a field of a CSV table, in quotes where it would be taken for anything else.
[[nodiscard]] std::string csv_text_field(const std::string& text);
/// A header row, one row a sample, the label column last ("class" if it has no name); NaN is NA, a missing
/// label an empty field. Weights and row groups are not written: their columns have no names any more. Throws
/// Error when the text does not fit into memory.
[[nodiscard]] std::string csv_text(const Dataset& data, char separator = ',');
/// A header row of names, then the numbers. `names` has a name for every column.
[[nodiscard]] std::string csv_text(const MatrixRef& matrix, const FeatureNames& names, char separator = ',');
/// NPY format version 1.0: float64, little-endian, Fortran order (as it lies in memory).
[[nodiscard]] std::string npy_bytes(const MatrixRef& matrix);
/// What np.load gives as X (float64), y (texts; empty for a missing label) and names (where they were given),
/// stored and not compressed. A sparse table becomes dense. Throws Error above 4 GiB.
[[nodiscard]] std::string npz_bytes(const Dataset& data);
/// One gzip member without name or time: the same bytes for the same content.
[[nodiscard]] std::string gzip_bytes(std::string_view content);

// --- the files. The ending decides; any other one is refused with InvalidArgument before work is done.
// `stop` ends waiting for somebody to read a pipe.
/// .csv, .tsv, .csv.gz, .tsv.gz
void write_csv(const std::string& path, const Dataset& data, const std::stop_token& stop = {});
/// .npz
void write_npz(const std::string& path, const Dataset& data, const std::stop_token& stop = {});
/// One of the two above.
void write_table(const std::string& path, const Dataset& data, const std::stop_token& stop = {});
/// .csv, .tsv, .csv.gz, .tsv.gz
void write_csv_matrix(const std::string& path, const MatrixRef& matrix, const FeatureNames& names);
void write_npy(const std::string& path, const MatrixRef& matrix);
/// .npy (without names) or text.
void write_matrix(const std::string& path, const MatrixRef& matrix, const FeatureNames& names);

/// Throws InvalidArgument unless write_table (write_matrix) knows the ending.
void require_table_ending(const std::string& path);
void require_matrix_ending(const std::string& path);

}  // namespace subspectra
