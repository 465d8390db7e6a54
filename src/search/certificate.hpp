#pragma once
/// How far from the best a set of k can be: upper bounds on the criterion of every set of that size, and
/// lower bounds, each with its name. docs/theory/bounds.md has the proofs.
#include <string>
#include <utility>
#include <vector>

#include "search/greedy.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {

struct CertificateOptions {
  Criterion criterion = Criterion::kLargest;
  KRange k;            ///< units
  bool lower = false;  ///< the lower bounds too (`bounds`)
  int threads = 0;
  const RunControl* control = nullptr;  ///< once it says stop, further sizes do without the dearest bound
};

/// One entry for each k of options.k. `root` may be null: then what does without it.
[[nodiscard]] std::vector<SizeBounds> certificate(const Pencil& pencil, const SearchUnits& units,
                                                  const RootLosses* root, const CertificateOptions& options);

/// PCA: the sum of the k largest traces of units bounds the variance of every set of k; entry k - 1. With
/// eigenvalues down to -e, which a given matrix may have: lambda_max(A_S) <= tr A_S + (|S| - 1) e.
[[nodiscard]] std::vector<double> variance_sums(const Pencil& pencil, const SearchUnits& units);

/// Whether bounds and proofs over these features can be made in doubles: the condition of the correlations
/// D^{-1/2} B D^{-1/2}, D = diag(B), so that units do not matter, is at most trusted_condition(), and no
/// column stands so far from zero that its variance has lost digits. `root` may be null: then a Cholesky
/// factorization says so.
[[nodiscard]] bool digits_suffice(const Pencil& pencil, const std::vector<Index>& features,
                                  const RootLosses* root, int threads);

/// Whether no column stands so far from zero that its variance has lost digits.
[[nodiscard]] bool variances_have_digits(const Pencil& pencil, const std::vector<Index>& features);

/// Whether the losses at the root are affordable for these candidates: p x p work up to 5,000 of them, or a
/// table with few rows, where nothing p x p is needed.
[[nodiscard]] bool root_affordable(const Pencil& pencil, Index candidates);

}  // namespace subspectra
