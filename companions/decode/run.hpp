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

/// Before memory is taken that the file asks for: throws BadInput where it is more than the limit on the
/// address space leaves.
void require_room(double bytes, const Location& where, std::string_view what);

/// After a library could not do something and does not say why: throws bad_alloc where there is hardly any
/// memory left, because then that is why.
void check_room();

/// The whole of main(). Ends by _exit: no handler of a library runs after a failure.
int run_decoder(int count, char** words, std::span<const Decoder> decoders);

}  // namespace subspectra::decoding
