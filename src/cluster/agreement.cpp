#include "cluster/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

/// The column of every row for the least sum of cost(row, column), rows <= columns. u, v are the potentials:
/// cost - u - v >= 0, and 0 on the matched pairs. Row by row, the shortest way from the new row to a free
/// column is found and turned round. Index 0 stands for "none" in the arrays, as in the textbook form.
std::vector<Index> least_cost(const Matrix& cost) {
  const Index n = cost.rows(), m = cost.cols();
  const auto size = static_cast<std::size_t>(m) + 1;
  Vector u = Vector::Zero(n + 1), v = Vector::Zero(m + 1);
  std::vector<Index> row_of(size, 0), way(size, 0);
  for (Index i = 1; i <= n; ++i) {
    row_of[0] = i;
    Index column = 0;
    Vector least = Vector::Constant(m + 1, kInfinity);
    std::vector<char> used(size, 0);
    do {
      used[static_cast<std::size_t>(column)] = 1;
      const Index row = row_of[static_cast<std::size_t>(column)];
      Index next = 0;
      double delta = kInfinity;
      for (Index j = 1; j <= m; ++j) {
        if (used[static_cast<std::size_t>(j)] != 0) continue;
        const double reduced = cost(row - 1, j - 1) - u[row] - v[j];
        if (reduced < least[j]) {
          least[j] = reduced;
          way[static_cast<std::size_t>(j)] = column;
        }
        if (least[j] < delta) {
          delta = least[j];
          next = j;
        }
      }
      for (Index j = 0; j <= m; ++j) {
        if (used[static_cast<std::size_t>(j)] != 0) {
          u[row_of[static_cast<std::size_t>(j)]] += delta;
          v[j] -= delta;
        } else {
          least[j] -= delta;
        }
      }
      column = next;
    } while (row_of[static_cast<std::size_t>(column)] != 0);
    while (column != 0) {
      const Index before = way[static_cast<std::size_t>(column)];
      row_of[static_cast<std::size_t>(column)] = row_of[static_cast<std::size_t>(before)];
      column = before;
    }
  }
  std::vector<Index> column_of(static_cast<std::size_t>(n), -1);
  for (Index j = 1; j <= m; ++j) {
    const Index row = row_of[static_cast<std::size_t>(j)];
    if (row > 0) column_of[static_cast<std::size_t>(row - 1)] = j - 1;
  }
  return column_of;
}

double pairs(double n) { return 0.5 * n * (n - 1.0); }

}  // namespace

std::vector<Index> best_matching(const MatrixRef& gain) {
  if (!gain.allFinite()) throw InvalidArgument("best_matching: every gain must be finite");
  if (gain.rows() <= gain.cols()) return least_cost(-gain);
  const auto row_of = least_cost(-gain.transpose());
  std::vector<Index> column_of(static_cast<std::size_t>(gain.rows()), -1);
  for (std::size_t j = 0; j < row_of.size(); ++j)
    column_of[static_cast<std::size_t>(row_of[j])] = static_cast<Index>(j);
  return column_of;
}

Matrix contingency(const std::vector<int>& a, const std::vector<int>& b) {
  if (a.size() != b.size()) {
    throw InvalidArgument(
        fmt::format("contingency: {} codes and {}, but both are of the same rows", a.size(), b.size()));
  }
  const auto count = [](const std::vector<int>& codes) {
    return codes.empty() ? 0 : std::max(0, *std::max_element(codes.begin(), codes.end()) + 1);
  };
  Matrix counts = Matrix::Zero(count(a), count(b));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] >= 0 && b[i] >= 0) counts(a[i], b[i]) += 1.0;
  }
  return counts;
}

double adjusted_rand_index(const MatrixRef& counts) {
  const double all = pairs(counts.sum());
  if (!(all > 0.0)) return 1.0;
  const double both = counts.unaryExpr(&pairs).sum();
  const double in_a = counts.rowwise().sum().unaryExpr(&pairs).sum();
  const double in_b = counts.colwise().sum().unaryExpr(&pairs).sum();
  if (both == in_a && both == in_b) return 1.0;  // the same partition, however trivial
  const double by_chance = in_a * in_b / all;
  return (both - by_chance) / (0.5 * (in_a + in_b) - by_chance);
}

Agreement agreement(const std::vector<int>& clusters, const std::vector<int>& classes) {
  const Matrix counts = contingency(clusters, classes);
  Agreement result;
  result.rows = static_cast<Index>(counts.sum());
  result.matching = best_matching(counts);
  double matched = 0.0;
  for (std::size_t c = 0; c < result.matching.size(); ++c) {
    if (result.matching[c] >= 0) matched += counts(static_cast<Index>(c), result.matching[c]);
  }
  result.matched = static_cast<Index>(matched);
  result.accuracy = result.rows > 0 ? matched / static_cast<double>(result.rows) : 0.0;
  result.adjusted_rand = adjusted_rand_index(counts);
  return result;
}

}  // namespace subspectra
