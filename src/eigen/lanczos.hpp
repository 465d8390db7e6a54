#pragma once
/// The leading eigenpairs of a symmetric operator that is known by its products alone.
#include <functional>

#include "core/random.hpp"
#include "core/types.hpp"

namespace subspectra {

struct LanczosOptions {
  Index count = 1;         ///< pairs wanted
  bool magnitude = false;  ///< by |value|; else algebraically largest
  /// Wanted error of the vectors: residual over the distance from the wanted values to the next one.
  double tolerance = 1e-10;
  Index least_products = 1;  ///< 2 keeps a start that is good enough from coming back as it was
  Index most_products = 400;
  const Matrix* first_image = nullptr;  ///< of `start` (CarriedOperator), where the caller has it
  Index basis = 12;                     ///< vectors kept; raised to what `count` needs, lowered to n
  int threads = 0;
  std::function<bool()> stop = {};  ///< asked after every product; may be empty
};

struct OperatorPairs {
  Vector values;   ///< count (or n) of them, leading one first
  Matrix vectors;  ///< n x count, unit columns
  Matrix image;    ///< of the leading vector (CarriedOperator)
  Index products = 0;
  bool converged = false;
};

/// y = A x by way of an image W(x), linear in x, that takes a pass over the data to make; the pass that makes
/// y from it can make W(y) as well. Lanczos vectors are combinations of products, so that every second image
/// is had from the images of the vectors before, without a pass. (Not every one: where A has nothing near
/// zero the errors of a long chain would grow.)
struct CarriedOperator {
  std::function<Matrix(const Vector& x)> image;
  std::function<void(const Vector& x, const Matrix& wx, Vector& y, Matrix* wy)> multiply;  ///< wy may be null
};

/// Lanczos with full orthogonalization and thick restarts (Wu & Simon 2000), from `start` (n, not zero). The
/// leading Ritz value never falls below the quotient of `start`: a warm start only improves. Every sum over n
/// is cut by size alone, so that the bits do not depend on the number of threads. A caller that wants one
/// pair from a good start is done after a few products, where a library routine fills its basis first.
[[nodiscard]] OperatorPairs leading_eigenpairs(
    Index n, const std::function<void(const Vector& x, Vector& y)>& multiply, const Vector& start,
    const LanczosOptions& options, Random& random);

[[nodiscard]] OperatorPairs leading_eigenpairs(Index n, const CarriedOperator& op, const Vector& start,
                                               const LanczosOptions& options, Random& random);

}  // namespace subspectra
