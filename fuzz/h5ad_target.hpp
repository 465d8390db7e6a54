#pragma once
#include "outcome.hpp"
#include "temporary_input.hpp"

/// The bytes as a file, decoded in the isolated process users get. The fuzzer sees no coverage of that
/// process: what this looks for is a parent that crashes, hangs or lets anything but an Error out. Run it
/// with -malloc_limit_mb=0, or libFuzzer takes a large request of the child for a finding.
inline void fuzz_h5ad(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const ReadOptions options = fuzzing::small_memory();
  const fuzzing::TemporaryInput file(bytes);
  fuzzing::outcome_of([&] { return assemble(read_h5ad(file.path(), options), options); });
}
