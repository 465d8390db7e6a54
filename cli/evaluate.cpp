/// subspectra evaluate: cross-validated error against the number of features, for one or several methods.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "choice_text.hpp"
#include "classify/registry.hpp"
#include "command.hpp"
#include "core/text.hpp"
#include "evaluate/automatic.hpp"
#include "evaluate_options.hpp"
#include "io/file_ending.hpp"
#include "job.hpp"
#include "output.hpp"
#include "page_output.hpp"
#include "part.hpp"
#include "progress.hpp"
#include "report/details.hpp"
#include "report/json.hpp"
#include "report/page_facts.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

/// "0.81"; never "-0.00".
std::string two_decimals(double value) {
  return fmt::format("{:.2f}", std::abs(value) < 0.005 ? 0.0 : value);
}

std::string stability_text(const EvaluationRow& row) {
  return row.stability ? two_decimals(*row.stability) : "-";
}

/// "0.82 to 0.98"
std::string interval_text(const EvaluationRow& row) {
  if (!row.stability_interval) return "";
  return fmt::format("{} to {}", two_decimals(row.stability_interval->first),
                     two_decimals(row.stability_interval->second));
}

/// The errors of one method by size; `choice` is empty where too few folds ran to name one best.
std::string method_text(const Evaluation& evaluation, const std::string& method,
                        const EvaluationChoice* choice) {
  std::vector<const EvaluationRow*> rows;
  std::vector<Index> all;
  for (const auto& row : evaluation.rows) {
    if (row.method != method) continue;
    rows.push_back(&row);
    // A penalty may leave nothing at a size: the same row, time and again.
    const bool empty = row.k > 0 && row.features < 0.05;
    const bool named =
        choice != nullptr && (row.k == choice->k_best || row.k == choice->k_one_standard_error);
    if (!empty || named) all.push_back(row.k);
  }
  if (rows.empty()) return fmt::format("\n{}: no k could be reached in every training set\n", method);
  if (all.empty()) all.push_back(rows.front()->k);
  const auto at = [&](Index k) {
    return *std::find_if(rows.begin(), rows.end(), [&](const EvaluationRow* row) { return row->k == k; });
  };
  const auto shown =
      shown_steps(all, choice == nullptr ? std::set<Index>()
                                         : std::set<Index>{choice->k_best, choice->k_one_standard_error});
  const bool with_null = std::any_of(rows.begin(), rows.end(),
                                     [](const EvaluationRow* row) { return row->null_error.has_value(); });
  // Where a penalty decides, k is only the most there may be.
  const bool penalized = std::any_of(rows.begin(), rows.end(), [](const EvaluationRow* row) {
    return row->lambda.has_value() || std::abs(row->features - static_cast<double>(row->k)) > 1e-9;
  });
  const bool intervals = std::any_of(
      rows.begin(), rows.end(), [](const EvaluationRow* row) { return row->stability_interval.has_value(); });
  // On a narrow terminal the first to go is the largest number.
  std::vector<Column> columns = {{.title = "k"},
                                 {.title = "error ± s.e."},
                                 {.title = "balanced ± s.e.", .left_out = 2, .says = "balanced"},
                                 {.title = "apparent", .left_out = 1},
                                 {.title = "log-loss ± s.e.", .left_out = 4, .says = "log-loss"},
                                 {.title = "bits", .left_out = 5}};
  if (penalized) {
    columns.insert(columns.begin() + 1,
                   {{.title = "lambda"}, {.title = "features"}, {.title = "entries", .left_out = 3}});
  }
  if (with_null) columns.push_back({.title = "null"});
  columns.push_back({.title = "stability"});
  if (intervals)
    columns.push_back(
        {.title = "95 %", .align = Align::kLeft, .left_out = 6, .says = "the interval of stability"});
  columns.push_back({.title = "", .align = Align::kLeft});
  Table table(columns);
  for (const EvaluationRow* row : rows) {
    if (!shown.contains(row->k)) continue;
    std::vector<std::string> cells = {row->k > 0 ? std::to_string(row->k) : "-",
                                      with_error(row->error, row->stderr_),
                                      with_error(row->balanced_error, row->balanced_stderr),
                                      fmt::format("{:.4f}", row->apparent_error),
                                      with_error(row->log_loss, row->log_loss_stderr),
                                      fmt::format("{:.3f}", row->information_bits)};
    if (penalized) {
      cells.insert(cells.begin() + 1,
                   {row->lambda ? fmt::format("{:.3g}", *row->lambda) : "-",
                    fmt::format("{:.1f}", row->features), fmt::format("{:.1f}", row->entries)});
    }
    if (with_null) cells.push_back(row->null_error ? fmt::format("{:.4f}", *row->null_error) : "-");
    cells.push_back(stability_text(*row));
    if (intervals) cells.push_back(interval_text(*row));
    std::string mark = choice != nullptr && row->k == choice->k_best ? "best" : "";
    if (choice != nullptr && row->k == choice->k_one_standard_error)
      mark += mark.empty() ? "1 s.e." : ", 1 s.e.";
    cells.push_back(mark.empty() ? "" : "<- " + mark);
    table.add(std::move(cells), mark.empty() ? Style::kPlain : Style::kMarked);
  }
  std::string text = fmt::format("\n{}\n{}", method, table.text("  "));
  if (all.size() < rows.size())
    text += fmt::format("  (k at which no feature is left: {}; --json has them)\n", rows.size() - all.size());
  if (shown.size() < all.size()) {
    text += fmt::format("  ({} of {} values of k are shown; --json has all)\n", shown.size(), all.size());
  }
  if (choice == nullptr) return text;
  const EvaluationRow& best = *at(choice->k_best);
  const EvaluationRow& sparse = *at(choice->k_one_standard_error);
  if (best.k == 0) {
    text += prose(
        fmt::format("{}: error {:.4f} with {:.1f} features; optimism {:.4f} (error less apparent error)",
                    method, best.error, best.features, best.error - best.apparent_error));
    if (choice->used)
      text += prose(fmt::format("{} takes on all rows: {}", method, subspectra::shown(*choice->used)));
    return text;
  }
  return text +
         prose(fmt::format(
             "{}: best k {} (error {:.4f}), one-standard-error k {} (error {:.4f}); optimism {:.4f} (error less apparent error at the best k)",
             method, best.k, best.error, sparse.k, sparse.error, best.error - best.apparent_error));
}

