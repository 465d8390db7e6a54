#include "evaluate/held_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/random.hpp"
#include "core/streams.hpp"
#include "eigen/symmetric.hpp"

namespace subspectra {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// One row among those that a class is ranked against.
struct RankedRow {
  double score = 0.0;
  double weight = 0.0;
  bool positive = false;
};

/// Share of `part` in `whole`; NaN of nothing.
double share(double part, double whole) { return whole > 0.0 ? part / whole : kNaN; }

/// What rows are ranked by for a class: of two the log odds, which tell apart what is all but certain; of
/// more the log probability, so that rows of one probability tie whatever the others have.
double rank_score(std::span<const float> log_posteriors, int positive) {
  const auto own = static_cast<std::size_t>(positive);
  const auto value = static_cast<double>(log_posteriors[own]);
  if (log_posteriors.size() > 2) return value;
  const double odds = value - static_cast<double>(log_posteriors[1 - own]);
  return std::isnan(odds) ? -kInfinity : odds;  // both impossible: a row whose distances overflow
}

/// The log posteriors less their mean over the classes: linear in the discriminants where the rule is linear.
/// -infinity is taken as the least of the row that is finite, or the least there is.
void centred_log_posteriors(std::span<const float> log_posteriors, Eigen::Ref<Vector> centred) {
  double least = kLeastLogProbability;
  for (const float value : log_posteriors) {
    if (std::isfinite(value)) least = std::min(least, static_cast<double>(value));
  }
  for (std::size_t c = 0; c < log_posteriors.size(); ++c) {
    const double value = log_posteriors[c];
    centred[static_cast<Index>(c)] = std::isfinite(value) ? value : least;
  }
  centred.array() -= centred.mean();
}

/// Two classes: the log odds of the second. More: the two directions in which the centred log posteriors vary
/// most, each with its largest entry positive.
Matrix projection_of(const Matrix& centred) {
  if (centred.rows() == 0) return {};
  if (centred.cols() == 2) return centred.col(1) - centred.col(0);
  const Matrix deviations = centred.rowwise() - centred.colwise().mean();
  const auto pairs = linalg::small_symmetric_eigen(deviations.transpose() * deviations, /*vectors=*/true);
  Matrix directions(centred.cols(), 2);
  for (Index r = 0; r < 2; ++r) {
    directions.col(r) = pairs.vectors.col(centred.cols() - 1 - r);
    Index largest = 0;
    directions.col(r).cwiseAbs().maxCoeff(&largest);
    if (directions(largest, r) < 0.0) directions.col(r) *= -1.0;
  }
  return centred * directions;
}

}  // namespace

KeptRows rows_to_keep(Index rows, std::uint64_t seed, bool every_row) {
  KeptRows kept;
  kept.every_row = every_row;
  kept.sample.resize(static_cast<std::size_t>(rows));
  std::iota(kept.sample.begin(), kept.sample.end(), Index{0});
  if (rows > kMostSampledRows) {
    Random(seed, streams::row_sample()).shuffle(std::span<Index>(kept.sample));
    kept.sample.resize(static_cast<std::size_t>(kMostSampledRows));
    std::sort(kept.sample.begin(), kept.sample.end());
  }
  kept.place.assign(static_cast<std::size_t>(rows), -1);
  for (std::size_t i = 0; i < kept.sample.size(); ++i)
    kept.place[static_cast<std::size_t>(kept.sample[i])] = static_cast<Index>(i);
  return kept;
}

Matrix confusion_counts(std::span<const int> truth, std::span<const int> predicted, Index truths,
                        Index answers) {
  Matrix counts = Matrix::Zero(truths, answers);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] != Labels::kMissing) counts(truth[i], predicted[i]) += 1.0;
  }
  return counts;
}

void HeldOutTally::start(const Dataset& data, const KeptRows& kept) {
  classes_ = data.labels()->class_count();
  confusion_ = Matrix::Zero(classes_, classes_);
  const auto classes = static_cast<std::size_t>(classes_);
  sample_.assign(kept.sample.size() * classes, 0.0F);
  sampled_.assign(kept.sample.size(), 0);
  sampled_wrong_.assign(kept.sample.size(), 0);
  if (!kept.every_row) return;
  const auto rows = static_cast<std::size_t>(data.rows());
  probabilities_.assign(rows * classes, 0.0F);
  times_.assign(rows, 0);
  named_.assign(rows, -1);
  wrong_.assign(rows, 0);
}

