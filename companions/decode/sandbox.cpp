#include "companions/decode/sandbox.hpp"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string_view>

namespace subspectra::decoding {
namespace {

struct Input {
  std::string path;
  int descriptor = -1;
  int failure = ENOENT;  ///< errno of the attempt to open it
  bool only = false;     ///< nothing else may be opened any more
};

Input& input() {
  static Input the_one;
  return the_one;
}

/// What `open(path)` gives: the input once more from its beginning, another file while that is allowed, or -1
/// and errno.
int opened(const char* path, int flags, mode_t mode) {
  Input& own = input();
  if (own.descriptor >= 0 && own.path == path) {
    const int copy =
        ::dup(own.descriptor);  // one position for all: HDF5 and matio have it open once at a time
    if (copy >= 0) ::lseek(copy, 0, SEEK_SET);
    return copy;
  }
  if (own.only) {
    errno = own.path == path ? own.failure : EACCES;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int status_of(const char* path, struct stat* status, int flags) {
  const Input& own = input();
  if (own.descriptor >= 0 && own.path == path) return ::fstat(own.descriptor, status);
  return ::fstatat(AT_FDCWD, path, status, flags);
}

}  // namespace

void open_input(const std::string& path) {
  Input& own = input();
  own.path = path;
  own.descriptor = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC, 0));
  own.failure = own.descriptor < 0 ? errno : 0;
}

bool close_sandbox(int pipe) {
  input().only = true;
#ifdef SUBSPECTRA_SANITIZED
  static_cast<void>(pipe);
  return false;
#else
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)),
                                                                seccomp_release);
  if (!filter) return false;
  // Memory, time, the file that is open, the end. A call that this system does not have cannot be made
  // either.
  constexpr std::array kAllowed = {SCMP_SYS(read),
                                   SCMP_SYS(pread64),
                                   SCMP_SYS(readv),
                                   SCMP_SYS(lseek),
                                   SCMP_SYS(_llseek),
                                   SCMP_SYS(fstat),
                                   SCMP_SYS(fstat64),
                                   SCMP_SYS(dup),
                                   SCMP_SYS(close),
                                   SCMP_SYS(brk),
                                   SCMP_SYS(munmap),
                                   SCMP_SYS(mremap),
                                   SCMP_SYS(madvise),
                                   SCMP_SYS(futex),
                                   SCMP_SYS(getrandom),
                                   SCMP_SYS(clock_gettime),
                                   SCMP_SYS(gettimeofday),
                                   SCMP_SYS(time),
                                   SCMP_SYS(clock_nanosleep),
                                   SCMP_SYS(nanosleep),
                                   SCMP_SYS(sched_yield),
                                   SCMP_SYS(getpid),
                                   SCMP_SYS(gettid),
                                   SCMP_SYS(getcwd),
                                   SCMP_SYS(rt_sigprocmask),
                                   SCMP_SYS(rt_sigreturn),
                                   SCMP_SYS(exit),
                                   SCMP_SYS(exit_group),
                                   SCMP_SYS(restart_syscall)};
  bool complete = true;
  const auto allow = [&](int call, auto... conditions) {
    complete =
        seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, sizeof...(conditions), conditions...) == 0 &&
        complete;
  };
  for (const int call : kAllowed) allow(call);
  allow(SCMP_SYS(write), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(pipe)));
  allow(SCMP_SYS(writev), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(pipe)));
  allow(SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_GETFD));
  allow(SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_GETFL));
  allow(SCMP_SYS(newfstatat), SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));  // how the C library asks for fstat
  allow(SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));  // to ask, not to set
  allow(SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_GET_NO_NEW_PRIVS));
  // No memory that could be executed.
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)})
    allow(call, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  // abort() and raise(): signals to itself alone.
  allow(SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())));
  return complete && seccomp_load(filter.get()) == 0;
#endif
}

}  // namespace subspectra::decoding

// The names by which libhdf5 and matio open files: defined in the program, they stand before those of the C
// library. NOLINTBEGIN(readability-identifier-naming,cert-dcl50-cpp)
extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    std::va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  return subspectra::decoding::opened(path, flags, mode);
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));

std::FILE* fopen(const char* path, const char* mode) {
  const int descriptor = subspectra::decoding::opened(path, O_RDONLY | O_CLOEXEC, 0);
  return descriptor < 0 ? nullptr : ::fdopen(descriptor, mode);
}

std::FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));

int stat(const char* path, struct stat* status) noexcept {
  return subspectra::decoding::status_of(path, status, 0);
}

int lstat(const char* path, struct stat* status) noexcept {
  return subspectra::decoding::status_of(path, status, AT_SYMLINK_NOFOLLOW);
}
}
// NOLINTEND(readability-identifier-naming,cert-dcl50-cpp)
