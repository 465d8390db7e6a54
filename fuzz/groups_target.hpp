#pragma once
#include "io/read_groups.hpp"
#include "outcome.hpp"
#include "temporary_input.hpp"

/// The bytes as a list of groups of 20 features: what is accepted holds every one of them once.
inline void fuzz_groups(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const fuzzing::TemporaryInput file(bytes, ".csv");
  try {
    const FeatureGroups groups = read_groups(file.path(), FeatureNames(20));
    Index members = 0;
    for (const auto& group : groups.members) members += static_cast<Index>(group.size());
    if (members != 20 || groups.names.size() != groups.members.size()) std::abort();
  } catch (const Error&) {  // refused with words
  }
}
