#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "data/feature_names.hpp"

namespace subspectra::cli {
namespace {

std::vector<OptionDescription> all_options(const CommandPage& page) {
  std::vector<OptionDescription> all;
  for (const auto& group : page.groups) all = std::move(all) + group.options;
  return all;
}

/// Commands other than this one that have the option.
std::vector<std::string> commands_with(std::string_view flag) {
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    for (const auto& option : all_options(command.page)) {
      if (option_flag(option.name) == flag) names.push_back(command.page.name);
    }
  }
  return names;
}

[[noreturn]] void refuse_unknown(const CommandPage& page, std::string flag) {
  flag.erase(std::min(flag.find('='), flag.size()));
  std::vector<std::string> known = {"help", "help-all", "help-method"};
  for (const auto& option : all_options(page)) known.push_back(option_flag(option.name).substr(1));
  for (auto& name : known) name.erase(0, name.find_first_not_of('-'));
  const auto commands = commands_with(flag);
  const std::string hint =
      commands.empty()
          ? did_you_mean(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())), known, "--")
          : fmt::format(" (it belongs to {})", fmt::join(commands, ", "));
  throw InvalidArgument(
      fmt::format("{} has no option {}{}; see subspectra {} --help", page.name, flag, hint, page.name));
}

std::vector<std::string> take_operands(const CommandPage& page, const std::vector<std::string>& rest) {
  std::vector<std::string> operands;
  bool only_operands = false;
  for (const auto& word : rest) {
    if (!only_operands && word == "--") {
      only_operands = true;
    } else if (!only_operands && word.size() > 1 && word.front() == '-') {
      refuse_unknown(page, word);
    } else {
      operands.push_back(word);
    }
  }
  const bool several = !page.operands.empty() && page.operands.back().several;
  if (operands.size() > page.operands.size() && !several) {
    throw InvalidArgument(fmt::format("'{}' is one argument too many; usage: subspectra {}",
                                      operands[page.operands.size()], page.usage));
  }
  if (operands.size() < page.operands.size() && !page.operands[operands.size()].may_be_left_out) {
    throw InvalidArgument(fmt::format("{} is missing; usage: subspectra {} (--help explains)",
                                      page.operands[operands.size()].name, page.usage));
  }
  return operands;
}

/// What an option of methods means to some of them, and to whom by default which value.
struct Meaning {
  std::string help;
  std::vector<std::pair<std::string, std::vector<std::string>>> owners;  ///< default value, methods
};

/// The entry of `list` with this key, appended where there is none.
template <class List, class Key, class KeyOf>
auto& entry_of(List& list, const Key& key, KeyOf key_of) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& entry) { return key_of(entry) == key; });
  if (found != list.end()) return *found;
  return list.emplace_back(typename List::value_type{key, {}});
}

void add_owner(std::vector<Meaning>& meanings, const OptionDescription& option, std::string_view method) {
  auto& meaning = entry_of(meanings, option.help, [](const Meaning& one) { return one.help; });
  auto& of_value = entry_of(meaning.owners, option.default_text, [](const auto& pair) { return pair.first; });
  of_value.second.emplace_back(method);
}

}  // namespace

void RunOptions::validate() const {
  if (!(time_limit > 0.0)) {
    throw InvalidArgument(
        fmt::format("--time-limit {}, but a number of seconds above 0 is needed", time_limit));
  }
}

std::vector<OptionDescription> reworded(std::vector<OptionDescription> options,
                                        const std::vector<Rewording>& changes) {
  for (const auto& change : changes) {
    for (auto& option : options) {
      if (option.name != change.name) continue;
      if (!change.hint.empty()) option.hint = change.hint;
      if (!change.help.empty()) option.help = change.help;
    }
  }
  return options;
}

std::vector<OptionDescription> without(std::vector<OptionDescription> options,
                                       const std::vector<std::string>& names) {
  std::erase_if(options, [&](const OptionDescription& option) {
    return std::find(names.begin(), names.end(), option.name) != names.end();
  });
  return options;
}

