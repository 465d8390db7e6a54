/// subspectra fit: choose features, train the classifier, save a model.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "classify/registry.hpp"
#include "command.hpp"
#include "core/text.hpp"
#include "evaluate/cross_validation.hpp"
#include "job.hpp"
#include "model/model.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spectral/ridge.hpp"

namespace subspectra::cli {
namespace {

using nlohmann::json;

struct ChosenSize {
  KRange k;                              ///< the one size; the whole range if stopped before any was judged
  std::optional<Evaluation> evaluation;  ///< that chose k; nothing when k was given
  [[nodiscard]] bool unjudged() const { return evaluation && evaluation->rows.empty(); }
};

/// k as given, or the one-standard-error choice of a cross-validation over the range. Stopped before the
/// first fold ended there is nothing to choose by: the range is left as it is, and its largest size is taken.
ChosenSize choose_size(const Job& job, const Dataset& data, const MethodInfo& method,
                       const RunControl& control) {
  const KRange asked = job.selection.k;
  if (asked.given() && asked.lo == asked.hi) return {.k = asked, .evaluation = {}};
  if (method.fixes_size && method.fixes_size(job.texts)) return {.k = asked, .evaluation = {}};
  Evaluation evaluation =
      evaluate_methods(data, {&method}, job.selection, job.texts, job.prepare, job.classifier, {}, control);
  if (evaluation.rows.empty()) {
    if (evaluation.folds_run > 0) {
      throw Error("k could not be chosen: no size could be reached in every training set; give one with -k");
    }
    return {.k = asked, .evaluation = std::move(evaluation)};
  }
  const Index k = evaluation.chosen.front().k_one_standard_error;
  return {.k = {k, k}, .evaluation = std::move(evaluation)};
}

/// Stopped before its end, the method still ranks every feature by what it has found.
bool ranks_when_stopped(const MethodInfo& method) {
  return method.name == "gp-ard" || method.name == "svm-rfe" || method.name == "svm-rmb";
}

/// The set to train on. A limit or a signal ends the choice of k, an exact search with the best set it has,
/// and a machine or process with the ranking it has; what a model needs at least, the passes of a greedy
/// search, is run in any case.
Selection choose_features(const Job& job, const Dataset& prepared, const MethodInfo& method,
                          const SelectionOptions& options, const RunControl& control) {
  if (ranks_when_stopped(method)) return select_features(prepared, method, options, job.texts, control);
  if (!method.proves) return select_features(prepared, method, options, job.texts, RunControl{});
  if (!control.should_stop()) {
    Selection found = select_features(prepared, method, options, job.texts, control);
    if (!found.path.empty() || !control.should_stop()) return found;
  }
  OptionTexts start_alone = job.texts;
  start_alone["node_limit"] = "1";
  Selection found = select_features(prepared, method, options, start_alone, RunControl{});
  found.status = worst(found.status, control.status_or(found.status));
  return found;
}

const EvaluationRow& row_at(const Evaluation& evaluation, Index k) {
  return *std::find_if(evaluation.rows.begin(), evaluation.rows.end(),
                       [&](const EvaluationRow& row) { return row.k == k; });
}

/// The model's `chosen_by`.
json chosen_by(const ChosenSize& chosen, std::uint64_t seed) {
  if (!chosen.evaluation) return {{"rule", "given"}};
  json object = {{"rule", chosen.unjudged() ? "largest" : "one_standard_error"},
                 {"cv", OptionCodec<FoldCount>::json(chosen.evaluation->options.cv)},
                 {"repeats", chosen.evaluation->options.repeats},
                 {"seed", seed},
                 {"status", status_name(chosen.evaluation->status)},
                 {"folds_run", chosen.evaluation->folds_run}};
  if (chosen.unjudged()) return object;
  const auto& choice = chosen.evaluation->chosen.front();
  const auto& row = row_at(*chosen.evaluation, chosen.k.lo);
  object.update({{"k_best", choice.k_best},
                 {"k_one_standard_error", choice.k_one_standard_error},
                 {"error", row.error},
                 {"stderr", row.stderr_}});
  return object;
}

std::string chosen_sentence(const ChosenSize& chosen, const Evaluation& evaluation) {
  const auto& row = row_at(evaluation, chosen.k.lo);
  std::string sentence = fmt::format(
      "k = {} is the one-standard-error choice of {}-fold cross-validation (error {:.4f} ± {:.4f}; the smallest error is at k = {}); -k N sets it yourself",
      chosen.k.lo, evaluation.options.cv.folds, row.error, row.stderr_, evaluation.chosen.front().k_best);
  if (evaluation.folds_run < evaluation.folds_planned) {
    sentence += fmt::format("; only {} of {} folds were run ({})", evaluation.folds_run,
                            evaluation.folds_planned, status_name(evaluation.status));
  }
  return sentence;
}

std::string unjudged_sentence(Index k, const Evaluation& evaluation) {
  return fmt::format(
      "stopped ({}) before the first fold of the cross-validation ended: k = {} is the largest size that could be taken, not a choice; give more time, or a size with -k N",
      status_name(evaluation.status), k);
}

std::string model_text(const Job& job, const Dataset& data, const Model& model, const Selection& selection,
                       Index k) {
  std::string text = fmt::format("{}\nmethod {}, k = {}, {}\nfeatures:", data_line(data), model.method, k,
                                 model.rule->description());
  for (const auto& name : model.names) text += ' ' + name;
  if (selection.chosen_record && !selection.by_columns)
    text += fmt::format("\nlambda {:.4g}", selection.lambda_path[*selection.chosen_record].lambda);
  if (!selection.path.empty()) text += fmt::format("\nobjective {:.6g}", selection.path.back().objective);
  return text + fmt::format("\nmodel written to {}\n", job.output.o);
}

int run_fit(const Arguments& arguments, Signals& signals) {
  Job job(arguments);
  if (job.output.o.empty()) throw InvalidArgument("fit needs -o FILE, the model to write (- for stdout)");
  MethodOptions asked;
  set_options(asked, job.texts);
  require_method_name(job.texts, !asked.method.empty());
  if (!asked.method.empty()) job.check_options({&find_method(asked.method)});
  const KRange& k_asked = job.selection.k;
  job.check_exact_search(!k_asked.given() || k_asked.lo != k_asked.hi);
  const Dataset data = job.load(arguments.operands.front());
  const MethodInfo& method = job.choose_method(data);
  job.check_options({&method});
  require_labels(data, "fit");

  signals.begin_work();
  ProgressLine progress(job.output.progress, job.output.quiet);
  const RunControl control(signals.token(), job.run.time_limit, progress.sink(), progress.interval_s());
  const ChosenSize chosen = choose_size(job, data, method, control);
  SelectionOptions options = job.selection;
  options.k = chosen.k;
  options.bounds = false;  // nobody would see them
  if (method.variance)
    options.components = 1;  // --components then counts the discriminants of the rule alone
  const auto preparation = Preparation::learn(data, job.prepare);
  const Dataset prepared = preparation.apply(data);
  Selection selection = choose_features(job, prepared, method, options, control);
  progress.erase();
  if (method.variance && !selection.path.empty()) {  // it knows no labels, and so no ridge for the rule
    selection.ridge =
        resolve_ridge(prepared, selection.path.back().features, options.ridge, options.threads).value;
  }
  const FittedDiscriminants* const fitted =
      selection.chosen_record ? &selection.lambda_path[*selection.chosen_record] : nullptr;
  if (selection.path.empty() && (fitted == nullptr || fitted->features.empty()))
    throw Error(selection.size_fixed && !selection.warnings.empty()
                    ? fmt::format("{} has nothing to fit: {}", method.name, selection.warnings.back())
                    : fmt::format("{} found no set of {}; give another size with -k", method.name,
                                  counted(std::max<Index>(chosen.k.lo, 1),
                                          options.feature_groups ? "group" : "feature")));
  const Index k = selection.by_columns ? fitted->matrix.cols()
                  : fitted != nullptr  ? static_cast<Index>(fitted->features.size())
                                       : selection.path.back().k();
  const Model model = fitted != nullptr ? fit_model(data, preparation, std::string(method.name), *fitted,
                                                    job.classifier, job.selection.seed, control)
                                        : fit_model(data, preparation, std::string(method.name),
                                                    selection.path.back().features, selection.ridge,
                                                    job.classifier, job.selection.seed, control);
  progress.erase();
  Status status = chosen.evaluation ? worst(selection.status, chosen.evaluation->status) : selection.status;
  const std::string cut_short = model.rule->cut_short_sentence();
  if (!cut_short.empty()) status = worst(status, model.rule->status);
  json object = model.to_json();
  object["status"] = status_name(status);
  object["chosen_by"] = chosen_by(chosen, job.selection.seed);
  object["options"] = job.used_options({k, k});
  object["options"].update(classifier_options_json(job.texts));
  object["options"].update(selection.method_options);
  object["options"]["ridge_asked"] = object["options"]["ridge"];
  object["options"]["ridge"] = selection.ridge;
  auto warnings = selection.warnings;
  if (method.variance) warn_of_components(data, job.selection.components, warnings);
  if (job.selection.bounds) warnings.emplace_back(no_bounds_sentence("fit"));
  if (ranks_when_stopped(method) &&
      (selection.status == Status::kTimeLimit || selection.status == Status::kInterrupted)) {
    warnings.push_back(fmt::format(
        "{} was stopped ({}): the features are those it ranked highest until then; give more time",
        method.name, status_name(selection.status)));
  }
  warn_of_few_rows(model.training_rows, job.classifier, warnings);
  if (!cut_short.empty()) warnings.push_back(cut_short);
  if (chosen.unjudged()) warnings.push_back(unjudged_sentence(k, *chosen.evaluation));
  object["warnings"] = json::array();
  for (const auto* list : {&data.warnings(), &std::as_const(warnings)}) {
    for (const auto& warning : *list) object["warnings"].push_back(in_flags(warning));
  }
  job.warn(data.warnings(), warnings);
  if (chosen.evaluation && !chosen.unjudged() && !job.output.quiet)
    say("note", chosen_sentence(chosen, *chosen.evaluation));
  const std::string text = json_text(object);
  write_result(job.output.o, text);
  if (job.output.o != "-") write_stdout(job.output.json ? text : model_text(job, data, model, selection, k));
  return signals.exit_code();
}

}  // namespace

Command fit_command() {
  const auto output =
      reworded(output_options(),
               {{.name = "json", .hint = "", .help = "the model as JSON on stdout, too"},
                {.name = "o", .hint = "FILE", .help = "the model file (needed); - writes it to stdout"}});
  return {
      .page =
          {.name = "fit",
           .usage = "fit DATA -o MODEL.json [OPTIONS]",
           .purpose = "Choose features, train the classifier on them and save a model for `predict`.",
           .examples = {{.command = "subspectra fit sonar -k 10 -o model.json", .says = "on ten features"},
                        {.command = "subspectra fit sonar -k 1:30 -o model.json",
                         .says = "on as few as cross-validation finds no worse than the best"},
                        {.command = "subspectra fit sonar -k 10 --classifier svm -o model.json",
                         .says = "a linear support vector machine, C by cross-validation"},
                        {.command =
                             "subspectra fit sonar -k 10 --classifier svm --svm-kernel rbf -o model.json",
                         .says = "the same with a Gaussian kernel"},
                        {.command = "subspectra fit sonar --prior uniform --standardize -k 5 -o model.json",
                         .says = "equal class priors, columns scaled to unit variance"}},
           .operands = {data_operand()},
           .groups = {data_group(),
                      selection_group(method_option()),
                      method_group(classifier_options()),
                      {.title = "Classifier", .options = classifier_options()},
                      {.title = "Output", .options = output}},
           .notes =
               {"How many features: with a single -k N, N. With a range or without -k, 5-fold cross-validation (with --seed) picks the smallest k whose error is within one standard error of the best; stderr and the model's `chosen_by` say so. Stopped by --time-limit before a fold has ended, it takes the largest k and warns."}},
      .run = run_fit};
}

}  // namespace subspectra::cli
