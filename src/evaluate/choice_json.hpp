#pragma once
/// The members of `subspectra.evaluation/1` that speak of the size chosen; the model file has some of them.
#include <nlohmann/json_fwd.hpp>

#include <subspectra/evaluate.hpp>

namespace subspectra {

/// An entry of `chosen`. `compact`: without what is drawn (roc, projection), for the model file.
[[nodiscard]] nlohmann::json choice_json(const EvaluationChoice& choice, bool compact = false);
[[nodiscard]] nlohmann::json used_json(const UsedConfiguration& used);

}  // namespace subspectra
