#include "classify/one_against_rest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "classify/svm.hpp"
#include "linalg/blas.hpp"

namespace subspectra::one_against_rest {
namespace {

/// The machines of all classes from some of the rows: (columns + 1) x K, the offsets in the last row. Nothing
/// when stopped before the last one.
std::optional<Matrix> train_machines(const MachineRows& problem, const std::vector<Index>& rows, double c,
                                     const RunControl& control) {
  const auto& codes = problem.codes;
  const Index classes = problem.shares.size(), columns = problem.inputs.cols();
  std::vector<Index> counts(static_cast<std::size_t>(classes), 0);
  for (const Index i : rows) ++counts[static_cast<std::size_t>(codes[static_cast<std::size_t>(i)])];
  std::vector<Index> present;
  for (Index k = 0; k < classes; ++k) {
    if (counts[static_cast<std::size_t>(k)] > 0) present.push_back(k);
  }
  Matrix machines = Matrix::Zero(columns + 1, classes);
  machines.bottomRows(1).setConstant(-1.0);  // what a class without rows tends to
  std::vector<char> positive(codes.size());
  const auto train_for = [&](Index k) {
    for (std::size_t i = 0; i < codes.size(); ++i) positive[i] = codes[i] == k ? 1 : 0;
    machines.col(k) = problem.train(rows, positive, c);
  };
  if (present.size() == 2) {
    train_for(present[0]);
    machines.col(present[1]) = -machines.col(present[0]);
  } else if (present.size() > 2) {
    for (const Index k : present) {
      if (control.should_stop()) return {};
      train_for(k);
    }
  } else if (present.size() == 1) {
    machines(columns, present[0]) = 1.0;
  }
  return machines;
}

/// Decisions on rows that were held out, NaN where a row never was. Nothing when stopped before the end.
std::optional<Matrix> held_out_decisions(const MachineRows& problem, double c, const RunControl& control) {
  const Matrix& rows = problem.inputs;
  const auto& codes = problem.codes;
  Matrix decisions = Matrix::Constant(rows.rows(), problem.shares.size(), std::nan(""));
  for (const auto& fold : problem.folds) {
    std::vector<Index> training;
    bool several = false;
    for (Index i = 0; i < rows.rows(); ++i) {
      if (std::binary_search(fold.begin(), fold.end(), i)) continue;
      training.push_back(i);
      several =
          several || codes[static_cast<std::size_t>(i)] != codes[static_cast<std::size_t>(training.front())];
    }
    if (!several) continue;
    if (control.should_stop()) return {};
    const std::optional<Matrix> machines = train_machines(problem, training, c, control);
    if (!machines) return {};
    const Matrix test = rows(fold, Eigen::all);
    Matrix values = machines->bottomRows(1).replicate(test.rows(), 1);
    linalg::gemm(1.0, linalg::Op::kNone, test, linalg::Op::kNone, machines->topRows(rows.cols()), 1.0,
                 values);
    for (std::size_t i = 0; i < fold.size(); ++i) decisions.row(fold[i]) = values.row(static_cast<Index>(i));
  }
  return decisions;
}

Index errors_of(const Matrix& decisions, const std::vector<int>& codes) {
  Index errors = 0;
  for (Index i = 0; i < decisions.rows(); ++i) {
    if (std::isnan(decisions(i, 0))) continue;
    Index predicted = 0;
    decisions.row(i).maxCoeff(&predicted);
    if (predicted != codes[static_cast<std::size_t>(i)]) ++errors;
  }
  return errors;
}

/// a > 0 that maximizes sum_i sum_c t_ic log p_ic, p_ic ~ exp(a f_ic) over the classes that have rows, t_ic =
/// (n_c + 1)/(n_c + 2) for the true class and the rest shared by the others. The derivative falls in a, so
/// that halving finds its root; a machine that is worse than chance on held-out rows keeps a small slope and
/// with it the order of its decisions.
double fitted_slope(const Matrix& decisions, const std::vector<int>& codes, const VectorRef& shares) {
  constexpr double kLeast = 1e-3, kMost = 1e3;
  std::vector<Index> present, held_out;
  for (Index c = 0; c < shares.size(); ++c) {
    if (shares[c] > 0.0) present.push_back(c);
  }
  Vector counts = Vector::Zero(shares.size());
  for (Index i = 0; i < decisions.rows(); ++i) {
    if (std::isnan(decisions(i, 0))) continue;
    held_out.push_back(i);
    counts[codes[static_cast<std::size_t>(i)]] += 1.0;
  }
  if (held_out.empty() || present.size() < 2) return 1.0;
  const double other_classes = static_cast<double>(present.size()) - 1.0;
  const auto derivative = [&](double a) {
    double sum = 0.0;
    for (const Index i : held_out) {
      const Vector f = decisions.row(i)(present).transpose();
      const Vector p = (a * (f.array() - f.maxCoeff())).exp();
      const int truth = codes[static_cast<std::size_t>(i)];
      const double target = (counts[truth] + 1.0) / (counts[truth] + 2.0);
      const double rest = (1.0 - target) / other_classes;
      sum += (target - rest) * decisions(i, truth) + rest * f.sum() - p.dot(f) / p.sum();
    }
    return sum;
  };
  if (!(derivative(kLeast) > 0.0)) return kLeast;
  if (derivative(kMost) > 0.0) return kMost;
  double low = std::log(kLeast), high = std::log(kMost);
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (derivative(std::exp(middle)) > 0.0 ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

}  // namespace

Fitted fit(const MachineRows& problem, double cost, const RunControl& control) {
  const Index n = problem.inputs.rows();
  const bool choose = !std::isfinite(cost);
  Fitted fitted;
  fitted.cost = choose ? 1.0 : cost;
  if (!problem.folds.empty()) {
    Matrix decisions;
    Index fewest = n + 1;
    for (const double c : choose ? svm_costs() : std::vector<double>{cost}) {
      std::optional<Matrix> found = held_out_decisions(problem, c, control);
      if (!found) {
        fitted.status = control.status_or(Status::kInterrupted);
        break;
      }
      const Index errors = errors_of(*found, problem.codes);
      if (errors >= fewest) continue;
      fewest = errors;
      fitted.cost = c;
      decisions = std::move(*found);
    }
    if (decisions.size() > 0) fitted.slope = fitted_slope(decisions, problem.codes, problem.shares);
  }
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  fitted.machines = *train_machines(problem, all, fitted.cost, RunControl());  // nothing stops it
  return fitted;
}

Matrix log_posteriors(Matrix decisions, double slope, const Vector& priors, const Vector& shares) {
  for (Index c = 0; c < decisions.cols(); ++c) {
    decisions.col(c).array() =
        slope * decisions.col(c).array() + std::log(shares[c] > 0.0 ? priors[c] / shares[c] : 0.0);
  }
  normalise_log_posteriors(decisions);
  return decisions;
}

}  // namespace subspectra::one_against_rest
