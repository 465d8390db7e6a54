#pragma once
/// The sets of a nested order, every one scored from the matrices themselves (not from the updates of the
/// search that found them) in one factorization.
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include "search/units.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

struct NestedPathOptions {
  Criterion criterion = Criterion::kLargest;
  Index components = 0;      ///< loadings kept: 0 all (one without a factor)
  double pivot_floor = 0.0;  ///< units with a pivot below this fraction of their diagonal are passed over
  int threads = 0;
  std::uint64_t memory_limit = 0;
};

/// Walks down `order` until `most` units are in. With A = M M' the Cholesky factor L of B over the chosen
/// features grows row by row, C = L^{-1} M, and T_S = C_S'C_S for every prefix. Needs |S|^2 numbers for the
/// largest set. Keeps references to the pencil and the units.
class NestedPath {
 public:
  NestedPath(const Pencil& pencil, const SearchUnits& units, const std::vector<Index>& order, Index most,
             const NestedPathOptions& options);

  [[nodiscard]] Index reached() const { return static_cast<Index>(chosen_.size()); }  ///< units
  [[nodiscard]] const std::vector<Index>& chosen() const { return chosen_; }          ///< units in order
  [[nodiscard]] const std::vector<Index>& dependent() const { return dependent_; }    ///< units passed over
  /// The criterion of the first k units, 1 <= k <= reached().
  [[nodiscard]] double objective(Index k) const { return objectives_[static_cast<std::size_t>(k - 1)]; }
  /// Set, objective and loadings. O(size^2 r) with a factor, a few products with A_S without.
  [[nodiscard]] PathEntry entry(Index k) const;
  /// The same for many sizes, ascending. With a factor the loadings of k are V_k S_k^{-1} applied to
  ///     W_k = L_k^{-T} C_k = sum over j <= size_k of (row j of L^{-1})' (row j of C),   C_k = U_k S_k V_k',
  /// so that all of them cost one inverse of L and a running sum: n^3/3 flops, n of which a number that is
  /// written, and n^2 r for the sums, where a solve a size would read L once a size. S_k and V_k come from
  /// the r x r triangle of C_k, which takes a row at a time by rotations.
  [[nodiscard]] std::vector<PathEntry> entries(const std::vector<Index>& sizes) const;

 private:
  void grow(const Pencil& pencil, const std::vector<Index>& order, Index most);
  /// Loadings in the order of entry as the entry of k.
  [[nodiscard]] PathEntry entry_of(Index k, Matrix vectors) const;
  [[nodiscard]] std::vector<Matrix> discriminants_of(const std::vector<Index>& sizes) const;
  [[nodiscard]] std::vector<Matrix> components_of(const std::vector<Index>& sizes) const;
  [[nodiscard]] Index size_at(Index k) const { return ends_[static_cast<std::size_t>(k - 1)]; }

  const Pencil& pencil_;
  const SearchUnits& units_;
  NestedPathOptions options_;
  bool factor_ = false;
  std::vector<Index> chosen_, dependent_;
  std::vector<Index> features_;   ///< in the order of entry
  std::vector<Index> ascending_;  ///< places in features_, by feature
  std::vector<Index> ends_;       ///< number of features of the first k units
  std::vector<double> objectives_;
  Matrix l_;                     ///< lower factor of B over features_; empty when B = I
  Matrix c_;                     ///< L^{-1} M, or without a factor L^{-1} A L^{-T}
  std::vector<Vector> leading_;  ///< of C, by size, without a factor and where there are many sizes
};

}  // namespace subspectra
