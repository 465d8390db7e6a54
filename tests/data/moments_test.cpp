#include "data/moments.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <subspectra/error.hpp>
#include "core/random.hpp"

namespace subspectra {
namespace {

using SecondOrder = Moments::SecondOrder;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Classes of different means and spreads; with `offset` added to everything.
DatasetParts random_data(Index rows, Index features, int classes, std::uint64_t seed, double offset = 0.0,
                         double density = 1.0) {
  Random random(seed);
  DatasetParts data;
  data.dense.resize(rows, features);
  Labels labels;
  for (int c = 0; c < classes; ++c) labels.classes.push_back(fmt::format("c{}", c));
  for (Index i = 0; i < rows; ++i)
    labels.codes.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(classes))));
  for (Index j = 0; j < features; ++j) {
    for (Index i = 0; i < rows; ++i) {
      const int c = labels.codes[static_cast<std::size_t>(i)];
      const double value = offset + 0.3 * c * static_cast<double>(j % 3) + (1.0 + 0.5 * c) * random.normal();
      data.dense(i, j) = random.uniform() < density ? value : 0.0;
    }
  }
  data.labels = labels;
  data.names = FeatureNames(features);
  return data;
}

DatasetParts as_sparse(DatasetParts data) {
  data.sparse = data.dense.sparseView(1.0, 0.0);
  data.sparse.makeCompressed();
  data.dense.resize(0, 0);
  data.is_sparse = true;
  return data;
}

void add_weights(DatasetParts& data, std::uint64_t seed) {
  Random random(seed);
  data.weights.resize(data.rows());
  for (auto& w : data.weights) w = static_cast<double>(random.below(4)) * 0.75;  // some are 0
}

struct Oracle {
  Vector weights;
  Matrix means, squares, within, between;  // within and between over N
};

// Oracle: two passes in long double, entry by entry; it shares no formula with the merging update. The first
// row is subtracted from all (exact in long double) and its values added to the means at the end: without
// that the oracle's own means would round at 1e-19 times the offset, which is more than the moments lose.
Oracle two_pass(const Matrix& x, const std::vector<int>& codes, int classes, const Vector& row_weights = {}) {
  using Wide = long double;
  const Index p = x.cols();
  const auto k = static_cast<std::size_t>(classes);
  const auto at = [&](Index i, Index j) -> Wide {
    return static_cast<Wide>(x(i, j)) - static_cast<Wide>(x(0, j));
  };
  const auto w = [&](Index i) -> Wide { return row_weights.size() == 0 ? 1.0 : row_weights[i]; };
  std::vector<Wide> total(k, 0.0L);
  std::vector<std::vector<Wide>> mean(k, std::vector<Wide>(static_cast<std::size_t>(p), 0.0L));
  Wide all = 0.0L;
  for (Index i = 0; i < x.rows(); ++i) {
    const int c = codes[static_cast<std::size_t>(i)];
    if (c < 0) continue;
    total[static_cast<std::size_t>(c)] += w(i);
    all += w(i);
    for (Index j = 0; j < p; ++j)
      mean[static_cast<std::size_t>(c)][static_cast<std::size_t>(j)] += w(i) * at(i, j);
  }
  std::vector<Wide> grand(static_cast<std::size_t>(p), 0.0L);
  for (std::size_t c = 0; c < k; ++c) {
    for (std::size_t j = 0; j < grand.size(); ++j) {
      grand[j] += all > 0 ? mean[c][j] / all : 0.0L;
      if (total[c] > 0) mean[c][j] /= total[c];
    }
  }
  Oracle o{Vector::Zero(classes), Matrix::Zero(p, classes), Matrix::Zero(p, classes), Matrix::Zero(p, p),
           Matrix::Zero(p, p)};
  for (std::size_t c = 0; c < k; ++c) {
    const auto ci = static_cast<Index>(c);
    o.weights[ci] = static_cast<double>(total[c]);
    for (Index j = 0; j < p; ++j) {
      if (total[c] > 0) o.means(j, ci) = static_cast<double>(mean[c][static_cast<std::size_t>(j)] + x(0, j));
    }
  }
  for (Index a = 0; a < p; ++a) {
    for (Index b = 0; b < p; ++b) {
      Wide within = 0.0L;
      Wide between = 0.0L;
      for (std::size_t c = 0; c < k; ++c) {
        const auto& m = mean[c];
        Wide sum = 0.0L;
        for (Index i = 0; i < x.rows(); ++i) {
          if (codes[static_cast<std::size_t>(i)] != static_cast<int>(c)) continue;
          sum += w(i) * (at(i, a) - m[static_cast<std::size_t>(a)]) *
                 (at(i, b) - m[static_cast<std::size_t>(b)]);
        }
        within += sum;
        if (a == b) o.squares(a, static_cast<Index>(c)) = static_cast<double>(sum);
        between += total[c] * (m[static_cast<std::size_t>(a)] - grand[static_cast<std::size_t>(a)]) *
                   (m[static_cast<std::size_t>(b)] - grand[static_cast<std::size_t>(b)]);
      }
      o.within(a, b) = all > 0 ? static_cast<double>(within / all) : 0.0;
      o.between(a, b) = all > 0 ? static_cast<double>(between / all) : 0.0;
    }
  }
  return o;
}

