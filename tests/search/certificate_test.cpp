#include "search/certificate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <random>

#include "oracle.hpp"
#include "pencils.hpp"
#include "search/rounding.hpp"

namespace subspectra {
namespace {

/// Smallest and largest criterion over all sets of k that hold `include`.
std::pair<double, double> extremes(const Matrix& a, const Matrix& b, Index k,
                                   const std::vector<Index>& include, Criterion criterion) {
  const Index n = a.rows();
  double low = kInfinity, high = -kInfinity;
  for (unsigned mask = 0; mask < (1U << static_cast<unsigned>(n)); ++mask) {
    std::vector<Index> set;
    for (Index i = 0; i < n; ++i) {
      if ((mask >> static_cast<unsigned>(i) & 1U) != 0) set.push_back(i);
    }
    if (static_cast<Index>(set.size()) != k ||
        !std::includes(set.begin(), set.end(), include.begin(), include.end()))
      continue;
    const double value = oracle::set_value(a, b, set, criterion);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {low, high};
}

void expect_valid(const std::vector<SizeBounds>& bounds, Index lo, const Matrix& a, const Matrix& b,
                  const std::vector<Index>& include, Criterion criterion) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto [low, high] = extremes(a, b, lo + static_cast<Index>(i), include, criterion);
    SCOPED_TRACE(fmt::format("k {}", lo + static_cast<Index>(i)));
    EXPECT_FALSE(bounds[i].upper.empty());
    for (const auto& [name, value] : bounds[i].upper) EXPECT_GE(value, high * (1.0 - 1e-12)) << name;
    for (const auto& [name, value] : bounds[i].lower_any)
      EXPECT_LE(value, low * (1.0 + 1e-12) + 1e-14) << name;
    for (const auto& [name, value] : bounds[i].lower_best) EXPECT_LE(value, high * (1.0 + 1e-12)) << name;
  }
}

TEST(Certificate, EveryBoundOfLdaHoldsAgainstAllSubsets) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    for (const Index r : {1, 2, 4}) {
      for (const auto criterion : {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}) {
        SCOPED_TRACE(fmt::format("seed {} r {} criterion {}", seed, r, static_cast<int>(criterion)));
        const auto pair = oracle::random_factor_pair(8, r, seed, seed % 2 == 0 ? 20.0 : 1e5);
        const auto pencil = factor_pencil(pair.m, pair.b);
        auto units = oracle::all_units(8);
        if (seed % 5 == 0) units.include = {1, 6};
        const Index lo = units.include.empty() ? 1 : 2;
        const auto root = root_losses(*pencil, units, {.criterion = criterion});
        const CertificateOptions options{.criterion = criterion, .k = {lo, 8}, .lower = true};
        const Matrix a = pair.m * pair.m.transpose();
        expect_valid(certificate(*pencil, units, &root, options), lo, a, pair.b, units.include, criterion);
      }
    }
  }
}

TEST(Certificate, EndsOfThePathAreProven) {
  const auto pair = oracle::random_factor_pair(9, 1, 4);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(9);
  const auto root = root_losses(*pencil, units, {});
  const auto bounds = certificate(*pencil, units, &root, {.k = {1, 9}});
  const Matrix a = pair.m * pair.m.transpose();
  for (const Index k : {1, 8, 9}) {  // one feature, all but one, all
    const double best = extremes(a, pair.b, k, {}, Criterion::kLargest).second;
    EXPECT_NEAR(bounds[static_cast<std::size_t>(k - 1)].best_upper()->second, best, 1e-9 * best) << k;
  }
}

TEST(Certificate, EveryBoundOfPcaHoldsAgainstAllSubsets) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto pair = oracle::random_factor_pair(9, 1, seed, 50.0);
    const auto pencil = covariance_pencil(pair.b);
    auto units = oracle::all_units(9);
    if (seed % 4 == 0) units.include = {3};
    RootLosses root;
    static_cast<void>(backward_pass(*pencil, units, {}, {}, &root));
    const Matrix identity = Matrix::Identity(9, 9);
    const CertificateOptions options{.k = {1, 9}, .lower = true};
    expect_valid(certificate(*pencil, units, &root, options), 1, pair.b, identity, units.include,
                 Criterion::kLargest);
    expect_valid(certificate(*pencil, units, nullptr, options), 1, pair.b, identity, units.include,
                 Criterion::kLargest);
  }
}

