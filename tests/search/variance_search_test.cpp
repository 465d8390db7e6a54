/// Greedy passes on dense pairs and PCA tables. Oracle: every candidate of every step re-solved from scratch
/// by Eigen's dense eigen-solvers, which share no update formula and no bound with the code under test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stop_token>

#include <subspectra/error.hpp>
#include "core/random.hpp"
#include "oracle.hpp"
#include "search/greedy.hpp"

namespace subspectra::variance_search_test {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

Matrix gaussian(Index rows, Index cols, Random& random) {
  Matrix x(rows, cols);
  for (auto& e : x.reshaped()) e = random.normal();
  return x;
}

Matrix random_covariance(Index n, Index rows, Random& random, double decay = 1.0) {
  Matrix x = gaussian(rows, n, random);
  for (Index j = 0; j < n; ++j) x.col(j) *= std::pow(decay, static_cast<double>(j));
  const Matrix mix =
      Matrix::Identity(n, n) + 0.3 / std::sqrt(static_cast<double>(n)) * gaussian(n, n, random);
  x = x * mix;
  return x.transpose() * x / static_cast<double>(rows);
}

/// Positive definite with the given condition number.
Matrix random_metric(Index n, double condition, Random& random) {
  const Matrix q = Eigen::HouseholderQR<Matrix>(gaussian(n, n, random)).householderQ();
  Vector values(n);
  for (Index j = 0; j < n; ++j) {
    values[j] = std::pow(condition, -static_cast<double>(j) / static_cast<double>(std::max<Index>(1, n - 1)));
  }
  const Matrix b = q * values.asDiagonal() * q.transpose();
  return 0.5 * (b + b.transpose());
}

struct Pair {
  Matrix a, b;  ///< b empty: the identity
  [[nodiscard]] double value(const std::vector<Index>& s) const {
    const Matrix as = a(s, s);
    if (b.size() == 0)
      return Eigen::SelfAdjointEigenSolver<Matrix>(as, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
    const Matrix bs = b(s, s);
    return Eigen::GeneralizedSelfAdjointEigenSolver<Matrix>(as, bs, Eigen::EigenvaluesOnly)
        .eigenvalues()
        .maxCoeff();
  }
  [[nodiscard]] double tolerance(const std::vector<Index>& s) const {
    if (b.size() == 0) return 1e-9;
    const Matrix bs = b(s, s);
    const Vector v = Eigen::SelfAdjointEigenSolver<Matrix>(bs, Eigen::EigenvaluesOnly).eigenvalues();
    return std::max(1e-9, 100.0 * v.maxCoeff() / std::max(v.minCoeff(), 1e-300) * kEps);
  }
};

std::vector<Index> first_units(const GreedyPass& pass, Index k) {
  return {pass.order.begin(), pass.order.begin() + k};
}

void expect_permutation(const GreedyPass& pass, const SearchUnits& units, bool all) {
  std::vector<Index> sorted = pass.order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_TRUE(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  if (all) {
    EXPECT_EQ(static_cast<Index>(pass.order.size() + pass.dependent.size()), units.count());
  }
  for (std::size_t e = 0; e < units.include.size(); ++e) EXPECT_EQ(pass.order[e], units.include[e]);
}

/// Every step of the pass chose a unit as good as the best one.
void check_forward(const Pair& pair, const SearchUnits& units, const GreedyPass& pass, Index stride = 1) {
  for (Index k = static_cast<Index>(units.include.size()); k < pass.most; k += stride) {
    auto s = first_units(pass, k);
    const auto in = [&](Index u) { return std::find(s.begin(), s.end(), u) != s.end(); };
    double best = -kInfinity, chosen = 0.0, tolerance = 1e-9;
    for (Index u = 0; u < units.count(); ++u) {
      if (in(u) || std::binary_search(pass.dependent.begin(), pass.dependent.end(), u)) continue;
      auto with = s;
      with.push_back(u);
      const auto features = units.features(with);
      const double value = pair.value(features);
      if (u == pass.order[static_cast<std::size_t>(k)]) chosen = value;
      tolerance = std::max(tolerance, pair.tolerance(features));
      best = std::max(best, value);
    }
    EXPECT_GE(chosen, best - tolerance * std::abs(best)) << "forward, step " << k;
  }
}

void check_backward(const Pair& pair, const SearchUnits& units, const GreedyPass& pass, Index stride = 1) {
  const auto included = units.included();
  for (Index k = pass.most; k > pass.least; k -= stride) {
    const auto t = first_units(pass, k);
    const double tolerance = pair.tolerance(units.features(t));
    double best = -kInfinity, chosen = 0.0;
    for (const Index u : t) {
      if (included[static_cast<std::size_t>(u)] != 0) continue;
      auto without = t;
      without.erase(std::find(without.begin(), without.end(), u));
      const double value = pair.value(units.features(without));
      if (u == t.back()) chosen = value;
      best = std::max(best, value);
    }
    EXPECT_GE(chosen, best - tolerance * std::abs(best)) << "backward, from " << k;
  }
}

void check_root(const Pair& pair, const SearchUnits& units, const RootLosses& root) {
  std::vector<Index> all(static_cast<std::size_t>(units.count()));
  std::iota(all.begin(), all.end(), Index{0});
  const double tolerance = pair.tolerance(units.features(all));
  const double value = pair.value(units.features(all));
  EXPECT_NEAR(root.value, value, tolerance * std::abs(value));
  ASSERT_EQ(root.losses.size(), units.count());
  const auto included = units.included();
  for (Index u = 0; u < units.count(); ++u) {
    if (included[static_cast<std::size_t>(u)] != 0) {
      EXPECT_EQ(root.losses[u], 0.0);
      continue;
    }
    EXPECT_GE(root.losses[u], 0.0);
    if (units.count() == 1) continue;
    auto without = all;
    without.erase(without.begin() + u);
    const double exact = pair.value(units.features(without));
    // A bound, hence one-sided; only rounding may put it below.
    EXPECT_GE(root.value - root.losses[u],
              exact - (pair.b.size() == 0 ? 1e-13 : tolerance) * std::abs(value));
  }
}

std::unique_ptr<Pencil> pencil_of(const Pair& pair) {
  return pair.b.size() == 0 ? covariance_pencil(pair.a) : matrix_pencil(pair.a, pair.b, 0.0, -1);
}

void check_both(const Pair& pair, const SearchUnits& units, const Pencil& pencil, Index stride = 1) {
  if (oracle::kSanitized && stride > 1) stride *= 12;
  const RunControl control;
  const GreedyOptions options{.threads = 1};
  const auto forward = forward_variance_pass(pencil, units, options, control);
  expect_permutation(forward, units, true);
  EXPECT_EQ(forward.most, static_cast<Index>(forward.order.size()));
  check_forward(pair, units, forward, stride);
  RootLosses root;
  const auto backward = backward_variance_pass(pencil, units, options, control, &root);
  expect_permutation(backward, units, true);
  EXPECT_EQ(backward.least, std::max<Index>(1, static_cast<Index>(units.include.size())));
  check_backward(pair, units, backward, stride);
  check_root(pair, units, root);
}

SearchUnits all_single(Index n, const std::vector<Index>& include = {}) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  return SearchUnits::singles(all, include);
}

SearchUnits random_groups(Index n, Random& random) {
  SearchUnits units;
  units.single = false;
  std::vector<std::vector<Index>> groups(static_cast<std::size_t>(std::max<Index>(2, n / 3)));
  for (Index j = 0; j < n; ++j) groups[random.below(groups.size())].push_back(j);
  for (auto& g : groups) {
    if (!g.empty()) units.members.push_back(g);
  }
  std::sort(units.members.begin(), units.members.end());
  return units;
}

TEST(VarianceSearch, EveryStepOnCovariancesIsAsGoodAsTheBest) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index n = 1 + static_cast<Index>(random.below(14));
    Pair pair{
        random_covariance(n, 2 + static_cast<Index>(random.below(30)), random, seed % 3 == 0 ? 0.5 : 1.0),
        {}};
    std::vector<Index> include;
    if (seed % 4 == 1 && n > 3) include = {1, n - 1};
    check_both(pair, all_single(n, include), *pencil_of(pair));
  }
}

