#include "subspectra/scoring/rvm_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reweighting.hpp"
#include "subspectra/linalg/tiled.hpp"
#include "subspectra/scoring/group_lasso.hpp"

namespace subspectra {
namespace {

class RvmEntry final : public ScoringSolver {
 public:
  RvmEntry(const ScoringProblem& problem, const RvmEntryOptions& options)
      : problem_(problem), options_(options) {
    everything_.resize(static_cast<std::size_t>(problem.columns()));
    for (std::size_t j = 0; j < everything_.size(); ++j) everything_[j] = static_cast<Index>(j);
  }

  /// B = 0 when |x_i'Y theta| <= lambda N sqrt(z_i) for all i, and z_i >= 1/(alpha + rho) with rho the
  /// largest eigenvalue of X X': so surely when (lambda N)^2 >= c^2 (alpha + rho), c the largest |x_i'Y
  /// theta|. Where alpha is lambda N that is a quadratic equation.
  [[nodiscard]] double lambda_max() const override {
    Matrix products(problem_.columns(), problem_.discriminants());
    linalg::gemm_tiled(1.0, linalg::Op::kTranspose, problem_.x, problem_.targets, 0.0, products,
                       options_.iterations.threads);
    const double c = products.cwiseAbs().maxCoeff();
    const bool wide = problem_.columns() > problem_.rows();
    const Index side = std::min(problem_.columns(), problem_.rows());
    Matrix gram(side, side);
    linalg::syrk(1.0, wide ? linalg::Op::kNone : linalg::Op::kTranspose, problem_.x, 0.0, gram);
    const double rho = linalg::symmetric_eigen(std::move(gram), false).values[side - 1];
    const double noise = options_.alpha > 0.0 ? c * std::sqrt(options_.alpha + rho)
                                              : 0.5 * (c * c + std::sqrt(c * c * (c * c + 4.0 * rho)));
    return noise / static_cast<double>(problem_.rows());
  }

  ScoringFit fit(double lambda, const RunControl& control) override {
    const auto n = static_cast<double>(problem_.rows());
    const Index count = problem_.discriminants();
    const double alpha = options_.alpha > 0.0 ? options_.alpha : lambda * n;
    const int threads = options_.iterations.threads;
    if (lassos_.empty()) {
      for (Index k = 0; k < count; ++k) {
        lassos_.push_back(std::make_unique<GroupLasso>(
            problem_.x, GroupLassoOptions{.tolerance = options_.lasso_tolerance, .threads = threads}));
      }
    }
    const Spreads start =
        spreads_of(problem_.x, everything_, Vector::Ones(problem_.columns()), alpha, threads);
    std::vector<Vector> z(static_cast<std::size_t>(count), start.z);
    ScoringFit fit;
    fit.lambda = lambda;
    fit.scores = problem_.scores;
    Matrix targets = problem_.targets;
    Matrix before = Matrix::Zero(problem_.columns(), count);
    bool lassos_converged = true;
    while (fit.iterations < options_.iterations.max_iterations) {
      ++fit.iterations;
      Matrix b = Matrix::Zero(problem_.columns(), count);
      Matrix fitted = Matrix::Zero(problem_.rows(), count);
      double penalty = 0.0, gap = 0.0;
      for (Index k = 0; k < count; ++k) {
        const auto at = static_cast<std::size_t>(k);
        auto& lasso = *lassos_[at];
        lasso.set_targets(targets.col(k), 2.0 * z[at].array().max(0.0).sqrt());
        const auto solution = lasso.solve(0.5 * lambda * n, control);
        lassos_converged = lassos_converged && solution.converged;
        gap = std::max(gap, solution.gap);
        const Vector beta = solution.b.values.size() > 0 ? Vector(solution.b.values.col(0)) : Vector(0);
        if (beta.size() > 0) {
          b(solution.b.rows, k) = beta;
          fitted.col(k) = fitted_values(problem_, solution.b);
        }
        Vector gamma(beta.size());
        for (Index i = 0; i < beta.size(); ++i) {
          const double root = std::sqrt(z[at][solution.b.rows[static_cast<std::size_t>(i)]]);
          gamma[i] = std::abs(beta[i]) / root;
          penalty += std::abs(beta[i]) * root;  // beta_i^2/gamma_i
        }
        Spreads next = spreads_of(problem_.x, solution.b.rows, gamma, alpha, threads);
        penalty += next.log_det;
        z[at] = std::move(next.z);
      }
      fit.scores = best_scores(problem_, fitted);
      targets = scored_classes(problem_, fit.scores);
      fit.objective = (targets - fitted).squaredNorm() / n + lambda * penalty;
      fit.trace.push_back(fit.objective);
      fit.gap = gap / 0.5;  // |Y theta|^2/2 = 1/2 is the lasso's objective at 0
      const double largest = b.cwiseAbs().maxCoeff();
      const double moved = (b - before).cwiseAbs().maxCoeff();
      fit.b = nonzero_rows(b);
      before = std::move(b);
      control.report("fit", -1.0, [&] {
        return fmt::format("lambda {:.3g}  iteration {}  objective {:.6g}  features {}  lasso gap {:.1e}",
                           lambda, fit.iterations, fit.objective, fit.b.rows.size(), fit.gap);
      });
      fit.converged = moved <= options_.iterations.tolerance * largest && lassos_converged;
      if ((fit.converged && options_.iterations.tolerance > 0.0) || control.should_stop()) break;
    }
    return fit;
  }

 private:
  const ScoringProblem& problem_;
  RvmEntryOptions options_;
  std::vector<Index> everything_;
  std::vector<std::unique_ptr<GroupLasso>> lassos_;  ///< one a discriminant: each keeps its own warm start
};

}  // namespace

std::unique_ptr<ScoringSolver> rvm_entry_solver(const ScoringProblem& problem,
                                                const RvmEntryOptions& options) {
  return std::make_unique<RvmEntry>(problem, options);
}

}  // namespace subspectra
