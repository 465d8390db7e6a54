#include "report/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/json_io.hpp"
#include "core/matrix_json.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "data/groups.hpp"
#include "evaluate/choice_json.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json warnings_json(std::initializer_list<const std::vector<std::string>*> lists, Spelling spelling) {
  json all = json::array();
  for (const auto* list : lists) {
    for (const auto& warning : *list) all.push_back(spelled(warning, spelling));
  }
  return all;
}

json path_entry_json(const PathEntry& entry, const Dataset& data, const FeatureGroups* groups) {
  json out = {{"k", entry.k()},
              {"features", entry.features},
              {"names", data.names().selected(entry.features).all()},
              {"objective", entry.objective}};
  if (entry.upper_bound) {
    const auto gap = entry.known_gap();
    out["upper_bound"] = *entry.upper_bound;
    out["gap"] = or_null(gap);
    out["certified"] = gap && *gap <= kCertifiedGap;
    out["bound"] = entry.bound;
  }
  if (entry.bounds) {
    const auto named = [](const std::vector<SizeBounds::Named>& list) {
      json object = json::object();
      for (const auto& [name, value] : list) object[name] = value;
      return object;
    };
    out["bounds"] = {{"upper", named(entry.bounds->upper)},
                     {"lower_any", named(entry.bounds->lower_any)},
                     {"lower_best", named(entry.bounds->lower_best)}};
  }
  if (entry.given_objective) out["given_objective"] = *entry.given_objective;
  if (!entry.units.empty()) {
    out["units"] = entry.units;
    if (groups != nullptr) {
      json chosen = json::array();
      for (const Index u : entry.units) chosen.push_back(groups->names[static_cast<std::size_t>(u)]);
      out["groups"] = std::move(chosen);
    }
  }
  if (!entry.pool.empty()) {
    json pool = json::array();
    for (const auto& set : entry.pool) {
      pool.push_back({{"features", set.features},
                      {"names", data.names().selected(set.features).all()},
                      {"objective", set.objective}});
    }
    out["pool"] = std::move(pool);
  }
  if (!entry.pass.empty()) out["pass"] = entry.pass;
  if (!entry.loadings.empty()) out["loadings"] = to_json(Matrix(entry.loadings.view()));
  return out;
}

/// `components`: it has neither lambda nor iterations.
json discriminants_json(const FittedDiscriminants& record, bool components) {
  json out = {{"features", record.features},
              {"matrix", to_json(Matrix(record.matrix.view()))},
              {"row_norms", record.row_norms},
              {"features_kept", record.features.size()},
              {"entries", record.entries}};
  if (components) return out;
  out.update({{"lambda", record.lambda},
              {"objective", record.objective},
              {"iterations", record.iterations},
              {"converged", record.converged}});
  if (record.duality_gap) out["duality_gap"] = *record.duality_gap;
  return out;
}

json relevance_json(const RelevanceReport& report) {
  json out = {{"objective", report.objective},       {"trace", report.trace},
              {"equal_trace", report.equal_trace},   {"clusters", report.clusters},
              {"negative_weights", report.negative}, {"starts", report.starts},
              {"products", report.products},         {"passes", report.passes}};
  if (report.affinity_energy) {
    out["criterion_6"] = -report.objective;
    out["affinity_energy"] = *report.affinity_energy;
    out["residual_energy"] = or_null(report.residual_energy);
  }
  if (!report.eigenvalues.empty()) out["eigenvalues"] = report.eigenvalues;
  if (report.cut > 0) {
    out["cut"] = {{"k", report.cut}, {"ratio", report.cut_ratio}, {"weight_below", report.weight_below}};
    if (report.bound) out["cut"]["bound"] = *report.bound;
    if (report.bound_lemma) out["cut"]["bound_lemma_13"] = *report.bound_lemma;
  }
  if (report.kernel_rank)
    out["kernel"] = {{"rank", *report.kernel_rank}, {"error", or_null(report.kernel_error)}};
  return out;
}

json partition_json(const RowPartition& partition, const Dataset& data) {
  const auto rows = static_cast<Index>(partition.labels.size());
  const Index ones = std::count(partition.labels.begin(), partition.labels.end(), 1);
  json out = {{"labels", partition.labels},
              {"sizes", {rows - ones, ones}},
              {"surprise", partition.surprise},
              {"informative", partition.informative},
              {"informative_errors", partition.informative_errors},
              {"starts", partition.starts},
              {"moves", partition.moves}};
  if (!data.original_rows().empty()) out["rows"] = data.original_rows();
  return out;
}

