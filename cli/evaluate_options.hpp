#pragma once
#include <string>
#include <vector>

#include "core/options.hpp"

namespace subspectra::cli {

struct DetailsOptions {
  std::string details;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "details", o.details,
        "write the held-out prediction of every row and the set and error of every fold to this file, .json or .csv");
  }
};
/// Of `evaluate` and of `merge`, which writes the same.
[[nodiscard]] std::vector<OptionDescription> details_option();

}  // namespace subspectra::cli
