#pragma once
/// What the rules said of the rows they had not seen, taken together: confusion, ranks, calibration. Nothing
/// here grows with the number of folds.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <subspectra/evaluate.hpp>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// A wrong answer given with certainty would cost infinitely much; it costs log 1e15, as is customary.
inline constexpr double kLeastLogProbability = -34.538776394910684;

/// Of one rule, for the rows of one held-out set.
struct HeldOutAnswers {
  std::vector<int> predicted;         ///< by row
  std::vector<float> log_posteriors;  ///< row by row, K each; no NaN
};

/// A held-out set with the answers of one method at one size; null where there is none.
struct HeldOutFold {
  const std::vector<Index>* rows = nullptr;
  const HeldOutAnswers* answers = nullptr;
};

/// What all methods and sizes share: the rows that are kept one by one.
struct KeptRows {
  std::vector<Index> sample;  ///< ascending: of these the first answers are kept, for the projection
  std::vector<Index> place;   ///< by row: in `sample`, or -1
  bool every_row = false;     ///< keep mean probabilities of every row
};

/// All rows where they are few, else a sample of them without repetition.
inline constexpr Index kMostSampledRows = 2000;
[[nodiscard]] KeptRows rows_to_keep(Index rows, std::uint64_t seed, bool every_row);

/// The answers of one method at one size, added a repeat at a time.
class HeldOutTally {
 public:
  /// The held-out sets of one repeat, in their order.
  void add_repeat(const Dataset& data, const KeptRows& kept, std::span<const HeldOutFold> folds);

  /// Fills in confusion, sensitivity, specificity, auc, roc, calibration and projection.
  void describe(const KeptRows& kept, EvaluationChoice& choice) const;
  /// By row of the sample: the share of its answers that were wrong, NaN where it was never held out.
  [[nodiscard]] std::vector<double> wrong_in_sample() const;
  /// The mean answer of every row; nothing was kept unless KeptRows said so.
  [[nodiscard]] HeldOutPredictions predictions() const;

 private:
  static constexpr std::size_t kBins = 10;      ///< of the calibration, of equal width
  static constexpr std::size_t kRocSteps = 50;  ///< false-positive rates 0, 1/50, ..., 1
  struct Bin {
    double weight = 0.0, predicted = 0.0, observed = 0.0;
  };

  void start(const Dataset& data, const KeptRows& kept);
  void add_row(const Dataset& data, const KeptRows& kept, Index row, int predicted,
               std::span<const float> log_posteriors);
  /// Area and curve of one class against the rest over the folds, with the weight of one; false where one of
  /// the two is absent.
  [[nodiscard]] bool rank_class(const Dataset& data, std::span<const HeldOutFold> folds, int positive,
                                double& area, std::array<double, kRocSteps + 1>& curve) const;

  int classes_ = 0;
  double repeats_ = 0.0, ranked_repeats_ = 0.0;
  Matrix confusion_;  ///< K x K sums of weights, truth by row
  double area_ = 0.0;
  std::array<double, kRocSteps + 1> curve_{};
  std::array<Bin, kBins> bins_{};
  std::vector<float> sample_;                           ///< K for every sampled row
  std::vector<std::uint32_t> sampled_, sampled_wrong_;  ///< how often it was held out, and named wrongly
  std::vector<float> probabilities_;                    ///< of every row: N x K sums, row by row
  std::vector<std::uint32_t> times_, wrong_;
  std::vector<int> named_;  ///< the last answer
};

/// Counts by class of truth and class named. `truth` and `predicted` are of one length; rows whose truth is
/// Labels::kMissing are left out. Truths up to `truths` - 1, answers up to `answers` - 1.
[[nodiscard]] Matrix confusion_counts(std::span<const int> truth, std::span<const int> predicted,
                                      Index truths, Index answers);

}  // namespace subspectra
