/// subspectra fit: choose features, train the classifier, save a model.
#include <fmt/format.h>

#include <algorithm>

#include "choice_text.hpp"
#include "classify/registry.hpp"
#include "command.hpp"
#include "core/text.hpp"
#include "job.hpp"
#include "model/fit.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace subspectra::cli {
namespace {

std::string model_text(const Job& job, const Dataset& data, const FitResult& fit) {
  const auto& evaluation = fit.chosen.evaluation;
  std::string text = evaluation ? cut_short_text(*evaluation) : std::string();
  text += fmt::format("{}\nmethod {}, k = {}, {}\nfeatures:", data_line(data), fit.model.method, fit.k,
                      fit.model.rule->description());
  for (const auto& name : fit.model.names) text += ' ' + printable(name);
  const FittedDiscriminants* const chosen = fit.selection.chosen_fit();
  if (chosen != nullptr && !std::holds_alternative<Components>(fit.selection.answer))
    text += fmt::format("\nlambda {:.4g}", chosen->lambda);
  if (!fit.selection.sets().empty())
    text += fmt::format("\nobjective {:.6g}", fit.selection.sets().back().objective);
  text += fmt::format("\nmodel written to {}\n", printable(job.output.o));
  return evaluation ? text + choice_text(fit.chosen.choice, data.labels()->classes) : text;
}

int run_fit(const Arguments& arguments, Signals& signals) {
  Job job(arguments);
  if (job.output.o.empty()) throw InvalidArgument("fit needs -o FILE, the model to write (- for stdout)");
  MethodOptions asked;
  set_options(asked, job.texts);
  require_method_name(job.texts, !asked.method.empty());
  if (!asked.method.empty()) job.check_options({&MethodRegistry::find(asked.method)});
  const KRange& k_asked = job.selection.k;
  job.check_exact_search(!k_asked.single());
  const Dataset data = job.load(arguments.operands.front());
  const MethodEntry& method = job.choose_judged_method(data);
  job.check_options({&method});
  require_class_labels(data, "fit");

  signals.begin_work();
  ProgressLine progress(job.output.progress, job.output.quiet);
  const RunControl control(signals.token(), job.run.time_limit, progress.sink(), progress.interval_s());
  const FitResult fit =
      fit_features(data, job.method(method), job.selection, job.prepare, job.classifier, control);
  progress.erase();
  nlohmann::json object = model_json(fit, job.used_options({fit.k, fit.k}),
                                     classifier_options_json(job.texts), job.selection.seed);
  object["warnings"] = nlohmann::json::array();
  for (const auto* list : {&data.warnings(), &fit.warnings}) {
    for (const auto& warning : *list) object["warnings"].push_back(in_flags(warning));
  }
  job.warn(data.warnings(), fit.warnings);
  if (!fit.note.empty() && !job.output.quiet) say("note", fit.note);
  const std::string text = json_text(object);
  write_result(job.output.o, text, signals.token());
  if (job.output.o != "-") write_stdout(job.output.json ? text : model_text(job, data, fit));
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
                      selection_group(judged_method_option()),
                      method_group(classifier_options()),
                      {.title = "Classifier", .options = classifier_options()},
                      {.title = "Output", .options = output}},
           .notes =
               {"How many features: with a single -k N, N. With a range or without -k, 5-fold cross-validation (with --seed) picks the smallest k whose error is within one standard error of the best; stderr and the model's `chosen_by` say so, and what `evaluate` ends with is printed. Stopped by --time-limit before a fold has ended, it takes the largest k and warns."}},
      .run = run_fit};
}

}  // namespace subspectra::cli
