#include "scoring/problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include <subspectra/error.hpp>

#include "core/memory.hpp"
#include "data/unit_columns.hpp"
#include "eigen/leading.hpp"
#include "eigen/svd.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

Vector inverse_root(const Vector& class_weights) {
  return class_weights.unaryExpr([](double w) { return w > 0.0 ? 1.0 / std::sqrt(w) : 0.0; });
}

}  // namespace

Matrix score_basis(const Vector& class_weights) {
  // Householder's reflection takes the unit vector u = (Y'Y)^{1/2} 1/|.| of the classes with rows to an axis;
  // its other columns span the complement.
  std::vector<Index> present;
  for (Index c = 0; c < class_weights.size(); ++c) {
    if (class_weights[c] > 0.0) present.push_back(c);
  }
  const auto count = static_cast<Index>(present.size());
  Vector v = class_weights(present).array().sqrt();
  v /= v.norm();
  v[0] += 1.0;  // u is nonnegative, so that this cancels nothing
  const Matrix reflection = Matrix::Identity(count, count) - 2.0 / v.squaredNorm() * v * v.transpose();
  Matrix basis = Matrix::Zero(class_weights.size(), count - 1);
  basis(present, Eigen::all) = reflection.rightCols(count - 1);
  return basis;
}

Matrix class_sums(const ScoringProblem& problem, const MatrixRef& a) {
  Matrix indicator = Matrix::Zero(a.rows(), problem.class_weights.size());
  for (Index i = 0; i < a.rows(); ++i)
    indicator(i, problem.codes[static_cast<std::size_t>(i)]) = problem.root_weights[i];
  Matrix sums(indicator.cols(), a.cols());
  linalg::gemm(1.0, linalg::Op::kTranspose, indicator, linalg::Op::kNone, a, 0.0, sums);
  return sums;
}

Matrix scored_classes(const ScoringProblem& problem, const MatrixRef& scores) {
  Matrix targets(problem.rows(), scores.cols());
  for (Index i = 0; i < targets.rows(); ++i)
    targets.row(i) = problem.root_weights[i] * scores.row(problem.codes[static_cast<std::size_t>(i)]);
  return targets;
}

Matrix best_scores(const ScoringProblem& problem, const MatrixRef& fitted) {
  const Matrix basis = score_basis(problem.class_weights);
  const Vector root = inverse_root(problem.class_weights);
  const Matrix m = basis.transpose() * root.asDiagonal() * class_sums(problem, fitted);
  const linalg::Svd svd = linalg::square_svd(m);
  return root.asDiagonal() * (basis * (svd.u * svd.v.transpose()));
}

Matrix column_products(const ScoringProblem& problem, const MatrixRef& a, int threads) {
  Matrix result(problem.columns(), a.cols());
  if (problem.blocks) {
    problem.blocks->transposed_times(a, result, threads);
  } else {
    linalg::gemm_tiled(1.0, linalg::Op::kTranspose, problem.x, a, 0.0, result, threads);
  }
  return result;
}

Matrix fitted_values(const ScoringProblem& problem, const RowSparseMatrix& b) {
  Matrix fitted(problem.rows(), b.values.cols());
  Matrix chosen;
  if (problem.blocks) {
    chosen.resize(problem.rows(), std::ssize(b.rows));
    for (Index i = 0; i < chosen.cols(); ++i)
      problem.blocks->column(b.rows[static_cast<std::size_t>(i)], chosen.col(i));
  } else {
    chosen = problem.x(Eigen::all, b.rows);
  }
  linalg::gemm(1.0, linalg::Op::kNone, chosen, linalg::Op::kNone, b.values, 0.0, fitted);
  return fitted;
}

