#include "evaluate/automatic.hpp"

#include <fmt/format.h>
#include <subspectra/rankers.hpp>
#include <subspectra/scoring.hpp>
#include <subspectra/searches.hpp>

#include <algorithm>
#include <cmath>

#include "classify/registry.hpp"
#include "core/text.hpp"
#include "data/groups.hpp"
#include "evaluate/inner_comparison.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

/// How much is tried. Work is counted from the sizes of the table alone: no clock decides, so that the same
/// table has the same answer on any machine.
struct ComparisonTuning {
  double work = 4e9;  ///< nanoseconds or so, of all folds together
  Index folds = 5;
  Index most_repeats = 4;  ///< of the folds, on small tables
  Index most_rows = 3000;  ///< that take part
  Index fewest_rows = 300;
  Index most_searched = 100;  ///< features of the greedy search
  Index most_filtered = 1000;
  Index most_penalized = 150;
  Index lambdas = 20;
  double lambda_ratio = 0.02;
  std::vector<double> ridges = {1.0, 0.3, 0.1};  ///< fractions of each column's own variance
  std::vector<double> ridge_choice = {1.0, 0.3, 0.1, 1e-2, 1e-3, 1e-4};  ///< of `ridge cv`, beside auto
};

/// 1, 2, ... with steps that grow with the size, to `most`.
std::vector<Index> size_grid(Index least, Index most) {
  constexpr double kSmallStep = 1.2, kStep = 1.4;
  constexpr double kSmall = 100.0;
  std::vector<Index> sizes;
  for (double size = 1.0; size <= static_cast<double>(most);) {
    const auto rounded = static_cast<Index>(std::lround(size));
    if (rounded >= least && (sizes.empty() || sizes.back() < rounded)) sizes.push_back(rounded);
    size = std::max(size + 1.0, size * (size < kSmall ? kSmallStep : kStep));
  }
  if (sizes.empty() || sizes.back() < most) sizes.push_back(most);
  return sizes;
}

/// A method with several arms, which differ in their ridge.
struct Family {
  std::vector<Arm> arms;
};

/// What is compared, on which rows.
struct Plan {
  std::vector<Family> families;
  Index repeats = 1, rows = 0;
};

/// What of a table decides how much work there is.
struct TableSize {
  double rows = 0.0, features = 0.0, discriminants = 1.0;
};

/// Work of an arm on the rows of one fold, counted as what it takes once a nanosecond.
double work_of(const Arm& arm, const TableSize& size) {
  const double cells = size.rows * size.features;
  switch (arm.points) {
    case Arm::Points::kFits:
    case Arm::Points::kFitSize: {
      constexpr double kSweeps = 10.0;  // over the features in play, at one lambda
      const double most = std::min(size.features, static_cast<double>(arm.sizes.back()));
      return size.discriminants * static_cast<double>(arm.lambdas) *
             (0.5 * cells + kSweeps * size.rows * most);
    }
    case Arm::Points::kSets:
      return 0.6 * cells * static_cast<double>(arm.sizes.back());
    case Arm::Points::kRanking:
      break;
  }
  const auto k = static_cast<double>(arm.sizes.back());
  return 3.0 * cells + 0.1 * size.rows * k * k + 0.05 * k * k * k;
}

double work_of(const std::vector<Family>& families, const TableSize& size) {
  double work = 10.0 * size.rows * size.features;  // moments, copies
  for (const Family& family : families) {
    for (const Arm& arm : family.arms) work += work_of(arm, size);
  }
  return work;
}

Index features_or_groups(const Dataset& data, const SelectOptions& options) {
  const auto groups = groups_of(options, data.names());
  return groups ? groups->size() : data.features();
}

