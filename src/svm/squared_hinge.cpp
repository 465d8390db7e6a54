#include "svm/squared_hinge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <subspectra/error.hpp>
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

constexpr int kMostSteps = 500;
using Rows = std::vector<Index>;

/// I = {i: y_i f_i < 1}.
Rows active_rows(const VectorRef& y, const Vector& f) {
  Rows active;
  for (Index i = 0; i < y.size(); ++i) {
    if (y[i] * f[i] < 1.0) active.push_back(i);
  }
  return active;
}

double losses(const VectorRef& y, const Vector& f) {
  return (1.0 - y.array() * f.array()).cwiseMax(0.0).square().sum();
}

/// t in (0, 1] that minimizes |w + t d|^2/2 + C sum_i max(0, 1 - y_i (f_i + t g_i))^2: its derivative
///     w'd + t d'd - 2 C sum_{i active} y_i g_i (1 - y_i f_i - t y_i g_i)
/// rises with t and is linear between the t at which a row enters or leaves.
double exact_step(const VectorRef& y, const Vector& f, const Vector& g, double wd, double dd, double cost) {
  double constant = wd, slope = dd;  // of the derivative, for the rows that are active now
  struct Change {
    double t, constant, slope;
  };
  std::vector<Change> changes;
  for (Index i = 0; i < y.size(); ++i) {
    const double margin = 1.0 - y[i] * f[i], rate = y[i] * g[i];  // active: margin - t rate > 0
    const bool active = margin > 0.0;
    const double c = -2.0 * cost * rate * margin, s = 2.0 * cost * rate * rate;
    if (active) {
      constant += c;
      slope += s;
    }
    if (rate == 0.0) continue;
    const double t = margin / rate;
    if (t > 0.0 && t < 1.0) changes.push_back(active ? Change{t, -c, -s} : Change{t, c, s});
    if (margin == 0.0 && rate < 0.0) changes.push_back({0.0, c, s});  // enters at once
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.t < b.t; });
  for (const Change& change : changes) {
    if (constant + change.t * slope >= 0.0) break;
    constant += change.constant;
    slope += change.slope;
  }
  if (!(slope > 0.0)) return 1.0;
  return std::clamp(-constant / slope, 0.0, 1.0);
}

/// (G_II + I/(2 C)) x = right.
Matrix solve_active(const MatrixRef& g, const Rows& active, double cost, Matrix right) {
  Matrix system = g(active, active);
  system.diagonal().array() += 0.5 / cost;
  if (!linalg::cholesky(system)) {
    throw Error("the support vector machine's system is singular in double precision; lower ⟨C⟩");
  }
  linalg::solve_lower(system, linalg::Op::kNone, right);
  linalg::solve_lower(system, linalg::Op::kTranspose, right);
  return right;
}

}  // namespace

