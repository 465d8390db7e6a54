#include "core/parallel.hpp"

#include <pthread.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/memory.hpp"

// The packaged oneTBB is not compiled for the thread sanitizer, which then sees our accesses but not TBB's
// synchronisation, and suppressing reports with TBB on the stack would hide every race inside a loop's body.
// Under the sanitizer plain threads run the loops instead: nothing is suppressed.
#if defined(__SANITIZE_THREAD__)
#define SUBSPECTRA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SUBSPECTRA_TSAN 1
#endif
#endif

namespace subspectra {

int resolve_threads(int threads) {
  if (threads > 0) return threads;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1U, std::thread::hardware_concurrency());
}

namespace {

/// Threads of this call alone, which end with it. Where the system gives no more of them, those that are
/// there do the work.
void run_on_plain_threads(Index items, int threads, const std::function<void(Index)>& item) {
  std::atomic<Index> next = 0;
  const auto work = [&] {
    for (Index i = next++; i < items; i = next++) item(i);
  };
  std::vector<std::jthread> workers;
  try {
    for (Index t = 1; t < std::min<Index>(threads, items); ++t) workers.emplace_back(work);
  } catch (const std::exception&) {  // no thread, or no memory for one
  }
  work();
}

#ifdef SUBSPECTRA_TSAN

void run_items(Index items, int threads, const std::function<void(Index)>& item) {
  run_on_plain_threads(items, threads, item);
}

#else

/// Whether this process is the child of a fork. TBB's workers stayed behind in the parent, and what they held
/// at that moment is held for ever: its arenas may hang here. The handler stands from the moment the library
/// is loaded, because the host may have used TBB before we do.
std::atomic<bool> forked = false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
[[maybe_unused]] const int fork_watch = ::pthread_atfork(nullptr, nullptr, [] { forked.store(true); });

/// Whether the system gives a process this many threads at once; asked once for every larger number. TBB ends
/// the process where one of its workers cannot be started.
bool threads_to_be_had(int threads) {
  static std::atomic<int> shown = 1, refused = std::numeric_limits<int>::max();
  static std::mutex mutex;
  if (threads <= shown) return true;
  const std::lock_guard lock(mutex);
  if (threads <= shown) return true;
  if (threads >= refused) return false;
  std::atomic<bool> all_asked = false;
  bool every = true;
  {
    std::vector<std::jthread> asked;
    try {
      for (int t = 1; t < threads; ++t) asked.emplace_back([&] { all_asked.wait(false); });
    } catch (const std::exception&) {
      every = false;
    }
    all_asked = true;
    all_asked.notify_all();
  }
  (every ? shown : refused) = threads;
  return every;
}

/// Where TBB must not run: in the child of a fork, where threads are few, and where the address space is
/// limited, so that the stack of one more worker may not fit once the memory of the others is taken.
bool without_tbb(int threads) {
  static const bool narrow = address_space_is_limited();
  return forked.load(std::memory_order_relaxed) || narrow || !threads_to_be_had(threads);
}

/// Plain threads, and inside of them loops without any, so that nesting does not multiply threads.
void run_without_tbb(Index items, int threads, const std::function<void(Index)>& item) {
  static thread_local bool inside = false;
  if (inside) {
    for (Index i = 0; i < items; ++i) item(i);
    return;
  }
  run_on_plain_threads(items, threads, [&](Index i) {
    const bool outer = std::exchange(inside, true);
    item(i);  // does not throw: parallel_for guards it
    inside = outer;
  });
}

void run_items(Index items, int threads, const std::function<void(Index)>& item) {
  if (without_tbb(threads)) {
    run_without_tbb(items, threads, item);
    return;
  }
  // Items are taken in order: work that is stopped halfway has done its first half.
  std::atomic<Index> next = 0;
  const auto run = [&] {
    tbb::parallel_for(
        tbb::blocked_range<Index>(0, std::min<Index>(threads, items), 1),
        [&](const tbb::blocked_range<Index>&) {
          for (Index i = next++; i < items; i = next++) item(i);
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
}

#endif

}  // namespace

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
  run_items(items, threads, guarded);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace subspectra
