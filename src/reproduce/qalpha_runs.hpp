#pragma once
/// What the experiments of JMLR05 share: repeated random problems, and the Q-alpha weights of one table.
#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <vector>

#include "core/parallel.hpp"
#include "qalpha/kernel.hpp"
#include "qalpha/qalpha.hpp"
#include "reproduce/papers.hpp"

namespace subspectra::reproduce {

/// Numbers of one cell of a table, one a run.
struct Sample {
  std::vector<double> values;
  [[nodiscard]] bool empty() const { return values.empty(); }
  [[nodiscard]] double mean() const;
  [[nodiscard]] double error() const;                   ///< standard error of the mean; 0 for a single run
  [[nodiscard]] double percentile(double share) const;  ///< linear between the order statistics
};

/// Mean and standard error of `sample` in `finding`, which stays without a number when there are no runs.
[[nodiscard]] Finding with_sample(Finding finding, const Sample& sample);

/// body(i) for i = 0..items-1, each in a slot of its own; nothing in those that a stop came before or into.
/// The slots do not depend on the number of threads.
template <class T, class Body>
std::vector<std::optional<T>> repeated(Index items, const ReproduceOptions& options,
                                       const RunControl& control, const Reproduction& result, Body body) {
  std::vector<std::optional<T>> slots(static_cast<std::size_t>(items));
  std::atomic<Index> done = 0;
  parallel_for(items, options.threads, [&](Index i) {
    if (control.should_stop()) return;
    T outcome = body(i);
    if (control.should_stop()) return;  // what ran while the stop came may be half a fit
    slots[static_cast<std::size_t>(i)] = std::move(outcome);
    const Index now = ++done;
    control.report(result.id, static_cast<double>(now) / static_cast<double>(items),
                   [&] { return fmt::format("run {}/{}", now, items); });
  });
  return slots;
}

/// Sets the status, and says in the notes how many runs there were when it was stopped.
void close_runs(Index done, Index planned, const RunControl& control, Reproduction& result);

/// `runs`, or the experiment's own number.
[[nodiscard]] Index runs_of(const ReproduceOptions& options, Index quick, Index full);

/// Weights of all columns of `data` by this method, on one thread.
[[nodiscard]] Vector qalpha_weights(const Dataset& data, const QAlpha& method, std::uint64_t seed,
                                    const RunControl& control);
[[nodiscard]] Vector qalpha_weights(const Dataset& data, const QAlphaOfKernel& method, std::uint64_t seed,
                                    const RunControl& control);

/// How many of the `count` largest weights belong to the first `relevant` features.
[[nodiscard]] Index relevant_among(const Vector& weights, Index count, Index relevant);
/// Weights below 0 by more than rounding.
[[nodiscard]] Index negative_weights(const Vector& weights);

}  // namespace subspectra::reproduce
