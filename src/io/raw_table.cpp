#include "io/raw_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>

#include "core/spelling.hpp"
#include "core/text.hpp"
#include "data/derived_features.hpp"
#include "data/leaks.hpp"
#include "data/name_patterns.hpp"
#include "data/symmetric.hpp"
#include "io/categories.hpp"
#include "io/sample_labels.hpp"
#include "io/text_columns.hpp"
#include "io/text_kinds.hpp"
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
    return std::find(ignored_.begin(), ignored_.end(), name) != ignored_.end();
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
  [[nodiscard]] Vector dense_column(Index feature) const;
  [[nodiscard]] std::string name_of(const Found& found) const {
    return found.side >= 0 ? table_.side[static_cast<std::size_t>(found.side)].name
                           : table_.names[found.feature];
  }
  /// For what the reader did not place by itself; rows count from 0, as in arrays.
  [[nodiscard]] Location row_place(std::string_view what, const std::string& column, Index row) const {
    return {.file = table_.source, .place = fmt::format("{} {}, row {}", what, shown(column), row)};
  }
  void warn_of_choice(std::size_t taken);
  [[nodiscard]] Found target_among_texts();
  [[nodiscard]] Found target_among_descriptions() const;
  [[nodiscard]] std::vector<Index> zero_one_targets() const;
  [[nodiscard]] bool is_zero_one(Index feature) const;
  [[nodiscard]] bool is_id_column(std::size_t side) const {
    return std::find(ids_.begin(), ids_.end(), side) != ids_.end();
  }
  [[nodiscard]] bool is_named_category(const std::string& name) const {
    return std::find(named_categories_.begin(), named_categories_.end(), name) != named_categories_.end();
  }
  void apply_na();
  void transpose();
  void take_names();
  void turn_for_needs();
  void read_labels();
  void set_given_labels();
  /// ⟨id⟩ names a column of this table; where features stood in rows it was that of their names.
  [[nodiscard]] bool asks_for_id() const {
    return !options_.id.empty() && !was_turned_ && !(options_.id_optional && !has_column(options_.id));
  }
  void find_ids();
  void set_ids();
  [[nodiscard]] std::vector<std::string> columns_of_few_values() const;
  void explain_no_target();
  void refuse_unknown_ignored() const;
  void spell_out_ignored();
  void drop_index_columns();
  [[nodiscard]] bool tells_the_class(const std::vector<std::string>& texts,
                                     const std::map<std::string_view, std::size_t>& values) const;
  void plan_categories();
  void plan_derived();
  void warn_of_unknown_values(const std::string& column, const std::vector<std::string>& texts,
                              const std::vector<DerivedFeature>& known);
  void add_planned();
  void refuse_covariance();
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
  bool was_turned_ = false;           ///< features stood in rows
  bool knows_needs_ = false;          ///< options.needed names columns of this table
  std::vector<std::string> ignored_;  ///< options.ignore, patterns spelled out
  std::vector<std::size_t> used_side_;
  std::vector<Index> used_features_;
  std::vector<std::size_t> ids_;  ///< side columns that name the rows, the one that is kept first
  std::vector<std::string> named_categories_;
  std::optional<SampleTable> label_file_;
  struct Planned {
    std::vector<std::string> texts;
    std::vector<DerivedFeature> features;
    std::optional<Location> first_missing;
  };
  std::vector<Planned> planned_;  ///< features that are made of text columns
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
  if (const Found found = target_among_texts(); found.any()) return found;
  if (const Found found = target_among_descriptions(); found.any()) return found;
  const std::vector<Index> numeric = zero_one_targets();
  if (numeric.size() != 1) return {};
  data_.understood.push_back(fmt::format("target '{}', 0 and 1", table_.names[numeric.front()]));
  return {.side = -1, .feature = numeric.front()};
}

