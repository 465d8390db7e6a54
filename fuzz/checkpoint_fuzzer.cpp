#include "checkpoint_target.hpp"
#include "json_mutator.hpp"

SUBSPECTRA_MUTATE_JSON;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_checkpoint({data, size});
  return 0;
}