double difference(const Matrix& a, const Matrix& b) {
  return a.size() == 0 ? 0.0 : (a - b).cwiseAbs().maxCoeff();
}

/// `tolerance` is relative to the largest entry of each expected quantity, or where that is 0 to what is left
/// of a square when the means are equal up to rounding.
void expect_moments(const Moments& m, const Oracle& o, double tolerance = 50.0 * kEps) {
  const auto near = [&](const Matrix& a, const Matrix& b, const char* what) {
    ASSERT_EQ(a.rows(), b.rows()) << what;
    ASSERT_EQ(a.cols(), b.cols()) << what;
    const double rounded = o.means.size() == 0 ? 0.0 : kEps * o.means.cwiseAbs2().maxCoeff();
    const double scale = b.size() == 0 ? 1.0 : std::max(b.cwiseAbs().maxCoeff(), kEps * rounded);
    EXPECT_LE(difference(a, b), tolerance * scale) << what;
  };
  near(m.class_weights(), o.weights, "weights");
  near(m.class_means(), o.means, "means");
  near(m.class_sums_of_squares(), o.squares, "squares");
  near(m.within_variances(), o.within.diagonal(), "within variances");
  const Matrix factor = m.between_factor();
  near(factor * factor.transpose(), o.between, "between");
  near(m.between_variances(), o.between.diagonal(), "between variances");
  if (m.second_order() == SecondOrder::kFull) near(m.within_covariance(), o.within, "within covariance");
}

void expect_same_bits(const Moments& a, const Moments& b) {
  EXPECT_EQ(a.class_weights(), b.class_weights());
  EXPECT_EQ(a.class_means(), b.class_means());
  EXPECT_EQ(a.class_sums_of_squares(), b.class_sums_of_squares());
  EXPECT_EQ(a.between_factor(), b.between_factor());
  if (a.second_order() == SecondOrder::kFull) {
    EXPECT_EQ(a.within_covariance(), b.within_covariance());
  }
}

Moments of_rows(const DatasetParts& data, const std::vector<Index>& rows, SecondOrder order) {
  Moments m(data.dense.cols(), data.labels->class_count(), order);
  const Matrix x = data.dense(rows, Eigen::all);
  std::vector<int> codes;
  std::vector<double> weights;
  for (const Index i : rows) {
    codes.push_back(data.labels->codes[static_cast<std::size_t>(i)]);
    if (data.weights.size() > 0) weights.push_back(data.weights[i]);
  }
  m.add(x, codes, weights);
  return m;
}

TEST(Moments, AgreeWithTheLongDoubleOracle) {
  for (const int classes : {1, 2, 5}) {
    for (const bool weighted : {false, true}) {
      auto data = random_data(173, 9, classes, 1);
      if (weighted) add_weights(data, 2);
      const auto oracle = two_pass(data.dense, data.labels->codes, classes, data.weights);
      for (const auto order : {SecondOrder::kDiagonal, SecondOrder::kFull}) {
        SCOPED_TRACE(fmt::format("{} classes, weighted {}", classes, weighted));
        expect_moments(compute_moments(data, order), oracle);
        Moments added(9, classes, order);
        added.add(data.dense, data.labels->codes,
                  {data.weights.data(), static_cast<std::size_t>(data.weights.size())});
        expect_moments(added, oracle);
      }
    }
  }
}

