#include "synth/weston.hpp"

#include <cmath>

#include "synth/distributions.hpp"

namespace subspectra::synth {
namespace {

const double kNoise = std::sqrt(20.0);  // N(0, 20) read as variance 20

void check_weston_size(Index rows, Index features, Index relevant) {
  if (rows < 1)
    throw InvalidArgument(
        {.field = "rows", .value = std::to_string(rows), .rule = "{value}, but at least 1 is needed"});
  if (features < relevant) {
    throw InvalidArgument({.field = "features",
                           .value = std::to_string(features),
                           .rule = "{value}, but the first " + std::to_string(relevant) +
                                   " are the relevant ones: at least so many are needed"});
  }
}

/// `relevant(random, y, row)` fills the first features of a row; noise fills the others.
template <class Relevant>
Dataset two_classes(const char* source, Index rows, Index features, Index first_noise, std::uint64_t seed,
                    Relevant relevant) {
  DatasetParts data = empty_table(source, rows, features);
  std::vector<std::string> texts;
  for (Index i = 0; i < rows; ++i) {
    Random random(seed, streams::synth_item(i));
    const double y = random.below(2) == 0 ? -1.0 : 1.0;
    texts.emplace_back(y < 0.0 ? "-1" : "1");
    relevant(random, y, i, data.dense);
    for (Index j = first_noise; j < features; ++j) data.dense(i, j) = kNoise * random.normal();
  }
  data.labels = Labels::from_texts("class", texts);
  return data;
}

}  // namespace

void WestonLinear::validate() const { check_weston_size(rows, features, kRelevant); }
void WestonNonlinear::validate() const { check_weston_size(rows, features, kRelevant); }

Dataset WestonLinear::make() const {
  validate();
  return two_classes("weston-linear", rows, features, WestonLinear::kRelevant, seed,
                     [](Random& random, double y, Index i, Matrix& x) {
                       const bool first = random.uniform() < 0.7;  // which three carry the label
                       for (Index j = 0; j < 6; ++j) {
                         const double z = random.normal();
                         const auto mean = static_cast<double>(j % 3 + 1);
                         x(i, j) = (j < 3) == first ? y * (mean + z) : z;
                       }
                     });
}

Dataset WestonNonlinear::make() const {
  validate();
  return two_classes("weston-nonlinear", rows, features, WestonNonlinear::kRelevant, seed,
                     [](Random& random, double y, Index i, Matrix& x) {
                       const double sign = random.below(2) == 0 ? -1.0 : 1.0;
                       x(i, 0) = sign * (y < 0.0 ? 0.75 : 3.0) + random.normal();
                       x(i, 1) = sign * (y < 0.0 ? 3.0 : -3.0) + random.normal();
                     });
}

}  // namespace subspectra::synth
