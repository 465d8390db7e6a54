#include "scoring/reweighted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "scoring/reweighting.hpp"

namespace subspectra {
namespace {

/// The largest change of a row norm, over the largest row norm.
class RowChange {
 public:
  /// `norms` of the features that are still there; a feature that is gone has changed from what it was to 0.
  double update(const std::vector<Index>& features, const Vector& norms) {
    double change = 0.0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const bool there = at < features.size() && features[at] == before_[i];
      const double now = there ? norms[static_cast<Index>(at++)] : 0.0;
      change = std::max(change, std::abs(now - norms_[static_cast<Index>(i)]));
    }
    if (before_.empty() && !started_) change = kInfinity;
    started_ = true;
    before_ = features;
    norms_ = norms;
    const double largest = norms.size() > 0 ? norms.maxCoeff() : 0.0;
    return largest > 0.0 ? change / largest : (features.empty() ? 0.0 : change);
  }

 private:
  bool started_ = false;
  std::vector<Index> before_;
  Vector norms_;
};

void drop_small(Reweighting& state, double prune, double noise) {
  if (state.gamma().size() == 0) return;
  // Relative to max gamma alone nothing would ever fall below it where the answer is B = 0. A variance about
  // to underflow goes in any case: 0/0 would come next.
  constexpr double kUnderflow = 1e-280;
  state.drop(std::max(kUnderflow, prune * std::max(state.gamma().maxCoeff(), noise)));
}

void tell(const RunControl& control, const ScoringFit& fit, Index features, double change) {
  control.report("fit", -1.0, [&] {
    return fmt::format("lambda {:.3g}  iteration {}  objective {:.6g}  features {}  change {:.1e}",
                       fit.lambda, fit.iterations, fit.objective, features, change);
  });
}

class RvmRowSolver final : public ScoringSolver {
 public:
  RvmRowSolver(const ScoringProblem& problem, const RvmRow& options, int threads, bool warm)
      : problem_(problem), options_(options), threads_(threads), warm_(warm) {}

  /// With every other variance 0 the cost falls as gamma_i rises from 0 exactly when |x_i'T|^2 > L (lambda
  /// N)^2/alpha; alpha = lambda N leaves |x_i'T|^2/L > lambda N. A smaller alpha than that makes 0 a minimum
  /// for far smaller lambdas, which the iteration, coming from large variances, does not find.
  [[nodiscard]] double lambda_max() const override {
    const double level = largest_product(problem_, threads_) / static_cast<double>(problem_.discriminants());
    const double alpha = alpha_given() ? options_.alpha : 0.0;
    const double noise = std::sqrt(std::max(alpha, level) * level);
    return noise / static_cast<double>(problem_.rows());
  }

  [[nodiscard]] bool rising() const override { return warm_; }

  ScoringFit fit(double lambda, const RunControl& control) override {
    const auto n = static_cast<double>(problem_.rows());
    const auto discriminants = static_cast<double>(problem_.discriminants());
    const double noise = lambda * n;
    Reweighting state(problem_.x, problem_.targets,
                      {.noise = noise,
                       .alpha = alpha_given() ? options_.alpha : noise,
                       .spreads = true,
                       .threads = threads_});
    if (warm_ && lambda >= last_lambda_) state.start_from(last_features_, last_gamma_);
    ScoringFit fit;
    fit.lambda = lambda;
    fit.scores = problem_.scores;
    RowChange change;
    while (fit.iterations < options_.max_iterations) {
      state.step();
      ++fit.iterations;
      fit.objective = cost(state, lambda);
      fit.trace.push_back(fit.objective);
      const Vector squares = state.b().rowwise().squaredNorm();
      const double moved = change.update(state.features(), squares.array().sqrt());
      fit.working.push_back(static_cast<Index>(state.features().size()));
      tell(control, fit, fit.working.back(), moved);
      fit.converged = moved <= options_.tolerance;
      const bool settled = fit.converged && options_.tolerance > 0.0;
      if ((settled && options_.prune == 0.0) || control.should_stop()) break;
      if (fit.iterations == options_.max_iterations) break;  // B belongs to these variances
      const Vector gamma = state.gamma();
      update(squares / discriminants, state);
      if (settled && !drop_fading(state, gamma, squares, lambda)) break;
      drop_small(state, options_.prune, noise);
    }
    fit.b = nonzero_rows(state.b(), state.features());
    last_lambda_ = lambda;
    last_features_ = state.features();
    last_gamma_ = state.gamma();
    return fit;
  }

 private:
  [[nodiscard]] bool alpha_given() const { return std::isfinite(options_.alpha); }

  [[nodiscard]] double cost(const Reweighting& state, double lambda) const {
    return state.residual() / static_cast<double>(problem_.rows()) +
           lambda * (state.penalty() + static_cast<double>(problem_.discriminants()) * state.log_det());
  }

