#include "model/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <subspectra/searches.hpp>

#include "classify/classifier_kind.hpp"
#include "classify/registry.hpp"
#include "core/options.hpp"
#include "core/text.hpp"
#include "data/groups.hpp"
#include "evaluate/automatic.hpp"
#include "evaluate/choice_json.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

/// k as given, or the one-standard-error choice of a cross-validation over the range. Stopped before the
/// first fold ended there is nothing to choose by: the range is left as it is, and its largest size is taken.
ChosenSize choose_size(const Dataset& data, const Method& method, const SelectOptions& selection,
                       const PrepareOptions& prepare, const Classifier& classifier,
                       const RunControl& control) {
  const KRange asked = selection.k;
  if (asked.single()) return {.k = asked, .evaluation = {}};
  if (MethodRegistry::fixes_size(method)) return {.k = asked, .evaluation = {}};
  Evaluation evaluation = evaluate_methods(data, {method}, selection, prepare, classifier, {}, control);
  if (evaluation.rows.empty()) {
    if (evaluation.folds_run > 0) {
      throw Error("k could not be chosen: no size could be reached in every training set; give one with ⟨k⟩");
    }
    return {.k = asked, .evaluation = std::move(evaluation)};
  }
  // A model has to have a size, so that a cut-short cross-validation decides by what it has.
  EvaluationChoice choice = evaluation.chosen.empty() ? choose_k(evaluation.methods.front(), evaluation.rows)
                                                      : evaluation.chosen.front();
  const Index k = choice.k_one_standard_error;
  return {.k = {k, k}, .evaluation = std::move(evaluation), .choice = std::move(choice)};
}

bool can_be_trained_on(const Selection& found) {
  const FittedDiscriminants* const fitted = found.chosen_fit();
  return !found.sets().empty() || (fitted != nullptr && !fitted->features.empty());
}

/// A penalty that leaves no feature, where it was given or cross-validation chose it or the size, is an
/// answer too; of the size that was asked for alone there is none.
bool leaves_nothing(const Selection& found, bool size_was_chosen) {
  if (can_be_trained_on(found) || !std::holds_alternative<PenaltyPath>(found.answer) || found.fits().empty())
    return false;
  return found.size_fixed || size_was_chosen;
}

/// Without a feature every classifier knows the priors alone; this one says so.
Classifier priors_alone(const Classifier& classifier) {
  static_assert(Lda::kTraits.says_priors);
  Lda rule;
  set_options(rule, {{"prior", kind_of(classifier).options_json(classifier).at("prior").get<std::string>()}});
  return rule;
}

bool was_stopped(Status status) { return status == Status::kTimeLimit || status == Status::kInterrupted; }

/// Of a method that was stopped and has no set yet: one forward pass, which nothing stops. Its name and
/// options are what the model then has.
Selection forward_pass(const RowStatistics& rows, const Method& method, const SelectOptions& options,
                       Status stopped) {
  const Method forward = method.traits().variance ? Method(ForwardPca{}) : Method(ForwardLda{});
  SelectOptions adjusted = options;
  adjusted.certify = false;  // nobody waits for bounds now
  if (adjusted.ridge.cross_validated) adjusted.ridge = {};
  constexpr Index kFew = 10;  // nothing says how many
  if (method.traits().composite && !adjusted.k.given() && !adjusted.feature_groups)
    adjusted.k = std::min(kFew, rows.data().details().categories ? rows.data().details().categories->size()
                                                                 : rows.data().features());
  Selection found = run_method(rows, forward, adjusted, RunControl{});
  found.status = worst(found.status, stopped);
  found.warnings.push_back(fmt::format(
      "{} was stopped ({}) before it had a set of the size: the features are those of one forward pass ({}); give more time",
      method.name(), status_name(stopped), forward.name()));
  return found;
}