Machine machine_from_products(const MatrixRef& g, const VectorRef& y, double cost, bool free_offset,
                              const Vector& start) {
  const Index n = y.size();
  Machine machine;
  machine.a = Vector::Zero(n);
  Vector f = Vector::Zero(n), product(n);
  double objective = cost * losses(y, f);
  Rows active = active_rows(y, f);
  if (start.size() == n && (start.array() != 0.0).any()) {
    active.clear();
    for (Index i = 0; i < n; ++i) {
      if (start[i] != 0.0) active.push_back(i);
    }
  }
  for (; machine.steps < kMostSteps && !machine.converged; ++machine.steps) {
    Vector a = Vector::Zero(n);
    double b = 0.0;
    if (!active.empty()) {
      Matrix right(static_cast<Index>(active.size()), free_offset ? 2 : 1);
      right.col(0) = y(active);
      if (free_offset) right.col(1).setOnes();
      const Matrix solved = solve_active(g, active, cost, std::move(right));
      if (free_offset) b = solved.col(0).sum() / solved.col(1).sum();  // sum a_i = 0
      for (std::size_t i = 0; i < active.size(); ++i) {
        const auto place = static_cast<Index>(i);
        a[active[i]] = solved(place, 0) - (free_offset ? b * solved(place, 1) : 0.0);
      }
    }
    linalg::gemv(1.0, linalg::Op::kNone, g, a, 0.0, product);
    const Vector f_there = product.array() + b;
    const Rows there = active_rows(y, f_there);
    const double value = 0.5 * a.dot(product) + cost * losses(y, f_there);
    // A first guess that is no improvement is only a guess: the way then starts at 0.
    const bool same = there == active;
    if (same || (machine.steps == 0 && value < objective)) {
      machine.a = a;
      machine.b = b;
      f = f_there;
      objective = value;
      active = there;
      machine.converged = same;
      continue;
    }
    const Vector da = a - machine.a, df = f_there - f;
    const Vector gd = df.array() - (b - machine.b);  // G da
    const double t = exact_step(y, f, df, machine.a.dot(gd), da.dot(gd), cost);
    machine.a += t * da;
    machine.b += t * (b - machine.b);
    f += t * df;
    const double before = objective;
    objective = 0.5 * machine.a.dot(f - Vector::Constant(n, machine.b)) + cost * losses(y, f);
    active = active_rows(y, f);
    // Rows that stand on the margin up to rounding may come and go for ever.
    if (machine.steps > 0 && !(objective < before * (1.0 - 1e-15))) machine.converged = true;
  }
  machine.objective = objective;
  machine.squared_norm = machine.a.dot(f - Vector::Constant(n, machine.b));
  return machine;
}

Machine machine_from_rows(const MatrixRef& z, const VectorRef& y, double cost, const Vector& start) {
  const Index n = z.rows(), p = z.cols();
  Machine machine;
  machine.w = Vector::Zero(p);
  Vector f = Vector::Zero(n);
  double objective = cost * losses(y, f);
  Rows active = active_rows(y, f);
  if (start.size() == p) {
    linalg::gemv(1.0, linalg::Op::kNone, z, start, 0.0, f);
    const double value = 0.5 * start.squaredNorm() + cost * losses(y, f);
    if (value < objective) {
      machine.w = start;
      objective = value;
      active = active_rows(y, f);
    } else {
      f.setZero();
    }
  }
  for (; machine.steps < kMostSteps && !machine.converged; ++machine.steps) {
    // (I/(2 C) + Z_I'Z_I) w = Z_I'y_I
    const Matrix some = z(active, Eigen::all);
    const Vector labels = y(active);
    Matrix system = Matrix::Identity(p, p) * (0.5 / cost);
    linalg::syrk(1.0, linalg::Op::kTranspose, some, 1.0, system);
    Matrix w(p, 1);
    linalg::gemm(1.0, linalg::Op::kTranspose, some, linalg::Op::kNone, labels, 0.0, w);
    if (!linalg::cholesky(system)) {
      throw Error("the support vector machine's system is singular in double precision; lower ⟨C⟩");
    }
    linalg::solve_lower(system, linalg::Op::kNone, w);
    linalg::solve_lower(system, linalg::Op::kTranspose, w);
    Vector f_there(n);
    linalg::gemv(1.0, linalg::Op::kNone, z, w.col(0), 0.0, f_there);
    const Rows there = active_rows(y, f_there);
    if (there == active) {
      machine.w = w.col(0);
      f = f_there;
      objective = 0.5 * machine.w.squaredNorm() + cost * losses(y, f);
      machine.converged = true;
      continue;
    }
    const Vector d = w.col(0) - machine.w, df = f_there - f;
    const double t = exact_step(y, f, df, machine.w.dot(d), d.squaredNorm(), cost);
    machine.w += t * d;
    f += t * df;
    const double before = objective;
    objective = 0.5 * machine.w.squaredNorm() + cost * losses(y, f);
    active = active_rows(y, f);
    if (machine.steps > 0 && !(objective < before * (1.0 - 1e-15))) machine.converged = true;
  }
  machine.objective = objective;
  machine.squared_norm = machine.w.squaredNorm();
  machine.a = 2.0 * cost * (y.array() * (1.0 - y.array() * f.array()).cwiseMax(0.0));
  return machine;
}

}  // namespace subspectra
