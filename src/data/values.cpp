#include "data/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "linalg/tiled.hpp"

namespace subspectra {
namespace {

CscMap csc_map(const Eigen::SparseMatrix<double>& x) {
  return {x.rows(), x.cols(), x.nonZeros(), x.outerIndexPtr(), x.innerIndexPtr(), x.valuePtr()};
}

bool counts_from_zero(std::span<const Index> rows, Index size) {
  if (static_cast<Index>(rows.size()) != size) return false;
  for (Index i = 0; i < size; ++i) {
    if (rows[static_cast<std::size_t>(i)] != i) return false;
  }
  return true;
}

constexpr Index kSparseColumnsPerTask = 4096;

/// work(j) for every column, in tasks of fixed size.
template <class Work>
void for_sparse_columns(Index columns, int threads, const Work& work) {
  parallel_for((columns + kSparseColumnsPerTask - 1) / kSparseColumnsPerTask, threads, [&](Index task) {
    const Index end = std::min(columns, (task + 1) * kSparseColumnsPerTask);
    for (Index j = task * kSparseColumnsPerTask; j < end; ++j) work(j);
  });
}

}  // namespace

Values::Values() : Values(Matrix()) {}

Values::Values(Matrix matrix) : storage_(std::make_shared<Storage>()), packed_(std::make_shared<Packed>()) {
  storage_->own_dense = std::move(matrix);
  const Matrix& x = storage_->own_dense;
  storage_->dense = {x.data(), x.rows(), x.cols(), 1, x.rows()};
  rows_ = x.rows();
  features_ = x.cols();
}

Values::Values(SparseMatrix&& matrix)
    : storage_(std::make_shared<Storage>()), packed_(std::make_shared<Packed>()) {
  storage_->own_sparse.swap(matrix);  // Eigen 3.4's sparse matrices copy when they are moved
  const SparseMatrix& x = storage_->own_sparse;
  storage_->csc.emplace(csc_map(x));
  rows_ = x.rows();
  features_ = x.cols();
}

Values::Values(const DenseView& view, std::shared_ptr<const void> owner)
    : storage_(std::make_shared<Storage>()), packed_(std::make_shared<Packed>()) {
  storage_->owner = std::move(owner);
  storage_->dense = view;
  if (view.cols <= 1) storage_->dense.col_stride = view.rows;  // never used, whatever the caller says
  if (view.rows <= 1) storage_->dense.row_stride = 1;
  rows_ = view.rows;
  features_ = view.cols;
}

Values::Values(const CscView& view, std::shared_ptr<const void> owner)
    : storage_(std::make_shared<Storage>()), packed_(std::make_shared<Packed>()) {
  storage_->owner = std::move(owner);
  storage_->csc.emplace(view.rows, view.cols, static_cast<Index>(view.values.size()), view.outer.data(),
                        view.inner.data(), view.values.data());
  rows_ = view.rows;
  features_ = view.cols;
}

Values::Values(std::shared_ptr<const ColumnSource> source)
    : storage_(std::make_shared<Storage>()), packed_(std::make_shared<Packed>()) {
  rows_ = source->rows();
  features_ = source->columns();
  storage_->source = std::move(source);
}

bool Values::outgrow_memory(std::uint64_t limit) const {
  if (!storage_->source) return false;
  const double bytes = sizeof(double) * static_cast<double>(rows_) * static_cast<double>(features_);
  const std::uint64_t budget = memory_budget(limit > 0 ? limit : storage_->source->memory_limit());
  return 2.0 * bytes > static_cast<double>(budget);
}

Values Values::with_each_value(ColumnSource::EachValue change) const {
  Values changed = *this;
  changed.storage_ = std::make_shared<Storage>();
  changed.storage_->source = storage_->source->with_each_value(std::move(change));
  changed.packed_ = std::make_shared<Packed>();
  return changed;
}

std::unique_ptr<const ColumnTallies> Values::tallies(std::span<const int> codes, int classes) const {
  if (!storage_->source) return nullptr;
  if (!row_numbers_) return storage_->source->tallies(codes, classes);
  std::vector<int> of_source(static_cast<std::size_t>(storage_->source->rows()), -1);
  std::vector<char> taken(of_source.size(), 0);
  for (Index i = 0; i < rows_; ++i) {
    const auto row = static_cast<std::size_t>(row_number(i));
    if (taken[row] != 0) return nullptr;
    taken[row] = 1;
    of_source[row] = codes[static_cast<std::size_t>(i)];
  }
  return storage_->source->tallies(of_source, classes);
}

void Values::look_at_source() const {
  std::call_once(packed_->once_counted, [&] {
    if (!storage_->source) return;
    packed_->tallies = tallies(std::vector<int>(static_cast<std::size_t>(rows_), 0), 1);
    if (!packed_->tallies) packed_->facts = facts_of(*storage_->source, row_numbers_.get(), 1);
  });
}

const ColumnTallies* Values::tallies() const {
  if (!storage_->source) return nullptr;
  look_at_source();
  return packed_->tallies.get();
}

const ColumnFacts* Values::facts() const {
  if (!storage_->source) return nullptr;
  look_at_source();
  return packed_->facts ? &*packed_->facts : nullptr;
}

Matrix Values::by_source_rows(const MatrixRef& u) const {
  Matrix spread = Matrix::Zero(storage_->source->rows(), u.cols());
  for (Index i = 0; i < rows_; ++i) spread.row(row_number(i)) += u.row(i);
  return spread;
}

Values Values::with_rows(std::span<const Index> rows) const {
  if (counts_from_zero(rows, rows_)) return *this;
  std::vector<Index> numbers;
  numbers.reserve(rows.size());
  for (const Index i : rows) numbers.push_back(row_number(i));
  Values part = *this;
  part.rows_ = static_cast<Index>(rows.size());
  part.row_numbers_ = std::make_shared<const std::vector<Index>>(std::move(numbers));
  part.packed_ = std::make_shared<Packed>();
  return part;
}

Values Values::with_features(std::span<const Index> features) const {
  if (storage_->source) {
    // Few columns are read once and stay; many are read again and again.
    constexpr double kFew = 1 << 25;  // 256 MB
    if (static_cast<double>(rows_) * static_cast<double>(features.size()) <= kFew)
      return Values(columns(features));
    Values part = *this;
    part.storage_ = std::make_shared<Storage>();
    part.storage_->source = storage_->source->selected({features.begin(), features.end()});
    part.packed_ = std::make_shared<Packed>();
    part.features_ = static_cast<Index>(features.size());
    return part;
  }
  if (!leaves_out_zeros()) return Values(columns(features));
  const CscMap& x = *stored();
  SparseMatrix part(rows_, static_cast<Index>(features.size()));
  Index count = 0;
  for (const Index j : features) count += entries(j);
  part.reserve(count);
  for (std::size_t k = 0; k < features.size(); ++k) {
    part.startVec(static_cast<Index>(k));
    for (CscMap::InnerIterator it(x, features[k]); it; ++it)
      part.insertBack(it.row(), static_cast<Index>(k)) = it.value();
  }
  part.finalize();
  return Values(std::move(part));
}

Values Values::with_columns(std::span<const Index> features, const Matrix& columns) const {
  if (!leaves_out_zeros()) {
    Matrix changed = matrix();
    for (std::size_t k = 0; k < features.size(); ++k)
      changed.col(features[k]) = columns.col(static_cast<Index>(k));
    return Values(std::move(changed));
  }
  const CscMap& x = *stored();
  SparseMatrix changed(rows_, features_);
  Index count = (columns.array() != 0.0).count();
  for (Index j = 0; j < features_; ++j) count += entries(j);
  for (const Index j : features) count -= entries(j);
  changed.reserve(count);
  std::size_t next = 0;
  for (Index j = 0; j < features_; ++j) {
    changed.startVec(j);
    if (next < features.size() && features[next] == j) {
      const auto column = columns.col(static_cast<Index>(next++));
      for (Index i = 0; i < rows_; ++i) {
        if (column[i] != 0.0) changed.insertBack(i, j) = column[i];
      }
      continue;
    }
    for (CscMap::InnerIterator it(x, j); it; ++it) changed.insertBack(it.row(), j) = it.value();
  }
  changed.finalize();
  return Values(std::move(changed));
}

Values Values::with_zeros(std::string_view name) const {
  if (!leaves_out_zeros()) return *this;
  require_memory(8.0 * static_cast<double>(rows_) * static_cast<double>(features_),
                 std::string(name) + " as a dense table", "give a smaller table");
  return Values(matrix());
}

Index Values::entries(Index j) const {
  const CscMap* const x = stored();
  return x == nullptr ? rows_ : x->outerIndexPtr()[j + 1] - x->outerIndexPtr()[j];
}

bool Values::all_finite(Index j) const {
  if (const ColumnTallies* const counted = tallies()) {
    ColumnTally tally;
    counted->count(j, tally);
    for (Index v = 0; v < ColumnTally::kValues; ++v) {
      if (tally.counts(v, 0) > 0 && !std::isfinite(tally.values.at(static_cast<std::size_t>(v))))
        return false;
    }
    return true;
  }
  if (const ColumnFacts* const known = facts()) {
    const auto at = static_cast<std::size_t>(j);
    return known->missing[at] == 0 && known->infinite[at] == 0;
  }
  if (!leaves_out_zeros() && is_direct()) return packed().col(j).allFinite();
  return !any_entry(j, [](Index, double value) { return !std::isfinite(value); });
}

void Values::gather(Index j, Index first, Index count, double* to) const {
  if (const ColumnSource* const source = storage_->source.get()) {
    if (!row_numbers_) {
      if (count == rows_) return source->read(j, 1, to);
      return source->read_part(j, first, count, to);
    }
    const auto from = row_numbers_->begin() + first;
    const auto [least, most] = std::minmax_element(from, from + count);
    if (count == 0) return;
    Vector span(*most - *least + 1);
    source->read_part(j, *least, span.size(), span.data());
    for (Index i = 0; i < count; ++i) to[i] = span[row_number(first + i) - *least];
    return;
  }
  const double* const x = storage_->dense.data + j * storage_->dense.col_stride;
  const Index stride = storage_->dense.row_stride;
  if (row_numbers_) {
    const Index* const row = row_numbers_->data() + first;
    for (Index i = 0; i < count; ++i) to[i] = x[row[i] * stride];
  } else {
    for (Index i = 0; i < count; ++i) to[i] = x[(first + i) * stride];
  }
}

Vector Values::column(Index j) const {
  Vector dense(rows_);
  if (leaves_out_zeros()) {
    dense.setZero();
    each_entry(j, [&](Index row, double value) { dense[row] = value; });
  } else {
    gather(j, 0, rows_, dense.data());
  }
  return dense;
}

Matrix Values::columns(std::span<const Index> features) const {
  if (const ColumnSource* const source = storage_->source.get()) {
    require_memory(
        static_cast<double>(rows_) * static_cast<double>(features.size()) * sizeof(double),
        fmt::format("{}: {} x {} numbers at once, as this method wants them,", source->name(), rows_,
                    features.size()),
        fmt::format(
            "{} read the table in blocks; or choose among fewer features (⟨exclude⟩), or raise ⟨memory_limit⟩",
            methods_in_blocks()),
        source->memory_limit());
  }
  Matrix chosen(rows_, static_cast<Index>(features.size()));
  if (leaves_out_zeros()) chosen.setZero();
  for (Index k = 0; k < chosen.cols(); ++k) {
    const Index j = features[static_cast<std::size_t>(k)];
    if (leaves_out_zeros()) {
      each_entry(j, [&](Index row, double value) { chosen(row, k) = value; });
    } else {
      gather(j, 0, rows_, chosen.col(k).data());
    }
  }
  return chosen;
}

Matrix Values::block(std::span<const Index> rows, std::span<const Index> features) const {
  Matrix chosen(static_cast<Index>(rows.size()), static_cast<Index>(features.size()));
  const DenseView& x = storage_->dense;
  for (Index k = 0; k < chosen.cols(); ++k) {
    const Index j = features[static_cast<std::size_t>(k)];
    if (leaves_out_zeros() || storage_->source) {
      const Vector whole = column(j);
      for (Index i = 0; i < chosen.rows(); ++i) chosen(i, k) = whole[rows[static_cast<std::size_t>(i)]];
    } else {
      for (Index i = 0; i < chosen.rows(); ++i)
        chosen(i, k) = x(row_number(rows[static_cast<std::size_t>(i)]), j);
    }
  }
  return chosen;
}

void Values::each_row(const std::function<void(Index, const Vector&)>& visit) const {
  Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows;
  if (leaves_out_zeros()) by_rows = *stored();
  Matrix all;
  if (storage_->source) all = matrix();
  Vector row(features_);
  for (Index i = 0; i < rows_; ++i) {
    if (leaves_out_zeros()) {
      row.setZero();
      for (decltype(by_rows)::InnerIterator it(by_rows, i); it; ++it) row[it.col()] = it.value();
    } else if (storage_->source) {
      row = all.row(i);
    } else {
      for (Index j = 0; j < features_; ++j) row[j] = storage_->dense(row_number(i), j);
    }
    visit(i, row);
  }
}

Matrix Values::matrix() const {
  std::vector<Index> all(static_cast<std::size_t>(features_));
  std::iota(all.begin(), all.end(), Index{0});
  return columns(all);
}

const double* Values::part_of_column(Index j, Index first, Index count, std::vector<double>& scratch) const {
  if (is_direct()) return storage_->dense.data + j * storage_->dense.col_stride + first;
  if (packed_->ready.load(std::memory_order_acquire)) return packed_->dense.col(j).data() + first;
  if (static_cast<Index>(scratch.size()) < count) scratch.resize(static_cast<std::size_t>(count));
  gather(j, first, count, scratch.data());
  return scratch.data();
}

void Values::pack() const {
  std::call_once(packed_->once, [&] {
    if (leaves_out_zeros()) {
      packed_->sparse = packed_rows();
      packed_->csc.emplace(csc_map(packed_->sparse));
    } else {
      packed_->dense = matrix();
    }
    packed_->ready.store(true, std::memory_order_release);
  });
}

DenseMap Values::packed() const {
  if (is_direct()) {
    const DenseView& x = storage_->dense;
    return {x.data, rows_, features_, Eigen::OuterStride<>(x.col_stride)};
  }
  pack();
  return {packed_->dense.data(), rows_, features_, Eigen::OuterStride<>(rows_)};
}

const CscMap* Values::stored() const {
  if (!leaves_out_zeros()) return nullptr;
  if (!row_numbers_) return &*storage_->csc;
  pack();
  return &*packed_->csc;
}

bool Values::has_packed_copy() const { return packed_->ready.load(std::memory_order_acquire); }

SparseMatrix Values::packed_rows() const {
  const CscMap& x = *storage_->csc;
  // Where each old row goes: in compressed form, since rows may repeat.
  std::vector<Index> begin(static_cast<std::size_t>(x.rows()) + 1, 0);
  for (const Index i : *row_numbers_) ++begin[static_cast<std::size_t>(i) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> targets(row_numbers_->size());
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (Index i = 0; i < rows_; ++i) {
    targets[static_cast<std::size_t>(next[static_cast<std::size_t>(row_number(i))]++)] = i;
  }
  Index count = 0;
  for (Index j = 0; j < x.cols(); ++j) {
    for (CscMap::InnerIterator it(x, j); it; ++it)
      count += begin[static_cast<std::size_t>(it.row()) + 1] - begin[static_cast<std::size_t>(it.row())];
  }
  SparseMatrix part(rows_, x.cols());
  part.reserve(count);
  std::vector<std::pair<Index, double>> entries;
  for (Index j = 0; j < x.cols(); ++j) {
    entries.clear();
    for (CscMap::InnerIterator it(x, j); it; ++it) {
      const auto row = static_cast<std::size_t>(it.row());
      for (Index t = begin[row]; t < begin[row + 1]; ++t)
        entries.emplace_back(targets[static_cast<std::size_t>(t)], it.value());
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    part.startVec(j);
    for (const auto& [i, value] : entries) part.insertBack(i, j) = value;
  }
  part.finalize();
  return part;
}

void Values::transposed_times(const VectorRef& v, linalg::MutableVector out, int threads) const {
  if (storage_->source) {
    Eigen::Map<Matrix> result(out.data(), features_, 1);
    transposed_times(MatrixRef(Eigen::Map<const Matrix>(v.data(), rows_, 1)), result, threads);
    return;
  }
  if (!leaves_out_zeros()) {
    linalg::gemv_transposed(packed(), v, out, threads);
    return;
  }
  const auto* const starts = stored()->outerIndexPtr();
  const auto* const where = stored()->innerIndexPtr();
  const double* const value = stored()->valuePtr();
  for_sparse_columns(features_, threads, [&](Index j) {
    double sum = 0.0;
    for (auto e = starts[j]; e < starts[j + 1]; ++e) sum += value[e] * v[where[e]];
    out[j] = sum;
  });
}

void Values::transposed_times(const MatrixRef& u, linalg::MutableMatrix out, int threads) const {
  if (storage_->source) {
    if (row_numbers_) {
      storage_->source->transposed_times(by_source_rows(u), out, threads);
    } else {
      storage_->source->transposed_times(u, out, threads);
    }
    return;
  }
  if (!leaves_out_zeros()) {
    linalg::gemm_tiled(1.0, linalg::Op::kTranspose, packed(), u, 0.0, out, threads);
    return;
  }
  for_sparse_columns(features_, threads, [&](Index j) {
    out.row(j).setZero();
    each_entry(j, [&](Index row, double value) { out.row(j) += value * u.row(row); });
  });
}

Matrix Values::take_matrix() && {
  if (!row_numbers_ && storage_.use_count() == 1 && storage_->own_dense.size() > 0) {
    Matrix taken = std::move(storage_->own_dense);
    *this = Values();
    return taken;
  }
  return matrix();
}

SparseMatrix Values::take_sparse() && {
  if (!row_numbers_ && storage_.use_count() == 1 && storage_->own_sparse.cols() > 0) {
    SparseMatrix taken;
    taken.swap(storage_->own_sparse);
    *this = Values();
    return taken;
  }
  const CscMap& x = *stored();
  SparseMatrix copy(x.rows(), x.cols());
  copy = x;
  copy.makeCompressed();
  return copy;
}

const double* Values::data() const {
  return leaves_out_zeros() ? storage_->csc->valuePtr() : storage_->dense.data;
}

}  // namespace subspectra
