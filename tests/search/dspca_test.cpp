/// Oracles: lambda_max of every subset by Eigen's dense eigen-solver, and the constraints of the relaxation
/// checked entry by entry.
#include "search/dspca.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <bit>
#include <cmath>

#include <subspectra/error.hpp>
#include "core/random.hpp"
#include "oracle.hpp"
#include "pitprops.hpp"

namespace subspectra::dspca_test {
namespace {

Matrix covariance(Index rows, Index n, Random& random) {
  Matrix x(rows, n);
  for (auto& e : x.reshaped()) e = random.normal();
  x.rowwise() -= x.colwise().mean().eval();
  const Matrix s = x.transpose() * x / static_cast<double>(rows);
  return 0.5 * (s + s.transpose());
}

/// The largest lambda_max(A_S) by |S|; entry 0 is not used.
Vector best_of_sizes(const Matrix& a) {
  const Index n = a.rows();
  Vector best = Vector::Constant(n + 1, -kInfinity);
  for (unsigned mask = 1; mask < (1U << static_cast<unsigned>(n)); ++mask) {
    std::vector<Index> s;
    for (Index i = 0; i < n; ++i) {
      if ((mask >> static_cast<unsigned>(i) & 1U) != 0) s.push_back(i);
    }
    const Matrix block = a(s, s);
    auto& of_size = best[static_cast<Index>(s.size())];
    of_size = std::max(
        of_size,
        Eigen::SelfAdjointEigenSolver<Matrix>(block, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff());
  }
  return best;
}

double smallest_eigenvalue(const Matrix& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues().minCoeff();
}
double largest_eigenvalue(const Matrix& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

/// Both points are feasible and have the values that are said.
void expect_feasible(const Matrix& a, const DspcaSolution& s, double k, double penalty) {
  const double scale = a.cwiseAbs().maxCoeff();
  EXPECT_NEAR(s.x.trace(), 1.0, 1e-12);
  EXPECT_GE(smallest_eigenvalue(s.x), -1e-13);
  if (k > 0.0) {
    EXPECT_LE(s.x.cwiseAbs().sum(), k * (1.0 + 1e-12));
  }
  EXPECT_NEAR(s.primal, a.cwiseProduct(s.x).sum() - penalty * s.x.cwiseAbs().sum(), 1e-11 * scale);
  EXPECT_LE(s.u.cwiseAbs().maxCoeff(), s.rho * (1.0 + 1e-14));
  EXPECT_EQ(s.u, s.u.transpose());
  const double top = largest_eigenvalue(a + s.u);
  EXPECT_GE(s.largest, top - 1e-13 * scale);
  EXPECT_NEAR(s.largest, top, 1e-9 * scale);
  EXPECT_NEAR(s.dual, top + k * s.rho, 1e-9 * scale * std::max(1.0, k));
  EXPECT_GE(s.dual, s.primal);
}

TEST(Dspca, ItsBoundIsNeverBelowTheBestSet) {
  double slack = 0.0, count = 0.0;
  const std::uint64_t problems = oracle::kSanitized ? 100 : 2500;
  for (std::uint64_t seed = 0; seed < problems; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index n = 2 + static_cast<Index>(random.below(5));
    Matrix a = covariance(2 + static_cast<Index>(random.below(8)), n, random);
    if (seed % 7 == 1) {  // a duplicate and a constant column
      a.col(0) = a.col(1);
      a.row(0) = a.row(1);
      if (n > 3) {
        a.col(2).setZero();
        a.row(2).setZero();
      }
    }
    const Vector best = best_of_sizes(a);
    // Stopped after a few steps now and then: the bound holds all the same.
    DspcaSolver solver(a, {.max_iterations = seed % 3 == 0 ? 3 : 300});
    for (Index k = 1; k <= n; ++k) {
      const auto solution = solver.of_size(k, RunControl());
      const double bound = dspca_bound(solution, k, 1);
      const double tiny = 1e-12 * best[n];
      EXPECT_GE(solution.dual, best[k] - tiny) << k;
      EXPECT_GE(bound, best[k] - tiny) << k;
      EXPECT_LE(bound, solution.dual * (1.0 + 1e-9) + tiny) << k;
      // The same U bounds every other size.
      for (Index other = 1; other <= n; ++other)
        EXPECT_GE(dspca_bound(solution, other, 1), best[other] - tiny);
      if (seed % 3 != 0 && best[k] > 0.0) {
        slack += bound / best[k] - 1.0;
        ++count;
      }
    }
  }
  EXPECT_LT(slack / count, 0.03);  // a bound that says something
}

TEST(Dspca, TheGapClosesAndBothPointsAreFeasible) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index n = 12;
    const Matrix a = covariance(seed % 2 == 0 ? 40 : 7, n, random);
    const double top = largest_eigenvalue(a);
    DspcaSolver solver(a, {.max_iterations = 20000, .tolerance = 1e-6});
    for (const Index k : {1, 2, 4, 7, 11, 12}) {
      const auto solution = solver.of_size(k, RunControl());
      EXPECT_TRUE(solution.converged) << k << ": " << solution.iterations;
      EXPECT_LE(solution.dual - solution.primal, 1.1e-6 * top) << k;
      expect_feasible(a, solution, static_cast<double>(k), 0.0);
    }
    for (const double share : {0.0, 0.05, 0.3, 1.5}) {
      const double rho = share * a.diagonal().maxCoeff();
      const auto solution = solver.of_penalty(rho, RunControl());
      EXPECT_TRUE(solution.converged) << share << ": " << solution.iterations;
      EXPECT_LE(solution.dual - solution.primal, 1.1e-6 * top) << share;
      expect_feasible(a, solution, 0.0, rho);
    }
  }
}

TEST(Dspca, SizeAndPenaltyAreTheSameProblem) {
  // rho of the size's dual, given as the penalty, has the same optimum: dual_k = dual_rho + rho k.
  Random random(3);
  const Matrix a = covariance(30, 10, random);
  DspcaSolver solver(a, {.max_iterations = 50000, .tolerance = 1e-7});
  for (const Index k : {3, 6}) {
    const auto by_size = solver.of_size(k, RunControl());
    const auto by_penalty = solver.of_penalty(by_size.rho, RunControl());
    const auto shift = by_size.rho * static_cast<double>(k);
    EXPECT_NEAR(by_size.dual, by_penalty.dual + shift, 1e-5 * by_size.dual);
  }
}

TEST(Dspca, PitpropsHasTheValueThatAnotherProgramFinds) {
  // Optima: Moghaddam, Weiss & Avidan 2006. The relaxation was solved by another program (a plain
  // projected splitting in NumPy, gap 1e-4): 2.5218, 3.4581, 4.1448 at k = 3, 5, 8.
  const Matrix a = oracle::pitprops();
  DspcaSolver solver(a, {.max_iterations = 20000, .tolerance = 1e-6});
  const Vector best = best_of_sizes(a);
  EXPECT_NEAR(best[5], 3.406155, 5e-7);
  for (const auto& [k, value] : {std::pair<Index, double>{3, 2.5217}, {5, 3.4580}, {8, 4.1448}}) {
    const auto solution = solver.of_size(k, RunControl());
    EXPECT_NEAR(solution.dual, value, 5e-4) << k;
    EXPECT_GE(dspca_bound(solution, k, 1), best[k]);
    const auto support = dspca_support(solution, k);
    const Matrix block = a(support, support);
    EXPECT_GE(largest_eigenvalue(block), 0.97 * best[k]) << k;
  }
}

TEST(Dspca, OneFactorIsExactAndScalesDoNotMatter) {
  // Rank one: the best set of k holds the largest entries, and the relaxation knows it up to its slack.
  const Index n = 9;
  const Vector v = Vector::LinSpaced(n, 1.0, 3.0);
  const Matrix a = v * v.transpose();
  for (const double scale : {1.0, 0x1p-600, 0x1p600}) {
    DspcaSolver solver(scale * a, {});
    DspcaSolver plain(a, {});
    for (Index k = 1; k <= n; ++k) {
      const auto scaled = solver.of_size(k, RunControl());
      const auto one = plain.of_size(k, RunControl());
      EXPECT_EQ(scaled.dual, scale * one.dual);
      EXPECT_EQ(scaled.leading, one.leading);
      std::vector<Index> largest;
      for (Index i = n - k; i < n; ++i) largest.push_back(i);
      EXPECT_EQ(dspca_support(scaled, k), largest) << k;
      EXPECT_GE(one.dual, v.tail(k).squaredNorm() * (1.0 - 1e-12));
    }
  }
}

TEST(Dspca, AStoppedRunHasABoundAndASet) {
  Random random(4);
  const Matrix a = covariance(20, 15, random);
  std::stop_source source;
  source.request_stop();
  DspcaSolver solver(a, {});
  const auto solution = solver.of_size(4, RunControl(source.get_token(), kInfinity));
  EXPECT_EQ(solution.iterations, 0);
  EXPECT_FALSE(solution.converged);
  EXPECT_GE(solution.dual, largest_eigenvalue(a) * (1.0 - 1e-12));
  EXPECT_EQ(dspca_support(solution, 4).size(), 4U);
  const std::vector<Index> include = {2, 9};
  const auto support = dspca_support(solution, 4, include);
  EXPECT_TRUE(std::includes(support.begin(), support.end(), include.begin(), include.end()));
}

TEST(Dspca, RefusesWhatItCannotDo) {
  const Matrix a = Matrix::Identity(3, 3);
  EXPECT_THROW(DspcaSolver(Matrix::Zero(DspcaSolver::kMostFeatures + 1, DspcaSolver::kMostFeatures + 1), {}),
               InvalidArgument);
  EXPECT_THROW(DspcaSolver(a, {.tolerance = 1.0}), InvalidArgument);
  EXPECT_THROW(DspcaSolver(a, {.max_iterations = 0}), InvalidArgument);
  EXPECT_THROW(DspcaSolver(a, {}, 100), Error);
  DspcaSolver solver(a, {});
  EXPECT_THROW((void)solver.of_size(0, RunControl()), InvalidArgument);
  EXPECT_THROW((void)solver.of_size(4, RunControl()), InvalidArgument);
  EXPECT_THROW((void)solver.of_penalty(-1.0, RunControl()), InvalidArgument);
  DspcaSolver nothing(Matrix::Zero(3, 3), {});
  const auto zero = nothing.of_size(2, RunControl());
  EXPECT_EQ(zero.dual, 0.0);
  EXPECT_TRUE(zero.converged);
}

}  // namespace
}  // namespace subspectra::dspca_test
