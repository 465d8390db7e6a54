/// subspectra datasets: the embedded tables.
#include "command.hpp"
#include "io/read.hpp"
#include "job.hpp"
#include "output.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

int run_datasets(const Arguments& arguments, Signals&) {
  Table table({{.title = "name", .align = Align::kLeft},
               {.title = "rows"},
               {.title = "features"},
               {.title = "classes"},
               {.title = "", .align = Align::kLeft}});
  auto list = nlohmann::json::array();
  for (const auto& entry : embedded_datasets()) {
    const Dataset data = read_dataset(std::string(entry.name));
    const auto classes = data.labels() ? data.labels()->classes : std::vector<std::string>{};
    table.add({std::string(entry.name), std::to_string(data.rows()), std::to_string(data.features()),
               std::to_string(classes.size()), std::string(entry.summary)});
    list.push_back({{"name", entry.name},
                    {"summary", entry.summary},
                    {"rows", data.rows()},
                    {"features", data.features()},
                    {"classes", classes}});
  }
  write_stdout(arguments.texts.contains("json") ? json_text(list) : table.text());
  return 0;
}

}  // namespace

Command datasets_command() {
  return {
      .page = {.name = "datasets",
               .usage = "datasets [--json]",
               .purpose =
                   "List the data sets that are part of the program; their names stand for DATA anywhere.",
               .examples = {{.command = "subspectra datasets", .says = "names and sizes"},
                            {.command = "subspectra datasets --json", .says = "the same as JSON"}},
               .operands = {},
               .groups = {{.title = "Output",
                           .options = {{.name = "json",
                                        .hint = "",
                                        .default_text = "false",
                                        .help = "a JSON list instead of a table",
                                        .is_switch = true}}}},
               .notes = {},
               .hidden = {},
               .main_options = {},
               .brief = "list the embedded data sets"},
      .run = run_datasets};
}

}  // namespace subspectra::cli
