/// Covariance matrices as a C++ program gives them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <subspectra/qalpha.hpp>
#include <subspectra/searches.hpp>
#include <subspectra/selection.hpp>

#include "oracle.hpp"
#include "reading.hpp"
#include "select/select.hpp"

namespace subspectra::covariance_test {
namespace {

using subspectra::testing::message_of;

struct Pair {
  Matrix a, b;
};
Pair random_pair(Index p) {
  const DatasetParts data = oracle::random_classes(40, p, 3, 5);
  const auto scatter = oracle::scatter(data.dense, data.labels->codes, 3);
  return {0.5 * (scatter.between + scatter.between.transpose()),
          0.5 * (scatter.within + scatter.within.transpose())};  // to the bit, as a file's are made
}

void expect_same(const Selection& found, const Selection& expected) {
  ASSERT_EQ(found.sets().size(), expected.sets().size());
  for (std::size_t i = 0; i < found.sets().size(); ++i) {
    EXPECT_EQ(found.sets()[i].features, expected.sets()[i].features);
    EXPECT_EQ(found.sets()[i].objective, expected.sets()[i].objective);
    EXPECT_EQ(found.sets()[i].upper_bound, expected.sets()[i].upper_bound);
    EXPECT_EQ(found.sets()[i].loadings, expected.sets()[i].loadings);
  }
}

TEST(Covariances, GiveWhatTheMatricesOfTheCommandLineGive) {
  const auto [a, b] = random_pair(8);
  const SelectOptions options{.k = {1, 4}};
  const MatrixProblem single{"S", FeatureNames(8), b, std::nullopt}, pair{"A and B", FeatureNames(8), a, b};
  for (const Method& method : {Method(Gspca{}), Method(Espca{})})
    expect_same(select(Covariance(b), method, options), select_features(single, method, options, {}));
  for (const Method& method : {Method(Gslda{}), Method(Eslda{}), Method(St{})})
    expect_same(select(CovariancePair(a, b), method, options), select_features(pair, method, options, {}));
}

/// What B has no variance for, and A has, separates perfectly: chosen with a ridge (its fraction is of A's
/// variance), set aside without. Oracle: every set, by textbook eigenvalues.
TEST(Covariances, AFeatureWithoutWithinClassVarianceIsWorthWhatTheRidgeSays) {
  auto [a, b] = random_pair(7);
  b.row(4).setZero();
  b.col(4).setZero();
  for (const auto& ridge :
       {Ridge{.value = 0.1, .fraction = {}}, Ridge{.value = {}, .fraction = 0.02}, Ridge{}}) {
    for (const Method& method : {Method(Gslda{}), Method(Eslda{}), Method("forward-lda")}) {
      SelectOptions options{.k = {1, 7}};
      options.ridge = ridge;
      const Selection found = select(CovariancePair(a, b), method, options);
      if (!ridge.value) {
        EXPECT_NE(found.warnings.at(0).find("total variance stands in"), std::string::npos);
      }
      EXPECT_GT(found.ridge.value + found.ridge.fraction, 0.0);
      Matrix with = b;
      for (Index j = 0; j < 7; ++j)
        with(j, j) += found.ridge.value + found.ridge.fraction * (j == 4 ? a(4, 4) : b(j, j));
      std::vector<double> best(8, 0.0);
      for (unsigned mask = 1; mask < 128; ++mask) {
        std::vector<Index> set;
        for (Index j = 0; j < 7; ++j) {
          if ((mask >> static_cast<unsigned>(j)) & 1U) set.push_back(j);
        }
        best[set.size()] =
            std::max(best[set.size()], oracle::generalized_eigenvalues(a(set, set), with(set, set))[0]);
      }
      ASSERT_EQ(found.sets().size(), 7U);
      for (const auto& entry : found.sets()) {
        const double truth = best[static_cast<std::size_t>(entry.k())];
        EXPECT_LE(entry.objective, truth * (1.0 + 1e-9));
        EXPECT_TRUE(entry.certified() || method.name() != "eslda");
        EXPECT_NEAR(entry.objective, truth, entry.certified() ? 1e-9 * truth : truth);
        EXPECT_GE(entry.upper_bound.value_or(truth), truth * (1.0 - 1e-9));
      }
    }
  }
  SelectOptions none{.k = {1, 6}, .ridge = {0.0}};
  const Selection without = select(CovariancePair(a, b), Eslda{}, none);
  EXPECT_NE(without.warnings.at(0).find("separates the classes perfectly"), std::string::npos);
  for (const auto& entry : without.sets())
    EXPECT_EQ(std::count(entry.features.begin(), entry.features.end(), 4), 0);
  none.k = {7, 7};
  EXPECT_NE(message_of<Infeasible>([&] {
              (void)select(CovariancePair(a, b), Eslda{}, none);
            }).find("the 6 features that vary within a class"),
            std::string::npos);
}

/// As files give them; the constructors of CovariancePair look first.
TEST(Covariances, AWithinClassMatrixHasNoNegativeEigenvalue) {
  auto [a, b] = random_pair(5);
  b(0, 1) = b(1, 0) = 1.5 * std::sqrt(b(0, 0) * b(1, 1));
  const Vector units = (Vector(5) << 1e-6, 1e-5, 1.0, 1e3, 1e6).finished();
  for (const bool mixed : {false, true}) {
    const MatrixProblem pair{"A and B", FeatureNames(5),
                             mixed ? Matrix(units.asDiagonal() * a * units.asDiagonal()) : a,
                             mixed ? Matrix(units.asDiagonal() * b * units.asDiagonal()) : b};
    for (const auto& ridge : {Ridge{}, Ridge{0.0}, Ridge{1.0}, Ridge{.value = {}, .fraction = 0.01}}) {
      SelectOptions options{.k = {1, 3}};
      options.ridge = ridge;
      for (const Method& method : {Method(Gslda{}), Method("forward-lda"), Method(Eslda{})}) {
        EXPECT_NE(message_of<BadInput>([&] {
                    (void)select_features(pair, method, options, {});
                  }).find("has the eigenvalue -"),
                  std::string::npos);
      }
    }
  }
  EXPECT_NE(
      message_of<InvalidArgument>([&] { (void)CovariancePair(a, b); }).find("must be positive semidefinite"),
      std::string::npos);
}

/// What rounding may have taken below zero is a fraction of the largest variance, which may be far above
/// those of the candidates: it must not cost their bounds any digits.
TEST(Covariances, AnExcludedFeatureOfHugeVarianceCostsNoDigitsOfTheBounds) {
  Matrix s = Vector::LinSpaced(4, 1.0, 4.0).asDiagonal();
  s(0, 0) = 1e12;
  SelectOptions options{.k = {1, 3}};
  options.exclude = {"x0"};
  options.bounds = true;
  const Selection found = select(Covariance(s), Gspca{}, options);
  for (const auto& named : found.at(1).bounds->upper) EXPECT_GE(named.second, 4.0) << named.first;
  EXPECT_EQ(found.at(1).upper_bound, 4.0);
}

TEST(Covariances, AreTakenFromAnyDenseView) {
  const auto [a, b] = random_pair(6);
  const SelectOptions options{.k = {1, 3}};
  const Selection expected = select(CovariancePair(a, b), Gslda{}, options);
  Matrix larger = Matrix::Zero(9, 9);
  larger.block(1, 2, 6, 6) = b;
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = a;
  expect_same(select(CovariancePair(by_rows, larger.block(1, 2, 6, 6)), Gslda{}, options), expected);
  expect_same(select(CovariancePair(DenseMatrix(a), DenseView{b.data(), 6, 6, 1, 6}), Gslda{}, options),
              expected);
}

TEST(Covariances, HaveNamesAndASource) {
  const auto [a, b] = random_pair(3);
  const CovariancePair pair(a, b, {.names = {"one", "two", "three"}, .source = "mine"});
  EXPECT_EQ(pair.features(), 3);
  EXPECT_EQ(pair.feature_names(), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(Covariance(b).feature_names().back(), "x2");
  const SelectOptions options{.k = 1, .exclude = {"two", "three"}};
  const Selection found = select(pair, Gslda{}, options);
  EXPECT_EQ(found.at(1).features, (std::vector<Index>{0}));
  const std::string json = found.to_json(pair, options);
  EXPECT_TRUE(subspectra::testing::contains(json, "\"source\": \"mine\""));
  EXPECT_TRUE(subspectra::testing::contains(json, "\"one\""));
}

TEST(Covariances, RoundingIsMadeSymmetric) {
  Matrix s = random_pair(4).b;
  const Selection expected = select(Covariance(s), Gspca{}, {.k = 2});
  s(0, 1) *= 1.0 + 1e-12;
  EXPECT_NEAR(select(Covariance(s), Gspca{}, {.k = 2}).at(2).objective, expected.at(2).objective, 1e-9);
}

std::string refusal(const Matrix& s) {
  return message_of<InvalidArgument>([&] { return Covariance(s); });
}

TEST(Covariances, AreCheckedAtTheDoor) {
  const auto [a, b] = random_pair(3);
  EXPECT_EQ(refusal(Matrix::Ones(3, 4)),
            "covariance has 3 rows and 4 columns, but must be square; a table of samples is a Dataset");
  EXPECT_EQ(refusal(Matrix(0, 0)), "covariance has no entries; give a row and a column for every feature");
  Matrix s = Matrix::Identity(3, 3);
  s(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(s),
            "covariance holds nan in row 1 of column 2, but must be finite; give a value for every pair");
  s = Matrix::Identity(3, 3);
  s(1, 1) = -1.0;
  EXPECT_EQ(
      refusal(s),
      "covariance holds -1 in row 1 of column 1, but a variance is never negative; check that it is a covariance");
  s = Matrix::Identity(3, 3);
  s(2, 0) = 0.5;
  EXPECT_EQ(
      refusal(s),
      "covariance holds 0.5 in row 2 of column 0 and 0 at the mirrored place, but must be symmetric; fill both triangles, or give (A + A')/2 if the difference is rounding");
  s = Matrix::Ones(3, 3);
  s(0, 1) = s(1, 0) = 2.0;
  EXPECT_TRUE(
      subspectra::testing::contains(refusal(s), "covariance must be positive semidefinite, and is not"));

  EXPECT_EQ(message_of<InvalidArgument>([&] { return CovariancePair(a, Matrix(Matrix::Identity(4, 4))); }),
            "within is 4 x 4, but between is 3 x 3; give both over the same features");
  EXPECT_TRUE(subspectra::testing::contains(message_of<InvalidArgument>([&] { return CovariancePair(s, b); }),
                                            "between must be positive"));
  EXPECT_TRUE(subspectra::testing::contains(message_of<InvalidArgument>([&] { return CovariancePair(a, s); }),
                                            "within must be positive"));
  EXPECT_EQ(message_of<InvalidArgument>([&] { return Covariance(b, {.names = {"one"}}); }),
            "names has 1 entry for 3 columns; give one for each column");
}

TEST(Covariances, AreRefusedWhereAMethodCannotUseThem) {
  const auto [a, b] = random_pair(3);
  const auto refused = [](const Covariances& matrices, const Method& method,
                          const SelectOptions& options = {}) {
    return message_of<InvalidArgument>([&] { return select(matrices, method, options); });
  };
  EXPECT_EQ(refused(Covariance(b), Gslda{}),
            "method gslda needs a CovariancePair; for a single covariance use gspca");
  EXPECT_TRUE(subspectra::testing::contains(refused(Covariance(b), QAlpha{}),
                                            "method qalpha needs a table; matrices"));
  EXPECT_TRUE(subspectra::testing::contains(
      refused(Covariance(b), Gspca{}, {.prepare = {.standardize = true}}), "is for tables"));
  EXPECT_TRUE(subspectra::testing::contains(refused(Covariance(b), Gspca{}, {.k = 4}), "k = 4, but"));
  EXPECT_TRUE(subspectra::testing::contains(refused(Covariance(b), Gslda{.swaps = -1}), "swaps"));
}

}  // namespace
}  // namespace subspectra::covariance_test
