#pragma once
/// Text columns as features: the values of a category become 0/1 features, one less than values, and the
/// features of one category are a group.
#include <map>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/table_sink.hpp"

namespace subspectra {

/// What becomes of a text column.
struct CategoryColumn {
  const SideColumn* column = nullptr;
  std::vector<DerivedFeature> features;
  DerivedFeature first;    ///< what would be the feature of the value that is 0 in all of them
  std::size_t values = 0;  ///< how many different ones; 2 and one feature for TRUE and FALSE
};

/// The features of a column with these values: TRUE and FALSE become one feature of the column's name, of
/// other values each but the first (by bytes) one of its own, "stage=2".
[[nodiscard]] CategoryColumn category_of(const SideColumn& column,
                                         const std::map<std::string_view, std::size_t>& values);

/// The values of derived features, N x |features|: 1, 0, or NaN where the text is missing. A text that is no
/// value of the category (in new rows) is 0 everywhere; `unknown` gets it once.
[[nodiscard]] Matrix category_values(const std::vector<std::string>& texts,
                                     const std::vector<DerivedFeature>& features);

}  // namespace subspectra
