#include "signals.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <pthread.h>
#include <unistd.h>

namespace subspectra::cli {
namespace {

std::atomic<pthread_t> waiting_thread{};
std::atomic<bool> file_too_large = false;

constexpr std::array<int, 4> kHandled = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};

/// A library that starts threads of its own before main (a threaded BLAS behind a solver) leaves them open to
/// every signal, and the kernel may pick one of them: it passes the signal on to the thread that waits for
/// it.
void pass_on(int number) {
  if (number == SIGXFSZ) file_too_large = true;  // known before the write that has failed says so
  pthread_kill(waiting_thread, number);
}

/// Only what a signal handler may do.
[[noreturn]] void end_in_words(int number) {
  static constexpr char kWords[] =
      "subspectra: error: interrupted before there was anything to write; nothing was written\n";
  static_cast<void>(!::write(STDERR_FILENO, kWords, sizeof kWords - 1));
  _exit(128 + number);
}

}  // namespace

void end_in_words_when_interrupted() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = end_in_words;
    sigaction(number, &action, nullptr);
  }
}

Signals::Signals() {
  sigemptyset(&waited_);
  bool any = false;
  for (const int number : kHandled) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&waited_, number);
      any = true;
    }
  }
  sigset_t blocked = waited_;
  sigdelset(&blocked, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  if (!any) return;
  watcher_ = std::thread([this] { watch(); });
  waiting_thread = watcher_.native_handle();
  for (const int number : kHandled) {
    if (sigismember(&waited_, number) != 1) continue;
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

Signals::~Signals() {
  if (!watcher_.joinable()) return;
  for (const int number : kHandled) {
    if (sigismember(&waited_, number) == 1) static_cast<void>(std::signal(number, SIG_DFL));
  }
  done_ = true;
  // Only this thread gets it, and it looks at done_ before it looks at the signal.
  const auto* const any = std::find_if(kHandled.begin(), kHandled.end(),
                                       [&](int number) { return sigismember(&waited_, number) == 1; });
  pthread_kill(watcher_.native_handle(), *any);
  watcher_.join();
}

int Signals::exit_code() const {
  const int code = exit_code_;
  return code == 0 && file_too_large ? 128 + SIGXFSZ : code;
}

void Signals::watch() {
  pthread_sigmask(SIG_BLOCK, &waited_, nullptr);
  std::chrono::steady_clock::time_point first_at;
  while (true) {
    int number = 0;
    if (sigwait(&waited_, &number) != 0) continue;
    if (done_) return;
    if (number == SIGXFSZ) {  // no wish: the write has failed, and whoever wrote says so and cleans up
      source_.request_stop();
      continue;
    }
    const bool first = exit_code_.exchange(128 + number) == 0;
    // timeout(1) and shells send one signal to the process and again to its group: what follows at once is
    // the same wish, not a second one.
    constexpr auto kSameWish = std::chrono::milliseconds(100);
    const auto now = std::chrono::steady_clock::now();
    if (!working_) end_in_words(number);
    if (!first && now - first_at > kSameWish) _exit(128 + number);
    if (first) first_at = now;
    source_.request_stop();
  }
}

}  // namespace subspectra::cli
