#include "data/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "core/text.hpp"
#include "data/derived_features.hpp"
#include "data/moments.hpp"
#include "data/name_patterns.hpp"

namespace subspectra {
namespace {

struct Flaws {
  std::vector<Index> missing, infinite;  ///< counts a column
  std::vector<char> row_flawed;
  Index missing_total = 0, infinite_total = 0;
};

bool fills_in(MissingPolicy policy) {
  return policy == MissingPolicy::kMean || policy == MissingPolicy::kMedian ||
         policy == MissingPolicy::kIndicator;
}

/// A missing genotype is the mean of its column unless something else is asked for.
PrepareOptions as_meant(const Dataset& data, PrepareOptions options) {
  if (data.details().gaps_are_means && options.missing == MissingPolicy::kError)
    options.missing = MissingPolicy::kMean;
  return options;
}

/// Which rows hold flaws is not known without `by_rows` where the columns are counted or read in blocks.
Flaws find_flaws(const Dataset& data, bool by_rows) {
  Flaws flaws;
  const Index p = data.features();
  flaws.missing.assign(static_cast<std::size_t>(p), 0);
  flaws.infinite.assign(static_cast<std::size_t>(p), 0);
  flaws.row_flawed.assign(static_cast<std::size_t>(data.rows()), 0);
  const auto look = [&](Index row, Index column, double value) {
    if (std::isfinite(value)) return;
    flaws.row_flawed[row] = 1;
    if (std::isnan(value)) {
      ++flaws.missing[column];
      ++flaws.missing_total;
    } else {
      ++flaws.infinite[column];
      ++flaws.infinite_total;
    }
  };
  const ColumnTallies* const tallies = data.values().tallies();
  const ColumnFacts* const facts = data.values().facts();
  ColumnTally tally;
  for (Index j = 0; j < p; ++j) {
    if (data.values().all_finite(j)) continue;
    const auto at = static_cast<std::size_t>(j);
    if (!by_rows && tallies != nullptr) {
      tallies->count(j, tally);
      for (Index v = 0; v < ColumnTally::kValues; ++v) {
        const double value = tally.values.at(static_cast<std::size_t>(v));
        if (!std::isfinite(value))
          (std::isnan(value) ? flaws.missing : flaws.infinite)[at] += tally.counts(v, 0);
      }
      flaws.missing_total += flaws.missing[at];
      flaws.infinite_total += flaws.infinite[at];
    } else if (!by_rows && facts != nullptr) {
      flaws.missing_total += flaws.missing[at] = facts->missing[at];
      flaws.infinite_total += flaws.infinite[at] = facts->infinite[at];
    } else {
      data.values().each_entry(j, [&](Index row, double value) { look(row, j, value); });
    }
  }
  return flaws;
}

/// "V3 (2), V7 (1) and 4 more"
std::string list_columns(const Dataset& data, const std::vector<Index>& counts) {
  std::vector<Index> flawed;
  for (std::size_t j = 0; j < counts.size(); ++j) {
    if (counts[j] > 0) flawed.push_back(static_cast<Index>(j));
  }
  return join_some(flawed.size(), [&](std::size_t i) {
    return fmt::format("{} ({})", data.names()[flawed[i]], counts[static_cast<std::size_t>(flawed[i])]);
  });
}

/// "1 column", "3 columns"
std::string columns_with(const std::vector<Index>& counts) {
  return counted(std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; }),
                 "column");
}

/// Takes the columns in which every row is missing out of `counts`, and gives their numbers.
std::vector<Index> take_empty_columns(std::vector<Index>& counts, Index rows) {
  std::vector<Index> empty;
  for (std::size_t j = 0; j < counts.size(); ++j) {
    if (counts[j] < rows) continue;
    empty.push_back(static_cast<Index>(j));
    counts[j] = 0;
  }
  return empty;
}

