#include "resample/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "core/text.hpp"

namespace subspectra {

FoldCount OptionCodec<FoldCount>::parse(std::string_view text) {
  if (text == "loo") return {0};
  FoldCount value;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value.folds);
  if (failure != std::errc() || end != text.data() + text.size() || value.folds < 2) {
    throw InvalidArgument("a number of folds from 2 up, or loo, is needed");
  }
  return {value.folds};
}
std::string OptionCodec<FoldCount>::format(const FoldCount& value) {
  return value.folds == 0 ? "loo" : std::to_string(value.folds);
}
nlohmann::json OptionCodec<FoldCount>::json(const FoldCount& value) {
  return value.folds == 0 ? nlohmann::json("loo") : nlohmann::json(value.folds);
}

namespace {

/// What is never split: one row, or all rows of a group.
struct Unit {
  std::vector<Index> rows;
  int main_class = 0;  ///< the class of most of its rows, ties to the lowest
};

std::vector<Unit> make_units(const Labels& labels, const std::vector<std::string>& row_groups) {
  const auto& codes = labels.codes;
  const auto rows = static_cast<Index>(codes.size());
  std::vector<Unit> units;
  if (row_groups.empty()) {
    for (Index i = 0; i < rows; ++i) units.push_back({{i}, codes[i]});
    return units;
  }
  std::map<std::string, std::size_t> place;
  for (Index i = 0; i < rows; ++i) {
    const auto [found, is_new] = place.try_emplace(row_groups[i], units.size());
    if (is_new) units.emplace_back();
    units[found->second].rows.push_back(i);
  }
  for (auto& unit : units) {
    std::vector<Index> counts(static_cast<std::size_t>(labels.class_count()), 0);
    for (const Index i : unit.rows) ++counts[codes[i]];
    unit.main_class = static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  }
  return units;
}

/// Each class's units in random order, classes one after another; larger units first, because they fit worst.
std::vector<Unit> shuffled_by_class(std::vector<Unit> units, Random& random) {
  random.shuffle(std::span<Unit>(units));
  std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    return std::tuple(a.main_class, b.rows.size()) < std::tuple(b.main_class, a.rows.size());
  });
  return units;
}

void check_fold_count(const Labels& labels, const std::string& source, const SplitOptions& options,
                      std::size_t units) {
  const Index folds = options.cv.folds;
  const auto counts = labels.counts();
  if (std::all_of(counts.begin(), counts.end(), [](Index count) { return count <= 1; })) {
    throw BadInput(
        {.file = source},
        fmt::format(
            "every class of '{}' has one row: it looks like a continuous value or like sample ids; name the label column with ⟨target⟩",
            labels.name));
  }
  std::optional<std::size_t> smallest;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] > 0 && (!smallest || counts[c] < counts[*smallest])) smallest = c;
  }
  if (smallest && counts[*smallest] < folds && !options.small_classes) {
    const Index count = counts[*smallest];
    throw BadInput(
        {.file = source},
        fmt::format(
            "class '{}' has {}, fewer than the {} folds; use {}⟨cv loo⟩, or merge classes (fit: give one size with ⟨k N⟩, which needs no folds)",
            labels.classes[*smallest], counted(count, "row"), folds,
            count > 1 ? fmt::format("⟨cv {}⟩, ", count) : ""));
  }
  if (static_cast<Index>(units) < folds) {
    throw BadInput(
        {.file = source},
        units < 2 ? fmt::format("1 group cannot be cut into {} folds; use other groups (⟨cv_groups⟩)", folds)
                  : fmt::format("{} groups cannot be cut into {} folds; use ⟨cv {}⟩ or ⟨cv loo⟩", units,
                                folds, units));
  }
}

/// Leaving units out must leave two classes to learn from.
void check_leave_one_out(const Labels& labels, const std::vector<std::string>& row_groups,
                         const std::string& source, const std::vector<Unit>& units) {
  for (const auto& unit : units) {
    auto counts = labels.counts();
    for (const Index i : unit.rows) --counts[labels.codes[i]];
    if (std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; }) >= 2) continue;
    throw BadInput(
        {.file = source},
        fmt::format(
            "leaving out {} leaves one class only; at least two rows (or groups) of two classes are needed (fit: give one size with ⟨k N⟩, which needs no folds)",
            row_groups.empty() ? fmt::format("row {}", unit.rows.front())
                               : fmt::format("group '{}'", row_groups[unit.rows.front()])));
  }
}

}  // namespace

std::vector<std::vector<Index>> make_splits(const Labels& labels, const std::vector<std::string>& row_groups,
                                            const std::string& source, const SplitOptions& options,
                                            Random random) {
  auto units = make_units(labels, row_groups);
  std::vector<std::vector<Index>> splits;
  if (options.test_fraction > 0.0) {
    // Of each class, units in random order until the fraction of its rows is reached, at least one and never
    // all.
    splits.emplace_back();
    units = shuffled_by_class(std::move(units), random);
    for (std::size_t begin = 0; begin < units.size();) {
      std::size_t end = begin;
      Index rows = 0;
      for (; end < units.size() && units[end].main_class == units[begin].main_class; ++end) {
        rows += static_cast<Index>(units[end].rows.size());
      }
      const auto wanted = std::max<Index>(1, std::llround(options.test_fraction * static_cast<double>(rows)));
      Index taken = 0;
      // The order within a class is by size; a random order is wanted here.
      random.shuffle(std::span<Unit>(units).subspan(begin, end - begin));
      for (std::size_t u = begin; u + 1 < end && taken < wanted; ++u) {
        splits.front().insert(splits.front().end(), units[u].rows.begin(), units[u].rows.end());
        taken += static_cast<Index>(units[u].rows.size());
      }
      begin = end;
    }
    if (splits.front().empty()) {
      throw BadInput(
          {.file = source},
          "every class has a single row or group: none can be held out; give more rows, or name the label column with ⟨target⟩");
    }
  } else if (options.cv.folds == 0) {
    check_leave_one_out(labels, row_groups, source, units);
    for (auto& unit : units) splits.push_back(std::move(unit.rows));
  } else {
    const Index folds = options.cv.folds;
    check_fold_count(labels, source, options, units.size());
    const auto classes = static_cast<std::size_t>(labels.class_count());
    std::vector<std::vector<Index>> class_rows(static_cast<std::size_t>(folds),
                                               std::vector<Index>(classes, 0));
    splits.resize(static_cast<std::size_t>(folds));
    for (const auto& unit : shuffled_by_class(std::move(units), random)) {
      const auto load = [&](std::size_t fold) {
        return std::tuple(class_rows[fold][unit.main_class], splits[fold].size(), fold);
      };
      std::size_t best = 0;
      for (std::size_t fold = 1; fold < splits.size(); ++fold) {
        if (load(fold) < load(best)) best = fold;
      }
      for (const Index i : unit.rows) {
        splits[best].push_back(i);
        ++class_rows[best][labels.codes[i]];
      }
    }
  }
  for (auto& rows : splits) std::sort(rows.begin(), rows.end());
  return splits;
}

std::vector<Index> complement(const std::vector<Index>& held_out, Index rows) {
  std::vector<Index> rest;
  auto next = held_out.begin();
  for (Index i = 0; i < rows; ++i) {
    if (next != held_out.end() && *next == i) {
      ++next;
    } else {
      rest.push_back(i);
    }
  }
  return rest;
}

}  // namespace subspectra
