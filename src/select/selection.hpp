#pragma once
/// A selection: what any method answers, in the form of the files `subspectra.selection/1`.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include <subspectra/run_control.hpp>
#include "core/options.hpp"
#include "core/types.hpp"
#include "data/dataset.hpp"
#include "data/groups.hpp"
#include "spectral/fitted_discriminants.hpp"

namespace subspectra {

/// What every method is told, besides its own options.
struct SelectOptions {
  KRange k;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::string groups;
  /// What `groups` names, read once by the caller for the features of its table; null without groups.
  std::shared_ptr<const FeatureGroups> feature_groups;
  Criterion criterion = Criterion::kLargest;
  Index components = 0;
  Ridge ridge;
  bool bounds = false;
  bool certify = true;  ///< not an option: cross-validation, which has no use for bounds, leaves them out
  std::uint64_t seed = 0;
  int threads = 0;
  ByteSize memory_limit;

  void validate() const;  ///< throws InvalidArgument; k is checked against the candidates later
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("k", o.k, "number of features, one or a range; default 1:min(p, 50)");
    field(
        "include", o.include,
        "features that are always chosen (they count in k): names with commas between, or @FILE with one a line");
    field("exclude", o.exclude,
          "features that are never chosen, and text columns to leave out: names, or @FILE with one a line");
    field(
        "groups", o.groups,
        "CSV file with the header feature,group: the features of a group enter and leave together, and k counts groups");
    field("criterion", o.criterion,
          "the objective of a set S with T = M_S' B_S^-1 M_S: largest eigenvalue, trace, or log det(I + T)");
    field(
        "ridge", o.ridge,
        "number added to the diagonal of the within-class covariance; auto adds 1e-3 times its smallest nonzero eigenvalue when it is singular and nothing otherwise");
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
  double trace = 0.0;         ///< of A = sum_i alpha_i m_i m_i': what the trace bounds on generalization see
  double equal_trace = 0.0;   ///< the same at equal weights
  Vector eigenvalues;         ///< of Q'A Q by falling size; empty for blocks of classes
  Index clusters = 0;         ///< columns of Q that were used
  Index cut = 0;              ///< features above the largest relative fall of the weights; 0: none
  double cut_ratio = 1.0;     ///< the last weight above over the first below
  double weight_below = 0.0;  ///< sum of the weights below the cut,
  std::optional<double> bound;         ///< at most this: sqrt(1'G 1/objective)
  std::optional<double> bound_lemma;   ///< <= Lemma 13: sqrt(|M_2 M_2'|_F^2/objective)
  Index negative = 0;                  ///< weights below zero
  std::vector<double> starts;          ///< the objective of every start
  Index products = 0, passes = 0;      ///< with G; over the data
  std::optional<Index> kernel_rank;    ///< of the factor of the kernel matrix
  std::optional<double> kernel_error;  ///< trace(V - R R')/trace(V)
};

struct Selection {
  std::string method;
  Status status = Status::kInterrupted;  // starts pessimistic: every method says how it ended
  double ridge = 0.0;                    ///< the number that was added to diag(B)
  std::vector<PathEntry> path;           ///< ascending k
  std::vector<std::vector<PathEntry>>
      components;              ///< PCA with `components`: the paths of the second, third, ... one
  std::vector<Index> ranking;  ///< best first; empty where the method does not rank
  Vector weights;              ///< p scores, or empty
  std::vector<FittedDiscriminants> lambda_path;  ///< falling lambda; empty where the method fits none
  /// The one of lambda_path that the method stands by: of the largest size asked for, or of the lambda given
  /// or chosen.
  std::optional<std::size_t> chosen_record;
  bool own_rule = false;    ///< lambda_path is what the method is: its rule works in the space of a record
  bool size_fixed = false;  ///< a lambda that was given or chosen, or the method, leaves `k` nothing to say
  bool by_columns = false;  ///< the one record serves every size: k counts its leading columns
  std::vector<TracePoint> trace;  ///< of the chosen record
  KRange sizes;                   ///< that can be: `k`, less what is below the included ones
  nlohmann::json method_options = nlohmann::json::object();  ///< as used
  std::optional<SearchCounts> search;
  std::optional<RelevanceReport> relevance;
  double prepare_s = 0.0, search_s = 0.0;
  std::vector<std::string> warnings;

  [[nodiscard]] bool has_answer() const { return !path.empty() || !lambda_path.empty(); }
};

}  // namespace subspectra
