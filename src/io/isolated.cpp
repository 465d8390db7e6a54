#include "io/isolated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
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
#include <memory>
#include <optional>
#include <utility>

#include "core/companion.hpp"
#include "core/memory.hpp"
#include "io/byte_source.hpp"
#include "io/decoder_protocol.hpp"

namespace subspectra {
namespace {

using decoding::kBuffer;
using decoding::kMostBlock;
using decoding::kMostNote;
using decoding::kMostNotes;
using decoding::kMostText;
using decoding::kTextBlock;
using decoding::MessageTag;

/// What the program that decodes takes before it has read anything, and the buffers at both ends of the pipe.
constexpr std::size_t kDecoderAlone = std::size_t{16} << 20;

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

/// The memory that parent and child share: what the parent takes for the table the child may not have any
/// more.
class SharedMemory {
 public:
  /// The child (0: there is none) has been given everything that `memory` leaves, on top of what its program
  /// has by itself.
  SharedMemory(pid_t child, MemoryBudget& memory) : child_(child), memory_(memory), given_(memory.left()) {}

  /// After the parent has taken some: the child is held to the rest. False when it has more than that
  /// already.
  bool settle() {
    if (child_ <= 0 || memory_.left() >= told_) return true;
    told_ = memory_.left();
    rlimit limits{};
    // What the kernel does not let us ask or say leaves the child with its first limit.
    if (::prlimit(child_, RLIMIT_AS, nullptr, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY) return true;
    if (!own_) own_ = limits.rlim_cur > given_ ? limits.rlim_cur - given_ : 0;
    limits.rlim_cur = *own_ + told_;
    limits.rlim_max = std::max(limits.rlim_max, limits.rlim_cur);
    static_cast<void>(::prlimit(child_, RLIMIT_AS, &limits, nullptr));
    std::ifstream file(fmt::format("/proc/{}/statm", child_));
    std::uint64_t pages = 0;
    return !(file >> pages) || pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) <= limits.rlim_cur;
  }

 private:
  pid_t child_;
  MemoryBudget& memory_;
  std::uint64_t given_;
  std::uint64_t told_ = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint64_t> own_;  ///< address space of its program
};

class PipeReader {
 public:
  PipeReader(int descriptor, double patience_s)
      : descriptor_(descriptor),
        patience_s_(patience_s),
        buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)) {}

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
        filled_ = read_some(buffer_.get(), kBuffer);
        at_ = 0;
      }
      const std::size_t n = std::min(size, filled_ - at_);
      std::memcpy(out, buffer_.get() + at_, n);
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
      if (left_s <= 0) throw DecoderSilent{.timed_out = true};
      pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&wanted, 1, static_cast<int>(std::clamp(left_s * 1000.0 + 1.0, 1.0, 1e8)));
      if (ready < 0 && errno != EINTR) throw DecoderSilent{};
      if (ready <= 0) continue;
      const ssize_t got = ::read(descriptor_, into, size);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) throw DecoderSilent{};
      return static_cast<std::size_t>(got);
    }
  }

  int descriptor_;
  double patience_s_;
  std::unique_ptr<char[]> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