std::string protocol_text(const Dataset& data, const Evaluation& evaluation, const Job& job) {
  const auto& o = evaluation.options;
  std::string text;
  if (o.test_fraction > 0.0) {
    text =
        fmt::format("{} with {} of the rows held out", counted(o.repeats, "random split"), o.test_fraction);
  } else {
    text = o.folds.folds == 0 ? "leave one out" : fmt::format("{}-fold cross-validation", o.folds.folds);
    if (o.repeats > 1) text += fmt::format(", {} times", o.repeats);
  }
  if (!job.read.cv_groups.empty()) {
    const std::set<std::string> groups(data.row_groups().begin(), data.row_groups().end());
    text +=
        fmt::format(", rows of one '{}' together ({})", job.read.cv_groups, counted(groups.size(), "group"));
  }
  text += evaluation.nested ? ", features chosen inside every training fold"
                            : ", features chosen on ALL rows (optimistic, --select-on all)";
  return fmt::format("{}; classifier {}, seed {}, status {} ({} of {} folds)", text,
                     evaluation.options.classifier.name(), job.selection.seed, status_name(evaluation.status),
                     evaluation.folds_run, evaluation.folds_planned);
}

std::string evaluation_text(const Dataset& data, const Evaluation& evaluation, const Job& job) {
  std::string text =
      cut_short_text(evaluation) + data_line(data) + '\n' + prose(protocol_text(data, evaluation, job));
  if (evaluation.folds_run == 0) return text + "\nno fold was finished\n";
  for (std::size_t m = 0; m < evaluation.methods.size(); ++m)
    text += method_text(evaluation, evaluation.methods[m],
                        evaluation.chosen.empty() ? nullptr : &evaluation.chosen[m]);
  if (evaluation.ranking.empty()) {
    for (const auto& choice : evaluation.chosen) text += choice_text(choice, data.labels()->classes);
    return text;
  }
  const MethodRank& first = evaluation.ranking.front();
  const auto best =
      std::find_if(evaluation.chosen.begin(), evaluation.chosen.end(), [&](const EvaluationChoice& choice) {
        return choice.method == first.method && choice.k_one_standard_error == first.k;
      });
  return text + ranking_text(evaluation) + choice_text(*best, data.labels()->classes) +
         "  (the same of the other methods: --json)\n";
}

