#include "io/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <subspectra/error.hpp>
#include "io/table_sink.hpp"

namespace subspectra {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEndOfDirectory = 0x06054b50;
constexpr std::uint32_t kZip64End = 0x06064b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr std::uint32_t kInZip64 = 0xffffffff;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kLocalSize = 30;

/// Little-endian number of T's size at `at`; the caller has checked that it is there.
template <class T>
T number(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t b = 0; b < sizeof(T); ++b) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + b])} << (8 * b);
  }
  return static_cast<T>(value);
}

[[noreturn]] void refuse(const RandomBytes& archive, const std::string& what) {
  throw BadInput({.file = archive.name()},
                 fmt::format("{}; copy the file again or write it anew with np.savez", what));
}

std::string bytes_at(const RandomBytes& archive, std::uint64_t offset, std::uint64_t size) {
  if (offset > archive.size() || size > archive.size() - offset)
    refuse(archive, "truncated NPZ (zip) archive");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  archive.read_at(offset, bytes);
  return bytes;
}

struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

Directory find_directory(const RandomBytes& archive) {
  if (archive.size() < kEndSize) refuse(archive, "not an NPZ (zip) archive: too short");
  // The end record may be followed by a comment of up to 65535 bytes.
  const std::uint64_t tail_size = std::min<std::uint64_t>(archive.size(), kEndSize + 0xffff);
  const std::uint64_t tail_offset = archive.size() - tail_size;
  const std::string tail = bytes_at(archive, tail_offset, tail_size);
  std::size_t end = tail.size() - kEndSize;
  while (number<std::uint32_t>(tail, end) != kEndOfDirectory ||
         number<std::uint16_t>(tail, end + 20) != tail.size() - end - kEndSize) {
    if (end == 0) {
      const bool zip = number<std::uint32_t>(bytes_at(archive, 0, 4), 0) == kLocalHeader;
      refuse(archive,
             zip ? "truncated NPZ (zip) archive: its directory is missing" : "not an NPZ (zip) archive");
    }
    --end;
  }
  Directory directory{.offset = number<std::uint32_t>(tail, end + 16),
                      .size = number<std::uint32_t>(tail, end + 12),
                      .entries = number<std::uint16_t>(tail, end + 10)};
  const auto disk = number<std::uint16_t>(tail, end + 4);
  std::uint64_t directory_end = tail_offset + end;
  const bool needs_64 =
      directory.offset == kInZip64 || directory.size == kInZip64 || directory.entries == 0xffff;
  constexpr std::uint64_t kLocatorSize = 20;
  constexpr std::uint64_t kZip64Size = 56;
  if (needs_64 && directory_end >= kLocatorSize + kZip64Size) {
    const std::string locator = bytes_at(archive, directory_end - kLocatorSize, kLocatorSize);
    if (number<std::uint32_t>(locator, 0) == kZip64Locator) {
      const auto at = number<std::uint64_t>(locator, 8);
      const std::string end64 = bytes_at(archive, at, kZip64Size);
      if (number<std::uint32_t>(end64, 0) != kZip64End) refuse(archive, "damaged zip64 directory");
      directory = {.offset = number<std::uint64_t>(end64, 48),
                   .size = number<std::uint64_t>(end64, 40),
                   .entries = number<std::uint64_t>(end64, 32)};
      directory_end = at;
    }
  }
  if (disk != 0 && disk != 0xffff) refuse(archive, "a zip archive in several parts is not an NPZ file");
  if (directory.offset > directory_end || directory.size > directory_end - directory.offset ||
      directory.entries > directory.size / kCentralSize) {
    refuse(archive, "damaged NPZ (zip) archive: its directory lies outside the file");
  }
  return directory;
}

/// Sizes of 4 GiB and more stand in the "extra" field 0x0001, in this order, each only if its place in the
/// header is full.
void read_zip64_extra(const RandomBytes& archive, std::string_view extra, ZipMember& member,
                      std::uint64_t& local_offset) {
  while (extra.size() >= 4) {
    const auto id = number<std::uint16_t>(extra, 0);
    const std::size_t length = number<std::uint16_t>(extra, 2);
    if (length > extra.size() - 4) break;
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (std::uint64_t* value : {&member.size, &member.compressed_size, &local_offset}) {
      if (*value != kInZip64) continue;
      if (field.size() < 8) refuse(archive, "damaged NPZ (zip) archive: bad zip64 sizes");
      *value = number<std::uint64_t>(field, 0);
      field.remove_prefix(8);
    }
    return;
  }
}

