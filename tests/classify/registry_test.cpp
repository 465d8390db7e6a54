#include "classify/registry.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "classify/classifier.hpp"
#include "oracle.hpp"

namespace subspectra {
namespace {

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidArgument& refusal) {
    return refusal.what();
  }
  return "(no error)";
}

TEST(Classifiers, AreFoundByTheNamesOfTheirStructs) {
  std::vector<std::string_view> names;
  for (const auto& traits : classifier_list()) names.push_back(traits.name);
  for (const auto known : {"lda", "svm", "knn", "gp-laplace", "gp-ep"})
    EXPECT_EQ(std::count(names.begin(), names.end(), known), 1) << known;
  for (const auto name : names) {
    EXPECT_EQ(Classifier(name).name(), name);
    EXPECT_EQ(Classifier(name).traits().name, name);
  }
  EXPECT_EQ(Classifier().name(), "lda");
  EXPECT_NE(refusal_of([] { (void)Classifier("tree"); }).find(fmt::format("{}", fmt::join(names, "|"))),
            std::string::npos);
}

TEST(Classifiers, HoldTheStructTheyAreMadeFrom) {
  const Classifier machine = Svm{.C = 2.0, .svm_kernel = SvmKernel::kRbf};
  const Classifier copy = machine;
  EXPECT_EQ(&copy.as<Svm>(), &machine.as<Svm>()) << "a copy shares the options";
  EXPECT_EQ(copy.as<Svm>().C, 2.0);
  EXPECT_NE(refusal_of([&] { (void)machine.as<Knn>(); }), "(no error)");
}

TEST(Classifiers, ComeBackFromTextsAndFromJson) {
  const Classifier process =
      Classifier::parse("gp-ep", {{"lengthscale", "1,2.5"}, {"hyperparameters", "fixed"}, {"ard", "true"}});
  const auto& options = process.as<GpEp>();
  EXPECT_EQ(options.lengthscale.values, (std::vector<double>{1.0, 2.5}));
  EXPECT_EQ(options.hyperparameters, Hyperparameters::kFixed);
  EXPECT_TRUE(options.ard);
  EXPECT_EQ(options.signal, kInfinity);
  for (const Classifier& one :
       {process, Classifier(Svm{.C = 0.1}), Classifier(GpLaplace{.signal = 1.0 / 3.0}),
        Classifier(Knn{.prior = Prior::kUniform}), Classifier(Lda{.components = 2})}) {
    const Classifier back = Classifier::from_json(one.name(), one.options_json());
    EXPECT_EQ(back.options_json(), one.options_json());
  }
  EXPECT_EQ(Classifier::from_json("gp-laplace", R"({"signal": 0.3333333333333333})").as<GpLaplace>().signal,
            1.0 / 3.0);
  EXPECT_NE(refusal_of([] { (void)Classifier::parse("knn", {{"C", "1"}}); }), "(no error)");
  EXPECT_NE(refusal_of([] { (void)Classifier::from_json("knn", "[1"); }), "(no error)");
  EXPECT_NE(refusal_of([] { (void)Classifier::parse("knn", {{"neighbors", "0"}}); }), "(no error)");
}

TEST(Classifiers, OptionsThatBreakTheirRulesAreRefusedWhereTheyAreUsed) {
  const Dataset data = oracle::random_classes(30, 3, 2, 1);
  for (const Classifier& wrong :
       {Classifier(Svm{.C = -1.0}), Classifier(Svm{.svm_degree = 21}), Classifier(Svm{.svm_gamma = 0.0}),
        Classifier(Knn{.neighbors = 0}), Classifier(GpEp{.signal = 0.0}),
        Classifier(GpLaplace{.restarts = 0}), Classifier(Svm{.C = std::nan("")})}) {
    EXPECT_THROW(ClassifierTrainer(data, {0, 1}, 0.0, wrong), InvalidArgument) << wrong.options_json();
    EXPECT_THROW((void)fit_projected(data, {0, 1}, Matrix::Identity(2, 2), wrong), InvalidArgument);
  }
}

TEST(Classifiers, AnOptionHasOneMeaningAndOneDefault) {
  std::set<std::string> names;
  for (const auto& option : describe_classifiers())
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
  for (const auto& kind : classifier_kinds()) {
    for (const auto& option : kind->options()) {
      for (const auto& same : describe_classifiers()) {
        if (same.name != option.name) continue;
        EXPECT_EQ(same.help, option.help);
        EXPECT_EQ(same.default_text, option.default_text);
      }
    }
    for (const auto& condition : kind->traits().conditions) {
      EXPECT_TRUE(names.contains(std::string(condition.option)));
      EXPECT_TRUE(names.contains(std::string(condition.depends_on)));
    }
    for (const auto& refusal : kind->traits().refusals)
      EXPECT_TRUE(names.contains(std::string(refusal.option)));
  }
  EXPECT_EQ(classifiers_with("signal"), (std::vector<std::string_view>{"gp-laplace", "gp-ep"}));
  EXPECT_EQ(classifiers_with("prior").size(), classifier_kinds().size());
}

TEST(Classifiers, TheRuleNamesTheClassifierAndWeightsAreTakenWhereTheTraitsSaySo) {
  const DatasetParts data = oracle::random_classes(30, 3, 2, 2);
  for (const auto& kind : classifier_kinds()) {
    const Classifier classifier(kind->traits().name);
    const RulePointer rule = ClassifierTrainer(data, {0, 1, 2}, 0.0, classifier).fit({0, 2});
    EXPECT_EQ(rule->classifier(), kind->traits().name);
    EXPECT_NE(rule->description().find(fmt::format("classifier {}", kind->traits().name)), std::string::npos);
    DatasetParts weighted = data;
    weighted.weights = Vector::LinSpaced(30, 1.0, 2.0);
    const std::string said = refusal_of([&] {
      (void)ClassifierTrainer(weighted, {0, 1, 2}, 0.0, classifier);
    });
    EXPECT_EQ(said == "(no error)", kind->traits().takes_weights) << said;
  }
}

}  // namespace
}  // namespace subspectra
