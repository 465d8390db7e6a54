#include "report/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include <subspectra/cluster.hpp>
#include <subspectra/evaluate.hpp>
#include <subspectra/io.hpp>

#include "classify/registry.hpp"
#include "cluster/clustering.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "data/prepare.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

using nlohmann::json;
using Descriptions = std::vector<OptionDescription>;

/// As a POSIX shell reads it back.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string_view command_that_makes(std::string_view schema) {
  constexpr std::pair<std::string_view, std::string_view> kMadeBy[] = {
      {"subspectra.selection/1", "select"},
      {"subspectra.evaluation/1", "evaluate"},
      {"subspectra.clustering/1", "cluster"},
      {"subspectra.model/1", "fit"},
      {"subspectra.reproduction/1", "reproduce"}};
  for (const auto& [made, name] : kMadeBy) {
    if (made == schema) return name;
  }
  return {};
}

OptionDescription plain_option(std::string_view name, std::string_view default_text = "",
                               bool is_switch = false) {
  return {.name = std::string(name),
          .hint = {},
          .default_text = std::string(default_text),
          .help = {},
          .is_switch = is_switch};
}

/// Of several by one name the first counts.
void add_options(Descriptions& all, Descriptions more) {
  for (OptionDescription& option : more) {
    if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == option.name; }))
      all.push_back(std::move(option));
  }
}

/// Of all methods; without a default where theirs differ.
Descriptions options_of_methods(const std::vector<MethodEntry>& methods) {
  Descriptions all;
  for (const MethodEntry& method : methods) {
    for (const OptionDescription& option : method.options) {
      const auto known =
          std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == option.name; });
      if (known == all.end()) {
        all.push_back(option);
      } else if (known->default_text != option.default_text) {
        known->default_text.clear();
      }
    }
  }
  return all;
}

/// What depends on the machine, or is a file of one run; and the method, which is written out by itself.
bool is_told(std::string_view name) {
  constexpr std::string_view kNotTold[] = {"method",     "threads",          "memory_limit",
                                           "checkpoint", "checkpoint_every", "resume"};
  return std::find(std::begin(kNotTold), std::end(kNotTold), name) == std::end(kNotTold);
}

/// "" where the member is no text: not every member is checked that a page does not show.
std::string text_member(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> methods_in(const json& result) {
  if (const std::string only = text_member(result, "method"); !only.empty()) return {only};
  std::vector<std::string> methods;
  for (const json& row : result.value("results", json::array())) {
    const std::string name = text_member(row, "method");
    if (!name.empty() && std::find(methods.begin(), methods.end(), name) == methods.end())
      methods.push_back(name);
  }
  return methods;
}

/// What the option is without being given: a method's own default before the one that all share.
std::string default_of(const OptionDescription& option, const std::vector<std::string>& methods) {
  for (const MethodEntry& method : MethodRegistry::entries()) {
    if (std::find(methods.begin(), methods.end(), method.traits->name) == methods.end()) continue;
    for (const OptionDescription& own : method.options) {
      if (own.name == option.name) return own.default_text;
    }
  }
  return option.default_text;
}

std::string flag(std::string_view name) { return spelled(marked_option(name), Spelling::kCommandLine); }

json object_member(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_object() ? *found : json::object();
}

/// Those of the options in `result` that are not as they would be anyway, each with a space before it.
std::string flags_of(const json& result, std::string_view command,
                     const std::function<bool(const std::string&)>& wanted) {
  const json described = object_member(result, "data");
  const std::vector<std::string> methods = methods_in(result);
  json options = object_member(result, command == "reproduce" ? "protocol" : "options");
  // What `auto` became says nothing about what was asked.
  for (const char* const name : {"ridge", "k"}) {
    const std::string asked = fmt::format("{}_asked", name);
    if (options.contains(asked)) options[name] = options[asked];
  }
  // Files from before `k_asked`.
  if (const auto cut = result.find("by_cut");
      cut != result.end() && *cut == true && !options.contains("k_asked"))
    options.erase("k");
  const std::size_t classes = described.contains("classes") ? described["classes"].size() : 0;
  const std::string automatic = classes > 2 ? "wilks" : "largest";
  const OptionTexts texts = detail::texts_of_json(options);
  std::string line;
  for (const OptionDescription& option : told_options(command)) {
    const auto found = texts.find(option.name);
    if (found == texts.end() || found->second.empty() || !wanted(option.name)) continue;
    std::string text = found->second;
    if (option.name == "criterion" && text == automatic) continue;
    if (text == default_of(option, methods)) continue;
    if (option.is_switch) {
      if (text == "true") line += ' ' + flag(option.name);
      continue;
    }
    if (double value = 0.0, usual_value = 0.0; parse_number(text, value) &&
                                               parse_number(default_of(option, methods), usual_value) &&
                                               value == usual_value)
      continue;
    if (option.name == "k") {
      const auto colon = text.find(':');
      if (colon != std::string::npos && text.substr(0, colon) == text.substr(colon + 1)) text.resize(colon);
    }
    line += fmt::format(" {} {}", flag(option.name), shell_word(text));
  }
  return line;
}

}  // namespace

