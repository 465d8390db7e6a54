#include "verify/more_digits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace subspectra::verify {
namespace {

constexpr double kMostWork = 2e8;        ///< products in quadruple precision: some ten seconds
constexpr double kDependent = 1e-28;     ///< a pivot below it: no search has digits for such a set
constexpr double kLeastKnown = 1e-3;     ///< a value that may be further off is none
constexpr double kFewestDigits = 1e-24;  ///< where there are no more than those of long double

using Columns = std::vector<std::vector<Quad>>;

Quad root(Quad x) {
  if (!(x > 0)) return 0;
  Quad y = std::sqrt(static_cast<Long>(x));
  for (int step = 0; step < 2; ++step) y = (y + x / y) / 2;  // Newton: 64 bits, then all
  return y;
}

Quad magnitude(Quad x) { return x < 0 ? -x : x; }

Quad product(const std::vector<Quad>& x, const std::vector<Quad>& y, std::size_t n) {
  Quad sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// R^{-T} x, R's columns given.
void solve(const Columns& r, std::vector<Quad>& x) {
  for (std::size_t i = 0; i < r.size(); ++i) x[i] = (x[i] - product(r[i], x, i)) / r[i][i];
}

/// Jacobi's rotations; ascending.
Vector symmetric_eigenvalues(Columns a) {
  const std::size_t n = a.size();
  for (int sweep = 0; sweep < 60; ++sweep) {
    Quad off = 0, all = 0;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        all += a[j][i] * a[j][i];
        if (i != j) off += a[j][i] * a[j][i];
      }
    }
    if (!(off > static_cast<Quad>(1e-60L) * all)) break;
    for (std::size_t q = 1; q < n; ++q) {
      for (std::size_t p = 0; p < q; ++p) {
        if (a[q][p] == 0) continue;
        const Quad theta = (a[q][q] - a[p][p]) / (2 * a[q][p]);
        const Quad t = (theta < 0 ? -1 : 1) / (magnitude(theta) + root(theta * theta + 1));
        const Quad c = 1 / root(t * t + 1), s = t * c;
        for (std::size_t i = 0; i < n; ++i) {
          const Quad x = a[p][i], y = a[q][i];
          a[p][i] = c * x - s * y;
          a[q][i] = s * x + c * y;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const Quad x = a[i][p], y = a[i][q];
          a[i][p] = c * x - s * y;
          a[i][q] = s * x + c * y;
        }
      }
    }
  }
  Vector values(static_cast<Index>(n));
  for (std::size_t i = 0; i < n; ++i) values[static_cast<Index>(i)] = static_cast<double>(a[i][i]);
  std::sort(values.data(), values.data() + values.size());
  return values;
}

}  // namespace

MoreDigits::MoreDigits(std::shared_ptr<const ClassRows> rows, std::vector<Long> ridge)
    : rows_(std::move(rows)), ridge_(std::move(ridge)), left_(kMostWork) {}

MoreDigits::MoreDigits(const Matrix& a, const Matrix& b) : a_(a), b_(b), left_(kMostWork) {}

bool MoreDigits::afford(double work) {
  if (kQuadEpsilon > kFewestDigits || work > left_) return false;
  left_ -= work;
  return true;
}

/// A set's own algebra, and what of its columns and products is not there yet.
bool MoreDigits::afford_set(const std::vector<Index>& places) {
  const auto n = static_cast<double>(places.size());
  double work = n * n * n + 100.0;
  if (rows_) {
    const auto rows = static_cast<double>(rows_->x.rows());
    for (const Index i : places) {
      if (!columns_.contains(i)) work += 4.0 * rows;
      for (const Index j : places) {
        if (i <= j && !products_.contains({i, j})) work += rows;
      }
    }
  }
  return afford(work);
}

