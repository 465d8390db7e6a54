/// Trying all pairs and triples, against all sets by the definition.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <stop_token>

#include <subspectra/error.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/selection.hpp>
#include "core/random.hpp"
#include "oracle.hpp"
#include "pencils.hpp"
#include "search/exact_hooks.hpp"
#include "search/sweep_bound.hpp"
#include "search/sweep_kernels.hpp"
#include "search/sweep_problem.hpp"
#include "search/sweep_scan.hpp"

namespace subspectra::sweep_test {
namespace {

constexpr std::array kCriteria = {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks};

struct SmallProblem {
  Matrix m, b;
  SearchUnits units;
  Criterion criterion = Criterion::kLargest;
  bool general = false;  ///< A without a factor
  [[nodiscard]] Matrix a() const { return m * m.transpose(); }
  [[nodiscard]] std::unique_ptr<Pencil> pencil() const {
    return general ? matrix_pencil(a(), b, 0.0, -1) : factor_pencil(m, b);
  }
};

/// Factors of one to five columns, copies, near-copies, features that bring nothing, units far apart, forced
/// features; `dependent`: B is singular where there are copies.
SmallProblem random_problem(std::uint64_t seed, Index most, bool dependent = false) {
  Random random(seed);
  const Index n = 4 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most - 3)));
  const Index r = std::array<Index, 4>{1, 1, 2, 5}[random.below(4)];
  auto pair = oracle::random_factor_pair(n, std::min(r, n), seed, seed % 5 == 4 ? 1e5 : 50.0);
  const double apart = std::array{0.0, 1e-2, 1e-5, 0.0}[random.below(4)];
  if (seed % 3 == 1) {  // one is a copy of another, but for `apart` of its variance
    const Index last = n - 1, from = static_cast<Index>(random.below(static_cast<std::uint64_t>(n - 1)));
    pair.b.row(last) = pair.b.row(from);
    pair.b.col(last) = pair.b.col(from);
    pair.b(last, last) = pair.b(from, from) * (1.0 + apart);
    pair.m.row(last) = pair.m.row(from);
    if (!dependent) pair.b.diagonal().array() += 0.05;
  }
  if (seed % 11 == 5) pair.m.row(n / 2).setZero();  // brings nothing
  if (seed % 4 == 2) {
    Vector units(n);
    for (Index i = 0; i < n; ++i) units[i] = std::pow(10.0, 6.0 * random.uniform() - 3.0);
    pair.b = (units.asDiagonal() * pair.b * units.asDiagonal()).eval();
    pair.m = (units.asDiagonal() * pair.m).eval();
  }
  SmallProblem problem{pair.m, pair.b, oracle::all_units(n)};
  problem.criterion = kCriteria[random.below(3)];
  if (problem.criterion == Criterion::kLargest && seed % 9 == 4) problem.general = true;
  if (seed % 5 == 2) problem.units.include = {1};
  if (seed % 10 == 7) problem.units.include = {0, n - 1};
  return problem;
}

/// All sets of `k` units that hold the included ones and do not depend on each other, best first.
std::vector<RankedSet> sets_of(const SmallProblem& problem, Index k) {
  const Matrix a = problem.a();
  const Index n = problem.units.count();
  std::vector<RankedSet> sets;
  for (Index bits = 1; bits < (Index{1} << n); ++bits) {
    std::vector<Index> set;
    for (Index u = 0; u < n; ++u) {
      if ((bits >> u & 1) != 0) set.push_back(u);
    }
    if (static_cast<Index>(set.size()) != k ||
        !std::includes(set.begin(), set.end(), problem.units.include.begin(), problem.units.include.end()))
      continue;
    Matrix block = problem.b(set, set);
    const Vector scale = block.diagonal().cwiseSqrt().cwiseInverse();
    block = (scale.asDiagonal() * block * scale.asDiagonal()).eval();
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(block, Eigen::EigenvaluesOnly);
    if (!(solver.eigenvalues()[0] > 1e-10)) continue;
    sets.push_back({set, oracle::set_value(a, problem.b, set, problem.criterion)});
  }
  std::sort(sets.begin(), sets.end(), [](const auto& x, const auto& y) { return x.value > y.value; });
  return sets;
}

std::size_t problems(std::size_t many) { return oracle::kSanitized ? many / 10 : many; }

