/// CLS, the class file that stands beside a GCT table: a line of sizes, one with the names of the classes
/// behind #, and one with a label for every sample, in the order of the table.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/text.hpp"
#include "io/raw_table.hpp"
#include "io/sample_labels.hpp"
#include "io/text_columns.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.emplace_back(line.substr(0, end));
    make_utf8(words.back());
    line.remove_prefix(end);
  }
}

std::optional<std::size_t> count_of(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The names that the labels stand for: label c of 0, ..., K - 1 is the class named at c. Programs differ in
/// what they make of labels that do not first appear in this order, and of other labels; then the labels are
/// their own names.
std::vector<std::string> named(std::vector<std::string> labels, const std::vector<std::string>& names) {
  std::size_t seen = 0;
  std::vector<std::size_t> codes;
  codes.reserve(labels.size());
  for (const std::string& label : labels) {
    const auto code = count_of(label);
    if (!code || *code >= names.size() || *code > seen) return labels;
    seen = std::max(seen, *code + 1);
    codes.push_back(*code);
  }
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = names[codes[i]];
  return labels;
}

}  // namespace

SampleTable read_class_file(const std::string& path, MemoryBudget& memory) {
  const auto bytes = open_bytes(path);
  LineReader lines(*bytes, path, kTextBlockBytes, memory);
  const MemoryPurpose purpose{.what = fmt::format("reading the labels in {}", path),
                              .advice = "check that it is a class file, or raise ⟨memory_limit⟩"};
  const auto refuse = [&](long line, std::string_view what) {
    throw BadInput({.file = path, .line = line, .column = 1, .place = {}}, what);
  };
  std::vector<std::vector<std::string>> records;
  std::vector<long> numbers;  // of their lines
  std::string_view line;
  while (records.size() < 3 && lines.next(line)) {
    if (trimmed(line).empty()) continue;
    memory.grow(sizeof(std::string) * line.size(), purpose);  // no more words than that
    records.push_back(words_of(line));
    numbers.push_back(lines.number());
  }
  if (records.size() < 3)
    refuse(std::max(1L, lines.number()),
           "a class file has three lines: sizes, # and names, a label for every sample");
  const std::size_t samples = records[0].size() < 2 ? 0 : count_of(records[0].front()).value_or(0);
  if (samples == 0)
    refuse(numbers[0],
           "the numbers of samples and of classes stand here; a table of ids and labels is no .cls");
  std::vector<std::string>& names = records[1];
  if (names.front() == "#") {
    names.erase(names.begin());
  } else if (names.front().starts_with("#")) {
    names.front().erase(0, 1);
  } else {
    refuse(numbers[1], "the names of the classes stand here, behind #");
  }
  if (records[2].size() != samples)
    refuse(numbers[2], fmt::format("{} where the first line speaks of {}",
                                   counted(records[2].size(), "label"), counted(samples, "sample")));
  SampleTable table{.file = path, .names = {"class"}, .columns = {}, .first_line = {}, .in_order = true};
  table.columns.push_back(named(std::move(records[2]), names));
  table.first_line = {table.columns.front().front()};
  return table;
}

}  // namespace subspectra
