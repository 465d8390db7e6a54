#pragma once
/// NumPy arrays as tables and matrices of the library: views of the same memory, which is kept alive.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <subspectra/dataset.hpp>

namespace subspectra::python {

using DenseArray = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::device::cpu>;
using Doubles = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Integers =
    nanobind::ndarray<const std::int32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// What comes with a table.
struct Beside {
  std::optional<Integers> codes;     ///< the class of every row, in `classes`; negative: none
  std::vector<std::string> classes;  ///< as texts
  std::vector<std::string> names;
  std::optional<Doubles> weights;
  std::vector<std::string> groups;
  std::string source;
};

[[nodiscard]] Dataset dense_table(const DenseArray& x, const Beside& beside);
/// Compressed columns with 32-bit indices.
[[nodiscard]] Dataset sparse_table(Index rows, Index cols, const Integers& outer, const Integers& inner,
                                   const Doubles& values, const Beside& beside);
[[nodiscard]] DenseView view_of(const DenseArray& x);
[[nodiscard]] DenseMatrix copy_of(const DenseArray& x);

/// Memory of its own, column after column, handed to NumPy.
using NumpyMatrix = nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<2>>;
using NumpyIntegers = nanobind::ndarray<nanobind::numpy, std::int32_t, nanobind::ndim<1>>;
[[nodiscard]] NumpyMatrix numpy_of(DenseMatrix matrix);
[[nodiscard]] NumpyIntegers numpy_of(std::vector<std::int32_t> numbers);

}  // namespace subspectra::python
