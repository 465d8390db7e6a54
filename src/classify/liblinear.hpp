#pragma once
/// LIBLINEAR's trust-region Newton method on the primal of the squared hinge loss, in a module that is loaded
/// at the first use (companions/liblinear.cpp): it brings a BLAS of its own that most runs have no need of.
#include <span>

namespace subspectra {

/// An entry of a row as LIBLINEAR keeps it; columns count from 1, and -1 ends the row.
struct LiblinearEntry {
  int column;
  double value;
};

/// One machine on `rows` with labels y = +1 and -1; `machine`: the weights, one a column. It draws no random
/// numbers, and may run in several threads at once.
using TrainLiblinear = void (*)(std::span<LiblinearEntry* const> rows, std::span<const double> y, double cost,
                                std::span<double> machine);

/// What the module offers under the name "subspectra_train_liblinear". Throws Error when the module or
/// LIBLINEAR itself is not there.
[[nodiscard]] TrainLiblinear liblinear();

}  // namespace subspectra
