#pragma once
/// What a rule says of rows that it has not seen, as sums.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <subspectra/selection.hpp>

#include "core/types.hpp"
#include "evaluate/held_out.hpp"

namespace subspectra {

/// Held-out results of one training set at one k: sums over its test rows, by class where the class matters.
struct HeldOutScore {
  Vector weight, wrong;  ///< K: test weight and misclassified weight of each class
  double log_loss = 0.0;
  double rows = 0.0;  ///< their weight
  std::vector<Index> features;
  double entries = 0.0;
  double lambda = 0.0;                            ///< of a fit with its own lambda (k = 0)
  std::optional<UsedConfiguration> used;          ///< of a method that chooses among others
  std::shared_ptr<const HeldOutAnswers> answers;  ///< where the task keeps them
};
using ScoresByK = std::map<Index, HeldOutScore>;

/// What the choice on all rows leaves behind of one method, beside its scores.
struct ChoiceOnAllRows {
  bool ridge_open = true;  ///< nothing needed a ridge
  RidgeAmount ridge;
  std::vector<std::string> warnings;
};

}  // namespace subspectra