const MoreDigits::Column& MoreDigits::column(Index place) {
  const auto found = columns_.find(place);
  if (found != columns_.end()) return found->second;
  const ClassRows& rows = *rows_;
  const auto count = static_cast<std::size_t>(rows.x.rows());
  if (weights_.empty()) {  // their roots, of a sum of 1
    Quad sum = 0;
    for (const Long w : rows.given) sum += static_cast<Quad>(w);
    share_.assign(rows.share.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      const Quad weight = static_cast<Quad>(rows.given[i]) / sum;
      share_[rows.class_of(static_cast<Index>(i))] += weight;
      weights_.push_back(root(weight));
    }
  }
  Column made;
  const Quad pivot = rows.pivots[static_cast<std::size_t>(place)];
  double farthest = 0.0;
  std::vector<Quad> means(share_.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Quad off = static_cast<Quad>(rows.x(static_cast<Index>(i), place)) - pivot;
    made.deviations.push_back(off);
    farthest = std::max(farthest, std::abs(static_cast<double>(off)));
    means[rows.class_of(static_cast<Index>(i))] += weights_[i] * weights_[i] * off;
  }
  Quad mean = 0;
  for (const Quad part : means) mean += part;
  for (std::size_t c = 0; c < means.size(); ++c) {
    if (share_[c] > 0) means[c] /= share_[c];
    made.between.push_back(root(share_[c]) * (means[c] - mean));
  }
  for (std::size_t i = 0; i < count; ++i)
    made.deviations[i] = weights_[i] * (made.deviations[i] - means[rows.class_of(static_cast<Index>(i))]);
  const double spread = std::sqrt(static_cast<double>(product(made.deviations, made.deviations, count)) +
                                  static_cast<double>(ridge_[static_cast<std::size_t>(place)]));
  made.noise = (64.0 + static_cast<double>(count)) * kQuadEpsilon * (spread > 0.0 ? farthest / spread : 1.0);
  return columns_.emplace(place, std::move(made)).first->second;
}

Quad MoreDigits::within(Index i, Index j) {
  if (!rows_) return (static_cast<Quad>(b_(i, j)) + static_cast<Quad>(b_(j, i))) / 2;
  if (i > j) std::swap(i, j);
  const auto found = products_.find({i, j});
  if (found != products_.end()) return found->second;
  const Column& first = column(i);
  const Column& second = column(j);
  Quad sum = product(first.deviations, second.deviations, first.deviations.size());
  if (i == j) sum += static_cast<Quad>(ridge_[static_cast<std::size_t>(i)]);
  products_.emplace(std::pair(i, j), sum);
  return sum;
}

MoreDigits::Scaled MoreDigits::scaled(const std::vector<Index>& places) {
  const std::size_t n = places.size();
  Scaled set;
  set.noise = 64.0 * kQuadEpsilon;
  for (const Index at : places) {
    const Quad spread = root(within(at, at));
    set.scale.push_back(spread > 0 ? 1 / spread : 0);
    if (rows_) set.noise = std::max(set.noise, column(at).noise);
  }
  set.b.assign(n, std::vector<Quad>(n, 0));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i)
      set.b[j][i] = within(places[i], places[j]) * set.scale[i] * set.scale[j];
  }
  return set;
}