TEST(VarianceSearch, EveryStepOnPairsIsAsGoodAsTheBest) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index n = 2 + static_cast<Index>(random.below(13));
    const double condition = seed % 3 == 2 ? 1e10 : 20.0;
    Pair pair{random_covariance(n, 20, random), random_metric(n, condition, random)};
    std::vector<Index> include;
    if (seed % 4 == 1 && n > 3) include = {0, 2};
    check_both(pair, all_single(n, include), *pencil_of(pair));
  }
}

TEST(VarianceSearch, GroupsEnterAndLeaveAsAWhole) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index n = 4 + static_cast<Index>(random.below(11));
    Pair pair{random_covariance(n, 20, random), {}};
    if (seed % 2 == 1) pair.b = random_metric(n, 50.0, random);
    auto units = random_groups(n, random);
    if (seed % 4 >= 2) units.include = {units.count() - 1};
    check_both(pair, units, *pencil_of(pair));
  }
}

TEST(VarianceSearch, DuplicateAndConstantColumnsAreNoTrouble) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index n = 12;
    Matrix x = gaussian(8 + static_cast<Index>(random.below(10)), n, random);
    x.col(4) = x.col(1);
    x.col(9) = -x.col(1);
    x.col(7).setZero();
    x.col(11).setZero();
    Pair pair{x.transpose() * x / static_cast<double>(x.rows()), {}};
    check_both(pair, all_single(n), *pencil_of(pair));
  }
}

