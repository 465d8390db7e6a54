#include "evaluate/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <span>
#include <tuple>

#include "classify/registry.hpp"
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "core/spelling.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "evaluate/automatic.hpp"
#include "evaluate/chosen_features.hpp"
#include "evaluate/comparison.hpp"
#include "evaluate/evaluation_parts.hpp"
#include "evaluate/held_out.hpp"
#include "evaluate/score.hpp"
#include "evaluate/size_choice.hpp"
#include "evaluate/stability.hpp"
#include "select/select.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {

SplitOptions splits_of(const EvaluateOptions& options) {
  return {.cv = options.folds, .test_fraction = options.test_fraction};
}

FittingSplits fitting_splits(const Dataset& data, const EvaluateOptions& options) {
  constexpr Index kMostAlone = 300;  // rows that are held out one by one
  FittingSplits result{.splits = splits_of(options), .why = {}};
  if (options.folds.given || options.test_fraction > 0.0) return result;
  const auto counts = data.labels()->counts();
  std::size_t smallest = counts.size();
  Index fewest = options.folds.folds;  // of the classes with two rows or more
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    if (smallest == counts.size() || counts[c] < counts[smallest]) smallest = c;
    if (counts[c] > 1) fewest = std::min(fewest, counts[c]);
  }
  const bool can_be_learned =
      std::any_of(counts.begin(), counts.end(), [](Index count) { return count > 1; });
  if (smallest == counts.size() || counts[smallest] >= options.folds.folds || !can_be_learned) return result;
  const bool single = counts[smallest] == 1;
  if (single && data.rows() <= kMostAlone) {
    result.splits.cv = kLeaveOneOut;
  } else {
    result.splits.cv = fewest;
    result.splits.small_classes = single;
  }
  result.why = fmt::format("class '{}' has {}, so that {} (⟨cv N⟩ of evaluate sets their number)",
                           data.labels()->classes[smallest], counted(counts[smallest], "row"),
                           result.splits.cv == kLeaveOneOut
                               ? std::string("every row is held out by itself in place of 5 folds")
                               : fmt::format("there are {} folds in place of 5", fewest));
  return result;
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
  if (test_fraction > 0.0 && folds.given) {
    throw InvalidArgument(
        "⟨cv⟩ makes folds and ⟨test_fraction⟩ random splits instead of them; leave one out");
  }
}

