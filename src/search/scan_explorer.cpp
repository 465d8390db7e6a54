/// Exact search over single features and a few discriminants: two classes (r = 1), or more by any criterion.
/// docs/theory/exact.md.
///
/// A node keeps I for good and has F free; T = I + F. It is a smaller problem of the same kind, seen from two
/// sides:
///   from below   G = B_FF - B_FI B_I^{-1} B_IF, C = M_F - B_FI B_I^{-1} M_I: i brings |C_i|^2/G_ii to f(I)
///   from above   P = G^{-1} = (B_T^{-1})_FF, U = P C:                       i takes |U_i|^2/P_ii from f(T)
/// Keeping i is a pivot of (G, C) and a deletion in (P, U); dropping it is the reverse. So the whole node
/// costs O(|F|^2), whatever |I| is, and the last two features to be kept, or dropped, need no tree: the best
/// pair is one scan over G (or P). That is for the trace; `largest` and `wilks` have the r x r matrices T_I
/// and T_T beside it, through which gains, losses and pairs are asked about (scan_criterion.hpp).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>

#include "search/explorer.hpp"
#include "search/factor_problem.hpp"
#include "search/scan_criterion.hpp"
#include "search/scan_kernels.hpp"

namespace subspectra::search {
namespace {

/// Rows of a block start on multiples of eight numbers.
std::int64_t padded(std::int64_t n) { return (n + 7) / 8 * 8; }

/// One level of the recursion; allocated once a visit, reused by every node of that depth.
struct ScanLevel {
  std::int64_t count = 0, lead = 0;      ///< |F|, row length
  std::vector<std::int32_t> ids;         ///< of the free units, largest drop loss first
  std::vector<double> p, g;              ///< |F| x lead, both triangles
  std::vector<double> u, c;              ///< r rows of lead numbers
  std::vector<double> losses;            ///< of the free units
  std::vector<double> diag;              ///< of P
  double f_all = 0.0, f_kept = 0.0;      ///< f(T), f(I); this one for the trace alone
  Matrix t_all, t_kept;                  ///< T_T, T_I; not for the trace
  std::vector<std::int32_t> open_sizes;  ///< the sizes that the node serves

  void reserve(std::int64_t n, std::int64_t r) {
    const auto l = padded(n);
    const auto size = [](std::int64_t v) { return static_cast<std::size_t>(v); };
    ids.resize(size(l));
    p.resize(size(l * l));
    g.resize(size(l * l));
    u.resize(size(r * l));
    c.resize(size(r * l));
    losses.resize(size(l));
    diag.resize(size(l));
  }
};

class ScanDescent {
 public:
  ScanDescent(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff,
              const RunControl& control, VisitFindings& findings)
      : problem_(problem),
        sizes_(sizes_of(node, cutoff, findings)),
        r_(problem.m.cols()),
        budget_(budget),
        control_(control),
        findings_(findings),
        kept_(node.kept),
        trace_(problem.is_trace()),
        criterion_(problem.criterion, r_, problem.slack) {
    levels_.resize(2);
    most_depth_ = problem.most_depth(padded(static_cast<std::int64_t>(node.free.size())));
    last_ = problem.uses(ExactBound::kLastPair) ? 2 : 1;
    singles_ = problem.uses(ExactBound::kSingleDrop);
  }

  void run(const OpenNode& node) {
    ScanLevel& root = level(0, static_cast<std::int64_t>(node.free.size()));
    if (!build(node, root)) return;
    root.open_sizes.resize(sizes_.size());
    std::iota(root.open_sizes.begin(), root.open_sizes.end(), 0);
    enter();
  }

 private:
  [[nodiscard]] VisitSize& size_at(std::int32_t s) { return sizes_[static_cast<std::size_t>(s)]; }
  /// Units that size s still needs beyond the kept ones.
  [[nodiscard]] std::int64_t more_of(std::int32_t s) {
    return size_at(s).k - static_cast<std::int64_t>(kept_.size());
  }

  ScanLevel& level(std::size_t depth, std::int64_t count) {
    if (depth >= levels_.size()) levels_.resize(depth + 1);
    ScanLevel& at = levels_[depth];
    if (static_cast<std::int64_t>(at.ids.size()) < padded(count)) at.reserve(count, r_);
    at.count = count;
    at.lead = padded(count);
    return at;
  }

