#include "h5ad_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_h5ad({data, size});
  return 0;
}
