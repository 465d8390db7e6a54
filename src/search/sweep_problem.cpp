#include "search/sweep_problem.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/cholesky.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/double_double.hpp"
#include "linalg/tiled.hpp"
#include "search/rounding.hpp"
#include "spectral/discriminants.hpp"

namespace subspectra::search {
namespace {

/// 0 where every feature was left out: of no numbers there is no largest.
double largest_or_zero(const Vector& values) { return values.size() > 0 ? values.maxCoeff() : 0.0; }

double square_of_one_and_largest(const Vector& values) {
  const double one_more = 1.0 + largest_or_zero(values);
  return one_more * one_more;
}

constexpr Index kPanelColumns = 256;
/// Sets with a smaller pivot, as a fraction of its variance, are looked at with more digits; nodes whose kept
/// features have one, set by set.
constexpr double kWorthDigits = 1e-4, kWorthAView = 1e-9;
/// In numbers of 31 digits a pivot up to this fraction is a dependence.
constexpr double kNothingPrecisely = 1e-26;

/// By the factor of a block with a unit diagonal its smallest pivot; 0 where there is none.
double least_pivot(const linalg::CholeskyFactor& llt) {
  return llt.positive() ? llt.lower().diagonal().cwiseAbs2().minCoeff() : 0.0;
}

}  // namespace

SweepProblem::SweepProblem(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                           const RunControl& control, const ExactHooks& exact_hooks)
    : pencil_(&pencil), hooks_(exact_hooks), criterion_(run.criterion) {
  for (const auto& members : units.members) features_.push_back(members.front());
  const Index n = size();
  scale_ = pencil.diagonal()(features_).cwiseSqrt().cwiseInverse();
  if (!scale_.allFinite())
    throw Infeasible("a candidate has no variance within the classes; use ⟨ridge auto⟩ or a number");
  const bool has_factor = pencil.factor() != nullptr;
  // As they are: a feature that separates the classes nearly perfectly would leave others no digits in a
  // rotation of the columns.
  if (has_factor) m_ = scale_.asDiagonal() * (*pencil.factor())(features_, Eigen::all);
  a_diagonal_ = pencil.a_diagonal()(features_).cwiseProduct(scale_.cwiseAbs2());
  if (has_factor && m_.cols() > 1 && criterion_ != Criterion::kLargest)
    kind_ = criterion_ == Criterion::kTrace ? SweepKind::kTrace : SweepKind::kRatio;
  const Index rows = rows_of_moments(pencil);
  gamma_ = kEpsilon * (32.0 + 4.0 * std::sqrt(static_cast<double>(rows)));
  most_features_ = n;
  if (const double shift = pencil.origin().shift(); shift > 0.0) {  // a copy is in the units of its origin
    ridge_ = shift * scale_.cwiseAbs2();
  } else if (pencil.origin().rows() != nullptr) {
    most_features_ = std::min(n, rows);
  }
  const Index most = run.k.hi - static_cast<Index>(units.include.size());
  const bool pairs = (most <= 2 || run.card) && pencil.rows() != nullptr && has_factor;
  if (!pairs || n <= hooks_.tuning.sweep.most_matrix) take_matrix(pencil, run, control);
  if (run.card) open_card(pencil, units, run);
}

void SweepProblem::open_card(const Pencil& pencil, const SearchUnits& units, const ExactRun& run) {
  std::vector<Index> all(features_.size());
  std::iota(all.begin(), all.end(), Index{0});
  if (!units.include.empty()) {
    // Sets that hold the included unit are those that begin with the first one.
    const auto included = all.begin() + units.include.front();
    std::rotate(all.begin(), included, included + 1);
    card_order_ = all;
  }
  const bool moved = !card_order_.empty();
  const Matrix m = moved ? Matrix(m_(all, Eigen::all)) : Matrix();
  CardTable table;
  table.kind = kind_;
  table.m = moved ? &m : &m_;
  table.error = 2.0 * std::max(gamma_, 0.5 * kEpsilon * static_cast<double>(16 + rows_of_moments(pencil)));
  constexpr double kSurelyDependent = 2.5e-14;  // half of what rounding leaves of a copy
  table.dependent = kSurelyDependent;
  Matrix b;
  if (by_blocks()) {
    require_memory(2.0 * 8.0 * static_cast<double>(size()) * static_cast<double>(pencil.rows()->rows()),
                   "handing the table to the card", "leave features out (⟨exclude⟩)", run.memory_limit);
    table.z = rows_of(all);
    table.ridge = moved && ridge_.size() > 0 ? Vector(ridge_(all)) : ridge_;
  } else {
    if (moved) b = b_(all, all);
    table.b = moved ? b.data() : b_.data();
    table.b_lead = moved ? b.rows() : b_.rows();
  }
  card_ = std::make_unique<CardSweep>(run.card, table, static_cast<int>(run.k.hi));
}

/// B (and an A without a factor) as a matrix: from panels of the rows, or column by column.
void SweepProblem::take_matrix(const Pencil& pencil, const ExactRun& run, const RunControl& control) {
  const Index n = size(), lead = padded_length(n);
  const double matrices = pencil.factor() == nullptr ? 2.0 : 1.0;
  require_memory(matrices * 8.0 * static_cast<double>(n) * static_cast<double>(lead),
                 "trying all sets of three and more of the candidates",
                 "ask for pairs (⟨k 1:2⟩), leave features out (⟨exclude⟩), or search greedily (gslda)",
                 run.memory_limit);
  b_.resize(lead, n + 1);  // a last column so that what stands behind a row can be read
  prefer_large_pages(b_.data(), static_cast<std::size_t>(b_.size()) * sizeof(double));
  if (pencil.rows() != nullptr && pencil.factor() != nullptr) {
    const Index tiles = (n + kPanelColumns - 1) / kPanelColumns;
    parallel_for(tiles, run.threads, [&](Index item) {
      const Index first = item * kPanelColumns, count = std::min(kPanelColumns, n - first);
      const auto panel = [&](Index begin, Index width) {
        const std::vector<Index> part(features_.begin() + begin, features_.begin() + begin + width);
        return Matrix(pencil.rows()->centred(part) * scale_.segment(begin, width).asDiagonal());
      };
      const Matrix mine = panel(first, count);
      for (Index begin = 0; begin < first + count; begin += kPanelColumns) {
        if (control.should_stop()) return;
        const Index width = std::min(kPanelColumns, n - begin);
        linalg::gemm(1.0, linalg::Op::kTranspose, begin == first ? mine : panel(begin, width),
                     linalg::Op::kNone, mine, 0.0, b_.block(begin, first, width, count));
      }
    });
    if (control.should_stop()) throw linalg::Stopped();
    parallel_for(tiles, run.threads, [&](Index item) {
      constexpr Index kSide = 64;  // of a square that stays in the cache while it is turned
      const Index end = std::min(n, (item + 1) * kPanelColumns);
      for (Index from = item * kPanelColumns; from < n; from += kSide) {
        if (control.should_stop()) return;
        for (Index first = item * kPanelColumns; first < end; first += kSide) {
          for (Index j = first; j < std::min(end, first + kSide); ++j) {
            for (Index i = std::max(j + 1, from); i < std::min(n, from + kSide); ++i) b_(i, j) = b_(j, i);
          }
        }
      }
    });
    if (control.should_stop()) throw linalg::Stopped();
  } else {
    const auto all_columns = [&](PaddedMatrix& out, const auto& column) {
      Vector whole(pencil.size());
      for (Index j = 0; j < n; ++j) {
        if (control.should_stop()) throw linalg::Stopped();
        column(features_[static_cast<std::size_t>(j)], whole);
        for (Index i = 0; i < n; ++i)
          out(i, j) = whole[features_[static_cast<std::size_t>(i)]] * scale_[i] * scale_[j];
      }
      for (Index j = 0; j < n; ++j) {  // one triangle, twice
        if (control.should_stop()) throw linalg::Stopped();
        for (Index i = j + 1; i < n; ++i) out(i, j) = out(j, i);
      }
    };
    all_columns(b_, [&](Index j, Vector& out) { pencil.column(j, out, run.threads); });
    if (pencil.factor() == nullptr) {
      a_.resize(lead, n + 1);
      all_columns(a_, [&](Index j, Vector& out) { pencil.a_column(j, out, run.threads); });
      a_.bottomRows(lead - n).setZero();
      a_.col(n).setZero();
    }
  }
  b_.bottomRows(lead - n).setZero();
  b_.col(n).setZero();
  for (Index j = 0; j < n; ++j) b_(j, j) = 1.0;
}

Matrix SweepProblem::rows_of(const std::vector<Index>& units) const {
  std::vector<Index> features;
  features.reserve(units.size());
  for (const Index u : units) features.push_back(features_[static_cast<std::size_t>(u)]);
  return pencil_->rows()->centred(features) * scale_(units).asDiagonal();
}

Matrix SweepProblem::within(const std::vector<Index>& units) const {
  if (!by_blocks()) return b_(units, units);
  const Matrix z = rows_of(units);
  Matrix b(z.cols(), z.cols());
  linalg::syrk(1.0, linalg::Op::kTranspose, z, 0.0, b);
  b.diagonal().setOnes();
  return b;
}

Matrix SweepProblem::between(const std::vector<Index>& units) const {
  if (a_.size() > 0) return a_(units, units);
  const Matrix m = m_(units, Eigen::all);
  return m * m.transpose();
}

double SweepProblem::of(const Matrix& t) const {
  return criterion_value(criterion_, linalg::spectrum(t, false).values.cwiseMax(0.0));
}

SweepValue SweepProblem::evaluate(const std::vector<Index>& units) const {
  if (units.empty()) return {.value = 0.0};
  const linalg::CholeskyFactor llt(within(units));
  const double pivot = least_pivot(llt);
  if (!(pivot >= kWorthDigits)) return evaluate_precisely(units);
  if (m_.cols() == 1) return {.value = llt.solve_lower(m_(units, Eigen::all)).squaredNorm()};
  if (a_.size() == 0) {
    const Matrix y = llt.solve_lower(m_(units, Eigen::all));
    if (criterion_ == Criterion::kTrace) return {.value = y.squaredNorm()};
    return {.value = of(y.rows() < y.cols() ? Matrix(y * y.transpose()) : Matrix(y.transpose() * y))};
  }
  const Matrix y = llt.solve_lower(between(units));
  return {.value = of(llt.solve_lower(Matrix(y.transpose())))};
}

/// From the rows in 31 digits. A set whose smallest pivot is at most kDependentPivot is none, as everywhere.
SweepValue SweepProblem::evaluate_precisely(const std::vector<Index>& units) const {
  std::vector<Index> features;
  features.reserve(units.size());
  for (const Index u : units) features.push_back(features_[static_cast<std::size_t>(u)]);
  SweepValue result;
  auto block = pencil_->precise_block(features);
  if (!block) return result;
  // Its pivots, by a Cholesky factorization without roots.
  linalg::DoubleDoubleMatrix l = block->b;
  double least = 1.0;
  for (Index j = 0; j < l.rows; ++j) {
    const linalg::DoubleDouble pivot = l(j, j);
    least = std::min(least, pivot.hi / block->b(j, j).hi);
    if (!(least > kNothingPrecisely)) return result;
    for (Index i = j + 1; i < l.rows; ++i) {
      const linalg::DoubleDouble factor = l(i, j) / pivot;
      for (Index c = j + 1; c <= i; ++c) l(i, c) -= factor * l(c, j);
    }
  }
  // One column: the search runs on t itself.
  const auto found = precise_value(std::move(*block), m_.cols() == 1 ? Criterion::kLargest : criterion_);
  if (!found) return result;
  const bool sure = least > kDependentPivot && found->error < 1e-11;
  if (sure) {
    result.value = found->value;
  } else {  // a bound has to hold it, whatever its digits
    result.doubtful = found->value * (1.0 + std::clamp(found->error, 1e-7, 1.0));
  }
  return result;
}

bool SweepProblem::separate(const std::vector<std::int32_t>& units) const {
  return std::any_of(units.begin(), units.end(), [&](std::int32_t u) { return a_diagonal_[u] > 0.0; });
}

bool SweepProblem::alike(Index u, Index v) const {
  const double a = a_diagonal_[u], b = a_diagonal_[v];
  return std::abs(a - b) <= 4.0 * kTieFraction * std::max(a, b);
}

double SweepProblem::monotone_image_to_criterion(double value) const {
  return criterion_ == Criterion::kWilks && m_.cols() == 1 ? std::log1p(std::max(0.0, value)) : value;
}

void SweepProblem::fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const {
  const auto add = [&](const Matrix& x) {
    if (x.size() > 0) bytes(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
  };
  constexpr char kName[] = "sweep";
  bytes(kName, sizeof kName);
  add(m_);
  add(b_);
  add(a_);
  add(scale_);
  bytes(&criterion_, sizeof criterion_);
  if (!by_blocks()) return;
  for (Index first = 0; first < size(); first += kPanelColumns) {
    std::vector<Index> units(static_cast<std::size_t>(std::min(kPanelColumns, size() - first)));
    std::iota(units.begin(), units.end(), first);
    add(rows_of(units));
  }
}

std::optional<SweepNode> SweepProblem::node(const std::vector<std::int32_t>& kept,
                                            const std::vector<std::int32_t>& free, double threshold) const {
  const std::vector<Index> k(kept.begin(), kept.end());
  SweepNode at;
  at.free = free;
  Vector left = Vector::Ones(size());  // of the variances given the kept ones, by unit
  Matrix lower, b_across;              // L of B_KK, and L^{-1} B_KF over all units
  double kept_growth = 1.0;
  if (!k.empty()) {
    const linalg::CholeskyFactor llt(within(k));
    if (!(least_pivot(llt) > kWorthAView)) return std::nullopt;
    Matrix across;
    if (by_blocks()) {
      const Matrix z = rows_of(k);
      across.resize(static_cast<Index>(k.size()), size());
      for (Index first = 0; first < size(); first += kPanelColumns) {
        std::vector<Index> units(static_cast<std::size_t>(std::min(kPanelColumns, size() - first)));
        std::iota(units.begin(), units.end(), first);
        linalg::gemm(1.0, linalg::Op::kTranspose, z, linalg::Op::kNone, rows_of(units), 0.0,
                     across.middleCols(first, static_cast<Index>(units.size())));
      }
    } else {
      across = b_(Eigen::all, k).topRows(size()).transpose();
    }
    b_across = llt.solve_lower(std::move(across));
    left -= b_across.colwise().squaredNorm().transpose();
    lower = llt.lower().triangularView<Eigen::Lower>();
    std::erase_if(at.free, [&](std::int32_t u) {
      if (left[u] > 1e-10) return false;
      std::vector<Index> with = k;
      with.insert(std::upper_bound(with.begin(), with.end(), static_cast<Index>(u)), static_cast<Index>(u));
      const auto found = evaluate(with);
      return found.value == -kInfinity && found.doubtful == -kInfinity;
    });
  }
  const auto n = static_cast<Index>(at.free.size()), lead = padded_length(n), r = m_.cols();
  const std::vector<Index> f(at.free.begin(), at.free.end());
  SweepView& view = at.view;
  view.kind = kind_;
  view.n = n;
  view.lead = view.stride = lead;
  view.r = r;
  at.d1.assign(static_cast<std::size_t>(lead), 1.0);
  at.d2.assign(static_cast<std::size_t>(lead), 0.0);
  // The features from one on, as a scan leaves them: the rows stand where they are.
  const bool in_place = n > 0 && f.front() == size() - n;
  const double per = kind_ == SweepKind::kDefinite ? 1.0 / threshold : 1.0;
  const double largest_a = a_diagonal_.maxCoeff() * per;
  view.error1 = gamma_ * (kind_ == SweepKind::kDefinite ? 1.0 + largest_a : 1.0);
  view.error2 = kind_ == SweepKind::kRatio ? gamma_ * (1.0 + largest_a) : gamma_ * largest_a;
  view.size1 = kind_ == SweepKind::kDefinite ? 1.0 + largest_a : 1.0;
  view.size2 = kind_ == SweepKind::kRatio ? 1.0 + largest_a : largest_a;
  view.base = threshold;

  // M as seen from the kept ones: C = M_F - B_FK B_KK^{-1} M_K, and f of the kept ones.
  Matrix c = Matrix::Zero(lead, r);
  if (r > 0) c.topRows(n) = m_(f, Eigen::all) * std::sqrt(per);
  Matrix w;  // L^{-1} B_KF
  if (!k.empty()) {
    w = b_across(Eigen::all, f);
    const Matrix y = lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(lower.rows(), lower.rows()));
    const Vector sums = (y.transpose() * w).cwiseAbs().colwise().sum();
    kept_growth = square_of_one_and_largest(sums);
  }
  const auto gathered = [&](const PaddedMatrix& from) {
    Matrix out = Matrix::Zero(lead, n);
    for (Index j = 0; j < n; ++j) {
      const double* column = from.data() + f[static_cast<std::size_t>(j)] * from.rows();
      for (Index i = 0; i < n; ++i) out(i, j) = column[f[static_cast<std::size_t>(i)]];
    }
    return out;
  };
  const auto take_off = [&](const Matrix& part, Matrix& from) {  // from -= part' part
    linalg::gemm(-1.0, linalg::Op::kTranspose, part, linalg::Op::kNone, part, 1.0, from.topRows(n));
  };
  const auto add_c = [&](double sign, const Matrix& of, Matrix& to) {
    const Matrix part = of.topRows(n);
    linalg::gemm(sign, linalg::Op::kNone, part, linalg::Op::kTranspose, part, 1.0, to.topRows(n));
  };
  const auto diagonal_of = [&](const Matrix& x, std::vector<double>& d) {
    for (Index j = 0; j < n; ++j) d[static_cast<std::size_t>(j)] = x(j, j);
  };
  const auto value_of_kept = [&] { return evaluate(k).value; };

  if (by_blocks() || k.empty()) {
    if (!k.empty()) {
      // C (I - T_K/t)^{-1/2}, C, or C (I + T_K)^{-1/2}: x1 and x2 are B_F|K and that product alone.
      const Matrix y = lower.triangularView<Eigen::Lower>().solve(Matrix(m_(k, Eigen::all) * std::sqrt(per)));
      c.topRows(n) -= w.transpose() * y;
      at.across = w;
      if (kind_ != SweepKind::kTrace) {
        const auto eigen = linalg::spectrum(y.transpose() * y, true);
        const double sign = kind_ == SweepKind::kDefinite ? -1.0 : 1.0;
        const Vector k_values = (1.0 + sign * eigen.values.array());
        if (!(k_values.minCoeff() > 1e-12)) return std::nullopt;
        c = c * eigen.vectors * k_values.cwiseSqrt().cwiseInverse().asDiagonal();
        view.error1 /= std::min(1.0, k_values.minCoeff());
        view.error2 /= std::min(1.0, k_values.minCoeff());
        const double grown = largest_or_zero(c.rowwise().squaredNorm());
        view.size1 = std::max(view.size1, 1.0 + grown);
        view.size2 = std::max(view.size2, 1.0 + grown);
      }
      if (kind_ != SweepKind::kDefinite) view.base = threshold - value_of_kept();
      view.error1 *= kept_growth;
      view.error2 *= kept_growth;
    }
    for (Index j = 0; j < n; ++j) {
      const auto place = static_cast<std::size_t>(j);
      const double a = r > 0 ? c.row(j).squaredNorm() : a_diagonal_[f[place]] * per;
      const double b = k.empty() ? 1.0 : left[f[place]];
      at.d1[place] = kind_ == SweepKind::kDefinite ? b - a : b;
      at.d2[place] = kind_ == SweepKind::kRatio ? b + a : a;
    }
    at.c = std::move(c);
    if (!by_blocks()) {
      if (a_.size() > 0) {
        at.x1 = gathered(b_);
        at.x1 -= per * gathered(a_);
        view.x1 = at.x1.data();
      } else if (in_place) {
        view.x1 = b_.data() + f.front() * (b_.rows() + 1);
        view.stride = b_.rows();
      } else {
        at.x1 = gathered(b_);
        view.x1 = at.x1.data();
      }
    }
    view.c = r > 0 ? at.c.data() : nullptr;
  } else if (kind_ == SweepKind::kDefinite) {
    // H = B - A/t with a pivot on every kept one.
    Matrix h_kept = b_(k, k), h_across = b_.transpose()(f, k).transpose();
    at.x1 = gathered(b_);
    if (a_.size() > 0) {
      h_kept -= per * a_(k, k);
      h_across -= per * Matrix(a_.transpose()(f, k).transpose());
      at.x1 -= per * gathered(a_);
    } else {
      const Matrix m_kept = m_(k, Eigen::all) * std::sqrt(per);
      h_kept -= m_kept * m_kept.transpose();
      h_across -= m_kept * c.topRows(n).transpose();
      add_c(-1.0, c, at.x1);
    }
    const linalg::CholeskyFactor llt(h_kept);
    if (!(least_pivot(llt) > 1e-11)) return std::nullopt;
    const Matrix part = llt.solve_lower(h_across);
    const Vector sums = llt.solve(h_across).cwiseAbs().colwise().sum();
    take_off(part, at.x1);
    view.error1 *= square_of_one_and_largest(sums);
    diagonal_of(at.x1, at.d1);
    view.x1 = at.x1.data();
  } else {
    at.x1 = gathered(b_);
    const Matrix m_kept = m_(k, Eigen::all);
    if (kind_ == SweepKind::kRatio) {
      Matrix g_kept = b_(k, k), g_across = b_.transpose()(f, k).transpose();
      g_kept += m_kept * m_kept.transpose();
      g_across += m_kept * c.topRows(n).transpose();
      at.x2 = at.x1;
      add_c(1.0, c, at.x2);
      const linalg::CholeskyFactor llt(g_kept);
      if (!llt.positive()) return std::nullopt;
      const Vector sums = llt.solve(g_across).cwiseAbs().colwise().sum();
      take_off(llt.solve_lower(g_across), at.x2);
      view.error2 *= square_of_one_and_largest(sums);
      diagonal_of(at.x2, at.d2);
      view.x2 = at.x2.data();
    } else {
      const Matrix y = lower.triangularView<Eigen::Lower>().solve(m_kept);
      c.topRows(n) -= w.transpose() * y;
      view.error2 *= kept_growth;
      for (Index j = 0; j < n; ++j) at.d2[static_cast<std::size_t>(j)] = c.row(j).squaredNorm();
      at.c = std::move(c);
      view.c = at.c.data();
    }
    take_off(w, at.x1);
    view.error1 *= kept_growth;
    diagonal_of(at.x1, at.d1);
    view.x1 = at.x1.data();
    view.base = threshold - value_of_kept();
  }
  // Behind the end nothing is beaten.
  std::fill(at.d1.begin() + n, at.d1.end(), 1.0);
  std::fill(at.d2.begin() + n, at.d2.end(), 0.0);
  view.d1 = at.d1.data();
  view.d2 = at.d2.data();
  return at;
}

void SweepProblem::block(const SweepNode& node, Index first, Index count, Index begin, Index width,
                         Matrix& x1, Matrix& x2) const {
  const auto units = [&](Index from, Index many) {
    return std::vector<Index>(node.free.begin() + from, node.free.begin() + from + many);
  };
  x1.resize(width, count);
  linalg::gemm(1.0, linalg::Op::kTranspose, rows_of(units(begin, width)), linalg::Op::kNone,
               rows_of(units(first, count)), 0.0, x1);
  if (node.across.size() > 0) {
    linalg::gemm(-1.0, linalg::Op::kTranspose, node.across.middleCols(begin, width), linalg::Op::kNone,
                 node.across.middleCols(first, count), 1.0, x1);
  }
  const auto add_c = [&](double sign, Matrix& to) {
    linalg::gemm(sign, linalg::Op::kNone, node.c.middleRows(begin, width), linalg::Op::kTranspose,
                 node.c.middleRows(first, count), 1.0, to);
  };
  if (kind_ == SweepKind::kDefinite) {
    add_c(-1.0, x1);
    return;
  }
  if (kind_ == SweepKind::kRatio) {
    x2 = x1;
  } else {
    x2 = Matrix::Zero(width, count);
  }
  add_c(1.0, x2);
}

double SweepProblem::node_bytes() const {
  const auto n = static_cast<double>(size());
  if (by_blocks()) return 8.0 * n * static_cast<double>(m_.cols() + 4);
  return 8.0 * n * (n * (kind_ == SweepKind::kRatio ? 2.0 : 1.0) + static_cast<double>(m_.cols() + 4));
}

}  // namespace subspectra::search
