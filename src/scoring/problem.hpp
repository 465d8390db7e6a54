#pragma once
/// Optimal scoring (AISTATS15, Section 1): classes become numbers, Y Theta with Theta'Y'Y Theta = I, and a
/// discriminant is a regression on them, min (1/N)|Y Theta - X B|^2 + lambda phi(B). What every method of
/// this room is given: X centred with unit-norm columns, the targets Y Theta, and the way back.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"
#include "data/unit_columns.hpp"
#include "solvers/row_sparse_matrix.hpp"

namespace subspectra {

struct ScoringProblem {
  Matrix x;  ///< N x q: columns minus their mean, of unit norm; rows times sqrt(weight)
  std::shared_ptr<const UnitColumns> blocks;  ///< what reads them where x is empty; else null
  Matrix targets;                             ///< N x L, Y Theta: orthonormal columns
  std::vector<Index> features;                ///< the q columns of the data set, ascending
  Vector scales;                              ///< q: the norms of the centred columns in the user's units
  std::vector<int> codes;                     ///< N class numbers, 0..K-1
  Vector root_weights;                        ///< N, sqrt(w_i) with sum w_i = N; all 1 without weights
  Vector class_weights;  ///< K sums of w_i: the diagonal of Y'Y; 0 for a class without rows
  Matrix scores;         ///< K x L, Theta

  [[nodiscard]] Index rows() const { return blocks ? blocks->rows() : x.rows(); }
  [[nodiscard]] Index columns() const { return blocks ? blocks->columns() : x.cols(); }
  [[nodiscard]] Index discriminants() const { return targets.cols(); }
};

/// The problem of the rows of `data` over `candidates` (ascending, not constant). Theta has L = K' - 1
/// columns, K' the classes with rows, and this rule fixes its rotation: the left singular vectors U of
/// (Y'Y)^{-1/2} Y'X, largest singular value first, within the complement of (Y'Y)^{1/2} 1; Theta =
/// (Y'Y)^{-1/2} U, the largest entry of each column positive. N x q numbers are stored, whether the table is
/// sparse or not: throws Error when they do not fit. With `may_read_blocks` a table that is read in blocks
/// stays so where its numbers would take more than half of the memory.
[[nodiscard]] ScoringProblem make_scoring_problem(const Dataset& data, const std::vector<Index>& candidates,
                                                  int threads, std::uint64_t memory_limit = 0,
                                                  bool may_read_blocks = false);
/// X'A, q x columns of A.
[[nodiscard]] Matrix column_products(const ScoringProblem& problem, const MatrixRef& a, int threads);

/// An orthonormal basis of the complement of (Y'Y)^{1/2} 1 among the classes with rows, K x (K' - 1); the
/// same for the same class weights.
[[nodiscard]] Matrix score_basis(const Vector& class_weights);

/// The scores that fit X B best: Theta = (Y'Y)^{-1/2} Q U V' with Q = score_basis and U S V' = Q'(Y'Y)^{-1/2}
/// Y'X B. `fitted` is X B, N x L with L = K' - 1. Where X B has lower rank the missing directions are
/// completed within the complement, so that the trivial score never comes back.
[[nodiscard]] Matrix best_scores(const ScoringProblem& problem, const MatrixRef& fitted);

/// Lets the problem have these scores (K x L, a row a class) instead: made orthogonal to the classes'
/// weights, Theta'Y'Y 1 = 0, and then orthonormal, Theta'Y'Y Theta = I, column after column, in which a class
/// without rows gets 0. Says by how much that has moved an entry of (Y'Y)^{1/2} Theta, a fraction of its
/// largest one. Throws InvalidArgument where the shape is another, or nothing is left of a column.
double start_from_scores(ScoringProblem& problem, const MatrixRef& scores);

/// Y Theta, rows times sqrt(weight): N x L.
[[nodiscard]] Matrix scored_classes(const ScoringProblem& problem, const MatrixRef& scores);

/// Y'A for any A with N rows (rows of A carry sqrt(weight) already): K x columns.
[[nodiscard]] Matrix class_sums(const ScoringProblem& problem, const MatrixRef& a);

/// max_i |x_i'Y Theta|^2, between 0 and 1: how far the classes can be told from one feature.
[[nodiscard]] double largest_product(const ScoringProblem& problem, int threads);

/// X B, N x L.
[[nodiscard]] Matrix fitted_values(const ScoringProblem& problem, const RowSparseMatrix& b);

/// What a method has found for one lambda.
struct ScoringFit {
  double lambda = 0.0;
  RowSparseMatrix b;
  Matrix scores;           ///< K x L, the Theta that B belongs to
  double objective = 0.0;  ///< as docs/theory/scoring.md writes it
  double gap = -1.0;       ///< duality gap relative to the objective at B = 0; negative: the method has none
  Index iterations = 0;
  bool converged = false;
  std::vector<double> trace;  ///< objective by iteration
  std::vector<Index>
      working;  ///< features still in play by iteration; empty where the method has no such set
};

}  // namespace subspectra
