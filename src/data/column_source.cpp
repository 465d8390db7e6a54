#include "data/column_source.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"

namespace subspectra {
namespace {

/// Scratch of a thread for blocks: memory that was touched before costs no page faults.
double* block_scratch(std::size_t values) {
  static thread_local std::vector<double> scratch;
  if (scratch.size() < values) scratch.resize(values);
  return scratch.data();
}

/// Values of another source, each changed as it is read.
class ChangedColumns final : public ColumnSource {
 public:
  ChangedColumns(std::shared_ptr<const ColumnSource> of, EachValue change)
      : ColumnSource(*of, of->columns()), of_(std::move(of)), change_(std::move(change)) {}

  void read(Index first, Index count, double* out) const override {
    of_->read(first, count, out);
    for (Index j = 0; j < count; ++j) change(first + j, out + j * rows(), rows());
  }
  void read_part(Index j, Index row, Index count, double* out) const override {
    of_->read_part(j, row, count, out);
    change(j, out, count);
  }
  [[nodiscard]] bool stands_by_rows() const override { return of_->stands_by_rows(); }
  void each_block(int threads, const VisitBlock& visit) const override {
    of_->each_block(threads, [&](Index row, Index column, const MatrixRef& block) {
      Matrix changed = block;
      for (Index j = 0; j < changed.cols(); ++j) change(column + j, changed.col(j).data(), changed.rows());
      visit(row, column, changed);
    });
  }

 private:
  void change(Index j, double* values, Index count) const {
    for (Index i = 0; i < count; ++i) values[i] = change_(j, values[i]);
  }
  std::shared_ptr<const ColumnSource> of_;
  EachValue change_;
};

/// Some columns of another source.
class ChosenColumns final : public ColumnSource {
 public:
  ChosenColumns(std::shared_ptr<const ColumnSource> of, std::vector<Index> features)
      : ColumnSource(*of, static_cast<Index>(features.size())),
        of_(std::move(of)),
        features_(std::move(features)) {}

  void read(Index first, Index count, double* out) const override {
    for (Index done = 0; done < count;) {  // columns that stand together are read together
      const Index from = at(first + done);
      Index run = 1;
      while (done + run < count && at(first + done + run) == from + run) ++run;
      of_->read(from, run, out + done * rows());
      done += run;
    }
  }
  void read_part(Index j, Index row, Index count, double* out) const override {
    of_->read_part(at(j), row, count, out);
  }
  [[nodiscard]] bool stands_by_rows() const override { return of_->stands_by_rows(); }
  void each_block(int threads, const VisitBlock& visit) const override {
    if (!stands_by_rows()) return ColumnSource::each_block(threads, visit);
    of_->each_block(threads, [&](Index row, Index, const MatrixRef& block) {
      visit(row, 0, Matrix(block(Eigen::all, features_)));
    });
  }

