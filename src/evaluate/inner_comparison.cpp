#include "evaluate/inner_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "classify/classifier.hpp"
#include "core/parallel.hpp"
#include "core/streams.hpp"
#include "resample/folds.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

double Arm::fraction(Index point) const {
  return lambdas < 2 ? 1.0
                     : std::pow(lambda_ratio, static_cast<double>(point) / static_cast<double>(lambdas - 1));
}

Index InnerFolds::count() const {
  Index all = 0;
  for (const auto& repeat : held_out) all += static_cast<Index>(repeat.size());
  return all;
}

namespace {

/// What is dealt out as a whole: a row, or the rows of a group.
struct RowUnit {
  int code = 0;  ///< of its first row
  std::vector<Index> rows;
};

std::vector<RowUnit> row_units_of(const Dataset& training) {
  const auto& codes = training.labels()->codes;
  std::vector<RowUnit> units;
  std::map<std::string, std::size_t> of_group;
  for (Index i = 0; i < training.rows(); ++i) {
    const int code = codes[static_cast<std::size_t>(i)];
    if (code == Labels::kMissing) continue;
    if (!training.row_groups().empty()) {
      const auto [found, is_new] =
          of_group.emplace(training.row_groups()[static_cast<std::size_t>(i)], units.size());
      if (!is_new) {
        units[found->second].rows.push_back(i);
        continue;
      }
    }
    units.push_back({code, {i}});
  }
  return units;
}

/// The units of every class in a random order, class after class.
std::vector<RowUnit> shuffled(std::vector<RowUnit> units, Random random) {
  random.shuffle(std::span<RowUnit>(units));
  std::stable_sort(units.begin(), units.end(),
                   [](const RowUnit& a, const RowUnit& b) { return a.code < b.code; });
  return units;
}

/// Every class gives up the same share, but for its last unit.
std::vector<RowUnit> thinned(const std::vector<RowUnit>& units, Index rows, Index most_rows) {
  if (rows <= most_rows) return units;
  const double share = static_cast<double>(most_rows) / static_cast<double>(rows);
  std::vector<RowUnit> kept;
  double owed = 1.0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0 && units[i].code != units[i - 1].code) owed = std::max(owed, 1.0);
    if (owed >= 1.0) {
      kept.push_back(units[i]);
      owed -= 1.0;
    }
    owed += share;
  }
  return kept;
}

bool leaves_two_classes(const Dataset& training, const std::vector<Index>& rows,
                        const std::vector<Index>& held_out) {
  int first = Labels::kMissing;
  for (const Index i : rows) {
    if (std::binary_search(held_out.begin(), held_out.end(), i)) continue;
    const int code = training.labels()->codes[static_cast<std::size_t>(i)];
    if (first == Labels::kMissing) first = code;
    if (code != first) return true;
  }
  return false;
}

}  // namespace

InnerFolds make_inner_folds(const Dataset& training, Index folds, Index repeats, Index most_rows,
                            std::uint64_t seed) {
  std::vector<RowUnit> units = shuffled(row_units_of(training), Random(seed, streams::comparison_folds(0)));
  Index rows = 0;
  for (const RowUnit& unit : units) rows += static_cast<Index>(unit.rows.size());
  units = thinned(units, rows, most_rows);
  InnerFolds result;
  std::map<int, Index> left;  // units of a class
  for (const RowUnit& unit : units) {
    result.rows.insert(result.rows.end(), unit.rows.begin(), unit.rows.end());
    ++left[unit.code];
  }
  std::sort(result.rows.begin(), result.rows.end());
  for (Index repeat = 0; repeat < repeats; ++repeat) {
    std::vector<std::vector<Index>> parts(static_cast<std::size_t>(folds));
    std::size_t next = 0;
    for (const RowUnit& unit : shuffled(units, Random(seed, streams::comparison_folds(1 + repeat)))) {
      if (left[unit.code] < 2) continue;  // held out it could not be learned
      auto& part = parts[next++ % parts.size()];
      part.insert(part.end(), unit.rows.begin(), unit.rows.end());
    }
    for (auto& part : parts) std::sort(part.begin(), part.end());
    std::erase_if(parts, [&](const std::vector<Index>& part) {
      return part.empty() || !leaves_two_classes(training, result.rows, part);
    });
    if (parts.size() > 1) result.held_out.push_back(std::move(parts));
  }
  return result;
}

