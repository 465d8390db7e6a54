#pragma once
/// What a result file claims, read with every size, type and number checked: the file may come from anywhere.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/selection.hpp>
#include "core/types.hpp"
#include "data/prepare.hpp"
#include "io/read.hpp"

namespace subspectra {

/// A set of a result file. Feature numbers may still be wrong: that is for the check to say.
struct ClaimedSet {
  std::vector<Index> features;
  std::vector<std::string> names;
  std::optional<std::vector<Index>> units;  ///< numbers of groups, where groups were chosen
  double objective = 0.0;
};

struct ClaimedEntry : ClaimedSet {
  Index k = 0;
  std::optional<std::vector<std::string>> groups;  ///< the names of `units`
  std::optional<double> upper_bound;
  bool has_gap = false;
  std::optional<double> gap;  ///< empty when it is null or not there
  std::optional<bool> certified;
  /// `bounds`: all of them, by name.
  std::vector<std::pair<std::string, double>> upper, lower_any, lower_best;
  std::optional<Matrix> loadings;  ///< as many rows as the file has, each as long as the first
  std::vector<ClaimedSet> pool;
};

/// Which sizes the sets of a method have.
enum class SetsKind {
  kEverySize,    ///< all that were asked for
  kRelaxation,   ///< the same, or one, of a penalty that was given
  kAlongLambda,  ///< those that fits along lambda left, or that of one lambda
  kOneFit,       ///< that of the one fit
  kAll,          ///< every feature that varies
  kNone,         ///< components, no sets
  kGiven,        ///< sets that were given to it
  kUnknown       ///< another program's
};

/// A `subspectra.selection/1` file.
struct ClaimedResult {
  std::string file;
  std::string method;
  std::string status;
  // `options`: how the table was read and what was asked. What is not there has its default.
  ReadOptions read;
  PrepareOptions prepare;
  std::vector<std::string> include, exclude;
  std::string groups;  ///< the file of `groups`
  Criterion criterion = Criterion::kLargest;
  RidgeAmount ridge;  ///< what was added
  std::optional<KRange> k;
  Index components = 0;       ///< asked for
  Index pool = 1;             ///< sets asked for
  bool lambda_given = false;  ///< or chosen: the answer has one set, of whatever size
  bool rho_given = false;     ///< the same of dspca
  bool renormalized = true;   ///< false: `no_renormalize`, the objective is that of the loadings given
  // `data`
  Index rows = 0;  ///< 0: matrices
  Index features = 0;
  std::optional<std::vector<std::string>> names;
  std::optional<std::vector<std::string>> classes;
  std::vector<Index> class_counts;

  // `ridge`: what the fraction was taken of, one a feature, where it is there
  std::optional<double> ridge_fraction;
  std::optional<std::vector<double>> ridge_variances;

  std::vector<ClaimedEntry> path;
  std::vector<std::vector<ClaimedEntry>> further;  ///< `components`: the paths of the second, third, ... one
  /// How many features each fit along lambda kept, by falling lambda (`lambda_path`, `options.fits`).
  std::optional<std::vector<Index>> fitted_sizes;
  std::optional<Index> chosen_size;  ///< of `discriminants`

  [[nodiscard]] bool from_matrices() const { return rows == 0; }
  /// Judged by the variance of the set whether there are labels or not: the PCA methods.
  [[nodiscard]] bool has_units() const;  ///< some set was chosen by groups
  [[nodiscard]] bool by_variance() const;
  [[nodiscard]] SetsKind sets_kind() const;
};

/// Throws BadInput for what is no such file: not JSON, a member that stands twice, another schema, a member
/// of the wrong type or size, a number that is not finite. `file` stands in the messages.
[[nodiscard]] ClaimedResult parse_claims(std::string_view text, const std::string& file);
[[nodiscard]] ClaimedResult read_claims(const std::string& path, std::uint64_t memory_limit = 0);

}  // namespace subspectra
