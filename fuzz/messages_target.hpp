#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include "io/isolated.hpp"
#include "outcome.hpp"

/// The bytes as what a decoder writes into its pipe: the parent makes a table of it or refuses it, whoever
/// has taken the decoder over. The file it decodes is one of 64 KB.
inline void fuzz_messages(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  static const int pipe = ::memfd_create("messages", MFD_CLOEXEC);
  if (::ftruncate(pipe, 0) != 0 ||
      ::pwrite(pipe, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  const ReadOptions options = fuzzing::small_memory();
  ::lseek(pipe, 0, SEEK_SET);
  try {
    fuzzing::outcome_of([&] {
      TableBuilder builder(
          "input", {.most_values = kMostExpansion * 65536.0, .memory_limit = options.memory_limit.bytes});
      read_messages(pipe, 1.0, "input", "test", builder);
      return assemble(builder.finish(), options);
    });
  } catch (const DecoderSilent&) {  // the bytes end before the table does
  }
}
