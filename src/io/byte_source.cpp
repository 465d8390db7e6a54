#include "io/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

constexpr std::size_t kCompressedBlock = std::size_t{1} << 16;

std::string reason(int number) { return std::generic_category().message(number); }

/// An open file descriptor; standard input is not closed.
class FileBytes final : public ByteSource {
 public:
  /// `size` 0: not known.
  FileBytes(std::string name, int descriptor, bool owned, std::uint64_t size = 0)
      : name_(std::move(name)), descriptor_(descriptor), owned_(owned), size_(static_cast<double>(size)) {
    if (size > 0) share_ = std::make_shared<double>(0.0);
  }
  ~FileBytes() override {
    if (owned_) ::close(descriptor_);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read(std::span<char> buffer) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
      if (got >= 0) {
        read_ += static_cast<double>(got);
        if (share_) *share_ = std::min(1.0, read_ / size_);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        throw BadInput({.file = name_}, fmt::format("cannot be read: {}", reason(errno)));
      }
    }
  }
  [[nodiscard]] std::shared_ptr<const double> share_read() const override { return share_; }

 private:
  std::string name_;
  int descriptor_;
  bool owned_;
  double size_ = 0.0, read_ = 0.0;
  std::shared_ptr<double> share_;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view content) : rest_(content) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), rest_.size());
    std::copy_n(rest_.data(), count, buffer.data());
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

