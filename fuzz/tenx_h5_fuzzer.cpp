#include "decode_in_process.hpp"
#include "hdf5_mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  using namespace subspectra::fuzzing;
  return mutate_hdf5(Hdf5File::Kind::kTenx, data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  subspectra::fuzzing::decode_in_process({data, size}, subspectra::decode_tenx);
  return 0;
}
