/// Exact sparse PCA, one explorer under a small engine. Oracle: every set of the size, each solved by Eigen's
/// dense eigen-solver, which shares no bound, no update and no order with the code under test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <stop_token>

#include "core/random.hpp"
#include "oracle.hpp"
#include "pitprops.hpp"
#include "search/explorer.hpp"
#include "search/perron_rows.hpp"

namespace subspectra::search::perron_explorer_test {
namespace {

const RunControl kNoLimits;
constexpr double kTolerance = 2.0 * kTieFraction;  // two sets within a tie are not told apart

Matrix gaussian(Index rows, Index cols, Random& random) {
  Matrix x(rows, cols);
  for (auto& e : x.reshaped()) e = random.normal();
  return x;
}

Matrix covariance(const Matrix& x) { return x.transpose() * x / static_cast<double>(x.rows()); }

Matrix correlation(Matrix s) {
  const Vector scale = s.diagonal().cwiseSqrt().cwiseInverse();
  s = (scale.asDiagonal() * s * scale.asDiagonal()).eval();
  s.diagonal().setOnes();
  return s;
}

constexpr int kFamilies = 10;

Matrix member(int family, Index n, Random& random) {
  const Matrix noise = gaussian(n + 3, n, random);
  switch (family) {
    case 0:
      return covariance(noise);
    case 1:
      return correlation(covariance(noise));
    case 2: {  // one strong factor with signs
      const Matrix x = noise + 2.0 * gaussian(n + 3, 1, random) * gaussian(1, n, random);
      return correlation(covariance(x));
    }
    case 3: {  // copies: many exact ties
      Matrix x = noise;
      for (Index j = 1; j < n; j += 2) x.col(j) = x.col(j - 1);
      return covariance(x);
    }
    case 4: {  // near ties
      Matrix x = noise;
      for (Index j = 1; j < n; ++j) x.col(j) = x.col(0) + 1e-5 * x.col(j);
      return covariance(x);
    }
    case 5:
      return Matrix::Identity(n, n) * (0.5 + random.uniform());
    case 6: {  // merely symmetric
      const Matrix x = gaussian(n, n, random);
      return x + x.transpose();
    }
    case 7: {  // rank two
      const Matrix x = gaussian(2, n, random);
      return x.transpose() * x;
    }
    case 8: {  // scales over six powers of ten, some features constant
      Matrix x = noise;
      for (Index j = 0; j < n; ++j) x.col(j) *= std::pow(10.0, 6.0 * random.uniform() - 3.0);
      x.col(n - 1).setZero();
      return covariance(x);
    }
    default: {  // blocks that do not see each other
      Matrix s = correlation(covariance(noise));
      s.topRightCorner(n / 2, n - n / 2).setZero();
      s.bottomLeftCorner(n - n / 2, n / 2).setZero();
      return s;
    }
  }
}

/// Any symmetric matrix; covariance_pencil() insists on variances.
class Symmetric final : public Pencil {
 public:
  explicit Symmetric(Matrix a)
      : a_(std::move(a)), ones_(Vector::Ones(a_.rows())), variances_(a_.diagonal()) {}
  [[nodiscard]] Index size() const override { return a_.rows(); }
  [[nodiscard]] bool b_is_identity() const override { return true; }
  [[nodiscard]] const Vector& diagonal() const override { return ones_; }
  void column(Index j, linalg::MutableVector out, int /*threads*/) const override {
    out = Vector::Unit(a_.rows(), j);
  }
  [[nodiscard]] Matrix block(const std::vector<Index>& features, int /*threads*/) const override {
    return Matrix::Identity(static_cast<Index>(features.size()), static_cast<Index>(features.size()));
  }
  [[nodiscard]] const Vector& a_diagonal() const override { return variances_; }
  void a_column(Index j, linalg::MutableVector out, int /*threads*/) const override { out = a_.col(j); }
  [[nodiscard]] Matrix a_block(const std::vector<Index>& features, int /*threads*/) const override {
    return a_(features, features);
  }

