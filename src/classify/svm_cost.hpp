#pragma once
/// C of the linear support vector machine, for those who need nothing else of it.
#include <vector>

#include <subspectra/run_control.hpp>
#include "core/types.hpp"

namespace subspectra {

/// The C that fit_svm would choose for the standardized rows `z`, or had chosen when `control` stopped it.
[[nodiscard]] double choose_svm_cost(const Matrix& z, const std::vector<int>& codes, Index classes,
                                     const std::vector<std::vector<Index>>& folds, int threads = 0,
                                     const RunControl& control = RunControl());

}  // namespace subspectra
