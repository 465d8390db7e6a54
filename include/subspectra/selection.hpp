#pragma once
/// Choosing features: what a method is told, what it answers, and the call.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <subspectra/dataset.hpp>
#include <subspectra/export.hpp>
#include <subspectra/method.hpp>
#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include <subspectra/run_control.hpp>
#include <subspectra/types.hpp>

namespace subspectra {

/// Features that enter and leave together.
struct FeatureGroups;
/// What the parts of a run have to do and have found.
class PartWork;

/// What every method is told, besides its own options.
struct SelectOptions {
  KRange k = {};
  std::vector<std::string> include = {};
  std::vector<std::string> exclude = {};
  std::string groups = {};
  /// In place of a file: the group of every feature of the table, "" for a feature that is one by itself.
  std::vector<std::string> feature_group_names = {};
  /// Not an option: what `groups` says of the features of a table, where it was read before; null otherwise.
  std::shared_ptr<const FeatureGroups> feature_groups = {};
  Criterion criterion = Criterion::kAuto;
  Index components = 0;
  Ridge ridge = {};
  bool bounds = false;
  bool certify = true;  ///< not an option: cross-validation, which has no use for bounds, leaves them out
  bool ridge_needed =
      true;  ///< not an option: nobody asks for the ridge of a fold in which a method fits its own rule
  bool sets_alone = false;  ///< not an option: cross-validation asks for sets, neither for what they are
                            ///< worth nor for a ridge that no rule turns out to need
  std::uint64_t seed = 0;
  int threads = 0;
  ByteSize memory_limit = {};
  PrepareOptions prepare = {};  ///< of the rows, before the method sees them
  /// Where sets are tried and greedy passes are made: "cpu", "cuda" or "cuda:1" (a card), or "auto", a card
  /// where there is one and the work is worth it (docs/gpu.md). No answer depends on it, so that results do
  /// not tell it unless one was used.
  std::string device = "auto";
  PartWork* part_work = nullptr;  ///< not an option: of the command line, whose runs may be cut into parts

  SUBSPECTRA_EXPORT void validate()
      const;  ///< throws InvalidArgument; k is checked against the candidates later
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "k", o.k,
        "numbers of features: one, a range, every STEP-th of it, a list, or log for 1,2,3,5,7,10,15,20,30,... up to p and 1000; default 1:min(p, 50)");
    field(
        "include", o.include,
        "features that are always chosen (they count in k): names and patterns (gene_*, V[1-5]) with commas between, or @FILE with one a line");
    field(
        "exclude", o.exclude,
        "features that are never chosen, and text columns to leave out: names and patterns, or @FILE with one a line");
    field(
        "groups", o.groups,
        "CSV file with the header feature,group: the features of a group enter and leave together, and k counts groups");
    field(
        "criterion", o.criterion,
        "the objective of a set S with T = M_S' B_S^-1 M_S: largest eigenvalue, trace, or log det(I + T); auto: largest for two classes and for matrices, else wilks");
    field(
        "ridge", o.ridge,
        "added to the diagonal of the within-class covariance: rel:F the fraction F of each column's own variance, VALUE that number, cv the fraction with the smallest error inside the training rows (fit, evaluate); auto a fraction where the correlations are singular or nearly so, nothing otherwise");
    field(
        "components", o.components,
        "loadings kept: discriminants of LDA (0: all, min(classes - 1, k)); principal components, each on a set of its own after deflation (0: one)");
    field("bounds", o.bounds, "all upper and lower bounds of every size, with their names");
    field("seed", o.seed, "of every random choice");
    field("threads", o.threads, "0 uses every core; the answer does not depend on it");
    field("memory_limit", o.memory_limit,
          "refuse work that needs more, for example 4G; default: what is free");
  }
};

/// The objective after an iteration, and how many features were still in play where the method drops them.
struct TracePoint {
  double objective = 0.0;
  std::optional<Index> features;
};

