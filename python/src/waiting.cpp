#include "waiting.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
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

/// A thread that stays between calls of the main thread, with what it has allocated: starting one for every
/// call takes longer than a small fit.
class ParkedThread {
 public:
  /// Null while it is at work: a signal's handler calls in the middle of a call. Throws std::system_error
  /// where the system gives no thread. From the main thread alone.
  static ParkedThread* idle() {
    static ParkedThread* parked = nullptr;  // never destroyed: it may still wait when the process ends
    if (parked != nullptr && parked->process_ == ::getpid())
      return parked->task_ == nullptr ? parked : nullptr;
    auto made = std::make_unique<ParkedThread>();  // the first, or after a fork, which takes no threads along
    std::thread(&ParkedThread::serve, made.get()).detach();
    return parked = made.release();
  }

  /// Runs `task` there, and here `meanwhile` about every 100 ms until it has ended.
  void run(const std::function<void()>& task, const std::function<void()>& meanwhile) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    begun_.notify_one();
    while (!ended_.wait_for(lock, std::chrono::milliseconds(100), [&] { return task_ == nullptr; })) {
      lock.unlock();
      meanwhile();
      lock.lock();
    }
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      begun_.wait(lock, [&] { return task_ != nullptr; });
      lock.unlock();
      (*task_)();
      lock.lock();
      task_ = nullptr;
      ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void()>* task_ =
      nullptr;  ///< changed under the lock, by the main thread while there is none
  pid_t process_ = ::getpid();
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
      ParkedThread* thread = nullptr;
      try {
        thread = ParkedThread::idle();
      } catch (
          const std::system_error&) {  // the system gives no more threads: nobody hears signals meanwhile
      }
      if (thread == nullptr) {
        guarded();
      } else {
        thread->run(guarded, [&] {
          const nb::gil_scoped_acquire locked;
          if (PyErr_CheckSignals() != 0) from_signal.take();
        });
      }
    }
  }
  if (!from_progress.empty()) from_progress.raise();
  if (!from_signal.empty() && !contact.keeps_best) from_signal.raise();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace subspectra::python
