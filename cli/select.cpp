/// subspectra select: one method on a table; the path or ranking.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "command.hpp"
#include "core/text.hpp"
#include "data/groups.hpp"
#include "io/write.hpp"
#include "job.hpp"
#include "output.hpp"
#include "page_output.hpp"
#include "part.hpp"
#include "progress.hpp"
#include "report/given_sets.hpp"
#include "report/json.hpp"
#include "report/page_facts.hpp"
#include "report/written_set.hpp"
#include "search_log.hpp"
#include "select/record.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

/// A bound that is more than this above the objective, as a fraction of it, says nothing.
constexpr double kUsefulGap = 1.0;

std::vector<std::string_view> exact_methods() {
  std::vector<std::string_view> names;
  for (const MethodEntry& method : MethodRegistry::entries()) {
    if (method.traits->proves) names.push_back(method.traits->name);
  }
  return names;
}

/// What a set is made of, by name: its features, or with --groups its groups, of which each says how many
/// features it has.
struct UnitNames {
  const Dataset& data;
  const FeatureGroups* groups = nullptr;

  [[nodiscard]] const std::vector<Index>& of(const PathEntry& entry) const {
    return groups != nullptr && !entry.units.empty() ? entry.units : entry.features;
  }
  [[nodiscard]] std::string operator()(const PathEntry& entry, Index unit) const {
    if (groups == nullptr || entry.units.empty()) return data.names()[unit];
    const auto at = static_cast<std::size_t>(unit);
    const auto size = groups->members[at].size();
    return size == 1 ? groups->names[at] : fmt::format("{} ({} features)", groups->names[at], size);
  }
};

/// Names of the units of `entry` that are not in `others`, with `sign` before each.
void append_difference(const UnitNames& names, const PathEntry& entry, const std::vector<Index>& others,
                       std::string_view sign, std::vector<std::string>& words) {
  for (const Index unit : names.of(entry)) {
    if (!std::binary_search(others.begin(), others.end(), unit))
      words.push_back(std::string(sign) + names(entry, unit));
  }
}

bool says_something(const PathEntry& entry) {
  const auto gap = entry.known_gap();
  return gap && *gap <= kUsefulGap;
}

/// In percent.
std::string gap_text(const PathEntry& entry) {
  const auto gap = entry.known_gap();
  if (!gap) return "";
  return says_something(entry) ? fmt::format("{:.2f}", 100.0 * *gap)
                               : fmt::format(">{:.0f}", 100.0 * kUsefulGap);
}

/// Why there is no column of bounds although they were computed.
std::string no_useful_bound(const std::vector<PathEntry>& sets) {
  return prose(fmt::format(
      "no useful bound: what is known leaves room for {} of more than twice {} objective (--method {} closes the gap, --json has the numbers)",
      sets.size() > 1 ? "sets" : "a set", sets.size() > 1 ? "the" : "this",
      fmt::join(exact_methods(), " or ")));
}

/// One row a set: the first one whole, then what is added and removed from row to row.
std::string path_table(const UnitNames& names, const Selection& selection) {
  const auto any = [&](auto&& holds) {
    return std::any_of(selection.sets().begin(), selection.sets().end(), holds);
  };
  const bool bounds = any(says_something);
  std::vector<Column> columns = {{.title = "k"}, {.title = "objective"}};
  if (bounds) columns.insert(columns.end(), {{.title = "bound"}, {.title = "gap %"}});
  const bool passes = any([](const PathEntry& entry) { return !entry.pass.empty(); });
  const bool given = any([](const PathEntry& entry) { return entry.given_objective.has_value(); });
  if (given) columns.push_back({.title = "as given"});
  if (passes) columns.push_back({.title = "pass", .align = Align::kLeft});
  columns.push_back({.title = names.groups != nullptr ? "groups" : "features", .align = Align::kLeft});
  Table table(columns);
  const PathEntry* before = nullptr;
  for (const auto& entry : selection.sets()) {
    std::vector<std::string> words;
    append_difference(names, entry, before ? names.of(*before) : std::vector<Index>{}, before ? "+" : "",
                      words);
    if (before) append_difference(names, *before, names.of(entry), "-", words);
    before = &entry;
    std::vector<std::string> row = {std::to_string(entry.k()), fmt::format("{:.6g}", entry.objective)};
    if (bounds) {
      row.push_back(says_something(entry) ? fmt::format("{:.6g}", *entry.upper_bound) : "");
      row.push_back(gap_text(entry));
    }
    if (given) row.push_back(entry.given_objective ? fmt::format("{:.6g}", *entry.given_objective) : "");
    if (passes) row.push_back(entry.pass);
    table.add(std::move(row), std::move(words));
  }
  const bool computed = any([](const PathEntry& entry) { return entry.upper_bound.has_value(); });
  return table.text() + (computed && !bounds ? no_useful_bound(selection.sets()) : "");
}