/// All sets are tried, however few there are.
const ExactHooks kSwept{.search = ExactSearch::kSweep};

ExactHooks small_steps(std::uint64_t seed) {
  ExactHooks hooks = kSwept;
  hooks.tuning.sweep.children = 1 + static_cast<Index>(seed % 4);
  hooks.tuning.sweep.batch = 1 + static_cast<Index>(seed % 3);
  return hooks;
}

TEST(Sweep, FindsTheBestSetsOfEverySize) {
  unsigned unproven = 0;
  for (std::uint64_t seed = 0; seed < problems(3000); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, seed % 20 == 0 ? 14 : 9, seed % 2 == 0);
    const Index k = std::max<Index>(1 + static_cast<Index>(seed % 5), std::ssize(problem.units.include));
    if (k > problem.units.count()) continue;
    const Index pool = seed % 4 == 0 ? 1 + static_cast<Index>(seed % 7) : 1;
    const auto truth = sets_of(problem, k);
    std::vector<std::vector<RankedSet>> start(1);
    if (seed % 3 != 0 && !truth.empty()) start[0].push_back(truth[truth.size() / 2]);
    const auto result =
        exact_search(*problem.pencil(), problem.units, start,
                     {.criterion = problem.criterion, .k = {k, k}, .asked = {.pool = pool}, .threads = 2}, {},
                     small_steps(seed));
    const auto& found = result.sizes[0].pool;
    // A nearly dependent set whose digits are in doubt stands in the bound: nothing is proven then, and that
    // is said.
    const bool proven = result.status == Status::kOptimal;
    unproven += proven ? 0 : 1;
    ASSERT_EQ(found.size(), std::min<std::size_t>(truth.size(), static_cast<std::size_t>(pool)));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double tolerance = 1e-7 * std::max(truth[i].value, 1e-12);
      EXPECT_NEAR(found[i].value, truth[i].value, tolerance);
    }
    if (proven && !found.empty()) {
      EXPECT_EQ(result.sizes[0].upper_bound, found[0].value);
    }
    EXPECT_GE(result.sizes[0].upper_bound, truth.empty() ? 0.0 : truth[0].value * (1.0 - 1e-9));
  }
  EXPECT_LE(unproven, 10U);
}

/// The same answer as the tree's, bit for bit in its units.
TEST(Sweep, AnswersAsTheTreeDoes) {
  for (std::uint64_t seed = 0; seed < problems(400); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, 10);
    const Index lo = std::max<Index>(1, std::ssize(problem.units.include));
    const KRange k{lo, std::min<Index>(problem.units.count(), lo + 4)};
    const ExactRun options{.criterion = problem.criterion, .k = k, .asked = {.pool = 2}, .threads = 1};
    const auto pencil = problem.pencil();
    const auto tree = exact_search(*pencil, problem.units, {}, options, {});
    const auto sweep = exact_search(*pencil, problem.units, {}, options, {}, kSwept);
    for (std::size_t i = 0; i < tree.sizes.size(); ++i) {
      ASSERT_EQ(tree.sizes[i].pool.size(), sweep.sizes[i].pool.size());
      EXPECT_EQ(tree.sizes[i].pool[0].units, sweep.sizes[i].pool[0].units);
      EXPECT_NEAR(tree.sizes[i].pool[0].value, sweep.sizes[i].pool[0].value,
                  1e-8 * std::abs(tree.sizes[i].pool[0].value));
    }
  }
}

/// Copies of features: of sets of one value the lexicographically smallest.
TEST(Sweep, OfSetsThatTieItIsTheLowest) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index n = 9, from = static_cast<Index>(seed % 4);
    auto pair = oracle::random_factor_pair(n, seed % 2 == 0 ? 1 : 2, seed, 50.0);
    for (const Index copy : {n - 1, n - 2}) {
      pair.b.row(copy) = pair.b.row(from);
      pair.b.col(copy) = pair.b.col(from);
      pair.b(copy, copy) = pair.b(from, from);
      pair.m.row(copy) = pair.m.row(from);
    }
    pair.b.diagonal().array() += 0.05;
    SmallProblem problem{pair.m, pair.b, oracle::all_units(n), kCriteria[seed % 3]};
    for (const Index k : {2, 3, 4}) {
      const auto truth = sets_of(problem, k);
      auto lowest = truth[0].units;
      for (const auto& set : truth) {
        if (set.value > truth[0].value * (1.0 - 1e-10)) lowest = std::min(lowest, set.units);
      }
      const auto result =
          exact_search(*problem.pencil(), problem.units, {},
                       {.criterion = problem.criterion, .k = {k, k}, .threads = 1}, {}, kSwept);
      EXPECT_EQ(result.sizes[0].pool[0].units, lowest) << k;
    }
  }
}