  /// G, C, P, U, f(I), f(T) from the matrices themselves, in the order of the losses.
  bool build(const OpenNode& node, ScanLevel& at) {
    const auto residual = problem_.residual(node, control_);
    if (!residual) return false;
    const auto& [g, c, p, u, kept] = *residual;
    const Index n = g.rows();
    Vector losses(n);
    if (trace_) {
      at.f_kept = kept.trace();
      at.f_all = at.f_kept + u.cwiseProduct(c).sum();
      losses = u.rowwise().squaredNorm().array() / p.diagonal().array();
    } else {
      at.t_kept = kept;
      const Matrix all = kept + c.transpose() * u;
      at.t_all = 0.5 * (all + all.transpose());
      const auto spectrum = criterion_.spectrum(at.t_all);
      criterion_.start_at(spectrum);
      at.f_all = criterion_.value(spectrum);
      const Vector diagonal = p.diagonal();
      criterion_.losses(spectrum, u.data(), u.rows(), diagonal.data(), n, losses.data());
    }
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return losses[a] > losses[b]; });
    for (Index i = 0; i < n; ++i) {
      const Index a = order[static_cast<std::size_t>(i)];
      at.ids[static_cast<std::size_t>(i)] = node.free[static_cast<std::size_t>(a)];
      at.losses[static_cast<std::size_t>(i)] = losses[a];
      at.diag[static_cast<std::size_t>(i)] = p(a, a);
      for (Index q = 0; q < r_; ++q) {
        at.u[static_cast<std::size_t>(q * at.lead + i)] = u(a, q);
        at.c[static_cast<std::size_t>(q * at.lead + i)] = c(a, q);
      }
      for (Index j = 0; j < n; ++j) {
        const Index b = order[static_cast<std::size_t>(j)];
        at.p[static_cast<std::size_t>(i * at.lead + j)] = p(a, b);
        at.g[static_cast<std::size_t>(i * at.lead + j)] = g(a, b);
      }
    }
    return true;
  }

  void offer(Limits& limits, const std::int32_t* more, std::int64_t count, std::int32_t a = -1,
             std::int32_t b = -1) {
    std::vector<Index> units(kept_.begin(), kept_.end());
    units.insert(units.end(), more, more + count);
    if (a >= 0) units.push_back(a);
    if (b >= 0) units.push_back(b);
    std::sort(units.begin(), units.end());
    const double value = problem_.value(units);
    limits.offer(std::move(units), value);
  }

  /// The kept units and all free ones but those at i and j.
  void offer_without(Limits& limits, const ScanLevel& at, std::int64_t i, std::int64_t j = -1) {
    std::vector<std::int32_t> rest;
    for (std::int64_t a = 0; a < at.count; ++a) {
      if (a != i && a != j) rest.push_back(at.ids[static_cast<std::size_t>(a)]);
    }
    offer(limits, rest.data(), static_cast<std::int64_t>(rest.size()));
  }

  /// The root of the visit is built and ordered.
  void enter() {
    ScanLevel& at = levels_[0];
    std::erase_if(at.open_sizes, [&](std::int32_t s) {
      Limits& limits = size_at(s).limits;
      const std::int64_t more = more_of(s), less = at.count - more;
      if (more < 0 || less < 0 || limits.closed(at.f_all)) return true;
      if (less == 0) {
        offer(limits, at.ids.data(), at.count);
      } else if (drops_first(more, less)) {
        close_by_drops(limits, at, less);
      } else if (more <= last_) {
        close_by_keeps(limits, at, 0, more);
      } else {
        return false;
      }
      return true;
    });
    if (!at.open_sizes.empty()) walk(0);
  }

  /// Few to drop, and fewer than to keep: the drops are scanned.
  [[nodiscard]] bool drops_first(std::int64_t more, std::int64_t less) const {
    return less <= last_ && less < more;
  }

  /// At most two more to be dropped.
  void close_by_drops(Limits& limits, const ScanLevel& at, std::int64_t less) {
    if (less == 1) {
      for (std::int64_t i = 0; i < at.count; ++i) {
        if (!limits.closed(at.f_all - at.losses[static_cast<std::size_t>(i)])) offer_without(limits, at, i);
      }
      return;
    }
    scan_pairs(limits, at, at.p.data(), at.u.data(), 0, -1.0);
  }

