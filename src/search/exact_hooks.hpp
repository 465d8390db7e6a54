#pragma once
/// The way into the exact search that tests and benches take and users do not: a set to watch over, bounds
/// switched off, tuning. Nothing here changes what a search answers.
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "search/exact.hpp"
#include "search/exact_tuning.hpp"

namespace subspectra {

/// What closes nodes; each can be switched off to measure what it saves, and searches stay exact without it.
/// Of LDA (docs/theory/exact.md), beside the superset bound:
enum class ExactBound : std::size_t {
  kSingleDrop,  ///< units that cost too much alone are kept
  kDropSum,     ///< what dropping a set costs at least, unit by unit
  kGainSum,     ///< what keeping a set brings at most, unit by unit
  kLastPair,    ///< the last two units by a scan
  // Of PCA (docs/theory/exact-pca.md), beside the row-wise Perron bound:
  kFixOut,    ///< dropping units that no wanted set can have
  kSuperset,  ///< lambda_max of all that is left
  kFloor,     ///< raising the small eigenvalues before bounding row by row
  kResidual,  ///< the matrix of the free units as seen from the kept ones
  kCount
};

class BoundSwitches {
 public:
  [[nodiscard]] constexpr bool on(ExactBound bound) const { return !off_[static_cast<std::size_t>(bound)]; }
  constexpr void turn_off(ExactBound bound) { off_[static_cast<std::size_t>(bound)] = true; }
  constexpr void turn_on(ExactBound bound) { off_[static_cast<std::size_t>(bound)] = false; }

 private:
  std::array<bool, static_cast<std::size_t>(ExactBound::kCount)> off_ = {};
};
/// Gain sums have closed no node of any problem that was measured that the others had not
/// (docs/performance.md).
[[nodiscard]] constexpr BoundSwitches default_bounds() {
  BoundSwitches bounds;
  bounds.turn_off(ExactBound::kGainSum);
  return bounds;
}

struct ExactHooks {
  /// The search that is taken wherever it can be, whatever costs less: both answer the same, and tests and
  /// fuzzers hold each against the other.
  std::optional<ExactSearch> search = {};
  /// A set that must not be lost. Debug builds stop with words where a node that holds it is closed although
  /// it beats what is known (planted.hpp).
  std::vector<Index> planted = {};
  BoundSwitches bounds = default_bounds();
  search::ExactTuning tuning = {};
};

/// What exact_search() of exact.hpp calls without hooks.
[[nodiscard]] ExactResult exact_search(const Pencil& pencil, const SearchUnits& units,
                                       const std::vector<std::vector<RankedSet>>& start, const ExactRun& run,
                                       const RunControl& control, const ExactHooks& hooks);

}  // namespace subspectra
