#pragma once
/// Every method by name, made from texts (the command line), JSON, or a struct (C++).
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/method.hpp>
#include <subspectra/selection.hpp>

#include "core/options.hpp"

namespace subspectra {

/// What the registry knows of a method, beside its traits.
struct MethodEntry {
  const MethodTraits* traits = nullptr;
  std::vector<OptionDescription> options;  ///< the method's own
  Method (*from_texts)(const OptionTexts&) = nullptr;
  Method (*from_json)(const nlohmann::json&) = nullptr;
  Method (*changed)(const void*, const OptionTexts&) = nullptr;
  std::optional<Method> (*started)(const void*, const DenseMatrix&) = nullptr;
  nlohmann::json (*to_json)(const void*) = nullptr;
  void (*validate)(const void*) = nullptr;
  bool (*fixes_size)(const void*) = nullptr;
  bool (*keeps_state)(const void*) = nullptr;
  Selection (*run)(const void*, const Problem&, const RunControl&) = nullptr;
};

class MethodRegistry {
 public:
  /// In the order of `subspectra methods`.
  [[nodiscard]] static const std::vector<MethodEntry>& entries();
  /// Throws InvalidArgument with near names.
  [[nodiscard]] static const MethodEntry& find(std::string_view name);
  /// The method of this name with the options that `texts` has for it; other names are passed over (they are
  /// somebody else's, or were refused before).
  [[nodiscard]] static Method from_texts(std::string_view name, const OptionTexts& texts);
  /// The same method with these options instead of its own.
  [[nodiscard]] static Method changed(const Method& method, const OptionTexts& texts);
  /// The same method with its iteration started at a matrix; nothing where it has no such start.
  [[nodiscard]] static std::optional<Method> started(const Method& method, const DenseMatrix& start);
  [[nodiscard]] static nlohmann::json options_json(const Method& method);
  /// Throws InvalidArgument.
  static void validate(const Method& method);
  /// Whether the options decide how many features there are, so that k does not.
  [[nodiscard]] static bool fixes_size(const Method& method);
  /// Whether its search writes its state into a file or goes on from one.
  [[nodiscard]] static bool keeps_state(const Method& method);
  [[nodiscard]] static Selection run(const Method& method, const Problem& problem, const RunControl& control);

 private:
  template <class M>
  static MethodEntry entry();
};

/// The method of fit and evaluate when none is named.
[[nodiscard]] std::string_view default_judged_method();
/// The method of select when none is named.
[[nodiscard]] std::string_view default_method(bool has_labels);

}  // namespace subspectra
