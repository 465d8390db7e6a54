#pragma once
/// The matrices of an exact search that tries all pairs and triples (sweep_explorer.cpp): B and M over the
/// candidates, one row a feature, scaled so that B has a unit diagonal. B stands there as a matrix, or, where
/// no size needs more than a pair of features and they are many, comes block by block from the rows.
#include <memory>
#include <optional>
#include <vector>

#include "core/types.hpp"
#include "search/card_sweep.hpp"
#include "search/exact_hooks.hpp"
#include "search/explorer.hpp"
#include "search/sweep_scan.hpp"

namespace subspectra::search {

/// n x n in rows of `lead` numbers, zeros behind n.
using PaddedMatrix = Matrix;  // lead x n, by columns
[[nodiscard]] inline Index padded_length(Index n) { return (n + 7) / 8 * 8; }

/// What a set is worth.
struct SweepValue {
  double value = -kInfinity;  ///< in the scale of the search; -infinity: no set, its features depend
  /// Of a set that is none by kDependentPivot, though its features do not depend to 31 digits.
  double doubtful = -kInfinity;
};

/// The features that may still be chosen as seen from those that are kept, and what they have to beat.
struct SweepNode {
  SweepView view;
  std::vector<std::int32_t> free;  ///< the features of the view's rows
  std::vector<double> d1, d2;
  Matrix x1, x2;  ///< empty where the view takes the problem's own
  Matrix c;       ///< lead x r
  Matrix across;  ///< |kept| x n: L^{-1} B_KF, where B comes by blocks
};

class SweepProblem {
 public:
  /// Throws linalg::Stopped, Infeasible where a candidate has no variance within the classes, Error where B
  /// does not fit.
  SweepProblem(const Pencil& pencil, const SearchUnits& units, const ExactRun& run, const RunControl& control,
               const ExactHooks& exact_hooks);

  [[nodiscard]] Index size() const { return static_cast<Index>(features_.size()); }
  [[nodiscard]] Index columns() const { return m_.cols(); }  ///< of M
  [[nodiscard]] SweepKind kind() const { return kind_; }
  [[nodiscard]] bool by_blocks() const { return b_.size() == 0; }
  [[nodiscard]] const Matrix& b() const { return b_; }
  [[nodiscard]] const Matrix& m() const { return m_; }
  /// What is in every variance, as a fraction of it: B - diag(ridge()) is positive semidefinite. Empty: none.
  [[nodiscard]] const Vector& ridge() const { return ridge_; }
  [[nodiscard]] Criterion criterion() const { return criterion_; }
  /// What rounding may have done to an entry of B, whose diagonal is 1.
  [[nodiscard]] double entry_error() const { return gamma_; }
  /// The largest number of linearly independent features there can be.
  [[nodiscard]] Index most_features() const { return most_features_; }
  [[nodiscard]] const ExactHooks& hooks() const { return hooks_; }
  /// The card on which all sets of its sizes are tried, or null.
  [[nodiscard]] const CardSweep* card() const { return card_.get(); }
  /// The units in the order in which they stand on the card, the included one first; empty: as they are.
  [[nodiscard]] const std::vector<Index>& card_order() const { return card_order_; }

  /// `units` ascending. From scratch; with more digits where its features nearly depend on each other.
  [[nodiscard]] SweepValue evaluate(const std::vector<Index>& units) const;
  /// The largest eigenvalue that a single feature has.
  [[nodiscard]] double largest_alone() const { return a_diagonal_.maxCoeff(); }
  /// Whether the classes differ in any of these features.
  [[nodiscard]] bool separate(const std::vector<std::int32_t>& units) const;
  [[nodiscard]] bool alike(Index u, Index v) const;
  [[nodiscard]] double monotone_image_to_criterion(double value) const;
  void fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const;

  /// The node with `threshold` > 0 as what its sets have to beat. Features that surely depend on the kept
  /// ones are left out; nothing where the kept ones depend on each other.
  [[nodiscard]] std::optional<SweepNode> node(const std::vector<std::int32_t>& kept,
                                              const std::vector<std::int32_t>& free, double threshold) const;
  /// Rows [first, first + count) of the node's free features against [begin, begin + width): x1 (and x2) as
  /// width x count. For by_blocks().
  void block(const SweepNode& node, Index first, Index count, Index begin, Index width, Matrix& x1,
             Matrix& x2) const;
  [[nodiscard]] double node_bytes() const;  ///< of one node, at most

 private:
  void open_card(const Pencil& pencil, const SearchUnits& units, const ExactRun& run);
  void take_matrix(const Pencil& pencil, const ExactRun& run, const RunControl& control);
  [[nodiscard]] Matrix rows_of(const std::vector<Index>& units) const;
  [[nodiscard]] Matrix within(const std::vector<Index>& units) const;
  [[nodiscard]] Matrix between(const std::vector<Index>& units) const;
  [[nodiscard]] double of(const Matrix& t) const;
  [[nodiscard]] SweepValue evaluate_precisely(const std::vector<Index>& units) const;

  const Pencil* pencil_;
  ExactHooks hooks_;
  Criterion criterion_;
  SweepKind kind_ = SweepKind::kDefinite;
  std::vector<Index> features_;  ///< of every unit its place in the pencil
  Vector scale_;                 ///< 1/sqrt(B_jj)
  Matrix m_;                     ///< n x r, scaled
  PaddedMatrix b_, a_;           ///< scaled; a_ only where A has no factor
  Vector a_diagonal_;            ///< scaled
  Vector ridge_;
  double gamma_ = 0.0;  ///< the error of an entry of B, whose diagonal is 1
  Index most_features_ = 0;
  std::unique_ptr<CardSweep> card_;
  std::vector<Index> card_order_;
};

}  // namespace subspectra::search
