#include "json_mutator.hpp"
#include "report_target.hpp"

SUBSPECTRA_MUTATE_JSON;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_report({data, size});
  return 0;
}
