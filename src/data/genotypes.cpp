#include "data/genotypes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "core/parallel.hpp"
#include "data/genotype_kernels.hpp"

namespace subspectra {
namespace {

/// Copies of the first allele of .bim by code, as `plink --recode A` counts them.
constexpr std::array<double, 4> kCodeValues = {2.0, std::numeric_limits<double>::quiet_NaN(), 1.0, 0.0};
constexpr Index kHalvesAtATime = 256;  // half bytes of a column before the next: 32 KiB of sums

std::uint64_t next_table_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

/// Equal steps from code 3 (no copy) over 2 to 0, so that the sum of copies tells the rest.
bool is_linear(const double* t) {
  constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
  const double scale = std::max({std::abs(t[0]), std::abs(t[2]), std::abs(t[3])});
  return std::abs((t[0] - t[2]) - (t[2] - t[3])) <= kRounding * scale;
}

}  // namespace

Genotypes::Genotypes(Parts parts)
    : ColumnSource(parts.samples, parts.variants,
                   {.name = parts.name,
                    .memory_limit = parts.memory_limit,
                    .block_values = std::max<Index>(1, parts.block_bytes / 4)}) {
  auto packed = std::make_shared<Packed>();
  packed->id = next_table_id();
  packed->samples = parts.samples;
  packed->variants = parts.variants;
  packed->stride = bytes_of_variant(parts.samples);
  packed->block = std::max<Index>(1, parts.block_bytes / std::max<Index>(1, packed->stride));
  packed->bytes = std::move(parts.bytes);
  packed->read_at = std::move(parts.read_at);
  packed->first_byte = parts.first_byte;
  set_pass_bytes(static_cast<double>(packed->stride) * static_cast<double>(packed->variants));
  packed_ = std::move(packed);
}

Genotypes::Genotypes(const Genotypes& of, std::shared_ptr<const std::vector<Index>> variants,
                     std::shared_ptr<const CodeValues> values)
    : ColumnSource(of, variants ? static_cast<Index>(variants->size()) : of.columns()),
      packed_(of.packed_),
      variants_(std::move(variants)),
      values_(std::move(values)) {}

const double* Genotypes::values(Index j) const {
  return values_ ? values_->data() + 4 * j : kCodeValues.data();
}

void Genotypes::fetch(Index variant, Index count, std::uint8_t* out) const {
  const auto size = static_cast<std::size_t>(count * packed_->stride);
  packed_->read_at(
      packed_->first_byte + static_cast<std::uint64_t>(variant) * static_cast<std::uint64_t>(packed_->stride),
      {reinterpret_cast<char*>(out), size});
  count_bytes(size);
}

const std::uint8_t* Genotypes::bytes_of(Index j) const {
  const Packed& p = *packed_;
  const Index at = variant(j);
  if (!p.bytes.empty()) {
    count_bytes(static_cast<std::uint64_t>(p.stride));
    return p.bytes.data() + at * p.stride;
  }
  // Columns are asked for one after another: a thread keeps the block around the last one.
  struct Kept {
    std::uint64_t id = 0;
    Index block = -1;
    std::vector<std::uint8_t> bytes;
  };
  static thread_local Kept kept;
  const Index block = at / p.block;
  if (kept.id != p.id || kept.block != block) {
    const Index first = block * p.block, count = std::min(p.block, p.variants - first);
    kept.id = 0;  // nothing is kept if reading fails
    kept.bytes.resize(static_cast<std::size_t>(count * p.stride));
    fetch(first, count, kept.bytes.data());
    kept.id = p.id;
    kept.block = block;
  }
  return kept.bytes.data() + (at - block * p.block) * p.stride;
}

const std::uint8_t* Genotypes::block(Index first, Index count, std::vector<std::uint8_t>& scratch) const {
  const Packed& p = *packed_;
  if (!variants_ && !p.bytes.empty()) {
    count_bytes(static_cast<std::uint64_t>(count * p.stride));
    return p.bytes.data() + first * p.stride;
  }
  const auto size = static_cast<std::size_t>(count * p.stride);
  if (scratch.size() < size) scratch.resize(size);
  if (!variants_) {
    fetch(first, count, scratch.data());
    return scratch.data();
  }
  for (Index c = 0; c < count; ++c) std::copy_n(bytes_of(first + c), p.stride, scratch.data() + c * p.stride);
  return scratch.data();
}

void Genotypes::read(Index first, Index count, double* out) const {
  for (Index c = 0; c < count; ++c)
    genotypes::decode(bytes_of(first + c), 0, rows(), values(first + c), out + c * rows());
}

void Genotypes::read_part(Index j, Index row, Index count, double* out) const {
  genotypes::decode(bytes_of(j), row, count, values(j), out);
}

void Genotypes::transposed_times(const MatrixRef& u, linalg::MutableMatrix out, int threads) const {
  // x_i = t_3 + (t_2 - t_3) g_i + (t_1 - t_3) [i missing], g_i copies (0 where missing):
  //     x'v = t_3 sum(v) + (t_2 - t_3) g'v + (t_1 - t_3) sum over the missing v
  const genotypes::Kernels& kernels = genotypes::kernels();
  const Index n = rows(), stride = packed_->stride, halves = 2 * stride;
  std::vector<double> sums(static_cast<std::size_t>(halves * genotypes::kHalfByteSums));
  Vector v(n);
  for (Index q = 0; q < u.cols(); ++q) {
    v = u.col(q);
    const double total = v.sum();
    kernels.tabulate(v.data(), n, 0, halves, sums.data());
    const Index width = std::max<Index>(32, packed_->block);
    parallel_for((columns() + width - 1) / width, threads, [&](Index item) {
      static thread_local std::vector<std::uint8_t> scratch;
      const Index first = item * width, count = std::min(width, columns() - first);
      const std::uint8_t* const bytes = block(first, count, scratch);
      // Column after column first, which also brings the block into the cache: the copies are then added up
      // from many columns side by side, which no processor would fetch ahead.
      std::vector<genotypes::MissingSum> missing(static_cast<std::size_t>(count));
      for (Index c = 0; c < count; ++c)
        missing[static_cast<std::size_t>(c)] = genotypes::sum_of_missing(bytes + c * stride, n, v.data());
      std::vector<double> copies(static_cast<std::size_t>(count), 0.0);
      for (Index half = 0; half < halves; half += kHalvesAtATime) {
        kernels.add_copies(bytes, stride, count, half, std::min(halves, half + kHalvesAtATime),
                           sums.data() + half * genotypes::kHalfByteSums, copies.data());
      }
      for (Index c = 0; c < count; ++c) {
        const double* const t = values(first + c);
        double product = 0.0;
        if (is_linear(t)) {
          product = t[3] * total + (t[2] - t[3]) * copies[static_cast<std::size_t>(c)];
          const genotypes::MissingSum& gaps = missing[static_cast<std::size_t>(c)];
          if (gaps.any) product += (t[1] - t[3]) * gaps.sum;
        } else {
          Vector column(n);
          genotypes::decode(bytes + c * stride, 0, n, t, column.data());
          product = column.dot(v);
        }
        out(first + c, q) = product;
      }
    });
  }
}

std::shared_ptr<const ColumnSource> Genotypes::with_each_value(EachValue change) const {
  auto changed = std::make_shared<CodeValues>(4, columns());
  for (Index j = 0; j < columns(); ++j) {
    for (Index code = 0; code < 4; ++code) (*changed)(code, j) = change(j, values(j)[code]);
  }
  return std::shared_ptr<const Genotypes>(new Genotypes(*this, variants_, std::move(changed)));
}

std::shared_ptr<const ColumnSource> Genotypes::selected(const std::vector<Index>& features) const {
  auto chosen = std::make_shared<std::vector<Index>>();
  chosen->reserve(features.size());
  for (const Index j : features) chosen->push_back(variant(j));
  std::shared_ptr<CodeValues> of_chosen;
  if (values_) of_chosen = std::make_shared<CodeValues>((*values_)(Eigen::all, features));
  return std::shared_ptr<const Genotypes>(new Genotypes(*this, std::move(chosen), std::move(of_chosen)));
}

/// Counts codes under a mask for each class.
class GenotypeTallies final : public ColumnTallies {
 public:
  GenotypeTallies(std::shared_ptr<const Genotypes> of, std::span<const int> codes, int classes)
      : of_(std::move(of)), in_class_(static_cast<std::size_t>(classes), 0) {
    constexpr std::size_t kSamplesInWord = 32;
    words_ = (codes.size() + kSamplesInWord - 1) / kSamplesInWord;
    masks_.assign(words_ * in_class_.size(), 0);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] < 0) continue;
      const auto c = static_cast<std::size_t>(codes[i]);
      masks_[c * words_ + i / kSamplesInWord] |= std::uint64_t{1} << (2 * (i % kSamplesInWord));
      ++in_class_[c];
    }
  }
  void count(Index j, ColumnTally& into) const override {
    const genotypes::Kernels& kernels = genotypes::kernels();
    std::copy_n(of_->values(j), 4, into.values.begin());
    into.counts.resize(4, static_cast<Index>(in_class_.size()));
    const std::uint8_t* const bytes = of_->bytes_of(j);
    for (std::size_t c = 0; c < in_class_.size(); ++c) {
      std::int64_t low = 0, high = 0, both = 0;
      kernels.count(bytes, of_->packed_->stride, masks_.data() + c * words_, &low, &high, &both);
      into.counts.col(static_cast<Index>(c)) << in_class_[c] - low - high + both, low - both, high - both,
          both;
    }
  }

 private:
  std::shared_ptr<const Genotypes> of_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> masks_;
  std::vector<Index> in_class_;
};

std::unique_ptr<const ColumnTallies> Genotypes::tallies(std::span<const int> codes, int classes) const {
  return std::make_unique<GenotypeTallies>(std::static_pointer_cast<const Genotypes>(shared_from_this()),
                                           codes, classes);
}

}  // namespace subspectra