TEST(VarianceSearch, TiesGoToTheLowestIndex) {
  const RunControl control;
  for (const Index n : {6, 150}) {
    const auto pencil = covariance_pencil(Matrix::Identity(n, n));
    const auto units = all_single(n);
    const auto forward = forward_variance_pass(*pencil, units, {}, control);
    const auto backward = backward_variance_pass(*pencil, units, {}, control);
    for (Index k = 0; k < n; ++k) {
      EXPECT_EQ(forward.order[static_cast<std::size_t>(k)], k);
      EXPECT_EQ(backward.order[static_cast<std::size_t>(k)], n - 1 - k);
    }
  }
}

TEST(VarianceSearch, DependentFeaturesAreSkippedAndListed) {
  Random random(5);
  const Index n = 10;
  const Matrix a = random_covariance(n, 20, random);
  Matrix y = gaussian(30, n, random);
  y.col(6) = y.col(2);
  y.col(8) = y.col(0) - 2.0 * y.col(1);
  const Matrix b = y.transpose() * y / 30.0;
  const auto pencil = matrix_pencil(a, b, 0.0, -1);
  const RunControl control;
  const auto pass = forward_variance_pass(*pencil, all_single(n), {}, control);
  EXPECT_EQ(pass.most, 8);
  EXPECT_EQ(pass.dependent.size(), 2U);
  EXPECT_EQ(pass.status, Status::kRankLimit);
  EXPECT_THROW((void)backward_variance_pass(*pencil, all_single(n), {}, control), Infeasible);
}

DatasetParts table(const Matrix& x) {
  DatasetParts data;
  data.source = "table";
  data.dense = x;
  data.names = FeatureNames(x.cols());
  return data;
}

TEST(VarianceSearch, ATableGivesWhatItsCovarianceGives) {
  const RunControl control;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index rows = seed % 2 == 0 ? 9 : 40, n = 14;
    Matrix x = gaussian(rows, n, random);
    for (auto& e : x.reshaped()) {
      if (random.uniform() < 0.4) e = 0.0;
    }
    const Matrix centred = x.rowwise() - x.colwise().mean();
    const Pair pair{centred.transpose() * centred / static_cast<double>(rows), {}};
    const auto units = all_single(n, seed % 3 == 0 ? std::vector<Index>{3} : std::vector<Index>{});
    DatasetParts data = table(x);
    if (seed % 4 >= 2) data = oracle::as_sparse(data);
    check_both(pair, units, *pca_pencil(data, 1));
  }
}

TEST(VarianceSearch, AWideTableGivesWhatItsCovarianceGives) {
  // More features than the search holds as a matrix; its covariance given as a matrix takes the other way.
  const RunControl control;
  for (std::uint64_t seed = 0; seed < 4; seed += oracle::kSanitized ? 3 : 1) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Index rows = seed % 2 == 0 ? 40 : 9, n = 640;
    Matrix x = gaussian(rows, n, random);
    for (Index j = 0; j < n; ++j) x.col(j) *= 1.0 + 0.002 * static_cast<double>((j * 37) % n);
    DatasetParts data = table(x);
    if (seed >= 2) data = oracle::as_sparse(data);
    const auto implicit = pca_pencil(data, 1);
    const Matrix centred = x.rowwise() - x.colwise().mean();
    const Pair pair{centred.transpose() * centred / static_cast<double>(rows), {}};
    const auto units = all_single(n, {7, 300});
    RootLosses root, dense_root;
    const auto pass = backward_variance_pass(*implicit, units, {.threads = 1}, control, &root);
    const auto dense = backward_variance_pass(*pencil_of(pair), units, {.threads = 1}, control, &dense_root);
    EXPECT_EQ(pass.order, dense.order);
    EXPECT_NEAR(root.value, dense_root.value, 1e-12 * root.value);
    for (Index u = 0; u < n; u += oracle::kSanitized ? 211 : 53) {
      if (u == 7 || u == 300) continue;
      std::vector<Index> without;
      for (Index v = 0; v < n; ++v) {
        if (v != u) without.push_back(v);
      }
      const double exact = pair.value(without);
      EXPECT_GE(root.value - root.losses[u], exact * (1.0 - 1e-13));
      EXPECT_GE(dense_root.value - dense_root.losses[u], exact * (1.0 - 1e-13));
      EXPECT_LE(root.value - root.losses[u], exact * (1.0 + 1e-3));
    }
  }
}

