#include "search/sweep_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "search/sweep_kernels.hpp"

namespace subspectra::search {
namespace {

using kernels::kSweepRows;
using kernels::SweepFactors;
using kernels::SweepKernels;

constexpr std::int64_t kSweepTileRows = 2 * kSweepRows;  ///< rows j that are made at a time
constexpr std::int64_t kSweepChunk = 512;  ///< entries of a row between two rows: both stay in L1
constexpr std::int64_t kSweepBetweenLooks = 4'000'000;  ///< triples between two looks at the clock

double sweep_square(double x) { return x * x; }

/// The condition on a second feature j given the first, i, or on a third given both, as numbers that do not
/// depend on it: margin(l) > -error means that it is beaten. `always`: by what is there already.
struct SweepCondition {
  double w1 = 0.0, w2 = 0.0, p = 0.0, q = 0.0, s = 0.0;
  double error = 0.0;
  bool always = false;
};

/// What a pivot on a feature with the diagonal entry `own` makes of an error in the entries.
double after_pivot(double error, double size, double own) {
  return error * sweep_square(1.0 + std::sqrt(size / own));
}

/// Of pairs (i, l): the margin is that of the kernels definite_pairs, ratio_pairs, trace_pairs.
SweepCondition pair_condition(const SweepRow& row) {
  SweepCondition at;
  if (!(row.own1 > 4.0 * row.error1)) {
    at.always = true;
    return at;
  }
  switch (row.kind) {
    case SweepKind::kDefinite:  // x_il^2 > x_ii x_ll
      at.p = row.own1;
      at.error = 4.0 * row.size1 * row.error1;
      break;
    case SweepKind::kRatio: {  // x2_ll - x2_il^2/x2_ii > s (x1_ll - x1_il^2/x1_ii), s = e^base x1_ii/x2_ii
      at.p = 1.0 / row.own1;
      at.q = 1.0 / row.own2;
      at.s = std::exp(row.base) * row.own1 / row.own2;
      at.error = 2.0 * (after_pivot(row.error2, row.size2, row.own2) +
                        at.s * after_pivot(row.error1, row.size1, row.own1) +
                        at.s * row.size1 * 2.0 * (row.error1 / row.own1 + row.error2 / row.own2));
      break;
    }
    case SweepKind::kTrace: {  // |C_l - (x1_il/x1_ii) C_i|^2 > s (x1_ll - x1_il^2/x1_ii)
      const double c = 1.0 / row.own1;
      at.s = row.base - row.own2 * c;
      at.p = c * c * row.own2 + at.s * c;
      at.q = 2.0 * c;
      at.always = !(at.s > 0.0);
      at.error = 8.0 * (row.error2 + (row.size2 + row.base) * row.error1) * sweep_square(1.0 + c);
      break;
    }
  }
  return at;
}

double pair_margin(const SweepRow& row, const SweepCondition& at, std::int64_t l) {
  const double b = row.x1[l];
  switch (row.kind) {
    case SweepKind::kDefinite:
      return b * b - at.p * row.d1[l];
    case SweepKind::kRatio:
      return (row.d2[l] - at.q * sweep_square(row.x2[l])) - at.s * (row.d1[l] - at.p * b * b);
    case SweepKind::kTrace:
      return (row.d2[l] - at.s * row.d1[l]) + b * (at.p * b - at.q * row.x2[l]);
  }
  return 0.0;
}

bool row_of_pairs(const SweepKernels& kernels, const SweepRow& row, std::int64_t i, std::int64_t first_l,
                  std::int64_t count, const SweepListener& listener) {
  if (count <= 0) return true;
  const SweepCondition at = pair_condition(row);
  const auto whole = count / 8 * 8;  // what is behind is looked at one by one
  if (!at.always && whole > 0) {
    double best = 0.0;
    switch (row.kind) {
      case SweepKind::kDefinite:
        best = kernels.definite_pairs(row.x1, row.d1, at.p, whole);
        break;
      case SweepKind::kRatio:
        best = kernels.ratio_pairs(row.x1, row.x2, row.d1, row.d2, at.p, at.q, at.s, whole);
        break;
      case SweepKind::kTrace:
        best = kernels.trace_pairs(row.x1, row.x2, row.d1, row.d2, at.p, at.q, at.s, whole);
        break;
    }
    if (best > -at.error) {
      for (std::int64_t l = 0; l < whole; ++l) {
        if (pair_margin(row, at, l) > -2.0 * at.error && !listener.found(listener.user, i, first_l + l, -1))
          return false;
      }
    }
  }
  for (std::int64_t l = at.always ? 0 : whole; l < count; ++l) {
    if ((at.always || pair_margin(row, at, l) > -2.0 * at.error) &&
        !listener.found(listener.user, i, first_l + l, -1))
      return false;
  }
  return true;
}

/// SweepRows [first, first + rows) of the matrices that are scanned, from column `from` (a multiple of eight)
/// on: made of C, or where they stand.
class SweepRows {
 public:
  SweepRows(const SweepKernels& kernels, const SweepView& view, std::int64_t most)
      : kernels_(kernels), view_(view) {
    if (view.c == nullptr) return;
    const auto size = static_cast<std::size_t>(most * view.lead);
    own1_.resize(view.kind == SweepKind::kDefinite ? size : 0);
    own2_.resize(view.kind == SweepKind::kDefinite ? 0 : size);
  }
  void make(std::int64_t first, std::int64_t rows, std::int64_t from) {
    first_ = first;
    if (view_.c == nullptr) return;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t j = first + r;
      const double* b = view_.x1 + j * view_.stride;
      double* out = (own1_.empty() ? own2_ : own1_).data() + r * view_.lead;
      if (view_.kind == SweepKind::kTrace) {
        std::fill(out + from, out + view_.lead, 0.0);
      } else {
        std::copy(b + from, b + view_.lead, out + from);
      }
      const double sign = view_.kind == SweepKind::kDefinite ? -1.0 : 1.0;
      for (std::int64_t q = 0; q < view_.r; ++q) {
        const double* c = view_.c + q * view_.lead;
        kernels_.add(c + from, sign * c[j], out + from, view_.lead - from);
      }
    }
  }
  [[nodiscard]] const double* one(std::int64_t j) const {
    return own1_.empty() ? view_.x1 + j * view_.stride : own1_.data() + (j - first_) * view_.lead;
  }
  [[nodiscard]] const double* two(std::int64_t j) const {
    return own2_.empty() ? (view_.x2 == nullptr ? nullptr : view_.x2 + j * view_.stride)
                         : own2_.data() + (j - first_) * view_.lead;
  }
  [[nodiscard]] std::int64_t stride1() const { return own1_.empty() ? view_.stride : view_.lead; }
  [[nodiscard]] std::int64_t stride2() const { return own2_.empty() ? view_.stride : view_.lead; }

