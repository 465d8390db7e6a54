/// subspectra cluster: relevance weights without labels, then the rows put into clusters.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/clustering.hpp"
#include "command.hpp"
#include "core/text.hpp"
#include "job.hpp"
#include "output.hpp"
#include "page_output.hpp"
#include "progress.hpp"
#include "report/json.hpp"
#include "report/page_facts.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

/// Options of `select` that clustering has no use for.
const std::vector<std::string>& not_here() {
  static const std::vector<std::string> names = {"groups", "criterion", "ridge", "components", "bounds"};
  return names;
}

std::string features_table(const Dataset& data, const Clustering& clustering) {
  constexpr std::size_t kMostShown = 20;
  Table table({{.title = "feature", .align = Align::kLeft}, {.title = "index"}, {.title = "weight"}});
  const auto& weights = clustering.selection.weights;
  std::vector<Index> order;
  for (const Index i : weight_order(weights_of(clustering.selection, clustering.features)))
    order.push_back(clustering.features[static_cast<std::size_t>(i)]);
  const std::size_t shown = std::min(order.size(), kMostShown);
  for (std::size_t i = 0; i < shown; ++i) {
    table.add({data.names()[order[i]], std::to_string(order[i]), fmt::format("{:.6g}", weights[order[i]])});
  }
  std::string text = table.text("  ");
  if (shown < order.size()) text += fmt::format("  ... ({} more; --json has all)\n", order.size() - shown);
  return text;
}

/// 60 20 20 20
std::vector<std::string> size_words(const RowClusters& clusters) {
  std::vector<std::string> words;
  words.reserve(clusters.sizes.size());
  for (const Index size : clusters.sizes) words.push_back(std::to_string(size));
  return words;
}

/// One row a clustering: what it was made on, its sizes, and how far it agrees with the labels.
std::string clusters_table(const Clustering& clustering) {
  const bool labelled = clustering.chosen.agreement && clustering.chosen.agreement->rows > 0;
  std::vector<Column> columns = {{.title = "rows clustered on", .align = Align::kLeft},
                                 {.title = "features"},
                                 {.title = "eigen-gap says"}};
  if (labelled) columns.insert(columns.end(), {{.title = "accuracy"}, {.title = "adjusted Rand"}});
  columns.push_back({.title = "sizes", .align = Align::kLeft});
  Table table(columns);
  const auto add = [&](std::string_view name, std::size_t features, const RowClusters& clusters) {
    std::vector<std::string> row = {
        std::string(name), std::to_string(features),
        clusters.gap.clusters > 0 ? fmt::format("{} (x {:.3g})", clusters.gap.clusters, clusters.gap.ratio)
                                  : "-"};
    if (labelled) {
      row.push_back(fmt::format("{:.4f}", clusters.agreement->accuracy));
      row.push_back(fmt::format("{:.4f}", clusters.agreement->adjusted_rand));
    }
    table.add(std::move(row), size_words(clusters));
  };
  add("selected, weighted", clustering.features.size(), clustering.chosen);
  if (clustering.all)
    add("all, equal weights", static_cast<std::size_t>(clustering.all_features), *clustering.all);
  return table.text();
}

std::string clustering_text(const Dataset& data, const Clustering& clustering, bool k_given) {
  std::string text = data_line(data) + '\n';
  text += prose(fmt::format("method {}, status {}, {}; {} {}", clustering.selection.method,
                            shown_status(clustering.status), counted(clustering.chosen.clusters(), "cluster"),
                            counted(clustering.features.size(), "feature"),
                            clustering.by_cut ? "above the largest fall of the weights"
                            : k_given         ? "by -k"
                                              : "of positive weight: the weights fall nowhere"));
  text += '\n';
  text += features_table(data, clustering) + '\n' + clusters_table(clustering);
  if (clustering.chosen.agreement && clustering.chosen.agreement->rows > 0) {
    text +=
        prose(fmt::format("the labels ('{}') are compared with, not used: {} of {} under the best matching",
                          printable(data.labels()->name), clustering.chosen.agreement->matched,
                          counted(clustering.chosen.agreement->rows, "row")));
  }
  return text;
}

std::string labels_csv(const Dataset& data, const Clustering& clustering) {
  std::string text = "row,cluster\n";
  for (std::size_t i = 0; i < clustering.chosen.labels.size(); ++i) {
    const Index row = data.original_rows().empty() ? static_cast<Index>(i) : data.original_rows()[i];
    text += fmt::format("{},{}\n", row, clustering.chosen.labels[i]);
  }
  return text;
}

const MethodEntry& chosen_method(const Job& job) {
  MethodOptions asked;
  set_options(asked, job.texts);
  require_method_name(job.texts, !asked.method.empty());
  const MethodEntry& method =
      MethodRegistry::find(asked.method.empty() ? default_method(false) : asked.method);
  check_method_options(job.texts, {&method}, MethodRegistry::entries());
  return method;
}

