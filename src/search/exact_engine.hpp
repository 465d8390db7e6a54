#pragma once
/// The engine of the exact search: rounds of visits to open nodes, until nothing is open or a limit is hit.
///
/// Work goes in rounds. A round takes a fixed number of open nodes, chosen by their bounds alone, visits each
/// with the sets known at the start of the round, and merges what the visits bring in the order of the nodes.
/// Nothing of this depends on the number of threads, so neither does the answer. The parts:
///   Explorer    (explorer.hpp)    bounds nodes and goes down from one: all that knows the matrices
///   NodeStore   (node_store.hpp)  the open nodes, and which of them comes next
///   Incumbents  (incumbents.hpp)  the best sets of every size, and which bounds they close
///   Scheduler   (scheduler.hpp)   the visits of a round; sizes apart, then together; the node limit
///   Journal     (journal.hpp)     events and the line of progress
///   Checkpoint  (checkpoint.hpp)  the state between two rounds as a file
#include <vector>

#include <subspectra/run_control.hpp>
#include "search/checkpoint.hpp"
#include "search/journal.hpp"
#include "search/scheduler.hpp"
#include "search/search_state.hpp"

namespace subspectra::search {

class ExactEngine {
 public:
  /// All of them must outlive the engine.
  ExactEngine(const Explorer& explorer, const SearchUnits& units, const ExactRun& run,
              const RunControl& control, const EngineTuning& tuning);

  /// `start`: by size, sets known beforehand. `known_bounds`: by size, bounds from outside, in the scale of
  /// the criterion; may be empty.
  [[nodiscard]] ExactResult run(const std::vector<std::vector<RankedSet>>& start,
                                const std::vector<double>& known_bounds);
  /// One node to the end, against the sets known at `cut` and those found below it. Nothing else has a say,
  /// so that what is found depends on the node alone.
  [[nodiscard]] Status explore_alone(const SearchState& cut, const OpenNode& node);
  [[nodiscard]] const SearchState& state() const { return state_; }

 private:
  /// To the end, or to where a search in parts is cut.
  [[nodiscard]] Status search(bool to_the_cut);
  [[nodiscard]] bool at_the_cut() const;
  /// Cuts the search, and explores the open nodes of this part, or takes in what all parts found.
  [[nodiscard]] Status search_in_parts();
  [[nodiscard]] std::vector<VisitFindings> explore(const std::vector<NodeVisit>& visits) const;
  void improve_open_sizes();
  void merge(const std::vector<NodeVisit>& visits, std::vector<VisitFindings>& findings);
  [[nodiscard]] ExactResult answer(Status status, const std::vector<double>& known_bounds);
  void share_bounds(std::vector<ExactSize>& sizes) const;

  const Explorer& explorer_;
  const SearchUnits& units_;
  const ExactRun& run_;
  const RunControl& control_;
  const EngineTuning& tuning_;
  Cutoff cutoff_;
  SearchState state_;
  Scheduler scheduler_;
  Journal journal_;
  Checkpoint checkpoint_;
  double open_bytes_;  ///< that open nodes may take before the search goes depth first
  int workers_;        ///< visits at a time
};

}  // namespace subspectra::search
