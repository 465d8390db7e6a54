#pragma once
/// Sparse discriminants by optimal scoring (AISTATS15): relevance vector machines, group lasso and their
/// rivals. Each gives a path over its lambdas, or the fit of one.
#include <string_view>

#include <subspectra/method.hpp>
#include <subspectra/options.hpp>

namespace subspectra {

/// The rule of the variances of rvm-row.
enum class RvmUpdate { kFast, kEm };
template <>
struct EnumNames<RvmUpdate> {
  static constexpr std::array<std::pair<RvmUpdate, std::string_view>, 2> kNames = {
      {{RvmUpdate::kFast, "fast"}, {RvmUpdate::kEm, "em"}}};
};

namespace detail {
template <class Self, class Visitor>
void visit_lambda(Self& o, Visitor&& field) {
  field(
      "lambda", o.lambda,
      "weight of the penalty. path: a falling grid of them, from which ⟨k⟩ takes the largest set it allows; cv: the largest one whose cross-validated error is within one standard error of the best; cv-min: the largest one with the smallest such error; auto: a fixed fraction of the largest, the method's own; auto:FRACTION: that fraction of the largest");
  field("lambdas", o.lambdas, "number of lambdas of the grid");
  field("lambda_ratio", o.lambda_ratio,
        "smallest lambda of the grid over the largest, at which no feature is left (rvm-row: almost none)");
}
inline constexpr std::string_view kIterationsHelp = "stop after so many iterations";
inline constexpr std::string_view kSweepsHelp = "sweeps over the features in play, for one lambda";
inline constexpr std::string_view kRowsHelp =
    "stop when no row norm changes by more than this fraction of the largest; 0 runs all iterations";
inline constexpr std::string_view kPruneHelp =
    "a feature leaves for good when its variance falls below this fraction of the largest; 0 keeps all";
inline constexpr std::string_view kScoresHelp =
    "of the scores Theta, a row for every class in the order of the result: equal, the directions in which the classes differ most, or a matrix in a file (.npy, .csv, .tsv)";
inline constexpr std::string_view kAlphaHelp = "of the penalty log|alpha I + X Gamma X'|; default lambda N";
}  // namespace detail

/// Whole rows of B are kept or left out, by the relevance vector machine.
struct RvmRow {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 1e-4;
  double alpha = kInfinity;  ///< not given: lambda N
  double prune = 1e-6;
  RvmUpdate rvm_update = RvmUpdate::kFast;
  Start start = {};
  Index max_iterations = 5000;
  double tolerance = 1e-5;

  static constexpr MethodTraits kTraits{
      .name = "rvm-row",
      .summary = "optimal scoring: relevance vector machine on the rows of B",
      .own_rule = true};
  static constexpr double kAutoFraction = 0.05;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("alpha", o.alpha, detail::kAlphaHelp);
    field("prune", o.prune, detail::kPruneHelp);
    field("rvm_update", o.rvm_update, "rule of the variances: fast, or em, the paper's (24)");
    field("start", o.start, detail::kScoresHelp);
    field("max_iterations", o.max_iterations, detail::kIterationsHelp);
    field("tolerance", o.tolerance, detail::kRowsHelp);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Single entries of B.
struct RvmEntry {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 1e-4;
  double alpha = kInfinity;  ///< not given: lambda N
  Start start = {};
  Index max_iterations = 1000;
  double tolerance = 1e-4;

  static constexpr MethodTraits kTraits{
      .name = "rvm-entry",
      .summary = "optimal scoring: relevance vector machine on the entries of B",
      .own_rule = true};
  static constexpr double kAutoFraction = 0.005;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("alpha", o.alpha, detail::kAlphaHelp);
    field("start", o.start, detail::kScoresHelp);
    field("max_iterations", o.max_iterations, detail::kIterationsHelp);
    field("tolerance", o.tolerance,
          "stop when no entry of B changes by more than this fraction of the largest; 0 runs all iterations");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// A group lasso: convex, with a duality gap.
struct Gloss {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 0.02;
  Start start = {};
  Index max_iterations = 100'000;
  double tolerance = 1e-7;

  static constexpr MethodTraits kTraits{
      .name = "gloss", .summary = "optimal scoring with a group lasso (convex)", .own_rule = true};
  static constexpr double kAutoFraction = 0.2;  ///< of the largest lambda, under lambda auto, at most
  static constexpr double kAutoNoise = 0.25;  ///< of the lambda that noise alone reaches, where that is less
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("start", o.start, detail::kScoresHelp);
    field("max_iterations", o.max_iterations, detail::kSweepsHelp);
    field("tolerance", o.tolerance,
          "stop when the duality gap is below this fraction of the objective at B = 0");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Elastic nets, one discriminant after another.
struct Sda {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 0.02;
  double l2 = 1e-6;
  Start start = {};
  Index max_iterations = 500;
  double tolerance = 1e-6;

