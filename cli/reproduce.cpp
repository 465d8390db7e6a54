/// subspectra reproduce: experiments of the papers run again, the published numbers beside ours.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "command.hpp"
#include "core/json_io.hpp"
#include "job.hpp"
#include "options.hpp"
#include "output.hpp"
#include "page_output.hpp"
#include "progress.hpp"
#include "reproduce/experiments.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

using nlohmann::json;
using reproduce::Experiment;
using reproduce::Reproduction;

std::size_t text_width() { return stdout_terminal().width; }
constexpr std::string_view kAll = "all";  ///< the word for every experiment

struct ListOptions {
  bool list = false;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("list", o.list, "list the experiments; so does the command without ID");
  }
};

std::string experiments_text(bool as_json) {
  Table table({{.title = "experiment", .align = Align::kLeft},
               {.title = "in", .align = Align::kLeft},
               {.title = "state", .align = Align::kLeft},
               {.title = "", .align = Align::kLeft}});
  auto list = json::array();
  for (const Experiment& experiment : reproduce::experiments()) {
    const std::string state = experiment.needs.empty()
                                  ? "runs here"
                                  : fmt::format("needs --data: {}", in_flags(experiment.needs_short));
    table.add(
        {std::string(experiment.id), std::string(experiment.source), state, in_flags(experiment.summary)});
    list.push_back({{"id", experiment.id},
                    {"source", experiment.source},
                    {"summary", in_flags(experiment.summary)},
                    {"state", state},
                    {"needs", experiment.needs.empty() ? json(nullptr) : json(in_flags(experiment.needs))},
                    {"options", experiment.options}});
  }
  return as_json ? json_text(list) : table.text();
}

std::string number_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.5g}", *value) : "-";
}

std::string finding_paragraph(std::string_view text, std::string_view bullet) {
  std::string result;
  std::string before(bullet);
  for (const auto& line : wrapped(in_flags(text), text_width() - bullet.size())) {
    result += before + line + '\n';
    before.assign(bullet.size(), ' ');
  }
  return result;
}

/// The numbers that stand alone, and those the paper says something about.
std::string headline_text(const Reproduction& result) {
  std::vector<const reproduce::Finding*> shown;
  bool spreads = false;
  for (const reproduce::Finding& finding : result.results) {
    if (finding.x && !finding.published && finding.statement.empty()) continue;
    shown.push_back(&finding);
    spreads = spreads || finding.spread;
  }
  std::vector<Column> columns = {
      {.title = "", .align = Align::kLeft}, {.title = "published"}, {.title = "obtained"}};
  if (spreads) columns.push_back({.title = "± s.e."});
  Table table(columns);
  std::string statements;
  for (const reproduce::Finding* finding : shown) {
    std::vector<std::string> cells = {in_flags(result.name(*finding)), number_text(finding->published),
                                      number_text(finding->obtained)};
    if (spreads) cells.push_back(number_text(finding->spread));
    table.add(std::move(cells));
    if (finding->statement.empty() || statements.find(finding->statement) != std::string::npos) continue;
    statements += finding->statement + '\n';
  }
  if (table.empty()) return "";
  std::string text = '\n' + table.text("  ");
  std::size_t from = 0;
  for (std::size_t end = statements.find('\n'); end != std::string::npos; end = statements.find('\n', from)) {
    text += finding_paragraph("The paper says: " + statements.substr(from, end - from) + '.', "  ");
    from = end + 1;
  }
  return text;
}

/// Columns that fit a line together, as ranges of `series`; each range has one at least.
std::vector<std::pair<std::size_t, std::size_t>> fitting_ranges(const std::vector<std::string>& series,
                                                                std::size_t first_column) {
  constexpr std::size_t kLeast = 8, kBetween = 2;
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  std::size_t width = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::size_t own = kBetween + std::max(kLeast, display_width(series[i]));
    if (ranges.empty() || width + own > text_width()) {
      ranges.emplace_back(i, i);
      width = first_column;
    }
    ranges.back().second = i + 1;
    width += own;
  }
  return ranges;
}

