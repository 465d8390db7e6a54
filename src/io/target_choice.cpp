#include "io/target_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "io/categories.hpp"
#include "io/text_kinds.hpp"

namespace subspectra {
namespace {

/// "class", or a single column that differs from it in case only.
FoundColumn named_class(const Assembly& assembly) {
  const auto several = std::count_if(assembly.table.side.begin(), assembly.table.side.end(),
                                     [](const auto& side) { return side.name == "class"; });
  if (several > 1) {
    throw BadInput(
        {.file = assembly.table.source},
        fmt::format(
            "{} columns are named 'class', and one of them is the label column; give them different names",
            several));
  }
  for (const bool exact : {true, false}) {
    for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
      const std::string& name = assembly.table.side[s].name;
      if (exact ? name == "class" : equal_ignoring_case(name, "class")) {
        return {.side = static_cast<std::ptrdiff_t>(s), .feature = -1};
      }
    }
  }
  return {};
}

bool is_zero_one(const Assembly& assembly, Index feature) {
  bool zero = false, one = false, other = false;
  const auto look = [&](double value) {
    zero = zero || value == 0.0;
    one = one || value == 1.0;
    other = other || (value != 0.0 && value != 1.0 && !std::isnan(value));
  };
  if (assembly.table.is_sparse) {
    for (SparseMatrix::InnerIterator it(assembly.table.sparse, feature); it; ++it) look(it.value());
    zero = zero || assembly.table.sparse.col(feature).nonZeros() < assembly.table.sparse.rows();
  } else {
    const Vector column = assembly.dense_column(feature);
    for (const double value : column) look(value);
  }
  return zero && one && !other;
}

/// Columns of zeros and ones that are called like a target.
std::vector<Index> zero_one_targets(const Assembly& assembly) {
  std::vector<Index> found;
  if (!assembly.table.names.given()) return found;
  for (Index j = 0; j < assembly.table.names.size(); ++j) {
    const std::string& name = assembly.table.names.list()[static_cast<std::size_t>(j)];
    if (is_name_of_target(name) && !assembly.is_ignored(name) && is_zero_one(assembly, j)) found.push_back(j);
  }
  return found;
}

/// Nothing but its place makes the last text column beside a table its label: say so when there are
/// not_taken.
void warn_of_choice(Assembly& assembly, std::size_t taken) {
  std::vector<std::string> not_taken;
  for (std::size_t s = 0; s < taken; ++s) {
    const SideColumn& side = assembly.table.side[s];
    if (side.may_be_target && !assembly.is_ignored(side.name) && !assembly.is_used(s))
      not_taken.push_back(side.name);
  }
  if (not_taken.empty()) return;
  assembly.data.warnings.push_back(
      fmt::format("labels are taken from {}, the last of {} text columns; ⟨target NAME⟩ takes another ({})",
                  shown(assembly.table.side[taken].name), not_taken.size() + 1, listed(not_taken)));
}

/// The text column that is the target though nothing but its kind says so: of those in the table one that is
/// called like a target, or the last; else the last of those beside it (obs of h5ad).
FoundColumn target_among_texts(Assembly& assembly) {
  std::vector<std::size_t> in_table;
  const SideColumn* beside = nullptr;
  std::size_t beside_at = 0;
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    const SideColumn& side = assembly.table.side[s];
    if (assembly.is_ignored(side.name) || assembly.is_used(s) || assembly.is_id_column(s) ||
        assembly.is_named_category(side.name))
      continue;
    if (!side.may_be_ignored && !are_dates(side.values)) in_table.push_back(s);
    if (side.may_be_ignored && side.may_be_target) {
      beside = &side;
      beside_at = s;
    }
  }
  if (!in_table.empty()) {
    const auto named = [&](std::size_t s) { return is_name_of_target(assembly.table.side[s].name); };
    std::size_t taken = in_table.back();
    if (in_table.size() > 1 && std::count_if(in_table.begin(), in_table.end(), named) == 1)
      taken = *std::find_if(in_table.begin(), in_table.end(), named);
    const std::vector<Index> numeric = zero_one_targets(assembly);
    if (in_table.size() > 1 && !named(taken) && numeric.size() == 1)
      return {};  // the text columns are categories
    std::vector<std::string> not_taken;
    for (const std::size_t s : in_table) {
      if (s != taken) not_taken.push_back(assembly.table.side[s].name);
    }
    for (const Index j : numeric) not_taken.push_back(assembly.table.names[j]);
    if (!not_taken.empty() && !assembly.knows_needs)
      assembly.data.warnings.push_back(
          fmt::format("labels are taken from {}; ⟨target NAME⟩ takes another column ({})",
                      shown(assembly.table.side[taken].name), listed(not_taken)));
    return {.side = static_cast<std::ptrdiff_t>(taken), .feature = -1};
  }
  if (beside == nullptr) return {};
  warn_of_choice(assembly, beside_at);
  return {.side = static_cast<std::ptrdiff_t>(beside_at), .feature = -1};
}

