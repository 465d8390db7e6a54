#include "search/nested_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/memory.hpp"
#include "eigen/leading.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

using linalg::Op;

NestedPath::NestedPath(const Pencil& pencil, const SearchUnits& units, const std::vector<Index>& order,
                       Index most, const NestedPathOptions& options)
    : pencil_(pencil), units_(units), options_(options), factor_(pencil.factor() != nullptr) {
  grow(pencil, order, most);
  objectives_.resize(chosen_.size());
  if (!factor_) {
    for (Index k = 1; k <= reached(); ++k) {
      const Index size = size_at(k);
      objectives_[static_cast<std::size_t>(k - 1)] = leading_pairs(c_.topLeftCorner(size, size), 1).values[0];
    }
    return;
  }
  Matrix t = Matrix::Zero(c_.cols(), c_.cols());
  Index done = 0;
  for (Index k = 1; k <= reached(); ++k) {
    for (; done < size_at(k); ++done) t += c_.row(done).transpose() * c_.row(done);
    double& value = objectives_[static_cast<std::size_t>(k - 1)];
    if (t.rows() == 1 || options_.criterion == Criterion::kTrace) {
      value = options_.criterion == Criterion::kWilks ? std::log1p(t.trace()) : t.trace();
    } else {
      const Vector values = linalg::small_symmetric_eigen(t, false).values;
      value = criterion_value(options_.criterion, values.cwiseMax(0.0));
    }
  }
}

/// In batches: one suffices unless dependent units are passed over; then as many as are missing follow, and
/// the block is made again with them.
void NestedPath::grow(const Pencil& pencil, const std::vector<Index>& order, Index most) {
  const bool identity = pencil.b_is_identity();
  std::size_t next = 0;
  while (reached() < most && next < order.size()) {
    std::vector<Index> batch;  // units
    while (next < order.size() && reached() + static_cast<Index>(batch.size()) < most)
      batch.push_back(order[next++]);
    std::vector<Index> wanted = features_;
    for (const Index u : batch) {
      const auto& members = units_.members[static_cast<std::size_t>(u)];
      wanted.insert(wanted.end(), members.begin(), members.end());
    }
    const auto n = static_cast<Index>(wanted.size());
    require_memory(3.0 * static_cast<double>(n) * static_cast<double>(n) * sizeof(double),
                   fmt::format("a path of {} features", n), "ask for fewer with ⟨k⟩", options_.memory_limit);
    if (identity) {
      for (const Index u : batch) chosen_.push_back(u);
      features_ = wanted;
    } else {
      Matrix b = pencil.block(wanted, options_.threads);
      const Vector diagonal = b.diagonal();
      // All at once if nothing depends on what stands before it.
      Matrix l = b;
      bool independent = linalg::cholesky_tiled(l, options_.threads);
      for (Index i = 0; independent && i < n; ++i) {
        independent = l(i, i) * l(i, i) > options_.pivot_floor * diagonal[i];
      }
      if (independent) {
        l_ = std::move(l);
        for (const Index u : batch) chosen_.push_back(u);
        features_ = wanted;
      } else {
        // One unit after another; `keep` are the places of the chosen features in `wanted`.
        std::vector<Index> keep(features_.size());
        std::iota(keep.begin(), keep.end(), Index{0});
        l = Matrix::Zero(n, n);
        const auto known = static_cast<Index>(features_.size());
        if (known > 0) l.topLeftCorner(known, known) = l_.topLeftCorner(known, known);
        Index place = known;
        for (const Index u : batch) {
          const auto size_before = keep.size();
          const auto width = static_cast<Index>(units_.members[static_cast<std::size_t>(u)].size());
          bool fits = true;
          for (Index i = place; i < place + width && fits; ++i) {
            const auto size = static_cast<Index>(keep.size());
            Matrix w = b(keep, i);
            linalg::solve_lower(l.topLeftCorner(size, size), Op::kNone, w);
            const double pivot = b(i, i) - w.squaredNorm();
            fits = pivot > options_.pivot_floor * b(i, i) && pivot > 0.0;
            if (!fits) break;
            l.row(size).head(size) = w.col(0).transpose();
            l(size, size) = std::sqrt(pivot);
            keep.push_back(i);
          }
          if (fits) {
            chosen_.push_back(u);
          } else {
            dependent_.push_back(u);
            keep.resize(size_before);
          }
          place += width;
        }
        const auto size = static_cast<Index>(keep.size());
        l_ = l.topLeftCorner(size, size);
        std::vector<Index> features;
        features.reserve(keep.size());
        for (const Index i : keep) features.push_back(wanted[static_cast<std::size_t>(i)]);
        features_ = std::move(features);
      }
    }
  }
  Index count = 0;
  for (const Index u : chosen_) {
    count += static_cast<Index>(units_.members[static_cast<std::size_t>(u)].size());
    ends_.push_back(count);
  }
  if (factor_) {
    c_ = (*pencil.factor())(features_, Eigen::all);
    if (!identity) linalg::solve_lower(l_, Op::kNone, c_);
  } else {
    c_ = pencil.a_block(features_, options_.threads);
    if (!identity) {
      linalg::solve_lower(l_, Op::kNone, c_);
      linalg::solve_lower_right(l_, c_);
      c_ = (0.5 * (c_ + c_.transpose())).eval();
    }
  }
}

PathEntry NestedPath::entry(Index k) const {
  const Index size = size_at(k);
  Matrix vectors;
  if (factor_) {
    const Matrix l = l_.size() > 0 ? Matrix(l_.topLeftCorner(size, size)) : Matrix::Identity(size, size);
    vectors = discriminants_from_factor(l, c_.topRows(size), options_.components).vectors;
  } else {
    vectors = leading_pairs(c_.topLeftCorner(size, size), std::max<Index>(1, options_.components)).vectors;
    if (l_.size() > 0) linalg::solve_lower(l_.topLeftCorner(size, size), Op::kTranspose, vectors);
    for (Index j = 0; j < vectors.cols(); ++j) {
      Index largest = 0;
      vectors.col(j).cwiseAbs().maxCoeff(&largest);
      if (vectors(largest, j) < 0.0) vectors.col(j) *= -1.0;
    }
  }
  pencil_.to_table_units({features_.begin(), features_.begin() + size}, vectors);
  std::vector<Index> ascending(static_cast<std::size_t>(size));
  std::iota(ascending.begin(), ascending.end(), Index{0});
  std::sort(ascending.begin(), ascending.end(), [&](Index x, Index y) {
    return features_[static_cast<std::size_t>(x)] < features_[static_cast<std::size_t>(y)];
  });
  PathEntry entry;
  entry.objective = objective(k);
  for (const Index i : ascending) entry.features.push_back(features_[static_cast<std::size_t>(i)]);
  entry.loadings = vectors(ascending, Eigen::all);
  if (!units_.single) {
    for (Index i = 0; i < k; ++i) {
      const Index u = chosen_[static_cast<std::size_t>(i)];
      entry.units.push_back(units_.group.empty() ? u : units_.group[static_cast<std::size_t>(u)]);
    }
    std::sort(entry.units.begin(), entry.units.end());
  }
  return entry;
}

}  // namespace subspectra
