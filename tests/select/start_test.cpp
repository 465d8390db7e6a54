/// Iterations that start at a matrix: Q(0) of Q-alpha, Theta(0) of optimal scoring.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <subspectra/qalpha.hpp>
#include <subspectra/scoring.hpp>

#include <Eigen/Dense>
#include <numeric>

#include <subspectra/error.hpp>
#include "oracle.hpp"
#include "reading.hpp"
#include "scoring/problem.hpp"
#include "select/record.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra::start_test {
namespace {

using testing::contains;
using testing::Folder;

Selection run(const Dataset& data, const Method& method, const SelectOptions& options = {.k = {1, 4}}) {
  return select_features(data, method, options, RunControl());
}
Selection run(const Dataset& data, std::string_view method, const OptionTexts& texts) {
  return run(data, MethodRegistry::from_texts(method, texts));
}

std::string refusal(const Dataset& data, std::string_view method, const std::string& start) {
  return testing::message_of<Error>([&] { return run(data, method, {{"start", start}}); });
}

std::string csv_of(const Matrix& matrix) {
  std::string text;
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j)
      text += fmt::format("{}{:.17g}", j > 0 ? "," : "", matrix(i, j));
    text += '\n';
  }
  return text;
}

double angle_between(const Selection& a, const Selection& b) {
  return (oracle::as_vector(a.weights) - oracle::as_vector(b.weights)).norm();
}

/// The default of Q(0), as its definition has it: leading eigenvectors of sum_i m_i m_i' over the features.
Matrix leading_vectors(const DatasetParts& data, Index k) {
  Matrix m = data.dense.rowwise() - data.dense.colwise().mean();
  m.colwise().normalize();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(m * m.transpose());
  return eigen.eigenvectors().rightCols(k).rowwise().reverse();
}

Matrix rotation() {
  Matrix r(2, 2);
  r << std::cos(0.7), -std::sin(0.7), std::sin(0.7), std::cos(0.7);
  return r;
}

TEST(GivenStart, OfQTheDefaultAndWhatSpansTheSameGiveTheSameWeights) {
  const DatasetParts data = oracle::random_classes(40, 15, 3, 5, 2.0, 5);
  const Folder folder;
  const Matrix q = leading_vectors(data, 2);
  const std::string same = folder.write("q.csv", csv_of(q));
  const std::string turned = folder.write("turned.csv", csv_of(q * rotation()));
  for (const char* method : {"qalpha", "qalpha-basic", "qalpha-ritz", "qalpha-laplacian", "qalpha-gap"}) {
    SCOPED_TRACE(method);
    // All iterations, so that the tolerance of the end is not seen.
    const OptionTexts all = {{"tolerance", "0"}, {"max_iterations", "8"}};
    const auto with = [&](const std::string& start) {
      OptionTexts texts = all;
      texts["start"] = start;
      return run(data, method, texts);
    };
    const Selection usual = run(data, method, all);
    const Selection from_file = with("@" + same);
    EXPECT_LT(angle_between(usual, from_file), 1e-8);  // eigenvectors by two routines
    EXPECT_EQ(from_file.ranking, usual.ranking);
    EXPECT_EQ(from_file.warnings, usual.warnings);
    EXPECT_LT(angle_between(usual, with("@" + turned)), 1e-8);
    EXPECT_EQ(record_of(from_file)["start"], "@" + same);
    EXPECT_EQ(record_of(from_file)["start_shape"], (std::vector<Index>{40, 2}));
    EXPECT_EQ(record_of(usual)["start"], "equal");
    EXPECT_FALSE(record_of(usual).contains("start_shape"));
  }
}

TEST(GivenStart, OfQIsMadeOrthonormalWithAWordAndDecidesTheResult) {
  const DatasetParts data = oracle::random_classes(40, 15, 3, 5, 2.0, 5);
  const Matrix q = leading_vectors(data, 4);
  const auto from = [&](const Matrix& start) {
    return run(data, QAlpha{.start = Start(DenseMatrix(start)), .max_iterations = 1, .tolerance = 0.0});
  };
  Matrix skewed(40, 2);
  skewed << 3.0 * q.col(0), q.col(1) + 0.5 * q.col(0);
  const Selection straight = from(q.leftCols(2)), oblique = from(skewed);
  EXPECT_LT(angle_between(straight, oblique), 1e-8);
  ASSERT_EQ(oblique.warnings.size(), straight.warnings.size() + 1);
  EXPECT_TRUE(contains(oblique.warnings.front(), "the columns of the matrix were made orthonormal"));
  EXPECT_EQ(record_of(oblique)["start"], "a matrix");
  // One iteration from somewhere else ends somewhere else.
  EXPECT_GT(angle_between(straight, from(q.rightCols(2))), 1e-3);
}

