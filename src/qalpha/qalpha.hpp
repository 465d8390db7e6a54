#pragma once
/// Q-alpha (L. Wolf, A. Shashua, JMLR 2005): weights alpha, |alpha| = 1, under which the affinity of the
/// samples, A = sum_i alpha_i m_i m_i', has as much of its energy as possible in k directions: max
/// trace(Q'A'A Q) over alpha and orthonormal Q (q x k). For given Q alpha is the leading eigenvector of G,
/// G_ij = (m_i'm_j) m_i'QQ'm_j; G is never formed: G alpha = diag(M W Y'), W = M'(alpha o Y), Y = M Q.
/// docs/theory/qalpha.md
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <subspectra/qalpha.hpp>

#include <subspectra/run_control.hpp>
#include "core/options.hpp"
#include "qalpha/feature_rows.hpp"

namespace subspectra {

/// A class has a Q of its own, and so has every pair of classes.
template <class M>
inline constexpr bool kHasBlocks = requires(const M& method) {
  method.within_vectors;
};

/// The criterion is trace(Q'A'A Q), which (6) and Lemma 13 are about.
template <class M>
inline constexpr bool kIsPlain =
    !kHasBlocks<M> && !std::is_same_v<M, QAlphaLaplacian> && !std::is_same_v<M, QAlphaGap>;

/// What belongs to the run and not to the method.
struct QAlphaRun {
  std::uint64_t seed = 0;
  std::uint64_t memory_limit = 0;
  /// Samples x k, in the order of the rows: Q(0) where the start of the method is a matrix; else empty.
  Matrix given_start = {};
};

struct QAlphaFit {
  Vector weights;  ///< p, unit norm, sum > 0
  Matrix q;        ///< the Q that the weights belong to, samples x k (blocks: their columns side by side)
  double objective = 0.0;      ///< alpha'G alpha
  std::vector<double> trace;   ///< the objective by iteration, of the start that was kept
  std::vector<double> starts;  ///< the objective that every start ended with
  Vector eigenvalues;          ///< of Q'A Q by falling size: the coherence of the clusters; empty for blocks
  Index clusters = 0;        ///< columns of Q that are not zero; the most of a class, where there are blocks
  Index least_clusters = 0;  ///< the least of a class
  Index products = 0;        ///< with G
  Index passes = 0;          ///< over the data
  bool converged = false;
  bool cycles = false;   ///< it ended in a cycle of two
  bool resolved = true;  ///< every leading eigenvector was found to its tolerance
};

/// `method` is one of <subspectra/qalpha.hpp>; what it says of the rows (no_normalize, a kernel) is done to
/// them before. Methods with blocks take rows.classes(). Throws InvalidArgument when the start is orthogonal
/// to every feature, Error when the q x q matrix of QAlphaGap does not fit.
template <class M>
[[nodiscard]] QAlphaFit fit_qalpha(const FeatureRows& rows, const M& method, const QAlphaRun& run,
                                   const RunControl& control);

/// Where the weights fall, and what is known of those below.
struct WeightCut {
  Index k = 0;         ///< features above
  double ratio = 1.0;  ///< of the last weight above to the first one below
};
/// The largest relative gap: the largest a_(i)/max(a_(i+1), floor), a falling, floor = 1 % of a_(1); weights
/// below the floor are told apart by rounding and noise alone. k = 0 when there is nothing to cut.
[[nodiscard]] WeightCut weight_cut(const VectorRef& weights);

/// Lemma 13: sum of the weights in `below` <= sqrt(1'G 1/lambda) <= sqrt(|M_2 M_2'|_F^2/lambda), M_2 their
/// rows.
struct IrrelevantBound {
  double sum = 0.0;             ///< of these weights
  double sharper = 0.0;         ///< sqrt(1'G 1/lambda)
  std::optional<double> lemma;  ///< the paper's; only where a q x q matrix is affordable
};
[[nodiscard]] IrrelevantBound irrelevant_bound(const FeatureRows& rows, const QAlphaFit& fit,
                                               const WeightCut& cut);

/// |A_alpha|_F^2; nothing where a q x q matrix of p q^2 flops is not affordable. With it the equivalent form
/// (6), |A - QQ'A|^2 - |A|^2 = -objective, splits into its two terms.
[[nodiscard]] std::optional<double> affinity_energy(const FeatureRows& rows, const VectorRef& alpha);

/// Features by falling weight; weights that agree to rounding (duplicates) by index.
[[nodiscard]] std::vector<Index> weight_order(const VectorRef& weights);

}  // namespace subspectra
