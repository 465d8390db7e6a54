#include "series_matrix_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_series_matrix({data, size});
  return 0;
}
