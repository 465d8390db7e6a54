#include <subspectra/rankers.hpp>

#include <fmt/format.h>

#include "classify/gp.hpp"
#include "core/memory.hpp"
#include "core/text.hpp"
#include "filters/filters.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"

namespace subspectra {
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
  const Vector relevance = rule.lengthscales().cwiseInverse();
  selection.weights.assign(static_cast<std::size_t>(data.features()), 0.0);
  for (std::size_t i = 0; i < problem.candidates().size(); ++i) {
    selection.weights[problem.candidates()[i]] = relevance[relevance.size() == 1 ? 0 : static_cast<Index>(i)];
  }
  selection.ranking = filters::ranking(selection.weights, problem.candidates());
  Index evaluations = 0;
  for (const auto& machine : rule.machines) evaluations += machine.evaluations;
  record_of(selection)["log_marginal_likelihood"] = rule.log_marginal_likelihood();
  record_of(selection)["gradients"] = evaluations;
  selection.status = rule.status;
  return selection;
}

}  // namespace subspectra
