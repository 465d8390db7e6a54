#pragma once
/// Random pencils and greedy searches by the definition: every candidate set is solved from scratch. Nothing
/// here calls the searches under test.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <subspectra/selection.hpp>
#include "search/units.hpp"

namespace subspectra::oracle {

struct FactorPair {
  Matrix m, b;
};

/// B with the given condition number (random orthogonal vectors, log-spaced eigenvalues), M normal.
inline FactorPair random_factor_pair(Index n, Index r, std::uint64_t seed, double condition = 100.0) {
  std::mt19937_64 generator(seed * 1000003 + static_cast<std::uint64_t>(n * 31 + r));
  std::normal_distribution<double> normal;
  const Matrix random = Matrix::NullaryExpr(n, n, [&] { return normal(generator); });
  const Matrix q = Eigen::HouseholderQR<Matrix>(random).householderQ();
  Vector values(n);
  for (Index i = 0; i < n; ++i) {
    values[i] = std::pow(condition, -static_cast<double>(i) / static_cast<double>(std::max<Index>(1, n - 1)));
  }
  FactorPair pair;
  pair.b = q * values.asDiagonal() * q.transpose();
  pair.b = (0.5 * (pair.b + pair.b.transpose())).eval();
  pair.m = Matrix::NullaryExpr(n, r, [&] { return normal(generator); });
  return pair;
}

inline SearchUnits all_units(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
  return SearchUnits::singles(all, {});
}

inline double condition(const Matrix& b) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(b, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().maxCoeff() / std::max(1e-300, solver.eigenvalues().minCoeff());
}

/// The criterion of one set by a dense generalized eigenproblem.
inline double set_value(const Matrix& a, const Matrix& b, const std::vector<Index>& set,
                        Criterion criterion) {
  if (set.empty()) return 0.0;
  const Matrix a_s = a(set, set), b_s = b(set, set);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(a_s, b_s, Eigen::EigenvaluesOnly);
  const Vector values = solver.eigenvalues().cwiseMax(0.0);
  switch (criterion) {
    case Criterion::kLargest:
      return values.maxCoeff();
    case Criterion::kTrace:
      return values.sum();
    case Criterion::kWilks:
      return values.array().log1p().sum();
    case Criterion::kAuto:  // resolved before any set is valued
      break;
  }
  return 0.0;
}

struct NaiveStep {
  Index unit = -1;
  double value = -1.0;
};

inline NaiveStep naive_forward(const Matrix& a, const Matrix& b, const SearchUnits& units,
                               Criterion criterion, const std::vector<Index>& set) {
  NaiveStep best;
  for (Index u = 0; u < units.count(); ++u) {
    if (std::find(set.begin(), set.end(), u) != set.end()) continue;
    auto with = set;
    with.push_back(u);
    const double value = set_value(a, b, units.features(with), criterion);
    if (value > best.value) best = {u, value};
  }
  return best;
}

inline NaiveStep naive_backward(const Matrix& a, const Matrix& b, const SearchUnits& units,
                                Criterion criterion, const std::vector<Index>& set) {
  NaiveStep best;
  for (const Index u : set) {
    if (std::find(units.include.begin(), units.include.end(), u) != units.include.end()) continue;
    auto without = set;
    std::erase(without, u);
    const double value = set_value(a, b, units.features(without), criterion);
    if (value > best.value) best = {u, value};
  }
  return best;
}

/// The elimination of greedy search without blocks or tricks: forward on (B, M), backward on (P, P M).
inline std::vector<Index> plain_path(const Matrix& m, Matrix s, Criterion criterion, bool forward) {
  const Index n = s.rows();
  Matrix c = forward ? m : Matrix(s * m);
  Matrix t = forward ? Matrix(Matrix::Zero(m.cols(), m.cols())) : Matrix(m.transpose() * c);
  std::vector<char> used(static_cast<std::size_t>(n), 0);
  std::vector<Index> order;
  for (Index step = 0; step < n; ++step) {
    Index best = -1;
    double best_value = 0.0;
    for (Index i = 0; i < n; ++i) {
      if (used[static_cast<std::size_t>(i)] != 0) continue;
      const Matrix after = t + (forward ? 1.0 : -1.0) * c.row(i).transpose() * c.row(i) / s(i, i);
      const Eigen::SelfAdjointEigenSolver<Matrix> solver(after, Eigen::EigenvaluesOnly);
      const double value = criterion == Criterion::kTrace ? after.trace() : solver.eigenvalues().maxCoeff();
      if (best < 0 || value > best_value) {
        best = i;
        best_value = value;
      }
    }
    used[static_cast<std::size_t>(best)] = 1;
    order.push_back(best);
    t += (forward ? 1.0 : -1.0) * c.row(best).transpose() * c.row(best) / s(best, best);
    const Vector q = s.col(best);
    const double d = s(best, best);
    c -= (q * c.row(best) / d).eval();
    s -= q * q.transpose() / d;
  }
  if (!forward) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace subspectra::oracle
