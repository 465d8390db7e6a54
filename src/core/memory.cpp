#include "core/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kProgramAlone = 32'000'000;  // what the program and its libraries take, rounded up
constexpr double kNotCounted = 1e6;

/// The number in a file, kNoLimit for "max" and for no such file.
std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : kNoLimit;
}

/// The number behind `key` in a file of lines "key number"; 0 where there is none.
std::uint64_t number_behind(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t value = 0;
    if (words >> word >> value && word == key) return value;
  }
  return 0;
}

std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

struct GroupFiles {
  const char* limit;
  const char* usage;
  std::array<std::string_view, 2> cached;  ///< in memory.stat: pages of files, which the system takes back
};

std::uint64_t left_in_group(const std::string& folder, const GroupFiles& files) {
  constexpr std::uint64_t kAsGoodAsNone = std::uint64_t{1} << 62U;  // the first version has no word for none
  const std::uint64_t limit = number_in(folder + '/' + files.limit);
  if (limit >= kAsGoodAsNone) return kNoLimit;
  std::uint64_t usage = number_in(folder + '/' + files.usage);
  if (usage == kNoLimit) return limit;
  for (const std::string_view key : files.cached)
    usage = less(usage, number_behind(folder + "/memory.stat", key));
  return less(limit, usage);
}

/// Of this group and all above it, whose limits hold for it too. Where the process sees only its own part of
/// the hierarchy (a container), its path does not exist there, and the root is its group.
std::uint64_t left_up_from(std::string group, const std::string& root, const GroupFiles& files) {
  std::uint64_t left = kNoLimit;
  while (true) {
    left = std::min(left, left_in_group(root + group, files));
    const auto slash = group.rfind('/');
    if (slash == std::string::npos) return left;
    group.resize(slash);
  }
}

/// What this process has of the address space, in bytes, and how much of that is resident.
struct OwnPages {
  std::uint64_t mapped = 0, resident = 0;
};
OwnPages own_pages() {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  OwnPages pages;
  std::ifstream file("/proc/self/statm");
  file >> pages.mapped >> pages.resident;
  pages.mapped *= page;
  pages.resident *= page;
  return pages;
}

