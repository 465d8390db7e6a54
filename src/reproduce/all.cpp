/// Every experiment of the papers, one after another.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "core/json_io.hpp"
#include "core/text.hpp"
#include "reproduce/papers.hpp"

namespace subspectra::reproduce {
namespace {

namespace fs = std::filesystem;

/// The entries of a folder by their names without suffixes, "usps" for usps.npz and for a folder usps.
std::map<std::string, std::string, std::less<>> entries_by_stem(const std::string& folder) {
  std::map<std::string, std::string, std::less<>> entries;
  if (folder.empty()) return entries;
  std::error_code problem;
  std::vector<std::string> paths;
  for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem))
    paths.push_back(it->path().string());
  if (problem) {
    throw BadInput(
        {.file = folder},
        fmt::format(
            "{}; ⟨data⟩ of `all` is a folder in which the experiments' files have their names (docs/reproduce.md)",
            problem.message()));
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    const std::string name = fs::path(path).filename().string();
    entries.emplace(name.substr(0, name.find('.')), path);  // the first by name where there are several
  }
  return entries;
}

/// What an experiment is run on: nothing (it makes its data), a file, or its stand-in.
struct Supply {
  bool possible = true;
  bool stands_in = false;
  std::string data, images;
};

Supply supply_of(const Experiment& experiment,
                 const std::map<std::string, std::string, std::less<>>& entries) {
  if (experiment.needs.empty()) return {};
  for (const auto& stem : experiment.files) {
    const auto found = entries.find(stem);
    if (found == entries.end()) continue;
    if (experiment.takes_images && fs::is_directory(found->second)) return {.images = found->second};
    return {.data = found->second};
  }
  if (experiment.stand_in.empty()) return {.possible = false};
  return {.stands_in = true, .data = std::string(experiment.stand_in)};
}

/// The numbers that stand alone and those with a published one; curves have too many. Beside a stand-in's
/// nothing published belongs.
void add_headlines(const Reproduction& one, bool stands_in, Reproduction& all) {
  for (const Finding& finding : one.results) {
    if (finding.x && !finding.published && finding.statement.empty()) continue;
    Finding line = finding;
    line.series = fmt::format("{}: {}", one.id, one.name(finding));
    line.x.reset();
    if (stands_in) {
      line.published.reset();
      line.statement.clear();
    }
    all.results.push_back(std::move(line));
  }
}

}  // namespace

Reproduction run_all_experiments(const ReproduceOptions& options, const std::stop_token& stop,
                                 double time_limit_s, const RunControl::Sink& sink, double interval_s) {
  const RunControl whole(stop, time_limit_s, sink, interval_s);
  ReproduceOptions allowed;
  allowed.quick = options.quick;
  allowed.data = options.data;
  allowed.seed = options.seed;
  allowed.threads = options.threads;
  const auto asked = options_json(options);
  const auto taken = options_json(allowed);
  for (const auto& [name, value] : asked.items()) {
    if (value == taken[name]) continue;
    throw InvalidArgument({.field = name,
                           .value = dump_json(value),
                           .rule = "is an option of single experiments",
                           .way_out = "leave it out of `reproduce all`"});
  }
  options.validate();
  const auto entries = entries_by_stem(options.data);
  Reproduction all;
  all.id = "all";
  all.source = "the four papers";
  all.axis = "";
  all.spread = "the spread of each experiment's own report";
  all.settings = {{"quick", options.quick}, {"seed", options.seed}};
  if (!options.data.empty()) all.settings["data"] = options.data;
  all.protocol.emplace_back(
      "Every experiment in turn, each with its own protocol (`reproduce ID` shows it whole); here are the numbers that stand alone.");
  if (options.quick) {
    all.protocol.push_back(fmt::format(
        "Reduced (⟨quick⟩): fewer repetitions, smaller sizes, at most {:g} s each. What was stopped by that has the status time_limit.",
        kQuickSeconds));
  }
  all.status = Status::kHeuristic;
  auto list = nlohmann::json::array();
  const auto total = static_cast<double>(experiments().size());
  std::vector<std::string> on_stand_ins, without;
  for (const Experiment& experiment : experiments()) {
    if (whole.should_stop()) break;
    whole.report("reproduce all", static_cast<double>(list.size()) / total,
                 [&] { return std::string(experiment.id); });
    const Supply supply = supply_of(experiment, entries);
    if (!supply.possible) {
      without.emplace_back(experiment.id);
      list.push_back({{"id", experiment.id}, {"status", "needs data"}, {"needs", experiment.needs}});
      continue;
    }
    ReproduceOptions own = allowed;
    own.data = supply.data;
    own.images = supply.images;
    const double left = time_limit_s - whole.elapsed_s();
    const RunControl control(stop, options.quick ? std::min(left, kQuickSeconds) : left);
    Reproduction one;
    try {
      one = run_experiment(experiment, own, control);
    } catch (const Error& problem) {  // of its file: the others have theirs
      all.notes.push_back(fmt::format("{} failed: {}", experiment.id, problem.marked()));
      list.push_back(
          {{"id", experiment.id}, {"status", "failed"}, {"data", own.data}, {"error", problem.marked()}});
      continue;
    }
    if (supply.stands_in) on_stand_ins.emplace_back(experiment.id);
    all.status = worst(all.status, one.status);
    add_headlines(one, supply.stands_in, all);
    list.push_back({{"id", experiment.id},
                    {"source", experiment.source},
                    {"status", status_name(one.status)},
                    {"data", supply.images.empty() ? supply.data : supply.images},
                    {"stand_in", supply.stands_in},
                    {"results", one.results.size()},
                    {"seconds", one.total_s}});
  }
  all.details["experiments"] = std::move(list);
  if (!on_stand_ins.empty()) {
    all.notes.push_back(fmt::format(
        "Run on the embedded Sonar table for want of the paper's data, to show that they run; their numbers have nothing to do with the published ones: {}. `⟨data DIR⟩` names a folder with the files.",
        join_some(on_stand_ins, on_stand_ins.size())));
  }
  if (!without.empty()) {
    all.notes.push_back(fmt::format("Not run for want of data: {}; `reproduce ID` says what to get.",
                                    join_some(without, without.size())));
  }
  all.status = whole.status_or(all.status);
  all.total_s = whole.elapsed_s();
  return all;
}

}  // namespace subspectra::reproduce
