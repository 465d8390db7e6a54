#pragma once
/// What a method reports of itself for the result file: its options as used, and what else it has to say.
#include <memory>
#include <nlohmann/json.hpp>

#include <subspectra/selection.hpp>

#include "core/options.hpp"

namespace subspectra {

namespace detail {
struct MethodRecord {
  nlohmann::json values = nlohmann::json::object();
};
}  // namespace detail

/// The record of this selection, to be added to.
[[nodiscard]] inline nlohmann::json& record_of(Selection& selection) {
  if (!selection.record) selection.record = std::make_shared<detail::MethodRecord>();
  return selection.record->values;
}
[[nodiscard]] inline nlohmann::json record_of(const Selection& selection) {
  return selection.record ? selection.record->values : nlohmann::json::object();
}

/// An answer that is to be filled, with the options of the method in its record.
template <class Options>
[[nodiscard]] Selection answer_of(const Options& own) {
  Selection selection;
  record_of(selection) = options_json(own);
  return selection;
}

}  // namespace subspectra