ZipMember read_entry(const RandomBytes& archive, std::string_view entry, std::uint64_t directory_offset) {
  const std::size_t name_size = number<std::uint16_t>(entry, 28);
  const std::size_t extra_size = number<std::uint16_t>(entry, 30);
  ZipMember member{.name = std::string(entry.substr(kCentralSize, name_size)),
                   .method = number<std::uint16_t>(entry, 10),
                   .crc = number<std::uint32_t>(entry, 16),
                   .compressed_size = number<std::uint32_t>(entry, 20),
                   .size = number<std::uint32_t>(entry, 24)};
  std::uint64_t local_offset = number<std::uint32_t>(entry, 42);
  read_zip64_extra(archive, entry.substr(kCentralSize + name_size, extra_size), member, local_offset);

  const std::string what = fmt::format("damaged NPZ (zip) archive: member '{}' ", member.name);
  if ((number<std::uint16_t>(entry, 8) & 1U) != 0) refuse(archive, what + "is encrypted");
  if (member.method != 0 && member.method != 8) {
    refuse(archive, fmt::format("member '{}' is compressed by method {} (stored and deflate are read)",
                                member.name, member.method));
  }
  if (local_offset > directory_offset || directory_offset - local_offset < kLocalSize) {
    refuse(archive, what + "lies outside the file");
  }
  const std::string local = bytes_at(archive, local_offset, kLocalSize);
  if (number<std::uint32_t>(local, 0) != kLocalHeader) refuse(archive, what + "has no header");
  const std::uint64_t skipped = kLocalSize + std::uint64_t{number<std::uint16_t>(local, 26)} +
                                std::uint64_t{number<std::uint16_t>(local, 28)};
  if (number<std::uint16_t>(local, 26) != name_size || skipped > directory_offset - local_offset ||
      bytes_at(archive, local_offset + kLocalSize, name_size) != member.name) {
    refuse(archive, what + "has a header that does not match the directory");
  }
  member.data_offset = local_offset + skipped;
  if (member.compressed_size > directory_offset - member.data_offset)
    refuse(archive, what + "is longer than the file");
  const bool possible = member.method == 0 ? member.size == member.compressed_size
                                           : static_cast<double>(member.size) <=
                                                 kMostExpansion * static_cast<double>(member.compressed_size);
  if (!possible)
    refuse(archive, what + fmt::format("claims {} bytes, more than the file can hold", member.size));
  return member;
}

class MemberSource final : public ByteSource {
 public:
  MemberSource(const RandomBytes& archive, ZipMember member)
      : archive_(archive),
        member_(std::move(member)),
        input_(range_source(archive, member_.data_offset, member_.compressed_size)) {
    if (member_.method == 8) {
      buffer_.resize(1 << 16);
      if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw Error("zlib could not be started");
      inflating_ = true;
    }
  }
  MemberSource(const MemberSource&) = delete;
  MemberSource& operator=(const MemberSource&) = delete;
  ~MemberSource() override {
    if (inflating_) inflateEnd(&stream_);
  }

  std::size_t read(std::span<char> buffer) override {
    buffer =
        buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), member_.size - done_)));
    if (buffer.empty()) return 0;
    const std::size_t got = inflating_ ? inflate_some(buffer) : input_->read(buffer);
    if (got == 0) damaged("ends early");
    crc_ = static_cast<std::uint32_t>(
        ::crc32_z(crc_, reinterpret_cast<const Bytef*>(buffer.data()), got));  // NOLINT(*-reinterpret-cast)
    done_ += got;
    if (done_ == member_.size && crc_ != member_.crc) damaged("fails its check sum");
    return got;
  }

 private:
  [[noreturn]] void damaged(const char* what) {
    throw BadInput(
        {.file = archive_.name(), .place = fmt::format("member '{}'", member_.name)},
        fmt::format("damaged: the compressed data {}; copy the file again or write it anew", what));
  }

  std::size_t inflate_some(std::span<char> buffer) {
    stream_.next_out =
        reinterpret_cast<Bytef*>(buffer.data());  // NOLINT(*-reinterpret-cast): zlib's interface
    const auto room = static_cast<uInt>(std::min<std::size_t>(buffer.size(), 1U << 30));
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(input_->read(buffer_));
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());  // NOLINT(*-reinterpret-cast)
        if (stream_.avail_in == 0) damaged("ends early");
      }
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) break;
      if (status != Z_OK) damaged("cannot be decompressed");
    }
    return room - stream_.avail_out;
  }

  const RandomBytes& archive_;
  ZipMember member_;
  std::unique_ptr<ByteSource> input_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool inflating_ = false;
  std::uint32_t crc_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

std::vector<ZipMember> read_zip_directory(const RandomBytes& archive, MemoryBudget& memory) {
  const Directory directory = find_directory(archive);
  const MemoryPurpose purpose{.what = fmt::format("{}: the directory of the archive", archive.name()),
                              .advice = "write fewer arrays into a file, or raise ⟨memory_limit⟩"};
  HeldMemory held(memory);
  held.grow(static_cast<std::size_t>(directory.size), purpose);
  const std::string bytes = bytes_at(archive, directory.offset, directory.size);
  std::vector<ZipMember> members;
  std::set<std::string, std::less<>> seen;
  std::size_t at = 0;
  for (std::uint64_t e = 0; e < directory.entries; ++e) {
    const auto broken = [&] { refuse(archive, "damaged NPZ (zip) archive: its directory is cut short"); };
    if (bytes.size() - at < kCentralSize || number<std::uint32_t>(bytes, at) != kCentralHeader) broken();
    const std::size_t length = kCentralSize + number<std::uint16_t>(bytes, at + 28) +
                               number<std::uint16_t>(bytes, at + 30) + number<std::uint16_t>(bytes, at + 32);
    if (length > bytes.size() - at) broken();
    ZipMember member = read_entry(archive, std::string_view(bytes).substr(at, length), directory.offset);
    if (!seen.insert(member.name).second) {
      refuse(archive, fmt::format("two members of the NPZ (zip) archive are called '{}'", member.name));
    }
    memory.make_room(members, purpose);
    constexpr std::size_t kNode = 4 * sizeof(void*) + sizeof(std::string);  // of `seen`
    memory.grow(kNode + 2 * MemoryBudget::on_heap(member.name.size()), purpose);
    members.push_back(std::move(member));
    at += length;
  }
  return members;
}

std::unique_ptr<ByteSource> open_zip_member(const RandomBytes& archive, const ZipMember& member) {
  return std::make_unique<MemberSource>(archive, member);
}

}  // namespace subspectra