  /// Features on their way out are still there when the row norms have settled: their own are too small by
  /// then to be seen, and (24) would take their variances down like lambda N/t. Takes out those that are
  /// small, fall and want to be 0 (the cost rises with gamma_i from 0: |b_i|^2/gamma_i^2 <= L z_i (1 -
  /// gamma_i z_i), exactly for alpha = lambda N), all of them or the smallest half, quarter, .., so that the
  /// cost does not rise. `before`: the variances that B belongs to. True if one is gone.
  bool drop_fading(Reweighting& state, const Vector& before, const Vector& squares, double lambda) const {
    constexpr double kSmall = 1e-2;
    const Vector gamma = state.gamma(), z = state.z();
    const double small = kSmall * (gamma.size() > 0 ? gamma.maxCoeff() : 0.0);
    const auto discriminants = static_cast<double>(problem_.discriminants());
    std::vector<Index> fading;
    for (Index i = 0; i < gamma.size(); ++i) {
      const double old = before[i];
      if (gamma[i] < small && gamma[i] < old &&
          squares[i] <= old * old * discriminants * z[i] * (1.0 - old * z[i]))
        fading.push_back(i);
    }
    std::sort(fading.begin(), fading.end(),
              [&](Index a, Index b) { return std::pair(gamma[a], a) < std::pair(gamma[b], b); });
    const double now = cost(state, lambda);
    for (; !fading.empty(); fading.resize(fading.size() / 2)) {
      const auto take_out = [&](Reweighting& from) {
        for (const Index i : fading) from.gamma()[i] = 0.0;
        from.drop(0.0);
      };
      Reweighting without = state;
      take_out(without);
      without.step();
      if (!(cost(without, lambda) <= now)) continue;
      take_out(state);
      return true;
    }
    return false;
  }

  void update(const Vector& mean_squares, Reweighting& state) const {
    auto gamma = state.gamma().array();
    const auto z = state.z().array();
    if (options_.rvm_update == RvmUpdate::kFast) {
      gamma = (mean_squares.array() / z).sqrt();
    } else {
      // (24); rounding may leave a variance that is all but gone below 0.
      gamma = (mean_squares.array() + gamma * (1.0 - gamma * z)).max(0.0);
    }
  }

  const ScoringProblem& problem_;
  RvmRow options_;
  int threads_;
  bool warm_;
  double last_lambda_ = kInfinity;
  std::vector<Index> last_features_;
  Vector last_gamma_;
};

/// phi of one table of squares: the features that are gone count with |b_i| = 0.
double jeffreys_penalty(const Vector& squares, Index features, double epsilon) {
  return (squares.array() + epsilon).log().sum() +
         static_cast<double>(features - squares.size()) * std::log(epsilon);
}

/// A single feature has a stationary point other than 0 exactly when |x_i'T|^2 >= 4 lambda N.
double jeffreys_lambda_max(const ScoringProblem& problem, int threads) {
  return largest_product(problem, threads) / (4.0 * static_cast<double>(problem.rows()));
}

class JeffreysRowSolver final : public ScoringSolver {
 public:
  JeffreysRowSolver(const ScoringProblem& problem, const JeffreysRow& options, int threads)
      : problem_(problem), options_(options), threads_(threads) {}
  [[nodiscard]] double lambda_max() const override { return jeffreys_lambda_max(problem_, threads_); }
  ScoringFit fit(double lambda, const RunControl& control) override {
    const auto n = static_cast<double>(problem_.rows());
    Reweighting state(problem_.x, problem_.targets,
                      {.noise = lambda * n, .alpha = lambda * n, .spreads = false, .threads = threads_});
    ScoringFit fit;
    fit.lambda = lambda;
    fit.scores = problem_.scores;
    RowChange change;
    while (fit.iterations < options_.max_iterations) {
      state.step();
      ++fit.iterations;
      const Vector squares = state.b().rowwise().squaredNorm();
      fit.objective =
          state.residual() / n + lambda * jeffreys_penalty(squares, problem_.columns(), options_.epsilon);
      fit.trace.push_back(fit.objective);
      const double moved = change.update(state.features(), squares.array().sqrt());
      fit.working.push_back(static_cast<Index>(state.features().size()));
      tell(control, fit, fit.working.back(), moved);
      fit.converged = moved <= options_.tolerance;
      if ((fit.converged && options_.tolerance > 0.0) || control.should_stop()) break;
      if (fit.iterations == options_.max_iterations) break;
      state.gamma() = squares.array() + options_.epsilon;
      drop_small(state, options_.prune, lambda * n);
    }
    fit.b = nonzero_rows(state.b(), state.features());
    return fit;
  }

