/// The exact search against all subsets.
#include "search/exact.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stop_token>

#include <subspectra/error.hpp>
#include "core/random.hpp"
#include "oracle.hpp"
#include "pencils.hpp"
#include "search/exact_hooks.hpp"

namespace subspectra::exact_test {
namespace {

struct SmallProblem {
  Matrix m, b;
  SearchUnits units;
  Criterion criterion = Criterion::kLargest;
  [[nodiscard]] Matrix a() const { return m * m.transpose(); }
  [[nodiscard]] double tolerance() const { return std::max(1e-9, 100.0 * oracle::condition(b) * 0x1p-52); }
};

/// All sets of every size that contain the included units, best first.
std::map<Index, std::vector<RankedSet>> all_sets(const SmallProblem& problem) {
  const Index n = problem.units.count();
  const Matrix a = problem.a();
  std::map<Index, std::vector<RankedSet>> sets;
  for (Index bits = 1; bits < (Index{1} << n); ++bits) {
    std::vector<Index> set;
    for (Index u = 0; u < n; ++u) {
      if ((bits >> u & 1) != 0) set.push_back(u);
    }
    if (!std::includes(set.begin(), set.end(), problem.units.include.begin(), problem.units.include.end()))
      continue;
    const double value = oracle::set_value(a, problem.b, problem.units.features(set), problem.criterion);
    sets[static_cast<Index>(set.size())].push_back({set, value});
  }
  for (auto& [k, list] : sets) {
    std::sort(list.begin(), list.end(),
              [](const RankedSet& x, const RankedSet& y) { return x.value > y.value; });
  }
  return sets;
}

SmallProblem random_problem(std::uint64_t seed, Index most) {
  Random random(seed);
  const Index n = 2 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most - 1)));
  const Index r = std::array<Index, 4>{1, 1, 2, 5}[random.below(4)];
  auto pair = oracle::random_factor_pair(n, std::min(r, n), seed, seed % 5 == 4 ? 1e6 : 50.0);
  if (seed % 7 == 3 && n > 3) {  // two columns that are almost the same
    const Index last = n - 1;
    pair.b.row(last) = pair.b.row(0);
    pair.b.col(last) = pair.b.col(0);
    pair.b(last, last) = pair.b(0, 0) * (1.0 + 1e-3);
    pair.m.row(last) = pair.m.row(0);
    const double least =
        Eigen::SelfAdjointEigenSolver<Matrix>(pair.b, Eigen::EigenvaluesOnly).eigenvalues()[0];
    if (least < 1e-4) pair.b.diagonal().array() += 1e-4 - least;
  }
  if (seed % 11 == 5) pair.m.row(n / 2).setZero();  // brings nothing
  SmallProblem problem{pair.m, pair.b, oracle::all_units(n)};
  problem.criterion = std::array{Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}[random.below(3)];
  if (seed % 6 == 1 && n > 4) {
    problem.units.members.clear();
    problem.units.single = false;
    for (Index i = 0; i < n;) {
      const Index size = std::min<Index>(n - i, 1 + static_cast<Index>(random.below(3)));
      std::vector<Index> members;
      for (Index j = 0; j < size; ++j) members.push_back(i + j);
      problem.units.group.push_back(static_cast<Index>(problem.units.members.size()));
      problem.units.members.push_back(members);
      i += size;
    }
  }
  if (seed % 5 == 2 && problem.units.count() > 3) problem.units.include = {1};
  if (seed % 10 == 7 && problem.units.count() > 4) problem.units.include = {0, problem.units.count() - 1};
  return problem;
}

KRange all_sizes(const SmallProblem& problem) {
  return {std::max<Index>(1, static_cast<Index>(problem.units.include.size())), problem.units.count()};
}

TEST(ExactSearch, FindsTheBestSetOfEverySize) {
  const int seeds = oracle::kSanitized ? 200 : 2000;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(seeds); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, seed % 50 == 0 ? 16 : seed % 5 == 0 ? 11 : 9);
    const auto pencil = factor_pencil(problem.m, problem.b);
    const auto truth = all_sets(problem);
    const auto k = all_sizes(problem);
    // Debug builds watch over the best set of one size, with the second best as what is known.
    const Index watched = k.lo + static_cast<Index>(seed) % (k.hi - k.lo + 1);
    std::vector<std::vector<RankedSet>> start(static_cast<std::size_t>(watched - k.lo + 1));
    if (truth.at(watched).size() > 1) start.back().push_back(truth.at(watched)[1]);
    const auto result =
        exact_search(*pencil, problem.units, start, {.criterion = problem.criterion, .k = k, .threads = 1},
                     {}, {.planted = truth.at(watched).front().units});
    EXPECT_EQ(result.status, Status::kOptimal);
    for (Index size = k.lo; size <= k.hi; ++size) {
      const auto& best = truth.at(size).front();
      const auto& found = result.sizes[static_cast<std::size_t>(size - k.lo)];
      ASSERT_FALSE(found.pool.empty()) << size;
      const double tolerance = problem.tolerance() * std::max(best.value, 1e-12);
      EXPECT_NEAR(found.pool.front().value, best.value, tolerance) << size;
      EXPECT_NEAR(found.upper_bound, best.value, 2.0 * tolerance) << size;
      EXPECT_GE(found.upper_bound, found.pool.front().value) << size;
      const double own = oracle::set_value(
          problem.a(), problem.b, problem.units.features(found.pool.front().units), problem.criterion);
      EXPECT_NEAR(own, found.pool.front().value, tolerance);
    }
  }
}

