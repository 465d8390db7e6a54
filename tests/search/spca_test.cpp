/// Oracles: the alternation as the paper prints it, on the dense covariance, with a plain coordinate descent
/// and Eigen's SVD; the optimality conditions of the regression; the published components of the pit props.
#include "search/spca.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>
#include <set>

#include <subspectra/error.hpp>
#include "core/random.hpp"
#include "oracle.hpp"
#include "pitprops.hpp"

namespace subspectra::spca_test {
namespace {

Matrix gaussian(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix x(rows, cols);
  for (auto& e : x.reshaped()) e = random.normal();
  return x;
}

DatasetParts table(Matrix x) {
  DatasetParts data;
  data.source = "x";
  data.names = FeatureNames(x.cols());
  data.dense = std::move(x);
  return data;
}

SpcaRidge ridge(double value) { return {.automatic = false, .value = value}; }

std::vector<Index> all(Index n) {
  std::vector<Index> features(static_cast<std::size_t>(n));
  std::iota(features.begin(), features.end(), Index{0});
  return features;
}

Matrix covariance(const Matrix& x) {
  const Matrix z = x.rowwise() - x.colwise().mean();
  return z.transpose() * z / static_cast<double>(x.rows());
}

double soft(double z, double limit) { return z > limit ? z - limit : z < -limit ? z + limit : 0.0; }

/// min (a - b)'S(a - b) + l2 sum s_ii b_i^2 + lambda |b|_1, coordinate by coordinate.
Vector elastic_net(const Matrix& s, const Vector& a, double l2, double lambda, Vector b) {
  const Vector target = s * a;
  for (int sweep = 0; sweep < 100000; ++sweep) {
    double moved = 0.0;
    for (Index i = 0; i < b.size(); ++i) {
      const double z = target[i] - s.row(i).dot(b) + s(i, i) * b[i];
      const double value = soft(z, 0.5 * lambda) / (s(i, i) * (1.0 + l2));
      moved = std::max(moved, std::abs(value - b[i]));
      b[i] = value;
    }
    if (moved < 1e-13) break;
  }
  return b;
}

struct Textbook {
  Matrix a, b;
};
Textbook textbook(const Matrix& s, const std::vector<double>& lambdas, double l2, int rounds) {
  const auto r = static_cast<Index>(lambdas.size());
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(s);
  Textbook t{eigen.eigenvectors().rowwise().reverse().leftCols(r), Matrix::Zero(s.rows(), r)};
  for (int round = 0; round < rounds; ++round) {
    const Matrix before = t.b;
    for (Index j = 0; j < r; ++j) {
      const double lambda = lambdas[static_cast<std::size_t>(j)];
      if (std::isinf(l2)) {
        const Vector pulled = s * t.a.col(j);
        for (Index i = 0; i < s.rows(); ++i) t.b(i, j) = soft(pulled[i], 0.5 * lambda);
      } else {
        t.b.col(j) = elastic_net(s, t.a.col(j), l2, lambda, t.b.col(j));
      }
    }
    if ((t.b - before).cwiseAbs().maxCoeff() <= 1e-10 * t.b.cwiseAbs().maxCoeff()) break;
    const Matrix sb = s * t.b;
    const Eigen::BDCSVD<Matrix> svd(sb, Eigen::ComputeThinU | Eigen::ComputeThinV);
    t.a = svd.matrixU() * svd.matrixV().transpose();
  }
  return t;
}

/// Signs of components are arbitrary.
void expect_same_components(const Matrix& found, const Matrix& expected, double tolerance) {
  ASSERT_EQ(found.cols(), expected.cols());
  for (Index j = 0; j < found.cols(); ++j) {
    const double sign = found.col(j).dot(expected.col(j)) < 0.0 ? -1.0 : 1.0;
    EXPECT_LT((found.col(j) - sign * expected.col(j)).cwiseAbs().maxCoeff(),
              tolerance * std::max(1e-300, expected.col(j).cwiseAbs().maxCoeff()))
        << "component " << j;
  }
}

TEST(Spca, PitpropsAreThePublishedComponents) {
  // Zou, Hastie & Tibshirani 2006, Table 3: lambda = (0.06, 0.16, 0.1, 0.5, 0.5, 0.5).
  const Matrix s = oracle::pitprops();
  const auto x = spca_table(s);
  SpcaSolver solver(x, {.max_iterations = 2000, .tolerance = 1e-8}, 0, {.lasso_tolerance = 1e-13});
  const auto fit = solver.fit({0.06, 0.16, 0.1, 0.5, 0.5, 0.5}, RunControl());
  EXPECT_TRUE(fit.converged) << fit.iterations;
  const std::vector<std::size_t> counts = {7, 4, 4, 1, 1, 1};
  for (Index j = 0; j < 6; ++j) {
    EXPECT_EQ(fit.support(j).size(), counts[static_cast<std::size_t>(j)]) << "component " << j;
  }
  const Vector first = fit.b.col(0) / fit.b.col(0).norm();
  const double sign = first[0] < 0.0 ? 1.0 : -1.0;
  const std::vector<double> published = {-0.477, -0.476, 0,      0, 0.177, 0, -0.250,
                                         -0.344, -0.416, -0.400, 0, 0,     0};
  for (Index i = 0; i < 13; ++i)
    EXPECT_NEAR(sign * first[i], published[static_cast<std::size_t>(i)], 0.004) << i;
  expect_same_components(fit.b, textbook(s, fit.lambdas, 1e-6, 2000).b, 1e-5);
  EXPECT_LT((fit.a.transpose() * fit.a - Matrix::Identity(6, 6)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Spca, FollowsTheTextbookAndItsRegressionsAreOptimal) {
  for (const double l2 : {1e-6, 0.1, kInfinity}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(fmt::format("l2 {} seed {}", l2, seed));
      Matrix x = gaussian(60, 9, seed);
      x.rightCols(4) += 1.5 * x.col(0).replicate(1, 4);
      x.col(3) *= 5.0;
      const Matrix s = covariance(x);
      const auto unit = spca_table(table(x), all(9), 1);
      SpcaSolver solver(unit, {.l2 = ridge(l2), .max_iterations = 5000, .tolerance = 1e-9}, 0,
                        {.lasso_tolerance = 1e-15});
      const double lambda = solver.lambda_max() * (seed % 2 == 0 ? 0.3 : 0.02);
      const auto fit = solver.fit({lambda}, RunControl());
      EXPECT_TRUE(fit.converged);
      expect_same_components(fit.b, textbook(s, {lambda}, l2, 5000).b, 1e-5);
      // 2 (S(a - b))_i - 2 l2 s_ii b_i = lambda sign(b_i), and at most lambda where b_i = 0.
      const Vector b = fit.b.col(0);
      const Vector gradient =
          std::isinf(l2) ? Vector(2.0 * (s * fit.a.col(0) - b))
                         : Vector(2.0 * (s * (fit.a.col(0) - b)) - 2.0 * l2 * s.diagonal().cwiseProduct(b));
      for (Index i = 0; i < 9; ++i) {
        if (b[i] == 0.0) {
          EXPECT_LE(std::abs(gradient[i]), lambda * (1.0 + 1e-4)) << i;
        } else {
          EXPECT_NEAR(gradient[i], b[i] > 0.0 ? lambda : -lambda, 1e-4 * lambda) << i;
        }
      }
      for (std::size_t i = 1; i < fit.trace.size(); ++i)
        EXPECT_LE(fit.trace[i], fit.trace[i - 1] + 1e-10 * std::abs(fit.trace[0])) << "it never rises";
    }
  }
}

TEST(Spca, TheTableAndItsCovarianceGiveTheSame) {
  const Matrix x = gaussian(40, 8, 5);
  const auto rows = spca_table(table(x), all(8), 1);
  const auto matrix = spca_table(covariance(x));
  SpcaSolver from_rows(rows, {}), from_matrix(matrix, {});
  EXPECT_NEAR(from_rows.lambda_max(), from_matrix.lambda_max(), 1e-12 * from_rows.lambda_max());
  const std::vector<double> lambda = {0.4 * from_rows.lambda_max()};
  expect_same_components(from_rows.fit(lambda, RunControl()).b, from_matrix.fit(lambda, RunControl()).b,
                         1e-4);
}

TEST(Spca, AtTheEndsOfThePath) {
  Matrix x = gaussian(50, 7, 8);
  x.col(2) = x.col(1);  // a duplicate
  x.col(5).setConstant(3.0);
  const auto unit = spca_table(table(x), all(7), 1);
  SpcaSolver solver(unit, {});
  const auto none = solver.fit({1.01 * solver.lambda_max()}, RunControl());
  EXPECT_TRUE(none.support().empty());
  EXPECT_TRUE(none.converged);
  const auto most = solver.fit({1e-9 * solver.lambda_max()}, RunControl());
  EXPECT_EQ(most.support().size(), 6U) << "all but the constant one";
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(covariance(x));
  const Vector b = most.b.col(0).normalized();
  EXPECT_NEAR(std::abs(b.dot(eigen.eigenvectors().col(6))), 1.0, 1e-6) << "the ordinary component";
  const auto path = spca_path(solver, 1, 6, 20, 1e-3, RunControl());
  for (std::size_t i = 1; i < path.size(); ++i) EXPECT_LT(path[i].lambdas[0], path[i - 1].lambdas[0]);
  std::set<std::size_t> sizes;
  for (const auto& fit : path) sizes.insert(fit.support().size());
  EXPECT_GE(sizes.size(), 5U);
}

TEST(Spca, ScalesAndThreadsDoNotMatter) {
  const Matrix x = gaussian(30, 50, 9);
  for (const double l2 : {1e-6, kInfinity}) {
    const auto plain_table = spca_table(table(x), all(50), 1);
    SpcaSolver plain(plain_table, {.l2 = ridge(l2)}, 1);
    const double lambda = 0.5 * plain.lambda_max();
    const auto one = plain.fit({lambda}, RunControl());
    SpcaSolver threaded(plain_table, {.l2 = ridge(l2)}, 2);
    EXPECT_EQ(threaded.fit({lambda}, RunControl()).b, one.b);
    for (const double scale : {0x1p-300, 0x1p300}) {
      const auto scaled_table = spca_table(table(scale * x), all(50), 1);
      SpcaSolver scaled(scaled_table, {.l2 = ridge(l2)}, 1);
      const auto fit = scaled.fit({lambda * scale * scale}, RunControl());
      EXPECT_EQ(fit.support(), one.support());
    }
  }
}

TEST(Spca, ManyMoreColumnsThanRows) {
  Matrix x = gaussian(40, 2500, 10);
  const Vector factor = gaussian(40, 1, 11).col(0);
  for (Index j = 0; j < 12; ++j) x.col(200 * j) += 3.0 * factor;
  const auto unit = spca_table(table(x), all(2500), 1);
  SpcaSolver solver(unit, {.l2 = ridge(kInfinity)}, 1);
  const auto path = spca_path(solver, 1, 12, 30, 0.05, RunControl());
  bool found = false;
  for (const auto& fit : path) {
    const auto support = fit.support();
    if (support.size() != 12) continue;
    found = true;
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(support[i], 200 * static_cast<Index>(i));
  }
  EXPECT_TRUE(found);
}

TEST(Spca, StopsWhenToldAndRefusesNonsense) {
  const Matrix x = gaussian(30, 6, 12);
  const auto unit = spca_table(table(x), all(6), 1);
  std::stop_source source;
  source.request_stop();
  SpcaSolver solver(unit, {});
  const auto path = spca_path(solver, 1, 6, 30, 1e-3, RunControl(source.get_token(), kInfinity));
  EXPECT_EQ(path.size(), 1U);
  EXPECT_THROW(SpcaSolver(unit, {.l2 = ridge(-1.0)}), InvalidArgument);
  EXPECT_THROW(SpcaSolver(unit, {.tolerance = 1.0}), InvalidArgument);
  EXPECT_THROW(SpcaSolver(unit, {.max_iterations = 0}), InvalidArgument);
  EXPECT_THROW((void)solver.fit(std::vector<double>(7, 0.1), RunControl()), InvalidArgument);
  const auto constant = spca_table(table(Matrix::Ones(5, 2)), all(2), 1);
  EXPECT_THROW(SpcaSolver(constant, {}), InvalidArgument);
}

}  // namespace
}  // namespace subspectra::spca_test
