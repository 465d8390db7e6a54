#include "solvers/simplex.hpp"

#include "core/companion.hpp"

namespace subspectra {

std::unique_ptr<Simplex> make_simplex(std::span<const double> right_side, StopQuestion stop,
                                      const void* subject) {
  static const auto make = reinterpret_cast<MakeSimplex>(
      companion_function("subspectra-clp.so", "subspectra_make_simplex",
                         "the linear programs of sulda are solved by Clp, in a module of its own"));
  return std::unique_ptr<Simplex>(make(right_side, stop, subject));
}

}  // namespace subspectra
