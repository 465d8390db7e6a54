#include "io/isolated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "core/memory.hpp"
#include "io/byte_source.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUBSPECTRA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SUBSPECTRA_SANITIZED 1
#endif
#endif

// There in sanitizer builds only: libFuzzer's callback would save the input of a child that dies as a
// finding. NOLINTNEXTLINE(*-reserved-identifier,readability-identifier-naming,cert-*)
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace subspectra {
namespace {

// --- the protocol: a tag byte, then fixed-size little-endian fields and counted arrays
// -----------------------------
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
constexpr std::uint64_t kMostBlock = 1 << 20;  // array elements in one message
constexpr std::uint64_t kMostText = 1 << 24;   // bytes of one text
constexpr std::uint64_t kTextBlock = 1 << 12;  // texts in one message
constexpr std::size_t kBuffer = 1 << 18;

/// In the child: everything the decoder finds goes into the pipe.
class PipeSink final : public TableSink {
 public:
  explicit PipeSink(int descriptor) : descriptor_(descriptor) { buffer_.reserve(kBuffer); }

  void begin_dense(Index rows, Index columns, TileOrder order, const std::string& place) override {
    put(MessageTag::kDense);
    put(static_cast<std::int64_t>(rows));
    put(static_cast<std::int64_t>(columns));
    put(static_cast<std::uint8_t>(order));
    put_text(place);
  }
  void dense_tile(Index rows, Index columns, std::span<const double> values) override {
    // A tile larger than a message goes along its band in parts: column-wise tiles cut by rows would have to
    // be gathered first, so decoders keep their tiles below the limit and this only checks.
    if (values.size() > kMostBlock) throw Error("a tile is too large for the pipe");
    put(MessageTag::kTile);
    put(static_cast<std::int64_t>(rows));
    put(static_cast<std::int64_t>(columns));
    put_array(values);
  }
  void begin_sparse(Index rows, Index columns, std::span<const std::int32_t> counts,
                    const std::string& place) override {
    put(MessageTag::kSparse);
    put(static_cast<std::int64_t>(rows));
    put(static_cast<std::int64_t>(columns));
    put_text(place);
    while (!counts.empty()) {
      const auto block = counts.first(std::min<std::size_t>(counts.size(), kMostBlock));
      put(MessageTag::kSparseCounts);
      put_array(block);
      counts = counts.subspan(block.size());
    }
  }
  void sparse_entries(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                      std::span<const double> values) override {
    while (!values.empty()) {
      const std::size_t n = std::min<std::size_t>(values.size(), kMostBlock);
      put(MessageTag::kSparseEntries);
      put_array(rows.first(n));
      put_array(columns.first(n));
      put_array(values.first(n));
      rows = rows.subspan(n);
      columns = columns.subspan(n);
      values = values.subspan(n);
    }
  }
  void feature_names(std::vector<std::string> names) override {
    put(MessageTag::kNames);
    put_texts(names);
  }
  void side_column(SideColumn column) override {
    put(MessageTag::kSide);
    put_text(column.name);
    put_text(column.first.place);
    put(static_cast<std::uint8_t>((column.is_label ? 1U : 0U) | (column.may_be_ignored ? 2U : 0U) |
                                  (column.is_numeric ? 4U : 0U) | (column.may_be_target ? 8U : 0U)));
    put_texts(column.values);
  }
  void note(std::string text) override {
    put(MessageTag::kNote);
    put_text(text);
  }
  void failure(MessageTag tag, std::string_view sentence) {
    // What was half-written before does not matter: the parent finds the tag only between messages, and a
    // decoder throws between them.
    put(tag);
    put_text(sentence.substr(0, 4096));
    flush();
  }
  void end() {
    put(MessageTag::kEnd);
    flush();
  }

 private:
  template <class T>
  void put(T value) {
    put_bytes(&value, sizeof(T));
  }
  template <class T>
  void put_array(std::span<const T> values) {
    put(static_cast<std::uint64_t>(values.size()));
    put_bytes(values.data(), values.size_bytes());
  }
  void put_text(std::string_view text) {
    if (text.size() > kMostText) throw BadInput("a text of more than 16 MB");
    put(static_cast<std::uint64_t>(text.size()));
    put_bytes(text.data(), text.size());
  }
  void put_texts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (text.size() > kMostText) throw BadInput("a text of more than 16 MB");
    }
    put(static_cast<std::uint64_t>(texts.size()));
    for (std::size_t start = 0; start < texts.size(); start += kTextBlock) {
      const std::size_t n = std::min<std::size_t>(texts.size() - start, kTextBlock);
      put(MessageTag::kTexts);
      put(static_cast<std::uint64_t>(n));
      for (std::size_t i = start; i < start + n; ++i) put_text(texts[i]);
    }
  }
  void put_bytes(const void* bytes, std::size_t size) {
    if (size == 0) return;
    if (buffer_.size() + size > kBuffer) flush();
    if (size > kBuffer) {
      write_all(static_cast<const char*>(bytes), size);
    } else {
      const auto* first = static_cast<const char*>(bytes);
      buffer_.insert(buffer_.end(), first, first + size);
    }
  }
  void flush() {
    write_all(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  void write_all(const char* bytes, std::size_t size) const {
    while (size > 0) {
      const ssize_t put = ::write(descriptor_, bytes, size);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) ::_exit(1);  // the parent has gone
      bytes += put;
      size -= static_cast<std::size_t>(put);
    }
  }

  int descriptor_;
  std::vector<char> buffer_;
};

/// A child and the reading end of its pipe; leaves neither a process nor a descriptor behind.
class Child {
 public:
  Child(pid_t process, int descriptor) : process_(process), descriptor_(descriptor) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { stop(); }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  void kill() const {
    if (process_ > 0) ::kill(process_, SIGKILL);
  }
  /// Waits for the end; the status of waitpid, or nullopt if someone else has reaped it.
  std::optional<int> wait() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    int status = 0;
    pid_t reaped = -1;
    do {
      reaped = ::waitpid(process_, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    process_ = -1;
    if (reaped < 0) return std::nullopt;
    return status;
  }

 private:
  void stop() {
    if (process_ <= 0) return;
    kill();
    wait();
  }
  pid_t process_;
  int descriptor_;
};

/// The child stopped talking before the end; why is seen from its exit status.
struct ChildSilent {
  bool timed_out = false;
};

class PipeReader {
 public:
  PipeReader(int descriptor, double patience_s)
      : descriptor_(descriptor), patience_s_(patience_s), buffer_(kBuffer) {}

  void take(void* into, std::size_t size) {
    auto* out = static_cast<char*>(into);
    while (size > 0) {
      if (at_ == filled_) {
        if (size >= kBuffer) {
          const std::size_t got = read_some(out, size);
          out += got;
          size -= got;
          continue;
        }
        filled_ = read_some(buffer_.data(), buffer_.size());
        at_ = 0;
      }
      const std::size_t n = std::min(size, filled_ - at_);
      std::memcpy(out, buffer_.data() + at_, n);
      at_ += n;
      out += n;
      size -= n;
    }
  }

 private:
  std::size_t read_some(char* into, std::size_t size) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(patience_s_);
    for (;;) {
      const double left_s = std::chrono::duration<double>(deadline - Clock::now()).count();
      if (left_s <= 0) throw ChildSilent{.timed_out = true};
      pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&wanted, 1, static_cast<int>(std::clamp(left_s * 1000.0 + 1.0, 1.0, 1e8)));
      if (ready < 0 && errno != EINTR) throw ChildSilent{};
      if (ready <= 0) continue;
      const ssize_t got = ::read(descriptor_, into, size);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) throw ChildSilent{};
      return static_cast<std::size_t>(got);
    }
  }

  int descriptor_;
  double patience_s_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

