#include "select/start.hpp"

#include <subspectra/error.hpp>

#include "io/read_matrix.hpp"
#include "select/record.hpp"

namespace subspectra {

Matrix given_start(const Start& start, std::uint64_t memory_limit, Selection& selection) {
  Matrix matrix = start.file.empty() ? Matrix(start.matrix.view()) : read_matrix(start.file, memory_limit);
  if (!matrix.allFinite()) {
    throw InvalidArgument({.field = "start",
                           .rule = "has entries that are not finite",
                           .way_out = "give a matrix of finite numbers"});
  }
  record_of(selection)["start_shape"] = {matrix.rows(), matrix.cols()};
  return matrix;
}

std::string start_name(const Start& start) { return start.file.empty() ? "the matrix" : start.file; }

}  // namespace subspectra
