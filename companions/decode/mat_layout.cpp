#include "companions/decode/mat_layout.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

constexpr std::uint32_t kMatrix = 14;
constexpr std::uint32_t kCompressed = 15;

[[noreturn]] void damaged(const RandomBytes& file, std::uint64_t offset, const std::string& what) {
  throw BadInput({.file = file.name(), .place = fmt::format("byte {}", offset)},
                 fmt::format("damaged MAT file: {}; copy the file again or write it anew", what));
}

std::uint32_t word(std::string_view bytes, std::size_t at, bool swapped) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return swapped ? __builtin_bswap32(value) : value;
}

/// Bytes of one value of a version 5 data type; 0 for what is no number.
std::uint64_t type_size(std::uint32_t type) {
  constexpr std::array<std::uint8_t, 14> kSizes = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
  return type < kSizes.size() ? kSizes.at(type) : 0;
}

struct ElementTag {
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::size_t data = 0;  ///< where the data start
  std::size_t next = 0;  ///< where the next tag starts
};
/// The tag at `at` of an array's body, short form included; nullopt past its end.
std::optional<ElementTag> tag_at(std::string_view body, std::size_t at, bool swapped) {
  if (at > body.size() || body.size() - at < 8) return std::nullopt;
  const std::uint32_t first = word(body, at, swapped);
  if ((first >> 16U) != 0) {  // up to four bytes of data in the tag itself
    return ElementTag{.type = first & 0xffffU, .size = first >> 16U, .data = at + 4, .next = at + 8};
  }
  const std::uint64_t size = word(body, at + 4, swapped);
  return ElementTag{.type = first,
                    .size = size,
                    .data = at + 8,
                    .next = at + 8 + static_cast<std::size_t>((size + 7) / 8 * 8)};
}

/// The start of an array's body (everything before its values): a numeric array must have as many values as
/// its dimensions say, and `size` bytes must be enough for them.
void check_array(const RandomBytes& file, std::uint64_t offset, std::string_view body, std::uint64_t size,
                 bool swapped) {
  const auto flags = tag_at(body, 0, swapped);
  if (!flags || flags->type != 6 || flags->size != 8 || body.size() < 16)
    damaged(file, offset, "an array without flags");
  const std::uint32_t word_of_flags = word(body, 8, swapped);
  const std::uint32_t array_class = word_of_flags & 0xffU;
  if (array_class < 6 || array_class > 15) return;  // numeric classes only
  const auto dims = tag_at(body, flags->next, swapped);
  if (!dims || dims->type != 5 || dims->size < 8 || dims->size % 4 != 0 || dims->size > 128 ||
      dims->data + dims->size > body.size()) {
    damaged(file, offset, "an array without dimensions");
  }
  std::uint64_t count = 1;
  for (std::size_t d = 0; d < dims->size; d += 4) {
    const std::uint32_t n = word(body, dims->data + d, swapped);
    if (n > 0x7fffffffU || __builtin_mul_overflow(count, std::uint64_t{n}, &count)) {
      damaged(file, offset, "an array of absurd dimensions");
    }
  }
  const auto name = tag_at(body, dims->next, swapped);
  if (!name) damaged(file, offset, "an array without a name");
  const auto values = tag_at(body, name->next, swapped);
  if (!values) {
    if (count == 0) return;  // some writers leave out the values of an empty array
    damaged(file, offset, "an array without values");
  }
  const std::uint64_t each = type_size(values->type);
  if (each == 0 || values->size != count * each || values->size > size) {
    damaged(
        file, offset,
        fmt::format("an array whose dimensions ask for {} values has {} bytes of them", count, values->size));
  }
}

/// Decompresses an element to its end, which compares the check sum, and gives its first bytes.
std::string checked_element(const RandomBytes& file, std::uint64_t offset, std::uint64_t size,
                            std::uint64_t& unpacked) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw Error("zlib could not be started");
  struct End {
    z_stream* stream;
    ~End() { inflateEnd(stream); }
  } const end{&stream};
  const auto source = range_source(file, offset, size);
  std::vector<char> in(1 << 16);
  std::vector<char> out(1 << 18);
  std::string head;
  unpacked = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(source->read(in));
      stream.next_in = reinterpret_cast<Bytef*>(in.data());  // NOLINT(*-reinterpret-cast): zlib's interface
      if (stream.avail_in == 0) damaged(file, offset, "compressed data that end early");
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT(*-reinterpret-cast)
    stream.avail_out = static_cast<uInt>(out.size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END)
      damaged(file, offset, "compressed data that cannot be decompressed");
    const std::size_t got = out.size() - stream.avail_out;
    if (head.size() < 4096) head.append(out.data(), std::min(got, 4096 - head.size()));
    unpacked += got;
  }
  return head;
}

