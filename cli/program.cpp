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
#include "core/version.hpp"
#include "help.hpp"
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

bool asks_for_help(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](const auto& word) { return word == "--help" || word == "-h"; });
}

int run(std::vector<std::string> words, Signals& signals) {
  if (words.empty()) {
    std::fputs(short_help().c_str(), stderr);
    return kUsage;
  }
  std::string name = words.front();
  words.erase(words.begin());
  if (name == "help") {  // `help select` is `select --help`
    name = words.empty() ? "--help" : words.front();
    words = {"--help"};
  }
  if (name == "--help" || name == "-h") {
    write_stdout(program_help());
    return kDone;
  }
  if (name == "--version") {
    std::string text = fmt::format("subspectra {}\n{}", version(), build_info());
    if (text.back() != '\n') text += '\n';
    write_stdout(text);
    return kDone;
  }
  const Command& command = find_command(name);
  if (asks_for_help(words)) {
    write_stdout(help_text(command.page));
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
