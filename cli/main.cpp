#include <malloc.h>

#include <algorithm>

#include "core/memory.hpp"
#include "program.hpp"

int main(int argc, char** argv) {
  // A thread's own heap takes 128 MB of address space at first.
  if (subspectra::address_space_is_limited()) ::mallopt(M_ARENA_MAX, 1);
  return subspectra::cli::run_program({argv + std::min(argc, 1), argv + argc});
}