namespace {

/// One training set and what is held out, under the real labels or permuted ones.
struct Task {
  const Labels* labels = nullptr;
  std::vector<Index> train, test;
  const std::vector<Selection>* fixed = nullptr;  ///< the sets of `select_on` all, by method
  bool keep_answers = false;  ///< what the rules say of every row, not only how often wrong
};

/// Where a held-out set belongs.
struct Place {
  Index permutation = 0, repeat = 0, fold = 0;
};

/// Held-out sets that are made together: one repeat under the real labels, or one permutation of them.
struct Round {
  Index permutation = 0;  ///< 0: the real labels
  Index repeat = 0;
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
  /// training of a classifier was cut short, whose answer would count as its own. `wanted`: by method,
  /// whether to do it; the scores of the others stay empty.
  std::vector<ScoresByK> run(const Task& task, const std::vector<Method>& methods,
                             const std::vector<char>& wanted, int threads,
                             std::vector<Selection>& selections) const {
    Preparation preparation;
    const Dataset training = prepared_rows(task, preparation);
    const RowStatistics rows(training, threads, selection_.memory_limit.bytes);
    std::vector<ScoresByK> scores(methods.size());
    for (std::size_t m = 0; m < methods.size(); ++m) {
      if (wanted[m] == 0) continue;
      if (!selections[m].has_answer() && !select(rows, task, methods[m], selections[m])) continue;
      try {
        scores[m] = selections[m].own_rule() ? judge_records(training, preparation, task, selections[m])
                                             : judge_path(rows, preparation, task, selections[m], threads);
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

  /// So many folds as there is memory for their prepared tables, one at least.
  [[nodiscard]] int folds_at_once(int most) const {
    const bool may_copy =
        prepare_.standardize || prepare_.transform == Transform::kAsinh ||
        (prepare_.missing != MissingPolicy::kError && prepare_.missing != MissingPolicy::kDrop);
    if (!may_copy) return most;
    const double room =
        static_cast<double>(memory_budget(selection_.memory_limit.bytes)) / bytes_of_copy(data_);
    return static_cast<int>(std::clamp(room, 1.0, static_cast<double>(most)));
  }

 private:
  struct CutShort {};
  /// Hands the rule on; throws CutShort if a limit or a signal ended its training.
  static const Rule& whole(const Rule& rule) {
    if (rule.status == Status::kTimeLimit || rule.status == Status::kInterrupted) throw CutShort();
    return rule;
  }

  [[nodiscard]] Judging judging() const {
    return {.classifier = classifier_, .transform = prepare_.transform};
  }

  Dataset prepared_rows(const Task& task, Preparation& preparation) const {
    const Dataset training = rows_of(task, task.train);
    const std::uint64_t memory_limit = selection_.memory_limit.bytes;
    preparation = Preparation::learn(training, prepare_, memory_limit);
    return preparation.changed_copy(training, memory_limit);
  }

  /// False: nothing can be chosen on these rows.
  bool select(const RowStatistics& rows, const Task& task, const Method& method, Selection& selection) const {
    SelectOptions options = selection_;
    options.threads = rows.threads();
    options.certify = false;
    options.ridge_needed = task.train.size() == static_cast<std::size_t>(data_.rows());  // it is reported
    options.sets_alone = !method.traits().composite;
    options.components = 1;
    try {
      selection = run_judged(rows, method, options, judging(), control_.silent());
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

  ScoresByK judge_path(const RowStatistics& statistics, const Preparation& preparation, const Task& task,
                       const Selection& selection, int threads) const {
    const Dataset& training = statistics.data();
    const std::vector<Index> used = features_used(selection);
    const Preparation seen =
        preparation_of(selection, preparation, training, used, judging()).restricted(used);
    Matrix test_rows = values(task.test, used);
    seen.apply_to(test_rows);
    const Classifier classifier = classifier_of(selection, classifier_);
    TrainingContext context{.seed = selection_.seed, .threads = threads};
    if (selection.ridge_open) context.open_ridge = [&] { return open_ridge(statistics, selection_); };
    const bool bent = seen.spread.size() > preparation.spread.size();
    const ClassifierTrainer trainer =
        bent ? ClassifierTrainer(Preparation().then(seen).apply(training.with_features(used)),
                                 first_features(std::ssize(used)), selection.ridge, classifier, context)
             : ClassifierTrainer(training, used, selection.ridge, classifier, context);

    ScoresByK scores;
    for (const auto& entry : selection.sets()) {
      if (control_.should_stop()) throw CutShort();
      std::vector<Index> place;  // of the entry's features among `used`
      for (const Index f : entry.features) {
        place.push_back(std::lower_bound(used.begin(), used.end(), f) - used.begin());
      }
      try {
        const RulePointer rule = trainer.fit(place, control_.silent());
        HeldOutScore score = judge(whole(*rule).log_posteriors(test_rows(Eigen::all, place)), task);
        score.features = entry.features;
        score.entries = static_cast<double>(rule->entries());
        if (selection.comparison) score.used = selection.comparison->used;
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
      if (control_.should_stop()) throw CutShort();
      Matrix test_rows = values(task.test, record.features);
      preparation.restricted(record.features).apply_to(test_rows);
      const RulePointer rule =
          fit_rule(training, record, classifier_, {.seed = selection_.seed}, control_.silent());
      HeldOutScore found = judge(whole(*rule).log_posteriors(test_rows), task);
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
    std::optional<HeldOutScore> last;
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

  HeldOutScore judge(const Matrix& log_posteriors, const Task& task) const {
    const Index classes = log_posteriors.cols();
    HeldOutScore score;
    score.weight = score.wrong = Vector::Zero(classes);
    auto answers = task.keep_answers ? std::make_shared<HeldOutAnswers>() : nullptr;
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
      if (answers) answers->predicted.push_back(static_cast<int>(predicted));
    }
    if (answers) {
      for (Index i = 0; i < log_posteriors.rows(); ++i) {
        for (const double value : log_posteriors.row(i))
          answers->log_posteriors.push_back(static_cast<float>(std::isnan(value) ? -kInfinity : value));
      }
      score.answers = std::move(answers);
    }
    return score;
  }

  const Dataset& data_;
  const SelectOptions& selection_;
  const PrepareOptions& prepare_;
  Classifier classifier_;
  const RunControl& control_;
};

/// All held-out sets of one method at one k, added one after another.
struct Tally {
  static constexpr std::size_t kMostSets = 2000;  ///< of the sets kept for the stability index

  Index count = 0;
  Vector weight, wrong;    ///< K sums over held-out rows
  Vector sets_with_class;  ///< K: in how many held-out sets the class occurs
  double log_loss = 0.0, features = 0.0, entries = 0.0, log_lambda = 0.0;
  RunningMean errors, balanced, losses;
  std::vector<float> wrong_by_set;  ///< a number a held-out set: for differences between methods
  std::vector<std::vector<Index>> sets;
  std::vector<std::optional<UsedConfiguration>> used;  ///< of these

  void add(const HeldOutScore& score) {
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
    wrong_by_set.push_back(static_cast<float>(score.wrong.sum()));
    if (sets.size() < kMostSets) {
      sets.push_back(score.features);
      used.push_back(score.used);
    }
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

/// The rows of each group (`cv_groups`) by its first row, where every group is of one class; else none.
std::vector<std::vector<Index>> groups_of_one_class(const Dataset& data) {
  std::map<std::string_view, std::size_t> place;
  std::vector<std::vector<Index>> groups;
  for (Index i = 0; i < static_cast<Index>(data.row_groups().size()); ++i) {
    const auto [found, is_new] =
        place.try_emplace(data.row_groups()[static_cast<std::size_t>(i)], groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(i);
    const auto& codes = data.labels()->codes;
    if (codes[static_cast<std::size_t>(i)] != codes[static_cast<std::size_t>(groups[found->second].front())])
      return {};
  }
  return groups;
}

/// The labels in another order. Rows of one group are alike, so that groups of one class (patients) exchange
/// their classes as a whole: single rows would make the permutations differ more from the data than chance.
Labels permuted(const Dataset& data, Random random) {
  Labels labels = *data.labels();
  const auto groups = groups_of_one_class(data);
  if (groups.empty()) {
    random.shuffle(std::span<int>(labels.codes));
    return labels;
  }
  std::vector<int> codes;
  codes.reserve(groups.size());
  for (const auto& rows : groups) codes.push_back(labels.codes[static_cast<std::size_t>(rows.front())]);
  random.shuffle(std::span<int>(codes));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Index i : groups[g]) labels.codes[static_cast<std::size_t>(i)] = codes[g];
  }
  return labels;
}

int classes_in(const Labels& labels, const std::vector<Index>& rows) {
  std::vector<char> seen(labels.classes.size(), 0);
  for (const Index i : rows) seen[static_cast<std::size_t>(labels.codes[i])] = 1;
  return static_cast<int>(std::count(seen.begin(), seen.end(), 1));
}

/// One permutation of the labels: the errors of one method by size.
struct PermutedErrors {
  struct Size {
    Index sets = 0;
    double wrong = 0.0, rows = 0.0;
    RunningMean errors;
  };
  std::map<Index, Size> sizes;
  Index sets = 0;  ///< that were run

  void add(const ScoresByK& scores) {
    ++sets;
    for (const auto& [k, score] : scores) {
      Size& size = sizes[k];
      ++size.sets;
      size.wrong += score.wrong.sum();
      size.rows += score.rows;
      size.errors.add(score.wrong.sum() / score.rows);
    }
  }
  /// At the size that the rule chooses; nothing where no size was reached in every training set.
  [[nodiscard]] std::optional<double> error_at_choice() const {
    std::vector<JudgedSize> judged;
    for (const auto& [k, size] : sizes) {
      if (size.sets == sets)
        judged.push_back(
            {.k = k, .error = size.wrong / size.rows, .standard_error = size.errors.standard_error()});
    }
    const auto choice = one_standard_error_rule(judged);
    if (!choice) return std::nullopt;
    return judged[choice->one_standard_error].error;
  }
};

/// Always naming one class: the largest of the training rows, or the largest of all rows. Under leave-one-out
/// of classes of one size the former is always wrong, which is no yardstick.
struct TrivialRule {
  std::vector<double> wrong_by_set;
  double wrong = 0.0;
  void add(double missed) {
    wrong_by_set.push_back(missed);
    wrong += missed;
  }
};

/// What is known of a held-out set whatever the method.
struct HeldOutSet {
  Place place;
  double rows = 0.0;  ///< their weight
};

/// Always guessing, over the held-out sets that ran.
class Trivial {
 public:
  explicit Trivial(const Dataset& data) : data_(data), weights_(Vector::Zero(data.labels()->class_count())) {
    for (Index i = 0; i < data.rows(); ++i)
      weights_[data.labels()->codes[static_cast<std::size_t>(i)]] += data.weight(i);
    weights_.maxCoeff(&largest_);
  }
  void add(const std::vector<Index>& test) {
    const Vector held_out = class_weights(data_, test);
    Index of_training = 0;
    (weights_ - held_out).maxCoeff(&of_training);
    const double rows = held_out.sum();
    by_training_.add(rows - held_out[of_training]);
    by_all_.add(rows - held_out[largest_]);
  }
  [[nodiscard]] Index largest() const { return largest_; }  ///< class of all rows
  [[nodiscard]] const TrivialRule& better() const {
    return by_training_.wrong <= by_all_.wrong ? by_training_ : by_all_;
  }

 private:
  static Vector class_weights(const Dataset& data, const std::vector<Index>& rows) {
    Vector weights = Vector::Zero(data.labels()->class_count());
    for (const Index i : rows) weights[data.labels()->codes[static_cast<std::size_t>(i)]] += data.weight(i);
    return weights;
  }
  const Dataset& data_;
  Vector weights_;
  Index largest_ = 0;
  TrivialRule by_training_, by_all_;
};

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
                                              const SplitOptions& options, Random random) {
  try {
    return make_splits(labels, data.row_groups(), data.source(), options, random);
  } catch (const BadInput& problem) {
    const std::string before = data.source() + ": ";
    const std::string& sentence = problem.marked();
    if (!data.details().in_memory || !sentence.starts_with(before)) throw;
    throw InvalidArgument({.field = "y", .rule = ": " + sentence.substr(before.size())});
  }
}

/// The tasks of the real labels in an order that favours no fold, then those of the permutations: a run that
/// is cut short has judged folds from everywhere.
std::vector<Index> shuffled_order(const std::vector<Place>& places, Random random) {
  std::vector<Index> order(places.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto first_permuted =
      std::find_if(places.begin(), places.end(), [](const Place& place) { return place.permutation > 0; });
  random.shuffle(
      std::span<Index>(order).first(static_cast<std::size_t>(std::distance(places.begin(), first_permuted))));
  return order;
}

double weight_of(const Dataset& data, const std::vector<Index>& rows) {
  double sum = 0.0;
  for (const Index i : rows) sum += data.weight(i);
  return sum;
}

/// The answers of every method at every size that all rows reach.
class AnswerTallies {
 public:
  explicit AnswerTallies(std::size_t methods) : by_method_(methods) {}
  void expect(std::ptrdiff_t method, Index k) { by_method_[static_cast<std::size_t>(method)][k]; }
  [[nodiscard]] const HeldOutTally& at(std::size_t method, Index k) const { return by_method_[method].at(k); }

  /// The tasks of a batch, of which those with the real labels count.
  void add(const Dataset& data, const KeptRows& kept, const std::vector<Task>& tasks,
           const std::vector<Place>& places, const std::vector<std::vector<ScoresByK>>& results,
           int threads) {
    struct Entry {
      std::size_t method;
      Index k;
      HeldOutTally* tally;
    };
    std::vector<Entry> entries;
    for (std::size_t m = 0; m < by_method_.size(); ++m) {
      for (auto& [k, tally] : by_method_[m]) entries.push_back({m, k, &tally});
    }
    parallel_for(static_cast<Index>(entries.size()), threads, [&](Index i) {
      const Entry& entry = entries[static_cast<std::size_t>(i)];
      std::vector<HeldOutFold> folds;
      for (std::size_t t = 0; t < tasks.size() && places[t].permutation == 0; ++t) {
        if (!results[t].empty()) {
          const auto found = results[t][entry.method].find(entry.k);
          if (found != results[t][entry.method].end())
            folds.push_back({.rows = &tasks[t].test, .answers = found->second.answers.get()});
        }
        const bool last = t + 1 == tasks.size() || places[t + 1].permutation > 0 ||
                          places[t + 1].repeat != places[t].repeat;
        if (!last) continue;
        entry.tally->add_repeat(data, kept, folds);
        folds.clear();
      }
    });
  }

 private:
  std::vector<std::map<Index, HeldOutTally>> by_method_;
};

SplitSizes split_sizes(const Dataset& data, const std::vector<HeldOutSet>& sets) {
  double all = 0.0, held_out = 0.0;
  for (Index i = 0; i < data.rows(); ++i) all += data.weight(i);
  for (const auto& set : sets) held_out += set.rows / static_cast<double>(sets.size());
  return {.train = all - held_out, .test = held_out};
}

template <class Wrong>
std::vector<double> errors_by_set(const std::vector<Wrong>& wrong, const std::vector<HeldOutSet>& sets) {
  std::vector<double> errors(wrong.size());
  for (std::size_t i = 0; i < wrong.size(); ++i) errors[i] = static_cast<double>(wrong[i]) / sets[i].rows;
  return errors;
}

/// Of the difference to always naming one class, as precisely as the rows of one repeat can tell: a few folds
/// that happen to err alike say nothing of other rows.
double standard_error_of_rows(const DenseMatrix& confusion, Index named) {
  double rows = 0.0, only_rule_wrong = 0.0, only_trivial_wrong = 0.0;
  for (Index truth = 0; truth < confusion.rows(); ++truth) {
    for (Index answer = 0; answer < confusion.cols(); ++answer) {
      const double weight = confusion(truth, answer);
      rows += weight;
      if (truth == named && answer != truth) only_rule_wrong += weight;
      if (truth != named && answer == truth) only_trivial_wrong += weight;
    }
  }
  const double mean = (only_trivial_wrong - only_rule_wrong) / rows;
  return std::sqrt(std::max(0.0, (only_trivial_wrong + only_rule_wrong) / rows - mean * mean) / rows);
}

void judge_trivial(const Trivial& trivial, const Tally& tally, const std::vector<HeldOutSet>& sets,
                   const SplitSizes& split, EvaluationChoice& choice) {
  const TrivialRule& rule = trivial.better();
  const std::vector<double> own = errors_by_set(tally.wrong_by_set, sets);
  std::vector<double> differences = errors_by_set(rule.wrong_by_set, sets);
  for (std::size_t i = 0; i < own.size(); ++i) differences[i] -= own[i];
  choice.trivial_error = rule.wrong / tally.weight.sum();
  choice.trivial_stderr = std::fmax(corrected_standard_error(differences, split),  // NaN of one held-out set
                                    standard_error_of_rows(choice.confusion, trivial.largest()));
}

void judge_permutations(const std::vector<double>& errors, EvaluationChoice& choice) {
  choice.permutations = static_cast<Index>(errors.size());
  if (errors.empty()) return;
  constexpr double kRounding = 1e-12;  // equal shares of rows are equal, however they were summed
  const auto as_good = std::count_if(errors.begin(), errors.end(),
                                     [&](double error) { return error <= choice.error + kRounding; });
  choice.p_value = static_cast<double>(1 + as_good) / static_cast<double>(1 + errors.size());
}

void append_folds(const EvaluationChoice& choice, const Tally& tally, const std::vector<HeldOutSet>& sets,
                  std::vector<EvaluationFold>& folds) {
  constexpr Index kMostListed = 1000;  // of a set of thousands nobody reads the names
  const std::vector<double> errors = errors_by_set(tally.wrong_by_set, sets);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EvaluationFold fold{.method = choice.method,
                        .repeat = sets[i].place.repeat,
                        .fold = sets[i].place.fold,
                        .k = choice.k_one_standard_error,
                        .error = errors[i]};
    if (i < tally.sets.size()) {
      fold.size = static_cast<Index>(tally.sets[i].size());
      if (fold.size <= kMostListed) fold.features = tally.sets[i];
      fold.used = tally.used[i];
    }
    folds.push_back(std::move(fold));
  }
}

}  // namespace

Evaluation evaluate_methods(const Dataset& data, const std::vector<Method>& methods,
                            const SelectOptions& selection, const PrepareOptions& prepare,
                            const Classifier& classifier, const EvaluateOptions& asked,
                            const RunControl& control, PartWork* work) {
  asked.validate();
  selection.validate();
  for (const auto& method : methods) require_no_state(method);
  require_every_label(data);
  const FittingSplits fitting = fitting_splits(data, asked);
  EvaluateOptions options = asked;
  options.folds = fitting.splits.cv;
  Evaluation evaluation;
  kind_of(classifier).validate(classifier);
  evaluation.options = options;
  evaluation.options.classifier = classifier;
  evaluation.criterion = resolved_criterion(selection.criterion, data);
  evaluation.nested = options.select_on == SelectOn::kFold;
  for (const auto& method : methods) evaluation.methods.emplace_back(method.name());
  const int threads = resolve_threads(selection.threads);
  const Evaluator evaluator(data, selection, prepare, classifier, control);
  const std::vector<Index> everything = complement({}, data.rows());

  const bool random_splits = options.folds.folds > 0 || options.test_fraction > 0.0;
  const Index repeats = random_splits ? options.repeats : 1;
  std::vector<Round> rounds;
  for (Index repeat = 0; repeat < repeats; ++repeat) {
    rounds.push_back({.permutation = 0, .repeat = repeat, .stream = streams::repeat_folds(repeat)});
  }
  for (Index i = 1; i <= options.null; ++i) {
    rounds.push_back({.permutation = i, .repeat = 0, .stream = streams::null_folds(i)});
  }
  const EvaluationParts parts(
      work, data, methods.size(),
      work == nullptr
          ? 0
          : std::ssize(rounds) * std::ssize(held_out_sets(data, *data.labels(), fitting.splits,
                                                          Random(selection.seed, rounds.front().stream))));

  // On all rows first: it finds what is wrong with the data or the options before hours are spent, and gives
  // the apparent error and, for `select_on` all, the sets.
  std::vector<Selection> on_all(methods.size());
  std::vector<ScoresByK> apparent;
  std::vector<ChoiceOnAllRows> choices_on_all(methods.size());
  if (parts.merging()) {
    std::tie(apparent, choices_on_all) = parts.found_on_all_rows();
  } else if (parts.any_mine(EvaluationParts::kAllRows) || !evaluation.nested) {
    const std::vector<char> wanted =
        evaluation.nested ? parts.mine(EvaluationParts::kAllRows) : std::vector<char>(methods.size(), 1);
    apparent =
        evaluator.run({&*data.labels(), everything, everything, nullptr}, methods, wanted, threads, on_all);
    for (std::size_t m = 0; m < methods.size(); ++m)
      choices_on_all[m] = {on_all[m].ridge_open, on_all[m].ridge, on_all[m].warnings};
    if (parts.one_part() && !apparent.empty()) parts.keep_all_rows(apparent, choices_on_all);
  } else {
    apparent.resize(methods.size());
  }
  const auto known = std::find_if(choices_on_all.begin(), choices_on_all.end(),
                                  [](const ChoiceOnAllRows& choice) { return !choice.ridge_open; });
  evaluation.ridge_known = known != choices_on_all.end();
  if (evaluation.ridge_known) evaluation.ridge_all_rows = known->ridge;  // of the data, not of the method
  for (const auto& choice : choices_on_all) {
    for (const auto& warning : choice.warnings) {
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
  if (!fitting.why.empty()) evaluation.warnings.push_back(fitting.why);
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
  if (!random_splits && options.repeats > 1) {
    evaluation.warnings.emplace_back("leave-one-out has nothing to repeat: ⟨repeats⟩ was taken as 1");
    evaluation.options.repeats = 1;
  }

  // Rounds are worked off a batch at a time: only the tallies grow with their number, and a stop is noticed
  // soon. What the rules say of single rows is kept for a batch.
  std::vector<std::map<Index, Tally>> tallies(methods.size());
  std::vector<std::map<Index, std::pair<double, double>>> null_errors(methods.size());  // wrong, rows
  std::vector<std::vector<double>> null_choices(methods.size());  // by permutation, at the size chosen
  const KeptRows kept = rows_to_keep(data.rows(), selection.seed, options.predictions);
  AnswerTallies answers(methods.size());
  double numbers_a_round = 0.0;  // that the answers of a repeat take
  for (const auto& by_size : apparent) {
    for (const auto& [k, score] : by_size) answers.expect(&by_size - apparent.data(), k);
    numbers_a_round += static_cast<double>(by_size.size()) * static_cast<double>(data.rows()) *
                       static_cast<double>(data.labels()->class_count() + 1);
  }
  std::vector<HeldOutSet> sets_run;
  Trivial trivial(data);
  constexpr std::size_t kBatch = 256;       // held-out sets, at least; by size alone, not by threads
  constexpr double kMostNumbers = 1 << 24;  // of answers in a batch, where a repeat has not more by itself
  bool stopped = false;
  Index sets_met = 0;               // held-out sets of all batches so far
  Index fewest_rows = data.rows();  // of a training set
  for (std::size_t next = 0; next < rounds.size() && !stopped;) {
    std::deque<Labels> labellings;  // deques: the tasks point into them
    std::deque<std::vector<Selection>> fixed;
    std::vector<Task> tasks;
    std::vector<Place> places;  // by task
    const Index first_set = sets_met + 1;
    double numbers = 0.0;
    while (next < rounds.size() && tasks.size() < kBatch &&
           (numbers == 0.0 || numbers + numbers_a_round <= kMostNumbers)) {
      const Round& round = rounds[next++];
      const bool real = round.permutation == 0;
      if (real) numbers += numbers_a_round;
      labellings.push_back(
          real ? *data.labels()
               : permuted(data, Random(selection.seed, streams::null_labels(round.permutation))));
      const Labels& labels = labellings.back();
      Index fold = 0;
      std::vector<std::vector<Index>> tests;
      try {
        tests = held_out_sets(data, labels, fitting.splits, Random(selection.seed, round.stream));
      } catch (const Error&) {
        if (real) throw;
        continue;  // groups exchanged their classes so that one has too few rows; the others tell
      }
      const std::vector<Selection>* sets = nullptr;
      if (!evaluation.nested && !parts.merging()) {  // chosen with every row in sight, under these labels
        bool needed = false;
        for (Index i = 1; i <= std::ssize(tests) && !needed; ++i) needed = parts.any_mine(sets_met + i);
        fixed.push_back(real ? on_all : std::vector<Selection>(methods.size()));
        if (!real && needed && !control.should_stop()) {
          evaluator.choose({&labels, everything, everything, nullptr}, methods, threads, fixed.back());
        }
        sets = &fixed.back();
      }
      for (auto& test : tests) {
        auto train = complement(test, data.rows());
        const Place place{.permutation = round.permutation, .repeat = round.repeat, .fold = fold++};
        if (classes_in(labels, train) < 2) {
          if (!real) continue;  // this shuffle cannot be learned from; the others tell
          throw BadInput(
              {.file = data.source()},
              fmt::format(
                  "leaving out row{} {} leaves one class only to learn from; use other folds (⟨cv⟩, ⟨test_fraction⟩){}",
                  test.size() == 1 ? "" : "s",
                  join_some(test.size(), [&](std::size_t i) { return std::to_string(test[i]); }),
                  data.row_groups().empty() ? "" : " or groups (⟨cv_groups⟩)"));
        }
        fewest_rows = std::min(fewest_rows, static_cast<Index>(train.size()));
        tasks.push_back({&labels, std::move(train), std::move(test), sets, real});
        places.push_back(place);
        ++sets_met;
        if (real && next == 1) ++evaluation.folds_planned;
      }
    }
    const std::vector<Index> order = shuffled_order(places, Random(selection.seed, streams::fold_order()));
    std::vector<std::vector<ScoresByK>> results(tasks.size());  // by task, then method; empty: not run
    std::vector<char> finished(tasks.size(), 0);                // also what is no work of this part
    std::atomic<std::size_t> done = 0;
    const int inner_threads = static_cast<int>(tasks.size()) >= threads ? 1 : threads;
    parallel_for(static_cast<Index>(tasks.size()), evaluator.folds_at_once(threads), [&](Index i) {
      const auto t = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      const Index set = first_set + static_cast<Index>(t);
      const bool is_permuted = places[t].permutation > 0;
      if (parts.merging()) {
        results[t] = parts.found(set, tasks[t].test, is_permuted);
        return;
      }
      const std::vector<char> wanted = parts.mine(set);
      if (parts.one_part() && !parts.any_mine(set)) {
        finished[t] = 1;
        return;
      }
      if (control.should_stop() || apparent.empty()) return;  // empty: cut short on all rows already
      std::vector<Selection> chosen =
          tasks[t].fixed == nullptr ? std::vector<Selection>(methods.size()) : *tasks[t].fixed;
      auto scores = evaluator.run(tasks[t], methods, wanted, inner_threads, chosen);
      // A search that was cut short would count as the method's own answer: the set is as good as not run.
      for (const auto& found : chosen) {
        if (found.status == Status::kTimeLimit ||
            (found.status == Status::kInterrupted && control.should_stop())) {
          return;
        }
      }
      if (parts.one_part()) {
        finished[t] = scores.empty() ? 0 : 1;
        if (finished[t] != 0) parts.keep(set, scores, is_permuted);
      } else {
        results[t] = std::move(scores);
      }
      const double rounds_done = static_cast<double>(next) - static_cast<double>(labellings.size()) +
                                 static_cast<double>(++done) / static_cast<double>(tasks.size()) *
                                     static_cast<double>(labellings.size());
      control.report("evaluate", rounds_done / static_cast<double>(rounds.size()), [&] {
        return fmt::format("round {:.0f} of {}", std::ceil(rounds_done), rounds.size());
      });
    });
    if (parts.one_part()) {
      stopped = stopped || std::find(finished.begin(), finished.end(), 0) != finished.end();
      continue;
    }
    std::vector<PermutedErrors> permuted_errors(methods.size());
    bool whole_permutation = true;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const Index permutation = places[t].permutation;
      const bool ran = !results[t].empty();
      stopped = stopped || !ran;
      if (ran && permutation == 0) {
        ++evaluation.folds_run;
        sets_run.push_back({.place = places[t], .rows = weight_of(data, tasks[t].test)});
        trivial.add(tasks[t].test);
      }
      for (std::size_t m = 0; m < methods.size() && ran; ++m) {
        for (const auto& [k, score] : results[t][m]) {
          if (permutation == 0) {
            tallies[m][k].add(score);
          } else {
            null_errors[m][k].first += score.wrong.sum();
            null_errors[m][k].second += score.rows;
          }
        }
        if (permutation > 0) permuted_errors[m].add(results[t][m]);
      }
      if (permutation == 0) continue;
      whole_permutation = whole_permutation && ran;
      if (t + 1 < tasks.size() && places[t + 1].permutation == permutation) continue;
      for (std::size_t m = 0; m < methods.size(); ++m) {
        const auto error = permuted_errors[m].error_at_choice();
        if (whole_permutation && error) null_choices[m].push_back(*error);
      }
      permuted_errors.assign(methods.size(), {});
      whole_permutation = true;
    }
    answers.add(data, kept, tasks, places, results, threads);
  }
  warn_of_few_rows(fewest_rows, classifier, evaluation.warnings);
  evaluation.folds_planned *= evaluation.options.repeats;
  if (parts.one_part()) stopped = stopped || control.should_stop();  // on all rows, too
  evaluation.status = stopped ? control.status_or(Status::kInterrupted) : Status::kHeuristic;
  if (parts.one_part()) return evaluation;  // what it found is in `work`
  std::vector<EvaluationChoice> choices;
  std::vector<bool> has_sizes;  // by method: some size was reached in every training set
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
    has_sizes.push_back(evaluation.rows.size() > rows_before);
    choices.push_back(choose_k(name, std::span<const EvaluationRow>(evaluation.rows).subspan(rows_before)));
  }
  // Fewer than half of the folds are too few to name a size best.
  if (2 * evaluation.folds_run >= evaluation.folds_planned && evaluation.folds_run > 0) {
    const SplitSizes split = split_sizes(data, sets_run);
    std::vector<JudgedMethod> judged;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      EvaluationChoice& choice = choices[m];
      const Index k = choice.k_one_standard_error;
      const auto found = tallies[m].find(k);
      if (!has_sizes[m]) continue;
      const Tally& tally = found->second;
      const HeldOutScore& on_training = apparent[m].at(k);
      choice.used = on_training.used;
      answers.at(m, k).describe(kept, choice);
      for (const Index row : choice.projection_rows)
        choice.projection_classes.push_back(data.labels()->codes[static_cast<std::size_t>(row)]);
      judge_trivial(trivial, tally, sets_run, split, choice);
      judge_permutations(null_choices[m], choice);
      choice.feature_count = static_cast<Index>(on_training.features.size());
      choice.features =
          chosen_features(data, on_training.features,
                          evaluation.nested ? tally.sets : std::vector<std::vector<Index>>(), kept.sample);
      append_folds(choice, tally, sets_run, evaluation.folds);
      if (options.predictions) {
        evaluation.predictions.push_back(answers.at(m, k).predictions());
        evaluation.predictions.back().method = choice.method;
        evaluation.predictions.back().k = k;
      }
      judged.push_back({.name = choice.method,
                        .k = k,
                        .error = choice.error,
                        .fold_errors = errors_by_set(tally.wrong_by_set, sets_run),
                        .row_errors = answers.at(m, k).wrong_in_sample()});
    }
    if (judged.size() > 1) {
      evaluation.ranking = rank_methods(judged, split);
      evaluation.comparison = compare_methods(judged, split);
    }
    evaluation.chosen = std::move(choices);
  }
  evaluation.total_s = control.elapsed_s();
  return evaluation;
}

EvaluationChoice choose_k(const std::string& method, std::span<const EvaluationRow> rows) {
  EvaluationChoice choice{.method = method};
  std::vector<JudgedSize> sizes;
  for (const auto& row : rows)
    sizes.push_back({.k = row.k, .error = row.error, .standard_error = row.stderr_});
  const auto chosen = one_standard_error_rule(sizes);
  if (!chosen) return choice;
  choice.k_best = rows[chosen->best].k;
  const EvaluationRow& row = rows[chosen->one_standard_error];
  choice.k_one_standard_error = row.k;
  choice.error = row.error;
  choice.stderr_ = row.stderr_;
  return choice;
}

void require_class_labels(const Dataset& data, std::string_view command) {
  if (!data.labels()) {
    refuse_table(data,
                 data.details().no_target.empty()
                     ? BadInput(fmt::format(
                           "{}: {} needs class labels and there is no label column; name it with ⟨target⟩",
                           data.source(), command))
                     : BadInput(fmt::format("{}: {} needs class labels: {}", data.source(), command,
                                            data.details().no_target)),
                 {.field = "y",
                  .rule = fmt::format("is missing, and {} needs class labels", command),
                  .way_out = "give them with the table: Dataset(X, y)"});
  }
  // Methods that look at labels say so themselves, but not every method does.
  const auto counts = data.labels()->counts();
  const auto classes = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  if (classes > 1) require_rows_of_some_class(data);
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
    throw Error(
        "fewer than half of the folds were finished, which is too few to choose a size by; give more time");
  throw InvalidArgument({.field = "method",
                         .value = std::string(method),
                         .rule = "{value} was not evaluated",
                         .way_out = "name one of those that were"});
}

/// 0 stands for a method that says itself how many features there are.
std::optional<Index> size_of_choice(Index k) { return k > 0 ? std::optional(k) : std::nullopt; }

}  // namespace

std::string EvaluationChoice::doubt() const {
  if (!judged()) return {};
  const double gained = trivial_error - error;
  if (gained < 0.0)
    return fmt::format("error {:.4f} is above that of always naming the largest class ({:.4f})", error,
                       trivial_error);
  if (gained > trivial_stderr) return {};
  return fmt::format(
      "error {:.4f} is not told apart from that of always naming the largest class ({:.4f}): the difference is within its standard error ({:.4f})",
      error, trivial_error, trivial_stderr);
}

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
      evaluate_methods(check_values(data, selection.prepare, selection.exclude, selection.memory_limit.bytes),
                       methods.list(), selection, selection.prepare, options.classifier, options, control);
  evaluation.warnings = spelled(std::move(evaluation.warnings), Spelling::kCpp);
  evaluation.table = identity_of(data);
  return evaluation;
}

}  // namespace subspectra
