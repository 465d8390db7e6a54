#pragma once
/// What a search tells while it runs: an event for every better set, for every size that is done and now and
/// then as a sign of life (RunControl::event()), and one line of progress (RunControl::report()).
///
/// Reads the state and changes nothing. Values and bounds are told as the criterion, not in the scale of the
/// search.
#include <string_view>
#include <vector>

#include <subspectra/run_control.hpp>
#include "search/search_state.hpp"

namespace subspectra::search {

class Journal {
 public:
  Journal(const SearchState& state, const Explorer& explorer, const RunControl& control, double heartbeat_s)
      : state_(state), explorer_(explorer), control_(control), heartbeat_s_(heartbeat_s) {}

  /// The set that every size starts from, where there is one.
  void tell_start() const;
  /// A better set of size k was found by the tree.
  void tell_better(Index k) const { tell(k, "tree"); }
  /// The last line of every size of which nothing is open any more.
  void tell_closed();
  /// A sign of life of every open size, if the last one is a while ago; and the line of progress.
  void heartbeat();

 private:
  void tell(Index k, std::string_view source) const;
  [[nodiscard]] std::string progress() const;

  const SearchState& state_;
  const Explorer& explorer_;
  const RunControl& control_;
  double heartbeat_s_, last_heartbeat_s_ = 0.0;
  std::vector<bool> told_closed_;  ///< by size
};

}  // namespace subspectra::search
