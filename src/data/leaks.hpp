#pragma once
/// Columns that tell the classes apart so well that they may have been made from the label.
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace subspectra {

/// log of p K! prod n_c!/N!: how many of p columns of noise would separate the classes perfectly.
[[nodiscard]] double log_expected_separating(const std::vector<Index>& class_counts, Index columns);

/// A warning that names the columns which alone separate the classes perfectly, each class in an interval of
/// its own; and one for those with a single value a class, the label in disguise. None where so many columns
/// of noise could do it by chance (expected: a hundredth of a column or more). Rows without a label and
/// missing values are passed over; columns named in `excluded` are not looked at.
[[nodiscard]] std::vector<std::string> leak_warnings(const DatasetParts& data,
                                                     const std::vector<std::string>& excluded);

}  // namespace subspectra