/// Four significant digits, so that columns in large units show theirs, too: "0.7960", "-1.060e-07".
std::string significant_text(double value) {
  std::string text = fmt::format("{:#.4g}", value);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// The largest double stands for a weight without a bound: of a column that separates the classes perfectly.
std::string weight_text(double weight) {
  return weight == std::numeric_limits<double>::max() ? "inf" : fmt::format("{:.6g}", weight);
}

/// A single set: one row a feature, best first where the method ranks.
std::string set_table(const UnitNames& names, const Selection& selection) {
  const Dataset& data = names.data;
  const auto& entry = selection.sets().front();
  std::vector<Index> order = entry.features;
  if (!selection.ranking.empty()) {
    const auto place = [&](Index j) {
      return std::find(selection.ranking.begin(), selection.ranking.end(), j) - selection.ranking.begin();
    };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return place(a) < place(b); });
  }
  std::vector<Column> columns = {{.title = "feature", .align = Align::kLeft}, {.title = "index"}};
  if (names.groups != nullptr) columns.push_back({.title = "group", .align = Align::kLeft});
  const bool weighted = !selection.weights.empty();
  if (weighted) columns.push_back({.title = "weight"});
  const Index discriminants = std::min<Index>(entry.loadings.cols(), 4);
  for (Index r = 0; r < discriminants; ++r) {
    columns.push_back({.title = fmt::format("loading {}", r + 1),
                       .left_out = r == 0 ? 0 : static_cast<int>(r),
                       .says = "further loadings"});
  }
  Table table(columns);
  for (const Index j : order) {
    const auto at =
        std::lower_bound(entry.features.begin(), entry.features.end(), j) - entry.features.begin();
    std::vector<std::string> row = {data.names()[j], std::to_string(j)};
    if (names.groups != nullptr) {
      const auto group = static_cast<std::size_t>(names.groups->group_of[static_cast<std::size_t>(j)]);
      row.push_back(names.groups->names[group]);
    }
    if (weighted) row.push_back(weight_text(selection.weights[j]));
    for (Index r = 0; r < discriminants; ++r) row.push_back(significant_text(entry.loadings(at, r)));
    table.add(std::move(row));
  }
  return table.text();
}

/// "k = 10, objective 0.61; no set of 10 reaches more than 0.68 (gap 11.30 %, single-drop bound)", or that
/// the bound says nothing.
std::string single_line(const PathEntry& entry) {
  std::string text = fmt::format("k = {}, objective {:.6g}", entry.k(), entry.objective);
  if (entry.given_objective) text += fmt::format(" (as given: {:.6g})", *entry.given_objective);
  const auto gap = entry.known_gap();
  if (gap && *gap <= kCertifiedGap)
    return text + "; " + styled(fmt::format("proven: no set of {} is better", entry.k()), Style::kGood) +
           "\n";
  if (gap && !says_something(entry)) return text + "; no useful bound\n";
  if (gap) {
    text +=
        fmt::format("; no set of {} reaches more than {:.6g} (gap {} %, {})", entry.k(), *entry.upper_bound,
                    gap_text(entry), entry.pass == "exact" ? "branch and bound" : entry.bound + " bound");
  }
  return prose(text);
}