 private:
  [[nodiscard]] Index at(Index j) const { return features_[static_cast<std::size_t>(j)]; }
  std::shared_ptr<const ColumnSource> of_;
  std::vector<Index> features_;
};

}  // namespace

void ColumnSource::each_block(int threads, const VisitBlock& visit) const {
  const Index width = block_columns();
  parallel_for((columns_ + width - 1) / width, threads, [&](Index item) {
    const Index first = item * width, count = std::min(width, columns_ - first);
    std::vector<double> values(static_cast<std::size_t>(count * rows_));  // a visit may read on its own
    read(first, count, values.data());
    visit(0, first, Eigen::Map<const Matrix>(values.data(), rows_, count));
  });
}

void ColumnSource::transposed_times(const MatrixRef& u, linalg::MutableMatrix out, int threads) const {
  if (stands_by_rows()) {
    out.setZero();
    // The order of the rows is that of the sums; columns are shared out.
    each_block(threads, [&](Index row, Index, const MatrixRef& block) {
      constexpr Index kColumns = 1024;
      const Matrix part = u.middleRows(row, block.rows());
      parallel_for((columns_ + kColumns - 1) / kColumns, threads, [&](Index item) {
        const Index first = item * kColumns, count = std::min(kColumns, columns_ - first);
        linalg::gemm(1.0, linalg::Op::kTranspose, block.middleCols(first, count), linalg::Op::kNone, part,
                     1.0, out.middleRows(first, count));
      });
    });
    return;
  }
  const auto multiply = [&](const double* values, Index n, Index count, Index row, Index first, double beta) {
    const Eigen::Map<const Matrix> block(values, n, count);
    if (u.cols() == 1) {
      linalg::gemv(1.0, linalg::Op::kTranspose, block, u.col(0).segment(row, n), beta,
                   out.col(0).segment(first, count));
    } else {
      linalg::gemm(1.0, linalg::Op::kTranspose, block, linalg::Op::kNone, u.middleRows(row, n), beta,
                   out.middleRows(first, count));
    }
  };
  if (rows_ > block_values_) {  // a column in pieces
    parallel_for(columns_, threads, [&](Index j) {
      double* const scratch = block_scratch(static_cast<std::size_t>(block_values_));
      for (Index row = 0; row < rows_; row += block_values_) {
        const Index n = std::min(block_values_, rows_ - row);
        read_part(j, row, n, scratch);
        multiply(scratch, n, 1, row, j, row == 0 ? 0.0 : 1.0);
      }
    });
    return;
  }
  const Index width = block_columns();
  parallel_for((columns_ + width - 1) / width, threads, [&](Index item) {
    const Index first = item * width, count = std::min(width, columns_ - first);
    double* const scratch = block_scratch(static_cast<std::size_t>(count * rows_));
    read(first, count, scratch);
    multiply(scratch, rows_, count, 0, first, 0.0);
  });
}

std::shared_ptr<const ColumnSource> ColumnSource::with_each_value(EachValue change) const {
  return std::make_shared<ChangedColumns>(shared_from_this(), std::move(change));
}

std::shared_ptr<const ColumnSource> ColumnSource::selected(const std::vector<Index>& features) const {
  return std::make_shared<ChosenColumns>(shared_from_this(), features);
}

std::unique_ptr<const ColumnTallies> ColumnSource::tallies(std::span<const int>, int) const {
  return nullptr;
}

ColumnFacts facts_of(const ColumnSource& source, const std::vector<Index>* row_numbers, int threads) {
  const auto p = static_cast<std::size_t>(source.columns());
  ColumnFacts facts{.missing = std::vector<Index>(p, 0),
                    .infinite = std::vector<Index>(p, 0),
                    .varies = std::vector<char>(p, 0)};
  std::vector<Index> times;  // each row of the source stands in the table
  if (row_numbers != nullptr) {
    times.assign(static_cast<std::size_t>(source.rows()), 0);
    for (const Index i : *row_numbers) ++times[static_cast<std::size_t>(i)];
  }
  std::vector<double> firsts(p, 0.0);
  std::vector<char> started(p, 0);
  source.each_block(threads, [&](Index row, Index column, const MatrixRef& block) {
    for (Index k = 0; k < block.cols(); ++k) {
      const auto j = static_cast<std::size_t>(column + k);
      for (Index i = 0; i < block.rows(); ++i) {
        const Index here = times.empty() ? 1 : times[static_cast<std::size_t>(row + i)];
        if (here == 0) continue;
        const double value = block(i, k);
        if (!std::isfinite(value)) (std::isnan(value) ? facts.missing : facts.infinite)[j] += here;
        if (started[j] == 0) {
          started[j] = 1;
          firsts[j] = value;
        } else if (value != firsts[j]) {
          facts.varies[j] = 1;
        }
      }
    }
  });
  return facts;
}

std::string_view methods_in_blocks() {
  return "fisher, pearson, snr, ks, forward-lda, forward-pca, gloss and sfd";
}

}  // namespace subspectra