/// The set to train on.
Selection choose_features(const RowStatistics& rows, const Method& method, const SelectOptions& options,
                          const Judging& judging, const RunControl& control) {
  const MethodTraits& traits = method.traits();
  if (!traits.proves) {
    Selection found = run_judged(rows, method, options, judging, control);
    const Status stopped = control.status_or(found.status);
    if (can_be_trained_on(found) || !was_stopped(stopped)) return found;
    return forward_pass(rows, method, options, stopped);
  }
  if (!control.should_stop()) {
    Selection found = run_judged(rows, method, options, judging, control);
    if (!found.sets().empty() || !control.should_stop()) return found;
  }
  Selection found = run_judged(rows, MethodRegistry::changed(method, {{"node_limit", "1"}}), options, judging,
                               RunControl{});
  found.status = worst(found.status, control.status_or(found.status));
  return found;
}

/// What a composite method compared.
json chosen_by(const ComparisonReport& report, std::uint64_t seed) {
  json candidates = json::array();
  for (const auto& candidate : report.candidates) {
    json one = used_json(candidate.best);
    one.update({{"error", candidate.error},
                {"stderr", candidate.stderr_},
                {"features", candidate.features},
                {"compared", candidate.compared}});
    candidates.push_back(std::move(one));
  }
  return {{"rule", "auto"},
          {"used", used_json(report.used)},
          {"candidates", std::move(candidates)},
          {"repeats", report.repeats},
          {"rows", report.rows},
          {"seed", seed},
          {"folds_run", report.folds_run}};
}

/// The model's `chosen_by`.
json chosen_by(const ChosenSize& chosen, std::uint64_t seed) {
  if (!chosen.evaluation) return {{"rule", "given"}};
  json object = {{"rule", chosen.unjudged() ? "largest" : "one_standard_error"},
                 {"cv", OptionCodec<FoldCount>::json(chosen.evaluation->options.folds)},
                 {"repeats", chosen.evaluation->options.repeats},
                 {"seed", seed},
                 {"status", status_name(chosen.evaluation->status)},
                 {"folds_run", chosen.evaluation->folds_run}};
  if (chosen.unjudged()) return object;
  object.update(choice_json(chosen.choice, /*compact=*/true));
  object.erase("method");  // the model says it
  object.update({{"error", chosen.choice.error}, {"stderr", chosen.choice.stderr_}});
  return object;
}

std::string chosen_sentence(const ChosenSize& chosen, const Evaluation& evaluation, const Dataset& data) {
  const Index folds = evaluation.options.folds.folds;
  std::string sentence = fmt::format(
      "k = {} is the one-standard-error choice of {} (error {:.4f} ± {:.4f}; the smallest error is at k = {}); ⟨k N⟩ sets it yourself",
      chosen.k.lo,
      folds == 0 ? std::string("leave-one-out cross-validation")
                 : fmt::format("{}-fold cross-validation", folds),
      chosen.choice.error, chosen.choice.stderr_, chosen.choice.k_best);
  if (const std::string fewer = fitting_splits(data, {}).why; !fewer.empty()) sentence += "; " + fewer;
  if (evaluation.folds_run < evaluation.folds_planned) {
    sentence +=
        fmt::format("; only {} of {} folds were run ({}){}", evaluation.folds_run, evaluation.folds_planned,
                    status_name(evaluation.status), evaluation.chosen.empty() ? ", too few to go by" : "");
  }
  return sentence;
}

std::string unjudged_sentence(Index k, const Evaluation& evaluation) {
  return fmt::format(
      "stopped ({}) before the first fold of the cross-validation ended: k = {} is the largest size that could be taken, not a choice; give more time, or a size with ⟨k N⟩",
      status_name(evaluation.status), k);
}

}  // namespace