/// --pool: the best sets of every size, what a set has and the best one has not, and the other way round.
std::string pool_text(const Dataset& data, const Selection& selection) {
  const auto append = [&](const std::vector<Index>& of, const std::vector<Index>& in, std::string_view sign,
                          std::vector<std::string>& words) {
    for (const Index j : of) {
      if (!std::binary_search(in.begin(), in.end(), j)) words.push_back(std::string(sign) + data.names()[j]);
    }
  };
  std::string text;
  for (const auto& entry : selection.sets()) {
    if (entry.pool.empty()) continue;
    Table table({{.title = "objective"}, {.title = "features", .align = Align::kLeft}});
    const auto& best = entry.pool.front().features;
    for (const auto& set : entry.pool) {
      std::vector<std::string> words;
      const bool first = &set == &entry.pool.front();
      append(set.features, first ? std::vector<Index>{} : best, first ? "" : "+", words);
      if (!first) append(best, set.features, "-", words);
      table.add({fmt::format("{:.6g}", set.objective)}, std::move(words));
    }
    text += fmt::format("\nthe best {} of k = {}\n{}", counted(entry.pool.size(), "set"), entry.k(),
                        table.text("  "));
  }
  return text;
}

/// "lambda 0.0123: 25 features, 60 entries, objective 0.61, duality gap 1e-08"
std::string discriminants_line(const FittedDiscriminants& record) {
  std::string text = fmt::format("lambda {:.4g}: {}, {}, objective {:.6g}", record.lambda,
                                 counted(record.features.size(), "feature"),
                                 counted(record.entries, "entry", "entries"), record.objective);
  if (record.duality_gap) text += fmt::format(", duality gap {:.1e}", *record.duality_gap);
  return text + (record.converged ? "" : " (not converged)") + "\n";
}

/// "the weights fall most after the first 6, by a factor of 12.3; trace of A 3.1 (14.2 at equal weights)"
std::string relevance_line(const RelevanceReport& report) {
  std::string text = report.cut > 0
                         ? fmt::format("the weights fall most after the first {}, by a factor of {:.3g}",
                                       report.cut, report.cut_ratio)
                         : std::string("the weights fall nowhere");
  return text +
         fmt::format("; objective {:.6g}, trace of A {:.4g} ({:.4g} at equal weights), {} over the data\n",
                     report.objective, report.trace, report.equal_trace,
                     counted(report.passes, "pass", "passes"));
}

/// "partition of 25 and 47 rows: 168 features with at most 3 errors each, surprise 213 (best of 20 starts)"
std::string partition_line(const RowPartition& partition) {
  const auto rows = static_cast<Index>(partition.labels.size());
  const Index ones = std::count(partition.labels.begin(), partition.labels.end(), 1);
  return fmt::format("partition of {} and {}: {} with at most {} each, surprise {:.4g} (best of {})\n",
                     rows - ones, counted(ones, "row"), counted(partition.informative, "feature"),
                     counted(partition.informative_errors, "error"), partition.surprise,
                     counted(partition.starts.size(), "start"));
}

/// "log marginal likelihood -59.17, signal 100 (at its bound); 44 of 60 length-scales at their bounds; 46
/// gradients", a line for every machine.
std::string gaussian_process_lines(const GaussianProcessReport& report) {
  std::string text;
  for (const auto& machine : report.machines) {
    if (report.machines.size() > 1) text += fmt::format("{} against the rest: ", printable(machine.positive));
    text += fmt::format("log marginal likelihood {:.6g}, signal {:.4g}{}", machine.log_marginal_likelihood,
                        machine.signal, machine.signal_at_bound ? " (at its bound)" : "");
    if (machine.lengthscales_at_bound > 0)
      text += fmt::format("; {} of {} length-scales at their bounds", machine.lengthscales_at_bound,
                          machine.lengthscales.size());
    text += fmt::format("; {}{}\n", counted(machine.gradients, "gradient"),
                        machine.converged ? "" : " (not converged)");
  }
  return text;
}

/// Components over all features: what each is made of, the largest entries first.
std::string components_table(const Dataset& data, const FittedDiscriminants& record) {
  constexpr std::size_t kMostNamed = 12;
  Table table({{.title = "component"}, {.title = "features"}, {.title = "largest", .align = Align::kLeft}});
  for (Index c = 0; c < record.matrix.cols(); ++c) {
    const auto column = record.matrix.view().col(c);
    std::vector<Index> order;
    for (Index i = 0; i < column.size(); ++i) {
      if (column[i] != 0.0) order.push_back(i);
    }
    const auto size = order.size();
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return std::abs(column[a]) > std::abs(column[b]); });
    order.resize(std::min(size, kMostNamed));
    std::vector<std::string> words;
    words.reserve(order.size());
    for (const Index i : order) {
      words.push_back((column[i] < 0.0 ? "-" : "") +
                      data.names()[record.features[static_cast<std::size_t>(i)]]);
    }
    table.add({std::to_string(c + 1), std::to_string(size)}, std::move(words));
  }
  return table.text();
}

