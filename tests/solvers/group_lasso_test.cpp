#include "solvers/group_lasso.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <subspectra/error.hpp>
#include "core/random.hpp"
#include "io/write.hpp"
#include "run_program.hpp"

namespace subspectra::group_lasso_test {
namespace {

/// Columns of unit norm, neighbours correlated by `rho`.
Matrix random_columns(Index n, Index p, double rho, std::uint64_t seed) {
  Random random(seed);
  Matrix x(n, p);
  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < n; ++i)
      x(i, j) = (j > 0 ? rho * x(i, j - 1) : 0.0) + std::sqrt(1.0 - rho * rho) * random.normal();
  }
  for (Index j = 0; j < p; ++j) x.col(j) /= x.col(j).norm();
  return x;
}

/// A few columns and noise.
Matrix random_targets(const Matrix& x, Index depth, std::uint64_t seed) {
  Random random(seed, 1);
  Matrix t(x.rows(), depth);
  for (auto& value : t.reshaped()) value = 0.2 * random.normal();
  for (Index j = 0; j < std::min<Index>(5, x.cols()); ++j) {
    for (Index l = 0; l < depth; ++l) t.col(l) += random.normal() * x.col((j * 7) % x.cols());
  }
  return t;
}

struct Case {
  Matrix x = {}, t = {};
  double l2 = 0.0;
  Vector weights = {};  ///< p, never empty
  double lambda = 0.0;

  [[nodiscard]] double penalty(Index i) const {
    return weights[i] < kInfinity ? lambda * weights[i] : kInfinity;
  }
  [[nodiscard]] double objective(const Matrix& b) const {
    double sum = 0.5 * (t - x * b).squaredNorm() + 0.5 * l2 * b.squaredNorm();
    for (Index i = 0; i < b.rows(); ++i) sum += b.row(i).norm() > 0.0 ? penalty(i) * b.row(i).norm() : 0.0;
    return sum;
  }
};

Matrix dense(const RowSparseMatrix& b, Index p, Index depth) {
  Matrix all = Matrix::Zero(p, depth);
  for (std::size_t i = 0; i < b.rows.size(); ++i) all.row(b.rows[i]) = b.values.row(static_cast<Index>(i));
  return all;
}

/// Accelerated proximal gradient with restarts, run long: shares nothing with coordinate descent.
Matrix by_proximal_gradient(const Case& c, int iterations) {
  const double step = 1.0 / (c.x.squaredNorm() + c.l2);  // |X|_F^2 is above the largest eigenvalue
  Matrix b = Matrix::Zero(c.x.cols(), c.t.cols()), y = b;
  double momentum = 1.0, last = c.objective(b);
  // The power method tightens the step; 1.01 for what it misses.
  Vector v = Vector::Ones(c.x.cols());
  double top = 0.0;
  for (int i = 0; i < 500; ++i) {
    v = c.x.transpose() * (c.x * v);
    top = v.norm();
    v /= top;
  }
  const double length = std::max(step, 1.0 / (1.05 * top + c.l2));
  for (int i = 0; i < iterations; ++i) {
    Matrix next = y + length * (c.x.transpose() * (c.t - c.x * y) - c.l2 * y);
    for (Index r = 0; r < next.rows(); ++r) {
      const double norm = next.row(r).norm(), limit = c.penalty(r) * length;
      next.row(r) *= norm > limit ? 1.0 - limit / norm : 0.0;
    }
    const double value = c.objective(next);
    if (value > last) {
      momentum = 1.0;
      y = b;
      last = c.objective(b);
      continue;
    }
    const double after = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum * momentum));
    y = next + (momentum - 1.0) / after * (next - b);
    b = next;
    momentum = after;
    last = value;
  }
  return b;
}

/// How far one exact step on a single row would go, at most, straight from the definition: zero at the
/// optimum alone, and (1 + l2)/2 times its square is what the step gains, so that it is at most sqrt(2 gap).
double longest_step(const Case& c, const Matrix& b) {
  const Matrix gradient = c.x.transpose() * (c.t - c.x * b) - c.l2 * b;
  double worst = 0.0;
  for (Index i = 0; i < b.rows(); ++i) {
    if (c.x.col(i).norm() == 0.0) continue;
    const Eigen::RowVectorXd z = (1.0 + c.l2) * b.row(i) + gradient.row(i);
    const double norm = z.norm(), limit = c.penalty(i);
    const double factor = norm > limit ? (1.0 - limit / norm) / (1.0 + c.l2) : 0.0;
    worst = std::max(worst, (factor * z - b.row(i)).norm());
  }
  return worst;
}

