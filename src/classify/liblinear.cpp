#include "classify/liblinear.hpp"

#include "core/companion.hpp"

namespace subspectra {

TrainLiblinear liblinear() {
  static const auto train = reinterpret_cast<TrainLiblinear>(
      companion_function("subspectra-liblinear.so", "subspectra_train_liblinear",
                         "linear support vector machines are trained by LIBLINEAR, in a module of its own"));
  return train;
}

}  // namespace subspectra
