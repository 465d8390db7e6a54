#include "data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/fingerprint.hpp"
#include "core/text.hpp"

namespace subspectra {
namespace {

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: above it two different numbers may print alike

/// Empty if one of the texts is not a number; else each text as a number, NaN for a missing one.
std::vector<double> numbers_of(const std::vector<std::string>& texts) {
  std::vector<double> numbers(texts.size(), std::nan(""));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    if (!parse_number(texts[i], numbers[i]) || !(std::abs(numbers[i]) < kExactIntegers)) return {};
  }
  return numbers;
}

}  // namespace

Labels Labels::from_texts(std::string name, const std::vector<std::string>& texts,
                          const std::function<void(std::size_t)>& take) {
  const auto will_take = [&](std::size_t bytes) {
    if (take) take(bytes);
  };
  will_take(texts.size() * (sizeof(double) + sizeof(int)));
  Labels labels;
  labels.name = std::move(name);
  labels.codes.assign(texts.size(), kMissing);
  const auto code_all = [&]<class Key>(Key, const auto& keys, const auto& is_missing,
                                       const auto& class_name) {
    std::map<Key, int> code_of;
    for (const auto& key : keys) {
      if (is_missing(key) || !code_of.emplace(key, 0).second) continue;
      constexpr std::size_t kNode = 4 * sizeof(void*) + sizeof(Key) + sizeof(int);
      will_take(kNode + 3 * sizeof(std::string));  // and the name of the class, in a vector that doubles
    }
    for (auto& [key, code] : code_of) {
      code = labels.class_count();
      std::string text = class_name(key);
      if (take) take(text.capacity() > 15 ? 2 * text.capacity() : 0);
      labels.classes.push_back(std::move(text));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!is_missing(keys[i])) labels.codes[i] = code_of.at(keys[i]);
    }
  };
  // "+1", "1" and "1.0" are one class when all classes are numbers.
  const std::vector<double> numbers = numbers_of(texts);
  if (!numbers.empty()) {
    code_all(
        double(), numbers, [](double v) { return std::isnan(v); }, number_text);
  } else {
    code_all(
        std::string_view(), texts, [](std::string_view t) { return t.empty(); },
        [](std::string_view t) { return std::string(t); });
  }
  return labels;
}

std::string InfiniteCell::sentence() const {
  if (text.empty()) return "an infinite value";
  const bool has_digits = text.find_first_of("0123456789") != std::string::npos;
  return shown(text) + (has_digits ? " is too large for a double" : " is infinite");
}

std::vector<Index> Labels::counts() const {
  std::vector<Index> rows(classes.size(), 0);
  for (const int code : codes) {
    if (code != kMissing) ++rows[static_cast<std::size_t>(code)];
  }
  return rows;
}

namespace {

template <class Container>
Index size_of(const Container& values) {
  return static_cast<Index>(values.size());
}

/// What the caller gave does not fit together.
[[noreturn]] void refuse_input(std::string_view field, std::string_view rule, std::string_view way_out,
                               std::string value = {}) {
  throw InvalidArgument({.field = std::string(field),
                         .value = std::move(value),
                         .rule = std::string(rule),
                         .way_out = std::string(way_out)});
}

void require_one_each(std::string_view field, Index given, Index wanted, std::string_view what) {
  if (given == wanted) return;
  refuse_input(field, fmt::format("has {} for {}", counted(given, "entry", "entries"), counted(wanted, what)),
               fmt::format("give one for each {}", what), fmt::to_string(given));
}

void check_details(const DatasetDetails& details, const Values& values) {
  const Index n = values.rows();
  if (details.labels) require_one_each("y", size_of(details.labels->codes), n, "row");
  if (details.weights.size() > 0) require_one_each("weights", details.weights.size(), n, "row");
  if (!details.row_groups.empty()) require_one_each("groups", size_of(details.row_groups), n, "row");
  if (!details.original_rows.empty())
    require_one_each("original_rows", size_of(details.original_rows), n, "row");
  require_one_each("names", details.names.size(), values.features(), "column");
  for (Index i = 0; i < details.weights.size(); ++i) {
    const double weight = details.weights[i];
    if (weight >= 0.0 && std::isfinite(weight)) continue;
    refuse_input("weights", fmt::format("holds {} at row {}, but a weight is a number from 0 up", weight, i),
                 "correct it, or write 0 to leave the row out");
  }
}

void check_view(const DenseView& view) {
  if (view.rows < 0 || view.cols < 0)
    refuse_input("x", fmt::format("has {} rows and {} columns, which cannot be", view.rows, view.cols),
                 "give the sizes of the table");
  if (view.cols > 0 &&
      view.rows > std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(double)) / view.cols)
    refuse_input("x", fmt::format("has {} x {} numbers, more than there can be", view.rows, view.cols),
                 "give the sizes of the table");
  if (view.data == nullptr && view.rows > 0 && view.cols > 0)
    refuse_input("x", "is a null pointer", "give the address of the first number");
}

