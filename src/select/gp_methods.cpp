#include "select/gp_methods.hpp"

#include <fmt/format.h>

#include "classify/gp.hpp"
#include "core/memory.hpp"
#include "core/text.hpp"
#include "filters/filters.hpp"

namespace subspectra {
namespace {

struct GpArdMethod {
  GpOptions fit{.ard = true, .restarts = 1};

  void validate() const {
    const auto require = [](bool holds, std::string_view field, double value, std::string_view rule) {
      if (!holds)
        throw InvalidArgument({.field = std::string(field),
                               .value = fmt::to_string(value),
                               .rule = fmt::format("{{value}}, but {} is needed", rule)});
    };
    require(fit.signal > 0.0, "signal", fit.signal, "a positive number");
    require(fit.tolerance >= 0.0, "tolerance", fit.tolerance, "0 or a positive number");
    require(fit.restarts >= 1, "restarts", static_cast<double>(fit.restarts), "1 or more");
    require(fit.max_evaluations >= 1, "max_iterations", static_cast<double>(fit.max_evaluations),
            "1 or more");
  }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("approximation", o.fit.approximation,
          "of the posterior: Laplace's at its mode, or expectation propagation");
    field("hyperparameters", o.fit.hyperparameters,
          "length-scales and signal that make the log marginal likelihood largest, or as given");
    field(
        "lengthscale", o.fit.lengthscale,
        "where all length-scales start, or each, in ascending order of the features that are neither constant nor excluded. Default: the best common one");
    field("signal", o.fit.signal,
          "where the prior standard deviation s of the latent function starts. Default: 2");
    field("restarts", o.fit.restarts,
          "so many starts, all but the first random; the largest log marginal likelihood is kept");
    field("max_iterations", o.fit.max_evaluations, "gradients of the log marginal likelihood in one start");
    field("tolerance", o.fit.tolerance,
          "stop when the log marginal likelihood changes by less than this, relatively");
  }
};

void run_gp_ard(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
                Selection& selection) {
  GpArdMethod own;
  set_options(own, texts);
  own.validate();
  const Dataset& data = input.data;
  if (!data.weights_are_equal()) {
    throw InvalidArgument({.field = "weights",
                           .subject = "method gp-ard",
                           .rule = "counts every row once",
                           .way_out = "leave out ⟨weights⟩, or use another method"});
  }
  selection.method_options = options_json(own);
  own.fit.seed = input.options.seed;
  own.fit.threads = input.options.threads;
  own.fit.memory_limit = input.options.memory_limit.bytes;
  const auto cells = static_cast<double>(data.rows()) * static_cast<double>(input.candidates.size());
  require_memory(8.0 * 5.0 * cells,
                 fmt::format("method gp-ard on a dense copy of {}", counted(data.rows(), "row")),
                 "it is for tables of moderate size: exclude features with ⟨exclude⟩, or use a filter",
                 own.fit.memory_limit);
  const GpRule rule = fit_gp(data.columns(input.candidates), data.labels()->codes,
                             data.labels()->class_count(), own.fit, control);
  const Vector relevance = rule.lengthscales().cwiseInverse();
  selection.weights = Vector::Zero(data.features());
  for (std::size_t i = 0; i < input.candidates.size(); ++i) {
    selection.weights[input.candidates[i]] = relevance[relevance.size() == 1 ? 0 : static_cast<Index>(i)];
  }
  selection.ranking = filters::ranking(selection.weights, input.candidates);
  Index evaluations = 0;
  for (const auto& machine : rule.machines) evaluations += machine.evaluations;
  selection.method_options["log_marginal_likelihood"] = rule.log_marginal_likelihood();
  selection.method_options["gradients"] = evaluations;
  selection.status = rule.status;
}

}  // namespace

std::vector<MethodInfo> gp_methods() {
  return {{.name = "gp-ard",
           .summary = "soft relevance: inverse length-scales of a Gaussian process, one a feature (ARD)",
           .options = describe_options<GpArdMethod>(),
           .run = run_gp_ard}};
}

}  // namespace subspectra
