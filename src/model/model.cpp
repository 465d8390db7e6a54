#include "model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "classify/model_reader.hpp"
#include "classify/registry.hpp"
#include "core/json_io.hpp"
#include "core/matrix_json.hpp"
#include "core/memory.hpp"
#include "core/options.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "data/derived_features.hpp"
#include "io/json_file.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

constexpr std::string_view kModelSchema = "subspectra.model/1";
/// A model file is small; anything larger is not one of ours.
constexpr std::uint64_t kLargestModelFile = 1ULL << 31U;

const ClassifierKind& read_classifier(const ModelReader& reader) {
  try {
    return find_classifier(reader.text("classifier"));
  } catch (const InvalidArgument&) {
    reader.fail("classifier", "names a classifier this version does not have");
  }
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

/// Columns of `data`, with what was made of them at its end, that the model's features are, in its order.
std::vector<Index> match_columns(const TrainedModel& model, const Dataset& given, const Dataset& data) {
  if (!model.names_given || !given.names().given()) {
    if (given.features() != model.training_features) {
      const std::string rule =
          fmt::format("has {} without names where the model was trained on {}",
                      counted(given.features(), "feature column"), model.training_features);
      const std::string way_out = "give the same columns in the same order, or name them";
      refuse_table(
          data, BadInput({.file = data.source()}, fmt::format("{}; {}", rule, way_out)),
          {.field = "x", .value = fmt::to_string(given.features()), .rule = rule, .way_out = way_out});
    }
    std::vector<Index> columns = model.features;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] < given.features()) continue;
      const auto made = data.names().find(model.names[i]);  // says where a column is missing
      if (made.size() != 1)
        throw BadInput(
            {.file = data.source()},
            fmt::format("has no column of which {} can be made; give the columns of the training table",
                        shown(model.names[i])));
      columns[i] = made.front();
    }
    return columns;
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
    } else if (given.features() == model.training_features &&
               std::find(found.begin(), found.end(), model.features[i]) != found.end()) {
      columns.push_back(model.features[i]);  // the name stands several times: the same place as in training
    } else {
      ambiguous.push_back(model.names[i]);
    }
  }
  if (!absent.empty()) {
    const auto near = data.names().near(absent.front());
    const std::string rule = fmt::format("lacks {} of the {} the model uses: {}{}", absent.size(),
                                         counted(model.names.size(), "column"), join_some(absent),
                                         near.empty() ? "" : fmt::format(" (near: {})", join_some(near)));
    const std::string way_out = "add them or rename columns to match";
    refuse_table(data, BadInput({.file = data.source()}, fmt::format("{}; {}", rule, way_out)),
                 {.field = "x", .rule = rule, .way_out = way_out});
  }
  if (!ambiguous.empty()) {
    const std::string rule = fmt::format("has several columns named {}", join_some(ambiguous));
    refuse_table(data, BadInput({.file = data.source()}, rule + "; make the names unique"),
                 {.field = "x", .rule = rule, .way_out = "make the names unique"});
  }
  return columns;
}

