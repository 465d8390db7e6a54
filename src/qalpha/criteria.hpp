#pragma once
/// The criteria of the variants: what G is for given Q, and which Q follows alpha.
#include <memory>

#include "core/random.hpp"
#include "qalpha/qalpha.hpp"

namespace subspectra::qalpha {

/// A q x q matrix of affinities is formed up to here: 2 p q^2 flops are some seconds, q^2 numbers fit.
[[nodiscard]] bool affinity_affordable(const FeatureRows& rows);

/// Orthonormal columns that span those of z, in their order; a column that depends on earlier ones becomes
/// zero. Gives the number of the others.
Index orthonormalize(Matrix& z);

/// Q(0): by its name, or these columns, made orthonormal.
struct FirstQ {
  QAlphaStart kind = QAlphaStart::kEqual;
  const Matrix* given = nullptr;
};

class Criterion {
 public:
  Criterion() = default;
  Criterion(const Criterion&) = delete;
  Criterion& operator=(const Criterion&) = delete;
  virtual ~Criterion() = default;

  virtual void start(const FirstQ& from, Random& random) = 0;
  virtual void follow() = 0;  ///< Y = M Q for the current Q
  /// follow(), and image(x) in the same pass: an iteration begins with the weights of the one before.
  [[nodiscard]] virtual Matrix follow_for(const Vector& x) {
    follow();
    return image(x);
  }
  /// What a product is made from (CarriedOperator): W of x, or nothing.
  [[nodiscard]] virtual Matrix image(const Vector& /*x*/) const { return {}; }
  /// y = G x, and image(y) where it is asked for.
  virtual void multiply(const Vector& x, const Matrix& wx, Vector& y, Matrix* wy) const = 0;
  virtual void advance(const Vector& alpha, const Matrix& w) = 0;  ///< the next Q; w is image(alpha)
  [[nodiscard]] virtual const Matrix& q() const = 0;
  [[nodiscard]] virtual bool null() const = 0;  ///< Y = 0: the start sees no feature
  /// Of Q'A Q, by falling size; nothing for blocks.
  [[nodiscard]] virtual Vector eigenvalues(const Vector& alpha) const = 0;
  [[nodiscard]] virtual Index directions() const = 0;  ///< nonzero columns of Q; blocks: the most of a class
  [[nodiscard]] virtual Index least_directions() const { return directions(); }
};

[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlpha& method);
[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaBasic& method);
[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaRitz& method);
[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaLaplacian& method);
[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaGap& method);
[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows,
                                                      const QAlphaSupervised& method);
[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaSemi& method);
/// Of rows that are those of a kernel already.
[[nodiscard]] std::unique_ptr<Criterion> criterion_of(const FeatureRows& rows, const QAlphaOfKernel& method);

}  // namespace subspectra::qalpha