TEST(GivenStart, OfQIsRefusedInWordsWhereItCannotBe) {
  const DatasetParts data = oracle::random_classes(12, 6, 2, 5);
  const Folder folder;
  const auto file = [&](const Matrix& matrix) { return "@" + folder.write("q.csv", csv_of(matrix)); };
  EXPECT_TRUE(contains(refusal(data, "qalpha", file(Matrix::Identity(11, 2))), "11 x 2"));
  EXPECT_TRUE(contains(refusal(data, "qalpha", file(Matrix::Identity(11, 2))), "but Q is 12 x 2"));
  EXPECT_TRUE(contains(refusal(data, "qalpha", file(Matrix::Identity(12, 3))), "12 x 3"));
  EXPECT_TRUE(contains(refusal(data, "qalpha", file(Matrix::Ones(12, 2))), "has 1 of 2 columns"));
  EXPECT_TRUE(contains(refusal(data, "qalpha", "@" + folder.write("n.csv", "1,nan\n2,3\n")), "n.csv:1:2"));
  EXPECT_TRUE(contains(refusal(data, "qalpha", "@" + folder.path("none.csv")), "none.csv"));
  EXPECT_TRUE(contains(refusal(data, "qalpha", "@"), "the name of a file is needed after @"));
  const std::string right = file(Matrix::Identity(12, 2));
  EXPECT_TRUE(contains(refusal(data, "qalpha-supervised", right), "a Q for every pair of classes"));
  EXPECT_TRUE(contains(refusal(data, "qalpha-semi", right), "a Q for every pair of classes"));
  EXPECT_TRUE(contains(refusal(data, "qalpha-kernel", right), "in the space of the kernel"));
  Matrix infinite = Matrix::Identity(12, 2);
  infinite(3, 1) = kInfinity;
  EXPECT_THROW((void)run(data, QAlpha{.start = Start(DenseMatrix(infinite))}), InvalidArgument);
}

ScoringProblem problem_of(const DatasetParts& data) {
  std::vector<Index> columns(static_cast<std::size_t>(data.features()));
  std::iota(columns.begin(), columns.end(), Index{0});
  return make_scoring_problem(data, columns, 1);
}

TEST(GivenStart, OfScoresTheDefaultGivesTheDefaultsFit) {
  const DatasetParts data = oracle::random_classes(60, 12, 3, 8, 2.0, 4);
  const Folder folder;
  const std::string file = "@" + folder.write("theta.csv", csv_of(problem_of(data).scores));
  for (const std::string method :
       {"rvm-row", "rvm-entry", "gloss", "sda", "sulda", "jeffreys-row", "jeffreys-entry"}) {
    SCOPED_TRACE(method);
    OptionTexts texts;
    if (method != "sulda") texts["lambda"] = "auto";
    const Selection usual = run(data, method, texts);
    texts["start"] = file;
    const Selection given = run(data, method, texts);
    ASSERT_TRUE(usual.chosen_fit() != nullptr && given.chosen_fit() != nullptr);
    EXPECT_EQ(given.chosen_fit()->features, usual.chosen_fit()->features);
    const Matrix a = usual.chosen_fit()->matrix.view(), b = given.chosen_fit()->matrix.view();
    // 17 digits and one orthonormalization away; what an iteration makes of that stays below its tolerance.
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-6 * a.cwiseAbs().maxCoeff());
    EXPECT_EQ(given.warnings, usual.warnings);
    EXPECT_EQ(record_of(given)["start_shape"], (std::vector<Index>{3, 2}));
  }
}