GroupLassoSolution solve(const Case& c, double tolerance = 1e-12, int threads = 1) {
  GroupLasso lasso(c.x, {.l2 = c.l2, .tolerance = tolerance, .threads = threads});
  lasso.set_targets(c.t, c.weights);
  return lasso.solve(c.lambda, RunControl());
}

TEST(GroupLasso, SatisfiesTheOptimalityConditionsAlongAPath) {
  for (const Index depth : {1, 3}) {
    for (const double l2 : {0.0, 0.3}) {
      for (const auto& [n, p] : std::vector<std::pair<Index, Index>>{{40, 15}, {30, 400}, {2, 6}, {25, 1}}) {
        SCOPED_TRACE(fmt::format("L {} l2 {} N {} p {}", depth, l2, n, p));
        Case c{.x = random_columns(n, p, 0.5, 3), .t = {}, .l2 = l2, .weights = Vector::Ones(p)};
        c.t = random_targets(c.x, depth, 4);
        GroupLasso lasso(c.x, {.l2 = l2, .tolerance = 1e-13, .threads = 1});
        lasso.set_targets(c.t);
        const double top = lasso.lambda_max();
        EXPECT_NEAR(top, (c.x.transpose() * c.t).rowwise().norm().maxCoeff(), 1e-13 * c.t.norm());
        // Falling, then back up: a rising sequence has to come out the same.
        for (const double part : {1.0, 0.9, 0.6, 0.3, 0.1, 0.03, 0.01, 0.2, 0.7, 1.5}) {
          SCOPED_TRACE(fmt::format("lambda {} of the largest", part));
          c.lambda = part * top;
          const GroupLassoSolution s = lasso.solve(c.lambda, RunControl());
          const Matrix b = dense(s.b, p, depth);
          EXPECT_TRUE(s.converged);
          EXPECT_EQ(s.b.rows.empty(), part >= 1.0);
          EXPECT_LE(longest_step(c, b), 3.2e-7 * c.t.norm());  // sqrt(2 gap), gap = 1e-13 |T|^2/2
          EXPECT_NEAR(s.objective, c.objective(b), 1e-12 * c.t.squaredNorm());
          EXPECT_GE(s.gap, 0.0);
          EXPECT_LE((lasso.residual() - (c.t - c.x * b)).norm(), 1e-12 * c.t.norm());
        }
      }
    }
  }
}

TEST(GroupLasso, AgreesWithALongProximalGradient) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index depth = 1 + static_cast<Index>(seed % 3), p = seed % 2 == 0 ? 60 : 12;
    Case c{.x = random_columns(20, p, 0.3, seed), .t = {}, .l2 = seed % 4 == 0 ? 0.1 : 0.0};
    c.t = random_targets(c.x, depth, seed);
    c.weights = Vector::Ones(p);
    if (seed >= 6) {  // unpenalized, heavy and forbidden columns
      c.weights[0] = 0.0;
      c.weights[3] = 0.0;
      c.weights[5] = kInfinity;
      c.weights[7] = 3.0;
    }
    c.lambda = 0.3 * (c.x.transpose() * c.t).rowwise().norm().maxCoeff();
    const GroupLassoSolution s = solve(c);
    const Matrix b = dense(s.b, p, depth);
    const double reference = c.objective(by_proximal_gradient(c, 20'000));
    EXPECT_TRUE(s.converged);
    EXPECT_NEAR(c.objective(b), reference, 1e-9 * reference);
    EXPECT_EQ(b.row(5).norm() > 0.0 && seed >= 6, false);
  }
}

