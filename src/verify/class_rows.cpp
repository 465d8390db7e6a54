#include "verify/class_rows.hpp"

#include <algorithm>
#include <cmath>

namespace subspectra::verify {

double ColumnSpread::rounding() const {
  const double deviation = 64.0 * kEpsilon * farthest;
  return deviation * deviation;
}

bool ColumnSpread::still() const { return !(within > rounding()); }

ClassRows::ClassRows(const Dataset& data, const std::vector<Index>& features)
    : x(data.values().columns(features)), codes(data.labels()->codes), share(data.labels()->class_count()) {
  weights.assign(static_cast<std::size_t>(x.rows()), 1.0L);
  if (!data.weights().empty())
    std::copy(data.weights().data(), data.weights().data() + x.rows(), weights.begin());
  given = weights;
  Long sum = 0.0L;
  for (const Long w : weights) sum += w;
  for (Long& w : weights) w /= sum;
  for (std::size_t i = 0; i < weights.size(); ++i) share[static_cast<std::size_t>(codes[i])] += weights[i];
  for (Index j = 0; j < x.cols(); ++j) {
    Long mean = 0.0L;
    for (Index i = 0; i < x.rows(); ++i) mean += weight(i) * x(i, j);
    pivots.push_back(static_cast<double>(mean));
  }
  // Two passes: the first mean takes the offset away, so that the second one has every digit of the spread.
  means = LongMatrix(std::ssize(share), x.cols());
  for (int pass = 0; pass < 2; ++pass) {
    for (Index j = 0; j < x.cols(); ++j) {
      std::vector<Long> sums(share.size(), 0.0L);
      for (Index i = 0; i < x.rows(); ++i) sums[class_of(i)] += weight(i) * deviation(i, j);
      for (std::size_t c = 0; c < share.size(); ++c) {
        if (share[c] > 0.0L) means(static_cast<Index>(c), j) += sums[c] / share[c];
      }
    }
  }
  // A class of equal values does not vary, whatever rounding leaves of its mean.
  for (Index j = 0; j < x.cols(); ++j) {
    std::vector<Index> first(share.size(), -1);
    std::vector<bool> equal(share.size(), true);
    for (Index i = 0; i < x.rows(); ++i) {
      const std::size_t c = class_of(i);
      if (!(weight(i) > 0.0L)) continue;
      if (first[c] < 0) first[c] = i;
      if (x(i, j) != x(first[c], j)) equal[c] = false;
    }
    for (std::size_t c = 0; c < share.size(); ++c) {
      if (first[c] >= 0 && equal[c])
        means(static_cast<Index>(c), j) =
            static_cast<Long>(x(first[c], j)) - pivots[static_cast<std::size_t>(j)];
    }
  }
}

ColumnSpread spread_of(const ClassRows& rows, Index j) {
  ColumnSpread spread;
  for (Index i = 0; i < rows.x.rows(); ++i)
    spread.within += rows.weight(i) * rows.deviation(i, j) * rows.deviation(i, j);
  Long mean = 0.0L;
  for (Index c = 0; c < rows.means.rows; ++c)
    mean += rows.share[static_cast<std::size_t>(c)] * rows.means(c, j);
  for (Index c = 0; c < rows.means.rows; ++c) {
    const Long share = rows.share[static_cast<std::size_t>(c)], off = rows.means(c, j) - mean;
    spread.between += share * off * off;
    if (share > 0.0L)
      spread.farthest = std::max(
          spread.farthest,
          static_cast<double>(std::abs(rows.means(c, j) + rows.pivots[static_cast<std::size_t>(j)])));
  }
  return spread;
}

LongMatrix between_factor(const ClassRows& rows) {
  const Index n = rows.x.cols(), classes = rows.means.rows;
  if (classes == 2) {
    LongMatrix m(n, 1);
    for (Index j = 0; j < n; ++j)
      m(j, 0) = std::sqrt(rows.share[0] * rows.share[1]) * (rows.means(0, j) - rows.means(1, j));
    return m;
  }
  LongMatrix m(n, classes);
  for (Index j = 0; j < n; ++j) {
    Long mean = 0.0L;
    for (Index c = 0; c < classes; ++c) mean += rows.share[static_cast<std::size_t>(c)] * rows.means(c, j);
    for (Index c = 0; c < classes; ++c)
      m(j, c) = std::sqrt(rows.share[static_cast<std::size_t>(c)]) * (rows.means(c, j) - mean);
  }
  return m;
}

Long ridge_of(const ClassRows& rows, Index j, const RidgeAmount& ridge) {
  const Long value = ridge.value;
  return ridge.fraction > 0.0 ? value + ridge.fraction * spread_of(rows, j).ridge_variance() : value;
}

ColumnSpread column_spread(const Dataset& data, Index feature) {
  return spread_of(ClassRows(data, {feature}), 0);
}

}  // namespace subspectra::verify