  static constexpr MethodTraits kTraits{
      .name = "sda",
      .summary = "sparse discriminant analysis: elastic nets on scores fitted along with them",
      .own_rule = true};
  static constexpr double kAutoFraction = 0.2;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("l2", o.l2, "weight of the squared entries in the elastic net");
    field("start", o.start, detail::kScoresHelp);
    field("max_iterations", o.max_iterations, "elastic nets for one discriminant");
    field("tolerance", o.tolerance, "stop when the scores change by less than this fraction");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Penalized LDA.
struct Plda {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 0.01;
  Index max_iterations = 10'000;
  double tolerance = 1e-8;

  static constexpr MethodTraits kTraits{
      .name = "plda",
      .summary = "Fisher's discriminants with an l1 penalty and a diagonal covariance",
      .own_rule = true};
  static constexpr double kAutoFraction = 0.2;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("max_iterations", o.max_iterations, "steps for one discriminant");
    field("tolerance", o.tolerance,
          "stop when a step raises the criterion by less than this fraction; 0 runs all");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Uncorrelated LDA, sparse in the l1 norm; it has one answer, without a lambda.
struct Sulda {
  Start start = {};
  Index max_iterations = 50'000;
  double tolerance = 1e-9;

  static constexpr MethodTraits kTraits{
      .name = "sulda",
      .summary = "sparsest in l1 of all uncorrelated LDA solutions (linear programs)",
      .own_rule = true};
  [[nodiscard]] static bool fixes_size() { return true; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("start", o.start, detail::kScoresHelp);
    field("max_iterations", o.max_iterations, "pivots or steps for one discriminant");
    field("tolerance", o.tolerance, "duality gap of each discriminant, relative to its l1 norm");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// A lasso on +/-1 labels.
struct Sfd {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 0.02;
  double C = kInfinity;  ///< not given
  Index max_iterations = 100'000;
  double tolerance = 1e-7;

  static constexpr MethodTraits kTraits{
      .name = "sfd",
      .summary = "sparse Fisher discriminant: a lasso on +/-1 labels, for two classes",
      .two_classes_only = true,
      .own_rule = true};
  static constexpr double kAutoFraction = 0.2;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath || C < kInfinity; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("C", o.C, "weight of the squared errors beside |w|_1, lambda = 1/C");
    field("max_iterations", o.max_iterations, detail::kSweepsHelp);
    field("tolerance", o.tolerance,
          "stop when the duality gap is below this fraction of the objective at w = 0");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Jeffreys' prior on the rows of B.
struct JeffreysRow {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 1e-4;
  double epsilon = 1e-10;
  double prune = 1e-6;
  Start start = {};
  Index max_iterations = 1000;
  double tolerance = 1e-6;

  static constexpr MethodTraits kTraits{.name = "jeffreys-row",
                                        .summary = "optimal scoring: Jeffreys' prior on the rows of B",
                                        .own_rule = true};
  static constexpr double kAutoFraction = 0.03;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("epsilon", o.epsilon, "of the penalty sum log(|b|^2 + epsilon)");
    field("prune", o.prune, detail::kPruneHelp);
    field("start", o.start, detail::kScoresHelp);
    field("max_iterations", o.max_iterations, detail::kIterationsHelp);
    field("tolerance", o.tolerance, detail::kRowsHelp);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Jeffreys' prior on the entries of B.
struct JeffreysEntry {
  LambdaChoice lambda = {};
  Index lambdas = 50;
  double lambda_ratio = 1e-4;
  double epsilon = 1e-10;
  double prune = 1e-6;
  Start start = {};
  Index max_iterations = 1000;
  double tolerance = 1e-6;

  static constexpr MethodTraits kTraits{.name = "jeffreys-entry",
                                        .summary = "optimal scoring: Jeffreys' prior on the entries of B",
                                        .own_rule = true};
  static constexpr double kAutoFraction = 0.03;  ///< of the largest lambda, under lambda auto
  [[nodiscard]] bool fixes_size() const { return lambda.kind != LambdaChoice::Kind::kPath; }
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_lambda(o, field);
    field("epsilon", o.epsilon, "of the penalty sum log(|b|^2 + epsilon)");
    field("prune", o.prune, detail::kPruneHelp);
    field("start", o.start, detail::kScoresHelp);
    field("max_iterations", o.max_iterations, detail::kIterationsHelp);
    field("tolerance", o.tolerance, detail::kRowsHelp);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

}  // namespace subspectra