/// The text column that is the target though nothing but its kind says so: of those in the table one that is
/// called like a target, or the last; else the last of those beside it (obs of h5ad).
Found Assembler::target_among_texts() {
  std::vector<std::size_t> in_table;
  const SideColumn* beside = nullptr;
  std::size_t beside_at = 0;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    const SideColumn& side = table_.side[s];
    if (is_ignored(side.name) || is_used(s) || is_id_column(s) || is_named_category(side.name)) continue;
    if (!side.may_be_ignored && !are_dates(side.values)) in_table.push_back(s);
    if (side.may_be_ignored && side.may_be_target) {
      beside = &side;
      beside_at = s;
    }
  }
  if (!in_table.empty()) {
    const auto named = [&](std::size_t s) { return is_name_of_target(table_.side[s].name); };
    std::size_t taken = in_table.back();
    if (in_table.size() > 1 && std::count_if(in_table.begin(), in_table.end(), named) == 1)
      taken = *std::find_if(in_table.begin(), in_table.end(), named);
    const std::vector<Index> numeric = zero_one_targets();
    if (in_table.size() > 1 && !named(taken) && numeric.size() == 1)
      return {};  // the text columns are categories
    std::vector<std::string> others;
    for (const std::size_t s : in_table) {
      if (s != taken) others.push_back(table_.side[s].name);
    }
    for (const Index j : numeric) others.push_back(table_.names[j]);
    if (!others.empty() && !knows_needs_)
      data_.warnings.push_back(
          fmt::format("labels are taken from {}; ⟨target NAME⟩ takes another column ({})",
                      shown(table_.side[taken].name), listed(others)));
    return {.side = static_cast<std::ptrdiff_t>(taken), .feature = -1};
  }
  if (beside == nullptr) return {};
  warn_of_choice(beside_at);
  return {.side = static_cast<std::ptrdiff_t>(beside_at), .feature = -1};
}

/// Of what describes the samples (GEO characteristics) the only one with few values.
Found Assembler::target_among_descriptions() const {
  Found found;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    const SideColumn& side = table_.side[s];
    if (!side.describes_sample || side.is_numeric || is_ignored(side.name) || is_used(s)) continue;
    const auto values = values_of_category(side.values);
    if (!values || values->size() < 2 || 2 * values->size() > side.values.size()) continue;
    if (found.any()) return {};
    found = {.side = static_cast<std::ptrdiff_t>(s), .feature = -1};
  }
  return found;
}

bool Assembler::is_zero_one(Index feature) const {
  bool zero = false, one = false, other = false;
  const auto look = [&](double value) {
    zero = zero || value == 0.0;
    one = one || value == 1.0;
    other = other || (value != 0.0 && value != 1.0 && !std::isnan(value));
  };
  if (table_.is_sparse) {
    for (SparseMatrix::InnerIterator it(table_.sparse, feature); it; ++it) look(it.value());
    zero = zero || table_.sparse.col(feature).nonZeros() < table_.sparse.rows();
  } else {
    const Vector column = dense_column(feature);
    for (const double value : column) look(value);
  }
  return zero && one && !other;
}

/// Columns of zeros and ones that are called like a target.
std::vector<Index> Assembler::zero_one_targets() const {
  std::vector<Index> found;
  if (!table_.names.given()) return found;
  for (Index j = 0; j < table_.names.size(); ++j) {
    const std::string& name = table_.names.list()[static_cast<std::size_t>(j)];
    if (is_name_of_target(name) && !is_ignored(name) && is_zero_one(j)) found.push_back(j);
  }
  return found;
}

/// Texts and numbers of `na`, where the reader has not seen to them itself.
void Assembler::apply_na() {
  if (options_.na.empty() || table_.na_is_done) return;
  std::vector<double> numbers;
  for (const std::string& token : options_.na) {
    double value = 0.0;
    if (parse_number(token, value)) numbers.push_back(value);
  }
  const auto replace = [&](double& value, Index row, Index column) {
    if (std::find(numbers.begin(), numbers.end(), value) == numbers.end()) return;
    value = std::nan("");
    if (!table_.first_missing) table_.first_missing = row_place("column", table_.names[column], row);
  };
  if (table_.columns && !numbers.empty()) {
    table_.columns = table_.columns->with_each_value([numbers](Index, double value) {
      const bool missing = std::find(numbers.begin(), numbers.end(), value) != numbers.end();
      return missing ? std::nan("") : value;
    });
  }
  for (Index j = 0; j < table_.names.size() && !numbers.empty() && !table_.columns; ++j) {
    if (table_.is_sparse) {
      for (SparseMatrix::InnerIterator it(table_.sparse, j); it; ++it) replace(it.valueRef(), it.row(), j);
    } else {
      for (Index i = 0; i < table_.dense.rows(); ++i) replace(table_.dense(i, j), i, j);
    }
  }
  for (SideColumn& side : table_.side) {
    for (std::string& value : side.values) {
      if (std::find(options_.na.begin(), options_.na.end(), value) != options_.na.end()) value.clear();
    }
  }
}

