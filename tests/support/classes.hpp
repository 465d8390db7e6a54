#pragma once
/// Labelled tables for the tests of the discriminant methods.
#include <algorithm>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "data/dataset.hpp"
#include "scoring/problem.hpp"

namespace subspectra::oracle {

/// Standard normal columns; class c is shifted by `shift` in the columns j < informative with j mod K = c.
/// Every class has rows (row i < K has class i), the others are random.
inline DatasetParts gaussian_classes(Index rows, Index columns, int classes, std::uint64_t seed,
                                     double shift = 1.5, Index informative = 6) {
  Random random(seed);
  DatasetParts data;
  data.source = "classes";
  data.dense.resize(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) data.dense(i, j) = random.normal();
  }
  std::vector<std::string> labels;
  for (Index i = 0; i < rows; ++i) {
    const auto c = i < classes ? i : static_cast<Index>(random.below(static_cast<std::uint64_t>(classes)));
    labels.push_back(std::string(1, static_cast<char>('a' + c)));
    for (Index j = 0; j < std::min(informative, columns); ++j)
      data.dense(i, j) += c == j % classes ? shift : 0.0;
  }
  data.labels = Labels::from_texts("class", labels);
  return data;
}

inline std::vector<Index> all_features(const DatasetParts& data) {
  std::vector<Index> all;
  for (Index j = 0; j < data.features(); ++j) all.push_back(j);
  return all;
}

inline ScoringProblem scoring_problem(const DatasetParts& data, int threads = 1) {
  return make_scoring_problem(data, all_features(data), threads);
}

/// B with all its rows.
inline Matrix dense_rows(const RowSparseMatrix& b, Index p) {
  Matrix all = Matrix::Zero(p, b.values.cols());
  for (std::size_t i = 0; i < b.rows.size(); ++i) all.row(b.rows[i]) = b.values.row(static_cast<Index>(i));
  return all;
}

}  // namespace subspectra::oracle