namespace {

constexpr RidgeAmount kNoRidge{};

/// The sets of an arm on one inner training set, by point; no set where it has none of the size.
struct ArmSets {
  std::vector<std::optional<std::vector<Index>>> at;
  RidgeAmount ridge;
};

SelectOptions options_of(const Arm& arm, const SelectOptions& options) {
  SelectOptions adjusted = options;
  adjusted.ridge = arm.ridge;
  adjusted.certify = false;
  adjusted.sets_alone = false;
  adjusted.bounds = false;
  adjusted.components = 1;
  return adjusted;
}

KRange sizes_of(const Arm& arm, Index features) {
  switch (arm.points) {
    case Arm::Points::kSets:
      return KRange::list(arm.sizes);
    case Arm::Points::kRanking:
      return {1, 1};  // the ranking is what is used
    case Arm::Points::kFits:
    case Arm::Points::kFitSize:
      break;
  }
  return {1, std::min(features, arm.sizes.back())};
}

/// The features with the `size` largest rows of the first fit along falling lambdas that has as many, and
/// which fit that is; nothing where none has.
std::optional<std::pair<std::vector<Index>, std::size_t>> of_fits(
    const std::vector<FittedDiscriminants>& fits, Index size) {
  const auto wanted = static_cast<std::size_t>(size);
  for (std::size_t f = 0; f < fits.size(); ++f) {
    const auto& features = fits[f].features;
    const auto& norms = fits[f].row_norms;
    if (features.size() < wanted) continue;
    std::vector<std::size_t> order(features.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return norms[a] > norms[b]; });
    std::vector<Index> set;
    for (std::size_t i = 0; i < wanted; ++i) set.push_back(features[order[i]]);
    std::sort(set.begin(), set.end());
    return std::pair{std::move(set), f};
  }
  return std::nullopt;
}

ArmSets sets_of(const Arm& arm, const RowStatistics& rows, const SelectOptions& options,
                const RunControl& control) {
  ArmSets sets{.at = std::vector<std::optional<std::vector<Index>>>(static_cast<std::size_t>(arm.count())),
               .ridge = kNoRidge};
  SelectOptions adjusted = options_of(arm, options);
  adjusted.k = sizes_of(arm, rows.data().features());
  Selection found;
  try {
    found = run_method(rows, arm.method, adjusted, control);
  } catch (const Infeasible&) {
    return sets;  // a column constant in this fold alone, and the like
  }
  sets.ridge = found.ridge;
  for (std::size_t point = 0; point < sets.at.size(); ++point) {
    if (arm.points == Arm::Points::kFits) {
      if (point < found.fits().size() && !found.fits()[point].features.empty())
        sets.at[point] = found.fits()[point].features;
      continue;
    }
    const Index size = arm.sizes[point];
    if (arm.points == Arm::Points::kRanking) {
      if (static_cast<std::size_t>(size) > found.ranking.size()) continue;
      std::vector<Index> top(found.ranking.begin(), found.ranking.begin() + size);
      std::sort(top.begin(), top.end());
      sets.at[point] = std::move(top);
    } else if (arm.points == Arm::Points::kFitSize) {
      if (auto top = of_fits(found.fits(), size)) sets.at[point] = std::move(top->first);
    } else {
      const auto entry = std::find_if(found.sets().begin(), found.sets().end(),
                                      [&](const PathEntry& one) { return one.k() == size; });
      if (entry != found.sets().end()) sets.at[point] = entry->features;
    }
  }
  return sets;
}

/// What one fold says.
struct FoldErrors {
  struct Point {
    bool reached = false;
    std::vector<char> wrong;  ///< by held-out row
    Index features = 0;
  };
  std::vector<std::vector<std::vector<Point>>> variants;  ///< by variant, arm and point
};

