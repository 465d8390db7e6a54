#include "search/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "eigen/leading.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "search/perron_bound.hpp"
#include "search/rounding.hpp"
#include "spectral/renormalize.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {
namespace {

constexpr Index kMostDense = 5000;  // beyond it no p x p work for a bound
constexpr Index kMostSpectrum = 2000;
/// Computed bounds are moved outwards by this fraction: what rounding may have taken from them.
constexpr double kOutwards = 1e-10;
/// An eigenvalue below this fraction of the largest may be rounding.
constexpr double kNothing = 1e4 * kEpsilon;

/// c n 2^-52 / lambda_min of the correlations: a Cholesky factor of n columns with a unit diagonal is exact
/// for a matrix that differs by at most some n 2^-52 (Higham, Accuracy and Stability, Theorem 10.6), the
/// moments themselves by as much, and a'H^{-1}a changes by 1/lambda_min(H) times that, relatively.
double relative_rounding(Index n, double inverse) {
  constexpr double kConstant = 16.0;
  const double error = kConstant * static_cast<double>(n) * kEpsilon * inverse;
  return error < 1.0 ? error : kInfinity;
}

/// Partial sums of values sorted by `order`.
std::vector<double> partial_sums(std::vector<double> values, bool largest_first) {
  if (largest_first) {
    std::sort(values.begin(), values.end(), std::greater<>());
  } else {
    std::sort(values.begin(), values.end());
  }
  std::partial_sum(values.begin(), values.end(), values.begin());
  return values;
}

/// How far below zero the eigenvalues of A may lie: nothing for a table; a covariance matrix that was given
/// is accepted down to this fraction of its largest variance.
double dip(const Pencil& pencil) {
  return pencil.rows() != nullptr || pencil.a_diagonal().size() == 0
             ? 0.0
             : kForgivenDip * pencil.a_diagonal().cwiseAbs().maxCoeff();
}

/// An upper bound on lambda_max of the matrix over these features, without p x p work when they are many.
double largest_eigenvalue_bound(const std::function<Matrix(const std::vector<Index>&)>& block,
                                const CovarianceOperator* rows, double shift, const Vector& diagonal,
                                double below_zero, const std::vector<Index>& features, int threads) {
  const auto n = static_cast<Index>(features.size());
  double trace = static_cast<double>(n - 1) * below_zero;
  for (const Index j : features) trace += diagonal[j];
  if (rows != nullptr && rows->rows() < n && rows->rows() <= kMostDense && !rows->outgrows_memory()) {
    const Matrix gram = rows->gram(features, threads);
    return std::min(trace, (leading_pairs(gram, 1).values[0] + shift) * (1.0 + kOutwards));
  }
  if (n > kMostDense) return trace;
  return std::min(trace, leading_pairs(block(features), 1).values[0] * (1.0 + kOutwards));
}

/// The criterion from T for r = 1, and back.
double to_criterion(Criterion criterion, double t) {
  return criterion == Criterion::kWilks ? std::log1p(t) : t;
}
double from_criterion(Criterion criterion, double f) {
  return criterion == Criterion::kWilks ? std::expm1(f) : f;
}

class Certifier {
 public:
  Certifier(const Pencil& pencil, const SearchUnits& units, const RootLosses* root,
            const CertificateOptions& options)
      : pencil_(pencil), units_(units), root_(root), options_(options), features_(units.features()) {
    if (root == nullptr || root->precise || !std::isfinite(root->correlation_inverse)) return;
    const auto n = static_cast<Index>(features_.size());
    const double moved =
        rounding_of_bounds(n, rows_of_moments(pencil), root->correlation_norm * root->correlation_inverse);
    root_outwards_ = std::max(
        kOutwards, moved <= kRoundingBudget ? moved : relative_rounding(n, root->correlation_inverse));
  }

  std::vector<SizeBounds> run() {
    bounds_.resize(static_cast<std::size_t>(options_.k.hi - options_.k.lo + 1));
    if (root_ != nullptr) from_root();
    if (pencil_.factor() != nullptr) {
      from_single_scores();
      if (options_.lower) lower_lda();
    } else {
      from_variances();
      if (options_.lower) lower_pca();
    }
    return std::move(bounds_);
  }

