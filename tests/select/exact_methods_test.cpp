/// Eslda and Espca: one list of options, and a way to search that is said and not guessed.
#include "select/exact_methods.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/options.hpp"
#include "oracle.hpp"
#include "select/record.hpp"
#include "select/select.hpp"

namespace subspectra::exact_methods_test {
namespace {

/// The search is written for one of them (options_as).
TEST(ExactMethods, HaveTheSameOptions) {
  const auto lda = describe_options<Eslda>(), pca = describe_options<Espca>();
  ASSERT_EQ(lda.size(), pca.size());
  for (std::size_t i = 0; i < lda.size(); ++i) {
    EXPECT_EQ(lda[i].name, pca[i].name);
    EXPECT_EQ(lda[i].default_text, pca[i].default_text);
    EXPECT_EQ(lda[i].help, pca[i].help);
  }
  const auto same = options_as<Eslda>(Espca{
      .pool = 3, .gap = 0.25, .node_limit = 7, .checkpoint = "a", .checkpoint_every = 2.0, .resume = "b"});
  EXPECT_EQ(options_json(same), options_json(Espca{.pool = 3,
                                                   .gap = 0.25,
                                                   .node_limit = 7,
                                                   .checkpoint = "a",
                                                   .checkpoint_every = 2.0,
                                                   .resume = "b"}));
}

TEST(ExactMethods, GoTheWayThatTheyAreTold) {
  const Dataset data(oracle::random_classes(60, 12, 3, 4));
  const SelectOptions options{.k = {1, 3}, .threads = 1};
  const Eslda method{.pool = 2};
  std::vector<Selection> both;
  for (const ExactSearch search : {ExactSearch::kTree, ExactSearch::kSweep}) {
    both.push_back(select(data, method, options, {}, [&](const Problem& problem, const RunControl& control) {
      return search_exactly(method, problem, control, {.search = search});
    }));
    EXPECT_EQ(both.back().status, Status::kOptimal);
    EXPECT_EQ(record_of(both.back()).contains("search"), search == ExactSearch::kSweep);
  }
  const Selection plain = select(data, method, options, {});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(both[0].sets()[i].features, both[1].sets()[i].features);
    EXPECT_NEAR(both[0].sets()[i].objective, both[1].sets()[i].objective,
                1e-10 * both[0].sets()[i].objective);
    EXPECT_EQ(plain.sets()[i].objective, both[0].sets()[i].objective);  // so few are searched by the tree
  }
}

}  // namespace
}  // namespace subspectra::exact_methods_test
