#pragma once
/// The frame of a program that decodes: it takes away from itself what a decoder has no need of, decodes, and
/// writes the table into its pipe (io/decoder_protocol.hpp).
#include <span>
#include <string>
#include <string_view>

#include "io/table_sink.hpp"

namespace subspectra::decoding {

struct Decoder {
  std::string_view format;
  /// Decodes the file into the sink. What it throws reaches the library as BadInput or Error.
  void (*decode)(const std::string& path, TableSink& sink);
};

/// The whole of main(). Ends by _exit: no handler of a library runs after a failure.
int run_decoder(int count, char** words, std::span<const Decoder> decoders);

}  // namespace subspectra::decoding
