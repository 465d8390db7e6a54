/// subspectra predict: apply a model to new rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "choice_text.hpp"
#include "command.hpp"
#include "core/text.hpp"
#include "job.hpp"
#include "model/labelled_rows.hpp"
#include "model/model.hpp"
#include "output.hpp"

namespace subspectra {

enum class PredictMissing { kTrained, kDrop };
template <>
struct EnumNames<PredictMissing> {
  static constexpr std::array<std::pair<PredictMissing, std::string_view>, 2> kNames = {
      {{PredictMissing::kTrained, "trained"}, {PredictMissing::kDrop, "drop"}}};
};

namespace cli {
namespace {

struct PredictOptions {
  std::vector<std::string> exclude;
  PredictMissing missing = PredictMissing::kTrained;
  ByteSize memory_limit;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("exclude", o.exclude,
          "columns to leave out (text that the model does not use is left alone anyway)");
    field(
        "missing", o.missing,
        "missing values: trained fills them in when the model was fitted with --missing mean, median or indicator and refuses them otherwise; drop leaves their rows out");
    field("memory_limit", o.memory_limit,
          "refuse work that needs more, for example 4G; default: what is free");
  }
};

/// What the column of ids is called; a name that was made up for it says nothing.
std::string id_heading(const Dataset& data) {
  const std::string& name = data.details().id_name;
  const bool made_up = name.size() > 1 && name.front() == 'x' &&
                       std::all_of(name.begin() + 1, name.end(), [](char c) { return is_digit(c); });
  return made_up || name.empty() ? "id" : name;
}

std::string predictions_csv(const TrainedModel& model, const Dataset& data, const Matrix& probabilities,
                            bool safe, std::vector<int>& predicted) {
  const auto& ids = data.details().row_ids;
  std::string text = "row";
  if (ids) text += ',' + csv_field(id_heading(data), safe);
  text += ",predicted";
  for (const auto& name : model.classes) text += ',' + csv_field("p_" + name, safe);
  text += '\n';
  predicted.reserve(static_cast<std::size_t>(data.rows()));
  for (Index i = 0; i < data.rows(); ++i) {
    Index best = 0;
    probabilities.row(i).maxCoeff(&best);  // the first of equal ones
    predicted.push_back(static_cast<int>(best));
    const Index row = data.original_rows().empty() ? i : data.original_rows()[static_cast<std::size_t>(i)];
    text += fmt::format("{}", row);
    if (ids) text += ',' + csv_field((*ids)[static_cast<std::size_t>(row)], safe);
    text += fmt::format(",{}", csv_field(model.classes[static_cast<std::size_t>(best)], safe));
    for (Index c = 0; c < probabilities.cols(); ++c) text += fmt::format(",{}", probabilities(i, c));
    text += '\n';
  }
  return text;
}

/// "error rate 0.1010 (21 of 208 rows with a label are predicted wrongly)"
std::string error_rate_text(const LabelledRows& judged) {
  return fmt::format("error rate {:.4f} ({} of {} with a label {} predicted wrongly)", judged.error,
                     judged.wrong, counted(judged.rows, "row"), judged.wrong == 1 ? "is" : "are");
}

/// "the model does not know class 'x' ...", when the labels have such.
std::string unknown_classes_text(const Dataset& data, const LabelledRows& judged) {
  if (judged.unknown.empty()) return {};
  std::vector<std::string> unknown;
  for (const auto& name : judged.unknown) unknown.push_back(fmt::format("'{}'", name));
  return fmt::format(
      "the model does not know {} {} of '{}', which {}: every prediction there counts as wrong",
      unknown.size() == 1 ? "class" : "the classes", join_some(unknown), data.labels()->name,
      judged.unknown_rows == 1 ? "1 row has" : fmt::format("{} rows have", judged.unknown_rows));
}

int run_predict(const Arguments& arguments, Signals&) {
  ReadOptions read;
  PredictOptions predict;
  CsvOptions csv;
  OutputOptions output;
  set_options(read, arguments.texts);
  set_options(predict, arguments.texts);
  set_options(csv, arguments.texts);
  set_options(output, arguments.texts);
  read.ignore = predict.exclude;
  read.memory_limit = predict.memory_limit;
  read.categorical = "none";  // those of the model are made again, and no others
  read.validate();
  require_writable(output.o);
  const TrainedModel model = TrainedModel::load(arguments.operands[0], predict.memory_limit.bytes);
  if (read.target.empty()) {
    read.target = model.target.empty() ? "none" : model.target;
    read.target_optional = true;  // new rows need no labels
  }
  // Where columns are matched by place nobody knows which are not needed.
  if (model.names_given) read.needed = needed_columns(model);
  for (const DerivedFeature& feature : model.derived) {
    if (feature.value) read.derived.push_back(feature);
  }
  if (read.id.empty()) {
    read.id = model.id;
    read.id_optional = true;
  }
  Dataset data = read_table(arguments.operands[1], read);
  if (predict.missing == PredictMissing::kDrop) {
    // Only gaps in columns the model uses count, and a row without a label is what predict is for.
    const Dataset columns = model_columns(model, data);
    DatasetDetails unlabelled = columns.details();
    unlabelled.labels.reset();
    const Dataset used = check_values({std::move(unlabelled), columns.values()},
                                      {.missing = MissingPolicy::kDrop, .standardize = false});
    if (!used.original_rows().empty()) {
      data = data.with_rows(used.original_rows());
      DatasetDetails details = data.details();
      details.warnings = used.warnings();
      data = Dataset(std::move(details), data.values());
    }
  }
  if (output.verbose) say_notes(data);
  const Matrix probabilities = predict_probabilities(model, data, predict.memory_limit.bytes);
  std::vector<int> predicted;
  write_result(output.o.empty() ? "-" : output.o,
               predictions_csv(model, data, probabilities, csv.csv_safe, predicted));
  if (!output.quiet) {
    say("note", data_line(data));
    for (const auto& warning : data.warnings()) say("warning", warning);
    if (const auto judged = judge_labelled_rows(model, data, predicted)) {
      if (const auto sentence = unknown_classes_text(data, *judged); !sentence.empty())
        say("warning", sentence);
      say("note", error_rate_text(*judged));
      const std::string table = confusion_text(judged->confusion, judged->truths, model.classes, "");
      // Beside the CSV on standard output, never in it.
      if (output.o.empty() || output.o == "-") {
        write_stderr(table);
      } else {
        write_stdout(table);
      }
    }
  }
  return 0;
}

}  // namespace

Command predict_command() {
  const auto reading = reworded(
      without(describe_options<ReadOptions>(), {"weights", "categorical"}),
      {{.name = "target",
        .hint = "",
        .help =
            "label column, if there is one: it is compared with the predictions. Default: as in training"}});
  const auto output =
      reworded(without(output_options(), {"json", "progress"}),
               {{.name = "o", .hint = "FILE", .help = "write the CSV to this file; default: stdout"},
                {.name = "quiet", .hint = "", .help = "no warnings, no error rate, no confusion matrix"}});
  return {
      .page =
          {.name = "predict",
           .usage = "predict MODEL.json DATA [OPTIONS]",
           .purpose =
               "Apply a model that `fit` saved to the rows of a table; writes CSV: row, class, probabilities.",
           .examples =
               {{.command = "subspectra fit sonar -k 5 -o model.json && subspectra predict model.json sonar",
                 .says =
                     "train, then predict the training rows; their error rate and confusion matrix go to stderr"},
                {.command =
                     "subspectra fit sonar -k 5 -o model.json && subspectra predict model.json sonar -o rows.csv",
                 .says = "the same into a file"}},
           .operands = {{.name = "MODEL", .help = "a model file written by `subspectra fit`"},
                        data_operand()},
           .groups = {{.title = "Data",
                       .options =
                           reading + describe_options<PredictOptions>() + describe_options<CsvOptions>()},
                      {.title = "Output", .options = output}},
           .notes =
               {"Columns: matched by name, in any order; what the model does not use is left alone, text too; what it needs and DATA lacks is named. Tables without names are matched by position. `row` counts from 0; where the training table had a column of ids, its values here stand beside it. Where the table has labels, the error rate goes to stderr, and the confusion matrix beside the CSV: to stderr when that goes to stdout, else to stdout."},
           .hidden = {},
           .main_options = {{.name = "o", .says = "write the CSV to this file; default: stdout"},
                            {.name = "target", .says = "label column to compare with, if there is one"},
                            {.name = "exclude", .says = "columns to leave out"},
                            {.name = "missing", .says = "missing values"},
                            {.name = "csv_safe", .says = "no spreadsheet takes a name for a formula"},
                            {.name = "quiet"}},
           .brief = "apply a model to new rows"},
      .run = run_predict};
}

}  // namespace cli
}  // namespace subspectra
