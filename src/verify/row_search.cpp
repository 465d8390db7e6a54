#include "verify/row_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "eigen/symmetric.hpp"

namespace subspectra::verify {
namespace {

constexpr double kRounding = 1e-12;  ///< of sums of some hundred numbers, relative
constexpr int kRootSweeps = 150, kSweeps = 6;

/// t I - A over these places is positive definite, beyond rounding.
bool below(const Matrix& a, const std::vector<Index>& places, double t) {
  const auto n = static_cast<Index>(places.size());
  Matrix r(n, n);
  for (Index j = 0; j < n; ++j) {
    const Index at = places[static_cast<std::size_t>(j)];
    double* const column = r.data() + j * n;
    double pivot = t - a(at, at);
    for (Index i = 0; i < j; ++i) {
      const double* const other = r.data() + i * n;
      double sum = -a(places[static_cast<std::size_t>(i)], at);
      for (Index q = 0; q < i; ++q) sum -= other[q] * column[q];
      column[i] = sum / other[i];
      pivot -= column[i] * column[i];
    }
    if (!(pivot > kRounding * static_cast<double>(n) * std::abs(t))) return false;
    column[j] = std::sqrt(pivot);
  }
  return true;
}

}  // namespace

RowSearch::RowSearch(const DensePair& pair, const Choices& choices, const RunControl& control)
    : a_(pair.a),
      absolute_(pair.a.cwiseAbs()),
      units_(choices.forced),
      forced_(std::ssize(choices.forced)),
      control_(control),
      judge_(pair, Criterion::kLargest) {
  absolute_.diagonal() = a_.diagonal();
  units_.insert(units_.end(), choices.free.begin(), choices.free.end());
  unit_of_.assign(static_cast<std::size_t>(a_.rows()), -1);
  for (std::size_t u = 0; u < units_.size(); ++u) {
    for (const Index place : units_[u]) unit_of_[static_cast<std::size_t>(place)] = static_cast<int>(u);
  }
  sums_.resize(unit_of_.size());
}

BoundAnswer RowSearch::find_above(Index k, double bound, const SearchBudget& budget,
                                  std::set<std::vector<Index>> known) {
  judge_.begin(bound, std::move(known));
  k_ = k;
  const double tiny = 1e-14 * a_.diagonal().cwiseAbs().maxCoeff();
  threshold_ = bound + kBeyond * std::abs(bound) + tiny;
  limit_ = {.work = work_ + budget.work, .nodes = nodes_ + budget.nodes};
  end_ = BoundAnswer::End::kNone;
  if (k < forced_ || k > std::ssize(units_)) return {};
  place_.assign(units_.size(), Place::kFree);
  std::fill_n(place_.begin(), forced_, Place::kKept);
  kept_ = forced_;
  free_ = std::ssize(units_) - forced_;
  // From the deviations the bound is no worse than the sum of the k largest variances.
  std::vector<double> d(unit_of_.size(), 1.0);
  const double largest = a_.diagonal().maxCoeff();
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double variance = a_(static_cast<Index>(i), static_cast<Index>(i));
    d[i] = std::sqrt(std::max(variance, 1e-8 * largest));
    if (!(d[i] > 0.0)) d[i] = 1.0;
  }
  descend(std::move(d), kRootSweeps, true);
  return judge_.answer(end_);
}

double RowSearch::largest_row(const std::vector<double>& d) {
  const Index n = a_.rows();
  const Index room = k_ - kept_;
  double largest = -kInfinity;
  for (Index i = 0; i < n; ++i) {
    const int own = unit_of_[static_cast<std::size_t>(i)];
    if (own < 0 || place_[static_cast<std::size_t>(own)] == Place::kDropped) continue;
    const double* const row = absolute_.data() + i * n;
    double sum = 0.0;
    unit_sums_.clear();
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (place_[u] == Place::kDropped) continue;
      double of_unit = 0.0;
      for (const Index j : units_[u]) of_unit += row[j] * d[static_cast<std::size_t>(j)];
      if (place_[u] == Place::kKept || static_cast<int>(u) == own) {
        sum += of_unit;
      } else {
        unit_sums_.push_back(of_unit);
      }
    }
    const Index more = room - (place_[static_cast<std::size_t>(own)] == Place::kKept ? 0 : 1);
    if (more < std::ssize(unit_sums_)) {
      std::nth_element(unit_sums_.begin(), unit_sums_.begin() + more, unit_sums_.end(), std::greater<>());
      unit_sums_.resize(static_cast<std::size_t>(more));
    }
    for (const double of_unit : unit_sums_) sum += of_unit;
    sums_[static_cast<std::size_t>(i)] = sum;
    largest = std::max(largest, sum / d[static_cast<std::size_t>(i)]);
  }
  const auto size = static_cast<double>(n);
  work_ += 4.0 * size * size;
  return largest + kRounding * std::abs(largest);
}

