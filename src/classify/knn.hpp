#pragma once
/// The rule of the nearest neighbours (docs/models.md).
#include <subspectra/classifiers.hpp>

#include <string>
#include <vector>

#include "classify/row_map.hpp"
#include "classify/rule.hpp"
#include "core/types.hpp"

namespace subspectra {

/// The m = min(neighbors, n) training rows with the smallest Euclidean distance vote for their classes, v_c
/// votes; rows that are exactly as far as the last one share the votes that are left, so that the order
/// of the rows does not matter. p_c ~ (v_c + share_c) prior_c / share_c: one more vote is given out by the
/// shares, which keeps p_c above 0 and lets the larger class win a tie.
struct KnnRule final : Rule {
  RowMap map;              ///< its centre is 0
  Matrix rows;             ///< n x L: the training rows in its space
  std::vector<int> codes;  ///< n
  Index neighbors = 5;
  Vector priors, shares;  ///< K

  [[nodiscard]] std::string_view classifier() const override { return Knn::kTraits.name; }
  [[nodiscard]] Matrix log_posteriors(const MatrixRef& rows) const override;  ///< n x k -> n x K, normalised
  [[nodiscard]] Index entries() const override { return map.centre.size(); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] nlohmann::json to_json() const override;
};

/// `projection`: null, or B (k x L): distances are then those of B'x.
[[nodiscard]] KnnRule fit_knn(const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                              const Knn& options, const Matrix* projection = nullptr);

}  // namespace subspectra
