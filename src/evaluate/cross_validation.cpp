#include "evaluate/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numbers>
#include <span>

#include "classify/registry.hpp"
#include "core/parallel.hpp"
#include "core/spelling.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "evaluate/stability.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {

SplitOptions splits_of(const EvaluateOptions& options) {
  return {.cv = options.folds, .test_fraction = options.test_fraction};
}

void EvaluateOptions::validate() const {
  if (folds != kLeaveOneOut && folds.folds < 2)
    throw InvalidArgument({.field = "folds",
                           .value = fmt::to_string(folds.folds),
                           .rule = "{value}, but 2 or more, or kLeaveOneOut, is needed"});
  check_option_values(*this);
  if (repeats < 1)
    throw InvalidArgument(
        {.field = "repeats", .value = fmt::to_string(repeats), .rule = "must be 1 or more"});
  if (null < 0)
    throw InvalidArgument({.field = "null", .value = fmt::to_string(null), .rule = "must be 0 or more"});
  if (!(test_fraction >= 0.0 && test_fraction < 1.0)) {
    throw InvalidArgument(
        {.field = "test_fraction",
         .value = fmt::to_string(test_fraction),
         .rule = "{value} does not lie between 0 and 1",
         .way_out = "0.2 holds out a fifth of the rows, and without the option there are folds (⟨cv⟩)"});
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
  double lambda = 0.0;  ///< of a fit with its own lambda (k = 0)
};
using ScoresByK = std::map<Index, Score>;

/// A wrong answer given with certainty would cost infinitely much; it costs log 1e15, as is customary.
constexpr double kLeastLogProbability = -34.538776394910684;

/// One training set and what is held out, under the real labels or permuted ones.
struct Task {
  const Labels* labels = nullptr;
  std::vector<Index> train, test;
  const std::vector<Selection>* fixed = nullptr;  ///< the sets of `select_on` all, by method
};

/// Held-out sets that are made together: one repeat under the real labels, or one permutation of them.
struct Round {
  Index permutation = 0;     ///< 0: the real labels
  std::uint64_t stream = 0;  ///< of the random folds
};

class Evaluator {
 public:
  Evaluator(const Dataset& data, const SelectOptions& selection, const PrepareOptions& prepare,
            const Classifier& classifier, const RunControl& control)
      : data_(data), selection_(selection), prepare_(prepare), classifier_(classifier), control_(control) {}

  /// Trains on task.train and scores on task.test, for every set of each method's path. Where the selection
  /// of a method has no path it is made here, on task.train, and handed back. The training rows are copied
  /// and prepared once for all methods, the test rows only in the columns that some set holds. Empty when the
  /// training of a classifier was cut short, whose answer would count as its own.
  std::vector<ScoresByK> run(const Task& task, const std::vector<Method>& methods, int threads,
                             std::vector<Selection>& selections) const {
    Preparation preparation;
    const Dataset training = prepared_rows(task, preparation);
    const RowStatistics rows(training, threads, selection_.memory_limit.bytes);
    std::vector<ScoresByK> scores(methods.size());
    for (std::size_t m = 0; m < methods.size(); ++m) {
      if (!selections[m].has_answer() && !select(rows, task, methods[m], selections[m])) continue;
      try {
        scores[m] = selections[m].own_rule()
                        ? judge_records(training, preparation, task, selections[m])
                        : judge_path(training, preparation, task, selections[m], threads);
      } catch (const CutShort&) {
        return {};
      }
    }
    return scores;
  }

  /// The selections alone.
  void choose(const Task& task, const std::vector<Method>& methods, int threads,
              std::vector<Selection>& selections) const {
    Preparation preparation;
    const Dataset training = prepared_rows(task, preparation);
    const RowStatistics rows(training, threads, selection_.memory_limit.bytes);
    for (std::size_t m = 0; m < methods.size() && !control_.should_stop(); ++m) {
      select(rows, task, methods[m], selections[m]);
    }
  }

 private:
  struct CutShort {};
  /// Hands the rule on; throws CutShort if a limit or a signal ended its training.
  static const Rule& whole(const Rule& rule) {
    if (rule.status == Status::kTimeLimit || rule.status == Status::kInterrupted) throw CutShort();
    return rule;
  }

  Dataset prepared_rows(const Task& task, Preparation& preparation) const {
    Dataset training = rows_of(task, task.train);
    preparation = Preparation::learn(training, prepare_);
    return preparation.apply(std::move(training));
  }

  /// False: nothing can be chosen on these rows.
  bool select(const RowStatistics& rows, const Task& task, const Method& method, Selection& selection) const {
    SelectOptions options = selection_;
    options.threads = rows.threads();
    options.certify = false;
    options.ridge_needed = task.train.size() == static_cast<std::size_t>(data_.rows());  // it is reported
    options.components = 1;
    try {
      selection = run_method(rows, method, options, control_.silent());
      // A method that knows no labels knows no ridge for the rule that is trained on its sets.
      if (method.traits().variance && !selection.sets().empty()) {
        selection.ridge = rows.ridge(features_used(selection), options.ridge).amount;
      }
    } catch (const Infeasible&) {
      // A column constant in this training set alone, and the like: every k is reported as left out.
      if (task.train.size() == static_cast<std::size_t>(data_.rows())) throw;
      return false;
    }
    return true;
  }

  ScoresByK judge_path(const Dataset& training, const Preparation& preparation, const Task& task,
                       const Selection& selection, int threads) const {
    const std::vector<Index> used = features_used(selection);
    Matrix test_rows = values(task.test, used);
    preparation.restricted(used).apply_to(test_rows);
    const ClassifierTrainer trainer(training, used, selection.ridge, classifier_,
                                    {.seed = selection_.seed, .threads = threads});

    ScoresByK scores;
    for (const auto& entry : selection.sets()) {
      std::vector<Index> place;  // of the entry's features among `used`
      for (const Index f : entry.features) {
        place.push_back(std::lower_bound(used.begin(), used.end(), f) - used.begin());
      }
      try {
        const RulePointer rule = trainer.fit(place, control_.silent());
        Score score = judge(whole(*rule).log_posteriors(test_rows(Eigen::all, place)), task);
        score.features = entry.features;
        score.entries = static_cast<double>(rule->entries());
        scores.emplace(selection.size_fixed ? 0 : entry.k(), std::move(score));
      } catch (const Infeasible&) {
        // This training set cannot carry the rule at this k (singular without a ridge); the k is reported as
        // left out.
      }
    }
    return scores;
  }

  /// Methods with discriminants of their own: at k the fit with most features of those with at most k (the
  /// one with the smallest lambda of several), which may be none; or the one fit of a fixed lambda, under k =
  /// 0; or, where k counts components, the leading k columns.
  ScoresByK judge_records(const Dataset& training, const Preparation& preparation, const Task& task,
                          const Selection& selection) const {
    const FittedDiscriminants nothing;
    const auto score = [&](const FittedDiscriminants& record) {
      Matrix test_rows = values(task.test, record.features);
      preparation.restricted(record.features).apply_to(test_rows);
      const RulePointer rule =
          fit_rule(training, record, classifier_, {.seed = selection_.seed}, control_.silent());
      Score found = judge(whole(*rule).log_posteriors(test_rows), task);
      found.features = record.features;
      found.entries = static_cast<double>(record.entries);
      found.lambda = record.lambda;
      return found;
    };
    ScoresByK scores;
    if (std::holds_alternative<Components>(selection.answer)) {
      if (selection.fits().empty()) return scores;
      const FittedDiscriminants& record = selection.fits().front();
      for (const Index k : selection.sizes.sizes()) {
        if (k <= record.matrix.cols()) scores.emplace(k, score(leading_columns(record, k)));
      }
      return scores;
    }
    if (selection.size_fixed) {
      if (const auto* chosen = selection.chosen_fit()) scores.emplace(0, score(*chosen));
      return scores;
    }
    std::optional<Score> last;
    const FittedDiscriminants* of_last = nullptr;
    for (const Index k : selection.sizes.sizes()) {
      const FittedDiscriminants* record = &nothing;
      for (const auto& other : selection.fits()) {
        const std::size_t size = other.features.size();
        if (size <= static_cast<std::size_t>(k) && size >= std::max<std::size_t>(1, record->features.size()))
          record = &other;
      }
      if (record != of_last) last = score(*record);
      of_last = record;
      scores.emplace(k, *last);
    }
    return scores;
  }

  Dataset rows_of(const Task& task, const std::vector<Index>& rows) const {
    const Dataset part = data_.with_rows(rows);
    DatasetDetails details = part.details();
    for (std::size_t i = 0; i < rows.size(); ++i) details.labels->codes[i] = task.labels->codes[rows[i]];
    return {std::move(details), part.values()};
  }

  /// These rows of these columns, dense.
  Matrix values(const std::vector<Index>& rows, const std::vector<Index>& features) const {
    return data_.values().block(rows, features);
  }

  static std::vector<Index> features_used(const Selection& selection) {
    std::vector<Index> used;
    for (const auto& entry : selection.sets())
      used.insert(used.end(), entry.features.begin(), entry.features.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return used;
  }

  Score judge(const Matrix& log_posteriors, const Task& task) const {
    const Index classes = log_posteriors.cols();
    Score score;
    score.weight = score.wrong = Vector::Zero(classes);
    for (Index i = 0; i < log_posteriors.rows(); ++i) {
      const Index row = task.test[static_cast<std::size_t>(i)];
      const int truth = task.labels->codes[static_cast<std::size_t>(row)];
      const double weight = data_.weight(row);
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
  const SelectOptions& selection_;
  const PrepareOptions& prepare_;
  Classifier classifier_;
  const RunControl& control_;
};

/// Mean and variance of a stream of values (Welford), so that a hundred thousand folds take no memory.
class RunningMean {
 public:
  void add(double value) {
    count_ += 1.0;
    const double difference = value - mean_;
    mean_ += difference / count_;
    squares_ += difference * (value - mean_);
  }
  [[nodiscard]] double standard_error() const {
    return count_ < 2.0 ? std::numeric_limits<double>::quiet_NaN()
                        : std::sqrt(squares_ / (count_ - 1.0) / count_);
  }

 private:
  double count_ = 0.0, mean_ = 0.0, squares_ = 0.0;
};

/// All held-out sets of one method at one k, added one after another.
struct Tally {
  static constexpr std::size_t kMostSets = 2000;  ///< of the sets kept for the stability index

  Index count = 0;
  Vector weight, wrong;    ///< K sums over held-out rows
  Vector sets_with_class;  ///< K: in how many held-out sets the class occurs
  double log_loss = 0.0, features = 0.0, entries = 0.0, log_lambda = 0.0;
  RunningMean errors, balanced, losses;
  std::vector<std::vector<Index>> sets;

  void add(const Score& score) {
    if (count == 0) weight = wrong = sets_with_class = Vector::Zero(score.weight.size());
    ++count;
    weight += score.weight;
    wrong += score.wrong;
    log_loss += score.log_loss;
    features += static_cast<double>(score.features.size());
    entries += score.entries;
    log_lambda += std::log(score.lambda);
    double sum = 0.0, present = 0.0;
    for (Index c = 0; c < weight.size(); ++c) {
      if (!(score.weight[c] > 0.0)) continue;
      sum += score.wrong[c] / score.weight[c];
      present += 1.0;
      sets_with_class[c] += 1.0;
    }
    errors.add(score.wrong.sum() / score.rows);
    balanced.add(sum / present);
    losses.add(score.log_loss / score.rows);
    if (sets.size() < kMostSets) sets.push_back(score.features);
  }
};

/// Means over all held-out rows; standard errors over held-out sets, or (balanced error, where a set does not
/// hold every class, as in leave-one-out) from the class-wise binomial variances.
EvaluationRow summarize(const Tally& tally, Index features, bool stability) {
  EvaluationRow row;
  const auto count = static_cast<double>(tally.count);
  double class_variance = 0.0, present = 0.0;
  bool every_class_everywhere = true;
  for (Index c = 0; c < tally.weight.size(); ++c) {
    if (!(tally.weight[c] > 0.0)) continue;
    const double rate = tally.wrong[c] / tally.weight[c];
    row.balanced_error += rate;
    present += 1.0;
    if (tally.weight[c] > 1.0) class_variance += rate * (1.0 - rate) / (tally.weight[c] - 1.0);
    every_class_everywhere = every_class_everywhere && tally.sets_with_class[c] == count;
  }
  row.error = tally.wrong.sum() / tally.weight.sum();
  row.balanced_error /= present;
  row.log_loss = tally.log_loss / tally.weight.sum();
  row.information_bits =
      std::log2(static_cast<double>(tally.weight.size())) - row.log_loss / std::numbers::ln2;
  row.stderr_ = tally.errors.standard_error();
  row.log_loss_stderr = tally.losses.standard_error();
  row.balanced_stderr =
      every_class_everywhere ? tally.balanced.standard_error() : std::sqrt(class_variance) / present;
  row.features = tally.features / count;
  row.entries = tally.entries / count;
  if (stability) {
    if (const auto found = nogueira_stability(tally.sets, features)) {
      row.stability = found->index;
      row.stability_interval = found->interval;
    }
  }
  return row;
}

Labels permuted(Labels labels, Random random) {
  random.shuffle(std::span<int>(labels.codes));
  return labels;
}

int classes_in(const Labels& labels, const std::vector<Index>& rows) {
  std::vector<char> seen(labels.classes.size(), 0);
  for (const Index i : rows) seen[static_cast<std::size_t>(labels.codes[i])] = 1;
  return static_cast<int>(std::count(seen.begin(), seen.end(), 1));
}

/// `rows` are those of the method.
EvaluationChoice choose_k(const std::string& method, std::span<const EvaluationRow> rows) {
  EvaluationChoice choice{.method = method};
  const EvaluationRow* best = nullptr;
  for (const auto& row : rows) {
    if (best == nullptr || row.error < best->error) best = &row;
  }
  if (best == nullptr) return choice;
  choice.k_best = best->k;
  for (const auto& row : rows) {
    // One held-out set alone has no standard error.
    if (row.error <= best->error + (std::isfinite(best->stderr_) ? best->stderr_ : 0.0)) {
      choice.k_one_standard_error = row.k;
      break;
    }
  }
  return choice;
}

/// An error is counted over rows whose class is known.
void require_every_label(const Dataset& data) {
  const auto missing = std::count(data.labels()->codes.begin(), data.labels()->codes.end(), Labels::kMissing);
  if (missing == 0) return;
  const std::string_view way_out =
      "leave the rows out with ⟨missing drop⟩ (select and `fit ⟨k N⟩` can choose features by them)";
  refuse_table(
      data,
      BadInput(data.first_unlabelled().value_or(Location{.file = data.source()}),
               fmt::format("{} no label in '{}', and cross-validation needs one for every row; {}",
                           missing == 1 ? "1 row has" : fmt::format("{} rows have", missing),
                           data.labels()->name, way_out)),
      {.field = "y",
       .rule = fmt::format("has no label for {}, and cross-validation needs one for every row",
                           counted(missing, "row")),
       .way_out =
           "leave the rows out with ⟨missing drop⟩ (select, and fit with one k, can choose features by them)"});
}

/// The held-out sets; of the caller's arrays a refusal is one of the labels, without the name of a file.
std::vector<std::vector<Index>> held_out_sets(const Dataset& data, const Labels& labels,
                                              const EvaluateOptions& options, Random random) {
  try {
    return make_splits(labels, data.row_groups(), data.source(), splits_of(options), random);
  } catch (const BadInput& problem) {
    const std::string before = data.source() + ": ";
    const std::string& sentence = problem.marked();
    if (!data.details().in_memory || !sentence.starts_with(before)) throw;
    throw InvalidArgument({.field = "y", .rule = ": " + sentence.substr(before.size())});
  }
}

}  // namespace

Evaluation evaluate_methods(const Dataset& data, const std::vector<Method>& methods,
                            const SelectOptions& selection, const PrepareOptions& prepare,
                            const Classifier& classifier, const EvaluateOptions& options,
                            const RunControl& control) {
  options.validate();
  require_every_label(data);
  Evaluation evaluation;
  kind_of(classifier).validate(classifier);
  evaluation.options = options;
  evaluation.options.classifier = classifier;
  evaluation.nested = options.select_on == SelectOn::kFold;
  const int threads = resolve_threads(selection.threads);
  const Evaluator evaluator(data, selection, prepare, classifier, control);
  const std::vector<Index> everything = complement({}, data.rows());

  // On all rows first: it finds what is wrong with the data or the options before hours are spent, and gives
  // the apparent error and, for `select_on` all, the sets.
  std::vector<Selection> on_all(methods.size());
  const std::vector<ScoresByK> apparent =
      evaluator.run({&*data.labels(), everything, everything, nullptr}, methods, threads, on_all);
  if (!on_all.empty()) evaluation.ridge_all_rows = on_all.front().ridge;  // of the data, not of the method
  for (const auto& selection_on_all : on_all) {
    for (const auto& warning : selection_on_all.warnings) {
      if (std::find(evaluation.warnings.begin(), evaluation.warnings.end(), warning) ==
          evaluation.warnings.end()) {
        evaluation.warnings.push_back(warning);
      }
    }
  }
  if (!evaluation.nested) {
    evaluation.warnings.emplace_back(
        "features were chosen on all rows, held-out rows included (⟨select_on all⟩): the error is optimistic");
  }
  warn_of_components(data, selection.components, evaluation.warnings);
  const auto counts = data.labels()->counts();
  std::vector<std::string> single;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 1) single.push_back(fmt::format("'{}'", data.labels()->classes[c]));
  }
  if (!single.empty()) {
    evaluation.warnings.push_back(fmt::format(
        "{} one row{}: held out it cannot be learned, kept it cannot be tested",
        single.size() == 1 ? fmt::format("class {} has", single.front())
                           : fmt::format("{} classes ({}) have", single.size(), join_some(single)),
        single.size() == 1 ? "" : " each"));
  }

  if (options.test_fraction > 0.0 && options.repeats == 1) {
    evaluation.warnings.emplace_back("one held-out set gives no standard error; ⟨repeats N⟩ makes N of them");
  }
  const bool random_splits = options.folds.folds > 0 || options.test_fraction > 0.0;
  if (!random_splits && options.repeats > 1) {
    evaluation.warnings.emplace_back("leave-one-out has nothing to repeat: ⟨repeats⟩ was taken as 1");
    evaluation.options.repeats = 1;
  }
  std::vector<Round> rounds;
  for (Index repeat = 0; repeat < evaluation.options.repeats; ++repeat) {
    rounds.push_back({.permutation = 0, .stream = streams::repeat_folds(repeat)});
  }
  for (Index i = 1; i <= options.null; ++i) {
    rounds.push_back({.permutation = i, .stream = streams::null_folds(i)});
  }

  // Rounds are worked off a batch at a time: only the tallies grow with their number, and a stop is noticed
  // soon.
  std::vector<std::map<Index, Tally>> tallies(methods.size());
  std::vector<std::map<Index, std::pair<double, double>>> null_errors(methods.size());  // wrong, rows
  constexpr std::size_t kBatch = 256;  // held-out sets, at least; by size alone, not by threads
  bool stopped = false;
  Index fewest_rows = data.rows();  // of a training set
  for (std::size_t next = 0; next < rounds.size() && !stopped;) {
    std::deque<Labels> labellings;  // deques: the tasks point into them
    std::deque<std::vector<Selection>> fixed;
    std::vector<Task> tasks;
    std::vector<Index> permutation_of;  // by task
    while (next < rounds.size() && tasks.size() < kBatch) {
      const Round& round = rounds[next++];
      labellings.push_back(
          round.permutation == 0
              ? *data.labels()
              : permuted(*data.labels(), Random(selection.seed, streams::null_labels(round.permutation))));
      const Labels& labels = labellings.back();
      const std::vector<Selection>* sets = nullptr;
      if (!evaluation.nested) {  // chosen with every row in sight, under these labels
        fixed.push_back(round.permutation == 0 ? on_all : std::vector<Selection>(methods.size()));
        if (round.permutation > 0 && !control.should_stop()) {
          evaluator.choose({&labels, everything, everything, nullptr}, methods, threads, fixed.back());
        }
        sets = &fixed.back();
      }
      for (auto& test : held_out_sets(data, labels, options, Random(selection.seed, round.stream))) {
        auto train = complement(test, data.rows());
        if (classes_in(labels, train) < 2) {
          if (round.permutation > 0) continue;  // this shuffle cannot be learned from; the others tell
          throw BadInput(
              {.file = data.source()},
              fmt::format(
                  "leaving out row{} {} leaves one class only to learn from; use other folds (⟨cv⟩, ⟨test_fraction⟩){}",
                  test.size() == 1 ? "" : "s",
                  join_some(test.size(), [&](std::size_t i) { return std::to_string(test[i]); }),
                  data.row_groups().empty() ? "" : " or groups (⟨cv_groups⟩)"));
        }
        fewest_rows = std::min(fewest_rows, static_cast<Index>(train.size()));
        tasks.push_back({&labels, std::move(train), std::move(test), sets});
        permutation_of.push_back(round.permutation);
        if (round.permutation == 0 && next == 1) ++evaluation.folds_planned;
      }
    }
    std::vector<std::vector<ScoresByK>> results(tasks.size());  // by task, then method; empty: not run
    std::atomic<std::size_t> done = 0;
    const int inner_threads = static_cast<int>(tasks.size()) >= threads ? 1 : threads;
    parallel_for(static_cast<Index>(tasks.size()), threads, [&](Index t) {
      if (control.should_stop() || apparent.empty()) return;  // empty: cut short on all rows already
      std::vector<Selection> chosen =
          tasks[t].fixed == nullptr ? std::vector<Selection>(methods.size()) : *tasks[t].fixed;
      auto scores = evaluator.run(tasks[t], methods, inner_threads, chosen);
      // A search that was cut short would count as the method's own answer: the set is as good as not run.
      for (const auto& found : chosen) {
        if (found.status == Status::kTimeLimit ||
            (found.status == Status::kInterrupted && control.should_stop())) {
          return;
        }
      }
      results[t] = std::move(scores);
      const double rounds_done = static_cast<double>(next) - static_cast<double>(labellings.size()) +
                                 static_cast<double>(++done) / static_cast<double>(tasks.size()) *
                                     static_cast<double>(labellings.size());
      control.report("evaluate", rounds_done / static_cast<double>(rounds.size()), [&] {
        return fmt::format("round {:.0f} of {}", std::ceil(rounds_done), rounds.size());
      });
    });
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (results[t].empty()) {
        stopped = true;
        continue;
      }
      if (permutation_of[t] == 0) ++evaluation.folds_run;
      for (std::size_t m = 0; m < methods.size(); ++m) {
        for (const auto& [k, score] : results[t][m]) {
          if (permutation_of[t] == 0) {
            tallies[m][k].add(score);
          } else {
            null_errors[m][k].first += score.wrong.sum();
            null_errors[m][k].second += score.rows;
          }
        }
      }
    }
  }
  warn_of_few_rows(fewest_rows, classifier, evaluation.warnings);
  evaluation.folds_planned *= evaluation.options.repeats;
  evaluation.status = stopped ? control.status_or(Status::kInterrupted) : Status::kHeuristic;
  for (std::size_t m = 0; m < methods.size() && evaluation.folds_run > 0; ++m) {
    const std::string name(methods[m].name());
    const std::size_t rows_before = evaluation.rows.size();
    std::vector<Index> incomplete;
    for (const auto& [k, on_training] : apparent[m]) {
      const Tally& tally = tallies[m][k];
      if (tally.count < evaluation.folds_run) {
        incomplete.push_back(k);
        continue;
      }
      EvaluationRow row = summarize(tally, data.features(), evaluation.nested);
      row.method = name;
      row.k = k;
      if (k == 0 && std::isfinite(tally.log_lambda))
        row.lambda = std::exp(tally.log_lambda / static_cast<double>(tally.count));
      row.apparent_error = on_training.wrong.sum() / on_training.rows;
      if (const auto found = null_errors[m].find(k); found != null_errors[m].end()) {
        row.null_error = found->second.first / found->second.second;
      }
      evaluation.rows.push_back(std::move(row));
    }
    if (!incomplete.empty()) {
      evaluation.warnings.push_back(
          fmt::format("{}: k = {}..{} could not be reached in every training set ({}) and was left out", name,
                      incomplete.front(), incomplete.back(), counted(incomplete.size(), "size")));
    }
    evaluation.chosen.push_back(choose_k(name, std::span(evaluation.rows).subspan(rows_before)));
  }
  evaluation.total_s = control.elapsed_s();
  return evaluation;
}

