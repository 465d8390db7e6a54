/// subspectra verify: a result file against the data, by a route of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "command.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "io/byte_source.hpp"
#include "io/read_groups.hpp"
#include "job.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "table.hpp"
#include "verify/check.hpp"

namespace subspectra::cli {
namespace {

using nlohmann::json;

struct GroupsOptions {
  std::string groups;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("groups", o.groups, "the file of --groups, where it is no longer where the result says");
  }
};

/// What the findings of one kind come to.
struct Tally {
  Index checked = 0, failed = 0;
  std::optional<double> worst;  ///< relative deviation
};

Tally tally(const Verification& verification, CheckKind kind) {
  Tally all;
  for (const auto& finding : verification.findings) {
    if (finding.kind != kind) continue;
    ++all.checked;
    if (!finding.ok) ++all.failed;
    if (finding.deviation) all.worst = std::max(all.worst.value_or(0.0), *finding.deviation);
  }
  return all;
}

std::string_view name_of(CheckKind kind) {
  for (const auto& check : check_descriptions()) {
    if (check.kind == kind) return check.name;
  }
  return {};
}

/// "k = 3: objective: ..."
std::string sentence(const Finding& finding) {
  std::string place;
  if (finding.component > 1) place += fmt::format("component {}, ", finding.component);
  if (finding.k > 0) place += fmt::format("k = {}, ", finding.k);
  return fmt::format("{}{}: {}", place, name_of(finding.kind), in_flags(finding.words));
}

std::string_view ending(const Verification& verification) {
  switch (verification.stop) {
    case RunControl::Stop::kTimeLimit:
      return "time_limit";
    case RunControl::Stop::kInterrupted:
      return "interrupted";
    case RunControl::Stop::kGoOn:
      break;
  }
  return "complete";
}

std::string verdict(const Verification& verification) {
  const auto checks = counted(verification.findings.size(), "check");
  switch (verification.verdict()) {
    case Verdict::kHolds:
      return fmt::format("{} of {}: all hold", checks, counted(verification.entries, "set"));
    case Verdict::kFails: {
      const Index failed = verification.failures();
      return fmt::format("{} of {} {}", failed, checks, failed == 1 ? "fails" : "fail");
    }
    case Verdict::kUnchecked:
      break;
  }
  return fmt::format("nothing is wrong in {} of {}, but not everything could be checked", checks,
                     counted(verification.entries, "set"));
}

std::string verification_text(const ClaimedResult& claims, const Dataset& data,
                              const Verification& verification) {
  constexpr int kMostShown = 10;
  std::string text = fmt::format("{}\n{}: method {}, status {}, criterion {}, ridge {}\n\n", data_line(data),
                                 claims.file, claims.method, claims.status,
                                 OptionCodec<Criterion>::format(claims.criterion), shown(claims.ridge));
  Table table({{.title = "check", .align = Align::kLeft},
               {.title = "checked"},
               {.title = "failed"},
               {.title = "worst deviation"},
               {.title = "", .align = Align::kLeft}});
  for (const auto& check : check_descriptions()) {
    const Tally all = tally(verification, check.kind);
    if (all.checked == 0) continue;
    table.add({std::string(check.name), std::to_string(all.checked), std::to_string(all.failed),
               all.worst ? fmt::format("{:.1e}", *all.worst) : "", in_flags(check.says)});
  }
  text += table.text() + '\n';
  if (verification.sets_enumerated > 0.0) {
    text += fmt::format("{:.0f} sets of {} enumerated\n", verification.sets_enumerated,
                        counted(verification.candidates, claims.groups.empty() ? "candidate" : "group"));
  }
  if (verification.nodes > 0.0)
    text += counted(static_cast<std::int64_t>(verification.nodes), "node") + " of the branch and bound\n";
  for (const auto& words : verification.not_checked())
    text += fmt::format("not checked: {}\n", printable(in_flags(words)));
  text += verdict(verification) + (verification.verdict() == Verdict::kFails ? ":\n" : "\n");
  int shown = 0;
  for (const auto& finding : verification.findings) {
    if (!finding.ok && ++shown <= kMostShown) text += "  " + printable(sentence(finding)) + '\n';
  }
  if (shown > kMostShown) text += fmt::format("  and {} more (--json has all)\n", shown - kMostShown);
  return text;
}

json finding_json(const Finding& finding) {
  json out = {{"check", name_of(finding.kind)}, {"ok", finding.ok}};
  if (finding.k > 0) out["k"] = finding.k;
  if (finding.component > 1) out["component"] = finding.component;
  if (!finding.words.empty()) out["what"] = in_flags(finding.words);
  const auto number = [&](const char* key, const std::optional<double>& value) {
    if (value) out[key] = *value;
  };
  number("claimed", finding.claimed);
  number("recomputed", finding.recomputed);
  number("deviation", finding.deviation);
  number("tolerance", finding.tolerance);
  return out;
}

json verification_json(const ClaimedResult& claims, const Dataset& data, const Verification& verification,
                       json options, double total_s) {
  json checks = json::array();
  for (const auto& check : check_descriptions()) {
    const Tally all = tally(verification, check.kind);
    json row = {{"name", check.name},
                {"checked", all.checked},
                {"failed", all.failed},
                {"says", in_flags(check.says)}};
    if (all.worst) row["worst_deviation"] = *all.worst;
    checks.push_back(std::move(row));
  }
  const auto range = [](const std::optional<KRange>& k) {
    return !k ? json() : k->contiguous() ? json{k->lo, k->hi} : json(k->text());
  };
  const bool failed = verification.verdict() == Verdict::kFails;
  json findings = json::array();
  for (const auto& finding : verification.findings) findings.push_back(finding_json(finding));
  return {{"schema", "subspectra.verification/1"},
          {"version", version()},
          {"result", claims.file},
          {"data", data.source()},
          {"method", claims.method},
          {"verdict", verdict_name(verification.verdict())},
          {"holds", verification.verdict() == Verdict::kUnchecked ? json() : json(!failed)},
          {"status", ending(verification)},
          {"options", std::move(options)},
          {"entries", verification.entries},
          {"candidates", verification.candidates},
          {"sizes",
           {{"asked", range(verification.asked)},
            {"possible", range(verification.possible)},
            {"missing", verification.missing}}},
          {"sets_enumerated", verification.sets_enumerated},
          {"nodes", verification.nodes},
          {"checks", std::move(checks)},
          {"findings", std::move(findings)},
          {"not_checked", spelled(verification.not_checked(), Spelling::kCommandLine)},
          {"timing", {{"total_s", total_s}}}};
}

/// The groups of the result, from --groups or from where the result says they were.
std::optional<FeatureGroups> load_groups(const ClaimedResult& claims, const std::string& given,
                                         const FeatureNames& names) {
  if (claims.groups.empty()) {
    if (!given.empty()) {
      throw InvalidArgument(fmt::format("{} was made without groups; leave --groups out", claims.file));
    }
    return std::nullopt;
  }
  const std::string& path = given.empty() ? claims.groups : given;
  (void)checked_file_size(path);  // a name out of a file that may be anybody's: no pipe, no device
  return read_groups(path, names);
}

int run_verify(const Arguments& arguments, Signals& signals) {
  const Stopwatch watch;
  MatrixOptions matrices;
  GroupsOptions group_options;
  VerifyOptions options;
  RunOptions limits;
  OutputOptions output;
  set_options(matrices, arguments.texts);
  set_options(group_options, arguments.texts);
  set_options(options, arguments.texts);
  set_options(limits, arguments.texts);
  set_options(output, arguments.texts);
  limits.validate();
  const bool table_given = arguments.operands.size() > 1;
  if (matrices.given() && table_given) {
    throw InvalidArgument(
        fmt::format("'{}' and matrices are both given; name a table, or matrices", arguments.operands[1]));
  }
  if (!matrices.given() && !table_given) {
    throw InvalidArgument(
        "DATA is missing: subspectra verify RESULT.json DATA, or --between A --within B, or --covariance S");
  }
  require_writable(output.o);
  ClaimedResult claims = read_claims(arguments.operands[0], options.memory_limit.bytes);
  claims.read.memory_limit = options.memory_limit;
  options.timed = std::isfinite(limits.time_limit);

  ProgressLine progress(output.progress, output.quiet);
  const RunControl control(signals.token(), limits.time_limit, progress.sink(), progress.interval_s());
  Dataset data;
  Verification verification;
  if (matrices.given()) {
    const MatrixProblem problem = read_matrices(matrices, options.memory_limit.bytes);
    data = placeholder(problem);
    const auto groups = load_groups(claims, group_options.groups, problem.names);
    signals.begin_work();
    verification = verify_claims(
        claims, VerifyMatrices{problem.source, problem.names, problem.a, problem.b ? &*problem.b : nullptr},
        groups ? &*groups : nullptr, options, control);
  } else {
    Dataset table = check_values(read_table(arguments.operands[1], claims.read), claims.prepare,
                                 claims.exclude, options.memory_limit.bytes);
    if (output.verbose) say_notes(table);
    const auto preparation = Preparation::learn(table, claims.prepare, options.memory_limit.bytes);
    data = preparation.apply(std::move(table));
    const auto groups = load_groups(claims, group_options.groups, data.names());
    signals.begin_work();
    verification = verify_claims(claims, data, groups ? &*groups : nullptr, options, control);
  }
  progress.erase();

  json used = options_json(options);
  used.update(options_json(limits));
  const json object = verification_json(claims, data, verification, std::move(used), watch.seconds());
  const std::string text = json_text(object);
  write_result_as_named(output.o, object, text, signals.token());
  if (output.o != "-") {
    write_stdout(output.json ? text : verification_text(claims, data, verification));
  }
  const auto failed = std::find_if(verification.findings.begin(), verification.findings.end(),
                                   [](const Finding& finding) { return !finding.ok; });
  if (failed != verification.findings.end()) {
    say("error", fmt::format("{}: {}; the first: {}", claims.file, verdict(verification), sentence(*failed)));
  }
  const Verdict verdict_here = verification.verdict();
  if (verdict_here == Verdict::kUnchecked) {
    const auto not_checked = verification.not_checked();
    say("error", fmt::format("{}: nothing is wrong, but {} could not be checked{}: {}", claims.file,
                             counted(not_checked.size(), "thing"),
                             not_checked.size() == 1 ? "" : "; the first", in_flags(not_checked.front())));
  }
  if (signals.exit_code() != 0) return signals.exit_code();
  switch (verdict_here) {
    case Verdict::kHolds:
      return 0;
    case Verdict::kFails:
      return 1;
    case Verdict::kUnchecked:
      break;
  }
  return 6;
}

}  // namespace

