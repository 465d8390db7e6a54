#pragma once
/// Methods compared by the errors of their rule on rows held out inside a training set: for every size, ridge
/// and lambda that is tried, which rows it gets wrong. Nothing is chosen here.
#include <string>
#include <vector>

#include <subspectra/classifiers.hpp>
#include <subspectra/method.hpp>
#include <subspectra/selection.hpp>

#include "data/dataset.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// One method with one ridge, and the points at which its sets are judged.
struct Arm {
  enum class Points {
    kSets,     ///< its sets of these sizes
    kRanking,  ///< so many features from the top of its ranking
    kFits,     ///< the fits along its falling lambdas, as many as `lambdas`
    kFitSize   ///< the largest rows of the first of its fits that has as many
  };
  Method method;
  Ridge ridge;
  Points points = Points::kSets;
  std::vector<Index> sizes;   ///< ascending
  Index lambdas = 0;          ///< of kFits, from the largest one down
  double lambda_ratio = 0.0;  ///< of the smallest to the largest

  [[nodiscard]] Index count() const {
    return points == Points::kFits ? lambdas : static_cast<Index>(sizes.size());
  }
  /// Of the largest lambda, at a point of kFits.
  [[nodiscard]] double fraction(Index point) const;
};

/// Which rows are held out.
struct InnerFolds {
  std::vector<Index> rows;                                ///< of the training set that take part, ascending
  std::vector<std::vector<std::vector<Index>>> held_out;  ///< by repeat and fold: ascending rows
  [[nodiscard]] Index count() const;
};

/// `repeats` times `folds` folds of at most `most_rows` rows: the rows of each class, shuffled, are dealt out
/// in turn, so that a class with fewer rows than folds is held out in some of them; its last row is never
/// held out, nor is one without a label. Groups (`cv_groups`) stay together. None where no two classes are
/// left to learn from.
[[nodiscard]] InnerFolds make_inner_folds(const Dataset& training, Index folds, Index repeats,
                                          Index most_rows, std::uint64_t seed);

/// What became of one point.
struct PointErrors {
  bool reached = false;       ///< in every fold that was run
  double error = 0.0;         ///< weight of the rows that were wrong, over all weight
  double stderr_ = 0.0;       ///< of it, over the rows
  double features = 0.0;      ///< the mean over the folds
  std::vector<double> wrong;  ///< by row that was held out, in their order: the share of its repeats
};

struct InnerErrors {
  using OfArms = std::vector<std::vector<PointErrors>>;  ///< by arm and point
  std::vector<OfArms> variants;                          ///< by table and classifier, tables outermost
  std::vector<double> weights;                           ///< of the rows that were held out, shares
  Index folds_run = 0;

  /// The standard error of the difference of two points: over the rows, which both were asked about.
  [[nodiscard]] double stderr_of_difference(const PointErrors& a, const PointErrors& b) const;
};

/// Every arm on every one of `tables`, the same rows with their columns transformed differently, its sets
/// judged by every one of `classifiers`. Folds run side by side on `threads`; each has its own moments,
/// pencils and scores, which its arms share. One that a limit or a signal cuts short does not count.
/// `options` are what every method is told, but for sizes and ridge.
[[nodiscard]] InnerErrors compare_arms(const std::vector<Dataset>& tables, const InnerFolds& folds,
                                       const std::vector<Arm>& arms, const SelectOptions& options,
                                       const std::vector<Classifier>& classifiers, int threads,
                                       const RunControl& control);

/// The arm's selection on these rows at one point: one set, or none where it was stopped or has none there.
[[nodiscard]] Selection select_at(const Arm& arm, Index point, const RowStatistics& rows,
                                  const SelectOptions& options, const RunControl& control);

}  // namespace subspectra