 private:
  const SweepKernels& kernels_;
  const SweepView& view_;
  std::int64_t first_ = 0;
  std::vector<double> own1_, own2_;
};

SweepRow row_of(const SweepView& view, const SweepRows& rows, std::int64_t i, std::int64_t from) {
  SweepRow row{.kind = view.kind, .x1 = rows.one(i) + from, .d1 = view.d1 + from, .own1 = view.d1[i]};
  if (view.kind != SweepKind::kDefinite) {
    row.x2 = rows.two(i) + from;
    row.d2 = view.d2 + from;
    row.own2 = view.d2[i];
  }
  row.base = view.base;
  row.error1 = view.error1;
  row.error2 = view.error2;
  row.size1 = view.size1;
  row.size2 = view.size2;
  return row;
}

/// What all triples of a first feature have in common.
struct SweepFirst {
  const double *x1 = nullptr, *x2 = nullptr;  ///< its rows
  std::vector<double> d1, d2;                 ///< diagonals of what is left after a pivot on it
  double own1 = 0.0, own2 = 0.0;
  double error1 = 0.0, error2 = 0.0;  ///< of an entry of what is left
  double size1 = 0.0, size2 = 0.0;    ///< the largest entries of d1, d2
  double base = 0.0;                  ///< what is left to be beaten
  bool always = false;                ///< it beats the threshold alone
};

void see_from(const SweepView& view, const SweepRows& rows, std::int64_t i, SweepFirst& at) {
  const auto lead = static_cast<std::size_t>(view.lead);
  const SweepRow row = row_of(view, rows, i, 0);
  at.x1 = row.x1;
  at.x2 = row.x2;
  at.own1 = row.own1;
  at.own2 = row.own2;
  at.always = !(at.own1 > 4.0 * view.error1);
  if (at.always) return;
  at.d1.assign(lead, 1.0);
  const double per1 = 1.0 / at.own1;
  at.size1 = 0.0;
  for (std::int64_t l = i + 1; l < view.n; ++l) {
    double& d = at.d1[static_cast<std::size_t>(l)];
    d = view.d1[l] - at.x1[l] * at.x1[l] * per1;
    at.size1 = std::max(at.size1, std::abs(d));
  }
  at.error1 = after_pivot(view.error1, view.size1, at.own1);
  if (view.kind == SweepKind::kDefinite) return;
  // Behind the end d2 is small beside d1: nothing there is beaten.
  at.d2.assign(lead, 0.0);
  at.size2 = 0.0;
  const double per2 = view.kind == SweepKind::kRatio ? 1.0 / at.own2 : 0.0;
  for (std::int64_t l = i + 1; l < view.n; ++l) {
    double& d = at.d2[static_cast<std::size_t>(l)];
    const double w = at.x1[l] * per1;
    d = view.kind == SweepKind::kRatio ? view.d2[l] - at.x2[l] * at.x2[l] * per2
                                       : view.d2[l] - 2.0 * w * at.x2[l] + w * w * at.own2;
    at.size2 = std::max(at.size2, std::abs(d));
  }
  if (view.kind == SweepKind::kRatio) {
    at.error2 = after_pivot(view.error2, view.size2, at.own2);
    at.base = std::exp(view.base) * at.own1 / at.own2;
  } else {
    const double grown = sweep_square(1.0 + std::sqrt(view.size1 / at.own1));
    at.error2 = 2.0 * grown * (view.error2 + view.size2 * view.error1);
    at.base = view.base - at.own2 * per1;
    at.always = !(at.base > 0.0);
  }
}

/// Of triples (i, j, l): the margin is that of the kernels definite, ratio, trace.
SweepCondition triple_condition(SweepKind kind, const SweepFirst& at, std::int64_t j) {
  SweepCondition c;
  if (at.always) {
    c.always = true;
    return c;
  }
  const double d = at.d1[static_cast<std::size_t>(j)];
  if (!(d > 4.0 * at.error1)) {
    c.always = true;
    return c;
  }
  c.w1 = at.x1[j] / at.own1;
  switch (kind) {
    case SweepKind::kDefinite:
      c.p = d;
      c.error = 4.0 * at.size1 * at.error1;
      break;
    case SweepKind::kRatio: {
      const double g = at.d2[static_cast<std::size_t>(j)];
      if (!(g > 4.0 * at.error2)) {
        c.always = true;
        return c;
      }
      c.w2 = at.x2[j] / at.own2;
      c.p = 1.0 / d;
      c.q = 1.0 / g;
      c.s = at.base * d / g;
      c.error = 2.0 * (after_pivot(at.error2, at.size2, g) + c.s * after_pivot(at.error1, at.size1, d) +
                       c.s * at.size1 * 2.0 * (at.error1 / d + at.error2 / g));
      break;
    }
    case SweepKind::kTrace: {
      const double per = 1.0 / d, a = at.d2[static_cast<std::size_t>(j)];
      c.w2 = (at.x2[j] - c.w1 * at.own2) / at.own1;
      c.s = at.base - a * per;
      c.p = per * per * a + c.s * per;
      c.q = 2.0 * per;
      c.always = !(c.s > 0.0);
      c.error = 8.0 * (at.error2 + (at.size2 + at.base) * at.error1) * sweep_square(1.0 + per);
      break;
    }
  }
  return c;
}

double triple_margin(SweepKind kind, const SweepFirst& at, const SweepCondition& c, const double* row1,
                     const double* row2, std::int64_t l) {
  const double b = row1[l] - c.w1 * at.x1[l], d1 = at.d1[static_cast<std::size_t>(l)];
  if (kind == SweepKind::kDefinite) return b * b - c.p * d1;
  const double d2 = at.d2[static_cast<std::size_t>(l)];
  if (kind == SweepKind::kRatio)
    return (d2 - c.q * sweep_square(row2[l] - c.w2 * at.x2[l])) - c.s * (d1 - c.p * b * b);
  const double a = row2[l] - c.w1 * at.x2[l] - c.w2 * at.x1[l];
  return (d2 - c.s * d1) + b * (c.p * b - c.q * a);
}

class TripleScan {
 public:
  TripleScan(const SweepKernels& kernels, const SweepView& view, std::int64_t first, std::int64_t last,
             const SweepListener& listener)
      : kernels_(kernels),
        view_(view),
        first_(first),
        last_(last),
        listener_(listener),
        own_(kernels, view, last - first),
        tile_(kernels, view, kSweepTileRows) {}