TEST(Moments, MergingShardsInAnyOrderEqualsOnePass) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    auto data = random_data(120, 6, 3, seed, seed % 2 == 0 ? 0.0 : 1e8);
    if (seed % 3 == 0) add_weights(data, seed);
    const auto oracle = two_pass(data.dense, data.labels->codes, 3, data.weights);
    Random random(1000 + seed);
    std::vector<Index> rows(120);
    std::iota(rows.begin(), rows.end(), Index{0});
    random.shuffle(std::span(rows));
    std::vector<Moments> shards;
    for (std::size_t first = 0;
         first < rows.size();) {  // shards of 0 to 30 rows: some lack a class, some are empty
      const auto size = std::min<std::size_t>(random.below(31), rows.size() - first);
      const std::vector<Index> part(rows.begin() + static_cast<Index>(first),
                                    rows.begin() + static_cast<Index>(first + size));
      shards.push_back(of_rows(data, part, SecondOrder::kFull));
      first += size;
    }
    while (shards.size() > 1) {  // any tree of merges
      const auto a = random.below(shards.size());
      std::swap(shards[a], shards.back());
      Moments last = std::move(shards.back());
      shards.pop_back();
      shards[random.below(shards.size())].merge(last);
    }
    expect_moments(shards.front(), oracle);
  }
}

TEST(Moments, StreamedRowByRowEqualOnePass) {
  const auto data = random_data(60, 4, 2, 3, 1e8);
  Moments m(4, 2, SecondOrder::kFull);
  for (Index i = 0; i < 60; ++i)
    m.add(data.dense.row(i), std::span(data.labels->codes).subspan(static_cast<std::size_t>(i), 1));
  expect_moments(m, two_pass(data.dense, data.labels->codes, 2));
}

TEST(Moments, ACommonOffsetLosesNoMoreThanRounding) {
  for (const double offset : {1e8, -1e12}) {
    const auto data = random_data(500, 5, 3, 4, offset);
    const auto oracle = two_pass(data.dense, data.labels->codes, 3);
    expect_moments(compute_moments(data, SecondOrder::kFull), oracle);
    expect_moments(compute_moments(data, SecondOrder::kDiagonal), oracle);
    expect_moments(compute_moments(as_sparse(data), SecondOrder::kFull), oracle);
  }
}

TEST(Moments, AWeightEqualsRepetition) {
  auto data = random_data(80, 5, 2, 5);
  DatasetParts repeated = data;
  data.weights.resize(80);
  std::vector<Index> rows;
  for (Index i = 0; i < 80; ++i) {
    data.weights[i] = static_cast<double>(i % 4);
    for (Index r = 0; r < i % 4; ++r) rows.push_back(i);
  }
  const Moments m = of_rows(repeated, rows, SecondOrder::kFull);
  for (const bool sparse : {false, true}) {
    const Moments w = compute_moments(sparse ? as_sparse(data) : data, SecondOrder::kFull);
    EXPECT_EQ(w.class_weights(), m.class_weights());
    EXPECT_LE(difference(w.class_means(), m.class_means()), 10.0 * kEps);
    EXPECT_LE(difference(w.class_sums_of_squares(), m.class_sums_of_squares()),
              50.0 * kEps * m.class_sums_of_squares().maxCoeff());
    EXPECT_LE(difference(w.within_covariance(), m.within_covariance()),
              50.0 * kEps * m.within_variances().maxCoeff());
  }
}

TEST(Moments, DoNotDependOnTheNumberOfThreads) {
  struct Shape {
    Index rows, features;
  };
  for (const auto [rows, features] : {Shape{50, 3000}, Shape{9000, 20}, Shape{300, 700}}) {
    for (const bool sparse : {false, true}) {
      auto data = random_data(rows, features, 3, 6, 0.0, sparse ? 0.3 : 1.0);
      if (sparse) data = as_sparse(data);
      for (const auto order : {SecondOrder::kDiagonal, SecondOrder::kFull}) {
        SCOPED_TRACE(fmt::format("{} x {}, sparse {}", rows, features, sparse));
        const Moments one = compute_moments(data, order, 1);
        expect_same_bits(one, compute_moments(data, order, 2));
        expect_same_bits(one, compute_moments(data, order, 8));
      }
    }
  }
}