TEST(Certificate, ATableWithFewRowsHasBoundsWithoutThePSquare) {
  const auto data = oracle::random_classes(12, 9, 2, 3, 1.0, 3);
  auto wide = data;  // 12 rows, 45 columns: through the rows
  wide.dense.resize(12, 45);
  for (Index j = 0; j < 45; ++j)
    wide.dense.col(j) = data.dense.col(j % 9) + 0.3 * data.dense.col((j * 5 + 1) % 9);
  wide.names = FeatureNames(45);
  const auto pencil = lda_pencil(wide, 0.05, 0);
  const auto units = oracle::all_units(45);
  const auto root = root_losses(*pencil, units, {.route = InverseRoute::kRows});
  const auto bounds = certificate(*pencil, units, &root, {.k = {1, 2}});
  auto scatter = oracle::scatter(wide.dense, wide.labels->codes, 2);
  scatter.within.diagonal().array() += 0.05;
  double best = 0.0;
  for (Index i = 0; i < 45; ++i) {
    for (Index j = 0; j < i; ++j) {
      best = std::max(best, oracle::set_value(scatter.between, scatter.within, {j, i}, Criterion::kLargest));
    }
  }
  for (const auto& [name, value] : bounds[1].upper) EXPECT_GE(value, best) << name;
  for (const Criterion criterion : {Criterion::kLargest, Criterion::kWilks}) {
    ASSERT_TRUE(root_through_rows(*pencil, 45, InverseRoute::kRows));
    const auto whole = root_losses(*pencil, units, {.criterion = criterion, .route = InverseRoute::kRows});
    const auto alone = root_value(*pencil, units, {.criterion = criterion});
    EXPECT_NEAR(alone.value, whole.value, 1e-9 * whole.value);
    for (const auto& at : certificate(*pencil, units, &alone, {.criterion = criterion, .k = {1, 2}})) {
      for (const auto& [name, value] : at.upper) EXPECT_NE(name, "single-drop");
      EXPECT_NE(at.best_upper(), nullptr);
    }
  }
}

/// m'B^{-1}m for the moments B = X'X/N, m = X'y/N of rows, in the arithmetic of `Scalar`; B with a unit
/// diagonal, as all bounds have it.
template <class Scalar>
Scalar value_of_rows(const Matrix& x, const Vector& y) {
  using Dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const Dense rows = x.cast<Scalar>();
  const auto n = static_cast<Scalar>(x.rows());
  const Dense products = rows.transpose() * rows / n;
  const Dense unit = products.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
  const Dense m = unit * (rows.transpose() * y.cast<Scalar>() / n);
  const Eigen::LLT<Dense> llt(unit * products * unit);
  return Dense(llt.matrixL().solve(m)).squaredNorm();
}

TEST(Certificate, RoundingStaysBelowWhatBoundsAreMovedBy) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  for (const Index n : {2, 12, 60}) {
    for (const Index rows : {Index{2}, Index{20}}) {
      for (const double noise : {1.0, 1e-1, 1e-2, 1e-3}) {
        // Columns that share one part and differ by `noise`, in units of their own.
        const Vector shared = Vector::NullaryExpr(rows * n, [&] { return normal(generator); });
        Matrix x = Matrix::NullaryExpr(rows * n, n, [&] { return noise * normal(generator); });
        for (Index j = 0; j < n; ++j) x.col(j) = (x.col(j) + shared) * std::pow(10.0, normal(generator));
        const Vector y = x.col(0) / x.col(0).norm() - x.col(1) / x.col(1).norm();
        const Vector length = x.colwise().norm();
        const Matrix scaled = x * length.cwiseInverse().asDiagonal();
        const Vector squares = Eigen::JacobiSVD<Matrix>(scaled).singularValues().cwiseAbs2();
        const double condition = squares.maxCoeff() / squares.minCoeff();
        const auto exact = value_of_rows<long double>(x, y);
        const double error =
            static_cast<double>(std::abs(value_of_rows<double>(x, y) - exact) / std::abs(exact));
        EXPECT_LE(error, rounding_of_bounds(n, x.rows(), condition)) << n << " " << rows << " " << noise;
      }
    }
  }
  EXPECT_NEAR(rounding_of_bounds(60, 208, trusted_condition(60, 208)), kRoundingBudget, 1e-20);
  EXPECT_GE(trusted_condition(16, 100), 2e5);
  EXPECT_EQ(rounding_growth(30, 500), rounding_growth(500, 30));
}

}  // namespace
}  // namespace subspectra
