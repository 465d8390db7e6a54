#include "search/variance_screen.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/parallel.hpp"
#include "linalg/blas.hpp"
#include "search/perron_problem.hpp"

namespace subspectra::search {
namespace {

/// By row and size: r_i^2, and the largest row of the row-wise bound of each size.
struct Pass {
  Matrix squares;  ///< rows x sizes
  Vector bounds;   ///< by size
  Vector sums;     ///< F(d) of the largest size
};

/// One pass over A = Z'Z of these features. Column s of the result is for sets of first + s features.
/// bounds_s: max_i F_i/d_i, F_i = a_ii d_i + the first + s - 1 largest |a_ij| d_j (perron_bound.hpp).
/// What rounding may take, |da_ij| <= unit sigma_i sigma_j (a sum of N products, Cauchy), is in all of them.
std::optional<Pass> pass_over(const Matrix& z, const Vector& sigma, const Vector& d, Index first, Index last,
                              const ScreenTuning& tuning, int threads, const RunControl& control) {
  const Index n = z.cols(), sizes = last - first + 1;
  const double unit = 4.0 * kEpsilon * static_cast<double>(z.rows() + last + 8);
  const double most_sigma = sigma.maxCoeff(), most = sigma.cwiseProduct(d).maxCoeff();
  Pass pass{.squares = Matrix::Zero(n, sizes), .bounds = Vector::Zero(sizes), .sums = Vector::Zero(n)};
  const Index items = (n + tuning.rows - 1) / tuning.rows;
  Matrix of_item = Matrix::Zero(sizes, items);
  bool stopped = false;
  for (Index begin = 0; begin < items && !stopped; begin += tuning.items) {
    const Index end = std::min(items, begin + tuning.items);
    parallel_for(end - begin, threads, [&](Index at) {
      const Index item = begin + at, from = item * tuning.rows, count = std::min(tuning.rows, n - from);
      Matrix block(n, count);
      linalg::gemm(1.0, linalg::Op::kTranspose, z, linalg::Op::kNone, z.middleCols(from, count), 0.0, block);
      std::vector<double> largest(static_cast<std::size_t>(n));
      const auto select = [&] {  // the last - 1 largest, in order
        const auto middle = largest.begin() + std::min<std::ptrdiff_t>(last - 1, n);
        if (middle != largest.end())
          std::nth_element(largest.begin(), middle, largest.end(), std::greater<>());
        std::sort(largest.begin(), middle, std::greater<>());
      };
      for (Index c = 0; c < count; ++c) {
        const Index i = from + c;
        const double own = sigma[i] * sigma[i] * (1.0 + unit);
        for (Index j = 0; j < n; ++j) largest[static_cast<std::size_t>(j)] = std::abs(block(j, c));
        largest[static_cast<std::size_t>(i)] = 0.0;
        select();
        double square = 0.0;
        for (Index k = 2; k <= std::min(last, n); ++k) {
          const double next = largest[static_cast<std::size_t>(k - 2)];
          square += next * next;
          if (k < first) continue;
          const double r = std::sqrt(square) + static_cast<double>(k) * unit * sigma[i] * most_sigma;
          pass.squares(i, k - first) = r * r;
        }
        for (Index j = 0; j < n; ++j) largest[static_cast<std::size_t>(j)] = std::abs(block(j, c)) * d[j];
        largest[static_cast<std::size_t>(i)] = 0.0;
        select();
        double sum = own * d[i];
        for (Index k = 1; k <= std::min(last, n); ++k) {
          if (k > 1) sum += largest[static_cast<std::size_t>(k - 2)];
          if (k < first) continue;
          double& highest = of_item(k - first, item);
          highest = std::max(highest, (sum + static_cast<double>(k) * unit * sigma[i] * most) / d[i]);
        }
        pass.sums[i] = sum;
      }
    });
    stopped = control.should_stop();
  }
  if (stopped) return std::nullopt;
  pass.bounds = of_item.rowwise().maxCoeff();
  return pass;
}

}  // namespace

std::optional<std::vector<Index>> screened_by_variance(const Pencil& pencil, const SearchUnits& units,
                                                       const std::vector<std::vector<RankedSet>>& start,
                                                       const ExactOptions& options,
                                                       const ScreenTuning& tuning,
                                                       const RunControl& control) {
  const CovarianceOperator* const rows = pencil.rows();
  if (tuning.passes < 1 || !units.single || !units.include.empty() || rows == nullptr ||
      units.count() < tuning.least_features || rows->rows() > tuning.rows_per_feature * units.count() ||
      options.pool > 1 || !options.checkpoint.empty() || !options.resume.empty() ||
      static_cast<Index>(start.size()) != options.k.count())
    return std::nullopt;
  std::vector<Index> alive(static_cast<std::size_t>(units.count()));
  for (Index u = 0; u < units.count(); ++u) alive[static_cast<std::size_t>(u)] = u;
  std::vector<char> known(alive.size(), 0);
  std::vector<double> worth;
  for (const auto& sets : start) {
    double best = -kInfinity;
    for (const auto& set : sets) {
      best = std::max(best, largest_eigenvalue_of_block(pencil.a_block(units.features(set.units), 1)));
      for (const Index u : set.units) known[static_cast<std::size_t>(u)] = 1;
    }
    if (!(best > 0.0)) return std::nullopt;
    worth.push_back(best);
  }
  const Index first = std::max<Index>(1, options.k.lo - 1), last = options.k.hi;
  Vector bounds = Vector::Constant(last - first + 1, kInfinity), d;
  Index few_left = 0;
  for (int round = 0; round < tuning.passes && few_left < 2; ++round) {
    const auto features = units.features(alive);
    const Matrix z = rows->centred(features);
    const Vector sigma = z.colwise().norm();
    if (round == 0) d = sigma;
    const double largest = d.maxCoeff();
    if (!(largest > 0.0)) return std::nullopt;
    d = (d / largest).cwiseMax(tuning.least_d);
    const auto pass = pass_over(z, sigma, d, first, last, tuning, options.threads, control);
    if (!pass) return std::nullopt;
    bounds = bounds.cwiseMin(pass->bounds * (1.0 + 1e-12));
    std::vector<Index> left;
    std::vector<double> next;
    for (std::size_t e = 0; e < alive.size(); ++e) {
      const auto i = static_cast<Index>(e);
      bool wanted = known[static_cast<std::size_t>(alive[e])] != 0;
      for (Index k = options.k.lo; !wanted && k <= last; ++k) {
        const double own = sigma[i] * sigma[i] * (1.0 + 1e-12);
        const double bound =
            k == 1 ? own : larger_of_two(bounds[k - 1 - first], std::sqrt(pass->squares(i, k - first)), own);
        wanted = bound * (1.0 + 1e-12) > worth[static_cast<std::size_t>(k - options.k.lo)];
      }
      if (!wanted) continue;
      left.push_back(alive[e]);
      next.push_back(std::sqrt(d[i] * pass->sums[i]));
    }
    few_left = static_cast<double>(left.size()) > tuning.shrink * static_cast<double>(alive.size())
                   ? few_left + 1
                   : 0;
    alive = std::move(left);
    d = Eigen::Map<const Vector>(next.data(), std::ssize(next));
    if (std::ssize(alive) <= tuning.enough && round > 0) break;
  }
  return alive;
}

}  // namespace subspectra::search
