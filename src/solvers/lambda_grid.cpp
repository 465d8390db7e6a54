#include "solvers/lambda_grid.hpp"

#include <cmath>

namespace subspectra {

std::vector<double> lambda_grid(double largest, double ratio, Index count) {
  std::vector<double> lambdas;
  lambdas.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    const double share = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.0;
    lambdas.push_back(largest * std::pow(ratio, share));
  }
  return lambdas;
}

}  // namespace subspectra
