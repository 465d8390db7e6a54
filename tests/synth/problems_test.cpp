#include "synth/problems.hpp"

#include <gtest/gtest.h>

#include <set>

#include "reading.hpp"
#include "synth/brownian.hpp"
#include "synth/gaussian_classes.hpp"

namespace subspectra::synth {
namespace {

TEST(Problems, EachIsFoundAndGivesWhatItSays) {
  std::set<std::string_view> names;
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    EXPECT_TRUE(names.insert(problem.name).second);
    EXPECT_EQ(&find_problem(problem.name), &problem);
    EXPECT_FALSE(problem.summary.empty());
    const Product product =
        problem.make({{"features", "8"}, {"rows", "12"}, {"seed", "3"}, {"not_an_option", "x"}});
    EXPECT_EQ(product.table.has_value(), problem.matrices.empty());
    ASSERT_EQ(product.matrices.size(), problem.matrices.size());
    for (std::size_t i = 0; i < product.matrices.size(); ++i) {
      EXPECT_EQ(product.matrices[i].name, problem.matrices[i]);
      EXPECT_EQ(product.matrices[i].values.rows(), 8);
    }
    if (product.table) {
      EXPECT_EQ(product.table->features(), 8);
    }
    EXPECT_EQ(product.options["seed"], 3);
    EXPECT_EQ(product.options.size(), problem.options.size());
  }
}

TEST(Problems, TakeTheirOwnOptions) {
  const Product table = find_problem("brownian").make({{"rows", "9"}, {"seed", "4"}, {"kind", "gg"}});
  EXPECT_EQ(table.table->values().packed(),
            brownian_classes(9, BrownianOptions{}.features, 4).values().packed());
  const Product pair = find_problem("brownian-pair").make({{"kind", "gg"}, {"features", "3"}});
  const auto [a, b] = brownian_pair(WalkKind::kGeneralizedGaussian, 3, 0);
  EXPECT_EQ(pair.matrices[0].values, a);
  EXPECT_EQ(pair.matrices[1].values, b);
}

TEST(Problems, MoreRowsOfTheSameClasses) {
  const GaussianClassesOptions few{.rows = 40, .features = 12, .classes = 3, .informative = 4, .seed = 7};
  GaussianClassesOptions many = few;
  many.rows = 3000;
  const DatasetParts a = gaussian_classes(few).parts(), b = gaussian_classes(many).parts();
  EXPECT_EQ(a.dense, b.dense.topRows(40));
  EXPECT_EQ(b.labels->counts(), (std::vector<Index>{1000, 1000, 1000}));
  // Columns beyond the informative ones have the same mean in every class.
  double within = 0.0, beyond = 0.0;
  for (int c = 0; c < 3; ++c) {
    Vector mean = Vector::Zero(12);
    for (Index i = 0; i < 3000; ++i) {
      if (b.labels->codes[static_cast<std::size_t>(i)] == c) mean += b.dense.row(i).transpose() / 1000.0;
    }
    within += mean.head(4).squaredNorm();
    beyond += mean.tail(8).squaredNorm();
  }
  EXPECT_GT(within, 2.0);
  EXPECT_LT(beyond, 0.1);
}

TEST(Problems, AnUnknownNameIsRefusedWithNearOnes) {
  std::string names;
  for (const Problem& problem : problems()) names += (names.empty() ? "" : ", ") + std::string(problem.name);
  EXPECT_TRUE(names.starts_with("brownian, brownian-pair, gaussian-classes, ")) << names;
  EXPECT_EQ(subspectra::testing::message_of<InvalidArgument>([] { return &find_problem("brownain"); }),
            "there is no synthetic problem 'brownain' (did you mean brownian?); the problems are " + names);
}

}  // namespace
}  // namespace subspectra::synth
