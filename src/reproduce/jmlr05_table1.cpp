/// JMLR05, Table 1: leave-one-out errors of the support vector machine on genes that Q-alpha chose without
/// labels, against principal components, gene shaving, the signal-to-noise ratio, two selectors that look at
/// the machine and all genes, on a two-class table.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <subspectra/qalpha.hpp>
#include <subspectra/rankers.hpp>
#include <subspectra/sparse_pca.hpp>

#include "classify/classifier.hpp"
#include "reproduce/qalpha_runs.hpp"
#include "select/select.hpp"

namespace subspectra::reproduce {
namespace {

struct GeneContestant {
  Method method;
  std::string_view name;     ///< in the table
  std::vector<Index> sizes;  ///< features or components; empty: all features
  bool components = false;
};

/// The key of the number of features where the weights fall.
constexpr Index kCut = 0;

std::vector<GeneContestant> gene_contestants(bool quick) {
  using Sizes = std::vector<Index>;
  const Sizes sizes = quick ? Sizes{10, 50, 200} : Sizes{5, 10, 20, 50, 100, 200, 500, 1000};
  return {{.method = All{}, .name = "RAW", .sizes = {}},
          {.method = Pca{},
           .name = "PCA",
           .sizes = quick ? Sizes{5, 10} : Sizes{5, 10, 20, 30, 40, 50},
           .components = true},
          {.method = QAlpha{.clusters = 6}, .name = "Q-alpha", .sizes = sizes},
          {.method = Snr{}, .name = "SNR", .sizes = sizes},
          {.method = SvmRfe{.C = 1.0}, .name = "SVM-RFE", .sizes = sizes},
          {.method = SvmRmb{.C = 1.0}, .name = "SVM-RMB", .sizes = sizes},
          // The slowest by far comes last: a run that is stopped has the others.
          {.method = GeneShaving{.shave = quick ? 0.3 : 0.1, .permutations = quick ? 1 : 5},
           .name = "GS",
           .sizes = quick ? Sizes{5} : Sizes{5, 10, 20, 30},
           .components = true}};
}

/// The column of Table 1 that this table is, by its size; empty for others. Numbers of rows.
std::map<std::string, double> published_errors(const Dataset& data) {
  constexpr std::array<const char*, 13> kPublishedRows = {"RAW",   "PCA5",    "PCA10", "PCA20", "PCA30",
                                                          "PCA40", "PCA50",   "GS5",   "GS10",  "GS20",
                                                          "GS30",  "Q-alpha", "SNR"};
  using Column = std::array<double, kPublishedRows.size()>;
  struct Known {
    Index rows, features;
    Column errors;
  };
  static const std::array<Known, 4> known = {
      {{60, 7129, {32, 22, 26, 25, 31, 31, 30, 20, 24, 28, 30, 15, 16}},
       {90, 12600, {44, 47, 47, 47, 47, 47, 47, 45, 43, 47, 44, 19, 42}},
       {78, 24624, {34, 33, 26, 25, 31, 31, 30, 32, 31, 32, 33, 22, 29}},
       {58, 7129, {27, 40, 27, 29, 33, 33, 33, 33, 30, 31, 33, 15, 18}}}};
  std::map<std::string, double> errors;
  for (const Known& table : known) {
    if (table.rows != data.rows() || table.features != data.features()) continue;
    for (std::size_t i = 0; i < kPublishedRows.size(); ++i) errors[kPublishedRows[i]] = table.errors[i];
  }
  return errors;
}

Dataset two_class_table(const ReproduceOptions& options) {
  Dataset all = load_dense_table(options);
  if (!all.labels() || all.labels()->class_count() != 2) {
    throw BadInput(
        {.file = all.source()},
        fmt::format(
            "jmlr05-table1 needs a label column of two classes, and there {}; name another one with ⟨target⟩ or leave rows out",
            all.labels() ? fmt::format("are {} classes", all.labels()->class_count())
                         : std::string("is none")));
  }
  std::vector<Index> labelled;
  for (Index i = 0; i < all.rows(); ++i) {
    if (all.labels()->codes[static_cast<std::size_t>(i)] >= 0) labelled.push_back(i);
  }
  Dataset data = all.with_rows(labelled);
  const auto counts = data.labels()->counts();
  if (*std::min_element(counts.begin(), counts.end()) < 3) {
    throw BadInput({.file = all.source()}, "every class needs three rows or more; give a larger table");
  }
  return data;
}

/// Whether the left-out row was classified wrongly, by size; `kept` is what the cut kept.
struct GeneOutcome {
  std::map<Index, bool> wrong;
  Index kept = 0;
};

bool misclassified(const Rule& rule, const Dataset& row, const std::vector<Index>& features) {
  Index predicted = 0;
  rule.log_posteriors(row.values().columns(features)).row(0).maxCoeff(&predicted);
  return predicted != row.labels()->codes.front();
}

GeneOutcome leave_out(const Dataset& data, Index row, const GeneContestant& contestant, std::uint64_t seed,
                      const RunControl& control) {
  std::vector<Index> training_rows(static_cast<std::size_t>(data.rows()));
  std::iota(training_rows.begin(), training_rows.end(), Index{0});
  training_rows.erase(training_rows.begin() + row);
  const Dataset training = data.with_rows(training_rows);
  const Dataset left_out = data.with_rows({row});
  const Classifier machine = Svm{.C = 1.0};
  SelectOptions selection{.criterion = Criterion::kLargest, .certify = false, .seed = seed, .threads = 1};
  if (contestant.components) {
    const Index most = std::min(contestant.sizes.back(), training.rows() - 1);
    selection.k = {std::min<Index>(most, data.features()), std::min<Index>(most, data.features())};
  } else {
    selection.k = {1, 1};  // the ranking is what is used
  }
  const Selection found = select_features(training, contestant.method, selection, control.silent());
  GeneOutcome outcome;
  if (control.should_stop()) return outcome;
  if (contestant.components) {
    if (found.fits().empty()) return outcome;
    const FittedDiscriminants& record = found.fits().front();
    for (const Index size : contestant.sizes) {
      if (size > record.matrix.cols()) break;
      const auto leading = leading_columns(record, size);
      outcome.wrong[size] =
          misclassified(*fit_rule(training, leading, machine, {.seed = seed}), left_out, leading.features);
    }
    return outcome;
  }
  const auto judge = [&](Index key, const std::vector<Index>& features) {
    const ClassifierTrainer trainer(training, features, 0.0, machine, {.seed = seed, .threads = 1});
    outcome.wrong[key] = misclassified(*trainer.fit(), left_out, features);
  };
  if (contestant.sizes.empty()) {
    judge(kCut, found.sets().front().features);
    return outcome;
  }
  for (const Index size : contestant.sizes) {
    if (size <= static_cast<Index>(found.ranking.size())) judge(size, first_of(found.ranking, size));
  }
  if (found.relevance && found.relevance->cut > 0) {
    outcome.kept = found.relevance->cut;
    judge(kCut, first_of(found.ranking, outcome.kept));
  }
  return outcome;
}

}  // namespace

void gene_selection_table(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  const Dataset data = two_class_table(options);
  const auto list = gene_contestants(options.quick);
  const Index planned = options.runs > 0 ? options.runs : options.quick ? 12 : data.rows();
  const Index rows = std::min(planned, data.rows());
  const Index items = rows * static_cast<Index>(list.size());
  // Left out are rows spread evenly over the table.
  const auto slots = repeated<GeneOutcome>(items, options, control, result, [&](Index i) {
    return leave_out(data, (i % rows) * data.rows() / rows, list[static_cast<std::size_t>(i / rows)],
                     options.seed, control);
  });
  const auto& shaving = list.back().method.as<GeneShaving>();
  const auto published = rows == data.rows() ? published_errors(data) : std::map<std::string, double>{};
  const auto counts = data.labels()->counts();
  result.spread = "standard error of the number of errors";
  result.settings = {
      {"rows", data.rows()}, {"features", data.features()}, {"left_out", rows}, {"clusters", 6}};
  result.protocol = {
      fmt::format(
          "{}: {} rows ({} {}, {} {}), {} features, all of them (the paper cut two of its tables to the first 7,000 genes), values as in the file.",
          data.source(), data.rows(), counts[0], data.labels()->classes[0], counts[1],
          data.labels()->classes[1], data.features()),
      fmt::format(
          "{} rows are left out, one at a time; features or components are chosen anew on the others, and a linear SVM (C = 1, columns standardized) is trained on them.",
          rows),
      fmt::format(
          "RAW: all features. PCAn: the first n principal components. GSn: the signed means of n shaved sets (⟨permutations {}⟩, ⟨shave {}⟩). Q-alpha (k = 6) does not see the labels, SNR, SVM-RFE (recursive elimination) and SVM-RMB (the radius-margin bound) do; n is the number of features. `cut`: Q-alpha keeps the features above the largest relative gap of its weights.",
          shaving.permutations, shaving.shave),
      "Numbers of errors. Those of the paper are taken as numbers of rows, too: as percentages some of them are no whole number of rows."};
  Index done = 0;
  for (const auto& slot : slots) done += slot ? 1 : 0;
  close_runs(done, items, control, result);
  for (std::size_t c = 0; c < list.size(); ++c) {
    const GeneContestant& contestant = list[c];
    std::map<Index, Sample> wrong;
    Sample kept;
    Index judged = 0;
    for (Index row = 0; row < rows; ++row) {
      const auto& slot = slots[c * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row)];
      if (!slot) continue;
      ++judged;
      for (const auto& [size, value] : slot->wrong) wrong[size].values.push_back(value ? 1.0 : 0.0);
      if (slot->kept > 0) kept.values.push_back(static_cast<double>(slot->kept));
    }
    const auto add = [&](std::string name, const Sample& sample, const std::string& row_of_paper) {
      const auto count = static_cast<double>(sample.values.size());
      Finding finding{
          .series = std::move(name), .obtained = count * sample.mean(), .spread = count * sample.error()};
      if (static_cast<Index>(sample.values.size()) < rows) {  // stopped, or a size that not every row allowed
        finding.series += fmt::format(", in {} rows only", sample.values.size());
        result.results.push_back(std::move(finding));
        return;
      }
      const auto paper = published.find(row_of_paper);
      if (paper != published.end()) finding.published = paper->second;
      result.results.push_back(std::move(finding));
    };
    const std::string name(contestant.name);
    const Sample* least = nullptr;
    Index best = 0;
    for (const auto& [size, sample] : wrong) {
      // A size that some training sets could not give is not comparable with the others.
      if (size != kCut && static_cast<Index>(sample.values.size()) == judged &&
          (least == nullptr || sample.mean() < least->mean())) {
        least = &sample;
        best = size;
      }
      if (contestant.sizes.empty()) {
        add(name, sample, name);
      } else if (contestant.components) {
        add(name + std::to_string(size), sample, name + std::to_string(size));
      } else {
        add(size == kCut ? name + ", cut" : fmt::format("{}, n = {}", name, size), sample, "");
      }
    }
    if (!contestant.sizes.empty() && !contestant.components && least != nullptr)
      add(fmt::format("{}, fewest errors over n (n = {})", name, best), *least, name);
    if (!kept.empty())
      result.results.push_back(with_sample({.series = name + ", features above the cut"}, kept));
  }
  result.notes.push_back(fmt::format("Always saying `{}` makes {} errors in {} rows.",
                                     data.labels()->classes[counts[0] >= counts[1] ? 0 : 1],
                                     std::min(counts[0], counts[1]), data.rows()));
  result.notes.emplace_back(
      "The fewest errors over n are optimistic: n was chosen with the rows that were left out. The paper did so for SNR; it does not say how many features Q-alpha kept.");
}

}  // namespace subspectra::reproduce
