/// subspectra merge: the parts of a run as the result of one run.
#include <fmt/format.h>

#include "command.hpp"
#include "evaluate_options.hpp"
#include "job.hpp"
#include "output.hpp"
#include "page_output.hpp"
#include "part.hpp"

namespace subspectra::cli {
namespace {

struct MergeOptions {
  std::string data;
  int threads = 0;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("data", o.data, "the table, where it is no longer where the parts say");
    field("threads", o.threads, "0 uses every core; the answer does not depend on it");
  }
};

int run_merge(const Arguments& arguments, Signals& signals) {
  MergeOptions own;
  OutputOptions output;
  set_options(own, arguments.texts);
  set_options(output, arguments.texts);
  if (output.o.empty() && !output.json)
    throw InvalidArgument("merge needs -o FILE, the result to write, or --json");
  require_writable(output.o);
  std::vector<PartFile> files;
  files.reserve(arguments.operands.size());
  for (const std::string& path : arguments.operands) files.push_back(read_part(path));
  PartWork work(std::move(files));
  const PartRun& run = work.run();
  require_harmless(work, own.data.empty());

  // The command of the parts, with the outputs that are asked for now.
  Arguments whole{.operands = {own.data.empty() ? run.data : own.data}, .texts = run.options};
  for (const auto& [name, text] : arguments.texts) {
    if (name != "data") whole.texts[name] = text;
  }
  if (own.data.empty() && run.data == "-")
    throw InvalidArgument(
        "the parts were made of standard input; say with --data where the table is now (- for standard input)");
  if (run.command == "evaluate") return run_evaluate(whole, signals, &work);
  return run_select(whole, signals, &work);
}

}  // namespace

Command merge_command() {
  return {
      .page =
          {.name = "merge",
           .usage = "merge PART... -o FILE",
           .purpose =
               "Put the parts of a run (--part) together: the result of one run, byte for byte but for its times.",
           .examples =
               {{.command =
                     "for i in 1 2 3; do subspectra evaluate sonar --part $i/3 -o p$i.json; done; subspectra merge p?.json -o r.json",
                 .says = "three parts, which three machines could have run, and their result"},
                {.command = "subspectra merge p?.json -o r.json --report r.html",
                 .says = "the same parts, with a page to look at"}},
           .operands = {{.name = "PART",
                         .help = "the files of all parts of one run, in any order",
                         .several = true}},
           .groups = {{.title = "Data",
                       .options = reworded(describe_options<MergeOptions>(),
                                           {{.name = "data", .hint = "DATA", .help = ""}})},
                      {.title = "Output",
                       .options = output_options() + details_option() + describe_options<CsvOptions>() +
                                  page_options()}},
           .notes =
               {"The table is read again, and has to be the one that the parts were made of. A part that is missing, given twice, damaged, or of other data, options or version is named, and exit code 3: it can be run again alone."},
           .hidden = {},
           .main_options = {},
           .brief = "the parts of a run (--part) as one result"},
      .run = run_merge};
}

}  // namespace subspectra::cli
