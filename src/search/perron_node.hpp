#pragma once
/// A node of the tree of sparse PCA, as a visit holds it: the kept units I, the free ones F of which g = k -
/// |I| are to be chosen, and the matrix C that the free ones look like from the kept ones
/// (perron_explorer.cpp says why). C belongs to one lambda, the value to beat when it was made; where that
/// does not exceed lambda_max(A_I), C is A_FF itself.
#include <cstdint>
#include <vector>

#include "search/perron_problem.hpp"
#include "search/row_bounded_matrix.hpp"

namespace subspectra::search {

struct PerronNode {
  static constexpr Index kNever = Index{1} << 40;

  std::vector<std::int32_t> kept;   ///< units, in the order they were kept
  std::vector<std::int32_t> units;  ///< free, ascending
  std::vector<Index> begin;         ///< rows begin[e]..begin[e + 1] are the features of units[e]
  Index left = 0;                   ///< g: so many of `units` are still to be chosen
  RowBoundedMatrix residual;        ///< C
  RowBoundedMatrix floored;         ///< C + W with W positive semidefinite
  bool has_floor = false;
  double floor = -kInfinity;                       ///< mu of the last floor on the way here
  Index floor_rows = kNever, floor_left = kNever;  ///< when it was raised
  std::vector<double> x;                           ///< near the leading eigenvector of C
  double lambda = -kInfinity;                      ///< C belongs to it; -infinity: C is A_FF itself
  double built_for = -kInfinity;                   ///< the cut when C was made
  double kept_value = -kInfinity;                  ///< lambda_max(A_I), where C is A_FF
  double cross = -1.0;                             ///< there: at least |A_IG|; negative: not known yet
  double bound = kInfinity;                        ///< no set of the node is better

  [[nodiscard]] Index count() const { return static_cast<Index>(units.size()); }
  [[nodiscard]] Index rows() const { return begin.back(); }
  [[nodiscard]] Index k() const { return static_cast<Index>(kept.size()) + left; }
  [[nodiscard]] bool reduced() const { return lambda > -kInfinity; }

  /// The node of the engine, with `cut` as the value to beat; its bound is not taken over.
  void start(const PerronProblem& problem, const OpenNode& open, double cut);
  /// C at lambda = cut, if that is above lambda_max(A_I); else A_FF.
  void build(const PerronProblem& problem, double cut);
  /// Becomes the node that keeps units[e] of `from` as well.
  void keep(const PerronProblem& problem, const PerronNode& from, Index e, double cut);
  /// Takes the units marked in `gone` out of the free ones, in place.
  void drop(const PerronProblem& problem, const std::vector<char>& gone);

 private:
  void number_rows(const PerronProblem& problem);
};

}  // namespace subspectra::search
