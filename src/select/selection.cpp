#include "subspectra/select/selection.hpp"

namespace subspectra {

void SelectionOptions::validate() const {
  if (threads < 0) throw InvalidArgument("--threads must not be negative; 0 uses every core");
}

std::optional<double> PathEntry::gap() const {
  if (!upper_bound) return std::nullopt;
  if (objective == 0.0) return *upper_bound == 0.0 ? std::optional(0.0) : std::nullopt;
  return (*upper_bound - objective) / objective;
}

}  // namespace subspectra
