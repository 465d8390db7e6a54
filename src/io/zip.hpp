#pragma once
/// Reading ZIP archives as NumPy writes them (APPNOTE.TXT 6.3: stored and deflated members, ZIP64, data
/// descriptors), driven by the central directory. Nothing in the archive is believed before it is checked
/// against the file's size.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/memory.hpp"
#include "io/random_bytes.hpp"

namespace subspectra {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflate
  std::uint32_t crc = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t data_offset = 0;
};

/// Throws BadInput for what is not a sound archive, Error where its directory is more than `memory` leaves.
[[nodiscard]] std::vector<ZipMember> read_zip_directory(const RandomBytes& archive, MemoryBudget& memory);

/// The member's bytes; exactly `size` of them, or BadInput. The check sum is compared when the last one is
/// read.
[[nodiscard]] std::unique_ptr<ByteSource> open_zip_member(const RandomBytes& archive,
                                                          const ZipMember& member);

}  // namespace subspectra