  /// At most two more of the units from..count-1 to be kept; `at.g`, `at.c` and f_kept are those of the node.
  void close_by_keeps(Limits& limits, const ScanLevel& at, std::int64_t from, std::int64_t more) {
    if (more == 2) {
      scan_pairs(limits, at, at.g.data(), at.c.data(), from, +1.0);
      return;
    }
    if (!trace_) {
      const auto spectrum = criterion_.spectrum(at.t_kept);
      if (more == 0 && !limits.closed(criterion_.value(spectrum))) offer(limits, nullptr, 0);
      for (std::int64_t i = from; more == 1 && i < at.count; ++i) {
        const double value = criterion_.with_one_more(spectrum, at.c.data() + i, at.lead,
                                                      at.g[static_cast<std::size_t>(i * at.lead + i)]);
        if (!limits.closed(value)) offer(limits, &at.ids[static_cast<std::size_t>(i)], 1);
      }
      return;
    }
    if (more == 0) {
      if (!limits.closed(at.f_kept)) offer(limits, nullptr, 0);
      return;
    }
    for (std::int64_t i = from; i < at.count; ++i) {
      double square = 0.0;
      for (Index q = 0; q < r_; ++q) {
        const double v = at.c[static_cast<std::size_t>(q * at.lead + i)];
        square += v * v;
      }
      const double value = at.f_kept + square / at.g[static_cast<std::size_t>(i * at.lead + i)];
      if (!limits.closed(value)) offer(limits, &at.ids[static_cast<std::size_t>(i)], 1);
    }
  }

  /// All pairs of from..count-1: kept (sign +1, block = G, rows = C) or dropped (sign -1, P, U).
  void scan_pairs(Limits& limits, const ScanLevel& at, const double* block, const double* rows,
                  std::int64_t from, double sign) {
    if (!trace_) {
      scan_pairs_of_several(limits, at, block, rows, from, sign);
      return;
    }
    const std::int64_t n = at.count;
    scale_.resize(static_cast<std::size_t>(at.lead));
    squares_.assign(static_cast<std::size_t>(at.lead), 0.0);
    scaled_.resize(static_cast<std::size_t>(r_ * at.lead));
    dot_.resize(static_cast<std::size_t>(at.lead));
    for (std::int64_t i = from; i < n; ++i)
      scale_[static_cast<std::size_t>(i)] = 1.0 / std::sqrt(block[i * at.lead + i]);
    for (Index q = 0; q < r_; ++q) {
      for (std::int64_t i = from; i < n; ++i) {
        const double x = rows[q * at.lead + i] * scale_[static_cast<std::size_t>(i)];
        scaled_[static_cast<std::size_t>(q * at.lead + i)] = x;
        squares_[static_cast<std::size_t>(i)] += x * x;
      }
    }
    const double base = sign > 0.0 ? at.f_kept : at.f_all;
    for (std::int64_t i = from; i + 1 < n; ++i) {
      const std::int64_t first = i + 1, count = n - first;
      const double xi = scaled_[static_cast<std::size_t>(i)];
      for (std::int64_t j = first; j < n; ++j)
        dot_[static_cast<std::size_t>(j)] = xi * scaled_[static_cast<std::size_t>(j)];
      for (Index q = 1; q < r_; ++q) {
        const double x = scaled_[static_cast<std::size_t>(q * at.lead + i)];
        for (std::int64_t j = first; j < n; ++j) {
          dot_[static_cast<std::size_t>(j)] += x * scaled_[static_cast<std::size_t>(q * at.lead + j)];
        }
      }
      // A set is worth a look above exact(); what lies between that and limit() counts as discarded.
      const double target = sign * (limits.exact() - base);
      if (kernels::best_pair_margin(block + i * at.lead + first, scale_.data() + first,
                                    squares_.data() + first, dot_.data() + first,
                                    scale_[static_cast<std::size_t>(i)],
                                    squares_[static_cast<std::size_t>(i)], target, sign, count) <= 0.0) {
        continue;
      }
      for (std::int64_t j = first; j < n; ++j) {
        const double rho = block[i * at.lead + j] * scale_[static_cast<std::size_t>(i)] *
                           scale_[static_cast<std::size_t>(j)];
        const double rest = 1.0 - rho * rho;
        if (!(rest > 1e-13)) continue;  // one is a multiple of the other
        const double pair = (squares_[static_cast<std::size_t>(i)] + squares_[static_cast<std::size_t>(j)] -
                             2.0 * rho * dot_[static_cast<std::size_t>(j)]) /
                            rest;
        if (limits.closed(base + sign * pair)) continue;
        if (sign > 0.0) {
          offer(limits, nullptr, 0, at.ids[static_cast<std::size_t>(i)], at.ids[static_cast<std::size_t>(j)]);
        } else {
          offer_without(limits, at, i, j);
        }
      }
    }
  }

