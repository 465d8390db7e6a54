#pragma once
/// The simplex method as basis pursuit needs it,
///     min 1'x,  A x = b,  x >= 0,     with columns of A that come in groups.
/// Clp does the work, in a module that is loaded at the first use (companions/clp_simplex.cpp): it brings a
/// LAPACK of its own that most runs have no need of.
#include <memory>
#include <span>

namespace subspectra {

class Simplex {
 public:
  Simplex() = default;
  Simplex(const Simplex&) = delete;
  Simplex& operator=(const Simplex&) = delete;
  virtual ~Simplex() = default;

  /// `entries`: whole columns of A, one after the other.
  virtual void add_columns(std::span<const double> entries) = 0;
  /// From the basis of the last call, with at most so many pivots; true at an optimum.
  virtual bool solve(int most_pivots) = 0;
  [[nodiscard]] virtual int last_pivots() const = 0;            ///< of the last call of solve
  [[nodiscard]] virtual const double* values() const = 0;       ///< x, in the order of the columns
  [[nodiscard]] virtual const double* multipliers() const = 0;  ///< y, one a row
};

/// Asked between two pivots whether to stop.
using StopQuestion = bool (*)(const void* subject);

/// What the module offers under the name "subspectra_make_simplex". The caller deletes the result; `subject`
/// must outlive it.
using MakeSimplex = Simplex* (*)(std::span<const double> right_side, StopQuestion stop, const void* subject);

/// Throws Error when the module or Clp itself is not there.
[[nodiscard]] std::unique_ptr<Simplex> make_simplex(std::span<const double> right_side, StopQuestion stop,
                                                    const void* subject);

}  // namespace subspectra
