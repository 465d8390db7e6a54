#include "classify/classifier.hpp"

#include <fmt/format.h>
#include <subspectra/error.hpp>

#include <algorithm>
#include <set>

#include "classify/registry.hpp"
#include "core/json_io.hpp"
#include "core/spelling.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "resample/folds.hpp"

namespace subspectra {
namespace {

/// The names of the classifiers that rows may weigh differently for.
std::string classifiers_with_weights() {
  std::string names;
  for (const auto& kind : classifier_kinds()) {
    if (kind->traits().takes_weights)
      names += fmt::format("{}{}", names.empty() ? "" : " or ", kind->traits().name);
  }
  return names;
}

}  // namespace

void refuse_weights(const Dataset& training, std::string_view what, std::string_view instead) {
  if (training.weights_are_equal()) return;
  throw InvalidArgument({.field = "weights",
                         .subject = std::string(what),
                         .rule = "counts every row once (it has no row weights)",
                         .way_out = fmt::format("leave out ⟨weights⟩, or use {}", instead)});
}

std::vector<std::vector<Index>> inner_folds(const Dataset& training, std::uint64_t seed) {
  constexpr Index kMostFolds = 5;
  const auto counts = training.labels()->counts();
  std::vector<Index> rows;  // of classes that can be held out and learned as well
  for (Index i = 0; i < training.rows(); ++i) {
    if (counts[static_cast<std::size_t>(training.labels()->codes[static_cast<std::size_t>(i)])] > 1)
      rows.push_back(i);
  }
  SplitOptions protocol;
  protocol.cv.folds = kMostFolds;
  Index classes = 0;
  for (const Index count : counts) {
    if (count < 2) continue;
    ++classes;
    protocol.cv.folds = std::min(protocol.cv.folds, count);
  }
  Labels labels = *training.labels();
  labels.codes.clear();
  std::vector<std::string> groups;
  for (const Index i : rows) {
    labels.codes.push_back(training.labels()->codes[static_cast<std::size_t>(i)]);
    if (!training.row_groups().empty()) groups.push_back(training.row_groups()[static_cast<std::size_t>(i)]);
  }
  if (!groups.empty()) {
    const auto different = static_cast<Index>(std::set<std::string>(groups.begin(), groups.end()).size());
    protocol.cv.folds = std::min(protocol.cv.folds, different);
  }
  if (classes < 2 || protocol.cv.folds < 2) return {};
  auto folds = make_splits(labels, groups, training.source(), protocol, Random(seed, streams::inner_folds()));
  for (auto& fold : folds) {
    for (Index& i : fold) i = rows[static_cast<std::size_t>(i)];
  }
  return folds;
}

void check_conditions(const ClassifierTraits& traits, const nlohmann::json& used,
                      const nlohmann::json& defaults, const OptionTexts& texts) {
  for (const OptionCondition& condition : traits.conditions) {
    const std::string option(condition.option);
    const auto text = texts.find(option);
    if (text == texts.end() && used[option] == defaults[option]) continue;
    const auto value = used[std::string(condition.depends_on)].get<std::string>();
    if (std::find(condition.values.begin(), condition.values.end(), value) != condition.values.end())
      continue;
    throw InvalidArgument(
        {.field = option,
         .value = text == texts.end() ? dump_json(used[option]) : text->second,
         .rule = fmt::format(
             "is an option of {}, but the {} is {}",
             marked_option(condition.depends_on, fmt::format("{}", fmt::join(condition.values, " and "))),
             condition.noun, value),
         .way_out = "leave it out"});
  }
}

SharedRows::SharedRows(const ClassifierTraits& traits, const TrainingTable& table)
    : labels_(*table.training.labels()), context_(table.context) {
  if (traits.inner_folds) folds_ = inner_folds(table.training, context_.seed);
  if (!traits.takes_weights) {
    refuse_weights(table.training, marked_option("classifier", traits.name),
                   marked_option("classifier", classifiers_with_weights()));
  }
  rows_ = table.training.values().columns(table.features);
}

ClassifierTrainer::ClassifierTrainer(const Dataset& training, const std::vector<Index>& features,
                                     const RidgeAmount& ridge, const Classifier& classifier,
                                     const TrainingContext& context) {
  const ClassifierKind& kind = kind_of(classifier);
  kind.validate(classifier);
  trainer_ = kind.trainer(classifier,
                          {.training = training, .features = features, .ridge = ridge, .context = context});
}

RulePointer ClassifierTrainer::fit(const std::vector<Index>& places, const RunControl& control) const {
  return trainer_->fit(&places, control);
}

RulePointer ClassifierTrainer::fit(const RunControl& control) const {
  return trainer_->fit(nullptr, control);
}

RulePointer fit_projected(const Dataset& training, const std::vector<Index>& features, const MatrixRef& b,
                          const Classifier& classifier, const TrainingContext& context,
                          const RunControl& control) {
  const ClassifierKind& kind = kind_of(classifier);
  kind.validate(classifier);
  return kind.fit_projected(classifier, {.training = training, .features = features, .context = context}, b,
                            control);
}

RulePointer fit_rule(const Dataset& training, const FittedDiscriminants& discriminants,
                     const Classifier& classifier, const TrainingContext& context,
                     const RunControl& control) {
  return fit_projected(training, discriminants.features, discriminants.matrix.view(), classifier, context,
                       control);
}

void warn_of_components(const Dataset& data, Index components, std::vector<std::string>& warnings) {
  const auto counts = data.labels()->counts();
  const auto classes = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  if (components < classes) return;
  warnings.push_back(fmt::format("⟨components {}⟩ is more than there are: {} have {}", components,
                                 counted(classes, "class", "classes"), counted(classes - 1, "discriminant")));
}

void warn_of_few_rows(Index rows, const Classifier& classifier, std::vector<std::string>& warnings) {
  auto warning = kind_of(classifier).warning(classifier, rows);
  if (!warning.empty()) warnings.push_back(std::move(warning));
}

}  // namespace subspectra
