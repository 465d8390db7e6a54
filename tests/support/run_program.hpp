#pragma once
/// Runs the real program and hands back what it wrote and how it ended.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace subspectra::testing {

struct Finished {
  int code = -1;  ///< exit code, 128 + signal when killed; -1 when the time was up
  std::string out;
  std::string err;
  double seconds = 0.0;
  double signalled_at = 0.0;  ///< seconds
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

struct RunSettings {
  std::string directory = {};    ///< "" is the current one
  std::string input = {};        ///< standard input; "" is empty
  std::string stdout_path = {};  ///< where stdout goes instead of Finished::out
  int signal = 0;                ///< sent after signal_after_s
  double signal_after_s = 0.0;
  std::string signal_when = {};  ///< not before this file exists
  double timeout_s = 120.0;
};

namespace detail {

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// In the child, after fork: only what is allowed between fork and exec.
[[noreturn]] inline void become(char* const* words, const char* directory, const char* in, const char* out,
                                const char* err) {
  std::signal(SIGINT, SIG_DFL);  // a test run in the background starts with SIGINT ignored
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  const int in_file = ::open(in, O_RDONLY);
  const int out_file = ::open(out, O_WRONLY | O_CREAT, 0644);
  const int err_file = ::open(err, O_WRONLY | O_CREAT, 0644);
  if (in_file < 0 || out_file < 0 || err_file < 0 || ::dup2(in_file, 0) < 0 || ::dup2(out_file, 1) < 0 ||
      ::dup2(err_file, 2) < 0 || ::chdir(directory) != 0) {
    ::_exit(126);
  }
  ::execv(words[0], words);
  ::_exit(127);
}

}  // namespace detail

/// A directory that is removed with everything in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "subspectra-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ScratchDirectory(ScratchDirectory&&) = delete;
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and gives its path.
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return file(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const { return detail::slurp(path_ / name); }
  [[nodiscard]] std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline Finished run_words(std::vector<std::string> words, const RunSettings& settings = {}) {
  using Clock = std::chrono::steady_clock;
  const ScratchDirectory scratch;
  const std::string in = scratch.write("in", settings.input);
  const std::string out = settings.stdout_path.empty() ? scratch.file("out") : settings.stdout_path;
  const std::string err = scratch.file("err");
  const std::string directory = settings.directory.empty() ? "." : settings.directory;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) detail::become(pointers.data(), directory.c_str(), in.c_str(), out.c_str(), err.c_str());
  Finished result;
  bool signalled = settings.signal == 0;
  int status = 0;
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (!signalled && seconds() >= settings.signal_after_s &&
        (settings.signal_when.empty() || std::filesystem::exists(settings.signal_when))) {
      ::kill(child, settings.signal);
      signalled = true;
      result.signalled_at = seconds();
    }
    if (seconds() > settings.timeout_s) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      result.err = "TIMEOUT\n" + detail::slurp(err);
      return result;
    }
    ::usleep(2000);
  }
  result.seconds = seconds();
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (settings.stdout_path.empty()) result.out = detail::slurp(out);
  result.err = detail::slurp(err);
  return result;
}

/// `subspectra ARGUMENTS...`
inline Finished run_program(const std::vector<std::string>& arguments, const RunSettings& settings = {}) {
  std::vector<std::string> words = {SUBSPECTRA_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_words(std::move(words), settings);
}

/// A line of shell in which `subspectra` is the program.
inline Finished run_shell(const std::string& line, const RunSettings& settings = {}) {
  return run_words({"/bin/sh", "-c", "subspectra() { \"" SUBSPECTRA_PROGRAM "\" \"$@\"; }; " + line},
                   settings);
}

}  // namespace subspectra::testing