/// Features in rows and samples in columns: the other way round from here on.
void Assembler::transpose() {
  if (table_.columns)
    throw BadInput({.file = table_.source},
                   "a table that is read in blocks cannot be transposed; write it with samples in rows");
  drop_index_columns();
  for (Index j = 0; j < table_.names.size(); ++j) {
    if (is_ignored(table_.names[j])) used_features_.push_back(j);
  }
  drop_used_features();
  used_features_.clear();
  table_.nameless.clear();
  data_.understood.clear();
  const Index samples = table_.names.size();
  const Index features = table_.is_sparse ? table_.sparse.rows() : table_.dense.rows();
  const MemoryPurpose purpose{.what = fmt::format("{}: the table of {} features x {} samples, transposed",
                                                  table_.source, features, samples),
                              .advice = "take fewer features or samples, or raise ⟨memory_limit⟩"};
  HeldMemory twice(memory_);
  if (table_.is_sparse) {
    twice.grow(
        static_cast<std::size_t>(table_.sparse.nonZeros()) * 12 + static_cast<std::size_t>(features) * 8,
        purpose);
    SparseMatrix turned(table_.sparse.transpose());
    table_.sparse.swap(turned);
  } else {
    twice.grow(static_cast<std::size_t>(table_.dense.size()) * sizeof(double), purpose);
    Matrix turned = table_.dense.transpose();
    table_.dense.swap(turned);
  }
  std::size_t named = table_.side.size();
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    const SideColumn& side = table_.side[s];
    if (is_ignored(side.name)) continue;
    if (side.name == options_.id) named = s;
    if (named == table_.side.size() && !side.is_numeric && all_differ(side.values, memory_, purpose_))
      named = s;
  }
  SideColumn ids;
  ids.name = "sample";
  ids.may_be_ignored = true;
  ids.is_id = true;
  const bool has_ids = table_.names.given();
  for (Index i = 0; i < samples && has_ids; ++i) memory_.append(ids.values, table_.names[i], purpose_);
  std::vector<std::string> left_out;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    if (s != named) left_out.push_back(table_.side[s].name);
  }
  table_.names = named < table_.side.size() ? FeatureNames(std::move(table_.side[named].values))
                                            : FeatureNames(features);
  table_.side.clear();
  if (has_ids) table_.side.push_back(std::move(ids));
  if (!left_out.empty())
    data_.notes.push_back(fmt::format("columns beside the features are left out: {}", listed(left_out)));
  data_.notes.push_back(
      fmt::format("transposed: {} features in rows, {} samples in columns", features, samples));
  table_.samples_in_rows = true;
  was_turned_ = true;
}

void Assembler::take_names() {
  if (options_.names.empty()) return;
  if (table_.names.given())
    throw BadInput(
        {.file = table_.source},
        "the table names its features itself, and ⟨names⟩ is for one that does not; leave ⟨names⟩ out");
  table_.names = FeatureNames(
      read_feature_names(options_.names, static_cast<std::size_t>(table_.names.size()), memory_));
}

/// The columns that a model needs are the names of rows: the samples stand in the columns.
void Assembler::turn_for_needs() {
  if (options_.needed.empty() || options_.transpose || table_.samples_in_rows || !table_.names.given())
    return;
  const auto is_there = [&](const std::string& name) { return has_column(name); };
  if (std::any_of(options_.needed.begin(), options_.needed.end(), is_there)) return;
  for (const SideColumn& side : table_.side) {
    if (side.is_numeric) continue;
    const std::unordered_set<std::string_view> names(side.values.begin(), side.values.end());
    const auto is_named = [&](const std::string& name) { return names.contains(name); };
    if (names.size() < side.values.size() ||
        !std::all_of(options_.needed.begin(), options_.needed.end(), is_named))
      continue;
    const std::string column = shown(side.name);
    transpose();
    data_.understood.push_back(fmt::format("transposed, since the features stand in column {}", column));
    return;
  }
}

/// Reads `labels`. Ids that are the names of columns say that the samples stand there.
void Assembler::read_labels() {
  if (options_.labels.empty()) return;
  label_file_ = read_sample_table(parse_labels_option(options_.labels).file, options_.na, memory_);
  if (table_.samples_in_rows || options_.transpose || !table_.names.given()) return;
  std::size_t in_rows = 0;
  for (const SideColumn& side : table_.side) {
    if (!side.is_numeric) in_rows = std::max(in_rows, match_ids(*label_file_, side.values).found);
  }
  const std::size_t in_columns = match_ids(*label_file_, table_.names.all()).found;
  if (in_columns <= in_rows || in_columns < 2) return;
  transpose();
  data_.understood.emplace_back("transposed, since the sample ids are names of columns");
}

