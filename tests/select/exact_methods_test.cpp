/// Eslda and Espca: one list of options.
#include <gtest/gtest.h>

#include <subspectra/searches.hpp>

#include "core/options.hpp"

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

}  // namespace
}  // namespace subspectra::exact_methods_test