Descriptions told_options(std::string_view command) {
  Descriptions all;
  if (command == "reproduce")
    return {plain_option("quick", "false", true), plain_option("data"), plain_option("seed", "0")};
  const bool judges = command == "evaluate" || command == "fit", clusters = command == "cluster";
  if (!judges && !clusters && command != "select") return all;
  add_options(all, describe_options<ReadOptions>());
  if (command == "evaluate") add_options(all, {plain_option("cv_groups")});
  add_options(all, describe_options<PrepareOptions>());
  add_options(all, describe_options<SelectOptions>());
  add_options(all, {plain_option("time_limit")});
  const Descriptions of_classifiers = judges ? describe_classifiers() : Descriptions();
  if (clusters) {
    // What clustering has no use for.
    std::erase_if(all, [](const OptionDescription& option) {
      constexpr std::string_view kNotHere[] = {"groups", "criterion", "ridge", "components", "bounds"};
      return std::find(std::begin(kNotHere), std::end(kNotHere), option.name) != std::end(kNotHere);
    });
    add_options(all, describe_options<ClusterOptions>());
    add_options(all, options_of_methods(clustering_methods()));
  } else {
    Descriptions of_methods = options_of_methods(MethodRegistry::entries());
    // Those that a classifier has, too, stand among its own.
    std::erase_if(of_methods, [&](const OptionDescription& option) {
      return std::any_of(of_classifiers.begin(), of_classifiers.end(), [&](const OptionDescription& other) {
        return other.name == option.name && other.name != "components";
      });
    });
    add_options(all, std::move(of_methods));
    if (command == "evaluate") add_options(all, describe_options<EvaluateOptions>());
    add_options(all, of_classifiers);
  }
  std::erase_if(all, [](const OptionDescription& option) { return !is_told(option.name); });
  return all;
}

std::string command_of(const json& result) {
  const std::string_view command = command_that_makes(text_member(result, "schema"));
  if (command.empty()) return {};
  const bool is_experiment = command == "reproduce";
  const json described = object_member(result, "data");
  std::string source = is_experiment ? text_member(result, "id") : text_member(described, "source");
  if (command == "fit" && source.empty()) source = "DATA";  // a model file does not name its table
  if (source.empty() || (described.contains("rows") && described["rows"] == 0)) return {};
  const std::vector<std::string> methods = methods_in(result);
  std::string line = fmt::format("subspectra {} {}", command, shell_word(source));
  const std::string names = fmt::format("{}", fmt::join(methods, ","));
  const std::string usual = command == "select" ? std::string(default_method(described.contains("classes")))
                            : command == "cluster" ? std::string(default_method(false))
                                                   : std::string(default_judged_method());
  if (!names.empty() && names != usual) line += fmt::format(" {} {}", flag("method"), shell_word(names));
  line += flags_of(result, command, [](const std::string&) { return true; });
  if (command == "fit") line += fmt::format(" {} model.json", flag("o"));
  return line;
}

std::string shared_flags_of(const json& result) {
  static const std::set<std::string> kShared = [] {
    std::set<std::string> names = {"include", "exclude", "groups", "criterion", "ridge"};
    for (const auto& list : {describe_options<ReadOptions>(), describe_options<PrepareOptions>()}) {
      for (const OptionDescription& option : list) names.insert(option.name);
    }
    return names;
  }();
  const std::string_view command = command_that_makes(text_member(result, "schema"));
  if (command.empty() || command == "reproduce") return {};
  return flags_of(result, command, [](const std::string& option) { return kShared.contains(option); });
}

}  // namespace subspectra