/// The column of `labels` for these rows.
void Assembler::set_given_labels() {
  const LabelsOption option = parse_labels_option(options_.labels);
  SideColumn labels;
  if (data_.row_ids == nullptr || label_file_->in_order) {
    const auto rows = static_cast<std::size_t>(table_.rows());
    const auto numbers =
        label_file_->in_order ? std::nullopt : numbers_as_ids(*label_file_, table_.dense, rows);
    std::vector<std::string> said;
    if (numbers) {
      labels = labels_of(std::move(*label_file_), option, match_ids(*label_file_, numbers->ids), numbers->ids,
                         said);
      std::string by = fmt::format("the number of the row, from {}", numbers->ids.front());
      if (numbers->feature >= 0) {
        const bool nameless =
            std::binary_search(table_.nameless.begin(), table_.nameless.end(), numbers->feature);
        by = nameless ? "the numbers in the column without a name"
                      : fmt::format("the numbers in {}", shown(table_.names[numbers->feature]));
        used_features_.push_back(numbers->feature);
      }
      data_.understood.push_back(fmt::format("labels from {} by {}", option.file, by));
    } else {
      labels = labels_in_order(std::move(*label_file_), option, rows, said);
      data_.understood.push_back(fmt::format("labels from {} in the order of the rows", option.file));
    }
    for (std::string& one : said) data_.warnings.push_back(std::move(one));
  } else {
    const IdMatch match = match_ids(*label_file_, *data_.row_ids);
    if (match.found == 0) {
      const std::vector<std::string>& ids = *data_.row_ids;
      const auto& firsts = label_file_->columns.front();
      throw BadInput(
          {.file = option.file},
          fmt::format(
              "none of the sample ids of {} stands here: they are {} there, and the first column here holds {}; give a file with the ids of the table, or name the column of ids in the table with ⟨id⟩",
              table_.source, join_some(ids, 3), join_some(firsts, 3)));
    }
    std::vector<std::string> said;
    labels = labels_of(std::move(*label_file_), option, match, *data_.row_ids, said);
    for (std::string& one : said) data_.warnings.push_back(std::move(one));
    data_.understood.push_back(fmt::format("labels from {} for {} of {}", option.file, match.found,
                                           counted(data_.row_ids->size(), "id")));
  }
  for (SideColumn& side : table_.side) {  // the table's own label is no feature
    if (!equal_ignoring_case(side.name, "class") && !side.is_label) continue;
    side.may_be_ignored = true;
    side.is_label = false;
    data_.notes.push_back(fmt::format("column {} is left out: ⟨labels⟩ takes its place", shown(side.name)));
  }
  table_.side.push_back(std::move(labels));
  set_labels({.side = static_cast<std::ptrdiff_t>(table_.side.size()) - 1, .feature = -1});
}

/// Text columns that name the rows: what the format or the user says, and those with a value of its own in
/// every row. Of two rows that says nothing, except where the column has not even a name.
void Assembler::find_ids() {
  constexpr std::size_t kFewRows = 3;
  if (asks_for_id()) {
    const Found found = named(options_.id, "id");
    if (found.side >= 0) ids_.push_back(static_cast<std::size_t>(found.side));
  }
  std::vector<std::size_t> rest;
  for (const bool beside : {false, true}) {
    for (std::size_t s = 0; s < table_.side.size(); ++s) {
      const SideColumn& side = table_.side[s];
      if (side.may_be_ignored != beside || is_used(s) || is_id_column(s)) continue;
      if (side.is_id) {
        ids_.push_back(s);
        continue;
      }
      const bool has_another_use = side.is_label || side.is_numeric || side.describes_sample ||
                                   is_ignored(side.name) || side.name == options_.target ||
                                   (options_.target.empty() && equal_ignoring_case(side.name, "class")) ||
                                   side.name == options_.weights || side.name == options_.cv_groups ||
                                   is_named_category(side.name);
      if (has_another_use || knows_needs_ || (side.values.size() < kFewRows && !side.has_no_name)) continue;
      if (side.values.empty() || !decimal_comma_hint(side.values.front()).empty()) continue;  // numbers
      if (all_differ(side.values, memory_, purpose_) && !are_dates(side.values)) rest.push_back(s);
    }
  }
  if (label_file_) {  // the ids of that file come first
    std::stable_sort(rest.begin(), rest.end(), [&](std::size_t a, std::size_t b) {
      return match_ids(*label_file_, table_.side[a].values).found >
             match_ids(*label_file_, table_.side[b].values).found;
    });
  }
  ids_.insert(ids_.end(), rest.begin(), rest.end());
}

