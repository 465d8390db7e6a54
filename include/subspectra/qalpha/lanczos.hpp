#pragma once
/// The leading eigenpairs of a symmetric operator that is known by its products alone.
#include <functional>

#include "subspectra/core/random.hpp"
#include "subspectra/core/types.hpp"

namespace subspectra {

struct LanczosOptions {
  Index count = 1;         ///< pairs wanted
  bool magnitude = false;  ///< by |value|; else algebraically largest
  /// Wanted error of the vectors: residual over the distance from the wanted values to the next one.
  double tolerance = 1e-10;
  Index least_products = 1;  ///< 2 keeps a start that is good enough from coming back as it was
  Index most_products = 400;
  Index basis = 12;  ///< vectors kept; raised to what `count` needs, lowered to n
  int threads = 0;
  std::function<bool()> stop = {};  ///< asked after every product; may be empty
};

struct LeadingPairs {
  Vector values;   ///< count (or n) of them, leading one first
  Matrix vectors;  ///< n x count, unit columns
  Index products = 0;
  bool converged = false;
};

/// Lanczos with full orthogonalization and thick restarts (Wu & Simon 2000), from `start` (n, not zero). The
/// leading Ritz value never falls below the quotient of `start`: a warm start only improves. Every sum over n
/// is cut by size alone, so that the bits do not depend on the number of threads. A caller that wants one
/// pair from a good start is done after a few products, where a library routine fills its basis first.
[[nodiscard]] LeadingPairs leading_eigenpairs(Index n,
                                              const std::function<void(const Vector& x, Vector& y)>& multiply,
                                              const Vector& start, const LanczosOptions& options,
                                              Random& random);

}  // namespace subspectra