/// Checked before the work: what the ending says.
bool details_are_json(const std::string& path) {
  const std::string ending = file_ending(path).text;
  if (ending == ".json") return true;
  if (ending == ".csv" && !file_ending(path).zipped) return false;
  throw InvalidArgument(
      fmt::format("--details {}: the ending does not tell the format; end the name in .json or .csv", path));
}

std::vector<const MethodEntry*> chosen_methods(const Job& job) {
  MethodListOptions asked;
  set_options(asked, job.texts);
  require_method_name(job.texts, !asked.method.empty());
  if (asked.method.empty()) asked.method.emplace_back(default_judged_method());
  std::vector<const MethodEntry*> chosen;
  for (const auto& name : asked.method) {
    const MethodEntry* method = &MethodRegistry::find(name);
    if (std::find(chosen.begin(), chosen.end(), method) != chosen.end()) {
      throw InvalidArgument(fmt::format("--method names {} twice; once is enough", name));
    }
    chosen.push_back(method);
  }
  job.check_options(chosen);
  return chosen;
}

}  // namespace

std::vector<OptionDescription> details_option() {
  return reworded(describe_options<DetailsOptions>(), {{.name = "details", .hint = "FILE", .help = ""}});
}

int run_evaluate(const Arguments& arguments, Signals& signals, PartWork* merged) {
  Job job(arguments);
  RunInParts part("evaluate", arguments, merged);
  EvaluateOptions options;
  set_options(options, job.texts);
  options.validate();
  DetailsOptions output;
  CsvOptions csv;
  set_options(output, job.texts);
  set_options(csv, job.texts);
  options.predictions = !output.details.empty();
  if (options.predictions) {
    (void)details_are_json(output.details);
    require_writable(output.details);
  }
  const auto chosen = chosen_methods(job);
  job.check_exact_search(true);
  const PageOutput page = page_output(job.texts);
  const Dataset data = job.load(arguments.operands.front());
  page.check_shape(data.features());
  require_class_labels(data, "evaluate");
  part.begin(job, data);

  ProgressLine progress(job.output.progress, job.output.quiet);
  const RunControl control(signals.token(), job.run.time_limit, progress.sink(), progress.interval_s());
  signals.begin_work();
  std::vector<Method> methods;
  methods.reserve(chosen.size());
  for (const auto* entry : chosen) methods.push_back(job.method(*entry));
  Evaluation evaluation = evaluate_methods(data, methods, job.selection, job.prepare, job.classifier, options,
                                           control, part.work());
  progress.erase();
  if (part.one_part()) return part.finish(evaluation.complete(), job, signals);
  if (job.selection.bounds) evaluation.warnings.push_back(no_bounds_sentence("evaluate"));

  KRange k = job.selection.k;
  if (!k.given() && !evaluation.rows.empty()) {
    const auto [least, most] = std::minmax_element(evaluation.rows.begin(), evaluation.rows.end(),
                                                   [](const auto& a, const auto& b) { return a.k < b.k; });
    if (most->k > 0) k = {least->k, most->k};  // else the methods have no k
  }
  if (!k.given()) k = k.resolved(data.features());
  auto used = job.used_options(k);
  used.update(classifier_options_json(job.texts));
  used.update(options_json(options));
  used["cv_groups"] = job.read.cv_groups;
  used["ridge_all_rows"] = ridge_all_rows_json(evaluation);
  const ResultContext context = {.options = std::move(used),
                                 .read_s = job.read_s,
                                 .total_s = job.watch.seconds(),
                                 .spelling = Spelling::kCommandLine};
  const bool as_json = job.output.json || !job.output.o.empty() || page.wanted();
  const nlohmann::json object = as_json ? evaluation_json(evaluation, data, context) : nlohmann::json();
  const std::string json = as_json ? json_text(object) : std::string();
  job.warn(data.warnings(), evaluation.warnings);
  write_result_as_named(job.output.o, object, json, signals.token(), csv.csv_safe);
  if (options.predictions) {
    write_result(output.details,
                 details_are_json(output.details) ? json_text(details_json(evaluation, data))
                                                  : details_csv(evaluation, data, csv.csv_safe),
                 signals.token());
  }
  if (page.wanted())
    page.write({{.name = "evaluation.json",
                 .command = {},
                 .result = object,
                 .facts = page_facts(object, data, job.selection, page.shape())}},
               signals.token());
  if (job.output.o != "-") write_stdout(job.output.json ? json : evaluation_text(data, evaluation, job));
  return signals.exit_code();
}

