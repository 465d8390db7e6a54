#include "search/sweep_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

namespace subspectra::search {
namespace {

/// Weights of the features of a small working set, and what follows from them: s = (I + W D)^{-1} M and Q =
/// (I + W D)^{-1} W, D = zeta/lambda. A change of one weight costs O(w^2).
class Weights {
 public:
  Weights(const SweepProblem& problem, std::vector<std::int32_t> units, const std::vector<double>& weights)
      : units_(std::move(units)),
        n_(units_.size()),
        r_(static_cast<std::size_t>(problem.columns())),
        weight_(n_, 0.0),
        lambda_(n_),
        q_(n_ * n_),
        s_(n_ * r_) {
    const Matrix& b = problem.b();
    for (std::size_t i = 0; i < n_; ++i) {
      lambda_[i] = problem.ridge()[units_[i]];
      for (std::size_t j = 0; j < n_; ++j)
        q_[i * n_ + j] = b(units_[i], units_[j]) - (i == j ? lambda_[i] : 0.0);
      for (std::size_t c = 0; c < r_; ++c) s_[i * r_ + c] = problem.m()(units_[i], static_cast<Index>(c));
    }
    for (std::size_t i = 0; i < weights.size(); ++i) change(i, weights[i]);
  }

  [[nodiscard]] std::size_t size() const { return n_; }
  [[nodiscard]] const std::vector<std::int32_t>& units() const { return units_; }
  [[nodiscard]] const std::vector<double>& weights() const { return weight_; }
  [[nodiscard]] double lambda(std::size_t i) const { return lambda_[i]; }
  [[nodiscard]] double inner(std::size_t i, std::size_t j) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < r_; ++c) sum += s_[i * r_ + c] * s_[j * r_ + c];
    return sum;
  }
  [[nodiscard]] double term(std::size_t i) const { return inner(i, i) / lambda_[i]; }
  /// D_i s_i.
  [[nodiscard]] double beta(std::size_t i, std::size_t c) const {
    return weight_[i] / lambda_[i] * s_[i * r_ + c];
  }

  void change(std::size_t i, double by) {
    if (by == 0.0) return;
    weight_[i] = std::clamp(weight_[i] + by, 0.0, 1.0);
    const double factor = by / lambda_[i];
    const double scale = factor / (1.0 + factor * q_[i * n_ + i]);
    const std::vector<double> own(q_.begin() + static_cast<std::ptrdiff_t>(i * n_),
                                  q_.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_));
    const std::vector<double> mine(s_.begin() + static_cast<std::ptrdiff_t>(i * r_),
                                   s_.begin() + static_cast<std::ptrdiff_t>((i + 1) * r_));
    for (std::size_t j = 0; j < n_; ++j) {
      const double part = scale * own[j];
      double* const row = q_.data() + j * n_;
      for (std::size_t l = 0; l < n_; ++l) row[l] -= part * own[l];
      for (std::size_t c = 0; c < r_; ++c) s_[j * r_ + c] -= part * mine[c];
    }
  }

  /// Newton's step that moves weight from j to i.
  void exchange(std::size_t i, std::size_t j) {
    const auto curvature = [&](std::size_t a, std::size_t b) {
      return inner(a, b) * q_[a * n_ + b] / (lambda_[a] * lambda_[b]);
    };
    const double bend = 2.0 * (curvature(i, i) + curvature(j, j) - 2.0 * curvature(i, j));
    const double most = std::min(1.0 - weight_[i], weight_[j]);
    const double step = bend > 0.0 ? std::min(most, (term(i) - term(j)) / bend) : most;
    change(i, step);
    change(j, -step);
  }

 private:
  std::vector<std::int32_t> units_;
  std::size_t n_, r_;
  std::vector<double> weight_, lambda_, q_, s_;
};

constexpr std::size_t kFirstColumns = 32, kMoreColumns = 24, kMostColumns = 160;
constexpr int kRounds = 6, kExchanges = 150;
constexpr double kCloseEnough = 2e-3;  ///< of the value of the relaxation