TEST(GroupLasso, TheGapHoldsHoweverEarlyItStops) {
  for (const Index depth : {1, 2}) {
    Case c{.x = random_columns(30, 200, 0.6, 9), .t = {}, .l2 = 0.0, .weights = Vector::Ones(200)};
    c.weights[17] = 0.0;
    c.t = random_targets(c.x, depth, 9);
    c.lambda = 0.1 * (c.x.transpose() * c.t).rowwise().norm().maxCoeff();
    const double best = solve(c, 1e-13).objective;
    for (const double tolerance : {0.5, 1e-1, 1e-2, 1e-4, 1e-8}) {
      const GroupLassoSolution s = solve(c, tolerance);
      EXPECT_LE(s.objective - best, s.gap + 1e-12 * c.t.squaredNorm()) << tolerance;
      EXPECT_LE(s.gap, tolerance * 0.5 * c.t.squaredNorm());
    }
    for (const Index sweeps : {1, 2, 5}) {
      GroupLasso lasso(c.x, {.tolerance = 1e-13, .max_sweeps = sweeps, .threads = 1});
      lasso.set_targets(c.t, c.weights);
      const GroupLassoSolution s = lasso.solve(c.lambda, RunControl());
      EXPECT_LE(s.objective - best, s.gap + 1e-12 * c.t.squaredNorm()) << sweeps;
      EXPECT_LE(s.sweeps, sweeps);
    }
  }
}

TEST(GroupLasso, GivesTheSameBitsForAnyNumberOfThreads) {
  const Matrix x = random_columns(40, 3000, 0.4, 5);
  for (const Index depth : {1, 3}) {
    const Matrix t = random_targets(x, depth, 5);
    std::vector<GroupLassoSolution> one;
    for (const int threads : {1, 2, 8}) {
      GroupLasso lasso(x, {.threads = threads});
      lasso.set_targets(t);
      const double top = lasso.lambda_max();
      for (std::size_t i = 0; i < 8; ++i) {
        GroupLassoSolution s = lasso.solve(top * std::pow(0.6, static_cast<double>(i)), RunControl());
        if (threads == 1) {
          one.push_back(std::move(s));
          continue;
        }
        EXPECT_EQ(s.b.rows, one[i].b.rows);
        EXPECT_EQ(s.b.values, one[i].b.values);
        EXPECT_EQ(s.gap, one[i].gap);
      }
    }
  }
}

TEST(GroupLasso, KeepsWhatItKnowsWhenTargetsChange) {
  const Matrix x = random_columns(30, 500, 0.4, 6);
  Random random(1);
  GroupLasso lasso(x, {.tolerance = 1e-12, .threads = 1});
  Matrix t = random_targets(x, 2, 6);
  for (int change = 0; change < 60; ++change) {  // more than there are anchors
    SCOPED_TRACE(change);
    Case c{.x = x, .t = t, .weights = Vector::Ones(500)};
    lasso.set_targets(t);
    c.lambda = 0.4 * lasso.lambda_max();
    EXPECT_NEAR(c.lambda, 0.4 * (x.transpose() * t).rowwise().norm().maxCoeff(), 1e-12 * t.norm());
    const GroupLassoSolution s = lasso.solve(c.lambda, RunControl());
    EXPECT_TRUE(s.converged);
    EXPECT_LE(longest_step(c, dense(s.b, 500, 2)), 1e-6 * t.norm());
    for (auto& value : t.reshaped()) value += 0.1 * random.normal();
    if (change == 30) t = random_targets(x, 2, 77);
  }
  const Matrix other = random_targets(x, 1, 8);  // another L
  lasso.set_targets(other);
  Case c{.x = x, .t = other, .weights = Vector::Ones(500)};
  c.lambda = 0.2 * lasso.lambda_max();
  EXPECT_LE(longest_step(c, dense(lasso.solve(c.lambda, RunControl()).b, 500, 1)), 1e-6 * other.norm());
}

