#pragma once
/// The classifiers there are, found by name.
#include <subspectra/classifiers.hpp>

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "classify/classifier_kind.hpp"
#include "core/options.hpp"

namespace subspectra {

[[nodiscard]] const std::vector<std::unique_ptr<const ClassifierKind>>& classifier_kinds();

/// Throws InvalidArgument with the names there are.
[[nodiscard]] const ClassifierKind& find_classifier(std::string_view name);
[[nodiscard]] const ClassifierKind& kind_of(const Classifier& classifier);

/// The one that texts["classifier"] names (the default where it names none), with its options from `texts`.
/// The values of options that only other classifiers have are checked, too. Throws InvalidArgument.
[[nodiscard]] Classifier classifier_from_texts(const OptionTexts& texts);
/// From a JSON object with values as options_json() writes them; null is "not given".
[[nodiscard]] Classifier classifier_from_json(std::string_view name, const nlohmann::json& options);

/// `classifier` itself, then every option of any classifier once.
[[nodiscard]] std::vector<OptionDescription> describe_classifiers();
/// The names of the classifiers that have this option.
[[nodiscard]] std::vector<std::string_view> classifiers_with(std::string_view option);
/// Every option of any classifier with the value that `texts` gives it, or its default; `classifier` as well.
[[nodiscard]] nlohmann::json classifier_options_json(const OptionTexts& texts);

}  // namespace subspectra
