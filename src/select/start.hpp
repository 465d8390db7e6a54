#pragma once
/// The matrix at which an iteration starts, where one is given.
#include <subspectra/options.hpp>
#include <subspectra/selection.hpp>

#include "core/types.hpp"

namespace subspectra {

/// The numbers of `start`, from its file where they are in one; a result is told the shape. Throws BadInput
/// (the file) and InvalidArgument (numbers that are not finite).
[[nodiscard]] Matrix given_start(const Start& start, std::uint64_t memory_limit, Selection& selection);

/// How messages call it: "q0.npy", or "the matrix".
[[nodiscard]] std::string start_name(const Start& start);

}  // namespace subspectra