/// The start decides between columns that are alike, and nothing else.
TEST(GroupLasso, GoesOnFromAGivenStart) {
  Matrix x = random_columns(30, 200, 0.3, 4);
  x.col(150) = x.col(7);
  const Matrix t = random_targets(x, 2, 4);
  Case c{.x = x, .t = t, .weights = Vector::LinSpaced(200, 0.8, 1.2)};
  c.weights[150] = c.weights[7];
  GroupLasso lasso(x, {.tolerance = 1e-13, .threads = 1});
  lasso.set_targets(t, c.weights);
  c.lambda = 0.2 * lasso.lambda_max();
  const GroupLassoSolution cold = lasso.solve(c.lambda, RunControl());
  const Matrix b = dense(cold.b, 200, 2);
  ASSERT_GT(b.row(7).norm() + b.row(150).norm(), 0.0);
  for (const Index kept : {Index{7}, Index{150}}) {
    RowSparseMatrix start = cold.b;
    std::vector<std::pair<Index, Index>> order;
    for (std::size_t i = 0; i < start.rows.size(); ++i) {
      const Index row = start.rows[i];
      order.emplace_back(row == 7 || row == 150 ? kept : row, static_cast<Index>(i));
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      start.rows[i] = order[i].first;
      start.values.row(static_cast<Index>(i)) = cold.b.values.row(order[i].second);
    }
    GroupLasso other(x, {.tolerance = 1e-13, .threads = 1});
    other.set_targets(t, c.weights);
    other.start_from(start);
    const GroupLassoSolution warm = other.solve(c.lambda, RunControl());
    EXPECT_TRUE(warm.converged);
    EXPECT_NEAR(warm.objective, cold.objective, 1e-12 * t.squaredNorm());
    EXPECT_LE(warm.sweeps, 3);
    EXPECT_EQ(dense(warm.b, 200, 2).row(157 - kept).norm(), 0.0);
  }
  Matrix far = Matrix::Constant(200, 2, 3.0);  // a bad start costs time only
  std::vector<Index> all;
  for (Index j = 0; j < 200; ++j) all.push_back(j);
  lasso.start_from({all, far});
  EXPECT_NEAR(lasso.solve(c.lambda, RunControl()).objective, cold.objective, 1e-10 * t.squaredNorm());
  EXPECT_THROW(lasso.start_from({{200}, Matrix::Zero(1, 2)}), Error);
  EXPECT_THROW(lasso.start_from({{3}, Matrix::Zero(1, 1)}), Error);
  EXPECT_THROW(lasso.start_from({{3, 3}, Matrix::Zero(2, 2)}), Error);
  EXPECT_THROW(lasso.start_from({{3}, Matrix::Constant(1, 2, std::nan(""))}), Error);
}

TEST(GroupLasso, TakesDegenerateData) {
  for (const Index depth : {1, 2}) {
    SCOPED_TRACE(fmt::format("L {}", depth));
    Matrix x = random_columns(12, 30, 0.2, 2);
    x.col(4) = x.col(3);
    x.col(5) = -x.col(3);
    x.col(6).setZero();
    x.col(7) = x.col(0);
    Case c{.x = x, .t = random_targets(x, depth, 2), .weights = Vector::Ones(30)};
    for (const double lambda : {0.5, 0.1, 1e-3, 1e-8}) {
      c.lambda = lambda;
      const GroupLassoSolution s = solve(c, 1e-10);
      const Matrix b = dense(s.b, 30, depth);
      // At 1e-8 T is met to rounding, and which of the many B that meet it has the least norm is a matter of
      // digits that a group lasso may not have; what it says about its answer has to hold all the same.
      EXPECT_TRUE(s.converged || lambda < 1e-6) << lambda;
      EXPECT_LE(s.gap, 1e-7 * c.t.squaredNorm());
      EXPECT_TRUE(b.allFinite());
      EXPECT_EQ(b.row(6).norm(), 0.0);
      EXPECT_LE(longest_step(c, b), std::sqrt(2.0 * s.gap) + 1e-10);
    }
    c.t.setZero();
    c.lambda = 0.1;
    const GroupLassoSolution nothing = solve(c);
    EXPECT_TRUE(nothing.converged && nothing.b.rows.empty() && nothing.gap == 0.0);
    c.x.setZero();
    c.t = random_targets(x, depth, 2);
    for (const double lambda : {0.0, 0.1}) {
      c.lambda = lambda;
      const GroupLassoSolution s = solve(c);
      EXPECT_TRUE(s.converged && s.b.rows.empty()) << lambda;
      EXPECT_DOUBLE_EQ(s.objective, 0.5 * c.t.squaredNorm());
    }
    c.weights.setZero();  // not penalized, and nothing there to be chosen
    EXPECT_TRUE(solve(c).b.rows.empty());
    c.x = x;
    c.weights.setConstant(kInfinity);
    EXPECT_TRUE(solve(c).b.rows.empty());
  }
}