Command evaluate_command() {
  return {
      .page =
          {.name = "evaluate",
           .usage = "evaluate DATA [OPTIONS]",
           .purpose =
               "Cross-validated error against the number of features, for one or several methods side by side.",
           .examples = {{.command = "subspectra evaluate sonar",
                         .says = "5 folds, features chosen anew inside every training fold"},
                        {.command = "subspectra evaluate sonar --method fisher,ks -k 1:20 --repeats 10",
                         .says = "two methods, ten repetitions with other folds"},
                        {.command = "subspectra evaluate sonar --method snr -k 5:10 --classifier svm --C 1",
                         .says = "a linear support vector machine in place of the discriminant rule"},
                        {.command = "subspectra evaluate sonar --cv loo -k 5 --null 3 -o result.json",
                         .says = "leave one out, beside permuted labels; every number in the file"},
                        {.command = "subspectra evaluate sonar -k 1:10 --details rows.csv",
                         .says = "and what was predicted for every row while it was held out"}},
           .operands = {data_operand()},
           .groups = {data_group(reworded(describe_options<CvGroupsOptions>(),
                                          {{.name = "cv_groups", .hint = "COLUMN", .help = ""}})),
                      selection_group(method_list_option()),
                      method_group(classifier_options()),
                      {.title = "Evaluation",
                       .options = describe_options<EvaluateOptions>() + describe_options<PartOptions>()},
                      {.title = "Classifier", .options = classifier_options()},
                      {.title = "Output",
                       .options = output_options() + details_option() + describe_options<CsvOptions>() +
                                  page_options()}},
           .notes =
               {"Reading the table: `error` is the cross-validated rate of wrong predictions with its standard error; `balanced` weighs classes equally; `apparent` is the error on the training rows, which flatters; `stability` is 1 when every fold chooses the same features and about 0 when they choose at random; `1 s.e.` marks the smallest k whose error is within one standard error of the best: `fit` chooses it the same way. What follows the table is of that k.",
                status_note()},
           .hidden = {},
           .main_options = {{.name = "method", .says = "one or several that `subspectra methods` lists"},
                            {.name = "k", .says = "how many; default 1:min(p, 50)"},
                            {.name = "target", .says = "the label column"},
                            {.name = "exclude", .says = "never chosen: names, patterns (gene_*) or @FILE"},
                            {.name = "missing", .says = "missing values"},
                            {.name = "standardize", .says = "columns scaled to unit variance first"},
                            {.name = "cv", .says = "number of folds, or loo"},
                            {.name = "repeats", .says = "with other folds"},
                            {.name = "cv_groups", .says = "its equal values stay in one fold (patients)"},
                            {.name = "classifier", .says = "what is trained on the chosen features"},
                            {.name = "null", .says = "permuted labels: what chance gives"},
                            {.name = "time_limit", .says = "stop after so long, with what has been found"},
                            {.name = "json", .says = "the result as JSON on stdout"},
                            {.name = "o", .says = "into this file as well; of a name in .csv as CSV"}},
           .brief = "error on new rows against the number of features"},
      .run = [](const Arguments& arguments, Signals& signals) {
        return run_evaluate(arguments, signals, nullptr);
      }};
}

}  // namespace subspectra::cli
