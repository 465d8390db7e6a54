#include "scoring/sulda.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "solvers/basis_pursuit.hpp"

namespace subspectra {
namespace {

using linalg::Op;

constexpr Index kSimplexRank =
    500;  ///< a pivot costs the square of the rank and there are a few times as many

/// X beta = X beta* as R beta = b, R (r x p) with orthonormal rows, and b for every discriminant.
struct Equations {
  Matrix r;
  Matrix b;  ///< r x L
};

/// With X = U S V': R = V', b = S^{-1} W, W = G (I + G'G)^{-1}, G = U'T, from the eigenvectors of the smaller
/// of X X' and X'X. Their eigenvalues are known to a few units of rounding times their number and the largest
/// one; what is below that counts as 0 (in singular values about 1e-7 of the largest).
Equations equations(const ScoringProblem& problem, int threads) {
  const Index n = problem.rows();
  const Index p = problem.columns();
  const Index l = problem.discriminants();
  const bool wide = n <= p;
  require_memory(8.0 * static_cast<double>(std::min(n, p)) * static_cast<double>(p),
                 "the orthonormal rows of the equations of sulda",
                 "leave features out (⟨exclude⟩), or choose among them first with a filter");
  Matrix gram = Matrix::Zero(std::min(n, p), std::min(n, p));
  if (wide) {
    linalg::rank_update_lower(1.0, problem.x, gram, threads);
  } else {
    linalg::gemm_tiled(1.0, Op::kTranspose, problem.x, problem.x, 0.0, gram, threads);
  }
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(std::move(gram), true);
  const Index size = eigen.values.size();
  const double largest = size > 0 ? eigen.values[size - 1] : 0.0;
  const double floor = std::max(64.0, 4.0 * static_cast<double>(size)) * kEpsilon * largest;
  Index rank = 0;
  while (rank < size && eigen.values[size - 1 - rank] > floor) ++rank;
  const Matrix vectors = eigen.vectors.rightCols(rank);
  const Vector inverse = eigen.values.tail(rank).array().rsqrt();  // S^{-1}

  Equations result;
  Matrix g(rank, l);
  if (wide) {
    linalg::gemm(1.0, Op::kTranspose, vectors, Op::kNone, problem.targets, 0.0, g);
    result.r.resize(rank, p);
    linalg::gemm_tiled(1.0, Op::kNone, vectors.transpose(), problem.x, 0.0, result.r, threads);
    result.r.array().colwise() *= inverse.array();
  } else {
    Matrix products(p, l);
    linalg::gemm_tiled(1.0, Op::kTranspose, problem.x, problem.targets, 0.0, products, threads);
    linalg::gemm(1.0, Op::kTranspose, vectors, Op::kNone, products, 0.0, g);
    g.array().colwise() *= inverse.array();
    result.r = vectors.transpose();
  }
  Matrix inner = Matrix::Identity(l, l);
  linalg::syrk(1.0, Op::kTranspose, g, 1.0, inner);
  Matrix w = g.transpose();  // (I + G'G)^{-1} G'
  if (!linalg::cholesky(inner)) throw Error("sulda: the scores are not finite");
  linalg::solve_lower(inner, Op::kNone, w);
  linalg::solve_lower(inner, Op::kTranspose, w);
  result.b = inverse.asDiagonal() * w.transpose();
  if (wide && rank > 0) {
    // Rows that belong to small singular values come out of the product with few correct digits in their
    // angles: R R' = C C', and C^{-1} goes to both sides of the equations, which stay what they are.
    Matrix angles = Matrix::Zero(rank, rank);
    linalg::rank_update_lower(1.0, result.r, angles, threads);
    if (!linalg::cholesky_tiled(angles, threads)) throw Error("sulda: the table is not finite");
    linalg::solve_lower(angles, Op::kNone, result.r);
    linalg::solve_lower(angles, Op::kNone, result.b);
  }
  return result;
}

class SuldaSolver final : public ScoringSolver {
 public:
  SuldaSolver(const ScoringProblem& problem, const Sulda& options, int threads, const SuldaTuning& tuning)
      : problem_(problem), options_(options), threads_(threads), tuning_(tuning) {
    options_.validate();
    equations_ = equations(problem_, threads);
  }

  [[nodiscard]] double lambda_max() const override { return 0.0; }
  [[nodiscard]] ScoringFit fit(double lambda, const RunControl& control) override;

 private:
  [[nodiscard]] BasisPursuitSolution discriminant(const Vector& b, const RunControl& control) const;

  const ScoringProblem& problem_;
  Sulda options_;
  int threads_;
  SuldaTuning tuning_;
  Equations equations_;
};

BasisPursuitSolution SuldaSolver::discriminant(const Vector& b, const RunControl& control) const {
  // No part of this target is a combination of columns: beta = 0.
  if (!(b.norm() > kEpsilon * equations_.b.norm())) {
    BasisPursuitSolution none;
    none.dual = Vector::Zero(b.size());
    none.converged = true;
    return none;
  }
  const BasisPursuitOptions options{
      .tolerance = options_.tolerance, .max_iterations = options_.max_iterations, .threads = threads_};
  const bool simplex = tuning_.route == SuldaRoute::kSimplex ||
                       (tuning_.route == SuldaRoute::kAuto && b.size() <= kSimplexRank);
  return simplex ? basis_pursuit_simplex(equations_.r, b, options, control)
                 : basis_pursuit_splitting(equations_.r, b, options, control);
}

ScoringFit SuldaSolver::fit(double /*lambda*/, const RunControl& control) {
  const Index l = problem_.discriminants();
  ScoringFit result;
  result.converged = true;
  Matrix b = Matrix::Zero(problem_.columns(), l);
  double bound = 0.0;
  for (Index k = 0; k < l; ++k) {
    const BasisPursuitSolution found = discriminant(equations_.b.col(k), control);
    b(found.support, k) = found.values;
    for (const double value : found.trace) result.trace.push_back(result.objective + value);
    result.objective += found.value;
    bound += found.bound;
    result.iterations += found.iterations;
    result.converged = result.converged && found.converged;
  }
  result.gap = result.objective > 0.0 ? std::max(0.0, (result.objective - bound) / result.objective) : 0.0;
  for (Index j = 0; j < b.rows(); ++j) {
    if ((b.row(j).array() != 0.0).any()) result.b.rows.push_back(j);
  }
  result.b.values = b(result.b.rows, Eigen::all);
  result.scores = problem_.scores;
  return result;
}

}  // namespace

std::unique_ptr<ScoringSolver> sulda_solver(const ScoringProblem& problem, const Sulda& options, int threads,
                                            const SuldaTuning& tuning) {
  return std::make_unique<SuldaSolver>(problem, options, threads, tuning);
}

}  // namespace subspectra
