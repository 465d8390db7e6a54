#pragma once
/// What the methods of optimal scoring have in common for whoever runs them: a lambda goes in, a fit comes
/// out.
#include <memory>

#include <subspectra/run_control.hpp>
#include "scoring/problem.hpp"
#include "solvers/group_lasso.hpp"

namespace subspectra {

/// One method on one problem. A fit may start from the one before it: a falling sequence of lambdas is the
/// cheap one, a rising one where the method says so (what drops features for good cannot take them back).
class ScoringSolver {
 public:
  ScoringSolver() = default;
  ScoringSolver(const ScoringSolver&) = delete;
  ScoringSolver& operator=(const ScoringSolver&) = delete;
  virtual ~ScoringSolver() = default;

  /// From this lambda on B = 0 is the answer.
  [[nodiscard]] virtual double lambda_max() const = 0;
  [[nodiscard]] virtual ScoringFit fit(double lambda, const RunControl& control) = 0;
  [[nodiscard]] virtual bool rising() const { return false; }
};

/// The lasso over the columns of a problem, which may be read in blocks; the problem must outlive it.
[[nodiscard]] inline std::unique_ptr<GroupLasso> group_lasso(const ScoringProblem& problem,
                                                             const GroupLassoOptions& options) {
  return problem.blocks ? std::make_unique<GroupLasso>(*problem.blocks, options)
                        : std::make_unique<GroupLasso>(problem.x, options);
}

}  // namespace subspectra