std::string selection_text(const UnitNames& names, const Selection& selection) {
  const Dataset& data = names.data;
  std::string text = fmt::format("{}\nmethod {}, status {}, ridge {}", data_line(data), selection.method,
                                 shown_status(selection.status), shown(selection.ridge));
  if (selection.search) text += ", " + counted(selection.search->nodes, "node");
  text += "\n\n";
  const FittedDiscriminants* const fit = selection.chosen_fit();
  if (fit != nullptr && std::holds_alternative<Components>(selection.answer))
    return text + components_table(data, *fit);
  if (fit != nullptr) text += discriminants_line(*fit);
  if (selection.relevance) text += relevance_line(*selection.relevance);
  if (selection.partition) text += partition_line(*selection.partition);
  if (selection.gaussian_process) text += gaussian_process_lines(*selection.gaussian_process);
  if (selection.sets().empty()) return text + (fit != nullptr ? "" : "no set was found\n");
  text += selection.sets().size() > 1 ? path_table(names, selection)
                                      : single_line(selection.sets().front()) + set_table(names, selection);
  return text + pool_text(data, selection);
}

/// Where the sets come from: a table, or matrices.
struct Source {
  Dataset data;  ///< for matrices a table without rows
  std::optional<MatrixProblem> matrices;
};

Source load_matrices(Job& job, const MatrixOptions& options) {
  require_writable(job.output.o);
  const Stopwatch reading;
  MatrixProblem problem = read_matrices(options, job.selection.memory_limit.bytes);
  job.read_s = reading.seconds();
  job.load_groups(problem.names);
  Source source{.data = placeholder(problem), .matrices = std::nullopt};
  source.matrices = std::move(problem);
  return source;
}

Source load_source(Job& job, const Arguments& arguments) {
  MatrixOptions matrices;
  set_options(matrices, job.texts);
  const bool given = matrices.given();
  if (given && !arguments.operands.empty()) {
    throw InvalidArgument(fmt::format("'{}' and matrices are both given; name a table, or matrices",
                                      arguments.operands.front()));
  }
  if (given) return load_matrices(job, matrices);
  if (arguments.operands.empty()) {
    throw InvalidArgument(
        "DATA is missing: subspectra select DATA [OPTIONS], or --between A --within B, or --covariance S");
  }
  return {.data = job.load(arguments.operands.front()), .matrices = std::nullopt};
}

/// Which passes a greedy search of a wide table made, where it did not make them all from all columns.
void say_passes(const Selection& selection) {
  const auto record = record_of(selection);
  const auto passes = record.find("passes");
  if (passes == record.end()) return;
  std::string text =
      fmt::format("forward from {}", counted(passes->at("forward").get<std::size_t>(), "column"));
  if (passes->contains("backward"))
    text += fmt::format(", backward from {} that were screened", passes->at("backward").get<std::size_t>());
  if (passes->contains("exchanges"))
    text += fmt::format(", {} among them", counted(passes->at("exchanges").get<std::size_t>(), "exchange"));
  say("note", text + ": the table is wide, and more would cost many times the forward pass");
}

std::string bounds_text(const Selection& selection) {
  std::string text;
  for (const auto& entry : selection.sets()) {
    if (!entry.bounds) continue;
    text += fmt::format("\nk = {}, objective {:.6g}\n", entry.k(), entry.objective);
    const auto list = [&](const char* title, const std::vector<SizeBounds::Named>& bounds) {
      for (const auto& [name, value] : bounds)
        text += fmt::format("  {:<24}{:<18}{:.6g}\n", title, name, value);
    };
    list("no set has more than", entry.bounds->upper);
    list("every set has at least", entry.bounds->lower_any);
    list("the best has at least", entry.bounds->lower_best);
  }
  return text;
}

