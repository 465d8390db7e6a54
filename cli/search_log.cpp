#include "search_log.hpp"
#include "core/json_io.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include <subspectra/error.hpp>
#include "output.hpp"

namespace subspectra::cli {
namespace {

std::optional<double> gap(const SearchEvent& event) {
  if (!std::isfinite(event.incumbent) || !std::isfinite(event.bound)) return std::nullopt;
  if (event.bound <= event.incumbent) return 0.0;
  if (event.incumbent <= 0.0) return std::nullopt;
  return (event.bound - event.incumbent) / event.incumbent;
}

nlohmann::json or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace

std::string log_header() {
  return fmt::format("{:>5} {:<7} {:>11} {:>9} {:>12} {:>12} {:>9} {:>9}", "k", "Src", "Nodes", "Open",
                     "Incumbent", "Bound", "Gap", "Time");
}

std::string log_line(const SearchEvent& event) {
  const auto relative = gap(event);
  return fmt::format("{:>5} {:<7} {:>11} {:>9} {:>12.6g} {:>12.6g} {:>9} {:>8.1f}s", event.k, event.source,
                     event.nodes, event.open, event.incumbent, event.bound,
                     relative ? fmt::format("{:.2f}%", 100.0 * *relative) : "-", event.elapsed_s);
}

SearchLog::SearchLog(const std::string& events, bool shown, ProgressLine& line, bool kept)
    : path_(events), shown_(shown), kept_(kept), line_(line) {
  if (path_.empty()) return;
  file_ = std::fopen(path_.c_str(), "w");
  if (file_ == nullptr) {
    throw Error(fmt::format("{}: cannot be written ({}); choose another place for --events", path_,
                            std::strerror(errno)));
  }
}

SearchLog::~SearchLog() {
  if (file_ != nullptr) std::fclose(file_);
}

RunControl::EventSink SearchLog::sink() {
  if (!shown_ && file_ == nullptr && !kept_) return {};
  return [this](const SearchEvent& event) { tell(event); };
}

void SearchLog::tell(const SearchEvent& event) {
  if (shown_) {
    line_.erase();
    if (!began_) std::fputs((log_header() + '\n').c_str(), stderr);
    began_ = true;
    std::fputs((log_line(event) + '\n').c_str(), stderr);
  }
  if (file_ == nullptr && !kept_) return;
  const auto relative = gap(event);
  const nlohmann::json line = {{"event", event.source == "-"      ? "progress"
                                         : event.source == "done" ? "done"
                                                                  : "incumbent"},
                               {"k", event.k},
                               {"source", event.source},
                               {"nodes", event.nodes},
                               {"open", event.open},
                               {"incumbent", or_null(event.incumbent)},
                               {"bound", or_null(event.bound)},
                               {"gap", relative ? nlohmann::json(*relative) : nlohmann::json()},
                               {"time_s", event.elapsed_s}};
  constexpr std::size_t kMostKept = 100000;
  if (kept_ && events_.size() < kMostKept) events_.push_back(line);
  if (file_ == nullptr) return;
  // Whoever follows the file sees whole lines.
  if (std::fputs((dump_json(line) + '\n').c_str(), file_) < 0 || std::fflush(file_) != 0) {
    // A full disk must not cost the answer.
    say("warning", fmt::format("{}: cannot be written ({}); the log of --events ends here", path_,
                               std::strerror(errno)));
    std::fclose(file_);
    file_ = nullptr;
  }
}

}  // namespace subspectra::cli
