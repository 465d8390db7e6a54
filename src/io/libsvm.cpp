/// LIBSVM / SVMlight: "LABEL [qid:Q] INDEX:VALUE ... [# comment]", one row a line. Sparse stays sparse.
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "data/sparse_rows.hpp"
#include "io/byte_source.hpp"
#include "io/raw_table.hpp"
#include "io/readers.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr std::int64_t kLargestIndex = 2147483646;  // 2^31 - 2
constexpr Index kWidthTaken = 20'000'000;           // columns that are believed without asking
constexpr Index kWidthPerValue = 1000;              // and beyond, so many for every value the file holds

bool is_libsvm_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

class LibsvmReader {
 public:
  LibsvmReader(ByteSource& bytes, const std::string& name, const ReadOptions& options,
               std::size_t block_bytes)
      : name_(name),
        options_(options),
        memory_(std::make_shared<MemoryBudget>(options.memory_limit.bytes)),
        for_row_{.what = fmt::format("a row of {}", name),
                 .advice = "check that the file has one row a line, or raise ⟨memory_limit⟩"},
        for_texts_{.what = fmt::format("reading the labels in {}", name),
                   .advice = "check that every line begins with a label, or raise ⟨memory_limit⟩",
                   .grows_with_file = true},
        lines_(bytes, name, block_bytes, *memory_),
        rows_(name, *memory_) {
    memory_->expect(bytes.share_read());
    labels_.name = "label";
    labels_.is_label = true;
    queries_.name = "qid";
    queries_.may_be_ignored = true;
  }

  RawTable read();

 private:
  struct Entry {
    int column;
    double value;
    long character;
  };

  [[nodiscard]] Location here(const char* at) const {
    return {.file = name_,
            .line = lines_.number(),
            .column = static_cast<long>(at - line_.data()) + 1,
            .place = {}};
  }
  /// The next word of the line, empty at its end; `at` moves behind it.
  std::string_view next_word(const char*& at) const;
  void read_label(std::string_view word);
  void read_query(std::string_view word);
  void read_entry(std::string_view word);
  void store_row();

  std::string name_;
  const ReadOptions& options_;
  std::shared_ptr<MemoryBudget> memory_;
  MemoryPurpose for_row_, for_texts_;
  LineReader lines_;
  std::string_view line_;  ///< without its comment
  SparseRows rows_;
  std::vector<Entry> entries_;  ///< of the row being read
  SideColumn labels_, queries_;
  std::int64_t largest_ = -1;  ///< 0-based
  std::optional<Location> first_missing_;
  std::optional<InfiniteCell> first_infinite_;
};

std::string_view LibsvmReader::next_word(const char*& at) const {
  const char* const end = line_.data() + line_.size();
  while (at < end && is_libsvm_blank(*at)) ++at;
  const char* const start = at;
  while (at < end && !is_libsvm_blank(*at)) ++at;
  return {start, static_cast<std::size_t>(at - start)};
}

void LibsvmReader::read_label(std::string_view word) {
  if (word.find(':') != std::string_view::npos) {
    throw BadInput(
        here(word.data()),
        fmt::format(
            "{} stands where the label should; begin every row with its label, or with ? for an unlabelled row",
            shown(word)));
  }
  if (word.find(',') != std::string_view::npos) {
    throw BadInput(here(word.data()), fmt::format("several labels in {}; keep one a row", shown(word)));
  }
  if (word.find('\0') != std::string_view::npos)
    throw BadInput(here(word.data()), "a zero byte; this is not a text file");
  if (labels_.first.line == 0) labels_.first = here(word.data());
  const bool missing = is_missing_token(word);
  if (missing && !labels_.first_missing) labels_.first_missing = here(word.data());
  memory_->append(labels_.values, missing ? std::string_view() : word, for_texts_);
}

void LibsvmReader::read_query(std::string_view word) {
  const std::size_t row = labels_.values.size() - 1;
  if (queries_.values.size() > row || !entries_.empty()) {
    throw BadInput(here(word.data()), "qid: may stand once a row, before the first INDEX:VALUE");
  }
  if (queries_.first.line == 0) queries_.first = here(word.data());
  memory_->make_room(queries_.values, row + 1 > queries_.values.capacity() ? row + row / 2 + 16 : 0,
                     for_texts_);
  queries_.values.resize(row);
  memory_->append(queries_.values, word.substr(4), for_texts_);
}

