#pragma once
/// Pairs with a B: whether any set of k units is above a bound, from all candidates downwards. Every
/// criterion grows with the set, so that nothing above the bound is left once a superset is not.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include "verify/enumeration.hpp"  // Choices

namespace subspectra::verify {

/// P = B^{-1} over the candidates, U = P M, T = M'P M, A = M M'; dropping the features of a unit g from a set
/// costs T the matrix C'C,
///     P_gg = R'R,   C = R^{-T} U_g,   T - C'C,                                  (3)
/// and the rest becomes P - P_g P_gg^{-1} P_g', U - P_g P_gg^{-1} U_g. A node is a superset whose units are
/// either kept for good or free. A free unit without which the superset is not above the bound is kept; more
/// than k kept ones end the node. Of the others the dearest is dropped first: child t drops the t-th and
/// keeps those before it.
class DropSearch {
 public:
  static constexpr Index kMostFeatures = 800;  ///< a root is n^3 operations in extended precision,
  static constexpr Index kMostBranched = 300;  ///< and there are as many n x n matrices as a branch is deep

  /// `pair` and `control` must outlive it. Up to kMostFeatures features.
  DropSearch(const DensePair& pair, const Choices& choices, Criterion criterion, const RunControl& control);

  /// Why it has too few digits for these data; "" when it has enough.
  [[nodiscard]] const std::string& unusable() const { return unusable_; }
  /// A set of `k` units, none of `known` (ascending places), above `bound`. It ends when the budget is
  /// spent.
  [[nodiscard]] BoundAnswer find_above(Index k, double bound, const SearchBudget& budget,
                                       std::set<std::vector<Index>> known);
  [[nodiscard]] double nodes() const { return nodes_; }  ///< in all calls
  [[nodiscard]] double work() const { return work_; }    ///< in all calls

 private:
  struct Node {
    std::vector<int> units;    ///< free ones
    std::vector<Index> begin;  ///< of each unit's features in P and U, and their number at the end
    LongMatrix p, u, t;
    LongMatrix without;      ///< column u: T without free unit u, column after column
    std::vector<Long> loss;  ///< of tr T, by free unit
  };

  void set_up(const DensePair& pair);
  [[nodiscard]] bool settled_at_root(Index k) const;
  [[nodiscard]] bool not_above(const Long* t) const;
  const LongMatrix& reduced(const Node& node, Index unit, const LongMatrix& x,
                            const std::vector<Index>& columns);
  void find_losses(Node& node);
  bool descend(std::size_t depth);
  void make_child(const Node& node, const std::vector<Index>& rest, Index t, Node& child);
  bool leaf(const std::vector<int>& more);
  bool go_on(double work);

  const Choices choices_;
  Criterion criterion_;
  const RunControl& control_;
  SetJudge judge_;
  std::string unusable_;
  Node root_;
  std::vector<Long> scores_;  ///< tr T of every unit alone, descending; empty where it does not serve
  Long largest_inverse_ = 0.0L, largest_correlation_ = 0.0L;  ///< eigenvalues of P and of its correlations
  LongError error_;                                           ///< of T
  // of one call
  Index k_ = 0;
  Long threshold_ = 0.0L;
  std::vector<int> kept_;
  std::vector<std::unique_ptr<Node>> stack_;
  LongMatrix reduced_;  ///< of reduced()
  double nodes_ = 0.0, work_ = 0.0, last_look_ = 0.0;
  SearchBudget limit_;
  BoundAnswer::End end_ = BoundAnswer::End::kNone;
};

}  // namespace subspectra::verify