/// Stopped after every node and gone on with from its checkpoint it ends as in one go, and its bounds hold.
TEST(Sweep, StoppedAtEveryReportAndResumedItEndsTheSame) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("sweep-{}.json", ::getpid());
  for (std::uint64_t seed = 0; seed < problems(120); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, seed % 6 == 0 ? 22 : 9);
    if (problem.units.count() > 12 && seed % 6 != 0) continue;
    const Index lo = std::max<Index>(2, std::ssize(problem.units.include));
    const ExactRun options{.criterion = problem.criterion,
                           .k = {lo, std::min<Index>(lo + 2, problem.units.count())},
                           .asked = {.pool = 1 + static_cast<Index>(seed % 3)},
                           .threads = 1};
    const auto pencil = problem.pencil();
    const auto hooks = small_steps(seed);
    const auto whole = exact_search(*pencil, problem.units, {}, options, {}, hooks);
    ExactRun steps = options;
    steps.asked.node_limit = 1 + seed % 3;
    steps.asked.checkpoint = file.string();
    ExactResult part;
    for (int step = 0; step < 100000; ++step) {
      part = exact_search(*pencil, problem.units, {}, steps, {}, hooks);
      for (std::size_t i = 0; i < part.sizes.size(); ++i)
        EXPECT_GE(part.sizes[i].upper_bound, whole.sizes[i].pool[0].value * (1.0 - 1e-9));
      if (part.status == Status::kOptimal) break;
      ASSERT_EQ(part.status, Status::kNodeLimit);
      steps.asked.resume = file.string();
    }
    EXPECT_EQ(part.status, Status::kOptimal);
    for (std::size_t i = 0; i < whole.sizes.size(); ++i) {
      ASSERT_EQ(part.sizes[i].pool.size(), whole.sizes[i].pool.size());
      EXPECT_EQ(part.sizes[i].pool[0].units, whole.sizes[i].pool[0].units);
      for (std::size_t l = 0; l < whole.sizes[i].pool.size(); ++l)
        EXPECT_NEAR(part.sizes[i].pool[l].value, whole.sizes[i].pool[l].value,
                    1e-9 * whole.sizes[i].pool[l].value);
    }
  }
  std::filesystem::remove(file);
}

TEST(Sweep, AGapLeavesNoMoreThanItMay) {
  for (std::uint64_t seed = 0; seed < problems(400); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto problem = random_problem(seed, 9);
    const Index k = std::max<Index>(2 + static_cast<Index>(seed % 3), std::ssize(problem.units.include));
    if (k > problem.units.count()) continue;
    const auto truth = sets_of(problem, k);
    const auto result = exact_search(
        *problem.pencil(), problem.units, {{truth[truth.size() / 2]}},
        {.criterion = problem.criterion, .k = {k, k}, .asked = {.gap = 0.3}, .threads = 1}, {}, kSwept);
    const auto& size = result.sizes[0];
    EXPECT_GE(size.upper_bound, truth[0].value * (1.0 - 1e-9));
    EXPECT_LE(size.upper_bound, size.pool[0].value * 1.3 * (1.0 + 1e-9));
  }
}

