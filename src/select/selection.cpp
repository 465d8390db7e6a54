#include "select/selection.hpp"

namespace subspectra {

void SelectionOptions::validate() const {
  if (threads < 0) throw InvalidArgument("⟨threads⟩ must not be negative; 0 uses every core");
  if (components < 0) throw InvalidArgument("⟨components⟩ must not be negative; 0 is the default");
}

}  // namespace subspectra
