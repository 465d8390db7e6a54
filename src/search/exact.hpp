#pragma once
/// Exact subset search by branch and bound: for every size the best sets with a proof, or the best found with
/// an upper bound, whenever it is stopped. docs/methods/exact.md, docs/theory/exact.md.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include <subspectra/run_control.hpp>
#include <subspectra/searches.hpp>
#include "search/units.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

class PartWork;
namespace device {
class Device;
}

/// Sets whose values agree to this fraction are a tie, and a search does not look for what is better by less
/// than a tie: both together stay within what a certificate promises (kCertifiedGap).
inline constexpr double kTieFraction = 4e-10;

/// A set of units (ascending) and its criterion.
struct RankedSet {
  std::vector<Index> units;
  double value = 0.0;
};

/// One exact search: what the method asks of it, and what belongs to the run of which it is a part.
struct ExactRun {
  Criterion criterion = Criterion::kLargest;
  KRange k;  ///< units: 1 <= lo <= hi <= units.count()
  /// The options of the method, which are described and have their defaults there. Of PCA as well: those of
  /// Espca are the same ones (options_as).
  Eslda asked = {};
  int threads = 0;
  std::uint64_t memory_limit = 0;
  bool exchange = false;  ///< a local search by exchanges from the sets known beforehand
  /// A card that tries the sets where suits_card() says so, or null.
  std::shared_ptr<const device::Device> card = nullptr;
  /// A search in parts, and the name of this search among those of the run; or null.
  PartWork* parts = nullptr;
  std::string part_name = {};
};

/// The answer for one size.
struct ExactSize {
  std::vector<RankedSet> pool;     ///< best first, ties in lexicographic order; empty when no set exists
  double upper_bound = kInfinity;  ///< no set of this size is better; equals the best value when proven
};

struct ExactResult {
  std::vector<ExactSize> sizes;  ///< k.lo..k.hi
  Status status = Status::kInterrupted;
  std::uint64_t nodes = 0;
  std::uint64_t incumbent_updates = 0;
  std::uint64_t open_nodes = 0;  ///< left when it was stopped
  bool resumed = false;
  std::string checkpoint_problem;  ///< why the last checkpoint could not be written, or ""
  std::string card;                ///< the card that tried the sets, or ""
  std::string card_problem;        ///< why the processor tried them in its place, or ""
};

/// How sets are gone through.
enum class ExactSearch {
  kTree,   ///< a tree that leaves features out, or keeps them, under bounds
  kSweep,  ///< all sets, the last two or three features at once
};
/// The one that exact_search() takes for these sizes, by counted work: where the sets to be tried are few
/// beside what one factorization over all candidates takes, or no such factorization can be had. The answer
/// is the same. `wished` is taken wherever it can be.
[[nodiscard]] ExactSearch exact_search_for(const Pencil& pencil, const SearchUnits& units, const KRange& k,
                                           const std::optional<ExactSearch>& wished = {});
/// Whether a card can try the sets of these sizes: two to four single features, none of them forced, of a
/// pencil with a factor.
[[nodiscard]] bool suits_card(const Pencil& pencil, const SearchUnits& units, const KRange& k);
/// How many sets a sweep tries for these sizes.
[[nodiscard]] double sets_to_sweep(const SearchUnits& units, const KRange& k);

/// `start` holds, for every size of run.k, sets known beforehand (of a greedy search); any number, also
/// none. Throws Infeasible when B over the candidates is singular, Error when the matrices do not fit,
/// BadInput for a checkpoint that is torn or belongs to something else. The answer does not depend on the
/// number of threads, nor on whether the search was interrupted and resumed.
[[nodiscard]] ExactResult exact_search(const Pencil& pencil, const SearchUnits& units,
                                       const std::vector<std::vector<RankedSet>>& start, const ExactRun& run,
                                       const RunControl& control);

}  // namespace subspectra
