#pragma once
/// Covariances (B = I): whether the largest eigenvalue of any set of k units is above a bound.
#include <optional>
#include <set>
#include <vector>

#include <subspectra/run_control.hpp>
#include "verify/enumeration.hpp"  // Choices

namespace subspectra::verify {

/// For d > 0 no eigenvalue of A_S is above max_{i in S} (a_ii + sum_{j in S, j != i} |a_ij| d_j/d_i)
/// (Gershgorin's circles of D^{-1} A_S D). At a node some units are kept, some free, the rest dropped. Row i
/// sees at most the kept ones, its own unit, and the largest sums of as many free units as a set still has
/// room for; the largest row bounds every set below. d <- (d * row sums)^{1/2} brings it down.
///
/// By Cauchy's interlacing lambda_max of the kept and free ones together bounds every set below, too; and
/// with W = t I - A over them, one of whose eigenvalues is below 0, all without i are below t exactly when
/// (W^{-1})_ii = det W_{-i}/det W < 0: then i is in every set above t. Branches on a free unit: kept, or
/// dropped.
class RowSearch {
 public:
  static constexpr Index kMostFeatures = 1500;  ///< a node is some n^2 operations

  /// `pair` and `control` must outlive it.
  RowSearch(const DensePair& pair, const Choices& choices, const RunControl& control);

  /// As DropSearch::find_above.
  [[nodiscard]] BoundAnswer find_above(Index k, double bound, const SearchBudget& budget,
                                       std::set<std::vector<Index>> known);
  [[nodiscard]] double nodes() const { return nodes_; }  ///< in all calls
  [[nodiscard]] double work() const { return work_; }    ///< in all calls

 private:
  enum class Place : char { kKept, kFree, kDropped };

  /// The largest row sum over d, in `sums_` by row; lowered by `sweeps` new d.
  double row_bound(std::vector<double>& d, int sweeps);
  double largest_row(const std::vector<double>& d);
  /// Units without which the kept and free ones are not above the threshold; nothing where they are not above
  /// it even together.
  [[nodiscard]] std::optional<std::vector<std::size_t>> needed();
  bool descend(std::vector<double> d, int sweeps, bool fewer);
  bool branch(std::vector<double> d);
  bool leaf();
  bool go_on(double work);

  const Matrix& a_;
  Matrix absolute_;
  std::vector<std::vector<Index>> units_;  ///< forced ones first
  Index forced_ = 0;
  const RunControl& control_;
  SetJudge judge_;
  std::vector<int> unit_of_;  ///< by place in the matrix; -1: in none
  std::vector<Place> place_;  ///< by unit
  Index kept_ = 0, free_ = 0, k_ = 0;
  double threshold_ = 0.0;
  std::vector<double> sums_, unit_sums_;
  double nodes_ = 0.0, work_ = 0.0, last_look_ = 0.0;
  SearchBudget limit_;
  BoundAnswer::End end_ = BoundAnswer::End::kNone;
};

}  // namespace subspectra::verify
