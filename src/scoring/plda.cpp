#include "scoring/plda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

using linalg::Op;

/// sigma_j is at least this fraction of the standard deviation of column j. A column that is constant within
/// every class has sigma_j = 0 and could be had for nothing; so it costs a little.
constexpr double kSigmaFloor = 1e-3;

/// With u = diag(sigma) b every discriminant is
///     max_u  |P A'u|^2 - lambda |u|_1    subject to    |u| <= 1,
///     A = N^{-1/2} diag(sigma)^{-1} X'Y (Y'Y)^{-1/2}  (p x L),
/// and a step is u <- d/|d|, d = soft(A P A'u, lambda/2): neither sigma nor a unit of measurement is left in
/// it. (Y'Y)^{-1/2} stands for any square root; the targets T = Y Theta have one, without the direction of
/// the mean, to which a centred X has no component.
class PldaSolver final : public ScoringSolver {
 public:
  PldaSolver(const ScoringProblem& problem, const Plda& options, int threads);

  [[nodiscard]] double lambda_max() const override;
  [[nodiscard]] ScoringFit fit(double lambda, const RunControl& control) override;

 private:
  struct Start {
    Vector u;              ///< of unit length, or empty: nothing is left to maximize
    double largest = 0.0;  ///< max_j |(A P A'u)_j|
  };
  struct Ascent {
    Vector u;
    Vector image;                ///< P A'u
    double value = 0.0;          ///< |P A'u|^2 - lambda |u|_1
    std::vector<double> values;  ///< after every step
    bool settled = false;        ///< false: iterations or the control ended it
  };
  [[nodiscard]] Start start(const Matrix& p) const;
  [[nodiscard]] Ascent ascend(const Vector& from, const Matrix& p, double lambda,
                              const RunControl& control) const;
  [[nodiscard]] Vector projected(const Vector& u, const Matrix& p) const;

  const ScoringProblem& problem_;
  Plda options_;
  Vector sigma_;                      ///< p
  Matrix a_;                          ///< p x L
  Matrix gram_;                       ///< A'A, L x L
  mutable double lambda_max_ = -1.0;  ///< negative: not looked for yet
};

/// |x_j - T T'x_j| for every column: the class means are subtracted, not the squares, because 1 - |T'x_j|^2
/// has no digits left where the classes are far apart.
Vector distances_from_means(const ScoringProblem& problem, const Matrix& products, int threads) {
  const Index p = problem.columns();
  Vector distances(p);
  constexpr Index kColumnsAtATime = 64;
  parallel_for((p + kColumnsAtATime - 1) / kColumnsAtATime, threads, [&](Index tile) {
    const Index first = tile * kColumnsAtATime;
    const Index count = std::min(kColumnsAtATime, p - first);
    Matrix rest = problem.x.middleCols(first, count);
    linalg::gemm(-1.0, Op::kNone, problem.targets, Op::kTranspose, products.middleRows(first, count), 1.0,
                 rest);
    for (Index j = 0; j < count; ++j) distances[first + j] = rest.col(j).norm();
  });
  return distances;
}

PldaSolver::PldaSolver(const ScoringProblem& problem, const Plda& options, int threads)
    : problem_(problem), options_(options) {
  options_.validate();
  const Index p = problem_.columns();
  const Index l = problem_.discriminants();
  a_.resize(p, l);
  linalg::gemm_tiled(1.0, Op::kTranspose, problem_.x, problem_.targets, 0.0, a_, threads);
  // Columns have length 1, hence a standard deviation of N^{-1/2} (divisor N).
  const double root_n = std::sqrt(static_cast<double>(problem_.rows()));
  sigma_ = distances_from_means(problem_, a_, threads).cwiseMax(kSigmaFloor) / root_n;
  a_.array().colwise() /= sigma_.array() * root_n;
  gram_.resize(l, l);
  linalg::syrk(1.0, Op::kTranspose, a_, 0.0, gram_);
}

/// P A'u.
Vector PldaSolver::projected(const Vector& u, const Matrix& p) const {
  Vector products(a_.cols());
  linalg::gemv(1.0, Op::kTranspose, a_, u, 0.0, products);
  return p * products;
}

