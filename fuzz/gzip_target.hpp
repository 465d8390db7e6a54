#pragma once
#include <vector>

#include "io/byte_source.hpp"
#include "outcome.hpp"

/// The bytes as a gzip file, unpacked in steps of two sizes.
inline void fuzz_gzip(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const auto unpacked = [&](std::size_t step) -> std::string {
    try {
      const auto source = unzipped_bytes(memory_bytes(fuzzing::as_text(bytes)), "input.gz");
      std::vector<char> buffer(step);
      std::uint64_t hash = 0;
      std::uint64_t size = 0;
      while (const std::size_t got = source->read(buffer)) {
        for (std::size_t i = 0; i < got; ++i)
          hash = fuzzing::mixed(hash, static_cast<unsigned char>(buffer[i]));
        size += got;
      }
      return fmt::format("{} bytes {:x}", size, hash);
    } catch (const Error& refusal) {
      return refusal.what();
    }
  };
  fuzzing::require_equal(unpacked(3), unpacked(std::size_t{1} << 16));
}
