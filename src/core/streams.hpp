#pragma once
/// Every stream of random numbers there is: what Random(seed, stream) is given besides the user's seed. Two
/// uses that draw from one stream with one seed see the same numbers, so each has a range of its own, and
/// this file does not compile where two ranges meet. docs/random.md shows the table; a test compares them.
#include <array>
#include <cstdint>
#include <string_view>

#include "core/types.hpp"

namespace subspectra::streams {

/// The streams first..last.
struct Range {
  std::uint64_t first = 0, last = 0;
  [[nodiscard]] constexpr bool meets(const Range& other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Streams base..base + 2^bits - 1.
constexpr Range block(std::uint64_t base, unsigned bits) {
  return {base, base + ((std::uint64_t{1} << bits) - 1)};
}
constexpr std::uint64_t power(unsigned exponent) { return std::uint64_t{1} << exponent; }

inline constexpr Range kRepeats = block(0, 40);
inline constexpr Range kNull = block(power(40), 40);
inline constexpr Range kSynth = block(power(41), 41);
inline constexpr Range kIccv07Bounds = block(power(42), 42);
inline constexpr Range kQAlphaStarts = block(power(43), 43);
inline constexpr Range kKMeansRestarts = block(power(44), 44);
inline constexpr Range kClusterEigenvectors = block(power(45), 0);
inline constexpr Range kPartitionStarts = block(power(46), 46);
inline constexpr Range kRowSample = block(power(47), 0);
inline constexpr Range kFoldOrder = block(power(48), 0);
inline constexpr Range kLambdaFolds = block(power(50), 0);
inline constexpr Range kInnerFolds = block(power(51), 0);
inline constexpr Range kGpRestarts = block(power(52), 32);
inline constexpr Range kGeneShaving = block(power(53), 53);
inline constexpr Range kComparisonFolds = block(power(54), 20);

// --- what to draw from
/// The folds of repeat 0, 1, ... of an evaluation.
constexpr std::uint64_t repeat_folds(Index repeat) {
  return kRepeats.first + static_cast<std::uint64_t>(repeat);
}
/// The labels of permutation 1, 2, ..., and its folds.
constexpr std::uint64_t null_labels(Index permutation) {
  return kNull.first + 2 * static_cast<std::uint64_t>(permutation);
}
constexpr std::uint64_t null_folds(Index permutation) { return null_labels(permutation) + 1; }
/// Of a synthetic problem: its own parameters, its item (row, path or feature) 0, 1, ...
constexpr std::uint64_t synth_parameters() { return kSynth.first; }
constexpr std::uint64_t synth_item(Index item) { return kSynth.first + 1 + static_cast<std::uint64_t>(item); }
/// The same of what a problem has two of.
inline constexpr std::uint64_t kSecondSynth = power(32);
constexpr std::uint64_t iccv07_means() { return kIccv07Bounds.first; }
constexpr std::uint64_t iccv07_row(Index row) {
  return kIccv07Bounds.first + 1 + static_cast<std::uint64_t>(row);
}
constexpr std::uint64_t qalpha_start(Index start) {
  return kQAlphaStarts.first + static_cast<std::uint64_t>(start);
}
constexpr std::uint64_t kmeans_restart(Index restart) {
  return kKMeansRestarts.first + static_cast<std::uint64_t>(restart);
}
constexpr std::uint64_t cluster_eigenvectors() { return kClusterEigenvectors.first; }
/// Of a search for a partition of the rows: start 0, 1, ...
constexpr std::uint64_t partition_start(Index start) {
  return kPartitionStarts.first + static_cast<std::uint64_t>(start);
}
/// The rows of an evaluation that stand for all, and the order in which it takes its folds.
constexpr std::uint64_t row_sample() { return kRowSample.first; }
constexpr std::uint64_t fold_order() { return kFoldOrder.first; }
constexpr std::uint64_t lambda_folds() { return kLambdaFolds.first; }
constexpr std::uint64_t inner_folds() { return kInnerFolds.first; }
/// Start 1, 2, ... (below 1024) of the process of class 0, 1, ...
constexpr std::uint64_t gp_restart(Index positive, Index restart) {
  return kGpRestarts.first + 1024 * static_cast<std::uint64_t>(positive) +
         static_cast<std::uint64_t>(restart);
}
/// Permutation 0, 1, ... (below 2^32) of set 0, 1, ...
constexpr std::uint64_t gene_shaving(Index set, Index permutation) {
  return kGeneShaving.first + power(32) * static_cast<std::uint64_t>(set) +
         static_cast<std::uint64_t>(permutation);
}

/// Repeat 0, 1, ... of the folds inside a training set by which methods or ridges are compared.
constexpr std::uint64_t comparison_folds(Index repeat) {
  return kComparisonFolds.first + static_cast<std::uint64_t>(repeat);
}

// --- the table
/// One line of docs/random.md.
struct Use {
  Range range;
  std::string_view owner;    ///< lines of one owner may share a range: a run has one of them
  std::string_view streams;  ///< as written
  std::string_view what;
};

// clang-format off
inline constexpr std::array kUses = {
    Use{kRepeats, "evaluate", "r = 0, 1, ...", "the folds of repeat r of `evaluate`"},
    Use{kNull, "null", "2^40 + 2 i", "permutation i = 1, 2, ... of the labels in `evaluate`"},
    Use{kNull, "null", "2^40 + 2 i + 1", "its folds"},
    Use{kSynth, "synth", "2^41", "`synth brownian`: the walk by which the means differ"},
    Use{kSynth, "synth", "2^41 + 1 + i", "its row i = 0, 1, ..."},
    Use{kSynth, "synth", "2^41", "`synth brownian-pair`: H or beta of A; 2^41 + 2^32: of B"},
    Use{kSynth, "synth", "2^41 + 1 + r", "path r = 0, 1, ... of A; 2^41 + 2^32 + 1 + r: of B"},
    Use{kSynth, "synth", "2^41 + 1 + i", "`synth weston-linear`, `weston-nonlinear`: row i"},
    Use{kSynth, "synth", "2^41 + 1 + j", "`synth clusters`, `sessions`, `bendor`: feature j = 0, 1, ...; 2^41 + 2^32 + j: the signs of feature j of `sessions`"},
    Use{kIccv07Bounds, "iccv07-bounds", "2^42", "`reproduce iccv07-bounds`: the difference of the class means; 2^42 + 1 + i: row i"},
    Use{kQAlphaStarts, "qalpha", "2^43 + i", "start i = 0, 1, ... of the Q-alpha methods"},
    Use{kKMeansRestarts, "k-means", "2^44 + i", "restart i = 0, 1, ... of the k-means of `cluster`"},
    Use{kClusterEigenvectors, "cluster", "2^45", "the start of its eigenvectors"},
    Use{kPartitionStarts, "max-surprise", "2^46 + r", "start r = 0, 1, ... of the search of `max-surprise` for a partition"},
    Use{kRowSample, "row sample", "2^47", "the rows of `evaluate` that are drawn and correlated where there are many"},
    Use{kFoldOrder, "fold order", "2^48", "the order in which `evaluate` takes its folds"},
    Use{kLambdaFolds, "lambda", "2^50", "the folds by which lambda is chosen"},
    Use{kInnerFolds, "inner folds", "2^51", "the folds inside a training set by which the classifier `svm`, `svm-rfe` and `svm-rmb` choose C"},
    Use{kGpRestarts, "gp", "2^52 + 1024 c + r", "start r = 1, 2, ... of the Gaussian process of class c"},
    Use{kGeneShaving, "gene-shaving", "2^53 + i 2^32 + b", "permutation b of set i of `gene-shaving`"},
    Use{kComparisonFolds, "comparison", "2^54 + r", "repeat r = 0, 1, ... of the folds inside a training set by which method `auto` and a cross-validated ridge are chosen"},
};
// clang-format on

constexpr bool uses_are_apart() {
  for (const Use& a : kUses) {
    for (const Use& b : kUses) {
      if (a.owner != b.owner && a.range.meets(b.range)) return false;
    }
  }
  return true;
}
static_assert(uses_are_apart(), "two uses draw from the same streams: give the new one a range of its own");

}  // namespace subspectra::streams
