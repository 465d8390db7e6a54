/// An exact search in parts: the nodes of one cut, each explored by itself.
#include "search/search_parts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "parts.hpp"
#include "pencils.hpp"
#include "search/exact.hpp"
#include "search/exact_hooks.hpp"

namespace subspectra::search_parts_test {
namespace {

using nlohmann::json;
using testing::all_parts;

/// Small problems that are cut all the same: visits of a few nodes, and a cut where some are open.
ExactHooks soon_cut() {
  ExactHooks hooks;
  hooks.tuning.engine.cut_nodes = 7;
  hooks.tuning.engine.small_visits = 3;
  hooks.tuning.factor.scan_nodes = hooks.tuning.factor.block_nodes = 4.0;
  hooks.tuning.factor.scan_own_visits = hooks.tuning.factor.block_own_visits = 1;
  hooks.tuning.perron.most_nodes = 4.0;
  hooks.tuning.sweep.visit_sets = 1.0;
  return hooks;
}

struct Search {
  std::string name;
  std::unique_ptr<Pencil> pencil;
  Matrix a, b;
  ExactRun options;
};

ExactResult searched(const Search& search, PartWork* work) {
  ExactRun options = search.options;
  options.parts = work;
  options.part_name = "search0";
  return exact_search(*search.pencil, oracle::all_units(search.b.rows()), {}, options, {}, soon_cut());
}

std::vector<Search> searches() {
  std::vector<Search> all;
  for (const Index rank : {1, 3}) {
    for (const Criterion criterion : {Criterion::kLargest, Criterion::kTrace, Criterion::kWilks}) {
      for (const Index pool : {1, 4}) {
        const auto pair = oracle::random_factor_pair(12, rank, static_cast<std::uint64_t>(rank + pool));
        const ExactRun options{
            .criterion = criterion, .k = {4, pool == 1 ? 6 : 4}, .asked = {.pool = pool}, .threads = 2};
        all.push_back({fmt::format("rank {}, criterion {}, pool {}", rank, static_cast<int>(criterion), pool),
                       factor_pencil(pair.m, pair.b), pair.m * pair.m.transpose(), pair.b, options});
      }
    }
  }
  // Every unit twice, so that sets tie: the lowest units are the answer of both.
  const auto once = oracle::random_factor_pair(6, 2, 8);
  std::vector<Index> twice = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
  const Matrix m = once.m(twice, Eigen::all);
  Matrix b = once.b(twice, twice);
  b.diagonal().array() += 0.1;
  all.push_back({"copies",
                 factor_pencil(m, b),
                 m * m.transpose(),
                 b,
                 {.criterion = Criterion::kTrace, .k = {3, 6}, .threads = 2}});
  const auto pair = oracle::random_factor_pair(13, 1, 5, 30.0);
  all.push_back({"sparse PCA",
                 covariance_pencil(pair.b),
                 pair.b,
                 Matrix::Identity(13, 13),
                 {.k = {3, 6}, .threads = 2}});
  return all;
}

/// By enumeration, from scratch.
double best_value(const Search& search, Index k) {
  const Index n = search.b.rows();
  double best = 0.0;
  for (Index bits = 0; bits < (Index{1} << n); ++bits) {
    if (__builtin_popcountll(static_cast<unsigned long long>(bits)) != k) continue;
    std::vector<Index> set;
    for (Index u = 0; u < n; ++u) {
      if ((bits >> u & 1) != 0) set.push_back(u);
    }
    best = std::max(best, oracle::set_value(search.a, search.b, set, search.options.criterion));
  }
  return best;
}

TEST(SearchParts, FindTheSetsOfOneSearchAndTheirProofWhateverTheirNumber) {
  std::size_t pieces = 0;
  for (const Search& search : searches()) {
    const ExactResult whole = searched(search, nullptr);
    for (const Index count : {2, 19}) {
      SCOPED_TRACE(fmt::format("{}, {} parts", search.name, count));
      const auto merged = all_parts(
          count, [&](PartWork* work) { EXPECT_EQ(searched(search, work).status, Status::kOptimal); });
      const ExactResult together = searched(search, merged.get());
      EXPECT_EQ(together.status, Status::kOptimal);
      EXPECT_EQ(together.open_nodes, 0U);
      ASSERT_EQ(together.sizes.size(), whole.sizes.size());
      for (std::size_t i = 0; i < whole.sizes.size(); ++i) {
        const ExactSize &one = whole.sizes[i], &other = together.sizes[i];
        EXPECT_EQ(other.upper_bound, one.upper_bound);
        ASSERT_EQ(other.pool.size(), one.pool.size());
        for (std::size_t s = 0; s < one.pool.size(); ++s) {
          EXPECT_EQ(other.pool[s].units, one.pool[s].units);
          EXPECT_EQ(other.pool[s].value, one.pool[s].value);
        }
        if (count == 2) {
          const double best = best_value(search, search.options.k.lo + static_cast<Index>(i));
          EXPECT_NEAR(other.pool.front().value, best, 1e-8 * best);
        }
      }
    }
    PartWork work(Part{.number = 1, .count = 1});
    (void)searched(search, &work);
    pieces += work.take_items().size();
  }
  EXPECT_GT(pieces, 60U);  // they were cut: otherwise nothing of this was shown
}

TEST(SearchParts, GiveEveryPartNodesOfTheSameCut) {
  const auto all = searches();
  std::vector<std::size_t> pieces;
  std::string cut;
  for (Index number = 1; number <= 3; ++number) {
    PartWork work(Part{.number = number, .count = 3});
    (void)searched(all.front(), &work);
    const json items = work.take_items();
    pieces.push_back(items.size() - 1);
    const auto here = items.at("search0/cut").get<std::string>();
    if (cut.empty()) cut = here;
    EXPECT_EQ(here, cut);
  }
  EXPECT_GT(pieces.back(), 1U);
  EXPECT_LE(pieces.front() - pieces.back(), 1U);
}

TEST(SearchParts, RefuseSetsThatAreNoneAndAnotherCut) {
  const auto all = searches();
  const Search& search = all.front();
  PartWork work(Part{.number = 1, .count = 1});
  (void)searched(search, &work);
  const json items = work.take_items();
  ASSERT_TRUE(items.contains("search0/0"));
  const auto refused = [&](const std::string& words, const std::function<void(json&)>& change) {
    PartFile file{.path = "p.json", .part = {.number = 1, .count = 1}, .run = {}, .items = items};
    change(file.items);
    PartWork merged({file});
    try {
      (void)searched(search, &merged);
      ADD_FAILURE() << "taken: " << words;
    } catch (const BadInput& problem) {
      EXPECT_NE(std::string(problem.what()).find(words), std::string::npos) << problem.what();
    }
  };
  refused("another cut", [](json& changed) { changed["search0/cut"] = "0000000000000000"; });
  refused("'items.search0/cut': is missing", [](json& changed) { changed.erase("search0/cut"); });
  refused("search0/0", [](json& changed) { changed.erase("search0/0"); });
  const auto size = [](json& changed) -> json& { return changed["search0/0"]["sizes"][0]; };
  const auto set = [&](json& changed) -> json& { return size(changed)["sets"][0]; };
  refused("units", [&](json& changed) { set(changed)["units"].back() = 12; });
  refused("units", [&](json& changed) { set(changed)["units"].erase(0); });
  refused("units", [&](json& changed) { std::swap(set(changed)["units"][0], set(changed)["units"][1]); });
  refused("value", [&](json& changed) { set(changed)["value"] = nullptr; });
  refused("sizes", [](json& changed) { changed["search0/0"]["sizes"] = json::array(); });
  refused("k'", [&](json& changed) { size(changed)["k"] = 3; });
  refused("nodes", [](json& changed) { changed["search0/0"]["nodes"] = -1; });
}

TEST(SearchParts, APartThatIsStoppedIsNotProven) {
  const auto all = searches();
  PartWork work(Part{.number = 1, .count = 2});
  ExactRun options = all.front().options;
  options.parts = &work;
  options.part_name = "search0";
  const auto result =
      exact_search(*all.front().pencil, oracle::all_units(12), {}, options, RunControl({}, 0.0), soon_cut());
  EXPECT_EQ(result.status, Status::kTimeLimit);
}

}  // namespace
}  // namespace subspectra::search_parts_test
