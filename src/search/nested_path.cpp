#include "search/nested_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "eigen/leading.hpp"
#include "eigen/svd.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/tiled.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

using linalg::Op;

namespace {

/// The triangle R of C = Q R, q x q, of rows that come one after another: Givens rotations, 3 q^2 flops a
/// row.
class TriangleByRows {
 public:
  explicit TriangleByRows(Index q) : r_(Matrix::Zero(q, q)) {}
  [[nodiscard]] const Matrix& r() const { return r_; }
  void add(Vector row) {
    for (Index i = 0; i < r_.rows(); ++i) {
      const double length = std::hypot(r_(i, i), row[i]);
      if (!(length > 0.0)) continue;
      const double c = r_(i, i) / length, s = row[i] / length;
      for (Index j = i; j < r_.cols(); ++j) {
        const double above = r_(i, j);
        r_(i, j) = c * above + s * row[j];
        row[j] = c * row[j] - s * above;
      }
    }
  }

 private:
  Matrix r_;
};

/// V S^{-1} of a set of `size` features, whose C has this triangle: with it C V S^{-1} = U. As many columns
/// as discriminants_from_factor() gives.
Matrix inverse_turn(const Matrix& triangle, Index size, Index components) {
  const linalg::Svd svd = linalg::thin_svd(triangle, true);
  const Index r = count_discriminants(svd.values, size, components);
  return svd.v.leftCols(r) * svd.values.head(r).cwiseInverse().asDiagonal();
}

/// Up to so many features of a path whatever is wanted of every size is there at once.
constexpr Index kFewFeatures = 128;

/// sum += columns * rows: few of them one by one, for which BLAS is not called.
void add_products(const MatrixRef& columns, const MatrixRef& rows, Matrix& sum) {
  constexpr Index kFew = 4;
  if (columns.cols() * rows.cols() > kFew) {
    linalg::gemm(1.0, Op::kNone, columns, Op::kNone, rows, 1.0, sum);
    return;
  }
  for (Index j = 0; j < columns.cols(); ++j) {
    for (Index c = 0; c < rows.cols(); ++c) sum.col(c) += rows(j, c) * columns.col(j);
  }
}

}  // namespace

NestedPath::NestedPath(const Pencil& pencil, const SearchUnits& units, const std::vector<Index>& order,
                       Index most, const NestedPathOptions& options)
    : pencil_(pencil), units_(units), options_(options), factor_(pencil.factor() != nullptr) {
  grow(pencil, order, most);
  objectives_.resize(chosen_.size());
  if (!factor_ && static_cast<Index>(features_.size()) > kFewFeatures) {
    BlockPairs pairs = leading_pairs_of_blocks(c_, ends_, options_.threads);
    std::copy(pairs.values.begin(), pairs.values.end(), objectives_.begin());
    if (options_.components <= 1) leading_ = std::move(pairs.vectors);
    return;
  }
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
      // All at once if nothing depends on what stands before it.
      Matrix l = pencil.block(wanted, options_.threads);
      const Vector diagonal = l.diagonal();
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
        const Matrix b = pencil.block(wanted, options_.threads);
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
  ascending_.resize(features_.size());
  std::iota(ascending_.begin(), ascending_.end(), Index{0});
  std::sort(ascending_.begin(), ascending_.end(), [&](Index x, Index y) {
    return features_[static_cast<std::size_t>(x)] < features_[static_cast<std::size_t>(y)];
  });
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
    const Matrix identity = l_.size() > 0 ? Matrix() : Matrix(Matrix::Identity(size, size));
    const MatrixRef l = l_.size() > 0 ? MatrixRef(l_.topLeftCorner(size, size)) : MatrixRef(identity);
    vectors = discriminants_from_factor(l, c_.topRows(size), options_.components).vectors;
  } else {
    vectors = leading_pairs(c_.topLeftCorner(size, size), std::max<Index>(1, options_.components)).vectors;
    if (l_.size() > 0) linalg::solve_lower(l_.topLeftCorner(size, size), Op::kTranspose, vectors);
    make_largest_positive(vectors);
  }
  return entry_of(k, std::move(vectors));
}

