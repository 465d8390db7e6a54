#pragma once
/// Parallel loops whose result cannot depend on the number of threads: the caller cuts the work into items by
/// size alone, each item writes only its own slot, and sums are taken over the slots in order.
#include <functional>

#include "core/types.hpp"

namespace subspectra {

/// 0 means every core this process may use.
[[nodiscard]] int resolve_threads(int threads);

/// Calls body(i) once for i = 0..items-1 on at most `threads` threads (0: all cores). Nested calls share the
/// threads. The first exception in item order is rethrown, whatever the number of threads; items after it may
/// not have been run.
void parallel_for(Index items, int threads, const std::function<void(Index)>& body);

}  // namespace subspectra
