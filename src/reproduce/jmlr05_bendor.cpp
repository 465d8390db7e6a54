/// JMLR05, Section 6 (genomics, synthetic data): Q-alpha on the model of gene expressions of Ben-Dor et al.,
/// one parameter of it varied at a time.
#include <algorithm>
#include <array>
#include <numeric>

#include "filters/partition_search.hpp"
#include "filters/surprise.hpp"
#include "reproduce/qalpha_runs.hpp"
#include "synth/bendor.hpp"

namespace subspectra::reproduce {
namespace {

struct Cell {
  std::string name;  ///< "m = 5"
  synth::BenDor problem;
  Index starts = 1;
  bool spread_sweep = false;  ///< the paper counts how much likelier relevant features are
  std::optional<double> published = {};
  std::string statement = {};
};

std::vector<Cell> cells() {
  std::vector<Cell> list;
  for (const Index m : {5, 10, 25, 50, 100, 250, 600, 2000}) {
    Cell cell{.name = fmt::format("m = {}", m), .problem = {.features = m}, .published = 1.0};
    if (m == 5) {
      cell.statement =
          "Our algorithm was completely robust to the number of features m: it always chose the correct features using as few as 5 features (Section 6)";
    }
    list.push_back(std::move(cell));
  }
  for (const double d : {1.0, 10.0, 100.0, 555.0, 1000.0})
    list.push_back({.name = fmt::format("d = {}", d), .problem = {.d = d}});
  list.back().statement =
      "Both algorithms are invariant to d and perform well for d in [1, 1000] (Section 6)";
  constexpr Index kStarts = 5;
  for (const double e : {0.72, 0.95, 0.99, 0.995}) {
    list.push_back({.name = fmt::format("e = {}", e), .problem = {.e = e}});
    list.push_back({.name = fmt::format("e = {}, best of {} starts", e, kStarts),
                    .problem = {.e = e},
                    .starts = kStarts});
  }
  list.back().statement =
      "The percentage of irrelevant features can reach 95% for MSA and 99.5% for our algorithm (Section 6)";
  for (const double s : {0.75, 2.0, 10.0, 100.0, 1000.0, 2000.0})
    list.push_back({.name = fmt::format("s = {}", s), .problem = {.s = s}, .spread_sweep = true});
  list.back().statement =
      "our algorithm was robust to s, and was at least 30 times more likely to choose a relevant feature than an irrelevant one, even for s > 1000 (Section 6)";
  return list;
}

constexpr std::array<std::pair<synth::Spread, const char*>, 2> kReadings = {
    {{synth::Spread::kVariance, "variance"}, {synth::Spread::kDeviation, "deviation"}}};

constexpr Index kSearchStarts = 5;  // of the search for a partition

/// Relevant features among as many of the best as there are relevant ones, by reading: of the weights of
/// Q-alpha, and of the threshold errors under the true classes and under the partition found without them.
struct Hits {
  std::array<Index, 2> weights{};
  std::array<double, 2> errors{}, searched{};
  std::array<double, 2> rows_right{};  ///< share, of the partition found
};

Index relevant_of(const synth::BenDor& problem) { return problem.features - problem.irrelevant(); }

/// The relevant ones among the `relevant` features of fewest errors; of those that tie at the end every one
/// counts by the chance that it is taken (many tie, and by index the relevant ones would always come first).
double fewest_errors(const std::vector<Index>& errors, Index relevant) {
  std::vector<Index> sorted = errors;
  std::nth_element(sorted.begin(), sorted.begin() + (relevant - 1), sorted.end());
  const Index last = sorted[static_cast<std::size_t>(relevant - 1)];
  const auto count = [&](Index features, auto holds) {
    return static_cast<double>(std::count_if(errors.begin(), errors.begin() + features, holds));
  };
  const auto below = [&](Index e) { return e < last; };
  const auto tied = [&](Index e) { return e == last; };
  const auto all = static_cast<Index>(errors.size());
  const double room = static_cast<double>(relevant) - count(all, below);
  return count(relevant, below) + room * count(relevant, tied) / count(all, tied);
}

void search_classes(const Dataset& data, Index relevant, std::uint64_t seed, std::size_t reading,
                    const RunControl& control, Hits& hits) {
  std::vector<Index> features(static_cast<std::size_t>(data.features()));
  std::iota(features.begin(), features.end(), Index{0});
  const auto found = filters::most_surprising_partition(data, features, {.restarts = kSearchStarts}, seed,
                                                        /*threads=*/1, /*memory_limit=*/0, control.silent());
  hits.searched[reading] = fewest_errors(filters::threshold_errors(data, features, found.sides, 1), relevant);
  Index same = 0;
  for (std::size_t i = 0; i < found.sides.size(); ++i)
    same += found.sides[i] == data.labels()->codes[i] ? 1 : 0;
  const auto rows = data.rows();
  hits.rows_right[reading] = static_cast<double>(std::max(same, rows - same)) / static_cast<double>(rows);
}

Hits hits_of(const Cell& cell, std::uint64_t seed, const RunControl& control) {
  Hits hits;
  for (std::size_t reading = 0; reading < kReadings.size(); ++reading) {
    synth::BenDor problem = cell.problem;
    problem.seed = seed;
    problem.spread_as = kReadings[reading].first;
    const Dataset data = problem.make();
    const Index relevant = relevant_of(problem);
    const Vector weights = qalpha_weights(data, QAlpha{.restarts = cell.starts}, seed, control);
    hits.weights[reading] = relevant_among(weights, relevant, relevant);
    if (cell.starts > 1) continue;
    hits.errors[reading] = fewest_errors(filters::threshold_errors(data, 1), relevant);
    search_classes(data, relevant, seed, reading, control, hits);
  }
  return hits;
}

}  // namespace

void expression_model(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  const auto list = cells();
  const Index runs = runs_of(options, 3, 50);
  const Index items = static_cast<Index>(list.size()) * runs;
  const auto slots = repeated<Hits>(items, options, control, result, [&](Index i) {
    return hits_of(list[static_cast<std::size_t>(i / runs)],
                   options.seed + static_cast<std::uint64_t>(i % runs), control);
  });
  const synth::BenDor model;
  result.spread = "standard error over the runs";
  result.settings = {{"runs", runs}, {"clusters", 2}, {"m", model.features}, {"a", model.a},
                     {"b", model.b}, {"e", model.e},  {"d", model.d},        {"s", model.s}};
  result.protocol = {
      fmt::format(
          "{} problems for every setting: `synth bendor ⟨seed {}+i⟩` with m = {}, a = {}, b = {}, e = {}, d = {}, s = {}, one of m, d, e, s changed at a time.",
          runs, options.seed, model.features, model.a, model.b, model.e, model.d, model.s),
      "qalpha, k = 2, features centred and of unit norm. With r relevant features the r largest weights are taken, and the share of relevant ones among them is counted; a choice by chance has the share 1 - e.",
      "N(mu, mu s) is read both ways: mu s is the variance, or the standard deviation. `times likelier`: the share of the relevant features that are chosen over that of the irrelevant ones, over all runs; nothing where no irrelevant one was chosen. `best of 5 starts`: the equal weights and four random ones, the largest objective kept.",
      fmt::format(
          "max-surprise is the rival that the paper compares with (MSA of Ben-Dor et al.): it ranks by the threshold number of misclassifications, told the classes, or searching for them, {} starts, the smaller class at least a tenth of the rows. Of features that tie at the end the expected share is counted. `rows_right` in the details is the share of rows that the partition found has on the side of their class.",
          kSearchStarts)};
  Index done = 0;
  for (const auto& slot : slots) done += slot ? 1 : 0;
  close_runs(done, items, control, result);
  for (std::size_t c = 0; c < list.size(); ++c) {
    const Cell& cell = list[c];
    const auto relevant = static_cast<double>(relevant_of(cell.problem));
    const double irrelevant = static_cast<double>(cell.problem.features) - relevant;
    for (std::size_t reading = 0; reading < kReadings.size(); ++reading) {
      Sample shares, told_shares, searched_shares, rows_right;
      double hits = 0.0;
      for (Index run = 0; run < runs; ++run) {
        const auto& slot = slots[c * static_cast<std::size_t>(runs) + static_cast<std::size_t>(run)];
        if (!slot) continue;
        hits += static_cast<double>(slot->weights[reading]);
        shares.values.push_back(static_cast<double>(slot->weights[reading]) / relevant);
        told_shares.values.push_back(slot->errors[reading] / relevant);
        searched_shares.values.push_back(slot->searched[reading] / relevant);
        rows_right.values.push_back(slot->rows_right[reading]);
      }
      if (shares.empty()) continue;
      const char* name = kReadings[reading].second;
      const bool first = reading == 0;
      result.results.push_back(with_sample({.series = fmt::format("{}: relevant share, {}", cell.name, name),
                                            .published = cell.published,
                                            .statement = first ? cell.statement : std::string()},
                                           shares));
      if (cell.starts == 1) {
        result.results.push_back(with_sample(
            {.series = fmt::format("{}: relevant share, {}, max-surprise, told", cell.name, name)},
            told_shares));
        result.results.push_back(with_sample(
            {.series = fmt::format("{}: relevant share, {}, max-surprise, searching", cell.name, name)},
            searched_shares));
        result.details["rows_right"][cell.name][name] = rows_right.mean();
      }
      if (!cell.spread_sweep) continue;
      const double wrong = relevant * static_cast<double>(shares.values.size()) - hits;
      Finding times{.series = fmt::format("{}: times likelier, {}", cell.name, name)};
      if (cell.problem.s >= 1000.0) times.published = 30.0;
      if (wrong > 0.0) times.obtained = (hits / relevant) / (wrong / irrelevant);
      result.results.push_back(std::move(times));
    }
  }
  result.notes.emplace_back(
      "At m = 5 one feature is relevant, and at m = 10 three: Q-alpha looks for what features have in common, and a single one has nothing in common with another.");
  result.notes.emplace_back("At e = 0.995 three features of 600 are relevant.");
}

}  // namespace subspectra::reproduce