json gaussian_process_json(const GaussianProcessReport& report) {
  json machines = json::array();
  for (const auto& machine : report.machines) {
    machines.push_back({{"class", machine.positive},
                        {"log_marginal_likelihood", machine.log_marginal_likelihood},
                        {"signal", machine.signal},
                        {"lengthscales", machine.lengthscales},
                        {"lengthscales_at_bound", machine.lengthscales_at_bound},
                        {"signal_at_bound", machine.signal_at_bound},
                        {"slope", machine.slope},
                        {"gradients", machine.gradients},
                        {"converged", machine.converged}});
  }
  return {{"features", report.features},
          {"log_marginal_likelihood", report.log_marginal_likelihood},
          {"machines", std::move(machines)}};
}

/// One clustering of the rows.
json row_clusters_json(const RowClusters& clusters, const Dataset& data) {
  json out = {{"labels", clusters.labels},
              {"sizes", clusters.sizes},
              {"eigenvectors", clusters.eigenvectors},
              {"eigenvalues", clusters.eigenvalues},
              {"kmeans",
               {{"within", clusters.within}, {"restarts", clusters.sums}, {"converged", clusters.converged}}},
              {"passes", clusters.passes}};
  if (clusters.gap.clusters > 0)
    out["eigen_gap"] = {{"clusters", clusters.gap.clusters}, {"ratio", clusters.gap.ratio}};
  if (clusters.agreement) {
    const Agreement& agreement = *clusters.agreement;
    json matching = json::array();
    for (const Index c : agreement.matching)
      matching.push_back(c < 0 ? json() : json(data.labels()->classes[static_cast<std::size_t>(c)]));
    out["agreement"] = {{"rows", agreement.rows},
                        {"accuracy", agreement.rows > 0 ? json(agreement.accuracy) : json()},
                        {"adjusted_rand_index", agreement.rows > 0 ? json(agreement.adjusted_rand) : json()},
                        {"matching", std::move(matching)}};
  }
  return out;
}

/// The first held-out sets of every method; --details has them all.
json folds_json(const Evaluation& evaluation) {
  constexpr std::size_t kMostFolds = 2000;
  std::map<std::string_view, std::size_t> listed;
  json folds = json::array();
  for (const EvaluationFold& fold : evaluation.folds) {
    if (++listed[fold.method] <= kMostFolds) folds.push_back(fold_json(fold));
  }
  return folds;
}

json ranking_json(const Evaluation& evaluation) {
  json ranking = json::array();
  for (const MethodRank& rank : evaluation.ranking) {
    ranking.push_back({{"method", rank.method},
                       {"k", rank.k > 0 ? json(rank.k) : json()},
                       {"error", rank.error},
                       {"behind", rank.behind},
                       {"behind_stderr", rank.behind_stderr}});
  }
  return ranking;
}

json comparison_json(const Evaluation& evaluation) {
  json comparison = json::array();
  for (const MethodComparison& pair : evaluation.comparison) {
    comparison.push_back(
        {{"methods", {pair.first, pair.second}}, {"difference", pair.difference}, {"stderr", pair.stderr_}});
  }
  return comparison;
}

constexpr Index kMostListed = 100000;  // x0, x1, ... and numbers of millions of columns say nothing

}  // namespace

json data_json(const Dataset& data) {
  json out = {{"source", data.source()}, {"rows", data.rows()}, {"features", data.features()}};
  if (data.names().given() || data.features() <= kMostListed) out["names"] = data.names().all();
  if (data.labels()) {
    out["target"] = data.labels()->name;
    out["classes"] = data.labels()->classes;
    out["class_counts"] = data.labels()->counts();
  }
  return out;
}

json ridge_all_rows_json(const Evaluation& evaluation) {
  if (!evaluation.ridge_known) return nullptr;
  return OptionCodec<Ridge>::json(as_option(evaluation.ridge_all_rows));
}

namespace {

/// Of a table that is read in blocks: how much was read, and how often that is all of it.
json with_traffic(json timing, const Dataset& data) {
  if (!data.values().source()) return timing;
  const ReadTraffic& traffic = data.values().source()->traffic();
  const auto bytes = static_cast<double>(traffic.bytes.load());
  timing["bytes_read"] = traffic.bytes.load();
  timing["passes"] = traffic.pass > 0.0 ? bytes / traffic.pass : 0.0;
  return timing;
}

}  // namespace