double RowSearch::row_bound(std::vector<double>& d, int sweeps) {
  double best = largest_row(d);
  std::vector<double> trial = d;
  for (int sweep = 0; sweep < sweeps && best > threshold_; ++sweep) {
    double most = 0.0;
    for (std::size_t i = 0; i < trial.size(); ++i) {
      const int own = unit_of_[i];
      if (own < 0 || place_[static_cast<std::size_t>(own)] == Place::kDropped) continue;
      trial[i] = std::sqrt(trial[i] * std::max(sums_[i], 0.0));
      most = std::max(most, trial[i]);
    }
    if (!(most > 0.0)) break;
    for (double& entry : trial) entry = std::max(entry / most, 1e-8);
    const double bound = largest_row(trial);
    if (bound < best) {
      best = bound;
      d = trial;
    }
  }
  return best;
}

std::optional<std::vector<std::size_t>> RowSearch::needed() {
  std::vector<Index> places;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (place_[u] != Place::kDropped) places.insert(places.end(), units_[u].begin(), units_[u].end());
  }
  const auto n = static_cast<Index>(places.size());
  const auto size = static_cast<double>(n);
  work_ += 10.0 * size * size * size;
  const linalg::SymmetricEigen eigen = linalg::spectrum(a_(places, places), true);
  const double largest = eigen.values[n - 1];
  // Judged a little below the threshold: what holds there holds at it.
  const double t = threshold_ - kRounding * size * std::max(std::abs(largest), std::abs(threshold_));
  if (largest <= t) return std::nullopt;
  std::vector<std::size_t> units;
  if (n < 2 || !(eigen.values[n - 2] < t)) return units;
  const Vector inverse = (t - eigen.values.array()).inverse();
  Index at = 0;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (place_[u] == Place::kDropped) continue;
    const bool single = units_[u].size() == 1;
    if (single && place_[u] == Place::kFree && eigen.vectors.row(at).cwiseAbs2().dot(inverse) < 0.0)
      units.push_back(u);
    at += std::ssize(units_[u]);
  }
  return units;
}

/// `fewer`: a unit was dropped since all that are left were last looked at together. True ends the search.
bool RowSearch::descend(std::vector<double> d, int sweeps, bool fewer) {
  nodes_ += 1.0;
  if (!go_on(20.0)) return true;
  if (kept_ == k_ || kept_ + free_ == k_) return leaf();
  constexpr Index kMostTogether = 600;
  const bool together =
      fewer && a_.rows() <= kMostTogether && (sweeps == kRootSweeps || kept_ + free_ <= 3 * k_);
  std::vector<std::size_t> taken;
  if (together) {
    auto found = needed();
    if (!found) return false;
    taken = std::move(*found);
  }
  for (const std::size_t u : taken) place_[u] = Place::kKept;
  const Index count = std::ssize(taken);
  kept_ += count;
  free_ -= count;
  bool ended = false;
  if (kept_ == k_ || (kept_ < k_ && kept_ + free_ == k_)) {
    ended = leaf();
  } else if (kept_ < k_ && row_bound(d, sweeps) > threshold_) {
    ended = branch(std::move(d));
  }
  for (const std::size_t u : taken) place_[u] = Place::kFree;
  kept_ -= count;
  free_ += count;
  return ended;
}

bool RowSearch::branch(std::vector<double> d) {
  std::size_t chosen = units_.size();
  double heaviest = -1.0;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (place_[u] != Place::kFree) continue;
    for (const Index place : units_[u]) {
      if (d[static_cast<std::size_t>(place)] <= heaviest) continue;
      heaviest = d[static_cast<std::size_t>(place)];
      chosen = u;
    }
  }
  --free_;
  place_[chosen] = Place::kKept;
  ++kept_;
  bool ended = descend(d, kSweeps, false);
  --kept_;
  place_[chosen] = Place::kDropped;
  if (!ended) ended = descend(std::move(d), kSweeps, true);
  place_[chosen] = Place::kFree;
  ++free_;
  return ended;
}

/// One set is left: the kept ones, or with them all that are free.
bool RowSearch::leaf() {
  std::vector<Index> places;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (place_[u] == Place::kKept || (place_[u] == Place::kFree && kept_ < k_))
      places.insert(places.end(), units_[u].begin(), units_[u].end());
  }
  const auto size = static_cast<double>(places.size());
  work_ += size * size * size / 3.0;
  if (below(a_, places, threshold_)) return false;
  return judge_.judge(places) || !go_on(30.0 * size * size * size);
}

/// Counts, and asks the control once in a while.
bool RowSearch::go_on(double work) {
  constexpr double kOften = 1e6;
  work_ += work;
  if (work_ > limit_.work || nodes_ > limit_.nodes) {
    end_ = BoundAnswer::End::kSpent;
    return false;
  }
  if (work_ - last_look_ < kOften) return true;
  last_look_ = work_;
  control_.report("verify", -1.0,
                  [this] { return fmt::format("branch and bound, k {}: {:.0f} nodes", k_, nodes_); });
  if (!control_.should_stop()) return true;
  end_ = BoundAnswer::End::kStopped;
  return false;
}

}  // namespace subspectra::verify
