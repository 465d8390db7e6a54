#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "table.hpp"

namespace subspectra::cli {

ProgressLine::ProgressLine(ProgressMode mode, bool quiet) {
  const char* terminal = std::getenv("TERM");
  in_place_ = ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
  shown_ = mode == ProgressMode::kAlways || (mode == ProgressMode::kAuto && in_place_ && !quiet);
  winsize size{};
  if (in_place_ && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    width_ = size.ws_col - 1U;
}

RunControl::Sink ProgressLine::sink() {
  if (!shown_) return {};
  return [this](const Progress& progress) { show(progress); };
}

void ProgressLine::show(const Progress& progress) {
  std::string line = progress_text(progress);
  if (!in_place_) {
    std::fputs((line + '\n').c_str(), stderr);
    return;
  }
  while (display_width(line) > width_) line.pop_back();
  const std::size_t columns = display_width(line);
  const std::string blanks(on_screen_ > columns ? on_screen_ - columns : 0, ' ');
  std::fputs(('\r' + line + blanks).c_str(), stderr);
  std::fflush(stderr);
  on_screen_ = columns;
}

void ProgressLine::erase() {
  if (on_screen_ == 0) return;
  std::fputs(('\r' + std::string(on_screen_, ' ') + '\r').c_str(), stderr);
  std::fflush(stderr);
  on_screen_ = 0;
}

std::string progress_text(const Progress& progress) {
  std::string line(progress.task);
  if (progress.fraction >= 0.0) line += fmt::format("  {:3.0f} %", 100.0 * progress.fraction);
  line += fmt::format("  {:.0f} s", progress.elapsed_s);
  if (!progress.detail.empty()) line += "  " + progress.detail;
  return line;
}

}  // namespace subspectra::cli
