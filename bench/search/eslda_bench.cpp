/// What each bound of the exact search saves, how nodes and time grow, and what a second thread gives.
///
///     bench_search_eslda bounds     each bound switched off in turn: nodes and processor time
///     bench_search_eslda growth     Brownian problems, n = 20..60, every fifth k
///     bench_search_eslda threads    one and two threads on searches of some seconds, by the clock
///     bench_search_eslda sonar      every k = 1..60 of Sonar in one run, processor time
///     bench_search_eslda sizes      every k down one tree, and each down a tree of its own
///
/// The sets to beat come from the dual pass with exchanges, as in the command line's eslda.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string_view>

#include "io/read.hpp"
#include "search/exact_hooks.hpp"
#include "search/greedy.hpp"
#include "search/swaps.hpp"
#include "spectral/pencil.hpp"
#include "synth/brownian.hpp"
#include "synth/gaussian_classes.hpp"

namespace subspectra {
namespace {

double processor_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Case {
  std::unique_ptr<Dataset> data;  // the pencil refers to it
  std::unique_ptr<Pencil> pencil;
  SearchUnits units;
  explicit Case(Dataset table)
      : data(std::make_unique<Dataset>(std::move(table))), pencil(lda_pencil(*data, 0.0, 1)) {
    std::vector<Index> candidates;
    for (Index j = 0; j < data->features(); ++j) {
      if (pencil->diagonal()[j] > 0.0) candidates.push_back(j);
    }
    units = SearchUnits::singles(candidates, {});
  }
  [[nodiscard]] std::vector<std::vector<RankedSet>> start(KRange k) const {
    const RunControl control;
    const auto passes =
        dual_pass(*pencil, units, {.least = k.lo, .most = k.hi, .threads = 1}, control, nullptr);
    std::vector<std::vector<RankedSet>> sets(static_cast<std::size_t>(k.hi - k.lo + 1));
    for (const auto* pass : {&passes.forward, &passes.backward}) {
      for (Index size = k.lo; size <= std::min(k.hi, pass->most); ++size) {
        std::vector<Index> members(pass->order.begin(), pass->order.begin() + size);
        if (!units.single) {
          std::sort(members.begin(), members.end());
          sets[static_cast<std::size_t>(size - k.lo)].push_back({members, 0.0});
          continue;
        }
        const auto better = improve_by_swaps(*pencil, units.features(members), units.features(), {},
                                             {.most = 100, .threads = 1}, control);
        RankedSet set;
        for (Index u = 0; u < units.count(); ++u) {
          if (std::binary_search(better.support.begin(), better.support.end(),
                                 units.members[static_cast<std::size_t>(u)].front())) {
            set.units.push_back(u);
          }
        }
        sets[static_cast<std::size_t>(size - k.lo)].push_back(std::move(set));
      }
    }
    return sets;
  }
};

struct Outcome {
  ExactResult result;
  double processor = 0.0, clock = 0.0;
};

Outcome timed(const Case& problem, const ExactRun& options, double limit_s = 120.0,
              const ExactHooks& hooks = {}) {
  const auto start = problem.start(options.k);
  const double before = processor_s();
  const auto at = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.result =
      exact_search(*problem.pencil, problem.units, start, options, RunControl({}, limit_s), hooks);
  outcome.clock = std::chrono::duration<double>(std::chrono::steady_clock::now() - at).count();
  outcome.processor = processor_s() - before;
  return outcome;
}

/// Neighbouring columns in pairs.
Case in_pairs(Case problem) {
  std::vector<std::vector<Index>> members;
  std::vector<Index> group;
  for (const Index j : problem.units.features()) {
    if (members.empty() || members.back().size() == 2) {
      group.push_back(static_cast<Index>(members.size()));
      members.emplace_back();
    }
    members.back().push_back(j);
  }
  problem.units.members = std::move(members);
  problem.units.group = std::move(group);
  problem.units.single = false;
  return problem;
}

Case brownian(Index n, std::uint64_t seed) {
  return Case(synth::Brownian{.rows = 1000, .features = n, .seed = seed}.make());
}

void bounds() {
  struct Row {
    const char* name;
    Case problem;
    KRange k;
  };
  std::vector<Row> rows;
  rows.push_back({"Sonar", Case(read_dataset("sonar")), {7, 7}});
  rows.push_back({"Ionosphere", Case(read_dataset("ionosphere")), {1, 33}});
  rows.push_back({"Brownian 40", brownian(40, 1), {1, 40}});
  rows.push_back({"Brownian 60", brownian(60, 1), {10, 10}});
  constexpr std::array<const char*, 5> kOff = {"all bounds", "no single drops", "no drop sums",
                                               "no gain sums", "no pair scans"};
  fmt::print("{:<14} {:>6}", "", "k");
  for (const auto* name : kOff) fmt::print(" {:>26}", name);
  fmt::print("\n");
  for (const auto& row : rows) {
    fmt::print("{:<14} {:>3}:{:<3}", row.name, row.k.lo, row.k.hi);
    for (std::size_t off = 0; off < kOff.size(); ++off) {
      ExactHooks hooks{.bounds = {}};
      if (off > 0) hooks.bounds.turn_off(static_cast<ExactBound>(off - 1));
      const auto outcome = timed(row.problem, {.k = row.k, .threads = 1}, 120.0, hooks);
      fmt::print(" {:>12} {:>9.3f} s{}", outcome.result.nodes, outcome.processor,
                 outcome.result.status == Status::kOptimal ? "  " : " >");
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
}

void growth() {
  fmt::print("{:>4} {:>4} {:>12} {:>10} {:>9}\n", "n", "k", "nodes", "CPU s", "gap");
  for (Index n = 20; n <= 80; n += 20) {
    const auto problem = brownian(n, 1);
    for (Index k = 5; k < n; k += n / 4) {
      const auto outcome = timed(problem, {.k = {k, k}, .threads = 1}, 60.0);
      const auto& size = outcome.result.sizes.front();
      fmt::print("{:>4} {:>4} {:>12} {:>10.3f} {:>8.2f}%\n", n, k, outcome.result.nodes, outcome.processor,
                 100.0 * (size.upper_bound / size.pool.front().value - 1.0));
      std::fflush(stdout);
    }
  }
}

void threads() {
  const Case sonar(read_dataset("sonar"));
  for (const Index k : {12, 14}) {
    const auto one = timed(sonar, {.k = {k, k}, .threads = 1});
    const auto two = timed(sonar, {.k = {k, k}, .threads = 2});
    fmt::print("Sonar k = {}: one thread {:.2f} s, two {:.2f} s, ratio {:.2f}; nodes {} {}\n", k, one.clock,
               two.clock, one.clock / two.clock, one.result.nodes, two.result.nodes);
    std::fflush(stdout);
  }
}

void sonar() {
  const Case problem(read_dataset("sonar"));
  const auto outcome = timed(problem, {.k = {1, 60}, .threads = 1}, 900.0);
  fmt::print("Sonar, k = 1..60: {} nodes, {:.1f} s of processor time, {}\n", outcome.result.nodes,
             outcome.processor, status_name(outcome.result.status));
}

void sizes() {
  struct Row {
    const char* name;
    Case problem;
    Criterion criterion;
  };
  const synth::GaussianClasses classes{
      .rows = 200, .features = 30, .classes = 4, .informative = 30, .separation = 0.5, .seed = 1};
  std::vector<Row> rows;
  rows.push_back({"Ionosphere", Case(read_dataset("ionosphere")), Criterion::kLargest});
  rows.push_back({"Sonar in pairs", in_pairs(Case(read_dataset("sonar"))), Criterion::kLargest});
  rows.push_back({"4 classes, largest", Case(classes.make()), Criterion::kLargest});
  rows.push_back({"4 classes, wilks", Case(classes.make()), Criterion::kWilks});
  fmt::print("{:<20} {:>5} {:>26} {:>26}\n", "", "units", "one tree", "a tree a size");
  for (const auto& row : rows) {
    const Index n = row.problem.units.count();
    // What is known beforehand must be the same, or the trees are not comparable.
    const auto start = row.problem.start({1, n});
    const auto search = [&](KRange k, const std::vector<std::vector<RankedSet>>& known) {
      return exact_search(*row.problem.pencil, row.problem.units, known,
                          {.criterion = row.criterion, .k = k, .threads = 1}, RunControl());
    };
    double before = processor_s();
    const auto together = search({1, n}, start).nodes;
    const double shared = processor_s() - before;
    before = processor_s();
    std::uint64_t apart = 0;
    for (Index k = 1; k <= n; ++k) apart += search({k, k}, {start[static_cast<std::size_t>(k - 1)]}).nodes;
    fmt::print("{:<20} {:>5} {:>12} {:>9.3f} s {:>14} {:>9.3f} s\n", row.name, n, together, shared, apart,
               processor_s() - before);
  }
}

}  // namespace
}  // namespace subspectra

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "bounds";
  if (what == "bounds") subspectra::bounds();
  if (what == "growth") subspectra::growth();
  if (what == "threads") subspectra::threads();
  if (what == "sonar") subspectra::sonar();
  if (what == "sizes") subspectra::sizes();
}
