#include "evaluate/cross_validation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <subspectra/rankers.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/sparse_pca.hpp>
#include "data/moments_count.hpp"
#include "model/model.hpp"
#include "oracle.hpp"
#include "resample/folds.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

Evaluation evaluated(const Dataset& data, const EvaluateOptions& options, SelectOptions selection = {},
                     PrepareOptions prepare = {}, const std::vector<std::string>& names = {"fisher"},
                     const Lda& rule = {}) {
  std::vector<Method> methods;
  for (const auto& name : names) methods.emplace_back(name);
  return evaluate_methods(data, methods, selection, prepare, rule, options, RunControl());
}

// By hand: one feature, two classes, leave-one-out. With one feature LDA is "the nearer class mean, shifted
// by the priors": class a = {0, 1, 5}, b = {4, 6, 8}. Each row left out in turn, variance pooled, priors 2/5
// and 3/5:
TEST(Evaluate, AgreesWithALeaveOneOutDoneByHand) {
  DatasetParts data;
  data.source = "hand";
  data.dense.resize(6, 1);
  data.dense << 0, 1, 5, 4, 6, 8;
  data.names = FeatureNames(1);
  data.labels = Labels::from_texts("class", {"a", "a", "a", "b", "b", "b"});
  double loss = 0.0;
  int wrong = 0;
  int wrong_of[2] = {0, 0};
  for (int out = 0; out < 6; ++out) {
    double sum[2] = {0, 0}, n[2] = {0, 0}, squares = 0;
    for (int i = 0; i < 6; ++i) {
      if (i != out) sum[i / 3] += data.dense(i, 0), n[i / 3] += 1;
    }
    const double mean[2] = {sum[0] / n[0], sum[1] / n[1]};
    for (int i = 0; i < 6; ++i) {
      if (i != out) squares += std::pow(data.dense(i, 0) - mean[i / 3], 2);
    }
    const double variance = squares / 5.0;
    double density[2];
    for (int c = 0; c < 2; ++c) {
      density[c] = n[c] / 5.0 * std::exp(-0.5 * std::pow(data.dense(out, 0) - mean[c], 2) / variance);
    }
    const int truth = out / 3;
    loss -= std::log(density[truth] / (density[0] + density[1]));
    if (density[truth] < density[1 - truth]) ++wrong, ++wrong_of[truth];
  }
  const auto result = evaluated(data, {.folds = {0}});
  ASSERT_EQ(result.rows.size(), 1U);
  const auto& row = result.rows[0];
  EXPECT_EQ(wrong, 2);  // the rows 5 of a and 4 of b, which lie among the others
  EXPECT_NEAR(row.error, wrong / 6.0, 1e-15);
  EXPECT_NEAR(row.balanced_error, (wrong_of[0] / 3.0 + wrong_of[1] / 3.0) / 2.0, 1e-15);
  EXPECT_NEAR(row.log_loss, loss / 6.0, 1e-12);
  const double rate = wrong / 6.0;
  EXPECT_NEAR(row.stderr_, std::sqrt(6.0 * rate * (1 - rate) / 5.0 / 6.0), 1e-12);
  EXPECT_EQ(result.folds_run, 6);
  EXPECT_EQ(result.status, Status::kHeuristic);
}

