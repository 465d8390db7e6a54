#pragma once
/// The set that a selection ends with, for use elsewhere: its columns as a table, its names as a list.
#include <cstdint>
#include <string>
#include <vector>

#include <subspectra/selection.hpp>

#include "data/dataset.hpp"

namespace subspectra {

/// The features of the largest set, or of the fit that the method stands by; ascending. Throws Error where
/// there is none.
[[nodiscard]] std::vector<Index> final_features(const Selection& selection);

/// These columns with their names, numbers as they were read, and the labels.
[[nodiscard]] Dataset table_of(const Dataset& data, const std::vector<Index>& features,
                               std::uint64_t memory_limit = 0);

/// One name a line, as `include` reads them from a file. Throws Error for a name that no line holds.
[[nodiscard]] std::string names_text(const Dataset& data, const std::vector<Index>& features);

}  // namespace subspectra
