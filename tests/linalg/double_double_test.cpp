#include "linalg/double_double.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace subspectra::linalg {
namespace {

// Oracle: quadruple precision, which the compiler has.
__extension__ using Quad = __float128;

Quad quad(const DoubleDouble& x) { return Quad(x.hi) + Quad(x.lo); }
double off(const DoubleDouble& x, Quad truth) {
  const Quad difference = quad(x) - truth;
  return std::abs(static_cast<double>(difference / truth));
}

TEST(DoubleDouble, HasThirtyOneDigitsOfEveryOperation) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto draw = [&] {
      return DoubleDouble::sum(std::ldexp(random.normal(), static_cast<int>(random.below(80)) - 40),
                               std::ldexp(random.normal(), -70));
    };
    const DoubleDouble a = draw(), b = draw();
    constexpr double kUnit = 0x1p-102;
    EXPECT_LT(off(a * b, quad(a) * quad(b)), kUnit);
    EXPECT_LT(off(a / b, quad(a) / quad(b)), kUnit);
    const DoubleDouble square = a * a;
    EXPECT_LT(off(square_root(square) * square_root(square), quad(square)), kUnit);
    // A sum is right to the larger of its terms, one without cancellation to itself.
    const DoubleDouble sum = a + b;
    EXPECT_LT(std::abs(static_cast<double>(quad(sum) - (quad(a) + quad(b)))),
              kUnit * std::max(std::abs(a.hi), std::abs(b.hi)));
    EXPECT_LT(off(a * a + b * b, quad(a) * quad(a) + quad(b) * quad(b)), 4.0 * kUnit);
  }
}

TEST(DoubleDouble, FactorsAHilbertMatrixThatDoublesCannot) {
  constexpr Index n = 15;  // condition 6e20
  DoubleDoubleMatrix h(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) h(i, j) = DoubleDouble(1.0) / DoubleDouble(static_cast<double>(i + j + 1));
  }
  const DoubleDoubleMatrix given = h;
  ASSERT_TRUE(cholesky(h));
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      Quad sum = 0;
      for (Index m = 0; m <= j; ++m) sum += quad(h(i, m)) * quad(h(j, m));
      EXPECT_LT(std::abs(static_cast<double>(sum - quad(given(i, j)))), 1e-30);
    }
  }
  DoubleDoubleMatrix negative(1, 1);
  negative(0, 0) = -1.0;
  EXPECT_FALSE(cholesky(negative));
}

}  // namespace
}  // namespace subspectra::linalg
