#include "scoring/rvm_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "scoring/reweighting.hpp"
#include "solvers/group_lasso.hpp"

namespace subspectra {
namespace {

/// Columns nearest to joining a discriminant, for each feature it has: see nearby().
constexpr Index kNeighbours = 10;

/// One discriminant's entries, over some columns of X.
class Entries {
 public:
  /// Over all columns of `x`, which must outlive this. start() comes next.
  Entries(const Matrix& x, double tolerance, int threads)
      : x_(x), tolerance_(tolerance), threads_(threads), lasso_(new_lasso()) {}

  /// Weights for these spreads; beta is looked for anew.
  void start(const Vector& z) {
    z_ = z;
    first_ = true;
  }

  struct Step {
    RowSparseMatrix b;     ///< as columns of the whole X
    double penalty = 0.0;  ///< sum of beta_i^2/gamma_i + log|alpha I + X Gamma X'|
    double gap = 0.0;      ///< duality gap of the lasso
    bool converged = true;
  };

  /// beta for these weights, then the weights (23) for that beta.
  Step step(const Vector& target, double noise, double alpha, const RunControl& control) {
    lasso_->set_targets(target, 2.0 * z_.array().max(0.0).sqrt());
    if (first_) {
      approach(0.5 * noise, control);
    } else if (moved_) {
      lasso_->start_from(beta_);
    }
    const auto solution = lasso_->solve(0.5 * noise, control);
    if (first_) first_beta_ = solution.b;
    first_ = moved_ = false;
    Step step{.b = solution.b, .gap = solution.gap, .converged = solution.converged};
    beta_ = solution.b;
    gamma_.resize(beta_.values.rows());
    for (Index i = 0; i < gamma_.size(); ++i) {
      const double size = std::abs(beta_.values(i, 0));
      const double root = std::sqrt(z_[beta_.rows[static_cast<std::size_t>(i)]]);
      gamma_[i] = size / root;
      step.penalty += size * root;  // beta_i^2/gamma_i
    }
    Spreads next = spreads_of(x_, beta_.rows, gamma_, alpha, threads_);
    step.penalty += next.log_det;
    z_ = std::move(next.z);
    if (own_) step.b.rows = in_whole(beta_.rows);
    return step;
  }

  /// How many columns nearby() has.
  [[nodiscard]] Index neighbours() const {
    return std::min(x_.cols(), kNeighbours * (1 + static_cast<Index>(beta_.rows.size())));
  }

  /// The same over fewer columns: those of beta, and those with the largest |x_i'r|/sqrt(z_i), which the
  /// lasso keeps at 0 up to lambda N. `products`: X'r.
  [[nodiscard]] Entries nearby(const Vector& products) const {
    Vector nearness = (z_.array() > 0.0).select(products.array().abs() / z_.array().sqrt(), 0.0);
    nearness(beta_.rows).setConstant(kInfinity);
    std::vector<Index> columns(static_cast<std::size_t>(x_.cols()));
    std::iota(columns.begin(), columns.end(), Index{0});
    const Index count = neighbours();
    std::nth_element(columns.begin(), columns.begin() + (count - 1), columns.end(), [&](Index i, Index j) {
      return std::pair(-nearness[i], i) < std::pair(-nearness[j], j);
    });
    columns.resize(static_cast<std::size_t>(count));
    std::sort(columns.begin(), columns.end());
    return {*this, std::move(columns)};
  }

  /// Goes on from where nearby() has come to.
  void take(const Entries& few, double alpha) {
    beta_ = {few.in_whole(few.beta_.rows), few.beta_.values};
    gamma_ = few.gamma_;
    z_ = spreads_of(x_, beta_.rows, gamma_, alpha, threads_).z;
    moved_ = true;
  }

 private:
  Entries(const Entries& all, std::vector<Index> columns)
      : own_(std::make_unique<Matrix>(all.x_(Eigen::all, columns))),
        columns_(std::move(columns)),
        x_(*own_),
        tolerance_(all.tolerance_),
        threads_(all.threads_),
        lasso_(new_lasso()),
        z_(all.z_(columns_)),
        beta_(all.beta_),
        gamma_(all.gamma_),
        moved_(true) {
    for (Index& row : beta_.rows)
      row = std::lower_bound(columns_.begin(), columns_.end(), row) - columns_.begin();
  }