TEST(Evaluate, RefusesWhatContradictsItself) {
  const Dataset data(oracle::random_classes(40, 5, 2, 3));
  const auto refusal = [&](const Method& method, const EvaluateOptions& options,
                           const SelectOptions& selection) -> std::string {
    try {
      (void)evaluate_methods(data, {method}, selection, {}, Lda{}, options, RunControl());
    } catch (const InvalidArgument& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(Fisher{}, {.folds = 4, .test_fraction = 0.3}, {}),
            "folds makes folds and test_fraction random splits instead of them; leave one out");
  EXPECT_EQ(refusal(Fisher{}, {.test_fraction = 0.3}, {}), "");
  const std::string several =
      "checkpoint and resume hold the state of one search, but here there are several; use them with select, without components";
  EXPECT_EQ(refusal(Eslda{.checkpoint = "state.json"}, {}, {.k = {2, 2}}), several);
  EXPECT_EQ(refusal(Fisher{}, {}, {.ridge = {.value = 1.0, .fraction = 1.0}}),
            "ridge is given as a number and as a fraction; give one of them");
  EXPECT_EQ(refusal(Fisher{}, {}, {.groups = "none.csv", .feature_group_names = {"a", "a", "b", "b", "b"}}),
            "groups = none.csv and the names of groups by feature are both given; give one of them");
  try {
    (void)select_features(data, Espca{.resume = "state.json"}, {.k = {1, 2}, .components = 2}, RunControl());
    FAIL();
  } catch (const InvalidArgument& refused) {
    EXPECT_EQ(refused.what(), several);
  }
}

TEST(Evaluate, SelectionInsideTheFoldsSeesNoSignalWhereThereIsNone) {
  // Pure noise, many features: chosen on all rows they look excellent, chosen inside the folds they are a
  // coin toss.
  const DatasetParts data = oracle::random_classes(40, 400, 2, 3, 0.0);
  const SelectOptions ten{.k = {10, 10}};
  const auto honest = evaluated(data, {.folds = {5}, .repeats = 10}, ten);
  const auto optimistic = evaluated(data, {.folds = {5}, .repeats = 10, .select_on = SelectOn::kAll}, ten);
  EXPECT_TRUE(honest.nested);
  EXPECT_FALSE(optimistic.nested);
  EXPECT_GT(honest.rows[0].error, 0.35);
  EXPECT_LT(optimistic.rows[0].error, 0.2);
  EXPECT_LT(honest.rows[0].apparent_error, 0.1);
  EXPECT_FALSE(optimistic.warnings.empty());
  EXPECT_FALSE(optimistic.rows[0].stability);
}

TEST(Evaluate, ResultsDoNotDependOnTheNumberOfThreads) {
  const DatasetParts data = oracle::random_classes(60, 12, 3, 4);
  const EvaluateOptions options{.folds = {4}, .repeats = 3, .null = 2};
  SelectOptions selection{.seed = 7, .threads = 1};
  const auto one = evaluated(data, options, selection, {}, {"fisher", "pearson"});
  for (const int threads : {2, 8}) {
    selection.threads = threads;
    const auto many = evaluated(data, options, selection, {}, {"fisher", "pearson"});
    ASSERT_EQ(one.rows.size(), many.rows.size());
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
      EXPECT_EQ(one.rows[i].error, many.rows[i].error);
      EXPECT_EQ(one.rows[i].log_loss, many.rows[i].log_loss);
      EXPECT_EQ(one.rows[i].null_error, many.rows[i].null_error);
      EXPECT_EQ(one.rows[i].stability, many.rows[i].stability);
    }
  }
}

