#pragma once
/// The criterion of a factor pencil, T = M_S' B_S^{-1} M_S (r x r), and what becomes of it when one feature
/// enters (T + C_i'C_i/d_i) or leaves (T - U_i'U_i/P_ii).
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include "core/types.hpp"

namespace subspectra::search {

/// Values that agree to this fraction are a tie, and ties go to the lowest index.
inline constexpr double kTie = 1e-12;

class Scorer {
 public:
  /// sign +1: features enter, -1: they leave.
  Scorer(Criterion criterion, double sign, Matrix t);

  [[nodiscard]] double value() const { return value_; }  ///< of T; refresh_if_needed() first
  void change(const Eigen::RowVectorXd& c, double d);    ///< T += sign c'c/d
  void reset(Matrix t);
  void refresh_if_needed();

  /// The criterion after T + sign Y'Y.
  [[nodiscard]] double after(const Matrix& y) const;

  struct Best {
    std::vector<Index>
        tied;  ///< rows whose value is the best to rounding, ascending; empty when none is usable
    double value = -kInfinity;
  };
  /// The best row i among the usable ones (all when `usable` is empty): the criterion after T + sign
  /// C_i'C_i/d_i. One pass for r = 1, trace and wilks; for lambda_max with r > 1 a two-pole bound for every
  /// row and the secular equation for those that can still win.
  [[nodiscard]] Best best(const MatrixRef& c, const VectorRef& d, const std::vector<char>& usable) const;

 private:
  [[nodiscard]] bool scalar() const { return t_.rows() == 1 || criterion_ != Criterion::kLargest; }
  [[nodiscard]] Vector numerators(const MatrixRef& c) const;
  [[nodiscard]] double wilks_scale() const { return t_.rows() == 1 ? 1.0 + t_(0, 0) : 1.0; }
  [[nodiscard]] double after_scalar(double q) const;
  [[nodiscard]] double exact_largest(const Eigen::RowVectorXd& c, double d) const;
  [[nodiscard]] double evaluate(const Matrix& t) const;
  void refresh();

  Criterion criterion_;
  double sign_;
  Matrix t_;
  bool dirty_ = false;
  double value_ = 0.0;
  Vector values_;    ///< eigenvalues of T, descending
  Matrix vectors_;   ///< in that order
  Matrix whitener_;  ///< (I + T)^{-1} = whitener whitener'
};

}  // namespace subspectra::search
