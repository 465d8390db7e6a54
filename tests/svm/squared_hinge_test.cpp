#include "svm/squared_hinge.hpp"

#include <gtest/gtest.h>

#include "classify/row_map.hpp"
#include "oracle.hpp"
#include "svm/rfe.hpp"

namespace subspectra {
namespace {

/// Gradient of |w|^2/2 + C sum max(0, 1 - y(w'z + b))^2 by w and, where it is free, b, over its size at 0.
double relative_gradient(const Matrix& z, const Vector& y, double cost, const Vector& w, double b,
                         bool free_offset) {
  Vector g = w, at_zero = Vector::Zero(w.size());
  double gb = 0.0, gb_zero = 0.0;
  for (Index i = 0; i < z.rows(); ++i) {
    const double loss = std::max(0.0, 1.0 - y[i] * (z.row(i).dot(w) + b));
    g -= 2.0 * cost * y[i] * loss * z.row(i).transpose();
    gb -= 2.0 * cost * y[i] * loss;
    at_zero -= 2.0 * cost * y[i] * z.row(i).transpose();
    gb_zero -= 2.0 * cost * y[i];
  }
  if (!free_offset) return g.norm() / at_zero.norm();
  return std::hypot(g.norm(), gb) / std::hypot(at_zero.norm(), gb_zero);
}

struct Case {
  Index rows, features;
  int classes;
};
constexpr Case kCases[] = {{60, 5, 2}, {90, 6, 3}, {20, 80, 2}, {24, 60, 5}, {12, 12, 2}};

TEST(SquaredHinge, TheGradientVanishesFromProductsAndFromRowsWithEitherOffset) {
  for (const Case& one : kCases) {
    const DatasetParts data = oracle::random_classes(one.rows, one.features, one.classes, 3);
    const Matrix z = standardize_rows(data.dense).z;
    Matrix rows(z.rows(), z.cols() + 1);
    rows << z, Vector::Ones(z.rows());
    for (const Vector& y : machine_labels(data.labels->codes)) {
      for (const double cost : {1e-3, 1.0, 1e3}) {
        SCOPED_TRACE(::testing::Message() << one.rows << " x " << one.features << ", C = " << cost);
        const Machine a = machine_from_products(z * z.transpose(), y, cost, true);
        EXPECT_TRUE(a.converged);
        constexpr double kRounding = 1e-9;  // times the condition number, up to 2 C times the rows
        EXPECT_LT(relative_gradient(z, y, cost, z.transpose() * a.a, a.b, true), kRounding);
        EXPECT_NEAR(a.a.sum(), 0.0, 1e-10 * a.a.cwiseAbs().sum());
        const Machine b = machine_from_products(rows * rows.transpose(), y, cost, false);
        const Machine c = machine_from_rows(rows, y, cost);
        EXPECT_LT(relative_gradient(rows, y, cost, rows.transpose() * b.a, 0.0, false), kRounding);
        EXPECT_LT(relative_gradient(rows, y, cost, c.w, 0.0, false), kRounding);
        EXPECT_NEAR(b.objective, c.objective, 1e-10 * c.objective);
        EXPECT_LT((rows.transpose() * b.a - c.w).norm(), 1e-8 * (1.0 + c.w.norm()));
        // The same from any start.
        const Machine again = machine_from_rows(rows, y, cost, Vector::Constant(rows.cols(), 0.3));
        EXPECT_LT((again.w - c.w).norm(), 1e-8 * (1.0 + c.w.norm()));
        const Machine warm = machine_from_products(rows * rows.transpose(), y, cost, false,
                                                   Vector::Unit(rows.rows(), rows.rows() - 1));
        EXPECT_NEAR(warm.objective, b.objective, 1e-10 * b.objective);
      }
    }
  }
}

}  // namespace
}  // namespace subspectra
