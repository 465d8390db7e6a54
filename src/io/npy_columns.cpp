#include "io/npy_columns.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

namespace subspectra {
namespace {

/// Little-endian float32 or float64, column after column or row after row.
class NpyColumns final : public ColumnSource {
 public:
  NpyColumns(std::shared_ptr<const RandomBytes> file, const NpyLayout& layout)
      : ColumnSource(layout.rows, layout.columns,
                     {.name = file->name(),
                      .memory_limit = layout.memory_limit,
                      .block_values = std::max<Index>(1, layout.block_values)}),
        file_(std::move(file)),
        layout_(layout),
        width_(layout.single ? sizeof(float) : sizeof(double)) {
    static std::atomic<std::uint64_t> last = 0;
    id_ = ++last;
    set_pass_bytes(static_cast<double>(layout.rows) * static_cast<double>(layout.columns) *
                   static_cast<double>(width_));
  }

  [[nodiscard]] bool stands_by_rows() const override { return !layout_.column_major; }

  void read(Index first, Index count, double* out) const override {
    if (layout_.column_major) return fetch(first * rows(), count * rows(), out);
    for (Index c = 0; c < count; ++c) std::copy_n(kept_column(first + c), rows(), out + c * rows());
  }
  void read_part(Index j, Index row, Index count, double* out) const override {
    if (layout_.column_major) return fetch(j * rows() + row, count, out);
    std::copy_n(kept_column(j) + row, count, out);
  }

  void each_block(int threads, const VisitBlock& visit) const override {
    if (layout_.column_major) return ColumnSource::each_block(threads, visit);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    constexpr Index kMoreAtOnce = 8;  // the visits share their columns out among threads
    const Index height =
        std::clamp<Index>(kMoreAtOnce * block_values() / std::max<Index>(1, columns()), 1, rows());
    RowMajor lines(height, columns());
    Matrix block(height, columns());
    for (Index row = 0; row < rows(); row += height) {
      const Index count = std::min(height, rows() - row);
      fetch(row * columns(), count * columns(), lines.data());
      block.topRows(count) = lines.topRows(count);
      visit(row, 0, block.topRows(count));
    }
  }

 private:
  /// `count` values from number `first` on.
  void fetch(Index first, Index count, double* out) const {
    const auto offset = layout_.first_byte + static_cast<std::uint64_t>(first) * width_;
    const auto size = static_cast<std::size_t>(count) * width_;
    count_bytes(size);
    if (!layout_.single) return file_->read_at(offset, {reinterpret_cast<char*>(out), size});
    static thread_local std::vector<float> singles;
    if (singles.size() < static_cast<std::size_t>(count)) singles.resize(static_cast<std::size_t>(count));
    file_->read_at(offset, {reinterpret_cast<char*>(singles.data()), size});
    std::copy_n(singles.data(), count, out);
  }

  /// A column of a table that stands by rows; the thread keeps those beside it, which the same pages hold.
  [[nodiscard]] const double* kept_column(Index j) const {
    struct Kept {
      std::uint64_t id = 0;
      Index block = -1;
      std::vector<double> values;
    };
    static thread_local Kept kept;
    constexpr Index kMostValues = 1 << 21, kMostColumns = 512;  // 16 MB; a page of the file
    const Index width = std::clamp<Index>(kMostValues / std::max<Index>(1, rows()), 1, kMostColumns);
    const Index block = j / width;
    if (kept.id != id_ || kept.block != block) {
      const Index first = block * width, count = std::min(width, columns() - first);
      kept.id = 0;
      kept.values.resize(static_cast<std::size_t>(rows() * count));
      std::vector<double> line(static_cast<std::size_t>(count));
      for (Index i = 0; i < rows(); ++i) {
        fetch(i * columns() + first, count, line.data());
        for (Index c = 0; c < count; ++c)
          kept.values[static_cast<std::size_t>(c * rows() + i)] = line[static_cast<std::size_t>(c)];
      }
      kept.id = id_;
      kept.block = block;
    }
    return kept.values.data() + (j - block * width) * rows();
  }

  std::shared_ptr<const RandomBytes> file_;
  NpyLayout layout_;
  std::size_t width_;
  std::uint64_t id_ = 0;
};

}  // namespace

std::shared_ptr<const ColumnSource> npy_columns(std::shared_ptr<const RandomBytes> file,
                                                const NpyLayout& layout) {
  return std::make_shared<const NpyColumns>(std::move(file), layout);
}

}  // namespace subspectra