void check_view(const CscView& view) {
  const auto bad = [](std::string_view rule) {
    refuse_input("x", rule,
                 "give compressed columns with row numbers that ascend within each (makeCompressed())");
  };
  if (view.rows < 0 || view.cols < 0) bad(fmt::format("has {} rows and {} columns", view.rows, view.cols));
  if (view.outer.empty() && view.cols == 0 && view.values.empty()) return;
  if (size_of(view.outer) != view.cols + 1)
    bad(fmt::format("has {} positions for {} columns, but one more than columns is needed", view.outer.size(),
                    view.cols));
  if (view.inner.size() != view.values.size())
    bad(fmt::format("has {} row numbers for {} values", view.inner.size(), view.values.size()));
  if (view.outer.front() != 0 || view.outer.back() != size_of(view.values))
    bad(fmt::format("has positions from {} to {}, but {} values", view.outer.front(), view.outer.back(),
                    view.values.size()));
  for (Index j = 0; j < view.cols; ++j) {
    const auto begin = view.outer[static_cast<std::size_t>(j)];
    const auto end = view.outer[static_cast<std::size_t>(j) + 1];
    if (begin > end) bad(fmt::format("has positions that descend at column {}", j));
    for (auto k = begin; k < end; ++k) {
      const Index row = view.inner[static_cast<std::size_t>(k)];
      if (row < 0 || row >= view.rows)
        bad(fmt::format("names row {} in column {}, but there are {} rows", row, j, view.rows));
      if (k > begin && row <= view.inner[static_cast<std::size_t>(k) - 1])
        bad(fmt::format("has row numbers that do not ascend in column {}", j));
    }
  }
}

/// Results and models are JSON, which is UTF-8.
void require_utf8(const std::string& text, std::string_view field, std::size_t place) {
  if (is_utf8(text)) return;
  refuse_input(field, fmt::format("holds {} at {}, which is not UTF-8", shown(text), place),
               "convert it to UTF-8");
}

/// The labels of the caller's array.
std::optional<Labels> labels_of_array(detail::LabelInput input) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&input.labels))
    return Labels::from_texts("y", *texts);
  const auto* numbers = std::get_if<std::vector<double>>(&input.labels);
  if (numbers == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    const double label = (*numbers)[i];
    if (!std::isfinite(label))
      refuse_input("y", fmt::format("holds {} at row {}, which is no class", label, i),
                   "give whole numbers or texts, \"\" for a row without a label");
    texts.push_back(number_text(label));
  }
  return Labels::from_texts("y", texts);
}

std::shared_ptr<DatasetState> checked_state(DatasetDetails details, Values values) {
  if (details.names.size() == 0) details.names = FeatureNames(values.features());
  check_details(details, values);
  return std::make_shared<DatasetState>(DatasetState{std::move(details), std::move(values)});
}