void Assembler::set_ids() {
  find_ids();
  if (ids_.empty()) {
    if (!asks_for_id()) return;
    std::vector<std::string> made;  // a column of numbers
    static_cast<void>(texts_of(named(options_.id, "id"), made));
    data_.id_name = options_.id;
    data_.row_ids = std::make_shared<const std::vector<std::string>>(std::move(made));
  } else {
    SideColumn& side = table_.side[ids_.front()];
    used_side_.insert(used_side_.end(), ids_.begin(), ids_.end());
    data_.id_name = side.name;
    data_.row_ids = std::make_shared<const std::vector<std::string>>(std::move(side.values));
  }
  std::vector<std::string> names = {data_.id_name};
  for (std::size_t k = 1; k < ids_.size(); ++k) {
    const SideColumn& side = table_.side[ids_[k]];
    if (!side.may_be_ignored) names.push_back(side.name);
  }
  data_.understood.push_back(fmt::format("ids in {}", listed(names)));
  data_.notes.push_back(fmt::format("{} {} the rows: no feature and no label", listed(names),
                                    names.size() == 1 ? "names" : "name"));
  for (std::size_t s : ids_) data_.left_out.push_back(table_.side[s].name);
}

/// Columns of whole numbers that could be classes.
std::vector<std::string> Assembler::columns_of_few_values() const {
  constexpr std::size_t kMostClasses = 10;
  std::vector<std::string> found;
  for (Index j = 0; j < table_.dense.cols() && table_.names.given(); ++j) {
    std::vector<double> values;
    bool whole = true;
    for (Index i = 0; i < table_.dense.rows() && whole && values.size() <= kMostClasses; ++i) {
      const double value = table_.dense(i, j);
      if (std::isnan(value)) continue;
      whole = value == std::floor(value);
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    const bool few = values.size() >= 2 && values.size() <= kMostClasses &&
                     2 * static_cast<Index>(values.size()) <= table_.dense.rows();
    if (whole && few) found.push_back(table_.names[j]);
  }
  return found;
}

/// Why there is no target, what could be one, and how to say so.
void Assembler::explain_no_target() {
  std::vector<std::string> described;
  for (const SideColumn& side : table_.side) {
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
    for (const SideColumn& side : table_.side) {
      if (side.describes_sample && described.front().starts_with(shown(side.name)))
        example = shown(side.name);
    }
    text += fmt::format(", and several could be the label: {}; say which with ⟨target {}⟩",
                        join_some(described, 8), example);
  } else if (!ids_.empty() && !table_.samples_in_rows) {
    const std::string& name = table_.side[ids_.front()].name;
    text = fmt::format(
        "there is no label column: {} has a value of its own in every row and names the rows; if these are features and the samples stand in columns, say ⟨transpose⟩, with ⟨labels FILE⟩ for a file of sample ids and labels",
        shown(name));
    const std::vector<std::string> few = columns_of_few_values();
    if (!few.empty() && 2 * static_cast<Index>(few.size()) <= table_.names.size())
      text += fmt::format("; or name the label with ⟨target NAME⟩ ({} {} few values)", listed(few),
                          few.size() == 1 ? "has" : "have");
  } else if (const auto numeric = zero_one_targets(); numeric.size() > 1) {
    std::vector<std::string> names;
    names.reserve(numeric.size());
    for (const Index j : numeric) names.push_back(table_.names[j]);
    text += fmt::format(", and several could be the label: {}; say which with ⟨target {}⟩", listed(names),
                        names[0]);
  } else if (!ids_.empty()) {
    text += "; give one with ⟨labels FILE⟩, a table of sample ids and labels";
  } else {
    const std::vector<std::string> few = columns_of_few_values();
    if (few.empty()) return;
    text += fmt::format("; of its columns {} {} few values: name the label with ⟨target NAME⟩", listed(few),
                        few.size() == 1 ? "has" : "have");
  }
  data_.no_target = text + ", or say ⟨target none⟩ for data without labels";
}

/// A name in `ignore` that no column has is the likelier mistake where text is about to be refused.
void Assembler::refuse_unknown_ignored() const {
  for (const std::string& name : options_.ignore) {
    if (has_column(name) || (is_name_pattern(name) && !is_ignored(name))) continue;  // that fits something
    std::vector<std::string> side_names;
    for (const SideColumn& side : table_.side) side_names.push_back(side.name);
    std::vector<std::string> near = near_names(name, side_names);
    for (std::string& other : table_.names.near(name)) near.push_back(std::move(other));
    throw BadInput({.file = table_.source},
                   fmt::format("{} names '{}', but no column has that name{}; names are matched exactly",
                               marked_option("ignore"), name,
                               near.empty() ? "" : fmt::format(" (did you mean {}?)", join_some(near))));
  }
}

/// Columns that count the rows from 0 or 1 and have no name, or that of an index.
void Assembler::drop_index_columns() {
  if (table_.is_sparse || table_.columns || !table_.names.given() || table_.dense.rows() < 2) return;
  std::vector<Index> gone;
  std::vector<std::string> said;
  for (Index j = 0; j < table_.names.size(); ++j) {
    const std::string name = table_.names[j];
    const bool nameless = std::binary_search(table_.nameless.begin(), table_.nameless.end(), j);
    if (!nameless && !is_name_of_index(name)) continue;
    if (std::find(options_.needed.begin(), options_.needed.end(), name) != options_.needed.end()) continue;
    if (std::find(used_features_.begin(), used_features_.end(), j) != used_features_.end()) continue;
    const double start = table_.dense(0, j);
    if (start != 0.0 && start != 1.0) continue;
    bool counts = true;
    for (Index i = 0; i < table_.dense.rows() && counts; ++i)
      counts = table_.dense(i, j) == start + static_cast<double>(i);
    if (!counts) continue;
    gone.push_back(j);
    said.push_back(nameless ? "without a name" : shown(name));
    data_.left_out.push_back(name);
  }
  if (gone.empty()) return;
  data_.understood.push_back(fmt::format("index {} left out", fmt::join(said, ", ")));
  for (const std::string& one : said)
    data_.notes.push_back(fmt::format("column {} counts the rows: an index, left out", one));
  used_features_.insert(used_features_.end(), gone.begin(), gone.end());
}

/// Every value stands in rows of one class alone, and so many of them that chance does not do it.
bool Assembler::tells_the_class(const std::vector<std::string>& texts,
                                const std::map<std::string_view, std::size_t>& values) const {
  constexpr std::size_t kByChance = 10;  // rows that agree with another one of their value
  if (!data_.labels || data_.labels->class_count() < 2 || texts.size() < values.size() + kByChance)
    return false;
  std::map<std::string_view, int> class_of;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const int code = data_.labels->codes[i];
    if (texts[i].empty() || code == Labels::kMissing) continue;
    if (class_of.try_emplace(texts[i], code).first->second != code) return false;
  }
  return true;
}