std::vector<FoldErrors::Point> judge_arm(const ArmSets& sets, const Dataset& training, const Dataset& all,
                                         const std::vector<Index>& held_out, const Classifier& classifier,
                                         std::uint64_t seed, const RunControl& control) {
  std::vector<FoldErrors::Point> points(sets.at.size());
  std::vector<Index> used;
  for (const auto& set : sets.at) {
    if (set) used.insert(used.end(), set->begin(), set->end());
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.empty()) return points;
  const Matrix rows = all.values().block(held_out, used);
  const ClassifierTrainer trainer(training, used, sets.ridge, classifier, {.seed = seed, .threads = 1});
  const auto& codes = all.labels()->codes;
  const std::optional<std::vector<Index>>* before = nullptr;
  for (std::size_t p = 0; p < sets.at.size() && !control.should_stop(); ++p) {
    const auto& set = sets.at[p];
    if (!set) continue;
    FoldErrors::Point& point = points[p];
    if (before != nullptr && *before == set) {  // a lambda that changes no feature
      point = points[static_cast<std::size_t>(before - sets.at.data())];
      continue;
    }
    before = &set;
    std::vector<Index> places;
    places.reserve(set->size());
    for (const Index f : *set) places.push_back(std::lower_bound(used.begin(), used.end(), f) - used.begin());
    Matrix log_posteriors;
    try {
      log_posteriors = trainer.fit(places, control)->log_posteriors(rows(Eigen::all, places));
    } catch (const Infeasible&) {
      continue;  // singular without a ridge
    }
    point.reached = true;
    point.features = static_cast<Index>(set->size());
    point.wrong.reserve(held_out.size());
    for (std::size_t i = 0; i < held_out.size(); ++i) {
      Index predicted = 0;
      log_posteriors.row(static_cast<Index>(i)).maxCoeff(&predicted);
      point.wrong.push_back(predicted == codes[static_cast<std::size_t>(held_out[i])] ? 0 : 1);
    }
  }
  return points;
}

/// The standard error of the mean of `values` under shares of weight.
double standard_error(const std::vector<double>& values, const std::vector<double>& shares) {
  const auto n = static_cast<double>(values.size());
  if (n < 2.0) return 0.0;
  double mean = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) mean += shares[i] * values[i];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = shares[i] * (values[i] - mean);
    squares += off * off;
  }
  return std::sqrt(squares * n / (n - 1.0));
}

/// A row is held out once a repeat: by row first, and then over the rows.
class RowTally {
 public:
  RowTally(const std::vector<const std::vector<Index>*>& held_out, const Dataset& training)
      : held_out_(held_out) {
    for (const auto* rows : held_out) {
      for (const Index i : *rows) times_[i] += 1.0;
    }
    double weight = 0.0;
    for (const auto& [row, times] : times_) weight += training.weight(row);
    for (const auto& [row, times] : times_)
      shares_.push_back(weight > 0.0 ? training.weight(row) / weight : 0.0);
  }
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }

  /// The errors of one point, given what every fold says of it.
  [[nodiscard]] PointErrors errors_of(const std::vector<const FoldErrors::Point*>& folds) const {
    PointErrors errors;
    Index features = 0;
    std::map<Index, double> wrong;
    for (std::size_t f = 0; f < folds.size(); ++f) {
      if (!folds[f]->reached) return errors;
      features += folds[f]->features;
      for (std::size_t i = 0; i < held_out_[f]->size(); ++i) wrong[(*held_out_[f])[i]] += folds[f]->wrong[i];
    }
    errors.reached = true;
    errors.features = static_cast<double>(features) / static_cast<double>(folds.size());
    for (const auto& [row, times] : times_) {
      errors.wrong.push_back(wrong[row] / times);
      errors.error += shares_[errors.wrong.size() - 1] * errors.wrong.back();
    }
    errors.stderr_ = standard_error(errors.wrong, shares_);
    return errors;
  }

 private:
  const std::vector<const std::vector<Index>*>& held_out_;
  std::map<Index, double> times_;
  std::vector<double> shares_;
};

}  // namespace

double InnerErrors::stderr_of_difference(const PointErrors& a, const PointErrors& b) const {
  std::vector<double> differences;
  differences.reserve(a.wrong.size());
  for (std::size_t i = 0; i < a.wrong.size(); ++i) differences.push_back(a.wrong[i] - b.wrong[i]);
  return standard_error(differences, weights);
}