/// In the parent: the other end of PipeSink. The child may have been taken over by the file it reads, so its
/// words are checked like the bytes of any file.
class MessageReader {
 public:
  MessageReader(std::string path, std::string kind, PipeReader& pipe, TableBuilder& builder,
                const IsolationLimits& limits)
      : path_(std::move(path)),
        kind_(std::move(kind)),
        pipe_(pipe),
        builder_(builder),
        memory_limit_(limits.memory_limit) {}

  void read_all() {
    for (;;) {
      switch (static_cast<MessageTag>(get<std::uint8_t>())) {
        case MessageTag::kDense:
          dense();
          break;
        case MessageTag::kTile:
          tile();
          break;
        case MessageTag::kSparse:
          sparse();
          break;
        case MessageTag::kSparseEntries:
          entries();
          break;
        case MessageTag::kNames:
          builder_.feature_names(get_texts(builder_.columns()));
          break;
        case MessageTag::kSide:
          side();
          break;
        case MessageTag::kNote:
          if (++notes_ > 10000) broken();
          builder_.note(get_text(kMostText));
          break;
        case MessageTag::kBadInput:
          throw BadInput(get_text(8192));
        case MessageTag::kError:
          throw Error(get_text(8192));
        case MessageTag::kEnd:
          return;
        default:
          broken();
      }
    }
  }