/// Which text columns become which features.
void Assembler::plan_categories() {
  if (knows_needs_ || (options_.categorical == "none")) return;
  std::vector<std::string> said, leaks;
  for (std::size_t s = 0; s < table_.side.size(); ++s) {
    const SideColumn& side = table_.side[s];
    const bool named = is_named_category(side.name);
    if (is_used(s) || is_ignored(side.name) || side.is_label) continue;
    if (!named && (side.may_be_ignored || options_.categorical != "auto")) continue;
    const auto first =
        std::find_if(side.values.begin(), side.values.end(), [](const auto& v) { return !v.empty(); });
    const bool has_numbers = first != side.values.end() && !decimal_comma_hint(*first).empty();
    if (!named && (has_numbers || are_dates(side.values))) continue;  // refused with words
    constexpr std::size_t kMostNamed = 1000;
    const auto values = values_of_category(side.values, named ? kMostNamed : kMostCategoryValues);
    if (!values || (!named && 2 * values->size() > side.values.size())) continue;
    if (values->size() < 2) {
      data_.notes.push_back(
          fmt::format("column {} has the same text in every row and is left out", shown(side.name)));
      data_.left_out.push_back(side.name);
      used_side_.push_back(s);
      continue;
    }
    CategoryColumn category = category_of(side, *values);
    said.push_back(fmt::format("{} ({})", shown(side.name), category.values));
    if (values->size() > 2 && tells_the_class(side.values, *values)) leaks.push_back(shown(side.name));
    data_.derived.push_back(category.first);  // no feature, but a value that a model knows
    data_.derived.insert(data_.derived.end(), category.features.begin(), category.features.end());
    planned_.push_back({.texts = std::move(table_.side[s].values),
                        .features = std::move(category.features),
                        .first_missing = side.first_missing});
    used_side_.push_back(s);
  }
  for (const std::string& name : named_categories_) {  // columns of numbers
    const bool text = std::any_of(table_.side.begin(), table_.side.end(),
                                  [&](const SideColumn& side) { return side.name == name; });
    if (text || is_ignored(name)) continue;
    Planned plan;
    static_cast<void>(texts_of(named(name, "categorical"), plan.texts));
    SideColumn column;
    column.name = name;
    const auto values = values_of_category(plan.texts, plan.texts.size());
    CategoryColumn category = category_of(column, *values);
    said.push_back(fmt::format("{} ({})", shown(name), category.values));
    data_.derived.push_back(category.first);
    data_.derived.insert(data_.derived.end(), category.features.begin(), category.features.end());
    plan.features = std::move(category.features);
    planned_.push_back(std::move(plan));
  }
  if (!leaks.empty())
    data_.warnings.push_back(fmt::format(
        "the values of {} tell the class of every row: a possible leak; what is known only with the label is left out with ⟨exclude⟩",
        join_some(leaks)));
  if (!said.empty())
    data_.understood.push_back(
        fmt::format("{} {}", said.size() == 1 ? "category" : "categories", join_some(said)));
}

