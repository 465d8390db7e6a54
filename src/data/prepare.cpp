#include "subspectra/data/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "subspectra/core/text.hpp"

namespace subspectra {
namespace {

struct Flaws {
  std::vector<Index> missing, infinite;  ///< counts a column
  std::vector<char> row_flawed;
  Index missing_total = 0, infinite_total = 0;
};

Flaws find_flaws(const Dataset& data) {
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
  for (Index j = 0; j < p; ++j) {
    if (data.is_sparse) {
      for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it) look(it.row(), j, it.value());
    } else if (!data.dense.col(j).allFinite()) {
      for (Index i = 0; i < data.rows(); ++i) look(i, j, data.dense(i, j));
    }
  }
  return flaws;
}

/// "V3 (2), V7 (1) and 4 more"
std::string list_columns(const Dataset& data, const std::vector<Index>& counts) {
  std::vector<std::string> entries;
  for (std::size_t j = 0; j < counts.size(); ++j) {
    if (counts[j] > 0)
      entries.push_back(fmt::format("{} ({})", data.names[static_cast<Index>(j)], counts[j]));
  }
  return join_some(entries);
}

Index columns_with(const std::vector<Index>& counts) {
  return static_cast<Index>(
      std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; }));
}

/// Excluded columns that hold something else than finite numbers become zero: their gaps are nobody's
/// concern, and no score, sort or sum meets a NaN.
void clear_excluded(Dataset& data, const std::vector<std::string>& excluded) {
  for (const auto& columns : data.names.find_each(excluded)) {
    for (const Index j : columns) {
      if (data.is_sparse) {
        for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it) {
          if (!std::isfinite(it.value())) it.valueRef() = 0.0;
        }
      } else if (!data.dense.col(j).allFinite()) {
        data.dense.col(j).setZero();
        data.first_missing.reset();  // it may have stood here
      }
    }
  }
}

/// Classes that lost their last row are no longer classes of this table.
void drop_empty_classes(Dataset& data) {
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

}  // namespace

Dataset check_values(Dataset data, const PrepareOptions& options, const std::vector<std::string>& excluded) {
  clear_excluded(data, excluded);
  const Flaws flaws = find_flaws(data);
  const Location where = data.first_missing.value_or(Location{.file = data.source});
  if (options.missing == MissingPolicy::kError && flaws.missing_total > 0) {
    throw BadInput(
        where,
        fmt::format("{} missing values in {} columns: {}; use --missing mean or --missing drop, or "
                    "leave columns out with --exclude",
                    flaws.missing_total, columns_with(flaws.missing), list_columns(data, flaws.missing)));
  }
  if (options.missing != MissingPolicy::kDrop && flaws.infinite_total > 0) {
    throw BadInput(
        {.file = data.source},
        fmt::format("{} infinite values in {} columns: {}; correct them, or use --missing drop",
                    flaws.infinite_total, columns_with(flaws.infinite), list_columns(data, flaws.infinite)));
  }
  std::vector<Index> kept;
  Index flawed = 0, unlabelled = 0, weightless = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    const bool drop_flawed = options.missing == MissingPolicy::kDrop && flaws.row_flawed[i] != 0;
    const bool drop_unlabelled =
        options.missing == MissingPolicy::kDrop && data.labels && data.labels->codes[i] == Labels::kMissing;
    if (drop_flawed) {
      ++flawed;
    } else if (drop_unlabelled) {
      ++unlabelled;
    } else if (data.weight(i) <= 0.0) {
      ++weightless;
    } else {
      kept.push_back(i);
    }
  }
  if (kept.empty()) {
    throw BadInput({.file = data.source},
                   "no row is left after dropping rows with missing values or weight 0; use "
                   "--missing mean, or leave the columns with gaps out with --exclude");
  }
  if (static_cast<Index>(kept.size()) < data.rows()) {
    const Index total = data.rows();
    auto warnings = std::move(data.warnings);
    if (flawed > 0)
      warnings.push_back(fmt::format("{} of {} rows with missing values were dropped", flawed, total));
    if (unlabelled > 0)
      warnings.push_back(fmt::format("{} of {} rows without a label were dropped", unlabelled, total));
    if (weightless > 0)
      warnings.push_back(fmt::format("{} of {} rows have weight 0 and were dropped", weightless, total));
    data = data.with_rows(kept);
    data.warnings = std::move(warnings);
    drop_empty_classes(data);
  }
  if (options.missing == MissingPolicy::kMean && flaws.missing_total > 0) {
    data.warnings.push_back(fmt::format("{} missing values in {} columns were replaced by training means: {}",
                                        flaws.missing_total, columns_with(flaws.missing),
                                        list_columns(data, flaws.missing)));
  }
  return data;
}

