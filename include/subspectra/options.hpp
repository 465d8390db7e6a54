#pragma once
/// The values that options are made of.
#include <cstddef>

namespace subspectra {

using Index = std::ptrdiff_t;  ///< signed; rows, columns, feature numbers (0-based)

/// The words for the values of an enum: `static constexpr std::array<std::pair<E, std::string_view>, n>
/// kNames`.
template <class E>
struct EnumNames;

}  // namespace subspectra
