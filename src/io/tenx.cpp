/// The folders that 10x Genomics' pipelines write: matrix.mtx (features x barcodes), features.tsv or
/// genes.tsv, barcodes.tsv, each with .gz or without; and files of that kind under other names,
/// GSM1_matrix.mtx.gz beside GSM1_features.tsv.gz. A Matrix Market file alone is a table with samples in
/// rows.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "core/text.hpp"
#include "io/gene_names.hpp"
#include "io/gene_table.hpp"
#include "io/readers.hpp"
#include "io/table_builder.hpp"

namespace subspectra {
namespace {

/// Entries of a Matrix Market file, counted from 0.
struct Coordinates {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int32_t> row, column;
  std::vector<double> value;
};

class MatrixMarketReader {
 public:
  MatrixMarketReader(ByteSource& bytes, std::string name, std::size_t block_bytes, MemoryBudget& memory)
      : name_(std::move(name)),
        memory_(memory),
        for_entries_{.what = fmt::format("the entries of {}", name_),
                     .advice = "take fewer samples, or raise ⟨memory_limit⟩"},
        lines_(bytes, name_, block_bytes, memory) {}

  Coordinates read() {
    read_banner();
    const std::int64_t entries = read_sizes();
    while (next_line()) {
      if (static_cast<std::int64_t>(found_.value.size()) == entries)
        refuse(
            fmt::format("more entries than the {} of the line of sizes; download the file again", entries));
      read_entry();
    }
    if (static_cast<std::int64_t>(found_.value.size()) != entries)
      refuse(fmt::format("the file ends after {} of {} entries; download it again", found_.value.size(),
                         entries));
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw BadInput({.file = name_, .line = std::max(1L, lines_.number()), .column = 1, .place = {}}, what);
  }
  /// The next line that is neither blank nor a comment.
  bool next_line() {
    while (lines_.next(line_)) {
      line_ = trimmed(line_);
      if (!line_.empty() && line_.front() != '%') return true;
    }
    return false;
  }
  std::string_view next_word() {
    line_.remove_prefix(std::min(line_.find_first_not_of(" \t"), line_.size()));
    const std::size_t end = std::min(line_.find_first_of(" \t"), line_.size());
    const std::string_view word = line_.substr(0, end);
    line_.remove_prefix(end);
    return word;
  }
  std::int64_t whole(std::string_view what, std::int64_t least, std::int64_t most) {
    const std::string_view word = next_word();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < least || value > most)
      refuse(fmt::format("{} where {} from {} to {} is needed", shown(word), what, least, most));
    return value;
  }
  void read_banner() {
    if (!lines_.next(line_) || !line_.starts_with("%%MatrixMarket"))
      refuse("no %%MatrixMarket line; a Matrix Market file begins with it");
    next_word();
    if (!equal_ignoring_case(next_word(), "matrix") || !equal_ignoring_case(next_word(), "coordinate"))
      refuse("this is no sparse matrix; '%%MatrixMarket matrix coordinate' is needed");
    const std::string_view field = next_word();
    is_pattern_ = equal_ignoring_case(field, "pattern");
    if (!is_pattern_ && !equal_ignoring_case(field, "integer") && !equal_ignoring_case(field, "real"))
      refuse(fmt::format("entries of kind {}; integer, real or pattern is needed", shown(field)));
    if (const std::string_view symmetry = next_word(); !equal_ignoring_case(symmetry, "general"))
      refuse(fmt::format("a matrix that is {}; a general one is needed", shown(symmetry)));
  }
  std::int64_t read_sizes() {
    if (!next_line()) refuse("the file ends before the line of sizes: rows, columns, entries");
    found_.rows = whole("a number of rows", 1, kMostSparse);
    found_.columns = whole("a number of columns", 1, kMostSparse);
    return whole("a number of entries", 0, kMostSparse);
  }
  void read_entry() {
    memory_.make_room(found_.row, for_entries_);
    memory_.make_room(found_.column, for_entries_);
    memory_.make_room(found_.value, for_entries_);
    found_.row.push_back(static_cast<std::int32_t>(whole("a row", 1, found_.rows) - 1));
    found_.column.push_back(static_cast<std::int32_t>(whole("a column", 1, found_.columns) - 1));
    double value = 1.0;
    if (!is_pattern_) {
      const std::string_view word = next_word();
      if (!parse_number(word, value)) refuse(fmt::format("{} is no number", shown(word)));
    }
    if (!next_word().empty()) refuse("more on the line than row, column and value");
    found_.value.push_back(value);
  }

