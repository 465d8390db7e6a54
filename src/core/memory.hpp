#pragma once
/// Memory is asked for before it is used, so that an impossible request is refused with words and not by the
/// kernel. docs/memory.md says what is promised.
///
/// A limit that is given (⟨memory_limit⟩) is one on the whole process: the program and its libraries, the
/// table and what the methods take. So what may still be taken is the limit less what is resident now.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace subspectra {

/// Resident memory of this process, as the system counts it (getrusage's maximum is the peak of the same).
[[nodiscard]] std::uint64_t memory_in_use();

/// What the memory control groups leave a process, versions 1 and 2: the least of limit - (usage - cached
/// files) over its own group and all above it. `own_groups` is the text of /proc/self/cgroup, `root` where
/// the hierarchies are mounted.
[[nodiscard]] std::uint64_t memory_left_in_groups(std::string_view own_groups, const std::string& root);

/// Bytes that may still be taken: of a `limit` > 0 what memory_in_use() leaves; without one nine tenths of
/// what is free now. Never more than the control groups and the limit on the address space (RLIMIT_AS) leave.
[[nodiscard]] std::uint64_t memory_budget(std::uint64_t limit = 0);

/// Whether there is a limit on the address space (`ulimit -v`), which stacks and libraries count against too.
[[nodiscard]] bool address_space_is_limited();

/// Throws Error "WHAT needs 18.6 GB but 12.0 GB may be used; ADVICE" when bytes exceeds memory_budget(limit).
/// Below a megabyte nothing is counted: resident memory is not known that exactly.
void require_memory(double bytes, std::string_view what, std::string_view advice, std::uint64_t limit = 0);

/// For refusals: what the memory is for, and what to do when there is not enough.
struct MemoryPurpose {
  std::string what;
  std::string advice;
  bool grows_with_file = false;  ///< evenly, so that part of a file tells what the whole takes
};

/// What one reading may hold. Whoever takes memory that grows with the input takes it here first. Not for
/// several threads.
class MemoryBudget {
 public:
  /// memory_budget(limit) bytes. Throws Error for a limit below what the program takes by itself.
  explicit MemoryBudget(std::uint64_t limit = 0);

  /// `bytes` more; throws Error when that is known to be too much: "WHAT needs 18.6 GB but ...".
  void take(double bytes, const MemoryPurpose& purpose);
  /// Of what grows piece by piece, how much of it there has been so far (0 to 1), as the one who reads a file
  /// keeps it: a refusal then says what all of it needs. Null, and 0: nobody knows.
  void expect(std::shared_ptr<const double> share) { share_ = std::move(share); }
  /// take() for what grows piece by piece: "WHAT needs about 39 GB, by the 31 % of it that ...", or where
  /// nobody knows how much there is "WHAT needs more than 12.1 GB but ...".
  void grow(std::size_t bytes, const MemoryPurpose& purpose) {
    if (bytes > total_ - used_)
      refuse(static_cast<double>(used_) + static_cast<double>(bytes), true, purpose);
    used_ += bytes;
  }
  void give_back(std::size_t bytes) noexcept { used_ -= std::min<std::uint64_t>(used_, bytes); }
  [[nodiscard]] std::uint64_t left() const { return total_ - used_; }

  /// Makes room for one more item at the end of `items`: old and new place stand side by side while it grows.
  template <class T>
  void make_room(std::vector<T>& items, const MemoryPurpose& purpose) {
    if (items.size() < items.capacity()) return;
    make_room(items, items.capacity() + std::max<std::size_t>(16, items.capacity() / 2), purpose);
  }
  template <class T>
  void make_room(std::vector<T>& items, std::size_t capacity, const MemoryPurpose& purpose) {
    if (capacity <= items.capacity()) return;
    const std::size_t old = items.capacity();
    grow(capacity * sizeof(T), purpose);
    items.reserve(capacity);
    give_back(old * sizeof(T));
  }
  /// Appends a text to `texts`.
  void append(std::vector<std::string>& texts, std::string_view text, const MemoryPurpose& purpose) {
    make_room(texts, purpose);
    grow(on_heap(text.size()), purpose);
    texts.emplace_back(text);
  }
  /// What a text of this length takes outside of std::string itself.
  [[nodiscard]] static std::size_t on_heap(std::size_t length) {
    constexpr std::size_t kInside = 15, kBlock = 16;
    return length <= kInside ? 0 : (length + 1 + sizeof(std::size_t) + kBlock - 1) / kBlock * kBlock;
  }

 private:
  [[noreturn]] void refuse(double needed, bool at_least, const MemoryPurpose& purpose) const;

  std::uint64_t limit_;
  std::uint64_t total_;
  std::uint64_t used_ = 0;
  std::shared_ptr<const double> share_;
};

/// Memory that is held for a while.
class HeldMemory {
 public:
  explicit HeldMemory(MemoryBudget& budget) : budget_(budget) {}
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() { budget_.give_back(bytes_); }
  void grow(std::size_t bytes, const MemoryPurpose& purpose) {
    budget_.grow(bytes, purpose);
    bytes_ += bytes;
  }
  void give_back(std::size_t bytes) noexcept {
    bytes = std::min(bytes, bytes_);
    budget_.give_back(bytes);
    bytes_ -= bytes;
  }

 private:
  MemoryBudget& budget_;
  std::size_t bytes_ = 0;
};

/// Asks the kernel to back memory that has not been touched yet by pages of 2 MB, where it has such pages:
/// walking along a row of a large matrix then does not miss the address cache at every step, and there is one
/// page fault in place of 512.
void prefer_large_pages(void* begin, std::size_t bytes);

[[nodiscard]] std::string readable_bytes(double bytes);  ///< "18.6 GB", in powers of 1000

}  // namespace subspectra