/// The curves side by side, one line a place on the axis; in several tables where one would be too wide.
std::string curves_text(const Reproduction& result) {
  std::vector<std::string> series;
  std::map<Index, std::map<std::string, const reproduce::Finding*>> points;
  std::set<Index> always;
  for (const reproduce::Finding& finding : result.results) {
    if (!finding.x) continue;
    if (std::find(series.begin(), series.end(), finding.series) == series.end())
      series.push_back(finding.series);
    points[*finding.x][finding.series] = &finding;
    if (finding.published) always.insert(*finding.x);
  }
  if (points.empty()) return "";
  std::vector<Index> places;
  places.reserve(points.size());
  for (const auto& [x, unused] : points) places.push_back(x);
  const auto shown =
      places.size() <= 20 ? std::set<Index>(places.begin(), places.end()) : shown_steps(places, always);
  std::string text;
  for (const auto& [from, to] : fitting_ranges(series, display_width(result.axis))) {
    std::vector<Column> columns = {{.title = result.axis}};
    for (std::size_t i = from; i < to; ++i) columns.push_back({.title = series[i]});
    Table table(columns);
    for (const auto& [x, row] : points) {
      if (!shown.contains(x)) continue;
      std::vector<std::string> cells = {std::to_string(x)};
      bool any = false;
      for (std::size_t i = from; i < to; ++i) {
        const auto found = row.find(series[i]);
        any = any || found != row.end();
        cells.push_back(found == row.end() ? "" : number_text(found->second->obtained));
      }
      if (any) table.add(std::move(cells));
    }
    text += '\n' + table.text("  ");
  }
  if (shown.size() < places.size()) {
    text += fmt::format("  ({} of {} values of {} are shown; --json has all)\n", shown.size(), places.size(),
                        result.axis);
  }
  return text;
}

/// `all`: what ran, on what, for how long.
std::string experiments_text(const json& experiments) {
  Table table({{.title = "experiment", .align = Align::kLeft},
               {.title = "status", .align = Align::kLeft},
               {.title = "seconds"},
               {.title = "numbers"},
               {.title = "data", .align = Align::kLeft}});
  for (const json& one : experiments) {
    const std::string data = one.value("data", "");
    table.add({one.at("id").get<std::string>(), one.at("status").get<std::string>(),
               one.contains("seconds") ? fmt::format("{:.1f}", one["seconds"].get<double>()) : "",
               one.contains("results") ? dump_json(one["results"]) : "",
               one.value("stand_in", false) ? data + " (stand-in)" : data});
  }
  return '\n' + table.text("  ");
}

std::string reproduction_text(const Reproduction& result) {
  std::string text =
      fmt::format("{} ({}), seed {}, status {}, {:.1f} s\n", result.id, result.source,
                  dump_json(result.settings["seed"]), status_name(result.status), result.total_s);
  for (const auto& sentence : result.protocol) text += finding_paragraph(sentence, "  ");
  if (result.details.contains("experiments")) text += experiments_text(result.details["experiments"]);
  text += headline_text(result);
  text += curves_text(result);
  for (const auto& [title, picture] : result.pictures) {
    text += fmt::format("\n{}\n", in_flags(title));
    std::size_t from = 0;
    for (std::size_t end = picture.find('\n'); end != std::string::npos; end = picture.find('\n', from)) {
      text += fmt::format("  {}\n", picture.substr(from, end - from));
      from = end + 1;
    }
  }
  if (!result.notes.empty()) text += '\n';
  for (const auto& note : result.notes) text += finding_paragraph(note, "* ");
  return text;
}

