#pragma once
/// What a result file claims, read with every size, type and number checked: the file may come from anywhere.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  double ridge = 0.0;  ///< the number that was added
  std::optional<KRange> k;
  Index pool = 1;            ///< sets asked for
  bool renormalized = true;  ///< false: `no_renormalize`, the objective is that of the loadings given
  // `data`
  Index rows = 0;  ///< 0: matrices
  Index features = 0;
  std::optional<std::vector<std::string>> names;
  std::optional<std::vector<std::string>> classes;
  std::vector<Index> class_counts;

  std::vector<ClaimedEntry> path;
  std::vector<std::vector<ClaimedEntry>> components;  ///< the paths of the second, third, ... component

  [[nodiscard]] bool from_matrices() const { return rows == 0; }
  /// Judged by the variance of the set whether there are labels or not: the PCA methods.
  [[nodiscard]] bool by_variance() const;
};

/// Throws BadInput for what is no such file: not JSON, another schema, a member of the wrong type or size, a
/// number that is not finite. `file` stands in the messages.
[[nodiscard]] ClaimedResult parse_claims(std::string_view text, const std::string& file);
[[nodiscard]] ClaimedResult read_claims(const std::string& path);

}  // namespace subspectra
