#include <subspectra/selection.hpp>

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "select/fits.hpp"

namespace subspectra {

void SelectOptions::validate() const {
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
  const auto columns = record.matrix.view().leftCols(count);
  std::vector<Index> used;
  for (Index i = 0; i < columns.rows(); ++i) {
    if ((columns.row(i).array() != 0.0).any()) used.push_back(i);
  }
  leading.features.clear();
  for (const Index i : used) leading.features.push_back(record.features[static_cast<std::size_t>(i)]);
  const Matrix matrix = columns(used, Eigen::all);
  leading.matrix = matrix;
  leading.row_norms = to_vector(matrix.rowwise().norm());
  leading.entries = static_cast<Index>((matrix.array() != 0.0).count());
  return leading;
}

const std::vector<PathEntry>& Selection::sets() const {
  static const std::vector<PathEntry> kNone;
  if (const auto* path = std::get_if<SizePath>(&answer)) return path->sets;
  if (const auto* path = std::get_if<PenaltyPath>(&answer)) return path->sets;
  return kNone;
}

std::vector<PathEntry>& Selection::sets() {
  if (auto* path = std::get_if<PenaltyPath>(&answer)) return path->sets;
  if (std::holds_alternative<Components>(answer)) throw Error("components have no sets of single features");
  return std::get<SizePath>(answer).sets;
}

const PathEntry& Selection::at(Index k) const {
  for (const auto& set : sets()) {
    if (set.k() == k) return set;
  }
  throw InvalidArgument({.field = "k",
                         .value = std::to_string(k),
                         .rule = "{value}: the answer has no set of this size",
                         .way_out = "sets() has those there are"});
}

const std::vector<FittedDiscriminants>& Selection::fits() const {
  static const std::vector<FittedDiscriminants> kNone;
  if (const auto* path = std::get_if<PenaltyPath>(&answer)) return path->fits;
  if (const auto* components = std::get_if<Components>(&answer)) return components->fit;
  return kNone;
}

const FittedDiscriminants* Selection::chosen_fit() const {
  if (const auto* path = std::get_if<PenaltyPath>(&answer)) return path->chosen ? &path->fits[*path->chosen] : nullptr;
  if (const auto* components = std::get_if<Components>(&answer))
    return components->fit.empty() ? nullptr : &components->fit.front();
  return nullptr;
}

}  // namespace subspectra
