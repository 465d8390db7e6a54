#include "core/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <sstream>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

std::uint64_t read_number(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kib = 0;
    if (words >> key >> kib && key == "MemAvailable:") return kib * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

std::uint64_t memory_budget(std::uint64_t limit) {
  if (limit > 0) return limit;
  const std::uint64_t group = read_number("/sys/fs/cgroup/memory.max");
  return std::min(available_memory(), group) / 10 * 9;
}

void require_memory(double bytes, std::string_view what, std::string_view advice, std::uint64_t limit) {
  const auto budget = static_cast<double>(memory_budget(limit));
  if (bytes <= budget) return;
  throw Error(fmt::format("{} needs {} but {} may be used; {}", what, readable_bytes(bytes),
                          readable_bytes(budget), advice));
}

void prefer_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t kLarge = std::size_t{1} << 21;
  auto* const from = static_cast<char*>(begin);
  const std::size_t skipped = (kLarge - reinterpret_cast<std::uintptr_t>(begin) % kLarge) % kLarge;
  if (bytes < skipped + kLarge) return;
  // A wish: where it is not granted nothing changes.
  static_cast<void>(::madvise(from + skipped, (bytes - skipped) / kLarge * kLarge, MADV_HUGEPAGE));
#endif
}

std::string readable_bytes(double bytes) {
  static constexpr std::array<const char*, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= (unit == 0 ? 999.5 : 999.95) && unit + 1 < kUnits.size()) {
    bytes /= 1000.0;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits.at(unit));
}

}  // namespace subspectra
