#include "qalpha/feature_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <subspectra/error.hpp>
#include "dense_oracle.hpp"
#include "oracle.hpp"
#include "tables.hpp"

namespace subspectra {
namespace {

Matrix random_matrix(Index rows, Index columns, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

TEST(FeatureRows, ItsProductsAreThoseOfTheNormalizedTableDenseOrSparse) {
  const DatasetParts table = tables::clustered(23, 700, 5, 3, 1);
  const Matrix m = dense::feature_rows(table);
  const Vector alpha = random_matrix(700, 1, 2);
  const Matrix u = random_matrix(23, 3, 3), p = random_matrix(700, 3, 4), s = random_matrix(23, 23, 5);
  enum class Kept { kCopy, kSparse, kWhereItIs };
  for (const Kept kept : {Kept::kCopy, Kept::kSparse, Kept::kWhereItIs}) {
    const DatasetParts data = kept == Kept::kSparse ? oracle::as_sparse(table) : table;
    const std::uint64_t most_copied = kept == Kept::kWhereItIs ? 0 : 1'000'000'000;
    const FeatureRows rows(data, tables::all_of(data), true, {}, 3, 0, most_copied);
    EXPECT_EQ(rows.stays(), kept == Kept::kWhereItIs);
    Matrix projected(700, 3);
    rows.project(u, rows.whole(),
                 [&](Index first, const Matrix& tile) { projected.middleRows(first, tile.rows()) = tile; });
    EXPECT_LT((projected - m * u).cwiseAbs().maxCoeff(), 1e-13);
    const Matrix combined = rows.combine(
        3, rows.whole(), [&](Index first, Index count, Matrix& tile) { tile = p.middleRows(first, count); });
    EXPECT_LT((combined - m.transpose() * p).cwiseAbs().maxCoeff(), 1e-11);
    const Matrix a = m.transpose() * alpha.asDiagonal() * m;
    EXPECT_LT((rows.affinity(alpha) - a).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((rows.affinity_diagonal(alpha) - a.diagonal()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((rows.quadratic_forms(s) - (m * s).cwiseProduct(m).rowwise().sum()).cwiseAbs().maxCoeff(),
              1e-12);
    EXPECT_LT((rows.squared_norms() - Vector::Ones(700)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((rows.tile(17, 40) - m.middleRows(17, 40).transpose()).cwiseAbs().maxCoeff(), 1e-13);
    const Matrix both = rows.project_combine(u, rows.whole(), [&](Index first, Index count, Matrix& tile) {
      tile.array().colwise() *= alpha.segment(first, count).array();
    });
    EXPECT_LT((both - a * u).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_GE(rows.passes(), 6);
  }
}

TEST(FeatureRows, ATableIsCopiedWhereCentringTheProductsWouldLoseDigits) {
  for (const double offset : {0.0, 100.0, 1e5}) {
    DatasetParts table = tables::clustered(30, 50, 5, 3, 1);
    table.dense.col(7).array() += offset;
    table.weights = Vector::Ones(30);
    table.weights[4] = 2.5;
    const FeatureRows copied(table, tables::all_of(table), true, {}, 1);
    const FeatureRows rows(table, tables::all_of(table), true, {}, 1, 0, 0);
    EXPECT_EQ(rows.stays(), offset < 1e3);
    EXPECT_LT((rows.tile(0, 50) - copied.tile(0, 50)).cwiseAbs().maxCoeff(), 1e-12);
    const Vector ones = Vector::Ones(50);
    EXPECT_LT((rows.affinity_diagonal(ones) - copied.affinity_diagonal(ones)).cwiseAbs().maxCoeff(), 1e-11);
    const Matrix u = random_matrix(30, 2, 3);
    const auto same = [](Index, Index, Matrix&) {};
    EXPECT_LT((rows.project_combine(u, rows.whole(), same) - copied.project_combine(u, rows.whole(), same))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-11);
  }
}

TEST(FeatureRows, BlocksAreTheClassesAndLeaveUnlabelledSamplesOut) {
  DatasetParts table = tables::clustered(20, 90, 5, 3, 6);
  table.labels->codes[4] = Labels::kMissing;
  table.labels->codes[11] = Labels::kMissing;
  const Matrix m = dense::feature_rows(table);
  const auto classes = tables::rows_by_class(*table.labels);
  for (const DatasetParts& data : {table, oracle::as_sparse(table)}) {
    const FeatureRows rows(data, tables::all_of(data), true, data.labels->codes, 2);
    ASSERT_EQ(rows.classes().count(), 3);
    EXPECT_EQ(rows.classes().begin.back(), 18);
    const Matrix u = random_matrix(20, 2, 7), p = random_matrix(90, 6, 8);
    Matrix projected(90, 6);
    rows.project(u, rows.classes(),
                 [&](Index first, const Matrix& tile) { projected.middleRows(first, tile.rows()) = tile; });
    const Matrix combined = rows.combine(2, rows.classes(), [&](Index first, Index count, Matrix& tile) {
      tile = p.middleRows(first, count);
    });
    EXPECT_TRUE(combined.bottomRows(2).isZero());
    for (Index g = 0; g < 3; ++g) {
      const auto& own = classes[static_cast<std::size_t>(g)];
      const Matrix part = m(Eigen::all, own);
      const Index first = rows.classes().first(g), size = rows.classes().size(g);
      EXPECT_LT((projected.middleCols(2 * g, 2) - part * u.middleRows(first, size)).cwiseAbs().maxCoeff(),
                1e-13);
      EXPECT_LT((combined.middleRows(first, size) - part.transpose() * p.middleCols(2 * g, 2))
                    .cwiseAbs()
                    .maxCoeff(),
                1e-13);
      for (Index i = 0; i < size; ++i)
        EXPECT_EQ(rows.order()[static_cast<std::size_t>(first + i)], own[static_cast<std::size_t>(i)]);
    }
  }
}

// What kernel block2 asks for. The last two samples are in no block.
TEST(FeatureRows, SectionsOfTheSamplesAreBlocksHoweverTheTableIsKept) {
  const DatasetParts table = tables::clustered(23, 300, 5, 3, 1);
  const Matrix m = dense::feature_rows(table);
  const Matrix u = random_matrix(23, 5, 3), p = random_matrix(300, 15, 4);
  const SampleBlocks sections{{0, 8, 16, 21}};
  const FeatureRows copied(table, tables::all_of(table), true, {}, 2);
  const FeatureRows sparse(oracle::as_sparse(table), tables::all_of(table), true, {}, 2);
  const FeatureRows in_place(table, tables::all_of(table), true, {}, 2, 0, 0);
  ASSERT_TRUE(in_place.stays());
  for (const FeatureRows* const rows : {&copied, &sparse, &in_place}) {
    Matrix projected(300, 15);
    rows->project(u, sections, [&](Index first, const Matrix& tile) {
      ASSERT_EQ(tile.cols(), 15);
      projected.middleRows(first, tile.rows()) = tile;
    });
    const Matrix combined = rows->combine(
        5, sections, [&](Index first, Index count, Matrix& tile) { tile = p.middleRows(first, count); });
    EXPECT_TRUE(combined.bottomRows(2).isZero());
    for (Index b = 0; b < 3; ++b) {
      const Matrix part = m.middleCols(sections.first(b), sections.size(b));
      EXPECT_LT((projected.middleCols(5 * b, 5) - part * u.middleRows(sections.first(b), sections.size(b)))
                    .cwiseAbs()
                    .maxCoeff(),
                1e-13);
      EXPECT_LT((combined.middleRows(sections.first(b), sections.size(b)) -
                 part.transpose() * p.middleCols(5 * b, 5))
                    .cwiseAbs()
                    .maxCoeff(),
                1e-12);
    }
  }
}

TEST(FeatureRows, AConstantFeatureIsZero) {
  DatasetParts table = tables::clustered(10, 4, 2, 2, 9);
  table.dense.col(1).setConstant(3.0);
  for (const DatasetParts& data : {table, oracle::as_sparse(table)}) {
    const FeatureRows rows(data, tables::all_of(data), true, {}, 1);
    EXPECT_TRUE(rows.tile(1, 1).isZero(1e-12));
  }
}

TEST(FeatureRows, ACopyThatDoesNotFitIsRefused) {
  const DatasetParts table = tables::clustered(100, 100, 2, 2, 9);
  EXPECT_THROW(FeatureRows(table, tables::all_of(table), true, {}, 1, 1000), Error);
}

}  // namespace
}  // namespace subspectra
