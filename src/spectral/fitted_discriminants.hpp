#pragma once
/// Directions over few features that a method fitted itself, for whoever works in their space.
#include <subspectra/path.hpp>
#include <vector>

#include "core/types.hpp"

namespace subspectra {

/// The record with its first `count` columns alone, and of its features those that they use.
[[nodiscard]] FittedDiscriminants leading_columns(const FittedDiscriminants& record, Index count);

/// The numbers of an Eigen vector as they leave the library.
[[nodiscard]] inline std::vector<double> to_vector(const VectorRef& values) {
  return {values.begin(), values.end()};
}

}  // namespace subspectra
