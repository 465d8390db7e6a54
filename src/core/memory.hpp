#pragma once
/// Memory is asked for before it is used, so that an impossible request is refused with words and not by the
/// kernel.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace subspectra {

/// Bytes a run may use: `limit` if positive, else nine tenths of what is free now (and of the control group's
/// limit).
[[nodiscard]] std::uint64_t memory_budget(std::uint64_t limit = 0);

/// Throws Error "WHAT needs 18.6 GB but 12.0 GB may be used; ADVICE" when bytes exceeds memory_budget(limit).
void require_memory(double bytes, std::string_view what, std::string_view advice, std::uint64_t limit = 0);

/// Asks the kernel to back memory that has not been touched yet by pages of 2 MB, where it has such pages:
/// walking along a row of a large matrix then does not miss the address cache at every step, and there is one
/// page fault in place of 512.
void prefer_large_pages(void* begin, std::size_t bytes);

[[nodiscard]] std::string readable_bytes(double bytes);  ///< "18.6 GB", in powers of 1000

}  // namespace subspectra
