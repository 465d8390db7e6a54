#pragma once
/// What the fuzz targets share: the outcome of a reading as text, so that two readings of the same bytes can
/// be compared.
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "io/raw_table.hpp"

namespace subspectra::fuzzing {

inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Larger than most inputs; the readers' own block would make every run clear a megabyte.
inline constexpr std::size_t kLargeBlock = 4096;

/// Small enough that an absurd size in a header is refused and not allocated.
inline ReadOptions small_memory() {
  ReadOptions options;
  options.memory_limit.bytes = memory_in_use() + (std::uint64_t{64} << 20);  // it is one on the whole process
  return options;
}

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3ULL;
}

inline std::string summary(const DatasetParts& data) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  if (data.is_sparse) {
    for (Index j = 0; j < data.sparse.outerSize(); ++j) {
      for (SparseMatrix::InnerIterator it(data.sparse, j); it; ++it) {
        hash = mixed(mixed(hash, static_cast<std::uint64_t>(it.row())),
                     std::bit_cast<std::uint64_t>(it.value()));
      }
      hash = mixed(hash, 1);
    }
  } else {
    for (const double value : data.dense.reshaped()) hash = mixed(hash, std::bit_cast<std::uint64_t>(value));
  }
  std::string text = fmt::format("{} x {} {:x}", data.rows(), data.features(), hash);
  if (data.labels) {
    for (const std::string& name : data.labels->classes) text += "," + name;
    for (const int code : data.labels->codes) hash = mixed(hash, static_cast<std::uint64_t>(code));
    text += fmt::format(" {:x}", hash);
  }
  return text;
}

/// The summary of what `read` gives, or the words it refuses with. Any other exception is a finding.
template <class Read>
std::string outcome_of(Read&& read) {
  try {
    return summary(read().parts());
  } catch (const Error& refusal) {
    return refusal.what();
  }
}

/// The same bytes must give the same outcome wherever the blocks are cut.
inline void require_equal(const std::string& a, const std::string& b) {
  if (a == b) return;
  std::fprintf(stderr, "two readings differ:\n%s\n%s\n", a.c_str(), b.c_str());
  std::abort();
}

}  // namespace subspectra::fuzzing
