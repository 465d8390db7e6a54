#pragma once
/// Gaussian-process classification with the probit likelihood (docs/theory/gp.md): y = +1 or -1,
///     f ~ GP(0, k),    p(y|f) = Phi(y f),    k(x, x') = s^2 exp(-1/2 sum_d (x_d - x'_d)^2/l_d^2),
/// the posterior of f by Laplace's approximation or by expectation propagation (EP). More than two classes:
/// one against the rest, probabilities normalised.
#include <subspectra/classifiers.hpp>

#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include "classify/rule.hpp"
#include "core/options.hpp"
#include "core/types.hpp"

namespace subspectra {

template <>
struct OptionCodec<LengthScales> {
  static LengthScales parse(std::string_view text);
  static std::string format(const LengthScales& value);
  static nlohmann::json json(const LengthScales& value);  ///< a number, a list, or null
  static std::string hint() { return "V|V1,V2,..."; }
};

template <>
inline constexpr std::string_view kRuleOfValues<LengthScales> = "positive numbers are needed";

struct GpKernel {
  Vector lengthscales;  ///< 1, or one a column (ARD)
  double signal = 1.0;  ///< s
  [[nodiscard]] bool ard() const { return lengthscales.size() > 1; }
};

/// What a training is told besides the options.
struct GpContext {
  std::uint64_t seed = 0;  ///< of the random starts
  int threads = 0;
  std::uint64_t memory_limit = 0;
};

/// What is known of f at the training inputs, for one machine (one class against others).
struct GpPosterior {
  Vector mode;            ///< Laplace: f where the posterior is largest
  Vector site_precision;  ///< EP: of every row's site, >= 0
  Vector site_shift;      ///< EP: precision times mean
  double log_marginal_likelihood = 0.0;
  Index iterations = 0;  ///< Newton steps, or sweeps
  bool converged = false;
};

/// The log marginal likelihood and its derivatives.
struct GpEvidence {
  GpPosterior posterior;
  Vector gradient;  ///< by log l (one, or each), then by log s
};

/// At a given kernel, for `rows` n x p and y of +1 and -1. Throws InvalidArgument where the sizes do not fit.
[[nodiscard]] GpEvidence gp_evidence(const MatrixRef& rows, const VectorRef& y, const GpKernel& kernel,
                                     GpApproximation approximation, int threads = 0);

/// One against the others.
struct GpMachine {
  Index positive = 0;  ///< the class whose rows have y = +1
  GpKernel kernel;
  GpPosterior posterior;
  Index evaluations = 0;            ///< of the gradient; 0 with fixed hyperparameters
  double slope = 0.0;               ///< the largest derivative that the optimization left, see fit_gp
  bool converged = false;           ///< the optimization ended by its tolerance
  bool ended_by_rounding = false;   ///< it did not: no step raised the likelihood further
  Index lengthscales_at_bound = 0;  ///< after an optimization
  bool signal_at_bound = false;
};

/// A trained classifier. A class without training rows has probability 0. Two classes with rows share one
/// machine, p = Phi(mean/sqrt(1 + var)); of more, each has its own and p_c ~ Phi(mean_c/sqrt(1 + var_c)).
/// Like the machines of svm they are weighed by prior_c/share_c, which changes nothing with empirical priors.
struct GpRule final : Rule {
  GpApproximation approximation = GpApproximation::kLaplace;
  Vector centre;                    ///< k: subtracted before projecting; empty without a projection
  Matrix projection;                ///< k x q: inputs are projection'(x - centre); empty: the rows themselves
  Matrix inputs;                    ///< n x q training inputs
  std::vector<int> codes;           ///< n classes of theirs
  Vector priors, shares;            ///< K
  std::vector<GpMachine> machines;  ///< none where one class alone has rows
  double seconds = 0.0;             ///< of the training

  /// Of the one machine; with more classes the sum of theirs, which is no likelihood of a joint model.
  [[nodiscard]] double log_marginal_likelihood() const;
  /// Of the one machine; with more classes the length-scale whose inverse square is the mean of theirs.
  [[nodiscard]] Vector lengthscales() const;
  /// Their inverses, in which a machine has no part whose length-scale is so long that the mean squared
  /// distance of two rows in the feature is less than `least` times its square.
  [[nodiscard]] Vector relevances(double least) const;

  // The status iteration_limit, time_limit or interrupted: the best hyperparameters found so far.
  [[nodiscard]] std::string_view classifier() const override;
  /// n x k -> n x K, normalised. Cost: one Cholesky factor of N x N a machine, then N^2 a row.
  [[nodiscard]] Matrix log_posteriors(const MatrixRef& rows) const override;
  [[nodiscard]] Index entries() const override {
    return centre.size() > 0 ? projection.size() : inputs.cols();
  }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::string cut_short_sentence() const override;
  [[nodiscard]] nlohmann::json to_json() const override;
};

/// Trains on `rows` (N x p, as given) with codes 0..classes-1. Hyperparameters: L-BFGS
/// (solvers/box_ascent.hpp) for l within 1e-3 to 1e3 times the median distance of two rows and s within 1e-2
/// to 1e2, widened to ten times around a value that was given outside of them. Without one the first start is
/// l = that median, s = 2; with ARD it is the optimum for a common l. A start ends when no derivative of the
/// log marginal likelihood L by log s or by log x, x^2 = 1e-3 + the mean squared distance of two rows in a
/// feature over l^2, that does not lead out of the bounds, exceeds options.tolerance (1 + |L|). `control`
/// ends the optimization with the best hyperparameters so far. Throws InvalidArgument (a list of
/// length-scales that does not fit) and Error (memory). `Options` is GpLaplace, GpEp or GpArd.
template <class Options>
[[nodiscard]] GpRule fit_gp(const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                            const Options& options, const GpContext& context = {},
                            const RunControl& control = RunControl());

/// The same in the space of given discriminants B (k x L): inputs are B'(x - mean of the rows). `Options` is
/// GpLaplace or GpEp.
template <class Options>
[[nodiscard]] GpRule fit_projected_gp(const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                                      const MatrixRef& b, const Options& options,
                                      const GpContext& context = {},
                                      const RunControl& control = RunControl());

}  // namespace subspectra
