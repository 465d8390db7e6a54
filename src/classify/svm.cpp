#include "subspectra/classify/svm.hpp"

#include <linear.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "subspectra/core/error.hpp"
#include "subspectra/linalg/blas.hpp"

namespace subspectra {
namespace {

struct ModelDeleter {
  void operator()(::model* trained) const { free_and_destroy_model(&trained); }
};

/// Rows in LIBLINEAR's form, made once and shared by every training on some of them.
class Nodes {
 public:
  explicit Nodes(const MatrixRef& rows)
      : columns_(static_cast<int>(rows.cols())),
        cells_(static_cast<std::size_t>((columns_ + 2) * rows.rows())) {
    for (Index i = 0; i < rows.rows(); ++i) {
      feature_node* cell = row(i);
      for (int j = 0; j < columns_; ++j) *cell++ = {j + 1, rows(i, j)};
      *cell++ = {columns_ + 1, 1.0};  // the offset: a column of ones, penalised like any other
      *cell = {-1, 0.0};
    }
  }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] feature_node* row(Index i) {
    return cells_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(columns_ + 2);
  }

 private:
  int columns_;
  std::vector<feature_node> cells_;
};

/// One machine: w and, last, b.
Vector train_machine(Nodes& nodes, const std::vector<Index>& rows, const std::vector<char>& positive,
                     double c) {
  // The only state LIBLINEAR shares between threads is where its messages go; the primal solver has no
  // rand().
  static std::once_flag silenced;
  std::call_once(silenced, [] { set_print_string_function([](const char*) {}); });
  std::vector<double> y;
  std::vector<feature_node*> x;
  for (const Index i : rows) {
    y.push_back(positive[static_cast<std::size_t>(i)] != 0 ? 1.0 : -1.0);
    x.push_back(nodes.row(i));
  }
  const int size = nodes.columns() + 1;
  const ::problem problem = {
      .l = static_cast<int>(rows.size()), .n = size, .y = y.data(), .x = x.data(), .bias = 1.0};
  ::parameter parameter = {};
  parameter.solver_type = L2R_L2LOSS_SVC;
  parameter.eps = 1e-10;  // of the gradient's norm at 0; it ends before, when the objective no longer falls
  parameter.C = c;
  const std::unique_ptr<::model, ModelDeleter> trained(train(&problem, &parameter));
  // With labels +1 and -1 LIBLINEAR puts +1 first, whatever the order of the rows.
  return Eigen::Map<const Vector>(trained->w, size);
}

/// The machines of all classes from some of the rows: (columns + 1) x K, the offsets in the last row.
Matrix train_machines(Nodes& nodes, const std::vector<Index>& rows, const std::vector<int>& codes,
                      Index classes, double c) {
  std::vector<Index> counts(static_cast<std::size_t>(classes), 0);
  for (const Index i : rows) ++counts[static_cast<std::size_t>(codes[static_cast<std::size_t>(i)])];
  std::vector<Index> present;
  for (Index k = 0; k < classes; ++k) {
    if (counts[static_cast<std::size_t>(k)] > 0) present.push_back(k);
  }
  Matrix machines = Matrix::Zero(nodes.columns() + 1, classes);
  machines.bottomRows(1).setConstant(-1.0);  // what a class without rows tends to
  std::vector<char> positive(codes.size());
  const auto train_for = [&](Index k) {
    for (std::size_t i = 0; i < codes.size(); ++i) positive[i] = codes[i] == k ? 1 : 0;
    machines.col(k) = train_machine(nodes, rows, positive, c);
  };
  if (present.size() == 2) {
    train_for(present[0]);
    machines.col(present[1]) = -machines.col(present[0]);
  } else if (present.size() > 2) {
    for (const Index k : present) train_for(k);
  } else if (present.size() == 1) {
    machines(nodes.columns(), present[0]) = 1.0;
  }
  return machines;
}

/// Decisions on rows that were held out, NaN where a row never was.
Matrix held_out_decisions(Nodes& nodes, const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                          const std::vector<std::vector<Index>>& folds, double c) {
  Matrix decisions = Matrix::Constant(rows.rows(), classes, std::nan(""));
  for (const auto& fold : folds) {
    std::vector<Index> others;
    bool several = false;
    for (Index i = 0; i < rows.rows(); ++i) {
      if (std::binary_search(fold.begin(), fold.end(), i)) continue;
      others.push_back(i);
      several =
          several || codes[static_cast<std::size_t>(i)] != codes[static_cast<std::size_t>(others.front())];
    }
    if (!several) continue;
    const Matrix machines = train_machines(nodes, others, codes, classes, c);
    const Matrix test = rows(fold, Eigen::all);
    Matrix values = machines.bottomRows(1).replicate(test.rows(), 1);
    linalg::gemm(1.0, linalg::Op::kNone, test, linalg::Op::kNone, machines.topRows(rows.cols()), 1.0, values);
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
  const double others = static_cast<double>(present.size()) - 1.0;
  const auto derivative = [&](double a) {
    double sum = 0.0;
    for (const Index i : held_out) {
      const Vector f = decisions.row(i)(present).transpose();
      const Vector p = (a * (f.array() - f.maxCoeff())).exp();
      const int truth = codes[static_cast<std::size_t>(i)];
      const double target = (counts[truth] + 1.0) / (counts[truth] + 2.0);
      const double rest = (1.0 - target) / others;
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

/// Rows R (n x r) with R R' = Z Z', and the map w = map v back to Z's columns. The penalty sees |w| = |v|
/// alone, so that with more columns than rows nothing is lost and every training is over r <= n columns.
struct Reduced {
  Matrix rows, map;
};
Reduced reduce(const Matrix& z) {
  Matrix gram(z.rows(), z.rows());
  linalg::syrk(1.0, linalg::Op::kNone, z, 0.0, gram);
  const auto eigen = linalg::symmetric_eigen(std::move(gram), true);
  const double floor = static_cast<double>(z.rows()) * 0x1.0p-52 * eigen.values[eigen.values.size() - 1];
  const auto r = static_cast<Index>((eigen.values.array() > floor).count());
  const Vector root = eigen.values.tail(r).cwiseSqrt();
  Reduced reduced;
  reduced.rows = eigen.vectors.rightCols(r) * root.asDiagonal();
  reduced.map.resize(z.cols(), r);
  linalg::gemm(1.0, linalg::Op::kTranspose, z, linalg::Op::kNone,
               Matrix(eigen.vectors.rightCols(r) * root.cwiseInverse().asDiagonal()), 0.0, reduced.map);
  return reduced;
}

}  // namespace

const std::vector<double>& svm_costs() {
  static const std::vector<double> costs = [] {
    std::vector<double> all;
    for (int power = -6; power <= 3; ++power) all.push_back(std::ldexp(1.0, 2 * power));
    return all;
  }();
  return costs;
}

SvmRule fit_svm(const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                const std::vector<std::vector<Index>>& folds, const SvmOptions& options) {
  const Index n = rows.rows();
  SvmRule rule;
  rule.shares = Vector::Zero(classes);
  for (const int code : codes) rule.shares[code] += 1.0 / static_cast<double>(n);
  rule.priors = class_priors(rule.shares, options.prior);
  rule.centre = rows.colwise().mean();
  Matrix z = rows.rowwise() - rule.centre.transpose();
  const Vector largest = z.cwiseAbs().colwise().maxCoeff();  // first scaled by it: no square overflows
  Vector inverse_scale = Vector::Zero(z.cols());
  for (Index j = 0; j < z.cols(); ++j) {
    constexpr double kRounding = 1e-14;  // of the column's size: it is constant
    if (!(largest[j] > kRounding * std::abs(rule.centre[j]))) continue;
    const double deviation = (z.col(j) / largest[j]).norm() / std::sqrt(static_cast<double>(n));
    inverse_scale[j] = 1.0 / deviation / largest[j];
  }
  z *= inverse_scale.asDiagonal();

  const bool wide = z.cols() > n;
  Reduced reduced;
  if (wide) reduced = reduce(z);
  const Matrix& used = wide ? reduced.rows : z;
  Nodes nodes(used);
  const bool choose = !std::isfinite(options.cost);
  rule.cost = choose ? 1.0 : options.cost;
  if (!folds.empty()) {
    Matrix decisions;
    Index fewest = n + 1;
    for (const double c : choose ? svm_costs() : std::vector<double>{options.cost}) {
      Matrix found = held_out_decisions(nodes, used, codes, classes, folds, c);
      const Index errors = errors_of(found, codes);
      if (errors >= fewest) continue;
      fewest = errors;
      rule.cost = c;
      decisions = std::move(found);
    }
    rule.slope = fitted_slope(decisions, codes, rule.shares);
  }
  std::vector<Index> all(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
  const Matrix machines = train_machines(nodes, all, codes, classes, rule.cost);
  rule.offsets = machines.bottomRows(1).transpose();
  if (wide) {
    rule.weights.resize(z.cols(), classes);
    linalg::gemm(1.0, linalg::Op::kNone, reduced.map, linalg::Op::kNone, machines.topRows(used.cols()), 0.0,
                 rule.weights);
  } else {
    rule.weights = machines.topRows(used.cols());
  }
  rule.weights = inverse_scale.asDiagonal() * rule.weights;
  return rule;
}

Matrix SvmRule::log_posteriors(const MatrixRef& rows) const {
  Matrix result(rows.rows(), weights.cols());
  linalg::gemm(slope, linalg::Op::kNone, rows.rowwise() - centre.transpose(), linalg::Op::kNone, weights, 0.0,
               result);
  for (Index c = 0; c < result.cols(); ++c) {
    result.col(c).array() += slope * offsets[c] + std::log(shares[c] > 0.0 ? priors[c] / shares[c] : 0.0);
  }
  normalise_log_posteriors(result);
  return result;
}

}  // namespace subspectra
