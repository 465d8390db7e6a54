/// JMLR05, Figure 3a: test error of a support vector machine on features that Q-alpha chose, with and without
/// labels, on the two problems of Weston et al., against filters and the machine on all features.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <subspectra/qalpha.hpp>
#include <subspectra/rankers.hpp>

#include "classify/classifier.hpp"
#include "reproduce/qalpha_runs.hpp"
#include "select/select.hpp"
#include "synth/weston.hpp"

namespace subspectra::reproduce {
namespace {

constexpr Index kTestRows = 500;
constexpr std::array<Index, 5> kTrainingRows = {20, 30, 50, 75, 100};
constexpr Index kMostRows = kTrainingRows.back();

struct WestonContestant {
  const char* name;
  std::optional<Method> method = {};  ///< nothing: a set that needs none
};
constexpr std::size_t kWestonContestants = 10, kAll = 8, kRelevant = 9;
const std::array<WestonContestant, kWestonContestants>& weston_contestants() {
  static const std::array<WestonContestant, kWestonContestants> all = {
      {{"qalpha-supervised", QAlphaSupervised{}},
       {"qalpha-supervised, one vector", QAlphaSupervised{.within_vectors = 1}},
       {"qalpha", QAlpha{}},
       {"pearson", Pearson{}},
       {"fisher", Fisher{}},
       {"ks", Ks{}},
       {"svm-rfe", SvmRfe{.C = 1.0}},
       {"svm-rmb", SvmRmb{.C = 1.0}},
       {"SVM on all"},
       {"SVM on relevant"}}};
  return all;
}

struct WestonCell {
  bool linear;
  Index rows;
};
std::string_view problem_name(bool linear) { return linear ? "linear" : "non-linear"; }

struct WestonOutcome {
  std::array<double, kWestonContestants> error = {};
  std::array<double, kWestonContestants> found = {};  ///< share of the relevant features among those chosen
};

/// The columns x_j of these features, and for the non-linear problem their products x_i x_j, i <= j, too.
Dataset machine_input(const Dataset& data, const std::vector<Index>& features, bool linear) {
  DatasetParts input;
  input.source = data.source();
  if (data.labels() != nullptr) input.labels = *data.labels();
  const Matrix x = data.values().columns(features);
  if (linear) {
    input.dense = x;
    return input;
  }
  const Index k = x.cols();
  input.dense.resize(x.rows(), k + k * (k + 1) / 2);
  input.dense.leftCols(k) = x;
  Index next = k;
  for (Index i = 0; i < k; ++i) {
    for (Index j = i; j < k; ++j) input.dense.col(next++) = x.col(i).cwiseProduct(x.col(j));
  }
  return input;
}

double test_error(const Dataset& training, const Dataset& test, std::uint64_t seed) {
  std::vector<Index> all(static_cast<std::size_t>(training.features()));
  std::iota(all.begin(), all.end(), Index{0});
  const ClassifierTrainer trainer(training, all, 0.0, Svm{.C = 1.0}, {.seed = seed, .threads = 1});
  const Matrix scores = trainer.fit()->log_posteriors(test.values().packed());
  Index wrong = 0;
  for (Index i = 0; i < test.rows(); ++i) {
    Index predicted = 0;
    scores.row(i).maxCoeff(&predicted);
    wrong += predicted != test.labels()->codes[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  return static_cast<double>(wrong) / static_cast<double>(test.rows());
}

std::vector<Index> span_of(Index first, Index count) {
  std::vector<Index> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), first);
  return list;
}

WestonOutcome compare(const WestonCell& cell, std::uint64_t seed, const RunControl& control) {
  // Row i depends on (seed, i) alone: the smaller training sets are parts of the larger ones.
  const Dataset table = cell.linear
                            ? synth::WestonLinear{.rows = kMostRows + kTestRows, .seed = seed}.make()
                            : synth::WestonNonlinear{.rows = kMostRows + kTestRows, .seed = seed}.make();
  const Index relevant = cell.linear ? synth::WestonLinear::kRelevant : synth::WestonNonlinear::kRelevant;
  const Dataset training = table.with_rows(span_of(0, cell.rows));
  const Dataset test = table.with_rows(span_of(kMostRows, kTestRows));
  WestonOutcome outcome;
  for (std::size_t c = 0; c < kWestonContestants && !control.should_stop(); ++c) {
    std::vector<Index> features;
    const auto& method = weston_contestants()[c].method;
    if (!method) {
      features = span_of(0, c == kAll ? table.features() : relevant);
    } else {
      const SelectOptions options{.k = {relevant, relevant},
                                  .criterion = Criterion::kLargest,
                                  .certify = false,
                                  .seed = seed,
                                  .threads = 1};
      const Selection selection = select_features(training, *method, options, control.silent());
      if (control.should_stop()) break;
      features = first_of(selection.ranking, relevant);
    }
    const auto hits = std::count_if(features.begin(), features.end(), [&](Index j) { return j < relevant; });
    outcome.found[c] = static_cast<double>(hits) / static_cast<double>(relevant);
    outcome.error[c] = test_error(machine_input(training, features, cell.linear),
                                  machine_input(test, features, cell.linear), seed);
  }
  return outcome;
}

}  // namespace

void weston_problems(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  std::vector<WestonCell> cells;
  for (const bool linear : {true, false}) {
    for (const Index rows : kTrainingRows) {
      if (!options.quick || rows == 30 || rows == kMostRows) cells.push_back({linear, rows});
    }
  }
  const Index runs = runs_of(options, 2, 30);
  const Index items = static_cast<Index>(cells.size()) * runs;
  const auto slots = repeated<WestonOutcome>(items, options, control, result, [&](Index i) {
    return compare(cells[static_cast<std::size_t>(i / runs)],
                   options.seed + static_cast<std::uint64_t>(i % runs), control);
  });
  result.axis = "training rows";
  result.spread = "standard error over the runs";
  result.settings = {{"runs", runs},
                     {"test_rows", kTestRows},
                     {"features_linear", synth::WestonLinear::kRelevant},
                     {"features_nonlinear", synth::WestonNonlinear::kRelevant}};
  result.protocol = {
      fmt::format(
          "{} problems `synth weston-linear ⟨seed {}+i⟩` (6 relevant features of 202) and `synth weston-nonlinear` (2 of 52), error on {} other rows. The paper has 30 runs.",
          runs, options.seed, kTestRows),
      "As many features are chosen as there are relevant ones (6, 2). qalpha-supervised and the filters see the labels of the training rows, qalpha (k = 2) does not; the machine is then trained with the labels. `one vector`: ⟨within_vectors 1⟩ in place of 2.",
      "The machine is linear, C = 1 on standardized columns; on the non-linear problem it gets the chosen features and their products of two, a polynomial of second degree.",
      "svm-rfe (recursive elimination) and svm-rmb (the radius-margin bound, which Weston et al. minimize) look at a linear machine with C = 1, on the non-linear problem as well, where no linear machine sees anything. `SVM on relevant` is told which features are relevant."};
  Index done = 0;
  for (const auto& slot : slots) done += slot ? 1 : 0;
  close_runs(done, items, control, result);
  const auto sample = [&](std::size_t place, auto number) {
    Sample numbers;
    for (Index run = 0; run < runs; ++run) {
      const auto& slot = slots[place * static_cast<std::size_t>(runs) + static_cast<std::size_t>(run)];
      if (slot) numbers.values.push_back(number(*slot));
    }
    return numbers;
  };
  for (std::size_t place = 0; place < cells.size(); ++place) {  // what was chosen out of the most rows
    if (cells[place].rows != kMostRows) continue;
    for (std::size_t c = 0; c < kAll; ++c) {
      const auto found = sample(place, [&](const WestonOutcome& outcome) { return outcome.found[c]; });
      if (found.empty()) continue;
      result.results.push_back(with_sample(
          {.series = fmt::format("{}: {}, relevant share of the chosen, {} rows",
                                 problem_name(cells[place].linear), weston_contestants()[c].name, kMostRows)},
          found));
    }
  }
  for (std::size_t place = 0; place < cells.size(); ++place) {
    for (std::size_t c = 0; c < kWestonContestants; ++c) {
      const auto errors = sample(place, [&](const WestonOutcome& outcome) { return outcome.error[c]; });
      if (errors.empty()) continue;
      Finding point{
          .series = fmt::format("{}: {}", problem_name(cells[place].linear), weston_contestants()[c].name),
          .x = cells[place].rows};
      if (c == 0 && place == 0) {
        point.statement =
            "The performance of the supervised Q-alpha closely agrees with the performance of the wrapper SVM feature selection algorithms. The performance of the unsupervised version does not fall much behind (Section 6; the curves are in the figure alone)";
      }
      result.results.push_back(with_sample(std::move(point), errors));
    }
  }
  result.notes.emplace_back("The paper does not say how many features were chosen.");
}

}  // namespace subspectra::reproduce