 private:
  template <class Bound>
  void add(std::vector<SizeBounds::Named> SizeBounds::*list, const char* name, Bound bound) {
    for (Index k = options_.k.lo; k <= options_.k.hi; ++k) {
      const double value = bound(k);
      if (std::isfinite(value)) {
        (bounds_[static_cast<std::size_t>(k - options_.k.lo)].*list).emplace_back(name, value);
      }
    }
  }
  [[nodiscard]] double outwards(double value) const { return value * (1.0 + kOutwards); }

  /// What all candidates reach together (inclusion principle), less what dropping must cost.
  void from_root() {
    const auto fixed = units_.included();
    std::vector<double> losses;
    for (Index u = 0; u < root_->losses.size(); ++u) {
      if (fixed[static_cast<std::size_t>(u)] == 0) losses.push_back(root_->losses[u]);
    }
    std::sort(losses.begin(), losses.end());
    add(&SizeBounds::upper, "inclusion", [&](Index) { return root_->value * (1.0 + root_outwards_); });
    if (root_->losses.size() == 0) return;
    // Any D that is dropped costs at least its dearest member: the d-th smallest loss.
    add(&SizeBounds::upper, "single-drop", [&](Index k) {
      const auto drop = units_.count() - k;
      return drop == 0
                 ? kInfinity
                 : root_->value - losses[static_cast<std::size_t>(drop - 1)] + root_outwards_ * root_->value;
    });
    // Two classes: loss_D = u_D' P_DD^{-1} u_D >= sum of the d smallest losses / lambda_max(R).
    if (pencil_.factor() == nullptr || pencil_.factor()->cols() != 1 || !units_.single ||
        !std::isfinite(root_->inverse_correlation)) {
      return;
    }
    const double t = from_criterion(options_.criterion, root_->value);
    std::vector<double> plain;
    plain.reserve(losses.size());
    for (const double loss : losses)
      plain.push_back(t - from_criterion(options_.criterion, root_->value - loss));
    plain = partial_sums(std::move(plain), false);
    add(&SizeBounds::upper, "drop-sum", [&](Index k) {
      const auto drop = units_.count() - k;
      if (drop == 0) return kInfinity;
      const double loss = plain[static_cast<std::size_t>(drop - 1)] / root_->inverse_correlation;
      return to_criterion(options_.criterion, std::max(0.0, t - loss + root_outwards_ * t));
    });
  }

  /// Built up: T_S = M_S'B_S^{-1}M_S, so that tr T_S <= (sum of its |M_i|^2/B_ii)/lambda_min(correlation of
  /// B); a set of one is its own score.
  void from_single_scores() {
    if (!units_.single) return;
    std::vector<double> scores;
    double largest_diagonal = 0.0;
    for (const Index j : features_) {
      scores.push_back(pencil_.a_diagonal()[j] / pencil_.diagonal()[j]);
      largest_diagonal = std::max(largest_diagonal, pencil_.diagonal()[j]);
    }
    const auto sums = partial_sums(std::move(scores), true);
    double inverse = root_ != nullptr ? root_->correlation_inverse : kInfinity;
    if (pencil_.shift() > 0.0) inverse = std::min(inverse, largest_diagonal / pencil_.shift());
    const auto r = static_cast<double>(pencil_.factor()->cols());
    add(&SizeBounds::upper, "scores", [&](Index k) {
      const double trace = sums[static_cast<std::size_t>(k - 1)] *
                           (k == 1 ? 1.0 : inverse * (1.0 + (root_outwards_ - kOutwards)));
      if (options_.criterion != Criterion::kWilks) return outwards(trace);
      return outwards(k == 1 ? std::log1p(trace) : r * std::log1p(trace / r));  // the logarithm is concave
    });
  }

