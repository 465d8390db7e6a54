#pragma once
/// Fisher's linear discriminant rule on a set of features, for any number of classes.
#include <subspectra/classifiers.hpp>

#include <optional>
#include <string>
#include <vector>

#include "classify/rule.hpp"
#include "core/types.hpp"

namespace subspectra {

/// K shares of the weight, or equal numbers for the classes that have any.
[[nodiscard]] Vector class_priors(const VectorRef& class_weights, Prior prior);

/// Subtracts from every row the logarithm of the sum of its exponentials.
void normalise_log_posteriors(Matrix& log_posteriors);

/// z = D'(x - centre); class c has log posterior -|z - centroid_c|^2/2 + log prior_c up to a constant,
/// because D'B_S D = I.
struct LdaRule final : Rule {
  /// k, the mean of the training rows: subtracted first, so that a large offset costs no digits
  Vector centre;
  Matrix discriminants;  ///< k x r
  Matrix centroids;      ///< K x r, D'(mean_c - centre)
  Vector priors;         ///< K
  RidgeAmount ridge;     ///< that B_S includes; for people, the file has it among the model's own members
  std::optional<double> shrinkage;  ///< of the correlations in B_S; nothing where the rule is the plain one

  [[nodiscard]] std::string_view classifier() const override { return Lda::kTraits.name; }
  [[nodiscard]] Matrix log_posteriors(const MatrixRef& rows) const override;  ///< n x k -> n x K, normalised
  [[nodiscard]] Index entries() const override { return discriminants.size(); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] nlohmann::json to_json() const override;
};

/// From the class sizes (K weights), class means (k x K) and within-class covariance B_S (k x k, ridge
/// included). `components` cuts the number of discriminants (0: all min(K' - 1, k), K' the classes present).
/// Throws Infeasible when B_S is numerically singular.
[[nodiscard]] LdaRule fit_lda(const VectorRef& class_weights, const MatrixRef& class_means,
                              const MatrixRef& within, Prior prior, Index components = 0);

/// The rule in the space of given discriminants B (k x L): rows z = B'(x - centre) are told apart by
/// Mahalanobis' distance under their pooled within-class covariance, less 2 log prior. Directions along which
/// the training rows do not vary are left out; a covariance that is singular on the others (p > N with little
/// penalty) gets 1e-3 times its smallest nonzero eigenvalue, or times the total variance where there is none.
/// `rows` n x k, `codes` 0..classes-1, `weights` empty or one a row. B may have no rows: the priors decide
/// then.
[[nodiscard]] LdaRule fit_projected_lda(const MatrixRef& rows, const std::vector<int>& codes,
                                        const Vector& weights, Index classes, const MatrixRef& b,
                                        Prior prior);

}  // namespace subspectra
