/// Picks the command, and turns whatever is thrown into one line and an exit code.
#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <system_error>

#include <subspectra/error.hpp>
#include "command.hpp"
#include "completion.hpp"
#include "core/version.hpp"
#include "help.hpp"
#include "man.hpp"
#include "method_guide.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/build_info.hpp"
#include "written_files.hpp"

namespace subspectra::cli {

namespace {

enum ExitCode : int { kDone = 0, kFailure = 1, kUsage = 2, kBadInput = 3, kInfeasible = 4 };

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    if (command.page.name == name) return command;
    names.push_back(command.page.name);
  }
  if (name.starts_with("-")) {
    throw InvalidArgument(fmt::format("the command comes first, then {}; see subspectra --help", name));
  }
  throw InvalidArgument(fmt::format("there is no command '{}'{}; the commands are {}", name,
                                    did_you_mean(name, names), fmt::join(names, ", ")));
}

/// What a line asks to be told, before it is read: so that help works on a line with mistakes.
std::optional<std::string> help_asked_for(const std::vector<std::string>& words, const CommandPage* page) {
  const std::string command = page == nullptr ? "" : page->name;
  constexpr std::string_view kMethod = "--help-method";
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    if (*word == "--help" || *word == "-h") return page == nullptr ? program_help() : help_text(*page);
    if (*word == "--help-all") return page == nullptr ? full_program_help() : full_help_text(*page);
    if (*word == kMethod && word + 1 == words.end()) {
      throw InvalidArgument(
          "--help-method needs a value: --help-method NAME; `subspectra methods` lists the names");
    }
    if (*word == kMethod) return method_options_page(MethodRegistry::find(word[1]), command);
    if (word->starts_with(std::string(kMethod) + '='))
      return method_options_page(MethodRegistry::find(word->substr(kMethod.size() + 1)), command);
  }
  return std::nullopt;
}

/// What is installed beside the program: manual pages and completions, below `folder`, which the build makes.
void write_pages(const std::string& folder) {
  write_result(folder + "/man1/subspectra.1", program_manual());
  for (const auto& command : commands())
    write_result(fmt::format("{}/man1/subspectra-{}.1", folder, command.page.name),
                 command_manual(command.page));
  for (const auto shell : kShells)
    write_result(fmt::format("{}/completion.{}", folder, shell), completion_script(shell));
}

int run(std::vector<std::string> words, Signals& signals) {
  if (words.empty()) {
    std::fputs(first_help().c_str(), stderr);
    return kUsage;
  }
  std::string name = words.front();
  words.erase(words.begin());
  if (name == "help") {  // `help select` is `select --help`
    name = words.empty() ? "--help" : words.front();
    words = {"--help"};
  }
  if (name.starts_with("-")) {
    auto all = words;
    all.insert(all.begin(), name);
    if (const auto help = help_asked_for(all, nullptr)) {
      write_stdout(*help);
      return kDone;
    }
  }
  if (name == "--version") {
    std::string text = fmt::format("subspectra {}\n{}", version(), build_info());
    if (text.back() != '\n') text += '\n';
    write_stdout(text);
    return kDone;
  }
  if (name == "--man") {
    write_stdout(words.empty() ? program_manual() : command_manual(find_command(words.front()).page));
    return kDone;
  }
  if (name == "--completion") {
    write_stdout(completion_script(words.empty() ? "" : words.front()));
    return kDone;
  }
  if (name == "--write-pages" && words.size() == 1) {
    write_pages(words.front());
    return kDone;
  }
  const Command& command = find_command(name);
  if (const auto help = help_asked_for(words, &command.page)) {
    write_stdout(*help);
    return kDone;
  }
  const Arguments arguments = parse_arguments(command.page, words);
  refuse_overwriting(command.page, arguments);
  return command.run(arguments, signals);
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  int code = kFailure;
  std::optional<Signals> signals;
  try {
    signals.emplace();
    return run(words, *signals);
  } catch (const InvalidArgument& problem) {
    say("error", problem.text(Spelling::kCommandLine));
    code = kUsage;
  } catch (const BadInput& problem) {
    say("error", problem.text(Spelling::kCommandLine));
    code = kBadInput;
  } catch (const Infeasible& problem) {
    say("error", problem.text(Spelling::kCommandLine));
    code = kInfeasible;
  } catch (const Error& problem) {
    say("error", problem.text(Spelling::kCommandLine));
  } catch (const std::bad_alloc&) {
    say("error", "not enough memory; use fewer rows or features, or a machine with more memory");
  } catch (const std::system_error& problem) {
    if (problem.code() == std::errc::resource_unavailable_try_again) {
      say("error",
          "the system starts no more threads for this user; end other programs, or raise the limit (ulimit -u, ulimit -v)");
    } else {
      say("error", problem.what());
    }
  } catch (const std::exception& problem) {
    say("error", problem.what());
  }
  const int interrupted = signals ? signals->exit_code() : 0;
  return code == kFailure && interrupted != 0 ? interrupted : code;
}

}  // namespace subspectra::cli
