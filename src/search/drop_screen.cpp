#include "search/drop_screen.hpp"

#include <array>
#include <cmath>

#include "search/secular.hpp"

namespace subspectra::variance {
namespace {

constexpr Index kMostPairs = 16;

}  // namespace

DropScreen::DropScreen(double sigma, const FollowedPairs& pairs, Matrix x, const Vector& diagonal)
    : x_(std::move(x)), sigma_(sigma), theta_(pairs.theta) {
  const Index count = std::min(theta_.size(), kMostPairs);
  lambda_ = sigma - theta_.cwiseInverse().array();
  // As many pairs as are good vectors; what they are wrong by widens the bounds.
  for (q_ = count - 1; q_ > 1; --q_) {
    slack_ = 0.0;
    for (Index j = 0; j < q_; ++j) {
      slack_ = std::max(slack_, 20.0 * pairs.residual[j] / std::max(theta_[j] - theta_[q_], 1e-300));
    }
    if (slack_ <= 2e-3) break;
  }
  error_ = count > 1 ? pairs.residual[0] / std::max(theta_[0] - theta_[1], 1e-300) : 0.0;
  error_ = std::min(1.0, error_ + 1e-14);
  if (q_ <= 1) slack_ = 0.0;
  slack_ = std::min(0.5, slack_ + 50.0 * error_ + 1e-10);
  u_out_ = theta_[q_] + pairs.residual[q_];
  gap_out_ = std::max(lambda_[0] - (sigma_ - 1.0 / u_out_), 0.0);
  sum_ = diagonal - x_.leftCols(q_).cwiseAbs2() * theta_.head(q_);
  rest_ = 1.0 - x_.leftCols(q_).cwiseAbs2().rowwise().sum().array();
}

Index DropScreen::impossible(const std::vector<char>& alive) const {
  Index worst = -1;
  double most = 1.0 + 1e-6;
  for (Index i = 0; i < rest_.size(); ++i) {
    if (alive[static_cast<std::size_t>(i)] == 0 || rest_[i] < 1e-6) continue;
    const double ratio = sum_[i] / (rest_[i] * u_out_);
    if (ratio > most) {
      most = ratio;
      worst = i;
    }
  }
  return worst;
}

Drop DropScreen::bounds(Index i, double square) const {
  std::array<double, kMostPairs + 2> gap{}, weight{};
  for (Index j = 1; j < q_; ++j) {
    gap[static_cast<std::size_t>(j)] = lambda_[0] - lambda_[j];
    weight[static_cast<std::size_t>(j)] = x_(i, j) * x_(i, j);
  }
  const auto last = static_cast<std::size_t>(q_);
  const double first = std::abs(x_(i, 0)), sum = std::max(sum_[i], 0.0), rest = std::max(rest_[i], 0.0);
  Drop drop{i, 0.0, 0.0};
  weight[0] = std::pow(std::max(0.0, first - error_), 2);
  gap[last] = gap_out_;
  weight[last] = sum / u_out_;
  double far = 0.0, second = square;
  if (square >= 0.0) {
    for (Index j = 0; j < q_; ++j) second -= std::pow(x_(i, j) * theta_[j], 2);
    second = std::min(std::max(second, rest > 0.0 ? sum * sum / rest : 0.0), sum * u_out_);
    far = sum - second / u_out_;
    weight[last] = second / (u_out_ * u_out_);
  }
  drop.least = secular::drop(gap.data(), weight.data(), q_ + 1, far) * (1.0 - slack_);
  weight[0] = std::pow(first + error_, 2);
  gap[last] = std::max(gap_out_, sum > 0.0 ? lambda_[0] - sigma_ + rest / sum : 0.0);
  weight[last] = rest;
  if (second > 0.0) {
    gap[last] = std::max(gap_out_, lambda_[0] - sigma_ + sum / second);
    weight[last] = sum * sum / second;
  }
  drop.most = secular::drop(gap.data(), weight.data(), q_ + 1) * (1.0 + slack_);
  if (q_ > 1) drop.most = std::min(drop.most, (lambda_[0] - lambda_[1]) * (1.0 + 1e-12));  // interlacing
  return drop;
}

std::vector<Drop> DropScreen::survivors(const std::vector<char>& candidate) const {
  const auto is = [&](Index i) { return candidate[static_cast<std::size_t>(i)] != 0; };
  Index guess = -1;
  double smallest = kInfinity;
  for (Index i = 0; i < sum_.size(); ++i) {
    if (!is(i)) continue;
    const double score = x_(i, 0) * x_(i, 0) / std::max(sum_[i], 1e-300);
    if (guess < 0 || score < smallest) {
      smallest = score;
      guess = i;
    }
  }
  double target = bounds(guess).most;
  const double tie = kTie * std::abs(top());
  // Where delta H_i(delta) <= w_0 at the target the drop is larger: one dot product with weights that are
  // the same for all.
  const double delta = (target + tie) / (1.0 - slack_);
  const double nearest = q_ > 1 ? lambda_[0] - lambda_[1] : gap_out_;
  Vector left;
  if (delta < nearest) {
    Vector poles = Vector::Zero(q_);
    for (Index j = 1; j < q_; ++j) poles[j] = delta / (lambda_[0] - lambda_[j] - delta);
    left = x_.leftCols(q_).cwiseAbs2() * poles + sum_ * (delta / (u_out_ * (gap_out_ - delta)));
  }
  std::vector<Drop> list;
  for (Index i = 0; i < sum_.size(); ++i) {
    if (!is(i)) continue;
    const double first = std::max(0.0, std::abs(x_(i, 0)) - error_);
    if (i != guess && left.size() > 0 && left[i] < first * first) continue;
    list.push_back(bounds(i));
    target = std::min(target, list.back().most);
  }
  sift(list);
  return list;
}

void DropScreen::sift(std::vector<Drop>& list) const {
  double target = kInfinity;
  for (const Drop& d : list) target = std::min(target, d.most);
  std::erase_if(list, [&](const Drop& d) { return d.least > target + kTie * std::abs(top()); });
  std::stable_sort(list.begin(), list.end(), [](const Drop& a, const Drop& b) { return a.least < b.least; });
}

}  // namespace subspectra::variance