void require_class_labels(const Dataset& data, std::string_view command) {
  if (!data.labels()) {
    refuse_table(
        data,
        BadInput(fmt::format("{}: {} needs class labels and there is no label column; name it with ⟨target⟩",
                             data.source(), command)),
        {.field = "y",
         .rule = fmt::format("is missing, and {} needs class labels", command),
         .way_out = "give them with the table: Dataset(X, y)"});
  }
  // Methods that look at labels say so themselves, but not every method does.
  const auto counts = data.labels()->counts();
  const auto some = std::find_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  if (some != counts.end() && std::all_of(some + 1, counts.end(), [](Index count) { return count == 0; })) {
    const std::string& only = data.labels()->classes[static_cast<std::size_t>(some - counts.begin())];
    refuse_table(
        data,
        BadInput(
            {.file = data.source()},
            fmt::format(
                "'{}' holds one class only ('{}'); {} needs two or more: name the label column with ⟨target⟩",
                data.labels()->name, only, command)),
        {.field = "y",
         .value = only,
         .rule = "holds one class only ('{value}')",
         .way_out = fmt::format("{} needs two or more", command)});
  }
}

// --- the public face

namespace {

const EvaluationChoice& choice_of(const Evaluation& evaluation, std::string_view method) {
  for (const auto& choice : evaluation.chosen) {
    if (method.empty() || choice.method == method) return choice;
  }
  if (evaluation.chosen.empty())
    throw Error("no fold was finished, so that no size was judged; give more time");
  throw InvalidArgument({.field = "method",
                         .value = std::string(method),
                         .rule = "{value} was not evaluated",
                         .way_out = "name one of those that were"});
}

/// 0 stands for a method that says itself how many features there are.
std::optional<Index> size_of_choice(Index k) { return k > 0 ? std::optional(k) : std::nullopt; }

}  // namespace