  bool run() {
    own_.make(first_, last_ - first_, first_ / 8 * 8);
    firsts_.resize(static_cast<std::size_t>(last_ - first_));
    for (std::int64_t i = first_; i < last_; ++i) see_from(view_, own_, i, first(i));
    for (std::int64_t j = first_ + 1; j + 1 < view_.n; j += kSweepTileRows) {
      const std::int64_t rows = std::min(kSweepTileRows, view_.n - 1 - j);
      tile_.make(j, rows, j / 8 * 8);
      for (std::int64_t from = 0; from < rows; from += kSweepRows) {
        const std::int64_t count = std::min<std::int64_t>(kSweepRows, rows - from);
        if (!group(j + from, count)) return false;
      }
      tried_ += rows * (view_.n - j) * (last_ - first_);
      if (tried_ > kSweepBetweenLooks) {
        tried_ = 0;
        if (!listener_.go_on(listener_.user)) return false;
      }
    }
    return true;
  }

 private:
  SweepFirst& first(std::int64_t i) { return firsts_[static_cast<std::size_t>(i - first_)]; }

  /// SweepRows j..j + count - 1 as second features.
  bool group(std::int64_t j, std::int64_t count) {
    const std::int64_t behind = j + kSweepRows;  // the others are left of the common part
    const bool full = count == kSweepRows && behind < view_.n;
    for (std::int64_t i = first_; i < std::min(last_, j + count); ++i) {
      SweepFirst& at = first(i);
      std::array<SweepCondition, kSweepRows> conditions;
      SweepFactors factors{};
      bool any = false;
      for (std::int64_t r = 0; r < count; ++r) {
        if (j + r <= i) continue;
        SweepCondition& c = conditions[static_cast<std::size_t>(r)];
        c = triple_condition(view_.kind, at, j + r);
        factors.w1[r] = c.w1;
        factors.w2[r] = c.w2;
        factors.p[r] = c.p;
        factors.q[r] = c.q;
        factors.s[r] = c.s;
        any = true;
      }
      if (!any) continue;
      std::array<double, kSweepRows> best;
      best.fill(-1.7e308);
      if (full && !at.always) scan(at, j, behind, factors, best);
      for (std::int64_t r = 0; r < count; ++r) {
        if (j + r <= i) continue;
        const SweepCondition& c = conditions[static_cast<std::size_t>(r)];
        const bool hit = c.always || best[static_cast<std::size_t>(r)] > -c.error;
        const std::int64_t to = hit || !full ? view_.n : behind;
        if (!tell(at, c, i, j + r, to)) return false;
      }
    }
    return true;
  }

