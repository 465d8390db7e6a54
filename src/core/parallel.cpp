#include "subspectra/core/parallel.hpp"

#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

// The packaged oneTBB is not compiled for the thread sanitizer: it sees our accesses but not TBB's
// synchronisation. These two calls state the orderings that parallel_for does guarantee; see cmake/tsan.supp.
#if defined(__SANITIZE_THREAD__)
#define SUBSPECTRA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SUBSPECTRA_TSAN 1
#endif
#endif
#ifdef SUBSPECTRA_TSAN
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#define SUBSPECTRA_HAPPENS_BEFORE(p) __tsan_release(p)
#define SUBSPECTRA_HAPPENS_AFTER(p) __tsan_acquire(p)
#else
#define SUBSPECTRA_HAPPENS_BEFORE(p) static_cast<void>(p)
#define SUBSPECTRA_HAPPENS_AFTER(p) static_cast<void>(p)
#endif

namespace subspectra {

int resolve_threads(int threads) {
  if (threads > 0) return threads;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for(Index items, int threads, const std::function<void(Index)>& body) {
  if (items <= 0) return;
  threads = resolve_threads(threads);
  if (threads == 1 || items == 1) {
    for (Index i = 0; i < items; ++i) body(i);
    return;
  }
  // Every item before the first failing one runs, as in a plain loop, so that the exception is the same one;
  // items after a known failure need not.
  std::atomic<Index> first_failure = items;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto guarded = [&](Index i) {
    if (i > first_failure.load(std::memory_order_relaxed)) return;
    try {
      body(i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (i < first_failure) {
        first_failure = i;
        failure = std::current_exception();
      }
    }
  };
  char submitted = 0;
  char finished = 0;
  SUBSPECTRA_HAPPENS_BEFORE(&submitted);
  const auto run = [&] {
    tbb::parallel_for(
        tbb::blocked_range<Index>(0, items, 1),
        [&](const tbb::blocked_range<Index>& range) {
          SUBSPECTRA_HAPPENS_AFTER(&submitted);
          for (Index i = range.begin(); i != range.end(); ++i) guarded(i);
          SUBSPECTRA_HAPPENS_BEFORE(&finished);
        },
        tbb::simple_partitioner());
  };
  // Inside a parallel loop the arena of the outer one is used, so that nesting does not multiply threads.
  // Isolated: a thread that waits for the inner loop does not start another item of the outer one meanwhile,
  // on top of the stack, locks and scratch of the item it is in.
  if (tbb::this_task_arena::current_thread_index() != tbb::task_arena::not_initialized &&
      tbb::this_task_arena::max_concurrency() == threads) {
    tbb::this_task_arena::isolate(run);
  } else {
    // More workers than cores are allowed on purpose: results for 8 threads can be tested on 2 cores.
    tbb::global_control allow(tbb::global_control::max_allowed_parallelism,
                              static_cast<std::size_t>(std::max(threads, resolve_threads(0))));
    tbb::task_arena(threads).execute(run);
  }
  SUBSPECTRA_HAPPENS_AFTER(&finished);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace subspectra
