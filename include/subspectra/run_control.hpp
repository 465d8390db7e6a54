#pragma once
/// Long work is given a RunControl and asks it, in one place per step, whether to go on. Nothing here is
/// global and nothing installs a signal handler: the program that calls the library owns its signals and
/// passes a stop token.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <subspectra/export.hpp>
#include <subspectra/types.hpp>

namespace subspectra {

/// How an answer came about; over several answers the worst one is reported (the order here is from best to
/// worst).
enum class Status {
  kOptimal,
  kGapReached,
  kConverged,
  kHeuristic,
  kRankLimit,
  kIterationLimit,
  kNodeLimit,
  kMemoryLimit,
  kTimeLimit,
  kInterrupted,
};
[[nodiscard]] SUBSPECTRA_EXPORT std::string_view status_name(
    Status status);  ///< as in the JSON files: "optimal", "gap_reached", ...
[[nodiscard]] SUBSPECTRA_EXPORT Status worst(Status a, Status b);

struct Progress {
  std::string_view task;   ///< "evaluate gslda"
  double fraction = -1.0;  ///< of the work, 0..1; negative when it cannot be known
  double elapsed_s = 0.0;
  std::string detail;  ///< "fold 12/500", "k 5  incumbent 0.61  bound 0.63  gap 2.9 %"
};

/// One line of a search's log: a better set, or a sign of life.
struct SearchEvent {
  Index k = 0;
  std::string_view source;  ///< of the set: "greedy", "tree"; "done": the size is; "-": a sign of life
  std::uint64_t nodes = 0, open = 0;
  double incumbent = 0.0, bound = 0.0;
  double elapsed_s = 0.0;
};

class RunControl {
 public:
  using Sink = std::function<void(const Progress&)>;
  using EventSink = std::function<void(const SearchEvent&)>;

  RunControl() = default;
  /// `sink` is called at most once in `interval_s`, from whichever thread reports, never from two at once.
  /// A limit of 0 stops at the first look. Throws InvalidArgument for a limit or interval below 0 or NaN.
  SUBSPECTRA_EXPORT RunControl(std::stop_token stop, double time_limit_s, Sink sink = {},
                               double interval_s = 0.1);

  enum class Stop { kGoOn, kTimeLimit, kInterrupted };
  /// The one place that decides to stop; cheap enough for every fold, sweep or batch of nodes. Thread-safe.
  [[nodiscard]] SUBSPECTRA_EXPORT Stop check_limits() const;
  [[nodiscard]] bool should_stop() const { return check_limits() != Stop::kGoOn; }
  /// The status that goes with check_limits(), or `otherwise` when nothing asks to stop.
  [[nodiscard]] SUBSPECTRA_EXPORT Status status_or(Status otherwise) const;

  /// The same limits, what is left of them, without a voice: for parts whose progress the whole reports.
  [[nodiscard]] RunControl silent() const { return {stop_, std::max(0.0, time_limit_s_ - elapsed_s())}; }

  /// Receives the events of a search, one at a time, from the thread that runs it.
  void listen(EventSink sink) { events_ = std::move(sink); }
  [[nodiscard]] bool hears_events() const { return static_cast<bool>(events_); }
  void event(const SearchEvent& event) const {
    if (events_) events_(event);
  }

  [[nodiscard]] SUBSPECTRA_EXPORT double elapsed_s() const;
  SUBSPECTRA_EXPORT void report(std::string_view task, double fraction,
                                const std::function<std::string()>& detail = {}) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::stop_token stop_;
  double time_limit_s_ = kInfinity;
  Sink sink_;
  EventSink events_;
  double interval_s_ = 0.1;
  Clock::time_point start_ = Clock::now();
  mutable std::mutex report_mutex_;
  mutable double last_report_s_ = -kInfinity;
};

}  // namespace subspectra
