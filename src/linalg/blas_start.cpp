#include "linalg/blas_start.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
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
// NOLINTBEGIN(readability-identifier-naming,cppcoreguidelines-avoid-non-const-global-variables)
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

/// A thread inside OpenBLAS has a work buffer. OpenBLAS maps one when more threads than ever before are
/// inside, keeps it for good, and where there is no address space for it (ulimit -v) asks the system again
/// and again, without end. So under such a limit a buffer is there for every thread before it goes in.
class WorkBuffers {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    if (threads_ == buffers_.size()) add();
    ++threads_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    --threads_;
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 27;  // BUFFER_SIZE of OpenBLAS on x86-64
  static constexpr std::size_t kSpare = std::size_t{1} << 20;   // for what else is taken meanwhile

  void add() {
    void* const probe = ::mmap(nullptr, kBuffer + kSpare, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) refuse();
    ::munmap(probe, kBuffer + kSpare);
    // Those that are free come first; the next one is new.
    std::vector<void*> taken;
    taken.reserve(buffers_.size() + 1);
    buffers_.reserve(buffers_.size() + 1);
    void* buffer = nullptr;
    do {
      buffer = blas_memory_alloc(0);
      taken.push_back(buffer);
    } while (std::find(buffers_.begin(), buffers_.end(), buffer) != buffers_.end());
    buffers_.push_back(buffer);
    for (void* const held : taken) blas_memory_free(held);
  }

  [[noreturn]] void refuse() const {
    std::ifstream file("/proc/self/statm");
    double pages = 0.0;
    file >> pages;
    const double needed = pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) + kBuffer + 16.0 * kSpare;
    throw Error(fmt::format(
        "the limit on address space (RLIMIT_AS, set by ulimit) is too small: every thread that multiplies matrices needs {} of it; allow at least {:.0f} kB, or run with fewer ⟨threads⟩",
        readable_bytes(kBuffer), std::ceil(needed / 1024e4) * 1e4));
  }

  std::mutex mutex_;
  std::size_t threads_ = 0;  ///< that have called BLAS and still run
  std::vector<void*> buffers_;
};

WorkBuffers& work_buffers() {
  static auto* const all = new WorkBuffers;  // outlives every thread
  return *all;
}

/// Of one thread, from its first call of BLAS to its end.
struct InBlas {
  InBlas() { work_buffers().enter(); }
  InBlas(const InBlas&) = delete;
  InBlas& operator=(const InBlas&) = delete;
  ~InBlas() { work_buffers().leave(); }
};

bool address_space_is_limited() {
  rlimit limits{};
  return ::getrlimit(RLIMIT_AS, &limits) == 0 && limits.rlim_cur != RLIM_INFINITY;
}

}  // namespace

const CoreChoice& start_blas() {
  static const CoreChoice choice = choose_core_type();
  static const bool limited = address_space_is_limited();
  if (limited) {
    thread_local const InBlas inside;
    static_cast<void>(inside);
  }
  return choice;
}

}  // namespace subspectra::linalg