TEST(GroupLasso, IsLeastSquaresWithoutAPenalty) {
  for (const Index depth : {1, 2}) {
    for (const double l2 : {0.0, 0.5}) {
      Case c{.x = random_columns(30, 8, 0.5, 11), .t = {}, .l2 = l2, .weights = Vector::Ones(8)};
      c.t = random_targets(c.x, depth, 11);
      const Matrix normal = c.x.transpose() * c.x + l2 * Matrix::Identity(8, 8);
      const Matrix exact = normal.inverse() * (c.x.transpose() * c.t);
      const GroupLassoSolution s = solve(c, 1e-12);
      EXPECT_TRUE(s.converged);
      EXPECT_LE((dense(s.b, 8, depth) - exact).norm(), 1e-5 * exact.norm()) << l2;
      EXPECT_LE(s.gap, 1e-12 * c.t.squaredNorm());
    }
    // More columns than rows: T is met exactly.
    Case wide{.x = random_columns(10, 80, 0.1, 12), .t = {}, .weights = Vector::Ones(80)};
    wide.t = random_targets(wide.x, depth, 12);
    const GroupLassoSolution s = solve(wide, 1e-8);
    EXPECT_TRUE(s.converged);
    EXPECT_LE(s.objective, 1e-8 * wide.t.squaredNorm());
  }
}

TEST(GroupLasso, StopsWhenAskedAndSaysWhatIsWrong) {
  const Matrix x = random_columns(20, 50, 0.0, 1);
  GroupLasso lasso(x, {.tolerance = 0.0, .threads = 1});
  EXPECT_THROW((void)lasso.solve(0.1, RunControl()), Error);
  lasso.set_targets(random_targets(x, 2, 1));
  std::stop_source source;
  source.request_stop();
  const GroupLassoSolution s = lasso.solve(0.01, RunControl(source.get_token(), kInfinity));
  EXPECT_FALSE(s.converged);
  EXPECT_LE(s.sweeps, 10);
  EXPECT_THROW((void)lasso.solve(-1.0, RunControl()), InvalidArgument);
  EXPECT_THROW((void)lasso.solve(std::nan(""), RunControl()), InvalidArgument);
  EXPECT_THROW(lasso.set_targets(Matrix::Zero(19, 1)), Error);
  EXPECT_THROW(lasso.set_targets(Matrix::Zero(20, 1), Vector::Constant(50, -1.0)), Error);
  EXPECT_THROW(GroupLasso(x, {.l2 = -1.0}), InvalidArgument);
  EXPECT_THROW(GroupLasso(x, {.tolerance = -1.0}), InvalidArgument);
  EXPECT_THROW(GroupLasso(x, {.max_sweeps = 0}), InvalidArgument);
}

TEST(GroupLasso, AgreesWithScikitLearn) {
  const testing::ScratchDirectory scratch;
  const Matrix x = random_columns(50, 300, 0.5, 21);
  const Matrix t = random_targets(x, 1, 21);
  GroupLasso lasso(x, {.tolerance = 1e-12, .threads = 1});
  lasso.set_targets(t);
  const double top = lasso.lambda_max();
  Matrix path(301, 20);  // lambda and the coefficients
  for (Index i = 0; i < path.cols(); ++i) {
    path(0, i) = top * std::pow(0.8, static_cast<double>(i));
    path.col(i).tail(300) = dense(lasso.solve(path(0, i), RunControl()).b, 300, 1);
  }
  const std::string folder = scratch.path();
  write_npy(folder + "/x.npy", x);
  write_npy(folder + "/t.npy", t);
  write_npy(folder + "/path.npy", path);
  const std::string script = R"(
import sys
try:
    import numpy as np
    from sklearn.linear_model import lasso_path
except ImportError as missing:
    print(missing)
    sys.exit(77)
x, t, path = (np.load(sys.argv[1] + "/" + name + ".npy") for name in ("x", "t", "path"))
alphas, b, gaps = lasso_path(x, t[:, 0], alphas=path[0] / len(t), tol=1e-12, max_iter=1000000)
difference = np.abs(b - path[1:]).max()
print("largest difference", difference)
sys.exit(0 if difference < 1e-5 * np.abs(b).max() else 1)
)";
  const testing::Finished run = testing::run_words({SUBSPECTRA_PYTHON, "-c", script, folder});
  if (run.code == 77 || run.code == 127) GTEST_SKIP() << "python3-sklearn is not there: " << run.out;
  EXPECT_EQ(run.code, 0) << run.out << run.err;
}

}  // namespace
}  // namespace subspectra::group_lasso_test