Values values_of(DatasetParts& parts) {
  if (parts.columns) return Values(std::move(parts.columns));
  return parts.is_sparse ? Values(std::move(parts.sparse)) : Values(std::move(parts.dense));
}

std::vector<std::string> chosen_of(const std::vector<std::string>& all, const std::vector<Index>& rows) {
  std::vector<std::string> chosen;
  if (all.empty()) return chosen;
  chosen.reserve(rows.size());
  for (const Index i : rows) chosen.push_back(all[static_cast<std::size_t>(i)]);
  return chosen;
}

void require_between(const std::vector<Index>& numbers, Index size, std::string_view field,
                     std::string_view what) {
  for (const Index i : numbers) {
    if (i >= 0 && i < size) continue;
    refuse_input(field, fmt::format("names {} {}, but there are {} of them", what, i, size),
                 "count from 0 to one below their number");
  }
}

}  // namespace

namespace detail {

std::shared_ptr<DatasetState> make_dataset(TableInput x, LabelInput y, DatasetExtras extras) {
  std::visit([](const auto& view) { check_view(view); }, x.view);
  Values values = std::visit([&](const auto& view) { return Values(view, x.owner); }, x.view);
  DatasetDetails details;
  details.in_memory = true;
  details.source = extras.source.empty() ? DatasetExtras().source : std::move(extras.source);
  require_utf8(details.source, "source", 0);
  for (std::size_t j = 0; j < extras.names.size(); ++j) require_utf8(extras.names[j], "names", j);
  for (std::size_t i = 0; i < extras.groups.size(); ++i) require_utf8(extras.groups[i], "groups", i);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&y.labels)) {
    for (std::size_t i = 0; i < texts->size(); ++i) require_utf8((*texts)[i], "y", i);
  }
  if (!extras.names.empty()) details.names = FeatureNames(std::move(extras.names));
  details.labels = labels_of_array(std::move(y));
  details.weights = Eigen::Map<const Vector>(extras.weights.data(), size_of(extras.weights));
  details.row_groups = std::move(extras.groups);
  return checked_state(std::move(details), std::move(values));
}

DenseView span_view(std::span<const double> values, Index rows, Index cols) {
  const bool fits = rows >= 0 && cols >= 0 &&
                    (cols == 0 || rows <= std::numeric_limits<Index>::max() / cols) &&
                    size_of(values) == rows * cols;
  if (!fits)
    refuse_input("x", fmt::format("has {} for {} x {}", counted(size_of(values), "number"), rows, cols),
                 "give rows times columns numbers, column after column");
  return {values.data(), rows, cols, 1, rows};
}

}  // namespace detail

namespace {

/// Of a table without rows and features, the same one for all of them.
const std::shared_ptr<DatasetState>& empty_state() {
  static const auto state = [] {
    DatasetDetails details;
    details.source = DatasetExtras().source;
    details.in_memory = true;
    return checked_state(std::move(details), Values());
  }();
  return state;
}

}  // namespace

Dataset::Dataset() : Dataset(empty_state()) {}
Dataset::Dataset(Dataset&& other) noexcept
    : state_(std::exchange(other.state_, empty_state())),
      rows_(std::exchange(other.rows_, 0)),
      features_(std::exchange(other.features_, 0)) {}
Dataset& Dataset::operator=(Dataset&& other) noexcept {
  if (this == &other) return *this;
  state_ = std::exchange(other.state_, empty_state());
  rows_ = std::exchange(other.rows_, 0);
  features_ = std::exchange(other.features_, 0);
  return *this;
}

Dataset::Dataset(std::shared_ptr<DatasetState> state)
    : state_(std::move(state)), rows_(state_->values.rows()), features_(state_->values.features()) {}

Dataset::Dataset(DatasetDetails details, Values values)
    : Dataset(checked_state(std::move(details), std::move(values))) {}

