#pragma once
/// Tables of other libraries by the Arrow C stream interface, which needs nothing of Arrow to be installed.
#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include <subspectra/types.hpp>

namespace subspectra::python {

/// The columns of a stream (a capsule "arrow_array_stream") as numbers, null as NaN, and their names. Throws
/// InvalidArgument for a column of anything but numbers and truth values.
[[nodiscard]] std::pair<DenseMatrix, std::vector<std::string>> read_arrow_stream(nanobind::handle capsule);

}  // namespace subspectra::python
