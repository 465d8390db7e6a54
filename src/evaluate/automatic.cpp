#include "evaluate/automatic.hpp"

#include <fmt/format.h>
#include <subspectra/rankers.hpp>
#include <subspectra/scoring.hpp>
#include <subspectra/searches.hpp>

#include <algorithm>
#include <cmath>

#include "classify/registry.hpp"
#include "core/memory.hpp"
#include "core/options.hpp"
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
  Index most_searched = 100;   ///< features of the greedy search
  Index most_filtered = 1000;  ///< and no more than rows, but these many:
  Index always_filtered = 400;
  Index most_penalized = 500;  ///< and no more than a third of the rows, but these many:
  Index always_penalized = 150;
  Index lambdas = 20;
  double lambda_ratio = 0.02;
  std::vector<double> ridges = {1.0, 0.1};  ///< fractions of each column's own variance
  std::vector<double> beyond = {0.0, 0.5};  ///< of Fisher's rule: how much more is taken of the correlations
  double few = 9.0, many = 40.0;            ///< features: outside of these a size has to be clearly better
  double clear = 1.5;  ///< standard errors. One is reached by a single row that a luckier set gets right
  std::vector<double> ridge_choice = {1.0, 0.3, 0.1, 1e-2, 1e-3, 1e-4};  ///< of `ridge cv`, beside auto
};

/// 1, 2, ... with steps that grow with the size, to `most`.
std::vector<Index> size_grid(Index least, Index most) {
  constexpr double kSmallStep = 1.2, kStep = 2.0;
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
  double density = 1.0;  ///< share of the cells that take time
  [[nodiscard]] double cells() const { return density * rows * features; }
};

double density_of(const Values& values) {
  if (!values.leaves_out_zeros()) return 1.0;
  constexpr double kIndirect = 4.0;  // a stored entry takes as long as some dense ones
  double entries = 0.0;
  for (Index j = 0; j < values.features(); ++j) entries += static_cast<double>(values.entries(j));
  const double cells = static_cast<double>(values.rows()) * static_cast<double>(values.features());
  return std::min(1.0, kIndirect * entries / std::max(1.0, cells));
}

/// Work of an arm on the rows of one fold, counted as what it takes once a nanosecond.
double work_of(const Arm& arm, const TableSize& size) {
  const double cells = size.cells();
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
  double work = 10.0 * size.cells();  // moments, copies
  for (const Family& family : families) {
    for (const Arm& arm : family.arms) work += work_of(arm, size);
  }
  return work;
}

/// How many there are of what k counts: groups that were given, else categories beside single features for a
/// method that moves them as wholes.
Index units_of(const Dataset& data, const SelectOptions& options, const Method& method) {
  if (const auto groups = groups_of(options, data.names())) return groups->size();
  const auto& categories = data.details().categories;
  return categories && method.traits().takes_groups ? categories->size() : data.features();
}

/// The candidates for a table of this shape. With k only its sizes are tried.
std::vector<Family> candidates_of(const Dataset& data, const SelectOptions& options,
                                  const ComparisonTuning& tuning, Index most_searched, Index most_filtered,
                                  Index penalized, Index lambdas) {
  const KRange asked = options.k;
  // The others move single features, and a k that was asked for counts groups and categories.
  const bool grouped =
      groups_of(options, data.names()) != nullptr || (asked.given() && data.details().categories != nullptr);
  const auto sizes_to = [&](Index most, const Method& method) {
    const Index units = units_of(data, options, method);
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
    Arm arm{
        .method = ForwardLda{}, .points = Arm::Points::kSets, .sizes = sizes_to(most_searched, ForwardLda{})};
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
    lasso.sizes = asked.given() ? sizes_to(data.features(), lasso.method)
                                : std::vector<Index>{std::min(data.features(), penalized)};
    families.push_back({.arms = {std::move(lasso)}});
  }
  families.push_back(
      {.arms = {{.method = Fisher{},
                 .ridge = small,
                 .points = options.include.empty() ? Arm::Points::kRanking : Arm::Points::kSets,
                 .sizes = sizes_to(options.include.empty() ? most_filtered : most_searched, Fisher{})}}});
  return families;
}