/// B_S = R'R, C = R^{-T} M_S and the eigenvalues of C'C; of matrices those of R^{-T} A_S R^{-1}.
std::optional<QuadValues> MoreDigits::values(const std::vector<Index>& places) {
  if (!afford_set(places)) return std::nullopt;
  const std::size_t n = places.size();
  const Scaled set = scaled(places);
  QuadValues result;
  Columns r = set.b;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) r[j][i] = (r[j][i] - product(r[i], r[j], i)) / r[i][i];
    const Quad pivot = set.b[j][j] - product(r[j], r[j], j);
    if (!(pivot > kDependent)) {
      result.is = QuadValues::Is::kDependent;
      return result;
    }
    r[j][j] = root(pivot);
  }
  Quad inverse = 0;  // tr B^{-1}, at least the largest eigenvalue of it
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<Quad> unit(n, 0);
    unit[j] = 1;
    solve(r, unit);
    inverse += product(unit, unit, n);
  }
  result.condition = static_cast<double>(n) * static_cast<double>(inverse);
  result.relative = 100.0 * result.condition * set.noise;  // as in dense_value
  if (!(result.relative <= kLeastKnown)) return result;
  Columns c;
  if (rows_) {
    const std::size_t classes = column(places.front()).between.size();
    for (std::size_t d = 0; d < classes; ++d) {
      std::vector<Quad> m;
      for (std::size_t i = 0; i < n; ++i) m.push_back(set.scale[i] * column(places[i]).between[d]);
      solve(r, m);
      c.push_back(std::move(m));
    }
    Columns t(classes, std::vector<Quad>(classes, 0));
    for (std::size_t j = 0; j < classes; ++j) {
      for (std::size_t i = 0; i < classes; ++i) t[j][i] = product(c[i], c[j], n);
    }
    c = std::move(t);
  } else {
    for (int side = 0; side < 2; ++side) {
      Columns next(n, std::vector<Quad>(n, 0));
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i)
          next[j][i] = side == 0 ? set.scale[i] * set.scale[j] *
                                       (static_cast<Quad>(a_(places[i], places[j])) +
                                        static_cast<Quad>(a_(places[j], places[i]))) /
                                       2
                                 : c[i][j];
        solve(r, next[j]);
      }
      c = std::move(next);
    }
  }
  result.values = symmetric_eigenvalues(std::move(c));
  const double largest = std::max(0.0, result.values.maxCoeff());
  const double amplified = set.noise * set.noise * result.condition;
  result.absolute = 2.0 * std::sqrt(largest * amplified) + amplified;
  if (result.values.allFinite()) result.is = QuadValues::Is::kKnown;
  return result;
}

MoreDigits::Products MoreDigits::products(const std::vector<Index>& places, const Matrix& x) {
  const std::size_t n = places.size();
  const Index count = x.cols();
  const auto entry = [&](std::size_t i, Index c) { return static_cast<Quad>(x(static_cast<Index>(i), c)); };
  const auto of = [&](const auto& metric) {
    Matrix result(count, count);
    for (Index c = 0; c < count; ++c) {
      for (Index d = 0; d <= c; ++d) {
        Quad sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t i = 0; i < n; ++i) sum += entry(i, d) * metric(places[i], places[j]) * entry(j, c);
        }
        result(c, d) = result(d, c) = static_cast<double>(sum);
      }
    }
    return result;
  };
  Products result;
  result.b = of([&](Index i, Index j) { return within(i, j); });
  result.a = of([&](Index i, Index j) {
    if (!rows_) return (static_cast<Quad>(a_(i, j)) + static_cast<Quad>(a_(j, i))) / 2;
    const Column& first = column(i);
    return product(first.between, column(j).between, first.between.size());
  });
  return result;
}

/// A Cholesky factor with the largest pivot that is left first.
std::optional<QuadRank> MoreDigits::rank(const std::vector<Index>& places) {
  if (!afford_set(places)) return std::nullopt;
  const std::size_t n = places.size();
  const Scaled set = scaled(places);
  const double sure = std::max(1e2 * kDependent, 1e4 * static_cast<double>(n) * set.noise);
  const double none = std::max(kDependent, static_cast<double>(n) * set.noise);
  QuadRank result;
  Columns rows(n);
  std::vector<Quad> left;
  for (std::size_t i = 0; i < n; ++i) left.push_back(set.b[i][i]);
  std::vector<bool> taken(n, false);
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t best = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (!taken[i] && (best == n || left[i] > left[best])) best = i;
    }
    if (!(left[best] > none)) break;
    if (left[best] > sure) ++result.sure;
    ++result.most;
    taken[best] = true;
    const Quad pivot = root(left[best]);
    for (std::size_t i = 0; i < n; ++i) {
      if (taken[i]) continue;
      const Quad entry = (set.b[best][i] - product(rows[best], rows[i], step)) / pivot;
      rows[i].push_back(entry);
      left[i] -= entry * entry;
    }
  }
  return result;
}

}  // namespace subspectra::verify
