#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/json_io.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "terminal.hpp"

namespace subspectra::cli {
namespace {

using nlohmann::json;

std::string reason(int code) { return std::generic_category().message(code); }

void append_json(const json& value, std::size_t indent, std::string& text) {
  const bool plain_array =
      value.is_array() && std::none_of(value.begin(), value.end(),
                                       [](const json& entry) { return entry.is_object() && !entry.empty(); });
  if (!value.is_structured() || value.empty() || plain_array) {
    text += dump_json_leniently(value);
    return;
  }
  const std::string margin(indent + 2, ' ');
  text += value.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    text += first ? "\n" : ",\n";
    first = false;
    text += margin;
    if (value.is_object()) text += dump_json_leniently(json(key)) + ": ";
    append_json(member, indent + 2, text);
  }
  text += '\n' + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
}

void write_bytes(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw Error(fmt::format("standard output cannot be written: {}", reason(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void write_stdout(std::string_view text) {
  if (!stdout_terminal().colours) return write_bytes(printable(text, LineBreaks::kKeep));
  // Our own colours pass, everything else that a terminal obeys does not.
  std::string safe;
  while (!text.empty()) {
    const std::size_t sequence = style_sequence_at(text);
    safe += text.substr(0, sequence);
    text.remove_prefix(sequence);
    const auto next = std::min(text.find('\x1b', sequence == 0 ? 1 : 0), text.size());
    safe += printable(text.substr(0, next), LineBreaks::kKeep);
    text.remove_prefix(next);
  }
  write_bytes(safe);
}

void write_stderr(std::string_view text) { std::fputs(printable(text, LineBreaks::kKeep).c_str(), stderr); }

void write_result(const std::string& path, std::string_view text, const std::stop_token& stop) {
  const bool to_terminal = (path == "-" || path == "/dev/stdout") && ::isatty(STDOUT_FILENO) == 1;
  if (to_terminal) {
    write_bytes(printable(text, LineBreaks::kKeep));  // not even colours: none of them is ours
  } else if (path == "-") {
    write_bytes(text);
  } else {
    write_file_atomically(path, text, stop);
  }
}

void write_result_as_named(const std::string& path, const nlohmann::json& result, std::string_view text,
                           const std::stop_token& stop, bool csv_safe) {
  if (path.empty()) return;
  is_csv_name(path) ? write_result(path, result_csv(result, csv_safe), stop) : write_result(path, text, stop);
}

void say(std::string_view kind, std::string_view sentence) {
  std::string line = spelled(sentence, Spelling::kCommandLine);
  std::replace(line.begin(), line.end(), '\n', ' ');
  const Style style = kind == "error" ? Style::kBad : kind == "warning" ? Style::kDoubtful : Style::kPlain;
  std::fputs(
      fmt::format("subspectra: {}: {}\n", styled(kind, style, stderr_terminal()), printable(line)).c_str(),
      stderr);  // a closed stderr is no error
}

std::string json_text(const json& value) {
  std::string text;
  append_json(value, 0, text);
  return text + '\n';
}

}  // namespace subspectra::cli
