#include <subspectra/model.hpp>

#include <memory>
#include <nlohmann/json.hpp>

#include "classify/registry.hpp"
#include "core/atomic_file.hpp"
#include "core/json_io.hpp"
#include "core/parallel.hpp"
#include "core/spelling.hpp"
#include "model/fit.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

std::shared_ptr<FitResult> loaded(TrainedModel model, std::string file) {
  auto fit = std::make_shared<FitResult>();
  fit->selection.method = model.method;
  fit->selection.ridge = model.ridge;
  fit->k = static_cast<Index>(model.features.size());
  fit->status = Status::kHeuristic;  // what every fit is at least
  for (Status status = Status::kOptimal; status <= Status::kInterrupted;
       status = static_cast<Status>(static_cast<int>(status) + 1)) {
    if (status_name(status) == model.status) fit->status = status;
  }
  fit->selection.status = fit->status;
  fit->model = std::move(model);
  fit->file = std::move(file);
  return fit;
}

}  // namespace

Model fit(const Dataset& data, const Method& method, const FitOptions& options, const RunControl& control) {
  require_class_labels(data, "fit");
  method.validate();
  kind_of(options.classifier).validate(options.classifier);
  SelectOptions selection = options.select;
  if (options.k.given()) selection.k = options.k;
  selection.validate();
  const Dataset checked =
      check_values(data, selection.prepare, selection.exclude, selection.memory_limit.bytes);
  auto fitted = std::make_shared<FitResult>(
      fit_features(checked, method, selection, selection.prepare, options.classifier, control));
  nlohmann::json used = options_json(selection.prepare);
  used.update(options_json(selection));
  used["k"] = {fitted->k, fitted->k};
  used["threads"] = resolve_threads(selection.threads);
  nlohmann::json rule = parse_json(options.classifier.options_json());
  rule["classifier"] = options.classifier.name();
  nlohmann::json object = model_json(*fitted, std::move(used), rule, selection.seed);
  object["warnings"] = spelled(fitted->warnings, Spelling::kCpp);
  fitted->file = dump_json(object, 2) + "\n";
  fitted->warnings = spelled(std::move(fitted->warnings), Spelling::kCpp);
  return Model(std::move(fitted));
}

Model Model::load(const std::string& path) {
  TrainedModel model = TrainedModel::load(path);
  nlohmann::json object = model.to_json();
  if (!model.status.empty()) object["status"] = model.status;
  std::string file = dump_json(object, 2) + "\n";
  return Model(loaded(std::move(model), std::move(file)));
}

Model Model::from_json(const std::string& text) {
  return Model(loaded(TrainedModel::parse(text, "model"), text));
}

void Model::save(const std::string& path) const { write_file_atomically(path, fit_->file); }

std::string Model::to_json() const { return fit_->file; }

const std::vector<std::string>& Model::classes() const { return fit_->model.classes; }

const std::vector<Index>& Model::features() const { return fit_->model.features; }

const std::vector<std::string>& Model::feature_names() const { return fit_->model.names; }

const Selection& Model::selection() const { return fit_->selection; }

Status Model::status() const { return fit_->status; }

const std::vector<std::string>& Model::warnings() const { return fit_->warnings; }

const Evaluation* Model::evaluation() const {
  return fit_->chosen.evaluation ? &*fit_->chosen.evaluation : nullptr;
}

DenseMatrix Model::predict_proba(const Dataset& rows) const {
  return predict_probabilities(fit_->model, rows);
}

std::vector<std::string> Model::predict(const Dataset& rows) const {
  const Matrix probabilities = predict_probabilities(fit_->model, rows);
  std::vector<std::string> predicted;
  predicted.reserve(static_cast<std::size_t>(probabilities.rows()));
  for (Index i = 0; i < probabilities.rows(); ++i) {
    Index best = 0;
    probabilities.row(i).maxCoeff(&best);
    predicted.push_back(fit_->model.classes[static_cast<std::size_t>(best)]);
  }
  return predicted;
}

}  // namespace subspectra