/// In the parent: the other end of PipeSink.
class MessageReader {
 public:
  MessageReader(std::string path, std::string kind, PipeReader& pipe, TableBuilder& builder,
                SharedMemory& shared)
      : path_(std::move(path)),
        kind_(std::move(kind)),
        pipe_(pipe),
        builder_(builder),
        shared_(shared),
        for_texts_{.what = fmt::format("{}: reading its names and text columns", path_),
                   .advice = "leave out columns that are not needed, or raise ⟨memory_limit⟩"},
        for_messages_{.what = fmt::format("{}: what its decoder sends", path_),
                      .advice = "raise ⟨memory_limit⟩"} {}

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
          if (++notes_ > kMostNotes) broken();
          builder_.note(get_text(kMostNote));
          break;
        case MessageTag::kBadInput:
          throw BadInput(get_text(kMostNote));
        case MessageTag::kError:
          throw Error(get_text(kMostNote));
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
    builder_.memory().make_room(into, static_cast<std::size_t>(n), for_messages_);
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
    MemoryBudget& memory = builder_.memory();
    memory.take(static_cast<double>(n) * sizeof(std::string), for_texts_);
    texts.reserve(static_cast<std::size_t>(n));
    settle();
    while (texts.size() < n) {
      if (static_cast<MessageTag>(get<std::uint8_t>()) != MessageTag::kTexts) broken();
      const auto block = get<std::uint64_t>();
      if (block == 0 || block > kTextBlock || block > n - texts.size()) broken();
      for (std::uint64_t i = 0; i < block; ++i) {
        texts.push_back(get_counted_text());
      }
      settle();
    }
    return texts;
  }

  /// A text that is kept, of any length.
  std::string get_counted_text() {
    const auto n = get<std::uint64_t>();
    if (n > kMostText) broken();
    builder_.memory().grow(MemoryBudget::on_heap(static_cast<std::size_t>(n)), for_texts_);
    std::string text(static_cast<std::size_t>(n), '\0');
    pipe_.take(text.data(), text.size());
    return text;
  }
  /// Parent and child together stay below the limit.
  void settle() {
    if (shared_.settle()) return;
    throw Error(fmt::format(
        "{}: the table and what its decoder holds beside it need more memory than may be used; raise ⟨memory_limit⟩, or save the table as NPZ, which is read without a decoder",
        path_));
  }

  void dense() {
    const Index rows = get_index();
    const Index columns = get_index();
    const auto order = get<std::uint8_t>();
    if (order > 1) broken();
    builder_.begin_dense(rows, columns, static_cast<TileOrder>(order), get_text(kMostNote));
    settle();
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
    const std::string place = get_text(kMostNote);
    HeldMemory held(builder_.memory());
    held.grow(static_cast<std::size_t>(columns) * sizeof(std::int32_t),
              {.what = fmt::format("{}: a table of {} columns", path_, columns),
               .advice = "take fewer features, or raise ⟨memory_limit⟩"});
    settle();
    std::vector<std::int32_t> counts;
    counts.reserve(static_cast<std::size_t>(columns));
    while (static_cast<Index>(counts.size()) < columns) {
      if (static_cast<MessageTag>(get<std::uint8_t>()) != MessageTag::kSparseCounts) broken();
      get_array(columns_);
      if (columns_.empty() || static_cast<Index>(counts.size() + columns_.size()) > columns) broken();
      counts.insert(counts.end(), columns_.begin(), columns_.end());
    }
    builder_.begin_sparse(rows, columns, counts, place);
    settle();
  }
  void entries() {
    get_array(rows_);
    get_array(columns_);
    get_array(values_);
    builder_.sparse_entries(rows_, columns_, values_);
  }
  void side() {
    if (++sides_ > 1000000) broken();
    builder_.memory().grow(2 * sizeof(SideColumn) + kMostNote, for_texts_);  // and the place
    SideColumn column;
    column.name = get_counted_text();
    column.first = {.file = path_, .place = get_text(kMostNote)};
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
  SharedMemory& shared_;
  MemoryPurpose for_texts_, for_messages_;
  std::vector<double> values_;
  std::vector<std::int32_t> rows_, columns_;
  int notes_ = 0, sides_ = 0;
};

/// Two ends of a pipe, closed by their owner whatever happens.
struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(std::size_t end) {
    if (ends.at(end) >= 0) ::close(std::exchange(ends.at(end), -1));
  }
};

/// Not fork: the program may have threads, locks and memory by the gigabyte, none of which a decoder needs.
/// The child has its end of the pipe as descriptor 3 and nothing else that was open here; standard streams
/// lead nowhere; signals are as in a fresh process. The rest it does to itself before it looks at the file.
pid_t start_decoder(const std::string& path, const DecoderProgram& decoder, std::uint64_t cpu_s,
                    std::uint64_t memory, int pipe) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe, decoding::kPipeDescriptor);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&actions, decoding::kPipeDescriptor + 1);
