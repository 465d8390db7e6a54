#include "json_mutator.hpp"
#include "result_target.hpp"

SUBSPECTRA_MUTATE_JSON;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_result({data, size});
  return 0;
}