PathEntry NestedPath::entry_of(Index k, Matrix vectors) const {
  const Index size = size_at(k);
  pencil_.to_table_units({features_.begin(), features_.begin() + size}, vectors);
  std::vector<Index> ascending;
  ascending.reserve(static_cast<std::size_t>(size));
  std::copy_if(ascending_.begin(), ascending_.end(), std::back_inserter(ascending),
               [&](Index place) { return place < size; });
  PathEntry entry;
  entry.objective = objective(k);
  entry.features.reserve(ascending.size());
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

std::vector<PathEntry> NestedPath::entries(const std::vector<Index>& sizes) const {
  // For a few sizes of a long path a solve a size costs less than the inverse.
  double solves = 0.0;
  for (const Index k : sizes) solves += std::pow(static_cast<double>(size_at(k)), 2);
  const Index largest = sizes.empty() ? 0 : size_at(sizes.back());
  const bool sweep = factor_ && l_.size() > 0 && largest > kFewFeatures &&
                     3.0 * solves > std::pow(static_cast<double>(largest), 3) / 4.0;
  std::vector<PathEntry> found;
  found.reserve(sizes.size());
  if (!sweep && (leading_.empty() || sizes.empty())) {
    for (const Index k : sizes) found.push_back(entry(k));
    return found;
  }
  std::vector<Matrix> vectors = sweep ? discriminants_of(sizes) : components_of(sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) found.push_back(entry_of(sizes[i], std::move(vectors[i])));
  return found;
}

/// In batches: L_k^{-T} of a vector with zeros below its k-th entry is that of a larger block.
std::vector<Matrix> NestedPath::components_of(const std::vector<Index>& sizes) const {
  constexpr std::size_t kTogether = 64;
  std::vector<Matrix> found;
  found.reserve(sizes.size());
  for (std::size_t first = 0; first < sizes.size(); first += kTogether) {
    const std::size_t end = std::min(sizes.size(), first + kTogether);
    const Index rows = size_at(sizes[end - 1]);
    Matrix together = Matrix::Zero(rows, static_cast<Index>(end - first));
    for (std::size_t i = first; i < end; ++i)
      together.col(static_cast<Index>(i - first)).head(size_at(sizes[i])) =
          leading_[static_cast<std::size_t>(sizes[i] - 1)];
    if (l_.size() > 0) linalg::solve_lower(l_.topLeftCorner(rows, rows), Op::kTranspose, together);
    for (std::size_t i = first; i < end; ++i) {
      found.emplace_back(together.col(static_cast<Index>(i - first)).head(size_at(sizes[i])));
      make_largest_positive(found.back());
    }
  }
  return found;
}

std::vector<Matrix> NestedPath::discriminants_of(const std::vector<Index>& sizes) const {
  const Index n = size_at(sizes.back()), q = c_.cols();
  std::vector<Matrix> turns, found;  // of every size: V S^{-1}, and the loadings
  turns.reserve(sizes.size());
  found.reserve(sizes.size());
  TriangleByRows triangle(q);
  Index rows = 0;
  for (const Index k : sizes) {
    for (; rows < size_at(k); ++rows) triangle.add(c_.row(rows));
    turns.push_back(inverse_turn(triangle.r(), size_at(k), options_.components));
    found.emplace_back(size_at(k), turns.back().cols());
  }
  // Column panels of L^{-1}, each with its part of every size: column j of `inverse` is row j of L^{-1}.
  constexpr Index kPanel = 128;
  parallel_for((n + kPanel - 1) / kPanel, options_.threads, [&](Index item) {
    const Index first = item * kPanel, width = std::min(kPanel, n - first), below = n - first;
    Matrix inverse = Matrix::Identity(width, below);
    linalg::solve_lower_right(l_.block(first, first, below, below), inverse);
    Matrix sum = Matrix::Zero(width, q);
    Index done = first;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Index size = size_at(sizes[i]);
      if (size <= first) continue;
      add_products(inverse.middleCols(done - first, size - done), c_.middleRows(done, size - done), sum);
      done = size;
      const Index height = std::min(width, size - first);
      linalg::gemm(1.0, Op::kNone, sum.topRows(height), Op::kNone, turns[i], 0.0,
                   found[i].middleRows(first, height));
    }
  });
  for (Matrix& vectors : found) make_largest_positive(vectors);
  return found;
}

}  // namespace subspectra
