#pragma once
/// What a format's reader hands over: numbers, names and the text columns beside them. assemble() turns it
/// into a Dataset by the rules that are the same for every format (which column is the target, weights,
/// groups).
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory.hpp"
#include "core/text.hpp"
#include "data/dataset.hpp"
#include "io/byte_source.hpp"
#include "io/read.hpp"
#include "io/table_sink.hpp"

namespace subspectra {

struct RawTable {
  std::string source;
  bool is_sparse = false;
  Matrix dense;                                 ///< N x p numeric columns; NaN for missing
  SparseMatrix sparse;                          ///< N x p, compressed
  std::shared_ptr<const ColumnSource> columns;  ///< N x p in place of either, where it is read in blocks
  bool gaps_are_means = false;                  ///< as in DatasetDetails
  FeatureNames names;                           ///< of the numeric columns
  std::vector<Index> nameless;   ///< those of them whose name was made up in a table that has names
  bool samples_in_rows = false;  ///< the reader itself saw to `transpose`, or the format says so
  bool na_is_done = false;       ///< the reader itself saw to `na`
  std::vector<SideColumn> side;  ///< in file order
  std::optional<Location> first_missing;
  std::optional<InfiniteCell> first_infinite;
  std::vector<std::string> notes;
  std::shared_ptr<MemoryBudget> memory;  ///< in which what stands here is counted; null: nothing is

  [[nodiscard]] Index rows() const {
    return columns ? columns->rows() : is_sparse ? sparse.rows() : dense.rows();
  }
};

/// Rules: a text column with a value of its own in every row (three or more) names the rows. `target` NAME
/// takes that side column or numeric column (its numbers become class names); without it
/// a side column named "class", the one marked is_label, a numeric column named "class", or the last text
/// column that is not ignored, or the last that may_be_target, or the only one that describes_sample and has
/// few values, or a numeric 0/1 column with the name of a target; "none" takes nothing. Weights and groups
/// likewise by name. A text column that is none of these and is not in options.ignore is a category
/// (io/categories.hpp), or refused by name with what to do; with options.needed only if it is among those.
/// Columns that count the rows, without a name or called index, are left out. Duplicate feature names are
/// kept and reported in warnings.
[[nodiscard]] Dataset assemble(RawTable&& table, const ReadOptions& options);

/// What stands in the column of `weights` and is none, "" for a missing value: what is wrong and what to do.
[[nodiscard]] std::string no_weight_sentence(std::string_view text, std::string_view column);
[[nodiscard]] bool is_weight(double value);  ///< finite and >= 0

/// A text column that stands where numbers are needed, in predict's words: what is wrong and what to do.
[[nodiscard]] std::string needed_number_sentence(std::string_view text, std::string_view column);

// --- the readers; each throws BadInput with the place and the way out
// -------------------------------------------
/// What a reader of delimited text may find out by itself from the first two lines.
enum class CsvDetect : std::uint8_t {
  kNothing,
  kSemicolons,  ///< semicolons in place of the separator
  kSeparator,   ///< tabs, semicolons, commas or blanks
};
struct CsvFormat {
  char separator = ',';  ///< ' ': any number of blanks and tabs
  CsvDetect detect = CsvDetect::kNothing;
  bool decimal_comma = false;  ///< 1,5 is a number, too; so it is between semicolons
};
/// Files that end in .csv, and standard input.
inline constexpr CsvFormat kCsvFile = {.separator = ',', .detect = CsvDetect::kSemicolons};
[[nodiscard]] RawTable read_csv(const std::string& path, CsvFormat format, const ReadOptions& options);
/// The same from memory (embedded data, tests, fuzzing); `name` stands for the file in messages.
[[nodiscard]] RawTable read_csv_text(std::string_view text, const std::string& name, CsvFormat format,
                                     const ReadOptions& options);
[[nodiscard]] RawTable read_libsvm(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_arff(const std::string& path, const ReadOptions& options);
/// The text readers over any bytes. `block_bytes` is how much is asked for at a time: tests make it tiny so
/// that every token gets cut by a block border.
inline constexpr std::size_t kTextBlockBytes = std::size_t{1} << 20;
[[nodiscard]] RawTable read_csv_bytes(ByteSource& bytes, const std::string& name, CsvFormat format,
                                      const ReadOptions& options, std::size_t block_bytes = kTextBlockBytes);
[[nodiscard]] RawTable read_libsvm_bytes(ByteSource& bytes, const std::string& name,
                                         const ReadOptions& options,
                                         std::size_t block_bytes = kTextBlockBytes);
[[nodiscard]] RawTable read_arff_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                                       std::size_t block_bytes = kTextBlockBytes);
[[nodiscard]] RawTable read_gct_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                                      std::size_t block_bytes = kTextBlockBytes);
[[nodiscard]] RawTable read_series_matrix(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_series_matrix_bytes(ByteSource& bytes, const std::string& name,
                                                const ReadOptions& options,
                                                std::size_t block_bytes = kTextBlockBytes);
[[nodiscard]] RawTable read_tenx_folder(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_tenx_h5(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_mtx_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                                      std::size_t block_bytes = kTextBlockBytes);
[[nodiscard]] RawTable read_npy(const std::string& path, const ReadOptions& options);
/// The same, but what does not fit into memory is read in blocks (RawTable::columns).
[[nodiscard]] RawTable read_npy_table(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_npz(const std::string& path, const ReadOptions& options);
/// NPY and NPZ from memory; `name` stands for the file in messages.
[[nodiscard]] RawTable read_npy_bytes(std::string_view content, const std::string& name,
                                      const ReadOptions& options);
[[nodiscard]] RawTable read_npz_bytes(std::string_view content, const std::string& name,
                                      const ReadOptions& options);
/// A PLINK fileset from memory; `name` is the stem of its three files in messages. `bed` must outlive the
/// table.
[[nodiscard]] RawTable read_bed_bytes(std::string_view bed, std::string_view bim, std::string_view fam,
                                      const std::string& name, const ReadOptions& options,
                                      std::size_t block_bytes = kTextBlockBytes);
[[nodiscard]] RawTable read_mat(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_h5ad(const std::string& path, const ReadOptions& options);

}  // namespace subspectra
