#include "reproduce/optimal_subsets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <subspectra/error.hpp>
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

namespace subspectra::reproduce {
namespace {

/// What a value has to be exceeded by to count as better.
constexpr double kResolution = 1e-10;

double largest_value(const Matrix& a, const Matrix& b, const std::vector<Index>& set) {
  const auto k = static_cast<Index>(set.size());
  Matrix l = b(set, set);
  if (!linalg::cholesky(l)) throw Infeasible("the matrix B is singular; the pair has no finite optimum");
  Matrix c = a(set, set);
  linalg::solve_lower(l, linalg::Op::kNone, c);
  linalg::solve_lower_right(l, c);
  return linalg::symmetric_eigen(std::move(c), false).values[k - 1];
}

class Enumeration {
 public:
  Enumeration(const Matrix& a, const Matrix& b) : a_(a), b_(b), n_(a.rows()) {
    levels_.assign(static_cast<std::size_t>(n_) + 1, Matrix(n_, n_));
  }

  double best(Index k, double start) {
    k_ = k;
    best_ = start;
    if (!(best_ > 0.0)) {  // any subset is a start
      chosen_.resize(static_cast<std::size_t>(k));
      for (Index i = 0; i < k; ++i) chosen_[static_cast<std::size_t>(i)] = i;
      best_ = largest_value(a_, b_, chosen_);
    }
    chosen_.clear();
    rebuild();
    visit(0);
    return best_;
  }

 private:
  Matrix& level() { return levels_[chosen_.size()]; }

  /// Schur complements of t B - A along the chosen prefix, for the present t.
  void rebuild() {
    const std::vector<Index> prefix = chosen_;
    chosen_.clear();
    levels_[0] = best_ * (1.0 + kResolution) * b_ - a_;
    for (const Index i : prefix) push(i);
  }

  void push(Index i) {
    const Matrix& from = level();
    Matrix& to = levels_[chosen_.size() + 1];
    const double pivot = from(i, i);
    for (Index c = i + 1; c < n_; ++c) {  // the lower triangle behind i
      const double f = from(c, i) / pivot;
      for (Index r = c; r < n_; ++r) to(r, c) = from(r, c) - f * from(r, i);
    }
    chosen_.push_back(i);
  }

  /// The exact value of the chosen ones and `last`, filled up with what follows it. True when t was raised.
  bool improved(Index last) {
    std::vector<Index> set = chosen_;
    for (Index i = last; static_cast<Index>(set.size()) < k_; ++i) set.push_back(i);
    const double value = largest_value(a_, b_, set);
    if (!(value > best_)) return false;
    best_ = value;
    rebuild();
    return true;
  }

  void visit(Index first) {
    const Index missing = k_ - static_cast<Index>(chosen_.size());
    for (Index i = first; i + missing <= n_; ++i) {
      if (missing == 1) {
        if (!(level()(i, i) > 0.0)) improved(i);
        continue;
      }
      // A pivot that stays at zero after the exact look is rounding at the resolution: go on with a tiny one.
      for (int tries = 0; !(level()(i, i) > 0.0) && tries < 8; ++tries) {
        if (!improved(i)) break;
      }
      if (!(level()(i, i) > 0.0)) level()(i, i) = kResolution * best_ * b_(i, i);
      push(i);
      visit(i + 1);
      chosen_.pop_back();
    }
  }

  const Matrix& a_;
  const Matrix& b_;
  Index n_, k_ = 0;
  double best_ = 0.0;
  std::vector<Index> chosen_;
  std::vector<Matrix> levels_;  ///< by number of chosen ones
};

void check_size(Index n) {
  if (n < 1 || n > kMostEnumerated) {
    throw InvalidArgument(
        fmt::format("all subsets of {} features: from 1 to {} are enumerated", n, kMostEnumerated));
  }
}

struct RangeSearch {
  const Vector& a;
  const Matrix& b;
  const Vector& threshold;
  SubsetRange& range;
  Matrix l;  ///< rows of the Cholesky factor of B over the chosen ones
  Vector u;  ///< L^{-1} a
  std::vector<Index> chosen = {};

  void visit(Index first, double value) {
    const auto m = static_cast<Index>(chosen.size());
    for (Index i = first; i < a.size(); ++i) {
      double pivot = b(i, i);
      double rest = a[i];
      for (Index r = 0; r < m; ++r) {
        double w = b(chosen[static_cast<std::size_t>(r)], i);
        for (Index c = 0; c < r; ++c) w -= l(r, c) * l(m, c);
        w /= l(r, r);
        l(m, r) = w;
        pivot -= w * w;
        rest -= w * u[r];
      }
      if (!(pivot > 0.0)) throw Infeasible("the within-class covariance is singular");
      l(m, m) = std::sqrt(pivot);
      u[m] = rest / l(m, m);
      const double with = value + u[m] * u[m];
      range.least[m] = std::min(range.least[m], with);
      range.most[m] = std::max(range.most[m], with);
      if (with < threshold[m]) ++range.below[static_cast<std::size_t>(m)];
      chosen.push_back(i);
      visit(i + 1, with);
      chosen.pop_back();
    }
  }
};

}  // namespace

Vector best_subset_values(const Matrix& a, const Matrix& b, const Vector& start) {
  const Index n = a.rows();
  check_size(n);
  Enumeration enumeration(a, b);
  Vector best(n);
  for (Index k = 1; k <= n; ++k) {
    best[k - 1] = enumeration.best(k, start.size() == n ? start[k - 1] : 0.0);
  }
  return best;
}

SubsetRange two_class_range(const Vector& a, const Matrix& b, const Vector& threshold) {
  const Index n = a.size();
  check_size(n);
  SubsetRange range{.least = Vector::Constant(n, kInfinity),
                    .most = Vector::Zero(n),
                    .below = std::vector<Index>(static_cast<std::size_t>(n))};
  RangeSearch{.a = a, .b = b, .threshold = threshold, .range = range, .l = Matrix(n, n), .u = Vector(n)}
      .visit(0, 0.0);
  return range;
}

}  // namespace subspectra::reproduce
