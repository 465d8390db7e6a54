#include "subspectra/evaluate/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "subspectra/core/parallel.hpp"
#include "subspectra/data/moments.hpp"
#include "subspectra/evaluate/folds.hpp"
#include "subspectra/evaluate/stability.hpp"

namespace subspectra {

FoldCount OptionCodec<FoldCount>::parse(std::string_view text) {
  if (text == "loo") return {0};
  FoldCount value;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value.folds);
  if (failure != std::errc() || end != text.data() + text.size() || value.folds < 2) {
    throw InvalidArgument("a number of folds from 2 up, or loo, is needed");
  }
  return value;
}
std::string OptionCodec<FoldCount>::format(const FoldCount& value) {
  return value.folds == 0 ? "loo" : std::to_string(value.folds);
}
nlohmann::json OptionCodec<FoldCount>::json(const FoldCount& value) {
  return value.folds == 0 ? nlohmann::json("loo") : nlohmann::json(value.folds);
}

void EvaluationOptions::validate() const {
  if (repeats < 1) throw InvalidArgument("--repeats must be 1 or more");
  if (null < 0) throw InvalidArgument("--null must be 0 or more");
  if (!(test_fraction >= 0.0 && test_fraction < 1.0))
    throw InvalidArgument("--test-fraction must lie between 0 and 1");
  if (classifier != "lda") {
    throw InvalidArgument(fmt::format("--classifier '{}' does not exist; there is lda", classifier));
  }
}

namespace {

/// Held-out results of one training set at one k: sums over its test rows, by class where the class matters.
struct Score {
  Vector weight, wrong;  ///< K: test weight and misclassified weight of each class
  double log_loss = 0.0;
  double rows = 0.0;  ///< their weight
  std::vector<Index> features;
  double entries = 0.0;
};
using ScoresByK = std::map<Index, Score>;

/// A wrong answer given with certainty would cost infinitely much; it costs log 1e15, as is customary.
constexpr double kLeastLogProbability = -34.538776394910684;

/// One training set and what is held out, under the real labels or permuted ones.
struct Task {
  const Labels* labels = nullptr;
  std::vector<Index> train, test;
  std::size_t labelling = 0;  ///< 0: the real labels; i: permutation i
};

class Evaluator {
 public:
  Evaluator(const Dataset& data, const SelectionOptions& selection, const OptionTexts& texts,
            const PrepareOptions& prepare, const ModelOptions& model, const RunControl& control)
      : data_(data),
        selection_(selection),
        texts_(texts),
        prepare_(prepare),
        model_(model),
        control_(control) {}

  /// Trains on task.train and scores on task.test, for every set of the path. `fixed` replaces the selection.
  ScoresByK run(const Task& task, const MethodInfo& method, int threads, const Selection* fixed,
                Selection* keep = nullptr) const {
    Dataset training = rows_of(task, task.train);
    const Preparation preparation = Preparation::learn(training, prepare_);
    training = preparation.apply(std::move(training));
    Selection own;
    if (fixed == nullptr) {
      SelectionOptions options = selection_;
      options.threads = threads;
      own = select_features(training, method, options, texts_, control_);
    }
    const Selection& selection = fixed == nullptr ? own : *fixed;
    const std::vector<Index> used = features_used(selection);
    const Dataset test = preparation.apply(rows_of(task, task.test));
    const Matrix test_rows = test.columns(used);
    const Moments moments = compute_moments(training, used, Moments::SecondOrder::kFull, threads);
    Matrix within = moments.within_covariance();
    within.diagonal().array() += selection.ridge;

    ScoresByK scores;
    for (const auto& entry : selection.path) {
      std::vector<Index> place;  // of the entry's features among `used`
      for (const Index f : entry.features) {
        place.push_back(std::lower_bound(used.begin(), used.end(), f) - used.begin());
      }
      try {
        const LdaRule rule = fit_lda(moments.class_weights(), moments.class_means()(place, Eigen::all),
                                     within(place, place), model_.prior, model_.components);
        Score score = judge(rule.log_posteriors(test_rows(Eigen::all, place)), test);
        score.features = entry.features;
        score.entries = static_cast<double>(entry.k() * rule.discriminants.cols());
        scores.emplace(entry.k(), std::move(score));
      } catch (const Infeasible&) {
        // This training set cannot carry the rule at this k (singular without a ridge); the k is reported as
        // left out.
      }
    }
    if (keep != nullptr) *keep = std::move(own);
    return scores;
  }

