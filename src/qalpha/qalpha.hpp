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
#include <utility>
#include <vector>

#include <subspectra/qalpha.hpp>

#include <subspectra/run_control.hpp>
#include "core/options.hpp"
#include "qalpha/feature_rows.hpp"

namespace subspectra {

enum class QAlphaVariant {
  kPower,       ///< Definition 2: Q <- QR(A Q) once for every alpha
  kBasic,       ///< Q <- the leading eigenvectors of A
  kRitz,        ///< Definition 4: the columns of Q in the order of their Ritz values; the same alpha
  kLaplacian,   ///< Definition 5: L = A - D + d I in place of A
  kGap,         ///< Section 2.1: leading minus remaining energy
  kSupervised,  ///< Definition 6: blocks of classes
  kSemi,        ///< (1 - w) kPower over all samples + w kSupervised over the labelled ones
};

struct QAlphaOptions {
  QAlphaVariant variant = QAlphaVariant::kPower;
  Index clusters = 2;  ///< k, the columns of Q
  QAlphaStart start = QAlphaStart::kEqual;
  Matrix given_start;  ///< samples x k, in the order of the rows, or empty: Q(0) instead of `start`
  Index restarts = 1;  ///< starts: the first as said, the others random; the best objective is kept
  double gamma = 0.5;
  Index within_vectors = 2;
  Index between_vectors = 1;
  LaplacianShift laplacian_shift = LaplacianShift::kDegree;
  double supervision = 0.5;
  Index max_iterations = 25;
  double tolerance = 1e-3;  ///< of |alpha - alpha before|; 0 runs all iterations
  std::uint64_t seed = 0;
  std::uint64_t memory_limit = 0;
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

/// Blocks: kSupervised and kSemi take rows.classes(). Throws InvalidArgument when the start is orthogonal to
/// every feature, Error when the q x q matrix of kGap does not fit.
[[nodiscard]] QAlphaFit fit_qalpha(const FeatureRows& rows, const QAlphaOptions& options,
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
