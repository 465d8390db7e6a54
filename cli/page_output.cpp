#include "page_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include <subspectra/error.hpp>
#include "core/text.hpp"
#include "help.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/figures.hpp"
#include "select/registry.hpp"

namespace subspectra::cli {
namespace {

using nlohmann::json;

/// As a POSIX shell reads it back.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

const CommandPage* page_of(std::string_view schema) {
  constexpr std::pair<std::string_view, std::string_view> kMadeBy[] = {
      {"subspectra.selection/1", "select"},
      {"subspectra.evaluation/1", "evaluate"},
      {"subspectra.clustering/1", "cluster"},
      {"subspectra.model/1", "fit"},
      {"subspectra.reproduction/1", "reproduce"}};
  for (const auto& [made, name] : kMadeBy) {
    if (made != schema) continue;
    for (const Command& command : commands()) {
      if (command.page.name == name) return &command.page;
    }
  }
  return nullptr;
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

json object_member(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_object() ? *found : json::object();
}

/// Those of the options in `result` that are not as they would be anyway, each with a space before it.
std::string flags_of(const json& result, const CommandPage& page,
                     const std::function<bool(const std::string&)>& wanted) {
  const json described = object_member(result, "data");
  const std::vector<std::string> methods = methods_in(result);
  json options = object_member(result, page.name == "reproduce" ? "protocol" : "options");
  for (const char* const name : {"ridge", "k"}) {
    const std::string asked = fmt::format("{}_asked", name);
    if (options.contains(asked)) options[name] = options[asked];
  }
  // Files from before `k_asked`.
  if (const auto cut = result.find("by_cut");
      cut != result.end() && *cut == true && !options.contains("k_asked"))
    options.erase("k");
  // What `auto` became says nothing about what was asked; and what depends on the machine, or is a file of
  // this run.
  static const std::set<std::string> kSkipped = {
      "method", "threads", "memory_limit", "o",          "report",           "figures", "json",
      "quiet",  "verbose", "progress",     "checkpoint", "checkpoint_every", "resume",  "events"};
  const std::size_t classes = described.contains("classes") ? described["classes"].size() : 0;
  const std::string automatic = classes > 2 ? "wilks" : "largest";
  const OptionTexts texts = detail::texts_of_json(options);
  std::string line;
  for (const OptionDescription& option : listed_options(page)) {
    const auto found = texts.find(option.name);
    if (found == texts.end() || found->second.empty() || kSkipped.contains(option.name)) continue;
    if (!wanted(option.name)) continue;
    std::string text = found->second;
    if (option.name == "criterion" && text == automatic) continue;
    if (text == default_of(option, methods)) continue;
    if (option.is_switch) {
      if (text == "true") line += ' ' + option_flag(option.name);
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
    line += fmt::format(" {} {}", option_flag(option.name), shell_word(text));
  }
  return line;
}

}  // namespace

std::vector<OptionDescription> page_options(const std::vector<std::string>& left_out) {
  return without(reworded(describe_options<PageOptions>(), {{.name = "report", .hint = "FILE", .help = ""},
                                                            {.name = "figures", .hint = "DIR", .help = ""}}),
                 left_out);
}

PageOutput::PageOutput(PageOptions options) : options_(std::move(options)) {
  require_writable(options_.report);
  if (options_.figures.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(options_.figures, failure);
  if (failure)
    throw Error(fmt::format("{}: this folder cannot be made ({}); choose another place for --figures",
                            options_.figures, failure.message()));
  require_writable((std::filesystem::path(options_.figures) / "path.svg").string());
}

void PageOutput::check_shape(Index features) const {
  const ImageShape& shape = options_.shape;
  if (!shape.given() || shape.height * shape.width == features) return;
  throw InvalidArgument(
      fmt::format("--shape {}x{} has {} pixels, but there are {} features; give the shape of one row",
                  shape.height, shape.width, shape.height * shape.width, features));
}

PageOutput page_output(const OptionTexts& texts) {
  PageOptions options;
  set_options(options, texts);
  return PageOutput(std::move(options));
}

void PageOutput::write(std::vector<PageResult> results, const std::stop_token& stop) const {
  if (!wanted()) return;
  for (PageResult& one : results) {
    one.command = command_of(one.result);
    one.flags = shared_flags_of(one.result);
  }
  const json data = page_data(results, options_.shape);
  if (!options_.report.empty()) write_result(options_.report, page_html(data), stop);
  if (options_.figures.empty()) return;
  for (const PageFigure& figure : page_figures(data))
    write_result((std::filesystem::path(options_.figures) / figure.file).string(), figure.svg, stop);
}

std::string command_of(const json& result) {
  const CommandPage* const page = page_of(text_member(result, "schema"));
  if (page == nullptr) return {};
  const bool is_experiment = page->name == "reproduce";
  const json described = object_member(result, "data");
  std::string source = is_experiment ? text_member(result, "id") : text_member(described, "source");
  if (page->name == "fit" && source.empty()) source = "DATA";  // a model file does not name its table
  if (source.empty() || (described.contains("rows") && described["rows"] == 0)) return {};
  const std::vector<std::string> methods = methods_in(result);
  std::string line = fmt::format("subspectra {} {}", page->name, shell_word(source));
  const std::string names = fmt::format("{}", fmt::join(methods, ","));
  const std::string usual = page->name == "select"
                                ? std::string(default_method(described.contains("classes")))
                            : page->name == "cluster" ? std::string(default_method(false))
                                                      : std::string(default_judged_method());
  if (!names.empty() && names != usual) line += " --method " + shell_word(names);
  line += flags_of(result, *page, [&](const std::string& option) {
    return !is_experiment || option == "quick" || option == "seed" || option == "data";
  });
  if (page->name == "fit") line += " -o model.json";
  return line;
}

std::string shared_flags_of(const json& result) {
  static const std::set<std::string> kShared = [] {
    std::set<std::string> names = {"include", "exclude", "groups", "criterion", "ridge"};
    for (const auto& list : {describe_options<ReadOptions>(), describe_options<PrepareOptions>()}) {
      for (const OptionDescription& option : list) names.insert(option.name);
    }
    names.erase("cv_groups");
    return names;
  }();
  const CommandPage* const page = page_of(text_member(result, "schema"));
  if (page == nullptr || page->name == "reproduce") return {};
  return flags_of(result, *page, [](const std::string& option) { return kShared.contains(option); });
}

}  // namespace subspectra::cli
