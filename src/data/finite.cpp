#include "data/finite.hpp"

#include <fmt/format.h>

#include <cmath>

#include "data/dataset.hpp"

namespace subspectra {
namespace {

[[noreturn]] void refuse_value(const std::string& source, const std::string& column, Index row,
                               double value) {
  const std::string sentence = fmt::format(
      "column '{}' holds {} in row {} (rows count from 0); put a number there, or leave the row out", column,
      std::isnan(value) ? "NaN" : "an infinite value", row);
  throw source.empty() ? BadInput(sentence) : BadInput({.file = source}, sentence);
}

}  // namespace

void require_finite(const Dataset& data, const std::vector<Index>& columns) {
  for (const Index j : columns) {
    if (data.values().all_finite(j)) continue;
    data.values().each_entry(j, [&](Index i, double value) {
      if (!std::isfinite(value)) refuse_value(data.source(), data.names()[j], i, value);
    });
  }
}

}  // namespace subspectra