/// Several discriminants by single features: from hardly any separation to a perfect one, copies, features
/// that bring nothing, pools and gaps; by scans, without their last pairs, and by blocks.
TEST(ExactSearch, SeveralClassesAreScannedAsTheyAreTried) {
  const int seeds = oracle::kSanitized ? 150 : 1500;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(seeds); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed, 3);
    const Index n = 4 + static_cast<Index>(random.below(6)), r = 2 + static_cast<Index>(random.below(3));
    auto pair = oracle::random_factor_pair(n, std::min(r, n), seed, seed % 4 == 3 ? 1e5 : 20.0);
    pair.m *= std::pow(10.0, static_cast<double>(seed % 9) - 4.0);
    if (seed % 5 == 1) pair.m.col(1) *= 1e-5;
    if (seed % 6 == 2) pair.m.row(n - 1).setZero();
    if (seed % 7 == 3) {  // a copy, kept apart by what a ridge adds
      pair.b.row(n - 1) = pair.b.row(0);
      pair.b.col(n - 1) = pair.b.col(0);
      pair.m.row(n - 1) = pair.m.row(0);
      pair.b.diagonal() *= 1.001;
    }
    SmallProblem problem{pair.m, pair.b, oracle::all_units(n)};
    problem.criterion = seed % 2 == 0 ? Criterion::kLargest : Criterion::kWilks;
    if (seed % 8 == 5) problem.units.include = {2};
    const auto pencil = factor_pencil(problem.m, problem.b);
    const auto truth = all_sets(problem);
    const auto k = all_sizes(problem);
    const Index pool = seed % 11 == 6 && seed % 7 != 3 ? 4 : 1;
    const double gap = seed % 13 == 7 ? 0.1 : 0.0;
    ExactHooks scans, single, blocks;
    scans.tuning.factor.scan_nodes = seed % 3 == 0 ? 5.0 : 2000.0;
    single.bounds.turn_off(ExactBound::kLastPair);
    blocks.tuning.factor.most_scanned = 0;
    for (const ExactHooks* hooks : {&scans, &single, &blocks}) {
      const auto result = exact_search(
          *pencil, problem.units, {},
          {.criterion = problem.criterion, .k = k, .asked = {.pool = pool, .gap = gap}, .threads = 1}, {},
          *hooks);
      for (Index size = k.lo; size <= k.hi; ++size) {
        const auto& sets = truth.at(size);
        const auto& found = result.sizes[static_cast<std::size_t>(size - k.lo)];
        const double best = sets.front().value, tolerance = problem.tolerance() * std::max(best, 1e-12);
        ASSERT_FALSE(found.pool.empty()) << size;
        // The determinant of so nearly perfect a separation has no digits left in doubles, here or in the
        // oracle; what users are told comes from the rows there (select/search_methods, settle).
        if (problem.criterion == Criterion::kWilks && best > 10.0) continue;
        EXPECT_GE(found.upper_bound, best - 2.0 * tolerance) << size;
        if (gap > 0.0) {
          EXPECT_GE(found.pool.front().value * (1.0 + gap), best - tolerance) << size;
          continue;
        }
        EXPECT_EQ(result.status, Status::kOptimal);
        EXPECT_NEAR(found.upper_bound, best, 2.0 * tolerance) << size;
        ASSERT_EQ(found.pool.size(), std::min<std::size_t>(sets.size(), static_cast<std::size_t>(pool)));
        for (std::size_t i = 0; i < found.pool.size(); ++i)
          EXPECT_NEAR(found.pool[i].value, sets[i].value, tolerance) << size;
      }
    }
  }
}

TEST(ExactSearch, AGeneralPairNeedsNoFactor) {
  // A of full rank beside B: lambda_max(A_S, B_S) alone.
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 15U : 150U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index n = 4 + static_cast<Index>(seed % 5);
    auto pair = oracle::random_factor_pair(n, n, seed, seed % 4 == 3 ? 1e6 : 50.0);
    SmallProblem problem{pair.m, pair.b, oracle::all_units(n)};
    if (seed % 3 == 1) problem.units.include = {2};
    const auto pencil = matrix_pencil(problem.a(), problem.b, 0.0, -1);
    ASSERT_EQ(pencil->factor(), nullptr);
    const auto truth = all_sets(problem);
    const auto k = all_sizes(problem);
    const auto result = exact_search(*pencil, problem.units, {}, {.k = k, .threads = 1}, {});
    EXPECT_EQ(result.status, Status::kOptimal);
    for (Index size = k.lo; size <= k.hi; ++size) {
      const double best = truth.at(size).front().value;
      const auto& found = result.sizes[static_cast<std::size_t>(size - k.lo)];
      EXPECT_NEAR(found.pool.front().value, best, problem.tolerance() * best) << size;
      EXPECT_NEAR(found.upper_bound, best, 2.0 * problem.tolerance() * best) << size;
    }
  }
}