/// 5 when a proof was asked for and is missing, with the reason on stderr; else 0.
int proof_code(const ProofOptions& proof, const Selection& selection) {
  const double most = proof.require_optimal ? kCertifiedGap : proof.require_gap;
  if (!std::isfinite(most)) return 0;
  const auto lacking = [&](const PathEntry& entry) {
    const auto gap = entry.known_gap();
    return !gap || *gap > most;
  };
  const auto first = std::find_if(selection.sets().begin(), selection.sets().end(), lacking);
  const Index sizes = selection.sizes.count();
  const bool all_sizes = static_cast<Index>(selection.sets().size()) == sizes;
  if (first == selection.sets().end() && all_sizes) return 0;
  const std::string what =
      selection.sets().empty() ? "no set was found"
      : first == selection.sets().end()
          ? fmt::format("only {} of the {} sizes have a set", selection.sets().size(), sizes)
          : fmt::format("k = {}: {}", first->k(),
                        first->known_gap() ? fmt::format("the gap is {:.3g} %", 100.0 * *first->known_gap())
                                           : "there is no bound");
  say("error",
      fmt::format(
          "{} was asked for, but {}; {}", proof.require_optimal ? "--require-optimal" : "--require-gap", what,
          !selection.search
              ? fmt::format("a proof is what --method {} look for", fmt::join(exact_methods(), " and "))
          : selection.status == Status::kHeuristic
              ? "the search has ended, and its digits do not prove it (see the warning): leave near-copies out (--exclude), or give a larger ridge (--ridge rel:F)"
              : "the search needs more time (--time-limit, --node-limit) or an easier question: fewer features or another k"));
  return 5;
}

/// Whether every principal component is an exact search of its own.
bool searches_once_a_component(const std::string& method) {
  if (method.empty()) return false;
  const MethodTraits& traits = *MethodRegistry::find(method).traits;
  return traits.proves && traits.variance;
}

/// Only a search through a tree has events; the default methods have none.
void check_events(const ProofOptions& proof, const std::string& method) {
  if (proof.events.empty()) return;
  if (proof.events == "-") {
    throw InvalidArgument("--events wants a file: standard output is for the result; /dev/stderr would do");
  }
  if (!method.empty() && MethodRegistry::find(method).traits->proves) return;
  throw InvalidArgument(
      fmt::format("--events is the log of an exact search; choose --method {}, or leave it out",
                  fmt::join(exact_methods(), " or ")));
}

/// What the chosen columns are written to.
struct WriteOptions {
  std::string write_table, write_names;
  [[nodiscard]] bool given() const { return !write_table.empty() || !write_names.empty(); }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("write_table", o.write_table,
          "write the chosen columns and the target to this file (.csv, .tsv, .gz of either, .npz)");
    field("write_names", o.write_names,
          "write the chosen names to this file, one a line, as ⟨include @FILE⟩ reads them");
  }
};

/// Refuses before the work what could not be written after it.
void check_writing(const WriteOptions& write, bool matrices) {
  if (!write.write_table.empty()) {
    if (matrices)
      throw InvalidArgument(
          "--write-table writes rows, and matrices have none; --write-names writes the names");
    require_table_ending(write.write_table);
    require_writable(write.write_table);
  }
  require_writable(write.write_names);
}

void write_chosen(const WriteOptions& write, const Dataset& data, const Selection& selection, const Job& job,
                  Signals& signals) {
  if (!write.given()) return;
  const std::vector<Index> features = final_features(selection);
  if (selection.sets().size() > 1 && !job.output.quiet)
    say("note", fmt::format("of {} the last, with {}, is written; -k N chooses another",
                            counted(selection.sets().size(), "set"), counted(features.size(), "feature")));
  if (!write.write_table.empty())
    write_table(write.write_table, table_of(data, features, job.selection.memory_limit.bytes),
                signals.token());
  if (!write.write_names.empty())
    write_result(write.write_names, names_text(data, features), signals.token());
}

}  // namespace