// The numbers first: what is sliced off afterwards are the details.
Dataset::Dataset(DatasetParts parts)
    : Dataset([&] {
        Values values = values_of(parts);
        return checked_state(static_cast<DatasetDetails&&>(parts), std::move(values));
      }()) {}

bool Dataset::is_sparse() const { return state_->values.leaves_out_zeros(); }
const std::string& Dataset::source() const { return state_->details.source; }
std::vector<std::string> Dataset::feature_names() const { return names().all(); }
bool Dataset::has_labels() const { return state_->details.labels.has_value(); }
std::span<const std::string> Dataset::classes() const {
  return has_labels() ? std::span<const std::string>(labels()->classes) : std::span<const std::string>();
}
std::span<const int> Dataset::class_codes() const {
  return has_labels() ? std::span<const int>(labels()->codes) : std::span<const int>();
}
std::span<const double> Dataset::weights() const {
  const Vector& weights = state_->details.weights;
  return {weights.data(), static_cast<std::size_t>(weights.size())};
}
const std::vector<std::string>& Dataset::warnings() const { return state_->details.warnings; }
DenseMatrix Dataset::matrix() const { return state_->values.matrix(); }

const Values& Dataset::values() const { return state_->values; }
const DatasetDetails& Dataset::details() const { return state_->details; }
const FeatureNames& Dataset::names() const { return state_->details.names; }
const Labels* Dataset::labels() const { return has_labels() ? &*state_->details.labels : nullptr; }
double Dataset::weight(Index row) const {
  const Vector& weights = state_->details.weights;
  return weights.size() == 0 ? 1.0 : weights[row];
}
bool Dataset::weights_are_equal() const {
  const auto all = weights();
  return std::all_of(all.begin(), all.end(), [&](double w) { return w == all[0]; });
}
const std::vector<std::string>& Dataset::row_groups() const { return state_->details.row_groups; }
const std::vector<Index>& Dataset::original_rows() const { return state_->details.original_rows; }
const std::optional<Location>& Dataset::first_missing() const { return state_->details.first_missing; }
const std::optional<InfiniteCell>& Dataset::first_infinite() const { return state_->details.first_infinite; }
const std::optional<Location>& Dataset::first_unlabelled() const { return state_->details.first_unlabelled; }
const std::vector<std::string>& Dataset::left_out() const { return state_->details.left_out; }
const std::vector<std::string>& Dataset::notes() const { return state_->details.notes; }

DatasetParts Dataset::parts() const& { return Dataset(*this).parts(); }

DatasetParts Dataset::parts() && {
  std::shared_ptr<DatasetState> held = std::exchange(state_, nullptr);
  *this = Dataset();
  const bool alone = held.use_count() == 1;
  DatasetParts parts;
  static_cast<DatasetDetails&>(parts) = alone ? std::move(held->details) : held->details;
  Values values = alone ? std::move(held->values) : held->values;
  held.reset();
  parts.is_sparse = values.leaves_out_zeros();
  if (parts.is_sparse) {
    parts.sparse = std::move(values).take_sparse();
  } else {
    parts.dense = std::move(values).take_matrix();
  }
  return parts;
}

Dataset Dataset::with_rows(const std::vector<Index>& rows) const {
  require_between(rows, rows_, "rows", "row");
  const DatasetDetails& all = state_->details;
  DatasetDetails part;
  part.source = all.source;
  part.names = all.names;
  part.first_missing = all.first_missing;
  part.first_infinite = all.first_infinite;
  part.first_unlabelled = all.first_unlabelled;
  part.id_name = all.id_name;
  part.row_ids = all.row_ids;
  part.derived = all.derived;
  part.categories = all.categories;
  part.understood = all.understood;
  part.no_target = all.no_target;
  part.left_out = all.left_out;
  part.notes = all.notes;
  part.warnings = all.warnings;
  part.gaps_are_means = all.gaps_are_means;
  part.in_memory = all.in_memory;
  if (all.labels) {
    part.labels = Labels{.name = all.labels->name, .classes = all.labels->classes, .codes = {}};
    part.labels->codes.reserve(rows.size());
    for (const Index i : rows) part.labels->codes.push_back(all.labels->codes[static_cast<std::size_t>(i)]);
  }
  if (all.weights.size() > 0) part.weights = all.weights(rows);
  part.row_groups = chosen_of(all.row_groups, rows);
  part.original_rows.reserve(rows.size());
  for (const Index i : rows)
    part.original_rows.push_back(all.original_rows.empty() ? i
                                                           : all.original_rows[static_cast<std::size_t>(i)]);
  return {std::move(part), state_->values.with_rows(rows)};
}

