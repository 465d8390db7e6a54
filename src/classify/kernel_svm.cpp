#include "classify/kernel_svm.hpp"

#include <fmt/format.h>
#include <libsvm/svm.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>

#include "classify/one_against_rest.hpp"
#include "classify/svm.hpp"
#include "core/matrix_json.hpp"
#include "core/memory.hpp"
#include "core/text.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

struct KernelModelDeleter {
  void operator()(svm_model* trained) const { svm_free_and_destroy_model(&trained); }
};

/// k(a_i, b_j), n x m.
Matrix kernel_values(const MatrixRef& a, const MatrixRef& b, SvmKernel kernel, Index degree, double gamma) {
  if (kernel == SvmKernel::kRbf)
    return squared_distances(a, b).unaryExpr([&](double d) { return std::exp(-gamma * d); });
  Matrix values(a.rows(), b.rows());
  if (kernel == SvmKernel::kLinear) {
    linalg::gemm(1.0, linalg::Op::kNone, a, linalg::Op::kTranspose, b, 0.0, values);
    return values;
  }
  linalg::gemm(gamma, linalg::Op::kNone, a, linalg::Op::kTranspose, b, 0.0, values);
  return values.unaryExpr([&](double v) { return std::pow(v + 1.0, static_cast<double>(degree)); });
}

/// The kernel matrix as LIBSVM reads it: every row starts with its own number and holds all the values, so
/// that a training on some of the rows is a choice of pointers.
class KernelNodes {
 public:
  explicit KernelNodes(const Matrix& gram)
      : n_(gram.rows()), cells_(static_cast<std::size_t>(n_ * (n_ + 2))) {
    for (Index i = 0; i < n_; ++i) {
      svm_node* cell = row(i);
      *cell++ = {0, static_cast<double>(i + 1)};
      for (Index j = 0; j < n_; ++j) *cell++ = {static_cast<int>(j + 1), gram(j, i)};
      *cell = {-1, 0.0};
    }
  }
  [[nodiscard]] svm_node* row(Index i) { return cells_.data() + static_cast<std::size_t>(i * (n_ + 2)); }
  [[nodiscard]] Index size() const { return n_; }

 private:
  Index n_;
  std::vector<svm_node> cells_;
};

/// One machine: y_i alpha_i for every row and, last, the offset.
Vector train_kernel_machine(KernelNodes& nodes, const std::vector<Index>& rows,
                            const std::vector<char>& positive, double c) {
  static std::once_flag silenced;
  std::call_once(silenced, [] { svm_set_print_string_function([](const char*) {}); });
  std::vector<double> y;
  std::vector<svm_node*> x;
  for (const Index i : rows) {
    y.push_back(positive[static_cast<std::size_t>(i)] != 0 ? 1.0 : -1.0);
    x.push_back(nodes.row(i));
  }
  const svm_problem problem = {.l = static_cast<int>(rows.size()), .y = y.data(), .x = x.data()};
  svm_parameter parameter = {};
  parameter.svm_type = C_SVC;
  parameter.kernel_type = PRECOMPUTED;
  parameter.cache_size = 100.0;  // MB
  parameter.eps = 1e-4;          // the largest violation of the optimality conditions, decisions being near 1
  parameter.C = c;
  parameter.shrinking = 1;
  const std::unique_ptr<svm_model, KernelModelDeleter> trained(svm_train(&problem, &parameter));
  const double sign = trained->label[0] == 1 ? 1.0 : -1.0;
  Vector machine = Vector::Zero(nodes.size() + 1);
  for (int s = 0; s < trained->l; ++s) {
    machine[rows[static_cast<std::size_t>(trained->sv_indices[s] - 1)]] = sign * trained->sv_coef[0][s];
  }
  machine[nodes.size()] = -sign * trained->rho[0];
  return machine;
}

}  // namespace