TEST(GivenStart, OfScoresARotationTurnsWhatRowPenaltiesFindAndChangesNoRow) {
  const DatasetParts data = oracle::random_classes(60, 12, 3, 8, 2.0, 4);
  const DenseMatrix turned(Matrix(problem_of(data).scores * rotation()));
  const auto check = [&](auto own, double tolerance) {
    own.lambda = LambdaChoice::Kind::kAuto;
    const Selection usual = run(data, own);
    own.start = turned;
    const Selection given = run(data, own);
    EXPECT_EQ(given.chosen_fit()->features, usual.chosen_fit()->features);
    const Vector a = oracle::as_vector(usual.chosen_fit()->row_norms);
    const Vector b = oracle::as_vector(given.chosen_fit()->row_norms);
    EXPECT_LT((a - b).norm(), tolerance * a.norm());
    const Matrix before = usual.chosen_fit()->matrix.view(), after = given.chosen_fit()->matrix.view();
    EXPECT_LT((before * rotation() - after).norm(), tolerance * before.norm());
    EXPECT_GT((before - after).norm(), 0.1 * before.norm());
  };
  check(RvmRow{}, 1e-4);
  check(JeffreysRow{}, 1e-4);
  check(Gloss{.tolerance = 1e-10}, 1e-4);
}

TEST(GivenStart, OfScoresAnyIndependentColumnsBecomeScores) {
  const DatasetParts data = oracle::random_classes(50, 6, 4, 8);
  ScoringProblem problem = problem_of(data);
  const Matrix own = problem.scores;
  EXPECT_LT(start_from_scores(problem, own), 1e-14);
  EXPECT_LT((problem.scores - own).cwiseAbs().maxCoeff(), 1e-13);
  Matrix any(4, 3);
  any << 1, 0, 0, 0, 5, 0, 0, 0, -2, 7, 7, 7;
  EXPECT_GT(start_from_scores(problem, any), 0.1);
  const Matrix d = problem.class_weights.asDiagonal();
  EXPECT_LT((problem.scores.transpose() * d * problem.scores - Matrix::Identity(3, 3)).cwiseAbs().maxCoeff(),
            1e-14);
  EXPECT_LT((problem.class_weights.transpose() * problem.scores).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT((problem.targets.transpose() * problem.targets - Matrix::Identity(3, 3)).cwiseAbs().maxCoeff(),
            1e-13);
  // The first column is the given one without its mean.
  const double mean = problem.class_weights.dot(any.col(0)) / problem.class_weights.sum();
  const Vector first = any.col(0).array() - mean;
  EXPECT_NEAR(std::abs(first.normalized().dot(problem.scores.col(0).normalized())), 1.0, 1e-14);

  const Selection said =
      run(data, Sda{.lambda = LambdaChoice::Kind::kAuto, .start = Start(DenseMatrix(any))});
  ASSERT_FALSE(said.warnings.empty());
  EXPECT_TRUE(contains(said.warnings.front(), "the scores of the matrix were made orthogonal"));
}

TEST(GivenStart, OfScoresIsRefusedInWordsWhereItCannotBe) {
  const DatasetParts data = oracle::random_classes(50, 6, 3, 8);
  const Folder folder;
  const auto file = [&](const Matrix& matrix) { return "@" + folder.write("t.csv", csv_of(matrix)); };
  EXPECT_TRUE(contains(refusal(data, "sda", file(Matrix::Identity(3, 3))), "but the scores are 3 x 2"));
  EXPECT_TRUE(contains(refusal(data, "sda", file(Matrix::Identity(2, 2))), "but the scores are 3 x 2"));
  Matrix constant(3, 2);
  constant << 1, 4, 2, 4, 3, 4;
  EXPECT_TRUE(contains(refusal(data, "rvm-entry", file(constant)), "nothing in its column 2 but a constant"));
  EXPECT_TRUE(contains(refusal(data, "gloss", "random"), "optimal scoring has no such start"));
  EXPECT_TRUE(contains(refusal(data, "gloss", "@"), "the name of a file is needed after @"));
  // Inner folds start from it, too.
  EXPECT_NO_THROW((void)run(data, "gloss", {{"lambda", "cv"}, {"start", file(problem_of(data).scores)}}));
}

}  // namespace
}  // namespace subspectra::start_test
