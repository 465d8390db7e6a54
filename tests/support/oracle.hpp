#pragma once
/// Small tables and textbook formulas for the tests. Nothing here calls the code under test.
#include <Eigen/Dense>
#include <random>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace subspectra::oracle {

/// Sanitizers slow Eigen's templates fifty times: tests check fewer steps of the longest paths under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// N rows of K classes in turn, p normal features; feature j of class c is shifted by shift * c where j <
/// informative.
inline DatasetParts random_classes(Index n, Index p, int classes, std::uint64_t seed, double shift = 1.0,
                                   Index informative = 3) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  DatasetParts data;
  data.source = "random";
  data.dense.resize(n, p);
  data.names = FeatureNames(p);
  data.labels.emplace();
  data.labels->name = "class";
  for (int c = 0; c < classes; ++c)
    data.labels->classes.push_back(std::string(1, static_cast<char>('a' + c)));
  for (Index i = 0; i < n; ++i) {
    const int code = static_cast<int>(i % classes);
    data.labels->codes.push_back(code);
    for (Index j = 0; j < p; ++j)
      data.dense(i, j) = normal(generator) + (j < informative ? shift * code : 0.0);
  }
  return data;
}

inline DatasetParts as_sparse(DatasetParts data) {
  data.sparse = data.dense.sparseView(0.0, 0.0);
  data.sparse.makeCompressed();
  data.dense.resize(0, 0);
  data.is_sparse = true;
  return data;
}

/// Every row `times[i]` times.
inline DatasetParts repeated(const DatasetParts& data, const std::vector<int>& times) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < times.size(); ++i) rows.insert(rows.end(), times[i], static_cast<Index>(i));
  return Dataset(data).with_rows(rows).parts();
}

struct Scatter {
  Matrix between, within;  ///< divisor N
};
/// Straight from the definition, over the columns of `x`.
inline Scatter scatter(const Matrix& x, const std::vector<int>& codes, int classes) {
  const Vector mean = x.colwise().mean();
  Scatter s{Matrix::Zero(x.cols(), x.cols()), Matrix::Zero(x.cols(), x.cols())};
  for (int c = 0; c < classes; ++c) {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == c) rows.push_back(static_cast<Index>(i));
    }
    if (rows.empty()) continue;
    const Matrix part = x(rows, Eigen::all);
    const Vector centre = part.colwise().mean();
    const Matrix centred = part.rowwise() - centre.transpose();
    s.within += centred.transpose() * centred / static_cast<double>(x.rows());
    s.between += static_cast<double>(rows.size()) / static_cast<double>(x.rows()) * (centre - mean) *
                 (centre - mean).transpose();
  }
  return s;
}

/// Eigenvalues of A x = lambda B x, descending.
inline Vector generalized_eigenvalues(const Matrix& a, const Matrix& b) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(a, b, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().reverse();
}

}  // namespace subspectra::oracle
