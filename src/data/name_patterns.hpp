#pragma once
/// Columns named by a pattern, as a shell names files: `gene_*`, `V[1-5]`, `x?`.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/feature_names.hpp"

namespace subspectra {

/// Whether `text` has one of * ? [, which stand for other characters.
[[nodiscard]] bool is_name_pattern(std::string_view text);

/// Whether the whole of `name` fits: * any characters or none, ? one character, [a-c_] one of these, [!a-c]
/// none of these. A bracket that is not closed is an ordinary character. Upper and lower case differ.
[[nodiscard]] bool matches_name_pattern(std::string_view pattern, std::string_view name);

/// What an option that lists columns names: every feature of the name; where there is none and it is a
/// pattern, those that fit. Ascending.
[[nodiscard]] std::vector<std::vector<Index>> columns_named(const FeatureNames& names,
                                                            const std::vector<std::string>& wanted);

/// `wanted` with every pattern replaced by the names that fit, for readers who look at one column at a time.
/// A pattern that is itself a name stands for that name alone; one that nothing fits stays, for whoever
/// refuses it.
[[nodiscard]] std::vector<std::string> spelled_out(const std::vector<std::string>& wanted, Index count,
                                                   const std::function<std::string(Index)>& name);

}  // namespace subspectra
