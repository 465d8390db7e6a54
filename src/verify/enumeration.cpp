#include "verify/enumeration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eigen/symmetric.hpp"

namespace subspectra::verify {
namespace {

/// Pivots below this fraction of what they started from are those of features that depend on each other, or
/// of sets next to the bound: such a set is judged densely.
constexpr double kSmallPivot = 1e-10;

double binomial(Index n, Index k) {
  double result = k < 0 || k > n ? 0.0 : 1.0;
  for (Index i = 1; i <= std::min(k, n - k); ++i) {
    result *= static_cast<double>(n - i + 1) / static_cast<double>(i);
  }
  return std::round(result);
}

/// Row `i` of the lower Cholesky factor of `w` over `set`, from the rows before it; the pivot.
///     l_ij = (w_ij - sum_{q<j} l_iq l_jq)/l_jj,   pivot = w_ii - sum_q l_iq^2,   l_ii = sqrt(pivot)
double cholesky_row(const Matrix& w, const std::vector<Index>& set, std::size_t i, std::size_t stride,
                    std::vector<double>& l) {
  double* const row = l.data() + i * stride;
  const double* const column = w.data() + set[i] * w.rows();
  double pivot = column[set[i]];
  for (std::size_t j = 0; j < i; ++j) {
    const double* const other = l.data() + j * stride;
    double sum = column[set[j]];
    for (std::size_t q = 0; q < j; ++q) sum -= row[q] * other[q];
    row[j] = sum / other[j];
    pivot -= row[j] * row[j];
  }
  row[i] = std::sqrt(std::max(pivot, 0.0));
  return pivot;
}

}  // namespace

Enumeration::Enumeration(const DensePair& pair, Choices choices, Criterion criterion,
                         const RunControl& control)
    : pair_(pair),
      choices_(std::move(choices)),
      criterion_(pair.identity() ? Criterion::kLargest : criterion),
      control_(control),
      a_(pair.a),
      judge_(pair, criterion_) {
  const Index n = a_.rows();
  if (pair.identity()) {
    b_ = Matrix::Identity(n, n);
  } else {
    // A feature that does not vary within classes is in no feasible set.
    const Vector total = pair.a.diagonal() + pair.b.diagonal();
    const auto varies = [&](Index at) { return pair.b(at, at) > 1e-26 * total[at]; };
    std::erase_if(choices_.free,
                  [&](const auto& unit) { return !std::all_of(unit.begin(), unit.end(), varies); });
    Vector scale(n);
    for (Index i = 0; i < n; ++i) scale[i] = varies(i) ? 1.0 / std::sqrt(pair.b(i, i)) : 0.0;
    a_ = (scale.asDiagonal() * pair.a * scale.asDiagonal()).eval();
    b_ = scale.asDiagonal() * pair.b * scale.asDiagonal();
  }
  if (criterion_ == Criterion::kTrace) {
    const linalg::SymmetricEigen eigen = linalg::small_symmetric_eigen(a_, true);
    m_ = eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
    m_ = m_.rightCols(std::min(pair.rank, n)).eval();
  }
  w_ = b_;
  if (criterion_ == Criterion::kWilks) w_sum_ = a_ + b_;
  std::vector<std::size_t> sizes;
  for (const auto& unit : choices_.free) sizes.push_back(unit.size());
  for (const auto& unit : choices_.forced) sizes.push_back(unit.size());
  for (const std::size_t size : sizes) stride_ += size;
  l_.resize(stride_ * stride_);
  if (criterion_ == Criterion::kWilks) l_sum_.resize(l_.size());
  c_.resize(stride_ * static_cast<std::size_t>(m_.cols()));
  value_.assign(stride_ + 1, 0.0);
  set_.reserve(stride_);
}

double Enumeration::count(Index k) const { return binomial(free(), k - forced()); }

BoundAnswer Enumeration::find_above(Index k, double bound, std::set<std::vector<Index>> known) {
  judge_.begin(bound, std::move(known));
  chosen_ = k - forced();
  if (stopped_) return {.end = BoundAnswer::End::kStopped};
  if (chosen_ < 0 || chosen_ > free()) return {};
  const double tiny =
      pair_.identity() ? std::max(pair_.noise, 1e-14 * a_.diagonal().cwiseAbs().maxCoeff()) : 1e-20;
  threshold_ = bound + kBeyond * std::abs(bound) + tiny;
  if (!std::isfinite(threshold_)) return {};  // nothing is above that
  // lambda_max(A_S, B_S) < t if and only if t B_S - A_S is positive definite.
  if (criterion_ == Criterion::kLargest) w_ = threshold_ * b_ - a_;
  set_.clear();
  planned_ = count(k);
  done_ = 0.0;
  bool factored = true;
  for (const auto& unit : choices_.forced) {
    if (factored) {
      factored = append(unit);
    } else {
      set_.insert(set_.end(), unit.begin(), unit.end());
    }
  }
  descend(0, 0, factored);
  return judge_.answer(stopped_ ? BoundAnswer::End::kStopped : BoundAnswer::End::kNone);
}

/// Adds `chosen_ - depth` more units from `start` on; true ends the search. `factored`: the factor covers
/// the set. Where it breaks down (the set is above the bound, or dependent, or rounding says so) every set
/// with these units is judged densely instead.
bool Enumeration::descend(Index depth, Index start, bool factored) {
  if (depth == chosen_) return leaf(factored);
  for (Index u = start; u <= free() - (chosen_ - depth); ++u) {
    const auto& unit = choices_.free[static_cast<std::size_t>(u)];
    const std::size_t before = set_.size();
    bool through = false;
    if (factored) {
      through = append(unit);
    } else {
      set_.insert(set_.end(), unit.begin(), unit.end());
    }
    if (descend(depth + 1, u + 1, through)) return true;
    set_.resize(before);
  }
  return false;
}

bool Enumeration::leaf(bool factored) {
  sets_ += 1.0;
  done_ += 1.0;
  const auto size = static_cast<double>(set_.size());
  if (factored && (criterion_ == Criterion::kLargest || !(value_[set_.size()] > threshold_))) {
    return !go_on(1.0);
  }
  if (judge_.judge(set_)) return true;
  return !go_on(30.0 * size * size * size);
}

bool Enumeration::append(const std::vector<Index>& unit) {
  bool through = true;
  for (const Index place : unit) {
    if (through) {
      through = append(place);
    } else {
      set_.push_back(place);
    }
  }
  return through;
}

bool Enumeration::append(Index place) {
  const std::size_t i = set_.size();
  set_.push_back(place);
  work_ += 0.5 * static_cast<double>(i * i);
  const double pivot = cholesky_row(w_, set_, i, stride_, l_);
  if (criterion_ == Criterion::kLargest) return pivot > kSmallPivot * std::abs(w_(place, place));
  if (!(pivot > kSmallPivot)) return false;
  const double* const row = l_.data() + i * stride_;
  if (criterion_ == Criterion::kWilks) {  // log det(I + T_S) = log det(A_S + B_S) - log det B_S
    const double both = cholesky_row(w_sum_, set_, i, stride_, l_sum_);
    if (!(both > 0.0)) return false;
    value_[i + 1] = value_[i] + std::log(both / pivot);
    return true;
  }
  const auto r = static_cast<std::size_t>(m_.cols());  // tr T_S = sum of |c_i|^2, C = L^{-1} M_S
  double square = 0.0;
  for (std::size_t d = 0; d < r; ++d) {
    double sum = m_(place, static_cast<Index>(d));
    for (std::size_t q = 0; q < i; ++q) sum -= row[q] * c_[q * r + d];
    sum /= row[i];
    c_[i * r + d] = sum;
    square += sum * sum;
  }
  value_[i + 1] = value_[i] + square;
  return true;
}

/// Asks the control once in a while.
bool Enumeration::go_on(double work) {
  constexpr double kOften = 1e6;
  work_ += work;
  if (work_ < kOften) return true;
  work_ = 0.0;
  control_.report("verify", planned_ > 0.0 ? done_ / planned_ : -1.0, [this] {
    return fmt::format("every set of {}: {:.0f} of {:.0f}", chosen_ + forced(), done_, planned_);
  });
  stopped_ = control_.should_stop();
  return !stopped_;
}

}  // namespace subspectra::verify
