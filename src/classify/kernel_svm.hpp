#pragma once
/// The support vector machine with a kernel, one against the rest, by LIBSVM (docs/methods/svm.md).
#include <subspectra/classifiers.hpp>

#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include "classify/classifier_kind.hpp"
#include "classify/row_map.hpp"
#include "classify/rule.hpp"
#include "core/types.hpp"

namespace subspectra {

/// f_c(x) = sum_i coefficients_ic k(v_i, z) + offset_c on z = map(x): standardized columns. The rest is as in
/// SvmRule.
struct KernelSvmRule final : Rule {
  RowMap map;
  SvmKernel kernel = SvmKernel::kRbf;
  Index degree = 2;     ///< poly: (gamma u'v + 1)^degree
  double gamma = 1.0;   ///< rbf: exp(-gamma |u - v|^2)
  Matrix vectors;       ///< m x L: the support vectors of any machine
  Matrix coefficients;  ///< m x K
  Vector offsets;       ///< K
  double slope = 1.0;
  Vector priors, shares;  ///< K
  double cost = 1.0;

  [[nodiscard]] Matrix decisions(const MatrixRef& rows) const;  ///< n x k -> n x K
  [[nodiscard]] std::string_view classifier() const override { return Svm::kTraits.name; }
  [[nodiscard]] Matrix log_posteriors(const MatrixRef& rows) const override;  ///< n x k -> n x K, normalised
  [[nodiscard]] Index entries() const override { return map.centre.size(); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::string cut_short_sentence() const override;
  [[nodiscard]] nlohmann::json to_json() const override;
};

/// For each class, with y = +1 in it and -1 elsewhere, over the standardized rows z_i,
///     min  |w|^2/2 + C sum_i max(0, 1 - y_i (w'phi(z_i) + b)),   phi(u)'phi(v) = k(u, v),
/// by LIBSVM on the kernel matrix, which is computed once (24 n^2 bytes). Its C-SVC draws no random numbers.
/// `folds` and `control` serve as in fit_svm. `projection`: null, or B (k x L): the machine then sees B'(x -
/// mean).
[[nodiscard]] KernelSvmRule fit_kernel_svm(const MatrixRef& rows, const std::vector<int>& codes,
                                           Index classes, const std::vector<std::vector<Index>>& folds,
                                           const Svm& options, const Matrix* projection = nullptr,
                                           const RunControl& control = RunControl());

/// From a model file; throws BadInput.
[[nodiscard]] KernelSvmRule read_kernel_svm(const ModelReader& reader, const ModelShape& shape);

}  // namespace subspectra