  /// The same for `largest` and `wilks`: H and G of PairForm with G scaled to a unit diagonal. What passes is
  /// evaluated from its own rows.
  void scan_pairs_of_several(Limits& limits, const ScanLevel& at, const double* block, const double* rows,
                             std::int64_t from, double sign) {
    const std::int64_t n = at.count;
    scale_.resize(static_cast<std::size_t>(at.lead));
    squares_.resize(static_cast<std::size_t>(at.lead));
    scaled_.resize(static_cast<std::size_t>(r_ * at.lead));
    dot_.resize(static_cast<std::size_t>(at.lead));
    for (std::int64_t i = from; i < n; ++i)
      scale_[static_cast<std::size_t>(i)] = 1.0 / std::sqrt(block[i * at.lead + i]);
    const auto spectrum = criterion_.spectrum(sign > 0.0 ? at.t_kept : at.t_all);
    PairForm form;
    double limit = 0.0;
    const auto prepare = [&] {
      limit = limits.exact();
      form = sign > 0.0 ? criterion_.keep_form(spectrum, limit) : criterion_.drop_form(spectrum, limit);
      if (form.all) return;
      std::fill(squares_.begin() + from, squares_.begin() + n, 1.0);
      for (Index q = 0; q < r_; ++q) {
        double* const y = scaled_.data() + q * at.lead;
        std::fill(y + from, y + n, 0.0);
        for (Index p = 0; p < r_; ++p) {
          const double factor = form.axes(q, p);
          const double* const row = rows + p * at.lead;
          for (std::int64_t i = from; i < n; ++i) y[i] += factor * row[i];
        }
        for (std::int64_t i = from; i < n; ++i) {
          y[i] *= scale_[static_cast<std::size_t>(i)];
          squares_[static_cast<std::size_t>(i)] += form.signs[q] * y[i] * y[i];
        }
      }
      if (form.sign > 0.0) return;
      for (std::int64_t i = from; i < n; ++i) {  // wins whatever its partner is
        double& h = squares_[static_cast<std::size_t>(i)];
        if (!(h > 0.0)) h = -1e300;
      }
    };
    prepare();
    for (std::int64_t i = from; i + 1 < n; ++i) {
      if (limits.exact() != limit) prepare();
      const std::int64_t first = i + 1, count = n - first;
      const double own = squares_[static_cast<std::size_t>(i)];
      const bool whole_row = form.all || (form.sign < 0.0 && own < 0.0);
      if (!whole_row) {
        if (!(own > 0.0)) continue;  // no pair with it
        std::fill(dot_.begin() + first, dot_.begin() + n, 0.0);
        for (Index q = 0; q < r_; ++q) {
          const double* const y = scaled_.data() + q * at.lead;
          const double factor = form.signs[q] * y[i];
          for (std::int64_t j = first; j < n; ++j) dot_[static_cast<std::size_t>(j)] += factor * y[j];
        }
        if (kernels::best_determinant_margin(block + i * at.lead + first, scale_.data() + first,
                                             squares_.data() + first, dot_.data() + first,
                                             scale_[static_cast<std::size_t>(i)], own, form.sign, form.theta,
                                             count) <= 0.0) {
          continue;
        }
      }
      for (std::int64_t j = first; j < n; ++j) {
        const auto place = static_cast<std::size_t>(j);
        const double rho = block[i * at.lead + j] * scale_[static_cast<std::size_t>(i)] * scale_[place];
        const double rest = 1.0 - rho * rho;
        if (!(rest > 1e-13)) continue;  // one is a multiple of the other
        if (!whole_row) {
          const double beside = rho + dot_[place];
          if (!(form.sign * (own * squares_[place] - beside * beside) > form.theta * rest)) continue;
        }
        offer_pair(limits, at, i, j, sign);
      }
    }
  }