 private:
  Dataset rows_of(const Task& task, const std::vector<Index>& rows) const {
    Dataset part = data_.with_rows(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) part.labels->codes[i] = task.labels->codes[rows[i]];
    return part;
  }

  static std::vector<Index> features_used(const Selection& selection) {
    std::vector<Index> used;
    for (const auto& entry : selection.path)
      used.insert(used.end(), entry.features.begin(), entry.features.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return used;
  }

  static Score judge(const Matrix& log_posteriors, const Dataset& test) {
    const Index classes = log_posteriors.cols();
    Score score;
    score.weight = score.wrong = Vector::Zero(classes);
    for (Index i = 0; i < test.rows(); ++i) {
      const int truth = test.labels->codes[i];
      const double weight = test.weight(i);
      Index predicted = 0;
      log_posteriors.row(i).maxCoeff(&predicted);  // the lowest class on a tie
      score.weight[truth] += weight;
      if (predicted != truth) score.wrong[truth] += weight;
      const double loss = -std::max(log_posteriors(i, truth), kLeastLogProbability);
      score.log_loss += weight * loss;
      score.rows += weight;
    }
    return score;
  }

  const Dataset& data_;
  const SelectionOptions& selection_;
  const OptionTexts& texts_;
  const PrepareOptions& prepare_;
  const ModelOptions& model_;
  const RunControl& control_;
};

/// Standard error of the mean of `values`, each one held-out set.
double standard_error(const std::vector<double>& values) {
  const auto m = static_cast<double>(values.size());
  if (values.size() < 2) return 0.0;
  double mean = 0.0, squares = 0.0;
  for (const double value : values) mean += value / m;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (m - 1.0) / m);
}

/// Means over all held-out rows; standard errors over held-out sets, or (balanced error, where a set does not
/// hold every class, as in leave-one-out) from the class-wise binomial variances.
EvaluationRow summarize(const std::vector<const Score*>& scores, Index features, bool stability) {
  EvaluationRow row;
  const Index classes = scores.front()->weight.size();
  Vector weight = Vector::Zero(classes), wrong = Vector::Zero(classes);
  std::vector<double> errors, balanced, losses;
  std::vector<std::vector<Index>> sets;
  double loss = 0.0, rows = 0.0;
  bool every_class_everywhere = true;
  for (const Score* score : scores) {
    weight += score->weight;
    wrong += score->wrong;
    loss += score->log_loss;
    rows += score->rows;
    errors.push_back(score->wrong.sum() / score->rows);
    losses.push_back(score->log_loss / score->rows);
    double sum = 0.0, present = 0.0;
    for (Index c = 0; c < classes; ++c) {
      if (score->weight[c] > 0.0) {
        sum += score->wrong[c] / score->weight[c];
        present += 1.0;
      }
    }
    balanced.push_back(sum / present);
    row.features += static_cast<double>(score->features.size()) / static_cast<double>(scores.size());
    row.entries += score->entries / static_cast<double>(scores.size());
    if (stability) sets.push_back(score->features);
  }
  double class_variance = 0.0, present = 0.0;
  for (Index c = 0; c < classes; ++c) {
    if (!(weight[c] > 0.0)) continue;
    const double rate = wrong[c] / weight[c];
    row.balanced_error += rate;
    present += 1.0;
    if (weight[c] > 1.0) class_variance += rate * (1.0 - rate) / (weight[c] - 1.0);
    for (const Score* score : scores)
      every_class_everywhere = every_class_everywhere && score->weight[c] > 0.0;
  }
  row.error = wrong.sum() / weight.sum();
  row.balanced_error /= present;
  row.log_loss = loss / rows;
  row.stderr_ = standard_error(errors);
  row.log_loss_stderr = standard_error(losses);
  row.balanced_stderr =
      every_class_everywhere ? standard_error(balanced) : std::sqrt(class_variance) / present;
  if (const auto found = nogueira_stability(sets, features)) {
    row.stability = found->index;
    row.stability_interval = found->interval;
  }
  return row;
}

Labels permuted(Labels labels, Random random) {
  random.shuffle(std::span<int>(labels.codes));
  return labels;
}

EvaluationChoice choose_k(const std::string& method, const std::vector<EvaluationRow>& rows) {
  EvaluationChoice choice{.method = method};
  const EvaluationRow* best = nullptr;
  for (const auto& row : rows) {
    if (row.method == method && (best == nullptr || row.error < best->error)) best = &row;
  }
  if (best == nullptr) return choice;
  choice.k_best = best->k;
  for (const auto& row : rows) {
    if (row.method == method && row.error <= best->error + best->stderr_) {
      choice.k_one_standard_error = row.k;
      break;
    }
  }
  return choice;
}

}  // namespace