/// `rows` are the model's columns after missing values were filled in as trained.
[[noreturn]] void refuse_gaps(const TrainedModel& model, const Dataset& data, const Matrix& rows) {
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
    const Location where = place(data.first_missing(), [](double x) { return std::isnan(x); });
    const std::string rule = fmt::format(
        "missing values in columns the model uses ({}), and the model was trained without ⟨missing mean⟩",
        named(missing));
    refuse_table(
        data,
        BadInput(where, fmt::format("{}; fill them in, or leave the rows out with ⟨missing drop⟩", rule)),
        {.field = "x",
         .rule = fmt::format("holds {} (first: {})", rule, where.place),
         .way_out = "fill them in, leave the rows out, or train the model with ⟨missing mean⟩"});
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
  refuse_table(
      data,
      BadInput(
          where,
          fmt::format(
              "{} (such columns that the model uses: {}); correct what is wrong, or leave the rows out with ⟨missing drop⟩",
              where.line > 0 ? known->sentence() : "an infinite value", named(infinite))),
      {.field = "x",
       .rule = fmt::format("holds an infinite value at {} (such columns that the model uses: {})",
                           where.place, named(infinite)),
       .way_out = "correct what is wrong, or leave the rows out"});
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

json TrainedModel::to_json() const {
  const auto list = [](const Vector& values) { return optional_json(values); };
  json object = {{"schema", kModelSchema},
                 {"version", version()},
                 {"method", method},
                 {"classifier", rule->classifier()},
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
                 {"ridge", OptionCodec<Ridge>::json(as_option(ridge))}};
  if (preparation.spread.size() > 0) {
    object["preprocessing"]["median"] = list(preparation.median);
    object["preprocessing"]["spread"] = list(preparation.spread);
  }
  if (!id.empty()) object["id"] = id;
  for (const DerivedFeature& feature : derived) {
    json entry = {{"feature", feature.name}, {"column", feature.column}};
    if (feature.value) entry["value"] = *feature.value;
    object["derived"].push_back(std::move(entry));
  }
  object.update(rule->to_json());
  return object;
}

TrainedModel TrainedModel::from_json(const json& root, const std::string& file) {
  const ModelReader reader(root, file);
  if (!root.is_object() || !root.contains("schema") || !root["schema"].is_string()) {
    throw BadInput({.file = file},
                   "is not a model of Subspectra (no 'schema'); give a file that 'subspectra fit' wrote");
  }
  if (const auto schema = root["schema"].get<std::string>(); schema != kModelSchema) {
    throw BadInput(
        {.file = file, .place = "'schema'"},
        fmt::format("is '{}' where '{}' is needed; give a file that 'subspectra fit' of this version wrote",
                    schema, kModelSchema));
  }
  TrainedModel model;
  model.method = reader.text("method");
  const ClassifierKind& classifier = read_classifier(reader);
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
  if (root.contains("id")) model.id = reader.text("id");
  if (const auto list = root.find("derived"); list != root.end()) {
    if (!list->is_array()) reader.fail("derived", "must be a list");
    for (const json& entry : *list) {
      const auto text = [&](const char* key) {
        const auto found = entry.is_object() ? entry.find(key) : entry.end();
        if (!entry.is_object() || found == entry.end() || !found->is_string())
          reader.fail("derived", fmt::format("must hold objects with a text '{}'", key));
        return found->get<std::string>();
      };
      DerivedFeature feature{.name = text("feature"), .column = text("column")};
      if (entry.contains("value")) feature.value = text("value");
      model.derived.push_back(std::move(feature));
    }
  }
  const auto k = static_cast<Index>(model.names.size());
  const json& features = reader.at("features");
  // Without a feature there are the priors alone.
  const bool priors_alone = features.is_array() && features.empty() && classifier.traits().says_priors;
  if (k < 1 && !priors_alone) reader.fail("names", "must name at least one feature");
  if (!features.is_array() || static_cast<Index>(features.size()) != k) {
    reader.fail("features", fmt::format("must be {} numbers", k));
  }
  for (const auto& feature : features) {
    // What says where values are missing stands behind the columns of the table.
    const std::string& name = model.names[model.features.size()];
    const bool made = std::any_of(model.derived.begin(), model.derived.end(),
                                  [&](const DerivedFeature& one) { return !one.value && one.name == name; });
    if (!ModelReader::is_count(feature) || (!made && feature.get<Index>() >= model.training_features) ||
        (!model.features.empty() && feature.get<Index>() <= model.features.back())) {
      reader.fail("features", "must be ascending column numbers below training.features");
    }
    model.features.push_back(feature.get<Index>());
  }
  model.preparation.imputation = reader.optional_numbers("preprocessing.imputation", k);
  model.preparation.centre = reader.optional_numbers("preprocessing.centre", k);
  model.preparation.scale = reader.optional_numbers("preprocessing.scale", k);
  if ((model.preparation.scale.array() <= 0.0).any()) reader.fail("preprocessing.scale", "must be positive");
  const json& preprocessing = reader.at("preprocessing");
  if (preprocessing.contains("median") || preprocessing.contains("spread")) {
    model.preparation.median = reader.optional_numbers("preprocessing.median", k);
    model.preparation.spread = reader.optional_numbers("preprocessing.spread", k);
    if (model.preparation.median.size() != model.preparation.spread.size())
      reader.fail("preprocessing.spread", "must be there where 'median' is, and only there");
    if ((model.preparation.spread.array() < 0.0).any())
      reader.fail("preprocessing.spread", "must not be negative");
  }
  model.ridge = reader.ridge("ridge");
  if (const auto status = root.find("status"); status != root.end() && status->is_string())
    model.status = status->get<std::string>();
  model.rule = classifier.read(reader, {.features = k, .classes = classes, .rows = model.training_rows});
  return model;
}

TrainedModel TrainedModel::load(const std::string& path, std::uint64_t memory_limit) {
  return parse(
      json_file_text(path, kLargestModelFile,
                     "is too large for a model; give a file that 'subspectra fit' wrote", memory_limit),
      path);
}

TrainedModel TrainedModel::parse(std::string_view content, const std::string& file) {
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

Dataset model_columns(const TrainedModel& model, const Dataset& data) {
  const Dataset whole = with_missing_indicators(data, model.derived);
  return whole.with_features(match_columns(model, data, whole));
}

std::vector<std::string> needed_columns(const TrainedModel& model) {
  std::vector<std::string> names;
  const auto made = [&](const std::string& name) {
    return std::find_if(model.derived.begin(), model.derived.end(),
                        [&](const DerivedFeature& feature) { return feature.name == name; });
  };
  for (const std::string& name : model.names) {
    if (made(name) == model.derived.end()) names.push_back(name);
  }
  for (const DerivedFeature& feature : model.derived) {
    if (std::find(names.begin(), names.end(), feature.column) == names.end()) names.push_back(feature.column);
  }
  return names;
}

Matrix predict_probabilities(const TrainedModel& model, const Dataset& data, std::uint64_t memory_limit) {
  constexpr double kColumns = 3.0,
                   kProbabilities = 2.0;  // at one time: as read, prepared, in the rule's space
  constexpr double kText = 64.0;          // bytes a number as text that grows
  const auto n = static_cast<double>(data.rows()), q = static_cast<double>(model.features.size()),
             k = static_cast<double>(model.classes.size());
  require_memory(n * (sizeof(double) * (kColumns * q + kProbabilities * k) + kText * (k + 1.0)) +
                     (model.derived.empty() ? 0.0 : bytes_of_copy(data)),
                 fmt::format("predicting {} by {}", counted(data.rows(), "row"),
                             counted(model.features.size(), "feature")),
                 "give fewer rows at once, or raise ⟨memory_limit⟩", memory_limit);
  const Dataset chosen = model.preparation.apply(model_columns(model, data));
  const Matrix rows = chosen.values().columns(first_features(chosen.features()));
  if (!rows.allFinite()) refuse_gaps(model, data, rows);
  // Not Eigen's exp(), whose vector version gives a denormal and not 0 for a class without rows.
  Matrix probabilities =
      model.rule->log_posteriors(rows).unaryExpr([](double value) { return std::exp(value); });
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
TrainedModel untrained_model(const Dataset& training, const Preparation& preparation,
                             const std::string& method, const std::vector<Index>& features,
                             const RidgeAmount& ridge) {
  TrainedModel model;
  model.method = method;
  model.target = training.labels()->name;
  model.classes = training.labels()->classes;
  model.features = features;
  model.names = training.names().selected(features).all();
  model.names_given = training.names().given();
  const std::vector<DerivedFeature>& derived = training.details().derived;
  model.training_features =
      training.features() - std::count_if(derived.begin(), derived.end(),
                                          [](const DerivedFeature& feature) { return !feature.value; });
  model.id = training.details().id_name;
  // All features of a category of which one is chosen: where one is missing, all are.
  for (const DerivedFeature& feature : derived) {
    const bool used = std::any_of(derived.begin(), derived.end(), [&](const DerivedFeature& other) {
      return other.column == feature.column &&
             std::find(model.names.begin(), model.names.end(), other.name) != model.names.end();
    });
    if (used) model.derived.push_back(feature);
  }
  model.training_rows = training.rows();
  model.preparation = preparation.restricted(features);
  model.ridge = ridge;
  return model;
}

}  // namespace

TrainedModel fit_model(const Dataset& all_rows, const Preparation& preparation, const std::string& method,
                       const std::vector<Index>& features, const RidgeAmount& ridge,
                       const Classifier& classifier, std::uint64_t seed, const RunControl& control) {
  const Dataset training = labelled_columns(all_rows, features);
  TrainedModel model = untrained_model(all_rows, preparation, method, features, ridge);
  model.training_rows = training.rows();
  const Dataset prepared = model.preparation.apply(training);
  model.rule =
      ClassifierTrainer(prepared, first_features(prepared.features()), ridge, classifier, {.seed = seed})
          .fit(control);
  return model;
}

TrainedModel fit_model(const Dataset& all_rows, const Preparation& preparation, const std::string& method,
                       const FittedDiscriminants& discriminants, const Classifier& classifier,
                       std::uint64_t seed, const RunControl& control) {
  const Dataset training = labelled_columns(all_rows, discriminants.features);
  TrainedModel model = untrained_model(all_rows, preparation, method, discriminants.features, 0.0);
  model.training_rows = training.rows();
  FittedDiscriminants own = discriminants;  // over the columns that are left
  own.features = first_features(static_cast<Index>(own.features.size()));
  model.rule = fit_rule(model.preparation.apply(training), own, classifier, {.seed = seed}, control);
  return model;
}

}  // namespace subspectra
