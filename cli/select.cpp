/// subspectra select: one method on a table; the path or ranking.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "job.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "subspectra/report/json.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

/// Names of the features in `of` that are not in `in`, with `sign` before each.
void append_difference(const Dataset& data, const std::vector<Index>& of, const std::vector<Index>& in,
                       std::string_view sign, std::vector<std::string>& words) {
  for (const Index j : of) {
    if (!std::binary_search(in.begin(), in.end(), j)) words.push_back(std::string(sign) + data.names[j]);
  }
}

/// One row a set: the first one whole, then what is added and removed from row to row.
std::string path_table(const Dataset& data, const Selection& selection) {
  constexpr std::size_t kNamesWidth = 64;
  const bool bounds = std::any_of(selection.path.begin(), selection.path.end(),
                                  [](const PathEntry& entry) { return entry.upper_bound.has_value(); });
  std::vector<Column> columns = {{.title = "k"}, {.title = "objective"}};
  if (bounds) columns.insert(columns.end(), {{.title = "bound"}, {.title = "gap %"}});
  columns.push_back({.title = "features", .align = Align::kLeft});
  Table table(columns);
  const std::vector<Index>* before = nullptr;
  for (const auto& entry : selection.path) {
    std::vector<std::string> words;
    append_difference(data, entry.features, before ? *before : std::vector<Index>{}, before ? "+" : "",
                      words);
    if (before) append_difference(data, *before, entry.features, "-", words);
    before = &entry.features;
    std::vector<std::string> row = {std::to_string(entry.k()), fmt::format("{:.6g}", entry.objective)};
    if (bounds) {
      row.push_back(entry.upper_bound ? fmt::format("{:.6g}", *entry.upper_bound) : "");
      row.push_back(entry.gap() ? fmt::format("{:.2f}", 100.0 * *entry.gap()) : "");
    }
    row.push_back(joined_within(words, kNamesWidth));
    table.add(std::move(row));
  }
  return table.text();
}

/// A single set: one row a feature, best first where the method ranks.
std::string set_table(const Dataset& data, const Selection& selection) {
  const auto& entry = selection.path.front();
  std::vector<Index> order = entry.features;
  if (!selection.ranking.empty()) {
    const auto place = [&](Index j) {
      return std::find(selection.ranking.begin(), selection.ranking.end(), j) - selection.ranking.begin();
    };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return place(a) < place(b); });
  }
  std::vector<Column> columns = {{.title = "feature", .align = Align::kLeft}, {.title = "index"}};
  const bool weighted = selection.weights.size() > 0;
  if (weighted) columns.push_back({.title = "weight"});
  const Index discriminants = std::min<Index>(entry.loadings.cols(), 4);
  for (Index r = 0; r < discriminants; ++r) columns.push_back({.title = fmt::format("loading {}", r + 1)});
  Table table(columns);
  for (const Index j : order) {
    const auto at =
        std::lower_bound(entry.features.begin(), entry.features.end(), j) - entry.features.begin();
    std::vector<std::string> row = {data.names[j], std::to_string(j)};
    if (weighted) row.push_back(fmt::format("{:.6g}", selection.weights[j]));
    for (Index r = 0; r < discriminants; ++r) row.push_back(fmt::format("{:.4f}", entry.loadings(at, r)));
    table.add(std::move(row));
  }
  return table.text();
}

std::string selection_text(const Dataset& data, const Selection& selection) {
  std::string text = fmt::format("{}\nmethod {}, status {}, ridge {:.4g}\n\n", data_line(data),
                                 selection.method, status_name(selection.status), selection.ridge);
  if (selection.path.empty()) return text + "no set was found\n";
  if (selection.path.size() > 1) return text + path_table(data, selection);
  return text +
         fmt::format("k = {}, objective {:.6g}\n", selection.path.front().k(),
                     selection.path.front().objective) +
         set_table(data, selection);
}

int run(const Arguments& arguments, Signals& signals) {
  Job job(arguments);
  MethodOptions asked;
  set_options(asked, job.texts);
  if (!asked.method.empty()) check_method_options(job.texts, {&find_method(asked.method)}, methods());
  const Dataset data = job.load(arguments.operands.front());
  const MethodInfo& method = job.choose_method(data);

  ProgressLine progress(job.output.progress, job.output.quiet);
  const RunControl control(signals.token(), job.run.time_limit, progress.sink(), progress.interval_s());
  signals.begin_work();
  const Dataset prepared = Preparation::learn(data, job.prepare).apply(data);
  const Selection selection = select_features(prepared, method, job.selection, job.texts, control);
  progress.erase();

  KRange k = job.selection.k;
  if (!k.given() && !selection.path.empty()) k = {selection.path.front().k(), selection.path.back().k()};
  if (!k.given()) k = k.resolved(data.features());
  const ResultContext context = {
      .options = job.used_options(k), .read_s = job.read_s, .total_s = job.watch.seconds()};
  const std::string json = json_text(selection_json(selection, prepared, context));
  job.warn(prepared.warnings, selection.warnings);
  if (!job.output.o.empty()) write_result(job.output.o, json);
  if (job.output.o != "-") write_stdout(job.output.json ? json : selection_text(prepared, selection));
  return signals.exit_code();
}

}  // namespace

Command select_command() {
  return {
      .page = {.name = "select",
               .usage = "select DATA [OPTIONS]",
               .purpose =
                   "Choose features of a table by one method and print the path: a set for every size k.",
               .examples = {{.command = "subspectra select sonar -k 10", .says = "ten of the 60 features"},
                            {.command = "subspectra select sonar --method ks -k 1:5 --json",
                             .says = "sets of one to five features, as JSON"},
                            {.command =
                                 "subspectra select sonar --include V1 --exclude V11,V12 -o result.json",
                             .says = "with constraints; a table here, every detail in the file"}},
               .operands = {data_operand()},
               .groups = {data_group(),
                          selection_group(method_option()),
                          method_group(),
                          {.title = "Output", .options = output_options()}},
               .notes = {status_note()}},
      .run = run};
}

}  // namespace subspectra::cli
