#pragma once
/// What `subspectra methods NAME` says of a method beyond its traits and options: plain words for people who
/// choose.
#include <string>
#include <string_view>

#include "select/registry.hpp"

namespace subspectra::cli {

struct MethodGuide {
  std::string_view name;
  std::string_view does;       ///< in plain words
  std::string_view when;       ///< to use it, and when another one is better
  std::string_view example;    ///< runs as it stands, in a shell, in an empty directory
  std::string_view reference;  ///< "" where there is no paper to name
  std::string_view page;       ///< of docs/methods
};

/// Null for a method that has none.
[[nodiscard]] const MethodGuide* guide_to(std::string_view method);

/// The whole page of `subspectra methods NAME`.
[[nodiscard]] std::string method_page(const MethodEntry& method);
/// What --help-method NAME says: the options of one method, and where the others are.
[[nodiscard]] std::string method_options_page(const MethodEntry& method, std::string_view command);

/// "class labels, of two classes", "no labels": what a method needs of the table.
[[nodiscard]] std::string method_needs(const MethodTraits& traits);

}  // namespace subspectra::cli
