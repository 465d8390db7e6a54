#pragma once
/// Honest evaluation: selection, imputation and scaling are repeated inside every training fold.
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <subspectra/classifiers.hpp>
#include <subspectra/dataset.hpp>
#include <subspectra/export.hpp>
#include <subspectra/method.hpp>
#include <subspectra/options.hpp>
#include <subspectra/run_control.hpp>
#include <subspectra/selection.hpp>

namespace subspectra {

/// One method or several: Gslda{}, or {Gslda{}, RvmRow{}}.
class Methods {
 public:
  Methods(std::initializer_list<Method> methods) : methods_(methods) {}
  Methods(std::vector<Method> methods)
      : methods_(std::move(methods)) {}  // NOLINT(google-explicit-constructor)
  template <class M>
  requires std::is_convertible_v<M, Method> Methods(M method)
      : methods_{Method(std::move(method))} {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const std::vector<Method>& list() const { return methods_; }

 private:
  std::vector<Method> methods_;
};

/// Where features are chosen: inside every training fold (honest), or once on all rows (optimistic).
enum class SelectOn { kFold, kAll };
template <>
struct EnumNames<SelectOn> {
  static constexpr std::array<std::pair<SelectOn, std::string_view>, 2> kNames = {
      {{SelectOn::kFold, "fold"}, {SelectOn::kAll, "all"}}};
};

struct EvaluateOptions {
  FoldCount folds = {};
  Index repeats = 1;
  double test_fraction = 0.0;
  SelectOn select_on = SelectOn::kFold;
  Index null = 0;
  KRange k = {};                  ///< the sizes; where not given those of `select`
  Classifier classifier = Lda{};  ///< trained on the chosen features
  SelectOptions select = {};      ///< what every method is told
  /// Keep the held-out answer of every row (`Evaluation::predictions`): while it runs, a number for every
  /// row, size and class.
  bool predictions = false;

  SUBSPECTRA_EXPORT void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("cv", o.folds, "number of stratified folds, or loo to leave out one row at a time");
    field("repeats", o.repeats, "repetitions with other random folds");
    field("test_fraction", o.test_fraction,
          "instead of folds: hold out this fraction at random, once a repeat");
    field(
        "select_on", o.select_on,
        "fold: choose features inside every training fold (honest); all: on all rows, as the papers did (optimistic)");
    field("null", o.null, "also run with labels permuted this many times: what no signal looks like");
  }
};

/// One method at one k (or lambda).
struct EvaluationRow {
  std::string method;
  Index k = 0;  ///< 0: the method itself says how many features there are (a given lambda, all)
  std::optional<double> lambda;  ///< the geometric mean over the training sets; nothing where k decides
  double error = 0, stderr_ = 0, balanced_error = 0, balanced_stderr = 0, apparent_error = 0;
  double log_loss = 0, log_loss_stderr = 0;
  /// log2 K + mean log2 p(true class), K classes: log2 K is certain and right, 0 as good as guessing.
  double information_bits = 0;
  std::optional<double> null_error;
  double features = 0, entries = 0;  ///< means over the folds
  std::optional<double> stability;
  std::optional<std::pair<double, double>> stability_interval;
};

/// A feature that stood in the place of a chosen one in folds where that was absent (docs/evaluation.md).
struct FeatureSubstitute {
  Index index = 0;
  std::string name;
  double frequency = 0.0;    ///< share of the folds in which it did
  double correlation = 0.0;  ///< of the two, over the rows
};

/// A feature of the model on all rows.
struct ChosenFeature {
  Index index = 0;
  std::string name;
  std::optional<double> frequency;  ///< share of the folds that chose it, too; nothing where none chose
  std::vector<FeatureSubstitute> substitutes;  ///< the most frequent first
};

/// Held-out rows that were given about the same probability, and how many of them were of the class.
struct CalibrationBin {
  double predicted = 0.0;  ///< the mean probability
  double observed = 0.0;   ///< the share of rows
  double rows = 0.0;       ///< a repeat
};

struct RocPoint {
  double false_positives = 0.0, true_positives = 0.0;  ///< rates
};

/// How many features a method is given, and how it does with them. What follows `k_one_standard_error` is of
/// held-out rows at that size.
struct EvaluationChoice {
  std::string method;
  Index k_best = 0;                ///< smallest k with the smallest error; 0: the method has no k
  Index k_one_standard_error = 0;  ///< smallest k whose error is within one standard error of the best
  double error = 0.0, stderr_ = 0.0;
  /// Of always naming the largest class, and the standard error of the difference to it: over the folds
  /// (Nadeau and Bengio), and no less than the rows allow.
  double trivial_error = 0.0, trivial_stderr = 0.0;
  /// The share of permutations of the labels whose error, at the size chosen by the same rule, is no larger:
  /// (1 + their number)/(permutations + 1). Nothing without permutations.
  std::optional<double> p_value;
  Index permutations = 0;
  /// Area under the curve of the second class against the first; of more classes the mean of one against the
  /// rest. Nothing where no repeat held out rows of two classes.
  std::optional<double> auc;
  DenseMatrix
      confusion;  ///< K x K, truth by row: weight of the rows a repeat; empty: no size could be judged
  bool averaged = false;                         ///< over several repeats, where counts need not be whole
  std::vector<double> sensitivity, specificity;  ///< by class; NaN where no row can tell
  std::vector<RocPoint> roc;
  std::vector<CalibrationBin> calibration;
  std::vector<Index> projection_rows;     ///< of the data, ascending: all, or a sample
  std::vector<Index> projection_classes;  ///< of those rows
  DenseMatrix projection;  ///< a row each: log odds of the second class, or two directions of more
  std::vector<ChosenFeature> features;  ///< of the model on all rows; of very many the most frequent
  Index feature_count = 0;              ///< how many there are
  std::optional<UsedConfiguration> used;

