#pragma once
/// Which rows are held out: stratified folds, leave-one-out, random splits, with groups kept together.
#include <vector>

#include "core/random.hpp"
#include "data/dataset.hpp"
#include "evaluate/cross_validation.hpp"

namespace subspectra {

/// The held-out rows of every split of one repeat, each ascending. Rows of a group (`row_groups`, or empty)
/// stay together; `source` stands for the data in messages. Folds: the units of each class (rows, or groups)
/// are shuffled and dealt out one by one to the fold that has fewest rows of that class, then fewest rows,
/// then the lowest number. Throws BadInput when a class has fewer rows than folds.
[[nodiscard]] std::vector<std::vector<Index>> make_splits(const Labels& labels,
                                                          const std::vector<std::string>& row_groups,
                                                          const std::string& source,
                                                          const EvaluationOptions& options, Random random);

/// 0..rows-1 without `held_out` (ascending).
[[nodiscard]] std::vector<Index> complement(const std::vector<Index>& held_out, Index rows);

}  // namespace subspectra
