/// Decoders that do what a damaged file can make a library do, each under a name that isolated_test.cpp asks
/// for. None of them looks at the file.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <numeric>

#include "companions/decode/run.hpp"

namespace {

using subspectra::BadInput;
using subspectra::Index;
using subspectra::TableSink;
using subspectra::TileOrder;

void small_table(const std::string&, TableSink& sink) {
  sink.note("hello");
  sink.begin_dense(3, 2, TileOrder::kRows, "X");
  sink.dense_tile(2, 2, std::array<double, 4>{1, 2, 3, 4});
  sink.dense_tile(1, 1, std::array<double, 1>{5});
  sink.dense_tile(1, 1, std::array<double, 1>{6});
  sink.feature_names({"a", "b"});
  sink.side_column({.name = "y", .values = {"u", "", "w"}, .first = {}, .is_label = true});
}

void large_table(const std::string&, TableSink& sink) {
  constexpr Index kRows = 700;
  constexpr Index kColumns = 5000;
  sink.begin_dense(kRows, kColumns, TileOrder::kColumns, "X");
  std::vector<double> column(kRows);
  for (Index j = 0; j < kColumns; ++j) {
    std::iota(column.begin(), column.end(), static_cast<double>(j * kRows));
    sink.dense_tile(kRows, 1, column);
  }
}

template <int signal>
void dies_by(const std::string&, TableSink&) {
  ::raise(signal);
}

void sleeps(const std::string&, TableSink&) {
  for (;;) ::sleep(1);
}

void loops(const std::string&, TableSink&) {
  for (volatile bool forever = true; forever;) {
  }
}

void takes_memory(const std::string&, TableSink&) {
  std::vector<std::vector<double>> all;
  for (;;) all.emplace_back(1 << 20, 1.0);
}

/// A table, and then as much as it can get: what the parent has taken for the table is not to be had twice.
void takes_memory_beside_a_table(const std::string&, TableSink& sink) {
  sink.begin_dense(5000, 3000, TileOrder::kRows, "X");
  ::usleep(300'000);  // the parent reads on
  std::size_t all = 0;
  try {
    std::vector<std::vector<double>> blocks;
    for (;; all += 8) blocks.emplace_back(1 << 20, 1.0);
  } catch (const std::bad_alloc&) {
  }
  throw BadInput(std::to_string(all));
}

void says_too_much(const std::string& path, TableSink& sink) {
  for (int i = 0; i < 10000; ++i) sink.note(std::string(i % 100 == 0 ? 1 << 24 : 3, 'x'));
  small_table(path, sink);
}

void claims_too_much(const std::string&, TableSink& sink) {
  sink.begin_dense(1LL << 40, 1LL << 20, TileOrder::kRows, "X");
}

void sends_too_little(const std::string&, TableSink& sink) {
  sink.begin_dense(100, 100, TileOrder::kRows, "X");
}

void sends_too_much(const std::string&, TableSink& sink) {
  sink.begin_dense(2, 2, TileOrder::kRows, "X");
  for (int i = 0; i < 2; ++i) sink.dense_tile(2, 2, std::array<double, 4>{});
}

void leaves_the_rows(const std::string&, TableSink& sink) {
  sink.begin_sparse(2, 2, std::array<std::int32_t, 2>{1, 0}, "X");
  sink.sparse_entries(std::array<std::int32_t, 1>{5}, std::array<std::int32_t, 1>{0},
                      std::array<double, 1>{});
}

void miscounts_a_column(const std::string&, TableSink& sink) {
  sink.begin_sparse(2, 2, std::array<std::int32_t, 2>{1, 0}, "X");
  sink.sparse_entries(std::array<std::int32_t, 1>{1}, std::array<std::int32_t, 1>{1},
                      std::array<double, 1>{});
}

void counts_descriptors(const std::string&, TableSink&) {
  int open = 0;
  for (int descriptor = 4; descriptor < 1000; ++descriptor) {
    open += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
  }
  throw BadInput(std::to_string(open));
}

/// "core=0 files=0 processes=0 privileges=1": what it is held to.
void tells_its_limits(const std::string&, TableSink&) {
  const auto most = [](auto resource) {
    rlimit limits{};
    ::getrlimit(resource, &limits);
    return std::to_string(limits.rlim_cur);
  };
  throw BadInput("core=" + most(RLIMIT_CORE) + " files=" + most(RLIMIT_FSIZE) +
                 " processes=" + most(RLIMIT_NPROC) + " cpu=" + most(RLIMIT_CPU) +
                 " no_new_privileges=" + std::to_string(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)));
}

/// What a decoder that somebody has taken over would try. Names what succeeded.
void breaks_out(const std::string& path, TableSink&) {
  std::string done;
  const auto tried = [&](const char* name, bool succeeded) {
    if (succeeded) done += std::string(name) + ' ';
  };
  tried("own file", ::open(path.c_str(), O_RDONLY) < 0);  // this one it may
  tried("open", ::open("/etc/passwd", O_RDONLY) >= 0);
  tried("openat", ::syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) >= 0);
  tried("create", ::syscall(SYS_openat, AT_FDCWD, "/tmp/subspectra-escaped", O_WRONLY | O_CREAT, 0600) >= 0);
  tried("openat2", ::syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", nullptr, 0) >= 0 || errno != EPERM);
  tried("socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
  tried("fork", ::fork() >= 0);
  tried("kill", ::kill(::getppid(), 0) == 0 || ::kill(1, 0) == 0 || errno != EPERM);
  tried("tgkill", ::syscall(SYS_tgkill, 1, 1, 0) == 0);
  tried("exec", ::execl("/bin/true", "true", nullptr) == 0 || errno != EPERM);
  tried("ptrace", ::syscall(SYS_ptrace, 0, 0, 0, 0) == 0);
  tried("unlink", ::unlink("/tmp/subspectra-nothing") == 0 || errno != EPERM);
  tried("write", ::write(2, "x", 1) == 1);
  tried("executable memory", ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  throw BadInput(done.empty() ? "nothing" : done);
}

}  // namespace

int main(int count, char** words) {
  using subspectra::decoding::Decoder;
  static constexpr std::array kDecoders = {
      Decoder{"small table", small_table},
      Decoder{"large table", large_table},
      Decoder{"throws", [](const std::string&, TableSink&) { throw BadInput("the sentence"); }},
      Decoder{"SIGSEGV", dies_by<SIGSEGV>},
      Decoder{"SIGABRT", dies_by<SIGABRT>},
      Decoder{"SIGFPE", dies_by<SIGFPE>},
      Decoder{"SIGKILL", dies_by<SIGKILL>},
      Decoder{"SIGINT", dies_by<SIGINT>},
      Decoder{"exits", [](const std::string&, TableSink&) { ::_exit(3); }},
      Decoder{"sleeps", sleeps},
      Decoder{"loops", loops},
      Decoder{"takes memory", takes_memory},
      Decoder{"takes memory beside a table", takes_memory_beside_a_table},
      Decoder{"says too much", says_too_much},
      Decoder{"claims too much", claims_too_much},
      Decoder{"sends too little", sends_too_little},
      Decoder{"sends too much", sends_too_much},
      Decoder{"leaves the rows", leaves_the_rows},
      Decoder{"miscounts a column", miscounts_a_column},
      Decoder{"counts descriptors", counts_descriptors},
      Decoder{"tells its limits", tells_its_limits},
      Decoder{"breaks out", breaks_out},
  };
  return subspectra::decoding::run_decoder(count, words, kDecoders);
}
