#pragma once
/// What a set of features is judged by.
#include <array>
#include <string_view>
#include <utility>

#include "core/options.hpp"

namespace subspectra {

enum class Criterion { kLargest, kTrace, kWilks };
template <>
struct EnumNames<Criterion> {
  static constexpr std::array<std::pair<Criterion, std::string_view>, 3> kNames = {
      {{Criterion::kLargest, "largest"}, {Criterion::kTrace, "trace"}, {Criterion::kWilks, "wilks"}}};
};

}  // namespace subspectra
