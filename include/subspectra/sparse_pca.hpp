#pragma once
/// Rivals of sparse PCA, and what selections are compared with: principal components, shaved sets, every
/// feature.
#include <subspectra/method.hpp>
#include <subspectra/options.hpp>
#include <subspectra/scoring.hpp>

namespace subspectra {

/// The ridge of spca: what fits the table, soft thresholding (infinite), or a number.
struct SpcaRidge {
  bool automatic = true;
  double value = 1e-6;  ///< infinity: soft thresholding
  bool operator==(const SpcaRidge&) const = default;
};

/// Sparse PCA by regression.
struct Spca {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 1e-3;
  SpcaRidge l2;
  Index max_iterations = 500;
  double tolerance = 1e-6;

  static constexpr MethodTraits kTraits{
      .name = "spca",
      .summary =
          "sparse PCA by regression: elastic nets on the component, which follows them (Zou et al.); needs no labels",
      .needs_labels = false,
      .variance = true,
      .takes_matrices = true};
  static constexpr double kAutoFraction = 0.2;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field(
        "l2", o.l2,
        "weight of the squared coefficients, each in the units of its feature; inf: soft thresholding in place of the regression; auto: 1e-06, and inf for a table with more features than rows");
    field("max_iterations", o.max_iterations, "rounds of regression and rotation for one lambda");
    field("tolerance", o.tolerance,
          "stop when no coefficient moves by more than this fraction of the largest");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Sparse PCA by a semidefinite program.
struct Dspca {
  double rho = kInfinity;  ///< not given: the one that goes with every size
  Index max_iterations = 2000;
  double tolerance = 1e-4;

  static constexpr MethodTraits kTraits{
      .name = "dspca",
      .summary =
          "sparse PCA by a semidefinite program (d'Aspremont et al.), with its own bound; needs no labels",
      .needs_labels = false,
      .variance = true,
      .takes_matrices = true};
  [[nodiscard]] bool fixes_size() const { return rho < kInfinity; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "rho", o.rho,
        "weight of the absolute entries of X, which then decides the number of features; default: the one that goes with every size of ⟨k⟩");
    field("max_iterations", o.max_iterations, "steps for one size, an eigendecomposition each");
    field("tolerance", o.tolerance,
          "stop when primal and dual value differ by less than this fraction of the largest eigenvalue");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Every feature that varies.
struct All {
  static constexpr MethodTraits kTraits{
      .name = "all",
      .summary = "every feature that varies: what a selection is compared with",
      .needs_labels = false};
  [[nodiscard]] static bool fixes_size() { return true; }
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Principal components.
struct Pca {
  static constexpr MethodTraits kTraits{.name = "pca",
                                        .summary = "the first k principal components, each over all features",
                                        .needs_labels = false,
                                        .variance = true,
                                        .own_rule = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Signed means of shaved sets.
struct GeneShaving {
  double shave = 0.1;
  Index permutations = 20;

  static constexpr MethodTraits kTraits{
      .name = "gene-shaving",
      .summary = "signed means of k sets of features that vary together, shaved out of principal components",
      .needs_labels = false,
      .variance = true,
      .own_rule = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("shave", o.shave, "share of the features dropped in a step");
    field("permutations", o.permutations, "permuted tables that the size of a set is judged against");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

}  // namespace subspectra
