#include "select/svm_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "classify/classifier.hpp"
#include "classify/svm.hpp"
#include "classify/svm_cost.hpp"
#include "core/memory.hpp"
#include "core/text.hpp"
#include "svm/radius_margin.hpp"
#include "svm/rfe.hpp"

namespace subspectra {
namespace {

constexpr const char* kCostHelp =
    "weight of the squared hinge losses beside |w|^2/2, features standardized; default: chosen by cross-validation inside the rows";

void require_positive(double value, std::string_view field) {
  if (!(value > 0.0))
    throw InvalidArgument({.field = std::string(field),
                           .value = fmt::to_string(value),
                           .rule = "{value}, but a positive number is needed"});
}

struct RfeMethod {
  double cost = kInfinity;
  RfeOptions fit;

  void validate() const {
    require_positive(cost, "C");
    fit.validate();
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("C", o.cost, kCostHelp);
    field(
        "rfe_step", o.fit.step,
        "below 1: this share of the features leaves after a training (0.5 halves them); from 1 on: so many features (1: one at a time)");
    field("rfe_single", o.fit.single,
          "with a share: from so many features on they leave one at a time; 0 never");
  }
};

struct RmbMethod {
  double cost = kInfinity;
  RadiusMarginOptions fit;

  void validate() const {
    require_positive(cost, "C");
    if (fit.max_iterations < 1)
      throw InvalidArgument({.field = "max_iterations",
                             .value = fmt::to_string(fit.max_iterations),
                             .rule = "{value}, but 1 or more is needed"});
    if (!(fit.tolerance >= 0.0) || !std::isfinite(fit.tolerance))
      throw InvalidArgument({.field = "tolerance",
                             .value = fmt::to_string(fit.tolerance),
                             .rule = "{value}, but 0 or a positive number is needed"});
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("C", o.cost, kCostHelp);
    field("max_iterations", o.fit.max_iterations, "stop after so many iterations");
    field("tolerance", o.fit.tolerance,
          "stop when an iteration lowers the bound by less than this fraction; 0 runs all iterations");
  }
};

/// The candidates' columns, standardized, and what the machines need beside them.
struct Prepared {
  Matrix z;
  double cost;
};

Prepared prepare(const SelectionInput& input, double cost, std::string_view method,
                 const RunControl& control) {
  refuse_weights(input.data, fmt::format("method {}", method), "gslda");
  const auto cells = static_cast<double>(input.data.rows()) * static_cast<double>(input.candidates.size());
  // The columns and their standardized copy, which the elimination works on.
  require_memory(8.0 * 2.0 * cells, "the standardized table", "exclude columns, or give ⟨memory_limit⟩",
                 input.options.memory_limit.bytes);
  const Labels& labels = *input.data.labels();
  Prepared prepared{standardize_rows(input.data.columns(input.candidates)).z, cost};
  if (!std::isfinite(cost)) {
    prepared.cost =
        choose_svm_cost(prepared.z, labels.codes, labels.class_count(),
                        inner_folds(input.data, input.options.seed), input.options.threads, control);
  }
  return prepared;
}

/// The C that classifies best lets the losses swamp the margin where classes overlap, and the bound on all
/// features, s = 1, is then above the number of rows: it says nothing. It falls with C, to below that number,
/// before it rises again. So where there are more rows than features (with fewer the rows can be separated)
/// and the bound says nothing at `cost`, the smaller C with the smallest bound is taken.
double cost_for_bound(const Matrix& z, const std::vector<int>& codes, double cost, int threads,
                      const RunControl& control) {
  if (z.cols() >= z.rows()) return cost;
  const std::vector<Vector> labels = machine_labels(codes);
  const Vector ones = Vector::Ones(z.cols());
  const auto bound = [&](double c) { return RadiusMarginBound(z, labels, c, threads).value(ones); };
  double smallest = bound(cost);
  if (!(smallest > static_cast<double>(labels.size()) * static_cast<double>(z.rows()))) return cost;
  const auto& costs = svm_costs();
  for (auto c = costs.rbegin(); c != costs.rend() && !control.should_stop(); ++c) {
    if (*c >= cost) continue;
    const double found = bound(*c);
    if (found >= smallest) break;
    smallest = found;
    cost = *c;
  }
  return cost;
}

void run_rfe(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
             Selection& selection) {
  RfeMethod own;
  set_options(own, texts);
  own.validate();
  Prepared prepared = prepare(input, own.cost, selection.method, control);
  own.cost = own.fit.cost = prepared.cost;
  own.fit.threads = input.options.threads;
  selection.method_options = options_json(own);
  std::vector<char> keep(input.candidates.size(), 0);
  for (const Index place : input.units.include) keep[static_cast<std::size_t>(place)] = 1;
  const RfeResult found = svm_rfe(std::move(prepared.z), input.data.labels()->codes, keep, own.fit, control);
  selection.weights = Vector::Zero(input.data.features());
  for (std::size_t i = 0; i < input.candidates.size(); ++i)
    selection.weights[input.candidates[i]] = found.weights[static_cast<Index>(i)];
  for (const Index place : found.ranking)
    selection.ranking.push_back(input.candidates[static_cast<std::size_t>(place)]);
  for (std::size_t i = 0; i < found.objectives.size(); ++i)
    selection.trace.push_back({.objective = found.objectives[i], .features = found.sizes[i]});
  selection.status = found.complete ? Status::kHeuristic : control.status_or(Status::kHeuristic);
}

void run_rmb(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
             Selection& selection) {
  RmbMethod own;
  set_options(own, texts);
  own.validate();
  const Prepared prepared = prepare(input, own.cost, selection.method, control);
  const auto n = static_cast<double>(input.data.rows());
  require_memory(8.0 * 3.0 * n * n, "the inner products of the rows", "use svm-rfe",
                 input.options.memory_limit.bytes);
  const auto& codes = input.data.labels()->codes;
  if (std::isfinite(own.cost)) {
    own.fit.cost = own.cost;
  } else {
    own.cost = own.fit.cost =
        cost_for_bound(prepared.z, codes, prepared.cost, input.options.threads, control);
  }
  own.fit.threads = input.options.threads;
  selection.method_options = options_json(own);
  const RadiusMarginFit fit = fit_radius_margin(prepared.z, codes, own.fit, control);
  selection.weights = Vector::Zero(input.data.features());
  for (std::size_t i = 0; i < input.candidates.size(); ++i)
    selection.weights[input.candidates[i]] = fit.scales[static_cast<Index>(i)];
  for (const Index place : fit.ranking)
    selection.ranking.push_back(input.candidates[static_cast<std::size_t>(place)]);
  for (const double value : fit.trace) selection.trace.push_back({.objective = value, .features = {}});
  selection.status = fit.converged ? Status::kConverged : control.status_or(Status::kIterationLimit);
  // With more than two classes the bound is a sum over the machines, each of which errs in n rows at most.
  const auto machines = static_cast<double>(machine_labels(codes).size());
  const double bound = fit.trace.back() / machines;
  if (bound > n) {
    selection.warnings.push_back(fmt::format(
        "the bound is {:.4g}{} at its minimum, but no more than {} can be wrong: it says little about these data, and so do the scaling factors; a smaller ⟨C⟩ (here {:.4g}) counts losses less",
        bound, machines > 1.0 ? " (the mean over the machines of one class against the rest)" : "",
        counted(input.data.rows(), "row"), own.cost));
  }
}

}  // namespace

std::vector<MethodInfo> svm_methods() {
  return {
      {.name = "svm-rfe",
       .summary =
           "linear support vector machine: the features with the smallest weights leave, again and again",
       .options = describe_options<RfeMethod>(),
       .run = run_rfe},
      {.name = "svm-rmb",
       .summary = "scaling factors of the features that minimize the radius-margin bound of a linear machine",
       .options = describe_options<RmbMethod>(),
       .run = run_rmb},
  };
}

}  // namespace subspectra
