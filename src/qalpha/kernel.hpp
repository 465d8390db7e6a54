#pragma once
/// Kernel Q-alpha (JMLR05, Definition 14): the rows m_i are seen through V = k(m_i, m_j) alone. Every V of a
/// kernel is R R' (R p x r), and the algorithm on V is the plain one on the rows of R: Q = R'E, so that E is
/// never needed. R comes from a pivoted Cholesky factorization of V, column by column, without V.
#include <string>
#include <string_view>

#include <subspectra/qalpha.hpp>

#include <subspectra/run_control.hpp>
#include "core/options.hpp"
#include "qalpha/feature_rows.hpp"

namespace subspectra {

template <>
struct OptionCodec<QAlphaKernel> {
  static QAlphaKernel parse(std::string_view text);
  static std::string format(const QAlphaKernel& kernel);
  static nlohmann::json json(const QAlphaKernel& kernel) { return format(kernel); }
  static std::string hint() { return "linear|poly:D:C|rbf:SIGMA|block2:LENGTH"; }
};

template <>
inline constexpr std::int64_t kKindsOf<QAlphaKernel> = 4;
template <>
inline constexpr std::string_view kRuleOfValues<QAlphaKernel> =
    "a degree from 1 to 100, an offset from 0 up, a sigma from 1e-100 to 1e100 and a length from 1 up are needed";

struct KernelFactor {
  Matrix r;            ///< r x p: column i is row i of R
  double error = 0.0;  ///< trace(V - R R')/trace(V); V - R R' is positive semidefinite, so this bounds it all
};

/// Of the kernel of this method, as far as its `kernel_tolerance` says for so many features.
[[nodiscard]] KernelFactor kernel_factor(const FeatureRows& rows, const QAlphaOfKernel& method,
                                         std::uint64_t memory_limit, const RunControl& control);
/// Stops when the error is at most `tolerance` (0: to rounding).   O(p r (q + r)) flops, p r numbers; throws
/// Error when they do not fit. Interrupted by `control` it gives what it has, and the error says how much
/// that is.
[[nodiscard]] KernelFactor kernel_factor(const FeatureRows& rows, const QAlphaKernel& kernel,
                                         double tolerance, std::uint64_t memory_limit,
                                         const RunControl& control);

}  // namespace subspectra