/// Bytes that were read to look at them, then the rest.
class ReplayedBytes final : public ByteSource {
 public:
  ReplayedBytes(std::string head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  std::size_t read(std::span<char> buffer) override {
    if (used_ == head_.size()) return rest_->read(buffer);
    const std::size_t count = std::min(buffer.size(), head_.size() - used_);
    std::copy_n(head_.data() + used_, count, buffer.data());
    used_ += count;
    return count;
  }
  [[nodiscard]] std::shared_ptr<const double> share_read() const override { return rest_->share_read(); }

 private:
  std::string head_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class GzipBytes final : public ByteSource {
 public:
  GzipBytes(std::unique_ptr<ByteSource> raw, std::string name)
      : raw_(std::move(raw)), name_(std::move(name)), input_(kCompressedBlock) {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw Error("zlib cannot be started: not enough memory");
  }
  ~GzipBytes() override { inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::size_t read(std::span<char> buffer) override {
    if (buffer.empty()) return 0;
    const std::size_t wanted = std::min<std::size_t>(buffer.size(), kMostAtOnce);
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out == wanted) {
      if (between_members_ && !next_member()) return 0;
      const bool no_more = stream_.avail_in == 0 && !fill();
      const int status =
          inflate(&stream_, Z_NO_FLUSH);  // even without input it may have something left to give
      if (status == Z_STREAM_END) {
        between_members_ = true;
      } else if (status == Z_BUF_ERROR && no_more) {
        throw BadInput({.file = name_},
                       "the gzip data end in the middle (truncated file); copy or download it again");
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw BadInput({.file = name_},
                       fmt::format("the gzip data are corrupt ({}); copy or download the file again",
                                   stream_.msg != nullptr ? stream_.msg : "zlib refuses them"));
      }
    }
    return wanted - stream_.avail_out;
  }
  [[nodiscard]] std::shared_ptr<const double> share_read() const override { return raw_->share_read(); }

 private:
  static constexpr int kGzipWindow = 15 + 16;  // the largest window; gzip header and checksum
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

  bool fill() {
    const std::size_t got = raw_->read(input_);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  /// After a member: false at the end of the file (zero padding, as tape programs leave it, is no member).
  bool next_member() {
    bool padding = false;
    while (true) {
      if (stream_.avail_in == 0 && !fill()) return false;
      if (*stream_.next_in != 0) break;
      padding = true;
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (padding || *stream_.next_in != kFirstMagic) {
      throw BadInput({.file = name_},
                     "bytes that are not gzip follow the gzip data; copy or download the file again");
    }
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

 public:
  static constexpr unsigned char kFirstMagic = 0x1f;
  static constexpr unsigned char kSecondMagic = 0x8b;

 private:
  std::unique_ptr<ByteSource> raw_;
  std::string name_;
  std::vector<char> input_;
  z_stream stream_{};
  bool between_members_ = false;
};

[[noreturn]] void refuse_path(const std::string& path, int number) {
  if (number == ENOENT || number == ENOTDIR) {
    throw BadInput({.file = path}, "there is no such file; check the path");
  }
  if (number == EACCES || number == EPERM) {
    throw BadInput({.file = path}, "permission denied; make the file readable (chmod +r)");
  }
  throw BadInput({.file = path}, fmt::format("cannot be opened: {}; give another file", reason(number)));
}

int open_checked(const std::string& path, struct stat& status, int flags = 0) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) refuse_path(path, errno);
  if (::fstat(descriptor, &status) != 0) {
    const int number = errno;
    ::close(descriptor);
    refuse_path(path, number);
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    throw BadInput({.file = path}, "this is a directory; name a file in it");
  }
  if (S_ISREG(status.st_mode) && status.st_size == 0) {
    ::close(descriptor);
    throw BadInput({.file = path}, "the file is empty; write it again, or give another one");
  }
  return descriptor;
}

}  // namespace

std::unique_ptr<ByteSource> unzipped_bytes(std::unique_ptr<ByteSource> raw, const std::string& name) {
  std::array<char, 2> head{};
  std::size_t got = 0;
  while (got < head.size()) {
    const std::size_t more = raw->read(std::span(head).subspan(got));
    if (more == 0) break;
    got += more;
  }
  const bool is_gzip = got == 2 && static_cast<unsigned char>(head[0]) == GzipBytes::kFirstMagic &&
                       static_cast<unsigned char>(head[1]) == GzipBytes::kSecondMagic;
  if (!is_gzip && name.ends_with(".gz")) {
    throw BadInput(
        {.file = name},
        "the name ends in .gz but the contents are not gzip; take .gz off the name if the file is not compressed");
  }
  auto whole = std::make_unique<ReplayedBytes>(std::string(head.data(), got), std::move(raw));
  if (!is_gzip) return whole;
  return std::make_unique<GzipBytes>(std::move(whole), name);
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  if (path == "-") {
    return unzipped_bytes(std::make_unique<FileBytes>("standard input", STDIN_FILENO, false),
                          "standard input");
  }
  struct stat status {};
  const int descriptor = open_checked(path, status);
  const std::uint64_t size = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  return unzipped_bytes(std::make_unique<FileBytes>(path, descriptor, true, size), path);
}

std::unique_ptr<ByteSource> memory_bytes(std::string_view content) {
  return std::make_unique<MemoryBytes>(content);
}

std::uint64_t checked_file_size(const std::string& path) {
  struct stat status {};
  ::close(open_checked(path, status, O_NONBLOCK));  // of a pipe nobody waits for a writer
  if (!S_ISREG(status.st_mode)) {
    throw BadInput({.file = path}, "this is not a regular file; copy it to one first");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

bool begins_with(const std::string& path, std::string_view text) {
  std::error_code ignored;
  if (path == "-" || std::filesystem::is_other(path, ignored) || std::filesystem::is_fifo(path, ignored))
    return false;
  std::array<char, 512> front = {};
  const auto bytes = open_bytes(path);
  std::size_t length = 0;
  while (length < front.size()) {
    const std::size_t got = bytes->read(std::span(front).subspan(length));
    if (got == 0) break;
    length += got;
  }
  std::string_view begin(front.data(), length);
  if (begin.starts_with("\xEF\xBB\xBF")) begin.remove_prefix(3);
  begin.remove_prefix(std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
  return begin.starts_with(text);
}

}  // namespace subspectra
