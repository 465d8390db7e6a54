#pragma once
/// The symmetric pair (A, B) that the discrete methods search over: sets S are judged by A_S against B_S.
/// Positions are the columns of the table (or of the matrices); which of them may be chosen is the search's
/// business. Three kinds: dense matrices, LDA from a table (A = M M', B implicit), PCA from a table (A
/// implicit, B = I).
#include <memory>
#include <optional>
#include <vector>

#include "core/types.hpp"
#include "data/dataset.hpp"
#include "linalg/blas.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra {

class Pencil {
 public:
  virtual ~Pencil() = default;
  [[nodiscard]] virtual Index size() const = 0;

  // --- B, the ridge included
  [[nodiscard]] virtual bool b_is_identity() const { return false; }
  [[nodiscard]] virtual const Vector& diagonal() const = 0;
  virtual void column(Index j, linalg::MutableVector out, int threads) const = 0;
  [[nodiscard]] virtual Matrix block(const std::vector<Index>& features, int threads) const = 0;
  /// Columns of B, p x |S|.
  [[nodiscard]] Matrix columns(const std::vector<Index>& features, int threads) const;

  // --- A
  /// p x r with A = M M', or null where A has no such factor at hand (PCA, a dense A of high rank).
  [[nodiscard]] virtual const Matrix* factor() const { return nullptr; }
  [[nodiscard]] virtual const Vector& a_diagonal() const = 0;
  virtual void a_column(Index j, linalg::MutableVector out, int threads) const = 0;
  [[nodiscard]] virtual Matrix a_block(const std::vector<Index>& features, int threads) const = 0;

  /// Set when B = Z'Z + shift I (LDA) or A = Z'Z (PCA) comes from the rows of a table.
  [[nodiscard]] virtual const CovarianceOperator* rows() const { return nullptr; }
  [[nodiscard]] virtual double shift() const { return 0.0; }  ///< the ridge inside B

 protected:
  Pencil() = default;
  Pencil(const Pencil&) = default;
  Pencil& operator=(const Pencil&) = default;
};

/// LDA: A = Sigma_b with its factor of K columns, B = Sigma_w + ridge I. Keeps a reference to `data`
/// (labelled, complete). Throws BadInput when second moments overflow or vanish below the smallest double.
[[nodiscard]] std::unique_ptr<Pencil> lda_pencil(const Dataset& data, double ridge, int threads);
/// The same on a within-class covariance of `data` that is there already.
[[nodiscard]] std::unique_ptr<Pencil> lda_pencil(const Dataset& data,
                                                 std::shared_ptr<const CovarianceOperator> within,
                                                 double ridge);

/// PCA: A = the covariance of the table (divisor N, weights honoured), B = I.
[[nodiscard]] std::unique_ptr<Pencil> pca_pencil(const Dataset& data, int threads);

/// Matrices as they are: A, and B + ridge I. A gets a factor when its rank is at most `most_rank` (from its
/// eigenvectors: eigenvalues above p 2^-52 of the largest). Throws BadInput when A is not positive
/// semidefinite to rounding.
[[nodiscard]] std::unique_ptr<Pencil> matrix_pencil(Matrix a, Matrix b, double ridge, Index most_rank = 32);
/// A = S, B = I.
[[nodiscard]] std::unique_ptr<Pencil> covariance_pencil(Matrix s);

/// A given by its factor. For tests and callers that have one.
[[nodiscard]] std::unique_ptr<Pencil> factor_pencil(Matrix factor, Matrix b);

}  // namespace subspectra