  /// A pair that may be worth it, by its value from scratch.
  void offer_pair(Limits& limits, const ScanLevel& at, std::int64_t i, std::int64_t j, double sign) {
    std::vector<Index> units(kept_.begin(), kept_.end());
    if (sign > 0.0) {
      units.push_back(at.ids[static_cast<std::size_t>(i)]);
      units.push_back(at.ids[static_cast<std::size_t>(j)]);
    } else {
      for (std::int64_t a = 0; a < at.count; ++a) {
        if (a != i && a != j) units.push_back(at.ids[static_cast<std::size_t>(a)]);
      }
    }
    std::sort(units.begin(), units.end());
    const double value = problem_.value(units);
    if (!limits.closed(value)) limits.offer(std::move(units), value);
  }

  /// Child t drops the t-th free unit and keeps those before it: the largest subtree, that of the unit missed
  /// most, comes first and dies first. The order is the same for every size, so that all of them go down
  /// together; a child lives as long as one of them needs it. False when the budget ran out inside.
  bool walk(std::size_t depth) {
    const std::size_t kept_before = kept_.size();
    ScanLevel& at = levels_[depth];  // a deque: growing it moves no level
    for (std::int64_t t = 0;; ++t) {
      // I + {0..t-1} kept, t.. free: two more to keep need no tree.
      std::erase_if(at.open_sizes, [&](std::int32_t s) {
        if (more_of(s) > last_) return false;
        close_by_keeps(size_at(s).limits, at, t, more_of(s));
        return true;
      });
      if (at.open_sizes.empty()) break;
      work_ += at.count * at.count;
      if (findings_.nodes >= budget_ ||
          (work_ > problem_.hooks.tuning.factor.entries_between_looks && asked_to_stop())) {
        hand_back(at, t);
        kept_.resize(kept_before);
        return false;
      }
      ++findings_.nodes;
      const bool done = child(depth, t);
      if (!done) {
        kept_.push_back(at.ids[static_cast<std::size_t>(t)]);
        hand_back(at, t + 1);
        kept_.resize(kept_before);
        return false;
      }
      keep(at, t);
    }
    kept_.resize(kept_before);
    return true;
  }

  bool asked_to_stop() {
    work_ = 0;
    return control_.should_stop();
  }

  /// t becomes a kept unit: a pivot of (G, C).
  void keep(ScanLevel& at, std::int64_t t) {
    double* g = at.g.data() + t * at.lead;
    const double pivot = g[t];
    double gain = 0.0;
    if (!trace_) add_outer(at.t_kept, at.c.data() + t, at.lead, 1.0 / pivot);
    for (Index q = 0; q < r_; ++q) {
      double* c = at.c.data() + q * at.lead;
      gain += c[t] * c[t];
      kernels::subtract(c + t + 1, g + t + 1, c[t] / pivot, at.count - t - 1);
    }
    at.f_kept += gain / pivot;
    kernels::pivot(at.g.data(), at.lead, t, at.count);
    kept_.push_back(at.ids[static_cast<std::size_t>(t)]);
  }

  /// T += factor y y', y_q = rows[q lead].
  void add_outer(Matrix& t, const double* rows, std::int64_t lead, double factor) const {
    for (Index q = 0; q < r_; ++q) {
      for (Index p = 0; p < r_; ++p) t(p, q) += factor * rows[p * lead] * rows[q * lead];
    }
  }

  /// What is left of a node when the visit ends: one node, with t.. free. Losses are in descending order, so
  /// that `less` drops cost at least the loss at count - less.
  void hand_back(const ScanLevel& at, std::int64_t t) {
    std::vector<ServedSize> sizes;
    for (const std::int32_t s : at.open_sizes) {
      const std::int64_t less = at.count - t - more_of(s);
      if (less < 0) continue;
      const std::int64_t place = std::max(t, at.count - less);
      const double bound = std::min(size_at(s).root_bound,
                                    at.f_all - (less > 0 ? at.losses[static_cast<std::size_t>(place)] : 0.0));
      if (!size_at(s).limits.closed(bound)) sizes.push_back({size_at(s).k, bound});
    }
    if (sizes.empty()) return;
    findings_.open.push_back(open_node(sizes, kept_, {at.ids.begin() + t, at.ids.begin() + at.count}));
  }

