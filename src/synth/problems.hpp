#pragma once
/// Every synthetic problem by name.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "data/dataset.hpp"

namespace subspectra::synth {

struct NamedMatrix {
  std::string name;  ///< "A": part of the file's name
  Matrix values;
};

/// What a problem consists of: a table, or matrices.
struct Product {  // NOLINT(bugprone-exception-escape): the check takes the assertions of json for throws
  std::optional<Dataset> table;
  std::vector<NamedMatrix> matrices;
  nlohmann::json options;  ///< as used
};

struct Problem {
  std::string_view name;
  std::string_view summary;                ///< one line
  std::vector<std::string> matrices;       ///< names of the matrices it gives; empty: a table
  std::vector<OptionDescription> options;  ///< with this problem's defaults
  /// Takes its own options from `texts` and ignores the others. Throws InvalidArgument, Error (memory).
  std::function<Product(const OptionTexts& texts)> make;
};

[[nodiscard]] const std::vector<Problem>& problems();
/// Throws InvalidArgument with near names.
[[nodiscard]] const Problem& find_problem(std::string_view name);

}  // namespace subspectra::synth
