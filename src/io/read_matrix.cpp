/// Square matrices. A CSV file may have a header row, a column of row names, both or neither. Which one is
/// decided by counting, since the numbers have to be square. With n records of w fields:
///   n = w + 1  a header row
///   n = w      numbers alone; or header row and row names, if the corner is no number
///   n = w - 1  row names alone
/// A first record that is one field shorter than the others is a header without a corner.
#include "io/read_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "data/symmetric.hpp"
#include "io/csv_records.hpp"
#include "io/file_ending.hpp"
#include "io/npy_array.hpp"
#include "io/random_bytes.hpp"
#include "io/raw_table.hpp"
#include "io/row_store.hpp"
#include "io/text_columns.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr double kMissingEntry = std::numeric_limits<double>::quiet_NaN();

constexpr std::string_view kWhatIsNeeded = "a covariance matrix has as many rows as columns";

/// The place of the entry in row i and column j, both from 0.
using PlaceOf = std::function<Location(Index i, Index j)>;

/// Finite, diagonal >= 0, symmetric to the tolerance; then symmetric to the bit.
void check_and_symmetrize(Matrix& a, const PlaceOf& place_of) {
  const auto flaw = symmetrize_covariance(a);
  if (!flaw) return;
  const Location place = place_of(flaw->row, flaw->column);
  const double found = a(flaw->row, flaw->column);
  switch (flaw->kind) {
    case CovarianceFlaw::Kind::kNotFinite:
      throw BadInput(
          place,
          fmt::format(
              "{} where a finite number is needed; a covariance matrix has a value for every pair of features",
              std::isnan(found) ? "a missing value" : "an infinite value"));
    case CovarianceFlaw::Kind::kNegativeVariance:
      throw BadInput(
          place,
          fmt::format(
              "the diagonal holds {}, but a variance is never negative; check that the file holds a covariance matrix",
              number_text(found)));
    case CovarianceFlaw::Kind::kNotSymmetric: {
      const Location mirror = place_of(flaw->column, flaw->row);
      throw BadInput(
          place,
          fmt::format(
              "{} here but {} at {}: the matrix is not symmetric; write it in full, or (A + A')/2 if the difference is rounding",
              number_text(found), number_text(a(flaw->column, flaw->row)),
              mirror.line > 0 ? fmt::format("line {}, column {}", mirror.line, mirror.column)
                              : mirror.place));
    }
  }
}

// --- text
// ---------------------------------------------------------------------------------------------------

bool is_number_text(std::string_view text) {
  double value = 0.0;
  return !is_missing_token(text) && parse_number(text, value);
}

class SquareCsv {
 public:
  SquareCsv(std::string path, std::uint64_t memory_limit)
      : path_(std::move(path)),
        memory_(std::make_shared<MemoryBudget>(memory_limit)),
        purpose_{.what = fmt::format("the matrix in {}", path_),
                 .advice = "leave features out of it, or raise ⟨memory_limit⟩"} {}

  SquareMatrix read(CsvFormat format) {
    for_each_csv_record(path_, format, memory_, [&](CsvRecord& record) { take(record); });
    if (lines_.empty()) {
      throw BadInput({.file = path_}, "the file holds no data, only blank lines or nothing at all");
    }
    if (lines_.size() == 1) start(width_of(first_));
    settle_layout();
    SquareMatrix matrix;
    matrix.source = path_;
    matrix.values = values();
    matrix.names = names();
    check_and_symmetrize(matrix.values, [this](Index i, Index j) {
      return where(lines_[static_cast<std::size_t>(i) + (header_ ? 1 : 0)], j + (row_names_ ? 1 : 0));
    });
    return matrix;
  }

 private:
  static Index width_of(const CsvRecord& record) { return static_cast<Index>(record.fields.size()); }
  [[nodiscard]] Location where(long line, Index column) const {
    return {.file = path_, .line = line, .column = static_cast<long>(column) + 1, .place = {}};
  }