  /// Child t of the node at `depth`: every size keeps k - |I| and drops one less among the units after t.
  bool child(std::size_t depth, std::int64_t t) {
    const ScanLevel& at = levels_[depth];
    const std::int64_t rest = at.count - t - 1;
    const double f_all = at.f_all - at.losses[static_cast<std::size_t>(t)];
    child_sizes_.clear();
    double lowest = kInfinity;  // of the limits
    for (const std::int32_t s : at.open_sizes) {
      Limits& limits = size_at(s).limits;
      if (rest < more_of(s)) continue;
      if (limits.closed(f_all)) {
        close_child(at, t, s);
        continue;
      }
      child_sizes_.push_back(s);
      lowest = std::min(lowest, limits.limit());
    }
    if (child_sizes_.empty()) return true;
    // New diagonal and U of the rest: O(|F|), before the block is paid for.
    const double* q = at.p.data() + t * at.lead;
    const double inverse = 1.0 / q[t];
    diag_.resize(static_cast<std::size_t>(at.lead));
    u_.resize(static_cast<std::size_t>(r_ * at.lead));
    losses_.assign(static_cast<std::size_t>(at.lead), 0.0);
    kernels::drop_diagonal(at.diag.data() + t + 1, q + t + 1, inverse, diag_.data(), rest);
    for (Index c = 0; c < r_; ++c) {
      double* u = u_.data() + c * at.lead;
      const double* from = at.u.data() + c * at.lead;
      std::memcpy(u, from + t + 1, static_cast<std::size_t>(rest) * sizeof(double));
      kernels::subtract(u, q + t + 1, from[t] * inverse, rest);
      for (std::int64_t i = 0; i < rest; ++i) losses_[static_cast<std::size_t>(i)] += u[i] * u[i];
    }
    if (trace_) {
      for (std::int64_t i = 0; i < rest; ++i)
        losses_[static_cast<std::size_t>(i)] /= diag_[static_cast<std::size_t>(i)];
    } else {
      t_child_ = at.t_all;
      add_outer(t_child_, at.u.data() + t, at.lead, -inverse);
      criterion_.losses(criterion_.spectrum(t_child_), u_.data(), at.lead, diag_.data(), rest,
                        losses_.data());
    }
    // Whoever costs too much alone is kept for good: for the node, where that holds for every size it serves.
    child_free_.clear();
    const double slack = f_all - lowest;
    for (std::int64_t i = 0; i < rest; ++i) {
      if (losses_[static_cast<std::size_t>(i)] < slack || !singles_)
        child_free_.push_back(static_cast<std::int32_t>(i));
    }
    // A size with fewer units that can go than must is closed.
    std::erase_if(child_sizes_, [&](std::int32_t s) {
      if (droppable(s, f_all, rest) >= rest - more_of(s)) return false;
      close_child(at, t, s);
      return true;
    });
    if (!child_sizes_.empty() && problem_.minorant.size() > 0) close_by_sums(at, t, f_all);
    if (child_sizes_.empty()) return true;
    std::sort(child_free_.begin(), child_free_.end(), [&](std::int32_t a, std::int32_t b) {
      const double x = losses_[static_cast<std::size_t>(a)], y = losses_[static_cast<std::size_t>(b)];
      return x != y ? x > y : a < b;
    });
    return expand(depth, t, f_all, inverse);
  }

