#include "classify/svm.hpp"

#include <fmt/format.h>
#include <subspectra/error.hpp>

#include <algorithm>
#include <cmath>

#include "classify/classifier_kind.hpp"
#include "classify/kernel_svm.hpp"
#include "classify/liblinear.hpp"
#include "classify/one_against_rest.hpp"
#include "classify/row_map.hpp"
#include "core/matrix_json.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "svm/squared_hinge.hpp"

namespace subspectra {
namespace {

/// Rows in LIBLINEAR's form, made once and shared by every training on some of them.
class Nodes {
 public:
  explicit Nodes(const MatrixRef& rows)
      : columns_(static_cast<int>(rows.cols())),
        cells_(static_cast<std::size_t>((columns_ + 2) * rows.rows())) {
    for (Index i = 0; i < rows.rows(); ++i) {
      LiblinearEntry* cell = row(i);
      for (int j = 0; j < columns_; ++j) *cell++ = {j + 1, rows(i, j)};
      *cell++ = {columns_ + 1, 1.0};  // the offset: a column of ones, penalised like any other
      *cell = {-1, 0.0};
    }
  }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] LiblinearEntry* row(Index i) {
    return cells_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(columns_ + 2);
  }

 private:
  int columns_;
  std::vector<LiblinearEntry> cells_;
};

/// One machine: w and, last, b.
Vector train_machine(Nodes& nodes, const std::vector<Index>& rows, const std::vector<char>& positive,
                     double c) {
  std::vector<double> y;
  std::vector<LiblinearEntry*> x;
  for (const Index i : rows) {
    y.push_back(positive[static_cast<std::size_t>(i)] != 0 ? 1.0 : -1.0);
    x.push_back(nodes.row(i));
  }
  Vector machine(nodes.columns() + 1);
  liblinear()(x, y, c, {machine.data(), static_cast<std::size_t>(machine.size())});
  return machine;
}

/// The same on fewer rows than there were columns, where LIBLINEAR ends far from the minimum when C is large:
/// by Newton's method on the inner products (svm/squared_hinge.hpp).
Vector train_wide_machine(const Matrix& inputs, const std::vector<Index>& rows,
                          const std::vector<char>& positive, double c) {
  const auto n = static_cast<Index>(rows.size());
  Matrix some(n, inputs.cols() + 1);
  some << inputs(rows, Eigen::all), Vector::Ones(n);
  Vector y(n);
  for (Index i = 0; i < n; ++i)
    y[i] = positive[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])] != 0 ? 1.0 : -1.0;
  Matrix products(n, n);
  linalg::syrk(1.0, linalg::Op::kNone, some, 0.0, products);
  Vector machine(some.cols());
  linalg::gemv(1.0, linalg::Op::kTranspose, some, machine_from_products(products, y, c, false).a, 0.0,
               machine);
  return machine;
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
                const std::vector<std::vector<Index>>& folds, const Svm& options, const RunControl& control) {
  const Index n = rows.rows();
  SvmRule rule;
  rule.shares = class_shares(codes, classes);
  rule.priors = class_priors(rule.shares, options.prior);
  StandardizedRows standardized = standardize_rows(rows);
  rule.centre = std::move(standardized.centre);
  const Matrix& z = standardized.z;

  const bool wide = z.cols() > n;
  Reduced reduced;
  if (wide) reduced = reduce(z);
  const Matrix& used = wide ? reduced.rows : z;
  Nodes nodes(wide ? Matrix() : used);
  const one_against_rest::Fitted fitted =
      one_against_rest::fit({.inputs = used,
                             .codes = codes,
                             .shares = rule.shares,
                             .folds = folds,
                             .train =
                                 [&](const auto& some, const auto& positive, double c) {
                                   return wide ? train_wide_machine(used, some, positive, c)
                                               : train_machine(nodes, some, positive, c);
                                 }},
                            options.C, control);
  rule.status = fitted.status;
  rule.cost = fitted.cost;
  rule.slope = fitted.slope;
  rule.offsets = fitted.machines.bottomRows(1).transpose();
  rule.weights = fitted.machines.topRows(used.cols());
  if (wide) {
    Matrix weights(z.cols(), classes);
    linalg::gemm(1.0, linalg::Op::kNone, reduced.map, linalg::Op::kNone, rule.weights, 0.0, weights);
    rule.weights = std::move(weights);
  }
  rule.weights = standardized.inverse_scale.asDiagonal() * rule.weights;
  return rule;
}

Vector class_shares(const std::vector<int>& codes, Index classes) {
  Vector shares = Vector::Zero(classes);
  for (const int code : codes) shares[code] += 1.0 / static_cast<double>(codes.size());
  return shares;
}