 private:
  [[noreturn]] void broken() const {
    throw BadInput(
        {.file = path_},
        fmt::format("damaged {} file: its decoder went astray; write the file again from its source", kind_));
  }
  template <class T>
  T get() {
    T value{};
    pipe_.take(&value, sizeof(T));
    return value;
  }
  Index get_index() {
    const auto value = get<std::int64_t>();
    if (value < 0 || value > (std::int64_t{1} << 48)) broken();
    return value;
  }
  template <class T>
  void get_array(std::vector<T>& into) {
    const auto n = get<std::uint64_t>();
    if (n > kMostBlock) broken();
    into.resize(static_cast<std::size_t>(n));
    pipe_.take(into.data(), into.size() * sizeof(T));
  }
  std::string get_text(std::uint64_t most) {
    const auto n = get<std::uint64_t>();
    if (n > most) broken();
    std::string text(static_cast<std::size_t>(n), '\0');
    pipe_.take(text.data(), text.size());
    return text;
  }
  std::vector<std::string> get_texts(Index expected) {
    const auto n = get<std::uint64_t>();
    if (n != static_cast<std::uint64_t>(expected)) broken();
    std::vector<std::string> texts;
    while (texts.size() < n) {
      if (static_cast<MessageTag>(get<std::uint8_t>()) != MessageTag::kTexts) broken();
      const auto block = get<std::uint64_t>();
      if (block == 0 || block > kTextBlock || block > n - texts.size()) broken();
      for (std::uint64_t i = 0; i < block; ++i) {
        texts.push_back(get_text(kMostText));
        text_bytes_ += static_cast<double>(sizeof(std::string) + texts.back().size());
      }
      require_memory(text_bytes_, fmt::format("{}: the names and text columns", path_),
                     "leave out columns that are not needed, or raise ⟨memory_limit⟩", memory_limit_);
    }
    return texts;
  }

  void dense() {
    const Index rows = get_index();
    const Index columns = get_index();
    const auto order = get<std::uint8_t>();
    if (order > 1) broken();
    builder_.begin_dense(rows, columns, static_cast<TileOrder>(order), get_text(kMostText));
  }
  void tile() {
    const Index rows = get_index();
    const Index columns = get_index();
    get_array(values_);
    builder_.dense_tile(rows, columns, values_);
  }
  void sparse() {
    const Index rows = get_index();
    const Index columns = get_index();
    const std::string place = get_text(kMostText);
    require_memory(static_cast<double>(columns) * 12.0,
                   fmt::format("{}: a table of {} columns", path_, columns),
                   "take fewer features, or raise ⟨memory_limit⟩", memory_limit_);
    std::vector<std::int32_t> counts;
    while (static_cast<Index>(counts.size()) < columns) {
      if (static_cast<MessageTag>(get<std::uint8_t>()) != MessageTag::kSparseCounts) broken();
      get_array(columns_);
      if (columns_.empty() || static_cast<Index>(counts.size() + columns_.size()) > columns) broken();
      counts.insert(counts.end(), columns_.begin(), columns_.end());
    }
    builder_.begin_sparse(rows, columns, counts, place);
  }
  void entries() {
    get_array(rows_);
    get_array(columns_);
    get_array(values_);
    builder_.sparse_entries(rows_, columns_, values_);
  }
  void side() {
    if (++sides_ > 1000000) broken();
    SideColumn column;
    column.name = get_text(kMostText);
    column.first = {.file = path_, .place = get_text(kMostText)};
    const auto flags = get<std::uint8_t>();
    column.is_label = (flags & 1U) != 0;
    column.may_be_ignored = (flags & 2U) != 0;
    column.is_numeric = (flags & 4U) != 0;
    column.may_be_target = (flags & 8U) != 0;
    column.values = get_texts(builder_.rows());
    builder_.side_column(std::move(column));
  }

  std::string path_, kind_;
  PipeReader& pipe_;
  TableBuilder& builder_;
  std::uint64_t memory_limit_;
  std::vector<double> values_;
  std::vector<std::int32_t> rows_, columns_;
  double text_bytes_ = 0;
  int notes_ = 0, sides_ = 0;
};