int run_select(const Arguments& arguments, Signals& signals, PartWork* merged) {
  Job job(arguments);
  RunInParts part("select", arguments, merged);
  ProofOptions proof;
  set_options(proof, job.texts);
  if (!(proof.require_gap >= 0.0)) throw InvalidArgument("--require-gap must be 0 or a positive fraction");
  MethodOptions asked;
  RefitOptions refit;
  WriteOptions write;
  CsvOptions csv;
  set_options(asked, job.texts);
  set_options(csv, job.texts);
  set_options(refit, job.texts);
  set_options(write, job.texts);
  require_method_name(job.texts, !asked.method.empty());
  if (!refit.refit.empty() && !asked.method.empty()) {
    throw InvalidArgument(
        "--refit searches nothing, so that --method has no meaning beside it; leave one out");
  }
  if (!refit.refit.empty() && job.selection.k.given()) {
    throw InvalidArgument(
        "--refit takes the sets as they are, so that -k has no meaning beside it; leave one out");
  }
  if (!asked.method.empty())
    check_method_options(job.texts, {&MethodRegistry::find(asked.method)}, MethodRegistry::entries());
  job.check_exact_search(job.selection.components > 1 && searches_once_a_component(asked.method));
  check_events(proof, asked.method);
  check_writing(write, arguments.operands.empty());
  const PageOutput page = page_output(job.texts);
  const Source source = load_source(job, arguments);
  page.check_shape(source.data.features());
  part.begin(job, source.data);
  job.selection.part_work = part.work();
  ProgressLine progress(job.output.progress, job.output.quiet);
  RunControl control(signals.token(), job.run.time_limit, progress.sink(), progress.interval_s());
  SearchLog log(proof.events, progress.shown() || job.output.verbose, progress, page.wanted());
  control.listen(log.sink());
  signals.begin_work();
  if (source.matrices) refuse_preparation(job.prepare);
  const std::uint64_t memory_limit = job.selection.memory_limit.bytes;
  const Preparation preparation =
      source.matrices ? Preparation() : Preparation::learn(source.data, job.prepare, memory_limit);
  const Dataset prepared =
      source.matrices ? source.data : preparation.changed_copy(source.data, memory_limit);
  Selection selection;
  if (!refit.refit.empty()) {
    const auto sets = read_given_sets(refit.refit, job.selection.memory_limit.bytes);
    selection = source.matrices ? refit_sets(*source.matrices, sets, job.selection)
                                : refit_sets(prepared, sets, job.selection);
  } else if (source.matrices) {
    const MethodEntry& method =
        asked.method.empty() ? MethodRegistry::find(source.matrices->b ? default_method(true) : "gspca")
                             : MethodRegistry::find(asked.method);
    check_method_options(job.texts, {&method}, MethodRegistry::entries());
    selection = select_features(*source.matrices, job.method(method), job.selection, control);
  } else {
    const MethodEntry& method = job.choose_method(source.data);
    check_method_options(job.texts, {&method}, MethodRegistry::entries());
    selection = select_features(prepared, job.method(method), job.selection, control);
    to_table_units(preparation, selection);
  }
  progress.erase();
  job.selection.part_work = nullptr;
  if (part.one_part())
    return part.finish(!control.should_stop() && selection.status != Status::kInterrupted, job, signals);
  if (!selection.own_rule() && selection.sets().empty() && selection.status == Status::kRankLimit) {
    throw Infeasible(fmt::format(
        "no set exists: features of every set of {} are linearly dependent, and their within-class covariance has no inverse; ask for fewer with ⟨k⟩, or use ⟨ridge auto⟩ (or a number)",
        counted(selection.sizes.lo, job.selection.groups.empty() ? "feature" : "group")));
  }

  KRange k = job.selection.k;
  if (!k.given() && !selection.sets().empty())
    k = {selection.sets().front().k(), selection.sets().back().k()};
  if (!k.given()) k = k.resolved(prepared.features());
  const ResultContext context = {.options = job.used_options(k),
                                 .read_s = job.read_s,
                                 .total_s = job.watch.seconds(),
                                 .groups = job.selection.feature_groups ? job.selection.feature_groups.get()
                                                                        : prepared.details().categories.get(),
                                 .spelling = Spelling::kCommandLine};
  // Thousands of sets with their names and loadings are more work as a text than as a result.
  const bool as_json = job.output.json || !job.output.o.empty() || page.wanted();
  const nlohmann::json object = as_json ? selection_json(selection, prepared, context) : nlohmann::json();
  const std::string result = as_json ? json_text(object) : std::string();
  job.warn(prepared.warnings(), selection.warnings);
  if (job.output.verbose) say_passes(selection);
  write_result_as_named(job.output.o, object, result, signals.token(), csv.csv_safe);
  write_chosen(write, source.data, selection, job, signals);
  if (page.wanted()) {
    SelectOptions as_used = job.selection;
    as_used.ridge = as_option(selection.ridge);
    page.write({{.name = "selection.json",
                 .command = {},
                 .result = object,
                 .facts = page_facts(object, prepared, as_used, page.shape()),
                 .events = log.events()}},
               signals.token());
  }
  if (job.output.o != "-") {
    const UnitNames names{prepared, job.selection.feature_groups.get()};
    write_stdout(job.output.json ? result : selection_text(names, selection) + bounds_text(selection));
  }
  if (signals.exit_code() != 0) return signals.exit_code();
  return proof_code(proof, selection);
}