/// What is known of relevance weights beside the weights (Q-alpha).
struct RelevanceReport {
  double objective = 0.0;  ///< trace(Q'A'A Q) = alpha'G alpha, or the variant's own criterion
  /// The equivalent form |A - QQ'A|^2 - |A|^2 = -objective, by its terms; where the criterion is the plain
  /// one and A, rows x rows, is affordable.
  std::optional<double> residual_energy, affinity_energy;
  double trace = 0.0;        ///< of A = sum_i alpha_i m_i m_i': what the trace bounds on generalization see
  double equal_trace = 0.0;  ///< the same at equal weights
  std::vector<double> eigenvalues;     ///< of Q'A Q by falling size; empty for blocks of classes
  Index clusters = 0;                  ///< columns of Q that were used
  Index cut = 0;                       ///< features above the largest relative fall of the weights; 0: none
  double cut_ratio = 1.0;              ///< the last weight above over the first below
  double weight_below = 0.0;           ///< sum of the weights below the cut,
  std::optional<double> bound;         ///< at most this: sqrt(1'G 1/objective)
  std::optional<double> bound_lemma;   ///< <= Lemma 13: sqrt(|M_2 M_2'|_F^2/objective)
  Index negative = 0;                  ///< weights below zero
  std::vector<double> starts;          ///< the objective of every start
  Index products = 0, passes = 0;      ///< with G; over the data
  std::optional<Index> kernel_rank;    ///< of the factor of the kernel matrix
  std::optional<double> kernel_error;  ///< trace(V - R R')/trace(V)
};

/// The rows put into two classes by MaxSurprise, which looks for them where there are no labels.
struct RowPartition {
  std::vector<int> labels;  ///< 0 or 1, one a row; that of the first row is 0
  double surprise = 0.0;    ///< of the number of informative features
  Index informative = 0;    ///< features with at most so many errors of a threshold:
  Index informative_errors = 0;
  std::vector<double> starts;  ///< the surprise that every start of the search reached
  Index moves = 0;             ///< of rows, over all starts
};

/// The Gaussian process that a method has fitted (gp-ard): one machine for two classes, of more one a class
/// against the rest.
struct GaussianProcessReport {
  struct Machine {
    std::string positive;                  ///< the class it tells from the others
    double log_marginal_likelihood = 0.0;  ///< L
    double signal = 0.0;                   ///< s
    std::vector<double> lengthscales;      ///< of `features`
    Index lengthscales_at_bound = 0;       ///< nearly always the upper one: the feature does not matter
    bool signal_at_bound = false;
    double slope =
        0.0;  ///< the largest derivative of L that does not lead out of the bounds (docs/methods/gp.md)
    Index gradients = 0;
    bool converged = false;
  };
  std::vector<Index> features;           ///< ascending
  double log_marginal_likelihood = 0.0;  ///< the sum over the machines
  std::vector<Machine> machines;
};

/// A set for every size, ascending.
struct SizePath {
  std::vector<PathEntry> sets;
  /// PCA with several components: the paths of the second, third, ... one.
  std::vector<std::vector<PathEntry>> further_components;
};

/// Fits along falling lambdas, and the sets they leave.
struct PenaltyPath {
  std::vector<PathEntry> sets;            ///< ascending size; each names its fit
  std::vector<FittedDiscriminants> fits;  ///< falling lambda
  /// The fit that the method stands by: of the largest size asked for, or of the lambda given or chosen.
  std::optional<std::size_t> chosen;
};

/// Components over many features, in which k counts columns.
struct Components {
  std::vector<PathEntry> sets;           ///< none
  std::vector<FittedDiscriminants> fit;  ///< one; none where the rows have no component
};

/// A method with what it was told, as a composite method (auto) took it.
struct UsedConfiguration {
  std::string method;
  std::optional<double> lambda;
  std::optional<RidgeAmount> ridge;  ///< of the criterion that chose the features
  std::optional<Index> k;
  Transform transform = Transform::kNone;  ///< of the columns
  Shrinkage shrinkage;                     ///< of the rule, where it is Fisher's
};

/// What a composite method compared inside the training rows.
struct ComparisonReport {
  struct Candidate {
    UsedConfiguration best;  ///< of its sizes, ridges and lambdas the one with the smallest error
    double error = 0.0, stderr_ = 0.0;
    double features = 0.0;  ///< the mean over the inner training sets
    Index compared = 0;     ///< how many sizes, ridges and lambdas there were
  };
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;  ///< of them
  UsedConfiguration used;  ///< the chosen one as it was run on all training rows
  Index rows = 0;          ///< of those it was chosen by
  Index folds_run = 0, folds_planned = 0, repeats = 0;
};

