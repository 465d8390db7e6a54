/// Filters and exact searches in parts are those of one run, bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <subspectra/rankers.hpp>
#include <subspectra/searches.hpp>

#include "oracle.hpp"
#include "parts.hpp"
#include "select/select.hpp"

namespace subspectra::select_parts_test {
namespace {

using nlohmann::json;
using testing::all_parts;

struct Choice {
  std::string name;
  DatasetParts data;
  Method method = Fisher{};
  SelectOptions options = {.k = {1, 3}};
};

Selection chosen(const Choice& choice, PartWork* work) {
  SelectOptions options = choice.options;
  options.part_work = work;
  return select_features(Dataset(choice.data), choice.method, options, RunControl());
}

/// Everything but the time and the counters of the search.
std::string contents(const Selection& selection, const Choice& choice) {
  json all = json::parse(selection.to_json(Dataset(choice.data), choice.options));
  all.erase("timing");
  all.erase("search");
  return all.dump();
}

void is_one_run(const Choice& choice, const std::vector<Index>& counts) {
  const std::string whole = contents(chosen(choice, nullptr), choice);
  for (const Index count : counts) {
    SCOPED_TRACE(fmt::format("{}, {} parts", choice.name, count));
    const auto merged = all_parts(count, [&](PartWork* work) {
      const Selection part = chosen(choice, work);
      EXPECT_TRUE(part.sets().empty());
      EXPECT_NE(part.status, Status::kInterrupted);
    });
    EXPECT_EQ(contents(chosen(choice, merged.get()), choice), whole);
  }
}

TEST(FilterParts, TogetherAreOneRunWhateverTheirNumber) {
  DatasetParts odd = oracle::random_classes(40, 13, 2, 4);
  odd.dense.col(2).setZero();
  odd.dense.col(3) = odd.dense.col(0);
  odd.dense.col(4) *= 1e70;
  odd.dense.col(5) *= 1e-70;
  for (Index i = 0; i < 40; ++i) odd.dense(i, 6) = static_cast<double>(i % 2);  // separates the classes
  DatasetParts weighted = oracle::random_classes(50, 11, 2, 5);
  weighted.weights = Vector::LinSpaced(50, 0.0, 3.0);
  std::vector<std::pair<std::string, DatasetParts>> tables = {
      {"odd columns", odd},
      {"compressed columns", oracle::as_sparse(odd)},
      {"weights", weighted},
      {"more columns than rows", oracle::random_classes(20, 300, 2, 6)}};
  for (const auto& [name, data] : tables) {
    for (const auto& method : {Method(Fisher{}), Method(Pearson{}), Method(Ks{}), Method(Snr{})})
      is_one_run({.name = fmt::format("{}, {}", name, method.name()), .data = data, .method = method},
                 {1, 3, 8, 40});
  }
  is_one_run({.name = "three classes", .data = oracle::random_classes(45, 9, 3, 7), .method = Pearson{}},
             {2, 5});
}

TEST(FilterParts, RefuseNumbersThatAreNotThoseOfTheirColumns) {
  const Choice choice{.name = "", .data = oracle::random_classes(20, 5, 2, 8)};
  const auto refused = [&](const std::function<void(json&)>& change) {
    PartWork work(Part{.number = 1, .count = 1});
    (void)chosen(choice, &work);
    PartFile file{.path = "p.json", .part = {.number = 1, .count = 1}, .run = {}, .items = work.take_items()};
    change(file.items);
    PartWork merged({file});
    EXPECT_THROW((void)chosen(choice, &merged), BadInput) << file.items.dump();
  };
  refused([](json& items) { items.erase("columns"); });
  refused([](json& items) { items["columns"]["means"] = "AAAA"; });
  refused([](json& items) { items["columns"]["squares"] = 1; });
  refused([](json& items) { items["columns"] = json::array(); });
}

/// Many features that are nearly alike. (tests/search/search_parts_test.cpp cuts small searches, too.)
DatasetParts hard_table(Index rows, Index features, std::uint64_t seed) {
  DatasetParts data = oracle::random_classes(rows, features, 2, seed, 0.25, features);
  const Vector common = data.dense.rowwise().mean();
  data.dense.colwise() += 2.0 * common;
  return data;
}

TEST(ExactParts, TogetherAreOneRunWhateverTheirNumber) {
  const DatasetParts table = hard_table(90, 30, 1);
  const std::vector<Choice> choices = {
      {.name = "one size", .data = table, .method = Eslda{}, .options = {.k = {8, 8}}},
      {.name = "sizes that share a tree", .data = table, .method = Eslda{}, .options = {.k = {6, 9}}},
      {.name = "sizes apart, one included",
       .data = table,
       .method = Eslda{},
       .options = {.k = KRange::list({3, 7}), .include = {"x4"}}},
      {.name = "the five best", .data = table, .method = Eslda{.pool = 5}, .options = {.k = {7, 7}}},
      {.name = "components", .data = table, .method = Espca{}, .options = {.k = {5, 12}}},
      {.name = "over before it is cut", .data = table, .method = Eslda{}, .options = {.k = {1, 2}}},
      {.name = "three classes",
       .data = oracle::random_classes(60, 18, 3, 3, 0.3, 18),
       .method = Eslda{},
       .options = {.k = {4, 6}}}};
  for (const Choice& choice : choices) is_one_run(choice, {1, 3, 7});
}

TEST(Parts, AreRefusedWhereTheWorkCannotBeCut) {
  const auto refused = [](const Method& method, const SelectOptions& options, const std::string& words) {
    PartWork work(Part{.number = 1, .count = 2});
    try {
      (void)chosen(
          {.name = "", .data = oracle::random_classes(30, 6, 2, 1), .method = method, .options = options},
          &work);
      ADD_FAILURE() << "taken: " << words;
    } catch (const InvalidArgument& problem) {
      EXPECT_NE(problem.text(Spelling::kCommandLine).find(words), std::string::npos) << problem.what();
    }
  };
  refused(Gslda{}, {.k = {1, 2}}, "method gslda cannot be cut into parts; ");
  refused(Espca{}, {.k = {2, 2}, .components = 2}, "--components 2");
  refused(Eslda{.gap = 0.1}, {.k = {2, 2}}, "--gap 0.1");
}

}  // namespace
}  // namespace subspectra::select_parts_test
