#include "io/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace subspectra {

/// One line a reader, in the order of messages and help pages: the file of its name defines
/// `extern const TableReader NAME_reader`.
#define SUBSPECTRA_TABLE_READERS(READER) \
  READER(csv)                            \
  READER(tsv)                            \
  READER(txt)                            \
  READER(gct)                            \
  READER(npy)                            \
  READER(npz)                            \
  READER(bed)                            \
  READER(mat)                            \
  READER(libsvm)                         \
  READER(arff)                           \
  READER(h5ad)                           \
  READER(tenx_h5)                        \
  READER(mtx)

#define SUBSPECTRA_DECLARE(name) extern const TableReader name##_reader;
SUBSPECTRA_TABLE_READERS(SUBSPECTRA_DECLARE)
#undef SUBSPECTRA_DECLARE

namespace {

#define SUBSPECTRA_LIST(name) &name##_reader,
constexpr std::array kReaders = {SUBSPECTRA_TABLE_READERS(SUBSPECTRA_LIST)};
#undef SUBSPECTRA_LIST
#undef SUBSPECTRA_TABLE_READERS

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t blank = std::min(words.find(' '), words.size());
    if (words.substr(0, blank) == word) return true;
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
  return false;
}

}  // namespace

const TableReader* table_reader(std::string_view ending, bool compressed) {
  for (const TableReader* reader : kReaders) {
    if (has_word(reader->endings, ending) && (reader->reads_compressed || !compressed)) return reader;
  }
  return nullptr;
}

namespace {

struct TableFormat {
  std::string_view name;
  ReadTable read;
};

/// The names of ⟨format⟩: those that no ending tells, or that a reader finds out by itself, and the endings.
RawTable read_strict_csv(const std::string& path, const ReadOptions& options) {
  return read_csv(path, {}, options);
}
RawTable read_csv2(const std::string& path, const ReadOptions& options) {
  return read_csv(path, {.separator = ';', .decimal_comma = true}, options);
}
constexpr std::array<TableFormat, 5> kFormats = {{{"csv", read_strict_csv},
                                                  {"csv2", read_csv2},
                                                  {"series-matrix", read_series_matrix},
                                                  {"10x", read_tenx_folder},
                                                  {"10x-h5", read_tenx_h5}}};
constexpr std::array<std::string_view, 11> kByEnding = {"tsv", "txt", "gct",    "mtx",  "npy", "npz",
                                                        "bed", "mat", "libsvm", "arff", "h5ad"};

}  // namespace

ReadTable table_format(std::string_view name) {
  for (const TableFormat& format : kFormats) {
    if (format.name == name) return format.read;
  }
  if (std::find(kByEnding.begin(), kByEnding.end(), name) != kByEnding.end())
    return table_reader(fmt::format(".{}", name), false)->read;
  throw InvalidArgument({.field = "format",
                         .value = std::string(name),
                         .rule = fmt::format("= {{value}}, but one of {} is needed", table_format_names())});
}

std::string table_format_names() {
  std::string names;
  for (const TableFormat& format : kFormats) names.append(names.empty() ? "" : ", ").append(format.name);
  for (const std::string_view name : kByEnding) names.append(", ").append(name);
  return names;
}

std::string table_endings() {
  std::string compressed;
  std::string plain;
  for (const TableReader* reader : kReaders) {
    (reader->reads_compressed ? compressed : plain).append(reader->endings).append(" ");
  }
  if (!plain.empty()) plain.pop_back();
  return fmt::format("{}(each also with .gz) {}", compressed, plain);
}

std::string endings_beside_csv() {
  std::string all;
  for (const TableReader* reader : kReaders) {
    if (reader == &csv_reader || reader == &tsv_reader) continue;
    if (!all.empty()) all += ", ";
    for (const char c : reader->endings) c == ' ' ? all.append(" or ") : all.append(1, c);
  }
  return all;
}

}  // namespace subspectra
