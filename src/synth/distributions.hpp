#pragma once
#include "core/random.hpp"
#include "core/streams.hpp"
#include "data/dataset.hpp"

namespace subspectra::synth {

/// An N x p dense table to be filled, without labels. Throws Error when it does not fit into memory.
[[nodiscard]] DatasetParts empty_table(const char* source, Index rows, Index features);

/// U(lo, hi).
[[nodiscard]] double uniform(Random& random, double lo, double hi);
/// Gamma with this shape > 0 and scale 1: Marsaglia and Tsang (2000); below shape 1 by G(a) = G(a + 1)
/// U^(1/a).
[[nodiscard]] double gamma(Random& random, double shape);
/// Density ~ exp(-|x/s|^beta) with s such that the variance is 1; beta = 2 is N(0, 1), beta = 1 Laplace.
[[nodiscard]] double generalized_gaussian(Random& random, double beta);

}  // namespace subspectra::synth
