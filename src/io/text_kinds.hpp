#pragma once
/// What the texts of a column are: names of rows, dates, truth values, or the values of a category.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory.hpp"

namespace subspectra {

/// A category has at most so many values, and twice as many rows.
inline constexpr std::size_t kMostCategoryValues = 20;

/// Every text is there and none stands twice.
[[nodiscard]] bool all_differ(const std::vector<std::string>& texts, MemoryBudget& memory,
                              const MemoryPurpose& purpose);

/// The values with their numbers of rows, ascending, "" apart; nullopt where there are more than `most`.
[[nodiscard]] std::optional<std::map<std::string_view, std::size_t>> values_of_category(
    const std::vector<std::string>& texts, std::size_t most = kMostCategoryValues);

/// 2020-01-31, 31.01.2020, 1/31/20, with a time behind it or not.
[[nodiscard]] bool is_date(std::string_view text);
/// Every text that is there is a date, and there is one.
[[nodiscard]] bool are_dates(const std::vector<std::string>& texts);

/// {"FALSE", "TRUE"} as they are written, where these two are all that stands in the column.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> truth_values(
    const std::map<std::string_view, std::size_t>& values);

/// label, y, target, class or outcome, in any case: names that people give to the column that is to be
/// predicted.
[[nodiscard]] bool is_name_of_target(std::string_view name);
/// "index" or "Unnamed: 0": what pandas calls the numbers of rows.
[[nodiscard]] bool is_name_of_index(std::string_view name);

/// gene_id, probe and the like: what stands over the names of features that are numbers.
[[nodiscard]] bool is_name_of_features(std::string_view name);

}  // namespace subspectra