  /// Down to lambda from where the first lasso of the last fit was, or from 0: the weights of a start are the
  /// smallest ones, and such a lasso has far more features than all that follow.
  void approach(double lambda, const RunControl& control) {
    constexpr double kStep = 0.5, kRough = 1e-2;
    if (control.should_stop()) return;
    lasso_->start_from(first_beta_);
    lasso_->set_tolerance(kRough);
    if (!(first_lambda_ < kInfinity)) first_lambda_ = lasso_->lambda_max();
    for (double level = kStep * first_lambda_; level > lambda && !control.should_stop(); level *= kStep) {
      // 1/2 at 0: nothing is left to explain, and smaller penalties are no steps on the way.
      if (lasso_->solve(level, control).objective <= 0.5 * kRough) break;
    }
    lasso_->set_tolerance(tolerance_);
    first_lambda_ = lambda;
  }

  [[nodiscard]] std::unique_ptr<GroupLasso> new_lasso() const {
    return std::make_unique<GroupLasso>(x_, GroupLassoOptions{.tolerance = tolerance_, .threads = threads_});
  }
  [[nodiscard]] std::vector<Index> in_whole(std::vector<Index> rows) const {
    for (Index& row : rows) row = columns_[static_cast<std::size_t>(row)];
    return rows;
  }

  std::unique_ptr<const Matrix> own_;  ///< the columns, where they are not all of them
  std::vector<Index> columns_;         ///< and which they are
  const Matrix& x_;
  double tolerance_;
  int threads_;
  std::unique_ptr<GroupLasso> lasso_;  ///< keeps its last solution as a warm start
  Vector z_;                           ///< of every column
  RowSparseMatrix beta_;
  Vector gamma_;        ///< of beta's features; 0 elsewhere
  bool moved_ = false;  ///< beta has changed outside of the lasso
  bool first_ = false;  ///< the next step is the first one
  RowSparseMatrix first_beta_;
  double first_lambda_ = kInfinity;
};

class RvmEntrySolver final : public ScoringSolver {
 public:
  RvmEntrySolver(const ScoringProblem& problem, const RvmEntry& options, int threads,
                 const RvmEntryTuning& tuning)
      : problem_(problem), options_(options), threads_(threads) {
    for (Index k = 0; k < problem.discriminants(); ++k)
      all_.emplace_back(problem.x, tuning.lasso_tolerance, threads);
  }

  /// B = 0 when |x_i'Y theta| <= lambda N sqrt(z_i) for all i, and z_i >= 1/(alpha + rho) with rho the
  /// largest eigenvalue of X X': so surely when (lambda N)^2 >= c^2 (alpha + rho), c the largest |x_i'Y
  /// theta|. Where alpha is lambda N that is a quadratic equation.
  [[nodiscard]] double lambda_max() const override {
    Matrix products(problem_.columns(), problem_.discriminants());
    linalg::gemm_tiled(1.0, linalg::Op::kTranspose, problem_.x, problem_.targets, 0.0, products, threads_);
    const double c = products.cwiseAbs().maxCoeff();
    const bool wide = problem_.columns() > problem_.rows();
    const Index side = std::min(problem_.columns(), problem_.rows());
    Matrix gram(side, side);
    linalg::syrk(1.0, wide ? linalg::Op::kNone : linalg::Op::kTranspose, problem_.x, 0.0, gram);
    const double rho = linalg::symmetric_eigen(std::move(gram), false).values[side - 1];
    const double noise = alpha_given() ? c * std::sqrt(options_.alpha + rho)
                                       : 0.5 * (c * c + std::sqrt(c * c * (c * c + 4.0 * rho)));
    return noise / static_cast<double>(problem_.rows());
  }

  ScoringFit fit(double lambda, const RunControl& control) override {
    const auto n = static_cast<double>(problem_.rows());
    Run run{.noise = lambda * n, .targets = problem_.targets};
    run.alpha = alpha_given() ? options_.alpha : run.noise;
    run.b = Matrix::Zero(problem_.columns(), problem_.discriminants());
    run.fit.lambda = lambda;
    run.fit.scores = problem_.scores;
    start(run.alpha);
    while (run.fit.iterations < options_.max_iterations) {
      run.fit.converged = advance(all_, run, control);
      if ((run.fit.converged && options_.tolerance > 0.0) || control.should_stop()) break;
      // While most features leave, others still come back.
      constexpr Index kOverAll = 3;
      if (run.fit.iterations < kOverAll || !settle_nearby(run, control)) continue;
      if (!control.should_stop()) continue;
      run.fit.gap = -1.0;  // that of a few columns
      break;
    }
    return std::move(run.fit);
  }

 private:
  struct Run {
    double noise;  ///< lambda N
    double alpha = 0.0;
    Matrix targets;  ///< Y theta
    Matrix b;
    ScoringFit fit{};
  };