/// Units of a feature change no criterion, not even from 1e-6 to 1e6 beside each other.
TEST(ExactSearch, APairInAnyUnitsHasTheSameValues) {
  for (const Index most_rank : {Index{32}, Index{-1}}) {
    const Index n = 8;
    const auto pair = oracle::random_factor_pair(n, n, 5);
    Vector units(n);
    for (Index i = 0; i < n; ++i) units[i] = std::pow(10.0, static_cast<double>(i % 7) * 2.0 - 6.0);
    const Matrix a = pair.m * pair.m.transpose();
    const SmallProblem plain{pair.m, pair.b, oracle::all_units(n)};
    const auto truth = all_sets(plain);
    const auto pencil = matrix_pencil(units.asDiagonal() * a * units.asDiagonal(),
                                      units.asDiagonal() * pair.b * units.asDiagonal(), 0.0, most_rank);
    const auto result = exact_search(*pencil, plain.units, {}, {.k = {1, n}, .threads = 1}, {});
    for (Index k = 1; k <= n; ++k) {
      const auto& best = truth.at(k).front();
      const auto& found = result.sizes[static_cast<std::size_t>(k - 1)].pool.front();
      EXPECT_NEAR(found.value, best.value, 1e-9 * best.value) << k;
      EXPECT_EQ(found.units, best.units) << k;
    }
  }
}

/// Sizes that share a tree with hard ones do not wait for them.
TEST(ExactSearch, EasySizesAreProvenHoweverSoonItIsStopped) {
  for (const Index r : {1, 3}) {
    const Index n = 40;
    const auto pair = oracle::random_factor_pair(n, r, 8, 1e4);
    const auto result = exact_search(*factor_pencil(pair.m, pair.b), oracle::all_units(n), {},
                                     {.k = {1, n}, .asked = {.node_limit = 200000}, .threads = 2}, {});
    EXPECT_EQ(result.status, Status::kNodeLimit);
    for (const Index k : {Index{1}, Index{2}, n - 1, n}) {
      const auto& size = result.sizes[static_cast<std::size_t>(k - 1)];
      ASSERT_FALSE(size.pool.empty()) << k;
      EXPECT_EQ(size.upper_bound, size.pool.front().value) << k;
    }
  }
}

/// A covariance of n variables with some structure.
Matrix random_covariance(Index n, std::uint64_t seed) {
  Matrix x(40, n);
  Random random(seed);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < 40; ++i) x(i, j) = random.normal() + (j > 2 ? 0.5 * x(i, j % 3) : 0.0);
  }
  return x.transpose() * x / 40.0;
}

/// A range of sizes shares nothing that belongs to one of them: every size against all subsets, and alone.
TEST(ExactSearch, OnACovarianceARangeIsAsGoodAsEachSizeAlone) {
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 10U : 100U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index n = 9;
    const Matrix a = random_covariance(n, seed);
    const auto pencil = covariance_pencil(a);
    const Index pool = 1 + static_cast<Index>(seed % 3);
    const auto all = exact_search(*pencil, oracle::all_units(n), {},
                                  {.k = {1, n}, .asked = {.pool = pool}, .threads = 2}, {});
    EXPECT_EQ(all.status, Status::kOptimal);
    for (Index k = 1; k <= n; ++k) {
      std::vector<double> values;
      for (Index bits = 1; bits < (Index{1} << n); ++bits) {
        std::vector<Index> set;
        for (Index j = 0; j < n; ++j) {
          if ((bits >> j & 1) != 0) set.push_back(j);
        }
        if (static_cast<Index>(set.size()) != k) continue;
        values.push_back(
            Eigen::SelfAdjointEigenSolver<Matrix>(a(set, set), Eigen::EigenvaluesOnly).eigenvalues()[k - 1]);
      }
      std::sort(values.rbegin(), values.rend());
      const auto& found = all.sizes[static_cast<std::size_t>(k - 1)];
      ASSERT_EQ(found.pool.size(), std::min<std::size_t>(values.size(), static_cast<std::size_t>(pool)));
      for (std::size_t i = 0; i < found.pool.size(); ++i)
        EXPECT_NEAR(found.pool[i].value, values[i], 1e-9 * values[i]) << k;
      EXPECT_NEAR(found.upper_bound, values[0], 1e-8 * values[0]);
    }
  }
}

TEST(ExactSearch, OneSizeAloneGivesTheSame) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, 10);
    const auto pencil = factor_pencil(problem.m, problem.b);
    const auto k = all_sizes(problem);
    const auto all =
        exact_search(*pencil, problem.units, {}, {.criterion = problem.criterion, .k = k, .threads = 1}, {});
    const Index size = k.lo + static_cast<Index>(seed) % (k.hi - k.lo + 1);
    const auto one = exact_search(*pencil, problem.units, {},
                                  {.criterion = problem.criterion, .k = {size, size}, .threads = 1}, {});
    const double expected = all.sizes[static_cast<std::size_t>(size - k.lo)].pool.front().value;
    EXPECT_NEAR(one.sizes[0].pool.front().value, expected, 1e-9 * expected);
  }
}