KernelSvmRule fit_kernel_svm(const MatrixRef& rows, const std::vector<int>& codes, Index classes,
                             const std::vector<std::vector<Index>>& folds, const Svm& options,
                             const Matrix* projection, const RunControl& control) {
  const Index n = rows.rows();
  require_memory(24.0 * static_cast<double>(n) * static_cast<double>(n), "the kernel matrix of the rows",
                 "train on fewer rows, or with ⟨svm_kernel linear⟩");
  KernelSvmRule rule;
  rule.kernel = options.svm_kernel;
  rule.degree = options.svm_degree;
  rule.cost = options.C;
  rule.shares = class_shares(codes, classes);
  rule.priors = class_priors(rule.shares, options.prior);
  rule.map.centre = rows.colwise().mean();
  if (projection != nullptr) {
    rule.map.has_projection = true;
    rule.map.projection = *projection;
  }
  // What is left of the mean of B'(x - mean) is rounding; the kernel sees the same z in training and after.
  rule.map.scale = standardize_rows(rule.map(rows)).inverse_scale;
  const Matrix z = rule.map(rows);
  const auto varying = static_cast<double>((rule.map.scale.array() > 0.0).count());
  rule.gamma = std::isfinite(options.svm_gamma) ? options.svm_gamma : 1.0 / std::max(1.0, varying);

  const Matrix gram = kernel_values(z, z, rule.kernel, rule.degree, rule.gamma);
  if (!gram.allFinite()) {
    throw InvalidArgument({.field = "svm_degree",
                           .subject = "the polynomial kernel",
                           .rule = "overflows on these rows",
                           .way_out = "lower ⟨svm_degree⟩ or ⟨svm_gamma⟩"});
  }
  KernelNodes nodes(gram);
  const one_against_rest::Fitted fitted = one_against_rest::fit(
      {.inputs = gram,
       .codes = codes,
       .shares = rule.shares,
       .folds = folds,
       .train = [&](const auto& some, const auto& positive,
                    double c) { return train_kernel_machine(nodes, some, positive, c); }},
      options.C, control);
  rule.status = fitted.status;
  rule.cost = fitted.cost;
  rule.slope = fitted.slope;
  rule.offsets = fitted.machines.bottomRows(1).transpose();
  std::vector<Index> support;
  for (Index i = 0; i < n; ++i) {
    if ((fitted.machines.row(i).array() != 0.0).any()) support.push_back(i);
  }
  rule.vectors = z(support, Eigen::all);
  rule.coefficients = fitted.machines(support, Eigen::all);
  return rule;
}

Matrix KernelSvmRule::decisions(const MatrixRef& rows) const {
  constexpr Index kBlock = 512;  // rows at a time: their kernel values stay small
  Matrix values = offsets.transpose().replicate(rows.rows(), 1);
  for (Index first = 0; first < rows.rows(); first += kBlock) {
    const Index count = std::min(kBlock, rows.rows() - first);
    linalg::gemm(1.0, linalg::Op::kNone,
                 kernel_values(map(rows.middleRows(first, count)), vectors, kernel, degree, gamma),
                 linalg::Op::kNone, coefficients, 1.0, values.middleRows(first, count));
  }
  return values;
}

Matrix KernelSvmRule::log_posteriors(const MatrixRef& rows) const {
  return one_against_rest::log_posteriors(decisions(rows), slope, priors, shares);
}

std::string KernelSvmRule::description() const {
  return fmt::format("classifier {}, kernel {}, C = {:.4g}, {}", classifier(),
                     OptionCodec<SvmKernel>::format(kernel), cost, counted(vectors.rows(), "support vector"));
}

std::string KernelSvmRule::cut_short_sentence() const { return svm_cut_short_sentence(status, cost); }

nlohmann::json KernelSvmRule::to_json() const {
  return {{"priors", subspectra::to_json(priors)},
          {"shares", subspectra::to_json(shares)},
          {"kernel", OptionCodec<SvmKernel>::json(kernel)},
          {"degree", degree},
          {"gamma", gamma},
          {"scale", subspectra::to_json(map.scale)},
          {"support_vectors", subspectra::to_json(vectors)},
          {"coefficients", subspectra::to_json(coefficients)},
          {"offsets", subspectra::to_json(offsets)},
          {"slope", slope},
          {"C", cost},
          {"centre", subspectra::to_json(map.centre)},
          {"projection", projection_json(map)}};
}

KernelSvmRule read_kernel_svm(const ModelReader& reader, const ModelShape& shape) {
  KernelSvmRule rule;
  try {
    rule.kernel = OptionCodec<SvmKernel>::parse(reader.text("kernel"));
  } catch (const InvalidArgument&) {
    reader.fail("kernel", "names a kernel this version does not have");
  }
  rule.degree = reader.count("degree");
  if (rule.degree < 1 || rule.degree > 20) reader.fail("degree", "must be a number from 1 to 20");
  rule.priors = reader.shares("priors", shape.classes);
  rule.shares = reader.shares("shares", shape.classes);
  reader.check_priors(rule.priors, rule.shares);
  rule.map = read_projection(reader, shape.features);
  rule.map.centre = reader.numbers("centre", shape.features);
  rule.map.scale = reader.numbers("scale", rule.map.width());
  if ((rule.map.scale.array() < 0.0).any()) reader.fail("scale", "must not be negative");
  const Index vectors = ModelReader::length(reader.at("support_vectors"));
  rule.vectors = reader.matrix("support_vectors", vectors, rule.map.width());
  rule.coefficients = reader.matrix("coefficients", vectors, shape.classes);
  rule.offsets = reader.numbers("offsets", shape.classes);
  rule.gamma = reader.positive_number("gamma");
  rule.slope = reader.positive_number("slope");
  rule.cost = reader.positive_number("C");
  return rule;
}

}  // namespace subspectra
