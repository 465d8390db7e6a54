#pragma once
/// The features of the model on all rows: how often the folds chose them, and what they chose instead.
#include <vector>

#include <subspectra/evaluate.hpp>

#include "core/types.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// How near a substitute is to what it stands for, and how many there are to look at: constants of
/// chosen_features. docs/evaluation.md says what follows from them.
struct SubstituteRules {
  double near_correlation = 0.5;      ///< from here on two features are near, whatever else the fold lacks
  std::size_t most_substitutes = 5;   ///< of a feature
  std::size_t most_listed = 1000;     ///< features; of more the most frequent, and no substitutes
  std::size_t most_candidates = 200;  ///< features outside the set that are looked at: the most frequent
};

/// `features` (ascending) are those of the model; `sets` (ascending each) those of the folds, none where the
/// folds did not choose. `rows` of `data` give the correlations; a missing value counts as the column's mean.
///
/// A feature f of the model that a fold lacks is paired with a feature g of the fold that the model lacks:
/// the pairs of one fold by falling |correlation|, equal ones by f and g, each feature in one pair, as long
/// as the correlation is near; when one f and one g are left, they are a pair as well. g is a substitute of f
/// with the share of folds that have the pair, so that the frequencies of f and its substitutes sum to at
/// most 1.
[[nodiscard]] std::vector<ChosenFeature> chosen_features(const Dataset& data,
                                                         const std::vector<Index>& features,
                                                         const std::vector<std::vector<Index>>& sets,
                                                         const std::vector<Index>& rows,
                                                         const SubstituteRules& rules = {});

}  // namespace subspectra
