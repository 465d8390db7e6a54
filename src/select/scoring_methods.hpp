#pragma once
/// The methods of optimal scoring as methods of the registry: one lambda, a path of them, or the one that
/// cross-validation chooses.
#include <map>
#include <string>
#include <vector>

#include "scoring/reweighted.hpp"
#include "select/methods.hpp"

namespace subspectra {

/// `lambda` path|cv|cv-min|auto|auto:FRACTION|VALUE
struct LambdaChoice {
  enum class Kind { kPath, kCv, kCvMin, kAuto, kValue };
  Kind kind = Kind::kPath;
  double value = 0.0;  ///< kValue: lambda; kAuto: the fraction of the largest one, 0: the method's own
  [[nodiscard]] bool cross_validated() const { return kind == Kind::kCv || kind == Kind::kCvMin; }
  bool operator==(const LambdaChoice&) const = default;
};
template <>
struct OptionCodec<LambdaChoice> {
  static LambdaChoice parse(std::string_view text);
  static std::string format(const LambdaChoice& choice);
  static nlohmann::json json(const LambdaChoice& choice);
  static std::string hint() { return "path|cv|cv-min|auto[:FRACTION]|VALUE"; }
};

/// What every method with a lambda is told.
struct LambdaOptions {
  LambdaChoice lambda;
  Index lambdas = 50;
  double lambda_ratio = 1e-3;
  double auto_fraction = 0.2;  ///< of the largest lambda, under `lambda` auto; no option

  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "lambda", o.lambda,
        "weight of the penalty. path: a falling grid of them, from which ⟨k⟩ takes the largest set it allows; cv: the largest one whose cross-validated error is within one standard error of the best; cv-min: the largest one with the smallest such error; auto: a fixed fraction of the largest, the method's own; auto:FRACTION: that fraction of the largest");
    field("lambdas", o.lambdas, "number of lambdas of the grid");
    field("lambda_ratio", o.lambda_ratio,
          "smallest lambda of the grid over the largest, at which no feature is left (rvm-row: almost none)");
  }
};

/// Of fits along falling lambdas, by their numbers of features, those that `k` names: of several with one
/// size the last, which shrinks least; where none has a size of the range the largest one below it. Says in
/// `warnings` what is missing.
[[nodiscard]] std::map<Index, std::size_t> fits_by_size(const std::vector<Index>& sizes, const KRange& k,
                                                        std::vector<std::string>& warnings);

[[nodiscard]] std::vector<MethodInfo> scoring_methods();

}  // namespace subspectra
