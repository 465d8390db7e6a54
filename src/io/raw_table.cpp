#include "io/raw_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/spelling.hpp"
#include "core/text.hpp"
#include "io/text_columns.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

constexpr std::size_t kMostListed = 5;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostListed); ++i) {
    text += (i > 0 ? ", " : "") + shown(names[i]);
  }
  if (names.size() > kMostListed) text += fmt::format(" and {} more", names.size() - kMostListed);
  return text;
}

/// A column of the table by name: a side column, or one of the numbers.
struct Found {
  std::ptrdiff_t side = -1;
  Index feature = -1;
  [[nodiscard]] bool any() const { return side >= 0 || feature >= 0; }
};

class Assembler {
 public:
  // By reference, filling `data` in place: Eigen 3.4's sparse matrices copy when they are moved.
  Assembler(RawTable& table, const ReadOptions& options, DatasetParts& data)
      : table_(table),
        options_(options),
        data_(data),
        budget_(table.memory ? table.memory : std::make_shared<MemoryBudget>(options.memory_limit.bytes)),
        memory_(*budget_),
        purpose_{.what = fmt::format("reading the names and labels of {}", table.source),
                 .advice = "leave columns of text out of the file, or raise ⟨memory_limit⟩"} {}
  void run();

 private:
  [[nodiscard]] Found named(std::string_view name, std::string_view option) const;
  [[nodiscard]] Found default_target();
  [[nodiscard]] Found named_class() const;
  [[nodiscard]] bool is_ignored(const std::string& name) const {
    return std::find(options_.ignore.begin(), options_.ignore.end(), name) != options_.ignore.end();
  }
  /// Text is no mistake in this column: the user leaves it out, or has no need of it.
  [[nodiscard]] bool may_hold_text(const std::string& name) const {
    return is_ignored(name) || (knows_needs_ && std::find(options_.needed.begin(), options_.needed.end(),
                                                          name) == options_.needed.end());
  }
  [[nodiscard]] bool has_column(std::string_view name) const {
    return !table_.names.find(name).empty() ||
           std::any_of(table_.side.begin(), table_.side.end(),
                       [&](const SideColumn& side) { return side.name == name; });
  }
  [[nodiscard]] bool is_used(std::size_t side) const {
    return std::find(used_side_.begin(), used_side_.end(), side) != used_side_.end();
  }
  /// The values of a column as text ("" for missing): those of a side column where they stand, numbers in
  /// `made`.
  const std::vector<std::string>& texts_of(const Found& found, std::vector<std::string>& made);
  Vector numbers_of(const Found& found);
  [[nodiscard]] std::string name_of(const Found& found) const {
    return found.side >= 0 ? table_.side[static_cast<std::size_t>(found.side)].name
                           : table_.names[found.feature];
  }
  /// For what the reader did not place by itself; rows count from 0, as in arrays.
  [[nodiscard]] Location row_place(std::string_view what, const std::string& column, Index row) const {
    return {.file = table_.source, .place = fmt::format("{} {}, row {}", what, shown(column), row)};
  }
  void warn_of_choice(std::size_t taken);
  void set_labels(const Found& found);
  void note_first_unlabelled(const Found& found);
  void set_weights();
  void set_groups();
  void make_texts_utf8();
  void refuse_text_columns() const;
  void drop_used_features();

  RawTable& table_;
  const ReadOptions& options_;
  DatasetParts& data_;
  std::shared_ptr<MemoryBudget> budget_;
  MemoryBudget& memory_;
  MemoryPurpose purpose_;
  bool knows_needs_ = false;  ///< options.needed names columns of this table
  std::vector<std::size_t> used_side_;
  std::vector<Index> used_features_;
};