#endif
#endif
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);

  std::array<std::string, 6> words = {
      decoder.path,          decoder.format,         path,
      std::to_string(cpu_s), std::to_string(memory), std::to_string(::getpid())};
  std::array<char*, 7> arguments{};
  std::transform(words.begin(), words.end(), arguments.begin(),
                 [](std::string& word) { return word.data(); });
  pid_t process = -1;
  const int failure =
      ::posix_spawn(&process, decoder.path.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw Error(
        fmt::format("{}: no process to decode it ({}: {})", path, decoder.path, std::strerror(failure)));
  }
  return process;
}

std::string end_of_child(const std::optional<int>& status) {
  if (!status) return "its decoder stopped";
  if (WIFSIGNALED(*status)) {
    const int number = WTERMSIG(*status);
    if (number == SIGXCPU) return "its decoder did not come to an end";
    if (number == SIGKILL) return "its decoder was killed, perhaps for want of memory";
    return fmt::format("its decoder crashed ({})", ::strsignal(number));
  }
  if (WEXITSTATUS(*status) == decoding::kNoMemory) return "its decoder ran out of memory";
  return fmt::format("its decoder gave up (exit code {})", WEXITSTATUS(*status));
}

}  // namespace

DecoderProgram installed_decoder(const std::string& format) {
  return {
      .path = companion_file("subspectra-decode", "MAT and h5ad files are decoded by a program of its own"),
      .format = format};
}

void read_messages(int descriptor, double patience_s, const std::string& path, const std::string& kind,
                   TableBuilder& builder, pid_t process) {
  PipeReader pipe(descriptor, patience_s);
  SharedMemory shared(process, builder.memory());
  MessageReader(path, kind, pipe, builder, shared).read_all();
}

RawTable read_isolated(const std::string& path, const std::string& kind, const DecoderProgram& decoder,
                       IsolationLimits limits) {
  const auto file_size = static_cast<double>(checked_file_size(path));
  // Sound files are decoded at 50 MB/s and more. The clock on the wall gets more time than the processor: the
  // machine may be busy with something else.
  const bool given = limits.patience_s > 0;
  const double patience_s = given ? limits.patience_s : 60.0 + file_size / 1e6;
  const double cpu_s = given ? limits.patience_s : 20.0 + file_size / 1e6;
  TableBuilder builder(path,
                       {.most_values = kMostExpansion * file_size, .memory_limit = limits.memory_limit});
  builder.memory().grow(kDecoderAlone, {.what = fmt::format("{}: the program that decodes it", path),
                                        .advice = "raise ⟨memory_limit⟩"});

  Pipe ends;
  if (::pipe2(ends.ends.data(), O_CLOEXEC) != 0) {
    throw Error(fmt::format("{}: no pipe to the decoding process ({})", path, std::strerror(errno)));
  }
  ::fcntl(ends.ends[1], F_SETPIPE_SZ, 1 << 20);  // fewer switches between the two; the default works too
  const pid_t process = start_decoder(path, decoder, static_cast<std::uint64_t>(cpu_s + 1.0),
                                      builder.memory().left(), ends.ends[1]);
  Child child(process, std::exchange(ends.ends[0], -1));
  ends.close(1);
  try {
    read_messages(child.descriptor(), patience_s, path, kind, builder, process);
  } catch (const DecoderSilent& silent) {
    if (silent.timed_out) child.kill();
    const std::optional<int> status = child.wait();
    if (status && WIFSIGNALED(*status) && (WTERMSIG(*status) == SIGINT || WTERMSIG(*status) == SIGTERM)) {
      throw Error(fmt::format("{}: interrupted while it was read", path));
    }
    constexpr int kNotLoaded = 127;  // the dynamic linker's
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == kNotLoaded) {
      throw Error(fmt::format("{}: {} did not start; run it by hand to see which library is missing", path,
                              decoder.path));
    }
    throw BadInput(
        {.file = path},
        fmt::format("damaged {} file: {}; write the file again from its source, or export the table to CSV",
                    kind, silent.timed_out ? "its decoder did not come to an end" : end_of_child(status)));
  }
  return builder.finish();
}

}  // namespace subspectra
