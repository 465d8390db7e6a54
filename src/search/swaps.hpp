#pragma once
/// Local search by exchanges: one feature leaves, another enters, while that helps.
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include <subspectra/run_control.hpp>
#include "spectral/pencil.hpp"

namespace subspectra {

struct SwapOptions {
  Criterion criterion = Criterion::kLargest;
  Index most = 0;  ///< exchanges
  int threads = 0;
};

struct SwapResult {
  std::vector<Index> support;  ///< ascending
  double objective = 0.0;
  Index exchanges = 0;
};

/// Takes the best of all k (p - k) exchanges, again and again, until none raises the criterion by more than
/// 1e-9 of it. `include` never leaves; only `candidates` enter. With W = L^{-1} B_{S,:}, V = L^{-T} W, P =
/// B_S^{-1}, U = P M_S, taking i out of S changes what every j would bring to d_j + V_ij^2/P_ii and C_j +
/// V_ij U_i/P_ii, so that a round costs O(k^2 p + k p r). For pencils with a factor; B_S must be positive
/// definite.
[[nodiscard]] SwapResult improve_by_swaps(const Pencil& pencil, std::vector<Index> support,
                                          const std::vector<Index>& candidates,
                                          const std::vector<Index>& include, const SwapOptions& options,
                                          const RunControl& control);

}  // namespace subspectra
