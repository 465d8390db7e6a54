/// The way through the library in one page: a table in memory, a search, cross-validation, a model,
/// predictions.
#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <subspectra/subspectra.hpp>
#include <vector>

namespace ss = subspectra;

namespace {

/// 120 rows of 30 features in two classes; features 3, 11 and 20 tell them apart.
struct Table {
  Eigen::MatrixXd x;
  std::vector<int> y;
};

Table make_table(unsigned seed, Eigen::Index rows) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Table table{Eigen::MatrixXd(rows, 30), std::vector<int>(static_cast<std::size_t>(rows))};
  for (Eigen::Index i = 0; i < rows; ++i) {
    const int label = static_cast<int>(i % 2);
    table.y[static_cast<std::size_t>(i)] = label;
    for (Eigen::Index j = 0; j < table.x.cols(); ++j) {
      const bool informative = j == 3 || j == 11 || j == 20;
      table.x(i, j) = normal(generator) + (informative ? 1.2 * label : 0.0);
    }
  }
  return table;
}

const Table training = make_table(1, 120);
const Eigen::MatrixXd& X = training.x;
const std::vector<int>& y = training.y;
const Eigen::MatrixXd X_new = make_table(2, 10).x;

}  // namespace

int main() {
  ss::Dataset data(X, y);  // Eigen, std::span, raw pointer + strides, CSC: views, no copy
  auto found = ss::select(data, ss::Gslda{.swaps = 5}, {.k = {1, 10}});
  for (const auto& set : found.sets()) fmt::print("{} {} {}\n", set.k(), set.objective, set.gap());
  auto cv = ss::evaluate(data, {ss::Gslda{}, ss::RvmRow{}}, {.folds = 5, .repeats = 20});
  auto model = ss::fit(data, ss::Gslda{}, {.k = cv.k_one_standard_error()});
  auto p = model.predict_proba(X_new);
  model.save("model.json");
}
