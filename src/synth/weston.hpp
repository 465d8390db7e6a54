#pragma once
/// The two problems of Weston et al., "Feature selection for SVMs" (NIPS 2001): a few features that tell two
/// classes apart among many that are noise. See docs/synth.md.
#include <cstdint>

#include "core/options.hpp"
#include "data/dataset.hpp"
#include "synth/traits.hpp"

namespace subspectra::synth {

/// Row i has y = -1 or 1 at equal chance. At chance 0.7 x_j = y N(j, 1) for j = 1..3 and x_j = N(0, 1) for j
/// = 4..6; otherwise x_j = N(0, 1) for j = 1..3 and x_j = y N(j - 3, 1) for j = 4..6. All others are noise of
/// variance 20. Row i depends on (seed, i) alone.
struct WestonLinear {
  static constexpr Index kRelevant = 6;
  Index rows = 100;
  Index features = 202;
  std::uint64_t seed = 0;

  static constexpr SynthTraits kTraits{
      .name = "weston-linear",
      .summary = "table: two classes that 6 features tell apart, by halves; the rest is noise"};
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("rows", o.rows, "number of samples");
    field("features", o.features, "number of features");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] Dataset make() const;  ///< throws InvalidArgument, Error (memory)
};

/// Row i has y = -1 or 1 at equal chance; (x_1, x_2) is N(+/-(3/4, 3), I) for y = -1 and N(+/-(3, -3), I) for
/// y = 1, both signs equally likely. All others are noise of variance 20.
struct WestonNonlinear {
  static constexpr Index kRelevant = 2;
  Index rows = 100;
  Index features = 52;
  std::uint64_t seed = 0;

  static constexpr SynthTraits kTraits{
      .name = "weston-nonlinear",
      .summary = "table: two classes of two clouds each, apart in 2 features; the rest is noise"};
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("rows", o.rows, "number of samples");
    field("features", o.features, "number of features");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] Dataset make() const;  ///< throws InvalidArgument, Error (memory)
};

}  // namespace subspectra::synth