Dataset Dataset::with_features(const std::vector<Index>& features) const {
  require_between(features, features_, "features", "column");
  DatasetDetails part = state_->details;
  part.names = part.names.selected(features);
  if (part.categories) part.categories = restricted(*part.categories, features);
  return {std::move(part), state_->values.with_features(features)};
}

std::shared_ptr<const FeatureGroups> restricted(const FeatureGroups& groups,
                                                const std::vector<Index>& features) {
  FeatureGroups part;
  std::map<Index, std::size_t> place;  // of a group among those that are left
  for (std::size_t j = 0; j < features.size(); ++j) {
    const Index group = groups.group_of[static_cast<std::size_t>(features[j])];
    const auto [at, is_new] = place.try_emplace(group, part.names.size());
    if (is_new) {
      part.names.push_back(groups.names[static_cast<std::size_t>(group)]);
      part.members.emplace_back();
    }
    part.members[at->second].push_back(static_cast<Index>(j));
    part.group_of.push_back(static_cast<Index>(at->second));
  }
  if (part.names.size() == features.size()) return nullptr;
  return std::make_shared<const FeatureGroups>(std::move(part));
}

void refuse_table(const Dataset& data, const BadInput& of_file, InvalidArgument::Parts of_arrays) {
  if (!data.details().in_memory) throw of_file;
  throw InvalidArgument(std::move(of_arrays));
}

std::uint64_t identity_of(const Dataset& data) {
  Fingerprint fingerprint;
  fingerprint.add_value(data.rows());
  fingerprint.add_value(data.features());
  for (const std::string& name : data.names().list()) fingerprint.add_text(name);
  for (const std::string& name : data.classes()) fingerprint.add_text(name);
  const auto codes = data.class_codes();
  fingerprint.add(codes.data(), codes.size_bytes());
  return std::max<std::uint64_t>(1, fingerprint.number());
}

void require_identity(const Dataset& data, std::uint64_t identity, std::string_view call) {
  if (identity == 0 || identity == identity_of(data)) return;
  throw InvalidArgument({.field = "data",
                         .value = data.source(),
                         .rule = "has other rows, features or labels than the table of this answer",
                         .way_out = fmt::format("give the table that {} was given", call)});
}

bool does_not_vary(const Dataset& data, Index j) {
  if (const ColumnTallies* const tallies = data.values().tallies()) {
    ColumnTally tally;
    tallies->count(j, tally);
    std::optional<double> first;
    for (Index v = 0; v < ColumnTally::kValues; ++v) {
      if (tally.counts(v, 0) == 0) continue;
      const double value = tally.values.at(static_cast<std::size_t>(v));
      if (first && value != *first) return false;
      first = value;
    }
    return true;
  }
  if (const ColumnFacts* const facts = data.values().facts())
    return facts->varies[static_cast<std::size_t>(j)] == 0;
  double first = 0.0;
  bool started = data.values().entries(j) < data.rows();  // an unstored entry is a zero
  return !data.values().any_entry(j, [&](Index, double value) {
    if (!started) {
      first = value;
      started = true;
    }
    return value != first;
  });
}

std::vector<Index> first_features(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace subspectra