/// The largest plan whose counted work is affordable: fewer rows first, then fewer sizes.
Plan plan_for(const Dataset& data, const SelectOptions& options, const ComparisonTuning& tuning,
              std::size_t tables) {
  const auto counts = data.labels()->counts();
  const auto classes = std::count_if(counts.begin(), counts.end(), [](Index n) { return n > 0; });
  Plan plan;
  plan.rows = std::min(data.rows(), tuning.most_rows);
  Index searched = tuning.most_searched, lambdas = tuning.lambdas;
  const Index penalized = std::clamp(plan.rows / 3, tuning.always_penalized, tuning.most_penalized);
  const double density = density_of(data.values());
  Index filtered = std::clamp(plan.rows, tuning.always_filtered, tuning.most_filtered);
  const double share = static_cast<double>(tuning.folds - 1) / static_cast<double>(tuning.folds);
  for (;;) {
    plan.families = candidates_of(data, options, tuning, searched, filtered, penalized, lambdas);
    const TableSize size{.rows = share * static_cast<double>(plan.rows),
                         .features = static_cast<double>(data.features()),
                         .discriminants = static_cast<double>(classes - 1),
                         .density = density};
    const double work =
        static_cast<double>(tuning.folds) * static_cast<double>(tables) * work_of(plan.families, size);
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
  std::size_t arm = 0;  ///< of all arms
  Index point = 0;
  double error = 0.0;  ///< smoothed
};

/// Sizes that are compared with one another.
struct SizeSpan {
  double least = 0.0, most = kInfinity;
  [[nodiscard]] bool holds(const PointErrors& point) const {
    return point.reached && point.features >= least && point.features <= most;
  }
};

/// The errors of an arm's points in the span, each averaged with its neighbours by size: the error changes
/// slowly with the logarithm of the size, the chance that one size is luckier than the next does not.
std::vector<double> smoothed(const std::vector<PointErrors>& points, const SizeSpan& span) {
  constexpr double kWidth = 0.35;  // of the Gaussian weights: half a size more or less has 0.5
  const auto place = [](const PointErrors& point) { return std::log(std::max(1.0, point.features)); };
  std::vector<double> errors;
  errors.reserve(points.size());
  for (const PointErrors& here : points) {
    double sum = 0.0, weight = 0.0;
    for (const PointErrors& other : points) {
      if (!span.holds(here) || !span.holds(other)) continue;
      const double away = (place(other) - place(here)) / kWidth;
      const double share = std::exp(-0.5 * away * away);
      sum += share * other.error;
      weight += share;
    }
    errors.push_back(weight > 0.0 ? sum / weight : kInfinity);
  }
  return errors;
}

/// Of some arms the point in the span with the smallest smoothed error; of equals the one with fewest
/// features, then the first.
std::optional<GridPlace> best_of(const InnerErrors::OfArms& errors, std::size_t first, std::size_t count,
                                 const SizeSpan& span) {
  constexpr double kRounding = 1e-12;
  std::optional<GridPlace> best;
  const PointErrors* least = nullptr;
  for (std::size_t a = first; a < first + count; ++a) {
    const std::vector<double> smooth = smoothed(errors[a], span);
    for (std::size_t p = 0; p < errors[a].size(); ++p) {
      const PointErrors& point = errors[a][p];
      if (!span.holds(point)) continue;
      if (best && smooth[p] > best->error - kRounding &&
          !(smooth[p] < best->error + kRounding && point.features < least->features))
        continue;
      least = &point;
      best = GridPlace{a, static_cast<Index>(p), smooth[p]};
    }
  }
  return best;
}

/// What the candidates say of one span of sizes, all on one variant of columns and rule.
struct SpanChoice {
  std::vector<std::optional<GridPlace>> places;  ///< of each family the best point
  std::optional<std::size_t> chosen;             ///< of the families
};

/// The families' choices between the sizes of a variant.
class Chooser {
 public:
  Chooser(const InnerErrors& errors, std::size_t variant, const std::vector<Family>& families)
      : all_(errors), errors_(errors.variants[variant]), families_(families) {}

  [[nodiscard]] const PointErrors& point(const GridPlace& place) const {
    return errors_[place.arm][static_cast<std::size_t>(place.point)];
  }

  /// Of the families whose error is within one standard error of the smallest, in this span, the one with the
  /// fewest features.
  [[nodiscard]] SpanChoice within(const SizeSpan& span) const {
    SpanChoice choice;
    std::size_t arm = 0;
    for (const Family& family : families_) {
      choice.places.push_back(best_of(errors_, arm, family.arms.size(), span));
      arm += family.arms.size();
    }
    std::optional<std::size_t> least;
    for (std::size_t c = 0; c < choice.places.size(); ++c) {
      if (choice.places[c] && (!least || choice.places[c]->error < choice.places[*least]->error)) least = c;
    }
    choice.chosen = least;
    for (std::size_t c = 0; c < choice.places.size(); ++c) {
      if (!choice.places[c]) continue;
      const double behind = choice.places[c]->error - choice.places[*least]->error;
      const double error = all_.stderr_of_difference(point(*choice.places[c]), point(*choice.places[*least]));
      if (behind <= error * (1.0 + kRounding) &&
          point(*choice.places[c]).features < point(*choice.places[*choice.chosen]).features)
        choice.chosen = c;
    }
    return choice;
  }

  /// A set of the usual sizes, unless one that is smaller or larger is clearly better: that a few features do
  /// as well as ten is luck as often as not where rows are few, and hundreds have to earn it.
  [[nodiscard]] SpanChoice over(const ComparisonTuning& tuning) const {
    SpanChoice best = within({tuning.few, tuning.many});
    if (!best.chosen) best = within({0.0, tuning.many});
    if (!best.chosen) return within({});
    for (const SizeSpan& span : {SizeSpan{0.0, std::nextafter(tuning.few, 0.0)},
                                 SizeSpan{std::nextafter(tuning.many, kInfinity), kInfinity}}) {
      SpanChoice other = within(span);
      if (!other.chosen) continue;
      const PointErrors& here = point(*best.places[*best.chosen]);
      const PointErrors& there = point(*other.places[*other.chosen]);
      const double ahead = here.error - there.error;
      const bool clearly =
          ahead > 0.0 && ahead * (1.0 + kRounding) >= tuning.clear * all_.stderr_of_difference(here, there);
      const bool same = here.wrong == there.wrong && there.features < here.features;
      if (clearly || same) best = std::move(other);
    }
    return best;
  }

 private:
  // One row that is wrong is behind by exactly its standard error.
  static constexpr double kRounding = 1e-9;
  const InnerErrors& all_;
  const InnerErrors::OfArms& errors_;
  const std::vector<Family>& families_;
};

/// The variant of columns and rule that suits most arms: the mean over the arms of each one's smallest
/// smoothed error. All arms decide together, so that chance decides little. Of equals the first.
std::size_t best_variant(const InnerErrors& errors, const SizeSpan& usual) {
  std::size_t best = 0;
  double least = kInfinity;
  for (std::size_t v = 0; v < errors.variants.size(); ++v) {
    double sum = 0.0, count = 0.0;
    for (std::size_t a = 0; a < errors.variants[v].size(); ++a) {
      std::optional<GridPlace> place = best_of(errors.variants[v], a, 1, usual);
      if (!place) place = best_of(errors.variants[v], a, 1, {});
      if (!place) continue;
      sum += place->error;
      count += 1.0;
    }
    constexpr double kRounding = 1e-12;
    if (count > 0.0 && sum / count < least - kRounding) {
      least = sum / count;
      best = v;
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

/// What judges candidates: Fisher's rule stands in for a classifier that would be tuned at every point. With
/// its automatic shrinkage it is tried with more of it, too.
std::vector<Classifier> judges_of(const Classifier& classifier, const std::vector<double>& beyond) {
  std::optional<Shrinkage> shrinkage = kind_of(classifier).shrinkage(classifier);
  if (!shrinkage) return {Classifier(Lda{})};
  if (!shrinkage->automatic() || shrinkage->beyond > 0.0) return {classifier};
  std::vector<Classifier> judges;
  for (const double more : beyond) {
    shrinkage->beyond = more;
    judges.push_back(kind_of(classifier).with_shrinkage(classifier, *shrinkage));
  }
  return judges;
}

Selection compare_and_run(const RowStatistics& rows, const SelectOptions& options, const Judging& judging,
                          const RunControl& control, Selection answer) {
  const ComparisonTuning tuning;
  std::vector<Dataset> tables = {rows.data()};
  if (judging.transform == Transform::kAuto) {
    const Preparation bending = Preparation::bending(rows.data());
    if (bending.changes(rows.data())) {
      require_memory(bytes_of_copy(rows.data()), "the table with its columns bent, which is compared,",
                     "leave it out with ⟨transform none⟩, or give more with ⟨memory_limit⟩",
                     options.memory_limit.bytes);
      tables.push_back(bending.apply(rows.data()));
    }
  }
  const std::vector<Classifier> judges = judges_of(judging.classifier, tuning.beyond);
  const Plan plan = plan_for(rows.data(), options, tuning, tables.size());
  const InnerFolds folds = make_inner_folds(rows.data(), tuning.folds, plan.repeats, plan.rows, options.seed);
  std::vector<Arm> arms;
  for (const Family& family : plan.families) arms.insert(arms.end(), family.arms.begin(), family.arms.end());
  const InnerErrors errors = compare_arms(tables, folds, arms, options, judges, rows.threads(), control);
  ComparisonReport report;
  report.rows = std::ssize(folds.rows);
  report.folds_run = errors.folds_run;
  report.folds_planned = folds.count();
  report.repeats = std::ssize(folds.held_out);
  const std::size_t variant = best_variant(errors, {tuning.few, tuning.many});
  const bool bent = variant >= judges.size();
  const Chooser chooser(errors, variant, plan.families);
  // Sizes that were asked for are all as good.
  const SpanChoice choice = options.k.given() ? chooser.within({}) : chooser.over(tuning);
  if (!choice.chosen) {
    // What no fold can have all rows may not have either, and then there are words for it.
    if (!control.should_stop()) {
      SelectOptions adjusted = options;
      adjusted.ridge = arms.front().ridge;
      adjusted.certify = false;
      (void)run_method(rows, arms.front().method, adjusted, control);
    }
    answer.status = control.status_or(Status::kHeuristic);
    return answer;
  }
  const auto configured = [&](const GridPlace& place) {
    const Arm& arm = arms[place.arm];
    UsedConfiguration used = configuration(arm, place.point, arm.points == Arm::Points::kSets);
    used.transform = bent || judging.transform == Transform::kAsinh ? Transform::kAsinh : Transform::kNone;
    if (kind_of(judging.classifier).shrinkage(judging.classifier)) {
      const Classifier& judge = judges[variant % judges.size()];
      used.shrinkage = kind_of(judge).shrinkage(judge).value_or(Shrinkage{});
    }
    return used;
  };
  std::size_t first_arm = 0;
  for (std::size_t c = 0; c < plan.families.size(); ++c) {
    const std::size_t count = plan.families[c].arms.size();
    // One without a set of such a size is reported with the best of any.
    const auto place =
        choice.places[c] ? choice.places[c] : best_of(errors.variants[variant], first_arm, count, SizeSpan{});
    if (place) {
      Index compared = 0;
      for (const InnerErrors::OfArms& of_variant : errors.variants) {
        for (std::size_t a = first_arm; a < first_arm + count; ++a)
          compared += std::count_if(of_variant[a].begin(), of_variant[a].end(),
                                    [](const PointErrors& p) { return p.reached; });
      }
      if (c == *choice.chosen) report.chosen = report.candidates.size();
      report.candidates.push_back({.best = configured(*place),
                                   .error = place->error,
                                   .stderr_ = chooser.point(*place).stderr_,
                                   .features = chooser.point(*place).features,
                                   .compared = compared});
    }
    first_arm += count;
  }
  const GridPlace& taken = *choice.places[*choice.chosen];
  const Arm& arm = arms[taken.arm];
  Selection found;
  if (bent) {
    found = select_at(arm, taken.point, RowStatistics(tables[1], rows.threads(), options.memory_limit.bytes),
                      options, control);
  } else {
    found = select_at(arm, taken.point, rows, options, control);
  }
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
  const KRange k = options.k.resolved(units_of(data, options, method));
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
      compare_arms({data}, folds, arms, options, judges_of(classifier, {0.0}), rows.threads(), control);
  const auto best = best_of(errors.variants.front(), 0, arms.size(), {});
  if (!best) return std::nullopt;
  return arms[best->arm].ridge;
}

}  // namespace

Selection run_judged(const RowStatistics& rows, const Method& method, const SelectOptions& options,
                     const Judging& judging, const RunControl& control) {
  if (method.traits().composite) {
    Selection answer;
    answer.method = method.name();
    answer.features = rows.data().features();
    return compare_and_run(rows, options, judging, control, std::move(answer));
  }
  if (!options.ridge.cross_validated) return run_method(rows, method, options, control);
  SelectOptions adjusted = options;
  adjusted.ridge = {};
  const MethodTraits& traits = method.traits();
  // Components and discriminants of their own know no ridge, and an exact search would prove every set anew.
  if (!traits.variance && !traits.own_rule && !traits.proves)
    adjusted.ridge = chosen_ridge(rows, method, options, judging.classifier, control).value_or(Ridge{});
  return run_method(rows, method, adjusted, control);
}

Preparation preparation_of(const Selection& found, const Preparation& preparation, const Dataset& prepared,
                           const std::vector<Index>& features, const Judging& judging) {
  const bool compared = judging.transform == Transform::kAuto && found.comparison;
  if (!compared || found.comparison->used.transform != Transform::kAsinh) return preparation;
  return preparation.then(Preparation::bending(prepared, features));
}

Classifier classifier_of(const Selection& found, const Classifier& asked) {
  if (!found.comparison || !kind_of(asked).shrinkage(asked)) return asked;
  return kind_of(asked).with_shrinkage(asked, found.comparison->used.shrinkage);
}

std::string shown(const UsedConfiguration& used) {
  std::string text = used.method;
  if (used.k) text += fmt::format(", {}", counted(*used.k, "feature"));
  if (used.ridge) text += fmt::format(", ridge {}", shown(*used.ridge));
  if (used.lambda) text += fmt::format(", lambda {:.3g}", *used.lambda);
  if (used.transform == Transform::kAsinh) text += ", asinh of the columns";
  if (used.shrinkage.beyond > 0.0)
    text += fmt::format(", shrinkage {}", OptionCodec<Shrinkage>::format(used.shrinkage));
  return text;
}

std::string comparison_sentence(const ComparisonReport& report) {
  const auto& chosen = report.candidates[report.chosen];
  std::string not_chosen;
  for (std::size_t c = 0; c < report.candidates.size(); ++c) {
    if (c == report.chosen) continue;
    const auto& other = report.candidates[c];
    not_chosen += fmt::format(
        "{}{} ({} {}, error {:.4f})", not_chosen.empty() ? "" : ", ", other.best.method,
        other.features < 10.0 ? fmt::format("{:.2g}", other.features) : fmt::format("{:.0f}", other.features),
        other.features == 1.0 ? "feature" : "features", other.error);
  }
  return fmt::format("auto took {} (error {:.4f} ± {:.4f} in {}){}", shown(report.used), chosen.error,
                     chosen.stderr_, counted(report.folds_run, "inner fold"),
                     not_chosen.empty() ? "" : fmt::format(" before {}", not_chosen));
}

}  // namespace subspectra