// Oracle: the same protocol as a plain loop over folds with fit_model and predict_probabilities.
TEST(Evaluate, AgreesWithALoopOverFoldsThatFitsAndPredicts) {
  DatasetParts data = oracle::random_classes(50, 6, 3, 5, 0.8);
  data.dense(3, 2) = std::nan("");
  data.dense(17, 0) = std::nan("");
  const PrepareOptions prepare{.missing = MissingPolicy::kMean, .standardize = true};
  const SelectOptions selection{.k = {1, 6}, .seed = 11};
  const EvaluateOptions options{.folds = {5}, .repeats = 2};
  const auto result = evaluated(data, options, selection, prepare);
  ASSERT_EQ(result.rows.size(), 6U);
  for (Index k = 1; k <= 6; ++k) {
    double wrong = 0, rows = 0, loss = 0;
    std::vector<double> fold_errors;
    for (std::uint64_t repeat = 0; repeat < 2; ++repeat) {
      for (const auto& test : make_splits(*data.labels, {}, "t", splits_of(options), Random(11, repeat))) {
        const DatasetParts training = Dataset(data).with_rows(complement(test, data.rows())).parts();
        const Preparation preparation = Preparation::learn(training, prepare);
        const auto chosen =
            select_features(preparation.apply(training), Fisher{}, {.k = {k, k}, .seed = 11}, RunControl());
        const TrainedModel model =
            fit_model(training, preparation, "fisher", chosen.sets()[0].features, chosen.ridge, {});
        const Matrix p = predict_probabilities(model, Dataset(data).with_rows(test));
        double fold_wrong = 0;
        for (std::size_t i = 0; i < test.size(); ++i) {
          Index predicted = 0;
          p.row(static_cast<Index>(i)).maxCoeff(&predicted);
          const int truth = data.labels->codes[test[i]];
          fold_wrong += predicted != truth;
          loss -= std::log(p(static_cast<Index>(i), truth));
        }
        fold_errors.push_back(fold_wrong / static_cast<double>(test.size()));
        wrong += fold_wrong;
        rows += static_cast<double>(test.size());
      }
    }
    const auto& row = result.rows[static_cast<std::size_t>(k - 1)];
    EXPECT_EQ(row.k, k);
    EXPECT_NEAR(row.error, wrong / rows, 1e-14);
    EXPECT_NEAR(row.log_loss, loss / rows, 1e-9);
    const double mean = std::accumulate(fold_errors.begin(), fold_errors.end(), 0.0) / 10.0;
    double squares = 0;
    for (const double e : fold_errors) squares += (e - mean) * (e - mean);
    EXPECT_NEAR(row.stderr_, std::sqrt(squares / 9.0 / 10.0), 1e-12);
  }
}

TEST(Evaluate, PermutedLabelsShowWhatNoSignalLooksLike) {
  const DatasetParts data = oracle::random_classes(80, 5, 2, 6, 2.0);
  const auto result = evaluated(data, {.folds = {5}, .null = 20}, {.k = {3, 3}});
  ASSERT_TRUE(result.rows[0].null_error);
  EXPECT_LT(result.rows[0].error, 0.1);
  EXPECT_NEAR(*result.rows[0].null_error, 0.5, 0.07);
}

TEST(Evaluate, ChoosesTheSmallestBestAndTheOneStandardErrorSize) {
  const auto result =
      evaluated(oracle::random_classes(90, 10, 2, 8, 1.0, 2), {.folds = {5}, .repeats = 4}, {.k = {1, 10}});
  const auto& choice = result.chosen.at(0);
  const EvaluationRow* best = &result.rows[0];
  for (const auto& row : result.rows) {
    if (row.error < best->error) best = &row;
  }
  EXPECT_EQ(choice.k_best, best->k);
  EXPECT_LE(choice.k_one_standard_error, choice.k_best);
  for (const auto& row : result.rows) {
    if (row.k < choice.k_one_standard_error) {
      EXPECT_GT(row.error, best->error + best->stderr_);
    }
  }
}

TEST(Evaluate, StopsWhenAskedAndSaysSo) {
  std::stop_source stop;
  stop.request_stop();
  const DatasetParts data = oracle::random_classes(60, 5, 2, 1);
  const std::vector<Method> methods = {Fisher{}};
  const auto result = evaluate_methods(data, methods, {}, {}, Lda{}, {.repeats = 50},
                                       RunControl(stop.get_token(), kInfinity));
  EXPECT_EQ(result.status, Status::kInterrupted);
  EXPECT_EQ(result.folds_run, 0);
  EXPECT_TRUE(result.rows.empty());
  const auto late = evaluate_methods(data, methods, {}, {}, Lda{}, {.repeats = 50}, RunControl({}, 0.0));
  EXPECT_EQ(late.status, Status::kTimeLimit);
}