/// What a scan tells: by the kernels of every instruction set all that beats the threshold, and little else.
TEST(Sweep, ScansTellWhatBeatsTheThresholdWhateverTheInstructionSet) {
  using Places = std::set<std::array<std::int64_t, 3>>;
  for (std::uint64_t seed = 0; seed < problems(600); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    auto problem = random_problem(seed, seed % 10 == 0 ? 40 : 14);
    const Index n = problem.units.count();
    const auto pencil = problem.pencil();
    const search::SweepProblem sweep(*pencil, problem.units, {.criterion = problem.criterion, .k = {3, 3}},
                                     {}, {});
    std::vector<std::int32_t> kept, free;
    for (Index u = 0; u < n; ++u)
      (seed % 3 == 2 && u == 2 ? kept : free).push_back(static_cast<std::int32_t>(u));
    const auto worth = [&](const std::array<std::int64_t, 3>& places, const auto& list) {
      std::vector<Index> units(kept.begin(), kept.end());
      for (const auto place : places) {
        if (place >= 0) units.push_back(list[static_cast<std::size_t>(place)]);
      }
      std::sort(units.begin(), units.end());
      return sweep.evaluate(units).value;
    };
    std::vector<double> values;
    const auto m = static_cast<std::int64_t>(free.size());
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = i + 1; j < m; ++j) values.push_back(worth({i, j, -1}, free));
    }
    std::nth_element(values.begin(), values.begin() + 2, values.end(), std::greater<>());
    const double threshold = values[2] * (1.0 + 0.2 * static_cast<double>(seed % 4));
    const auto node = sweep.node(kept, free, threshold);
    if (!node || node->free.size() != free.size()) continue;
    std::vector<Places> told;
    for (const auto* kernels : search::kernels::all_sweep_kernels()) {
      Places& places = told.emplace_back();
      const search::SweepListener listener{
          .user = &places,
          .found =
              [](void* user, std::int64_t i, std::int64_t j, std::int64_t l) {
                static_cast<Places*>(user)->insert({i, j, l});
                return true;
              },
          .go_on = [](void*) { return true; }};
      for (std::int64_t first = 0; first < m; first += search::kSweepBlock) {
        const std::int64_t last = std::min(m, first + search::kSweepBlock);
        EXPECT_TRUE(search::sweep_pairs(*kernels, node->view, first, last, listener));
        if (first < m - 2) {
          EXPECT_TRUE(search::sweep_triples(*kernels, node->view, first, std::min(last, m - 2), listener));
        }
      }
    }
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = i + 1; j < m; ++j) {
        for (std::int64_t l = j; l < m; ++l) {
          const std::array<std::int64_t, 3> places = {i, j, l > j ? l : -1};
          const double value = worth(places, free);
          for (const auto& of_set : told) {
            const bool is_told = of_set.contains(places);
            if (value > threshold * (1.0 + 1e-10)) {
              EXPECT_TRUE(is_told) << i << ' ' << j << ' ' << l;
            } else if (value > 0.0 && value < threshold * (1.0 - 1e-4)) {
              EXPECT_FALSE(is_told) << i << ' ' << j << ' ' << l;
            }
          }
        }
      }
    }
  }
}

/// Tables: pairs from blocks of the rows as from the matrix, p > N, copies, offsets, any unit.
TEST(Sweep, PairsFromBlocksOfTheRowsAreThoseOfTheMatrix) {
  for (std::uint64_t seed = 0; seed < problems(60); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const int classes = 2 + static_cast<int>(seed % 3);
    auto parts = oracle::random_classes(20, 45, classes, seed);
    parts.dense.col(44) = parts.dense.col(3);
    parts.dense.col(7) *= 1e5;
    parts.dense.col(8).array() += 1e3;
    const Dataset data(parts);
    const RidgeAmount ridge = seed % 2 == 0 ? RidgeAmount{} : RidgeAmount(0.0, 1e-3);
    const auto pencil = lda_pencil(data, ridge, 1);
    auto units = oracle::all_units(45);
    if (seed % 4 == 3) units.include = {5};
    const Index k = 2 + std::ssize(units.include);
    const ExactRun options{.criterion = kCriteria[seed % 3], .k = {k, k}, .asked = {.pool = 3}, .threads = 2};
    ExactHooks blocks = kSwept;
    blocks.tuning.sweep.most_matrix = 0;
    blocks.tuning.sweep.pair_block = 7;
    blocks.tuning.sweep.pair_panel = 11;
    const auto matrix = exact_search(*pencil, units, {}, options, {}, kSwept);
    const auto panels = exact_search(*pencil, units, {}, options, {}, blocks);
    ASSERT_EQ(matrix.sizes[0].pool.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(matrix.sizes[0].pool[i].units, panels.sizes[0].pool[i].units);
      EXPECT_NEAR(matrix.sizes[0].pool[i].value, panels.sizes[0].pool[i].value,
                  1e-9 * panels.sizes[0].pool[i].value);
    }
    EXPECT_EQ(panels.status, Status::kOptimal);
  }
}

