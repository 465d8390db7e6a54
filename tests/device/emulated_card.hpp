#pragma once
/// A card on the processor: the threads of a block are contexts that take turns at every barrier, blocks come
/// one after the other, the card's memory is memory. The plug-in's own kernels run on it in the tests.
#include <ucontext.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace emulated {

struct Place {
  unsigned int x = 0, y = 0, z = 0;
};
inline Place thread_place, block_place, block_size, grid_size;
inline std::size_t memory = std::size_t{1} << 28;  ///< of the card, in bytes

// The sanitizers cannot follow a stack that changes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kThreads = 1;
#else
inline constexpr int kThreads = 4;
#endif

/// The threads of one block.
class Team {
 public:
  static Team*& current() {
    static Team* team = nullptr;
    return team;
  }
  template <class Body>
  void run(unsigned int blocks, const Body& body) {
    block_size = {kThreads, 1, 1};
    grid_size = {blocks, 1, 1};
    current() = this;
    for (block_place = {}; block_place.x < blocks; ++block_place.x) {
      if (kThreads == 1) {
        thread_place = {};
        body();
        continue;
      }
      body_ = [](const void* what) { (*static_cast<const Body*>(what))(); };
      what_ = &body;
      begin_block();
    }
  }
  /// Every thread of the block comes here before one goes on.
  void barrier() {
    if (kThreads > 1) swapcontext(&threads_[thread_place.x], &main_);
  }

 private:
  static void begin_thread() {
    Team& team = *current();
    team.body_(team.what_);
    team.running_[thread_place.x] = 0;
  }
  void begin_block() {
    constexpr std::size_t kStack = std::size_t{1} << 18;
    stacks_.resize(kStack * kThreads);
    threads_.resize(kThreads);
    running_.assign(kThreads, 1);
    for (unsigned int t = 0; t < kThreads; ++t) {
      getcontext(&threads_[t]);
      threads_[t].uc_stack.ss_sp = stacks_.data() + t * kStack;
      threads_[t].uc_stack.ss_size = kStack;
      threads_[t].uc_link = &main_;
      makecontext(&threads_[t], begin_thread, 0);
    }
    for (bool any = true; any;) {
      any = false;
      for (unsigned int t = 0; t < kThreads; ++t) {
        if (running_[t] == 0) continue;
        thread_place = {t, 0, 0};
        swapcontext(&main_, &threads_[t]);
        any = true;
      }
    }
  }

  void (*body_)(const void*) = nullptr;
  const void* what_ = nullptr;
  ucontext_t main_{};
  std::vector<ucontext_t> threads_;
  std::vector<char> running_, stacks_;
};

inline std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

template <class Body>
void run(unsigned int blocks, const Body& body) {
  static Team team;
  static std::mutex& mutex = one_at_a_time();
  const std::lock_guard<std::mutex> alone(mutex);
  team.run(blocks, body);
}

}  // namespace emulated

// The names a kernel uses.
#define __global__                                            // NOLINT(bugprone-reserved-identifier)
#define __device__                                            // NOLINT(bugprone-reserved-identifier)
#define __host__                                              // NOLINT(bugprone-reserved-identifier)
#define __shared__ static                                     // NOLINT(bugprone-reserved-identifier)
#define __syncthreads() emulated::Team::current()->barrier()  // NOLINT(bugprone-reserved-identifier)
#define threadIdx emulated::thread_place
#define blockIdx emulated::block_place
#define blockDim emulated::block_size
#define gridDim emulated::grid_size

// The runtime's functions.
using emulatedError_t = int;
using emulatedStream_t = void*;
inline constexpr emulatedError_t emulatedSuccess = 0, emulatedErrorMemoryAllocation = 2;
enum emulatedDirection {
  emulatedMemcpyHostToDevice,
  emulatedMemcpyDeviceToHost,
  emulatedMemcpyDeviceToDevice
};
inline emulatedError_t emulatedSetDevice(int /*card*/) { return 0; }
inline emulatedError_t emulatedStreamDestroy(emulatedStream_t /*stream*/) { return 0; }
inline emulatedError_t emulatedStreamSynchronize(emulatedStream_t /*stream*/) { return 0; }
inline emulatedError_t emulatedGetLastError() { return 0; }
inline const char* emulatedGetErrorString(emulatedError_t /*error*/) { return "out of memory"; }
inline emulatedError_t emulatedMalloc(void** at, std::size_t bytes) {
  *at = std::malloc(bytes);
  if (*at == nullptr) return emulatedErrorMemoryAllocation;
  std::memset(*at, 0xff, bytes);  // numbers that are none
  return 0;
}
inline emulatedError_t emulatedFree(void* at) {
  std::free(at);
  return 0;
}
inline emulatedError_t emulatedMemGetInfo(std::size_t* free, std::size_t* all) {
  *free = *all = emulated::memory;
  return 0;
}
inline emulatedError_t emulatedMemsetAsync(void* at, int byte, std::size_t bytes,
                                           emulatedStream_t /*stream*/) {
  std::memset(at, byte, bytes);
  return 0;
}
inline emulatedError_t emulatedMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                           emulatedDirection /*way*/, emulatedStream_t /*stream*/) {
  std::memcpy(to, from, bytes);
  return 0;
}
inline emulatedError_t emulatedMemcpy2D(void* to, std::size_t to_lead, const void* from, std::size_t lead,
                                        std::size_t row, std::size_t rows, emulatedDirection /*way*/) {
  for (std::size_t r = 0; r < rows; ++r)
    std::memcpy(static_cast<char*>(to) + r * to_lead, static_cast<const char*>(from) + r * lead, row);
  return 0;
}
