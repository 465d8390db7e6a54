#include "scoring/gloss.hpp"

#include <utility>

#include "solvers/group_lasso.hpp"

namespace subspectra {
namespace {

/// The problem here is 2/N times that of GroupLasso, with its lambda N lambda/2 (AISTATS15, (9) and (15)).
class GlossSolver : public ScoringSolver {
 public:
  GlossSolver(const ScoringProblem& problem, const Gloss& options, int threads)
      : problem_(problem),
        half_rows_(0.5 * static_cast<double>(problem.rows())),
        lasso_(group_lasso(
            problem,
            {.tolerance = options.tolerance, .max_sweeps = options.max_iterations, .threads = threads})) {
    lasso_->set_targets(problem.targets);
  }

  [[nodiscard]] double lambda_max() const override { return lasso_->lambda_max() / half_rows_; }

  [[nodiscard]] ScoringFit fit(double lambda, const RunControl& control) override {
    GroupLassoSolution solution = lasso_->solve(half_rows_ * lambda, control);
    const double at_zero = 0.5 * problem_.targets.squaredNorm();
    ScoringFit fit;
    fit.lambda = lambda;
    fit.b = std::move(solution.b);
    fit.scores = problem_.scores;
    fit.objective = solution.objective / half_rows_;
    fit.gap = at_zero > 0.0 ? solution.gap / at_zero : 0.0;
    fit.iterations = solution.sweeps;
    fit.converged = solution.converged;
    fit.trace = {fit.objective};
    return fit;
  }

 private:
  const ScoringProblem& problem_;
  double half_rows_;
  std::unique_ptr<GroupLasso> lasso_;
};

}  // namespace

std::unique_ptr<ScoringSolver> gloss_solver(const ScoringProblem& problem, const Gloss& options,
                                            int threads) {
  return std::make_unique<GlossSolver>(problem, options, threads);
}

}  // namespace subspectra