/// `ulimit -v`; kNoLimit where there is none.
std::uint64_t address_space_limit() {
  rlimit limits{};
  if (::getrlimit(RLIMIT_AS, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return limits.rlim_cur;
}

/// A look takes a dozen files, and most processes stand in groups without a limit: where one has found none,
/// there is no other for a second.
std::uint64_t left_in_own_groups() {
  using Clock = std::chrono::steady_clock;
  static std::atomic<Clock::time_point> none_until{Clock::time_point::min()};
  const Clock::time_point now = Clock::now();
  if (now < none_until.load(std::memory_order_relaxed)) return kNoLimit;
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream text;
  text << file.rdbuf();
  const std::uint64_t left = memory_left_in_groups(text.str(), "/sys/fs/cgroup");
  if (left == kNoLimit) none_until.store(now + std::chrono::seconds(1), std::memory_order_relaxed);
  return left;
}

/// What may be used, and what it is the rest of.
struct Allowance {
  std::uint64_t bytes = 0;
  enum class Of { kMachine, kGivenLimit, kAddressSpace, kGroup } of = Of::kMachine;
  OwnPages own;

  void lower_to(std::uint64_t least, Of cause) {
    if (least >= bytes) return;
    bytes = least;
    of = cause;
  }
};

Allowance allowance(std::uint64_t limit) {
  Allowance found;
  found.own = own_pages();
  if (limit > 0) {
    found.bytes = less(limit, found.own.resident);
    found.of = Allowance::Of::kGivenLimit;
  } else {
    const std::uint64_t available = number_behind("/proc/meminfo", "MemAvailable:");
    found.bytes = available > 0 ? available * 1024 : kNoLimit;
  }
  const std::uint64_t space = address_space_limit();
  if (space != kNoLimit) found.lower_to(less(space, found.own.mapped), Allowance::Of::kAddressSpace);
  found.lower_to(left_in_own_groups(), Allowance::Of::kGroup);
  if (limit == 0) found.bytes = found.bytes / 10 * 9;
  return found;
}

std::string readable_size(std::uint64_t bytes) { return readable_bytes(static_cast<double>(bytes)); }

/// A limit as people give it, in powers of 1024, and in those of the sizes beside it: "500M (524.3 MB)".
std::string as_given(std::uint64_t limit) {
  constexpr std::array<std::pair<char, unsigned>, 3> kUnits = {{{'G', 30U}, {'M', 20U}, {'K', 10U}}};
  for (const auto& [letter, shift] : kUnits) {
    if (limit % (std::uint64_t{1} << shift) == 0)
      return fmt::format("{}{} ({})", limit >> shift, letter, readable_size(limit));
  }
  return readable_size(limit);
}

/// "12.0 GB may be used", and what that is the rest of.
std::string what_may_be_used(std::uint64_t bytes, std::uint64_t limit) {
  const Allowance now = allowance(limit);
  std::string rest;
  switch (now.of) {
    case Allowance::Of::kMachine:
      break;
    case Allowance::Of::kGivenLimit:
      rest = fmt::format(" (⟨memory_limit⟩ is {}, and the process holds {} already)", as_given(limit),
                         readable_size(now.own.resident));
      break;
    case Allowance::Of::kAddressSpace:
      rest = fmt::format(" (ulimit leaves the process an address space of {}, and {} of it are taken)",
                         readable_size(address_space_limit()), readable_size(now.own.mapped));
      break;
    case Allowance::Of::kGroup:
      rest = " (what the limit of the process's control group leaves)";
      break;
  }
  return fmt::format("{} may be used{}", readable_size(bytes), rest);
}

}  // namespace

std::uint64_t memory_in_use() { return own_pages().resident; }

std::uint64_t memory_left_in_groups(std::string_view own_groups, const std::string& root) {
  constexpr GroupFiles kFirstVersion = {
      "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
  constexpr GroupFiles kSecondVersion = {"memory.max", "memory.current", {"inactive_file", "active_file"}};
  std::uint64_t left = kNoLimit;
  std::istringstream lines{std::string(own_groups)};
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/a/b", "0::/a/b"
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") {
      left = std::min(left, left_up_from(group, root, kSecondVersion));
    } else if (controllers.find(",memory,") != std::string::npos) {
      left = std::min(left, left_up_from(group, root + "/memory", kFirstVersion));
    }
  }
  return left;
}

std::uint64_t memory_budget(std::uint64_t limit) { return allowance(limit).bytes; }

bool address_space_is_limited() { return address_space_limit() != kNoLimit; }

void require_memory(double bytes, std::string_view what, std::string_view advice, std::uint64_t limit) {
  if (bytes <= kNotCounted && (limit == 0 || bytes <= static_cast<double>(limit))) return;
  const std::uint64_t budget = memory_budget(limit);
  if (bytes <= static_cast<double>(budget)) return;
  throw Error(fmt::format("{} needs {} but {}; {}", what, readable_bytes(bytes),
                          what_may_be_used(budget, limit), advice));
}

MemoryBudget::MemoryBudget(std::uint64_t limit) : limit_(limit), total_(memory_budget(limit)) {
  if (limit == 0 || limit >= kProgramAlone) return;
  throw Error(
      fmt::format("⟨memory_limit⟩ {}: the program and its libraries alone take up to {}; give 100M or more",
                  as_given(limit), readable_size(kProgramAlone)));
}

void MemoryBudget::take(double bytes, const MemoryPurpose& purpose) {
  if (!(bytes <= static_cast<double>(left()))) refuse(bytes, false, purpose);
  used_ += static_cast<std::uint64_t>(bytes);
}

void MemoryBudget::refuse(double needed, bool at_least, const MemoryPurpose& purpose) const {
  constexpr double kLeastShare = 0.005;  // of less nothing is told about the rest
  std::string amount = (at_least ? "more than " : "") + readable_bytes(needed);
  if (at_least && purpose.grows_with_file && share_ && *share_ >= kLeastShare && *share_ < 1.0) {
    amount = fmt::format("about {}, by the {:.0f} % of the file that were read,",
                         readable_bytes(needed / *share_), 100.0 * *share_);
  }
  throw Error(fmt::format("{} needs {} but {}; {}", purpose.what, amount,
                          what_may_be_used(at_least ? total_ : left(), limit_), purpose.advice));
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