  [[nodiscard]] bool judged() const { return !confusion.empty(); }
  /// Why the error is nothing to go by: it is within its standard error of the trivial one, or above it; ""
  /// otherwise.
  [[nodiscard]] SUBSPECTRA_EXPORT std::string doubt() const;
};

/// One held-out set of one method, at the size chosen.
struct EvaluationFold {
  std::string method;
  Index repeat = 0, fold = 0;
  Index k = 0;  ///< 0: the method has none
  double error = 0.0;
  /// Of the first 2,000 held-out sets: how many features, and which unless these are more than 1,000.
  Index size = 0;
  std::vector<Index> features;
  std::optional<UsedConfiguration> used;
};

/// Two methods over the same folds, each at its size: negative where the first errs less.
struct MethodComparison {
  std::string first, second;
  double difference = 0.0;  ///< of the errors
  double stderr_ = 0.0;     ///< by Nadeau and Bengio (docs/evaluation.md); NaN of one held-out set
};

/// The methods by their errors, the smallest first.
struct MethodRank {
  std::string method;
  Index k = 0;
  double error = 0.0;
  double behind = 0.0, behind_stderr = 0.0;  ///< the first one, and its standard error
};

/// What one method said of every row while it was held out, at the size chosen.
struct HeldOutPredictions {
  std::string method;
  Index k = 0;
  std::vector<Index> times;    ///< by row: how often it was held out
  std::vector<double> wrong;   ///< share of these that named a wrong class
  std::vector<int> predicted;  ///< the class with the largest mean probability; -1: never held out
  DenseMatrix probabilities;   ///< N x K, means
};

struct Evaluation {
  Status status = Status::kInterrupted;  ///< heuristic when all folds ran, else time_limit or interrupted
  EvaluateOptions options;
  bool nested = true;
  Criterion criterion = Criterion::kLargest;  ///< the one asked for, auto resolved
  RidgeAmount ridge_all_rows;  ///< the ridge when all rows train; every training set has its own
  bool ridge_known = true;     ///< false where no method and no rule needed one, so that none was resolved
  Index folds_run = 0, folds_planned = 0;
  std::vector<std::string> methods;  ///< in the order of the call
  std::vector<EvaluationRow> rows;   ///< by method, then ascending k
  /// One a method; none when fewer than half of the folds ran: too few to choose a size by.
  std::vector<EvaluationChoice> chosen;
  std::vector<MethodRank> ranking;              ///< of several methods
  std::vector<MethodComparison> comparison;     ///< each pair of them, the better one first
  std::vector<EvaluationFold> folds;            ///< by method, then in order; of methods that were chosen for
  std::vector<HeldOutPredictions> predictions;  ///< by method, where asked for
  double total_s = 0;
  std::vector<std::string> warnings;  ///< in the words of C++ from the public calls
  std::uint64_t table =
      0;  ///< a fingerprint of the table's names and labels, which to_json compares; 0: none

  /// All folds and permutations ran.
  [[nodiscard]] bool complete() const { return status == Status::kHeuristic; }
  /// The smallest size within one standard error of the best, of the first method, or of the first of the
  /// name given; `chosen` has one entry a method, in their order. Nothing where the method itself says how
  /// many features there are (All, a lambda that was given or chosen): `k` of fit takes that as not given.
  /// Throws Error where no size could be judged, InvalidArgument for a name that was not evaluated.
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_one_standard_error() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_one_standard_error(std::string_view method) const;
  /// The same for the smallest error.
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_best() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_best(std::string_view method) const;
  /// As `subspectra.evaluation/1`. Throws InvalidArgument for another table than the one evaluated.
  [[nodiscard]] SUBSPECTRA_EXPORT std::string to_json(const Dataset& data) const;
};

/// Cross-validated error against the number of features, for every method on the same folds. Throws
/// InvalidArgument (options), BadInput (values, labels; a class with fewer rows than folds), Infeasible,
/// Error (memory).
[[nodiscard]] SUBSPECTRA_EXPORT Evaluation evaluate(const Dataset& data, const Methods& methods,
                                                    const EvaluateOptions& options = {},
                                                    const RunControl& control = RunControl());

}  // namespace subspectra
