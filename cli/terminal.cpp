#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/text.hpp"

namespace subspectra::cli {
namespace {

constexpr std::string_view kPlainAgain = "\x1b[0m";
constexpr std::array<std::string_view, 6> kSequences = {"",         "\x1b[1m",  "\x1b[1;36m",
                                                        "\x1b[32m", "\x1b[33m", "\x1b[31m"};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

constexpr std::size_t kLeastWidth = 40;  // below it nothing can be laid out: lines break where they break

}  // namespace

Terminal Terminal::of(int descriptor) {
  Terminal terminal;
  if (::isatty(descriptor) != 1) return terminal;
  const std::string_view kind = variable("TERM");
  terminal.colours = variable("NO_COLOR").empty() && !kind.empty() && kind != "dumb";
  double columns = 0.0;
  winsize size{};
  if (!parse_number(variable("COLUMNS"), columns) && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0)
    columns = size.ws_col;
  if (columns >= 1.0 && columns <= 10'000.0)
    terminal.width = std::max(kLeastWidth, static_cast<std::size_t>(columns));
  return terminal;
}

const Terminal& stdout_terminal() {
  static const Terminal terminal = Terminal::of(STDOUT_FILENO);
  return terminal;
}

const Terminal& stderr_terminal() {
  static const Terminal terminal = Terminal::of(STDERR_FILENO);
  return terminal;
}

std::string styled(std::string_view text, Style style, const Terminal& terminal) {
  const std::string_view sequence = kSequences.at(static_cast<std::size_t>(style));
  if (!terminal.colours || sequence.empty() || text.empty()) return std::string(text);
  return std::string(sequence).append(text).append(kPlainAgain);
}

std::size_t style_sequence_at(std::string_view text) {
  if (!text.starts_with('\x1b')) return 0;
  if (text.starts_with(kPlainAgain)) return kPlainAgain.size();
  for (const std::string_view sequence : kSequences) {
    if (!sequence.empty() && text.starts_with(sequence)) return sequence.size();
  }
  return 0;
}

}  // namespace subspectra::cli