void LibsvmReader::read_entry(std::string_view word) {
  const char* const end = word.data() + word.size();
  std::int64_t index = 0;
  const auto [colon, error] = std::from_chars(word.data(), end, index);
  if (error == std::errc::result_out_of_range) {
    throw BadInput(here(word.data()),
                   fmt::format("the feature index in {} is over {}, the largest possible; check the file",
                               shown(word), kLargestIndex));
  }
  if (error != std::errc() || colon == end || *colon != ':') {
    throw BadInput(
        here(word.data()),
        fmt::format("{} is not INDEX:VALUE; write an index, a colon and a number, no blanks", shown(word)));
  }
  if (index < options_.index_base) {
    throw BadInput(
        here(word.data()),
        index == 0
            ? std::string(
                  "feature index 0, but indices start at 1; if this file counts from 0, say ⟨index_base 0⟩")
            : fmt::format("feature index {} is below {}", index, options_.index_base));
  }
  if (index > kLargestIndex) {
    throw BadInput(here(word.data()),
                   fmt::format("feature index {} is over {}, the largest possible; check the file", index,
                               kLargestIndex));
  }
  index -= options_.index_base;
  if (options_.features > 0 && index >= options_.features) {
    throw BadInput(
        here(word.data()),
        fmt::format(
            "feature index {} is over the last of ⟨features {}⟩ (indices start at {}); raise ⟨features⟩ or leave it out",
            index + options_.index_base, options_.features, options_.index_base));
  }
  const std::string_view number(colon + 1, static_cast<std::size_t>(end - colon - 1));
  double value = std::nan("");
  if (!number.empty() && is_missing_token(number)) {
    value = std::nan("");
  } else if (!parse_number(number, value)) {
    throw BadInput(
        here(colon + 1),
        fmt::format("{} is not a number; write INDEX:VALUE with a number (NaN if missing)", shown(number)));
  }
  if (std::isnan(value) && !first_missing_) first_missing_ = here(colon + 1);
  if (std::isinf(value) && !first_infinite_) {
    first_infinite_ = InfiniteCell{.where = here(colon + 1), .text = std::string(number)};
  }
  largest_ = std::max(largest_, index);
  memory_->make_room(entries_, for_row_);
  entries_.push_back(
      {.column = static_cast<int>(index), .value = value, .character = word.data() - line_.data() + 1});
}

void LibsvmReader::store_row() {
  const auto before = [](const Entry& a, const Entry& b) { return a.column < b.column; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), before)) {
    HeldMemory copy(*memory_);  // what stable_sort takes to merge in
    copy.grow(entries_.size() * sizeof(Entry), for_row_);
    std::stable_sort(entries_.begin(), entries_.end(), before);
  }
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (k > 0 && entries_[k].column == entries_[k - 1].column) {
      throw BadInput({.file = name_, .line = lines_.number(), .column = entries_[k].character, .place = {}},
                     fmt::format("feature index {} stands twice in this row; keep one of them",
                                 entries_[k].column + std::int64_t{options_.index_base}));
    }
    if (entries_[k].value != 0.0) rows_.add(entries_[k].column, entries_[k].value);
  }
  rows_.end_row();
  entries_.clear();
}

RawTable LibsvmReader::read() {
  while (lines_.next(line_)) {
    line_ = line_.substr(0, line_.find('#'));
    const char* at = line_.data();
    std::string_view word = next_word(at);
    if (word.empty()) continue;
    read_label(word);
    for (word = next_word(at); !word.empty(); word = next_word(at)) {
      if (word.starts_with("qid:")) {
        read_query(word);
      } else {
        read_entry(word);
      }
    }
    store_row();
  }
  if (rows_.rows() == 0)
    throw BadInput({.file = name_},
                   "the file holds no rows, only blank lines or comments; a row is LABEL INDEX:VALUE ...");
  RawTable table;
  table.source = name_;
  table.is_sparse = true;
  const Index width = options_.features > 0 ? options_.features : static_cast<Index>(largest_ + 1);
  table.notes.push_back(options_.features > 0
                            ? fmt::format("{} features, as ⟨features⟩ says", width)
                            : fmt::format("{} features: the largest index is {} (indices start at {})", width,
                                          largest_ + options_.index_base, options_.index_base));
  // A column costs memory even when it is empty: a stray index must not make billions of them.
  if (options_.features == 0 && width > kWidthTaken && width > kWidthPerValue * rows_.values()) {
    throw BadInput(
        {.file = name_},
        fmt::format(
            "the largest index is {} but the file holds only {} values; correct the index, or say ⟨features {}⟩ if the table is that wide",
            largest_ + options_.index_base, rows_.values(), width));
  }
  rows_.take(width).swap(table.sparse);
  table.names = FeatureNames(width);
  table.first_missing = first_missing_;
  table.first_infinite = std::move(first_infinite_);
  if (!queries_.values.empty()) {
    memory_->make_room(queries_.values, labels_.values.size(), for_texts_);
    queries_.values.resize(labels_.values.size());
    table.notes.emplace_back("qid: fields are kept as column 'qid' (for ⟨cv_groups qid⟩)");
  }
  table.side.push_back(std::move(labels_));
  if (!queries_.values.empty()) table.side.push_back(std::move(queries_));
  table.memory = memory_;
  return table;
}

}  // namespace

RawTable read_libsvm_bytes(ByteSource& bytes, const std::string& name, const ReadOptions& options,
                           std::size_t block_bytes) {
  return LibsvmReader(bytes, name, options, block_bytes).read();
}

RawTable read_libsvm(const std::string& path, const ReadOptions& options) {
  const auto bytes = open_bytes(path);
  return read_libsvm_bytes(*bytes, path, options);
}

extern const TableReader libsvm_reader = {
    .endings = ".svm .libsvm", .reads_compressed = true, .read = read_libsvm};

}  // namespace subspectra