InnerErrors compare_arms(const std::vector<Dataset>& tables, const InnerFolds& folds,
                         const std::vector<Arm>& arms, const SelectOptions& options,
                         const std::vector<Classifier>& classifiers, int threads, const RunControl& control) {
  std::vector<const std::vector<Index>*> held_out;
  for (const auto& repeat : folds.held_out) {
    for (const auto& part : repeat) held_out.push_back(&part);
  }
  std::vector<FoldErrors> results(held_out.size());
  std::atomic<std::size_t> done = 0;
  parallel_for(static_cast<Index>(held_out.size()), threads, [&](Index f) {
    if (control.should_stop()) return;
    std::vector<Index> rows;
    std::set_difference(folds.rows.begin(), folds.rows.end(), held_out[f]->begin(), held_out[f]->end(),
                        std::back_inserter(rows));
    SelectOptions adjusted = options;
    adjusted.threads = 1;
    FoldErrors found;
    found.variants.resize(tables.size() * classifiers.size());
    const RunControl silent = control.silent();
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const Dataset part = tables[t].with_rows(rows);
      const RowStatistics statistics(part, 1, options.memory_limit.bytes);
      for (const Arm& arm : arms) {
        const ArmSets sets = sets_of(arm, statistics, adjusted, silent);
        for (std::size_t c = 0; c < classifiers.size(); ++c) {
          found.variants[t * classifiers.size() + c].push_back(
              judge_arm(sets, part, tables[t], *held_out[f], classifiers[c], options.seed, silent));
        }
        if (control.should_stop()) return;  // cut short it would count as the methods' own answer
      }
    }
    results[f] = std::move(found);
    control.report("compare methods", static_cast<double>(++done) / static_cast<double>(held_out.size()));
  });
  InnerErrors errors;
  std::vector<const FoldErrors*> finished;
  std::vector<const std::vector<Index>*> of_finished;
  for (std::size_t f = 0; f < results.size(); ++f) {
    if (results[f].variants.empty()) continue;
    finished.push_back(&results[f]);
    of_finished.push_back(held_out[f]);
  }
  errors.folds_run = static_cast<Index>(finished.size());
  const RowTally tally(of_finished, tables.front());
  errors.weights = tally.shares();
  errors.variants.resize(tables.size() * classifiers.size());
  for (std::size_t v = 0; v < errors.variants.size(); ++v) {
    for (std::size_t a = 0; a < arms.size(); ++a) {
      auto& points = errors.variants[v].emplace_back(static_cast<std::size_t>(arms[a].count()));
      for (std::size_t p = 0; p < points.size() && !finished.empty(); ++p) {
        std::vector<const FoldErrors::Point*> of_folds;
        of_folds.reserve(finished.size());
        for (const FoldErrors* fold : finished) of_folds.push_back(&fold->variants[v][a][p]);
        points[p] = tally.errors_of(of_folds);
      }
    }
  }
  return errors;
}

namespace {

/// The set of a fit at the end of the path that leads there: from the fit before it takes a few sweeps, from
/// nothing, where many features are kept, hundreds.
Selection fit_along_path(const Arm& arm, Index point, const RowStatistics& rows, SelectOptions adjusted,
                         const RunControl& control) {
  const bool by_size = arm.points == Arm::Points::kFitSize;
  const Index lambdas = by_size ? arm.lambdas : std::max<Index>(2, point + 1);
  adjusted.k = {1, by_size ? arm.sizes[static_cast<std::size_t>(point)] : rows.data().features()};
  adjusted.certify = false;
  Selection found = run_method(
      rows,
      MethodRegistry::changed(arm.method, {{"lambdas", fmt::to_string(lambdas)},
                                           {"lambda_ratio", fmt::to_string(arm.fraction(lambdas - 1))}}),
      adjusted, control);
  auto* const path = std::get_if<PenaltyPath>(&found.answer);
  if (path == nullptr) return found;
  path->sets.clear();
  path->chosen.reset();
  PathEntry entry;
  if (by_size) {
    auto top = of_fits(path->fits, arm.sizes[static_cast<std::size_t>(point)]);
    if (!top) return found;
    entry.features = std::move(top->first);
    path->chosen = top->second;
  } else {
    const auto at = static_cast<std::size_t>(point);
    if (at >= path->fits.size() || path->fits[at].features.empty()) return found;
    entry.features = path->fits[at].features;
    path->chosen = at;
  }
  constexpr std::size_t kMostJudged = 3000;  // a dense k x k matrix
  if (entry.features.size() <= kMostJudged) {
    auto fitted = renormalize(*rows.lda_pencil(found.ridge, found.criterion), entry.features, found.criterion,
                              adjusted.components, adjusted.threads);
    entry.objective = fitted.objective;
    entry.loadings = fitted.discriminants.vectors;
  }
  path->sets.push_back(std::move(entry));
  return found;
}

}  // namespace

Selection select_at(const Arm& arm, Index point, const RowStatistics& rows, const SelectOptions& options,
                    const RunControl& control) {
  SelectOptions adjusted = options;
  adjusted.ridge = arm.ridge;
  adjusted.bounds = false;
  if (arm.points == Arm::Points::kFits || arm.points == Arm::Points::kFitSize)
    return fit_along_path(arm, point, rows, std::move(adjusted), control);
  const Index size = arm.sizes[static_cast<std::size_t>(point)];
  adjusted.k = {size, size};
  return run_method(rows, arm.method, adjusted, control);
}

}  // namespace subspectra
