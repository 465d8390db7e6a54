#include "model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <unordered_set>

#include "core/matrix_json.hpp"
#include "core/shallow_json.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "io/byte_source.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "subspectra.model/1";
/// A model file is small; anything larger is not one of ours.
constexpr std::uint64_t kLargestModelFile = 1ULL << 31U;

std::vector<Index> first_features(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// A whole number from 0 up that an Index holds; what the parser stores as unsigned may be larger.
bool is_count(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() < (1ULL << 62U);
  return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}

/// Reads members of a model file; every failure names the file and the member.
class ModelReader {
 public:
  ModelReader(const json& root, std::string file) : root_(root), file_(std::move(file)) {}

  [[noreturn]] void fail(std::string_view member, std::string_view rule) const {
    throw BadInput({.file = file_, .place = fmt::format("'{}'", member)},
                   fmt::format("{}; the model is damaged: fit it again", rule));
  }

  bool has(const std::string& member) const { return root_.contains(member); }

  const json& at(std::string_view path) const {
    const json* value = &root_;
    for (std::string_view rest = path; !rest.empty();) {
      const auto dot = rest.find('.');
      const std::string key(rest.substr(0, dot));
      if (!value->is_object() || !value->contains(key)) fail(path, "is missing");
      value = &(*value)[key];
      rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    return *value;
  }

  std::string text(std::string_view path) const {
    const json& value = at(path);
    if (!value.is_string()) fail(path, "must be a text");
    return value.get<std::string>();
  }

  bool truth(std::string_view path) const {
    const json& value = at(path);
    if (!value.is_boolean()) fail(path, "must be true or false");
    return value.get<bool>();
  }

  Index count(std::string_view path) const {
    const json& value = at(path);
    if (!is_count(value)) fail(path, "must be a whole number from 0 up");
    return value.get<Index>();
  }

  double number(std::string_view path) const {
    const json& value = at(path);
    if (!value.is_number() || !std::isfinite(value.get<double>())) fail(path, "must be a finite number");
    return value.get<double>();
  }

  std::vector<std::string> texts(std::string_view path) const {
    const json& value = at(path);
    if (!value.is_array()) fail(path, "must be a list of texts");
    std::vector<std::string> result;
    for (const auto& entry : value) {
      if (!entry.is_string()) fail(path, "must be a list of texts");
      result.push_back(entry.get<std::string>());
    }
    return result;
  }

  Vector numbers(std::string_view path, Index size) const { return row(at(path), path, size); }

  /// null means "not used".
  Vector optional_numbers(std::string_view path, Index size) const {
    return at(path).is_null() ? Vector() : numbers(path, size);
  }

  Matrix matrix(std::string_view path, Index rows, Index columns) const {
    const json& value = at(path);
    if (!value.is_array() || static_cast<Index>(value.size()) != rows)
      fail(path, fmt::format("must have {} rows", rows));
    Matrix result(rows, columns);
    for (Index i = 0; i < rows; ++i)
      result.row(i) = row(value[static_cast<std::size_t>(i)], path, columns).transpose();
    return result;
  }

 private:
  Vector row(const json& value, std::string_view path, Index size) const {
    if (!value.is_array() || static_cast<Index>(value.size()) != size) {
      fail(path, fmt::format("must be {} numbers", size));
    }
    Vector result(size);
    for (Index i = 0; i < size; ++i) {
      const auto& entry = value[static_cast<std::size_t>(i)];
      if (!entry.is_number() || !std::isfinite(entry.get<double>())) fail(path, "must hold finite numbers");
      result[i] = entry.get<double>();
    }
    return result;
  }

  const json& root_;
  std::string file_;
};

Classifier read_classifier(const ModelReader& reader) {
  try {
    return OptionCodec<Classifier>::parse(reader.text("classifier"));
  } catch (const InvalidArgument&) {
    reader.fail("classifier", "names a classifier this version does not have");
  }
}

/// K shares that sum to 1.
Vector read_shares(const ModelReader& reader, std::string_view path, Index classes) {
  Vector shares = reader.numbers(path, classes);
  if ((shares.array() < 0.0).any() || std::abs(shares.sum() - 1.0) > 1e-6) {
    reader.fail(path, "must be probabilities that sum to 1");
  }
  return shares;
}

LdaRule read_lda(const ModelReader& reader, Index k, Index classes) {
  LdaRule rule;
  rule.priors = read_shares(reader, "priors", classes);
  rule.centre = reader.numbers("centre", k);
  const json& matrix = reader.at("discriminants");
  const Index r =
      matrix.is_array() && !matrix.empty() && matrix[0].is_array() ? static_cast<Index>(matrix[0].size()) : 0;
  if (r > std::min(k, classes)) reader.fail("discriminants", "has more columns than features or classes");
  rule.discriminants = reader.matrix("discriminants", k, r);
  rule.centroids = reader.matrix("centroids", classes, r);
  return rule;
}

json rule_json(const LdaRule& rule) {
  return {{"priors", to_json(rule.priors)},
          {"centre", to_json(rule.centre)},
          {"discriminants", to_json(rule.discriminants)},
          {"centroids", to_json(rule.centroids)}};
}

/// Priors that leave a class with rows.
void check_priors(const ModelReader& reader, const Vector& priors, const Vector& shares) {
  if (((shares.array() > 0.0) && (priors.array() > 0.0)).count() == 0)
    reader.fail("priors", "must leave a class that has a share of the training rows");
}

SvmRule read_svm(const ModelReader& reader, Index k, Index classes) {
  SvmRule rule;
  rule.priors = read_shares(reader, "priors", classes);
  rule.shares = read_shares(reader, "shares", classes);
  check_priors(reader, rule.priors, rule.shares);
  rule.centre = reader.numbers("centre", k);
  rule.weights = reader.matrix("weights", k, classes);
  rule.offsets = reader.numbers("offsets", classes);
  rule.slope = reader.number("slope");
  if (!(rule.slope > 0.0)) reader.fail("slope", "must be positive");
  rule.cost = reader.number("C");
  if (!(rule.cost > 0.0)) reader.fail("C", "must be positive");
  return rule;
}

json rule_json(const SvmRule& rule) {
  return {{"priors", to_json(rule.priors)},
          {"shares", to_json(rule.shares)},
          {"centre", to_json(rule.centre)},
          {"weights", to_json(rule.weights)},
          {"offsets", to_json(rule.offsets)},
          {"slope", rule.slope},
          {"C", rule.cost}};
}

/// A matrix whose rows are counted one by one before anything of its size is set aside.
Matrix read_counted(const ModelReader& reader, std::string_view path, Index rows, Index columns) {
  const json& value = reader.at(path);
  if (!value.is_array() || static_cast<Index>(value.size()) != rows)
    reader.fail(path, fmt::format("must have {} rows", rows));
  for (const auto& row : value) {
    if (!row.is_array() || static_cast<Index>(row.size()) != columns)
      reader.fail(path, fmt::format("must be {} numbers a row", columns));
  }
  return reader.matrix(path, rows, columns);
}

GpMachine read_machine(const json& value, const std::string& file, Index n, Index q, Index classes,
                       GpApproximation approximation) {
  const ModelReader reader(value, file);
  GpMachine machine;
  machine.positive = reader.count("class");
  if (machine.positive >= classes) reader.fail("class", "must be the number of a class");
  const json& scales = reader.at("lengthscales");
  const bool common = scales.is_array() && scales.size() == 1;
  machine.kernel.lengthscales = reader.numbers("lengthscales", common ? 1 : q);
  if ((machine.kernel.lengthscales.array() <= 0.0).any()) reader.fail("lengthscales", "must be positive");
  machine.kernel.signal = reader.number("signal");
  if (!(machine.kernel.signal > 0.0)) reader.fail("signal", "must be positive");
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

GpRule read_gp(const ModelReader& reader, const std::string& file, Index k, Index n, Index classes,
               GpApproximation approximation) {
  GpRule rule;
  rule.approximation = approximation;
  rule.priors = read_shares(reader, "priors", classes);
  rule.shares = read_shares(reader, "shares", classes);
  Index q = k;
  if (reader.has("projection")) {
    rule.centre = reader.numbers("projection.centre", k);
    const json& matrix = reader.at("projection.matrix");
    q = matrix.is_array() && !matrix.empty() && matrix[0].is_array() ? static_cast<Index>(matrix[0].size())
                                                                     : 0;
    rule.projection = read_counted(reader, "projection.matrix", k, q);
  }
  rule.inputs = read_counted(reader, "inputs", n, q);
  const Vector codes = reader.numbers("codes", n);
  Vector counts = Vector::Zero(classes);
  for (const double code : codes) {
    if (!(code >= 0.0 && code < static_cast<double>(classes)) || code != std::floor(code))
      reader.fail("codes", "must be numbers of classes");
    rule.codes.push_back(static_cast<int>(code));
    counts[rule.codes.back()] += 1.0;
  }
  for (Index c = 0; c < classes; ++c) {
    if ((counts[c] > 0.0) != (rule.shares[c] > 0.0))
      reader.fail("shares", "must be positive for the classes of 'codes' and 0 for others");
  }
  if (((rule.shares.array() > 0.0) && (rule.priors.array() > 0.0)).count() == 0)
    reader.fail("priors", "must leave a class that has a share of the training rows");
  const double likelihood = reader.number("log_marginal_likelihood");
  if (!(likelihood <= 0.0)) reader.fail("log_marginal_likelihood", "must not be positive");
  const json& machines = reader.at("machines");
  const auto present = static_cast<std::size_t>((counts.array() > 0.0).count());
  const std::size_t needed = present > 2 ? present : present - 1;
  if (!machines.is_array() || machines.size() != needed)
    reader.fail("machines", fmt::format("must be {}", needed));
  for (const auto& machine : machines) {
    rule.machines.push_back(read_machine(machine, file, n, q, classes, approximation));
    const Index positive = rule.machines.back().positive;
    if (!(counts[positive] > 0.0)) reader.fail("machines", "must be of classes that have rows");
    counts[positive] = needed > 1 ? 0.0 : counts[positive];  // each class once
  }
  return rule;
}

json rule_json(const GpRule& rule) {
  json machines = json::array();
  for (const auto& machine : rule.machines) {
    json one = {{"class", machine.positive},
                {"lengthscales", to_json(machine.kernel.lengthscales)},
                {"signal", machine.kernel.signal},
                {"log_marginal_likelihood", machine.posterior.log_marginal_likelihood}};
    if (rule.approximation == GpApproximation::kLaplace) {
      one["mode"] = to_json(machine.posterior.mode);
    } else {
      one["site_precision"] = to_json(machine.posterior.site_precision);
      one["site_shift"] = to_json(machine.posterior.site_shift);
    }
    machines.push_back(std::move(one));
  }
  json object = {
      {"priors", to_json(rule.priors)},  {"shares", to_json(rule.shares)},
      {"inputs", to_json(rule.inputs)},  {"codes", rule.codes},
      {"machines", std::move(machines)}, {"log_marginal_likelihood", rule.log_marginal_likelihood()}};
  if (rule.centre.size() > 0)
    object["projection"] = {{"centre", to_json(rule.centre)}, {"matrix", to_json(rule.projection)}};
  return object;
}

/// With a centre of 0.
RowMap read_projection(const ModelReader& reader, Index k) {
  RowMap map;
  map.centre = Vector::Zero(k);
  const json& matrix = reader.at("projection");
  map.has_projection = !matrix.is_null();
  if (map.has_projection) {
    const Index width = matrix.is_array() && !matrix.empty() && matrix[0].is_array()
                            ? static_cast<Index>(matrix[0].size())
                            : 0;
    map.projection = reader.matrix("projection", k, width);
  }
  return map;
}

json projection_json(const RowMap& map) { return map.has_projection ? to_json(map.projection) : json(); }

Index length_of(const json& list) { return list.is_array() ? static_cast<Index>(list.size()) : 0; }

KernelSvmRule read_kernel_svm(const ModelReader& reader, Index k, Index classes) {
  KernelSvmRule rule;
  try {
    rule.kernel = OptionCodec<SvmKernel>::parse(reader.text("kernel"));
  } catch (const InvalidArgument&) {
    reader.fail("kernel", "names a kernel this version does not have");
  }
  rule.degree = reader.count("degree");
  if (rule.degree < 1 || rule.degree > 20) reader.fail("degree", "must be a number from 1 to 20");
  rule.priors = read_shares(reader, "priors", classes);
  rule.shares = read_shares(reader, "shares", classes);
  check_priors(reader, rule.priors, rule.shares);
  rule.map = read_projection(reader, k);
  rule.map.centre = reader.numbers("centre", k);
  rule.map.scale = reader.numbers("scale", rule.map.width());
  if ((rule.map.scale.array() < 0.0).any()) reader.fail("scale", "must not be negative");
  const Index vectors = length_of(reader.at("support_vectors"));
  rule.vectors = reader.matrix("support_vectors", vectors, rule.map.width());
  rule.coefficients = reader.matrix("coefficients", vectors, classes);
  rule.offsets = reader.numbers("offsets", classes);
  const auto positive = [&](const char* member) {
    const double value = reader.number(member);
    if (!(value > 0.0)) reader.fail(member, "must be positive");
    return value;
  };
  rule.gamma = positive("gamma");
  rule.slope = positive("slope");
  rule.cost = positive("C");
  return rule;
}

json rule_json(const KernelSvmRule& rule) {
  return {{"priors", to_json(rule.priors)},
          {"shares", to_json(rule.shares)},
          {"kernel", OptionCodec<SvmKernel>::json(rule.kernel)},
          {"degree", rule.degree},
          {"gamma", rule.gamma},
          {"scale", to_json(rule.map.scale)},
          {"support_vectors", to_json(rule.vectors)},
          {"coefficients", to_json(rule.coefficients)},
          {"offsets", to_json(rule.offsets)},
          {"slope", rule.slope},
          {"C", rule.cost},
          {"centre", to_json(rule.map.centre)},
          {"projection", projection_json(rule.map)}};
}

KnnRule read_knn(const ModelReader& reader, Index k, Index classes) {
  KnnRule rule;
  rule.priors = read_shares(reader, "priors", classes);
  rule.map = read_projection(reader, k);
  const json& codes = reader.at("codes");
  const Index n = length_of(codes);
  if (n < 1 || n != reader.count("training.rows"))
    reader.fail("codes", "must be a class number for each of the training.rows");
  for (const auto& code : codes) {
    if (!is_count(code) || code.get<Index>() >= classes)
      reader.fail("codes", "must be numbers of classes, counted from 0");
    rule.codes.push_back(static_cast<int>(code.get<Index>()));
  }
  rule.shares = class_shares(rule.codes, classes);
  check_priors(reader, rule.priors, rule.shares);
  rule.rows = reader.matrix("rows", n, rule.map.width());
  rule.neighbors = reader.count("neighbors");
  if (rule.neighbors < 1) reader.fail("neighbors", "must be 1 or more");
  return rule;
}

json rule_json(const KnnRule& rule) {
  return {{"priors", to_json(rule.priors)},
          {"rows", to_json(rule.rows)},
          {"codes", rule.codes},
          {"neighbors", rule.neighbors},
          {"projection", projection_json(rule.map)}};
}

/// Line and character of the `byte`-th byte, counted from 1 as the parser does.
Location place_of_byte(std::string_view content, std::size_t byte, const std::string& file) {
  const std::string_view before = content.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line_start = before.rfind('\n');
  return {
      .file = file,
      .line = std::count(before.begin(), before.end(), '\n') + 1L,
      .column =
          static_cast<long>(before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1)) + 1,
      .place = {}};
}

json optional_json(const Vector& values) { return values.size() == 0 ? json() : to_json(values); }

/// Columns of `data` that the model's features are, in the model's order.
std::vector<Index> match_columns(const Model& model, const Dataset& data) {
  if (!model.names_given || !data.names().given()) {
    if (data.features() != model.training_features) {
      throw BadInput(
          {.file = data.source()},
          fmt::format(
              "has {} without names where the model was trained on {}; give the same columns in the same order, or name them",
              counted(data.features(), "feature column"), model.training_features));
    }
    return model.features;
  }
  std::vector<Index> columns;
  std::vector<std::string> absent, ambiguous;
  const auto found_each = data.names().find_each(model.names);
  for (std::size_t i = 0; i < model.names.size(); ++i) {
    const auto& found = found_each[i];
    if (found.empty()) {
      absent.push_back(model.names[i]);
    } else if (found.size() == 1) {
      columns.push_back(found.front());
    } else if (data.features() == model.training_features &&
               std::find(found.begin(), found.end(), model.features[i]) != found.end()) {
      columns.push_back(model.features[i]);  // the name stands several times: the same place as in training
    } else {
      ambiguous.push_back(model.names[i]);
    }
  }
  if (!absent.empty()) {
    const auto near = data.names().near(absent.front());
    throw BadInput({.file = data.source()},
                   fmt::format("lacks {} of the {} the model uses: {}{}; add them or rename columns to match",
                               absent.size(), counted(model.names.size(), "column"), join_some(absent),
                               near.empty() ? "" : fmt::format(" (near: {})", join_some(near))));
  }
  if (!ambiguous.empty()) {
    throw BadInput({.file = data.source()},
                   fmt::format("has several columns named {}; make the names unique", join_some(ambiguous)));
  }
  return columns;
}

/// `rows` are the model's columns after missing values were filled in as trained.
[[noreturn]] void refuse_gaps(const Model& model, const Dataset& data, const Matrix& rows) {
  std::vector<Index> missing, infinite;  // places among the model's features
  for (Index j = 0; j < rows.cols(); ++j) {
    if (rows.col(j).array().isNaN().any()) missing.push_back(j);
    if (rows.col(j).array().isInf().any()) infinite.push_back(j);
  }
  const auto named = [&](const std::vector<Index>& columns) {
    return join_some(columns.size(),
                     [&](std::size_t i) { return model.names[static_cast<std::size_t>(columns[i])]; });
  };
  // The reader of a text table knows which columns the model needs; other readers may have met an idle one
  // first.
  const auto place = [&](const std::optional<Location>& known, bool (*wanted)(double)) {
    if (known && known->line > 0 && model.names_given && data.names().given()) return *known;
    for (Index i = 0; i < rows.rows(); ++i) {
      for (Index j = 0; j < rows.cols(); ++j) {
        if (!wanted(rows(i, j))) continue;
        const Index row =
            data.original_rows().empty() ? i : data.original_rows()[static_cast<std::size_t>(i)];
        return Location{
            .file = data.source(),
            .place = fmt::format("row {}, column {}", row, model.names[static_cast<std::size_t>(j)])};
      }
    }
    return Location{.file = data.source()};
  };
  if (!missing.empty()) {
    throw BadInput(
        place(data.first_missing(), [](double x) { return std::isnan(x); }),
        fmt::format(
            "missing values in columns the model uses ({}), and the model was trained without ⟨missing mean⟩; fill them in, or leave the rows out with ⟨missing drop⟩",
            named(missing)));
  }
  const Dataset given = model_columns(model, data);
  if (given.values().columns(first_features(given.features())).allFinite()) {
    throw BadInput(
        place(std::nullopt, [](double x) { return std::isinf(x); }),
        fmt::format(
            "the value is so large that it overflows in units of the training rows (such columns that the model uses: {}); correct it, or leave the row out",
            named(infinite)));
  }
  const auto& known = data.first_infinite();
  const Location where =
      place(known ? std::optional(known->where) : std::nullopt, [](double x) { return std::isinf(x); });
  throw BadInput(
      where,
      fmt::format(
          "{} (such columns that the model uses: {}); correct what is wrong, or leave the rows out with ⟨missing drop⟩",
          where.line > 0 ? known->sentence() : "an infinite value", named(infinite)));
}

/// These columns of the rows that have a label: methods without labels may choose by the others, too, but no
/// classifier learns from them.
Dataset labelled_columns(const Dataset& data, const std::vector<Index>& features) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.labels()->codes[static_cast<std::size_t>(i)] != Labels::kMissing) rows.push_back(i);
  }
  if (rows.empty())
    throw BadInput({.file = data.source()},
                   "no row has a label, so that there is nothing to learn; write some labels");
  Dataset columns = data.with_features(features);
  return static_cast<Index>(rows.size()) == data.rows() ? columns : columns.with_rows(rows);
}

}  // namespace

