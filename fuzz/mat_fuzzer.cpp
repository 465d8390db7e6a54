#include "decode_in_process.hpp"
#include "mat_mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  return subspectra::fuzzing::mutate_mat(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  subspectra::fuzzing::decode_in_process({data, size}, subspectra::decode_mat);
  return 0;
}
