#include "scoring/sfd.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include <subspectra/error.hpp>
#include "solvers/group_lasso.hpp"

namespace subspectra {
namespace {

class SparseFisher : public ScoringSolver {
 public:
  SparseFisher(const ScoringProblem& problem, const Sfd& options, int threads)
      : problem_(problem),
        lasso_(group_lasso(
            problem,
            {.tolerance = options.tolerance, .max_sweeps = options.max_iterations, .threads = threads})) {
    if (problem.discriminants() != 1)
      throw InvalidArgument(fmt::format("sfd is for two classes, but {} have rows; use gloss or sda",
                                        problem.discriminants() + 1));
    // Two centred values are one direction: y minus its mean is Y theta times its own length, |y|^2 = 4 n_1
    // n_2/N.
    double product = 1.0;
    for (const double n : problem.class_weights) product *= n > 0.0 ? n : 1.0;
    length_ = 2.0 * std::sqrt(product / problem.class_weights.sum());
    lasso_->set_targets(length_ * problem.targets);
  }

  [[nodiscard]] double lambda_max() const override { return 2.0 * lasso_->lambda_max(); }

  [[nodiscard]] ScoringFit fit(double lambda, const RunControl& control) override {
    GroupLassoSolution solution = lasso_->solve(0.5 * lambda, control);
    ScoringFit fit;
    fit.lambda = lambda;
    fit.b = std::move(solution.b);
    fit.scores = length_ * problem_.scores;
    fit.objective = 2.0 * solution.objective;
    fit.gap = 2.0 * solution.gap / (length_ * length_);
    fit.iterations = solution.sweeps;
    fit.converged = solution.converged;
    fit.trace = {fit.objective};
    return fit;
  }

 private:
  const ScoringProblem& problem_;
  std::unique_ptr<GroupLasso> lasso_;
  double length_ = 0.0;
};

}  // namespace

std::unique_ptr<ScoringSolver> sfd_solver(const ScoringProblem& problem, const Sfd& options, int threads) {
  return std::make_unique<SparseFisher>(problem, options, threads);
}

}  // namespace subspectra