/// "column c holds", "columns c and d hold"
std::string empty_columns(const Dataset& data, const std::vector<Index>& empty) {
  return fmt::format("{} {}", empty.size() == 1 ? "column" : "columns", data.names().some(empty)) +
         (empty.size() == 1 ? " holds" : " hold");
}

/// Excluded columns that hold something else than finite numbers become zero: their gaps are nobody's
/// concern, and no score, sort or sum meets a NaN.
Dataset without_excluded_flaws(Dataset data, const std::vector<std::string>& excluded) {
  std::vector<Index> flawed;
  for (const auto& columns : columns_named(data.names(), excluded)) {
    for (const Index j : columns) {
      if (!data.values().all_finite(j)) flawed.push_back(j);
    }
  }
  if (flawed.empty()) return data;
  if (data.values().source()) {
    std::vector<char> is_flawed(static_cast<std::size_t>(data.features()), 0);
    for (const Index j : flawed) is_flawed[static_cast<std::size_t>(j)] = 1;
    return {data.details(),
            data.values().with_each_value([is_flawed = std::move(is_flawed)](Index j, double x) {
              return is_flawed[static_cast<std::size_t>(j)] != 0 ? 0.0 : x;
            })};
  }
  DatasetParts cleared = std::move(data).parts();
  for (const Index j : flawed) {
    if (cleared.is_sparse) {
      for (SparseMatrix::InnerIterator it(cleared.sparse, j); it; ++it) {
        if (!std::isfinite(it.value())) it.valueRef() = 0.0;
      }
    } else {
      cleared.dense.col(j).setZero();
    }
  }
  // The text readers know what is left out and look past it; in a binary table it may have stood here.
  if (cleared.first_missing && cleared.first_missing->line == 0) cleared.first_missing.reset();
  if (cleared.first_infinite && cleared.first_infinite->where.line == 0) cleared.first_infinite.reset();
  return cleared;
}

/// Classes that lost their last row are no longer classes of this table.
void drop_empty_classes(DatasetDetails& data) {
  if (!data.labels) return;
  const auto counts = data.labels->counts();
  std::vector<std::string> left, gone;
  std::vector<int> code(counts.size(), Labels::kMissing);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] > 0) code[c] = static_cast<int>(left.size());
    (counts[c] > 0 ? left : gone).push_back(data.labels->classes[c]);
  }
  if (gone.empty()) return;
  for (int& c : data.labels->codes) c = c < 0 ? c : code[static_cast<std::size_t>(c)];
  data.labels->classes = std::move(left);
  data.warnings.push_back(fmt::format("no row is left of class {}", join_some(gone)));
}

/// The same refusals in the words of somebody who gave arrays: which row and which column.
void refuse_cells(const Dataset& data, const Flaws& flaws, const PrepareOptions& options) {
  const auto refuse = [&](const std::vector<Index>& counts, Index total, std::string_view what,
                          std::string_view way_out) {
    const auto j = static_cast<Index>(
        std::find_if(counts.begin(), counts.end(), [](Index count) { return count > 0; }) - counts.begin());
    Index row = 0;
    double found = 0.0;
    (void)data.values().any_entry(j, [&](Index i, double value) {
      row = i;
      found = value;
      return what == "missing value" ? std::isnan(value) : std::isinf(value);
    });
    throw InvalidArgument(
        {.field = "x",
         .value = fmt::to_string(found),
         .rule = fmt::format("holds {} in row {} of column {} ({} in {}: {})",
                             std::isnan(found) ? "NaN" : "an infinite value", row, shown(data.names()[j]),
                             counted(total, what), columns_with(counts), list_columns(data, counts)),
         .way_out = std::string(way_out)});
  };
  if (options.missing == MissingPolicy::kError && flaws.missing_total > 0) {
    refuse(flaws.missing, flaws.missing_total, "missing value",
           "use ⟨missing mean⟩ or ⟨missing drop⟩, or leave columns out with ⟨exclude⟩");
  }
  if (options.missing != MissingPolicy::kDrop && flaws.infinite_total > 0) {
    refuse(flaws.infinite, flaws.infinite_total, "infinite value",
           "correct what is wrong, write NaN for a missing value, or use ⟨missing drop⟩");
  }
}

}  // namespace

