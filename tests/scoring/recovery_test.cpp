// Four Gaussian classes in 500 features of which ten tell them apart, 100 rows to learn from: every method
// finds most of the ten, and classifies 1,000 new rows about as well as the published figures of careful
// implementations say (error, features kept, informative ones among them).
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "classify/classifier.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"
#include "synth/gaussian_classes.hpp"

namespace subspectra {
namespace {

constexpr Index kRows = 100, kNewRows = 1000, kInformative = 10;
constexpr int kSeeds = 6;

struct Expected {
  std::string method, lambda;
  double error, features, informative;
};
std::ostream& operator<<(std::ostream& out, const Expected& e) { return out << e.method; }

struct Found {
  double error = 0.0, features = 0.0, informative = 0.0;
};

Found mean_of_seeds(const Expected& e) {
  std::vector<Index> first(kRows), rest(kNewRows);
  std::iota(first.begin(), first.end(), Index{0});
  std::iota(rest.begin(), rest.end(), kRows);
  Found mean;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const DatasetParts all = synth::GaussianClasses{.rows = kRows + kNewRows,
                                                    .features = 500,
                                                    .classes = 4,
                                                    .informative = kInformative,
                                                    .seed = seed}
                                 .make()
                                 .parts();
    const DatasetParts training = Dataset(all).with_rows(first).parts(),
                       fresh = Dataset(all).with_rows(rest).parts();
    SelectOptions options;
    options.threads = 1;
    const Selection selection = select_features(
        training, MethodRegistry::from_texts(e.method, {{"lambda", e.lambda}}), options, RunControl());
    const auto& record = *selection.chosen_fit();
    const Matrix posteriors =
        fit_rule(training, record, Lda{})->log_posteriors(Dataset(fresh).values().columns(record.features));
    Index wrong = 0;
    for (Index i = 0; i < kNewRows; ++i) {
      Index predicted = 0;
      posteriors.row(i).maxCoeff(&predicted);
      wrong += predicted == fresh.labels->codes[static_cast<std::size_t>(i)] ? 0 : 1;
    }
    mean.error += static_cast<double>(wrong) / kNewRows / kSeeds;
    mean.features += static_cast<double>(record.features.size()) / kSeeds;
    mean.informative += static_cast<double>(std::count_if(record.features.begin(), record.features.end(),
                                                          [](Index j) { return j < kInformative; })) /
                        kSeeds;
  }
  return mean;
}

class Recovery : public ::testing::TestWithParam<Expected> {};

TEST_P(Recovery, FindsTheInformativeFeatures) {
  const Expected& expected = GetParam();
  const Found found = mean_of_seeds(expected);
  // The class means are drawn anew for every seed, so that means over six differ by a few percent.
  EXPECT_LE(found.error, expected.error + 0.05);
  EXPECT_GE(found.informative, expected.informative - 1.0);
  EXPECT_LE(found.features, 1.7 * expected.features);
}

INSTANTIATE_TEST_SUITE_P(Methods, Recovery,
                         ::testing::Values(Expected{"gloss", "auto:0.25", 0.089, 19.2, 8.6},
                                           Expected{"jeffreys-row", "auto:0.07", 0.094, 7.2, 7.1},
                                           Expected{"rvm-row", "auto:0.1", 0.098, 11.4, 7.9},
                                           Expected{"sda", "auto:0.25", 0.113, 19.5, 8.6},
                                           Expected{"rvm-entry", "auto:0.01", 0.116, 24.4, 7.9},
                                           Expected{"plda", "auto:0.2", 0.120, 82.8, 8.9}));

}  // namespace
}  // namespace subspectra
