#include "certificate_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_certificate({data, size});
  return 0;
}
