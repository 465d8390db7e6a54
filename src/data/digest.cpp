#include "data/digest.hpp"

#include <algorithm>
#include <bit>

#include "core/fingerprint.hpp"
#include "core/parallel.hpp"

namespace subspectra {
namespace {

void add_groups(const FeatureGroups* groups, Fingerprint& hash) {
  hash.add_value(groups == nullptr ? Index{-1} : groups->size());
  if (groups == nullptr) return;
  for (const std::string& name : groups->names) hash.add_text(name);
  for (const Index group : groups->group_of) hash.add_word(static_cast<std::uint64_t>(group));
}

}  // namespace

std::string table_digest(const Dataset& data, const FeatureGroups* groups, int threads) {
  constexpr Index kColumns = 64;  // a piece of work
  const Values& values = data.values();
  std::vector<std::uint64_t> of_columns(static_cast<std::size_t>(data.features()));
  parallel_for((data.features() + kColumns - 1) / kColumns, threads, [&](Index block) {
    const Index last = std::min(data.features(), (block + 1) * kColumns);
    for (Index j = block * kColumns; j < last; ++j) {
      Fingerprint column;
      values.each_entry(j, [&](Index row, double value) {
        column.add_word(static_cast<std::uint64_t>(row));
        column.add_word(std::bit_cast<std::uint64_t>(value));
      });
      of_columns[static_cast<std::size_t>(j)] = column.number();
    }
  });
  Fingerprint hash;
  hash.add_value(data.rows());
  hash.add_value(data.features());
  for (const std::uint64_t column : of_columns) hash.add_word(column);
  hash.add_value(data.names().given());
  for (const std::string& name : data.names().list()) hash.add_text(name);
  if (const Labels* const labels = data.labels()) {
    hash.add_text(labels->name);
    for (const std::string& name : labels->classes) hash.add_text(name);
    for (const int code : labels->codes) hash.add_value(code);
  }
  for (Index i = 0; i < data.rows(); ++i) hash.add_word(std::bit_cast<std::uint64_t>(data.weight(i)));
  for (const std::string& group : data.row_groups()) hash.add_text(group);
  for (const Index row : data.original_rows()) hash.add_word(static_cast<std::uint64_t>(row));
  add_groups(data.details().categories.get(), hash);
  add_groups(groups, hash);
  return hash.text();
}

}  // namespace subspectra
