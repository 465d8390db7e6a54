/// subspectra-liblinear.so: LIBLINEAR behind classify/liblinear.hpp.
#include <linear.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "classify/liblinear.hpp"

namespace {

static_assert(sizeof(subspectra::LiblinearEntry) == sizeof(feature_node) &&
              offsetof(subspectra::LiblinearEntry, column) == offsetof(feature_node, index) &&
              offsetof(subspectra::LiblinearEntry, value) == offsetof(feature_node, value));

struct ModelDeleter {
  void operator()(::model* trained) const { free_and_destroy_model(&trained); }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void subspectra_train_liblinear(
    std::span<subspectra::LiblinearEntry* const> rows, std::span<const double> y, double cost,
    std::span<double> machine) {
  // The only state LIBLINEAR shares between threads is where its messages go; the primal solver has no
  // rand().
  static std::once_flag silenced;
  std::call_once(silenced, [] { set_print_string_function([](const char*) {}); });
  std::vector<feature_node*> x;
  x.reserve(rows.size());
  for (subspectra::LiblinearEntry* row : rows) x.push_back(reinterpret_cast<feature_node*>(row));
  std::vector<double> labels(y.begin(), y.end());
  const ::problem problem = {.l = static_cast<int>(x.size()),
                             .n = static_cast<int>(machine.size()),
                             .y = labels.data(),
                             .x = x.data(),
                             .bias = 1.0};
  ::parameter parameter = {};
  parameter.solver_type = L2R_L2LOSS_SVC;
  parameter.eps = 1e-10;  // of the gradient's norm at 0; it ends before, when the objective no longer falls
  parameter.C = cost;
  const std::unique_ptr<::model, ModelDeleter> trained(train(&problem, &parameter));
  // With labels +1 and -1 LIBLINEAR puts +1 first, whatever the order of the rows.
  std::copy_n(trained->w, machine.size(), machine.begin());
}
