#include "reproduce/verification.hpp"

#include <algorithm>
#include <cmath>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

namespace subspectra::reproduce {

double Roc::true_positive_at(double false_positive) const {
  double best = 0.0;
  for (const RocPoint& point : points) {
    if (point.false_positive <= false_positive) best = std::max(best, point.true_positive);
  }
  return best;
}

Roc verification_roc(std::vector<ScoredPair> pairs) {
  Roc roc;
  for (const ScoredPair& pair : pairs) ++(pair.genuine ? roc.genuine : roc.impostor);
  if (roc.genuine == 0 || roc.impostor == 0) {
    throw BadInput(
        "verification needs pairs of rows of one class and pairs of different classes; the labels have to name at least two people, one of them with two images");
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const ScoredPair& a, const ScoredPair& b) { return a.distance < b.distance; });
  Index accepted_genuine = 0;
  Index accepted_impostor = 0;
  roc.points.push_back({});
  double last_excess = -1.0;  // false positives less false negatives: from -1 up to 1
  bool crossed = false;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ++(pairs[i].genuine ? accepted_genuine : accepted_impostor);
    if (i + 1 < pairs.size() && pairs[i + 1].distance == pairs[i].distance) continue;
    const RocPoint before = roc.points.back();
    const RocPoint now{
        .false_positive = static_cast<double>(accepted_impostor) / static_cast<double>(roc.impostor),
        .true_positive = static_cast<double>(accepted_genuine) / static_cast<double>(roc.genuine)};
    roc.area_under +=
        0.5 * (now.false_positive - before.false_positive) * (now.true_positive + before.true_positive);
    const double excess = now.false_positive - (1.0 - now.true_positive);
    if (!crossed && excess >= 0.0) {  // on the line between the two points
      const double part = -last_excess / (excess - last_excess);
      roc.equal_error = before.false_positive + part * (now.false_positive - before.false_positive);
      crossed = true;
    }
    last_excess = excess;
    roc.points.push_back(now);
  }
  return roc;
}

std::vector<ScoredPair> all_pairs(const Matrix& coordinates, const std::vector<int>& codes, int threads) {
  const Index rows = coordinates.rows();
  const auto count = static_cast<double>(rows) * static_cast<double>(rows - 1) / 2.0;
  require_memory(count * sizeof(ScoredPair), "the distances of all pairs of images", "give fewer images");
  std::vector<ScoredPair> pairs(static_cast<std::size_t>(count));
  const Matrix points = coordinates.transpose();
  parallel_for(rows, threads, [&](Index j) {
    auto at = static_cast<std::size_t>(j * (j - 1) / 2);
    for (Index i = 0; i < j; ++i, ++at) {
      pairs[at] = {.distance = (points.col(i) - points.col(j)).norm(),
                   .genuine = codes[static_cast<std::size_t>(i)] == codes[static_cast<std::size_t>(j)]};
    }
  });
  return pairs;
}

Matrix principal_coordinates(Matrix x, Index components) {
  const Index rows = x.rows();
  const Index columns = x.cols();
  x.rowwise() -= x.colwise().mean().eval();
  if (rows <= columns) {  // X X' = U Lambda U', coordinates U Lambda^{1/2}
    Matrix gram(rows, rows);
    linalg::syrk(1.0, linalg::Op::kNone, x, 0.0, gram);
    const auto eigen = linalg::symmetric_eigen(std::move(gram), true);
    Matrix coordinates = eigen.vectors.rightCols(components);
    for (Index c = 0; c < components; ++c) {
      coordinates.col(c) *= std::sqrt(std::max(0.0, eigen.values[rows - components + c]));
    }
    return coordinates;
  }
  Matrix scatter(columns, columns);
  linalg::syrk(1.0, linalg::Op::kTranspose, x, 0.0, scatter);
  const auto eigen = linalg::symmetric_eigen(std::move(scatter), true);
  Matrix coordinates(rows, components);
  linalg::gemm(1.0, linalg::Op::kNone, x, linalg::Op::kNone, eigen.vectors.rightCols(components), 0.0,
               coordinates);
  return coordinates;
}

}  // namespace subspectra::reproduce
