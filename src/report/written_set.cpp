#include "report/written_set.hpp"

#include <fmt/format.h>

#include "core/memory.hpp"
#include "core/text.hpp"

namespace subspectra {

std::vector<Index> final_features(const Selection& selection) {
  const FittedDiscriminants* const fit = selection.chosen_fit();
  if (fit != nullptr && !fit->features.empty()) return fit->features;
  if (selection.sets().empty() || selection.sets().back().features.empty())
    throw Error("no set was found, so that there is none to write; give more time, or another size with ⟨k⟩");
  return selection.sets().back().features;
}

Dataset table_of(const Dataset& data, const std::vector<Index>& features, std::uint64_t memory_limit) {
  constexpr double kColumn = 8.0, kItsFile = 24.0;  // bytes a number: here, and as text or archive
  require_memory(
      (kColumn + kItsFile) * static_cast<double>(data.rows()) * static_cast<double>(features.size()),
      fmt::format("writing {} x {} numbers", data.rows(), features.size()),
      "choose fewer features (⟨k⟩), or raise ⟨memory_limit⟩", memory_limit);
  DatasetParts parts = data.with_features(features).parts();
  parts.names = FeatureNames(data.names().selected(features).all());
  return parts;
}

std::string names_text(const Dataset& data, const std::vector<Index>& features) {
  std::string text;
  for (const Index f : features) {
    const std::string& name = data.names()[f];
    if (name.find_first_of("\r\n") != std::string::npos || name.empty() ||
        trimmed(name).size() != name.size()) {
      throw Error(fmt::format(
          "the name '{}' (feature {}) cannot stand on a line by itself; write the columns with ⟨write_table⟩, or rename it",
          name, f));
    }
    text += name + '\n';
  }
  return text;
}

}  // namespace subspectra