TEST(ExactSearch, ThePoolHoldsTheBestSets) {
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 40U : 300U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, 8);
    if (seed % 7 == 3) continue;  // near copies: the order within a tie is not the oracle's
    const auto pencil = factor_pencil(problem.m, problem.b);
    const auto truth = all_sets(problem);
    const auto k = all_sizes(problem);
    const Index pool = 1 + static_cast<Index>(seed % 6);
    const auto result =
        exact_search(*pencil, problem.units, {},
                     {.criterion = problem.criterion, .k = k, .asked = {.pool = pool}, .threads = 1}, {});
    for (Index size = k.lo; size <= k.hi; ++size) {
      const auto& sets = truth.at(size);
      const auto& found = result.sizes[static_cast<std::size_t>(size - k.lo)].pool;
      ASSERT_EQ(found.size(), std::min<std::size_t>(sets.size(), static_cast<std::size_t>(pool)));
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i].value, sets[i].value, problem.tolerance() * std::max(sets[i].value, 1e-12));
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(found[i].units, found[j].units);
      }
    }
  }
}

TEST(ExactSearch, AStoppedSearchHasAValidBound) {
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 100U : 1000U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, 9);
    const auto pencil = factor_pencil(problem.m, problem.b);
    const auto truth = all_sets(problem);
    const auto k = all_sizes(problem);
    const double gap = seed % 3 == 0 ? 0.2 : 0.0;
    const auto result = exact_search(*pencil, problem.units, {},
                                     {.criterion = problem.criterion,
                                      .k = k,
                                      .asked = {.gap = gap, .node_limit = 1 + seed % 50},
                                      .threads = 1},
                                     {});
    bool open = false;
    for (Index size = k.lo; size <= k.hi; ++size) {
      const auto& found = result.sizes[static_cast<std::size_t>(size - k.lo)];
      const double best = truth.at(size).front().value;
      EXPECT_GE(found.upper_bound, best * (1.0 - problem.tolerance())) << size;
      if (found.pool.empty()) {
        open = true;
        continue;
      }
      EXPECT_LE(found.pool.front().value, best * (1.0 + problem.tolerance()));
      if (result.status == Status::kGapReached || result.status == Status::kOptimal) {
        EXPECT_LE(found.upper_bound, found.pool.front().value * (1.0 + gap + 1e-8) + 1e-12);
      }
      if (found.upper_bound > found.pool.front().value * (1.0 + 1e-9)) open = true;
    }
    if (result.status == Status::kOptimal) {
      EXPECT_FALSE(open);
    }
  }
}

/// Sparse PCA stopped after a few nodes; debug builds watch over the best set.
TEST(ExactSearch, AStoppedSearchOnACovarianceHasAValidBound) {
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 100U : 1000U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index n = 7 + static_cast<Index>(seed % 4);
    SmallProblem problem{random_covariance(n, seed), Matrix::Identity(n, n), oracle::all_units(n)};
    const auto pencil = covariance_pencil(problem.m);
    problem.m = Eigen::LLT<Matrix>(problem.m).matrixL();  // A = M M' for the oracle
    const auto truth = all_sets(problem);
    const Index k = 2 + static_cast<Index>(seed % static_cast<std::uint64_t>(n - 2));
    const auto& best = truth.at(k).front();
    const auto result = exact_search(
        *pencil, problem.units, {{truth.at(k).back()}},
        {.k = {k, k}, .asked = {.node_limit = 1 + seed % 50}, .threads = 1, .exchange = seed % 2 == 0}, {},
        {.planted = best.units});
    const auto& found = result.sizes.front();
    EXPECT_GE(found.upper_bound, best.value * (1.0 - 1e-9));
    EXPECT_LE(found.pool.front().value, best.value * (1.0 + 1e-9));
    if (result.status == Status::kOptimal) {
      EXPECT_NEAR(found.pool.front().value, best.value, 1e-9 * best.value);
    }
  }
}

