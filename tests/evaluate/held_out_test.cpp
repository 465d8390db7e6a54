/// What `evaluate` says of the size it chose, against plain loops and textbook formulas.
#include "evaluate/held_out.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include <subspectra/rankers.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/sparse_pca.hpp>
#include "core/streams.hpp"
#include "evaluate/choice_json.hpp"
#include "evaluate/cross_validation.hpp"
#include "model/model.hpp"
#include "oracle.hpp"
#include "resample/folds.hpp"

namespace subspectra::held_out_test {
namespace {

Evaluation run(const Dataset& data, const EvaluateOptions& options, const SelectOptions& selection,
               const Classifier& classifier = Lda{}, const std::vector<Method>& methods = {Fisher{}}) {
  return evaluate_methods(data, methods, selection, {}, classifier, options, RunControl());
}

/// What one held-out row was answered, found by a plain loop over the folds.
struct Answer {
  Index row = 0, repeat = 0, fold = 0;
  int truth = 0, named = 0;
  Vector probabilities;
};

struct PlainRun {
  std::vector<Answer> answers;
  std::vector<std::vector<Index>> sets;  ///< by fold
};

PlainRun plain_run(const DatasetParts& data, const Labels& labels, Index k, std::uint64_t seed,
                   const std::vector<std::vector<std::vector<Index>>>& splits, const Classifier& classifier) {
  PlainRun result;
  DatasetParts relabelled = data;
  relabelled.labels = labels;
  for (std::size_t repeat = 0; repeat < splits.size(); ++repeat) {
    for (std::size_t fold = 0; fold < splits[repeat].size(); ++fold) {
      const auto& test = splits[repeat][fold];
      const DatasetParts training = Dataset(relabelled).with_rows(complement(test, data.rows())).parts();
      const auto chosen = select_features(training, Fisher{}, {.k = {k, k}, .seed = seed}, RunControl());
      const auto& features = chosen.sets()[0].features;
      result.sets.push_back(features);
      const TrainedModel model = fit_model(training, Preparation::learn(training, {}), "fisher", features,
                                           chosen.ridge, classifier, seed);
      const Matrix p = predict_probabilities(model, Dataset(relabelled).with_rows(test));
      for (std::size_t i = 0; i < test.size(); ++i) {
        Index named = 0;
        p.row(static_cast<Index>(i)).maxCoeff(&named);
        result.answers.push_back({.row = test[i],
                                  .repeat = static_cast<Index>(repeat),
                                  .fold = static_cast<Index>(fold),
                                  .truth = labels.codes[static_cast<std::size_t>(test[i])],
                                  .named = static_cast<int>(named),
                                  .probabilities = p.row(static_cast<Index>(i)).transpose()});
      }
    }
  }
  return result;
}

std::vector<std::vector<std::vector<Index>>> splits_of_repeats(const DatasetParts& data,
                                                               const EvaluateOptions& o, std::uint64_t seed) {
  std::vector<std::vector<std::vector<Index>>> splits;
  for (Index r = 0; r < o.repeats; ++r)
    splits.push_back(
        make_splits(*data.labels, {}, "t", splits_of(o), Random(seed, streams::repeat_folds(r))));
  return splits;
}

/// Of all pairs of a row of the class and one of another the weight of those in the right order, ties half.
double area_by_pairs(const std::vector<Answer>& answers, const DatasetParts& data, Index repeat, int c) {
  double right = 0.0, all = 0.0;
  for (const Answer& a : answers) {
    for (const Answer& b : answers) {
      if (a.repeat != repeat || b.repeat != repeat || a.truth != c || b.truth == c) continue;
      const double weight = data.weight(a.row) * data.weight(b.row);
      all += weight;
      if (a.probabilities[c] > b.probabilities[c]) right += weight;
      if (a.probabilities[c] == b.probabilities[c]) right += weight / 2.0;
    }
  }
  return right / all;
}

void expect_plain_numbers(const DatasetParts& data, const EvaluateOptions& options, Index k,
                          const Classifier& classifier) {
  constexpr std::uint64_t kSeed = 13;
  const int classes = data.labels->class_count();
  const Evaluation result = run(data, options, {.k = {k, k}, .seed = kSeed}, classifier);
  const PlainRun plain =
      plain_run(data, *data.labels, k, kSeed, splits_of_repeats(data, options, kSeed), classifier);
  const EvaluationChoice& choice = result.chosen.at(0);
  const auto repeats = static_cast<double>(options.repeats);

  Matrix confusion = Matrix::Zero(classes, classes);
  for (const Answer& one : plain.answers) confusion(one.truth, one.named) += data.weight(one.row) / repeats;
  EXPECT_TRUE(choice.confusion.view().isApprox(confusion, 1e-12));
  for (int c = 0; c < classes; ++c) {
    double found = 0.0, of_class = 0.0, left = 0.0, of_others = 0.0;
    for (const Answer& one : plain.answers) {
      const double w = data.weight(one.row);
      (one.truth == c ? of_class : of_others) += w;
      if (one.truth == c && one.named == c) found += w;
      if (one.truth != c && one.named != c) left += w;
    }
    EXPECT_NEAR(choice.sensitivity[static_cast<std::size_t>(c)], found / of_class, 1e-12);
    EXPECT_NEAR(choice.specificity[static_cast<std::size_t>(c)], left / of_others, 1e-12);
  }
  double area = 0.0;
  for (Index r = 0; r < options.repeats; ++r) {
    double of_repeat = 0.0;
    for (int c = 0; c < classes; ++c) of_repeat += area_by_pairs(plain.answers, data, r, c);
    area += of_repeat / classes / repeats;
  }
  ASSERT_TRUE(choice.auc);
  EXPECT_NEAR(*choice.auc, area, 1e-9);

  // The curve lies on or above none of its own corners: at every rate the most true positives that a
  // threshold reaches there, between thresholds a straight line. Its area is about that of the pairs.
  double by_trapezoids = 0.0;
  for (std::size_t i = 1; i < choice.roc.size(); ++i) {
    EXPECT_GE(choice.roc[i].true_positives, choice.roc[i - 1].true_positives - 1e-12);
    by_trapezoids += (choice.roc[i].false_positives - choice.roc[i - 1].false_positives) *
                     (choice.roc[i].true_positives + choice.roc[i - 1].true_positives) / 2.0;
  }
  EXPECT_LE(choice.roc.size(), 100U);
  EXPECT_EQ(choice.roc.back().false_positives, 1.0);
  EXPECT_NEAR(choice.roc.back().true_positives, 1.0, 1e-12);
  EXPECT_NEAR(by_trapezoids, area, 0.03);

  // Ten bins of equal width over the probability of the second class, or of every class.
  std::vector<double> rows(10), predicted(10), observed(10);
  for (const Answer& one : plain.answers) {
    for (int c = classes == 2 ? 1 : 0; c < classes; ++c) {
      const double p = one.probabilities[c], w = data.weight(one.row);
      const auto bin = static_cast<std::size_t>(std::min(9.0, std::floor(p * 10.0)));
      rows[bin] += w;
      predicted[bin] += w * p;
      observed[bin] += one.truth == c ? w : 0.0;
    }
  }
  std::size_t at = 0;
  for (std::size_t bin = 0; bin < 10; ++bin) {
    if (rows[bin] == 0.0) continue;
    ASSERT_LT(at, choice.calibration.size());
    EXPECT_NEAR(choice.calibration[at].predicted, predicted[bin] / rows[bin], 1e-6);
    EXPECT_NEAR(choice.calibration[at].observed, observed[bin] / rows[bin], 1e-12);
    EXPECT_NEAR(choice.calibration[at].rows, rows[bin] / repeats, 1e-9);
    ++at;
  }
  EXPECT_EQ(at, choice.calibration.size());

  // The folds one by one, and how often each feature was chosen.
  ASSERT_EQ(result.folds.size(), plain.sets.size());
  for (std::size_t f = 0; f < result.folds.size(); ++f) {
    const EvaluationFold& fold = result.folds[f];
    EXPECT_EQ(fold.features, plain.sets[f]);
    double wrong = 0.0, all = 0.0;
    for (const Answer& one : plain.answers) {
      if (one.repeat != fold.repeat || one.fold != fold.fold) continue;
      all += data.weight(one.row);
      wrong += one.truth != one.named ? data.weight(one.row) : 0.0;
    }
    EXPECT_NEAR(fold.error, wrong / all, 1e-7);
  }
  for (const ChosenFeature& feature : choice.features) {
    const auto with = std::count_if(plain.sets.begin(), plain.sets.end(), [&](const std::vector<Index>& set) {
      return std::find(set.begin(), set.end(), feature.index) != set.end();
    });
    EXPECT_NEAR(feature.frequency.value(), static_cast<double>(with) / static_cast<double>(plain.sets.size()),
                1e-15);
  }
}

TEST(HeldOut, ConfusionAreaCalibrationAndFoldsAgreeWithPlainLoops) {
  expect_plain_numbers(oracle::random_classes(60, 8, 2, 3, 0.6), {.folds = {5}}, 2, Lda{});
  expect_plain_numbers(oracle::random_classes(60, 8, 3, 4, 0.6), {.folds = {4}, .repeats = 3}, 3, Lda{});
  expect_plain_numbers(oracle::random_classes(50, 6, 2, 5, 0.4), {.repeats = 4, .test_fraction = 0.3}, 1,
                       Lda{});
}

TEST(HeldOut, RowsOfEqualScoreCountHalf) {
  // Votes of five neighbours tie all the time.
  expect_plain_numbers(oracle::random_classes(60, 5, 2, 6, 0.7), {.folds = {5}}, 2, Knn{});
}

TEST(HeldOut, RowWeightsCount) {
  DatasetParts data = oracle::random_classes(60, 6, 3, 7, 0.7);
  data.weights = Vector::Ones(60);
  for (Index i = 0; i < 60; i += 4) data.weights[i] = 2.0;
  expect_plain_numbers(data, {.folds = {4}, .repeats = 2}, 2, Lda{});
}

TEST(HeldOut, CountsAreWholeNumbersInOneRepeatAndSumToTheRows) {
  const DatasetParts data = oracle::random_classes(57, 6, 3, 1, 0.7);
  const Evaluation one = run(data, {.folds = {4}}, {.k = {2, 2}});
  EXPECT_FALSE(one.chosen[0].averaged);
  for (Index i = 0; i < 9; ++i) {
    const double count = one.chosen[0].confusion.data()[i];
    EXPECT_EQ(count, std::floor(count));
  }
  EXPECT_EQ(one.chosen[0].confusion.view().sum(), 57.0);
  const nlohmann::json written = choice_json(one.chosen[0]);
  EXPECT_TRUE(written["confusion"][0][0].is_number_integer());
  const Evaluation three = run(data, {.folds = {4}, .repeats = 3}, {.k = {2, 2}});
  EXPECT_TRUE(three.chosen[0].averaged);
  EXPECT_NEAR(three.chosen[0].confusion.view().sum(), 57.0, 1e-12);
}

TEST(HeldOut, ThePredictionOfEveryRowIsThatOfThePlainLoop) {
  const DatasetParts data = oracle::random_classes(40, 6, 3, 9, 0.7);
  for (const Index repeats : {1, 3}) {
    const EvaluateOptions options{.folds = {4}, .repeats = repeats, .predictions = true};
    const Evaluation result = run(data, options, {.k = {2, 2}, .seed = 3});
    const PlainRun plain = plain_run(data, *data.labels, 2, 3, splits_of_repeats(data, options, 3), Lda{});
    ASSERT_EQ(result.predictions.size(), 1U);
    const HeldOutPredictions& found = result.predictions[0];
    for (Index i = 0; i < 40; ++i) {
      const auto at = static_cast<std::size_t>(i);
      Vector mean = Vector::Zero(3);
      double wrong = 0.0;
      int named = -1;
      for (const Answer& one : plain.answers) {
        if (one.row != i) continue;
        mean += one.probabilities / static_cast<double>(repeats);
        wrong += one.truth != one.named ? 1.0 / static_cast<double>(repeats) : 0.0;
        named = one.named;
      }
      EXPECT_EQ(found.times[at], repeats);
      EXPECT_NEAR(found.wrong[at], wrong, 1e-12);
      if (repeats == 1) {
        EXPECT_EQ(found.predicted[at], named);
      }
      for (Index c = 0; c < 3; ++c) EXPECT_NEAR(found.probabilities(i, c), mean[c], 1e-5);
    }
  }
  EXPECT_TRUE(run(data, {.folds = {4}}, {.k = {2, 2}}).predictions.empty());
}

TEST(HeldOut, TheProjectionOfTwoClassesIsTheLogOddsOfTheSecond) {
  const DatasetParts data = oracle::random_classes(40, 6, 2, 9, 0.7);
  const EvaluateOptions options{.folds = {4}, .repeats = 2};
  const Evaluation result = run(data, options, {.k = {2, 2}, .seed = 3});
  const PlainRun plain = plain_run(data, *data.labels, 2, 3, splits_of_repeats(data, options, 3), Lda{});
  const EvaluationChoice& choice = result.chosen[0];
  ASSERT_EQ(choice.projection.rows(), 40);
  ASSERT_EQ(choice.projection.cols(), 1);
  for (const Answer& one : plain.answers) {
    if (one.repeat != 0) continue;  // the first time that a row was held out
    EXPECT_EQ(choice.projection_rows[static_cast<std::size_t>(one.row)], one.row);
    const double odds = std::log(one.probabilities[1]) - std::log(one.probabilities[0]);
    EXPECT_NEAR(choice.projection(one.row, 0), odds, 1e-5 * (1.0 + std::abs(odds)));
  }
}

TEST(HeldOut, ManyRowsAreSampledBySeedAndNoRowTwice) {
  const KeptRows kept = rows_to_keep(5000, 7, false);
  EXPECT_EQ(kept.sample.size(), 2000U);
  EXPECT_TRUE(std::is_sorted(kept.sample.begin(), kept.sample.end()));
  EXPECT_EQ(std::set<Index>(kept.sample.begin(), kept.sample.end()).size(), 2000U);
  EXPECT_EQ(kept.sample, rows_to_keep(5000, 7, false).sample);
  EXPECT_NE(kept.sample, rows_to_keep(5000, 8, false).sample);
  EXPECT_EQ(rows_to_keep(1999, 7, false).sample.size(), 1999U);
  const DatasetParts data = oracle::random_classes(2500, 3, 3, 1, 0.8);
  const EvaluationChoice choice = run(data, {.folds = {3}}, {.k = {1, 1}}).chosen.at(0);
  EXPECT_EQ(choice.projection.rows(), 2000);
  EXPECT_EQ(choice.projection.cols(), 2);
}

TEST(HeldOut, ATrivialErrorIsThatOfTheLargestClassOfTheTrainingRows) {
  DatasetParts data = oracle::random_classes(60, 4, 2, 2, 0.5);
  for (std::size_t i = 0; i < 60; ++i) data.labels->codes[i] = i % 3 == 0 ? 1 : 0;  // 40 and 20
  const EvaluateOptions options{.folds = {5}, .repeats = 2};
  const EvaluationChoice choice = run(data, options, {.k = {1, 1}}).chosen.at(0);
  EXPECT_NEAR(choice.trivial_error, 20.0 / 60.0, 1e-15);
  // The standard error of the difference: over the ten folds, or over the rows, whichever is larger.
  const PlainRun plain = plain_run(data, *data.labels, 1, 0, splits_of_repeats(data, options, 0), Lda{});
  std::vector<double> of_fold(10), rows_of_fold(10);
  double mean_of_rows = 0.0, squares_of_rows = 0.0;
  for (const Answer& one : plain.answers) {
    const double difference = (one.truth != 0 ? 1.0 : 0.0) - (one.truth != one.named ? 1.0 : 0.0);
    of_fold[static_cast<std::size_t>(5 * one.repeat + one.fold)] += difference;
    rows_of_fold[static_cast<std::size_t>(5 * one.repeat + one.fold)] += 1.0;
    mean_of_rows += difference / 120.0;
    squares_of_rows += difference * difference / 120.0;
  }
  double mean = 0.0, squares = 0.0;
  for (std::size_t f = 0; f < 10; ++f) mean += of_fold[f] / rows_of_fold[f] / 10.0;
  for (std::size_t f = 0; f < 10; ++f) squares += std::pow(of_fold[f] / rows_of_fold[f] - mean, 2);
  const double over_folds = std::sqrt(squares / 9.0 * (1.0 / 10.0 + 12.0 / 48.0));
  const double over_rows = std::sqrt((squares_of_rows - mean_of_rows * mean_of_rows) / 60.0);
  EXPECT_NEAR(choice.trivial_stderr, std::max(over_folds, over_rows), 1e-7);
  // Leave-one-out of classes of one size: without the row its class is the smaller one, so that the largest
  // class of the training rows is always wrong. That is no yardstick; naming one class errs in half.
  const DatasetParts even = oracle::random_classes(20, 4, 2, 2, 0.5);
  EXPECT_EQ(run(even, {.folds = kLeaveOneOut}, {.k = {1, 1}}).chosen[0].trivial_error, 0.5);
}

TEST(HeldOut, AnErrorWithinItsStandardErrorOfTheTrivialOneIsDoubted) {
  const Evaluation noise = run(oracle::random_classes(60, 30, 2, 3, 0.0), {.folds = {5}}, {.k = {1, 5}});
  EXPECT_NE(noise.chosen[0].doubt(), "");
  EXPECT_NE(noise.chosen[0].doubt().find("largest class (0.5000)"), std::string::npos)
      << noise.chosen[0].doubt();
  const Evaluation signal = run(oracle::random_classes(60, 30, 2, 3, 2.0), {.folds = {5}}, {.k = {1, 5}});
  EXPECT_EQ(signal.chosen[0].doubt(), "");
  EvaluationChoice choice;
  choice.confusion = DenseMatrix(2, 2);
  choice.error = 0.4, choice.trivial_error = 0.45, choice.trivial_stderr = 0.06;
  EXPECT_NE(choice.doubt().find("within its standard error (0.0600)"), std::string::npos);
  choice.trivial_stderr = 0.04;
  EXPECT_EQ(choice.doubt(), "");
  choice.error = 0.46;
  EXPECT_NE(choice.doubt().find("above"), std::string::npos);
}

TEST(HeldOut, NothingDependsOnTheNumberOfThreads) {
  const DatasetParts data = oracle::random_classes(60, 12, 3, 4, 0.7);
  const EvaluateOptions options{.folds = {4}, .repeats = 3, .null = 5, .predictions = true};
  const std::vector<Method> methods = {Fisher{}, ForwardLda{}};
  const auto with = [&](int threads) {
    return run(data, options, {.k = {1, 6}, .seed = 7, .threads = threads}, Lda{}, methods);
  };
  const Evaluation one = with(1);
  for (const int threads : {2, 8}) {
    const Evaluation many = with(threads);
    ASSERT_EQ(many.chosen.size(), 2U);
    for (std::size_t m = 0; m < 2; ++m) {
      EXPECT_EQ(choice_json(many.chosen[m]), choice_json(one.chosen[m]));
      EXPECT_EQ(many.predictions[m].probabilities, one.predictions[m].probabilities);
    }
    ASSERT_EQ(many.folds.size(), one.folds.size());
    for (std::size_t f = 0; f < one.folds.size(); ++f) {
      EXPECT_EQ(many.folds[f].features, one.folds[f].features);
      EXPECT_EQ(many.folds[f].error, one.folds[f].error);
    }
    EXPECT_EQ(many.comparison[0].stderr_, one.comparison[0].stderr_);
  }
}

TEST(HeldOut, SelectionOnAllRowsHasNoFrequencies) {
  const DatasetParts data = oracle::random_classes(40, 6, 2, 9, 0.7);
  const Evaluation result = run(data, {.folds = {4}, .select_on = SelectOn::kAll}, {.k = {2, 2}});
  for (const ChosenFeature& feature : result.chosen[0].features) {
    EXPECT_FALSE(feature.frequency);
    EXPECT_TRUE(feature.substitutes.empty());
  }
}

TEST(HeldOut, DegenerateTablesGiveNumbersOrNothing) {
  DatasetParts data = oracle::random_classes(24, 5, 3, 4, 1.0);
  data.dense.col(1).setConstant(3.0);
  data.dense.col(2) = data.dense.col(0);
  data.dense.col(3) *= 1e70;
  data.dense.col(4) *= 1e-70;
  data.labels->classes.emplace_back("never");  // a class without rows
  const Evaluation result =
      run(data, {.folds = {4}}, {.k = {1, 4}}, Lda{}, {Fisher{}, ForwardLda{}, All{}, Pca{}});
  ASSERT_EQ(result.chosen.size(), 4U);
  for (const EvaluationChoice& choice : result.chosen) {
    if (!choice.judged()) continue;
    EXPECT_TRUE(std::isnan(choice.sensitivity[3])) << choice.method;
    EXPECT_TRUE(choice.auc && *choice.auc >= 0.0 && *choice.auc <= 1.0) << choice.method;
    EXPECT_TRUE(choice.projection.view().allFinite()) << choice.method;
    EXPECT_FALSE(choice.features.empty());
    EXPECT_TRUE(choice_json(choice)["sensitivity"][3].is_null() ||
                std::isnan(choice_json(choice)["sensitivity"][3].get<double>()));
  }
  // A class of one row, held out.
  DatasetParts lonely = oracle::random_classes(20, 4, 2, 1);
  lonely.labels->classes.emplace_back("rare");
  lonely.labels->codes[7] = 2;
  const Evaluation alone = run(lonely, {.folds = kLeaveOneOut}, {.k = {1, 4}});
  EXPECT_EQ(alone.chosen[0].sensitivity[2], 0.0);
  EXPECT_TRUE(alone.chosen[0].projection.view().allFinite());
}

TEST(Permutations, ThePValueCountsTheChoiceOfTheSize) {
  // By hand: for every permutation the errors of all sizes, the size by the same rule, its error. (37 rows
  // cannot be cut into equal folds, so that no error lies exactly one standard error above another.)
  const DatasetParts data = oracle::random_classes(37, 6, 2, 21, 0.45, 1);
  constexpr std::uint64_t kSeed = 5;
  constexpr Index kPermutations = 12;
  const EvaluateOptions options{.folds = {3}, .null = kPermutations};
  const Evaluation result = run(data, options, {.k = {1, 4}, .seed = kSeed});
  const auto error_at_choice = [&](const Labels& labels, std::uint64_t stream) {
    const auto splits = make_splits(labels, {}, "t", splits_of(options), Random(kSeed, stream));
    std::vector<double> errors, deviations;
    for (Index k = 1; k <= 4; ++k) {
      const PlainRun plain = plain_run(data, labels, k, kSeed, {splits}, Lda{});
      std::vector<double> wrong(3), rows(3);
      for (const Answer& one : plain.answers) {
        rows[static_cast<std::size_t>(one.fold)] += 1.0;
        wrong[static_cast<std::size_t>(one.fold)] += one.truth != one.named ? 1.0 : 0.0;
      }
      double mean = 0.0, squares = 0.0;
      for (std::size_t f = 0; f < 3; ++f) mean += wrong[f] / rows[f] / 3.0;
      for (std::size_t f = 0; f < 3; ++f) squares += std::pow(wrong[f] / rows[f] - mean, 2);
      errors.push_back(std::accumulate(wrong.begin(), wrong.end(), 0.0) / 37.0);
      deviations.push_back(std::sqrt(squares / 2.0 / 3.0));
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < 4; ++k) {
      if (errors[k] < errors[best]) best = k;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      if (errors[k] <= errors[best] + deviations[best]) return errors[k];
    }
    return 2.0;
  };
  const double observed = error_at_choice(*data.labels, streams::repeat_folds(0));
  EXPECT_NEAR(result.chosen[0].error, observed, 1e-12);
  int as_good = 0;
  for (Index i = 1; i <= kPermutations; ++i) {
    Labels labels = *data.labels;
    Random(kSeed, streams::null_labels(i)).shuffle(std::span<int>(labels.codes));
    if (error_at_choice(labels, streams::null_folds(i)) <= observed + 1e-12) ++as_good;
  }
  EXPECT_EQ(result.chosen[0].permutations, kPermutations);
  EXPECT_DOUBLE_EQ(result.chosen[0].p_value.value(), (1.0 + as_good) / (1.0 + kPermutations));
  EXPECT_FALSE(run(data, {.folds = {3}}, {.k = {1, 4}}).chosen[0].p_value);
}

TEST(Permutations, WithoutSignalThePValueIsUniformAndWithSignalTheLeastThereIs) {
  constexpr int kTables = 120;
  int at_most_tenth = 0, at_most_half = 0;
  double sum = 0.0;
  for (int table = 0; table < kTables; ++table) {
    const Evaluation result =
        run(oracle::random_classes(24, 6, 2, 1000 + table, 0.0), {.folds = {3}, .null = 19},
            {.k = {1, 4}, .seed = 1 + std::uint64_t(table)});
    const double p = result.chosen[0].p_value.value();
    sum += p;
    at_most_tenth += p <= 0.1 + 1e-9;
    at_most_half += p <= 0.5 + 1e-9;
  }
  EXPECT_LE(at_most_tenth, 22) << "12 are expected";  // 3 standard deviations
  EXPECT_GE(at_most_half, 36);
  EXPECT_LE(at_most_half, 76) << "60 are expected";
  EXPECT_NEAR(sum / kTables, 0.57, 0.11);  // above 0.525, because errors of 24 rows tie
  const Evaluation strong =
      run(oracle::random_classes(40, 6, 2, 3, 2.5), {.folds = {4}, .null = 39}, {.k = {1, 4}});
  EXPECT_DOUBLE_EQ(strong.chosen[0].p_value.value(), 1.0 / 40.0);
}

TEST(Permutations, GroupsOfOneClassExchangeTheirClassesAsAWhole) {
  // Twelve patients of five nearly equal rows each and no signal. By single rows every permutation looks
  // worse than the patients do, because rows of one patient no longer agree.
  int least = 0;
  for (int table = 0; table < 40; ++table) {
    DatasetParts data = oracle::random_classes(60, 4, 2, 300 + table, 0.0);
    for (Index i = 0; i < 60; ++i) {
      const Index patient = i / 5;
      data.labels->codes[static_cast<std::size_t>(i)] = static_cast<int>(patient % 2);
      data.row_groups.push_back(std::to_string(patient));
      data.dense.row(i) = data.dense.row(5 * patient) + 0.05 * data.dense.row(i);
    }
    const Evaluation result = run(data, {.folds = {3}, .null = 19}, {.k = {1, 2}, .seed = 7});
    least += result.chosen[0].p_value.value() <= 0.1 + 1e-9;
  }
  EXPECT_LE(least, 10) << "4 are expected";
}

/// Stops when so many held-out sets have been judged.
Evaluation stopped_after(const DatasetParts& data, int sets, const EvaluateOptions& options, int threads = 1,
                         std::uint64_t seed = 0) {
  std::stop_source stop;
  int judged = 0;
  const RunControl control(
      stop.get_token(), kInfinity,
      [&](const Progress&) {
        if (++judged == sets) stop.request_stop();
      },
      0.0);
  return evaluate_methods(data, {Fisher{}}, {.k = {1, 2}, .seed = seed, .threads = threads}, {}, Lda{},
                          options, control);
}

TEST(CutShort, NoSizeIsNamedBestByFewerThanHalfOfTheFolds) {
  const DatasetParts data = oracle::random_classes(40, 4, 2, 1);
  const EvaluateOptions options{.folds = {5}, .repeats = 2};
  const Evaluation few = stopped_after(data, 4, options);
  EXPECT_FALSE(few.complete());
  EXPECT_EQ(few.folds_run, 4);
  EXPECT_TRUE(few.chosen.empty());
  EXPECT_TRUE(few.folds.empty());
  EXPECT_EQ(few.rows.size(), 2U);  // what was found is there
  EXPECT_THROW((void)few.k_best(), Error);
  const Evaluation half = stopped_after(data, 5, options);
  EXPECT_EQ(half.folds_run, 5);
  ASSERT_EQ(half.chosen.size(), 1U);
  EXPECT_EQ(half.folds.size(), 5U);
  EXPECT_GT(half.chosen[0].k_best, 0);
  EXPECT_TRUE(run(data, options, {.k = {1, 2}}).complete());
}

TEST(CutShort, TheFoldsAreTakenInAShuffledOrderThatTheSeedDecides) {
  const DatasetParts data = oracle::random_classes(60, 4, 2, 1);
  const EvaluateOptions options{.folds = kLeaveOneOut};
  const auto rows_of = [&](std::uint64_t seed) {
    std::vector<Index> rows;
    for (const auto& fold : stopped_after(data, 40, options, 1, seed).folds) rows.push_back(fold.fold);
    return rows;
  };
  const auto rows = rows_of(0);
  ASSERT_EQ(rows.size(), 40U);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));  // summed in their order
  const auto late = std::count_if(rows.begin(), rows.end(), [](Index row) { return row >= 40; });
  EXPECT_GE(late, 7);  // of the last 20 rows; 13 are expected
  EXPECT_LE(late, 19);
  EXPECT_EQ(rows, rows_of(0));
  EXPECT_NE(rows, rows_of(1));
}

}  // namespace
}  // namespace subspectra::held_out_test
