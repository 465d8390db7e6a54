#pragma once
/// The row-wise Perron bound on sparse principal components: no set of k features has a larger variance.
#include <vector>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra {

/// For k = lo..hi (entry k - lo) an upper bound on lambda_max(A_S) over all S of k candidates with `include`
/// in S. For any d > 0,
///     lambda_max(A_S) <= rho(|A_S|) <= max_{i in S} (1/d_i) sum_{j in S} |a_ij| d_j <= max_i F(d)_i/d_i,
/// where F(d)_i lets row i choose its own columns: itself, all of `include`, and the largest |a_ij| d_j of
/// the others. d <- sqrt(d F(d)) drives it down in a few sweeps; each k starts from the d of the one before.
/// Every sweep's bound is valid and the best is kept; a bound for k + 1 also holds for k. Pre: A symmetric;
/// candidates and include (a part of them) ascending; 1 <= lo <= hi <= |candidates| and lo >= |include|:
/// throws InvalidArgument otherwise. Cost: about n^2 products and comparisons a sweep, bound by reading A
/// (a row keeps its threshold from sweep to sweep and from k to k: search/top_sum.hpp), at most a dozen
/// sweeps a k, mostly two, of which the first reads hardly anything: it is the last one of k - 1 and a weight
/// more a row. Once `control` says stop, sizes after the first get infinity.
[[nodiscard]] Vector perron_bounds(const MatrixRef& a, const std::vector<Index>& candidates,
                                   const std::vector<Index>& include, Index lo, Index hi, int threads,
                                   const RunControl* control = nullptr);

}  // namespace subspectra
