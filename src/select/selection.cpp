#include "select/selection.hpp"

namespace subspectra {

void SelectionOptions::validate() const {
  if (threads < 0)
    throw InvalidArgument({.field = "threads",
                           .value = fmt::to_string(threads),
                           .rule = "must not be negative",
                           .way_out = "0 uses every core"});
  if (components < 0)
    throw InvalidArgument({.field = "components",
                           .value = fmt::to_string(components),
                           .rule = "must not be negative",
                           .way_out = "0 is the default"});
}

}  // namespace subspectra