Found Assembler::named(std::string_view name, std::string_view option) const {
  std::vector<Found> all;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    if (table_.side[s].name == name) all.push_back({.side = static_cast<std::ptrdiff_t>(s), .feature = -1});
  }
  for (const Index j : table_.names.find(name)) all.push_back({.side = -1, .feature = j});
  if (all.size() == 1) return all.front();
  if (all.size() > 1) {
    throw BadInput({.file = table_.source},
                   fmt::format("{} columns are named {}, which {} asks for; give them different names",
                               all.size(), shown(name), marked_option(option)));
  }
  std::vector<std::string> side_names;
  for (const SideColumn& side : table_.side) side_names.push_back(side.name);
  std::vector<std::string> near = near_names(name, side_names);
  for (std::string& other : table_.names.near(name)) near.push_back(std::move(other));
  std::string advice =
      option == "target" ? "'⟨target none⟩' is for data without labels" : "check the spelling";
  if (!near.empty()) {
    advice = fmt::format("near names: {}", listed(near));
  } else if (!side_names.empty()) {
    advice = fmt::format("columns of text: {}", listed(side_names));
  }
  throw BadInput({.file = table_.source},
                 fmt::format("{}: there is no column of that name; {}", marked_option(option, name), advice));
}

/// "class", or a single column that differs from it in case only.
Found Assembler::named_class() const {
  const auto several = std::count_if(table_.side.begin(), table_.side.end(),
                                     [](const auto& side) { return side.name == "class"; });
  if (several > 1) {
    throw BadInput(
        {.file = table_.source},
        fmt::format(
            "{} columns are named 'class', and one of them is the label column; give them different names",
            several));
  }
  for (const bool exact : {true, false}) {
    for (std::size_t s = 0; s < table_.side.size(); ++s) {
      const std::string& name = table_.side[s].name;
      if (exact ? name == "class" : equal_ignoring_case(name, "class")) {
        return {.side = static_cast<std::ptrdiff_t>(s), .feature = -1};
      }
    }
  }
  return {};
}

Found Assembler::default_target() {
  if (const Found found = named_class(); found.any()) return found;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    if (table_.side[s].is_label) return {.side = static_cast<std::ptrdiff_t>(s), .feature = -1};
  }
  if (table_.names.given()) {
    for (Index j = 0; j < table_.names.size(); ++j) {
      if (equal_ignoring_case(table_.names[j], "class")) return {.side = -1, .feature = j};
    }
  }
  // Columns of the table come before what merely stands beside it (obs of h5ad).
  for (const bool beside : {false, true}) {
    for (std::size_t s = table_.side.size(); s-- > 0;) {
      const SideColumn& side = table_.side[s];
      if (side.may_be_ignored && !(beside && side.may_be_target)) continue;
      if (is_ignored(side.name) || is_used(s)) continue;
      if (beside) warn_of_choice(s);
      return {.side = static_cast<std::ptrdiff_t>(s), .feature = -1};
    }
  }
  return {};
}

/// Nothing but its place makes the last text column beside a table its label: say so when there are others.
void Assembler::warn_of_choice(std::size_t taken) {
  std::vector<std::string> others;
  for (std::size_t s = 0; s < taken; ++s) {
    const SideColumn& side = table_.side[s];
    if (side.may_be_target && !is_ignored(side.name) && !is_used(s)) others.push_back(side.name);
  }
  if (others.empty()) return;
  data_.warnings.push_back(
      fmt::format("labels are taken from {}, the last of {} text columns; ⟨target NAME⟩ takes another ({})",
                  shown(table_.side[taken].name), others.size() + 1, listed(others)));
}

const std::vector<std::string>& Assembler::texts_of(const Found& found, std::vector<std::string>& made) {
  if (found.side >= 0) {
    const auto side = static_cast<std::size_t>(found.side);
    used_side_.push_back(side);
    return table_.side[side].values;
  }
  const Vector numbers = numbers_of(found);
  memory_.make_room(made, static_cast<std::size_t>(numbers.size()), purpose_);
  for (Index i = 0; i < numbers.size(); ++i) {
    memory_.append(made, std::isnan(numbers[i]) ? std::string() : number_text(numbers[i]), purpose_);
  }
  return made;
}

