#pragma once
/// The methods of optimal scoring as methods of the registry: one lambda, a path of them, or the one that
/// cross-validation chooses.
#include <map>
#include <string>
#include <vector>

#include <subspectra/scoring.hpp>

#include "core/options.hpp"
#include "select/problem.hpp"

namespace subspectra {

template <>
struct OptionCodec<LambdaChoice> {
  static LambdaChoice parse(std::string_view text);
  static std::string format(const LambdaChoice& choice);
  static nlohmann::json json(const LambdaChoice& choice);
  static std::string hint() { return "path|cv|cv-min|auto[:FRACTION]|VALUE"; }
};

template <>
inline constexpr std::int64_t kKindsOf<LambdaChoice> = 5;
template <>
inline constexpr std::string_view kRuleOfValues<LambdaChoice> =
    "a positive number is needed, below 1 where it is a fraction";

/// Throws InvalidArgument where the grid of lambdas has no two, or its ratio is none.
void require_lambda_grid(Index lambdas, double lambda_ratio);

/// Of fits along falling lambdas, by their numbers of features, those that `k` names: of several with one
/// size the last, which shrinks least; where none has a size of the range the largest one below it. Of a list
/// of sizes every one names the largest fit with no more features, as a single size does. Says in `warnings`
/// what is missing.
[[nodiscard]] std::map<Index, std::size_t> fits_by_size(const std::vector<Index>& sizes, const KRange& k,
                                                        std::vector<std::string>& warnings);

}  // namespace subspectra