void HeldOutTally::add_row(const Dataset& data, const KeptRows& kept, Index row, int predicted,
                           std::span<const float> log_posteriors) {
  const int truth = data.labels()->codes[static_cast<std::size_t>(row)];
  const double weight = data.weight(row);
  confusion_(truth, predicted) += weight;
  constexpr double kRounding = 1e-6;  // of a float: 0.5 belongs above 0.5
  const auto add_to_bin = [&](int c) {
    const double p = std::exp(static_cast<double>(log_posteriors[static_cast<std::size_t>(c)]));
    Bin& bin =
        bins_[std::min(kBins - 1, static_cast<std::size_t>(p * static_cast<double>(kBins) + kRounding))];
    bin.weight += weight;
    bin.predicted += weight * p;
    if (truth == c) bin.observed += weight;
  };
  for (int c = classes_ == 2 ? 1 : 0; c < classes_; ++c) add_to_bin(c);
  const auto classes = static_cast<std::size_t>(classes_);
  if (const Index place = kept.place[static_cast<std::size_t>(row)]; place >= 0) {
    const auto at = static_cast<std::size_t>(place);
    if (sampled_[at] == 0)
      std::copy(log_posteriors.begin(), log_posteriors.end(), sample_.begin() + place * classes_);
    ++sampled_[at];
    if (predicted != truth) ++sampled_wrong_[at];
  }
  if (!kept.every_row) return;
  const auto at = static_cast<std::size_t>(row);
  for (std::size_t c = 0; c < classes; ++c) probabilities_[at * classes + c] += std::exp(log_posteriors[c]);
  ++times_[at];
  named_[at] = predicted;
  if (predicted != truth) ++wrong_[at];
}

bool HeldOutTally::rank_class(const Dataset& data, std::span<const HeldOutFold> folds, int positive,
                              double& area, std::array<double, kRocSteps + 1>& curve) const {
  std::vector<RankedRow> ranked;
  double positives = 0.0, negatives = 0.0;
  for (const HeldOutFold& fold : folds) {
    if (fold.answers == nullptr) continue;
    const std::span<const float> all(fold.answers->log_posteriors);
    const auto classes = static_cast<std::size_t>(classes_);
    for (std::size_t i = 0; i < fold.rows->size(); ++i) {
      const Index row = (*fold.rows)[i];
      const bool is_positive = data.labels()->codes[static_cast<std::size_t>(row)] == positive;
      ranked.push_back(
          {rank_score(all.subspan(i * classes, classes), positive), data.weight(row), is_positive});
      (is_positive ? positives : negatives) += ranked.back().weight;
    }
  }
  if (!(positives > 0.0 && negatives > 0.0)) return false;
  std::sort(ranked.begin(), ranked.end(),
            [](const RankedRow& a, const RankedRow& b) { return a.score > b.score; });
  area = 0.0;
  double x0 = 0.0, y0 = 0.0;  // rates of false and of true positives so far
  double false_weight = 0.0, true_weight = 0.0;
  std::size_t step = 1;  // the next false-positive rate whose height is wanted
  curve[0] = 0.0;
  constexpr double kRounding = 1e-12;
  const auto rate_of = [](std::size_t at) {
    return static_cast<double>(at) / static_cast<double>(kRocSteps);
  };
  for (std::size_t i = 0; i < ranked.size();) {
    const double score = ranked[i].score;
    for (; i < ranked.size() && ranked[i].score == score; ++i)
      (ranked[i].positive ? true_weight : false_weight) += ranked[i].weight;
    const double x1 = false_weight / negatives, y1 = true_weight / positives;
    area += (x1 - x0) * (y0 + y1) / 2.0;
    if (x1 > x0) {
      for (; step <= kRocSteps && rate_of(step) <= x1 + kRounding; ++step)
        curve[step] = y0 + std::clamp((rate_of(step) - x0) / (x1 - x0), 0.0, 1.0) * (y1 - y0);
    }
    if (std::abs(rate_of(step - 1) - x1) <= kRounding) curve[step - 1] = y1;  // straight up from here
    x0 = x1;
    y0 = y1;
  }
  for (; step <= kRocSteps; ++step) curve[step] = 1.0;
  return true;
}