int run_reproduce(const Arguments& arguments, Signals& signals) {
  OutputOptions output;
  ListOptions list;
  RunOptions limits;
  reproduce::ReproduceOptions options;
  set_options(output, arguments.texts);
  set_options(list, arguments.texts);
  set_options(limits, arguments.texts);
  set_options(options, arguments.texts);
  limits.validate();
  if (list.list || arguments.operands.empty()) {
    const std::size_t understood = (list.list ? 1U : 0U) + (output.json ? 1U : 0U);
    if (!arguments.operands.empty() || arguments.texts.size() > understood) {
      throw InvalidArgument(
          list.list
              ? "--list stands alone (or with --json)"
              : "ID is missing; usage: subspectra reproduce ID (reproduce --list lists the experiments)");
    }
    write_stdout(experiments_text(output.json));
    return 0;
  }
  const Experiment* const experiment =
      arguments.operands.front() == kAll ? nullptr : &reproduce::find_experiment(arguments.operands.front());
  if (experiment != nullptr) reproduce::check_request(*experiment, options);
  require_writable(output.o);
  OptionTexts page_texts = arguments.texts;
  page_texts.erase("shape");  // that of the experiment
  const PageOutput page = page_output(page_texts);
  ProgressLine progress(output.progress, output.quiet);
  signals.begin_work();
  const Reproduction result =
      experiment == nullptr ? reproduce::run_all_experiments(options, signals.token(), limits.time_limit,
                                                             progress.sink(), progress.interval_s())
                            : reproduce::run_experiment(*experiment, options,
                                                        RunControl(signals.token(), limits.time_limit,
                                                                   progress.sink(), progress.interval_s()));
  progress.erase();
  const json object = reproduce::reproduction_json(result, Spelling::kCommandLine);
  const std::string text = json_text(object);
  write_result_as_named(output.o, object, text, signals.token());
  if (page.wanted())
    page.write({{.name = "reproduction.json", .command = {}, .result = object}}, signals.token());
  if (output.o != "-") write_stdout(output.json ? text : reproduction_text(result));
  return signals.exit_code();
}

std::vector<OptionDescription> experiment_options() {
  auto options = reworded(describe_options<reproduce::ReproduceOptions>(),
                          {{.name = "data", .hint = "FILE", .help = ""},
                           {.name = "images", .hint = "DIR", .help = ""},
                           {.name = "target", .hint = "COLUMN", .help = ""},
                           {.name = "sizes", .hint = "N,N,...", .help = ""}});
  for (OptionDescription& option : options) {
    std::vector<std::string_view> owners;
    for (const Experiment& experiment : reproduce::experiments()) {
      if (std::find(experiment.options.begin(), experiment.options.end(), option.name) !=
          experiment.options.end()) {
        owners.push_back(experiment.id);
      }
    }
    if (!owners.empty()) option.help += fmt::format(" ({})", fmt::join(owners, ", "));
  }
  return options;
}

}  // namespace

Command reproduce_command() {
  return {
      .page =
          {.name = "reproduce",
           .usage = "reproduce [ID [OPTIONS]]",
           .purpose = "Run an experiment of the papers again and set it beside the published figures.",
           .examples = {{.command = "subspectra reproduce --list", .says = "the experiments, one line each"},
                        {.command = "subspectra reproduce icml06-fig1 --quick",
                         .says =
                             "how close greedy search comes to the best subset, on a few random problems"},
                        {.command = "subspectra reproduce icml06-fig2 --quick -o sonar.json",
                         .says = "Sonar: the paper's error curve, and the one without its optimism"},
                        {.command = "subspectra reproduce iccv07-bounds --json",
                         .says = "every number with its published counterpart, as JSON"}},
           .operands = {{.name = "ID",
                         .help = "the experiment, or all; without it the experiments are listed",
                         .may_be_left_out = true}},
           .groups = {{.title = "Experiment",
                       .options = describe_options<ListOptions>() + experiment_options() + run_options()},
                      {.title = "Output",
                       .options = without(output_options(), {"verbose"}) + page_options({"shape"})}},
           .notes =
               {"All of them: `reproduce all --quick` runs a reduced version of each, within ten minutes; with --data DIR on the files that have the experiments' names in that folder (usps.npz, colon.csv, ...).",
                "Published: a number where the paper's text has one; `-` means that there is only a curve in a figure or a statement in words, which is then given. docs/reproduce.md says what was obtained and where the papers' numbers were not reached.",
                status_note()},
           .hidden = {},
           .main_options = {{.name = "list"},
                            {.name = "quick"},
                            {.name = "data"},
                            {.name = "images"},
                            {.name = "seed"},
                            {.name = "time_limit", .says = "stop after so long"},
                            {.name = "json", .says = "the result as JSON on stdout"},
                            {.name = "o", .says = "into this file as well; of a name in .csv as CSV"}},
           .brief = "run the papers' experiments again"},
      .run = run_reproduce};
}

}  // namespace subspectra::cli
