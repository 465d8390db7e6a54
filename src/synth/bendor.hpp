#pragma once
/// The model of gene expression data of Ben-Dor, Friedman and Yakhini (RECOMB 2001). See docs/synth.md.
#include <array>
#include <cstdint>

#include "core/options.hpp"
#include "data/dataset.hpp"
#include "synth/traits.hpp"

namespace subspectra::synth {

/// What the second number of N(mu, mu s) is.
enum class Spread { kVariance, kDeviation };

/// `a` rows of class A, then `b` of class B. Feature j depends on (seed, j), a and b alone.
struct BenDor {
  Index features = 600;
  Index a = 25;
  Index b = 47;
  double e = 0.72;
  double d = 555.0;
  double s = 0.75;
  Spread spread_as = Spread::kVariance;
  std::uint64_t seed = 0;

  static constexpr SynthTraits kTraits{
      .name = "bendor", .summary = "table: a model of gene expression, two classes, most genes irrelevant"};
  [[nodiscard]] Index irrelevant() const;  ///< e m, rounded
  void validate() const;                   ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("features", o.features, "number of features");
    field("a", o.a, "rows of class A");
    field("b", o.b, "rows of class B");
    field("e", o.e, "share of the features that are irrelevant: the last ones");
    field("d", o.d, "the class means of a relevant feature are drawn between -1.5 d and 1.5 d");
    field("s", o.s, "spread: N(mean, |mean| s) in a relevant feature, N(0, s) in the others");
    field("spread_as", o.spread_as, "whether that second number is the variance or the standard deviation");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] Dataset make() const;  ///< throws InvalidArgument, Error (memory)
};

}  // namespace subspectra::synth

namespace subspectra {
template <>
struct EnumNames<synth::Spread> {
  static constexpr std::array<std::pair<synth::Spread, std::string_view>, 2> kNames = {
      {{synth::Spread::kVariance, "variance"}, {synth::Spread::kDeviation, "deviation"}}};
};
}  // namespace subspectra