Dataset check_values(Dataset data, const PrepareOptions& asked, const std::vector<std::string>& excluded,
                     std::uint64_t memory_limit) {
  const PrepareOptions options = as_meant(data, asked);
  if (data.details().in_memory && (data.rows() == 0 || data.features() == 0)) {
    throw InvalidArgument({.field = "x",
                           .value = fmt::format("{} x {}", data.rows(), data.features()),
                           .rule = fmt::format("has {} and {}", counted(data.rows(), "row"),
                                               counted(data.features(), "column")),
                           .way_out = "give a table with at least one of each"});
  }
  data = without_excluded_flaws(std::move(data), excluded);
  const Flaws flaws = find_flaws(data, options.missing == MissingPolicy::kDrop);
  if (data.details().in_memory) refuse_cells(data, flaws, options);
  const Location where = data.first_missing().value_or(Location{.file = data.source()});
  if (options.missing == MissingPolicy::kError && flaws.missing_total > 0) {
    throw BadInput(
        where,
        fmt::format("{} in {}: {}; use ⟨missing mean⟩ or ⟨missing drop⟩, or leave columns out with ⟨exclude⟩",
                    counted(flaws.missing_total, "missing value"), columns_with(flaws.missing),
                    list_columns(data, flaws.missing)));
  }
  if (options.missing != MissingPolicy::kDrop && flaws.infinite_total > 0) {
    const std::string all = fmt::format("{} in {}: {}",
                                        counted(flaws.infinite_total, "value that no finite double holds",
                                                "values that no finite double holds"),
                                        columns_with(flaws.infinite), list_columns(data, flaws.infinite));
    constexpr std::string_view kWayOut =
        "correct what is wrong, write NA for a missing value, or use ⟨missing drop⟩";
    if (data.first_infinite()) {
      throw BadInput(data.first_infinite()->where,
                     fmt::format("{} ({}); {}", data.first_infinite()->sentence(), all, kWayOut));
    }
    throw BadInput({.file = data.source()}, fmt::format("{}; {}", all, kWayOut));
  }
  Index flawed = 0, unlabelled = 0, weightless = 0;
  // The count that a row adds to, null for one that stays. Few tables lose rows: no list is made of millions
  // that stay.
  const auto reason_to_drop = [&](Index i) -> Index* {
    if (options.missing == MissingPolicy::kDrop && flaws.row_flawed[i] != 0) return &flawed;
    if (options.missing == MissingPolicy::kDrop && data.labels() &&
        data.labels()->codes[i] == Labels::kMissing)
      return &unlabelled;
    return data.weight(i) <= 0.0 ? &weightless : nullptr;
  };
  for (Index i = 0; i < data.rows(); ++i) {
    if (Index* const reason = reason_to_drop(i)) ++*reason;
  }
  const Index dropped = flawed + unlabelled + weightless;
  if (dropped == data.rows()) {
    auto missing = flaws.missing;
    if (const auto empty = take_empty_columns(missing, data.rows());
        !empty.empty() && options.missing == MissingPolicy::kDrop) {
      const std::string way_out = fmt::format("leave {} out with ⟨exclude⟩, or use ⟨missing mean⟩",
                                              empty.size() == 1 ? "it" : "them");
      const std::string none = fmt::format("{} no value in any row, so that ⟨missing drop⟩ keeps none",
                                           empty_columns(data, empty));
      refuse_table(data, BadInput({.file = data.source()}, fmt::format("{}; {}", none, way_out)),
                   {.field = "x", .rule = ": " + none, .way_out = way_out});
    }
    refuse_table(
        data,
        BadInput(
            {.file = data.source()},
            "no row is left after dropping rows with missing values or weight 0; use ⟨missing mean⟩, or leave the columns with gaps out with ⟨exclude⟩"),
        weightless == data.rows()
            ? InvalidArgument::Parts{.field = "weights",
                                     .rule = "is 0 for every row",
                                     .way_out = "give some row a positive weight"}
            : InvalidArgument::Parts{
                  .field = "x",
                  .rule = "has no row left after dropping those with missing values or weight 0",
                  .way_out = "use ⟨missing mean⟩, or leave the columns with gaps out with ⟨exclude⟩"});
  }
  if (dropped > 0) {
    const Index total = data.rows();
    std::vector<Index> kept;
    kept.reserve(static_cast<std::size_t>(total - dropped));
    for (Index i = 0; i < total; ++i) {
      if (reason_to_drop(i) == nullptr) kept.push_back(i);
    }
    data = data.with_rows(kept);
    DatasetDetails left = data.details();
    auto& warnings = left.warnings;
    if (flawed > 0)
      warnings.push_back(fmt::format("{} of {} with missing or infinite values {} dropped", flawed,
                                     counted(total, "row"), flawed == 1 ? "was" : "were"));
    if (unlabelled > 0)
      warnings.push_back(fmt::format("{} of {} without a label {} dropped", unlabelled, counted(total, "row"),
                                     unlabelled == 1 ? "was" : "were"));
    if (weightless > 0)
      warnings.push_back(fmt::format("{} of {} with weight 0 {} dropped", weightless, counted(total, "row"),
                                     weightless == 1 ? "was" : "were"));
    left.first_unlabelled.reset();  // it may have stood in a row that is gone
    drop_empty_classes(left);
    data = Dataset(std::move(left), data.values());
  }
  if (fills_in(options.missing) && flaws.missing_total > 0) {
    auto missing = dropped == 0 ? flaws.missing : find_flaws(data, false).missing;
    const auto empty = take_empty_columns(missing, data.rows());
    std::vector<std::string> warnings;
    if (!empty.empty()) {
      warnings.push_back(
          fmt::format("{} no value in any row and {} as constant, since there is no {} to put in",
                      empty_columns(data, empty), empty.size() == 1 ? "counts" : "count",
                      options.missing == MissingPolicy::kMedian ? "median" : "mean"));
    }
    if (const Index total = std::accumulate(missing.begin(), missing.end(), Index{0}); total > 0) {
      warnings.push_back(fmt::format(
          "{} in {} {} replaced by training {}: {}", counted(total, "missing value"), columns_with(missing),
          total == 1 ? "was" : "were", options.missing == MissingPolicy::kMedian ? "medians" : "means",
          list_columns(data, missing)));
    }
    if (options.missing == MissingPolicy::kIndicator) {
      std::vector<Index> with_gaps;
      for (std::size_t j = 0; j < missing.size(); ++j) {
        if (missing[j] > 0) with_gaps.push_back(static_cast<Index>(j));
      }
      const Index before = data.features();
      data = with_missing_indicators(std::move(data), with_gaps, memory_limit);
      if (data.features() > before)
        warnings.push_back(fmt::format(
            "{} added that {} where values are missing: {}",
            counted(data.features() - before, "feature was", "features were"),
            data.features() - before == 1 ? "says" : "say",
            join_some(static_cast<std::size_t>(data.features() - before),
                      [&](std::size_t k) { return data.names()[before + static_cast<Index>(k)]; })));
    }
    if (!warnings.empty()) {
      DatasetDetails warned = data.details();
      warned.warnings.insert(warned.warnings.end(), warnings.begin(), warnings.end());
      data = Dataset(std::move(warned), data.values());
    }
  }
  return data;
}

