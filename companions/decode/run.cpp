#include "companions/decode/run.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>

#include "companions/decode/pipe_sink.hpp"
#include "companions/decode/sandbox.hpp"

namespace subspectra::decoding {
namespace {

void limit(__rlimit_resource resource, std::uint64_t most) {
  rlimit limits{};
  if (::getrlimit(resource, &limits) != 0) return;
  limits.rlim_cur = std::min<rlim_t>(limits.rlim_max, most);
  ::setrlimit(resource, &limits);
}

#ifndef SUBSPECTRA_SANITIZED  // sanitizers reserve terabytes
/// The address space in use now; libraries reserve a lot of it that no one ever touches.
std::uint64_t address_space() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}
#endif

std::uint64_t number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc() || end != word.data() + word.size()) ::_exit(2);
  return value;
}

/// Nothing of the file has been read when this is called.
void confine(const std::string& path, std::uint64_t cpu_s, std::uint64_t memory, std::uint64_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (static_cast<std::uint64_t>(::getppid()) != parent) ::_exit(1);  // it had gone before
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NPROC, 0);
  limit(RLIMIT_CPU, cpu_s);
#ifndef SUBSPECTRA_SANITIZED
  limit(RLIMIT_AS, address_space() + memory);
#else
  static_cast<void>(memory);
#endif
  ::close_range(kPipeDescriptor + 1, ~0U, 0);
  open_input(path);
  static_cast<void>(close_sandbox(kPipeDescriptor));  // a kernel without filters has the limits above
}

}  // namespace

int run_decoder(int count, char** words, std::span<const Decoder> decoders) {
  if (count != 6) {
    std::fputs(
        "Subspectra starts this program to decode MAT and h5ad files; there is nothing to run by hand\n",
        stderr);
    return 2;
  }
  const std::string_view format = words[1];
  const std::string path = words[2];
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);  // reading needs no lock, and read-only disks have none
  confine(path, number(words[3]), number(words[4]), number(words[5]));
  const auto decoder = std::find_if(decoders.begin(), decoders.end(),
                                    [&](const Decoder& known) { return known.format == format; });
  PipeSink sink(kPipeDescriptor);
  try {
    if (decoder == decoders.end()) throw Error(fmt::format("{}: no decoder for {} files", path, format));
    decoder->decode(path, sink);
    sink.end();
  } catch (const BadInput& error) {
    sink.failure(MessageTag::kBadInput, error.marked());
  } catch (const Error& error) {
    sink.failure(MessageTag::kError, error.marked());
  } catch (const std::bad_alloc&) {
    sink.failure(
        MessageTag::kBadInput,
        fmt::format("{}: asks for more memory than may be used; if the file is sound, raise ⟨memory_limit⟩",
                    path));
  } catch (const std::exception& error) {
    sink.failure(MessageTag::kBadInput,
                 fmt::format("{}: damaged: {}; write the file again from its source", path, error.what()));
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace subspectra::decoding
