#pragma once
/// One line of progress on stderr, rewritten in place and erased at the end.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <subspectra/run_control.hpp>
#include "core/options.hpp"

namespace subspectra {

enum class ProgressMode { kAuto, kAlways, kNever };
template <>
struct EnumNames<ProgressMode> {
  static constexpr std::array<std::pair<ProgressMode, std::string_view>, 3> kNames = {
      {{ProgressMode::kAuto, "auto"}, {ProgressMode::kAlways, "always"}, {ProgressMode::kNever, "never"}}};
};

namespace cli {

/// Says how long a task goes on, if the rest of it takes as long as what was done did. A task ends where its
/// name changes or its fraction falls back: a search forward, then one backward.
class Forecast {
 public:
  /// Nothing before it would be more than a guess, and of tasks that do not know how much there is.
  [[nodiscard]] std::optional<double> remaining_s(const Progress& progress);

 private:
  std::string task_;
  double first_ = 0.0, last_ = 0.0;  ///< fractions
  double began_s_ = 0.0;
};

/// auto shows it when stderr is a terminal that can rewrite a line (TERM is not dumb) and --quiet was not
/// given. Where stderr is no such terminal, `always` writes whole lines instead, one in a few seconds. No
/// colours, and the line is erased by blanks: there is no escape sequence that NO_COLOR would have to switch
/// off.
class ProgressLine {
 public:
  ProgressLine(ProgressMode mode, bool quiet);
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;

  /// What RunControl reports to; empty when nothing is to be shown. The line must outlive the control.
  [[nodiscard]] RunControl::Sink sink();
  [[nodiscard]] bool shown() const { return shown_; }
  [[nodiscard]] double interval_s() const { return in_place_ ? 0.1 : 5.0; }
  void erase();

 private:
  void show(const Progress& progress);
  Forecast forecast_;
  bool shown_ = false;
  bool in_place_ = false;
  std::size_t width_ = 79;     ///< of the terminal, less the last column, which would wrap
  std::size_t on_screen_ = 0;  ///< columns to erase
};

/// "evaluate fisher   42 %  12 s, about 17 s left  fold 21/50"
[[nodiscard]] std::string progress_text(const Progress& progress, std::optional<double> remaining_s = {});

/// "17 s", "5 min", "3:20 h".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace cli
}  // namespace subspectra
