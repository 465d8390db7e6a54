#include <subspectra/rankers.hpp>

#include <fmt/format.h>

#include "classify/gp.hpp"
#include "core/memory.hpp"
#include "core/text.hpp"
#include "filters/filters.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"

namespace subspectra {
namespace {

GaussianProcessReport report_of(const GpRule& rule, const Problem& problem) {
  GaussianProcessReport report{.features = problem.candidates(),
                               .log_marginal_likelihood = rule.log_marginal_likelihood(),
                               .machines = {}};
  const auto& classes = problem.data().labels()->classes;
  for (const GpMachine& machine : rule.machines) {
    const Vector& l = machine.kernel.lengthscales;
    auto& out = report.machines.emplace_back();
    out.positive = classes[static_cast<std::size_t>(machine.positive)];
    out.log_marginal_likelihood = machine.posterior.log_marginal_likelihood;
    out.signal = machine.kernel.signal;
    out.lengthscales.resize(report.features.size());  // one for all, where there is one
    for (std::size_t i = 0; i < report.features.size(); ++i)
      out.lengthscales[i] = l[l.size() == 1 ? 0 : static_cast<Index>(i)];
    out.lengthscales_at_bound = machine.lengthscales_at_bound;
    out.signal_at_bound = machine.signal_at_bound;
    out.slope = machine.slope;
    out.gradients = machine.evaluations;
    out.converged = machine.converged;
  }
  return report;
}

/// What ended before an optimum was found.
void add_warnings(const GpRule& rule, const std::vector<std::string>& classes,
                  std::vector<std::string>& warnings) {
  for (const GpMachine& machine : rule.machines) {
    if (machine.converged) continue;
    const std::string which =
        rule.machines.size() > 1
            ? fmt::format(" of {} against the rest", classes[static_cast<std::size_t>(machine.positive)])
            : "";
    if (rule.status == Status::kTimeLimit || rule.status == Status::kInterrupted) {
      warnings.push_back(fmt::format(
          "stopped: the length-scales{} are the best of {} and no optimum yet; features ranked by them may change places",
          which, counted(machine.evaluations, "gradient")));
    } else if (!machine.posterior.converged) {
      warnings.push_back(
          fmt::format("the posterior{} did not converge at signal {:.4g}; give a smaller ⟨signal⟩", which,
                      machine.kernel.signal));
    } else if (machine.ended_by_rounding) {
      warnings.push_back(fmt::format(
          "the length-scales{} are an optimum to rounding only: no step raises the log marginal likelihood further, which has a slope of {:.2g} by the logarithm of a hyperparameter; a larger ⟨tolerance⟩ accepts that",
          which, machine.slope));
    } else {
      warnings.push_back(fmt::format(
          "the length-scales{} are no optimum yet: after {} the log marginal likelihood still has a slope of {:.2g} by the logarithm of a hyperparameter, and features ranked by them may change places; raise ⟨max_iterations⟩",
          which, counted(machine.evaluations, "gradient"), machine.slope));
    }
  }
}

}  // namespace

void GpArd::validate() const {
  const auto require = [](bool holds, std::string_view field, double value, std::string_view rule) {
    if (!holds)
      throw InvalidArgument({.field = std::string(field),
                             .value = fmt::to_string(value),
                             .rule = fmt::format("{{value}}, but {} is needed", rule)});
  };
  require(signal > 0.0, "signal", signal, "a positive number");
  require(tolerance >= 0.0, "tolerance", tolerance, "0 or a positive number");
  require(restarts >= 1, "restarts", static_cast<double>(restarts), "1 or more");
  require(max_iterations >= 1, "max_iterations", static_cast<double>(max_iterations), "1 or more");
}

Selection GpArd::run(const Problem& problem, const RunControl& control) const {
  const Dataset& data = problem.data();
  if (!data.weights_are_equal()) {
    throw InvalidArgument({.field = "weights",
                           .subject = "method gp-ard",
                           .rule = "counts every row once",
                           .way_out = "leave out ⟨weights⟩, or use another method"});
  }
  Selection selection = answer_of(*this);
  const GpContext context{.seed = problem.options().seed,
                          .threads = problem.options().threads,
                          .memory_limit = problem.options().memory_limit.bytes};
  const auto cells = static_cast<double>(data.rows()) * static_cast<double>(problem.candidates().size());
  require_memory(8.0 * 5.0 * cells,
                 fmt::format("method gp-ard on a dense copy of {}", counted(data.rows(), "row")),
                 "it is for tables of moderate size: exclude features with ⟨exclude⟩, or use a filter",
                 context.memory_limit);
  const GpRule rule = fit_gp(data.values().columns(problem.candidates()), data.labels()->codes,
                             data.labels()->class_count(), *this, context, control);
  // A mean square of a distance that changes no entry of the kernel matrix by more than half of this.
  constexpr double kNegligible = 1e-4;
  const bool optimized = hyperparameters == Hyperparameters::kOptimize;
  const Vector relevance = rule.relevances(optimized ? kNegligible : 0.0);
  selection.weights.assign(static_cast<std::size_t>(data.features()), 0.0);
  for (std::size_t i = 0; i < problem.candidates().size(); ++i) {
    selection.weights[problem.candidates()[i]] = relevance[relevance.size() == 1 ? 0 : static_cast<Index>(i)];
  }
  constexpr double kAccuracy = 1e-3;  // what the default tolerance leaves of a length-scale that matters
  selection.ranking = optimized ? filters::ranking(selection.weights, problem.candidates(), kAccuracy)
                                : filters::ranking(selection.weights, problem.candidates());
  selection.gaussian_process = report_of(rule, problem);
  Index gradients = 0;
  for (const auto& machine : selection.gaussian_process->machines) gradients += machine.gradients;
  record_of(selection)["log_marginal_likelihood"] = rule.log_marginal_likelihood();
  record_of(selection)["gradients"] = gradients;
  selection.status = rule.status;
  add_warnings(rule, data.labels()->classes, selection.warnings);
  return selection;
}

}  // namespace subspectra