TEST(VarianceSearch, ThreadsDoNotChangeTheAnswer) {
  const RunControl control;
  Random random(3);
  const Index n = 300;
  const auto dense = covariance_pencil(random_covariance(n, 2 * n, random));
  const auto units = all_single(n);
  const DatasetParts data = table(gaussian(40, 700, random));
  const auto implicit = pca_pencil(data, 1);
  const auto wide = all_single(700);
  const auto same = [&](const Pencil& pencil, const SearchUnits& u, Index most, Index least) {
    RootLosses one_root, two_root;
    const GreedyOptions one{.least = least, .most = most, .threads = 1};
    GreedyOptions two = one;
    two.threads = 2;
    EXPECT_EQ(forward_variance_pass(pencil, u, one, control).order,
              forward_variance_pass(pencil, u, two, control).order);
    EXPECT_EQ(backward_variance_pass(pencil, u, one, control, &one_root).order,
              backward_variance_pass(pencil, u, two, control, &two_root).order);
    EXPECT_EQ(one_root.losses, two_root.losses);
    EXPECT_EQ(one_root.value, two_root.value);
  };
  same(*dense, units, 0, 1);
  same(*implicit, wide, 100, 1);
}

TEST(VarianceSearch, WholePathsOfLargerMatricesAreRight) {
  struct Case {
    Index n, rows;
    double decay;
  };
  for (const Case c : {Case{60, 120, 1.0}, Case{100, 200, 1.0}, Case{100, 60, 1.0}, Case{100, 200, 0.9},
                       Case{140, 100, 1.0}, Case{140, 300, 0.97}}) {
    SCOPED_TRACE(fmt::format("n {} rows {} decay {}", c.n, c.rows, c.decay));
    Random random(static_cast<std::uint64_t>(c.n + c.rows));
    Pair pair{random_covariance(c.n, c.rows, random, c.decay), {}};
    const auto pencil = pencil_of(pair);
    check_both(pair, all_single(c.n), *pencil, c.n <= 60 ? 1 : 3);  // every third step: the oracle is slow
  }
}

TEST(VarianceSearch, WholePathsOfAStructuredMatrixAreRight) {
  // Equal blocks: every eigenvalue many times over, eigenvectors that live on a few features.
  const Index blocks = 20, size = 6, n = blocks * size;
  Pair pair{Matrix::Zero(n, n), {}};
  for (Index b = 0; b < blocks; ++b) {
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        pair.a(b * size + i, b * size + j) = std::pow(0.7, std::abs(static_cast<double>(i - j)));
      }
    }
  }
  check_both(pair, all_single(n), *pencil_of(pair), 3);
  pair.a.diagonal().array() += 1e-7 * Vector::LinSpaced(n, 0.0, 1.0).array();
  check_both(pair, all_single(n), *pencil_of(pair), 3);
  // A chain: neighbours only.
  pair.a = Matrix::Identity(n, n);
  for (Index i = 0; i + 1 < n; ++i) pair.a(i, i + 1) = pair.a(i + 1, i) = 0.4;
  check_both(pair, all_single(n), *pencil_of(pair), 3);
  // One factor.
  pair.a = Matrix::Constant(n, n, 0.5) + 0.5 * Matrix::Identity(n, n);
  check_both(pair, all_single(n), *pencil_of(pair), 3);
  // Indefinite.
  Random random(11);
  pair.a = gaussian(n, n, random);
  pair.a = Matrix(pair.a + pair.a.transpose());
  check_both(pair, all_single(n), *pencil_of(pair), 3);
  // A general metric past the size where all pairs are computed.
  pair = {random_covariance(n, 2 * n, random), random_metric(n, 1e3, random)};
  check_both(pair, all_single(n), *pencil_of(pair), 5);
}

TEST(VarianceSearch, StopsWhenAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), kInfinity);
  Random random(1);
  const auto pencil = covariance_pencil(random_covariance(20, 40, random));
  const auto units = all_single(20);
  const auto forward = forward_variance_pass(*pencil, units, {}, control);
  EXPECT_EQ(forward.status, Status::kInterrupted);
  EXPECT_EQ(forward.most, 0);
  const auto backward = backward_variance_pass(*pencil, units, {}, control);
  EXPECT_EQ(backward.status, Status::kInterrupted);
  EXPECT_EQ(backward.least, 20);
  EXPECT_EQ(backward.order.size(), 20U);
}

}  // namespace
}  // namespace subspectra::variance_search_test
