#pragma once
/// A selection method is a struct of options (searches.hpp, rankers.hpp, scoring.hpp, ...); Method holds any
/// of them.
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <subspectra/export.hpp>

namespace subspectra {

class Problem;     // rows, candidates and ridge: what a method works on
class RunControl;  // limits and progress
struct Selection;  // what it answers

/// What a method needs and can do, as data.
struct MethodTraits {
  std::string_view name;
  std::string_view summary;  ///< one line
  bool needs_labels = true;
  bool two_classes_only = false;
  bool variance = false;            ///< judged by the covariance of the set (PCA), labels or not
  bool takes_matrices = false;      ///< runs on covariance matrices in place of a table
  bool takes_groups = false;        ///< moves groups as a whole
  bool proves = false;              ///< an exact search: stopped early it has an answer and a bound
  bool own_rule = false;            ///< answers with fits of its own, in whose space the rule works
  bool clusters_rows = false;       ///< its weights, found without labels, make an affinity of the rows
  bool ranks_when_stopped = false;  ///< stopped early it still ranks every feature by what it has found
  bool by_columns = false;          ///< scores every column by itself
  bool composite = false;           ///< a choice among other methods by their errors inside the training rows
};

namespace detail {
/// One of the structs of options that the headers of methods have.
template <class M>
concept MethodStruct = std::same_as<decltype(M::kTraits), const MethodTraits>;
}  // namespace detail

/// Any of the methods, with its options. Cheap to copy; a move is a copy, so that what is moved from stays
/// what it was.
class Method {
 public:
  Method(const Method&) = default;
  Method& operator=(const Method&) = default;
  ~Method() = default;
  /// From one of the method structs, for instance Gslda{.swaps = 5}.
  template <detail::MethodStruct M>
  Method(M options)  // NOLINT(google-explicit-constructor): {Gslda{}, RvmRow{}} is a list of methods
      : name_(M::kTraits.name), options_(std::make_shared<const M>(std::move(options))) {}
  /// By name, with its defaults; throws InvalidArgument with near names.
  SUBSPECTRA_EXPORT explicit Method(std::string_view name);
  /// From text as on the command line: {{"swaps", "5"}}. Throws InvalidArgument for a name the method has
  /// not.
  SUBSPECTRA_EXPORT static Method parse(std::string_view name,
                                        const std::vector<std::pair<std::string, std::string>>& options);
  /// From a JSON object of its options, as `options_json` gives it.
  SUBSPECTRA_EXPORT static Method from_json(std::string_view name, std::string_view options_json);

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] SUBSPECTRA_EXPORT const MethodTraits& traits() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::string options_json() const;
  /// Throws InvalidArgument where an option breaks its rule.
  SUBSPECTRA_EXPORT void validate() const;
  /// The struct it was made from; throws InvalidArgument where it is another method's.
  template <class M>
  [[nodiscard]] const M& as() const {
    require_name(M::kTraits.name);
    return *static_cast<const M*>(options_.get());
  }

 private:
  friend class MethodRegistry;
  Method(std::string_view name, std::shared_ptr<const void> options)
      : name_(name), options_(std::move(options)) {}
  SUBSPECTRA_EXPORT void require_name(std::string_view name) const;

  std::string_view name_;  ///< of a kTraits, which lives for ever
  std::shared_ptr<const void> options_;
};

/// Every method there is, in the order of the list that `subspectra methods` prints.
[[nodiscard]] SUBSPECTRA_EXPORT std::vector<MethodTraits> method_list();

}  // namespace subspectra