Command verify_command() {
  Operand data = data_operand();
  data.may_be_left_out = true;
  return {
      .page =
          {.name = "verify",
           .usage = "verify RESULT.json [DATA] [OPTIONS]",
           .purpose =
               "Check a result of `select` against the data by an independent dense route: sets, sizes, objectives, loadings, and bounds and proofs by enumeration or a branch and bound of its own.",
           .examples =
               {{.command = "subspectra select sonar -k 1:5 -o r.json && subspectra verify r.json sonar",
                 .says = "recompute everything that the file says about five sets"},
                {.command =
                     "subspectra select sonar --method fisher -k 3 -o r.json && subspectra verify r.json sonar --json",
                 .says = "every finding with its numbers, as JSON"}},
           .operands = {{.name = "RESULT", .help = "a result file written by `subspectra select -o`"}, data},
           .groups = {{.title = "Matrices instead of DATA", .options = describe_options<MatrixOptions>()},
                      {.title = "Checks",
                       .options = reworded(describe_options<GroupsOptions>(),
                                           {{.name = "groups", .hint = "FILE", .help = ""}}) +
                                  describe_options<VerifyOptions>() + run_options()},
                      {.title = "Output", .options = output_options()}},
           .notes =
               {"Data: read as the result's `options` say (target, weights, missing values, standardization, excluded columns). Data with other rows, names or classes are refused with exit code 3.",
                "Verdict: exit code 0 when everything that the file claims was checked and holds, 1 when something does not hold, 6 when nothing is wrong but something could not be checked: what, why, and what would help is said."},
           .hidden = {},
           .main_options = {{.name = "time_limit", .says = "stop after so long"},
                            {.name = "json", .says = "the result as JSON on stdout"},
                            {.name = "o", .says = "into this file as well; of a name in .csv as CSV"},
                            {.name = "groups"},
                            {.name = "quiet"}},
           .brief = "check a result against its data by another route"},
      .run = run_verify};
}

}  // namespace subspectra::cli