namespace detail {
struct MethodRecord;  // what the method reports of itself, for the result file
}

/// What any method answers.
struct Selection {
  std::string method;
  Status status = Status::kInterrupted;    // starts pessimistic: every method says how it ended
  RidgeAmount ridge;                       ///< what was added to diag(B)
  bool ridge_open = false;                 ///< not resolved: nothing needed it (SelectOptions::sets_alone)
  Criterion criterion = Criterion::kAuto;  ///< that the objectives are of: the one asked for, auto resolved
  /// What a fraction was taken of, by feature: the within-class variance, or the total one of a column that
  /// has none; empty where no fraction was added.
  std::vector<double> ridge_variances;
  KRange sizes;             ///< that can be: those asked for, less what is below the included ones
  bool size_fixed = false;  ///< a lambda that was given or chosen, or the method, leaves k nothing to say
  std::variant<SizePath, PenaltyPath, Components> answer;
  Index features = 0;             ///< of the table, chosen or not
  std::vector<Index> ranking;     ///< best first; empty where the method does not rank
  std::vector<double> weights;    ///< p scores, or empty
  std::vector<TracePoint> trace;  ///< of the fit the method stands by
  std::optional<SearchCounts> search;
  std::optional<RelevanceReport> relevance;
  std::optional<RowPartition> partition;
  std::optional<GaussianProcessReport> gaussian_process;
  std::optional<ComparisonReport> comparison;  ///< of a composite method
  double prepare_s = 0.0, search_s = 0.0;
  std::vector<std::string> warnings;             ///< in the words of C++ from the public calls
  std::shared_ptr<detail::MethodRecord> record;  ///< the method's options as used, for the result file
  std::uint64_t table =
      0;  ///< a fingerprint of the table's names and labels, which to_json compares; 0: none

  /// The sets, ascending size; none for Components. By value from a temporary: `for (auto& set :
  /// select(...).sets())` would read what is gone.
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<PathEntry>& sets() const&;
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<PathEntry>& sets() &;
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<PathEntry> sets() &&;
  /// The set of this size; throws InvalidArgument where there is none.
  [[nodiscard]] SUBSPECTRA_EXPORT const PathEntry& at(Index k) const&;
  [[nodiscard]] SUBSPECTRA_EXPORT PathEntry at(Index k) &&;
  /// The fits of a PenaltyPath or of Components; none otherwise.
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<FittedDiscriminants>& fits() const&;
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<FittedDiscriminants> fits() &&;
  /// The fit the method stands by, or null.
  [[nodiscard]] SUBSPECTRA_EXPORT const FittedDiscriminants* chosen_fit() const;
  /// The fits are what the method is: its rule works in their space.
  [[nodiscard]] bool own_rule() const { return !std::holds_alternative<SizePath>(answer); }
  [[nodiscard]] bool has_answer() const { return !sets().empty() || !fits().empty(); }
  /// As `subspectra.selection/1`. Throws InvalidArgument for another table than the one chosen from.
  [[nodiscard]] SUBSPECTRA_EXPORT std::string to_json(const Dataset& data,
                                                      const SelectOptions& options = {}) const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::string to_json(const Covariances& matrices,
                                                      const SelectOptions& options = {}) const;
};

/// Runs a method on a table. Throws InvalidArgument (options), BadInput (values, labels), Infeasible
/// (constraints that no set satisfies), Error (memory).
[[nodiscard]] SUBSPECTRA_EXPORT Selection select(const Dataset& data, const Method& method,
                                                 const SelectOptions& options = {},
                                                 const RunControl& control = RunControl());

/// The same on covariance matrices, for the methods whose traits say takes_matrices; those that need labels
/// need a CovariancePair.
[[nodiscard]] SUBSPECTRA_EXPORT Selection select(const Covariances& matrices, const Method& method,
                                                 const SelectOptions& options = {},
                                                 const RunControl& control = RunControl());

}  // namespace subspectra