/// The leading eigenvector of A P A' is A v/|A v|, v the leading one of P A'A P with P v = v: L x L, not p x
/// p.
PldaSolver::Start PldaSolver::start(const Matrix& p) const {
  Start result;
  if (a_.rows() == 0 || a_.cols() == 0) return result;
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(p * gram_ * p, true);
  const double largest = eigen.values[eigen.values.size() - 1];
  // Below this the projection has left rounding errors only.
  const double floor = 16.0 * static_cast<double>(a_.cols()) * kEpsilon;
  if (!(largest > floor * gram_.trace())) return result;
  const Vector v = p * eigen.vectors.col(eigen.vectors.cols() - 1);
  Vector u(a_.rows());
  linalg::gemv(1.0, Op::kNone, a_, v, 0.0, u);
  u /= u.norm();
  Index at = 0;
  result.largest = largest * u.cwiseAbs().maxCoeff(&at);
  if (u[at] < 0.0) u = -u;
  result.u = std::move(u);
  return result;
}

PldaSolver::Ascent PldaSolver::ascend(const Vector& from, const Matrix& p, double lambda,
                                      const RunControl& control) const {
  Ascent now;
  now.u = from;
  now.image = projected(now.u, p);
  now.value = now.image.squaredNorm() - lambda * now.u.lpNorm<1>();
  Vector c(a_.rows());
  for (Index step = 0; step < options_.max_iterations && !now.settled; ++step) {
    if (control.should_stop()) break;
    linalg::gemv(1.0, Op::kNone, a_, now.image, 0.0, c);
    now.u = c.unaryExpr(
        [half = lambda / 2.0](double v) { return std::abs(v) > half ? v - std::copysign(half, v) : 0.0; });
    const double length = now.u.norm();
    if (length > 0.0) now.u /= length;
    now.image = projected(now.u, p);
    const double next = now.image.squaredNorm() - lambda * now.u.lpNorm<1>();
    // 0 stays 0, with tolerance 0 as well.
    now.settled = length == 0.0 ||
                  (options_.tolerance > 0.0 && next - now.value <= options_.tolerance * std::abs(next));
    now.value = next;
    now.values.push_back(next);
  }
  return now;
}

/// From 2 max|c| at the start on the first step gives 0. Below it the first step shortens A'u, which makes
/// the next threshold the harder, and so on: whether that ends in 0 is found by trying. For two classes |A'u|
/// falls with lambda at every step, so that the lambdas with B = 0 have one lower end; for more that is taken
/// as so.
double PldaSolver::lambda_max() const {
  if (lambda_max_ >= 0.0) return lambda_max_;
  const Matrix p = Matrix::Identity(a_.cols(), a_.cols());
  const Start begin = start(p);
  double high = 2.0 * begin.largest;
  double low = 0.0;
  constexpr double kWidth = 1e-3;
  while (high - low > kWidth * high) {
    const double middle = 0.5 * (low + high);
    (ascend(begin.u, p, middle, {}).u.isZero(0.0) ? high : low) = middle;
  }
  lambda_max_ = high;
  return lambda_max_;
}

ScoringFit PldaSolver::fit(double lambda, const RunControl& control) {
  if (!(lambda >= 0.0))
    throw InvalidArgument({.field = "lambda",
                           .value = fmt::to_string(lambda),
                           .subject = "lambda",
                           .rule = "{value}, but it must not be negative"});
  const Index l = a_.cols();
  Matrix u = Matrix::Zero(a_.rows(), l);
  Matrix p = Matrix::Identity(l, l);  // the projector P_k
  ScoringFit result;
  result.lambda = lambda;
  result.converged = true;
  for (Index k = 0; k < l; ++k) {
    if (control.should_stop()) {
      result.converged = false;
      break;
    }
    const Start begin = start(p);
    if (begin.u.size() == 0) break;
    Ascent found = ascend(begin.u, p, lambda, control);
    for (const double value : found.values) result.trace.push_back(result.objective + value);
    result.iterations += static_cast<Index>(found.values.size());
    result.converged = result.converged && found.settled;
    result.objective += found.value;
    u.col(k) = found.u;
    // P loses the direction of P A'u, which is what is new in A'u.
    const double length = found.image.norm();
    if (!(length > 0.0)) break;
    found.image /= length;
    p -= found.image * found.image.transpose();
  }
  for (Index j = 0; j < u.rows(); ++j) {
    if ((u.row(j).array() != 0.0).any()) result.b.rows.push_back(j);
  }
  result.b.values = u(result.b.rows, Eigen::all).array().colwise() / sigma_(result.b.rows).array();
  result.scores = best_scores(problem_, fitted_values(problem_, result.b));
  return result;
}

}  // namespace

std::unique_ptr<ScoringSolver> plda_solver(const ScoringProblem& problem, const Plda& options, int threads) {
  return std::make_unique<PldaSolver>(problem, options, threads);
}

}  // namespace subspectra