/// No set of the node is worth more than its dual bound, nor than what is left when a feature is forced in.
TEST(Sweep, TheDualBoundHolds) {
  for (std::uint64_t seed = 0; seed < problems(600); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto parts = oracle::random_classes(16, 10, 2 + static_cast<int>(seed % 3), seed);
    const Dataset data(parts);
    const double fraction = std::array{1e-6, 1e-3, 0.1, 0.5, 2.0}[seed % 5];
    const auto pencil = lda_pencil(data, RidgeAmount(0.0, fraction), 1);
    const auto units = oracle::all_units(10);
    const search::SweepProblem sweep(*pencil, units, {.criterion = Criterion::kTrace, .k = {3, 3}}, {}, {});
    const std::vector<std::int32_t> kept = seed % 2 == 0 ? std::vector<std::int32_t>{} : std::vector{2};
    std::vector<std::int32_t> free;
    for (std::int32_t u = 0; u < 10; ++u) {
      if (kept.empty() || u != 2) free.push_back(u);
    }
    const Index more = 1 + static_cast<Index>(seed % 4);
    double best = 0.0;
    for (Index bits = 0; bits < 1024; ++bits) {
      std::vector<Index> set;
      for (Index u = 0; u < 10; ++u) {
        if ((bits >> u & 1) != 0) set.push_back(u);
      }
      if (std::ssize(set) != more + std::ssize(kept)) continue;
      if (!kept.empty() && (bits & 4) == 0) continue;
      best = std::max(best, sweep.evaluate(set).value);
    }
    const auto bound = search::dual_bound(sweep, kept, free, more, 0.0);
    EXPECT_GE(bound.bound, best);
    EXPECT_EQ(bound.terms.size(), free.size());
    if (fraction > 0.4) {
      EXPECT_LT(bound.bound, 3.0 * best);
    }
  }
}

/// The proven best pair and triple of a table of more columns than rows, as a user asks for them.
TEST(Sweep, TheBestPairOfAWideTableIsCertified) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Index p = 160;
    auto parts = oracle::random_classes(30, p, seed == 4 ? 3 : 2, seed);
    parts.dense.col(20) = parts.dense.col(0);
    const Dataset data(parts);
    SelectOptions options;
    options.k = {1, 3};
    options.criterion = kCriteria[seed % 3];
    if (seed % 2 == 0) options.ridge.value = 0.0;
    const auto found = select(data, Method("eslda"), options);
    // Without a ridge some set may be nearly dependent: all were tried, and nothing but the best single is
    // claimed.
    const bool apart = found.ridge.fraction > 0.0;
    EXPECT_EQ(found.status, apart ? Status::kOptimal : Status::kHeuristic);
    ASSERT_EQ(found.sets().size(), 3U);
    for (const auto& entry : found.sets()) EXPECT_EQ(entry.certified(), apart || entry.k() == 1);
    const auto scatter = oracle::scatter(parts.dense, parts.labels->codes, seed == 4 ? 3 : 2);
    Matrix within = scatter.within;
    if (apart) within.diagonal() *= 1.0 + found.ridge.fraction;
    double best = 0.0;
    for (Index i = 0; i < p; ++i) {
      for (Index j = i + 1; j < p; ++j) {
        if (i == 0 && j == 20) continue;
        best = std::max(best, oracle::set_value(scatter.between, within, {i, j}, options.criterion));
      }
    }
    EXPECT_NEAR(found.sets()[1].objective, best, 1e-8 * best);
  }
}

/// A stop in the middle of a scan leaves what was found.
TEST(Sweep, StoppedAtOnceItHasItsStart) {
  std::stop_source source;
  source.request_stop();
  const RunControl control(source.get_token(), kInfinity);
  const auto problem = random_problem(8, 9);
  const auto truth = sets_of(problem, 3);
  const auto result = exact_search(*problem.pencil(), problem.units, {{truth[3]}},
                                   {.criterion = problem.criterion, .k = {3, 3}}, control, kSwept);
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_EQ(result.sizes[0].pool[0].units, truth[3].units);
  EXPECT_GE(result.sizes[0].upper_bound, truth[0].value * (1.0 - 1e-9));
}

}  // namespace
}  // namespace subspectra::sweep_test
