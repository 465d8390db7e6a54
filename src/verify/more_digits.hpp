#pragma once
/// What extended precision cannot tell: sets whose features are nearly combinations of each other, from the
/// rows (or the matrices) themselves in quadruple precision, 113 bits where the compiler has them. Plain
/// loops; the searches, which use pairs of doubles, share nothing with it.
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "verify/class_rows.hpp"

namespace subspectra::verify {

#ifdef __SIZEOF_FLOAT128__
__extension__ using Quad = __float128;
inline constexpr double kQuadEpsilon = 1.9259299443872359e-34;  // 2^-112
#else
using Quad = Long;  // where it has 113 bits itself, or nothing has more
inline constexpr double kQuadEpsilon = static_cast<double>(kLongEpsilon);
#endif

/// The eigenvalues of (A_S, B_S) of one set.
struct QuadValues {
  enum class Is {
    kKnown,
    kDependent,  ///< B_S is singular to more digits than any search has
    kUnknown     ///< too few digits here, too
  };
  Is is = Is::kUnknown;
  Vector values;                          ///< ascending
  double condition = 0.0;                 ///< of B_S scaled to a unit diagonal, at most
  double relative = 0.0, absolute = 0.0;  ///< how far a value may be off
};

/// How many features are independent, taken one after the other, the one that is furthest from the others
/// first.
struct QuadRank {
  Index sure = 0;  ///< so many are, with digits to spare
  Index most = 0;  ///< more are not, to more digits than any search has
};

/// Places are those of the pair that it belongs to. Columns and products are made when they are first asked
/// for, and kept.
class MoreDigits {
 public:
  /// `ridge`: what is added to the variance of each column.
  MoreDigits(std::shared_ptr<const ClassRows> rows, std::vector<Long> ridge);
  /// Of matrices, which count as exact.
  MoreDigits(const Matrix& a, const Matrix& b);

  /// Nothing when it would take too long: all that is asked together may cost some seconds.
  [[nodiscard]] std::optional<QuadValues> values(const std::vector<Index>& places);
  /// X'B_S X and X'A_S X, of columns over a set whose values are known.
  struct Products {
    Matrix b, a;
  };
  [[nodiscard]] Products products(const std::vector<Index>& places, const Matrix& x);
  [[nodiscard]] std::optional<QuadRank> rank(const std::vector<Index>& places);

 private:
  struct Column {
    std::vector<Quad> deviations;  ///< from the class means, times the roots of the weights
    std::vector<Quad> between;     ///< its row of M
    double noise = 0.0;            ///< rounding of both, in standard deviations
  };
  struct Scaled {
    std::vector<std::vector<Quad>> b;  ///< columns, a unit diagonal
    std::vector<Quad> scale;
    double noise = 0.0;
  };

  [[nodiscard]] bool afford(double work);
  [[nodiscard]] bool afford_set(const std::vector<Index>& places);
  [[nodiscard]] const Column& column(Index place);
  [[nodiscard]] Quad within(Index i, Index j);
  [[nodiscard]] Scaled scaled(const std::vector<Index>& places);

  std::shared_ptr<const ClassRows> rows_;
  std::vector<Long> ridge_;
  std::vector<Quad> weights_, share_;
  Matrix a_, b_;
  std::map<Index, Column> columns_;
  std::map<std::pair<Index, Index>, Quad> products_;
  double left_;
};

}  // namespace subspectra::verify
