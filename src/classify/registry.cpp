#include "classify/registry.hpp"

#include <fmt/format.h>
#include <subspectra/error.hpp>

#include <algorithm>

#include "core/json_io.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "data/feature_names.hpp"

namespace subspectra {

/// One line a classifier, in the order of the help pages: the file of its name defines
/// `std::unique_ptr<const ClassifierKind> NAME_kind()`.
#define SUBSPECTRA_CLASSIFIERS(KIND) \
  KIND(lda)                          \
  KIND(svm)                          \
  KIND(knn)                          \
  KIND(gp_laplace)                   \
  KIND(gp_ep)

#define SUBSPECTRA_DECLARE(name) std::unique_ptr<const ClassifierKind> name##_kind();
SUBSPECTRA_CLASSIFIERS(SUBSPECTRA_DECLARE)
#undef SUBSPECTRA_DECLARE

const std::vector<std::unique_ptr<const ClassifierKind>>& classifier_kinds() {
  static const auto kinds = [] {
    std::vector<std::unique_ptr<const ClassifierKind>> all;
#define SUBSPECTRA_ADD(name) all.push_back(name##_kind());
    SUBSPECTRA_CLASSIFIERS(SUBSPECTRA_ADD)
#undef SUBSPECTRA_ADD
    return all;
  }();
  return kinds;
}

namespace {

std::string classifier_names() {
  std::string text;
  for (const auto& kind : classifier_kinds())
    text += fmt::format("{}{}", text.empty() ? "" : "|", kind->traits().name);
  return text;
}

/// "Fisher's linear discriminant rule, a support vector machine, or the nearest neighbours"
std::string classifier_summaries() {
  std::vector<std::string_view> all;
  for (const auto& kind : classifier_kinds()) {
    if (!kind->traits().summary.empty()) all.push_back(kind->traits().summary);
  }
  const std::string_view last = all.back();
  all.pop_back();
  return fmt::format("{}, or {}", fmt::join(all, ", "), last);
}

bool has_option(const ClassifierKind& kind, std::string_view name) {
  const auto options = kind.options();
  return std::any_of(options.begin(), options.end(), [&](const auto& option) { return option.name == name; });
}

/// What OptionCodec reads back, from what it wrote as JSON.
std::string option_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return dump_json(value);
  std::string text;
  for (const auto& entry : value) {
    if (!text.empty()) text += ',';
    text += option_text(entry);
  }
  return text;
}

}  // namespace

const ClassifierKind& find_classifier(std::string_view name) {
  for (const auto& kind : classifier_kinds()) {
    if (kind->traits().name == name) return *kind;
  }
  detail::rethrow_with_option("classifier", name,
                              InvalidArgument(fmt::format("one of {} is needed", classifier_names())));
}

const ClassifierKind& kind_of(const Classifier& classifier) { return find_classifier(classifier.name()); }

Classifier classifier_from_texts(const OptionTexts& texts) {
  const auto name = texts.find("classifier");
  const ClassifierKind& chosen = find_classifier(name == texts.end() ? Classifier().name() : name->second);
  for (const auto& kind : classifier_kinds()) (void)kind->parse(texts);
  return chosen.parse(texts);
}

Classifier classifier_from_json(std::string_view name, const nlohmann::json& options) {
  const ClassifierKind& kind = find_classifier(name);
  if (!options.is_object())
    throw InvalidArgument({.field = "options",
                           .value = dump_json(options),
                           .subject = fmt::format("the options of classifier {}", name),
                           .rule = "are no JSON object"});
  OptionTexts texts;
  for (const auto& [option, value] : options.items()) {
    if (!has_option(kind, option)) {
      std::vector<std::string> known;
      for (const OptionDescription& one : kind.options()) known.push_back(one.name);
      const auto near = near_names(option, known);
      throw InvalidArgument({.field = option,
                             .value = option_text(value),
                             .subject = fmt::format("classifier {}", name),
                             .rule = fmt::format("has no option {}", marked_option(option)),
                             .way_out = near.empty() ? fmt::format("there are {}", join_some(known, 100))
                                                     : fmt::format("did you mean {}?", join_some(near))});
    }
    if (!value.is_null()) texts[option] = option_text(value);
  }
  return kind.parse(texts);
}

std::vector<OptionDescription> describe_classifiers() {
  std::vector<OptionDescription> all = {
      {.name = "classifier",
       .hint = classifier_names(),
       .default_text = std::string(Classifier().name()),
       .help = fmt::format("trained on the chosen features: {} (machines and processes one against the rest)",
                           classifier_summaries()),
       .is_switch = false}};
  for (const auto& kind : classifier_kinds()) {
    for (auto& option : kind->options()) {
      if (std::none_of(all.begin(), all.end(), [&](const auto& known) { return known.name == option.name; }))
        all.push_back(std::move(option));
    }
  }
  return all;
}

std::vector<std::string_view> classifiers_with(std::string_view option) {
  std::vector<std::string_view> names;
  for (const auto& kind : classifier_kinds()) {
    if (has_option(*kind, option)) names.push_back(kind->traits().name);
  }
  return names;
}

nlohmann::json classifier_options_json(const OptionTexts& texts) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& kind : classifier_kinds()) all.update(kind->options_json(kind->parse(texts)));
  all["classifier"] = classifier_from_texts(texts).name();
  return all;
}

Classifier::Classifier(std::string_view name) : Classifier(find_classifier(name).parse({})) {}

Classifier Classifier::parse(std::string_view name,
                             const std::vector<std::pair<std::string, std::string>>& options) {
  auto object = nlohmann::json::object();
  for (const auto& [option, text] : options) object[option] = text;
  return classifier_from_json(name, object);
}

Classifier Classifier::from_json(std::string_view name, std::string_view options) {
  return classifier_from_json(name, json_or_discarded(options));
}

const ClassifierTraits& Classifier::traits() const { return kind_of(*this).traits(); }

std::string Classifier::options_json() const { return dump_json(kind_of(*this).options_json(*this)); }

void Classifier::require_name(std::string_view name) const {
  if (name_ != name)
    throw InvalidArgument({.field = "classifier",
                           .value = std::string(name),
                           .subject = "the classifier",
                           .rule = fmt::format("is {}, and not {{value}}", name_)});
}

std::vector<ClassifierTraits> classifier_list() {
  std::vector<ClassifierTraits> all;
  for (const auto& kind : classifier_kinds()) all.push_back(kind->traits());
  return all;
}

}  // namespace subspectra