json Model::to_json() const {
  const auto list = [](const Vector& values) { return optional_json(values); };
  json object = {{"schema", kSchema},
                 {"version", version()},
                 {"method", method},
                 {"classifier", OptionCodec<Classifier>::json(classifier())},
                 {"target", target},
                 {"classes", classes},
                 {"features", features},
                 {"names", names},
                 {"names_given", names_given},
                 {"training", {{"rows", training_rows}, {"features", training_features}}},
                 {"preprocessing",
                  {{"imputation", list(preparation.imputation)},
                   {"centre", list(preparation.centre)},
                   {"scale", list(preparation.scale)}}},
                 {"ridge", ridge}};
  std::visit([&](const auto& one) { object.update(rule_json(one)); }, rule);
  return object;
}

Classifier Model::classifier() const { return classifier_of(rule); }

Model Model::from_json(const json& root, const std::string& file) {
  const ModelReader reader(root, file);
  if (!root.is_object() || !root.contains("schema") || !root["schema"].is_string()) {
    throw BadInput({.file = file},
                   "is not a model of Subspectra (no 'schema'); give a file that 'subspectra fit' wrote");
  }
  if (const auto schema = root["schema"].get<std::string>(); schema != kSchema) {
    throw BadInput(
        {.file = file, .place = "'schema'"},
        fmt::format("is '{}' where '{}' is needed; give a file that 'subspectra fit' of this version wrote",
                    schema, kSchema));
  }
  Model model;
  model.method = reader.text("method");
  const Classifier classifier = read_classifier(reader);
  model.target = reader.text("target");
  model.classes = reader.texts("classes");
  const auto classes = static_cast<Index>(model.classes.size());
  if (classes < 2) reader.fail("classes", "must name two classes or more");
  if (std::unordered_set<std::string>(model.classes.begin(), model.classes.end()).size() !=
      model.classes.size()) {
    reader.fail("classes", "must all differ");
  }
  model.names = reader.texts("names");
  model.names_given = reader.truth("names_given");
  model.training_rows = reader.count("training.rows");
  model.training_features = reader.count("training.features");
  const auto k = static_cast<Index>(model.names.size());
  if (k < 1) reader.fail("names", "must name at least one feature");
  const json& features = reader.at("features");
  if (!features.is_array() || static_cast<Index>(features.size()) != k) {
    reader.fail("features", fmt::format("must be {} numbers", k));
  }
  for (const auto& feature : features) {
    if (!is_count(feature) || feature.get<Index>() >= model.training_features ||
        (!model.features.empty() && feature.get<Index>() <= model.features.back())) {
      reader.fail("features", "must be ascending column numbers below training.features");
    }
    model.features.push_back(feature.get<Index>());
  }
  model.preparation.imputation = reader.optional_numbers("preprocessing.imputation", k);
  model.preparation.centre = reader.optional_numbers("preprocessing.centre", k);
  model.preparation.scale = reader.optional_numbers("preprocessing.scale", k);
  if ((model.preparation.scale.array() <= 0.0).any()) reader.fail("preprocessing.scale", "must be positive");
  model.ridge = reader.number("ridge");
  switch (classifier) {
    case Classifier::kLda:
      model.rule = read_lda(reader, k, classes);
      break;
    case Classifier::kSvm:
      if (root.contains("kernel")) {  // the linear one has weights in place of support vectors
        model.rule = read_kernel_svm(reader, k, classes);
      } else {
        model.rule = read_svm(reader, k, classes);
      }
      break;
    case Classifier::kKnn:
      model.rule = read_knn(reader, k, classes);
      break;
    case Classifier::kGpLaplace:
    case Classifier::kGpEp:
      model.rule =
          read_gp(reader, file, k, model.training_rows, classes,
                  classifier == Classifier::kGpLaplace ? GpApproximation::kLaplace : GpApproximation::kEp);
      break;
  }
  return model;
}

