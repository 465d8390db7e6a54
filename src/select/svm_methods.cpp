#include <subspectra/rankers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "classify/classifier.hpp"
#include "classify/row_map.hpp"
#include "classify/svm.hpp"
#include "classify/svm_cost.hpp"
#include "core/memory.hpp"
#include "core/text.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"
#include "svm/radius_margin.hpp"
#include "svm/rfe.hpp"

namespace subspectra {
namespace {

void require_positive(double value, std::string_view field) {
  if (!(value > 0.0))
    throw InvalidArgument({.field = std::string(field),
                           .value = fmt::to_string(value),
                           .rule = "{value}, but a positive number is needed"});
}

/// The candidates' columns, standardized, and what the machines need beside them.
struct Prepared {
  Matrix z;
  double cost;
};

Prepared prepare(const Problem& problem, double cost, std::string_view method, const RunControl& control) {
  refuse_weights(problem.data(), fmt::format("method {}", method), "gslda");
  const auto cells =
      static_cast<double>(problem.data().rows()) * static_cast<double>(problem.candidates().size());
  // The columns and their standardized copy, which the elimination works on.
  require_memory(8.0 * 2.0 * cells, "the standardized table", "exclude columns, or give ⟨memory_limit⟩",
                 problem.options().memory_limit.bytes);
  const Labels& labels = *problem.data().labels();
  Prepared prepared{standardize_rows(problem.data().values().columns(problem.candidates())).z, cost};
  if (!std::isfinite(cost)) {
    prepared.cost = choose_svm_cost(prepared.z, labels.codes, labels.class_count(),
                                    inner_folds(problem.data(), problem.options().seed),
                                    problem.options().threads, control);
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

}  // namespace

void SvmRfe::validate() const {
  require_positive(C, "C");
  if (!(rfe_step > 0.0) || !std::isfinite(rfe_step) ||
      (rfe_step >= 1.0 && rfe_step != std::floor(rfe_step))) {
    throw InvalidArgument(
        {.field = "rfe_step",
         .value = fmt::to_string(rfe_step),
         .rule = "{value}, but a share between 0 and 1 or a whole number of features is needed"});
  }
  if (rfe_single < 0)
    throw InvalidArgument({.field = "rfe_single",
                           .value = fmt::to_string(rfe_single),
                           .rule = "{value}, but 0 or more is needed"});
}

Selection SvmRfe::run(const Problem& problem, const RunControl& control) const {
  SvmRfe own = *this;  // with the C that is used
  Prepared prepared = prepare(problem, own.C, kTraits.name, control);
  own.C = prepared.cost;
  Selection selection = answer_of(own);
  std::vector<char> keep(problem.candidates().size(), 0);
  for (const Index place : problem.units().include) keep[static_cast<std::size_t>(place)] = 1;
  const RfeResult found = svm_rfe(std::move(prepared.z), problem.data().labels()->codes, keep, own,
                                  problem.options().threads, control);
  selection.weights.assign(static_cast<std::size_t>(problem.data().features()), 0.0);
  for (std::size_t i = 0; i < problem.candidates().size(); ++i)
    selection.weights[problem.candidates()[i]] = found.weights[static_cast<Index>(i)];
  for (const Index place : found.ranking)
    selection.ranking.push_back(problem.candidates()[static_cast<std::size_t>(place)]);
  for (std::size_t i = 0; i < found.objectives.size(); ++i)
    selection.trace.push_back({.objective = found.objectives[i], .features = found.sizes[i]});
  selection.status = found.complete ? Status::kHeuristic : control.status_or(Status::kHeuristic);
  return selection;
}

void SvmRmb::validate() const {
  require_positive(C, "C");
  if (max_iterations < 1)
    throw InvalidArgument({.field = "max_iterations",
                           .value = fmt::to_string(max_iterations),
                           .rule = "{value}, but 1 or more is needed"});
  if (!(tolerance >= 0.0) || !std::isfinite(tolerance))
    throw InvalidArgument({.field = "tolerance",
                           .value = fmt::to_string(tolerance),
                           .rule = "{value}, but 0 or a positive number is needed"});
}

Selection SvmRmb::run(const Problem& problem, const RunControl& control) const {
  SvmRmb own = *this;  // with the C that is used
  const Prepared prepared = prepare(problem, own.C, kTraits.name, control);
  const auto n = static_cast<double>(problem.data().rows());
  require_memory(8.0 * 3.0 * n * n, "the inner products of the rows", "use svm-rfe",
                 problem.options().memory_limit.bytes);
  const auto& codes = problem.data().labels()->codes;
  if (!std::isfinite(own.C))
    own.C = cost_for_bound(prepared.z, codes, prepared.cost, problem.options().threads, control);
  Selection selection = answer_of(own);
  const RadiusMarginFit fit = fit_radius_margin(prepared.z, codes, own, problem.options().threads, control);
  selection.weights.assign(static_cast<std::size_t>(problem.data().features()), 0.0);
  for (std::size_t i = 0; i < problem.candidates().size(); ++i)
    selection.weights[problem.candidates()[i]] = fit.scales[static_cast<Index>(i)];
  for (const Index place : fit.ranking)
    selection.ranking.push_back(problem.candidates()[static_cast<std::size_t>(place)]);
  for (const double value : fit.trace) selection.trace.push_back({.objective = value, .features = {}});
  selection.status = fit.converged ? Status::kConverged : control.status_or(Status::kIterationLimit);
  // With more than two classes the bound is a sum over the machines, each of which errs in n rows at most.
  const auto machines = static_cast<double>(machine_labels(codes).size());
  const double bound = fit.trace.back() / machines;
  if (bound > n) {
    selection.warnings.push_back(fmt::format(
        "the bound is {:.4g}{} at its minimum, but no more than {} can be wrong: it says little about these data, and so do the scaling factors; a smaller ⟨C⟩ (here {:.4g}) counts losses less",
        bound, machines > 1.0 ? " (the mean over the machines of one class against the rest)" : "",
        counted(problem.data().rows(), "row"), own.C));
  }
  return selection;
}

}  // namespace subspectra
