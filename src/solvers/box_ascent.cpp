#include "solvers/box_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

namespace subspectra {
namespace {

/// 1 for the variables that may move, 0 for those that are held at a bound.
Vector free_variables(const BoxAscent& problem, const Vector& x, const Vector& gradient) {
  Vector moves = Vector::Ones(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    const bool out_below = x[i] <= problem.lower[i] && gradient[i] < 0.0;
    const bool out_above = x[i] >= problem.upper[i] && gradient[i] > 0.0;
    if (out_below || out_above) moves[i] = 0.0;
  }
  return moves;
}

/// What the last steps say of the curvature: steps s, and by how much the gradient fell along them, y.
class Curvature {
 public:
  void clear() { pairs_.clear(); }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }

  /// A step along which the gradient does not fall says nothing of a maximum and is left out.
  void add(Vector step, Vector fall) {
    constexpr std::size_t kMost = 50;
    if (!tells(step.dot(fall), step, fall)) return;
    pairs_.emplace_back(std::move(step), std::move(fall));
    if (pairs_.size() > kMost) pairs_.pop_front();
  }

  /// H g for the free variables, H from the parts of the pairs in them, by the two-loop recursion; nothing
  /// where no pair says anything of them. Pairs of which a variable has left or joined keep what they know of
  /// the others.
  [[nodiscard]] std::optional<Vector> direction(const Vector& gradient, const Vector& moves) const {
    struct Part {
      Vector step, fall;
      double product = 0.0, weight = 0.0;
    };
    std::vector<Part> parts;
    for (const auto& [step, fall] : pairs_) {
      Part part{.step = step.cwiseProduct(moves), .fall = fall.cwiseProduct(moves)};
      part.product = part.step.dot(part.fall);
      if (tells(part.product, part.step, part.fall)) parts.push_back(std::move(part));
    }
    if (parts.empty()) return std::nullopt;
    Vector d = gradient.cwiseProduct(moves);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      part->weight = part->step.dot(d) / part->product;
      d -= part->weight * part->fall;
    }
    d *= parts.back().product / parts.back().fall.squaredNorm();
    for (const Part& part : parts) d += (part.weight - part.fall.dot(d) / part.product) * part.step;
    return d;
  }

 private:
  [[nodiscard]] static bool tells(double product, const Vector& step, const Vector& fall) {
    constexpr double kLeastCosine = 1e-10;
    return product > kLeastCosine * step.norm() * fall.norm();
  }

  std::deque<std::pair<Vector, Vector>> pairs_;
};

}  // namespace

AscentEnd ascend(const BoxAscent& problem, const Vector& start) {
  const auto into_box = [&](const Vector& x) -> Vector {
    return x.cwiseMax(problem.lower).cwiseMin(problem.upper);
  };
  Vector x = into_box(start), gradient, next_gradient;
  double value = problem.evaluate(x, gradient);
  Index evaluations = 1;
  Curvature curvature;
  while (true) {
    const Vector moves = free_variables(problem, x, gradient);
    const Vector projected = gradient.cwiseProduct(moves);
    if (problem.flat(x, value, projected)) return AscentEnd::kFlat;
    Vector d;
    if (auto found = curvature.direction(gradient, moves)) d = std::move(*found);
    constexpr double kLeastCosine = 1e-12;
    if (d.size() == 0 || !(d.dot(projected) > kLeastCosine * d.norm() * projected.norm())) {
      curvature.clear();
      d = projected /
          std::max(1.0, projected.norm());  // a step of length 1 at most: of nothing else is known
    }
    double length = 1.0;
    Vector next;
    double next_value = 0.0;
    bool rose = false;
    while (!rose) {
      next = into_box(x + length * d);
      const double promised = gradient.dot(next - x);
      constexpr double kShortest = 1e-12;
      if (length < kShortest || !(promised > 0.0)) break;
      if (evaluations >= problem.most_evaluations) return AscentEnd::kEvaluations;
      next_value = problem.evaluate(next, next_gradient);
      ++evaluations;
      constexpr double kOfPromise = 1e-4;
      rose = next_value >= value + kOfPromise * promised && next_value > value;
      if (rose) break;
      // Where a parabola through both values with the slope at x has its top, not too near either end.
      const double missed = promised - (next_value - value);
      const double top = missed > 0.0 && std::isfinite(missed) ? 0.5 * promised / missed : 0.0;
      length *= std::clamp(top, 0.1, 0.5);
    }
    if (!rose) {
      if (curvature.empty()) return AscentEnd::kRounding;
      curvature.clear();  // along the gradient itself, before it is given up
      continue;
    }
    curvature.add(next - x, gradient - next_gradient);
    x = std::move(next);
    value = next_value;
    gradient.swap(next_gradient);
  }
}

}  // namespace subspectra
