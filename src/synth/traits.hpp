#pragma once
#include <span>
#include <string_view>

namespace subspectra::synth {

/// What is said of a synthetic problem, as data.
struct SynthTraits {
  std::string_view name;
  std::string_view summary;                         ///< one line
  std::span<const std::string_view> matrices = {};  ///< names of the matrices it makes; empty: a table
};

}  // namespace subspectra::synth
