#include "linalg/blas_start.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string_view>
#include <vector>

#include <subspectra/error.hpp>
#include "core/memory.hpp"

// OpenBLAS 0.3.21 asks the environment twice while it starts, and both questions come to us instead of
// getenv, so that nothing has to be set for a moment and put back: openblas_env.o of the archive is replaced
// by the functions of the same names below (the linker takes ours, as they come first), and in dynamic.o,
// where the core type is chosen, `getenv` is renamed (subspectra_openblas_start in
// cmake/SubspectraTargets.cmake).
// They are to be seen in an archive of the library, too, where all that is hidden is local; no shared object
// exports them. NOLINTBEGIN(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables)
#pragma GCC visibility push(default)
extern "C" {
void* blas_memory_alloc(int position);
void blas_memory_free(void* buffer);
void gotoblas_dynamic_init(void);
void gotoblas_dynamic_quit(void);
char* subspectra_openblas_getenv(const char* name);
void openblas_read_env(void);
int openblas_verbose(void);
unsigned int openblas_thread_timeout(void);
int openblas_block_factor(void);
int openblas_num_threads_env(void);
int openblas_goto_num_threads_env(void);
int openblas_omp_num_threads_env(void);
int openblas_omp_adaptive_env(void);
}
#pragma GCC visibility pop

namespace {

// Written while OpenBLAS's constructor runs, before the constructors of C++ objects: plain values.
const char* core_wish = nullptr;
bool core_asked_for = false;
int verbose = 0;
int block_factor = 0;

int variable_as_number(const char* name) {
  const char* text = std::getenv(name);
  const long value = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return value > 0 && value < (1L << 30) ? static_cast<int>(value) : 0;
}

}  // namespace

/// The answer to OPENBLAS_CORETYPE: our wish, else the user's; an empty variable is none.
char* subspectra_openblas_getenv(const char* name) {
  if (core_wish != nullptr) return const_cast<char*>(core_wish);  // NOLINT(*-const-cast): getenv's type
  char* wish = std::getenv(name);
  core_asked_for = wish != nullptr && *wish != '\0';
  return core_asked_for ? wish : nullptr;
}

void openblas_read_env() {
  verbose = variable_as_number("OPENBLAS_VERBOSE");
  block_factor = variable_as_number("OPENBLAS_BLOCK_FACTOR");
}
int openblas_verbose() { return verbose; }
int openblas_block_factor() { return block_factor; }
/// One thread, whatever OPENBLAS_NUM_THREADS or OMP_NUM_THREADS say to other copies: its pool is never made.
/// Sharing out the work is ours.
int openblas_num_threads_env() { return 1; }
int openblas_goto_num_threads_env() { return 1; }
int openblas_omp_num_threads_env() { return 1; }
int openblas_omp_adaptive_env() { return 0; }
unsigned int openblas_thread_timeout() { return 0; }
// NOLINTEND(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables)

namespace subspectra::linalg {
namespace {

#if defined(__x86_64__)
/// Width in bits of the vectors that the kernels of a core type use. Names not listed are older or unknown:
/// 128.
int kernel_width(std::string_view core) {
  for (const std::string_view name : {"SkylakeX", "Cooperlake", "SapphireRapids"}) {
    if (core == name) return 512;
  }
  for (const std::string_view name : {"Haswell", "Zen"}) {
    if (core == name) return 256;
  }
  return 128;
}

/// The core type whose kernels fit what this CPU (and its operating system) can execute; null when any will
/// do.
const char* deserved_core() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
  }
  return nullptr;
}
#endif

/// OpenBLAS 0.3.21 knows CPUs by model number and gives those it does not know SSE kernels ("Prescott"). Its
/// constructor has chosen when the library was loaded; if the CPU can do more and the user has not chosen, it
/// chooses again with our wish.
CoreChoice choose_core_type() {
  CoreChoice choice;
  choice.by_user = core_asked_for;
#if defined(__x86_64__)
  if (!choice.by_user) {
    choice.openblas_alone = openblas_get_corename();
    const char* deserved = deserved_core();
    if (deserved != nullptr && kernel_width(choice.openblas_alone) < kernel_width(deserved)) {
      core_wish = deserved;
      gotoblas_dynamic_quit();
      gotoblas_dynamic_init();
      choice.by_us = true;
    }
  }
#endif
  return choice;
}

/// A call of OpenBLAS takes a work buffer from a table, and maps a new one where every other is in use; where
/// there is no address space for it (ulimit -v) it asks the system again and again, without end. So under
/// such a limit the buffers are made here, and no more calls are inside OpenBLAS at once than there are
/// buffers: where one more is not to be had, the next call waits for one of those before it.
class WorkBuffers {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !growing_ && (inside_ < buffers_.size() || !all_made_); });
    if (inside_ == buffers_.size()) grow(lock);
    ++inside_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 27;  // BUFFER_SIZE of OpenBLAS on x86-64
  static constexpr std::size_t kSpare = std::size_t{16} << 20;  // for what else is taken meanwhile

  /// One buffer more, or the knowledge that it is not to be had. Nobody is inside meanwhile: a LAPACK
  /// function takes and gives back buffers all the time, and must find one.
  void grow(std::unique_lock<std::mutex>& lock) {
    taken_.reserve(buffers_.size() + 1);
    buffers_.reserve(buffers_.size() + 1);
    growing_ = true;  // nothing throws until it is false again
    changed_.wait(lock, [&] { return inside_ == 0; });
    all_made_ = !add();
    growing_ = false;
    changed_.notify_all();
    if (buffers_.empty()) {
      all_made_ = false;  // the next call asks again
      refuse();
    }
  }

  bool add() noexcept {
    void* const probe = ::mmap(nullptr, kBuffer + kSpare, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) return false;
    ::munmap(probe, kBuffer + kSpare);
    // Those that are free come first; the next one is new.
    void* buffer = nullptr;
    do {
      buffer = blas_memory_alloc(0);
      taken_.push_back(buffer);
    } while (std::find(buffers_.begin(), buffers_.end(), buffer) != buffers_.end());
    buffers_.push_back(buffer);
    for (void* const held : taken_) blas_memory_free(held);
    taken_.clear();
    return true;
  }

  [[noreturn]] static void refuse() {
    std::ifstream file("/proc/self/statm");
    double pages = 0.0;
    file >> pages;
    const double needed = pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) + kBuffer + 2.0 * kSpare;
    throw Error(fmt::format(
        "the limit on address space (RLIMIT_AS, set by ulimit) is too small: what multiplies matrices needs {} of it; allow at least {:.0f} kB",
        readable_bytes(kBuffer), std::ceil(needed / 1024e4) * 1e4));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t inside_ = 0;  ///< calls
  bool growing_ = false;
  bool all_made_ = false;  ///< there is no room for more
  std::vector<void*> buffers_, taken_;
};

WorkBuffers& work_buffers() {
  static auto* const all = new WorkBuffers;  // outlives every thread
  return *all;
}

bool buffers_are_counted() {
  static const bool counted = address_space_is_limited();
  return counted;
}

}  // namespace

const CoreChoice& start_blas() {
  static const CoreChoice choice = choose_core_type();
  return choice;
}

InBlas::InBlas() {
  start_blas();
  if (buffers_are_counted()) work_buffers().enter();
}

InBlas::~InBlas() {
  if (buffers_are_counted()) work_buffers().leave();
}

}  // namespace subspectra::linalg
