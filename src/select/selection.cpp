#include "select/selection.hpp"

#include <algorithm>

namespace subspectra {

void SelectionOptions::validate() const {
  if (threads < 0)
    throw InvalidArgument({.field = "threads",
                           .value = fmt::to_string(threads),
                           .rule = "must not be negative",
                           .way_out = "0 uses every core"});
  if (components < 0)
    throw InvalidArgument({.field = "components",
                           .value = fmt::to_string(components),
                           .rule = "must not be negative",
                           .way_out = "0 is the default"});
}

const SizeBounds::Named* SizeBounds::best_upper() const {
  const auto found = std::min_element(upper.begin(), upper.end(),
                                      [](const Named& a, const Named& b) { return a.second < b.second; });
  return found == upper.end() ? nullptr : &*found;
}

FittedDiscriminants leading_columns(const FittedDiscriminants& record, Index count) {
  FittedDiscriminants leading = record;
  const auto columns = record.matrix.leftCols(count);
  std::vector<Index> used;
  for (Index i = 0; i < columns.rows(); ++i) {
    if ((columns.row(i).array() != 0.0).any()) used.push_back(i);
  }
  leading.features.clear();
  for (const Index i : used) leading.features.push_back(record.features[static_cast<std::size_t>(i)]);
  leading.matrix = columns(used, Eigen::all);
  leading.row_norms = leading.matrix.rowwise().norm();
  leading.entries = static_cast<Index>((leading.matrix.array() != 0.0).count());
  return leading;
}

std::optional<double> PathEntry::gap() const {
  if (!upper_bound) return std::nullopt;
  if (objective == 0.0) return *upper_bound == 0.0 ? std::optional(0.0) : std::nullopt;
  return (*upper_bound - objective) / objective;
}

}  // namespace subspectra