json selection_json(const Selection& selection, const Dataset& data, const ResultContext& context) {
  json options = context.options;
  options.update(record_of(selection));
  if (options.contains("criterion")) options["criterion"] = OptionCodec<Criterion>::json(selection.criterion);
  if (options.contains("ridge")) options["ridge_asked"] = options["ridge"];
  options["ridge"] = OptionCodec<Ridge>::json(as_option(selection.ridge));
  json path = json::array();
  const FeatureGroups* const groups = context.groups;
  for (const auto& entry : selection.sets()) path.push_back(path_entry_json(entry, data, groups));
  json warnings = warnings_json({&data.warnings(), &selection.warnings}, context.spelling);
  json out = {{"schema", "subspectra.selection/1"},
              {"version", version()},
              {"method", selection.method},
              {"status", status_name(selection.status)},
              {"options", std::move(options)},
              {"data", data_json(data)},
              {"path", std::move(path)},
              {"timing", with_traffic({{"read_s", context.read_s},
                                       {"prepare_s", selection.prepare_s},
                                       {"search_s", selection.search_s},
                                       {"total_s", context.total_s}},
                                      data)},
              {"warnings", std::move(warnings)}};
  if (selection.search) {
    out["search"] = {{"nodes", selection.search->nodes},
                     {"incumbent_updates", selection.search->incumbent_updates},
                     {"open_nodes", selection.search->open_nodes}};
  }
  if (!selection.ridge_variances.empty()) {
    out["ridge"] = {{"fraction", selection.ridge.fraction}};
    if (data.features() <= kMostListed) out["ridge"]["variances"] = selection.ridge_variances;
  }
  if (selection.relevance) out["relevance"] = relevance_json(*selection.relevance);
  if (selection.partition) out["partition"] = partition_json(*selection.partition, data);
  if (selection.gaussian_process)
    out["gaussian_process"] = gaussian_process_json(*selection.gaussian_process);
  if (!selection.ranking.empty()) out["ranking"] = selection.ranking;
  const auto* const path_answer = std::get_if<SizePath>(&selection.answer);
  if (path_answer != nullptr && !path_answer->further_components.empty()) {
    json components = json::array();
    Index number = 2;
    for (const auto& entries : path_answer->further_components) {
      json list = json::array();
      for (const auto& entry : entries) list.push_back(path_entry_json(entry, data, groups));
      components.push_back({{"component", number++}, {"path", std::move(list)}});
    }
    out["components"] = std::move(components);
  }
  if (selection.own_rule()) {
    const bool by_columns = std::holds_alternative<Components>(selection.answer);
    json records = json::array();
    for (const auto& record : selection.fits()) records.push_back(discriminants_json(record, by_columns));
    if (const auto* chosen = selection.chosen_fit())
      out["discriminants"] = records[static_cast<std::size_t>(chosen - selection.fits().data())];
    if (!selection.size_fixed && !by_columns) out["lambda_path"] = std::move(records);
  }
  if (!selection.trace.empty()) {
    json trace = json::array();
    Index iteration = 0;
    for (const auto& point : selection.trace) {
      trace.push_back({{"iteration", ++iteration}, {"objective", point.objective}});
      if (point.features) trace.back()["features"] = *point.features;
    }
    out["trace"] = std::move(trace);
  }
  if (!selection.weights.empty()) out["weights"] = selection.weights;
  return out;
}

json evaluation_json(const Evaluation& evaluation, const Dataset& data, const ResultContext& context) {
  json results = json::array();
  for (const auto& row : evaluation.rows) {
    json out = {{"method", row.method},
                {"k", row.k > 0 ? json(row.k) : json()},
                {"lambda", or_null(row.lambda)},
                {"error", row.error},
                {"stderr", row.stderr_},
                {"balanced_error", row.balanced_error},
                {"balanced_stderr", row.balanced_stderr},
                {"apparent_error", row.apparent_error},
                {"log_loss", row.log_loss},
                {"log_loss_stderr", row.log_loss_stderr},
                {"information_bits", row.information_bits},
                {"features", row.features},
                {"entries", row.entries}};
    if (row.null_error) out["null_error"] = *row.null_error;
    if (row.stability) out["stability"] = *row.stability;
    if (row.stability_interval) {
      out["stability_interval"] = {row.stability_interval->first, row.stability_interval->second};
    }
    results.push_back(std::move(out));
  }
  json chosen = json::array();
  for (const auto& choice : evaluation.chosen) chosen.push_back(choice_json(choice));
  json options = context.options;
  if (options.contains("criterion"))
    options["criterion"] = OptionCodec<Criterion>::json(evaluation.criterion);
  json protocol = options_json(evaluation.options);
  protocol["classifier"] = evaluation.options.classifier.name();
  protocol["nested"] = evaluation.nested;
  protocol["seed"] = context.options.value("seed", std::uint64_t{0});
  if (const auto groups = context.options.value("cv_groups", std::string()); !groups.empty()) {
    protocol["cv_groups"] = groups;
    protocol["groups"] = std::set<std::string>(data.row_groups().begin(), data.row_groups().end()).size();
  }
  protocol["held_out_sets"] = evaluation.folds_planned;
  protocol["held_out_sets_run"] = evaluation.folds_run;
  json warnings = warnings_json({&data.warnings(), &evaluation.warnings}, context.spelling);
  json out = {{"schema", "subspectra.evaluation/1"},
              {"version", version()},
              {"status", status_name(evaluation.status)},
              {"complete", evaluation.complete()},
              {"options", std::move(options)},
              {"data", data_json(data)},
              {"protocol", std::move(protocol)},
              {"results", std::move(results)},
              {"timing", with_traffic({{"read_s", context.read_s}, {"total_s", context.total_s}}, data)},
              {"warnings", std::move(warnings)}};
  if (evaluation.chosen.empty()) return out;
  out["chosen"] = std::move(chosen);
  out["folds"] = folds_json(evaluation);
  if (evaluation.methods.size() > 1) {
    out["ranking"] = ranking_json(evaluation);
    out["comparison"] = comparison_json(evaluation);
  }
  return out;
}

