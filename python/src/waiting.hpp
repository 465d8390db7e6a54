#pragma once
/// Long calls without the interpreter's lock: other Python threads run, Ctrl-C is heard, progress is told.
#include <nanobind/nanobind.h>

#include <functional>

#include <subspectra/run_control.hpp>

namespace subspectra::python {

/// How the caller wants to be kept in touch.
struct Contact {
  nanobind::object progress;  ///< called with (task, fraction, elapsed, detail), or None
  bool listens = true;        ///< this is the main thread, where signals arrive
  bool keeps_best = false;    ///< an interrupt ends the work and its answer is kept; else it is raised
  double time_limit_s = kInfinity;
};

/// Runs `work` without the lock. In the main thread it runs in another, which stays for the next call, while
/// this one asks ten times a second for signals: whatever their handlers raise (KeyboardInterrupt) stops the
/// work by its stop token and is raised when it has ended. What `work` or `progress` throws is thrown here.
void run_waiting(const Contact& contact, const std::function<void(const RunControl&)>& work);

}  // namespace subspectra::python
