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
#include "page_output.hpp"
#include "progress.hpp"
#include "report/json.hpp"
#include "report/page_facts.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

std::string model_text(const Job& job, const Dataset& data, const FitResult& fit) {
  const auto& evaluation = fit.chosen.evaluation;
  std::string text = (evaluation ? cut_short_text(*evaluation) : std::string()) + data_line(data) + '\n';
  text += prose(fmt::format("method {}, k = {}, {}", fit.model.method, fit.k, fit.model.rule->description()));
  constexpr std::string_view kFeatures = "features: ";
  constexpr std::size_t kMostLines = 12;
  std::string margin(kFeatures);
  for (const auto& line :
       listed_within(fit.model.names, stdout_terminal().width - kFeatures.size(), kMostLines)) {
    text += margin + line + '\n';
    margin.assign(kFeatures.size(), ' ');
  }
  const FittedDiscriminants* const chosen = fit.selection.chosen_fit();
  if (chosen != nullptr && !std::holds_alternative<Components>(fit.selection.answer))
    text += fmt::format("lambda {:.4g}\n", chosen->lambda);
  if (!fit.selection.sets().empty())
    text += fmt::format("objective {:.6g}\n", fit.selection.sets().back().objective);
  text += fmt::format("model written to {}\n", printable(job.output.o));
  return evaluation ? text + choice_text(fit.chosen.choice, data.labels()->classes) : text;
}

/// `k` is the size that was taken, `k_asked` what was asked for.
nlohmann::json fit_options(const Job& job, const FitResult& fit) {
  nlohmann::json used = job.used_options({fit.k, fit.k});
  used["k_asked"] = OptionCodec<KRange>::json(job.selection.k);
  return used;
}

/// The model with what it was chosen by: the sets of its method, and the errors that decided its size.
std::vector<PageResult> page_results(const Job& job, const Dataset& data, const FitResult& fit,
                                     const nlohmann::json& model, const PageOutput& page) {
  std::vector<PageResult> results;
  ResultContext context{.options = fit_options(job, fit), .spelling = Spelling::kCommandLine};
  context.options.update(classifier_options_json(job.texts));
  if (!fit.selection.method.empty()) {
    nlohmann::json selection = selection_json(fit.selection, data, context);
    SelectOptions as_used = job.selection;
    as_used.criterion = fit.selection.criterion;
    as_used.ridge = as_option(fit.selection.ridge);
    nlohmann::json facts = page_facts(selection, data, as_used, page.shape());
    results.push_back(
        {.name = "selection.json", .command = {}, .result = std::move(selection), .facts = std::move(facts)});
  }
  if (fit.chosen.evaluation)
    results.push_back({.name = "evaluation.json",
                       .command = {},
                       .result = evaluation_json(*fit.chosen.evaluation, data, context)});
  nlohmann::json own = model;
  own["data"] = data_json(data);
  results.push_back({.name = "model.json", .command = {}, .result = std::move(own)});
  return results;
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
  const PageOutput page = page_output(job.texts);
  const Dataset data = job.load(arguments.operands.front());
  page.check_shape(data.features());
  const MethodEntry& method = job.choose_judged_method(data);
  job.check_options({&method});
  require_class_labels(data, "fit");

  signals.begin_work();
  ProgressLine progress(job.output.progress, job.output.quiet);
  const RunControl control(signals.token(), job.run.time_limit, progress.sink(), progress.interval_s());
  const FitResult fit =
      fit_features(data, job.method(method), job.selection, job.prepare, job.classifier, control);
  progress.erase();
  nlohmann::json object =
      model_json(fit, fit_options(job, fit), classifier_options_json(job.texts), job.selection.seed);
  object["warnings"] = nlohmann::json::array();
  for (const auto* list : {&data.warnings(), &fit.warnings}) {
    for (const auto& warning : *list) object["warnings"].push_back(in_flags(warning));
  }
  job.warn(data.warnings(), fit.warnings);
  if (!fit.note.empty() && !job.output.quiet) say("note", fit.note);
  const std::string text = json_text(object);
  write_result(job.output.o, text, signals.token());
  if (page.wanted()) page.write(page_results(job, data, fit, object, page), signals.token());
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
                         .says = "on at most thirty, chosen with the method inside the training rows"},
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
                      {.title = "Output", .options = output + page_options()}},
           .notes =
               {"Without --method several are compared, with their sizes (-k: those alone), ridges and penalties, by folds inside the rows: stderr says which was taken and what it was better than, the model's `chosen_by` has all of them.",
                "How many features with --method NAME: with a single -k N, N. With a range or without -k, 5-fold cross-validation (with --seed) picks the smallest k whose error is within one standard error of the best; stderr and the model's `chosen_by` say so, and what `evaluate` ends with is printed. Stopped by --time-limit before a fold has ended, it takes the largest k and warns."},
           .hidden = {},
           .main_options = {{.name = "o", .says = "the model file (needed); - writes it to stdout"},
                            {.name = "method", .says = "`subspectra methods` lists them"},
                            {.name = "k", .says = "how many; of several cross-validation takes one"},
                            {.name = "target", .says = "the label column"},
                            {.name = "include", .says = "always chosen: names, patterns (gene_*) or @FILE"},
                            {.name = "exclude", .says = "never chosen: names, patterns (gene_*) or @FILE"},
                            {.name = "missing", .says = "missing values"},
                            {.name = "standardize", .says = "columns scaled to unit variance first"},
                            {.name = "classifier", .says = "what is trained on the chosen features"},
                            {.name = "prior", .says = "class probabilities: as in the rows, or equal"},
                            {.name = "seed"},
                            {.name = "time_limit", .says = "stop after so long, with what has been found"},
                            {.name = "json", .says = "the model as JSON on stdout, too"}},
           .brief = "choose features, train a classifier, save a model"},
      .run = run_fit};
}

}  // namespace subspectra::cli
