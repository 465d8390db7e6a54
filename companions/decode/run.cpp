#include "companions/decode/run.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>

#include "companions/decode/pipe_sink.hpp"
#include "companions/decode/sandbox.hpp"
#include "core/memory.hpp"

namespace subspectra::decoding {
namespace {

void limit(__rlimit_resource resource, std::uint64_t most) {
  rlimit limits{};
  if (::getrlimit(resource, &limits) != 0) return;
  limits.rlim_cur = std::min<rlim_t>(limits.rlim_max, most);
  ::setrlimit(resource, &limits);
}

/// Set once, when the limit on the address space is: what of it was in use then, and what of that was on the
/// heap.
std::uint64_t mapped_at_start = 0, heap_at_start = 0;  // NOLINT(*-avoid-non-const-global-variables)

std::uint64_t on_heap() {
  const auto info = ::mallinfo2();
  return info.arena + info.hblkhd;
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
  mapped_at_start = address_space();
  heap_at_start = on_heap();
  limit(RLIMIT_AS, mapped_at_start + memory);
#else
  static_cast<void>(memory);
#endif
  ::close_range(kPipeDescriptor + 1, ~0U, 0);
  open_input(path);
  static_cast<void>(close_sandbox(kPipeDescriptor));  // a kernel without filters has the limits above
}

/// Of the address space; infinite where it has no limit.
double room_left() {
  rlimit limits{};
  if (mapped_at_start == 0 || ::getrlimit(RLIMIT_AS, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<double>::infinity();
  const double in_use = static_cast<double>(mapped_at_start) + static_cast<double>(on_heap()) -
                        static_cast<double>(heap_at_start);
  return std::max(0.0, static_cast<double>(limits.rlim_cur) - in_use);
}

void decode_into_pipe(std::string_view format, const std::string& path, std::span<const Decoder> decoders) {
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
  }
}

}  // namespace

void require_room(double bytes, const Location& where, std::string_view what) {
  const double room = room_left();
  if (bytes <= room) return;
  throw BadInput(
      where,
      fmt::format(
          "{} needs {} in the program that decodes it, beside the table itself, but {} may be used; raise ⟨memory_limit⟩, or save the table as NPZ",
          what, readable_bytes(bytes), readable_bytes(room)));
}

void check_room() {
  constexpr double kHardlyAny = 1 << 24;
  if (room_left() < kHardlyAny) throw std::bad_alloc();
}

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
  try {
    decode_into_pipe(format, path, decoders);
  } catch (...) {  // no memory even for a sentence
    ::_exit(kNoMemory);
  }
  ::_exit(0);
}

}  // namespace subspectra::decoding