Model Model::load(const std::string& path) {
  if (checked_file_size(path) > kLargestModelFile) {
    throw BadInput({.file = path}, "is too large for a model; give a file that 'subspectra fit' wrote");
  }
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse(content, path);
}

Model Model::parse(std::string_view content, const std::string& file) {
  json root;
  try {
    root = parse_shallow_json(content);
  } catch (const json::parse_error& failure) {
    throw BadInput(
        place_of_byte(content, failure.byte, file),
        failure.byte > content.size()
            ? "the model ends in the middle; copy the file again, or fit the model again"
            : "the model is not valid JSON from here on; give a file that 'subspectra fit' wrote, or fit the model again");
  } catch (const std::exception&) {  // a number out of range, brackets without end
    throw BadInput(
        {.file = file},
        "is JSON but no model: it is too deeply nested or holds a number no double holds; give a file that 'subspectra fit' wrote");
  }
  return from_json(root, file);
}

Dataset model_columns(const Model& model, const Dataset& data) {
  return data.with_features(match_columns(model, data));
}

Matrix predict_probabilities(const Model& model, const Dataset& data) {
  const Dataset chosen = model.preparation.apply(model_columns(model, data));
  const Matrix rows = chosen.values().columns(first_features(chosen.features()));
  if (!rows.allFinite()) refuse_gaps(model, data, rows);
  // Not Eigen's exp(), whose vector version gives a denormal and not 0 for a class without rows.
  Matrix probabilities =
      log_posteriors(model.rule, rows).unaryExpr([](double value) { return std::exp(value); });
  for (Index i = 0; i < probabilities.rows(); ++i) {
    if (!probabilities.row(i).allFinite()) {
      Index largest = 0;
      rows.row(i).cwiseAbs().maxCoeff(&largest);
      const Index row = data.original_rows().empty() ? i : data.original_rows()[static_cast<std::size_t>(i)];
      throw BadInput(
          {.file = data.source(),
           .place = fmt::format("row {}, column {}", row, model.names[static_cast<std::size_t>(largest)])},
          "the value is so large that the distances to the classes overflow; correct it, or leave the row out");
    }
  }
  return probabilities;
}

