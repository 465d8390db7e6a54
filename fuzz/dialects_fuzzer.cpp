#include "dialects_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_dialects({data, size});
  return 0;
}
