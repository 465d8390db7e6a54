#pragma once
/// The log of an exact search: a line for every better set and every few seconds, on stderr as people know it
/// from MIP solvers, and as JSON lines in a file (--events).
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include <subspectra/run_control.hpp>
#include "progress.hpp"

namespace subspectra::cli {

class SearchLog {
 public:
  /// `events`: the file, or "". Throws Error when it cannot be written. `kept`: events() has them, too.
  SearchLog(const std::string& events, bool shown, ProgressLine& line, bool kept = false);
  ~SearchLog();
  SearchLog(const SearchLog&) = delete;
  SearchLog& operator=(const SearchLog&) = delete;
  SearchLog(SearchLog&&) = delete;
  SearchLog& operator=(SearchLog&&) = delete;

  /// What a RunControl listens with; empty when nobody wants to know.
  [[nodiscard]] RunControl::EventSink sink();
  /// Each as a line of --events, where they are kept; once the search has ended.
  [[nodiscard]] const nlohmann::json& events() const { return events_; }

 private:
  void tell(const SearchEvent& event);
  std::string path_;
  std::FILE* file_ = nullptr;
  bool shown_ = false, began_ = false, kept_ = false;
  ProgressLine& line_;
  nlohmann::json events_ = nlohmann::json::array();
};

/// One line of the log; the columns are k Src Nodes Open Incumbent Bound Gap Time.
[[nodiscard]] std::string log_line(const SearchEvent& event);
[[nodiscard]] std::string log_header();

}  // namespace subspectra::cli
