/// The same machines as fit_svm trains, by Newton's method on their pieces, which is quicker where C is
/// large.
#include "classify/svm_cost.hpp"

#include "classify/one_against_rest.hpp"
#include "classify/svm.hpp"
#include "linalg/tiled.hpp"
#include "svm/squared_hinge.hpp"

namespace subspectra {

double choose_svm_cost(const Matrix& z, const std::vector<int>& codes, Index classes,
                       const std::vector<std::vector<Index>>& folds, int threads, const RunControl& control) {
  const Index n = z.rows();
  const bool products = z.cols() >= n;
  // Decisions are inputs * coefficients in either form; the penalized offset is a column of ones.
  Matrix inputs;
  if (products) {
    inputs = Matrix::Ones(n, n);
    linalg::rank_update_lower(1.0, z, inputs, threads);
    linalg::mirror_lower(inputs);
  } else {
    inputs.resize(n, z.cols() + 1);
    inputs << z, Vector::Ones(n);
  }
  const auto train = [&](const std::vector<Index>& rows, const std::vector<char>& positive, double c) {
    Vector y(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      y[static_cast<Index>(i)] = positive[static_cast<std::size_t>(rows[i])] != 0 ? 1.0 : -1.0;
    Vector machine = Vector::Zero(inputs.cols() + 1);
    if (products) {
      const Machine found = machine_from_products(inputs(rows, rows), y, c, false);
      for (std::size_t i = 0; i < rows.size(); ++i) machine[rows[i]] = found.a[static_cast<Index>(i)];
    } else {
      machine.head(inputs.cols()) = machine_from_rows(inputs(rows, Eigen::all), y, c).w;
    }
    return machine;
  };
  const Vector shares = class_shares(codes, classes);
  return one_against_rest::fit(
             {.inputs = inputs, .codes = codes, .shares = shares, .folds = folds, .train = train}, kInfinity,
             control)
      .cost;
}

}  // namespace subspectra
