#pragma once
/// What a method works on: the rows of a table (or matrices), what may be chosen, and the ridge. Everything
/// that is computed from the rows is made when a method first asks for it, and once: several methods on the
/// same rows share it.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <subspectra/selection.hpp>

#include "data/dataset.hpp"
#include "data/moments.hpp"
#include "scoring/problem.hpp"
#include "search/units.hpp"
#include "spectral/covariance_operator.hpp"
#include "spectral/pencil.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {

/// Covariance input instead of a table: a pair (A, B), or A alone (B = I).
struct MatrixProblem {
  std::string source;
  FeatureNames names;
  Matrix a;
  std::optional<Matrix> b;
};

/// The rows of one training set and what was computed from them so far. For one thread at a time: every fold
/// has its own.
class RowStatistics {
 public:
  /// A table without missing values. Keeps a reference to it.
  RowStatistics(const Dataset& data, int threads, std::uint64_t memory_limit);
  /// Matrices in place of rows; `placeholder` has their names and no rows.
  RowStatistics(const Dataset& placeholder, const MatrixProblem& matrices, int threads);
  RowStatistics(const RowStatistics&) = delete;
  RowStatistics& operator=(const RowStatistics&) = delete;

  [[nodiscard]] const Dataset& data() const { return data_; }
  [[nodiscard]] const MatrixProblem* matrices() const { return matrices_; }
  [[nodiscard]] int threads() const { return threads_; }

  /// One a feature: 1 where it does not vary, so that there is nothing to measure.
  [[nodiscard]] const std::vector<char>& constant() const;
  /// Weights, means and variances by class, over all features.
  [[nodiscard]] const Moments& class_moments() const;
  /// The within-class covariance, never formed; its moments are class_moments().
  [[nodiscard]] const std::shared_ptr<const CovarianceOperator>& within() const;
  /// What to add to diag(B) over `candidates`, and why.
  [[nodiscard]] const ResolvedRidge& ridge(const std::vector<Index>& candidates, const Ridge& asked) const;
  /// (A, B + ridge) of LDA.
  [[nodiscard]] std::shared_ptr<const Pencil> lda_pencil(const RidgeAmount& ridge, Criterion criterion) const;
  /// (A, I) of PCA.
  [[nodiscard]] std::shared_ptr<const Pencil> pca_pencil() const;
  /// The problem of optimal scoring over `candidates`; `may_read_blocks` as in make_scoring_problem().
  [[nodiscard]] std::shared_ptr<const ScoringProblem> scoring(const std::vector<Index>& candidates,
                                                              bool may_read_blocks = false) const;

  /// Asked whether to go on while what a method asks for is made: linalg::Stopped is thrown then. Null:
  /// nobody.
  void stop_by(const RunControl* control) const { control_ = control; }

  /// How often each thing was computed; what was not asked for stays at 0.
  struct Counts {
    int constant = 0, class_moments = 0, within = 0, ridge = 0, lda_pencil = 0, pca_pencil = 0, scoring = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  const Dataset& data_;
  const MatrixProblem* matrices_ = nullptr;
  int threads_;
  std::uint64_t memory_limit_ = 0;
  mutable const RunControl* control_ = nullptr;
  mutable Counts counts_;
  mutable std::optional<std::vector<char>> constant_;
  mutable std::shared_ptr<const Moments> class_moments_;
  mutable std::shared_ptr<const CovarianceOperator> within_;
  mutable std::map<std::tuple<std::vector<Index>, std::optional<double>, std::optional<double>>,
                   ResolvedRidge>
      ridges_;  ///< by candidates, value and fraction asked for
  mutable std::map<std::pair<RidgeAmount, Criterion>, std::shared_ptr<const Pencil>> lda_pencils_;
  mutable std::shared_ptr<const Pencil> pca_pencil_;
  mutable std::map<std::pair<std::vector<Index>, bool>, std::shared_ptr<const ScoringProblem>>
      scorings_;  ///< the flag only where the table is read in blocks
};

/// Rows, candidates and ridge, for one method.
class Problem {
 public:
  struct Parts {
    const RowStatistics* rows = nullptr;
    const SelectOptions* options = nullptr;
    bool lda = true;                ///< judged by (A, B) of the classes; else by the covariance
    RidgeAmount ridge;              ///< resolved,
    bool open_ridge = false;        ///< or left to ridge(), which resolves it when it is first asked for
    std::vector<Index> candidates;  ///< ascending: neither constant nor excluded
    std::vector<Index> include;     ///< ascending subset of candidates
    SearchUnits units;              ///< the candidates one by one, or groups of them
    KRange k;                       ///< resolved, in units: 1 <= lo <= hi <= units.count()
  };
  explicit Problem(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] const RowStatistics& rows() const { return *parts_.rows; }
  [[nodiscard]] const Dataset& data() const { return parts_.rows->data(); }
  [[nodiscard]] const SelectOptions& options() const { return *parts_.options; }
  [[nodiscard]] bool lda() const { return parts_.lda; }
  [[nodiscard]] const RidgeAmount& ridge() const;
  [[nodiscard]] bool ridge_known() const { return !parts_.open_ridge || ridge_.has_value(); }
  [[nodiscard]] const std::vector<Index>& candidates() const { return parts_.candidates; }
  [[nodiscard]] const std::vector<Index>& include() const { return parts_.include; }
  [[nodiscard]] const SearchUnits& units() const { return parts_.units; }
  [[nodiscard]] const KRange& k() const { return parts_.k; }
  /// What sets are judged by; made on first use.
  [[nodiscard]] const Pencil& pencil() const;

  /// The same with other options, which must outlive it, or judged by another form of the same pencil.
  [[nodiscard]] Problem with_options(const SelectOptions& options) const;
  [[nodiscard]] Problem with_pencil(std::shared_ptr<const Pencil> pencil) const;

 private:
  Parts parts_;
  mutable std::optional<RidgeAmount> ridge_;  ///< where it was left open
  mutable std::shared_ptr<const Pencil> pencil_;
};

/// Positive semidefinite, but for what printing rounds off. The bounds by the trace and by nesting hold for
/// such matrices only.
[[nodiscard]] bool nearly_semidefinite(Matrix a);

/// The table a MatrixProblem stands for: its names and source, no rows.
[[nodiscard]] Dataset placeholder(const MatrixProblem& problem);

}  // namespace subspectra
