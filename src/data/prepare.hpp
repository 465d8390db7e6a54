#pragma once
/// Missing values and scaling. What is learned (means, scales) is learned from training rows and then applied
/// to others, so that cross-validation can do it inside every fold.
#include <array>
#include <utility>

#include <subspectra/options.hpp>

#include "core/options.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// The part that looks at single rows and so may be done before any split: under `error` refuses missing and
/// infinite values (the first one's place, columns and counts in the message), under `drop` removes their
/// rows, under `mean`, `median` and `indicator` leaves them, under `indicator` with a 0/1 feature for every
/// column that has some. Infinite values are dropped under `drop` and else refused. Rows of
/// weight zero are removed. Columns named in `excluded` are not looked at: one with such values is set to
/// zero, since it is never chosen.
[[nodiscard]] Dataset check_values(Dataset data, const PrepareOptions& options,
                                   const std::vector<std::string>& excluded = {});

/// The part that learns: column means or medians for missing values and, with `standardize`, centres and
/// scales.
class Preparation {
 public:
  static Preparation learn(const Dataset& training, const PrepareOptions& options);
  /// Missing values replaced, then (x - centre)/scale; sparse tables are scaled but not centred. The same
  /// table, not a copy, where nothing is to be changed.
  [[nodiscard]] Dataset apply(Dataset data) const;
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
};

}  // namespace subspectra