/// The candidates for a table of this shape. With k only its sizes are tried.
std::vector<Family> candidates_of(const Dataset& data, const SelectOptions& options,
                                  const ComparisonTuning& tuning, Index most_searched, Index most_filtered,
                                  Index lambdas) {
  const Index units = features_or_groups(data, options);
  const KRange asked = options.k;
  const bool grouped = groups_of(options, data.names()) != nullptr;
  const auto sizes_to = [&](Index most) {
    if (!asked.given()) return size_grid(1, std::min(most, units));
    const KRange k = asked.resolved(units, grouped ? "group" : "feature");
    return k.contiguous() ? size_grid(k.lo, k.hi) : k.sizes();
  };
  const bool ridge_given = !options.ridge.automatic() && !options.ridge.cross_validated;
  Ridge small;  // where the ridge is not what is chosen: enough for what has no variance within classes
  small.fraction = 1e-3;
  if (ridge_given) small = options.ridge;
  std::vector<Family> families;
  Family search;
  for (const double fraction : tuning.ridges) {
    Arm arm{.method = ForwardLda{}, .points = Arm::Points::kSets, .sizes = sizes_to(most_searched)};
    arm.ridge.fraction = fraction;
    if (ridge_given) arm.ridge = options.ridge;
    search.arms.push_back(std::move(arm));
    if (ridge_given) break;
  }
  families.push_back(std::move(search));
  if (grouped) return families;  // the others move single features
  if (options.include.empty()) {
    Arm lasso{.method = Gloss{.lambdas = lambdas, .lambda_ratio = tuning.lambda_ratio, .tolerance = 1e-2},
              .ridge = small,
              .points = asked.given() ? Arm::Points::kFitSize : Arm::Points::kFits,
              .lambdas = lambdas,
              .lambda_ratio = tuning.lambda_ratio};
    lasso.sizes =
        asked.given() ? sizes_to(units) : std::vector<Index>{std::min(units, tuning.most_penalized)};
    families.push_back({.arms = {std::move(lasso)}});
  }
  families.push_back(
      {.arms = {{.method = Fisher{},
                 .ridge = small,
                 .points = options.include.empty() ? Arm::Points::kRanking : Arm::Points::kSets,
                 .sizes = sizes_to(options.include.empty() ? most_filtered : most_searched)}}});
  return families;
}

/// The largest plan whose counted work is affordable: fewer rows first, then fewer sizes.
Plan plan_for(const Dataset& data, const SelectOptions& options, const ComparisonTuning& tuning) {
  const auto counts = data.labels()->counts();
  const auto classes = std::count_if(counts.begin(), counts.end(), [](Index n) { return n > 0; });
  Plan plan;
  plan.rows = std::min(data.rows(), tuning.most_rows);
  Index searched = tuning.most_searched, filtered = tuning.most_filtered, lambdas = tuning.lambdas;
  const double share = static_cast<double>(tuning.folds - 1) / static_cast<double>(tuning.folds);
  for (;;) {
    plan.families = candidates_of(data, options, tuning, searched, filtered, lambdas);
    const TableSize size{.rows = share * static_cast<double>(plan.rows),
                         .features = static_cast<double>(data.features()),
                         .discriminants = static_cast<double>(classes - 1)};
    const double work = static_cast<double>(tuning.folds) * work_of(plan.families, size);
    plan.repeats = std::clamp(static_cast<Index>(tuning.work / work), Index{1}, tuning.most_repeats);
    if (work <= tuning.work) return plan;
    if (plan.rows > tuning.fewest_rows) {
      plan.rows = std::max(tuning.fewest_rows, plan.rows * 2 / 3);
    } else if (lambdas > 8 || searched > 25 || filtered > 100) {
      lambdas = std::max<Index>(8, lambdas * 2 / 3);
      searched = std::max<Index>(25, searched * 2 / 3);
      filtered = std::max<Index>(100, filtered * 2 / 3);
    } else {
      return plan;
    }
  }
}

struct GridPlace {
  std::size_t arm = 0;
  Index point = 0;
  double error = 0.0;  ///< smoothed
};

/// The errors of an arm's points, each averaged with its neighbours by size: the error changes slowly with
/// the logarithm of the size, the chance that one size is luckier than the next does not.
std::vector<double> smoothed(const std::vector<PointErrors>& points) {
  constexpr double kWidth = 0.35;  // of the Gaussian weights: half a size more or less has 0.5
  const auto place = [](const PointErrors& point) { return std::log(std::max(1.0, point.features)); };
  std::vector<double> errors;
  for (const PointErrors& here : points) {
    double sum = 0.0, weight = 0.0;
    for (const PointErrors& other : points) {
      if (!here.reached || !other.reached) continue;
      const double away = (place(other) - place(here)) / kWidth;
      const double share = std::exp(-0.5 * away * away);
      sum += share * other.error;
      weight += share;
    }
    errors.push_back(weight > 0.0 ? sum / weight : kInfinity);
  }
  return errors;
}