/// A range of sizes that is stopped early: bounds pass from size to size, up and down, and all of them hold,
/// for groups and with forced features, where the step up does not apply, too.
TEST(ExactSearch, AStoppedRangeOnACovarianceHasValidBounds) {
  bool passed_up = false;
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 60U : 600U); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index n = 7 + static_cast<Index>(seed % 4);
    const Matrix a = random_covariance(n, seed);
    SmallProblem problem{Eigen::LLT<Matrix>(a).matrixL(), Matrix::Identity(n, n), oracle::all_units(n)};
    if (seed % 5 == 1) problem.units.include = {static_cast<Index>(seed) % n};
    if (seed % 5 == 3) {
      problem.units.members.clear();
      problem.units.single = false;
      problem.units.group.clear();
      for (Index i = 0; i < n; ++i) {
        if (i % 2 == 0) problem.units.members.emplace_back();
        problem.units.members.back().push_back(i);
        problem.units.group.push_back(i / 2);
      }
    }
    const auto truth = all_sets(problem);
    const auto k = all_sizes(problem);
    std::vector<std::vector<RankedSet>> start;  // poor ones, so that the bounds are what is told
    for (Index size = k.lo; size <= k.hi; ++size) start.push_back({truth.at(size).back()});
    const auto result =
        exact_search(*covariance_pencil(a), problem.units, start,
                     {.k = k, .asked = {.node_limit = 1 + seed % 20}, .threads = 1, .exchange = false}, {});
    for (Index size = k.lo; size <= k.hi; ++size) {
      const auto& found = result.sizes[static_cast<std::size_t>(size - k.lo)];
      const double best = truth.at(size).front().value;
      EXPECT_GE(found.upper_bound, best * (1.0 - 1e-9)) << size;
      if (size == k.lo || size < 3 || seed % 5 == 1 || seed % 5 == 3) continue;
      // (k - 1) lambda_{k+1} + min a_ii <= k lambda_k, of the bounds as of the values.
      const double below = result.sizes[static_cast<std::size_t>(size - 1 - k.lo)].upper_bound;
      const double step =
          (static_cast<double>(size - 1) * below - a.diagonal().minCoeff()) / static_cast<double>(size - 2);
      EXPECT_LE(found.upper_bound, std::max(step, found.pool.front().value) * (1.0 + 1e-9)) << size;
      passed_up = passed_up || found.upper_bound >= step * (1.0 - 1e-9);
    }
  }
  EXPECT_TRUE(passed_up || oracle::kSanitized);  // rare
}

/// A search that is stopped before it could do anything still has a bound that holds.
TEST(ExactSearch, StoppedAtOnceItHasABound) {
  std::stop_source source;
  source.request_stop();
  const RunControl control(source.get_token(), kInfinity);
  const Matrix a = random_covariance(10, 3);
  const auto pca = exact_search(*covariance_pencil(a), oracle::all_units(10), {}, {.k = {2, 5}}, control);
  for (Index k = 2; k <= 5; ++k) {
    const double trace_bound = a.diagonal().sum();
    const auto& size = pca.sizes[static_cast<std::size_t>(k - 2)];
    EXPECT_LT(size.upper_bound, kInfinity);
    double best = 0.0;
    for (Index i = 0; i + k <= 10; ++i) {
      std::vector<Index> set(static_cast<std::size_t>(k));
      std::iota(set.begin(), set.end(), i);
      best = std::max(best, oracle::set_value(a, Matrix::Identity(10, 10), set, Criterion::kLargest));
    }
    EXPECT_GE(size.upper_bound, best);
    EXPECT_LE(best, trace_bound);
  }
  EXPECT_EQ(pca.status, Status::kInterrupted);
}

/// Exchanges reach sets that a poor start is far from, for groups as well.
TEST(ExactSearch, ExchangesImproveWhatIsKnown) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto problem = random_problem(seed, 10);
    const auto truth = all_sets(problem);
    const auto k = all_sizes(problem);
    const Index size = (k.lo + k.hi) / 2;
    const auto worst_set = truth.at(size).back();
    const auto result = exact_search(
        *factor_pencil(problem.m, problem.b), problem.units, {{worst_set}},
        {.criterion = problem.criterion, .k = {size, size}, .asked = {.node_limit = 1}, .exchange = true},
        {});
    EXPECT_GE(result.sizes[0].pool.front().value, worst_set.value * (1.0 - problem.tolerance()));
    better += result.sizes[0].pool.front().value > worst_set.value * 1.0001 ? 1 : 0;
  }
  EXPECT_GT(better, 40);
}

/// Copies of features: the answer has the lowest of them, however it was found.
TEST(ExactSearch, OfSetsThatTieItIsTheLowest) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index n = 9, last = n - 1, from = static_cast<Index>(seed % 4);
    auto pair = oracle::random_factor_pair(n, seed % 2 == 0 ? 1 : 2, seed, 50.0);
    pair.b.row(last) = pair.b.row(from);
    pair.b.col(last) = pair.b.col(from);
    pair.b(last, last) = pair.b(from, from);
    pair.m.row(last) = pair.m.row(from);
    pair.b.diagonal().array() += 0.05;  // the ridge that a singular B gets
    const auto pencil = factor_pencil(pair.m, pair.b);
    for (const Index pool : {1, 2}) {
      for (const int threads : {1, 3}) {
        const auto result = exact_search(*pencil, oracle::all_units(n), {},
                                         {.k = {1, n - 1}, .asked = {.pool = pool}, .threads = threads}, {});
        for (const auto& size : result.sizes) {
          const auto& units = size.pool.front().units;
          if (std::binary_search(units.begin(), units.end(), last)) {
            EXPECT_TRUE(std::binary_search(units.begin(), units.end(), from));
          }
        }
      }
    }
  }
}

