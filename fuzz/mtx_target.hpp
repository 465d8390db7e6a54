#pragma once
#include "outcome.hpp"

/// The bytes as one file, cut into blocks of two sizes.
inline void fuzz_mtx(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const ReadOptions options = fuzzing::small_memory();
  const auto read = [&](std::size_t block) {
    return fuzzing::outcome_of([&] {
      const auto source = memory_bytes(fuzzing::as_text(bytes));
      return assemble(read_mtx_bytes(*source, "input", options, block), options);
    });
  };
  fuzzing::require_equal(read(4), read(fuzzing::kLargeBlock));
}