namespace {

struct ColumnSummary {
  double mean = 0.0;       ///< of the values present and of what fills the gaps, weighted
  double deviation = 0.0;  ///< once the gaps are filled; the divisor is the weight of all rows
};

/// The weighted median of the values that are there: half of their weight on either side, the middle of two
/// where it falls between them, as if a row of weight 2 stood there twice. 0 for a column with nothing.
double median_of(std::vector<std::pair<double, double>>& values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  double present = 0.0;
  for (const auto& [value, weight] : values) present += weight;
  // Sums of weights round: a half is one to a few of their last digits.
  const double half = 0.5 * present;
  const double tolerance = 1e-12 * present;
  double below = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    below += values[i].second;
    if (below >= half + tolerance || i + 1 == values.size()) return values[i].first;
    if (below >= half - tolerance) return 0.5 * values[i].first + 0.5 * values[i + 1].first;
  }
  return 0.0;
}

/// The values of a column that are there, and their weights.
std::vector<std::pair<double, double>> weighted_values(const Dataset& data, Index j, double total_weight) {
  const auto weights = data.weights();
  std::vector<std::pair<double, double>> values;
  if (const ColumnTallies* const tallies = weights.empty() ? data.values().tallies() : nullptr) {
    ColumnTally tally;
    tallies->count(j, tally);
    for (Index v = 0; v < ColumnTally::kValues; ++v) {
      const double value = tally.values.at(static_cast<std::size_t>(v));
      if (tally.counts(v, 0) > 0 && !std::isnan(value))
        values.emplace_back(value, static_cast<double>(tally.counts(v, 0)));
    }
    return values;
  }
  double stored = 0.0;
  data.values().each_entry(j, [&](Index row, double value) {
    const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
    stored += weight;
    if (std::isnan(value) || weight <= 0.0) return;
    values.emplace_back(value, weight);
  });
  if (data.values().leaves_out_zeros() && total_weight > stored)
    values.emplace_back(0.0, total_weight - stored);
  return values;
}

