/// subspectra report: result files as one page to look at.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "command.hpp"
#include "core/text.hpp"
#include "job.hpp"
#include "output.hpp"
#include "page_output.hpp"
#include "report/page_facts.hpp"
#include "report/page_input.hpp"
#include "verify/claims.hpp"

namespace subspectra::cli {
namespace {

using nlohmann::json;

struct ReportOptions {
  std::string o, data;
  bool quiet = false;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("o", o.o, "the page (needed, unless ⟨figures⟩ is given); - writes it to stdout");
    field(
        "data", o.data,
        "the table that the results were made of: the page then has what the objective loses without each feature, near copies of the features, and class means as images under ⟨shape⟩");
    field("quiet", o.quiet, "no notes");
  }
};

/// The name without its folders.
std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// A selection says how its table was read and prepared; verify reads it the same way.
json facts_of_selection(const std::string& path, const json& result, const std::string& data,
                        const ImageShape& shape) {
  const ClaimedResult claims = read_claims(path);
  if (claims.from_matrices()) return json::object();
  return page_facts(result, path, read_table(data, claims.read),
                    {.rows = claims.rows,
                     .features = claims.features,
                     .prepare = claims.prepare,
                     .exclude = claims.exclude,
                     .criterion = claims.criterion,
                     .ridge = claims.ridge},
                    shape);
}

std::vector<PageResult> read_results(const std::vector<std::string>& paths) {
  std::vector<PageResult> results;
  for (const std::string& path : paths) {
    json input = read_page_input(path);
    if (!input.is_array()) {
      results.push_back({.name = base_name(path), .command = {}, .result = std::move(input)});
      continue;
    }
    const auto selection = std::find_if(results.rbegin(), results.rend(),
                                        [](const PageResult& one) { return one.result.contains("path"); });
    if (selection == results.rend()) {
      throw BadInput(
          {.file = path},
          "this is the log of a search, but no selection stands before it; name the result first, then its log");
    }
    selection->events = std::move(input);
  }
  return results;
}

int run_report(const Arguments& arguments, Signals& signals) {
  ReportOptions options;
  set_options(options, arguments.texts);
  PageOptions page;
  set_options(page, arguments.texts);
  page.report = options.o;
  if (page.report.empty() && page.figures.empty())
    throw InvalidArgument("report needs -o PAGE.html, the page to write (- for stdout), or --figures DIR");
  const PageOutput output(page);
  std::vector<PageResult> results = read_results(arguments.operands);
  signals.begin_work();
  if (!options.data.empty()) {
    for (std::size_t i = 0, at = 0; i < arguments.operands.size(); ++i) {
      if (at >= results.size() || base_name(arguments.operands[i]) != results[at].name) continue;  // a log
      PageResult& one = results[at++];
      if (one.result.contains("path"))
        one.facts = facts_of_selection(arguments.operands[i], one.result, options.data, page.shape);
    }
  }
  output.write(std::move(results), signals.token());
  if (!options.quiet && options.o != "-" && !options.o.empty())
    write_stdout(fmt::format("page written to {}\n", printable(options.o)));
  return signals.exit_code();
}

}  // namespace

Command report_command() {
  return {
      .page =
          {.name = "report",
           .usage = "report FILE... -o PAGE.html",
           .purpose = "Turn result files into one page to look at: one file, no network, opens from disk.",
           .examples =
               {{.command =
                     "subspectra evaluate sonar --method gslda,fisher -k 1:10 -o e.json && subspectra report e.json -o page.html",
                 .says = "what was chosen and how well it does, two methods side by side on one page"},
                {.command = "subspectra select sonar --method eslda -k 1:6 --report page.html",
                 .says = "the same from the command that makes the result, with the log of its search"},
                {.command =
                     "subspectra select sonar -k 1:10 -o s.json && subspectra report s.json --data sonar -o page.html",
                 .says = "with what the objective loses without each feature"},
                {.command =
                     "subspectra evaluate sonar --method gslda,fisher -k 1:5 -o e.json && subspectra report e.json --figures pictures",
                 .says = "the figures alone, as SVG"}},
           .operands =
               {{.name = "FILE",
                 .help =
                     "results of select, evaluate, fit, cluster and reproduce (-o FILE.json), several side by side; behind a selection the log of its search (--events)",
                 .several = true}},
           .groups = {{.title = "Page",
                       .options = reworded(describe_options<ReportOptions>(),
                                           {{.name = "o", .hint = "FILE", .help = ""},
                                            {.name = "data", .hint = "DATA", .help = ""}}) +
                                  page_options({"report"})}},
           .notes =
               {"On the page: which features, whether they are the best, how well they do on new rows, whether they would be chosen again; below that every chart with its numbers. Rows of the table are never in it."},
           .hidden = {},
           .main_options = {},
           .brief = "result files as one page to look at"},
      .run = run_report};
}

}  // namespace subspectra::cli