 private:
  Matrix a_;
  Vector ones_, variances_;
};

double largest(const Matrix& a, const std::vector<Index>& set) {
  const Matrix part = a(set, set);
  return Eigen::SelfAdjointEigenSolver<Matrix>(part, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

/// All sets of k units with `kept` in them, best first.
std::vector<RankedSet> enumerate(const Matrix& a, const SearchUnits& units, Index k,
                                 const std::vector<std::int32_t>& kept) {
  std::vector<RankedSet> sets;
  std::vector<char> in(static_cast<std::size_t>(units.count()), 0);
  std::fill(in.begin(), in.begin() + k, 1);
  do {
    if (!std::all_of(kept.begin(), kept.end(), [&](auto u) { return in[static_cast<std::size_t>(u)] != 0; }))
      continue;
    RankedSet set;
    for (Index u = 0; u < units.count(); ++u) {
      if (in[static_cast<std::size_t>(u)] != 0) set.units.push_back(u);
    }
    set.value = largest(a, units.features(set.units));
    sets.push_back(std::move(set));
  } while (std::prev_permutation(in.begin(), in.end()));
  std::sort(sets.begin(), sets.end(), [](const auto& x, const auto& y) { return x.value > y.value; });
  return sets;
}

OpenNode root_of(const SearchUnits& units, Index k, const std::vector<std::int32_t>& kept) {
  OpenNode root{.k = k, .kept = kept};
  for (Index u = 0; u < units.count(); ++u) {
    if (std::find(kept.begin(), kept.end(), static_cast<std::int32_t>(u)) == kept.end())
      root.free.push_back(static_cast<std::int32_t>(u));
  }
  return root;
}

bool holds(const OpenNode& node, const std::vector<Index>& set) {
  const std::set<Index> in(set.begin(), set.end());
  for (const auto u : node.kept) {
    if (in.count(u) == 0) return false;
  }
  std::set<Index> all(node.kept.begin(), node.kept.end());
  all.insert(node.free.begin(), node.free.end());
  return std::all_of(set.begin(), set.end(), [&](Index u) { return all.count(u) != 0; });
}

struct Run {
  Pool pool{1};
  std::vector<OpenNode> open;
  double discarded = -kInfinity;
  std::uint64_t nodes = 0;
};

/// Explores the open node with the largest bound until none is left, or `visits` are over. `watch`, if any,
/// sees every state.
template <class Watch>
Run engine(const Explorer& explorer, OpenNode root, Index pool, double gap, std::uint64_t budget,
           std::uint64_t visits, const std::vector<RankedSet>& start, const Watch& watch) {
  Run run;
  run.pool = Pool(pool);
  for (const auto& set : start) run.pool.offer(set.units, explorer.value(set.units));
  const Cutoff cutoff(explorer.slack(), gap);
  const RunControl control;
  root.bound = explorer.bound(root);
  run.open.push_back(std::move(root));
  for (std::uint64_t visit = 0; visit < visits && !run.open.empty(); ++visit) {
    const auto best = std::max_element(run.open.begin(), run.open.end(),
                                       [](const auto& a, const auto& b) { return a.bound < b.bound; });
    const OpenNode node = std::move(*best);
    run.open.erase(best);
    if (node.bound <= cutoff.exact(run.pool.threshold())) continue;
    VisitFindings found(run.pool);
    explorer.explore(node, budget, cutoff, control, found);
    EXPECT_GT(found.nodes, 0U);
    EXPECT_LE(found.nodes, budget);
    run.pool = found.pool;
    run.nodes += found.nodes;
    run.discarded = std::max(run.discarded, found.discarded);
    for (auto& open : found.open) {
      EXPECT_LE(open.bound, node.bound + 1e-12 * std::abs(node.bound));
      EXPECT_TRUE(std::is_sorted(open.kept.begin(), open.kept.end()));
      EXPECT_TRUE(std::is_sorted(open.free.begin(), open.free.end()));
      run.open.push_back(std::move(open));
    }
    watch(run);
  }
  return run;
}

constexpr auto kNobody = [](const Run&) {};
constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();

/// A search to the end finds the best sets; on its way every state is a certificate.
void expect_the_best(const Matrix& a, const SearchUnits& units, Index k,
                     const std::vector<std::int32_t>& kept, Index pool, std::uint64_t budget,
                     const std::vector<RankedSet>& start = {}) {
  const auto truth = enumerate(a, units, k, kept);
  if (truth.empty()) return;
  const Symmetric pencil(a);
  const auto explorer =
      perron_explorer(pencil, units, {.k = {k, k}, .asked = {.pool = pool}, .threads = 1}, kNoLimits);
  const double scale = std::max(std::abs(truth.front().value), a.cwiseAbs().maxCoeff() * 1e-3);
  const double tolerance = kTolerance * scale;
  const auto watch = [&](const Run& run) {
    double bound = std::max(run.discarded, run.pool.best());
    for (const auto& node : run.open) bound = std::max(bound, node.bound);
    EXPECT_GE(bound, truth.front().value - tolerance);
    // The first of the best sets lies, unless it was found or ties with one that was, in some open node
    // whose bound allows it.
    for (const auto& node : run.open) {
      if (holds(node, truth.front().units)) {
        EXPECT_GE(node.bound, truth.front().value - tolerance);
      }
    }
  };
  const auto run = engine(*explorer, root_of(units, k, kept), pool, 0.0, budget, kAlways, start, watch);
  EXPECT_TRUE(run.open.empty());
  ASSERT_EQ(run.pool.sets().size(), std::min<std::size_t>(truth.size(), static_cast<std::size_t>(pool)));
  for (std::size_t i = 0; i < run.pool.sets().size(); ++i) {
    const auto& set = run.pool.sets()[i];
    EXPECT_NEAR(set.value, truth[i].value, tolerance) << "place " << i;
    EXPECT_NEAR(set.value, largest(a, units.features(set.units)), 1e-12 * scale);
    EXPECT_EQ(static_cast<Index>(set.units.size()), k);
    EXPECT_TRUE(std::is_sorted(set.units.begin(), set.units.end()));
  }
}

SearchUnits all_units(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  return SearchUnits::singles(all, {});
}

/// Consecutive features in groups of 1, 2, 3, 1, ...
SearchUnits grouped(Index n) {
  SearchUnits units;
  units.single = false;
  for (Index first = 0, width = 1; first < n; first += width, width = width % 3 + 1) {
    std::vector<Index> members;
    for (Index i = first; i < std::min(n, first + width); ++i) members.push_back(i);
    units.group.push_back(units.count());
    units.members.push_back(std::move(members));
  }
  return units;
}

constexpr int kSeeds = oracle::kSanitized ? 6 : 60;

TEST(PerronExplorer, FindsTheBestSetOfEverySize) {
  for (int family = 0; family < kFamilies; ++family) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      Random random(static_cast<std::uint64_t>(1000 * family + seed));
      const Index n = 3 + seed % 7;
      const Matrix a = member(family, n, random);
      for (Index k = 1; k <= n; ++k) {
        SCOPED_TRACE(fmt::format("family {}, seed {}, n {}, k {}", family, seed, n, k));
        expect_the_best(a, all_units(n), k, {}, 1, seed % 3 == 0 ? 1 : 7);
      }
    }
  }
}

TEST(PerronExplorer, FindsTheNBestSets) {
  for (int family = 0; family < kFamilies; ++family) {
    for (int seed = 0; seed < kSeeds / 2; ++seed) {
      Random random(static_cast<std::uint64_t>(7000 + 1000 * family + seed));
      const Index n = 4 + seed % 6;
      const Matrix a = member(family, n, random);
      for (Index k = 1; k <= n; ++k) {
        SCOPED_TRACE(fmt::format("family {}, seed {}, n {}, k {}", family, seed, n, k));
        expect_the_best(a, all_units(n), k, {}, 2 + seed % 9, seed % 2 == 0 ? 2 : 50);
      }
    }
  }
}

TEST(PerronExplorer, KeepsWhatTheRootKeeps) {
  for (int family = 0; family < kFamilies; ++family) {
    for (int seed = 0; seed < kSeeds / 2; ++seed) {
      Random random(static_cast<std::uint64_t>(27000 + 1000 * family + seed));
      const Index n = 4 + seed % 6;
      const Matrix a = member(family, n, random);
      const std::vector<std::int32_t> kept =
          seed % 2 == 0 ? std::vector<std::int32_t>{static_cast<std::int32_t>(seed % n)}
                        : std::vector<std::int32_t>{0, static_cast<std::int32_t>(n - 1)};
      for (auto k = static_cast<Index>(kept.size()); k <= n; ++k) {
        SCOPED_TRACE(fmt::format("family {}, seed {}, n {}, k {}", family, seed, n, k));
        expect_the_best(a, all_units(n), k, kept, 1 + seed % 3, 3);
      }
    }
  }
}

TEST(PerronExplorer, ChoosesGroups) {
  for (int family = 0; family < kFamilies; ++family) {
    for (int seed = 0; seed < kSeeds / 2; ++seed) {
      Random random(static_cast<std::uint64_t>(57000 + 1000 * family + seed));
      const Index n = 6 + seed % 9;
      const Matrix a = member(family, n, random);
      const auto units = grouped(n);
      for (Index k = 1; k <= units.count(); ++k) {
        SCOPED_TRACE(fmt::format("family {}, seed {}, n {}, k {}", family, seed, n, k));
        expect_the_best(a, units, k, {}, 1 + seed % 4, 1 + static_cast<std::uint64_t>(seed) % 5);
        if (k > 1) expect_the_best(a, units, k, {1}, 1, 5);
      }
    }
  }
}

TEST(PerronExplorer, SearchesLargerProblemsToTheEnd) {
  for (int seed = 0; seed < (oracle::kSanitized ? 1 : 6); ++seed) {
    for (const int family : {0, 1, 2, 6}) {
      Random random(static_cast<std::uint64_t>(90000 + 10 * seed + family));
      const Index n = 14;
      const Matrix a = member(family, n, random);
      for (const Index k : {3, 6, 7, 10, 12}) {
        SCOPED_TRACE(fmt::format("family {}, seed {}, k {}", family, seed, k));
        expect_the_best(a, all_units(n), k, {}, 1, 100);
        expect_the_best(a, all_units(n), k, {}, 5, 100);
      }
    }
  }
}

/// No structure and k near n/2: where the floors under the eigenvalues do most of the work.
TEST(PerronExplorer, SearchesNoiseToTheEnd) {
  for (int seed = 0; seed < (oracle::kSanitized ? 1 : 8); ++seed) {
    Random random(static_cast<std::uint64_t>(95000 + seed));
    const Index n = 16;
    const Matrix a = correlation(covariance(gaussian(2 * n, n, random)));
    for (const Index k : {6, 8}) {
      for (const std::uint64_t budget : {2, 10}) {
        SCOPED_TRACE(fmt::format("seed {}, k {}, budget {}", seed, k, budget));
        expect_the_best(a, all_units(n), k, {}, 1 + seed % 2, budget);
      }
    }
  }
}

TEST(PerronExplorer, NeedsNoBound) {
  Random random(77);
  const Matrix a = member(1, 12, random);
  const auto truth = enumerate(a, all_units(12), 5, {}).front().value;
  for (const auto bound :
       {ExactBound::kFixOut, ExactBound::kSuperset, ExactBound::kFloor, ExactBound::kResidual}) {
    ExactHooks hooks;
    hooks.bounds.turn_off(bound);
    const Symmetric pencil(a);
    const auto explorer =
        perron_explorer(pencil, all_units(12), {.k = {5, 5}, .threads = 1}, kNoLimits, hooks);
    const auto run = engine(*explorer, root_of(all_units(12), 5, {}), 1, 0.0, 10, kAlways, {}, kNobody);
    EXPECT_NEAR(run.pool.best(), truth, kTolerance * truth);
  }
}

TEST(PerronExplorer, StartsFromWhatIsKnown) {
  Random random(3);
  const Matrix a = member(1, 10, random);
  const auto truth = enumerate(a, all_units(10), 5, {});
  expect_the_best(a, all_units(10), 5, {}, 1, 2, {truth.front()});
  expect_the_best(a, all_units(10), 5, {}, 3, 2, {truth.front(), truth.back()});
}

TEST(PerronExplorer, TheGapIsKeptAndReported) {
  for (int family = 0; family < kFamilies; ++family) {
    if (family == 6) continue;  // negative values know no fraction
    for (int seed = 0; seed < kSeeds / 4; ++seed) {
      Random random(static_cast<std::uint64_t>(67000 + 1000 * family + seed));
      const Index n = 9;
      const Matrix a = member(family, n, random);
      for (Index k = 2; k < n; ++k) {
        SCOPED_TRACE(fmt::format("family {}, seed {}, k {}", family, seed, k));
        const auto truth = enumerate(a, all_units(n), k, {}).front().value;
        const Symmetric pencil(a);
        const auto explorer = perron_explorer(pencil, all_units(n),
                                              {.k = {k, k}, .asked = {.gap = 0.1}, .threads = 1}, kNoLimits);
        const auto run = engine(*explorer, root_of(all_units(n), k, {}), 1, 0.1, 3, kAlways, {}, kNobody);
        const double upper = std::max(run.pool.best(), run.discarded);
        EXPECT_GE(upper, truth * (1.0 - kTolerance));
        EXPECT_LE(upper, run.pool.best() * 1.1 * (1.0 + kTolerance));
      }
    }
  }
}

TEST(PerronExplorer, ScalesDoNotMatter) {
  for (const double scale : {1e-150, 1e-300, 1e150, 1e290}) {
    Random random(11);
    const Matrix a = scale * member(2, 9, random);
    for (Index k = 1; k <= 9; ++k) {
      SCOPED_TRACE(fmt::format("scale {}, k {}", scale, k));
      expect_the_best(a, all_units(9), k, {}, 2, 4);
    }
  }
  Random random(12);
  Matrix x = gaussian(12, 8, random);
  for (Index j = 0; j < 8; ++j) x.col(j) *= std::pow(10.0, static_cast<double>(j * 20 - 80));
  for (Index k = 1; k <= 8; ++k) expect_the_best(covariance(x), all_units(8), k, {}, 1, 4);
  expect_the_best(Matrix::Zero(7, 7), all_units(7), 3, {}, 4, 4);
}

TEST(PerronExplorer, TiesCloseAtOnce) {
  const Index n = 60;
  for (const double between : {0.0, 0.25}) {
    Matrix a = Matrix::Constant(n, n, between);
    a.diagonal().setOnes();
    const Symmetric pencil(a);
    const auto explorer = perron_explorer(pencil, all_units(n), {.k = {12, 12}, .threads = 1}, kNoLimits);
    for (const auto& kept : {std::vector<std::int32_t>{}, std::vector<std::int32_t>{3, 17}}) {
      const auto run = engine(*explorer, root_of(all_units(n), 12, kept), 1, 0.0, 1000, kAlways, {}, kNobody);
      EXPECT_NEAR(run.pool.best(), 1.0 + 11.0 * between, 1e-12);
      EXPECT_LT(run.nodes, 200U);
    }
  }
}

TEST(PerronExplorer, TheSameNodeGivesTheSameFindings) {
  Random random(21);
  const Matrix a = correlation(covariance(gaussian(60, 30, random)));
  const Symmetric pencil(a);
  const auto explorer = perron_explorer(pencil, all_units(30), {.k = {9, 9}, .threads = 1}, kNoLimits);
  const Cutoff cutoff(explorer->slack(), 0.0);
  const Pool known(1);
  VisitFindings first(known), second(known);
  auto root = root_of(all_units(30), 9, {});
  explorer->explore(root, 40, cutoff, RunControl(), first);
  explorer->explore(root, 40, cutoff, RunControl(), second);
  ASSERT_EQ(first.open.size(), second.open.size());
  ASSERT_FALSE(first.open.empty());
  for (std::size_t i = 0; i < first.open.size(); ++i) {
    EXPECT_EQ(first.open[i].kept, second.open[i].kept);
    EXPECT_EQ(first.open[i].free, second.open[i].free);
    EXPECT_EQ(first.open[i].bound, second.open[i].bound);
  }
}

TEST(PerronExplorer, AStopLeavesTheWholeNodeOpen) {
  Random random(22);
  const Matrix a = correlation(covariance(gaussian(60, 30, random)));
  const Symmetric pencil(a);
  const auto explorer = perron_explorer(pencil, all_units(30), {.k = {9, 9}, .threads = 1}, kNoLimits);
  const Pool known(1);
  VisitFindings found(known);
  std::stop_source source;
  source.request_stop();
  const auto root = root_of(all_units(30), 9, {});
  explorer->explore(root, 40, Cutoff(explorer->slack(), 0.0), RunControl(source.get_token(), kInfinity),
                    found);
  ASSERT_EQ(found.open.size(), 1U);
  EXPECT_EQ(found.open[0].free, root.free);
}

TEST(PerronExplorer, SolvesPitpropsAsPublished) {
  // Optima by enumeration, Moghaddam, Weiss and Avidan 2006.
  const Index n = 13;
  const Matrix a = oracle::pitprops();
  const Symmetric pencil(a);
  for (const auto& [k, value] : {std::pair<Index, double>{5, 3.406155}, {10, 4.172638}}) {
    const auto explorer = perron_explorer(pencil, all_units(n), {.k = {k, k}, .threads = 1}, kNoLimits);
    const auto run = engine(*explorer, root_of(all_units(n), k, {}), 1, 0.0, 1000, kAlways, {}, kNobody);
    EXPECT_NEAR(run.pool.best(), value, 5e-7);
  }
}

TEST(PerronRows, AgreeWithPlainLoops) {
  Random random(5);
  for (Index n = 8; n <= 64; n += 8) {
    Vector c(n), d(n), t(n), slack(n);
    for (Index j = 0; j < n; ++j) {
      c[j] = j % 5 == 4 ? 0.0 : random.normal();
      d[j] = random.uniform();
      t[j] = random.uniform();
      slack[j] = random.normal();
    }
    const Vector w = c.cwiseAbs().cwiseProduct(d);
    for (const double threshold : {0.0, 0.1, w[1], 0.5, 100.0}) {
      rows::Above above;
      rows::weights_above(c.data(), d.data(), n, threshold, &above);
      double sum = 0.0, count = 0.0, least = kInfinity, most = 0.0;
      for (const double e : w) {
        if (e > threshold) {
          sum += e;
          ++count;
          least = std::min(least, e);
        } else {
          most = std::max(most, e);
        }
      }
      EXPECT_NEAR(above.sum, sum, 1e-14 * static_cast<double>(n));
      EXPECT_EQ(above.count, count);
      EXPECT_EQ(above.least_above, least);
      EXPECT_EQ(above.most_below, most);
    }
    double excess = -kInfinity, square = -kInfinity;
    for (Index j = 0; j < n; ++j) {
      excess = std::max(excess, std::abs(c[j]) * 0.7 - std::max(t[j], std::abs(c[j]) * 0.4) - slack[j]);
      square = std::max(square, c[j] * c[j] - 0.3 * t[j]);
    }
    EXPECT_NEAR(rows::largest_excess(c.data(), t.data(), slack.data(), 0.7, 0.4, n), excess, 1e-14);
    EXPECT_NEAR(rows::largest_square_excess(c.data(), t.data(), 0.3, n), square, 1e-14);
    EXPECT_NEAR(rows::dot(c.data(), d.data(), n), c.dot(d), 1e-13);
    Vector out(n);
    rows::add_scaled(c.data(), d.data(), -0.25, n, out.data());
    EXPECT_LT((out - (c - 0.25 * d)).cwiseAbs().maxCoeff(), 1e-15);
  }
}

}  // namespace
}  // namespace subspectra::search::perron_explorer_test
