#include "svm/radius_margin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <subspectra/error.hpp>
#include "core/parallel.hpp"
#include "linalg/tiled.hpp"
#include "svm/rfe.hpp"
#include "svm/squared_hinge.hpp"

namespace subspectra {
namespace {

constexpr Index kChunk = 2048;  // columns whose scaled copy is made at a time

/// K = Z diag(s) Z'. Few rows: chunks of columns in parallel, summed in order.
Matrix scaled_products(const Matrix& z, const VectorRef& s, int threads) {
  constexpr Index kFewRows = 512;
  const Index n = z.rows(), chunks = (z.cols() + kChunk - 1) / kChunk;
  const auto scaled = [&](Index chunk) {
    const Index first = chunk * kChunk, count = std::min(kChunk, z.cols() - first);
    return Matrix(z.middleCols(first, count) * s.segment(first, count).cwiseSqrt().asDiagonal());
  };
  Matrix k = Matrix::Zero(n, n);
  if (n <= kFewRows) {
    std::vector<Matrix> parts(static_cast<std::size_t>(chunks));
    parallel_for(chunks, threads, [&](Index chunk) {
      auto& part = parts[static_cast<std::size_t>(chunk)];
      part.resize(n, n);
      linalg::syrk(1.0, linalg::Op::kNone, scaled(chunk), 0.0, part);
    });
    for (const Matrix& part : parts) k += part;
    return k;
  }
  for (Index chunk = 0; chunk < chunks; ++chunk) linalg::rank_update_lower(1.0, scaled(chunk), k, threads);
  linalg::mirror_lower(k);
  return k;
}

/// p exp(theta)/sum exp(theta).
Vector scales_of(const Vector& theta) {
  Vector s = (theta.array() - theta.maxCoeff()).exp();
  return s * (static_cast<double>(s.size()) / s.sum());
}

}  // namespace

EnclosingBall enclosing_ball(const MatrixRef& k, const Vector& start) {
  constexpr double kGap = 1e-12;
  const Index n = k.rows();
  EnclosingBall ball;
  ball.beta = start.size() == n ? start : Vector::Constant(n, 1.0 / static_cast<double>(n));
  const Vector squares = k.diagonal();
  Vector product(n);  // K beta
  linalg::gemv(1.0, linalg::Op::kNone, k, ball.beta, 0.0, product);
  const Index most = 2000 * n + 10000;
  for (; ball.steps < most; ++ball.steps) {
    if (ball.steps % (20 * n + 1000) == 999) {  // rounding of many exchanges
      ball.beta /= ball.beta.sum();
      linalg::gemv(1.0, linalg::Op::kNone, k, ball.beta, 0.0, product);
    }
    const Vector rise = squares - 2.0 * product;  // derivative of the radius by beta_i
    Index in = 0, out = -1;
    const double highest = rise.maxCoeff(&in);
    ball.squared_radius = ball.beta.dot(squares) - ball.beta.dot(product);
    ball.gap = highest - ball.beta.dot(rise);
    if (!(ball.gap > kGap * std::abs(ball.squared_radius))) break;
    // Out goes what gains most against `in`: (rise_in - rise_j)^2 / |x_in - x_j|^2.
    double best = 0.0;
    for (Index j = 0; j < n; ++j) {
      if (!(ball.beta[j] > 0.0) || j == in) continue;
      const double difference = highest - rise[j];
      const double distance = squares[in] + squares[j] - 2.0 * k(in, j);
      if (!(difference > 0.0) || !(distance > 0.0)) continue;
      const double move = std::min(ball.beta[j], 0.5 * difference / distance);
      const double gain = move * (difference - move * distance);
      if (gain > best) {
        best = gain;
        out = j;
      }
    }
    if (out < 0) break;
    const double distance = squares[in] + squares[out] - 2.0 * k(in, out);
    const double move = std::min(ball.beta[out], 0.5 * (highest - rise[out]) / distance);
    ball.beta[in] += move;
    ball.beta[out] = move == ball.beta[out] ? 0.0 : ball.beta[out] - move;
    product += move * (k.col(in) - k.col(out));
  }
  return ball;
}

RadiusMarginBound::RadiusMarginBound(const Matrix& z, std::vector<Vector> labels, double cost, int threads)
    : z_(z), labels_(std::move(labels)), cost_(cost), threads_(threads), a_(labels_.size()) {}

double RadiusMarginBound::value(const VectorRef& s) {
  Matrix k = scaled_products(z_, s, threads_);
  std::vector<double> norms(labels_.size());
  parallel_for(static_cast<Index>(labels_.size()), threads_, [&](Index m) {
    const auto at = static_cast<std::size_t>(m);
    Machine machine = machine_from_products(k, labels_[at], cost_, true, a_[at]);
    // |w|^2 + |a|^2/(2 C), the norm in the space of K + I/(2 C), is twice the objective.
    norms[at] = 2.0 * machine.objective;
    a_[at] = std::move(machine.a);
  });
  squared_norm_ = std::accumulate(norms.begin(), norms.end(), 0.0);
  k.diagonal().array() += 0.5 / cost_;
  ball_ = enclosing_ball(k, ball_.beta);
  return ball_.squared_radius * squared_norm_;
}

RadiusMargin RadiusMarginBound::at_last() const {
  const Index p = z_.cols();
  RadiusMargin result{.squared_radius = ball_.squared_radius, .squared_norm = squared_norm_, .gradient = {}};
  Vector norm_part = Vector::Zero(p), radius_part(p), w(p);
  for (const Vector& a : a_) {
    linalg::gemv_transposed(z_, a, w, threads_);
    norm_part -= w.cwiseAbs2();
  }
  linalg::gemv_transposed(z_, ball_.beta, w, threads_);
  parallel_for((p + kChunk - 1) / kChunk, threads_, [&](Index chunk) {
    const Index end = std::min(p, (chunk + 1) * kChunk);
    for (Index j = chunk * kChunk; j < end; ++j)
      radius_part[j] = (ball_.beta.array() * z_.col(j).array().square()).sum() - w[j] * w[j];
  });
  result.gradient = ball_.squared_radius * norm_part + squared_norm_ * radius_part;
  return result;
}

RadiusMarginFit fit_radius_margin(const Matrix& z, const std::vector<int>& codes, const SvmRmb& options,
                                  int threads, const RunControl& control) {
  constexpr double kEnough = 1e-4;  // of the fall that the derivative promises
  constexpr double kLeastStep = 1e-9;
  const Index p = z.cols();
  RadiusMarginBound bound(z, machine_labels(codes), options.C, threads);
  Vector theta = Vector::Zero(p);  // log s up to a constant: no scale underflows in it
  Vector s = Vector::Ones(p);
  double value = bound.value(s);
  RadiusMarginFit fit;
  fit.trace.push_back(value);
  double reach = 1.0;  // the largest change of a log s
  for (Index iteration = 0; iteration < options.max_iterations && !fit.converged; ++iteration) {
    if (control.should_stop()) break;
    const Vector relative = bound.at_last().gradient / value;  // of log T
    const Vector direction = relative.array() - relative.dot(s) / static_cast<double>(p);
    const double steepest = direction.cwiseAbs().maxCoeff();
    const double promised = s.dot(direction.cwiseAbs2());  // -d log T/d eta
    if (!(steepest > 0.0) || !(promised > 0.0)) {
      fit.converged = true;
      break;
    }
    bool taken = false;
    for (bool first = true; !taken && reach > kLeastStep; first = false) {
      const double eta = reach / steepest;
      const Vector there = theta - eta * direction;
      const Vector s_there = scales_of(there);
      const double found = bound.value(s_there);
      // log(found/value) <= -kEnough eta promised
      taken = found < value && std::log(found / value) <= -kEnough * eta * promised;
      if (!taken) {
        reach *= 0.5;
        if (control.should_stop()) break;
        continue;
      }
      fit.converged = value - found <= options.tolerance * value;
      value = found;
      theta = there;
      s = s_there;
      if (first) reach *= 2.0;
    }
    if (!taken) {
      fit.converged = fit.converged || !control.should_stop();  // no step that T can tell from rounding
      break;
    }
    fit.trace.push_back(value);
    control.report("svm-rmb", -1.0,
                   [&] { return fmt::format("iteration {}, R^2 W^2 {:.6g}", iteration + 1, value); });
  }
  fit.scales = s.cwiseSqrt();
  fit.ranking.resize(static_cast<std::size_t>(p));
  std::iota(fit.ranking.begin(), fit.ranking.end(), Index{0});
  std::stable_sort(fit.ranking.begin(), fit.ranking.end(),
                   [&](Index a, Index b) { return theta[a] > theta[b]; });
  return fit;
}

}  // namespace subspectra