double total_weight_of(const Dataset& data) {
  double total = 0.0;
  for (Index i = 0; i < data.rows(); ++i) total += data.weight(i);
  return total;
}

/// `fill` stands in the gaps instead of the mean, if it is given.
ColumnSummary summarize(const Dataset& data, Index j, double total_weight, std::optional<double> fill) {
  ColumnSummary summary;
  double present = 0.0, sum = 0.0, largest = fill ? std::abs(*fill) : 0.0, unit = 1.0;
  const auto weights = data.weights();
  const ColumnTallies* const tallies = weights.empty() ? data.values().tallies() : nullptr;
  ColumnTally tally;
  if (tallies != nullptr) tallies->count(j, tally);
  const auto each = [&](auto&& visit) {
    for (Index v = 0; v < ColumnTally::kValues && tallies != nullptr; ++v) {
      if (tally.counts(v, 0) > 0)
        visit(static_cast<double>(tally.counts(v, 0)), tally.values.at(static_cast<std::size_t>(v)) / unit);
    }
    if (tallies != nullptr) return;
    data.values().each_entry(j, [&](Index row, double value) {
      visit(weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)], value / unit);
    });
  };
  // To a largest value of about 1, by a power of two, which changes no digit: neither 1e200 nor 1e-200
  // survives being squared.
  each([&](double, double x) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  });
  if (largest > 0.0) unit = std::exp2(std::ilogb(largest));
  double explicit_weight = 0.0;
  each([&](double weight, double x) {
    explicit_weight += weight;
    if (std::isnan(x)) {
      if (!fill) return;
      x = *fill / unit;
    }
    present += weight;
    sum += weight * x;
  });
  const double zeros = data.values().leaves_out_zeros() ? std::max(0.0, total_weight - explicit_weight) : 0.0;
  present += zeros;
  if (!(present > 0.0)) return summary;
  summary.mean = sum / present;
  double squares = zeros * summary.mean * summary.mean;
  each([&](double weight, double x) {
    if (std::isnan(x)) {
      if (!fill) return;
      x = *fill / unit;
    }
    squares += weight * (x - summary.mean) * (x - summary.mean);
  });
  summary.mean *= unit;
  summary.deviation = std::sqrt(squares / total_weight) * unit;
  return summary;
}

