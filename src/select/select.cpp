#include "select/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/json_io.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "data/groups.hpp"
#include "data/name_patterns.hpp"
#include "data/prepare.hpp"
#include "io/read_groups.hpp"
#include "linalg/tiled.hpp"
#include "search/nested_path.hpp"
#include "select/column_parts.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"
#include "select/search_methods.hpp"
#include "spectral/deflation.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {
namespace {

/// Feature numbers of the names an option lists; a name that stands for several columns means all of them.
std::vector<Index> find_features(const Dataset& data, const std::vector<std::string>& names,
                                 std::string_view option) {
  std::vector<Index> features;
  const auto found_each = columns_named(data.names(), names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto& found = found_each[i];
    if (found.empty()) {
      const bool pattern = is_name_pattern(name);
      if (std::any_of(data.left_out().begin(), data.left_out().end(), [&](const std::string& column) {
            return column == name || (pattern && matches_name_pattern(name, column));
          }))
        continue;
      std::string plain = name;  // what a pattern says of the name, for those that are near
      if (pattern)
        std::erase_if(plain,
                      [](char c) { return std::string_view("*?[]!^").find(c) != std::string_view::npos; });
      const auto near = data.names().near(plain);
      const std::string rule = fmt::format(
          "names '{}', but no feature {}{}", name, pattern ? "fits that pattern" : "has that name",
          near.empty() ? "" : fmt::format(" (did you mean {}?)", join_some(near)));
      const std::string way_out = pattern ? "* stands for any characters, ? for one, [a-c] for one of these"
                                          : "names are matched exactly";
      refuse_table(
          data,
          BadInput({.file = data.source()}, fmt::format("{} {}; {}", marked_option(option), rule, way_out)),
          {.field = std::string(option), .value = name, .rule = rule, .way_out = way_out});
    }
    features.insert(features.end(), found.begin(), found.end());
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

/// The groups of an array with one name a feature; features of one name are one group.
FeatureGroups groups_by_name(const std::vector<std::string>& group_of, const FeatureNames& names) {
  const Index p = names.size();
  if (static_cast<Index>(group_of.size()) != p)
    throw InvalidArgument({.field = "feature_group_names",
                           .value = fmt::to_string(group_of.size()),
                           .rule = fmt::format("has {} for {}", counted(group_of.size(), "entry", "entries"),
                                               counted(p, "feature")),
                           .way_out = "give one for each feature, \"\" for one by itself"});
  FeatureGroups groups;
  std::map<std::string, Index> place;
  for (Index j = 0; j < p; ++j) {
    const std::string& name = group_of[static_cast<std::size_t>(j)];
    const auto [at, is_new] =
        name.empty() ? std::pair(place.end(), true) : place.try_emplace(name, groups.size());
    if (is_new) {
      groups.names.push_back(name.empty() ? names[j] : name);
      groups.members.emplace_back();
    }
    const Index group = is_new ? groups.size() - 1 : at->second;
    groups.members[static_cast<std::size_t>(group)].push_back(j);
    groups.group_of.push_back(group);
  }
  return groups;
}

void check_labels(const Dataset& data, const MethodTraits& method) {
  if (data.labels() == nullptr) {
    std::vector<std::string> candidates;
    for (Index j = std::max<Index>(0, data.features() - 8); j < data.features(); ++j)
      candidates.push_back(data.names()[j]);
    refuse_table(
        data,
        BadInput(
            {.file = data.source()},
            data.details().no_target.empty()
                ? fmt::format(
                      "method {} needs labels and no label column was found; name it with ⟨target⟩ (the last columns are {})",
                      method.name, join_some(candidates))
                : fmt::format("method {} needs labels: {}", method.name, data.details().no_target)),
        {.field = "y",
         .rule = fmt::format("is missing, and method {} needs labels", method.name),
         .way_out = "give them with the table, Dataset(X, y), or use a method that needs none"});
  }
  const auto& labels = *data.labels();
  const auto missing = std::count(labels.codes.begin(), labels.codes.end(), Labels::kMissing);
  if (missing > 0) {
    const std::string_view way_out = "write the labels, or leave the rows out with ⟨missing drop⟩";
    refuse_table(data,
                 BadInput(data.first_unlabelled().value_or(Location{.file = data.source()}),
                          fmt::format("{} no label in '{}' and method {} needs one for every row; {}",
                                      missing == 1 ? "1 row has" : fmt::format("{} rows have", missing),
                                      labels.name, method.name, way_out)),
                 {.field = "y",
                  .rule = fmt::format("has no label for {} and method {} needs one for every row",
                                      counted(missing, "row"), method.name),
                  .way_out = std::string(way_out)});
  }
  const auto counts = labels.counts();
  const auto present = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  if (present < 2) {
    const std::string only = labels.classes.empty() ? "" : labels.classes.front();
    refuse_table(
        data,
        BadInput(
            {.file = data.source()},
            fmt::format(
                "'{}' holds one class only ('{}'); two or more are needed to tell apart: name the label column with ⟨target⟩",
                labels.name, only)),
        {.field = "y",
         .value = only,
         .rule = "holds one class only ('{value}')",
         .way_out = "two or more are needed to tell apart"});
  }
  if (method.two_classes_only && present != 2) {
    refuse_table(
        data,
        BadInput(
            {.file = data.source()},
            fmt::format("method {} is for two classes and '{}' has {}; pearson and fisher take any number",
                        method.name, labels.name, present)),
        {.field = "y",
         .value = fmt::to_string(present),
         .rule = fmt::format("has {{value}} classes, and method {} is for two", method.name),
         .way_out = "pearson and fisher take any number"});
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The groups of more than one feature.
std::string category_names(const FeatureGroups& groups) {
  std::vector<std::string> names;
  for (std::size_t g = 0; g < groups.names.size(); ++g) {
    if (groups.members[g].size() > 1) names.push_back(groups.names[g]);
  }
  return join_some(names);
}

/// Candidates as units: one by one, or by the groups of `groups` as far as they are candidates.
SearchUnits make_units(const std::vector<Index>& candidates, const std::vector<Index>& include,
                       const FeatureGroups* groups) {
  if (groups == nullptr) return SearchUnits::singles(candidates, include);
  SearchUnits units;
  units.single = false;
  for (Index g = 0; g < groups->size(); ++g) {
    std::vector<Index> members;
    bool forced = false;
    for (const Index j : groups->members[static_cast<std::size_t>(g)]) {
      if (!std::binary_search(candidates.begin(), candidates.end(), j)) continue;
      members.push_back(j);
      forced = forced || std::binary_search(include.begin(), include.end(), j);
    }
    if (members.empty()) continue;
    if (forced) units.include.push_back(units.count());
    units.members.push_back(std::move(members));
    units.group.push_back(g);
  }
  return units;
}

/// Whether the ridge is an automatic one that is certain to be above 0, because there are more candidates
/// than rows, and can be left until something asks for it.
bool ridge_can_wait(const RowStatistics& rows, const SelectOptions& options,
                    const std::vector<Index>& candidates) {
  return options.sets_alone && rows.matrices() == nullptr && options.ridge.automatic() &&
         static_cast<Index>(candidates.size()) > rows.data().rows();
}

/// The sets of a ranking: nested, each scored on the pencil.
void score_ranking(const Problem& problem, Selection& selection) {
  std::vector<Index> order = problem.units().include;
  const auto included = problem.units().included();
  for (const Index j : selection.ranking) {
    const auto u = std::lower_bound(problem.candidates().begin(), problem.candidates().end(), j) -
                   problem.candidates().begin();
    if (included[static_cast<std::size_t>(u)] == 0) order.push_back(u);
  }
  if (!problem.ridge_known()) {
    // Whatever the ridge is, no feature depends on others beside it: at least 1e-6 of each one's variance.
    for (const Index k : problem.k().sizes()) {
      PathEntry entry;
      entry.features = problem.units().features({order.begin(), order.begin() + k});
      selection.sets().push_back(std::move(entry));
    }
    return;
  }
  const NestedPath path(problem.pencil(), problem.units(), order, problem.k().hi,
                        {.criterion = problem.options().criterion,
                         .components = problem.options().components,
                         .pivot_floor = kDependentPivot,
                         .threads = problem.options().threads,
                         .memory_limit = problem.options().memory_limit.bytes});
  if (!path.dependent().empty()) {
    const auto features = problem.units().features(path.dependent());
    selection.warnings.push_back(
        features.size() == 1
            ? fmt::format("1 feature depends linearly on better ones and was passed over: {}",
                          problem.data().names().some(features))
            : fmt::format("{} features depend linearly on better ones and were passed over: {}",
                          features.size(), problem.data().names().some(features)));
  }
  const Index reached = path.reached();
  if (reached < problem.k().hi) {
    selection.status = worst(selection.status, Status::kRankLimit);
    warn_of_rank(problem, reached, selection);
  }
  std::vector<Index> sizes = problem.k().sizes();
  std::erase_if(sizes, [&](Index k) { return k > reached; });
  selection.sets() = path.entries(sizes);
}

void check_matrices(const MatrixProblem& problem, const MethodTraits& method) {
  if (!method.takes_matrices) {
    std::vector<std::string> names;
    for (const auto& other : method_list()) {
      if (other.takes_matrices) names.emplace_back(other.name);
    }
    throw InvalidArgument({.field = "method",
                           .value = std::string(method.name),
                           .subject = "method",
                           .rule = "{value} needs a table",
                           .way_out = fmt::format("matrices are for {}", join_some(names, 100))});
  }
  if (method.needs_labels && !problem.b) {
    throw InvalidArgument({.field = "method",
                           .value = std::string(method.name),
                           .subject = "method",
                           .rule = "{value} needs the pair ⟨between A⟩ ⟨within B⟩",
                           .way_out = "for a single covariance use gspca"});
  }
}

/// Principal components after the first: each on its own set, after projection deflation with the one before
/// it at the largest size. There are no more of them than the covariance can have rank, and they end when
/// nothing but rounding is left.
void further_components(const RowStatistics& rows, const Method& method, const SelectOptions& options,
                        const RunControl& control, const MethodRun& run, const std::vector<Index>& candidates,
                        Selection& selection) {
  constexpr double kNothingLeft = 1e-13;  // of the first component's variance
  SelectOptions one = options;
  one.components = 1;
  const Dataset& data = rows.data();
  const MatrixProblem* const matrices = rows.matrices();
  auto* const answer = std::get_if<SizePath>(&selection.answer);
  if (answer == nullptr) return;
  const std::vector<PathEntry>* before = &answer->sets;
  std::optional<Dataset> table;
  std::optional<MatrixProblem> problem;
  const auto constant = [&](Index j) {
    if (!problem) return does_not_vary(*table, j);
    return !(problem->a(j, j) > kNothingLeft * matrices->a.diagonal().maxCoeff());
  };
  const Index rank = std::min(static_cast<Index>(candidates.size()),
                              matrices != nullptr ? data.features() : data.rows() - 1);
  Index found = 1;
  bool exhausted = false;
  for (; found < options.components && !before->empty() && !control.should_stop(); ++found) {
    const PathEntry& last = before->back();
    Selection next;
    if (matrices != nullptr) {
      problem = MatrixProblem{
          matrices->source, matrices->names,
          deflated_covariance(problem ? problem->a : matrices->a, last.features, last.loadings.view().col(0)),
          std::nullopt};
    } else {
      table = deflated(table ? *table : data, last.features, last.loadings.view().col(0));
    }
    exhausted = found >= rank || std::all_of(candidates.begin(), candidates.end(), constant);
    if (exhausted) break;
    try {
      const RowStatistics deflated_rows =
          problem ? RowStatistics(data, *problem, rows.threads())
                  : RowStatistics(*table, rows.threads(), options.memory_limit.bytes);
      next = run_method(deflated_rows, method, one, control, run);
      exhausted = !next.sets().empty() &&
                  !(next.sets().back().objective > kNothingLeft * selection.sets().back().objective);
    } catch (const Infeasible&) {  // the components before left too few features that vary
      exhausted = true;
    }
    if (exhausted) break;
    selection.status = worst(selection.status, next.status);
    answer->further_components.push_back(std::move(next.sets()));
    before = &answer->further_components.back();
  }
  if (exhausted) {
    selection.warnings.push_back(
        fmt::format("⟨components {}⟩ is more than there are: {} found", options.components,
                    counted(found, "principal component") + (found == 1 ? " was" : " were")));
  }
}

/// What the fraction of the ridge was taken of.
void report_variances(const RowStatistics& rows, Selection& selection) {
  if (!(selection.ridge.fraction > 0.0)) return;
  const MatrixProblem* const matrices = rows.matrices();
  const Vector variances = matrices != nullptr ? ridge_variances(matrices->a, *matrices->b)
                                               : ridge_variances(rows.class_moments());
  selection.ridge_variances.assign(variances.begin(), variances.end());
}

/// What was asked for and could not be given. `loading` is what the columns of the loadings are, "" where
/// `components` counts something else.
void warn_of_ignored(const SelectOptions& options, std::string_view loading, Selection& selection) {
  const auto& sets = std::as_const(selection).sets();
  if (sets.empty()) return;
  if (options.bounds && options.certify && std::none_of(sets.begin(), sets.end(), [](const PathEntry& entry) {
        return entry.bounds.has_value();
      })) {
    selection.warnings.push_back(
        fmt::format("⟨bounds⟩ does nothing here: {} computes no bounds; the greedy methods (gslda, gspca) do",
                    selection.method));
  }
  if (loading.empty() && options.criterion != Criterion::kLargest) {
    selection.warnings.emplace_back(
        "⟨criterion⟩ does nothing here: without classes a set is judged by the largest eigenvalue of its covariance");
  }
  if (loading.empty() && !options.ridge.automatic()) {
    selection.warnings.emplace_back(
        "⟨ridge⟩ does nothing here: without classes there is no within-class covariance to add it to");
  }
  Index most = 0;
  for (const auto& entry : sets) most = std::max<Index>(most, entry.loadings.cols());
  if (!loading.empty() && most > 0 && options.components > most) {
    selection.warnings.push_back(
        fmt::format("⟨components {}⟩ is more than there are: no set here has more than {}",
                    options.components, counted(most, loading)));
  }
}

[[noreturn]] void refuse_composite(const MethodTraits& method) {
  throw InvalidArgument(
      {.field = "method",
       .value = std::string(method.name),
       .rule = "{value} compares methods by their errors on rows held out, and here none are",
       .way_out =
           "fit and evaluate hold out rows; here name one of the methods it compares, such as forward-lda"});
}

/// What a run in parts asks of a method.
void require_parts(const MethodTraits& method, const SelectOptions& options) {
  if (!method.by_columns && !method.proves) {
    std::vector<std::string> names;
    for (const auto& other : method_list()) {
      if (other.by_columns || other.proves) names.emplace_back(other.name);
    }
    throw InvalidArgument({.field = "part",
                           .rule = fmt::format(": method {} cannot be cut into parts", method.name),
                           .way_out = fmt::format("{} can, and evaluate can with any", join_some(names))});
  }
  if (method.variance && options.components > 1)
    throw InvalidArgument({.field = "components",
                           .value = fmt::to_string(options.components),
                           .rule = "{value}: every component is a search of its own, after the one before",
                           .way_out = "parts are of one search (⟨part I/N⟩)"});
}

/// A fraction is chosen by the error of a rule, which is measured where rows are held out.
void refuse_cross_validation(const Ridge& ridge) {
  if (!ridge.cross_validated) return;
  throw InvalidArgument(
      {.field = "ridge",
       .value = "cv",
       .rule = "{value} is chosen by the error of a rule on rows held out, and here there is none",
       .way_out = "fit and evaluate choose it; ⟨ridge rel:F⟩ says the fraction"});
}

/// The method; where it was stopped before it had a problem to work on, an answer without sets.
Selection run_stoppably(const Method& method, const Problem& problem, const RunControl& control,
                        const MethodRun& run) {
  struct WhileItRuns {
    WhileItRuns(const RowStatistics& of, const RunControl& by) : rows(of) { rows.stop_by(&by); }
    ~WhileItRuns() { rows.stop_by(nullptr); }
    WhileItRuns(const WhileItRuns&) = delete;
    WhileItRuns& operator=(const WhileItRuns&) = delete;
    const RowStatistics& rows;
  };
  const WhileItRuns asked(problem.rows(), control);
  try {
    return run ? run(problem, control) : MethodRegistry::run(method, problem, control);
  } catch (const linalg::Stopped&) {
    Selection nothing;
    record_of(nothing) = parse_json(method.options_json());
    nothing.status = control.status_or(Status::kInterrupted);
    return nothing;
  }
}

}  // namespace

void require_rows_of_some_class(const Dataset& data) {
  const auto counts = data.labels()->counts();
  if (std::any_of(counts.begin(), counts.end(), [](Index count) { return count > 1; })) return;
  refuse_table(
      data,
      BadInput(
          {.file = data.source()},
          fmt::format(
              "every class of '{}' has one row: it looks like a continuous value or like sample ids; name the label column with ⟨target⟩",
              data.labels()->name)),
      {.field = "y",
       .rule = "has one row of every class, as a continuous value or sample ids have",
       .way_out = "give class labels"});
}

Criterion resolved_criterion(Criterion asked, const Dataset& data) {
  if (asked != Criterion::kAuto) return asked;
  if (data.labels() == nullptr) return Criterion::kLargest;
  const auto counts = data.labels()->counts();
  const auto classes = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  return classes > 2 ? Criterion::kWilks : Criterion::kLargest;
}

Selection run_method(const RowStatistics& rows, const Method& of, const SelectOptions& as_given,
                     const RunControl& control, const MethodRun& run) {
  const auto start = std::chrono::steady_clock::now();
  as_given.validate();
  const Dataset& data = rows.data();
  const MatrixProblem* const matrices = rows.matrices();
  const MethodTraits& method = of.traits();
  if (method.composite) refuse_composite(method);
  if (method.variance && as_given.components > 1) require_no_state(of);  // every component is a search
  refuse_cross_validation(as_given.ridge);
  SelectOptions options = as_given;
  if (options.part_work != nullptr) require_parts(method, options);
  if (options.criterion == Criterion::kAuto)
    options.criterion = method.variance ? Criterion::kLargest : resolved_criterion(as_given.criterion, data);
  if (matrices != nullptr) {
    check_matrices(*matrices, method);
  }
  const bool by_labels =
      matrices == nullptr && (method.needs_labels || (data.labels() != nullptr && !method.variance));
  if (by_labels) check_labels(data, method);
  std::vector<std::string> warnings;  // of what is common to all methods; the method's own come after them
  std::vector<Index> candidates;
  const auto excluded = find_features(data, options.exclude, "exclude");
  const auto include = find_features(data, options.include, "include");
  std::vector<Index> both;
  std::set_intersection(excluded.begin(), excluded.end(), include.begin(), include.end(),
                        std::back_inserter(both));
  if (!both.empty()) {
    throw Infeasible(
        fmt::format("{} is both included and excluded; take it out of one list", data.names().some(both)));
  }
  std::vector<Index> constant;
  for (Index j = 0; j < data.features(); ++j) {
    if (std::binary_search(excluded.begin(), excluded.end(), j)) continue;
    (rows.constant()[static_cast<std::size_t>(j)] != 0 ? constant : candidates).push_back(j);
  }
  if (!constant.empty()) {
    warnings.push_back(constant.size() == 1
                           ? fmt::format("1 constant column carries nothing and is never chosen: {}",
                                         data.names().some(constant))
                           : fmt::format("{} constant columns carry nothing and are never chosen: {}",
                                         constant.size(), data.names().some(constant)));
  }
  const bool lda =
      matrices != nullptr ? matrices->b.has_value() : data.labels() != nullptr && !method.variance;
  // Without a ridge nothing stands against them: their objective is infinite, and that of every set with
  // them.
  std::vector<Index> separating;
  if (lda && !method.own_rule && (options.ridge.value == 0.0 || options.ridge.fraction == 0.0)) {
    separating = matrices != nullptr ? without_within_variance(*matrices->b, candidates)
                                     : without_within_variance(rows.class_moments(), candidates);
  }
  if (!separating.empty()) {
    std::erase_if(candidates,
                  [&](Index j) { return std::binary_search(separating.begin(), separating.end(), j); });
    const bool one = separating.size() == 1;
    warnings.push_back(fmt::format(
        "{} within any class and {} the classes perfectly (the objective is infinite), so that without a ridge no set holds {}: {}; ⟨ridge auto⟩ lets {} be chosen",
        one ? "1 column does not vary" : fmt::format("{} columns do not vary", separating.size()),
        one ? "separates" : "separate", one ? "it" : "them", data.names().some(separating),
        one ? "it" : "them"));
    for (const Index j : include) {
      if (!std::binary_search(separating.begin(), separating.end(), j)) continue;
      throw Infeasible(fmt::format(
          "⟨include⟩ names '{}', which does not vary within any class: without a ridge its objective is infinite; use ⟨ridge auto⟩, or leave it out",
          data.names()[j]));
    }
    if (candidates.empty()) {
      throw Infeasible(fmt::format(
          "no feature varies within a class ({}): without a ridge every objective is infinite; use ⟨ridge auto⟩",
          data.names().some(separating)));
    }
  }
  for (const Index j : include) {
    if (std::binary_search(constant.begin(), constant.end(), j)) {
      throw Infeasible(fmt::format("⟨include⟩ names '{}', which is constant; leave it out", data.names()[j]));
    }
  }
  if (candidates.empty() && !constant.empty() && matrices != nullptr) {
    throw BadInput(
        {.file = data.source()},
        fmt::format(
            "the diagonal of {} is 0 for every feature{}, and a feature without variance is never chosen; give a matrix with a positive diagonal",
            matrices->b ? "A and of B" : "the covariance matrix",
            excluded.empty() ? "" : " that is not excluded"));
  }
  if (candidates.empty()) {
    refuse_table(
        data,
        BadInput(
            {.file = data.source()},
            constant.empty()
                ? "every feature is excluded; take some out of ⟨exclude⟩"
                : "no feature varies over the rows, so there is nothing to choose from; give rows that differ, or exclude fewer columns"),
        constant.empty()
            ? InvalidArgument::Parts{.field = "exclude",
                                     .rule = "names every feature",
                                     .way_out = "take some out"}
            : InvalidArgument::Parts{
                  .field = "x",
                  .rule = "has no feature that varies over the rows, so that there is nothing to choose from",
                  .way_out = "give rows that differ, or exclude fewer columns"});
  }
  if (by_labels && options.certify) require_rows_of_some_class(data);  // a fold may have one of each
  std::shared_ptr<const FeatureGroups> groups = groups_of(options, data.names());
  if (!groups && data.details().categories) {
    if (method.takes_groups) {
      groups = data.details().categories;
    } else {
      warnings.push_back(
          fmt::format("method {} moves single features: those of one category ({}) are chosen one by one",
                      method.name, category_names(*data.details().categories)));
    }
  }
  if (groups && !method.takes_groups) {
    throw InvalidArgument({.field = "groups",
                           .value = options.groups,
                           .rule = fmt::format(": method {} moves single features", method.name),
                           .way_out = "the greedy methods take groups"});
  }
  SearchUnits units = make_units(candidates, include, groups.get());
  const char* const noun = units.single ? "feature" : "group";
  const char* const within = separating.empty() ? "" : " within a class";
  const Index available = units.count();
  const KRange asked =
      groups ? options.k.resolved(groups->size(), "group") : options.k.resolved(data.features());
  const auto forced = static_cast<Index>(units.include.size());
  if (asked.hi < forced) {
    throw Infeasible(fmt::format("{} included but k is at most {}; raise ⟨k⟩ or include fewer",
                                 counted(forced, noun) + (forced == 1 ? " is" : " are"), asked.hi));
  }
  const auto possible = asked.within(forced, available);
  if (!possible) {
    throw Infeasible(
        fmt::format("k = {} asks for more than the {} that {}{} and {} not excluded; ask for fewer with ⟨k⟩",
                    asked.within(forced, asked.hi)->lo, counted(available, noun),
                    available == 1 ? "varies" : "vary", within, available == 1 ? "is" : "are"));
  }
  const KRange& k = *possible;
  Status reachable = Status::kOptimal;
  if (asked.hi > available && !options.k.open_ended()) {
    warnings.push_back(
        k.hi == available
            ? fmt::format("k stops at {}: no more {}s vary{} and are not excluded", available, noun, within)
            : fmt::format("k stops at {}: no more than {} {}{} and {} not excluded", k.hi,
                          counted(available, noun), available == 1 ? "varies" : "vary", within,
                          available == 1 ? "is" : "are"));
    reachable = Status::kRankLimit;
  }
  RidgeAmount ridge;
  const bool columns_alone = runs_one_part(options) && method.by_columns;  // which need no ridge
  const bool ridge_waits = lda && (columns_alone || ridge_can_wait(rows, options, candidates));
  const auto note_ridge = [&](const std::vector<Index>& features) {
    const ResolvedRidge& resolved = rows.ridge(features, options.ridge);
    ridge = resolved.amount;
    if (!resolved.note.empty()) warnings.push_back(resolved.note);
  };
  if (lda && !ridge_waits && (options.ridge_needed || !method.own_rule)) note_ridge(candidates);
  const Problem problem({.rows = &rows,
                         .options = &options,
                         .lda = lda,
                         .ridge = ridge,
                         .open_ridge = ridge_waits,
                         .candidates = std::move(candidates),
                         .include = include,
                         .units = std::move(units),
                         .k = k});
  const double prepare_s = seconds_since(start);

  const auto search_start = std::chrono::steady_clock::now();
  Selection selection = run_stoppably(of, problem, control, run);
  if (runs_one_part(options)) return selection;  // what it found is kept, and more is made of all parts
  selection.method = method.name;
  selection.features = data.features();
  if (ridge_waits && problem.ridge_known()) note_ridge(problem.candidates());
  selection.ridge = ridge;
  selection.ridge_open = !problem.ridge_known();
  if (selection.criterion == Criterion::kAuto) selection.criterion = options.criterion;
  report_variances(rows, selection);
  selection.sizes = k;
  selection.prepare_s = prepare_s;
  if (!selection.own_rule() && selection.sets().empty() && !selection.ranking.empty())
    score_ranking(problem, selection);
  if (lda && options.certify && (options.ridge_needed || !selection.own_rule()) &&
      std::none_of(selection.sets().begin(), selection.sets().end(),
                   [](const PathEntry& entry) { return entry.upper_bound.has_value(); }))
    correct_values(problem, selection);
  if (!lda && options.components > 1)
    further_components(rows, of, options, control, run, problem.candidates(), selection);
  warn_of_ignored(options, lda ? "discriminant" : "", selection);
  selection.warnings.insert(selection.warnings.begin(), warnings.begin(), warnings.end());
  selection.status = worst(selection.status, reachable);
  // A certificate says that no set is better, to what it promises: the bound is the objective then.
  for (auto& entry : selection.sets()) {
    if (entry.certified()) entry.upper_bound = entry.objective;
  }
  selection.search_s = seconds_since(search_start);
  return selection;
}

RidgeAmount open_ridge(const RowStatistics& rows, const SelectOptions& options) {
  const auto excluded = find_features(rows.data(), options.exclude, "exclude");
  std::vector<Index> candidates;
  for (Index j = 0; j < rows.data().features(); ++j) {
    if (rows.constant()[static_cast<std::size_t>(j)] == 0 &&
        !std::binary_search(excluded.begin(), excluded.end(), j))
      candidates.push_back(j);
  }
  return rows.ridge(candidates, options.ridge).amount;
}

Selection refit_sets(const RowStatistics& rows, const std::vector<GivenSet>& sets,
                     const SelectOptions& as_given) {
  const auto start = std::chrono::steady_clock::now();
  as_given.validate();
  const Dataset& data = rows.data();
  refuse_cross_validation(as_given.ridge);
  SelectOptions options = as_given;
  options.criterion = resolved_criterion(as_given.criterion, data);
  const MatrixProblem* const matrices = rows.matrices();
  const bool lda = matrices != nullptr ? matrices->b.has_value() : data.labels() != nullptr;
  Selection selection;
  selection.method = "refit";
  selection.criterion = options.criterion;
  selection.status = Status::kHeuristic;
  std::vector<Index> candidates;
  for (Index j = 0; j < data.features(); ++j) {
    if (rows.constant()[static_cast<std::size_t>(j)] == 0) candidates.push_back(j);
  }
  if (lda) {
    const ResolvedRidge& resolved = rows.ridge(candidates, options.ridge);
    selection.ridge = resolved.amount;
    report_variances(rows, selection);
    if (!resolved.note.empty()) selection.warnings.push_back(resolved.note);
  }
  const auto pencil = lda ? rows.lda_pencil(selection.ridge, options.criterion) : rows.pca_pencil();
  selection.prepare_s = seconds_since(start);
  for (const auto& set : sets) {
    PathEntry entry;
    entry.features = find_features(data, set.names, "refit");
    if (set.loadings.size() > 0 && set.loadings.size() != static_cast<Index>(entry.features.size())) {
      throw BadInput({.file = data.source()},
                     "⟨refit⟩: a name stands for several columns, so that its loading is not clear");
    }
    if (set.loadings.size() > 0) {
      Vector given(set.loadings.size());
      for (std::size_t i = 0; i < set.names.size(); ++i) {
        const Index j = find_features(data, {set.names[i]}, "refit").front();
        const auto at =
            std::lower_bound(entry.features.begin(), entry.features.end(), j) - entry.features.begin();
        given[at] = set.loadings[static_cast<Index>(i)];
      }
      entry.given_objective = rayleigh_quotient(*pencil, entry.features, given, options.threads);
    }
    auto fitted =
        renormalize(*pencil, entry.features, options.criterion, options.components, options.threads);
    entry.objective = fitted.objective;
    entry.loadings = fitted.discriminants.vectors;
    selection.sets().push_back(std::move(entry));
  }
  warn_of_ignored(options, lda ? "discriminant" : "principal component", selection);
  selection.search_s = seconds_since(start) - selection.prepare_s;
  return selection;
}

Selection select_features(const Dataset& prepared, const Method& method, const SelectOptions& options,
                          const RunControl& control) {
  return run_method(RowStatistics(prepared, options.threads, options.memory_limit.bytes), method, options,
                    control);
}

Selection select_features(const MatrixProblem& problem, const Method& method, const SelectOptions& options,
                          const RunControl& control, const MethodRun& run) {
  const Dataset names = placeholder(problem);
  return run_method(RowStatistics(names, problem, options.threads), method, options, control, run);
}

void refuse_preparation(const PrepareOptions& options) {
  if (options.standardize)
    throw InvalidArgument({.field = "standardize",
                           .value = "true",
                           .rule = "is for tables",
                           .way_out = "matrices are used as they are: give correlations"});
  if (options.transform == Transform::kAsinh)
    throw InvalidArgument({.field = "transform",
                           .value = "asinh",
                           .rule = "{value} is for tables",
                           .way_out = "matrices are used as they are: make them of transformed columns"});
}

void to_table_units(const Preparation& preparation, Selection& selection) {
  if (preparation.scale.size() == 0) return;
  auto* const path = std::get_if<PenaltyPath>(&selection.answer);
  if (path == nullptr) return;
  for (auto& fit : path->fits) {
    for (std::size_t i = 0; i < fit.features.size(); ++i)
      fit.matrix.view().row(static_cast<Index>(i)) /= preparation.scale[fit.features[i]];
  }
}

Selection refit_sets(const Dataset& prepared, const std::vector<GivenSet>& sets,
                     const SelectOptions& options) {
  return refit_sets(RowStatistics(prepared, options.threads, options.memory_limit.bytes), sets, options);
}

Selection refit_sets(const MatrixProblem& problem, const std::vector<GivenSet>& sets,
                     const SelectOptions& options) {
  const Dataset names = placeholder(problem);
  return refit_sets(RowStatistics(names, problem, options.threads), sets, options);
}

Selection select(const Dataset& data, const Method& method, const SelectOptions& options,
                 const RunControl& control) {
  return select(data, method, options, control, nullptr);
}

Selection select(const Dataset& data, const Method& method, const SelectOptions& options,
                 const RunControl& control, const MethodRun& run) {
  method.validate();
  const Dataset checked = check_values(data, options.prepare, options.exclude, options.memory_limit.bytes);
  const std::uint64_t memory_limit = options.memory_limit.bytes;
  const Preparation preparation = Preparation::learn(checked, options.prepare, memory_limit);
  const Dataset prepared = preparation.changed_copy(checked, memory_limit);
  Selection found = run_method(RowStatistics(prepared, options.threads, options.memory_limit.bytes), method,
                               options, control, run);
  to_table_units(preparation, found);
  found.warnings = spelled(std::move(found.warnings), Spelling::kCpp);
  found.table = identity_of(data);
  return found;
}

std::shared_ptr<const FeatureGroups> groups_of(const SelectOptions& options, const FeatureNames& names) {
  if (options.feature_groups) return options.feature_groups;
  if (!options.feature_group_names.empty())
    return std::make_shared<const FeatureGroups>(groups_by_name(options.feature_group_names, names));
  if (options.groups.empty()) return nullptr;
  return std::make_shared<const FeatureGroups>(
      read_groups(options.groups, names, options.memory_limit.bytes));
}

void require_no_state(const Method& method) {
  if (!MethodRegistry::keeps_state(method)) return;
  throw InvalidArgument(
      "⟨checkpoint⟩ and ⟨resume⟩ hold the state of one search, but here there are several; use them with select, without ⟨components⟩");
}

std::string no_bounds_sentence(std::string_view command) {
  return fmt::format("⟨bounds⟩ does nothing here: {} shows no bounds; select does", command);
}

}  // namespace subspectra