  /// The largest margins of l >= behind, row by row.
  void scan(const SweepFirst& at, std::int64_t j, std::int64_t behind, const SweepFactors& factors,
            std::array<double, kSweepRows>& best) {
    const std::int64_t n = view_.n;
    if (n - behind < 8) {  // no eight of them
      for (int r = 0; r < kSweepRows; ++r) {
        const SweepCondition c{.w1 = factors.w1[r],
                               .w2 = factors.w2[r],
                               .p = factors.p[r],
                               .q = factors.q[r],
                               .s = factors.s[r]};
        for (std::int64_t l = behind; l < n; ++l) {
          best[static_cast<std::size_t>(r)] =
              std::max(best[static_cast<std::size_t>(r)],
                       triple_margin(view_.kind, at, c, tile_.one(j + r), tile_.two(j + r), l));
        }
      }
      return;
    }
    for (std::int64_t l = behind; l < n; l += kSweepChunk) {
      const std::int64_t count = std::min(kSweepChunk, n - l), whole = count / 8 * 8;
      if (whole > 0) scan_part(at, j, l, whole, factors, best);
      if (whole < count) scan_part(at, j, n - 8, 8, factors, best);  // the last eight, some of them again
    }
  }
  void scan_part(const SweepFirst& at, std::int64_t j, std::int64_t l, std::int64_t count,
                 const SweepFactors& factors, std::array<double, kSweepRows>& best) {
    std::array<double, kSweepRows> part{};
    const auto place = static_cast<std::size_t>(l);
    const double* const d1 = at.d1.data() + place;
    if (view_.kind == SweepKind::kDefinite) {
      kernels_.definite(tile_.one(j) + l, tile_.stride1(), at.x1 + l, d1, factors, count, part.data());
    } else {
      const auto kernel = view_.kind == SweepKind::kRatio ? kernels_.ratio : kernels_.trace;
      kernel(tile_.one(j) + l, tile_.two(j) + l, tile_.stride1(), tile_.stride2(), at.x1 + l, at.x2 + l, d1,
             at.d2.data() + place, factors, count, part.data());
    }
    for (std::size_t r = 0; r < best.size(); ++r) best[r] = std::max(best[r], part[r]);
  }

