#include "signals.hpp"

#include <chrono>

#include <pthread.h>
#include <unistd.h>

namespace subspectra::cli {
namespace {

std::atomic<pthread_t> waiting_thread{};

/// A library that starts threads of its own before main (a threaded BLAS behind a solver) leaves them open to
/// every signal, and the kernel may pick one of them: it passes the signal on to the thread that waits for
/// it.
void pass_on(int number) { pthread_kill(waiting_thread, number); }

}  // namespace

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
  if (!any) return;
  watcher_ = std::thread([this] { watch(); });
  waiting_thread = watcher_.native_handle();
  for (const int number : {SIGINT, SIGTERM}) {
    if (sigismember(&waited_, number) != 1) continue;
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

Signals::~Signals() {
  if (!watcher_.joinable()) return;
  for (const int number : {SIGINT, SIGTERM}) {
    if (sigismember(&waited_, number) == 1) static_cast<void>(std::signal(number, SIG_DFL));
  }
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