namespace {

Operand optional_data() {
  Operand operand = data_operand();
  operand.may_be_left_out = true;
  return operand;
}

}  // namespace

Command select_command() {
  return {
      .page = {.name = "select",
               .usage = "select [DATA] [OPTIONS]",
               .purpose =
                   "Choose features of a table by one method and print the path: a set for every size k.",
               .examples =
                   {{.command = "subspectra select sonar -k 10", .says = "ten of the 60 features"},
                    {.command = "subspectra select ionosphere --method gspca -k 5 --bounds",
                     .says = "without labels: the five columns with most common variance, and every bound"},
                    {.command = "subspectra select sonar --method ks -k 1:5 --json",
                     .says = "sets of one to five features, as JSON"},
                    {.command = "subspectra select sonar --method eslda -k 5 --require-optimal",
                     .says = "the best five features of all, with a proof"},
                    {.command =
                         "subspectra select sonar --method eslda -k 1:20 --time-limit 3 --checkpoint s.json",
                     .says = "what three seconds can prove; --resume s.json goes on"},
                    {.command = "subspectra select sonar --include V1 --exclude V11,V12 -o result.json",
                     .says = "with constraints; a table here, every detail in the file"},
                    {.command = "subspectra select sonar -k 5 --write-table five.csv --write-names five.txt",
                     .says = "the chosen columns with the classes, and their names, for use elsewhere"}},
               .operands = {optional_data()},
               .groups = {data_group(),
                          {.title = "Matrices instead of DATA", .options = describe_options<MatrixOptions>()},
                          selection_group(method_option() + describe_options<RefitOptions>() +
                                          describe_options<ProofOptions>() + describe_options<PartOptions>()),
                          method_group(),
                          {.title = "Output",
                           .options = output_options() +
                                      reworded(describe_options<WriteOptions>(),
                                               {{.name = "write_table", .hint = "FILE", .help = ""},
                                                {.name = "write_names", .hint = "FILE", .help = ""}}) +
                                      describe_options<CsvOptions>() + page_options()}},
               .notes = {status_note()},
               .hidden = {},
               .main_options =
                   {{.name = "method", .says = "`subspectra methods` lists them"},
                    {.name = "k", .says = "how many; default 1:min(p, 50)"},
                    {.name = "target", .says = "the label column, or none"},
                    {.name = "include", .says = "always chosen: names, patterns (gene_*) or @FILE"},
                    {.name = "exclude", .says = "never chosen: names, patterns (gene_*) or @FILE"},
                    {.name = "groups", .says = "CSV file feature,group: chosen as a whole"},
                    {.name = "missing", .says = "missing values"},
                    {.name = "standardize", .says = "columns scaled to unit variance first"},
                    {.name = "criterion", .says = "what a set is judged by"},
                    {.name = "time_limit", .says = "stop after so long, with what has been found"},
                    {.name = "require_optimal", .says = "exit code 5 unless every set is proven the best"},
                    {.name = "json", .says = "the result as JSON on stdout"},
                    {.name = "o", .says = "into this file as well; of a name in .csv as CSV"}},
               .brief = "choose features by one method; a set for every size"},
      .run = [](const Arguments& arguments, Signals& signals) {
        return run_select(arguments, signals, nullptr);
      }};
}

}  // namespace subspectra::cli