ScoringProblem make_scoring_problem(const Dataset& data, const std::vector<Index>& candidates, int threads,
                                    std::uint64_t memory_limit, bool may_read_blocks) {
  const Index n = data.rows();
  const auto q = static_cast<Index>(candidates.size());
  const double bytes = 8.0 * static_cast<double>(n) * static_cast<double>(q);
  const bool in_blocks = may_read_blocks && data.values().outgrow_memory(memory_limit);
  if (!in_blocks) {
    require_memory(bytes, "the centred table of an optimal-scoring method",
                   "leave features out (⟨exclude⟩), or choose among them first with a filter", memory_limit);
  }
  ScoringProblem problem;
  problem.features = candidates;
  problem.codes = data.labels()->codes;
  problem.root_weights = root_weights(data);
  problem.class_weights = Vector::Zero(data.labels()->class_count());
  for (Index i = 0; i < n; ++i) {
    problem.class_weights[problem.codes[static_cast<std::size_t>(i)]] +=
        problem.root_weights[i] * problem.root_weights[i];
  }
  if (in_blocks) {
    problem.blocks = std::make_shared<const UnitColumns>(data, candidates, problem.root_weights, threads);
    problem.scales = problem.blocks->scales();
  } else {
    problem.x.resize(n, q);
    problem.scales = unit_columns(data, candidates, problem.root_weights, threads, problem.x);
  }

  // G = Q'(Y'Y)^{-1/2} Y'X X'Y (Y'Y)^{-1/2} Q, (K'-1)^2: its eigenvectors, largest first, turn the basis.
  const Matrix basis = score_basis(problem.class_weights);
  const Vector root = inverse_root(problem.class_weights);
  const Matrix start = scored_classes(problem, root.asDiagonal() * basis);
  Matrix gram(start.cols(), start.cols());
  linalg::syrk(1.0, linalg::Op::kTranspose, column_products(problem, start, threads), 0.0, gram);
  Matrix vectors = basis * linalg::symmetric_eigen(gram, true).vectors.rowwise().reverse();
  make_largest_positive(vectors);
  problem.scores = root.asDiagonal() * vectors;
  problem.targets = scored_classes(problem, problem.scores);
  return problem;
}

double start_from_scores(ScoringProblem& problem, const MatrixRef& scores) {
  const Index classes = problem.class_weights.size(), columns = problem.discriminants();
  const auto refuse = [](std::string rule, std::string way_out) {
    throw InvalidArgument({.field = "start", .rule = std::move(rule), .way_out = std::move(way_out)});
  };
  if (scores.rows() != classes || scores.cols() != columns) {
    refuse(
        fmt::format(
            "is {} x {}, but the scores are {} x {}: a row for every class, and a column for every class with rows but one",
            scores.rows(), scores.cols(), classes, columns),
        "give a matrix of that shape");
  }
  if (!scores.allFinite()) refuse("has entries that are not finite", "give finite numbers");
  const Vector roots = problem.class_weights.cwiseSqrt();
  const Vector means = roots / roots.norm();  // (Y'Y)^{1/2} 1, of unit length
  Matrix rotated = roots.asDiagonal() * scores;
  const Matrix before = rotated;
  for (Index j = 0; j < columns; ++j) {
    const double length = rotated.col(j).norm();
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough for orthogonality to rounding
      rotated.col(j) -= means.dot(rotated.col(j)) * means;
      for (Index i = 0; i < j; ++i) rotated.col(j) -= rotated.col(i).dot(rotated.col(j)) * rotated.col(i);
    }
    constexpr double kIndependent = 1e-10;
    if (!(rotated.col(j).norm() > kIndependent * length)) {
      refuse(fmt::format("has nothing in its column {} but a constant and the columns before it", j + 1),
             "give columns that are independent of one another and of the constant one");
    }
    rotated.col(j).normalize();
  }
  const Vector inverse = inverse_root(problem.class_weights);
  problem.scores = inverse.asDiagonal() * rotated;
  problem.targets = scored_classes(problem, problem.scores);
  return (rotated - before).cwiseAbs().maxCoeff() / rotated.cwiseAbs().maxCoeff();
}

double largest_product(const ScoringProblem& problem, int threads) {
  if (problem.columns() == 0) return 0.0;
  return column_products(problem, problem.targets, threads).rowwise().squaredNorm().maxCoeff();
}

}  // namespace subspectra
