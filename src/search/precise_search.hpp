#pragma once
/// What a search knows of all candidates, and a proof that no set is better, in double-double: for tables
/// whose correlations are so nearly singular that the bounds of a search in doubles have no digits of their
/// own. Plain leaps and bounds (Furnival and Wilson 1974); docs/theory/exact.md.
#include <memory>
#include <optional>
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include <subspectra/run_control.hpp>
#include "linalg/double_double.hpp"
#include "search/greedy.hpp"
#include "search/units.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

/// P = B_T^{-1}, U = P M_T, T = M_T'P M_T over features that may leave one after another.
class PreciseInverse {
 public:
  /// Nothing where it would take long, where A has no factor, or where B is singular to so many digits.
  static std::optional<PreciseInverse> of(const Pencil& pencil, const std::vector<Index>& features,
                                          Criterion criterion);

  [[nodiscard]] Index size() const { return p_.rows; }
  [[nodiscard]] double value() const;  ///< the criterion of all that are left
  /// The criterion without the feature in this place.
  [[nodiscard]] double value_without(Index place) const;
  /// Takes it out; those behind it move up. O(n^2), or O(n^3) where an update would keep too few digits.
  /// False: so many digits do not tell what is left.
  [[nodiscard]] bool drop(Index place);
  /// What rounding may have done to this value and those without one more, as a fraction of value().
  [[nodiscard]] double error() const { return error_; }
  [[nodiscard]] double correlation_inverse() const { return correlation_inverse_; }
  /// About how many operations drop() has taken so far.
  [[nodiscard]] double work() const { return work_; }

 private:
  bool factor();  ///< P, U and T anew from the pair of those that are left
  Criterion criterion_ = Criterion::kLargest;
  std::shared_ptr<const PreciseBlock> pair_;  ///< of all that there were
  std::vector<Index> left_;                   ///< places in it
  linalg::DoubleDoubleMatrix p_, u_, t_;
  double error_ = 0.0, correlation_inverse_ = 0.0;
  double factored_trace_ = 0.0, factored_error_ = 0.0;  ///< of T as it was factored, and error_
  double work_ = 0.0;
  bool updates_ = true;  ///< whether updates of P keep enough digits
};

/// The losses at the root with all their digits; single features only.
[[nodiscard]] std::optional<RootLosses> precise_root(const Pencil& pencil, const SearchUnits& units,
                                                     Criterion criterion);

/// The best sets of k units.
struct PreciseBest {
  std::vector<PoolSet> sets;  ///< best first, ties in lexicographic order
  bool proven = false;        ///< no other set is better by more than a certificate allows
};

/// `known`: sets of that size with their values, as many as are wanted or fewer. Not proven where it takes
/// too many nodes, where the features are too many, or after a stop.
[[nodiscard]] PreciseBest precise_best(const Pencil& pencil, const SearchUnits& units, Criterion criterion,
                                       Index k, std::vector<PoolSet> known, std::size_t wanted,
                                       const RunControl& control);

/// By value, falling; those that agree to 2.5e-10 in lexicographic order.
void sort_pool(std::vector<PoolSet>& sets);

}  // namespace subspectra
