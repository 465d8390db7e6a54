#pragma once
/// Methods that rank every feature: filters, support vector machines, and a Gaussian process with a
/// length-scale a feature.
#include <vector>

#include <subspectra/classifiers.hpp>
#include <subspectra/method.hpp>
#include <subspectra/options.hpp>

namespace subspectra {

/// Correlation with the label.
struct Pearson {
  static constexpr MethodTraits kTraits{
      .name = "pearson",
      .summary =
          "filter: correlation of the feature with the label (correlation ratio for more than two classes)",
      .by_columns = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Fisher's ratio of every feature alone.
struct Fisher {
  static constexpr MethodTraits kTraits{
      .name = "fisher",
      .summary = "filter: squared distance of the class means over the class variances",
      .by_columns = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Kolmogorov and Smirnov's distance.
struct Ks {
  static constexpr MethodTraits kTraits{
      .name = "ks",
      .summary = "filter: Kolmogorov-Smirnov distance of the two class distributions",
      .two_classes_only = true,
      .by_columns = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Signal to noise.
struct Snr {
  static constexpr MethodTraits kTraits{
      .name = "snr",
      .summary = "filter: signal to noise, |mu1 - mu2|/(sigma1 + sigma2), for two classes",
      .two_classes_only = true,
      .by_columns = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Errors of a threshold, against random labels. Without labels it looks for the classes.
struct MaxSurprise {
  Index restarts = 20;
  Index patience = 50;
  double smallest_class = 0.1;

  static constexpr MethodTraits kTraits{
      .name = "max-surprise",
      .summary =
          "filter: how unlikely so few errors of a threshold are under random labels, for two classes; without labels it looks for the two classes that most features tell apart",
      .needs_labels = false,
      .two_classes_only = true,
      .ranks_when_stopped = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "restarts", o.restarts,
        "without labels: so many starts, each from the best of some cuts of single features by chance; the largest surprise is kept");
    field("patience", o.patience,
          "without labels: a start ends after so many moves of a row without a better partition");
    field("smallest_class", o.smallest_class,
          "without labels: the smaller class has at least this share of the rows; 0: one row");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

namespace detail {
inline constexpr std::string_view kMachineCostHelp =
    "weight of the squared hinge losses beside |w|^2/2, features standardized; default: chosen by cross-validation inside the rows";
}  // namespace detail

/// Recursive elimination.
struct SvmRfe {
  double C = kInfinity;  ///< not given: chosen by cross-validation
  double rfe_step = 0.5;
  Index rfe_single = 128;

  static constexpr MethodTraits kTraits{
      .name = "svm-rfe",
      .summary =
          "linear support vector machine: the features with the smallest weights leave, again and again",
      .ranks_when_stopped = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("C", o.C, detail::kMachineCostHelp);
    field(
        "rfe_step", o.rfe_step,
        "below 1: this share of the features leaves after a training (0.5 halves them); from 1 on: so many features (1: one at a time)");
    field("rfe_single", o.rfe_single,
          "with a share: from so many features on they leave one at a time; 0 never");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Scaling factors by the radius-margin bound.
struct SvmRmb {
  double C = kInfinity;  ///< not given: chosen by cross-validation
  Index max_iterations = 200;
  double tolerance = 1e-4;

  static constexpr MethodTraits kTraits{
      .name = "svm-rmb",
      .summary = "scaling factors of the features that minimize the radius-margin bound of a linear machine",
      .ranks_when_stopped = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("C", o.C, detail::kMachineCostHelp);
    field("max_iterations", o.max_iterations, "stop after so many iterations");
    field("tolerance", o.tolerance,
          "stop when an iteration lowers the bound by less than this fraction; 0 runs all iterations");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Inverse length-scales.
struct GpArd {
  GpApproximation approximation = GpApproximation::kLaplace;
  Hyperparameters hyperparameters = Hyperparameters::kOptimize;
  LengthScales lengthscale = {};
  double signal = kInfinity;  ///< not given
  Index restarts = 1;
  Index max_iterations = 1000;
  double tolerance = 1e-5;

  static constexpr MethodTraits kTraits{
      .name = "gp-ard",
      .summary = "soft relevance: inverse length-scales of a Gaussian process, one a feature (ARD)",
      .ranks_when_stopped = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("approximation", o.approximation,
          "of the posterior: Laplace's at its mode, or expectation propagation");
    field("hyperparameters", o.hyperparameters,
          "length-scales and signal that make the log marginal likelihood largest, or as given");
    field(
        "lengthscale", o.lengthscale,
        "where all length-scales start, or each, in ascending order of the features that are neither constant nor excluded. Default: the best common one");
    field("signal", o.signal,
          "where the prior standard deviation s of the latent function starts. Default: 2");
    field("restarts", o.restarts,
          "so many starts, all but the first random; the largest log marginal likelihood is kept");
    field("max_iterations", o.max_iterations, "gradients of the log marginal likelihood in one start");
    field(
        "tolerance", o.tolerance,
        "stop when no derivative of the log marginal likelihood L by the logarithm of a hyperparameter within its bounds exceeds this times 1 + |L|; 0 runs all iterations");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

}  // namespace subspectra
