#pragma once
/// Gaussian classes that differ in a few features: can a method find them? See docs/synth.md.
#include <cstdint>

#include "core/options.hpp"
#include "data/dataset.hpp"
#include "synth/traits.hpp"

namespace subspectra::synth {

/// Row i belongs to class i mod classes ("c0", "c1", ...). Every entry is N(0, 1), plus the class's mean in
/// the informative features; the means are N(0, separation^2), drawn once. Rows depend on (seed, row) and the
/// means on the seed alone, so that a longer table with the same seed is more rows of the same problem.
struct GaussianClasses {
  Index rows = 100;
  Index features = 500;
  Index classes = 4;
  Index informative = 10;
  double separation = 1.0;
  std::uint64_t seed = 0;

  static constexpr SynthTraits kTraits{
      .name = "gaussian-classes", .summary = "table: Gaussian classes whose means differ in a few features"};
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("rows", o.rows, "number of samples");
    field("features", o.features, "number of features");
    field("classes", o.classes, "number of classes");
    field("informative", o.informative,
          "so many features differ between the classes: the first ones (all, where there are fewer)");
    field("separation", o.separation, "standard deviation of the class means of an informative feature");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] Dataset make() const;  ///< throws InvalidArgument, Error (memory)
};

}  // namespace subspectra::synth