void check_version_5(const RandomBytes& file, bool swapped) {
  std::uint64_t offset = 128;
  while (offset < file.size()) {
    std::string tag(8, '\0');
    if (file.size() - offset < 8) damaged(file, offset, "it ends within an element");
    file.read_at(offset, tag);
    const std::uint32_t type = word(tag, 0, swapped);
    const std::uint64_t size = word(tag, 4, swapped);
    const std::uint64_t data = offset + 8;
    if (type != kMatrix && type != kCompressed) damaged(file, offset, "an element that is no array");
    if (size > file.size() - data) {
      damaged(file, offset,
              fmt::format("truncated: an element of {} bytes where {} follow", size, file.size() - data));
    }
    if (type == kMatrix) {
      std::string body(static_cast<std::size_t>(std::min<std::uint64_t>(size, 4096)), '\0');
      file.read_at(data, body);
      if (!body.empty()) check_array(file, offset, body, size, swapped);
    } else {
      std::uint64_t unpacked = 0;
      const std::string element = checked_element(file, data, size, unpacked);
      if (element.size() < 8 || word(element, 0, swapped) != kMatrix ||
          word(element, 4, swapped) > unpacked - 8) {
        damaged(file, offset, "a compressed element that is no array");
      }
      check_array(file, offset, std::string_view(element).substr(8), unpacked - 8, swapped);
    }
    offset = data + size;
  }
}

void check_version_4(const RandomBytes& file) {
  std::uint64_t offset = 0;
  while (offset < file.size()) {
    std::string header(20, '\0');
    if (file.size() - offset < header.size()) damaged(file, offset, "it ends within an array");
    file.read_at(offset, header);
    const bool swapped = word(header, 0, false) > 9999;
    const std::uint32_t type = word(header, 0, swapped);
    constexpr std::array<std::uint64_t, 6> kSizes = {8, 4, 4, 2, 2, 1};
    const std::uint32_t precision = type / 10 % 10;
    if (type >= 5000 || precision > 5 || type % 10 > 2) damaged(file, offset, "not an array of a MAT file");
    std::uint64_t bytes = kSizes.at(precision) * (word(header, 12, swapped) != 0 ? 2 : 1);
    if (__builtin_mul_overflow(bytes, std::uint64_t{word(header, 4, swapped)}, &bytes) ||
        __builtin_mul_overflow(bytes, std::uint64_t{word(header, 8, swapped)}, &bytes)) {
      damaged(file, offset, "an array of absurd dimensions");
    }
    const std::uint64_t name = word(header, 16, swapped);
    const std::uint64_t left = file.size() - offset - header.size();
    if (name > left || bytes > left - name) {
      damaged(file, offset, fmt::format("truncated: an array of {} bytes where {} follow", bytes, left));
    }
    offset += header.size() + name + bytes;
  }
}

}  // namespace

bool holds_hdf5(const RandomBytes& file) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  for (std::uint64_t at = 0; at + kSignature.size() <= file.size() && at <= 4096;
       at = at == 0 ? 512 : 2 * at) {
    std::string bytes(kSignature.size(), '\0');
    file.read_at(at, bytes);
    if (bytes == kSignature) return true;
  }
  return false;
}

void check_mat_layout(const RandomBytes& file) {
  static_assert(std::endian::native == std::endian::little, "`swapped` means big-endian below");
  std::string header(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 128)), '\0');
  file.read_at(0, header);
  const std::string_view mark =
      header.size() == 128 ? std::string_view(header).substr(124) : std::string_view();
  const bool little = mark.ends_with("IM");
  const bool big = mark.ends_with("MI");
  if (!little && !big) {
    if (header.starts_with("MATLAB")) damaged(file, 0, "it ends within its header, or the header is damaged");
    check_version_4(file);
    return;
  }
  const int version = static_cast<unsigned char>(little ? mark[1] : mark[0]);
  if (version == 2) return;
  if (version != 1) damaged(file, 124, fmt::format("version {} is not known", version));
  if (file.size() == 128) damaged(file, 128, "no array in it");
  check_version_5(file, big);
}

}  // namespace subspectra