  double number(const CsvField& field, long line, Index column) const {
    double value = kMissingEntry;
    if (!is_missing_token(field.text) && !parse_number(field.text, value)) {
      throw BadInput(
          where(line, column),
          fmt::format("{} is not a number; names may stand in the first row and the first column only{}",
                      shown(field.text), decimal_comma_hint(field.text)));
    }
    return value;
  }

  /// The width is that of the second record: the first may be a header without a corner.
  void start(Index width) {
    width_ = width;
    const Index first = width_of(first_);
    short_header_ = first == width - 1;
    if (first != width && !short_header_) refuse_width(width, lines_[1], first, lines_[0]);
    rows_ = std::make_unique<RowStore>(width_, path_, *memory_);
  }

  [[noreturn]] void refuse_width(Index fields, long line, Index expected, long expected_line) const {
    throw BadInput(where(line, std::min(fields, expected)),
                   fmt::format("the row has {} field{} but line {} has {}; {}", fields,
                               fields == 1 ? "" : "s", expected_line, expected, kWhatIsNeeded));
  }

  void take(CsvRecord& record) {
    memory_->make_room(lines_, purpose_);
    lines_.push_back(record.line);
    if (lines_.size() == 1) {
      memory_->grow(record.fields.capacity() * sizeof(CsvField), purpose_);
      for (const CsvField& field : record.fields)
        memory_->grow(MemoryBudget::on_heap(field.text.size()), purpose_);
      first_.fields.swap(record.fields);
      return;
    }
    if (lines_.size() == 2) start(width_of(record));
    if (width_of(record) != width_) refuse_width(width_of(record), record.line, width_, lines_[1]);
    if (static_cast<Index>(lines_.size()) >
        width_ + 1) {  // said now: this may be a table of a million samples
      throw BadInput(
          where(record.line, 0),
          fmt::format(
              "more than {} rows of {} columns: not square, and {}; a table of samples is given as DATA instead",
              width_, width_, kWhatIsNeeded));
    }
    const auto row = rows_->row();
    // The first column may hold names; what it is turns out at the end.
    row[0] = kMissingEntry;
    if (is_number_text(record.fields[0].text)) static_cast<void>(parse_number(record.fields[0].text, row[0]));
    for (std::size_t j = 1; j < record.fields.size(); ++j) {
      row[j] = number(record.fields[j], record.line, static_cast<Index>(j));
    }
    memory_->make_room(first_column_, purpose_);
    memory_->grow(MemoryBudget::on_heap(record.fields[0].text.size()), purpose_);
    first_column_.push_back(std::move(record.fields[0]));
    rows_->commit();
  }

  void settle_layout() {
    const auto n = static_cast<Index>(lines_.size());
    const std::string& corner = first_.fields[0].text;
    const auto is_text = [](const CsvField& field) {
      return !is_number_text(field.text) && !is_missing_token(field.text);
    };
    const bool names_follow = std::any_of(first_.fields.begin() + 1, first_.fields.end(), is_text);
    if (short_header_ || (corner.empty() && n > 1 && n <= width_)) {
      header_ = row_names_ = true;
    } else if (n == width_ + 1) {
      header_ = true;
    } else if (n == width_ - 1 && !names_follow) {
      row_names_ = is_text(first_.fields[0]);
    } else if (n == width_) {
      header_ = n > 1 && is_text(first_.fields[0]);
      row_names_ = header_ && first_column_holds_names();
    } else {
      header_ = names_follow;
    }
    const Index p = width_ - (row_names_ ? 1 : 0);
    const Index rows = n - (header_ ? 1 : 0);
    if (rows != p) {
      throw BadInput(where(lines_.back(), 0),
                     fmt::format("the file ends after {} row{} of {} numbers: not square, and {}", rows,
                                 rows == 1 ? "" : "s", p, kWhatIsNeeded));
    }
  }

  /// Below a corner that is a text: some text, or numbers that repeat the header. Else a row is missing.
  [[nodiscard]] bool first_column_holds_names() const {
    bool repeats_header = true;
    for (std::size_t i = 0; i < first_column_.size(); ++i) {
      if (!is_number_text(first_column_[i].text)) return true;
      repeats_header = repeats_header && first_column_[i].text == first_.fields[i + 1].text;
    }
    return repeats_header;
  }

