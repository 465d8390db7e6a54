/// subspectra synth: the papers' synthetic problems as files.
#include "synth/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "core/text.hpp"
#include "io/write.hpp"
#include "job.hpp"
#include "options.hpp"
#include "output.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

using nlohmann::json;

const OptionDescription* option_of(const synth::SynthEntry& problem, std::string_view name) {
  const auto found = std::find_if(problem.options.begin(), problem.options.end(),
                                  [&](const OptionDescription& option) { return option.name == name; });
  return found == problem.options.end() ? nullptr : &*found;
}

std::vector<const synth::SynthEntry*> problems_with(std::string_view option) {
  std::vector<const synth::SynthEntry*> all;
  for (const synth::SynthEntry& problem : synth::synth_entries()) {
    if (option_of(problem, option) != nullptr) all.push_back(&problem);
  }
  return all;
}

/// Every problem's options, each once. Where problems have different defaults, or not all have the option,
/// the explanation says so.
std::vector<OptionDescription> problem_options() {
  std::vector<OptionDescription> all;
  for (const synth::SynthEntry& problem : synth::synth_entries()) {
    for (const OptionDescription& option : problem.options) {
      if (std::any_of(all.begin(), all.end(), [&](const auto& known) { return known.name == option.name; }))
        continue;
      OptionDescription merged = option;
      const auto owners = problems_with(option.name);
      const bool same = std::all_of(owners.begin(), owners.end(), [&](const synth::SynthEntry* owner) {
        return option_of(*owner, option.name)->default_text == option.default_text;
      });
      if (!same || owners.size() < synth::synth_entries().size()) {
        std::vector<std::string> names;
        for (const synth::SynthEntry* owner : owners) {
          const std::string& value = option_of(*owner, option.name)->default_text;
          names.push_back(fmt::format("{}{}{}", owner->traits->name, value.empty() ? "" : " ", value));
        }
        merged.help += fmt::format(". Default: {}", fmt::join(names, ", "));
        merged.default_text.clear();
      }
      all.push_back(std::move(merged));
    }
  }
  return all;
}

void check_problem_options(const OptionTexts& texts, const synth::SynthEntry& problem) {
  for (const auto& [name, text] : texts) {
    const auto owners = problems_with(name);
    if (owners.empty() || option_of(problem, name) != nullptr) continue;
    throw InvalidArgument(fmt::format("{} is an option of {}, but the problem is {}; leave it out",
                                      option_flag(name), owners.front()->traits->name, problem.traits->name));
  }
}

std::string problems_text(bool as_json) {
  Table table({{.title = "problem", .align = Align::kLeft}, {.title = "", .align = Align::kLeft}});
  auto list = json::array();
  for (const synth::SynthEntry& problem : synth::synth_entries()) {
    table.add({std::string(problem.traits->name), in_flags(problem.traits->summary)});
    auto options = json::array();
    for (const OptionDescription& option : problem.options) {
      options.push_back({{"name", option.name},
                         {"hint", option.hint},
                         {"default", option.default_text},
                         {"help", in_flags(option.help)}});
    }
    list.push_back({{"name", problem.traits->name},
                    {"summary", in_flags(problem.traits->summary)},
                    {"options", options}});
  }
  return as_json ? json_text(list) : table.text();
}

/// "dir/pair.csv.gz" and "A" give "dir/pair-A.csv.gz"; a name without an ending gets .npy.
std::string matrix_path(const std::string& path, std::string_view name) {
  const std::size_t file = path.find_last_of('/') + 1;
  std::size_t end = path.size();
  if (path.ends_with(".gz")) end -= 3;
  const std::size_t dot = end == 0 ? std::string::npos : path.find_last_of('.', end - 1);
  if (dot == std::string::npos || dot < file) return fmt::format("{}-{}.npy", path, name);
  return fmt::format("{}-{}{}", path.substr(0, dot), name, path.substr(dot));
}

/// The files a problem will have, refused before any work if they cannot be written.
std::vector<std::string> planned_files(const synth::SynthEntry& problem, const std::string& path) {
  if (problem.traits->matrices.empty()) {
    if (path != "-") require_table_ending(path);
    require_writable(path);
    return {path};
  }
  if (path == "-") {
    throw InvalidArgument(fmt::format(
        "{} writes several files, so -o - cannot be; name them with -o pair (pair-A.npy, pair-B.npy) or -o pair.csv (pair-A.csv, pair-B.csv)",
        problem.traits->name));
  }
  std::vector<std::string> files;
  for (const std::string_view name : problem.traits->matrices) {
    files.push_back(matrix_path(path, name));
    require_matrix_ending(files.back());
    require_writable(files.back());
  }
  return files;
}