TEST(Moments, OfSparseTablesEqualThoseOfDenseOnes) {
  for (const double density : {0.0, 0.02, 0.3, 0.5, 0.9, 1.0}) {
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(fmt::format("density {}, weighted {}", density, weighted));
      auto data = random_data(300, 40, 3, 7, 5.0, density);
      for (Index j = 0; j < 40; j += 5)
        data.dense.col(j).array() += 100.0;  // some columns are full among thin ones
      data.labels->codes[17] = Labels::kMissing;
      if (weighted) add_weights(data, 8);
      const auto oracle = two_pass(data.dense, data.labels->codes, 3, data.weights);
      const auto sparse = as_sparse(data);
      expect_moments(compute_moments(sparse, SecondOrder::kFull), oracle);
      expect_moments(compute_moments(sparse, SecondOrder::kDiagonal), oracle);
      const Matrix covariance = compute_moments(sparse, SecondOrder::kFull).within_covariance();
      EXPECT_EQ(covariance, covariance.transpose());
    }
  }
}

TEST(Moments, OfAFewFeaturesAreThoseOfTheSubtable) {
  const auto data = random_data(90, 30, 2, 9, 0.0, 0.6);
  const std::vector<Index> features = {28, 3, 3, 0, 17};
  const Matrix part = data.dense(Eigen::all, features);
  const auto oracle = two_pass(part, data.labels->codes, 2);
  for (const auto order : {SecondOrder::kDiagonal, SecondOrder::kFull}) {
    expect_moments(compute_moments(data, features, order), oracle);
    expect_moments(compute_moments(as_sparse(data), features, order), oracle);
  }
}

TEST(Moments, DiagonalOnesAreTheDiagonalOfFullOnes) {
  for (const Index p : {5, 300, 600}) {
    const auto data = random_data(400, p, 2, 10);
    const Moments full = compute_moments(data, SecondOrder::kFull);
    const Moments diagonal = compute_moments(data, SecondOrder::kDiagonal);
    EXPECT_EQ(full.within_variances(), diagonal.within_variances());
    const Matrix covariance = full.within_covariance();
    EXPECT_EQ(covariance.diagonal(), diagonal.within_variances());
    EXPECT_EQ(covariance, covariance.transpose());
    // The off-diagonal tiles, against Eigen's product of the centred rows.
    Matrix z = data.dense;
    for (Index i = 0; i < z.rows(); ++i)
      z.row(i) -= full.class_means().col(data.labels->codes[static_cast<std::size_t>(i)]).transpose();
    EXPECT_LE(difference(covariance, z.transpose() * z / 400.0), 100.0 * kEps * covariance.maxCoeff());
  }
}

TEST(Moments, BetweenAndWithinAddUpToTheCovarianceOverN) {
  const auto data = random_data(200, 6, 4, 11);
  const Moments m = compute_moments(data, SecondOrder::kFull);
  const Matrix centred = data.dense.rowwise() - data.dense.colwise().mean();
  const Matrix covariance = centred.transpose() * centred / 200.0;
  const Matrix factor = m.between_factor();
  EXPECT_LE(difference(factor * factor.transpose() + m.within_covariance(), covariance),
            100.0 * kEps * covariance.cwiseAbs().maxCoeff());
  EXPECT_LE(difference(m.mean(), data.dense.colwise().mean().transpose()), 20.0 * kEps);
}

TEST(Moments, OfTwoClassesHaveAFactorOfOneColumn) {
  const auto data = random_data(70, 5, 2, 12);
  const Moments m = compute_moments(data, SecondOrder::kDiagonal);
  const double n1 = m.class_weights()[0];
  const double n2 = m.class_weights()[1];
  const Vector a = std::sqrt(n1 * n2) / (n1 + n2) * (m.class_means().col(0) - m.class_means().col(1));
  const Matrix factor = m.between_factor();
  EXPECT_LE(difference(factor * factor.transpose(), a * a.transpose()), 20.0 * kEps * a.squaredNorm());
}

TEST(Moments, SkipRowsWithoutALabelEvenIfTheyHoldNaN) {
  auto data = random_data(50, 4, 2, 13);
  const auto without = of_rows(
      data,
      [] {
        std::vector<Index> rows(49);
        std::iota(rows.begin(), rows.end(), Index{1});
        return rows;
      }(),
      SecondOrder::kFull);
  data.labels->codes[0] = Labels::kMissing;
  data.dense.row(0).setConstant(std::nan(""));
  expect_same_bits(compute_moments(data, SecondOrder::kFull), without);
  data.labels->codes[0] = 1;
  data.weights = Vector::Ones(50);
  data.weights[0] = 0.0;
  EXPECT_LE(
      difference(compute_moments(data, SecondOrder::kFull).within_covariance(), without.within_covariance()),
      20.0 * kEps);
}

