#include "signals.hpp"

#include <chrono>

#include <pthread.h>
#include <unistd.h>

namespace subspectra::cli {

Signals::Signals() {
  sigemptyset(&waited_);
  bool any = false;
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&waited_, number);
      any = true;
    }
  }
  pthread_sigmask(SIG_BLOCK, &waited_, nullptr);
  if (any) watcher_ = std::thread([this] { watch(); });
}

Signals::~Signals() {
  if (!watcher_.joinable()) return;
  done_ = true;
  // Only this thread gets it, and it looks at done_ before it looks at the signal.
  pthread_kill(watcher_.native_handle(), sigismember(&waited_, SIGTERM) == 1 ? SIGTERM : SIGINT);
  watcher_.join();
}

void Signals::watch() {
  std::chrono::steady_clock::time_point first_at;
  while (true) {
    int number = 0;
    if (sigwait(&waited_, &number) != 0) continue;
    if (done_) return;
    const bool first = exit_code_.exchange(128 + number) == 0;
    // timeout(1) and shells send one signal to the process and again to its group: what follows at once is
    // the same wish, not a second one.
    constexpr auto kSameWish = std::chrono::seconds(1);
    const auto now = std::chrono::steady_clock::now();
    if (!working_ || (!first && now - first_at > kSameWish)) _exit(128 + number);
    if (first) first_at = now;
    source_.request_stop();
  }
}

}  // namespace subspectra::cli