Vector Assembler::numbers_of(const Found& found) {
  if (found.feature >= 0) {
    used_features_.push_back(found.feature);
    if (!table_.is_sparse) return table_.dense.col(found.feature);
    return table_.sparse.col(found.feature);
  }
  const SideColumn& side = table_.side[static_cast<std::size_t>(found.side)];
  used_side_.push_back(static_cast<std::size_t>(found.side));
  Vector numbers(static_cast<Index>(side.values.size()));
  for (std::size_t i = 0; i < side.values.size(); ++i) {
    double value = std::nan("");
    if (!side.values[i].empty() && !parse_number(trimmed(side.values[i]), value)) {
      throw BadInput(row_place("weight column", side.name, static_cast<Index>(i)),
                     no_weight_sentence(side.values[i], side.name));
    }
    numbers[static_cast<Index>(i)] = value;
  }
  return numbers;
}

void Assembler::set_labels(const Found& found) {
  const std::string name = name_of(found);
  std::vector<std::string> made;
  data_.labels = Labels::from_texts(name, texts_of(found, made),
                                    [this](std::size_t bytes) { memory_.grow(bytes, purpose_); });
  if (data_.labels->classes.empty()) {
    throw BadInput(
        {.file = table_.source},
        fmt::format(
            "the label column {} holds no label at all; name another one with ⟨target⟩, or '⟨target none⟩'",
            shown(name)));
  }
  const auto missing = std::count(data_.labels->codes.begin(), data_.labels->codes.end(), Labels::kMissing);
  data_.notes.push_back(fmt::format(
      "labels: column '{}', {} class{}{}", name, data_.labels->class_count(),
      data_.labels->class_count() == 1 ? "" : "es",
      missing > 0 ? fmt::format(", {} without a label", counted(missing, "row")) : std::string()));
  if (missing > 0) note_first_unlabelled(found);
}

void Assembler::note_first_unlabelled(const Found& found) {
  if (found.side >= 0) {
    data_.first_unlabelled = table_.side[static_cast<std::size_t>(found.side)].first_missing;
  }
  if (data_.first_unlabelled) return;
  const auto& codes = data_.labels->codes;
  const auto first = std::find(codes.begin(), codes.end(), Labels::kMissing) - codes.begin();
  data_.first_unlabelled = row_place("label column", data_.labels->name, first);
}

void Assembler::set_weights() {
  if (options_.weights.empty()) return;
  data_.weights = numbers_of(named(options_.weights, "weights"));
  for (Index i = 0; i < data_.weights.size(); ++i) {
    if (is_weight(data_.weights[i])) continue;
    throw BadInput(row_place("weight column", options_.weights, i),
                   no_weight_sentence(number_or_nothing(data_.weights[i]), options_.weights));
  }
  if (data_.weights.size() > 0 && data_.weights.maxCoeff() == 0.0) {
    throw BadInput({.file = table_.source},
                   fmt::format("weight column {}: every weight is 0; give some row a positive one",
                               shown(options_.weights)));
  }
}

void Assembler::set_groups() {
  if (options_.cv_groups.empty()) return;
  const std::vector<std::string>& texts = texts_of(named(options_.cv_groups, "cv_groups"), data_.row_groups);
  if (&texts != &data_.row_groups) {
    memory_.make_room(data_.row_groups, texts.size(), purpose_);
    for (const std::string& text : texts) memory_.append(data_.row_groups, text, purpose_);
  }
  const auto empty = std::find(data_.row_groups.begin(), data_.row_groups.end(), std::string());
  if (empty != data_.row_groups.end()) {
    const Found found = named(options_.cv_groups, "cv_groups");
    std::optional<Location> where;
    if (found.side >= 0) where = table_.side[static_cast<std::size_t>(found.side)].first_missing;
    if (!where) where = row_place("group column", options_.cv_groups, empty - data_.row_groups.begin());
    throw BadInput(*where, fmt::format("no group in column {}; every row needs one for ⟨cv_groups⟩",
                                       shown(options_.cv_groups)));
  }
}