TEST(Moments, AllowEmptyClassesAndDegenerateSizes) {
  auto data = random_data(40, 3, 2, 14);
  data.labels->classes.insert(data.labels->classes.begin(), "nobody");
  for (auto& c : data.labels->codes) ++c;
  data.labels->classes.emplace_back("nobody else");
  for (const bool sparse : {false, true}) {
    const Moments m = compute_moments(sparse ? as_sparse(data) : data, SecondOrder::kFull);
    EXPECT_EQ(m.class_means().col(0), Vector::Zero(3));
    expect_moments(m, two_pass(data.dense, data.labels->codes, 4));
  }
  for (const auto order : {SecondOrder::kDiagonal, SecondOrder::kFull}) {
    for (const Index rows : {0, 1, 2}) {
      for (const Index features : {0, 1, 3}) {
        for (const bool sparse : {false, true}) {
          SCOPED_TRACE(fmt::format("{} x {}, sparse {}", rows, features, sparse));
          const auto tiny = random_data(rows, features, 1, 15);
          const Moments m = compute_moments(sparse ? as_sparse(tiny) : tiny, order);
          expect_moments(m, two_pass(tiny.dense, tiny.labels->codes, 1));
          EXPECT_EQ(m.mean().size(), features);
          Moments twice = m;
          twice.merge(m);
          twice.merge(twice);
          EXPECT_EQ(twice.total_weight(), 4.0 * static_cast<double>(rows));
        }
      }
    }
  }
}

TEST(Moments, OfAConstantColumnAreExactlyZero) {
  auto data = random_data(101, 3, 2, 16);
  data.dense.col(1).setConstant(0.1);
  for (const bool sparse : {false, true}) {
    const Moments m = compute_moments(sparse ? as_sparse(data) : data, SecondOrder::kFull);
    EXPECT_LE(m.within_variances()[1], 1e-30);
    EXPECT_LE(m.between_variances()[1], 1e-30);
    EXPECT_DOUBLE_EQ(m.mean()[1], 0.1);
  }
}

TEST(Moments, KeepVeryLargeAndVerySmallScales) {
  for (const double scale : {1e150, 1e-150}) {
    auto data = random_data(60, 4, 3, 17);
    const Moments plain = compute_moments(data, SecondOrder::kFull);
    data.dense *= scale;
    for (const bool sparse : {false, true}) {
      const Moments m = compute_moments(sparse ? as_sparse(data) : data, SecondOrder::kFull);
      EXPECT_LE(difference(m.within_covariance() / scale / scale, plain.within_covariance()),
                1e3 * kEps * plain.within_variances().maxCoeff());
      EXPECT_LE(difference(m.between_factor() / scale, plain.between_factor()), 1e2 * kEps);
    }
  }
}

TEST(Moments, RefuseWhatDoesNotFitWithWords) {
  Moments m(3, 2, SecondOrder::kDiagonal);
  const std::vector<int> codes = {0, 1};
  const std::vector<int> bad_codes = {0, 2};
  const std::vector<double> bad_weights = {1.0, -1.0};
  EXPECT_THROW(m.add(Matrix::Ones(2, 4), codes), InvalidArgument);
  EXPECT_THROW(m.add(Matrix::Ones(3, 3), codes), InvalidArgument);
  EXPECT_THROW(m.add(Matrix::Ones(2, 3), bad_codes), InvalidArgument);
  EXPECT_THROW(m.add(Matrix::Ones(2, 3), codes, bad_weights), InvalidArgument);
  EXPECT_THROW(m.merge(Moments(3, 2, SecondOrder::kFull)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(m.within_covariance()), Error);
  EXPECT_EQ(m.total_weight(), 0.0);  // nothing was half added
  auto data = random_data(5, 3, 2, 18);
  EXPECT_THROW(static_cast<void>(compute_moments(data, {3}, SecondOrder::kDiagonal)), InvalidArgument);
  data.labels.reset();
  EXPECT_THROW(static_cast<void>(compute_moments(data, SecondOrder::kDiagonal)), InvalidArgument);
  try {
    const Moments huge(100'000'000, 2, SecondOrder::kFull);
    FAIL() << "no exception";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("80.0 PB"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace subspectra
