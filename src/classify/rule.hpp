#pragma once
/// A trained classifier, whatever trained it.
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra {

class Rule {
 public:
  virtual ~Rule() = default;

  /// Converged; time_limit or interrupted where the training was cut short (SVM: the choice of C; Gaussian
  /// process: that of the hyperparameters), iteration_limit where it was not carried to the end.
  Status status = Status::kConverged;

  /// The name of the classifier that trains such rules.
  [[nodiscard]] virtual std::string_view classifier() const = 0;
  /// n x k rows -> n x K logarithms of class probabilities.
  [[nodiscard]] virtual Matrix log_posteriors(const MatrixRef& rows) const = 0;
  /// Numbers in the matrix of its linear functions, or of the projection before it; features, where it has
  /// none (a kernel, neighbours, a Gaussian process).
  [[nodiscard]] virtual Index entries() const = 0;
  /// "classifier svm, C = 0.25"
  [[nodiscard]] virtual std::string description() const = 0;
  /// The status as a sentence for warnings; empty where a limit or a signal cut nothing short and every
  /// iteration converged.
  [[nodiscard]] virtual std::string cut_short_sentence() const { return {}; }
  /// The members of a model file that belong to the rule.
  [[nodiscard]] virtual nlohmann::json to_json() const = 0;

 protected:
  Rule() = default;
  Rule(const Rule&) = default;
  Rule(Rule&&) = default;
  Rule& operator=(const Rule&) = default;
  Rule& operator=(Rule&&) = default;
};

using RulePointer = std::shared_ptr<const Rule>;

}  // namespace subspectra
