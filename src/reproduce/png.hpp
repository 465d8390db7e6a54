#pragma once
/// Grey pictures of what was found.
#include <string>

#include "core/types.hpp"
#include "reproduce/experiments.hpp"

namespace subspectra::reproduce {

/// An image of `shape`, pixels row by row, as an 8-bit grey PNG: the smallest value is black, the largest
/// white (all equal: black). Every pixel becomes a square, so that the picture is some 256 pixels wide.
[[nodiscard]] std::string png_bytes(const ImageShape& shape, const Vector& pixels);

/// Writes it to folder/name, atomically; the folder is made when it does not exist. Throws Error.
void write_png(const std::string& folder, const std::string& name, const ImageShape& shape,
               const Vector& pixels);

}  // namespace subspectra::reproduce
