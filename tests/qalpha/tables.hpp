#pragma once
/// Tables with clusters, and a fit of them, for the tests of this room.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "qalpha/qalpha.hpp"

namespace subspectra::tables {

/// `relevant` features that place the rows in `clusters` groups, the rest normal noise.
inline DatasetParts clustered(Index rows, Index features, Index relevant, int clusters, std::uint64_t seed,
                              double spread = 0.3) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Matrix centres = Matrix::NullaryExpr(clusters, relevant, [&] { return 2.0 * uniform(generator); });
  DatasetParts data;
  data.source = "clusters";
  data.names = FeatureNames(features);
  data.dense.resize(rows, features);
  std::vector<std::string> labels;
  for (Index i = 0; i < rows; ++i) {
    const Index c = i % clusters;
    labels.push_back(std::string(1, static_cast<char>('a' + c)));
    for (Index j = 0; j < features; ++j) {
      data.dense(i, j) =
          normal(generator) * (j < relevant ? spread : 1.0) + (j < relevant ? centres(c, j) : 0.0);
    }
  }
  data.labels = Labels::from_texts("class", labels);
  return data;
}

inline std::vector<Index> all_of(const DatasetParts& data) {
  std::vector<Index> all(static_cast<std::size_t>(data.features()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

template <class M>
QAlphaFit fit(const DatasetParts& data, const M& method, int threads = 2, std::uint64_t seed = 0) {
  const FeatureRows rows(data, all_of(data), !method.no_normalize,
                         kHasBlocks<M> ? data.labels->codes : std::vector<int>(), threads);
  return fit_qalpha(rows, method, {.seed = seed}, RunControl());
}

/// test(method) for each of these, of which `change` has set the options.
template <class... Methods, class Change, class Test>
void for_each_of(Change change, Test test) {
  const auto run = [&](auto method) {
    SCOPED_TRACE(method.kTraits.name);
    change(method);
    test(method);
  };
  (run(Methods{}), ...);
}

inline std::vector<std::vector<Index>> rows_by_class(const Labels& labels) {
  std::vector<std::vector<Index>> rows(labels.classes.size());
  for (std::size_t i = 0; i < labels.codes.size(); ++i) {
    if (labels.codes[i] >= 0)
      rows[static_cast<std::size_t>(labels.codes[i])].push_back(static_cast<Index>(i));
  }
  return rows;
}

}  // namespace subspectra::tables