  std::string name_;
  MemoryBudget& memory_;
  MemoryPurpose for_entries_;
  LineReader lines_;
  std::string_view line_;
  bool is_pattern_ = false;
  Coordinates found_;
};

/// A table of samples in rows; `by_columns`: the samples are the matrix's columns.
RawTable table_of(Coordinates&& found, const std::string& source, bool by_columns, const ReadOptions& options,
                  std::vector<std::string> names, std::vector<std::string> ids) {
  const auto entries = static_cast<double>(found.value.size());
  TableBuilder builder(source, {.most_values = entries, .memory_limit = options.memory_limit.bytes});
  if (by_columns) std::swap(found.row, found.column);
  const std::int64_t rows = by_columns ? found.columns : found.rows;
  const std::int64_t columns = by_columns ? found.rows : found.columns;
  // An empty column costs memory, too: sizes out of a damaged line must not make billions of them.
  constexpr double kBelieved = 1 << 24, kPerEntry = 1000;
  if (static_cast<double>(rows) + static_cast<double>(columns) > kBelieved + kPerEntry * entries)
    throw BadInput({.file = source},
                   fmt::format("the line of sizes speaks of {} x {} for {} entries; download the file again",
                               rows, columns, found.value.size()));
  const MemoryPurpose purpose{.what = fmt::format("a sparse table of {} columns", columns),
                              .advice = "take fewer features, or raise ⟨memory_limit⟩"};
  HeldMemory held(builder.memory());
  held.grow(found.value.capacity() * 16 + static_cast<std::size_t>(columns) * sizeof(std::int32_t), purpose);
  std::vector<std::int32_t> counts(static_cast<std::size_t>(columns), 0);
  for (const std::int32_t j : found.column) ++counts[static_cast<std::size_t>(j)];
  builder.begin_sparse(rows, columns, counts, "matrix");
  builder.sparse_entries(found.row, found.column, found.value);
  const auto count_texts = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      builder.memory().grow(sizeof(std::string) + MemoryBudget::on_heap(text.size()), purpose);
  };
  count_texts(names);
  count_texts(ids);
  if (!names.empty()) builder.feature_names(std::move(names));
  if (!ids.empty()) {
    SideColumn barcodes;
    barcodes.name = "barcode";
    barcodes.values = std::move(ids);
    barcodes.may_be_ignored = true;
    barcodes.is_id = true;
    builder.side_column(std::move(barcodes));
  }
  builder.note(
      fmt::format("sparse, {} samples x {} features, {} stored values", rows, columns, found.value.size()));
  RawTable table = builder.finish();
  table.samples_in_rows = by_columns;
  return table;
}

Coordinates read_coordinates(const std::string& path, const ReadOptions& options) {
  const auto bytes = open_bytes(path);
  MemoryBudget memory(options.memory_limit.bytes);
  return MatrixMarketReader(*bytes, path, kTextBlockBytes, memory).read();
}

/// The columns of a file of a 10x folder, which has no header.
std::vector<std::vector<std::string>> read_columns(const std::string& path, const ReadOptions& options) {
  const auto bytes = open_bytes(path);
  MemoryBudget memory(options.memory_limit.bytes);
  const MemoryPurpose purpose{
      .what = fmt::format("the names in {}", path),
      .advice = "check that the file is one of a 10x folder, or raise ⟨memory_limit⟩"};
  LineReader lines(*bytes, path, kTextBlockBytes, memory);
  std::vector<std::vector<std::string>> columns(2);
  std::vector<std::string_view> fields;
  for (std::string_view line; lines.next(line);) {
    if (trimmed(line).empty()) continue;
    if (line.find('\0') != std::string_view::npos)
      throw BadInput({.file = path, .line = lines.number(), .column = 1, .place = {}},
                     "a zero byte; this is not a text table");
    split_tabs(line, fields, memory, purpose);
    memory.append(columns[0], fields[0], purpose);
    memory.append(columns[1], fields.size() > 1 ? fields[1] : fields[0], purpose);
  }
  return columns;
}

