#pragma once
/// Honest evaluation: selection, imputation and scaling are repeated inside every training fold.
/// docs/evaluation.md
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "classify/classifier.hpp"
#include "data/prepare.hpp"
#include "resample/folds.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {

enum class SelectOn { kFold, kAll };
template <>
struct EnumNames<SelectOn> {
  static constexpr std::array<std::pair<SelectOn, std::string_view>, 2> kNames = {
      {{SelectOn::kFold, "fold"}, {SelectOn::kAll, "all"}}};
};

struct EvaluationOptions {
  FoldCount cv;
  Index repeats = 1;
  double test_fraction = 0.0;
  SelectOn select_on = SelectOn::kFold;
  Index null = 0;

  void validate() const;  ///< throws InvalidArgument
  [[nodiscard]] SplitOptions splits() const { return {.cv = cv, .test_fraction = test_fraction}; }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("cv", o.cv, "number of stratified folds, or loo to leave out one row at a time");
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

struct EvaluationChoice {
  std::string method;
  Index k_best = 0;                ///< smallest k with the smallest error
  Index k_one_standard_error = 0;  ///< smallest k whose error is within one standard error of the best
};

struct Evaluation {
  Status status = Status::kInterrupted;  ///< heuristic when all folds ran, else time_limit or interrupted
  EvaluationOptions options;
  Classifier classifier;
  bool nested = true;
  double ridge_all_rows = 0.0;  ///< the ridge when all rows train; every training set has its own
  Index folds_run = 0, folds_planned = 0;
  std::vector<EvaluationRow> rows;  ///< by method, then ascending k
  std::vector<EvaluationChoice> chosen;
  double total_s = 0;
  std::vector<std::string> warnings;
};

/// `data` has passed check_values. Throws BadInput when a class has fewer rows than folds.
[[nodiscard]] Evaluation evaluate_methods(const Dataset& data, const std::vector<Method>& methods,
                                          const SelectOptions& selection, const PrepareOptions& prepare,
                                          const Classifier& classifier, const EvaluationOptions& options,
                                          const RunControl& control);

}  // namespace subspectra
