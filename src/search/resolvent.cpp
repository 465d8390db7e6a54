#include "search/resolvent.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "linalg/tiled.hpp"

namespace subspectra::variance {
namespace {

constexpr Index kResolventPairs = 6;
constexpr double kResolventNear = 0.02;   // sigma - Lambda_1, as part of Lambda_1 - Lambda_6, when R is made
constexpr double kFar = 0.12;             // (sigma - Lambda_1)/(sigma - Lambda_6) at which it is made again,
constexpr Index kSoonest = 8;             // but not before so many steps
constexpr double kResolventFloor = 1e-4;  // sigma - Lambda_1 is at least this part of Lambda_1

Matrix chance(Index rows, Index cols, std::uint64_t stream) {
  Random random(0x5eed, stream);
  Matrix x(rows, cols);
  for (auto& e : x.reshaped()) e = random.normal();
  return x;
}

}  // namespace

/// Lambda_1 - Lambda_6, or as many pairs as there are.
double Resolvent::spread() const {
  return 1.0 / pairs_.theta[pairs_.theta.size() - 1] - 1.0 / pairs_.theta[0];
}

bool Resolvent::worn() const {
  const double far = 1.0 / pairs_.theta[0];
  const double near = std::max(kResolventNear * spread(), kResolventFloor * std::abs(top()));
  return (far > kFar * (far + spread()) && near < 0.5 * far && since_ >= kSoonest) ||
         since_ >= 2 * LazySymmetric::kDelay;
}

void Resolvent::begin(const Matrix& a) {
  FollowedPairs start;
  start.x = chance(a.rows(), kResolventPairs, 0);
  start.rx.resize(a.rows(), kResolventPairs);
  LazySymmetric lazy;
  lazy.reset(a, 1.0);
  const ChangedSymmetric operation{&lazy, {}, 0.0, threads_};
  operation.apply(start.x, start.rx);
  pairs_ = refine_pairs(operation, std::move(start), Matrix(),
                        {.keep = kResolventPairs, .first = 1e-1, .further = 3, .further_residual = 1e-2});
  top_ = pairs_.theta[0];
  factor(a, std::max(1e-2 * std::abs(top_), pairs_.residual[0]));
  factor(a, kResolventNear * spread());
}

void Resolvent::renew(const Matrix& a, Matrix start) {
  const double near = kResolventNear * spread();
  pairs_.x = std::move(start);
  factor(a, near);
}

/// R at sigma = Lambda_1 + near or more, and the pairs in it from pairs_.x.
void Resolvent::factor(const Matrix& a, double near) {
  near = std::max({near, kResolventFloor * std::abs(top_), 1e-300});
  for (;; near *= 4.0) {  // until sigma is above Lambda_1
    sigma_ = top_ + near;
    Matrix inverse = -a;
    inverse.diagonal().array() += sigma_;
    if (!linalg::invert_positive(inverse, threads_)) continue;
    linalg::mirror_lower(inverse);
    r_.reset(std::move(inverse), -1.0);
    break;
  }
  since_ = 0;
  const ChangedSymmetric operation{&r_, {}, 0.0, threads_};
  pairs_.rx.resize(a.rows(), pairs_.x.cols());
  operation.apply(pairs_.x, pairs_.rx);
  // A vector of chance: what a cluster of equal eigenvalues hid so far shows sooner or later.
  pairs_ =
      refine_pairs(operation, std::move(pairs_), chance(a.rows(), 1, static_cast<std::uint64_t>(++made_)),
                   {.keep = kResolventPairs, .further = 3});
  top_ = top();
}

FollowedPairs Resolvent::without(const Vector& p, double pivot, Index deleted) const {
  const ChangedSymmetric operation{&r_, p, -1.0 / pivot, threads_};
  FollowedPairs start;
  start.x = pairs_.x;
  Matrix extra = p;
  if (deleted >= 0) {
    const Vector row = pairs_.rx.row(deleted) / pivot;
    start.x.row(deleted).setZero();
    start.rx = pairs_.rx - p * row.transpose();
    start.rx.row(deleted).setZero();
    extra(deleted, 0) = 0.0;
  } else {
    const Vector inner = pairs_.x.transpose() * p / pivot;
    start.rx = pairs_.rx - p * inner.transpose();
  }
  // The new vectors are (lambda - A)^{-1} times the old direction: of the old leading ones and, of the rest,
  // nearly p.
  return refine_pairs(operation, std::move(start), extra, {.keep = kResolventPairs});
}

void Resolvent::remove(const Vector& p, double pivot, FollowedPairs after) {
  r_.add(p / std::sqrt(pivot), threads_);
  pairs_ = std::move(after);
  top_ = top();
  ++since_;
}

void Resolvent::widen(const Matrix& with) {
  const ChangedSymmetric operation{&r_, {}, 0.0, threads_};
  pairs_ = refine_pairs(operation, std::move(pairs_), with, {.keep = kResolventPairs, .further = 1});
  top_ = top();
}

}  // namespace subspectra::variance
