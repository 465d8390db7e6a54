#pragma once
#include "outcome.hpp"
#include "temporary_input.hpp"

/// The bytes as a file, decoded by the program that users get, for the tests: a parent that crashes, hangs or
/// lets anything but an Error out. The fuzzer calls the decoder itself (decode_in_process.hpp).
inline void fuzz_tenx_h5(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const ReadOptions options = fuzzing::small_memory();
  const fuzzing::TemporaryInput file(bytes);
  fuzzing::outcome_of([&] { return assemble(read_tenx_h5(file.path(), options), options); });
}