namespace {

/// Everything but the rule.
Model untrained_model(const Dataset& training, const Preparation& preparation, const std::string& method,
                      const std::vector<Index>& features, double ridge) {
  Model model;
  model.method = method;
  model.target = training.labels()->name;
  model.classes = training.labels()->classes;
  model.features = features;
  model.names = training.names().selected(features).all();
  model.names_given = training.names().given();
  model.training_features = training.features();
  model.training_rows = training.rows();
  model.preparation = preparation.restricted(features);
  model.ridge = ridge;
  return model;
}

}  // namespace

Model fit_model(const Dataset& all_rows, const Preparation& preparation, const std::string& method,
                const std::vector<Index>& features, double ridge, const ModelOptions& options,
                const RunControl& control) {
  const Dataset training = labelled_columns(all_rows, features);
  Model model = untrained_model(all_rows, preparation, method, features, ridge);
  model.training_rows = training.rows();
  const Dataset prepared = model.preparation.apply(training);
  model.rule = ClassifierTrainer(prepared, first_features(prepared.features()), ridge, options).fit(control);
  return model;
}

Model fit_model(const Dataset& all_rows, const Preparation& preparation, const std::string& method,
                const FittedDiscriminants& discriminants, const ModelOptions& options,
                const RunControl& control) {
  const Dataset training = labelled_columns(all_rows, discriminants.features);
  Model model = untrained_model(all_rows, preparation, method, discriminants.features, 0.0);
  model.training_rows = training.rows();
  FittedDiscriminants own = discriminants;  // over the columns that are left
  own.features = first_features(static_cast<Index>(own.features.size()));
  model.rule = fit_rule(model.preparation.apply(training), own, options, control);
  return model;
}

}  // namespace subspectra
