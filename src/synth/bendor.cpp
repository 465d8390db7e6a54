#include "synth/bendor.hpp"

#include <fmt/format.h>

#include <cmath>

#include "synth/distributions.hpp"

namespace subspectra::synth {

Index BenDor::irrelevant() const {
  return static_cast<Index>(std::llround(e * static_cast<double>(features)));
}

void BenDor::validate() const {
  if (features < 1)
    throw InvalidArgument({.field = "features",
                           .value = fmt::to_string(features),
                           .rule = "{value}, but at least 1 is needed"});
  if (a < 1 || b < 1)
    throw InvalidArgument({.field = a < 1 ? "a" : "b",
                           .value = fmt::to_string(a < 1 ? a : b),
                           .subject = fmt::format("⟨a {}⟩ ⟨b {}⟩,", a, b),
                           .rule = "but each class needs a row"});
  if (!(e >= 0.0 && e <= 1.0))
    throw InvalidArgument(
        {.field = "e", .value = fmt::to_string(e), .rule = "{value}, but a share between 0 and 1 is needed"});
  for (const auto& [name, value] : {std::pair("d", d), std::pair("s", s)}) {
    if (!(value >= 0.0) || !std::isfinite(value))
      throw InvalidArgument({.field = name,
                             .value = fmt::to_string(value),
                             .rule = "{value}, but 0 or a positive number is needed"});
  }
}

Dataset BenDor::make() const {
  validate();
  DatasetParts data = empty_table("bendor", a + b, features);
  const Index relevant = features - irrelevant();
  const auto deviation = [&](double spread) {
    return spread_as == Spread::kVariance ? std::sqrt(spread) : spread;
  };
  for (Index j = 0; j < features; ++j) {
    Random random(seed, streams::synth_item(j));
    const auto fill = [&](Index first, Index count, double mean, double scale) {
      for (Index i = first; i < first + count; ++i) data.dense(i, j) = mean + scale * random.normal();
    };
    if (j >= relevant) {
      fill(0, a + b, 0.0, deviation(s));
      continue;
    }
    const double mean_a = uniform(random, -1.5 * d, 1.5 * d);
    const double mean_b = uniform(random, -1.5 * d, 1.5 * d);
    fill(0, a, mean_a, deviation(std::abs(mean_a) * s));
    fill(a, b, mean_b, deviation(std::abs(mean_b) * s));
  }
  std::vector<std::string> texts(static_cast<std::size_t>(a), "A");
  texts.insert(texts.end(), static_cast<std::size_t>(b), "B");
  data.labels = Labels::from_texts("class", texts);
  return data;
}

}  // namespace subspectra::synth