  void from_variances() {
    const bool identity = pencil_.b_is_identity();
    if (units_.single && !identity) {
      double best = 0.0;
      for (const Index j : features_) best = std::max(best, pencil_.a_diagonal()[j] / pencil_.diagonal()[j]);
      add(&SizeBounds::upper, "scores", [&](Index k) { return k == 1 ? outwards(best) : kInfinity; });
    }
    if (!identity) return;
    const auto sums = variance_sums(pencil_, units_);
    add(&SizeBounds::upper, "variances", [&](Index k) { return sums[static_cast<std::size_t>(k - 1)]; });
    const auto n = static_cast<Index>(features_.size());
    if (root_ == nullptr) {
      const double whole = largest_eigenvalue_bound(
          [&](const auto& f) { return pencil_.a_block(f, options_.threads); }, pencil_.rows(), 0.0,
          pencil_.a_diagonal(), dip(pencil_), features_, options_.threads);
      add(&SizeBounds::upper, "inclusion", [&](Index) { return whole; });
    }
    if (!units_.single || n > kMostDense) return;
    std::vector<Index> places(static_cast<std::size_t>(n));
    std::iota(places.begin(), places.end(), Index{0});
    const Matrix a = pencil_.a_block(features_, options_.threads);
    const Vector perron = perron_bounds(a, places, units_.include, options_.k.lo, options_.k.hi,
                                        options_.threads, options_.control);
    add(&SizeBounds::upper, "perron", [&](Index k) { return outwards(perron[k - options_.k.lo]); });
    if (options_.lower) from_norms(a);
    // Nesting (B diagonal): some member of the best set of k can go for at most a k-th of its value.
    if (!units_.include.empty()) return;  // what can go might be an included one
    for (std::size_t i = 1; i < bounds_.size(); ++i) {
      const Index k = options_.k.lo + static_cast<Index>(i);
      if (const auto* before = bounds_[i - 1].best_upper(); before != nullptr && k >= 2) {
        const auto size = static_cast<double>(k);  // (k - 1)(lambda_k + dip) <= k (lambda_{k-1} + dip)
        bounds_[i].upper.emplace_back("nesting", (before->second * size + dip(pencil_)) / (size - 1.0));
      }
    }
  }

  /// For the record beside Perron's, which is never above the first: lambda_max(A_S) is at most the largest
  /// sum of k of the |a_ij| in a row (its own a_ii among them), and at most the Frobenius norm, whose square
  /// is at most the sum of the k largest row sums of a_ii^2 and the k - 1 largest other a_ij^2.
  void from_norms(const Matrix& a) {
    const Index n = a.rows();
    Matrix sums(n, n), squares(n, n);  // column i: over the first 1, 2, ... entries of row i
    for (Index i = 0; i < n; ++i) {
      Vector row = a.col(i).cwiseAbs();
      std::swap(row[0], row[i]);
      std::sort(row.data() + 1, row.data() + n, std::greater<>());
      std::partial_sum(row.data(), row.data() + n, sums.col(i).data());
      row = row.cwiseAbs2().eval();
      std::partial_sum(row.data(), row.data() + n, squares.col(i).data());
    }
    add(&SizeBounds::upper, "row sums", [&](Index k) { return outwards(sums.row(k - 1).maxCoeff()); });
    add(&SizeBounds::upper, "frobenius", [&](Index k) {
      std::vector<double> of_rows(static_cast<std::size_t>(n));
      for (Index i = 0; i < n; ++i) of_rows[static_cast<std::size_t>(i)] = squares(k - 1, i);
      return outwards(std::sqrt(partial_sums(std::move(of_rows), true)[static_cast<std::size_t>(k - 1)]));
    });
  }

  /// ICCV07 Eq. 5, repaired: a_S'B_S^{-1}a_S >= |a_S|^2/lambda_max(B); and Theorem 1: the k-th smallest
  /// eigenvalue.
  void lower_lda() {
    if (units_.single && pencil_.factor()->cols() == 1) {
      const double scale = largest_eigenvalue_bound(
          [&](const auto& f) { return pencil_.block(f, options_.threads); }, pencil_.rows(), pencil_.shift(),
          pencil_.diagonal(), 0.0, features_, options_.threads);
      std::vector<double> squares;
      for (const Index j : features_) squares.push_back(pencil_.a_diagonal()[j]);
      const auto smallest = partial_sums(squares, false);
      const auto largest = partial_sums(squares, true);
      const auto bound = [&](const std::vector<double>& sums) {
        return [&, scale](Index k) {
          return to_criterion(options_.criterion, sums[static_cast<std::size_t>(k - 1)] / scale);
        };
      };
      add(&SizeBounds::lower_any, "two-class", bound(smallest));
      if (units_.include.empty()) add(&SizeBounds::lower_best, "two-class-best", bound(largest));
    }
    if (root_ != nullptr && units_.single && options_.criterion == Criterion::kLargest) {
      add(&SizeBounds::lower_any, "inclusion", [&](Index k) {
        const Index from_top = units_.count() - k;  // lambda_k of n is this many below the largest
        if (from_top >= root_->eigenvalues.size()) return 0.0;
        // Every one of them carries the rounding of the largest.
        const double value = root_->eigenvalues[from_top];
        if (value < kNothing * root_->eigenvalues[0]) return 0.0;
        return value * std::max(0.0, 1.0 - root_outwards_);
      });
    }
  }

