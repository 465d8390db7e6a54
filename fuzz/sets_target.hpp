#pragma once
#include "outcome.hpp"
#include "report/given_sets.hpp"
#include "temporary_input.hpp"

/// The bytes as what `select --refit` reads: a result file or a list of features.
inline void fuzz_sets(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const fuzzing::TemporaryInput file(bytes, ".txt");
  try {
    for (const GivenSet& set : read_given_sets(file.path())) {
      const bool fits =
          set.loadings.size() == 0 || set.loadings.size() == static_cast<Index>(set.names.size());
      if (set.names.empty() || !fits) std::abort();
    }
  } catch (const Error&) {  // refused with words
  }
}