json fold_json(const EvaluationFold& fold) {
  json out = {{"method", fold.method},     {"repeat", fold.repeat},
              {"fold", fold.fold},         {"k", fold.k > 0 ? json(fold.k) : json()},
              {"features", fold.features}, {"error", fold.error}};
  if (fold.used) out["used"] = used_json(*fold.used);
  return out;
}

json clustering_json(const Clustering& clustering, const Dataset& data, const ResultContext& context) {
  const Selection& selection = clustering.selection;
  json options = context.options;
  options.update(record_of(selection));
  options.update(options_json(clustering.options));
  json warnings =
      warnings_json({&data.warnings(), &selection.warnings, &clustering.warnings}, context.spelling);
  json out = row_clusters_json(clustering.chosen, data);
  out.update({{"schema", "subspectra.clustering/1"},
              {"version", version()},
              {"method", selection.method},
              {"status", status_name(clustering.status)},
              {"options", std::move(options)},
              {"data", data_json(data)},
              {"features", clustering.features},
              {"names", data.names().selected(clustering.features).all()},
              {"by_cut", clustering.by_cut},
              {"ranking", selection.ranking},
              {"weights", selection.weights},
              {"timing",
               {{"read_s", context.read_s},
                {"prepare_s", selection.prepare_s},
                {"search_s", selection.search_s},
                {"cluster_s", clustering.cluster_s},
                {"total_s", context.total_s}}},
              {"warnings", std::move(warnings)}});
  if (!data.original_rows().empty()) out["rows"] = data.original_rows();
  if (selection.relevance) out["relevance"] = relevance_json(*selection.relevance);
  if (clustering.all) {
    out["all_features"] = row_clusters_json(*clustering.all, data);
    out["all_features"]["count"] = clustering.all_features;
    out["all_features"]["adjusted_rand_index_with_selected"] = *clustering.similarity;
  }
  return out;
}

// --- the public face

std::string Selection::to_json(const Dataset& data, const SelectOptions& options) const {
  if (features > 0 && features != data.features())
    throw InvalidArgument({.field = "data",
                           .value = fmt::to_string(data.features()),
                           .rule = fmt::format("has {}, but the features were chosen among {}",
                                               counted(data.features(), "feature"), features),
                           .way_out = "give the table that select was given"});
  require_identity(data, table, "select");
  const auto groups = groups_of(options, data.names());
  ResultContext context;
  context.options = options_json(options.prepare);
  context.options.update(options_json(options));
  const KRange used =
      options.k.given() || sets().empty() ? options.k : KRange(sets().front().k(), sets().back().k());
  context.options["k"] =
      used.given() ? OptionCodec<KRange>::json(used) : nlohmann::json::array({used.lo, used.hi});
  context.options["threads"] = resolve_threads(options.threads);
  context.groups = groups ? groups.get() : data.details().categories.get();
  context.total_s = prepare_s + search_s;
  return dump_json(selection_json(*this, data, context), 2) + "\n";
}

std::string Selection::to_json(const Covariances& matrices, const SelectOptions& options) const {
  return to_json(placeholder(matrices.problem()), options);
}

std::string Evaluation::to_json(const Dataset& data) const {
  require_identity(data, table, "evaluate");
  ResultContext context;
  context.options = options_json(options.select.prepare);
  context.options.update(options_json(options.select));
  context.options.update(options_json(options));
  context.options["classifier"] = options.classifier.name();
  context.options["ridge_all_rows"] = ridge_all_rows_json(*this);
  context.total_s = total_s;
  return dump_json(evaluation_json(*this, data, context), 2) + "\n";
}

}  // namespace subspectra
