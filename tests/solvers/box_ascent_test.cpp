#include "solvers/box_ascent.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <stdexcept>

namespace subspectra::box_ascent_test {
namespace {

/// A problem that keeps the best point it was asked for.
struct Recorded {
  std::function<double(const Vector&, Vector&)> value;
  Vector lower, upper;
  double tolerance = 1e-9;
  Index most_evaluations = 1000;
  Vector best = {};
  double highest = -kInfinity;
  Index evaluations = 0;

  AscentEnd climb(const Vector& start) {
    BoxAscent problem{.lower = lower, .upper = upper, .most_evaluations = most_evaluations};
    problem.evaluate = [this](const Vector& x, Vector& gradient) {
      EXPECT_TRUE((x.array() >= lower.array()).all() && (x.array() <= upper.array()).all());
      ++evaluations;
      const double found = value(x, gradient);
      if (found > highest) {
        highest = found;
        best = x;
      }
      return found;
    };
    problem.flat = [this](const Vector&, double, const Vector& projected) {
      return projected.cwiseAbs().maxCoeff() <= tolerance;
    };
    return ascend(problem, start);
  }
};

/// The top of b'x - x'A x/2 over a box: of all ways to hold variables at a bound the best feasible point.
double best_by_enumeration(const Matrix& a, const Vector& b, const Vector& lower, const Vector& upper) {
  const Index n = b.size();
  double best = -kInfinity;
  for (int code = 0; code < std::pow(3, n); ++code) {
    Vector x = Vector::Zero(n);
    std::vector<Index> free;
    for (Index i = 0, rest = code; i < n; ++i, rest /= 3) {
      if (rest % 3 == 0) {
        free.push_back(i);
      } else {
        x[i] = rest % 3 == 1 ? lower[i] : upper[i];
      }
    }
    if (!free.empty()) {
      const Vector right = b - a * x;
      const Vector solved = Matrix(a(free, free)).ldlt().solve(Vector(right(free)));
      x(free) = solved;
    }
    if ((x.array() < lower.array() - 1e-12).any() || (x.array() > upper.array() + 1e-12).any()) continue;
    best = std::max(best, b.dot(x) - 0.5 * x.dot(a * x));
  }
  return best;
}

TEST(BoxAscent, FindsTheTopOfAQuadraticWhicheverBoundsHoldIt) {
  std::mt19937_64 generator(3);
  std::normal_distribution<double> normal;
  constexpr Index kSize = 5;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const Matrix root = Matrix::NullaryExpr(kSize, kSize, [&] { return normal(generator); });
    const Matrix a = root * root.transpose() + 0.1 * Matrix::Identity(kSize, kSize);
    const Vector b = Vector::NullaryExpr(kSize, [&] { return 3.0 * normal(generator); });
    Recorded problem{.value =
                         [&](const Vector& x, Vector& gradient) {
                           gradient = b - a * x;
                           return b.dot(x) - 0.5 * x.dot(a * x);
                         },
                     .lower = Vector::Constant(kSize, -1.0),
                     .upper = Vector::Constant(kSize, 0.5)};
    const Vector start =
        Vector::NullaryExpr(kSize, [&] { return 5.0 * normal(generator); });  // mostly outside
    const AscentEnd end = problem.climb(start);
    EXPECT_NE(end, AscentEnd::kEvaluations);
    const double best = best_by_enumeration(a, b, problem.lower, problem.upper);
    // A gradient of 1e-9 leaves 1e-18/0.1; the rest is rounding of the values.
    EXPECT_NEAR(problem.highest, best, 1e-12 * (1.0 + std::abs(best)));
    EXPECT_LT(problem.evaluations, 200);
  }
}

double banana(const Vector& x, Vector& gradient) {
  const double along = 1.0 - x[0], across = x[1] - x[0] * x[0];
  gradient = Eigen::Vector2d(2.0 * along + 400.0 * x[0] * across, -200.0 * across);
  return -(along * along + 100.0 * across * across);
}

TEST(BoxAscent, FollowsACurvedRidgeToItsEndOrToTheBound) {
  Recorded open{.value = banana, .lower = Vector::Constant(2, -5.0), .upper = Vector::Constant(2, 5.0)};
  EXPECT_EQ(open.climb(Eigen::Vector2d(-1.2, 1.0)), AscentEnd::kFlat);
  EXPECT_LT((open.best - Vector::Ones(2)).norm(), 1e-8);
  EXPECT_LT(open.evaluations, 100);
  Recorded held{.value = banana, .lower = Vector::Constant(2, -5.0), .upper = Eigen::Vector2d(0.5, 5.0)};
  EXPECT_EQ(held.climb(Eigen::Vector2d(-1.2, 1.0)), AscentEnd::kFlat);
  EXPECT_LT((held.best - Eigen::Vector2d(0.5, 0.25)).norm(), 1e-8);
}

TEST(BoxAscent, SaysWhyItEnded) {
  Recorded few{.value = banana,
               .lower = Vector::Constant(2, -5.0),
               .upper = Vector::Constant(2, 5.0),
               .most_evaluations = 7};
  EXPECT_EQ(few.climb(Eigen::Vector2d(-1.2, 1.0)), AscentEnd::kEvaluations);
  EXPECT_EQ(few.evaluations, 7);
  // Never flat enough: the end of double precision is the end.
  Recorded exact{.value = banana,
                 .lower = Vector::Constant(2, -5.0),
                 .upper = Vector::Constant(2, 5.0),
                 .tolerance = -1.0};
  EXPECT_EQ(exact.climb(Eigen::Vector2d(-1.2, 1.0)), AscentEnd::kRounding);
  EXPECT_NEAR(exact.highest, 0.0, 1e-20);
  // At a corner that holds everything there is nothing to climb.
  Recorded corner{.value = banana,
                  .lower = Vector::Constant(2, -5.0),
                  .upper = Eigen::Vector2d(-1.2, 1.0),
                  .tolerance = 0.0};
  EXPECT_EQ(corner.climb(Eigen::Vector2d(-1.2, 1.44)), AscentEnd::kFlat);
}

TEST(BoxAscent, LetsErrorsPassAndStepsBackFromValuesThatAreNone) {
  Recorded failing{.value = [](const Vector&, Vector&) -> double { throw std::runtime_error("no value"); },
                   .lower = Vector::Zero(1),
                   .upper = Vector::Ones(1)};
  EXPECT_THROW((void)failing.climb(Vector::Zero(1)), std::runtime_error);
  // log x - x rises to x = 1; below 0, where the first step from 3 would lead, it is no number.
  Recorded logarithm{.value =
                         [](const Vector& x, Vector& gradient) {
                           gradient = Vector::Constant(1, 40.0 / x[0] - 40.0);
                           return 40.0 * (std::log(x[0]) - x[0]);
                         },
                     .lower = Vector::Constant(1, -100.0),
                     .upper = Vector::Constant(1, 100.0),
                     .tolerance = 1e-4};  // what is left of the value below that is rounding of 40
  EXPECT_EQ(logarithm.climb(Vector::Constant(1, 3.0)), AscentEnd::kFlat);
  EXPECT_NEAR(logarithm.best[0], 1.0, 1e-5);
}

}  // namespace
}  // namespace subspectra::box_ascent_test
