#pragma once
/// What the greedy searches share with other methods: passes, exchanges, certificates.
#include <string>
#include <subspectra/searches.hpp>

#include "search/greedy.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// Forward and backward pass, at every size the better set, then at most `swaps` exchanges: fills sets,
/// status and warnings. `as_they_pay`: the backward pass from fewer columns where that from all does not pay.
void greedy_sets(const Problem& problem, Index swaps, bool as_they_pay, const RunControl& control,
                 Selection& selection);

/// Upper bounds (and where all bounds are asked for the lower ones) for every set; the status becomes optimal
/// when all gaps are closed. `root` may be null.
void certify(const Problem& problem, const RootLosses* root, const RunControl& control, Selection& selection);

/// The one place that decides whether values, bounds and proofs of sets stand: as they are where doubles have
/// the digits (search/certificate.hpp), which is answered with true; else with more digits, from the rows.
/// `proof`: where the bounds are those of a search that looked at all sets, which proof is then made again or
/// taken back. `pool`: how many sets of every size were asked for.
enum class Proof {
  kNone,         ///< bounds hold for themselves
  kFromAll,      ///< of a search whose bounds start from all candidates together
  kFromTheSets,  ///< of a search that computes with the features of each set alone
};
bool settle(const Problem& problem, const RootLosses* root, Proof proof, const RunControl& control,
            Selection& selection, Index pool = 1);

/// How many sets of this size there are, `pool` where there are more.
[[nodiscard]] std::size_t possible_sets(const Problem& problem, Index k, Index pool);

/// Values of sets that nothing was proven of, by a ranking or a fit: where the features are so nearly
/// dependent that doubles miss them by more than a millionth, they are taken from the rows, with more digits,
/// or a warning says that they are not known.
void correct_values(const Problem& problem, Selection& selection);
/// The entry is this set: its features, groups, value and loadings.
void replace_set(const Problem& problem, const PoolSet& set, PathEntry& entry);
/// Says that the sizes beyond `reached` are left out because no more features are linearly independent.
void warn_of_rank(const Problem& problem, Index reached, Selection& selection);
/// "ridge (rel:1e-6)", and of one that is there already a larger one.
[[nodiscard]] std::string larger_ridge(const RidgeAmount& ridge);

/// A heuristic's status becomes optimal when the gap of every set is closed.
void mark_proven(Selection& selection);

}  // namespace subspectra