int run_synth(const Arguments& arguments, Signals&) {
  OutputOptions output;
  set_options(output, arguments.texts);
  if (arguments.operands.empty()) {
    if (arguments.texts.size() > (output.json ? 1U : 0U)) {
      throw InvalidArgument(
          "NAME is missing; usage: subspectra synth NAME -o FILE (synth alone lists the problems)");
    }
    write_stdout(problems_text(output.json));
    return 0;
  }
  const synth::SynthEntry& problem = synth::find_synth(arguments.operands.front());
  check_problem_options(arguments.texts, problem);
  if (output.o.empty()) {
    throw InvalidArgument(fmt::format("synth {} needs -o FILE, {}", problem.traits->name,
                                      !problem.traits->matrices.empty()
                                          ? "from which the names of its files are made"
                                          : "the table to write (- for stdout)"));
  }
  const auto files = planned_files(problem, output.o);
  const synth::AnySynth asked = problem.from_texts(arguments.texts);
  const synth::Synthesized made = synth::synthesize(asked);
  json summary = {
      {"problem", problem.traits->name}, {"options", synth::synth_options_json(asked)}, {"files", files}};
  std::string text;
  if (made.table) {
    const Dataset& table = *made.table;
    if (output.o == "-") {
      write_result("-", csv_text(table));
      return 0;
    }
    write_table(output.o, table);
    DatasetDetails details = table.details();
    details.source = problem.traits->name;
    const Dataset renamed(std::move(details), table.values());
    summary["rows"] = table.rows();
    summary["features"] = table.features();
    text = data_line(renamed) + '\n';
  } else {
    for (std::size_t i = 0; i < made.matrices.size(); ++i) {
      const auto& [name, values] = made.matrices[i];
      write_matrix(files[i], values, FeatureNames(values.cols()));
      text += fmt::format("{}: {} is {} x {}\n", problem.traits->name, name, values.rows(), values.cols());
      summary["features"] = values.cols();
    }
  }
  text += fmt::format("written to {}\n", printable(fmt::format("{}", fmt::join(files, ", "))));
  write_stdout(output.json ? json_text(summary) : text);
  return 0;
}

}  // namespace

Command synth_command() {
  const auto output = reworded(
      without(output_options(), {"quiet", "verbose", "progress"}),
      {{.name = "json", .hint = "", .help = "what was written (or the list of problems) as JSON on stdout"},
       {.name = "o",
        .hint = "FILE",
        .help =
            "the file to write (needed): a table ends in .csv, .tsv, .csv.gz, .tsv.gz or .npz, - is CSV on stdout; for matrices -o pair gives pair-A.npy and pair-B.npy, -o pair.csv gives pair-A.csv and pair-B.csv"}});
  return {
      .page =
          {.name = "synth",
           .usage = "synth [NAME -o FILE [OPTIONS]]",
           .purpose = "Write a synthetic problem to a file, or list the problems there are.",
           .examples = {{.command = "subspectra synth", .says = "the problems, one line each"},
                        {.command = "subspectra synth brownian -o walks.csv && subspectra select walks.csv",
                         .says = "two classes of random walks, and the features that tell them apart"},
                        {.command = "subspectra synth brownian-pair --kind gg --seed 7 -o pair.csv",
                         .says = "a pair of covariance matrices: pair-A.csv and pair-B.csv"}},
           .operands = {{.name = "NAME",
                         .help = "the problem; without it the problems are listed",
                         .may_be_left_out = true}},
           .groups = {{.title = "Problem", .options = problem_options()},
                      {.title = "Output", .options = output}},
           .notes =
               {"Same everywhere: the numbers depend on the options alone, --seed among them, not on the number of threads or the processor."},
           .hidden = {},
           .main_options = {{.name = "o", .says = "the table to write (.csv, .tsv, .npz; - for stdout)"},
                            {.name = "rows"},
                            {.name = "features"},
                            {.name = "classes"},
                            {.name = "seed"},
                            {.name = "json", .says = "what was written as JSON on stdout"}},
           .brief = "write a synthetic problem"},
      .run = run_synth};
}

}  // namespace subspectra::cli
