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

struct EvaluationChoice {
  std::string method;
  Index k_best = 0;                ///< smallest k with the smallest error; 0: the method has no k
  Index k_one_standard_error = 0;  ///< smallest k whose error is within one standard error of the best
};

struct Evaluation {
  Status status = Status::kInterrupted;  ///< heuristic when all folds ran, else time_limit or interrupted
  EvaluateOptions options;
  bool nested = true;
  RidgeAmount ridge_all_rows;  ///< the ridge when all rows train; every training set has its own
  Index folds_run = 0, folds_planned = 0;
  std::vector<EvaluationRow> rows;  ///< by method, then ascending k
  std::vector<EvaluationChoice> chosen;
  double total_s = 0;
  std::vector<std::string> warnings;  ///< in the words of C++ from the public calls

  /// The smallest size within one standard error of the best, of the first method, or of the first of the
  /// name given; `chosen` has one entry a method, in their order. Nothing where the method itself says how
  /// many features there are (All, a lambda that was given or chosen): `k` of fit takes that as not given.
  /// Throws Error where no size could be judged, InvalidArgument for a name that was not evaluated.
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_one_standard_error() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_one_standard_error(std::string_view method) const;
  /// The same for the smallest error.
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_best() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::optional<Index> k_best(std::string_view method) const;
  /// As `subspectra.evaluation/1`.
  [[nodiscard]] SUBSPECTRA_EXPORT std::string to_json(const Dataset& data) const;
};

/// Cross-validated error against the number of features, for every method on the same folds. Throws
/// InvalidArgument (options), BadInput (values, labels; a class with fewer rows than folds), Infeasible,
/// Error (memory).
[[nodiscard]] SUBSPECTRA_EXPORT Evaluation evaluate(const Dataset& data, const Methods& methods,
                                                    const EvaluateOptions& options = {},
                                                    const RunControl& control = RunControl());

}  // namespace subspectra