FitResult fit_features(const Dataset& data, const Method& method, const SelectOptions& selection,
                       const PrepareOptions& prepare, const Classifier& classifier,
                       const RunControl& control) {
  const MethodTraits& traits = method.traits();
  FitResult result;
  result.chosen = choose_size(data, method, selection, prepare, classifier, control);
  const ChosenSize& chosen = result.chosen;
  SelectOptions options = selection;
  options.k = chosen.k;
  options.bounds = false;  // nobody would see them
  if (traits.variance)
    options.components = 1;  // `components` then counts the discriminants of the rule alone
  const std::uint64_t memory_limit = options.memory_limit.bytes;
  const auto preparation = Preparation::learn(data, prepare, memory_limit);
  const Dataset prepared = preparation.changed_copy(data, memory_limit);
  const RowStatistics rows(prepared, options.threads, options.memory_limit.bytes);
  const Judging judging{.classifier = classifier, .transform = prepare.transform};
  result.selection = choose_features(rows, method, options, judging, control);
  Selection& found = result.selection;
  if (traits.variance && !found.sets().empty())  // it knows no labels, and so no ridge for the rule
    found.ridge = rows.ridge(found.sets().back().features, options.ridge).amount;
  const bool nothing =
      !was_stopped(found.status) && leaves_nothing(found, chosen.evaluation && !chosen.unjudged());
  FittedDiscriminants none;
  if (nothing) none.matrix = Matrix::Zero(0, found.fits().front().matrix.cols());
  const FittedDiscriminants* const fitted = nothing ? &none : found.chosen_fit();
  if (!can_be_trained_on(found) && !nothing)
    throw Error(found.size_fixed && !found.warnings.empty()
                    ? fmt::format("{} has nothing to fit: {}", traits.name, found.warnings.back())
                    : fmt::format("{} found no set of {}; give another size with ⟨k⟩", traits.name,
                                  counted(std::max<Index>(chosen.k.lo, 1),
                                          options.feature_groups ? "group" : "feature")));
  result.k = std::holds_alternative<Components>(found.answer) ? fitted->matrix.cols()
             : fitted != nullptr                              ? static_cast<Index>(fitted->features.size())
                                                              : found.sets().back().k();
  result.model =
      fitted != nullptr
          ? fit_model(data, preparation, found.method, *fitted,
                      nothing ? priors_alone(classifier) : classifier, selection.seed, control)
          : fit_model(data,
                      preparation_of(found, preparation, prepared, found.sets().back().features, judging),
                      found.method, found.sets().back().features, found.ridge,
                      classifier_of(found, classifier), selection.seed, control);
  result.status = chosen.evaluation ? worst(found.status, chosen.evaluation->status) : found.status;
  const std::string cut_short = result.model.rule->cut_short_sentence();
  if (!cut_short.empty()) result.status = worst(result.status, result.model.rule->status);
  auto& warnings = result.warnings;
  warnings = found.warnings;
  if (traits.variance) warn_of_components(data, selection.components, warnings);
  if (selection.bounds) warnings.push_back(no_bounds_sentence("fit"));
  if (!traits.proves && was_stopped(found.status) && found.method == traits.name) {
    warnings.push_back(fmt::format(
        "{} was stopped ({}): the features are those it {} until then; give more time", traits.name,
        status_name(found.status), traits.ranks_when_stopped ? "ranked highest" : "had found best"));
  }
  warn_of_few_rows(result.model.training_rows, classifier, warnings);
  if (nothing)
    warnings.emplace_back(
        "the model has no feature: for every row it predicts the prior probabilities of the classes");
  if (!cut_short.empty()) warnings.push_back(cut_short);
  if (chosen.unjudged()) warnings.push_back(unjudged_sentence(result.k, *chosen.evaluation));
  if (found.comparison) result.note = comparison_sentence(*found.comparison);
  if (chosen.evaluation && !chosen.unjudged())
    result.note = chosen_sentence(chosen, *chosen.evaluation, data);
  return result;
}

json model_json(const FitResult& fit, json options, const json& classifier_options, std::uint64_t seed) {
  json object = fit.model.to_json();
  object["status"] = status_name(fit.status);
  object["chosen_by"] =
      fit.selection.comparison ? chosen_by(*fit.selection.comparison, seed) : chosen_by(fit.chosen, seed);
  options.update(classifier_options);
  options.update(record_of(fit.selection));
  options["criterion"] = OptionCodec<Criterion>::json(fit.selection.criterion);
  options["ridge_asked"] = options["ridge"];
  options["ridge"] = OptionCodec<Ridge>::json(as_option(fit.selection.ridge));
  object["options"] = std::move(options);
  return object;
}

}  // namespace subspectra