/// The bound that the weights give, over all features.
DualBound priced(const SweepProblem& problem, const Weights& at, const std::vector<std::int32_t>& kept,
                 const std::vector<std::int32_t>& free, Index more) {
  const Matrix& b = problem.b();
  const Matrix& m = problem.m();
  const auto r = static_cast<std::size_t>(problem.columns());
  const auto n = static_cast<std::size_t>(problem.size());
  DualBound result;
  // W beta over all units: columns of B that carry a weight.
  std::vector<double> product(n * r, 0.0);
  std::vector<double> sum(r, 0.0);
  double total = 0.0;
  for (std::size_t l = 0; l < at.size(); ++l) {
    if (at.weights()[l] == 0.0) continue;
    const auto u = static_cast<std::size_t>(at.units()[l]);
    const double* column = b.data() + static_cast<std::ptrdiff_t>(u) * b.rows();
    for (std::size_t c = 0; c < r; ++c) {
      const double beta = at.beta(l, c);
      double* const out = product.data() + c * n;
      for (std::size_t i = 0; i < n; ++i) out[i] += beta * column[i];
      out[u] -= beta * at.lambda(l);
      sum[c] += std::abs(beta);
    }
  }
  double square = 0.0, largest_sum = 0.0;
  for (std::size_t c = 0; c < r; ++c) {
    double inner = 0.0;
    for (std::size_t l = 0; l < at.size(); ++l) {
      if (at.weights()[l] != 0.0)
        inner += at.beta(l, c) * product[c * n + static_cast<std::size_t>(at.units()[l])];
    }
    total += inner;
    square += sum[c] * sum[c];
    largest_sum = std::max(largest_sum, sum[c]);
  }
  const double entry = problem.entry_error() * 4.0;
  const auto term = [&](std::int32_t u) {
    double inner = 0.0;
    for (std::size_t c = 0; c < r; ++c) {
      const double s = std::abs(m(u, static_cast<Index>(c)) - product[c * n + static_cast<std::size_t>(u)]) +
                       entry * (sum[c] + std::abs(m(u, static_cast<Index>(c))));
      inner += s * s;
    }
    return inner / problem.ridge()[u];
  };
  result.kept = std::max(0.0, total) + entry * square;
  for (const std::int32_t u : kept) result.kept += term(u);
  result.terms.reserve(free.size());
  for (const std::int32_t u : free) result.terms.push_back(term(u));
  std::vector<double> largest = result.terms;
  const auto middle = largest.begin() + std::min<std::ptrdiff_t>(more, std::ssize(largest));
  std::partial_sort(largest.begin(), middle, largest.end(), std::greater<>());
  result.bound = std::accumulate(largest.begin(), middle, result.kept) * (1.0 + 1e-11);
  return result;
}

}  // namespace

DualBound dual_bound(const SweepProblem& problem, const std::vector<std::int32_t>& kept,
                     const std::vector<std::int32_t>& free, Index more, double worth) {
  const auto wanted = static_cast<std::size_t>(more);
  DualBound best;
  std::vector<std::int32_t> units = kept;
  std::vector<double> weights(kept.size(), 1.0);
  std::vector<std::int32_t> order(free.size());  // places in free, the largest terms first
  const auto sort_by = [&](const std::vector<double>& terms, std::size_t most) {
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
    std::partial_sort(order.begin(), middle, order.end(), [&](std::int32_t x, std::int32_t y) {
      const double tx = terms[static_cast<std::size_t>(x)], ty = terms[static_cast<std::size_t>(y)];
      return tx != ty ? tx > ty : x < y;
    });
  };
  std::vector<char> in(static_cast<std::size_t>(problem.size()), 0);
  for (const std::int32_t u : kept) in[static_cast<std::size_t>(u)] = 1;
  const auto add_columns = [&](const DualBound& by, std::size_t most) {
    sort_by(by.terms, most + units.size());
    std::size_t added = 0;
    for (std::size_t i = 0; i < std::min(order.size(), most + units.size()) && added < most; ++i) {
      const std::int32_t u = free[static_cast<std::size_t>(order[i])];
      if (in[static_cast<std::size_t>(u)] != 0 || units.size() >= kMostColumns + kept.size()) continue;
      in[static_cast<std::size_t>(u)] = 1;
      units.push_back(u);
      ++added;
    }
    return added;
  };

  // What the kept ones leave, and the largest terms of that: the first columns.
  best = priced(problem, Weights(problem, units, weights), kept, free, more);
  if (best.bound <= worth || free.empty() || more == 0) return best;
  if (add_columns(best, std::max(kFirstColumns, 2 * wanted)) < std::min(wanted, free.size())) return best;
  for (int round = 0; round < kRounds; ++round) {
    Weights at(problem, units, weights);
    const std::size_t first = kept.size();
    if (round == 0) {  // one after another, the largest term first
      for (std::size_t step = 0; step < std::min(wanted, at.size() - first); ++step) {
        std::size_t next = first;
        for (std::size_t i = first; i < at.size(); ++i) {
          if (at.weights()[i] == 0.0 && (at.weights()[next] != 0.0 || at.term(i) > at.term(next))) next = i;
        }
        at.change(next, 1.0);
      }
    }
    for (int step = 0; step < kExchanges; ++step) {
      std::size_t up = at.size(), down = at.size();
      double value = 0.0;
      for (std::size_t i = first; i < at.size(); ++i) {
        const double term = at.term(i);
        if (at.weights()[i] < 1.0 && (up == at.size() || term > at.term(up))) up = i;
        if (at.weights()[i] > 0.0 && (down == at.size() || term < at.term(down))) down = i;
        value += at.weights()[i] * term;
      }
      if (up == at.size() || down == at.size() || up == down) break;
      if (at.term(up) - at.term(down) <= kCloseEnough * std::max(value, 1e-300) / static_cast<double>(wanted))
        break;
      at.exchange(up, down);
    }
    weights = at.weights();
    DualBound now = priced(problem, at, kept, free, more);
    const bool better = now.bound < best.bound;
    const bool much = now.bound < best.bound * (1.0 - 1e-3);
    if (better) best = now;
    if (best.bound <= worth) break;
    // Features outside whose terms are among the largest: with them the weights are not the best ones.
    if (add_columns(now, kMoreColumns) == 0 || (round > 1 && !much)) break;
  }
  return best;
}

}  // namespace subspectra::search
