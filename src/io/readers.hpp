#pragma once
/// The readers of tables, one file each. A new one defines `extern const TableReader NAME_reader` in
/// io/NAME.cpp (without `extern` a constant stays in its file) and gets a line in readers.cpp; read_dataset,
/// its messages and the command line know it by that.
#include <span>
#include <string>
#include <string_view>

#include "io/raw_table.hpp"

namespace subspectra {

struct TableReader {
  std::string_view endings;       ///< of the files it reads: ".svm .libsvm"
  bool reads_compressed = false;  ///< the same with .gz
  RawTable (*read)(const std::string& path, const ReadOptions& options) = nullptr;
};

/// The reader for files of this ending (".csv"; `compressed`: followed by .gz); null when there is none.
[[nodiscard]] const TableReader* table_reader(std::string_view ending, bool compressed);

using ReadTable = RawTable (*)(const std::string& path, const ReadOptions& options);
/// What reads the format of this name, "tsv"; throws InvalidArgument where there is none.
[[nodiscard]] ReadTable table_format(std::string_view name);
/// "csv, csv2, tsv", for messages.
[[nodiscard]] std::string table_format_names();

/// ".csv .tsv (each also with .gz) .npy .npz", for messages.
[[nodiscard]] std::string table_endings();
/// ".npy, .npz, .svm or .libsvm": all but .csv and .tsv, of which the help pages say more.
[[nodiscard]] std::string endings_beside_csv();

}  // namespace subspectra
