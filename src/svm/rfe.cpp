#include "svm/rfe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/parallel.hpp"
#include "linalg/tiled.hpp"
#include "svm/squared_hinge.hpp"

namespace subspectra {
namespace {

/// Machines on the columns that are left, warm-started from one training to the next.
class Elimination {
 public:
  Elimination(Matrix z, const std::vector<int>& codes, const SvmRfe& options, int threads, RfeForm form)
      : cost_(options.C),
        threads_(threads),
        form_(form),
        z_(std::move(z)),
        left_(z_.cols()),
        labels_(machine_labels(codes)) {
    columns_.resize(static_cast<std::size_t>(left_));
    std::iota(columns_.begin(), columns_.end(), Index{0});
    a_.resize(labels_.size());
    w_.resize(labels_.size());
  }
  [[nodiscard]] Index left() const { return left_; }
  [[nodiscard]] const std::vector<Index>& columns() const { return columns_; }  ///< ascending
  [[nodiscard]] double objective() const { return objective_; }

  /// The sum of w_j^2 over the machines, for the columns that are left.
  Vector train() {
    const bool products = form_ == RfeForm::kProducts || (form_ == RfeForm::kAuto && left_ >= z_.rows());
    if (products && fresh_at_ == 0) compute_products();
    std::vector<Machine> machines(labels_.size());
    Matrix rows;
    if (!products) {
      rows.resize(z_.rows(), left_ + 1);
      rows.leftCols(left_) = z_.leftCols(left_);
      rows.col(left_).setOnes();
    }
    parallel_for(static_cast<Index>(labels_.size()), threads_, [&](Index m) {
      const auto at = static_cast<std::size_t>(m);
      machines[at] = products ? machine_from_products(products_, labels_[at], cost_, false, a_[at])
                              : machine_from_rows(rows, labels_[at], cost_, w_[at]);
    });
    Vector scores = Vector::Zero(left_);
    objective_ = 0.0;
    for (std::size_t m = 0; m < machines.size(); ++m) {
      objective_ += machines[m].objective;
      a_[m] = machines[m].a;
      Vector w(left_);
      if (products) {
        linalg::gemv_transposed(z_.leftCols(left_), machines[m].a, w, threads_);
      } else {
        w = machines[m].w.head(left_);
      }
      w_[m].resize(left_ + 1);
      w_[m] << w, machines[m].a.sum();
      scores += w.cwiseAbs2();
    }
    return scores;
  }

  /// Places among columns(), ascending.
  void remove(const std::vector<Index>& places) {
    const auto gone = static_cast<Index>(places.size());
    if (fresh_at_ > 0) {
      // Downdating costs as much as it takes out and leaves rounding of the size of what was there: anew when
      // more than half is gone.
      if (2 * (left_ - gone) < fresh_at_) {
        fresh_at_ = 0;
      } else {
        Matrix out(z_.rows(), gone);
        for (Index i = 0; i < gone; ++i) out.col(i) = z_.col(places[static_cast<std::size_t>(i)]);
        linalg::rank_update_lower(-1.0, out, products_, threads_);
        linalg::mirror_lower(products_);
      }
    }
    Index to = places.front();
    std::size_t next = 0;
    for (Index from = places.front(); from < left_; ++from) {
      if (next < places.size() && places[next] == from) {
        ++next;
        continue;
      }
      z_.col(to) = z_.col(from);
      columns_[static_cast<std::size_t>(to)] = columns_[static_cast<std::size_t>(from)];
      for (auto& w : w_) w[to] = w[from];
      ++to;
    }
    for (auto& w : w_) {
      w[to] = w[left_];
      w.conservativeResize(to + 1);
    }
    left_ = to;
    columns_.resize(static_cast<std::size_t>(left_));
  }

 private:
  /// G = Z Z' + 11', the ones being the offset's column.
  void compute_products() {
    products_ = Matrix::Ones(z_.rows(), z_.rows());
    linalg::rank_update_lower(1.0, z_.leftCols(left_), products_, threads_);
    linalg::mirror_lower(products_);
    fresh_at_ = std::max<Index>(left_, 1);
  }

