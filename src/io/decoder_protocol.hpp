#pragma once
/// What the library and the program that decodes for it agree on (docs/formats/isolation.md). The program is
/// started as
///     subspectra-decode FORMAT FILE CPU_SECONDS MEMORY_BYTES PARENT
/// and writes into descriptor 3: a tag byte, then fixed-size little-endian fields and counted arrays.
#include <cstddef>
#include <cstdint>

namespace subspectra::decoding {

inline constexpr int kPipeDescriptor = 3;

enum class MessageTag : std::uint8_t {
  kDense = 1,
  kTile,
  kSparse,
  kSparseCounts,
  kSparseEntries,
  kNames,
  kSide,
  kTexts,
  kNote,
  kBadInput,
  kError,
  kEnd
};
inline constexpr std::uint64_t kMostBlock = 1 << 20;  ///< array elements in one message
inline constexpr std::uint64_t kMostText = 1 << 24;   ///< bytes of one text
inline constexpr std::uint64_t kTextBlock = 1 << 12;  ///< texts in one message
inline constexpr std::uint64_t kMostNote = 1 << 12;   ///< bytes of a note, an error, a place
inline constexpr int kMostNotes = 1000;
inline constexpr int kNoMemory = 4;  ///< exit code: not enough memory even to say so
inline constexpr std::size_t kBuffer = 1 << 18;

}  // namespace subspectra::decoding