TEST(Evaluate, AClassifierWhoseTrainingIsCutShortIsNotCounted) {
  const DatasetParts data = oracle::random_classes(60, 5, 2, 1);
  for (const Method& method : {Method(Fisher{}), Method(Pca{})}) {
    for (const Classifier& classifier : {Classifier(Svm{}), Classifier(GpLaplace{.restarts = 1})}) {
      // The stop comes from within: when the fourth training set has been judged.
      std::stop_source stop;
      int judged = 0;
      const RunControl control(
          stop.get_token(), kInfinity,
          [&](const Progress&) {
            if (++judged == 4) stop.request_stop();
          },
          0.0);
      const auto result = evaluate_methods(data, {method}, {.k = {1, 2}, .threads = 1}, {}, classifier,
                                           {.folds = {3}, .repeats = 3}, control);
      EXPECT_EQ(result.status, Status::kInterrupted);
      EXPECT_EQ(result.folds_run, 4);
      EXPECT_EQ(result.folds_planned, 9);
      EXPECT_EQ(result.rows.size(), 2U);
    }
  }
}

TEST(Evaluate, MoreNeighboursThanRowsAreSaid) {
  const DatasetParts data = oracle::random_classes(30, 3, 2, 1);
  const auto says = [&](Index neighbors) {
    const auto result = evaluate_methods(data, {Fisher{}}, {.k = {1, 1}}, {}, Knn{.neighbors = neighbors},
                                         {.folds = {5}}, RunControl());
    return std::any_of(result.warnings.begin(), result.warnings.end(), [](const std::string& warning) {
      return warning.find("is more than the 24 rows to learn from") != std::string::npos;
    });
  };
  EXPECT_FALSE(says(24));
  EXPECT_TRUE(says(25));  // of 30 rows a fold trains on 24
}

TEST(Evaluate, AClassOfOneRowIsSaidAndSurvived) {
  DatasetParts data = oracle::random_classes(30, 4, 2, 1);
  data.labels->classes.emplace_back("rare");
  data.labels->codes[7] = 2;
  const auto result = evaluated(data, {.folds = {0}});
  EXPECT_TRUE(std::isfinite(result.rows[0].log_loss));
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(), [](const std::string& warning) {
    return warning.find("rare") != std::string::npos;
  }));
  EXPECT_THROW((void)evaluated(data, {.folds = {5}}), BadInput);
}

TEST(Evaluate, ATargetOfIdsOrContinuousValuesIsNamedAsSuch) {
  DatasetParts data = oracle::random_classes(12, 3, 2, 1);
  data.labels->classes.clear();
  for (int i = 0; i < 12; ++i) {
    data.labels->classes.push_back(std::to_string(i));
    data.labels->codes[static_cast<std::size_t>(i)] = i;
  }
  try {
    (void)evaluated(data, {.folds = {5}});
    FAIL();
  } catch (const BadInput& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("continuous value or like sample ids"), std::string::npos)
        << refusal.what();
  }
  const auto result = evaluated(data, {.folds = {0}});
  const auto said =
      std::count_if(result.warnings.begin(), result.warnings.end(),
                    [](const std::string& warning) { return warning.find("one row") != std::string::npos; });
  EXPECT_EQ(said, 1) << "once, not twelve times";
}

// Several methods share one prepared copy of the training rows; each must see what it would see alone.
TEST(Evaluate, SeveralMethodsGiveWhatEachGivesAlone) {
  for (const bool sparse : {false, true}) {
    DatasetParts data = oracle::random_classes(60, 8, 2, 3);
    data.dense(5, 2) = std::nan("");
    if (sparse) data = oracle::as_sparse(data);
    const PrepareOptions prepare{.missing = MissingPolicy::kMean, .standardize = true};
    const auto both = evaluated(data, {.null = 1}, {.k = {1, 4}}, prepare, {"fisher", "ks"});
    std::size_t at = 0;
    for (const char* name : {"fisher", "ks"}) {
      for (const auto& row : evaluated(data, {.null = 1}, {.k = {1, 4}}, prepare, {name}).rows) {
        ASSERT_LT(at, both.rows.size());
        EXPECT_EQ(both.rows[at].method, name);
        EXPECT_EQ(both.rows[at].error, row.error);
        EXPECT_EQ(both.rows[at].log_loss, row.log_loss);
        EXPECT_EQ(both.rows[at].apparent_error, row.apparent_error);
        EXPECT_EQ(both.rows[at].null_error, row.null_error);
        ++at;
      }
    }
  }
}

