#include "scoring/sda.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "solvers/group_lasso.hpp"

namespace subspectra {
namespace {

constexpr double kFirstTolerance = 1e-4;

class SdaSolver : public ScoringSolver {
 public:
  SdaSolver(const ScoringProblem& problem, const Sda& options, int threads, const SdaTuning& tuning)
      : problem_(problem),
        options_(options),
        tuning_(tuning),
        half_rows_(0.5 * static_cast<double>(problem.rows())) {
    options.validate();
    // One elastic net a discriminant: along a path of lambdas each starts from its own last answer, and its
    // residuals stay near those for which the columns are known.
    for (Index l = 0; l < problem.discriminants(); ++l) {
      lassos_.push_back(std::make_unique<GroupLasso>(
          problem.x,
          GroupLassoOptions{
              .l2 = 2.0 * half_rows_ * options.l2, .tolerance = tuning.lasso_tolerance, .threads = threads}));
      lassos_.back()->set_targets(problem.targets.col(l));
    }
  }

  /// While every beta is zero no score moves: the first one that does starts from problem.scores.
  [[nodiscard]] double lambda_max() const override {
    if (highest_ < 0.0) {
      highest_ = 0.0;
      for (const auto& lasso : lassos_) highest_ = std::max(highest_, lasso->lambda_max() / half_rows_);
    }
    return highest_;
  }

  [[nodiscard]] ScoringFit fit(double lambda, const RunControl& control) override {
    const Index count = problem_.discriminants();
    ScoringFit fit;
    fit.lambda = lambda;
    fit.converged = true;
    fit.scores = Matrix::Zero(problem_.class_weights.size(), count);
    std::vector<RowSparseMatrix> columns;
    double before = 0.0;  // objective of the finished discriminants
    for (Index l = 0; l < count; ++l) {
      if (l > 0 && control.should_stop()) {  // the others stay at zero
        fit.converged = false;
        columns.push_back({.rows = {}, .values = Matrix(0, 1)});
        continue;
      }
      GroupLasso& lasso = *lassos_[static_cast<std::size_t>(l)];
      // Always from the same scores: other ones can end at other discriminants, and what a lambda gives must
      // not depend on the lambdas before it.
      Vector theta = admissible(problem_.scores.col(l), fit.scores.leftCols(l));
      GroupLassoSolution solution;
      bool settled = false;
      double last = kInfinity;
      // While the scores still move, a net need not be solved further than they do.
      double tolerance = std::max(kFirstTolerance, tuning_.lasso_tolerance);
      for (Index i = 0; i < options_.max_iterations && !settled; ++i) {
        const Matrix target = scored_classes(problem_, theta);
        lasso.set_targets(target);
        lasso.set_tolerance(tolerance);
        solution = lasso.solve(half_rows_ * lambda, control);
        ++fit.iterations;
        fit.trace.push_back(before + solution.objective / half_rows_);
        if (solution.b.rows.empty()) {
          settled = solution.converged;
          break;
        }
        const double change = std::max(0.0, last - solution.objective) / solution.objective;
        settled = change <= options_.tolerance && tolerance <= tuning_.lasso_tolerance;
        tolerance = std::clamp(0.1 * change, tuning_.lasso_tolerance, tolerance);
        if (change <= options_.tolerance) tolerance = tuning_.lasso_tolerance;
        last = solution.objective;
        // The scores that go with beta are the ones it was fitted to: none are computed after the last net.
        if (settled || !solution.converged || control.should_stop()) break;
        // (I - QQ'D) D^{-1} Y'X beta, the scores nearest to X beta; X beta = target - residual.
        const Matrix sums = class_sums(problem_, target - lasso.residual());
        Vector next(sums.rows());
        for (Index c = 0; c < next.size(); ++c)
          next[c] = problem_.class_weights[c] > 0.0 ? sums(c, 0) / problem_.class_weights[c] : 0.0;
        theta = admissible(next, fit.scores.leftCols(l));
      }
      fit.converged = fit.converged && settled && solution.converged;
      fit.scores.col(l) = theta;
      before += solution.objective / half_rows_;
      columns.push_back(std::move(solution.b));
    }
    fit.objective = before;
    fit.b = side_by_side(columns);
    return fit;
  }

 private:
  /// theta made D-orthogonal to 1 and the columns of `earlier`, with theta'D theta = 1; a unit vector of that
  /// space where nothing is left of it.
  [[nodiscard]] Vector admissible(const Vector& theta, const MatrixRef& earlier) const {
    const Vector& d = problem_.class_weights;
    const double total = d.sum();
    const auto project = [&](Vector v) {
      for (int pass = 0; pass < 2; ++pass) {  // twice is enough for orthogonality to rounding
        v.array() -= d.dot(v) / total;
        for (Index j = 0; j < earlier.cols(); ++j)
          v -= earlier.col(j).dot(d.cwiseProduct(v)) * earlier.col(j);
      }
      for (Index c = 0; c < v.size(); ++c) {
        if (!(d[c] > 0.0)) v[c] = 0.0;  // a class without rows has no score
      }
      return v;
    };
    const auto length = [&](const Vector& v) { return std::sqrt(v.dot(d.cwiseProduct(v))); };
    Vector best = project(theta);
    if (!(length(best) > 1e-10 * length(theta))) {
      for (Index j = 0; j < problem_.scores.cols(); ++j) {
        const Vector other = project(problem_.scores.col(j));
        if (length(other) > length(best)) best = other;
      }
    }
    return best / length(best);
  }

  [[nodiscard]] static RowSparseMatrix side_by_side(const std::vector<RowSparseMatrix>& columns) {
    RowSparseMatrix all;
    for (const RowSparseMatrix& c : columns) all.rows.insert(all.rows.end(), c.rows.begin(), c.rows.end());
    std::sort(all.rows.begin(), all.rows.end());
    all.rows.erase(std::unique(all.rows.begin(), all.rows.end()), all.rows.end());
    all.values = Matrix::Zero(static_cast<Index>(all.rows.size()), static_cast<Index>(columns.size()));
    for (std::size_t l = 0; l < columns.size(); ++l) {
      for (std::size_t i = 0; i < columns[l].rows.size(); ++i) {
        const auto at = std::lower_bound(all.rows.begin(), all.rows.end(), columns[l].rows[i]);
        all.values(at - all.rows.begin(), static_cast<Index>(l)) =
            columns[l].values(static_cast<Index>(i), 0);
      }
    }
    return all;
  }

  const ScoringProblem& problem_;
  Sda options_;
  SdaTuning tuning_;
  double half_rows_;
  mutable double highest_ = -1.0;
  std::vector<std::unique_ptr<GroupLasso>> lassos_;
};

}  // namespace

std::unique_ptr<ScoringSolver> sda_solver(const ScoringProblem& problem, const Sda& options, int threads,
                                          const SdaTuning& tuning) {
  return std::make_unique<SdaSolver>(problem, options, threads, tuning);
}

}  // namespace subspectra