/// x -> (x or its replacement - centre)/scale for column j, and that bent.
auto preparing(const Preparation& preparation, Index j) {
  const bool imputes = preparation.imputation.size() > 0;
  const double fill = imputes ? preparation.imputation[j] : 0.0;
  const double shift = preparation.centre.size() > 0 ? preparation.centre[j] : 0.0;
  const double divisor = preparation.scale.size() > 0 ? preparation.scale[j] : 1.0;
  const double middle = preparation.spread.size() > 0 ? preparation.median[j] : 0.0;
  const double spread = preparation.spread.size() > 0 ? preparation.spread[j] : 0.0;
  return [=](double x) {
    if (imputes && std::isnan(x)) x = fill;
    x = (x - shift) / divisor;
    // Halves first: the difference of two numbers near the largest double is none.
    return spread > 0.0 ? std::asinh(2.0 * ((0.5 * x - 0.5 * middle) / spread)) : x;
  };
}

}  // namespace

double bytes_of_copy(const Dataset& data) {
  const auto columns = static_cast<double>(data.features());
  if (!data.values().leaves_out_zeros())
    return static_cast<double>(sizeof(double)) * static_cast<double>(data.rows()) * columns;
  double entries = columns;
  for (Index j = 0; j < data.features(); ++j) entries += static_cast<double>(data.values().entries(j));
  return static_cast<double>(sizeof(double) + sizeof(int)) * entries;
}

Preparation Preparation::learn(const Dataset& training, const PrepareOptions& asked,
                               std::uint64_t memory_limit) {
  const PrepareOptions options = as_meant(training, asked);
  if (options.transform == Transform::kAsinh) {
    PrepareOptions before = options;
    before.transform = Transform::kNone;
    const Preparation first = learn(training, before);
    return first.then(bending(first.changed_copy(training, memory_limit)));
  }
  Preparation result;
  const bool impute = fills_in(options.missing);
  const bool by_median = options.missing == MissingPolicy::kMedian;
  if (!impute && !options.standardize) return result;
  const Index p = training.features();
  const double total_weight = total_weight_of(training);
  Vector means(p), scales(p), fills(by_median ? p : 0);
  const ColumnFacts* const facts = training.values().facts();
  const bool complete = facts != nullptr && std::count(facts->missing.begin(), facts->missing.end(), 0) == p;
  if (complete && !by_median) {  // one pass in place of one a column
    const Moments moments = compute_total_moments(training, Moments::SecondOrder::kDiagonal, 1);
    means = moments.mean();
    scales = moments.within_variances().cwiseSqrt();
    for (double& scale : scales) scale = scale > 0.0 && std::isfinite(scale) ? scale : 1.0;
  }
  for (Index j = 0; j < p && (!complete || by_median); ++j) {
    double fill = 0.0;
    if (by_median) {
      auto values = weighted_values(training, j, total_weight);
      fill = median_of(values);
    }
    const ColumnSummary summary =
        summarize(training, j, total_weight, by_median ? std::optional(fill) : std::nullopt);
    means[j] = summary.mean;
    if (by_median) fills[j] = fill;
    scales[j] = summary.deviation > 0.0 && std::isfinite(summary.deviation) ? summary.deviation : 1.0;
  }
  if (impute) result.imputation = by_median ? fills : means;
  if (options.standardize) {
    if (!training.values().leaves_out_zeros()) result.centre = means;
    result.scale = scales;
  }
  return result;
}

