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
  READER(npy)                            \
  READER(npz)                            \
  READER(mat)                            \
  READER(libsvm)                         \
  READER(arff)                           \
  READER(h5ad)

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
