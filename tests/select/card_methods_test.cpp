/// Greedy methods with a card: the plug-in is a fake one whose card is emulated.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is POSIX's

#include <algorithm>
#include <memory>

#include "data/groups.hpp"
#include "oracle.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra::card_methods_test {
namespace {

/// The variable that names the plug-in, as long as this lives.
class PluginVariable {
 public:
  explicit PluginVariable(const std::string& kind) {
    ::setenv("SUBSPECTRA_CUDA_PLUGIN", fmt::format("{}/fake_{}.so", SUBSPECTRA_FAKE_PLUGINS, kind).c_str(),
             1);
  }
  PluginVariable(const PluginVariable&) = delete;
  PluginVariable& operator=(const PluginVariable&) = delete;
  ~PluginVariable() { ::unsetenv("SUBSPECTRA_CUDA_PLUGIN"); }
};

Selection run(const Dataset& data, SelectOptions options, std::string_view method, const std::string& where) {
  options.device = where;
  options.threads = 1;
  return select_features(data, MethodRegistry::from_texts(method, {}), options, RunControl());
}

bool warns(const Selection& selection, std::string_view words) {
  return std::any_of(selection.warnings.begin(), selection.warnings.end(),
                     [&](const std::string& warning) { return warning.find(words) != std::string::npos; });
}

TEST(CardMethods, GiveTheAnswersOfTheProcessor) {
  const PluginVariable plugin("good");
  for (const char* method : {"gslda", "forward-lda", "backward-lda"}) {
    for (const int classes : {2, 4}) {
      SCOPED_TRACE(fmt::format("{} {}", method, classes));
      const Dataset data(oracle::random_classes(70, 18, classes, 5));
      SelectOptions options{.k = {1, 6}};
      options.ridge.fraction = 0.05;
      const auto with = run(data, options, method, "cuda"), without = run(data, options, method, "cpu");
      EXPECT_NE(record_of(with).value("card", "").find("cuda:0, Fake"), std::string::npos);
      EXPECT_FALSE(record_of(without).contains("card"));
      EXPECT_EQ(with.status, without.status);
      ASSERT_EQ(with.sets().size(), without.sets().size());
      for (std::size_t i = 0; i < with.sets().size(); ++i) {
        const auto &x = with.sets()[i], &y = without.sets()[i];
        EXPECT_EQ(x.features, y.features);
        EXPECT_EQ(x.objective, y.objective);
        EXPECT_EQ(x.upper_bound, y.upper_bound);
        EXPECT_EQ(x.pass, y.pass);
        EXPECT_EQ(x.loadings, y.loadings);
      }
    }
  }
}

TEST(CardMethods, SayWhatTheCardHasNoPartIn) {
  const PluginVariable plugin("good");
  const Dataset data(oracle::random_classes(40, 8, 2, 5));
  EXPECT_TRUE(warns(run(data, {.k = {1, 3}}, "gspca", "cuda"), "the card has no part in this search"));
  EXPECT_FALSE(warns(run(data, {.k = {1, 3}}, "gspca", "auto"), "the card"));
  FeatureGroups groups;
  for (Index g = 0; g < 4; ++g) {
    groups.names.push_back(fmt::format("g{}", g));
    groups.members.push_back({2 * g, 2 * g + 1});
    groups.group_of.insert(groups.group_of.end(), {g, g});
  }
  SelectOptions options{.k = {1, 3}};
  options.feature_groups = std::make_shared<FeatureGroups>(groups);
  EXPECT_TRUE(warns(run(data, options, "gslda", "cuda"), "the card has no part in this search"));
}

TEST(CardMethods, SayWhyTheProcessorMadeAPass) {
  const PluginVariable plugin("small");
  const Dataset data(oracle::random_classes(40, 8, 2, 5));
  const auto with = run(data, {.k = {1, 3}}, "forward-lda", "cuda");
  EXPECT_TRUE(warns(with, "did not make the forward pass, the processor did: the matrix needs 0.1 GB"));
  EXPECT_FALSE(record_of(with).contains("card"));
  EXPECT_EQ(with.sets().back().features,
            run(data, {.k = {1, 3}}, "forward-lda", "cpu").sets().back().features);
}

TEST(CardMethods, RefuseACardThatIsNotThere) {
  const PluginVariable plugin("without_card");
  const Dataset data(oracle::random_classes(40, 8, 2, 5));
  EXPECT_THROW((void)run(data, {.k = {1, 3}}, "forward-lda", "cuda"), Error);
  EXPECT_EQ(run(data, {.k = {1, 3}}, "forward-lda", "auto").sets().size(), 3U);
}

}  // namespace
}  // namespace subspectra::card_methods_test
