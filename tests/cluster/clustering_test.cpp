#include "cluster/clustering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stop_token>

#include <subspectra/error.hpp>
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "oracle.hpp"
#include "report/json.hpp"
#include "synth/clusters.hpp"

namespace subspectra {
namespace {

Clustering run(const Dataset& data, const ClusterOptions& options, const SelectOptions& selection = {},
               std::string_view method = "qalpha", OptionTexts texts = {}) {
  texts["clusters"] = std::to_string(options.clusters.value_or(QAlpha{}.clusters));
  return cluster_rows(data, MethodRegistry::from_texts(method, texts), selection, options, RunControl());
}

DatasetParts planted(Index classes, std::uint64_t seed, Index features = 60) {
  return synth::Clusters{.rows = 60, .features = features, .classes = classes, .relevant = 8, .seed = seed}
      .make()
      .parts();
}

bool warned(const Clustering& clustering, std::string_view words) {
  return std::any_of(clustering.warnings.begin(), clustering.warnings.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

DatasetParts sparse_copy(const DatasetParts& dense) {
  DatasetParts data = dense;
  data.is_sparse = true;
  data.sparse = SparseMatrix(dense.rows(), dense.features());
  for (Index j = 0; j < dense.features(); ++j) {
    data.sparse.startVec(j);
    for (Index i = 0; i < dense.rows(); ++i) {
      if (dense.dense(i, j) != 0.0) data.sparse.insertBack(i, j) = dense.dense(i, j);
    }
  }
  data.sparse.finalize();
  data.dense.resize(0, 0);
  return data;
}

TEST(Clustering, RecoversPlantedClustersWhereAllFeaturesDoNot) {
  double selected = 0.0, all = 0.0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const DatasetParts data = planted(3, seed, 300);
    const auto found = run(data, {.clusters = 3}, {.k = {8, 8}});
    ASSERT_TRUE(found.chosen.agreement);
    selected += found.chosen.agreement->accuracy / 5.0;
    all += found.all->agreement->accuracy / 5.0;
    EXPECT_EQ(found.all_features, 300);
    EXPECT_EQ(found.features.size(), 8U);
  }
  EXPECT_GE(selected, 0.95);
  EXPECT_LT(all, selected);
}

TEST(Clustering, EveryMethodWithoutLabelsRunsAndOthersAreRefused) {
  const DatasetParts data = planted(2, 1);
  const auto known = clustering_methods();
  EXPECT_EQ(known.size(), 6U);
  for (const auto& method : known) {
    SCOPED_TRACE(method.traits->name);
    const auto found = run(data, {.clusters = 2, .no_comparison = true}, {}, method.traits->name);
    EXPECT_EQ(found.chosen.labels.size(), 60U);
    EXPECT_FALSE(found.all);
  }
  for (const std::string_view name : {"qalpha-supervised", "qalpha-semi", "gslda"})
    EXPECT_THROW((void)run(data, {}, {}, name), InvalidArgument);
}

// Oracle: the affinity as a dense matrix and all its eigenvalues.
TEST(Clustering, EigenvaluesAreThoseOfTheDenseAffinity) {
  const DatasetParts data = planted(3, 2, 40);
  for (const bool normalize : {true, false}) {
    std::vector<Index> all(40);
    std::iota(all.begin(), all.end(), Index{0});
    const FeatureRows rows(data, all, normalize, {}, 2);
    const Vector alpha = Vector::LinSpaced(40, 0.1, 1.0);
    const auto found = spectral_clusters(rows, alpha, {.clusters = 3}, 0, RunControl());
    const auto dense = linalg::symmetric_eigen(rows.affinity(alpha), false);
    const Vector falling = dense.values.reverse();
    EXPECT_EQ(found.eigenvectors, normalize ? 2 : 3);
    EXPECT_LT((oracle::as_vector(found.eigenvalues).head(4) - falling.head(4)).cwiseAbs().maxCoeff(),
              1e-8 * falling[0]);
  }
}

TEST(Clustering, DoesNotDependOnThreadsOrOnTheLabels) {
  DatasetParts data = planted(3, 4);
  const auto one = run(data, {.clusters = 3}, {.threads = 1});
  const auto three = run(data, {.clusters = 3}, {.threads = 3});
  EXPECT_EQ(one.chosen.labels, three.chosen.labels);
  EXPECT_EQ(one.all->labels, three.all->labels);
  EXPECT_EQ(one.chosen.within, three.chosen.within);
  EXPECT_EQ(one.chosen.eigenvalues, three.chosen.eigenvalues);
  data.labels.reset();
  const auto unlabelled = run(data, {.clusters = 3});
  EXPECT_EQ(unlabelled.chosen.labels, one.chosen.labels);
  EXPECT_FALSE(unlabelled.chosen.agreement);
}

TEST(Clustering, RowsInAnotherOrderGetTheSameClusters) {
  const DatasetParts data = planted(3, 5);
  std::vector<Index> order(60);
  for (Index i = 0; i < 60; ++i) order[static_cast<std::size_t>(i)] = (i * 7 + 3) % 60;
  const auto straight = run(data, {.clusters = 3}, {.k = {8, 8}});
  const auto turned = run(Dataset(data).with_rows(order), {.clusters = 3}, {.k = {8, 8}});
  std::vector<int> back(60);
  for (std::size_t i = 0; i < 60; ++i) back[static_cast<std::size_t>(order[i])] = turned.chosen.labels[i];
  EXPECT_DOUBLE_EQ(adjusted_rand_index(contingency(straight.chosen.labels, back)), 1.0);
}

TEST(Clustering, OneClusterAndAsManyAsRows) {
  const DatasetParts data = planted(2, 6, 20);
  const auto one = run(data, {.clusters = 1});
  EXPECT_EQ(one.chosen.sizes, std::vector<Index>{60});
  EXPECT_EQ(one.chosen.eigenvectors, 0);
  const auto all = run(data, {.clusters = 60, .no_comparison = true}, {.k = {20, 20}});
  EXPECT_EQ(all.chosen.clusters(), 60);
  EXPECT_THROW((void)run(data, {.clusters = 61}), InvalidArgument);
  EXPECT_THROW((void)run(data, {.clusters = 0}), InvalidArgument);
  EXPECT_THROW((void)run(data, {}, {.k = {2, 3}}), InvalidArgument);
  EXPECT_THROW((void)run(data, {}, {.k = {21, 21}}), InvalidArgument);
}

TEST(Clustering, EqualRowsStayTogether) {
  const DatasetParts data =
      Dataset(planted(3, 7, 30)).with_rows({0, 0, 0, 25, 25, 50, 50, 50, 50, 0}).parts();
  const auto found = run(data, {.clusters = 3}, {.k = {30, 30}});
  EXPECT_EQ(found.chosen.labels, (std::vector<int>{0, 0, 0, 1, 1, 2, 2, 2, 2, 0}));
  const auto more = run(data, {.clusters = 6}, {.k = {30, 30}});
  EXPECT_EQ(more.chosen.clusters(), 3);
  EXPECT_TRUE(warned(more, "no more distinct places"));
}

TEST(Clustering, ConstantColumnsTakeNoPart) {
  DatasetParts data = planted(2, 8, 20);
  const auto before = run(data, {.clusters = 2});
  data.dense.col(19).setConstant(4.0);
  const auto after = run(data, {.clusters = 2});
  EXPECT_EQ(after.all_features, 19);
  EXPECT_EQ(after.selection.weights[19], 0.0);
  EXPECT_EQ(before.chosen.agreement->accuracy, after.chosen.agreement->accuracy);
}

TEST(Clustering, ASparseTableGivesTheSameClusters) {
  DatasetParts data = planted(3, 9, 40);
  data.dense = (data.dense.array().abs() < 0.2).select(0.0, data.dense);
  const auto dense = run(data, {.clusters = 3}, {.k = {8, 8}});
  const auto sparse = run(sparse_copy(data), {.clusters = 3}, {.k = {8, 8}});
  EXPECT_EQ(dense.features, sparse.features);
  EXPECT_EQ(dense.chosen.labels, sparse.chosen.labels);
}

TEST(Clustering, AWeightIsARepeatedRow) {
  const DatasetParts plain = planted(3, 10, 20);
  std::vector<Index> order;
  DatasetParts weighted = plain;
  weighted.weights = Vector::Ones(60);
  for (Index i = 0; i < 60; ++i) {
    weighted.weights[i] = static_cast<double>(1 + i % 3);
    for (Index r = 0; r <= i % 3; ++r) order.push_back(i);
  }
  const auto a = run(weighted, {.clusters = 3, .kmeans_restarts = 20}, {.k = {8, 8}});
  const auto b = run(Dataset(plain).with_rows(order), {.clusters = 3, .kmeans_restarts = 20}, {.k = {8, 8}});
  EXPECT_EQ(a.features, b.features);
  for (std::size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(b.chosen.labels[i], a.chosen.labels[static_cast<std::size_t>(order[i])]);
}

TEST(Clustering, WeightsThatFallNowhereKeepAllFeatures) {
  DatasetParts data = planted(2, 3, 2);
  data.dense.col(1) = -2.0 * data.dense.col(0);
  const auto found = run(data, {.clusters = 2});
  EXPECT_EQ(found.features.size(), 2U);
  EXPECT_FALSE(found.by_cut);
}

TEST(Clustering, IncludedFeaturesAreAlwaysThere) {
  const DatasetParts data = planted(2, 11, 30);
  const auto found = run(data, {.clusters = 2}, {.k = {4, 4}, .include = {data.names[25]}});
  EXPECT_EQ(found.features.size(), 4U);
  EXPECT_EQ(found.features.back(), 25);
  EXPECT_THROW((void)run(data, {}, {.k = {1, 1}, .include = {data.names[2], data.names[25]}}), Infeasible);
}

TEST(Clustering, JsonHasLabelsWeightsAndAgreement) {
  const DatasetParts data = planted(2, 12, 20);
  const auto json = clustering_json(run(data, {.clusters = 2}), data, {});
  EXPECT_EQ(json["schema"], "subspectra.clustering/1");
  EXPECT_EQ(json["labels"].size(), 60U);
  EXPECT_EQ(json["weights"].size(), 20U);
  EXPECT_EQ(json["options"]["clusters"], 2);
  EXPECT_TRUE(json["agreement"].contains("adjusted_rand_index"));
  EXPECT_EQ(json["agreement"]["matching"].size(), 2U);
  EXPECT_EQ(json["all_features"]["labels"].size(), 60U);
}

// Beyond 4,096 rows no matrix of rows x rows is formed: every row twice takes that way, every row once the
// other, and twice the rows is the same problem.
TEST(Clustering, ManyRowsGiveWhatFewDo) {
  const DatasetParts few =
      synth::Clusters{.rows = 2100, .features = 12, .classes = 3, .relevant = 5, .seed = 4}.make().parts();
  DatasetParts many = few;
  many.dense.resize(4200, 12);
  many.labels->codes.clear();
  for (Index i = 0; i < 4200; ++i) {
    many.dense.row(i) = few.dense.row(i / 2);
    many.labels->codes.push_back(few.labels->codes[static_cast<std::size_t>(i / 2)]);
  }
  const auto small = run(few, {.clusters = 3}), large = run(many, {.clusters = 3});
  EXPECT_EQ(large.features, small.features);
  EXPECT_TRUE(
      oracle::as_vector(large.selection.weights).isApprox(oracle::as_vector(small.selection.weights), 1e-6));
  for (std::size_t i = 0; i < large.chosen.labels.size(); ++i)
    ASSERT_EQ(large.chosen.labels[i], small.chosen.labels[i / 2]) << i;
  EXPECT_TRUE(oracle::as_vector(large.chosen.eigenvalues)
                  .head(2)
                  .isApprox(oracle::as_vector(small.chosen.eigenvalues).head(2), 1e-6));
  EXPECT_GE(large.chosen.agreement->accuracy, 0.95);
}

TEST(Clustering, StoppedByTimeItStillPlacesEveryRow) {
  const DatasetParts data = planted(3, 2);
  const RunControl control(std::stop_token(), 1e-9);
  const auto found = cluster_rows(data, QAlpha{.clusters = 3}, {}, {.clusters = 3}, control);
  EXPECT_EQ(found.status, Status::kTimeLimit);
  ASSERT_EQ(found.chosen.labels.size(), static_cast<std::size_t>(data.rows()));
  Index rows = 0;
  for (const Index size : found.chosen.sizes) {
    EXPECT_GT(size, 0);
    rows += size;
  }
  EXPECT_EQ(rows, data.rows());
  for (const int label : found.chosen.labels) {
    EXPECT_GE(label, 0);
    EXPECT_LT(label, found.chosen.clusters());
  }
  EXPECT_FALSE(found.features.empty());
  EXPECT_TRUE(oracle::as_vector(found.selection.weights).allFinite());
}

TEST(EigenGap, IsTheLargestRelativeFallBeforeTheRankEnds) {
  const Vector values = (Vector(5) << 4.0, 1.0, 0.05, 0.04, 0.0).finished();
  EXPECT_EQ(eigen_gap(values, 9, true).clusters, 3);
  EXPECT_EQ(eigen_gap(values, 9, false).clusters, 2);
  EXPECT_DOUBLE_EQ(eigen_gap(values, 9, true).ratio, 5.0);
  EXPECT_EQ(eigen_gap(values, 2, true).clusters, 2);
  EXPECT_EQ(eigen_gap(values.head(1), 9, true).clusters, 0);
  EXPECT_EQ(eigen_gap(Vector::Ones(4), 9, true).clusters, 0);
}

TEST(Clustering, TakesAsManyClustersAsTheMethodHasUnlessToldOtherwise) {
  const Dataset data = planted(4, 3);
  EXPECT_EQ(cluster(data, QAlpha{.clusters = 4}).chosen.clusters(), 4);
  EXPECT_EQ(cluster(data, QAlpha{.clusters = 4}).options.clusters, 4);
  EXPECT_EQ(cluster(data, QAlpha{}).options.clusters, QAlpha{}.clusters);
  EXPECT_EQ(cluster(data, QAlpha{.clusters = 4}, {.clusters = 2}).chosen.clusters(), 2);
  EXPECT_THROW((void)cluster(data, QAlpha{}, {.clusters = 0}), InvalidArgument);
}

}  // namespace
}  // namespace subspectra
