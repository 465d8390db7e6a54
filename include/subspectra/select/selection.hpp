#pragma once
/// A selection: what any method answers, in the form of the contract's `subspectra.selection/1`.
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "subspectra/core/options.hpp"
#include "subspectra/core/run_control.hpp"
#include "subspectra/core/types.hpp"
#include "subspectra/data/dataset.hpp"

namespace subspectra {

enum class Criterion { kLargest, kTrace, kWilks };
template <>
struct EnumNames<Criterion> {
  static constexpr std::array<std::pair<Criterion, std::string_view>, 3> kNames = {
      {{Criterion::kLargest, "largest"}, {Criterion::kTrace, "trace"}, {Criterion::kWilks, "wilks"}}};
};

/// What every method is told, besides its own options.
struct SelectionOptions {
  KRange k;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  Criterion criterion = Criterion::kLargest;
  Ridge ridge;
  std::uint64_t seed = 0;
  int threads = 0;
  ByteSize memory_limit;

  void validate() const;  ///< throws InvalidArgument; k is checked against the candidates later
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("k", o.k, "number of features, one or a range; default 1:min(p, 50)");
    field("include", o.include,
          "features that are always chosen (they count in k): names with commas between, or @FILE with one a "
          "line");
    field("exclude", o.exclude,
          "features that are never chosen, and text columns to leave out: names, or @FILE with one a line");
    field("criterion", o.criterion,
          "the objective of a set S with T = M_S' B_S^-1 M_S: largest eigenvalue, trace, or log det(I + T)");
    field("ridge", o.ridge,
          "number added to the diagonal of the within-class covariance; auto adds 1e-3 times its smallest "
          "nonzero "
          "eigenvalue when it is singular and nothing otherwise");
    field("seed", o.seed, "of every random choice");
    field("threads", o.threads, "0 uses every core; the answer does not depend on it");
    field("memory_limit", o.memory_limit,
          "refuse work that needs more, for example 4G; default: what is free");
  }
};

struct PathEntry {
  std::vector<Index> features;  ///< ascending columns of the data set
  std::vector<Index> units;     ///< ascending groups (--groups); empty when features are chosen one by one
  double objective = 0.0;       ///< the criterion recomputed on the set
  std::optional<double> upper_bound;  ///< no set of this size has a larger objective
  std::string pass;                   ///< "forward", "backward", or ""
  Matrix loadings;                    ///< k x r, x'B_S x = 1, the largest entry of each column positive
  /// The size that -k counts: groups where there are any, else features.
  [[nodiscard]] Index k() const { return static_cast<Index>(units.empty() ? features.size() : units.size()); }
  /// (upper_bound - objective)/objective; 0 when both are 0, nothing when only the objective is 0 or no bound
  /// exists.
  [[nodiscard]] std::optional<double> gap() const;
};

struct Selection {
  std::string method;
  Status status = Status::kInterrupted;  // starts pessimistic: every method says how it ended
  double ridge = 0.0;                    ///< the number that was added to diag(B)
  std::vector<PathEntry> path;           ///< ascending k
  std::vector<Index> ranking;            ///< best first; empty where the method does not rank
  Vector weights;                        ///< p scores, or empty
  nlohmann::json method_options = nlohmann::json::object();  ///< as used
  double prepare_s = 0.0, search_s = 0.0;
  std::vector<std::string> warnings;
};

}  // namespace subspectra