  /// Of the records after the first, and of the first if it is no header.
  Matrix values() {
    std::vector<Index> columns(static_cast<std::size_t>(width_ - (row_names_ ? 1 : 0)));
    std::iota(columns.begin(), columns.end(), Index{row_names_ ? 1 : 0});
    if (!row_names_) {
      for (std::size_t i = 0; i < first_column_.size(); ++i) {  // refuses a text there, with its place
        static_cast<void>(number(first_column_[i], lines_[i + 1], 0));
      }
    }
    Matrix below = rows_->take(columns);
    if (header_) return below;
    const auto p = static_cast<Index>(columns.size());
    memory_->take(static_cast<double>(p) * static_cast<double>(p) * sizeof(double), purpose_);
    Matrix all(p, p);
    for (Index j = 0; j < p; ++j) {
      const Index column = columns[static_cast<std::size_t>(j)];
      all(0, j) = number(first_.fields[static_cast<std::size_t>(column)], lines_[0], column);
    }
    all.bottomRows(p - 1) = below;
    return all;
  }

  FeatureNames names() {
    if (!header_ && !row_names_) return FeatureNames(width_);
    std::vector<std::string> of_rows;
    if (row_names_) {
      if (!header_) of_rows.push_back(first_.fields[0].text);
      for (CsvField& field : first_column_) of_rows.push_back(std::move(field.text));
    }
    std::vector<std::string> all = of_rows;
    if (header_) {
      const std::size_t corner = row_names_ && !short_header_ ? 1 : 0;
      all.clear();
      for (std::size_t j = corner; j < first_.fields.size(); ++j) all.push_back(first_.fields[j].text);
    }
    for (std::size_t i = 0; header_ && i < of_rows.size(); ++i) {
      if (of_rows[i] == all[i]) continue;
      throw BadInput(
          where(lines_[i + 1], 0),
          fmt::format(
              "row {} is named {} but column {} is named {}; rows and columns of a covariance matrix are the same features in the same order",
              i + 1, shown(of_rows[i]), i + 1, shown(all[i])));
    }
    for (std::size_t j = 0; j < all.size(); ++j) {
      make_utf8(all[j]);
      if (all[j].empty()) all[j] = fmt::format("x{}", j);
    }
    return FeatureNames(std::move(all));
  }

  std::string path_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose purpose_;
  CsvRecord first_;
  std::vector<CsvField> first_column_;  ///< of the records after the first
  std::vector<long> lines_;             ///< of every record
  std::unique_ptr<RowStore> rows_;  ///< the records after the first; NaN in column 0 where it is no number
  Index width_ = 0;
  bool short_header_ = false, header_ = false, row_names_ = false;
};

// --- NPY
// ----------------------------------------------------------------------------------------------------

SquareMatrix read_square_npy(const std::string& path, std::uint64_t memory_limit) {
  {
    const auto file = open_random(path);
    const NpyArray array(range_source(*file, 0, file->size()), file->size(), {.file = path});
    array.require_numbers();
    const auto& shape = array.shape();
    if (shape.size() != 2 || shape[0] != shape[1] || shape[0] == 0) {
      throw BadInput(
          array.where(),
          fmt::format(
              "holds a {} where a square 2-D array is needed: {}; save np.cov(X, rowvar=False, bias=True), say",
              array.description(), kWhatIsNeeded));
    }
  }
  ReadOptions options;
  options.memory_limit.bytes = memory_limit;
  RawTable table = read_npy(path, options);
  SquareMatrix matrix;
  matrix.source = path;
  matrix.values = std::move(table.dense);
  matrix.names = FeatureNames(matrix.values.cols());
  check_and_symmetrize(matrix.values, [&](Index i, Index j) {
    return Location{.file = path, .place = fmt::format("entry [{}, {}]", i, j)};
  });
  return matrix;
}

// --- of any shape
// -------------------------------------------------------------------------------------------