TEST(ExactSearch, WithoutRoomForOpenNodesItGoesDepthFirst) {
  const auto pair = oracle::random_factor_pair(22, 2, 5, 1000.0);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(22);
  const auto free = exact_search(*pencil, units, {}, {.k = {8, 11}, .asked = {.pool = 2}, .threads = 2}, {});
  const auto tight = exact_search(
      *pencil, units, {}, {.k = {8, 11}, .asked = {.pool = 2}, .threads = 2, .memory_limit = 34'000}, {});
  EXPECT_EQ(tight.status, Status::kOptimal);
  EXPECT_NE(tight.nodes, free.nodes);  // in another order
  ASSERT_EQ(free.sizes.size(), tight.sizes.size());
  for (std::size_t i = 0; i < free.sizes.size(); ++i) {
    EXPECT_EQ(free.sizes[i].upper_bound, tight.sizes[i].upper_bound);
    ASSERT_EQ(free.sizes[i].pool.size(), tight.sizes[i].pool.size());
    for (std::size_t j = 0; j < free.sizes[i].pool.size(); ++j)
      EXPECT_EQ(free.sizes[i].pool[j].units, tight.sizes[i].pool[j].units);
  }
}

TEST(ExactSearch, ThreadsDoNotChangeTheAnswer) {
  const auto pair = oracle::random_factor_pair(26, 1, 5, 1000.0);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(26);
  const auto run = [&](int threads, std::uint64_t nodes) {
    return exact_search(*pencil, units, {},
                        {.k = {1, 26}, .asked = {.pool = 3, .node_limit = nodes}, .threads = threads}, {});
  };
  for (const std::uint64_t nodes : {0U, 500U}) {
    const auto one = run(1, nodes);
    for (const int threads : {2, 8}) {
      const auto many = run(threads, nodes);
      EXPECT_EQ(one.nodes, many.nodes);
      ASSERT_EQ(one.sizes.size(), many.sizes.size());
      for (std::size_t i = 0; i < one.sizes.size(); ++i) {
        EXPECT_EQ(one.sizes[i].upper_bound, many.sizes[i].upper_bound);
        ASSERT_EQ(one.sizes[i].pool.size(), many.sizes[i].pool.size());
        for (std::size_t j = 0; j < one.sizes[i].pool.size(); ++j) {
          EXPECT_EQ(one.sizes[i].pool[j].units, many.sizes[i].pool[j].units);
          EXPECT_EQ(one.sizes[i].pool[j].value, many.sizes[i].pool[j].value);
        }
      }
    }
  }
}

class ExactCheckpoint : public ::testing::Test {
 protected:
  const std::string file_ =
      (std::filesystem::temp_directory_path() /
       fmt::format("subspectra_exact_{}.json", ::testing::UnitTest::GetInstance()->random_seed()))
          .string() +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  void TearDown() override { std::filesystem::remove(file_); }
};

TEST_F(ExactCheckpoint, AResumedSearchEndsWithTheSameAnswer) {
  const auto pair = oracle::random_factor_pair(24, 1, 9, 1e4);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(24);
  const auto whole = exact_search(*pencil, units, {}, {.k = {3, 20}, .asked = {.pool = 2}, .threads = 2}, {});
  ASSERT_GT(whole.nodes, 300U);
  ExactRun options{.k = {3, 20}, .asked = {.pool = 2, .node_limit = 37, .checkpoint = file_}, .threads = 1};
  auto part = exact_search(*pencil, units, {}, options, {});
  EXPECT_EQ(part.status, Status::kNodeLimit);
  options.asked.resume = file_;
  int parts = 1;
  for (; part.status == Status::kNodeLimit && parts < 1000; ++parts)
    part = exact_search(*pencil, units, {}, options, {});
  EXPECT_EQ(part.status, Status::kOptimal);
  EXPECT_GT(parts, 3);
  for (std::size_t i = 0; i < whole.sizes.size(); ++i) {
    ASSERT_EQ(part.sizes[i].pool.size(), whole.sizes[i].pool.size());
    for (std::size_t j = 0; j < whole.sizes[i].pool.size(); ++j) {
      EXPECT_EQ(part.sizes[i].pool[j].units, whole.sizes[i].pool[j].units);
    }
    EXPECT_EQ(part.sizes[i].upper_bound, whole.sizes[i].upper_bound);
  }
}

/// What a run found before it was stopped in the middle of a round is in the checkpoint.
TEST_F(ExactCheckpoint, AStoppedRunLosesNothing) {
  Matrix noise(200, 100);
  Random random(1);
  for (auto& value : noise.reshaped()) value = random.normal();
  const auto pencil = covariance_pencil(noise.transpose() * noise / 200.0);
  ExactRun options{.k = {25, 25}, .asked = {.checkpoint = file_}, .threads = 1};
  std::uint64_t nodes = 0;
  double bound = kInfinity;
  for (int run = 0; run < 3; ++run) {
    const RunControl control({}, 0.3);
    const auto part = exact_search(*pencil, oracle::all_units(100), {}, options, control);
    if (part.status != Status::kTimeLimit) GTEST_SKIP() << "too easy for this machine";
    EXPECT_GE(part.nodes, nodes);
    EXPECT_LE(part.sizes[0].upper_bound, bound * (1.0 + 1e-12));
    nodes = part.nodes;
    bound = part.sizes[0].upper_bound;
    options.asked.resume = file_;
  }
  options.asked.node_limit = 1;
  options.asked.checkpoint.clear();
  EXPECT_GE(exact_search(*pencil, oracle::all_units(100), {}, options, {}).nodes, nodes);
}

TEST_F(ExactCheckpoint, AWiderGapCannotBeProvenAway) {
  const auto pair = oracle::random_factor_pair(24, 1, 9, 1e4);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(24);
  ExactRun options{.k = {8, 12}, .asked = {.gap = 0.5, .checkpoint = file_}, .threads = 1};
  ASSERT_EQ(exact_search(*pencil, units, {}, options, {}).status, Status::kGapReached);
  options.asked.checkpoint.clear();
  options.asked.resume = file_;
  EXPECT_EQ(exact_search(*pencil, units, {}, options, {}).status, Status::kGapReached);
  options.asked.gap = 0.0;
  EXPECT_THROW(static_cast<void>(exact_search(*pencil, units, {}, options, {})), BadInput);
}

/// Whoever follows the events never sees a bound below the best set there is.
TEST(ExactSearch, EventsNeverPromiseTooMuch) {
  for (std::uint64_t seed = 0; seed < (oracle::kSanitized ? 10U : 60U); ++seed) {
    const auto pair = oracle::random_factor_pair(18, 1, seed, 1e4);
    const auto pencil = factor_pencil(pair.m, pair.b);
    std::vector<SearchEvent> events;
    RunControl control;
    control.listen([&](const SearchEvent& event) { events.push_back(event); });
    const auto result =
        exact_search(*pencil, oracle::all_units(18), {}, {.k = {3, 12}, .threads = 2}, control);
    for (const auto& event : events) {
      const double best = result.sizes[static_cast<std::size_t>(event.k - 3)].pool.front().value;
      EXPECT_GE(event.bound, best * (1.0 - 1e-8)) << "seed " << seed << " k " << event.k;
    }
  }
}

/// With --gap the pool is not the N best: the status says so.
TEST(ExactSearch, AGapLeavesThePoolUnproven) {
  int differs = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto pair = oracle::random_factor_pair(9, 1, seed, 50.0);
    const auto pencil = factor_pencil(pair.m, pair.b);
    const auto run = [&](double gap) {
      return exact_search(*pencil, oracle::all_units(9), {},
                          {.k = {4, 4}, .asked = {.pool = 4, .gap = gap}, .threads = 1}, {});
    };
    const auto exact = run(0.0), loose = run(0.2);
    bool same = true;
    for (std::size_t i = 0; i < 4; ++i)
      same = same && loose.sizes[0].pool[i].value >= exact.sizes[0].pool[i].value * (1.0 - 1e-9);
    if (!same) ++differs;
    EXPECT_TRUE(same || loose.status == Status::kGapReached) << seed;
  }
  EXPECT_GT(differs, 0);
}

TEST_F(ExactCheckpoint, TornAndForeignFilesAreRefused) {
  const auto pair = oracle::random_factor_pair(14, 1, 9, 1e4);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(14);
  ExactRun options{.k = {3, 9}, .asked = {.node_limit = 2, .checkpoint = file_}, .threads = 1};
  static_cast<void>(exact_search(*pencil, units, {}, options, {}));
  std::string text;
  {
    std::ifstream in(file_);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  options.asked.checkpoint.clear();
  options.asked.resume = file_;
  EXPECT_NO_THROW(static_cast<void>(exact_search(*pencil, units, {}, options, {})));
  const auto refused = [&](const std::string& content) {
    std::ofstream(file_) << content;
    EXPECT_THROW(static_cast<void>(exact_search(*pencil, units, {}, options, {})), BadInput);
  };
  for (std::size_t cut = 0; cut + 2 < text.size(); cut += 1 + text.size() / 40) refused(text.substr(0, cut));
  for (std::size_t at = 5; at < text.size(); at += 1 + text.size() / 60) {
    auto changed = text;
    changed[at] = changed[at] == '7' ? '8' : '7';
    refused(changed);
  }
  refused("[[[[[[[[[[[[[[[[");
  refused("{}");
  refused("null");
  std::ofstream(file_) << text;
  auto other = pair;
  other.b(2, 2) *= 1.0 + 1e-12;
  EXPECT_THROW(static_cast<void>(exact_search(*factor_pencil(other.m, other.b), units, {}, options, {})),
               BadInput);
  options.k = {3, 10};
  EXPECT_THROW(static_cast<void>(exact_search(*pencil, units, {}, options, {})), BadInput);
}

/// The checksum is no secret: whoever forges a file makes it right. Numbers out of range, with a fraction or
/// below zero, and nodes without a set of their size, are refused all the same.
TEST_F(ExactCheckpoint, AForgedFileIsRefusedThoughItsChecksumIsRight) {
  using nlohmann::json;
  const auto pair = oracle::random_factor_pair(14, 1, 9, 1e4);
  const auto pencil = factor_pencil(pair.m, pair.b);
  const auto units = oracle::all_units(14);
  ExactRun options{.k = {3, 9}, .asked = {.node_limit = 2, .checkpoint = file_}, .threads = 1};
  static_cast<void>(exact_search(*pencil, units, {}, options, {}));
  std::ifstream in(file_);
  const json sound = json::parse(in);
  options.asked.checkpoint.clear();
  options.asked.resume = file_;
  const auto resumed = [&](const std::string& place, const json& value) {
    json forged = sound;
    forged.erase("checksum");
    forged.at(json::json_pointer(place)) = value;
    const std::string text = forged.dump();
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
    forged["checksum"] = fmt::format("{:016x}", hash);
    std::ofstream(file_) << forged.dump();
    static_cast<void>(exact_search(*pencil, units, {}, options, {}));
  };
  EXPECT_NO_THROW(resumed("/nodes", sound.at("nodes")));
  for (const std::string place : {"/nodes", "/updates", "/sequence", "/round", "/units", "/sizes/0/k"}) {
    for (const json& value : {json(4.4e43), json(2.5), json(-1), json(std::uint64_t{1} << 63U), json("7")})
      EXPECT_THROW(resumed(place, value), BadInput) << place << " " << value;
  }
  // [bound, sequence, kept, free] of a size: everything is kept, or nothing is free.
  const auto owner = std::find_if(sound.at("sizes").begin(), sound.at("sizes").end(),
                                  [](const json& size) { return !size.at("open").empty(); });
  ASSERT_NE(owner, sound.at("sizes").end());
  const std::string node = fmt::format("/sizes/{}/open/0/", owner - sound.at("sizes").begin());
  EXPECT_THROW(resumed(node + "1", 1e300), BadInput);
  EXPECT_THROW(resumed(node + "3", "0000"), BadInput);
}

TEST(ExactSearch, IdenticalFeaturesDoNotMakeItEndless) {
  // Every set of a size has the same value: the first proof must do.
  const Index n = 30;
  const auto pencil = factor_pencil(Matrix::Constant(n, 1, 0.3), Matrix::Identity(n, n));
  const auto result = exact_search(*pencil, oracle::all_units(n), {}, {.k = {1, n}, .threads = 1}, {});
  EXPECT_EQ(result.status, Status::kOptimal);
  for (Index k = 1; k <= n; ++k) {
    EXPECT_NEAR(result.sizes[static_cast<std::size_t>(k - 1)].pool.front().value,
                0.09 * static_cast<double>(k), 1e-12);
  }
}

TEST(ExactSearch, StopsWhenAskedTo) {
  const auto pair = oracle::random_factor_pair(40, 1, 3, 1e4);
  const auto pencil = factor_pencil(pair.m, pair.b);
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), kInfinity);
  const auto result =
      exact_search(*pencil, oracle::all_units(40), {}, {.k = {20, 20}, .threads = 2}, control);
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_TRUE(std::isfinite(result.sizes[0].upper_bound));
}

