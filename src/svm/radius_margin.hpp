#pragma once
/// Scaling factors of the features that minimize the radius-margin bound on the leave-one-out error (Weston
/// et al. 2000; Chapelle et al. 2002): docs/methods/svm.md.
#include <vector>

#include <subspectra/rankers.hpp>
#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra {

/// The smallest ball around points with inner products K: centre sum_i beta_i x_i,
///     R^2 = max { sum_i beta_i K_ii - beta'K beta : beta >= 0, sum beta = 1 }.
struct EnclosingBall {
  Vector beta;                  ///< n
  double squared_radius = 0.0;  ///< at beta: from below
  double gap = 0.0;             ///< R^2 <= squared_radius + gap
  Index steps = 0;
};
/// By exchanges of two entries of beta, from `start` or from equal ones, until gap <= 1e-12 R^2.   O(n) a
/// step.
[[nodiscard]] EnclosingBall enclosing_ball(const MatrixRef& k, const Vector& start = {});

/// T = R^2 W^2 of the hard-margin machine in the space of K + I/(2 C), K_ij = sum_k s_k z_ik z_jk: the
/// machine whose squared losses count C beside |w|^2/2, with a free offset. With more than two classes W^2 is
/// the sum over the machines of one class against the rest.
struct RadiusMargin {
  double squared_radius = 0.0, squared_norm = 0.0;  ///< R^2, W^2
  Vector gradient;                                  ///< dT/ds, p
  [[nodiscard]] double value() const { return squared_radius * squared_norm; }
};

/// Evaluates T at one s after another, starting each time from the solutions of the last one.
class RadiusMarginBound {
 public:
  /// `z` n x p, standardized; kept by reference. `labels`: +-1, one a machine.
  RadiusMarginBound(const Matrix& z, std::vector<Vector> labels, double cost, int threads);
  /// n^2 p flops for K, |I|^3/3 a Newton step for W, O(n) an exchange for R.
  [[nodiscard]] double value(const VectorRef& s);
  /// At the s of the last value(), by the solutions found there:
  ///     dW^2/ds_k = -(sum_i a_i z_ik)^2,   dR^2/ds_k = sum_i beta_i z_ik^2 - (sum_i beta_i z_ik)^2.
  /// O(n p).
  [[nodiscard]] RadiusMargin at_last() const;

 private:
  const Matrix& z_;
  std::vector<Vector> labels_;
  double cost_;
  int threads_;
  std::vector<Vector> a_;  ///< one a machine
  EnclosingBall ball_;
  double squared_norm_ = 0.0;
};

struct RadiusMarginFit {
  Vector scales;               ///< p: sigma_j = sqrt(s_j), sum of s_j = p
  std::vector<Index> ranking;  ///< by falling scale, before rounding to 0; ties to the lowest index
  std::vector<double> trace;   ///< T at the start and after every iteration: it never rises
  bool converged = false;
};

/// Starts at s = 1 and takes steps s_k <- s_k exp(-eta dT/ds_k)/norm, which keep s >= 0 and sum s = p; eta is
/// halved until T falls enough, and doubled after a step that was taken at once. Ends when an iteration
/// lowers T by less than `tolerance` T. C must be finite: who calls has chosen it.
[[nodiscard]] RadiusMarginFit fit_radius_margin(const Matrix& z, const std::vector<int>& codes,
                                                const SvmRmb& options, int threads,
                                                const RunControl& control = {});

}  // namespace subspectra
