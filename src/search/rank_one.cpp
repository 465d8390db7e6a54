#include "search/rank_one.hpp"

#include <algorithm>
#include <cmath>

namespace subspectra::search {
namespace {

constexpr int kMostIterations = 100;
constexpr double kDone = 1e-15;

/// delta = lambda - t_1 >= 0 solves phi(delta) = 1, phi = 1/sum squares_j/(delta + g_j), g_j = t_1 - t_j >=
/// 0: a parallel sum of linear functions, concave and increasing.
double added(const VectorRef& t, const VectorRef& squares) {
  const double total = squares.sum();
  if (!(total > 0.0)) return 0.0;
  double delta = squares[0];  // from the left: the other poles only add
  for (int i = 0; i < kMostIterations; ++i) {
    double h = 0.0, slope = 0.0;
    for (Index j = 0; j < t.size(); ++j) {
      if (squares[j] == 0.0) continue;
      const double distance = delta + (t[0] - t[j]);
      if (!(distance > 0.0)) return delta;  // squares_1 = 0 and a double pole: t_1 itself
      const double term = squares[j] / distance;
      h += term;
      slope += term / distance;
    }
    if (!(h > 1.0)) break;                      // phi >= 1: there (or t_1 is the root, when delta = 0)
    const double step = (h - 1.0) * h / slope;  // Newton for 1/h = 1
    const double next = std::min(delta + step, total);
    if (!(next - delta > kDone * next)) return next;
    delta = next;
  }
  return delta;
}

/// lambda = t_1 - x, 0 <= x <= t_1 - t_2 =: g_2; psi(x) = x (1 + sum_{j >= 2} squares_j/(g_j - x)) -
/// squares_1 is convex and increasing on [0, g_2).
double removed(const VectorRef& t, const VectorRef& squares) {
  if (!(squares[0] > 0.0)) return 0.0;
  if (t.size() == 1) return squares[0];
  double low = 0.0;
  const double gap = t[0] - t[1];
  double high = std::min(squares[0], gap);
  double x = high;
  for (int i = 0; i < kMostIterations && high - low > kDone * high; ++i) {
    double sum = 1.0, slope = 1.0;
    bool pole = false;
    for (Index j = 1; j < t.size(); ++j) {
      if (squares[j] == 0.0) continue;
      const double distance = (t[0] - t[j]) - x;
      if (!(distance > 0.0)) {
        pole = true;
        break;
      }
      const double term = squares[j] / distance;
      sum += term;
      slope += term + x * term / distance;
    }
    if (!pole) {
      const double psi = x * sum - squares[0];
      if (psi == 0.0 || (psi < 0.0 && x == gap)) return x;
      (psi < 0.0 ? low : high) = x;
      const double next = x - psi / slope;
      if (std::abs(next - x) <= kDone * x) return next;
      x = next > low && next < high ? next : 0.5 * (low + high);
    } else {
      high = x;
      x = 0.5 * (low + high);
    }
  }
  return x;
}

}  // namespace

double largest_after_rank_one(const VectorRef& t, const VectorRef& squares, double sign) {
  return sign > 0.0 ? t[0] + added(t, squares) : t[0] - removed(t, squares);
}

Vector two_pole_bounds(double t1, double t2, const Vector& a2, const Vector& b2, double sign) {
  const auto a = a2.array(), b = b2.array();
  const Eigen::ArrayXd half = 0.5 * ((t1 - t2) + sign * (a - b));
  const Eigen::ArrayXd larger =
      0.5 * ((t1 + t2) + sign * (a + b)) + (half.square() + a * b).sqrt();  // of the two eigenvalues
  return larger.max(t2) + 8.0 * kEpsilon * (t1 + a + b);
}

}  // namespace subspectra::search