[[noreturn]] void refuse_entry(const Location& place, double found) {
  throw BadInput(place, fmt::format("{} where a finite number is needed",
                                    std::isnan(found) ? "a missing value" : "an infinite value"));
}

Matrix read_csv_numbers(const std::string& path, CsvFormat format, std::uint64_t memory_limit) {
  const auto memory = std::make_shared<MemoryBudget>(memory_limit);
  std::unique_ptr<RowStore> rows;
  std::size_t width = 0;
  long first_line = 0;
  const auto is_text = [](const CsvField& field) {
    return !is_number_text(field.text) && !is_missing_token(field.text);
  };
  for_each_csv_record(path, format, memory, [&](CsvRecord& record) {
    if (first_line == 0) {
      first_line = record.line;
      width = record.fields.size();
      rows = std::make_unique<RowStore>(static_cast<Index>(width), path, *memory);
      if (std::any_of(record.fields.begin(), record.fields.end(), is_text)) return;  // names of the columns
    }
    const auto place = [&](std::size_t column) {
      return Location{
          .file = path, .line = record.line, .column = static_cast<long>(column) + 1, .place = {}};
    };
    if (record.fields.size() != width) {
      throw BadInput(place(std::min(record.fields.size(), width) - 1),
                     fmt::format("the row has {} field{} but line {} has {}", record.fields.size(),
                                 record.fields.size() == 1 ? "" : "s", first_line, width));
    }
    const auto row = rows->row();
    for (std::size_t j = 0; j < width; ++j) {
      const std::string& text = record.fields[j].text;
      double value = kMissingEntry;
      if (!is_missing_token(text) && !parse_number(text, value)) {
        throw BadInput(place(j), fmt::format("{} is not a number; names may stand in the first row only{}",
                                             shown(text), decimal_comma_hint(text)));
      }
      if (!std::isfinite(value)) refuse_entry(place(j), value);
      row[j] = value;
    }
    rows->commit();
  });
  if (rows == nullptr || rows->rows() == 0) throw BadInput({.file = path}, "the file holds no numbers");
  std::vector<Index> columns(width);
  std::iota(columns.begin(), columns.end(), Index{0});
  return rows->take(columns);
}

Matrix read_npy_numbers(const std::string& path, std::uint64_t memory_limit) {
  ReadOptions options;
  options.memory_limit.bytes = memory_limit;
  Matrix values = std::move(read_npy(path, options).dense);
  if (values.size() == 0) throw BadInput({.file = path}, "the file holds no numbers");
  for (Index j = 0; j < values.cols(); ++j) {
    for (Index i = 0; i < values.rows(); ++i) {
      if (!std::isfinite(values(i, j)))
        refuse_entry({.file = path, .place = fmt::format("entry [{}, {}]", i, j)}, values(i, j));
    }
  }
  return values;
}

/// What one of the readers makes of the file, by its ending.
template <class Csv, class Npy>
auto by_ending(const std::string& path, const Csv& csv, const Npy& npy) {
  const auto [ending, zipped] = file_ending(path);
  if (ending == ".csv") return csv(CsvFormat{});
  if (ending == ".tsv") return csv(CsvFormat{.separator = '\t'});
  if (ending == ".npy" && !zipped) return npy();
  static_cast<void>(checked_file_size(path));  // a missing file or a directory is the better complaint
  throw BadInput(
      {.file = path},
      "a matrix is read from .npy, .csv or .tsv (the text formats also with .gz); save it as one of these");
}

}  // namespace

SquareMatrix read_square_matrix(const std::string& path, std::uint64_t memory_limit) {
  return by_ending(
      path, [&](const CsvFormat& format) { return SquareCsv(path, memory_limit).read(format); },
      [&] { return read_square_npy(path, memory_limit); });
}

Matrix read_matrix(const std::string& path, std::uint64_t memory_limit) {
  return by_ending(
      path, [&](const CsvFormat& format) { return read_csv_numbers(path, format, memory_limit); },
      [&] { return read_npy_numbers(path, memory_limit); });
}

}  // namespace subspectra