/// The features of a model that are made of text columns, made again.
void Assembler::plan_derived() {
  std::vector<std::string> done;
  for (const DerivedFeature& first : options_.derived) {
    if (!first.value || std::find(done.begin(), done.end(), first.column) != done.end()) continue;
    done.push_back(first.column);
    if (!has_column(first.column))
      throw BadInput(
          {.file = table_.source},
          fmt::format("lacks column {}, of which the model makes {}; add it or rename a column to match",
                      shown(first.column), shown(first.name)));
    Planned plan;
    for (const DerivedFeature& feature : options_.derived) {
      if (feature.column == first.column && feature.value) plan.features.push_back(feature);
    }
    std::vector<std::string> made;
    const Found found = named(first.column, "categorical");
    plan.texts = texts_of(found, made);
    if (found.side >= 0) plan.first_missing = table_.side[static_cast<std::size_t>(found.side)].first_missing;
    warn_of_unknown_values(first.column, plan.texts, plan.features);
    data_.derived.insert(data_.derived.end(), plan.features.begin(), plan.features.end());
    planned_.push_back(std::move(plan));
  }
}

/// New rows with values that the model has not seen count as having none of those it has.
void Assembler::warn_of_unknown_values(const std::string& column, const std::vector<std::string>& texts,
                                       const std::vector<DerivedFeature>& known) {
  std::vector<std::string> values;
  std::size_t rows = 0;
  for (const std::string& text : texts) {
    if (text.empty() || std::any_of(known.begin(), known.end(),
                                    [&](const DerivedFeature& feature) { return feature.value == text; }))
      continue;
    ++rows;
    if (std::find(values.begin(), values.end(), text) == values.end() && values.size() <= kMostListed)
      values.push_back(text);
  }
  if (rows == 0) return;
  data_.warnings.push_back(
      fmt::format("column {} holds {} that the model has not seen ({}): there {} none of those it knows",
                  shown(column), values.size() == 1 ? "a value" : "values", listed(values),
                  rows == 1 ? "1 row has" : fmt::format("{} rows have", rows)));
}

void Assembler::add_planned() {
  if (data_.columns && !planned_.empty())
    throw BadInput({.file = data_.source},
                   "categories cannot be added to a table that is read in blocks; say ⟨categorical none⟩");
  for (const Planned& plan : planned_) {
    memory_.grow(plan.texts.size() * plan.features.size() * sizeof(double), purpose_);
    const Matrix columns = category_values(plan.texts, plan.features);
    std::vector<std::string> names;
    for (const DerivedFeature& feature : plan.features) names.push_back(feature.name);
    if (plan.first_missing &&
        (!data_.first_missing ||
         (plan.first_missing->line > 0 && plan.first_missing->line < data_.first_missing->line)))
      data_.first_missing = plan.first_missing;
    append_features(data_, columns, names, &memory_);
    memory_.give_back(static_cast<std::size_t>(columns.size()) * sizeof(double));
  }
}

/// As many rows as columns and symmetric: no table of samples.
void Assembler::refuse_covariance() {
  if (data_.is_sparse || data_.labels || data_.dense.rows() != data_.dense.cols() || data_.dense.rows() < 3)
    return;
  if (!data_.dense.allFinite()) return;
  const double tolerance = kSymmetryTolerance * data_.dense.cwiseAbs().maxCoeff();
  for (Index j = 0; j < data_.dense.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      if (std::abs(data_.dense(i, j) - data_.dense(j, i)) > tolerance) return;
    }
  }
  const std::string sentence = fmt::format(
      "the {} rows and columns form a symmetric matrix, as of covariances or correlations, not of samples; give it as ⟨covariance {}⟩ in place of a table",
      data_.dense.rows(), data_.source);
  if (options_.target != "none")
    throw BadInput({.file = data_.source},
                   fmt::format("{}, or say ⟨target none⟩ if its rows are samples", sentence));
  data_.warnings.push_back(sentence);
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

