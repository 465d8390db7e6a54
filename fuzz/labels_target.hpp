#pragma once
#include "io/sample_labels.hpp"
#include "outcome.hpp"
#include "temporary_input.hpp"

namespace subspectra::fuzzing {

/// What becomes of a table of samples that was accepted: every column as long as the first, and labels for
/// three samples, by their ids or in the order of its lines, or a refusal.
inline void use_labels(SampleTable table) {
  for (const auto& column : table.columns) {
    if (column.size() != table.columns.front().size()) std::abort();
  }
  if (table.columns.empty() || table.columns.size() != table.names.size()) std::abort();
  const LabelsOption option{.file = table.file, .column = {}};
  const std::vector<std::string> ids = {"s1", "s2", "s3"};
  std::vector<std::string> notes;
  const auto require_three = [&](const SideColumn& labels) {
    if (labels.values.size() != ids.size() || !labels.is_label) std::abort();
  };
  Matrix numbers(3, 2);
  numbers << 1, 7, 2, 8, 3, 9;
  if (const auto found = numbers_as_ids(table, numbers, ids.size());
      found && (found->ids.size() != ids.size() || found->feature > 1))
    std::abort();
  const IdMatch match = match_ids(table, ids);
  if (match.column >= table.columns.size()) std::abort();
  try {
    require_three(labels_of(SampleTable(table), option, match, ids, notes));
  } catch (const Error&) {  // refused with words
  }
  require_three(labels_in_order(std::move(table), option, ids.size(), notes));
}

}  // namespace subspectra::fuzzing

/// The bytes as a file of labels: a class file (.cls), and a table of ids and labels or a GEO series matrix.
inline void fuzz_labels(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  for (const char* ending : {".cls", ".txt"}) {
    const fuzzing::TemporaryInput file(bytes, ending);
    try {
      MemoryBudget memory(fuzzing::small_memory().memory_limit.bytes);
      fuzzing::use_labels(read_sample_table(file.path(), {"?"}, memory));
    } catch (const Error&) {  // refused with words
    }
  }
}