  [[nodiscard]] bool alpha_given() const { return std::isfinite(options_.alpha); }

  /// gamma_i = 1 for every column.   N^2 p flops, once for an alpha.
  void start(double alpha) {
    if (alpha != first_alpha_) {
      std::vector<Index> everything(static_cast<std::size_t>(problem_.columns()));
      std::iota(everything.begin(), everything.end(), Index{0});
      first_z_ = spreads_of(problem_.x, everything, Vector::Ones(problem_.columns()), alpha, threads_).z;
      first_alpha_ = alpha;
    }
    for (Entries& column : all_) column.start(first_z_);
  }

  /// A weighted lasso a discriminant, new weights, new scores. True: the lassos have converged and no entry
  /// of B has moved by more than the tolerance.
  bool advance(std::vector<Entries>& columns, Run& run, const RunControl& control) const {
    ScoringFit& fit = run.fit;
    ++fit.iterations;
    Matrix b = Matrix::Zero(problem_.columns(), problem_.discriminants());
    double penalty = 0.0, gap = 0.0;
    bool converged = true;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto column = static_cast<Index>(k);
      const Entries::Step step = columns[k].step(run.targets.col(column), run.noise, run.alpha, control);
      for (std::size_t i = 0; i < step.b.rows.size(); ++i)
        b(step.b.rows[i], column) = step.b.values(static_cast<Index>(i), 0);
      penalty += step.penalty;
      gap = std::max(gap, step.gap);
      converged = converged && step.converged;
    }
    fit.b = nonzero_rows(b);
    const Matrix fitted = fitted_values(problem_, fit.b);
    fit.scores = best_scores(problem_, fitted);
    run.targets = scored_classes(problem_, fit.scores);
    fit.objective =
        (run.targets - fitted).squaredNorm() / static_cast<double>(problem_.rows()) + fit.lambda * penalty;
    fit.trace.push_back(fit.objective);
    fit.gap = gap / 0.5;  // |Y theta|^2/2 = 1/2 is the lasso's objective at 0
    const double largest = b.cwiseAbs().maxCoeff();
    const double moved = (b - run.b).cwiseAbs().maxCoeff();
    run.b = std::move(b);
    control.report("fit", -1.0, [&] {
      return fmt::format("lambda {:.3g}  iteration {}  objective {:.6g}  features {}  lasso gap {:.1e}",
                         fit.lambda, fit.iterations, fit.objective, fit.b.rows.size(), fit.gap);
    });
    return converged && moved <= options_.tolerance * largest;
  }

  /// The iteration over the features at hand and their nearest rivals, to its end: the same cost with the
  /// other variances held at 0, so that it falls all the same, for a small part of the work. Whether one of
  /// the others wants to come in is for the next iteration over all to see. False: not worth it.
  bool settle_nearby(Run& run, const RunControl& control) {
    if (!(options_.tolerance > 0.0)) return false;  // there is no end to reach
    Index in_play = 0;
    for (const Entries& column : all_) in_play += column.neighbours();
    // Copies of half the table, or of all of it where that is at most half of the entries.
    if (2 * in_play > problem_.columns() * std::min<Index>(2, problem_.discriminants())) return false;
    Matrix products(problem_.columns(), problem_.discriminants());
    const Matrix residual = run.targets - fitted_values(problem_, run.fit.b);
    linalg::gemm_tiled(1.0, linalg::Op::kTranspose, problem_.x, residual, 0.0, products, threads_);
    std::vector<Entries> few;
    few.reserve(all_.size());
    for (std::size_t k = 0; k < all_.size(); ++k)
      few.push_back(all_[k].nearby(products.col(static_cast<Index>(k))));
    // The last iteration of all is over all columns.
    while (run.fit.iterations + 1 < options_.max_iterations &&
           !(advance(few, run, control) || control.should_stop())) {
    }
    for (std::size_t k = 0; k < all_.size(); ++k) all_[k].take(few[k], run.alpha);
    return true;
  }

  const ScoringProblem& problem_;
  RvmEntry options_;
  int threads_;
  std::vector<Entries> all_;  ///< one a discriminant
  Vector first_z_;            ///< of start(), for first_alpha_
  double first_alpha_ = -1.0;
};

}  // namespace

std::unique_ptr<ScoringSolver> rvm_entry_solver(const ScoringProblem& problem, const RvmEntry& options,
                                                int threads, const RvmEntryTuning& tuning) {
  return std::make_unique<RvmEntrySolver>(problem, options, threads, tuning);
}

}  // namespace subspectra
