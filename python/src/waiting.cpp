#include "waiting.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

namespace subspectra::python {
namespace nb = nanobind;

namespace {

/// What a Python function raised, from whichever thread called it: the first one counts.
class Raised {
 public:
  explicit Raised(std::stop_source& stop) : stop_(stop) {}
  /// With the lock held and an error set.
  void take() {
    nb::python_error error;
    if (!error_) error_.emplace(std::move(error));
    stop_.request_stop();
  }
  [[nodiscard]] bool empty() const { return !error_.has_value(); }
  /// With the lock held.
  [[noreturn]] void raise() { throw nb::python_error(std::move(*error_)); }

 private:
  std::stop_source& stop_;
  std::optional<nb::python_error> error_;
};

}  // namespace

void run_waiting(const Contact& contact, const std::function<void(const RunControl&)>& work) {
  std::stop_source stop;
  Raised from_progress(stop), from_signal(stop);
  RunControl::Sink sink;
  if (!contact.progress.is_none()) {
    sink = [&](const Progress& now) {
      const nb::gil_scoped_acquire locked;
      try {
        contact.progress(nb::str(now.task.data(), now.task.size()), now.fraction, now.elapsed_s,
                         nb::str(now.detail.data(), now.detail.size()));
      } catch (nb::python_error& error) {
        error.restore();
        from_progress.take();
      }
    };
  }
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release unlocked;
    const RunControl control(stop.get_token(), contact.time_limit_s, sink);
    const auto guarded = [&] {
      try {
        work(control);
      } catch (...) {
        failure = std::current_exception();
      }
    };
    if (!contact.listens) {
      guarded();
    } else {
      std::mutex mutex;
      std::condition_variable ended;
      bool done = false;
      const auto told_when_done = [&] {
        guarded();
        // Told under the lock: this condition is gone as soon as the other thread has seen it.
        const std::lock_guard lock(mutex);
        done = true;
        ended.notify_one();
      };
      std::thread worker;
      try {
        worker = std::thread(told_when_done);
      } catch (const std::system_error&) {
        told_when_done();  // the system gives no more threads: nobody hears signals meanwhile
      }
      std::unique_lock lock(mutex);
      while (!ended.wait_for(lock, std::chrono::milliseconds(100), [&] { return done; })) {
        lock.unlock();
        {
          const nb::gil_scoped_acquire locked;
          if (PyErr_CheckSignals() != 0) from_signal.take();
        }
        lock.lock();
      }
      lock.unlock();
      if (worker.joinable()) worker.join();
    }
  }
  if (!from_progress.empty()) from_progress.raise();
  if (!from_signal.empty() && !contact.keeps_best) from_signal.raise();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace subspectra::python
