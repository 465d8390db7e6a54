#include "json_mutator.hpp"
#include "part_target.hpp"

SUBSPECTRA_MUTATE_JSON;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_part({data, size});
  return 0;
}