  void lower_pca() {
    const auto n = static_cast<Index>(features_.size());
    if (!units_.single || n > kMostSpectrum || !pencil_.b_is_identity()) return;
    const Vector values = linalg::symmetric_eigen(pencil_.a_block(features_, options_.threads), false).values;
    const double rounding = kNothing * values[n - 1];
    add(&SizeBounds::lower_any, "inclusion",
        [&](Index k) { return values[k - 1] > rounding ? values[k - 1] * (1.0 - kOutwards) : 0.0; });
    if (units_.include.empty()) {
      add(&SizeBounds::lower_best, "nesting", [&](Index k) {
        return values[n - 1] * static_cast<double>(k) / static_cast<double>(n) * (1.0 - kOutwards);
      });
    }
  }

  const Pencil& pencil_;
  const SearchUnits& units_;
  const RootLosses* root_;
  const CertificateOptions& options_;
  std::vector<Index> features_;
  double root_outwards_ = kOutwards;  ///< what rounding may have taken from bounds that start from all
  std::vector<SizeBounds> bounds_;
};

}  // namespace

std::vector<SizeBounds> certificate(const Pencil& pencil, const SearchUnits& units, const RootLosses* root,
                                    const CertificateOptions& options) {
  return Certifier(pencil, units, root, options).run();
}

std::vector<double> variance_sums(const Pencil& pencil, const SearchUnits& units) {
  struct Reach {
    double trace = 0.0, size = 0.0;
  };
  std::vector<Reach> reaches;
  reaches.reserve(units.members.size());
  const double below_zero = dip(pencil);
  for (const auto& unit : units.members) {
    Reach reach{.size = static_cast<double>(unit.size())};
    for (const Index j : unit) reach.trace += pencil.a_diagonal()[j];
    reaches.push_back(reach);
  }
  const auto most = [&](const Reach& reach) { return reach.trace + reach.size * below_zero; };
  std::sort(reaches.begin(), reaches.end(),
            [&](const Reach& a, const Reach& b) { return most(a) > most(b); });
  // The dip is added to what it is added to in the end: it may be far above the variances of some candidates.
  std::vector<double> sums;
  Reach all;
  for (const Reach& reach : reaches) {
    all.trace += reach.trace;
    all.size += reach.size;
    sums.push_back((all.trace + (all.size - 1.0) * below_zero) * (1.0 + kOutwards));
  }
  return sums;
}

bool variances_have_digits(const Pencil& pencil, const std::vector<Index>& features) {
  const CovarianceOperator* const rows = pencil.origin().rows();
  if (rows == nullptr) return true;
  // Summed around a mean that rounding moves by 2^-52 of itself a variance is off by the square of that.
  constexpr double kFarthest = 1e8;
  const Moments& moments = rows->moments();
  const Vector variances = ridge_variances(moments);
  return std::none_of(features.begin(), features.end(), [&](Index j) {
    return moments.class_means().row(j).cwiseAbs().maxCoeff() > kFarthest * std::sqrt(variances[j]);
  });
}

bool digits_suffice(const Pencil& pencil, const std::vector<Index>& features, const RootLosses* root,
                    int threads) {
  if (pencil.b_is_identity() || features.size() < 2) return true;
  if (!variances_have_digits(pencil, features)) return false;
  const double trusted = trusted_condition(static_cast<Index>(features.size()), rows_of_moments(pencil));
  if (root != nullptr && std::isfinite(root->correlation_inverse))
    return root->correlation_norm * root->correlation_inverse <= trusted;
  if (static_cast<Index>(features.size()) > kMostDense)
    return true;  // no bound there starts from all of them
  Matrix c = pencil.block(features, threads);
  const Vector per_unit = c.diagonal().cwiseSqrt().cwiseInverse();
  c = (per_unit.asDiagonal() * c * per_unit.asDiagonal()).eval();
  c.diagonal().array() -= c.cwiseAbs().rowwise().sum().maxCoeff() / trusted;
  return c.allFinite() && linalg::cholesky_tiled(c, threads);
}

bool root_affordable(const Pencil& pencil, Index candidates) {
  if (candidates <= kMostDense) return true;
  return pencil.rows() != nullptr && pencil.shift() > 0.0 && pencil.rows()->rows() <= kMostDense &&
         candidates > 2 * pencil.rows()->rows();
}

}  // namespace subspectra