Vector Assembler::dense_column(Index feature) const {
  if (!table_.columns) return table_.dense.col(feature);
  Vector column(table_.columns->rows());
  table_.columns->read(feature, 1, column.data());
  return column;
}

Vector Assembler::numbers_of(const Found& found) {
  if (found.feature >= 0) {
    used_features_.push_back(found.feature);
    if (!table_.is_sparse) return dense_column(found.feature);
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
  refuse_unknown_ignored();
  const auto value =
      std::find_if(first->values.begin(), first->values.end(), [](const auto& v) { return !v.empty(); });
  const std::string example = value == first->values.end() ? std::string() : *value;
  Location where = first->first;
  if (where.file.empty()) where.file = table_.source;
  if (knows_needs_) throw BadInput(where, needed_number_sentence(example, first->name));
  if (are_dates(first->values) && !is_named_category(first->name)) {
    throw BadInput(
        where,
        fmt::format(
            "column {} holds dates ({}), which are no features as they stand; leave it out with ⟨ignore {}⟩, or write numbers, such as days since the first",
            shown(first->name), shown(example), first->name));
  }
  const std::string all_names = fmt::format("{}", fmt::join(names, ","));
  throw BadInput(
      where,
      fmt::format(
          "{} and {} not the label column; leave {} out with ⟨ignore {}⟩, make {} of {} with ⟨categorical {}⟩, or write numbers{}",
          names.size() == 1 ? fmt::format("column {} holds text, such as {},", listed(names), shown(example))
                            : fmt::format("columns {} hold text", listed(names)),
          names.size() == 1 ? "is" : "are", names.size() == 1 ? "it" : "them",
          names.size() <= kMostListed ? all_names : std::string("@FILE"),
          names.size() == 1 ? "a category" : "categories", names.size() == 1 ? "it" : "them",
          names.size() <= kMostListed ? all_names : std::string("NAMES"), decimal_comma_hint(example)));
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
  if (table_.columns) {
    table_.columns = table_.columns->selected(kept);
    return;
  }
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

void Assembler::spell_out_ignored() {
  const auto sides = static_cast<Index>(table_.side.size());
  ignored_ = spelled_out(options_.ignore, sides + table_.names.size(), [&](Index column) {
    return column < sides ? table_.side[static_cast<std::size_t>(column)].name : table_.names[column - sides];
  });
}

void Assembler::run() {
  data_.notes = std::move(table_.notes);
  make_texts_utf8();
  spell_out_ignored();
  apply_na();
  named_categories_ = names_in_list(options_.categorical);
  if (options_.transpose && !table_.samples_in_rows) transpose();
  if (options_.transpose) {
    was_turned_ = true;
    data_.understood.emplace_back("transposed");
  }
  turn_for_needs();
  read_labels();
  take_names();
  spell_out_ignored();  // of the columns that there are now
  knows_needs_ = std::any_of(options_.needed.begin(), options_.needed.end(),
                             [&](const std::string& name) { return has_column(name); });
  set_weights();
  set_groups();
  set_ids();
  Found target;
  if (label_file_) {
    set_given_labels();
  } else if (options_.target.empty()) {
    target = default_target();
  } else if (options_.target != "none" && !(options_.target_optional && !has_column(options_.target))) {
    target = named(options_.target, "target");
  }
  if (target.any()) {
    set_labels(target);
  } else if (!label_file_) {
    data_.notes.emplace_back("labels: none");
    if (options_.target.empty()) explain_no_target();
  }
  if (!options_.derived.empty()) plan_derived();
  plan_categories();
  refuse_text_columns();
  drop_index_columns();
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
  data_.columns = std::move(table_.columns);
  data_.gaps_are_means = table_.gaps_are_means;
  data_.names = std::move(table_.names);
  data_.first_missing = std::move(table_.first_missing);
  data_.first_infinite = std::move(table_.first_infinite);
  add_planned();
  if (data_.features() == 0) {
    throw BadInput(
        {.file = data_.source},
        "there is no column of numbers to choose features from; a table has samples in rows and features in columns");
  }
  if (data_.rows() == 0) throw BadInput({.file = data_.source}, "there are no rows; add at least one");
  if (!knows_needs_) {
    refuse_covariance();
    for (std::string& warning : leak_warnings(data_, ignored_)) data_.warnings.push_back(std::move(warning));
  }
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
