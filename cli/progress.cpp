#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "table.hpp"
#include "terminal.hpp"

namespace subspectra::cli {

ProgressLine::ProgressLine(ProgressMode mode, bool quiet) {
  const char* terminal = std::getenv("TERM");
  in_place_ = ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
  shown_ = mode == ProgressMode::kAlways || (mode == ProgressMode::kAuto && in_place_ && !quiet);
  width_ = stderr_terminal().width - 1;
}

RunControl::Sink ProgressLine::sink() {
  if (!shown_) return {};
  return [this](const Progress& progress) { show(progress); };
}

void ProgressLine::show(const Progress& progress) {
  std::string line = progress_text(progress, forecast_.remaining_s(progress));
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

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::clamp(std::ceil(seconds), 0.0, 1e9));
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 100 * 60) return fmt::format("{} min", (whole + 30) / 60);
  if (whole < 48 * 3600) return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} days", (whole + 43'200) / 86'400);
}

std::optional<double> Forecast::remaining_s(const Progress& progress) {
  constexpr double kLeastSeconds = 2.0, kLeastFraction = 0.01;  // before that it would be a guess
  if (progress.task != task_ || !(progress.fraction >= last_)) {
    task_ = progress.task;
    first_ = progress.fraction;
    began_s_ = progress.elapsed_s;
  }
  last_ = progress.fraction;
  const double done = progress.fraction - first_, seconds = progress.elapsed_s - began_s_;
  if (!(progress.fraction >= 0.0) || !(done >= kLeastFraction) || !(seconds >= kLeastSeconds))
    return std::nullopt;
  return seconds * std::max(0.0, 1.0 - progress.fraction) / done;
}

std::string progress_text(const Progress& progress, std::optional<double> remaining_s) {
  std::string line(progress.task);
  if (progress.fraction >= 0.0) line += fmt::format("  {:3.0f} %", 100.0 * progress.fraction);
  line += fmt::format("  {:.0f} s", progress.elapsed_s);
  if (remaining_s) line += fmt::format(", about {} left", duration_text(*remaining_s));
  if (!progress.detail.empty()) line += "  " + progress.detail;
  return line;
}

}  // namespace subspectra::cli