/// The point with the smallest smoothed error; of equals the one with fewest features, then the first.
std::optional<GridPlace> best_of(const std::vector<std::vector<PointErrors>>& errors) {
  constexpr double kRounding = 1e-12;
  std::optional<GridPlace> best;
  const PointErrors* least = nullptr;
  for (std::size_t a = 0; a < errors.size(); ++a) {
    const std::vector<double> smooth = smoothed(errors[a]);
    for (std::size_t p = 0; p < errors[a].size(); ++p) {
      const PointErrors& point = errors[a][p];
      if (!point.reached) continue;
      if (best && smooth[p] > best->error - kRounding &&
          !(smooth[p] < best->error + kRounding && point.features < least->features))
        continue;
      least = &point;
      best = GridPlace{a, static_cast<Index>(p), smooth[p]};
    }
  }
  return best;
}

UsedConfiguration configuration(const Arm& arm, Index point, bool with_ridge) {
  UsedConfiguration used{.method = std::string(arm.method.name()), .lambda = {}, .ridge = {}, .k = {}};
  if (arm.points != Arm::Points::kFits) used.k = arm.sizes[static_cast<std::size_t>(point)];
  if (with_ridge && arm.ridge.fraction) used.ridge = RidgeAmount(0.0, *arm.ridge.fraction);
  if (with_ridge && arm.ridge.value) used.ridge = RidgeAmount(*arm.ridge.value);
  return used;
}

/// What judges candidates: Fisher's rule stands in for a classifier that would be tuned at every point.
Classifier judge_of(const Classifier& classifier) {
  return classifier.name() == Lda::kTraits.name ? classifier : Classifier(Lda{});
}

Selection compare_and_run(const RowStatistics& rows, const SelectOptions& options,
                          const Classifier& classifier, const RunControl& control, Selection answer) {
  const ComparisonTuning tuning;
  const Dataset& data = rows.data();
  const Plan plan = plan_for(data, options, tuning);
  const InnerFolds folds = make_inner_folds(data, tuning.folds, plan.repeats, plan.rows, options.seed);
  std::vector<Arm> arms;
  for (const Family& family : plan.families) arms.insert(arms.end(), family.arms.begin(), family.arms.end());
  const InnerErrors errors =
      compare_arms(data, folds, arms, options, judge_of(classifier), rows.threads(), control);
  ComparisonReport report;
  report.rows = std::ssize(folds.rows);
  report.folds_run = errors.folds_run;
  report.folds_planned = folds.count();
  report.repeats = std::ssize(folds.held_out);
  std::vector<GridPlace> places;  // by candidate
  std::size_t first_arm = 0;
  for (const Family& family : plan.families) {
    const std::vector<std::vector<PointErrors>> of_family(
        errors.arms.begin() + static_cast<std::ptrdiff_t>(first_arm),
        errors.arms.begin() + static_cast<std::ptrdiff_t>(first_arm + family.arms.size()));
    if (const auto best = best_of(of_family)) {
      const Arm& arm = family.arms[best->arm];
      const PointErrors& point = of_family[best->arm][static_cast<std::size_t>(best->point)];
      Index compared = 0;
      for (const auto& points : of_family)
        compared +=
            std::count_if(points.begin(), points.end(), [](const PointErrors& p) { return p.reached; });
      report.candidates.push_back({.best = configuration(arm, best->point, arm.points == Arm::Points::kSets),
                                   .error = best->error,
                                   .stderr_ = point.stderr_,
                                   .features = point.features,
                                   .compared = compared});
      places.push_back({first_arm + best->arm, best->point, best->error});
    }
    first_arm += family.arms.size();
  }
  if (report.candidates.empty()) {
    // What no fold can have all rows may not have either, and then there are words for it.
    if (!control.should_stop()) {
      SelectOptions told = options;
      told.ridge = arms.front().ridge;
      told.certify = false;
      (void)run_method(rows, arms.front().method, told, control);
    }
    answer.status = control.status_or(Status::kHeuristic);
    return answer;
  }
  const auto point_of = [&](std::size_t c) -> const PointErrors& {
    return errors.arms[places[c].arm][static_cast<std::size_t>(places[c].point)];
  };
  std::size_t least = 0;
  for (std::size_t c = 1; c < places.size(); ++c) {
    if (places[c].error < places[least].error) least = c;
  }
  report.chosen = least;
  for (std::size_t c = 0; c < places.size(); ++c) {
    const double behind = places[c].error - places[least].error;
    // One row that is wrong is behind by exactly its standard error.
    constexpr double kRounding = 1e-9;
    const double error = errors.stderr_of_difference(point_of(c), point_of(least));
    if (behind <= error * (1.0 + kRounding) && point_of(c).features < point_of(report.chosen).features)
      report.chosen = c;
  }
  const Arm& arm = arms[places[report.chosen].arm];
  Selection found = select_at(arm, places[report.chosen].point, rows, options, control);
  report.used = report.candidates[report.chosen].best;
  if (!found.sets().empty()) report.used.k = found.sets().back().k();
  if (const auto* fit = found.chosen_fit()) report.used.lambda = fit->lambda;
  auto& path = answer.answer.emplace<SizePath>();
  if (!found.sets().empty()) {
    path.sets.push_back(found.sets().back());
    path.sets.back().record.reset();
  }
  answer.status = worst(found.status, control.status_or(Status::kHeuristic));
  if (answer.status < Status::kHeuristic) answer.status = Status::kHeuristic;
  answer.size_fixed = true;
  answer.ridge = found.ridge;
  answer.ridge_variances = std::move(found.ridge_variances);
  answer.criterion = found.criterion;
  answer.sizes = found.sizes;
  answer.features = found.features;
  answer.search_s = found.search_s;
  answer.prepare_s = found.prepare_s;
  answer.warnings = std::move(found.warnings);
  if (report.folds_run < report.folds_planned)
    answer.warnings.push_back(fmt::format("the methods were compared by {} of {} inner folds ({})",
                                          report.folds_run, report.folds_planned,
                                          status_name(control.status_or(Status::kInterrupted))));
  answer.comparison = std::move(report);
  return answer;
}

