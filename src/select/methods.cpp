#include "select/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "data/moments.hpp"
#include "filters/filters.hpp"
#include "filters/surprise.hpp"
#include "io/read_groups.hpp"
#include "linalg/tiled.hpp"
#include "search/certificate.hpp"
#include "search/nested_path.hpp"
#include "select/component_methods.hpp"
#include "select/exact_methods.hpp"
#include "select/gp_methods.hpp"
#include "select/qalpha_methods.hpp"
#include "select/scoring_methods.hpp"
#include "select/search_methods.hpp"
#include "select/sparse_pca_methods.hpp"
#include "select/svm_methods.hpp"
#include "spectral/deflation.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/renormalize.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {
namespace {

/// A filter as a method: scores, and the ranking they give.
template <class Score>
auto filter_method(Score score) {
  return [score](const SelectionInput& input, const OptionTexts&, const RunControl& control,
                 Selection& selection) {
    selection.weights = score(input);
    selection.ranking = filters::ranking(selection.weights, input.candidates);
    selection.status = control.status_or(Status::kHeuristic);
  };
}

Moments diagonal_moments(const SelectionInput& input) {
  return compute_moments(input.data, Moments::SecondOrder::kDiagonal, input.options.threads);
}

/// -log10 P(TNoM <= s) of every feature's errors s, and how surprising the number of good ones is.
void run_max_surprise(const SelectionInput& input, const OptionTexts&, const RunControl& control,
                      Selection& selection) {
  const auto errors = filters::threshold_errors(input.data, input.options.threads);
  Index a = 0, b = 0;
  for (const Index count : input.data.labels()->counts()) {
    if (count > 0) (a == 0 ? a : b) = count;
  }
  const auto log_tails = filters::threshold_error_log_tails(a, b);
  selection.weights.resize(input.data.features());
  for (Index j = 0; j < selection.weights.size(); ++j) {
    selection.weights[j] =
        std::abs(log_tails[static_cast<std::size_t>(errors[static_cast<std::size_t>(j)])]) / std::log(10.0);
  }
  selection.ranking = filters::ranking(selection.weights, input.candidates);
  std::vector<Index> of_candidates;
  of_candidates.reserve(input.candidates.size());
  for (const Index j : input.candidates) of_candidates.push_back(errors[static_cast<std::size_t>(j)]);
  const auto surprise = filters::surprise_of(of_candidates, log_tails);
  selection.method_options = {{"surprise", surprise.score},
                              {"informative", surprise.informative},
                              {"informative_errors", surprise.errors}};
  selection.status = control.status_or(Status::kHeuristic);
}

/// Feature numbers of the names an option lists; a name that stands for several columns means all of them.
std::vector<Index> find_features(const Dataset& data, const std::vector<std::string>& names,
                                 std::string_view option) {
  std::vector<Index> features;
  const auto found_each = data.names().find_each(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto& found = found_each[i];
    if (found.empty()) {
      if (std::find(data.left_out().begin(), data.left_out().end(), name) != data.left_out().end()) continue;
      const auto near = data.names().near(name);
      throw BadInput(
          {.file = data.source()},
          fmt::format("{} names '{}', but no feature has that name{}; names are matched exactly", option,
                      name, near.empty() ? "" : fmt::format(" (did you mean {}?)", join_some(near))));
    }
    features.insert(features.end(), found.begin(), found.end());
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

bool is_constant(const Dataset& data, Index j) {
  if (!data.is_sparse()) {
    const auto column = data.dense().col(j);
    return (column.array() == column[0]).all();
  }
  const Index stored = data.sparse().col(j).nonZeros();
  double first = 0.0;
  bool started = stored < data.rows();  // an unstored entry is a zero
  for (SparseMatrix::InnerIterator it(data.sparse(), j); it; ++it) {
    if (!started) {
      first = it.value();
      started = true;
    } else if (it.value() != first) {
      return false;
    }
  }
  return true;
}

/// A feature without variance: nothing to measure, or nothing to measure it against.
bool is_constant(const MatrixProblem& problem, Index j) {
  return !((problem.b ? *problem.b : problem.a)(j, j) > 0.0);
}

void check_labels(const Dataset& data, const MethodInfo& method) {
  if (!data.labels()) {
    std::vector<std::string> candidates;
    for (Index j = std::max<Index>(0, data.features() - 8); j < data.features(); ++j)
      candidates.push_back(data.names()[j]);
    throw BadInput(
        {.file = data.source()},
        fmt::format(
            "method {} needs labels and no label column was found; name it with ⟨target⟩ (the last columns are {})",
            method.name, join_some(candidates)));
  }
  const auto& labels = *data.labels();
  const auto missing = std::count(labels.codes.begin(), labels.codes.end(), Labels::kMissing);
  if (missing > 0) {
    throw BadInput(
        data.first_unlabelled().value_or(Location{.file = data.source()}),
        fmt::format(
            "{} no label in '{}' and method {} needs one for every row; write the labels, or leave the rows out with ⟨missing drop⟩",
            missing == 1 ? "1 row has" : fmt::format("{} rows have", missing), labels.name, method.name));
  }
  const auto counts = labels.counts();
  const auto present = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  if (present < 2) {
    throw BadInput(
        {.file = data.source()},
        fmt::format(
            "'{}' holds one class only ('{}'); two or more are needed to tell apart: name the label column with ⟨target⟩",
            labels.name, labels.classes.empty() ? "" : labels.classes.front()));
  }
  if (method.two_classes_only && present != 2) {
    throw BadInput(
        {.file = data.source()},
        fmt::format("method {} is for two classes and '{}' has {}; pearson and fisher take any number",
                    method.name, labels.name, present));
  }
}

/// Nothing can be learned of a class from one row; when every class is such, the column was hardly meant.
void warn_of_single_rows(const Dataset& data, std::vector<std::string>& warnings) {
  const auto counts = data.labels()->counts();
  if (std::any_of(counts.begin(), counts.end(), [](Index count) { return count > 1; })) return;
  warnings.push_back(fmt::format(
      "every class of '{}' has one row: it looks like a continuous value or like sample ids; name the label column with ⟨target⟩",
      data.labels()->name));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<MethodInfo> filter_methods() {
  return {
      {.name = "pearson",
       .summary =
           "filter: correlation of the feature with the label (correlation ratio for more than two classes)",
       .options = {},
       .run = filter_method(
           [](const SelectionInput& input) { return filters::pearson(diagonal_moments(input)); })},
      {.name = "fisher",
       .summary = "filter: squared distance of the class means over the class variances",
       .options = {},
       .run = filter_method(
           [](const SelectionInput& input) { return filters::fisher(diagonal_moments(input)); })},
      {.name = "ks",
       .summary = "filter: Kolmogorov-Smirnov distance of the two class distributions",
       .two_classes_only = true,
       .options = {},
       .run = filter_method([](const SelectionInput& input) {
         return filters::kolmogorov_smirnov(input.data, input.options.threads);
       })},
      {.name = "snr",
       .summary = "filter: signal to noise, |mu1 - mu2|/(sigma1 + sigma2), for two classes",
       .two_classes_only = true,
       .options = {},
       .run = filter_method(
           [](const SelectionInput& input) { return filters::signal_to_noise(diagonal_moments(input)); })},
      {.name = "max-surprise",
       .summary =
           "filter: how unlikely so few errors of a threshold are under random labels, for two classes",
       .two_classes_only = true,
       .options = {},
       .run = run_max_surprise},
  };
}

Selection run_selection(const Dataset& data, const MatrixProblem* matrices, const MethodInfo& method,
                        const SelectionOptions& options, const OptionTexts& texts, const RunControl& control);

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

/// The sets of a ranking: nested, each scored on the pencil.
void score_ranking(const SelectionInput& input, Selection& selection) {
  std::vector<Index> order = input.units.include;
  const auto included = input.units.included();
  for (const Index j : selection.ranking) {
    const auto u =
        std::lower_bound(input.candidates.begin(), input.candidates.end(), j) - input.candidates.begin();
    if (included[static_cast<std::size_t>(u)] == 0) order.push_back(u);
  }
  const NestedPath path(input.pencil, input.units, order, input.k.hi,
                        {.criterion = input.options.criterion,
                         .components = input.options.components,
                         .pivot_floor = kDependentPivot,
                         .threads = input.options.threads,
                         .memory_limit = input.options.memory_limit.bytes});
  if (!path.dependent().empty()) {
    const auto features = input.units.features(path.dependent());
    selection.warnings.push_back(
        features.size() == 1
            ? fmt::format("1 feature depends linearly on better ones and was passed over: {}",
                          input.data.names().some(features))
            : fmt::format("{} features depend linearly on better ones and were passed over: {}",
                          features.size(), input.data.names().some(features)));
  }
  const Index reached = path.reached();
  if (reached < input.k.hi) {
    selection.status = worst(selection.status, Status::kRankLimit);
    selection.warnings.push_back(fmt::format(
        "no more than {} linearly independent {}; larger k were left out (a ridge, ⟨ridge⟩, makes them possible)",
        reached, reached == 1 ? "feature exists" : "features exist"));
  }
  for (Index k = input.k.lo; k <= reached; ++k) selection.path.push_back(path.entry(k));
}

/// Bounds by the trace and by nesting hold for covariances only; what printing rounds off is forgiven.
void require_covariance(const MatrixProblem& problem) {
  Matrix l = problem.a;
  l.diagonal().array() += kForgivenDip * l.diagonal().cwiseAbs().maxCoeff();
  if (linalg::cholesky_tiled(l, 0)) return;
  throw BadInput(
      {.file = problem.source},
      "is not positive semidefinite, so that it is no covariance; make one from complete rows (correlations that each come from other rows need not form one)");
}

/// The number added to the diagonal of B, and why, into the selection.
void set_ridge(const Dataset& data, const MatrixProblem* matrices, const std::vector<Index>& candidates,
               const SelectionOptions& options, Selection& selection) {
  auto ridge = matrices != nullptr ? resolve_ridge(*matrices->b, candidates, options.ridge)
                                   : resolve_ridge(data, candidates, options.ridge, options.threads,
                                                   options.memory_limit.bytes);
  selection.ridge = ridge.value;
  if (!ridge.note.empty()) selection.warnings.push_back(std::move(ridge.note));
}

/// What the sets are judged by.
std::unique_ptr<Pencil> make_pencil(const Dataset& data, const MatrixProblem* matrices, bool lda,
                                    double ridge, const SelectionOptions& options) {
  if (matrices != nullptr) {
    if (!matrices->b) {
      require_covariance(*matrices);
      return covariance_pencil(matrices->a);
    }
    // trace and wilks need the factor of A, whatever its rank.
    constexpr Index kUsualRank = 32;
    return matrix_pencil(matrices->a, *matrices->b, ridge,
                         options.criterion == Criterion::kLargest ? kUsualRank : matrices->a.rows());
  }
  return lda ? lda_pencil(data, ridge, options.threads) : pca_pencil(data, options.threads);
}

void check_matrices(const MatrixProblem& problem, const MethodInfo& method) {
  if (!method.takes_matrices) {
    std::vector<std::string> names;
    for (const auto& other : methods()) {
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
void further_components(const Dataset& data, const MatrixProblem* matrices, const MethodInfo& method,
                        const SelectionOptions& options, const OptionTexts& texts, const RunControl& control,
                        const std::vector<Index>& candidates, Selection& selection) {
  constexpr double kNothingLeft = 1e-13;  // of the first component's variance
  SelectionOptions one = options;
  one.components = 1;
  const std::vector<PathEntry>* before = &selection.path;
  std::optional<Dataset> table;
  std::optional<MatrixProblem> problem;
  const auto constant = [&](Index j) {
    if (!problem) return is_constant(*table, j);
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
          deflated(problem ? problem->a : matrices->a, last.features, last.loadings.col(0)), std::nullopt};
    } else {
      table = deflated(table ? *table : data, last.features, last.loadings.col(0));
    }
    exhausted = found >= rank || std::all_of(candidates.begin(), candidates.end(), constant);
    if (exhausted) break;
    try {
      next =
          run_selection(problem ? data : *table, problem ? &*problem : nullptr, method, one, texts, control);
      exhausted = !next.path.empty() &&
                  !(next.path.back().objective > kNothingLeft * selection.path.back().objective);
    } catch (const Infeasible&) {  // the components before left too few features that vary
      exhausted = true;
    }
    if (exhausted) break;
    selection.status = worst(selection.status, next.status);
    selection.components.push_back(std::move(next.path));
    before = &selection.components.back();
  }
  if (exhausted) {
    selection.warnings.push_back(
        fmt::format("⟨components {}⟩ is more than there are: {} found", options.components,
                    counted(found, "principal component") + (found == 1 ? " was" : " were")));
  }
}

/// What was asked for and could not be given. `loading` is what the columns of the loadings are, "" where
/// `components` counts something else.
void warn_of_ignored(const SelectionOptions& options, std::string_view loading, Selection& selection) {
  if (selection.path.empty()) return;
  if (options.bounds && options.certify &&
      std::none_of(selection.path.begin(), selection.path.end(),
                   [](const PathEntry& entry) { return entry.bounds.has_value(); })) {
    selection.warnings.push_back(
        fmt::format("⟨bounds⟩ does nothing here: {} computes no bounds; the greedy methods (gslda, gspca) do",
                    selection.method));
  }
  if (loading.empty() && options.criterion != Criterion::kLargest) {
    selection.warnings.emplace_back(
        "⟨criterion⟩ does nothing here: without classes a set is judged by the largest eigenvalue of its covariance");
  }
  if (loading.empty() && options.ridge.value) {
    selection.warnings.emplace_back(
        "⟨ridge⟩ does nothing here: without classes there is no within-class covariance to add it to");
  }
  Index most = 0;
  for (const auto& entry : selection.path) most = std::max<Index>(most, entry.loadings.cols());
  if (!loading.empty() && most > 0 && options.components > most) {
    selection.warnings.push_back(
        fmt::format("⟨components {}⟩ is more than there are: no set here has more than {}",
                    options.components, counted(most, loading)));
  }
}

Selection run_selection(const Dataset& data, const MatrixProblem* matrices, const MethodInfo& method,
                        const SelectionOptions& options, const OptionTexts& texts,
                        const RunControl& control) {
  const auto start = std::chrono::steady_clock::now();
  options.validate();
  if (matrices != nullptr) {
    check_matrices(*matrices, method);
  } else if (method.needs_labels || (data.labels() && !method.variance)) {
    check_labels(data, method);
  }
  Selection selection;
  selection.method = method.name;
  if (method.needs_labels && matrices == nullptr) warn_of_single_rows(data, selection.warnings);
  std::vector<Index> candidates;
  const auto excluded = find_features(data, options.exclude, "⟨exclude⟩");
  const auto include = find_features(data, options.include, "⟨include⟩");
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
    ((matrices != nullptr ? is_constant(*matrices, j) : is_constant(data, j)) ? constant : candidates)
        .push_back(j);
  }
  if (!constant.empty()) {
    selection.warnings.push_back(
        constant.size() == 1 ? fmt::format("1 constant column carries nothing and is never chosen: {}",
                                           data.names().some(constant))
                             : fmt::format("{} constant columns carry nothing and are never chosen: {}",
                                           constant.size(), data.names().some(constant)));
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
            matrices->b ? "B" : "the covariance matrix", excluded.empty() ? "" : " that is not excluded"));
  }
  if (candidates.empty()) {
    throw BadInput(
        {.file = data.source()},
        constant.empty()
            ? "every feature is excluded; take some out of ⟨exclude⟩"
            : "no feature varies over the rows, so there is nothing to choose from; give rows that differ, or exclude fewer columns");
  }
  std::shared_ptr<const FeatureGroups> groups = options.feature_groups;
  if (!groups && !options.groups.empty()) {
    groups = std::make_shared<const FeatureGroups>(read_groups(options.groups, data.names()));
  }
  if (groups && !method.takes_groups) {
    throw InvalidArgument({.field = "groups",
                           .value = options.groups,
                           .rule = fmt::format(": method {} moves single features", method.name),
                           .way_out = "the greedy methods take groups"});
  }
  SearchUnits units = make_units(candidates, include, groups.get());
  const char* const noun = units.single ? "feature" : "group";
  const Index available = units.count();
  KRange k = groups ? options.k.resolved(groups->size(), "group") : options.k.resolved(data.features());
  const auto forced = static_cast<Index>(units.include.size());
  if (k.hi < forced) {
    throw Infeasible(fmt::format("{} included but k is at most {}; raise ⟨k⟩ or include fewer",
                                 counted(forced, noun) + (forced == 1 ? " is" : " are"), k.hi));
  }
  if (k.lo > available) {
    throw Infeasible(fmt::format(
        "k = {} asks for more than the {} that {} and {} not excluded; ask for fewer with ⟨k⟩", k.lo,
        counted(available, noun), available == 1 ? "varies" : "vary", available == 1 ? "is" : "are"));
  }
  k.lo = std::max(k.lo, forced);
  Status reachable = Status::kOptimal;
  if (k.hi > available) {
    if (options.k.given()) {
      selection.warnings.push_back(
          fmt::format("k stops at {}: no more {}s vary and are not excluded", available, noun));
      reachable = Status::kRankLimit;
    }
    k.hi = available;
  }
  const bool lda =
      matrices != nullptr ? matrices->b.has_value() : data.labels() != nullptr && !method.variance;
  if (lda) set_ridge(data, matrices, candidates, options, selection);
  const auto pencil = make_pencil(data, matrices, lda, selection.ridge, options);
  const SelectionInput input{.data = data,
                             .options = options,
                             .pencil = *pencil,
                             .candidates = std::move(candidates),
                             .include = include,
                             .units = std::move(units),
                             .k = k};
  selection.sizes = {std::max(k.lo, std::min(k.hi, static_cast<Index>(input.units.include.size()))), k.hi};
  selection.prepare_s = seconds_since(start);

  const auto search_start = std::chrono::steady_clock::now();
  method.run(input, texts, control, selection);
  if (selection.path.empty() && !selection.ranking.empty()) score_ranking(input, selection);
  if (!lda && options.components > 1) {
    further_components(data, matrices, method, options, texts, control, input.candidates, selection);
  }
  warn_of_ignored(options, lda ? "discriminant" : "", selection);
  selection.status = worst(selection.status, reachable);
  selection.search_s = seconds_since(search_start);
  return selection;
}

Selection run_refit(const Dataset& data, const MatrixProblem* matrices, const std::vector<GivenSet>& sets,
                    const SelectionOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  options.validate();
  const bool lda = matrices != nullptr ? matrices->b.has_value() : data.labels() != nullptr;
  Selection selection;
  selection.method = "refit";
  selection.status = Status::kHeuristic;
  std::vector<Index> candidates;
  for (Index j = 0; j < data.features(); ++j) {
    if (!(matrices != nullptr ? is_constant(*matrices, j) : is_constant(data, j))) candidates.push_back(j);
  }
  if (lda) set_ridge(data, matrices, candidates, options, selection);
  const auto pencil = make_pencil(data, matrices, lda, selection.ridge, options);
  selection.prepare_s = seconds_since(start);
  for (const auto& set : sets) {
    PathEntry entry;
    entry.features = find_features(data, set.names, "⟨refit⟩");
    if (set.loadings.size() > 0 && set.loadings.size() != static_cast<Index>(entry.features.size())) {
      throw BadInput({.file = data.source()},
                     "⟨refit⟩: a name stands for several columns, so that its loading is not clear");
    }
    if (set.loadings.size() > 0) {
      Vector given(set.loadings.size());
      for (std::size_t i = 0; i < set.names.size(); ++i) {
        const Index j = find_features(data, {set.names[i]}, "⟨refit⟩").front();
        const auto at =
            std::lower_bound(entry.features.begin(), entry.features.end(), j) - entry.features.begin();
        given[at] = set.loadings[static_cast<Index>(i)];
      }
      entry.given_objective = rayleigh_quotient(*pencil, entry.features, given, options.threads);
    }
    auto fitted =
        renormalize(*pencil, entry.features, options.criterion, options.components, options.threads);
    entry.objective = fitted.objective;
    entry.loadings = std::move(fitted.discriminants.vectors);
    selection.path.push_back(std::move(entry));
  }
  warn_of_ignored(options, lda ? "discriminant" : "principal component", selection);
  selection.search_s = seconds_since(start) - selection.prepare_s;
  return selection;
}

}  // namespace

const std::vector<MethodInfo>& methods() {
  static const std::vector<MethodInfo> all = [] {
    std::vector<MethodInfo> list = search_methods();
    for (auto& method : exact_methods()) list.push_back(std::move(method));
    for (auto& method : scoring_methods()) list.push_back(std::move(method));
    for (auto& method : qalpha_methods()) list.push_back(std::move(method));
    const std::vector<MethodInfo> filters = filter_methods();
    list.insert(list.end(), filters.begin(), filters.end());
    for (auto& method : gp_methods()) list.push_back(std::move(method));
    for (auto& method : svm_methods()) list.push_back(std::move(method));
    for (auto& method : component_methods()) list.push_back(std::move(method));
    for (auto& method : sparse_pca_methods()) list.push_back(std::move(method));
    return list;
  }();
  return all;
}

const MethodInfo& find_method(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& method : methods()) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  const auto near = near_names(name, names);
  throw InvalidArgument({.field = "method",
                         .value = std::string(name),
                         .rule = "'{value}' does not exist",
                         .way_out = near.empty() ? fmt::format("there are {}", join_some(names, 100))
                                                 : fmt::format("did you mean {}?", join_some(near))});
}

std::string_view default_method(bool has_labels) { return has_labels ? "gslda" : "qalpha"; }

Selection select_features(const Dataset& data, const MethodInfo& method, const SelectionOptions& options,
                          const OptionTexts& texts, const RunControl& control) {
  return run_selection(data, nullptr, method, options, texts, control);
}

Selection select_features(const MatrixProblem& problem, const MethodInfo& method,
                          const SelectionOptions& options, const OptionTexts& texts,
                          const RunControl& control) {
  return run_selection(placeholder(problem), &problem, method, options, texts, control);
}

Selection refit_sets(const Dataset& data, const std::vector<GivenSet>& sets,
                     const SelectionOptions& options) {
  return run_refit(data, nullptr, sets, options);
}

Selection refit_sets(const MatrixProblem& problem, const std::vector<GivenSet>& sets,
                     const SelectionOptions& options) {
  return run_refit(placeholder(problem), &problem, sets, options);
}

Dataset placeholder(const MatrixProblem& problem) {
  DatasetParts data;
  data.source = problem.source;
  data.names = problem.names;
  data.dense.resize(0, problem.a.rows());
  return data;
}

}  // namespace subspectra