  bool tell(const SweepFirst& at, const SweepCondition& c, std::int64_t i, std::int64_t j, std::int64_t to) {
    const double* one = tile_.one(j);
    const double* two = view_.kind == SweepKind::kDefinite ? nullptr : tile_.two(j);
    for (std::int64_t l = j + 1; l < to; ++l) {
      if (!c.always && !(triple_margin(view_.kind, at, c, one, two, l) > -2.0 * c.error)) continue;
      if (!listener_.found(listener_.user, i, j, l)) return false;
    }
    return true;
  }

  const SweepKernels& kernels_;
  const SweepView& view_;
  std::int64_t first_, last_;
  const SweepListener& listener_;
  SweepRows own_, tile_;
  std::vector<SweepFirst> firsts_;
  std::int64_t tried_ = 0;
};

constexpr SweepEngine kProcessor = {
    "processor",
    [](const SweepView& view, std::int64_t first, std::int64_t last, const SweepListener& listener) {
      return sweep_pairs(kernels::sweep_kernels(), view, first, last, listener);
    },
    [](const SweepView& view, std::int64_t first, std::int64_t last, const SweepListener& listener) {
      return sweep_triples(kernels::sweep_kernels(), view, first, last, listener);
    }};

}  // namespace

const SweepEngine& processor_sweep() { return kProcessor; }

bool sweep_row(const SweepRow& row, std::int64_t i, std::int64_t first_l, std::int64_t count,
               const SweepListener& listener) {
  return row_of_pairs(kernels::sweep_kernels(), row, i, first_l, count, listener);
}

bool sweep_pairs(const SweepKernels& kernels, const SweepView& view, std::int64_t first, std::int64_t last,
                 const SweepListener& listener) {
  SweepRows rows(kernels, view, 1);
  std::int64_t tried = 0;
  for (std::int64_t i = first; i < last; ++i) {
    rows.make(i, 1, i / 8 * 8);
    const std::int64_t from = i + 1;
    if (!row_of_pairs(kernels, row_of(view, rows, i, from), i, from, view.n - from, listener)) return false;
    tried += view.n - i;
    if (tried > kSweepBetweenLooks) {
      tried = 0;
      if (!listener.go_on(listener.user)) return false;
    }
  }
  return true;
}

bool sweep_triples(const SweepKernels& kernels, const SweepView& view, std::int64_t first, std::int64_t last,
                   const SweepListener& listener) {
  return TripleScan(kernels, view, first, last, listener).run();
}

}  // namespace subspectra::search
