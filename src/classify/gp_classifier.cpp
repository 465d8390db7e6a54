/// The Gaussian process as a classifier: its options, what it says, its members of a model file.
#include <fmt/format.h>
#include <subspectra/error.hpp>

#include <cmath>

#include "classify/classifier_kind.hpp"
#include "classify/gp.hpp"
#include "core/matrix_json.hpp"
#include "core/text.hpp"

namespace subspectra {

std::string_view GpRule::classifier() const {
  return approximation == GpApproximation::kLaplace ? GpLaplace::kTraits.name : GpEp::kTraits.name;
}

std::string GpRule::description() const {
  std::string text =
      fmt::format("classifier {}, log marginal likelihood {:.4f}", classifier(), log_marginal_likelihood());
  if (machines.size() == 1 && !machines.front().kernel.ard()) {
    const GpKernel& kernel = machines.front().kernel;
    text += fmt::format(", length-scale {:.4g}, signal {:.4g}", kernel.lengthscales[0], kernel.signal);
  }
  return text;
}

std::string GpRule::cut_short_sentence() const {
  if (status == Status::kTimeLimit || status == Status::kInterrupted) {
    Index evaluations = 0;
    for (const GpMachine& machine : machines) evaluations += machine.evaluations;
    return fmt::format(
        "the training of {} was stopped ({}): length-scale and signal are the best of {}, or where the optimization would start; give more time, or values with ⟨lengthscale⟩ and ⟨signal⟩",
        classifier(), status_name(status), counted(evaluations, "gradient"));
  }
  for (const GpMachine& machine : machines) {
    if (machine.posterior.converged) continue;
    return fmt::format(
        "the posterior of {} did not converge at ⟨signal {:.4g}⟩: its probabilities may be far off; give a smaller ⟨signal⟩",
        classifier(), machine.kernel.signal);
  }
  return {};
}

nlohmann::json GpRule::to_json() const {
  auto list = nlohmann::json::array();
  for (const auto& machine : machines) {
    nlohmann::json one = {{"class", machine.positive},
                          {"lengthscales", subspectra::to_json(machine.kernel.lengthscales)},
                          {"signal", machine.kernel.signal},
                          {"log_marginal_likelihood", machine.posterior.log_marginal_likelihood}};
    if (approximation == GpApproximation::kLaplace) {
      one["mode"] = subspectra::to_json(machine.posterior.mode);
    } else {
      one["site_precision"] = subspectra::to_json(machine.posterior.site_precision);
      one["site_shift"] = subspectra::to_json(machine.posterior.site_shift);
    }
    list.push_back(std::move(one));
  }
  nlohmann::json object = {
      {"priors", subspectra::to_json(priors)}, {"shares", subspectra::to_json(shares)},
      {"inputs", subspectra::to_json(inputs)}, {"codes", codes},
      {"machines", std::move(list)},           {"log_marginal_likelihood", log_marginal_likelihood()}};
  if (centre.size() > 0) {
    object["projection"] = {{"centre", subspectra::to_json(centre)},
                            {"matrix", subspectra::to_json(projection)}};
  }
  return object;
}

template <GpApproximation approximation>
void GpClassifier<approximation>::validate() const {
  if (!(signal > 0.0))
    throw InvalidArgument({.field = "signal",
                           .value = fmt::to_string(signal),
                           .rule = "{value}, but a positive number is needed"});
  if (restarts < 1)
    throw InvalidArgument(
        {.field = "restarts", .value = fmt::to_string(restarts), .rule = "{value}, but 1 or more is needed"});
  if (max_iterations < 1)
    throw InvalidArgument({.field = "max_iterations",
                           .value = fmt::to_string(max_iterations),
                           .rule = "{value}, but 1 or more is needed"});
  if (!(tolerance >= 0.0))
    throw InvalidArgument({.field = "tolerance",
                           .value = fmt::to_string(tolerance),
                           .rule = "{value}, but 0 or a positive number is needed"});
}
template void GpClassifier<GpApproximation::kLaplace>::validate() const;
template void GpClassifier<GpApproximation::kEp>::validate() const;

namespace {

/// `n` training rows with `q` inputs each.
GpMachine read_gp_machine(const ModelReader& reader, Index n, Index q, Index classes,
                          GpApproximation approximation) {
  GpMachine machine;
  machine.positive = reader.count("class");
  if (machine.positive >= classes) reader.fail("class", "must be the number of a class");
  const bool common = ModelReader::length(reader.at("lengthscales")) == 1;
  machine.kernel.lengthscales = reader.numbers("lengthscales", common ? 1 : q);
  if ((machine.kernel.lengthscales.array() <= 0.0).any()) reader.fail("lengthscales", "must be positive");
  machine.kernel.signal = reader.positive_number("signal");
  if (approximation == GpApproximation::kLaplace) {
    machine.posterior.mode = reader.numbers("mode", n);
  } else {
    machine.posterior.site_precision = reader.numbers("site_precision", n);
    if ((machine.posterior.site_precision.array() < 0.0).any())
      reader.fail("site_precision", "must not be negative");
    machine.posterior.site_shift = reader.numbers("site_shift", n);
  }
  machine.posterior.log_marginal_likelihood = reader.number("log_marginal_likelihood");
  return machine;
}

GpRule read_gp(const ModelReader& reader, const ModelShape& shape, GpApproximation approximation) {
  const Index n = shape.rows;
  const Index classes = shape.classes;
  GpRule rule;
  rule.approximation = approximation;
  rule.priors = reader.shares("priors", classes);
  rule.shares = reader.shares("shares", classes);
  Index q = shape.features;
  if (reader.has("projection")) {
    rule.centre = reader.numbers("projection.centre", shape.features);
    q = ModelReader::width(reader.at("projection.matrix"));
    rule.projection = reader.counted_matrix("projection.matrix", shape.features, q);
  }
  rule.inputs = reader.counted_matrix("inputs", n, q);
  Vector counts = Vector::Zero(classes);
  for (const double code : reader.numbers("codes", n)) {
    if (!(code >= 0.0 && code < static_cast<double>(classes)) || code != std::floor(code))
      reader.fail("codes", "must be numbers of classes");
    rule.codes.push_back(static_cast<int>(code));
    counts[rule.codes.back()] += 1.0;
  }
  for (Index c = 0; c < classes; ++c) {
    if ((counts[c] > 0.0) != (rule.shares[c] > 0.0))
      reader.fail("shares", "must be positive for the classes of 'codes' and 0 for others");
  }
  reader.check_priors(rule.priors, rule.shares);
  if (!(reader.number("log_marginal_likelihood") <= 0.0))
    reader.fail("log_marginal_likelihood", "must not be positive");
  const nlohmann::json& machines = reader.at("machines");
  const auto present = static_cast<std::size_t>((counts.array() > 0.0).count());
  const std::size_t needed = present > 2 ? present : present - 1;
  if (!machines.is_array() || machines.size() != needed)
    reader.fail("machines", fmt::format("must be {}", needed));
  for (const auto& machine : machines) {
    rule.machines.push_back(
        read_gp_machine(ModelReader(machine, reader.file()), n, q, classes, approximation));
    const Index positive = rule.machines.back().positive;
    if (!(counts[positive] > 0.0)) reader.fail("machines", "must be of classes that have rows");
    counts[positive] = needed > 1 ? 0.0 : counts[positive];  // each class once
  }
  return rule;
}

template <class Options>
class GpKind final : public RowKind<Options> {
 public:
  [[nodiscard]] RulePointer read(const ModelReader& reader, const ModelShape& shape) const override {
    return std::make_shared<GpRule>(read_gp(reader, shape, Options::kApproximation));
  }

 protected:
  [[nodiscard]] RulePointer train(const Options& options, const TrainingRows& rows,
                                  const RunControl& control) const override {
    const GpContext context{.seed = rows.context.seed, .threads = rows.context.threads};
    const Index classes = rows.labels.class_count();
    return std::make_shared<GpRule>(
        rows.projection == nullptr ? fit_gp(rows.rows, rows.labels.codes, classes, options, context, control)
                                   : fit_projected_gp(rows.rows, rows.labels.codes, classes, *rows.projection,
                                                      options, context, control));
  }
};

}  // namespace

std::unique_ptr<const ClassifierKind> gp_laplace_kind() { return std::make_unique<GpKind<GpLaplace>>(); }
std::unique_ptr<const ClassifierKind> gp_ep_kind() { return std::make_unique<GpKind<GpEp>>(); }

}  // namespace subspectra