/// The first of these files that is there, with .gz or without; "" where none is.
std::string first_there(const std::string& prefix, std::initializer_list<const char*> names) {
  std::error_code ignored;
  for (const char* name : names) {
    for (const char* zipped : {".gz", ""}) {
      if (std::filesystem::exists(prefix + name + zipped, ignored)) return prefix + name + zipped;
    }
  }
  return {};
}

/// `prefix`: a folder with its slash, or what the names of the three files begin with.
RawTable read_files(const std::string& prefix, const std::string& matrix, const std::string& source,
                    const ReadOptions& options) {
  const std::string features = first_there(prefix, {"features.tsv", "genes.tsv"});
  const std::string barcodes = first_there(prefix, {"barcodes.tsv"});
  for (const auto& [file, what] :
       {std::pair(&features, "features.tsv (or genes.tsv)"), std::pair(&barcodes, "barcodes.tsv")}) {
    if (file->empty())
      throw BadInput(
          {.file = source},
          fmt::format(
              "there is no {} beside {}; a 10x folder holds matrix.mtx, features.tsv and barcodes.tsv, with .gz or without",
              what, matrix));
  }
  Coordinates found = read_coordinates(matrix, options);
  auto genes = read_columns(features, options);
  auto cells = read_columns(barcodes, options);
  const auto require = [&](std::size_t count, std::int64_t wanted, const std::string& file,
                           const char* what) {
    if (static_cast<std::int64_t>(count) != wanted)
      throw BadInput({.file = file},
                     fmt::format("holds {} where {} has {} {}; the files are not of one folder", count,
                                 matrix, wanted, what));
  };
  require(genes[0].size(), found.rows, features, "rows");
  require(cells[0].size(), found.columns, barcodes, "columns");
  return table_of(std::move(found), source, true, options, gene_names(genes[1], genes[0]),
                  std::move(cells[0]));
}

RawTable read_mtx(const std::string& path, const ReadOptions& options) {
  constexpr std::string_view kMatrix = "matrix.mtx";
  const std::size_t slash = path.find_last_of('/');
  const std::size_t at = path.rfind(kMatrix);
  if (at != std::string::npos && (slash == std::string::npos || at > slash)) {
    const std::string prefix = path.substr(0, at);
    if (!first_there(prefix, {"features.tsv", "genes.tsv", "barcodes.tsv"}).empty())
      return read_files(prefix, path, path, options);
  }
  return table_of(read_coordinates(path, options), path, false, options, {}, {});
}

}  // namespace

RawTable read_tenx_folder(const std::string& path, const ReadOptions& options) {
  const std::string prefix = path.ends_with('/') ? path : path + '/';
  const std::string matrix = first_there(prefix, {"matrix.mtx"});
  if (matrix.empty()) {
    throw BadInput(
        {.file = path},
        "is a folder without matrix.mtx; of folders those of 10x are read, which hold matrix.mtx, features.tsv and barcodes.tsv (with .gz or without): name a file, or such a folder");
  }
  return read_files(prefix, matrix, path, options);
}

RawTable read_mtx_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                        std::size_t block_bytes) {
  MemoryBudget memory(options.memory_limit.bytes);
  Coordinates found = MatrixMarketReader(bytes, name, block_bytes, memory).read();
  return table_of(std::move(found), name, false, options, {}, {});
}

extern const TableReader mtx_reader = {.endings = ".mtx", .reads_compressed = true, .read = read_mtx};

}  // namespace subspectra
