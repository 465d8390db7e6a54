#include <subspectra/run_control.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include <subspectra/error.hpp>

namespace subspectra {

std::string_view status_name(Status status) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "optimal",         "gap_reached", "converged",    "heuristic",  "rank_limit",
      "iteration_limit", "node_limit",  "memory_limit", "time_limit", "interrupted"};
  return kNames.at(static_cast<std::size_t>(status));
}

Status worst(Status a, Status b) { return std::max(a, b); }

RunControl::RunControl(std::stop_token stop, double time_limit_s, Sink sink, double interval_s)
    : stop_(std::move(stop)), time_limit_s_(time_limit_s), sink_(std::move(sink)), interval_s_(interval_s) {
  const auto require = [](double seconds, std::string_view field) {
    if (!(seconds >= 0.0))
      throw InvalidArgument({.field = std::string(field),
                             .value = fmt::to_string(seconds),
                             .rule = "{value}, but a number of seconds from 0 up is needed"});
  };
  require(time_limit_s_, "time_limit_s");
  require(interval_s_, "interval_s");
}

RunControl::Stop RunControl::check_limits() const {
  if (stop_.stop_requested()) return Stop::kInterrupted;
  if (elapsed_s() >= time_limit_s_) return Stop::kTimeLimit;
  return Stop::kGoOn;
}

Status RunControl::status_or(Status otherwise) const {
  switch (check_limits()) {
    case Stop::kTimeLimit:
      return Status::kTimeLimit;
    case Stop::kInterrupted:
      return Status::kInterrupted;
    case Stop::kGoOn:
      break;
  }
  return otherwise;
}

double RunControl::elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void RunControl::report(std::string_view task, double fraction,
                        const std::function<std::string()>& detail) const {
  if (!sink_) return;
  const double now = elapsed_s();
  const std::unique_lock lock(report_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || now - last_report_s_ < interval_s_) return;
  last_report_s_ = now;
  sink_({.task = task, .fraction = fraction, .elapsed_s = now, .detail = detail ? detail() : std::string()});
}

}  // namespace subspectra
