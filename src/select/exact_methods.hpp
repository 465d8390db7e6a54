#pragma once
/// The exact methods as their tests and fuzzers call them. docs/methods/exact.md.
#include <subspectra/searches.hpp>

#include "search/exact_hooks.hpp"
#include "select/problem.hpp"

namespace subspectra {

/// What Eslda::run and Espca::run answer, without hooks. The options of Espca are those of Eslda
/// (options_as), and the problem says which of the two it is.
[[nodiscard]] Selection search_exactly(const Eslda& own, const Problem& problem, const RunControl& control,
                                       const ExactHooks& hooks = {});

}  // namespace subspectra
