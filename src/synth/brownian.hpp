#pragma once
/// Problems made of random walks, whose features are strongly correlated: neighbours share all their steps
/// but one. See docs/synth.md.
#include <array>
#include <cstdint>
#include <utility>

#include "core/options.hpp"
#include "core/random.hpp"
#include "data/dataset.hpp"
#include "synth/traits.hpp"

namespace subspectra::synth {

/// Two classes, `a` and `b`, in turn. A row is the running sum of `features` numbers N(0, 1); the rows of `b`
/// have 0.8 w_j / sqrt(features) added, w another such walk. Row i depends on (seed, i) alone.
struct Brownian {
  Index rows = 1000;
  Index features = 64;
  std::uint64_t seed = 0;

  static constexpr SynthTraits kTraits{
      .name = "brownian",
      .summary = "table: two classes of random walks whose means differ by a random walk"};
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("rows", o.rows, "number of samples");
    field("features", o.features, "number of features");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] Dataset make() const;  ///< throws InvalidArgument, Error (memory)
};

/// Where the random walks of a pair come from.
enum class WalkKind { kFractional, kGeneralizedGaussian };

/// (A, B), each the n x n covariance (about the mean, over N) of N = 4n walks of n steps:
/// kFractional: fractional Brownian motion at times 1..n with Hurst exponent H ~ U(0.1, 0.9);
/// kGeneralizedGaussian: steps of unit variance with density ~ exp(-|x/s|^beta), beta as walk_shape() draws
/// it. H and beta are drawn anew for A and for B.
struct BrownianPair {
  WalkKind kind = WalkKind::kFractional;
  Index features = 16;
  std::uint64_t seed = 0;

  static constexpr std::array<std::string_view, 2> kMatrices = {"A", "B"};
  static constexpr SynthTraits kTraits{
      .name = "brownian-pair",
      .summary =
          "matrices A and B: covariances of fractional Brownian paths or of walks with other than normal steps",
      .matrices = kMatrices};
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("kind", o.kind, "fractional Brownian paths, or walks with generalized Gaussian steps");
    field("features", o.features, "number of features");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] std::pair<Matrix, Matrix> make() const;  ///< throws InvalidArgument, Error (memory)
};

/// beta = 2^u, u ~ U(-1, 3): from 1/2 (tails heavier than Laplace's) to 8 (nearly uniform, no tails), on
/// either side of the normal distribution's 2 with equal chance.
[[nodiscard]] double walk_shape(Random& random);

}  // namespace subspectra::synth

namespace subspectra {
template <>
struct EnumNames<synth::WalkKind> {
  static constexpr std::array<std::pair<synth::WalkKind, std::string_view>, 2> kNames = {
      {{synth::WalkKind::kFractional, "fbm"}, {synth::WalkKind::kGeneralizedGaussian, "gg"}}};
};
}  // namespace subspectra
