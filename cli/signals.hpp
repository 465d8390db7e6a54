#pragma once
/// SIGINT, SIGTERM, SIGHUP and SIGXFSZ belong to the command line alone: the library is handed a stop token
/// and knows of no signal.
#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace subspectra::cli {

/// Blocks them in this thread, and so in every thread started later, and waits for them in a thread of its
/// own. (SIGXFSZ alone goes to the thread whose file has grown too large: it is passed on, and the write
/// fails.) Create it first in main. A signal that the parent process has set to be ignored (nohup, background
/// jobs) stays so.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  Signals(Signals&&) = delete;
  Signals& operator=(Signals&&) = delete;

  /// Until this is called there is nothing worth saving and a signal ends the program at once, in words. From
  /// then on the first signal asks the work to stop, so that what it has so far can be written, and the
  /// second one ends the program.
  void begin_work() { working_ = true; }
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// 0, or 128 plus the signal that came: the exit code of an interrupted run.
  [[nodiscard]] int exit_code() const;

 private:
  void watch();
  sigset_t waited_{};
  std::stop_source source_;
  std::atomic<bool> working_ = false;
  std::atomic<bool> done_ = false;
  std::atomic<int> exit_code_ = 0;
  std::thread watcher_;
};

/// The same before there is a Signals: words and the code of the signal, for those of the signals above that
/// are not ignored. May be called before any library is initialized.
void end_in_words_when_interrupted();

}  // namespace subspectra::cli
