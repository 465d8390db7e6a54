#include "search/perron_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"
#include "search/perron_rows.hpp"
#include "search/top_sum.hpp"

namespace subspectra {
namespace {

constexpr Index kRows = 32;          // of an item
constexpr int kSweeps = 12;          // at most, for one k
constexpr double kProgress = 1e-4;   // relative: a sweep that gains less is the last
constexpr double kSmallest = 1e-12;  // of d, relative to its largest entry: any d > 0 is valid

/// |A| over the candidates, those to include first: its columns of those apart, and the others as rows of one
/// stride with zeros on the diagonal, which every row takes anyway.
class Rows {
 public:
  Rows(const MatrixRef& a, const std::vector<Index>& candidates, const std::vector<Index>& include,
       int threads)
      : fixed_(static_cast<Index>(include.size())), threads_(threads) {
    std::vector<Index> order = include;
    std::set_difference(candidates.begin(), candidates.end(), include.begin(), include.end(),
                        std::back_inserter(order));
    const auto n = static_cast<Index>(order.size()), free = n - fixed_;
    stride_ = search::rows::padded(free);
    columns_ = a(include, order).cwiseAbs();
    own_.resize(n);
    sums_.resize(n);
    free_.assign(static_cast<std::size_t>(stride_ * n), 0.0);
    threshold_.assign(static_cast<std::size_t>(n), 0.0);
    next_.assign(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
    last_.resize(n);
    for (Index i = 0; i < n; ++i) {
      const auto column = a.col(order[static_cast<std::size_t>(i)]);
      Eigen::Map<Vector> row(free_.data() + i * stride_, free);
      for (Index j = 0; j < free; ++j) row[j] = std::abs(column[order[static_cast<std::size_t>(fixed_ + j)]]);
      own_[i] = std::abs(column[order[static_cast<std::size_t>(i)]]);
      sums_[i] = columns_.col(i).sum() + row.sum();
      if (i >= fixed_) row[i - fixed_] = 0.0;
    }
  }

  [[nodiscard]] Index size() const { return own_.size(); }
  /// Variances and covariances with all others: a fair first guess at the squares of the Perron vector.
  [[nodiscard]] Vector first_guess() const { return sums_ / static_cast<double>(size()) + own_; }

  /// F(d) for sets of k, and max F_i/d_i over the rows that such a set can have. A row keeps the threshold of
  /// its last sum, so that most of the next ones take one pass over it, and the weight that came next: with
  /// the same d that is all that F for one more feature adds, and no row is read where it is known.
  double apply(const Vector& d, Index k, bool one_more, Vector& f) {
    constexpr int kPasses = 100;  // the sum is exact long before
    const Index n = size(), fixed = fixed_;
    const Index rows = k > fixed ? n : fixed;  // with k = |include| no other row is in the set
    std::vector<double> free(static_cast<std::size_t>(stride_), 0.0);
    std::copy(d.begin() + fixed, d.end(), free.begin());
    f = d;
    parallel_for((rows + kRows - 1) / kRows, threads_, [&](Index item) {
      for (Index i = item * kRows; i < std::min(rows, (item + 1) * kRows); ++i) {
        double& next = next_[static_cast<std::size_t>(i)];
        if (one_more && !std::isnan(next)) {
          f[i] = last_[i] += next;
          next = std::numeric_limits<double>::quiet_NaN();
          continue;
        }
        const double* row = free_.data() + i * stride_;
        double sum = i < fixed ? 0.0 : own_[i] * d[i];
        for (Index j = 0; j < fixed; ++j) sum += columns_(j, i) * d[j];
        const Index slots = k - fixed - (i < fixed ? 0 : 1);
        f[i] = last_[i] = sum + search::top_sum(row, free.data(), stride_, slots, kPasses,
                                                threshold_[static_cast<std::size_t>(i)], &next);
      }
    });
    double bound = 0.0;
    for (Index i = 0; i < rows; ++i) bound = std::max(bound, f[i] / d[i]);
    return bound * (1.0 + 4e-16 * static_cast<double>(k + 4));  // the rounding of a sum of k products
  }

 private:
  Index fixed_, stride_ = 0;
  int threads_;
  Matrix columns_;  ///< fixed x n
  std::vector<double> free_, threshold_;
  std::vector<double> next_;  ///< the largest weight that the last sum of a row left out; NaN: not known
  Vector own_, sums_, last_;  ///< last_: F(d) as apply() gave it
};

}  // namespace

Vector perron_bounds(const MatrixRef& a, const std::vector<Index>& candidates,
                     const std::vector<Index>& include, Index lo, Index hi, int threads,
                     const RunControl* control) {
  const auto n = static_cast<Index>(candidates.size());
  if (lo < 1 || lo > hi || hi > n || lo < static_cast<Index>(include.size())) {
    throw InvalidArgument(fmt::format(
        "perron_bounds: sizes {}..{} do not lie between the {} features to include (at least 1) and the {} candidates",
        lo, hi, include.size(), n));
  }
  Rows rows(a, candidates, include, threads);
  Vector bounds = Vector::Constant(hi - lo + 1, kInfinity), f;
  Vector d = rows.first_guess().cwiseSqrt();
  const auto positive = [&] {
    const double largest = d.maxCoeff();
    d = largest > 0.0 ? Vector((d / largest).cwiseMax(kSmallest)) : Vector(Vector::Ones(n));
  };
  positive();
  bool same_d = false;  // as in the last sweep, which was for k - 1
  for (Index k = lo; k <= hi && !(control != nullptr && k > lo && control->should_stop()); ++k) {
    double best = kInfinity;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const double bound = rows.apply(d, k, same_d, f);
      const bool slow = bound > best * (1.0 - kProgress);
      best = std::min(best, bound);
      same_d = slow;
      if (slow) break;
      d = (d.array() * f.array()).sqrt();
      positive();
    }
    bounds[k - lo] = best;
  }
  for (Index e = hi - lo; e > 0; --e) bounds[e - 1] = std::min(bounds[e - 1], bounds[e]);
  return bounds;
}

}  // namespace subspectra