Evaluation evaluate_methods(const Dataset& data, const std::vector<const MethodInfo*>& methods,
                            const SelectionOptions& selection, const OptionTexts& texts,
                            const PrepareOptions& prepare, const ModelOptions& model,
                            const EvaluationOptions& options, const RunControl& control) {
  options.validate();
  Evaluation evaluation;
  evaluation.options = options;
  evaluation.nested = options.select_on == SelectOn::kFold;
  const int threads = resolve_threads(selection.threads);
  const Evaluator evaluator(data, selection, texts, prepare, model, control);
  const std::vector<Index> everything = complement({}, data.rows());

  // On all rows first: it finds what is wrong with the data or the options before hours are spent, and gives
  // the apparent error and, for --select-on all, the sets.
  std::vector<Selection> on_all(methods.size());
  std::vector<ScoresByK> apparent(methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    apparent[m] =
        evaluator.run({&*data.labels, everything, everything}, *methods[m], threads, nullptr, &on_all[m]);
    for (const auto& warning : on_all[m].warnings) {
      if (std::find(evaluation.warnings.begin(), evaluation.warnings.end(), warning) ==
          evaluation.warnings.end()) {
        evaluation.warnings.push_back(warning);
      }
    }
  }
  if (!evaluation.nested) {
    evaluation.warnings.emplace_back(
        "features were chosen on all rows, held-out rows included (--select-on all): the error is "
        "optimistic");
  }
  const auto counts = data.labels->counts();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 1) {
      evaluation.warnings.push_back(
          fmt::format("class '{}' has one row: held out it cannot be learned, kept it cannot be "
                      "tested",
                      data.labels->classes[c]));
    }
  }

  // One task a held-out set; then one a held-out set of every permutation of the labels.
  const bool random_splits = options.cv.folds > 0 || options.test_fraction > 0.0;
  if (!random_splits && options.repeats > 1) {
    evaluation.warnings.emplace_back("leave-one-out has nothing to repeat: --repeats was taken as 1");
    evaluation.options.repeats = 1;
  }
  std::vector<Task> tasks;
  std::vector<Labels> labellings = {*data.labels};
  constexpr std::uint64_t kNullStreams = 1ULL << 40U;  // far from the repeats' streams
  for (Index i = 1; i <= options.null; ++i) {
    labellings.push_back(
        permuted(*data.labels, Random(selection.seed, kNullStreams + 2 * static_cast<std::uint64_t>(i))));
  }
  const auto add_tasks = [&](std::size_t labelling, std::uint64_t stream) {
    const Labels& labels = labellings[labelling];
    for (auto& test :
         make_splits(labels, data.row_groups, data.source, options, Random(selection.seed, stream))) {
      auto train = complement(test, data.rows());
      tasks.push_back({&labels, std::move(train), std::move(test), labelling});
    }
  };
  for (Index repeat = 0; repeat < evaluation.options.repeats; ++repeat)
    add_tasks(0, static_cast<std::uint64_t>(repeat));
  const std::size_t real_tasks = tasks.size();
  for (std::size_t i = 1; i < labellings.size(); ++i) add_tasks(i, kNullStreams + 2 * i + 1);
  // --select-on all: the sets of each labelling, chosen with every row in sight (the same protocol for
  // permuted labels).
  std::vector<std::vector<Selection>> fixed(labellings.size());
  if (!evaluation.nested) {
    fixed[0] = on_all;
    parallel_for(static_cast<Index>(labellings.size()) - 1, threads, [&](Index i) {
      fixed[i + 1].resize(methods.size());
      for (std::size_t m = 0; m < methods.size() && !control.should_stop(); ++m) {
        evaluator.run({&labellings[i + 1], everything, everything}, *methods[m], 1, nullptr,
                      &fixed[i + 1][m]);
      }
    });
  }
  evaluation.folds_planned = static_cast<Index>(real_tasks);

  std::vector<std::vector<ScoresByK>> results(tasks.size());  // by task, then method; empty: not run
  std::atomic<std::size_t> done = 0;
  const int inner_threads = static_cast<int>(tasks.size()) >= threads ? 1 : threads;
  parallel_for(static_cast<Index>(tasks.size()), threads, [&](Index t) {
    if (control.should_stop()) return;
    std::vector<ScoresByK> scores(methods.size());
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const Selection* sets = evaluation.nested ? nullptr : &fixed[tasks[t].labelling][m];
      scores[m] = evaluator.run(tasks[t], *methods[m], inner_threads, sets);
    }
    results[t] = std::move(scores);
    const std::size_t finished = ++done;
    control.report("evaluate", static_cast<double>(finished) / static_cast<double>(tasks.size()),
                   [&] { return fmt::format("held-out set {} of {}", finished, tasks.size()); });
  });

  std::vector<std::size_t> finished_tasks;
  for (std::size_t t = 0; t < real_tasks; ++t) {
    if (!results[t].empty()) finished_tasks.push_back(t);
  }
  evaluation.folds_run = static_cast<Index>(finished_tasks.size());
  const bool all_done = done == tasks.size();
  evaluation.status = all_done ? Status::kHeuristic : control.status_or(Status::kInterrupted);
  for (std::size_t m = 0; m < methods.size() && !finished_tasks.empty(); ++m) {
    const std::string name(methods[m]->name);
    std::vector<Index> incomplete;
    for (const auto& [k, on_training] : apparent[m]) {
      std::vector<const Score*> scores;
      for (const std::size_t t : finished_tasks) {
        const auto found = results[t][m].find(k);
        if (found != results[t][m].end()) scores.push_back(&found->second);
      }
      if (scores.size() < finished_tasks.size()) {
        incomplete.push_back(k);
        continue;
      }
      EvaluationRow row = summarize(scores, data.features(), evaluation.nested);
      row.method = name;
      row.k = k;
      row.apparent_error = on_training.wrong.sum() / on_training.rows;
      double null_wrong = 0.0, null_rows = 0.0;
      for (std::size_t t = real_tasks; t < tasks.size(); ++t) {
        if (results[t].empty()) continue;
        const auto found = results[t][m].find(k);
        if (found == results[t][m].end()) continue;
        null_wrong += found->second.wrong.sum();
        null_rows += found->second.rows;
      }
      if (null_rows > 0.0) row.null_error = null_wrong / null_rows;
      evaluation.rows.push_back(std::move(row));
    }
    if (!incomplete.empty()) {
      evaluation.warnings.push_back(
          fmt::format("{}: k = {}..{} could not be reached in every training set ({} sizes) and "
                      "was left out",
                      name, incomplete.front(), incomplete.back(), incomplete.size()));
    }
    evaluation.chosen.push_back(choose_k(name, evaluation.rows));
  }
  evaluation.total_s = control.elapsed_s();
  return evaluation;
}

}  // namespace subspectra
