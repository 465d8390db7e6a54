#pragma once
/// Every selection method by name. A method is one function from a complete table to scores or sets; what all
/// methods share (constraints, the path, its objectives and loadings, warnings) is done once in
/// select_features.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "subspectra/select/selection.hpp"

namespace subspectra {

/// What a method works on: a table without missing values and what may be chosen from it.
struct SelectionInput {
  const Dataset& data;
  const SelectionOptions& options;
  std::vector<Index> candidates;  ///< ascending: neither constant nor excluded
  std::vector<Index> include;     ///< ascending subset of candidates
  KRange k;                       ///< resolved: 1 <= lo <= hi <= |candidates|
};

struct MethodInfo {
  std::string_view name;
  std::string_view summary;  ///< one line
  bool needs_labels = true;
  bool two_classes_only = false;
  std::vector<OptionDescription> options;  ///< the method's own
  /// Fills weights and ranking (rankers) or path sets (searches), status, method_options, warnings.
  std::function<void(const SelectionInput&, const OptionTexts&, const RunControl&, Selection&)> run;
};

[[nodiscard]] const std::vector<MethodInfo>& methods();
/// Throws InvalidArgument with near names.
[[nodiscard]] const MethodInfo& find_method(std::string_view name);
/// The method used when none is named.
[[nodiscard]] std::string_view default_method(bool has_labels);

/// Runs `method` on `data`, which has no missing values (see prepare.hpp). `texts` may hold any method's
/// options; this one takes its own. Throws InvalidArgument, BadInput (labels), Infeasible (constraints),
/// Error (memory).
[[nodiscard]] Selection select_features(const Dataset& data, const MethodInfo& method,
                                        const SelectionOptions& options, const OptionTexts& texts,
                                        const RunControl& control);

}  // namespace subspectra
