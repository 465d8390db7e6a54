#include "synth/registry.hpp"

#include <gtest/gtest.h>

#include <set>

#include "reading.hpp"

namespace subspectra::synth {
namespace {

TEST(SynthRegistry, EachIsFoundAndGivesWhatItSays) {
  std::set<std::string_view> names;
  for (const SynthEntry& entry : synth_entries()) {
    SCOPED_TRACE(entry.traits->name);
    EXPECT_TRUE(names.insert(entry.traits->name).second);
    EXPECT_EQ(&find_synth(entry.traits->name), &entry);
    EXPECT_FALSE(entry.traits->summary.empty());
    const AnySynth problem =
        entry.from_texts({{"features", "8"}, {"rows", "12"}, {"seed", "3"}, {"not_an_option", "x"}});
    const Synthesized made = synthesize(problem);
    EXPECT_EQ(made.table.has_value(), entry.traits->matrices.empty());
    ASSERT_EQ(made.matrices.size(), entry.traits->matrices.size());
    for (std::size_t i = 0; i < made.matrices.size(); ++i) {
      EXPECT_EQ(made.matrices[i].name, entry.traits->matrices[i]);
      EXPECT_EQ(made.matrices[i].values.rows(), 8);
    }
    if (made.table) {
      EXPECT_EQ(made.table->features(), 8);
    }
    EXPECT_EQ(synth_options_json(problem)["seed"], 3);
    EXPECT_EQ(synth_options_json(problem).size(), entry.options.size());
  }
}

TEST(SynthRegistry, TakesTheOptionsOfTheProblem) {
  const AnySynth table = find_synth("brownian").from_texts({{"rows", "9"}, {"seed", "4"}, {"kind", "gg"}});
  const Dataset want = Brownian{.rows = 9, .seed = 4}.make();
  EXPECT_EQ(synthesize(table).table->values().packed(), want.values().packed());
  const AnySynth pair = find_synth("brownian-pair").from_texts({{"kind", "gg"}, {"features", "3"}});
  const auto [a, b] = BrownianPair{.kind = WalkKind::kGeneralizedGaussian, .features = 3}.make();
  EXPECT_EQ(synthesize(pair).matrices[0].values, a);
  EXPECT_EQ(synthesize(pair).matrices[1].values, b);
}

TEST(GaussianClasses, MoreRowsOfTheSameClasses) {
  const GaussianClasses few{.rows = 40, .features = 12, .classes = 3, .informative = 4, .seed = 7};
  GaussianClasses many = few;
  many.rows = 3000;
  const DatasetParts a = few.make().parts(), b = many.make().parts();
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

TEST(SynthRegistry, AnUnknownNameIsRefusedWithNearOnes) {
  EXPECT_EQ(
      subspectra::testing::message_of<InvalidArgument>([] { return &find_synth("brownain"); }),
      "there is no synthetic problem 'brownain' (did you mean brownian?); the problems are brownian, brownian-pair, gaussian-classes, weston-linear, weston-nonlinear, clusters, sessions, bendor");
}

}  // namespace
}  // namespace subspectra::synth
