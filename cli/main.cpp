#include <malloc.h>

#include <algorithm>

#include "core/memory.hpp"
#include "program.hpp"
#include "signals.hpp"

// Loading libraries and setting them up takes most of the first tenth of a second. The words for who
// interrupts that stand before it: the dynamic linker calls what is named here before anything else of the
// process. (Sanitizers have their own first function, which nothing may come before.)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SUBSPECTRA_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUBSPECTRA_SANITIZED
#endif
#ifndef SUBSPECTRA_SANITIZED
__attribute__((section(".preinit_array"), used)) static void (*const before_everything)() =
    subspectra::cli::end_in_words_when_interrupted;
#endif

int main(int argc, char** argv) {
  // A thread's own heap takes 128 MB of address space at first.
  if (subspectra::address_space_is_limited()) ::mallopt(M_ARENA_MAX, 1);
  return subspectra::cli::run_program({argv + std::min(argc, 1), argv + argc});
}