  /// Units of the child whose loss alone leaves size s something to find. Sets that drop one of those between
  /// limit() and exact() are left out for the gap's sake.
  std::int64_t droppable(std::int32_t s, double f_all, std::int64_t rest) {
    if (!singles_) return rest;
    Limits& limits = size_at(s).limits;
    const double slack = f_all - limits.limit(), exact_slack = f_all - limits.exact();
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rest; ++i) count += losses_[static_cast<std::size_t>(i)] < slack ? 1 : 0;
    if (exact_slack > slack) {
      double next = kInfinity;
      for (std::int64_t i = 0; i < rest; ++i) {
        const double loss = losses_[static_cast<std::size_t>(i)];
        if (loss >= slack && loss < exact_slack) next = std::min(next, loss);
      }
      if (next < kInfinity) limits.discard(f_all - next);
    }
    return count;
  }

  /// The end of child t for size s, whose bound does not beat what is known.
  void close_child(const ScanLevel& at, std::int64_t t, std::int32_t s) {
    problem_.guard(kept_, std::vector<std::int32_t>(at.ids.begin() + t + 1, at.ids.begin() + at.count),
                   size_at(s).k, size_at(s).limits.limit());
  }

  /// With D the minorant, P_DD^{-1} >= diag(D) and G_F >= diag(D): dropping a set costs at least the sum of
  /// its D_i |U_i|^2, keeping one brings at most the sum of its |C_i|^2/D_i.
  void close_by_sums(const ScanLevel& at, std::int64_t t, double f_all) {
    const std::int64_t rest = at.count - t - 1;
    if (problem_.uses(ExactBound::kDropSum)) {
      sums_.clear();
      for (const auto i : child_free_) {
        const auto id = at.ids[static_cast<std::size_t>(t + 1 + i)];
        sums_.push_back(problem_.minorant[id] * losses_[static_cast<std::size_t>(i)] *
                        diag_[static_cast<std::size_t>(i)]);
      }
      close_by_smallest(
          at, t, [&](std::int32_t s) { return rest - more_of(s); }, f_all);
    }
    if (problem_.uses(ExactBound::kGainSum)) {
      sums_.clear();
      for (std::int64_t i = t + 1; i < at.count; ++i) {
        double square = 0.0;
        for (Index q = 0; q < r_; ++q) {
          const double c = at.c[static_cast<std::size_t>(q * at.lead + i)];
          square += c * c;
        }
        sums_.push_back(-square / problem_.minorant[at.ids[static_cast<std::size_t>(i)]]);
      }
      close_by_smallest(
          at, t, [&](std::int32_t s) { return more_of(s); }, at.f_kept);
    }
  }

  /// Closes the sizes s for which `from` less the count(s) smallest of sums_ does not beat what is known.
  template <class Count>
  void close_by_smallest(const ScanLevel& at, std::int64_t t, Count count, double from) {
    const auto all = static_cast<std::int64_t>(sums_.size());
    const auto wanted = [&](std::int32_t s) { return std::clamp<std::int64_t>(count(s), 0, all); };
    if (child_sizes_.size() == 1) {  // no order is needed for a single sum
      const auto end = sums_.begin() + wanted(child_sizes_.front());
      if (end != sums_.begin()) std::nth_element(sums_.begin(), end - 1, sums_.end());
      sums_.erase(end, sums_.end());
      sums_.assign(1, std::accumulate(sums_.begin(), sums_.end(), 0.0));
    } else {
      std::sort(sums_.begin(), sums_.end());
      std::partial_sum(sums_.begin(), sums_.end(), sums_.begin());
    }
    const bool single = child_sizes_.size() == 1;
    std::erase_if(child_sizes_, [&](std::int32_t s) {
      const std::int64_t n = wanted(s);
      const double sum = n == 0 ? 0.0 : single ? sums_.front() : sums_[static_cast<std::size_t>(n - 1)];
      if (!size_at(s).limits.closed(from - sum)) return false;
      close_child(at, t, s);
      return true;
    });
  }

  /// Builds the child: the units of child_free_ free, the others after t kept.
  bool expand(std::size_t depth, std::int64_t t, double f_all, double inverse) {
    const std::int64_t rest = levels_[depth].count - t - 1;
    const std::int64_t free = static_cast<std::int64_t>(child_free_.size());
    const std::int64_t fixed = rest - free;
    const std::size_t kept_before = kept_.size();
    // Fixed units first, so that they are the first pivots of G.
    order_.clear();
    if (fixed > 0) {
      marks_.assign(static_cast<std::size_t>(rest), 0);
      for (const auto i : child_free_) marks_[static_cast<std::size_t>(i)] = 1;
      for (std::int64_t i = 0; i < rest; ++i) {
        if (marks_[static_cast<std::size_t>(i)] == 0) order_.push_back(static_cast<std::int32_t>(i));
      }
    }
    order_.insert(order_.end(), child_free_.begin(), child_free_.end());
    ScanLevel& to = level(depth + 1, rest);
    const ScanLevel& at = levels_[depth];
    to.f_all = f_all;
    to.f_kept = at.f_kept;
    if (!trace_) {
      to.t_all = t_child_;
      to.t_kept = at.t_kept;
    }
    kernels::gather(at.g.data() + (t + 1) * at.lead + t + 1, at.lead, order_.data(), rest, to.g.data(),
                    to.lead);
    for (std::int64_t i = 0; i < rest; ++i) {
      const auto from = static_cast<std::size_t>(t + 1 + order_[static_cast<std::size_t>(i)]);
      to.ids[static_cast<std::size_t>(i)] = at.ids[from];
      for (Index q = 0; q < r_; ++q) {
        to.c[static_cast<std::size_t>(q * to.lead + i)] = at.c[static_cast<std::size_t>(q * at.lead) + from];
      }
    }
    for (std::int64_t i = 0; i < fixed; ++i) keep(to, i);
    if (fixed > 0) shift(to, fixed);
    // What needs no tree, first that from (G, C) alone.
    to.open_sizes.clear();
    for (const std::int32_t s : child_sizes_) {
      const std::int64_t more = more_of(s), less = free - more;
      if (less == 0) {
        offer(size_at(s).limits, to.ids.data(), to.count);
      } else if (more <= last_ && !drops_first(more, less)) {
        close_by_keeps(size_at(s).limits, to, 0, more);
      } else {
        to.open_sizes.push_back(s);
      }
    }
    bool done = true;
    if (!to.open_sizes.empty()) {
      for (std::int64_t i = 0; i < free; ++i) {
        const auto from = static_cast<std::size_t>(child_free_[static_cast<std::size_t>(i)]);
        to.losses[static_cast<std::size_t>(i)] = losses_[from];
        to.diag[static_cast<std::size_t>(i)] = diag_[from];
        for (Index q = 0; q < r_; ++q) {
          to.u[static_cast<std::size_t>(q * to.lead + i)] = u_[static_cast<std::size_t>(q * at.lead) + from];
        }
      }
      if (depth + 1 >= most_depth_) {  // what lies below waits for a visit of its own
        hand_back(to, 0);
        kept_.resize(kept_before);
        return true;
      }
      packed_.resize(static_cast<std::size_t>(at.lead));
      kernels::gather_rank_one(at.p.data() + (t + 1) * at.lead + t + 1, at.lead, child_free_.data(), free,
                               at.p.data() + t * at.lead + t + 1, inverse, packed_.data(), to.p.data(),
                               to.lead);
      std::erase_if(to.open_sizes, [&](std::int32_t s) {
        const std::int64_t more = more_of(s), less = free - more;
        if (!drops_first(more, less)) return false;
        close_by_drops(size_at(s).limits, to, less);
        return true;
      });
      if (!to.open_sizes.empty()) done = walk(depth + 1);
    }
    kept_.resize(kept_before);
    return done;
  }

  /// Forgets the first `gone` rows of (G, C), which have been pivots.
  void shift(ScanLevel& to, std::int64_t gone) const {
    const std::int64_t left = to.count - gone;
    const auto bytes = static_cast<std::size_t>(left) * sizeof(double);
    for (std::int64_t i = 0; i < left; ++i) {
      std::memmove(to.g.data() + i * to.lead, to.g.data() + (i + gone) * to.lead + gone, bytes);
    }
    for (Index q = 0; q < r_; ++q)
      std::memmove(to.c.data() + q * to.lead, to.c.data() + q * to.lead + gone, bytes);
    std::copy(to.ids.begin() + gone, to.ids.begin() + to.count, to.ids.begin());
    to.count = left;
  }

  const FactorProblem& problem_;
  std::vector<VisitSize> sizes_;
  Index r_;
  std::uint64_t budget_;
  std::int64_t last_ = 2;  ///< so many last units need no tree
  bool singles_ = true;
  std::size_t most_depth_ = 2;
  std::int64_t work_ = 0;
  const RunControl& control_;
  VisitFindings& findings_;
  std::vector<std::int32_t> kept_;
  bool trace_;
  ScanCriterion criterion_;  ///< where it is no trace
  std::deque<ScanLevel> levels_;
  // Scratch of one node, never needed across a recursion.
  Matrix t_child_;  ///< T_T of the child
  std::vector<double> diag_, u_, losses_, packed_, scale_, squares_, scaled_, dot_, sums_;
  std::vector<std::int32_t> child_free_;  ///< of the child: places among the units after t
  std::vector<std::int32_t> order_;
  OpenSizes child_sizes_;  ///< for which the child is open
  std::vector<char> marks_;
};

}  // namespace

void scan_explore(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget,
                  const Cutoff& cutoff, const RunControl& control, VisitFindings& findings) {
  ScanDescent(problem, node, budget, cutoff, control, findings).run(node);
}

}  // namespace subspectra::search
