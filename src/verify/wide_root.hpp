#pragma once
/// What can be said of sets of thousands of candidates without a matrix of that size: of all of them
/// together, and of all but one.
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "verify/long_algebra.hpp"

namespace subspectra::verify {

/// LDA with a ridge: B = D + Z'Z, D the ridge, Z the rows less their class means. With both sides divided by
/// D^{1/2}, H = (I + ZZ')^{-1} (N x N) and B^{-1} = I - Z'HZ,
///     T = M'M - (ZM)'H(ZM),   U = M - Z'H(ZM),   P_jj = 1 - z_j'H z_j.           (4)
/// Nothing is above the bound when T is not; or when more than k single features each take T below it; or
/// when the k largest |M_j|^2 do not reach it (B >= I).
class WideRoot {
 public:
  /// Rows^2 x features: what it may cost.
  static constexpr double kMostWork = 4e9;
  WideRoot(const Dataset& data, const std::vector<Index>& features, const RidgeAmount& ridge,
           Criterion criterion);
  [[nodiscard]] const std::string& unusable() const { return unusable_; }
  /// Proves that no set of `k` features, `forced` of which are given, is above the bound; false says nothing.
  [[nodiscard]] bool settles(Index k, Index forced, double bound) const;

 private:
  Criterion criterion_;
  std::string unusable_;
  LongMatrix t_, without_;                    ///< T; column j: T without feature j
  std::vector<Long> traces_, trace_of_each_;  ///< descending: |M_j|^2, and the same over B_jj
  LongError error_;
};

/// Covariances: the largest variances, and the largest eigenvalue of all together from the N x N products of
/// the rows.
class WideVariances {
 public:
  static constexpr Index kMostRows = 1500;
  WideVariances(const Dataset& data, const std::vector<Index>& features);
  [[nodiscard]] bool settles(Index k, double bound) const;

 private:
  std::vector<double> sums_;  ///< of the k largest variances
  double largest_ = 0.0;
};

}  // namespace subspectra::verify