// With a ridge that is given and a classifier that needs no moments, those by class are all that two filters
// have in common.
TEST(Evaluate, TwoMethodsComputeTheMomentsOfATrainingSetOnce) {
  const DatasetParts data = oracle::random_classes(60, 8, 2, 3);
  const auto computed = [&](const std::vector<Method>& methods) {
    const std::uint64_t before = moments_computed();
    const auto result = evaluate_methods(data, methods, {.k = {1, 4}, .ridge = {0.1}, .threads = 1}, {},
                                         Knn{}, {.folds = 5}, RunControl());
    EXPECT_EQ(result.folds_run, 5);
    return moments_computed() - before;
  };
  constexpr std::uint64_t kTrainingSets = 6;  // five folds, and all rows for the apparent error
  EXPECT_EQ(computed({Fisher{}}) + computed({Snr{}}) - computed({Fisher{}, Snr{}}), kTrainingSets);
  EXPECT_EQ(computed({Fisher{}, Fisher{}}) - computed({Fisher{}}), computed({Fisher{}}) - kTrainingSets);
}

TEST(Evaluate, AColumnConstantInSomeTrainingSetsOnlyCostsThoseSizes) {
  DatasetParts data = oracle::random_classes(20, 3, 2, 1);
  data.dense.col(2).setZero();
  data.dense(7, 2) = 1.0;  // constant wherever row 7 is held out
  const auto result = evaluated(data, {.folds = {5}}, {.k = {1, 3}});
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(evaluated(data, {.folds = {5}}, {.k = {3, 3}}).rows.size(), 0U);
  EXPECT_TRUE(evaluated(data, {.folds = {5}}, {.k = {1, 2}, .include = {"x2"}}).rows.empty());
}

TEST(Evaluate, GroupsThatLeaveOneClassAreRefusedAndShufflesThatDoAreSkipped) {
  DatasetParts data = oracle::random_classes(12, 2, 2, 1);
  for (Index i = 0; i < 12; ++i) data.row_groups.push_back(data.labels->codes[i] == 0 ? "g" : "h");
  try {
    (void)evaluated(data, {.folds = {2}});
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("cv_groups"), std::string::npos) << error.what();
  }
}

TEST(Evaluate, WeightsCountAsRepetitionsInTheError) {
  // Leave-one-group-out with each row a group: a weight of 3 and three copies in one group are the same
  // thing.
  DatasetParts data = oracle::random_classes(24, 3, 2, 2);
  std::vector<int> times;
  for (int i = 0; i < 24; ++i) times.push_back(1 + i % 3);
  DatasetParts many = oracle::repeated(data, times);
  for (int i = 0; i < 24; ++i)
    many.row_groups.insert(many.row_groups.end(), times[i], "g" + std::to_string(i));
  data.weights = Eigen::Map<const Eigen::VectorXi>(times.data(), 24).cast<double>();
  // Of the plain rule: how sure a correlation is depends on how many rows say it, however much they weigh.
  const Lda plain{.shrinkage = 0.0};
  const auto a = evaluated(data, {.folds = {0}}, {.k = {1, 3}}, {}, {"fisher"}, plain);
  const auto b = evaluated(many, {.folds = {0}}, {.k = {1, 3}}, {}, {"fisher"}, plain);
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_NEAR(a.rows[i].error, b.rows[i].error, 1e-12);
    EXPECT_NEAR(a.rows[i].balanced_error, b.rows[i].balanced_error, 1e-12);
    EXPECT_NEAR(a.rows[i].log_loss, b.rows[i].log_loss, 1e-9);
  }
}

}  // namespace
}  // namespace subspectra
