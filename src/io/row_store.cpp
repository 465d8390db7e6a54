#include "io/row_store.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"

namespace subspectra {
namespace {

constexpr Index kStrip = 512;  // columns: 4096 bytes, one page, a row of a strip
constexpr Index kBlockBytes = Index{4} << 20;
constexpr Index kFewestRows = 8, kMostRows = 65536;
constexpr Index kTakenAtOnce = Index{1} << 18;  // bytes
constexpr Index kTile = 8;                      // 8 doubles are one cache line

constexpr const char* kAdvice = "raise ⟨memory_limit⟩, use a machine with more memory, or read fewer columns";

/// The whole pages inside [first, last) go back to the system; their contents are not needed any more.
void release_pages(double* first, double* last) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page;
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(last) / page * page;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): rounding an address to pages has no other spelling
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}

}  // namespace

RowStore::RowStore(Index width, const std::string& source, MemoryBudget& memory)
    : width_(width),
      rows_a_block_(std::clamp(kBlockBytes / (8 * width), kFewestRows, kMostRows)),
      memory_(memory),
      purpose_{.what = fmt::format("the table in {}", source), .advice = kAdvice, .grows_with_file = true} {
  memory_.grow(static_cast<std::size_t>(width) * sizeof(double), purpose_);
  row_.resize(static_cast<std::size_t>(width));
}

RowStore::~RowStore() { release_all(); }

std::size_t RowStore::block_bytes() const {
  return static_cast<std::size_t>(rows_a_block_ * width_) * sizeof(double);
}

void RowStore::add_block() {
  // Not malloc: pages are given back one by one, and untouched ones cost nothing.
  blocks_.reserve(blocks_.size() + 1);
  void* const memory =
      ::mmap(nullptr, block_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(fmt::format("not enough memory for {}; {}", purpose_.what, purpose_.advice));
  blocks_.push_back(static_cast<double*>(memory));
}

void RowStore::release_all() {
  for (double* const block : blocks_) ::munmap(block, block_bytes());
  blocks_.clear();
}

void RowStore::commit() {
  if (rows_ == rows_taken_) {  // the pages of rows that are not filled yet take nothing
    const Index more = std::max<Index>(1, kTakenAtOnce / (8 * width_));
    memory_.grow(static_cast<std::size_t>(more * width_) * sizeof(double), purpose_);
    rows_taken_ += more;
  }
  const Index r = rows_ % rows_a_block_;
  if (r == 0) add_block();
  double* strip = blocks_.back();
  for (Index j = 0; j < width_; j += kStrip) {
    const Index w = std::min(kStrip, width_ - j);
    std::copy_n(row_.data() + j, w, strip + r * w);
    strip += rows_a_block_ * w;
  }
  ++rows_;
}

Matrix RowStore::take(const std::vector<Index>& columns) {
  const auto p = static_cast<Index>(columns.size());
  // No more is taken: the pages of the matrix come into use as those of the store go out of it.
  Matrix matrix(rows_, p);
  Index done = 0;  // columns of the matrix already filled
  for (Index first = 0; first < width_; first += kStrip) {
    const Index w = std::min(kStrip, width_ - first);
    const Index in_strip =
        std::lower_bound(columns.begin() + done, columns.end(), first + w) - columns.begin() - done;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      double* const strip = blocks_[b] + rows_a_block_ * first;
      const Index top = static_cast<Index>(b) * rows_a_block_;
      const Index rows = std::min(rows_a_block_, rows_ - top);
      for (Index c = 0; c < in_strip; c += kTile) {
        for (Index r = 0; r < rows; r += kTile) {
          const Index r_end = std::min(r + kTile, rows);
          for (Index cc = c; cc < std::min(c + kTile, in_strip); ++cc) {
            const double* const from = strip + (columns[static_cast<std::size_t>(done + cc)] - first);
            double* const to = matrix.data() + (done + cc) * rows_ + top;
            for (Index rr = r; rr < r_end; ++rr) to[rr] = from[rr * w];
          }
        }
      }
      release_pages(strip, strip + rows_a_block_ * w);
    }
    done += in_strip;
  }
  release_all();
  memory_.give_back(static_cast<std::size_t>(rows_taken_ * width_ - rows_ * p) * sizeof(double));
  rows_ = rows_taken_ = 0;
  return matrix;
}

}  // namespace subspectra
