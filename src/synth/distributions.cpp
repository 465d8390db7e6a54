#include "synth/distributions.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/memory.hpp"

namespace subspectra::synth {

DatasetParts empty_table(const char* source, Index rows, Index features) {
  require_memory(8.0 * static_cast<double>(rows) * static_cast<double>(features),
                 fmt::format("a table of {} x {}", rows, features), "ask for fewer ⟨rows⟩ or ⟨features⟩");
  DatasetParts data;
  data.source = source;
  data.names = FeatureNames(features);
  data.dense.resize(rows, features);
  return data;
}

double uniform(Random& random, double lo, double hi) { return lo + (hi - lo) * random.uniform(); }

double gamma(Random& random, double shape) {
  if (shape < 1.0) {
    const double larger = gamma(random, shape + 1.0);
    return larger * std::pow(random.uniform(), 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double z = random.normal();
    const double t = 1.0 + c * z;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    // u = 0 has log -inf and is accepted, as it should be.
    if (std::log(random.uniform()) < 0.5 * z * z + d - d * v + d * std::log(v)) return d * v;
  }
}

double generalized_gaussian(Random& random, double beta) {
  // |x/s|^beta ~ Gamma(1/beta), and E x^2 = s^2 Gamma(3/beta) / Gamma(1/beta).
  const double s = std::sqrt(std::tgamma(1.0 / beta) / std::tgamma(3.0 / beta));
  const double size = s * std::pow(gamma(random, 1.0 / beta), 1.0 / beta);
  return random.below(2) == 0 ? size : -size;
}

}  // namespace subspectra::synth
