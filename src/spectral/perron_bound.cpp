#include "spectral/perron_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"

namespace subspectra {
namespace {

constexpr Index kRows = 32;          // of an item
constexpr int kSweeps = 12;          // at most, for one k
constexpr double kProgress = 1e-4;   // relative: a sweep that gains less is the last
constexpr double kSmallest = 1e-12;  // of d, relative to its largest entry: any d > 0 is valid

/// |A| over the candidates, those to include first.
class Rows {
 public:
  Rows(const MatrixRef& a, const std::vector<Index>& candidates, const std::vector<Index>& include,
       int threads)
      : fixed_(static_cast<Index>(include.size())), threads_(threads) {
    std::vector<Index> order = include;
    std::set_difference(candidates.begin(), candidates.end(), include.begin(), include.end(),
                        std::back_inserter(order));
    absolute_ = a(order, order).cwiseAbs();
  }

  [[nodiscard]] Index size() const { return absolute_.rows(); }
  [[nodiscard]] const Matrix& absolute() const { return absolute_; }

  /// F(d) for sets of k, and max F_i/d_i over the rows that such a set can have.
  double apply(const Vector& d, Index k, Vector& f) const {
    const Index n = size(), fixed = fixed_;
    const Index rows = k > fixed ? n : fixed;  // with k = |include| no other row is in the set
    f = d;
    parallel_for((rows + kRows - 1) / kRows, threads_, [&](Index item) {
      std::vector<double> free(static_cast<std::size_t>(n - fixed));
      for (Index i = item * kRows; i < std::min(rows, (item + 1) * kRows); ++i) {
        const double* row = absolute_.col(i).data();
        double sum = 0.0;
        for (Index j = 0; j < fixed; ++j) sum += row[j] * d[j];
        for (Index j = fixed; j < n; ++j) free[static_cast<std::size_t>(j - fixed)] = row[j] * d[j];
        auto end = free.end();
        Index slots = k - fixed;
        if (i >= fixed) {
          auto& own = free[static_cast<std::size_t>(i - fixed)];
          sum += own;
          std::swap(own, *--end);
          --slots;
        }
        if (slots < end - free.begin()) {
          std::nth_element(free.begin(), free.begin() + slots, end, std::greater<>());
          end = free.begin() + slots;
        }
        f[i] = std::accumulate(free.begin(), end, sum);
      }
    });
    double bound = 0.0;
    for (Index i = 0; i < rows; ++i) bound = std::max(bound, f[i] / d[i]);
    return bound * (1.0 + 4e-16 * static_cast<double>(k + 4));  // the rounding of a sum of k products
  }

 private:
  Index fixed_;
  int threads_;
  Matrix absolute_;
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
  const Rows rows(a, candidates, include, threads);
  Vector bounds = Vector::Constant(hi - lo + 1, kInfinity), f;
  // Variances and covariances with all others: a fair first guess at the Perron vector.
  Vector d =
      (rows.absolute().rowwise().sum() / static_cast<double>(n) + rows.absolute().diagonal()).cwiseSqrt();
  const auto positive = [&] {
    const double largest = d.maxCoeff();
    d = largest > 0.0 ? Vector((d / largest).cwiseMax(kSmallest)) : Vector(Vector::Ones(n));
  };
  positive();
  for (Index k = lo; k <= hi && !(control != nullptr && k > lo && control->should_stop()); ++k) {
    double best = kInfinity;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const double bound = rows.apply(d, k, f);
      const bool slow = bound > best * (1.0 - kProgress);
      best = std::min(best, bound);
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
