#pragma once
/// The symmetric pair (A, B) that the discrete methods search over: sets S are judged by A_S against B_S.
/// Positions are the columns of the table (or of the matrices); which of them may be chosen is the search's
/// business. Three kinds: dense matrices, LDA from a table (A = M M', B implicit), PCA from a table (A
/// implicit, B = I).
#include <memory>
#include <optional>
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/run_control.hpp>
#include "core/types.hpp"
#include "data/dataset.hpp"
#include "linalg/blas.hpp"
#include "spectral/covariance_operator.hpp"
#include "spectral/precise.hpp"

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
  /// B where it stands as a matrix, over all positions; else null.
  [[nodiscard]] virtual const Matrix* b_matrix() const { return nullptr; }
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
  /// Whether a ridge was added to B, also where no bound may use it (of a matrix that was given).
  [[nodiscard]] virtual bool ridged() const { return shift() > 0.0; }

  /// What the matrices here were computed from, where they are copies; else itself.
  [[nodiscard]] virtual const Pencil& origin() const { return *this; }
  /// The pair on these features to many digits, in the units of the table (spectral/precise.hpp); nothing
  /// where that would take long, or where B = I has all digits anyway.
  [[nodiscard]] virtual std::optional<PreciseBlock> precise_block(
      const std::vector<Index>& /*features*/) const {
    return std::nullopt;
  }

  /// What the columns are divided by here, or null where they stand in the units of the table (of the
  /// matrices). With a ridge B + f diag(B) they are measured by their own deviations, so that it is a plain
  /// shift f, and no value of a criterion depends on units.
  [[nodiscard]] virtual const Vector* scale() const { return nullptr; }
  /// Loadings (k x r) on these features, from the units here to those of the table and back. The largest
  /// entry of every column stays the positive one.
  void to_table_units(const std::vector<Index>& features, Matrix& loadings) const;
  [[nodiscard]] Vector from_table_units(const std::vector<Index>& features, const VectorRef& loadings) const;

 protected:
  Pencil() = default;
  Pencil(const Pencil&) = default;
  Pencil& operator=(const Pencil&) = default;
};

/// LDA: A = Sigma_b with its factor of K columns, B = Sigma_w + the ridge. Keeps a reference to `data`
/// (labelled, complete). Throws BadInput when second moments overflow or vanish below the smallest double.
[[nodiscard]] std::unique_ptr<Pencil> lda_pencil(const Dataset& data, const RidgeAmount& ridge, int threads);
/// The same on a within-class covariance of `data` that is there already.
/// Throws linalg::Stopped when `control` says stop while the factor of many classes is made.
[[nodiscard]] std::unique_ptr<Pencil> lda_pencil(const Dataset& data,
                                                 std::shared_ptr<const CovarianceOperator> within,
                                                 const RidgeAmount& ridge,
                                                 const RunControl* control = nullptr);

/// PCA: A = the covariance of the table (divisor N, weights honoured), B = I.
[[nodiscard]] std::unique_ptr<Pencil> pca_pencil(const Dataset& data, int threads);

/// Matrices as they are: A, and B + the ridge. A gets a factor when its rank is at most `most_rank` (from its
/// eigenvectors: eigenvalues above p 2^-52 of the largest). Throws BadInput when A is not positive
/// semidefinite to rounding.
[[nodiscard]] std::unique_ptr<Pencil> matrix_pencil(Matrix a, Matrix b, const RidgeAmount& ridge,
                                                    Index most_rank = 32);
/// A = S, B = I.
[[nodiscard]] std::unique_ptr<Pencil> covariance_pencil(Matrix s);

/// A given by its factor. For tests and callers that have one.
[[nodiscard]] std::unique_ptr<Pencil> factor_pencil(Matrix factor, Matrix b);
/// The B of a pencil with a factor as a matrix; everything else as it is there. O(p^2) numbers. Keeps a
/// reference to the pencil.
[[nodiscard]] std::unique_ptr<Pencil> dense_copy(const Pencil& pencil, int threads);

}  // namespace subspectra