Dataset Preparation::apply(Dataset data) const {
  if (!changes(data)) return data;
  if (data.values().source()) {
    return {data.details(), data.values().with_each_value([preparation = *this](Index j, double x) {
              return preparing(preparation, j)(x);
            })};
  }
  DatasetParts changed = std::move(data).parts();
  if (!changed.is_sparse) {
    apply_to(changed.dense);
    return changed;
  }
  for (Index j = 0; j < changed.features(); ++j) {
    const auto prepared = preparing(*this, j);
    for (SparseMatrix::InnerIterator it(changed.sparse, j); it; ++it) it.valueRef() = prepared(it.value());
  }
  return changed;
}

Dataset Preparation::changed_copy(const Dataset& data, std::uint64_t memory_limit) const {
  if (!changes(data)) return data;
  if (data.values().source()) return apply(data);  // changed as it is read
  require_memory(bytes_of_copy(data), "the table as it is prepared, beside the one that was read,",
                 "leave columns out with ⟨exclude⟩, or raise ⟨memory_limit⟩", memory_limit);
  return apply(data);
}

bool Preparation::changes(const Dataset& data) const {
  if (centre.size() > 0 || scale.size() > 0 || (spread.array() > 0.0).any()) return true;
  if (imputation.size() == 0) return false;
  for (Index j = 0; j < data.features(); ++j) {
    if (data.values().source()
            ? !data.values().all_finite(j)
            : data.values().any_entry(j, [](Index, double value) { return std::isnan(value); }))
      return true;
  }
  return false;
}

void Preparation::apply_to(Matrix& rows) const {
  if (imputation.size() == 0 && centre.size() == 0 && scale.size() == 0 && spread.size() == 0) return;
  for (Index j = 0; j < rows.cols(); ++j) {
    const auto prepared = preparing(*this, j);
    for (Index i = 0; i < rows.rows(); ++i) rows(i, j) = prepared(rows(i, j));
  }
}

Preparation Preparation::restricted(const std::vector<Index>& features) const {
  const auto part = [&](const Vector& values) {
    return values.size() == 0 ? Vector() : Vector(values(features));
  };
  Preparation result;
  result.imputation = part(imputation);
  result.centre = part(centre);
  result.scale = part(scale);
  result.median = part(median);
  result.spread = part(spread);
  return result;
}

Preparation Preparation::bending(const Dataset& prepared) {
  return bending(prepared, first_features(prepared.features()));
}

Preparation Preparation::bending(const Dataset& prepared, const std::vector<Index>& features) {
  constexpr double kNormal = 1.4826;  // deviations of a normal law in its median distance from the median
  constexpr double kLinear = 2.0;     // deviations that stay nearly as they are
  constexpr double kOfOthers = 0.5;   // of the median distance of those that are not where most are
  Preparation result;
  const bool around_zero = prepared.values().leaves_out_zeros();  // what is left out stays left out
  const Index p = prepared.features();
  const double total_weight = total_weight_of(prepared);
  result.median = result.spread = Vector::Zero(p);
  for (const Index j : features) {
    auto values = weighted_values(prepared, j, total_weight);
    const double middle = around_zero ? 0.0 : median_of(values);
    for (auto& [value, weight] : values) value = std::abs(value - middle);
    double spread = around_zero ? 0.0 : kLinear * kNormal * median_of(values);
    if (!(spread > 0.0)) {
      std::erase_if(values, [](const auto& one) { return !(one.first > 0.0); });
      if (values.empty()) continue;
      spread = kOfOthers * median_of(values);                     // which sorts them
      if (values.front().first == values.back().first) continue;  // all as far: bent it is the same column
    }
    if (!std::isnormal(spread)) continue;
    result.median[j] = middle;
    result.spread[j] = spread;
  }
  return result;
}

Preparation Preparation::then(const Preparation& after) const {
  Preparation result = *this;
  result.median = after.median;
  result.spread = after.spread;
  return result;
}

}  // namespace subspectra
