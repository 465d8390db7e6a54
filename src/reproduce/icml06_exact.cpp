/// ICML06, Section 2.3: how long the exact search takes on random problems of 10 to 40 features.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "reproduce/optimal_subsets.hpp"
#include "reproduce/papers.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"
#include "synth/brownian.hpp"

namespace subspectra::reproduce {
namespace {

constexpr Index kExactRows = synth::Brownian{}.rows;
constexpr Index kMostChecked = 15;  ///< features: up to here all subsets are looked at, too
constexpr Index kPaperFeatures = 40;
constexpr double kPaperSeconds = 7200.0;

/// What one problem gave.
struct Measured {
  double half_s = 0.0, half_nodes = 0.0;  ///< k = n/2 alone
  double all_s = 0.0, all_nodes = 0.0;    ///< every k at once
  double greedy_best = 0.0;               ///< share of all k at which gslda has the best set
  double difference = 0.0;  ///< from the best of all subsets, relative, where they were looked at
};

struct Experimenter {
  const ReproduceOptions& options;
  const RunControl& control;

  [[nodiscard]] Selection select(const Dataset& data, const char* method, KRange k) const {
    const SelectOptions selection{.k = std::move(k),
                                  .criterion = Criterion::kLargest,
                                  .certify = false,
                                  .seed = options.seed,
                                  .threads = options.threads};
    return select_features(data, Method(method), selection, control.silent());
  }

  /// Nothing when it was stopped on the way: a search cut short has no time of its own.
  [[nodiscard]] std::optional<Measured> measure(Index n, std::uint64_t seed) const {
    const Dataset data = synth::Brownian{.rows = kExactRows, .features = n, .seed = seed}.make();
    const Selection greedy = select(data, "gslda", {1, n});
    const Selection half = select(data, "eslda", {n / 2, n / 2});
    const Selection all = select(data, "eslda", {1, n});
    if (half.status != Status::kOptimal || all.status != Status::kOptimal ||
        greedy.sets().size() != all.sets().size()) {
      return std::nullopt;
    }
    Measured measured{.half_s = half.search_s,
                      .half_nodes = static_cast<double>(half.search->nodes),
                      .all_s = all.search_s,
                      .all_nodes = static_cast<double>(all.search->nodes)};
    for (std::size_t i = 0; i < all.sets().size(); ++i) {
      if (greedy.sets()[i].objective >= all.sets()[i].objective * (1.0 - 1e-9))
        measured.greedy_best += 1.0 / static_cast<double>(n);
    }
    if (n <= kMostChecked) {
      const TwoClass pair = two_class_pair(data, options.threads);
      const Vector best = two_class_range(pair.a, pair.b, Vector::Zero(n)).most;
      for (Index k = 1; k <= n; ++k) {
        const double value = all.sets()[static_cast<std::size_t>(k - 1)].objective;
        measured.difference = std::max(measured.difference, std::abs(value - best[k - 1]) / best[k - 1]);
      }
    }
    return measured;
  }
};

/// Mean and standard error of one number over the problems of a size.
Finding mean_of(const char* series, Index n, const std::vector<Measured>& all, double Measured::*number) {
  Finding finding{.series = series, .x = n};
  const auto count = static_cast<double>(all.size());
  double sum = 0.0;
  double squares = 0.0;
  for (const Measured& measured : all) sum += measured.*number;
  for (const Measured& measured : all) squares += std::pow(measured.*number - sum / count, 2.0);
  finding.obtained = sum / count;
  if (all.size() > 1) finding.spread = std::sqrt(squares / (count - 1.0) / count);
  return finding;
}

}  // namespace

void exact_search_times(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  auto sizes = options.size_list();
  if (sizes.empty()) {
    sizes = options.quick ? std::vector<Index>{10, 15, 20, 25, 30}
                          : std::vector<Index>{10, 15, 20, 25, 30, 35, 40};
  }
  if (sizes.front() < 2)
    throw InvalidArgument({.field = "sizes",
                           .value = fmt::format("{}", fmt::join(sizes, ",")),
                           .rule = ": at least 2 features are needed"});
  const Index runs = options.runs > 0 ? options.runs : options.quick ? 2 : 5;
  result.axis = "n";
  result.spread = "standard error of the mean over the problems of a size";
  result.settings = {{"sizes", sizes}, {"problems", runs}, {"rows", kExactRows}};
  result.protocol = {
      fmt::format(
          "Two classes of random walks with n features: problem i of a size is `subspectra synth brownian ⟨features n⟩ ⟨seed {}+i⟩` ({} rows); {} of every size. The paper's covariance matrices of 10 to 40 features are not published.",
          options.seed, kExactRows, runs),
      "`k = n/2` is `select ⟨method eslda⟩ ⟨k n/2⟩`, `all k` is `⟨k 1:n⟩`: greedy start, search and proof, on as many threads as asked for; seconds by the clock. `greedy is best` is the share of all k at which gslda had the best set.",
      fmt::format("Up to n = {} the best of every size is also found by looking at all subsets.",
                  kMostChecked)};
  const Experimenter experimenter{options, control};
  double difference = -1.0;
  bool stopped = false;
  for (const Index n : sizes) {
    std::vector<Measured> all;
    for (Index i = 0; i < runs && !stopped; ++i) {
      control.report(result.id, -1.0, [&] { return fmt::format("n = {}, problem {}/{}", n, i + 1, runs); });
      const auto measured = experimenter.measure(n, options.seed + static_cast<std::uint64_t>(i));
      stopped = !measured;
      if (measured) all.push_back(*measured);
      if (measured && n <= kMostChecked) difference = std::max(difference, measured->difference);
    }
    if (all.empty()) break;
    Finding half = mean_of("k = n/2, s", n, all, &Measured::half_s);
    if (n == kPaperFeatures) {
      half.published = kPaperSeconds;
      half.statement =
          "even with good initialization, branch-and-bound search can still take a long time, e.g. about 2 hours for n = 40, k = 20 (Section 2.3)";
    }
    result.results.push_back(std::move(half));
    result.results.push_back(mean_of("k = n/2, nodes", n, all, &Measured::half_nodes));
    result.results.push_back(mean_of("all k, s", n, all, &Measured::all_s));
    result.results.push_back(mean_of("all k, nodes", n, all, &Measured::all_nodes));
    result.results.push_back(mean_of("greedy is best", n, all, &Measured::greedy_best));
    if (stopped) break;
  }
  if (difference >= 0.0) {
    result.details["largest_relative_difference"] = difference;
    result.notes.push_back(
        fmt::format("Exact search and a look at all subsets agree to {:.1e} of the value.", difference));
  }
  result.notes.emplace_back(
      "The paper does not say on which machine, nor on which problem, its two hours were measured: they are an order of magnitude to compare with, no more.");
  result.status = stopped ? control.status_or(Status::kInterrupted) : Status::kHeuristic;
}

}  // namespace subspectra::reproduce
