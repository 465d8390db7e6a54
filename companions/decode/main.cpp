/// subspectra-decode: MAT, h5ad and 10x .h5 files, decoded by matio and libhdf5 in a process of its own.
#include <array>

#include "companions/decode/decoders.hpp"
#include "companions/decode/run.hpp"

int main(int count, char** words) {
  using subspectra::decoding::Decoder;
  static constexpr std::array kDecoders = {
#if SUBSPECTRA_HDF5
    Decoder{.format = "h5ad", .decode = subspectra::decode_h5ad},
    Decoder{.format = "10x", .decode = subspectra::decode_tenx},
#endif
#if SUBSPECTRA_MAT
    Decoder{.format = "mat", .decode = subspectra::decode_mat},
#endif
  };
  return subspectra::decoding::run_decoder(count, words, kDecoders);
}