/// Result files and models are JSON, which is UTF-8: names and labels must be so from the start, or a model
/// would not find its columns again.
void Assembler::make_texts_utf8() {
  std::size_t converted = 0;
  const auto convert = [&](std::string& text) {
    if (is_utf8(text)) return;
    memory_.grow(3 * MemoryBudget::on_heap(2 * text.size()),
                 purpose_);  // two bytes for one, in a text that doubles
    converted += make_utf8(text) ? 1 : 0;
  };
  const auto list = table_.names.list();
  if (!std::all_of(list.begin(), list.end(), [](const std::string& name) { return is_utf8(name); })) {
    for (const std::string& name : list)
      memory_.grow(sizeof(std::string) + MemoryBudget::on_heap(name.size()), purpose_);
    std::vector<std::string> names = table_.names.all();
    for (std::string& name : names) convert(name);
    table_.names = FeatureNames(std::move(names));
  }
  for (SideColumn& side : table_.side) {
    convert(side.name);
    for (std::string& value : side.values) convert(value);
  }
  if (converted > 0) {
    data_.warnings.push_back(
        converted == 1 ? std::string("1 name or label is not UTF-8 and was read as Latin-1")
                       : fmt::format("{} names or labels are not UTF-8 and were read as Latin-1", converted));
  }
}

void Assembler::refuse_text_columns() const {
  std::vector<std::string> names;
  const SideColumn* first = nullptr;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    const SideColumn& side = table_.side[s];
    if (side.is_label || side.may_be_ignored || is_used(s) || may_hold_text(side.name)) continue;
    if (first == nullptr) first = &side;
    names.push_back(side.name);
  }
  if (first == nullptr) return;
  const auto value =
      std::find_if(first->values.begin(), first->values.end(), [](const auto& v) { return !v.empty(); });
  const std::string example = value == first->values.end() ? std::string() : *value;
  Location where = first->first;
  if (where.file.empty()) where.file = table_.source;
  if (knows_needs_) throw BadInput(where, needed_number_sentence(example, first->name));
  throw BadInput(
      where,
      fmt::format(
          "{} and {} not the label column; leave {} out with ⟨ignore {}⟩, or write numbers{}",
          names.size() == 1 ? fmt::format("column {} holds text ({})", listed(names), shown(example))
                            : fmt::format("columns {} hold text", listed(names)),
          names.size() == 1 ? "is" : "are", names.size() == 1 ? "it" : "them",
          names.size() <= kMostListed ? fmt::format("{}", fmt::join(names, ",")) : std::string("@FILE"),
          decimal_comma_hint(example)));
}

void Assembler::drop_used_features() {
  if (used_features_.empty()) return;
  std::sort(used_features_.begin(), used_features_.end());
  used_features_.erase(std::unique(used_features_.begin(), used_features_.end()), used_features_.end());
  const Index p = table_.names.size();
  std::vector<Index> kept;
  memory_.make_room(kept, static_cast<std::size_t>(p), purpose_);
  for (Index j = 0; j < p; ++j) {
    if (!std::binary_search(used_features_.begin(), used_features_.end(), j)) kept.push_back(j);
  }
  memory_.grow(kept.size() * sizeof(std::string), purpose_);
  for (const std::string& name : table_.names.list())
    memory_.grow(MemoryBudget::on_heap(name.size()), purpose_);
  table_.names = table_.names.selected(kept);
  if (table_.is_sparse) {
    memory_.take(
        12.0 * static_cast<double>(table_.sparse.nonZeros()) + 4.0 * static_cast<double>(kept.size() + 1),
        {.what = fmt::format("{}: the table without the columns that are no features", table_.source),
         .advice = "write the labels beside the table, or raise ⟨memory_limit⟩"});
    SparseMatrix narrow(table_.sparse.rows(), static_cast<Index>(kept.size()));
    narrow.reserve(table_.sparse.nonZeros());
    for (std::size_t k = 0; k < kept.size(); ++k) {
      narrow.startVec(static_cast<Index>(k));
      for (SparseMatrix::InnerIterator it(table_.sparse, kept[k]); it; ++it) {
        narrow.insertBack(it.row(), static_cast<Index>(k)) = it.value();
      }
    }
    narrow.finalize();
    table_.sparse.swap(narrow);
    return;
  }
  // In place: a copy would double the memory of a large table.
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (kept[k] != static_cast<Index>(k)) table_.dense.col(static_cast<Index>(k)) = table_.dense.col(kept[k]);
  }
  table_.dense.conservativeResize(Eigen::NoChange, static_cast<Index>(kept.size()));
}