void HeldOutTally::add_repeat(const Dataset& data, const KeptRows& kept, std::span<const HeldOutFold> folds) {
  bool any = false;
  for (const HeldOutFold& fold : folds) {
    if (fold.answers == nullptr) continue;
    if (classes_ == 0) start(data, kept);
    any = true;
    const std::span<const float> all(fold.answers->log_posteriors);
    const auto classes = static_cast<std::size_t>(classes_);
    for (std::size_t i = 0; i < fold.rows->size(); ++i)
      add_row(data, kept, (*fold.rows)[i], fold.answers->predicted[i], all.subspan(i * classes, classes));
  }
  if (!any) return;
  repeats_ += 1.0;
  double area = 0.0, counted = 0.0;
  std::array<double, kRocSteps + 1> curve{};
  for (int c = classes_ == 2 ? 1 : 0; c < classes_; ++c) {
    double of_class = 0.0;
    std::array<double, kRocSteps + 1> curve_of_class{};
    if (!rank_class(data, folds, c, of_class, curve_of_class)) continue;
    counted += 1.0;
    area += of_class;
    for (std::size_t s = 0; s <= kRocSteps; ++s) curve[s] += curve_of_class[s];
  }
  if (!(counted > 0.0)) return;
  ranked_repeats_ += 1.0;
  area_ += area / counted;
  for (std::size_t s = 0; s <= kRocSteps; ++s) curve_[s] += curve[s] / counted;
}

void HeldOutTally::describe(const KeptRows& kept, EvaluationChoice& choice) const {
  if (!(repeats_ > 0.0)) return;
  const Matrix confusion = confusion_ / repeats_;
  choice.confusion = confusion;
  choice.averaged = repeats_ > 1.0;
  const double total = confusion.sum();
  for (Index c = 0; c < classes_; ++c) {
    const double truth = confusion.row(c).sum(), named = confusion.col(c).sum();
    const double right = confusion(c, c);
    choice.sensitivity.push_back(share(right, truth));
    choice.specificity.push_back(share(total - truth - named + right, total - truth));
  }
  if (ranked_repeats_ > 0.0) {
    choice.auc = area_ / ranked_repeats_;
    for (std::size_t s = 0; s <= kRocSteps; ++s) {
      choice.roc.push_back({.false_positives = static_cast<double>(s) / static_cast<double>(kRocSteps),
                            .true_positives = curve_[s] / ranked_repeats_});
    }
  }
  for (const Bin& bin : bins_) {
    if (!(bin.weight > 0.0)) continue;
    choice.calibration.push_back({.predicted = bin.predicted / bin.weight,
                                  .observed = bin.observed / bin.weight,
                                  .rows = bin.weight / repeats_});
  }
  std::vector<Index> places;
  for (std::size_t i = 0; i < sampled_.size(); ++i) {
    if (sampled_[i] == 0) continue;
    places.push_back(static_cast<Index>(i));
    choice.projection_rows.push_back(kept.sample[i]);
  }
  Matrix centred(static_cast<Index>(places.size()), classes_);
  const auto classes = static_cast<std::size_t>(classes_);
  Vector row(classes_);
  for (Index i = 0; i < centred.rows(); ++i) {
    const auto at = static_cast<std::size_t>(places[static_cast<std::size_t>(i)]);
    centred_log_posteriors(std::span<const float>(sample_).subspan(at * classes, classes), row);
    centred.row(i) = row.transpose();
  }
  choice.projection = projection_of(centred);
}

std::vector<double> HeldOutTally::wrong_in_sample() const {
  std::vector<double> shares(sampled_.size());
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] = share(static_cast<double>(sampled_wrong_[i]), static_cast<double>(sampled_[i]));
  return shares;
}

HeldOutPredictions HeldOutTally::predictions() const {
  HeldOutPredictions all;
  const auto classes = static_cast<std::size_t>(classes_);
  all.probabilities = DenseMatrix(static_cast<Index>(times_.size()), classes_);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const auto times = static_cast<double>(times_[i]);
    all.times.push_back(static_cast<Index>(times_[i]));
    all.wrong.push_back(share(static_cast<double>(wrong_[i]), times));
    int named = -1;
    double largest = -1.0;
    for (std::size_t c = 0; c < classes; ++c) {
      const double p = share(static_cast<double>(probabilities_[i * classes + c]), times);
      all.probabilities(static_cast<Index>(i), static_cast<Index>(c)) = p;
      if (p > largest) {
        largest = p;
        named = static_cast<int>(c);
      }
    }
    all.predicted.push_back(times_[i] == 1 ? named_[i] : named);
  }
  return all;
}

}  // namespace subspectra
