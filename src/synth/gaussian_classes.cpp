#include "synth/gaussian_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/memory.hpp"
#include "core/random.hpp"

namespace subspectra::synth {

void GaussianClasses::validate() const {
  if (features < 1)
    throw InvalidArgument({.field = "features",
                           .value = fmt::to_string(features),
                           .rule = "{value}, but 1 or more are needed"});
  if (classes < 2)
    throw InvalidArgument(
        {.field = "classes", .value = fmt::to_string(classes), .rule = "{value}, but 2 or more are needed"});
  if (rows < classes) {
    throw InvalidArgument(
        {.field = "rows",
         .value = fmt::to_string(rows),
         .rule = fmt::format("{{value}}, but every one of the {} classes needs a row", classes)});
  }
  if (informative < 0) {
    throw InvalidArgument({.field = "informative",
                           .value = fmt::to_string(informative),
                           .rule = "{value}, but 0 or more are needed"});
  }
  if (!(separation >= 0.0) || !std::isfinite(separation)) {
    throw InvalidArgument({.field = "separation",
                           .value = fmt::to_string(separation),
                           .rule = "{value}, but 0 or a positive number is needed"});
  }
}

Dataset GaussianClasses::make() const {
  validate();
  require_memory(8.0 * static_cast<double>(rows) * static_cast<double>(features), "the table",
                 "ask for fewer ⟨rows⟩ or ⟨features⟩");
  DatasetParts data;
  data.source = "gaussian-classes";
  Random means_random(seed, 0);
  const Index differing = std::min(informative, features);
  Matrix means(classes, differing);
  for (Index c = 0; c < classes; ++c) {
    for (Index j = 0; j < differing; ++j) means(c, j) = separation * means_random.normal();
  }
  data.dense.resize(rows, features);
  std::vector<std::string> texts;
  for (Index i = 0; i < rows; ++i) {
    Random random(seed, 1 + static_cast<std::uint64_t>(i));
    for (Index j = 0; j < features; ++j) data.dense(i, j) = random.normal();
    data.dense.row(i).head(differing) += means.row(i % classes);
    texts.push_back(fmt::format("c{}", i % classes));
  }
  data.names = FeatureNames(features);
  data.labels = Labels::from_texts("class", texts);
  return data;
}

}  // namespace subspectra::synth
