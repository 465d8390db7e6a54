#pragma once
/// Two-class greedy selection as it is written down first: every candidate set is factored from scratch. What
/// the updates of search/greedy.hpp are measured against.
#include <vector>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra::reproduce {

enum class NaiveScore {
  kCholesky,  ///< a_S'B_S^{-1}a_S from a Cholesky factor of B_S: the baseline of ICCV07, Section 5
  kEigen,     ///< all eigenvalues of L^{-1} A_S L^{-T}: the dense generalized eigenproblem
};

struct NaivePasses {
  std::vector<Index> forward, backward;      ///< the set of size k: the first k
  Vector forward_values, backward_values;    ///< of the set of size k, entry k - 1
  double forward_s = 0.0, backward_s = 0.0;  ///< of processor time
  bool finished = false;                     ///< false: `control` asked to stop
};

/// Both passes over all n features for A = a a'. O(n^5).
[[nodiscard]] NaivePasses naive_dual_pass(const Vector& a, const Matrix& b, NaiveScore score,
                                          const RunControl& control);

}  // namespace subspectra::reproduce