/// Many candidates: a stop does not wait for the factorization that the search starts from.
TEST(ExactSearch, StoppedBeforeItsFirstNodeItTellsWhatIsKnown) {
  constexpr Index kMany = 1600;
  std::stop_source stop;
  stop.request_stop();
  const RunControl control(stop.get_token(), kInfinity);
  Random random(4);
  Matrix m(kMany, 1);
  for (Index i = 0; i < kMany; ++i) m(i, 0) = random.normal();
  Matrix b = Matrix::Constant(kMany, kMany, 0.25);
  b.diagonal().setOnes();
  const std::vector<std::vector<RankedSet>> start = {{{{7}, 0.0}}, {{{3, 9}, 0.0}}};
  const ExactRun options{.k = {1, 2}, .threads = 2};
  // Without a ridge only the best single feature is known at once.
  const auto plain = exact_search(*factor_pencil(m, b), oracle::all_units(kMany), start, options, control);
  EXPECT_EQ(plain.status, Status::kInterrupted);
  ASSERT_EQ(plain.sizes.size(), 2U);
  EXPECT_NEAR(plain.sizes[0].upper_bound, m.cwiseAbs2().maxCoeff(), 1e-8);
  EXPECT_EQ(plain.sizes[1].upper_bound, kInfinity);
  EXPECT_EQ(plain.sizes[1].pool.front().units, (std::vector<Index>{3, 9}));
  const double value = oracle::set_value(m * m.transpose(), b, {3, 9}, Criterion::kLargest);
  EXPECT_NEAR(plain.sizes[1].pool.front().value, value, 1e-9 * value);
  // A ridge bounds every size: lambda_min(B) is at least that.
  const auto table = oracle::random_classes(30, kMany, 2, 5, 1.0, 3);
  const auto pencil = lda_pencil(table, 0.5, 2);
  const auto ridge = exact_search(*pencil, oracle::all_units(kMany), start, options, control);
  EXPECT_EQ(ridge.status, Status::kInterrupted);
  EXPECT_LT(ridge.sizes[1].upper_bound, kInfinity);
  double best = 0.0;
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < i; ++j) {
      const std::vector<Index> pair = {j, i};
      best = std::max(best, oracle::set_value(pencil->a_block(pair, 1), pencil->block(pair, 1), {0, 1},
                                              Criterion::kLargest));
    }
  }
  EXPECT_GE(ridge.sizes[1].upper_bound, best);
}

TEST(ExactSearch, ASingularMetricIsRefused) {
  const Matrix b = Matrix::Ones(3, 3);
  EXPECT_THROW(static_cast<void>(exact_search(*factor_pencil(Matrix::Ones(3, 1), b), oracle::all_units(3), {},
                                              {.k = {1, 2}}, {})),
               Infeasible);
}

}  // namespace
}  // namespace subspectra::exact_test
