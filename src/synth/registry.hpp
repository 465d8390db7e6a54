#pragma once
/// Every synthetic problem by name, made from texts (the command line) or a struct (C++). A problem is a
/// struct of options with kTraits, `visit`, `validate` and `make`.
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/options.hpp"
#include "data/dataset.hpp"
#include "synth/bendor.hpp"
#include "synth/brownian.hpp"
#include "synth/clusters.hpp"
#include "synth/gaussian_classes.hpp"
#include "synth/weston.hpp"

namespace subspectra::synth {

/// Any of the problems with its options, in the order of the list that `subspectra synth` prints. A new one
/// is its file and its name here.
using AnySynth = std::variant<Brownian, BrownianPair, GaussianClasses, WestonLinear, WestonNonlinear,
                              Clusters, Sessions, BenDor>;

struct NamedMatrix {
  std::string name;  ///< "A": part of the file's name
  Matrix values;
};

/// What a problem consists of: a table, or matrices.
struct Synthesized {
  std::optional<Dataset> table;
  std::vector<NamedMatrix> matrices;
};

/// What the registry knows of a problem, beside its traits.
struct SynthEntry {
  const SynthTraits* traits = nullptr;
  std::vector<OptionDescription> options;  ///< with this problem's defaults
  /// Takes the problem's own options and passes over the others. Throws InvalidArgument.
  AnySynth (*from_texts)(const OptionTexts&) = nullptr;
};

[[nodiscard]] const std::vector<SynthEntry>& synth_entries();
/// Throws InvalidArgument with near names.
[[nodiscard]] const SynthEntry& find_synth(std::string_view name);

/// Throws InvalidArgument (options), Error (memory).
[[nodiscard]] Synthesized synthesize(const AnySynth& problem);
[[nodiscard]] nlohmann::json synth_options_json(const AnySynth& problem);

}  // namespace subspectra::synth