void Assembler::run() {
  data_.notes = std::move(table_.notes);
  make_texts_utf8();
  knows_needs_ = std::any_of(options_.needed.begin(), options_.needed.end(),
                             [&](const std::string& name) { return has_column(name); });
  set_weights();
  set_groups();
  Found target;
  if (options_.target.empty()) {
    target = default_target();
  } else if (options_.target != "none" && !(options_.target_optional && !has_column(options_.target))) {
    target = named(options_.target, "target");
  }
  if (target.any()) {
    set_labels(target);
  } else {
    data_.notes.emplace_back("labels: none");
  }
  refuse_text_columns();
  drop_used_features();
  std::vector<std::string> not_needed;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    const SideColumn& side = table_.side[s];
    if (is_ignored(side.name)) {
      data_.left_out.push_back(side.name);
    } else if (knows_needs_ && !is_used(s) && !side.may_be_ignored && !side.is_label) {
      not_needed.push_back(side.name);
    }
  }
  if (!not_needed.empty()) {
    data_.notes.push_back(
        fmt::format("text in columns that are not needed is left alone: {}", listed(not_needed)));
  }

  data_.source = std::move(table_.source);
  data_.is_sparse = table_.is_sparse;
  data_.dense = std::move(table_.dense);
  data_.sparse.swap(table_.sparse);
  data_.names = std::move(table_.names);
  data_.first_missing = std::move(table_.first_missing);
  data_.first_infinite = std::move(table_.first_infinite);
  if (data_.features() == 0) {
    throw BadInput(
        {.file = data_.source},
        "there is no column of numbers to choose features from; a table has samples in rows and features in columns");
  }
  if (data_.rows() == 0) throw BadInput({.file = data_.source}, "there are no rows; add at least one");
  HeldMemory hashes(memory_);
  hashes.grow(data_.names.list().size() * 2 * sizeof(std::size_t), purpose_);
  const std::vector<std::string> repeated = duplicate_name_reports(data_.names);
  if (!repeated.empty()) {
    std::string text = fmt::format("{} feature name{} stand{} for several columns: ", repeated.size(),
                                   repeated.size() == 1 ? "" : "s", repeated.size() == 1 ? "s" : "");
    for (std::size_t i = 0; i < std::min(repeated.size(), kMostListed); ++i)
      text += (i > 0 ? "; " : "") + repeated[i];
    if (repeated.size() > kMostListed) text += fmt::format("; and {} more", repeated.size() - kMostListed);
    data_.warnings.push_back(std::move(text));
  }
}

}  // namespace

Dataset assemble(RawTable&& table, const ReadOptions& options) {
  DatasetParts data;
  Assembler(table, options, data).run();
  return data;
}

bool is_weight(double value) { return value >= 0.0 && std::isfinite(value); }

std::string no_weight_sentence(std::string_view text, std::string_view column) {
  return fmt::format(
      "{} is no weight (column {}, ⟨weights⟩); a weight is a number from 0 up: correct it, or write 0 to leave the row out",
      text.empty() ? "a missing value" : shown(text), shown(column));
}

std::string needed_number_sentence(std::string_view text, std::string_view column) {
  return fmt::format(
      "{} is not a number in column {}, which the model uses; correct it, or write NA for a missing value{}",
      shown(text), shown(column), decimal_comma_hint(text));
}

}  // namespace subspectra
