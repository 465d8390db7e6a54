#pragma once
/// Bytes of a plain or gzip file, of standard input, or of memory, in blocks, so that no reader holds a whole
/// file.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace subspectra {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// Fills the front of `buffer`; returns how many bytes, 0 only at the end. Throws BadInput (truncated or
  /// corrupt gzip, read error) naming the file.
  virtual std::size_t read(std::span<char> buffer) = 0;
  /// How much of the whole has been read, kept as reading goes on (MemoryBudget::expect); null where the size
  /// of the whole is not known.
  [[nodiscard]] virtual std::shared_ptr<const double> share_read() const { return nullptr; }
};

/// gzip is recognised by its first two bytes, whatever the name says (several members in a row are one
/// stream);
/// "-" is standard input. Throws BadInput for a missing path, a directory, no permission, an empty file.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const std::string& path);
[[nodiscard]] std::unique_ptr<ByteSource> memory_bytes(std::string_view content);
/// `raw` itself, or what its gzip members hold; `name` stands for the file in messages.
[[nodiscard]] std::unique_ptr<ByteSource> unzipped_bytes(std::unique_ptr<ByteSource> raw,
                                                         const std::string& name);

/// What an open file holds begins with this text, after blank lines and a byte-order mark. False for "-",
/// pipes and devices, which cannot be read twice.
[[nodiscard]] bool begins_with(const std::string& path, std::string_view text);

/// The size of a regular file; throws BadInput for a missing path, a directory, no permission, an empty file.
[[nodiscard]] std::uint64_t checked_file_size(const std::string& path);

}  // namespace subspectra
