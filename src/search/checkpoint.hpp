#pragma once
/// The state of an exact search between two rounds, as a file: schema subspectra.checkpoint/1.
///
/// A checkpoint belongs to one problem (data, units, sizes, size of the pool), known by a hash, and a run
/// that goes on from it ends with the answer of one that was never stopped. It is written atomically, with a
/// checksum; what is torn, changed or of another problem is refused by BadInput.
#include <cstdint>
#include <string>

#include "search/search_state.hpp"

namespace subspectra::search {

/// `problem` names what the search is about (a hash). Written atomically.
void write_checkpoint(const std::string& path, const std::string& problem, Index units,
                      const SearchState& state);
/// Throws BadInput when the file is torn, no checkpoint, or of another problem.
void read_checkpoint(const std::string& path, const std::string& problem, Index units, SearchState& state,
                     std::uint64_t memory_limit = 0);

/// The checkpoints of one run: Eslda::resume is read, Eslda::checkpoint written every
/// Eslda::checkpoint_every seconds and at the end. With neither, nothing is done.
class Checkpoint {
 public:
  Checkpoint(const Explorer& explorer, const SearchUnits& units, const ExactRun& run);

  [[nodiscard]] bool resumes() const { return !run_.asked.resume.empty(); }
  /// Goes on from the file. Throws BadInput, also when a run under a wider gap has closed nodes for good that
  /// this one would have to look into.
  void resume(SearchState& state) const;

  void start_clock(double now_s) { saved_at_s_ = now_s; }
  void save_if_due(const SearchState& state, const RunControl& control);
  void save(const SearchState& state);
  /// Why the last checkpoint could not be written, or "". A full disk must not cost the answer.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  const ExactRun& run_;
  Index units_;
  std::string problem_;
  double saved_at_s_ = 0.0;
  std::string trouble_;
};

}  // namespace subspectra::search
