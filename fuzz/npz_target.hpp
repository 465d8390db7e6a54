#pragma once
#include "outcome.hpp"

/// The bytes as one file.
inline void fuzz_npz(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const ReadOptions options = fuzzing::small_memory();
  const auto read = [&] {
    return fuzzing::outcome_of(
        [&] { return assemble(read_npz_bytes(fuzzing::as_text(bytes), "input", options), options); });
  };
  fuzzing::require_equal(read(), read());
}