/// The fraction whose best size has the smallest error; nothing where none could be judged.
std::optional<Ridge> chosen_ridge(const RowStatistics& rows, const Method& method,
                                  const SelectOptions& options, const Classifier& classifier,
                                  const RunControl& control) {
  const ComparisonTuning tuning;
  const Dataset& data = rows.data();
  const Index units = features_or_groups(data, options);
  const KRange k = options.k.resolved(units);
  const std::vector<Index> sizes = k.contiguous() ? size_grid(k.lo, k.hi) : k.sizes();
  std::vector<Arm> arms;
  for (const double fraction : tuning.ridge_choice) {
    Arm arm{.method = method, .points = Arm::Points::kSets, .sizes = sizes};
    arm.ridge.fraction = fraction;
    arms.push_back(std::move(arm));
  }
  arms.push_back({.method = method, .points = Arm::Points::kSets, .sizes = sizes});
  const InnerFolds folds = make_inner_folds(data, tuning.folds, 1, data.rows(), options.seed);
  const InnerErrors errors =
      compare_arms(data, folds, arms, options, judge_of(classifier), rows.threads(), control);
  const auto best = best_of(errors.arms);
  if (!best) return std::nullopt;
  return arms[best->arm].ridge;
}

}  // namespace

Selection run_judged(const RowStatistics& rows, const Method& method, const SelectOptions& options,
                     const Classifier& classifier, const RunControl& control) {
  if (method.traits().composite) {
    Selection answer;
    answer.method = method.name();
    answer.features = rows.data().features();
    return compare_and_run(rows, options, classifier, control, std::move(answer));
  }
  if (!options.ridge.cross_validated) return run_method(rows, method, options, control);
  SelectOptions told = options;
  told.ridge = {};
  const MethodTraits& traits = method.traits();
  // Components and discriminants of their own know no ridge, and an exact search would prove every set anew.
  if (!traits.variance && !traits.own_rule && !traits.proves)
    told.ridge = chosen_ridge(rows, method, options, classifier, control).value_or(Ridge{});
  return run_method(rows, method, told, control);
}

std::string shown(const UsedConfiguration& used) {
  std::string text = used.method;
  if (used.k) text += fmt::format(", {}", counted(*used.k, "feature"));
  if (used.ridge) text += fmt::format(", ridge {}", shown(*used.ridge));
  if (used.lambda) text += fmt::format(", lambda {:.3g}", *used.lambda);
  return text;
}

std::string comparison_sentence(const ComparisonReport& report) {
  const auto& chosen = report.candidates[report.chosen];
  std::string others;
  for (std::size_t c = 0; c < report.candidates.size(); ++c) {
    if (c == report.chosen) continue;
    const auto& other = report.candidates[c];
    others += fmt::format(
        "{}{} ({} {}, error {:.4f})", others.empty() ? "" : ", ", other.best.method,
        other.features < 10.0 ? fmt::format("{:.2g}", other.features) : fmt::format("{:.0f}", other.features),
        other.features == 1.0 ? "feature" : "features", other.error);
  }
  return fmt::format("auto took {} (error {:.4f} ± {:.4f} in {}){}", shown(report.used), chosen.error,
                     chosen.stderr_, counted(report.folds_run, "inner fold"),
                     others.empty() ? "" : fmt::format(" before {}", others));
}

}  // namespace subspectra
