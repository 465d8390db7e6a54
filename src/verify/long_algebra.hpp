#pragma once
/// The little dense algebra that verify does in extended precision (64 bits of mantissa where long double has
/// them), from the textbook and in plain loops: no library's decompositions, and nothing the searches use.
#include <limits>
#include <optional>
#include <vector>

#include <subspectra/options.hpp>
#include "core/types.hpp"

namespace subspectra::verify {

using Long = long double;
inline constexpr Long kLongEpsilon = std::numeric_limits<Long>::epsilon();

/// Column after column; of a symmetric one both triangles are filled.
struct LongMatrix {
  Index rows = 0, cols = 0;
  std::vector<Long> values;

  LongMatrix() = default;
  LongMatrix(Index m, Index n) : rows(m), cols(n), values(static_cast<std::size_t>(m * n), 0.0L) {}
  [[nodiscard]] bool empty() const { return values.empty(); }
  [[nodiscard]] Long* column(Index j) { return values.data() + j * rows; }
  [[nodiscard]] const Long* column(Index j) const { return values.data() + j * rows; }
  [[nodiscard]] Long& operator()(Index i, Index j) { return column(j)[i]; }
  [[nodiscard]] Long operator()(Index i, Index j) const { return column(j)[i]; }
};

[[nodiscard]] Long dot(const Long* x, const Long* y, Index n);
[[nodiscard]] LongMatrix in_long(const Matrix& a);
[[nodiscard]] Matrix in_double(const LongMatrix& a);
/// Rows `at`, and of a symmetric matrix these columns, too.
[[nodiscard]] LongMatrix part(const LongMatrix& a, const std::vector<Index>& at, bool symmetric);

/// a = R'R with R upper, so that every dot product runs down columns; nothing when a pivot is not positive.
[[nodiscard]] std::optional<LongMatrix> upper_cholesky(const LongMatrix& a);
/// R^{-T} b, column after column.
[[nodiscard]] LongMatrix solve_transposed(const LongMatrix& r, LongMatrix b);
/// a^{-1} from its R.
[[nodiscard]] LongMatrix inverse(const LongMatrix& r);
/// X'Y.
[[nodiscard]] LongMatrix transposed_product(const LongMatrix& x, const LongMatrix& y);
/// Eigenvalues of a small symmetric matrix, descending (Jacobi's rotations).
[[nodiscard]] std::vector<Long> eigenvalues(LongMatrix a);
/// The largest sum of absolute values in a column: at least the largest |eigenvalue| of a symmetric matrix.
[[nodiscard]] Long column_norm(const LongMatrix& a);
/// |I - A X| by its entries' squares: how far X is from the inverse of A.
[[nodiscard]] Long inverse_residual(const LongMatrix& a, const LongMatrix& x);

/// What is known of a matrix T, or of its trace: how far off it may be, relatively and absolutely.
struct LongError {
  Long relative = 0.0L, absolute = 0.0L;
};
/// Whether the criterion of T (r x r, column after column), rounding included, is at most the threshold.
[[nodiscard]] bool criterion_at_most(Criterion criterion, const Long* t, Index r, const LongError& error,
                                     Long threshold);
/// The same of any T (r x r) whose trace is at most this: no criterion is above what the trace allows.
[[nodiscard]] bool trace_at_most(Criterion criterion, Long trace, Index r, const LongError& error,
                                 Long threshold);

}  // namespace subspectra::verify
