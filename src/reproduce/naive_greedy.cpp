#include "reproduce/naive_greedy.hpp"

#include <ctime>

#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

namespace subspectra::reproduce {
namespace {

double score_of(const Vector& a, const Matrix& b, const std::vector<Index>& set, NaiveScore score) {
  Matrix l = b(set, set);
  if (!linalg::cholesky(l)) return 0.0;
  Matrix u = a(set);
  linalg::solve_lower(l, linalg::Op::kNone, u);
  if (score == NaiveScore::kCholesky) return u.squaredNorm();
  const auto k = static_cast<Index>(set.size());
  Matrix c(k, k);
  linalg::syrk(1.0, linalg::Op::kNone, u, 0.0, c);  // L^{-1} a a' L^{-T}
  return linalg::symmetric_eigen(std::move(c), false).values[k - 1];
}

double seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

NaivePasses naive_dual_pass(const Vector& a, const Matrix& b, NaiveScore score, const RunControl& control) {
  const Index n = a.size();
  NaivePasses passes;
  passes.forward_values.resize(n);
  passes.backward_values.resize(n);
  const std::clock_t start = std::clock();
  std::vector<char> taken(static_cast<std::size_t>(n), 0);
  for (Index k = 1; k <= n; ++k) {
    double best = -1.0;
    Index best_at = -1;
    for (Index i = 0; i < n; ++i) {
      if (taken[static_cast<std::size_t>(i)] != 0) continue;
      if (control.should_stop()) return passes;
      std::vector<Index> set = passes.forward;
      set.push_back(i);
      const double value = score_of(a, b, set, score);
      if (value > best) {
        best = value;
        best_at = i;
      }
    }
    taken[static_cast<std::size_t>(best_at)] = 1;
    passes.forward.push_back(best_at);
    passes.forward_values[k - 1] = best;
  }
  passes.forward_s = seconds_since(start);
  const std::clock_t half = std::clock();
  std::vector<Index> left(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) left[static_cast<std::size_t>(i)] = i;
  passes.backward.assign(static_cast<std::size_t>(n), 0);
  passes.backward_values[n - 1] = score_of(a, b, left, score);
  for (Index k = n - 1; k >= 1; --k) {
    double best = -1.0;
    std::size_t best_at = 0;
    for (std::size_t at = 0; at < left.size(); ++at) {
      if (control.should_stop()) return passes;
      std::vector<Index> set = left;
      set.erase(set.begin() + static_cast<std::ptrdiff_t>(at));
      const double value = score_of(a, b, set, score);
      if (value > best) {
        best = value;
        best_at = at;
      }
    }
    passes.backward[static_cast<std::size_t>(k)] = left[best_at];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best_at));
    passes.backward_values[k - 1] = best;
  }
  passes.backward.front() = left.front();
  passes.backward_s = seconds_since(half);
  passes.finished = true;
  return passes;
}

}  // namespace subspectra::reproduce