std::vector<OptionDescription> operator+(std::vector<OptionDescription> a,
                                         const std::vector<OptionDescription>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<OptionDescription> run_options() {
  return reworded(describe_options<RunOptions>(), {{.name = "time_limit", .hint = "SECONDS", .help = ""}});
}

std::vector<OptionDescription> output_options() {
  return reworded(describe_options<OutputOptions>(), {{.name = "o", .hint = "FILE", .help = ""}});
}

std::vector<OptionDescription> judged_method_option() {
  auto options = describe_options<MethodOptions>();
  options.front().help += fmt::format(". Default: {}", default_judged_method());
  return options;
}

std::vector<OptionDescription> method_option() {
  const auto with_labels = default_method(true);
  const auto without_labels = default_method(false);
  auto options = describe_options<MethodOptions>();
  options.front().help += with_labels == without_labels ? fmt::format(". Default: {}", with_labels)
                                                        : fmt::format(". Default: {} with labels, {} without",
                                                                      with_labels, without_labels);
  return options;
}

std::vector<OptionDescription> method_list_option() {
  auto options = describe_options<MethodListOptions>();
  options.front().hint = "A,B,...";
  options.front().help += fmt::format(". Default: {}", default_judged_method());
  return options;
}

void require_method_name(const OptionTexts& texts, bool named) {
  const auto given = texts.find("method");
  if (given == texts.end() || named) return;
  throw InvalidArgument(fmt::format(
      "--method '{}' names no method; leave it out for the default, or take one that `subspectra methods` lists",
      given->second));
}

std::vector<OptionDescription> method_specific_options(const std::vector<MethodEntry>& all) {
  std::vector<OptionDescription> options;
  std::map<std::string, std::vector<Meaning>> meanings;
  for (const auto& method : all) {
    for (const auto& option : method.options) {
      if (!meanings.contains(option.name)) options.push_back(option);
      add_owner(meanings[option.name], option, method.traits->name);
    }
  }
  for (auto& option : options) {
    const auto& all_meanings = meanings[option.name];
    const bool one_default = std::all_of(all_meanings.begin(), all_meanings.end(), [&](const Meaning& one) {
      return one.owners.size() == 1 && one.owners.front().first == option.default_text;
    });
    std::vector<std::string> texts;
    for (const auto& [help, owners] : all_meanings) {
      std::vector<std::string> groups;
      for (const auto& [value, names] : owners) {
        const bool said = !one_default && !value.empty();
        groups.push_back(
            fmt::format("{}{}", said ? fmt::format("default {}: ", value) : "", fmt::join(names, ", ")));
      }
      texts.push_back(fmt::format("{} ({})", help, fmt::join(groups, "; ")));
    }
    option.help = fmt::format("{}", fmt::join(texts, "; or "));
    if (!one_default) option.default_text.clear();
  }
  return options;
}

Arguments parse_arguments(const CommandPage& page, const std::vector<std::string>& words) {
  CLI::App app;
  app.set_help_flag();  // --help is answered before the line is read, so that it works on a line with
                        // mistakes
  app.allow_extras();
  std::vector<std::pair<const OptionDescription*, CLI::Option*>> handles;
  const auto options = all_options(page) + page.hidden;
  for (const auto& option : options) {
    const std::string flag = option_flag(option.name);
    CLI::Option* handle = option.is_switch ? app.add_flag(flag) : app.add_option(flag);
    handle->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // counted below, with a better message
    handles.emplace_back(&option, handle);
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& problem) {
    for (const auto& option : options) {  // the one thing left that can go wrong: a value is missing
      if (!words.empty() && words.back() == option_flag(option.name)) {
        throw InvalidArgument(
            fmt::format("{} needs a value: {} {}", words.back(), words.back(), option.hint));
      }
    }
    throw InvalidArgument(fmt::format("{}; see subspectra {} --help", problem.what(), page.name));
  }
  Arguments arguments;
  arguments.operands = take_operands(page, app.remaining());
  for (const auto& [option, handle] : handles) {
    const auto& values = handle->results();
    if (values.empty()) continue;
    if (values.size() > 1) {
      throw InvalidArgument(
          fmt::format("{} is given {} times; once is enough", option_flag(option->name), values.size()));
    }
    arguments.texts[option->name] = values.front();
  }
  return arguments;
}

void check_method_options(
    const OptionTexts& texts, const std::vector<const MethodEntry*>& chosen,
    const std::vector<MethodEntry>& all,
    const std::function<std::vector<std::string_view>(const std::string&)>& classifiers_with) {
  const auto has = [](const MethodEntry& method, const std::string& name) {
    return std::any_of(method.options.begin(), method.options.end(),
                       [&](const OptionDescription& option) { return option.name == name; });
  };
  for (const auto& [name, text] : texts) {
    std::vector<std::string_view> owners;
    for (const auto& method : all) {
      if (has(method, name)) owners.push_back(method.traits->name);
    }
    if (owners.empty()) continue;  // an option of every method
    const auto& wanted = name;
    if (std::any_of(chosen.begin(), chosen.end(),
                    [&](const MethodEntry* method) { return has(*method, wanted); })) {
      continue;
    }
    std::vector<std::string_view> asked;
    asked.reserve(chosen.size());
    for (const auto* method : chosen) asked.push_back(method->traits->name);
    const auto classifiers = classifiers_with ? classifiers_with(name) : std::vector<std::string_view>();
    if (!classifiers.empty()) {
      throw InvalidArgument(fmt::format(
          "{} is an option of --classifier {} and of --method {}, but the classifier is another one and the method is {}; leave it out or choose one of these",
          option_flag(name), fmt::join(classifiers, ", "), fmt::join(owners, ", "), fmt::join(asked, ", ")));
    }
    throw InvalidArgument(
        fmt::format("{} is an option of {}, but the method is {}; leave it out or choose --method {}",
                    option_flag(name), fmt::join(owners, ", "), fmt::join(asked, ", "), owners.front()));
  }
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::string_view prefix) {
  auto names = near_names(word, known);
  if (names.empty()) return {};
  for (auto& name : names) name = prefix.empty() ? name : option_flag(name);
  return fmt::format(" (did you mean {}?)", fmt::join(names, " or "));
}

}  // namespace subspectra::cli