namespace {

struct ColumnSummary {
  double mean = 0.0;      ///< of the values present, weighted
  double variance = 0.0;  ///< once that mean stands in the gaps; the divisor is the weight of all rows
};

ColumnSummary summarize(const Dataset& data, Index j, double total_weight) {
  ColumnSummary summary;
  double present = 0.0, sum = 0.0;
  const auto each = [&](auto&& visit) {
    if (data.is_sparse) {
      for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it) visit(data.weight(it.row()), it.value());
    } else {
      for (Index i = 0; i < data.rows(); ++i) visit(data.weight(i), data.dense(i, j));
    }
  };
  double explicit_weight = 0.0;
  each([&](double weight, double x) {
    explicit_weight += weight;
    if (std::isnan(x)) return;
    present += weight;
    sum += weight * x;
  });
  const double zeros = data.is_sparse ? std::max(0.0, total_weight - explicit_weight) : 0.0;
  present += zeros;
  if (!(present > 0.0)) return summary;
  summary.mean = sum / present;
  double squares = zeros * summary.mean * summary.mean;
  each([&](double weight, double x) {
    if (!std::isnan(x)) squares += weight * (x - summary.mean) * (x - summary.mean);
  });
  summary.variance = squares / total_weight;
  return summary;
}

}  // namespace

Preparation Preparation::learn(const Dataset& training, const PrepareOptions& options) {
  Preparation result;
  const bool impute = options.missing == MissingPolicy::kMean;
  if (!impute && !options.standardize) return result;
  const Index p = training.features();
  double total_weight = 0.0;
  for (Index i = 0; i < training.rows(); ++i) total_weight += training.weight(i);
  Vector means(p), scales(p);
  for (Index j = 0; j < p; ++j) {
    const ColumnSummary summary = summarize(training, j, total_weight);
    means[j] = summary.mean;
    const double deviation = std::sqrt(summary.variance);
    scales[j] = deviation > 0.0 && std::isfinite(deviation) ? deviation : 1.0;
  }
  if (impute) result.imputation = means;
  if (options.standardize) {
    if (!training.is_sparse) result.centre = means;
    result.scale = scales;
  }
  return result;
}

Dataset Preparation::apply(Dataset data) const {
  if (imputation.size() == 0 && centre.size() == 0 && scale.size() == 0) return data;
  for (Index j = 0; j < data.features(); ++j) {
    const double fill = imputation.size() > 0 ? imputation[j] : 0.0;
    const double shift = centre.size() > 0 ? centre[j] : 0.0;
    const double divisor = scale.size() > 0 ? scale[j] : 1.0;
    const auto prepared = [&](double x) {
      if (imputation.size() > 0 && std::isnan(x)) x = fill;
      return (x - shift) / divisor;
    };
    if (data.is_sparse) {
      for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it) it.valueRef() = prepared(it.value());
    } else {
      for (Index i = 0; i < data.rows(); ++i) data.dense(i, j) = prepared(data.dense(i, j));
    }
  }
  return data;
}

}  // namespace subspectra