 private:
  const ScoringProblem& problem_;
  JeffreysRow options_;
  int threads_;
};

class JeffreysEntrySolver final : public ScoringSolver {
 public:
  JeffreysEntrySolver(const ScoringProblem& problem, const JeffreysEntry& options, int threads)
      : problem_(problem), options_(options), threads_(threads) {}
  [[nodiscard]] double lambda_max() const override { return jeffreys_lambda_max(problem_, threads_); }
  ScoringFit fit(double lambda, const RunControl& control) override {
    const auto n = static_cast<double>(problem_.rows());
    const Index count = problem_.discriminants();
    std::vector<Matrix> targets(static_cast<std::size_t>(count));
    std::vector<Reweighting> states;
    for (Index k = 0; k < count; ++k) {
      auto& own = targets[static_cast<std::size_t>(k)];
      own = problem_.targets.col(k);
      states.emplace_back(
          problem_.x, own,
          Reweighting::Options{
              .noise = lambda * n, .alpha = lambda * n, .spreads = false, .threads = threads_});
    }
    ScoringFit fit;
    fit.lambda = lambda;
    fit.scores = problem_.scores;
    std::vector<RowChange> changes(static_cast<std::size_t>(count));
    while (fit.iterations < options_.max_iterations) {
      ++fit.iterations;
      Matrix fitted(problem_.rows(), count);
      double moved = 0.0, penalty = 0.0;
      Index features = 0;
      for (Index k = 0; k < count; ++k) {
        auto& state = states[static_cast<std::size_t>(k)];
        state.set_targets(targets[static_cast<std::size_t>(k)]);
        state.step();
        const Vector squares = state.b().rowwise().squaredNorm();
        penalty += jeffreys_penalty(squares, problem_.columns(), options_.epsilon);
        moved = std::max(
            moved, changes[static_cast<std::size_t>(k)].update(state.features(), squares.array().sqrt()));
        features = std::max(features, static_cast<Index>(state.features().size()));
        fitted.col(k) = fitted_values(problem_, {state.features(), state.b()});
      }
      // The scores that fit this B best never raise the cost.
      const Matrix scores = best_scores(problem_, fitted);
      const Matrix scored = scored_classes(problem_, scores);
      fit.scores = scores;
      fit.objective = (scored - fitted).squaredNorm() / n + lambda * penalty;
      fit.trace.push_back(fit.objective);
      fit.working.push_back(features);
      tell(control, fit, features, moved);
      fit.converged = moved <= options_.tolerance;
      if ((fit.converged && options_.tolerance > 0.0) || control.should_stop()) break;
      if (fit.iterations == options_.max_iterations) break;
      for (Index k = 0; k < count; ++k) {
        auto& state = states[static_cast<std::size_t>(k)];
        targets[static_cast<std::size_t>(k)] = scored.col(k);
        state.gamma() = state.b().rowwise().squaredNorm().array() + options_.epsilon;
        drop_small(state, options_.prune, lambda * n);
      }
    }
    fit.b = merged(states);
    return fit;
  }

 private:
  /// One matrix of the discriminants' own columns.
  [[nodiscard]] static RowSparseMatrix merged(const std::vector<Reweighting>& states) {
    std::vector<Index> all;
    for (const auto& state : states) all.insert(all.end(), state.features().begin(), state.features().end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    Matrix b = Matrix::Zero(static_cast<Index>(all.size()), static_cast<Index>(states.size()));
    for (std::size_t k = 0; k < states.size(); ++k) {
      const auto& features = states[k].features();
      for (std::size_t i = 0; i < features.size(); ++i) {
        const auto at = std::lower_bound(all.begin(), all.end(), features[i]) - all.begin();
        b(at, static_cast<Index>(k)) = states[k].b()(static_cast<Index>(i), 0);
      }
    }
    return nonzero_rows(b, all);
  }

  const ScoringProblem& problem_;
  JeffreysEntry options_;
  int threads_;
};

}  // namespace

std::unique_ptr<ScoringSolver> rvm_row_solver(const ScoringProblem& problem, const RvmRow& options,
                                              int threads, bool warm) {
  return std::make_unique<RvmRowSolver>(problem, options, threads, warm);
}

std::unique_ptr<ScoringSolver> jeffreys_row_solver(const ScoringProblem& problem, const JeffreysRow& options,
                                                   int threads) {
  return std::make_unique<JeffreysRowSolver>(problem, options, threads);
}

std::unique_ptr<ScoringSolver> jeffreys_entry_solver(const ScoringProblem& problem,
                                                     const JeffreysEntry& options, int threads) {
  return std::make_unique<JeffreysEntrySolver>(problem, options, threads);
}

}  // namespace subspectra