/// Of what describes the samples (GEO characteristics) the only one with few values.
FoundColumn target_among_descriptions(const Assembly& assembly) {
  FoundColumn found;
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    const SideColumn& side = assembly.table.side[s];
    if (!side.describes_sample || side.is_numeric || assembly.is_ignored(side.name) || assembly.is_used(s))
      continue;
    const auto values = values_of_category(side.values);
    if (!values || values->size() < 2 || 2 * values->size() > side.values.size()) continue;
    if (found.any()) return {};
    found = {.side = static_cast<std::ptrdiff_t>(s), .feature = -1};
  }
  return found;
}

/// Columns of whole numbers that could be classes.
std::vector<std::string> names_of_few_valued_columns(const Assembly& assembly) {
  constexpr std::size_t kMostClasses = 10;
  std::vector<std::string> found;
  for (Index j = 0; j < assembly.table.dense.cols() && assembly.table.names.given(); ++j) {
    std::vector<double> values;
    bool whole = true;
    for (Index i = 0; i < assembly.table.dense.rows() && whole && values.size() <= kMostClasses; ++i) {
      const double value = assembly.table.dense(i, j);
      if (std::isnan(value)) continue;
      whole = value == std::floor(value);
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    const bool few = values.size() >= 2 && values.size() <= kMostClasses &&
                     2 * static_cast<Index>(values.size()) <= assembly.table.dense.rows();
    if (whole && few) found.push_back(assembly.table.names[j]);
  }
  return found;
}

}  // namespace

FoundColumn default_target(Assembly& assembly) {
  if (const FoundColumn found = named_class(assembly); found.any()) return found;
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    if (assembly.table.side[s].is_label) return {.side = static_cast<std::ptrdiff_t>(s), .feature = -1};
  }
  if (assembly.table.names.given()) {
    for (Index j = 0; j < assembly.table.names.size(); ++j) {
      if (equal_ignoring_case(assembly.table.names[j], "class")) return {.side = -1, .feature = j};
    }
  }
  if (const FoundColumn found = target_among_texts(assembly); found.any()) return found;
  if (const FoundColumn found = target_among_descriptions(assembly); found.any()) return found;
  const std::vector<Index> numeric = zero_one_targets(assembly);
  if (numeric.size() != 1) return {};
  assembly.data.understood.push_back(
      fmt::format("target '{}', 0 and 1", assembly.table.names[numeric.front()]));
  return {.side = -1, .feature = numeric.front()};
}

void explain_no_target(Assembly& assembly) {
  std::vector<std::string> described;
  for (const SideColumn& side : assembly.table.side) {
    if (!side.describes_sample && !side.may_be_target) continue;
    const auto values = values_of_category(side.values);
    if (!values || values->size() < 2 || 2 * values->size() > side.values.size()) continue;
    std::vector<std::string> counts;
    for (const auto& [value, rows] : *values) counts.push_back(fmt::format("{} {}", shown(value), rows));
    described.push_back(fmt::format("{} ({})", shown(side.name), join_some(counts, 4)));
  }
  std::string text = "there is no label column";
  std::string example = "NAME";
  if (!described.empty()) {
    for (const SideColumn& side : assembly.table.side) {
      if (side.describes_sample && described.front().starts_with(shown(side.name)))
        example = shown(side.name);
    }
    text += fmt::format(", and several could be the label: {}; say which with ⟨target {}⟩",
                        join_some(described, 8), example);
  } else if (!assembly.ids.empty() && !assembly.table.samples_in_rows) {
    const std::string& name = assembly.table.side[assembly.ids.front()].name;
    text = fmt::format(
        "there is no label column: {} has a value of its own in every row and names the rows; if these are features and the samples stand in columns, say ⟨transpose⟩, with ⟨labels FILE⟩ for a file of sample ids and labels",
        shown(name));
    const std::vector<std::string> few = names_of_few_valued_columns(assembly);
    if (!few.empty() && 2 * static_cast<Index>(few.size()) <= assembly.table.names.size())
      text += fmt::format("; or name the label with ⟨target NAME⟩ ({} {} few values)", listed(few),
                          few.size() == 1 ? "has" : "have");
  } else if (const auto numeric = zero_one_targets(assembly); numeric.size() > 1) {
    std::vector<std::string> names;
    names.reserve(numeric.size());
    for (const Index j : numeric) names.push_back(assembly.table.names[j]);
    text += fmt::format(", and several could be the label: {}; say which with ⟨target {}⟩", listed(names),
                        names[0]);
  } else if (!assembly.ids.empty()) {
    text += "; give one with ⟨labels FILE⟩, a table of sample ids and labels";
  } else {
    const std::vector<std::string> few = names_of_few_valued_columns(assembly);
    if (few.empty()) return;
    text += fmt::format("; of its columns {} {} few values: name the label with ⟨target NAME⟩", listed(few),
                        few.size() == 1 ? "has" : "have");
  }
  assembly.data.no_target = text + ", or say ⟨target none⟩ for data without labels";
}

}  // namespace subspectra
