#pragma once
/// Sets of features that someone else chose: what `select refit` reads.
#include <string>
#include <vector>

#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra {

/// A result file (`subspectra.selection/1`: every set of its path, with the first loading of each feature),
/// or text with one feature a line and, if every line has one, its loading after the last comma; empty lines
/// and lines that begin with # are passed over. Throws BadInput with FILE:LINE.
[[nodiscard]] std::vector<GivenSet> read_given_sets(const std::string& path, std::uint64_t memory_limit = 0);

}  // namespace subspectra