Matrix SvmRule::log_posteriors(const MatrixRef& rows) const {
  Matrix decisions = offsets.transpose().replicate(rows.rows(), 1);
  linalg::gemm(1.0, linalg::Op::kNone, rows.rowwise() - centre.transpose(), linalg::Op::kNone, weights, 1.0,
               decisions);
  return one_against_rest::log_posteriors(std::move(decisions), slope, priors, shares);
}

Index SvmRule::entries() const {
  return weights.cols() == 2 ? weights.rows() : weights.size();  // two classes share one function
}

std::string SvmRule::description() const {
  return fmt::format("classifier {}, C = {:.4g}", classifier(), cost);
}

std::string svm_cut_short_sentence(Status status, double cost) {
  if (status != Status::kTimeLimit && status != Status::kInterrupted) return {};
  return fmt::format(
      "the training of {} was stopped ({}) before the cross-validation inside the rows had ended: C = {:.4g} and the scale of the probabilities are the best so far; give more time, or a value with ⟨C⟩",
      Svm::kTraits.name, status_name(status), cost);
}

std::string SvmRule::cut_short_sentence() const { return svm_cut_short_sentence(status, cost); }

nlohmann::json SvmRule::to_json() const {
  return {{"priors", subspectra::to_json(priors)},
          {"shares", subspectra::to_json(shares)},
          {"centre", subspectra::to_json(centre)},
          {"weights", subspectra::to_json(weights)},
          {"offsets", subspectra::to_json(offsets)},
          {"slope", slope},
          {"C", cost}};
}

void Svm::validate() const {
  if (!(C > 0.0)) {
    throw InvalidArgument(
        {.field = "C", .value = fmt::to_string(C), .rule = "{value}, but a positive number is needed"});
  }
  if (svm_degree < 1 || svm_degree > 20)
    throw InvalidArgument({.field = "svm_degree",
                           .value = fmt::to_string(svm_degree),
                           .rule = "{value}, but a number from 1 to 20 is needed"});
  if (!(svm_gamma > 0.0))
    throw InvalidArgument({.field = "svm_gamma",
                           .value = fmt::to_string(svm_gamma),
                           .rule = "{value}, but a positive number is needed"});
}

namespace {

/// f(x) = w'(B'(x - mean)) + b: the machine's weights on x are B w.
SvmRule fit_projected_svm(const TrainingRows& rows, const Svm& options, const RunControl& control) {
  const Matrix& x = rows.rows;
  const Matrix& b = *rows.projection;
  Vector mean = Vector::Zero(x.cols());
  if (x.rows() > 0) mean = x.colwise().mean();
  Matrix z(x.rows(), b.cols());
  linalg::gemm(1.0, linalg::Op::kNone, x.rowwise() - mean.transpose(), linalg::Op::kNone, b, 0.0, z);
  SvmRule rule = fit_svm(z, rows.labels.codes, rows.labels.class_count(), rows.folds, options, control);
  Matrix weights(b.rows(), rule.weights.cols());
  linalg::gemm(1.0, linalg::Op::kNone, b, linalg::Op::kNone, rule.weights, 0.0, weights);
  // The mean of z is 0 but for rounding, which the offsets take in.
  rule.offsets -= rule.weights.transpose() * rule.centre;
  rule.weights = std::move(weights);
  rule.centre = std::move(mean);
  return rule;
}

/// The linear machine, or the one with a kernel.
class SvmKind final : public RowKind<Svm> {
 public:
  [[nodiscard]] RulePointer read(const ModelReader& reader, const ModelShape& shape) const override {
    // The linear one has weights in place of support vectors.
    if (reader.has("kernel")) return std::make_shared<KernelSvmRule>(read_kernel_svm(reader, shape));
    auto rule = std::make_shared<SvmRule>();
    rule->priors = reader.shares("priors", shape.classes);
    rule->shares = reader.shares("shares", shape.classes);
    reader.check_priors(rule->priors, rule->shares);
    rule->centre = reader.numbers("centre", shape.features);
    rule->weights = reader.matrix("weights", shape.features, shape.classes);
    rule->offsets = reader.numbers("offsets", shape.classes);
    rule->slope = reader.positive_number("slope");
    rule->cost = reader.positive_number("C");
    return rule;
  }

 protected:
  [[nodiscard]] RulePointer train(const Svm& options, const TrainingRows& rows,
                                  const RunControl& control) const override {
    const Labels& labels = rows.labels;
    if (options.svm_kernel != SvmKernel::kLinear) {
      return std::make_shared<KernelSvmRule>(fit_kernel_svm(rows.rows, labels.codes, labels.class_count(),
                                                            rows.folds, options, rows.projection, control));
    }
    return std::make_shared<SvmRule>(
        rows.projection != nullptr
            ? fit_projected_svm(rows, options, control)
            : fit_svm(rows.rows, labels.codes, labels.class_count(), rows.folds, options, control));
  }
};

}  // namespace

std::unique_ptr<const ClassifierKind> svm_kind() { return std::make_unique<SvmKind>(); }

}  // namespace subspectra