std::optional<Index> Evaluation::k_one_standard_error() const { return k_one_standard_error(""); }
std::optional<Index> Evaluation::k_one_standard_error(std::string_view method) const {
  return size_of_choice(choice_of(*this, method).k_one_standard_error);
}
std::optional<Index> Evaluation::k_best() const { return k_best(""); }
std::optional<Index> Evaluation::k_best(std::string_view method) const {
  return size_of_choice(choice_of(*this, method).k_best);
}

Evaluation evaluate(const Dataset& data, const Methods& methods, const EvaluateOptions& options,
                    const RunControl& control) {
  if (methods.list().empty()) {
    throw InvalidArgument(
        {.field = "methods", .rule = "names none", .way_out = "give one or more: {Gslda{}, RvmRow{}}"});
  }
  require_class_labels(data, "evaluate");
  for (const auto& method : methods.list()) method.validate();
  SelectOptions selection = options.select;
  if (options.k.given()) selection.k = options.k;
  Evaluation evaluation =
      evaluate_methods(check_values(data, selection.prepare, selection.exclude), methods.list(), selection,
                       selection.prepare, options.classifier, options, control);
  evaluation.warnings = spelled(std::move(evaluation.warnings), Spelling::kCpp);
  return evaluation;
}

}  // namespace subspectra