void limit(__rlimit_resource resource, std::uint64_t most) {
  rlimit limits{};
  if (::getrlimit(resource, &limits) != 0) return;
  limits.rlim_cur = std::min<rlim_t>(limits.rlim_max, most);
  ::setrlimit(resource, &limits);
}

/// The address space in use now; libraries reserve a lot of it that no one ever touches.
std::uint64_t address_space() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

struct ChildLimits {
  std::uint64_t cpu_s = 0;
  std::uint64_t address_space = 0;
};

/// Never returns. Runs in the forked child, where other threads do not exist any more: no locks of the
/// parent's threads are needed here (glibc makes malloc usable after fork).
[[noreturn]] void run_child(int descriptor, const std::string& path, const Decoder& decode,
                            const ChildLimits& limits) {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CPU, limits.cpu_s);
#ifndef SUBSPECTRA_SANITIZED
  limit(RLIMIT_AS, limits.address_space);
#endif
  constexpr int kPipe = 3;
  if (descriptor != kPipe) ::dup2(descriptor, kPipe);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    for (int standard = 0; standard < 3; ++standard) ::dup2(nowhere, standard);
  }
  ::close_range(kPipe + 1, ~0U, 0);
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);  // reading needs no lock, and read-only disks have none
  PipeSink sink(kPipe);
  try {
    decode(path, sink);
    sink.end();
  } catch (const BadInput& error) {
    sink.failure(MessageTag::kBadInput, error.marked());
  } catch (const Error& error) {
    sink.failure(MessageTag::kError, error.marked());
  } catch (const std::bad_alloc&) {
    sink.failure(
        MessageTag::kBadInput,
        fmt::format("{}: asks for more memory than may be used; if the file is sound, raise ⟨memory_limit⟩",
                    path));
  } catch (const std::exception& error) {
    sink.failure(MessageTag::kBadInput,
                 fmt::format("{}: damaged: {}; write the file again from its source", path, error.what()));
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

std::string end_of_child(const std::optional<int>& status) {
  if (!status) return "its decoder stopped";
  if (WIFSIGNALED(*status)) {
    const int number = WTERMSIG(*status);
    if (number == SIGXCPU) return "its decoder did not come to an end";
    if (number == SIGKILL) return "its decoder was killed, perhaps for want of memory";
    return fmt::format("its decoder crashed ({})", ::strsignal(number));
  }
  return fmt::format("its decoder gave up (exit code {})", WEXITSTATUS(*status));
}

}  // namespace

RawTable read_isolated(const std::string& path, const std::string& kind, const Decoder& decode,
                       IsolationLimits limits) {
  const auto file_size = static_cast<double>(checked_file_size(path));
  // Sound files are decoded at 50 MB/s and more. The clock on the wall gets more time than the processor: the
  // machine may be busy with something else.
  const bool given = limits.patience_s > 0;
  const double patience_s = given ? limits.patience_s : 60.0 + file_size / 1e6;
  const double cpu_s = given ? limits.patience_s : 20.0 + file_size / 1e6;
  const ChildLimits child_limits{.cpu_s = static_cast<std::uint64_t>(cpu_s + 1.0),
                                 .address_space = address_space() + memory_budget(limits.memory_limit)};
  TableBuilder builder(path,
                       {.most_values = kMostExpansion * file_size, .memory_limit = limits.memory_limit});

  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(fmt::format("{}: no pipe to the decoding process ({})", path, std::strerror(errno)));
  }
  ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);  // fewer switches between the two; the default works too
  const pid_t process = ::fork();
  if (process == 0) run_child(ends[1], path, decode, child_limits);
  const int fork_error = errno;
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    throw Error(fmt::format("{}: no process to decode it ({})", path, std::strerror(fork_error)));
  }

  Child child(process, ends[0]);
  PipeReader pipe(child.descriptor(), patience_s);
  try {
    MessageReader(path, kind, pipe, builder, limits).read_all();
  } catch (const ChildSilent& silent) {
    if (silent.timed_out) child.kill();
    const std::optional<int> status = child.wait();
    if (status && WIFSIGNALED(*status) && (WTERMSIG(*status) == SIGINT || WTERMSIG(*status) == SIGTERM)) {
      throw Error(fmt::format("{}: interrupted while it was read", path));
    }
    throw BadInput(
        {.file = path},
        fmt::format("damaged {} file: {}; write the file again from its source, or export the table to CSV",
                    kind, silent.timed_out ? "its decoder did not come to an end" : end_of_child(status)));
  }
  return builder.finish();
}

}  // namespace subspectra
