#pragma once
/// Missing values, scaling and far values. What is learned (means, scales) is learned from training rows and
/// then applied to others, so that cross-validation can do it inside every fold.
#include <array>
#include <cstdint>
#include <utility>

#include <subspectra/options.hpp>

#include "core/options.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// The part that looks at single rows and so may be done before any split: under `error` refuses missing and
/// infinite values (the first one's place, columns and counts in the message), under `drop` removes their
/// rows, under `mean`, `median` and `indicator` leaves them, under `indicator` with a 0/1 feature for every
/// column that has some. Genotypes' missing values are means under `error`, too. Infinite values are dropped
/// under `drop` and else refused. Rows of weight zero are removed. Columns named in `excluded` are not looked
/// at: one with such values is set to zero, since it is never chosen. `memory_limit` holds for the features
/// that are added.
[[nodiscard]] Dataset check_values(Dataset data, const PrepareOptions& options,
                                   const std::vector<std::string>& excluded = {},
                                   std::uint64_t memory_limit = 0);

/// What a second table like this one takes.
[[nodiscard]] double bytes_of_copy(const Dataset& data);

/// The part that learns: column means or medians for missing values, with `standardize` centres and scales,
/// and with the transform asinh medians and spreads.
class Preparation {
 public:
  /// Bending learns from a copy of the rest's result, which is counted before it is made.
  static Preparation learn(const Dataset& training, const PrepareOptions& options,
                           std::uint64_t memory_limit = 0);
  /// What bends the columns of `prepared`, and nothing else: asinh((x - median)/spread), spread twice the
  /// median distance from the median in units of a normal deviation. Up to the spread that is nearly
  /// linear, beyond it a logarithm, so that a value a thousand times as far counts some eight times as much:
  /// means, variances and correlations are then of most rows, not of the farthest one. It has no units
  /// and knows no labels. Where more than half of a column is one value, and always around the zeros that a
  /// sparse table leaves out, that value is the middle and the spread half the median distance of the others:
  /// counts are bent nearly to their logarithms. A column of two values stays as it is.
  static Preparation bending(const Dataset& prepared);
  /// Of these columns alone.
  static Preparation bending(const Dataset& prepared, const std::vector<Index>& features);
  /// This and then what `after` bends.
  [[nodiscard]] Preparation then(const Preparation& after) const;
  /// Missing values replaced, then (x - centre)/scale, then bent; sparse tables are scaled but not centred.
  /// The same table, not a copy, where nothing is to be changed.
  [[nodiscard]] Dataset apply(Dataset data) const;
  /// apply() for a table that stays: what it takes is counted before it is taken.
  [[nodiscard]] Dataset changed_copy(const Dataset& data, std::uint64_t memory_limit) const;
  /// What was learned of these columns alone.
  [[nodiscard]] Preparation restricted(const std::vector<Index>& features) const;
  /// apply() for rows of a table of either kind, made dense.
  void apply_to(Matrix& rows) const;

  /// Some value of this table would be replaced, shifted or divided.
  [[nodiscard]] bool changes(const Dataset& data) const;

  Vector
      imputation;  ///< p training means or medians of what is present (0 for a column with nothing), or empty
  Vector centre;   ///< p, or empty: nothing is subtracted
  Vector scale;    ///< p, or empty: nothing is divided; 1 for a constant column
  Vector median;   ///< p, or empty: nothing is bent
  Vector spread;   ///< p, or empty; 0 for a column that stays as it is
};

}  // namespace subspectra