  double cost_;
  int threads_;
  RfeForm form_;
  Matrix z_;  ///< the columns that are left come first
  Index left_;
  std::vector<Index> columns_;
  std::vector<Vector> labels_, a_, w_;
  Matrix products_;
  Index fresh_at_ = 0;  ///< columns in `products_` when it was computed; 0: it is out of date
  double objective_ = 0.0;
};

/// How many leave of `left`, of which `free` may.
Index leaving(const SvmRfe& options, Index left, Index free) {
  if (options.rfe_step >= 1.0) return std::min(free, static_cast<Index>(options.rfe_step));
  if (left <= options.rfe_single) return 1;
  const auto share = static_cast<Index>(std::ceil(options.rfe_step * static_cast<double>(left)));
  return std::clamp<Index>(std::min(share, left - options.rfe_single), 1, free);
}

/// Places by rising score, those with keep last; scores that agree to rounding by rising index.
std::vector<Index> by_score(const Vector& scores, const std::vector<Index>& columns,
                            const std::vector<char>& keep) {
  constexpr double kEqual = 1e-12;
  std::vector<Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto kept = [&](Index i) {
    return keep[static_cast<std::size_t>(columns[static_cast<std::size_t>(i)])] != 0;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return kept(a) != kept(b) ? kept(b) : scores[a] < scores[b]; });
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && kept(*last) == kept(*first) &&
           scores[*last] <= scores[*first] * (1.0 + kEqual)) {
      ++last;
    }
    std::sort(first, last);
    first = last;
  }
  return order;
}

}  // namespace

std::vector<Vector> machine_labels(const std::vector<int>& codes) {
  const std::set<int> present(codes.begin(), codes.end());
  std::vector<Vector> labels;
  for (const int c : present) {
    Vector y(static_cast<Index>(codes.size()));
    for (Index i = 0; i < y.size(); ++i) y[i] = codes[static_cast<std::size_t>(i)] == c ? 1.0 : -1.0;
    labels.push_back(std::move(y));
    if (present.size() <= 2) break;  // the other machine would be this one with another sign
  }
  return labels;
}

RfeResult svm_rfe(Matrix z, const std::vector<int>& codes, const std::vector<char>& keep,
                  const SvmRfe& options, int threads, const RunControl& control, const RfeTuning& tuning) {
  options.validate();
  const Index p = z.cols();
  const auto kept =
      static_cast<Index>(std::count_if(keep.begin(), keep.end(), [](char k) { return k != 0; }));
  Elimination machines(std::move(z), codes, options, threads, tuning.form);
  RfeResult result;
  result.weights = Vector::Zero(p);
  std::vector<Index> last_first;
  last_first.reserve(static_cast<std::size_t>(p));
  while (machines.left() > 0) {
    const Vector scores = machines.train();
    result.objectives.push_back(machines.objective());
    result.sizes.push_back(machines.left());
    for (Index i = 0; i < machines.left(); ++i)
      result.weights[machines.columns()[static_cast<std::size_t>(i)]] = scores[i];
    auto order = by_score(scores, machines.columns(), keep);
    const bool stop = control.should_stop();
    if (!stop && machines.left() > kept)
      order.resize(static_cast<std::size_t>(leaving(options, machines.left(), machines.left() - kept)));
    for (const Index place : order) last_first.push_back(machines.columns()[static_cast<std::size_t>(place)]);
    if (stop) break;
    std::sort(order.begin(), order.end());
    machines.remove(order);
    result.complete = machines.left() == 0;
    control.report(
        "svm-rfe",
        1.0 - std::log1p(static_cast<double>(machines.left())) / std::log1p(static_cast<double>(p)),
        [&] { return fmt::format("{} features left", machines.left()); });
  }
  result.ranking.assign(last_first.rbegin(), last_first.rend());
  return result;
}

}  // namespace subspectra
