/// subspectra methods: what --method may name.
#include <algorithm>

#include "command.hpp"
#include "help.hpp"
#include "method_guide.hpp"
#include "options.hpp"
#include "output.hpp"
#include "table.hpp"

namespace subspectra::cli {
namespace {

std::string labels_text(const MethodEntry& method) {
  if (method.traits->two_classes_only) return method.traits->needs_labels ? "two classes" : "two or none";
  return method.traits->needs_labels ? "classes" : "none";
}

nlohmann::json method_json(const MethodEntry& method) {
  const MethodGuide* const guide = guide_to(method.traits->name);
  auto options = nlohmann::json::array();
  for (const auto& option : method.options) {
    options.push_back({{"name", option.name},
                       {"hint", option.hint},
                       {"default", option.default_text},
                       {"help", in_flags(option.help)}});
  }
  nlohmann::json out = {{"name", method.traits->name},
                        {"summary", in_flags(method.traits->summary)},
                        {"needs_labels", method.traits->needs_labels},
                        {"two_classes_only", method.traits->two_classes_only},
                        {"default", method.traits->name == default_method(true)},
                        {"options", options}};
  if (guide == nullptr) return out;
  out["does"] = guide->does;
  out["when"] = guide->when;
  out["example"] = guide->example;
  if (!guide->reference.empty()) out["reference"] = guide->reference;
  return out;
}

int run_methods(const Arguments& arguments, Signals&) {
  if (arguments.texts.contains("options_markdown")) {
    write_stdout(options_markdown());
    return 0;
  }
  if (!arguments.operands.empty()) {
    const MethodEntry& method = MethodRegistry::find(arguments.operands.front());
    write_stdout(arguments.texts.contains("json") ? json_text(method_json(method)) : method_page(method));
    return 0;
  }
  if (arguments.texts.contains("json")) {
    auto list = nlohmann::json::array();
    for (const auto& method : MethodRegistry::entries()) list.push_back(method_json(method));
    write_stdout(json_text(list));
    return 0;
  }
  Table table({{.title = "method", .align = Align::kLeft},
               {.title = "labels", .align = Align::kLeft},
               {.title = "", .align = Align::kLeft}});
  for (const auto& method : MethodRegistry::entries()) {
    std::string summary = in_flags(method.traits->summary);
    if (method.traits->name == default_judged_method()) summary += " (default of fit and evaluate)";
    if (method.traits->name == default_method(true)) summary += " (default of select)";
    if (method.traits->name == default_method(false)) summary += " (default without labels)";
    table.add({std::string(method.traits->name), labels_text(method), summary});
  }
  write_stdout(table.text() + "\nOne of them explained: subspectra methods NAME\n");
  return 0;
}

}  // namespace

Command methods_command() {
  return {.page = {.name = "methods",
                   .usage = "methods [NAME] [--json]",
                   .purpose = "List the selection methods, one line each, or explain one.",
                   .examples = {{.command = "subspectra methods",
                                 .says = "names, the labels they need, what they do"},
                                {.command = "subspectra methods gslda",
                                 .says = "what it does, when to use it, its options, an example"},
                                {.command = "subspectra methods --json",
                                 .says = "with every method's own options"}},
                   .operands = {{.name = "NAME",
                                 .help = "the method to explain; without it all are listed",
                                 .may_be_left_out = true}},
                   .groups = {{.title = "Output",
                               .options = {{.name = "json",
                                            .hint = "",
                                            .default_text = "false",
                                            .help = "as JSON",
                                            .is_switch = true}}}},
                   .notes = {},
                   .hidden = {{.name = "options_markdown",
                               .hint = "",
                               .default_text = "false",
                               .help = "docs/reference/options.md",
                               .is_switch = true}},
                   .main_options = {},
                   .brief = "list the methods, or explain one"},
          .run = run_methods};
}

}  // namespace subspectra::cli