int run_cluster(const Arguments& arguments, Signals& signals) {
  Job job(arguments);
  ClusterOptions options;
  set_options(options, job.texts);
  options.validate();
  const MethodEntry& method = chosen_method(job);
  const PageOutput page = page_output(job.texts);
  const Dataset data = job.load(arguments.operands.front());
  page.check_shape(data.features());
  ProgressLine progress(job.output.progress, job.output.quiet);
  const RunControl control(signals.token(), job.run.time_limit, progress.sink(), progress.interval_s());
  signals.begin_work();
  const std::uint64_t memory_limit = job.selection.memory_limit.bytes;
  const Dataset prepared =
      Preparation::learn(data, job.prepare, memory_limit).changed_copy(data, memory_limit);
  const Clustering clustering = cluster_rows(prepared, job.method(method), job.selection, options, control);
  progress.erase();

  const auto k = static_cast<Index>(clustering.features.size());
  auto used = job.used_options({k, k});
  used["k_asked"] = OptionCodec<KRange>::json(job.selection.k);
  for (const auto& name : not_here()) used.erase(name);
  const ResultContext context = {.options = std::move(used),
                                 .read_s = job.read_s,
                                 .total_s = job.watch.seconds(),
                                 .spelling = Spelling::kCommandLine};
  const nlohmann::json object = clustering_json(clustering, prepared, context);
  const std::string json = json_text(object);
  auto warnings = clustering.selection.warnings;
  warnings.insert(warnings.end(), clustering.warnings.begin(), clustering.warnings.end());
  job.warn(prepared.warnings(), warnings);
  const bool csv = is_csv_name(job.output.o);
  if (!job.output.o.empty())
    write_result(job.output.o, csv ? labels_csv(prepared, clustering) : json, signals.token());
  if (page.wanted())
    page.write({{.name = "clustering.json",
                 .command = {},
                 .result = object,
                 .facts = page_facts(object, prepared, job.selection, page.shape())}},
               signals.token());
  if (job.output.o != "-")
    write_stdout(job.output.json ? json : clustering_text(prepared, clustering, job.selection.k.given()));
  return signals.exit_code();
}

std::vector<OptionDescription> selection_options() {
  auto method = describe_options<MethodOptions>();
  std::vector<std::string_view> names;
  const auto known = clustering_methods();
  names.reserve(known.size());
  for (const auto& own : known) names.push_back(own.traits->name);
  method.front().help =
      fmt::format("how features are weighed: {}. Default: {}", fmt::join(names, ", "), default_method(false));
  const auto selection = reworded(
      without(describe_options<SelectOptions>(), not_here()),
      {{.name = "k",
        .hint = "N",
        .help = "number of features to cluster on. Default: those above the largest fall of the weights"}});
  return method + selection + run_options();
}

}  // namespace

Command cluster_command() {
  const auto own = describe_options<ClusterOptions>();
  std::vector<std::string> listed;
  listed.reserve(own.size());
  for (const auto& option : own) listed.push_back(option.name);
  const auto data = data_group();
  const auto reading = reworded(
      data.options,
      {{.name = "target",
        .hint = "",
        .help =
            "label column, which the clusters are compared with and which is not used otherwise; 'none' for unlabelled data. Default: as in select"}});
  const auto output = reworded(
      output_options(),
      {{.name = "o",
        .hint = "FILE",
        .help =
            "write the labels to FILE.csv (row,cluster), or the result as JSON to a file of another name (- for stdout); an existing one is replaced at once"}});
  return {
      .page =
          {.name = "cluster",
           .usage = "cluster DATA [OPTIONS]",
           .purpose =
               "Without labels: weigh the features by Q-alpha, then put the rows into clusters by the relevant ones.",
           .examples =
               {{.command = "subspectra cluster ionosphere --target none --exclude class",
                 .says = "two clusters, on the features that the weights single out"},
                {.command =
                     "subspectra synth clusters -o t.csv && subspectra cluster t.csv --clusters 3 -o c.csv",
                 .says = "three planted clusters; the labels of the rows into a file"},
                {.command = "subspectra cluster sonar --clusters 3 -k 10 --restarts 5 --json",
                 .says = "on ten features, the weights from the best of five starts; as JSON"}},
           .operands = {data_operand()},
           .groups = {{.title = data.title, .options = reading},
                      {.title = "Selection", .options = selection_options()},
                      {.title = "Clustering", .options = own},
                      {.title = "Options of single methods",
                       .options = without(method_specific_options(clustering_methods()), listed)},
                      {.title = "Output", .options = output + page_options()}},
           .notes =
               {"Reading the table: `accuracy` is the fraction of labelled rows that are right under the best matching of clusters to classes; `adjusted Rand` is 1 for the same partition and about 0 by chance; `eigen-gap says` how many clusters the largest relative fall of the eigenvalues suggests, and how large it is (below about 1.5 it says nothing).",
                status_note()},
           .hidden = {},
           .main_options = {{.name = "clusters", .says = "how many clusters"},
                            {.name = "k", .says = "how many features to cluster on"},
                            {.name = "method", .says = "how features are weighed"},
                            {.name = "target", .says = "labels to compare the clusters with, or none"},
                            {.name = "exclude", .says = "left out: names, patterns (gene_*) or @FILE"},
                            {.name = "missing", .says = "missing values"},
                            {.name = "standardize", .says = "columns scaled to unit variance first"},
                            {.name = "restarts", .says = "starts of the weights; the best is kept"},
                            {.name = "seed"},
                            {.name = "time_limit", .says = "stop after so long, with what has been found"},
                            {.name = "json", .says = "the result as JSON on stdout"},
                            {.name = "o", .says = "labels into FILE.csv, or all of the result as JSON"}},
           .brief = "without labels: put rows into clusters by relevant features"},
      .run = run_cluster};
}

}  // namespace subspectra::cli
