#include "synth/gaussian_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/memory.hpp"
#include "core/random.hpp"

namespace subspectra::synth {

void GaussianClassesOptions::validate() const {
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

Dataset gaussian_classes(const GaussianClassesOptions& o) {
  require_memory(8.0 * static_cast<double>(o.rows) * static_cast<double>(o.features), "the table",
                 "ask for fewer ⟨rows⟩ or ⟨features⟩");
  DatasetParts data;
  data.source = "gaussian-classes";
  Random means_random(o.seed, 0);
  const Index informative = std::min(o.informative, o.features);
  Matrix means(o.classes, informative);
  for (Index c = 0; c < o.classes; ++c) {
    for (Index j = 0; j < informative; ++j) means(c, j) = o.separation * means_random.normal();
  }
  data.dense.resize(o.rows, o.features);
  std::vector<std::string> texts;
  for (Index i = 0; i < o.rows; ++i) {
    Random random(o.seed, 1 + static_cast<std::uint64_t>(i));
    for (Index j = 0; j < o.features; ++j) data.dense(i, j) = random.normal();
    data.dense.row(i).head(informative) += means.row(i % o.classes);
    texts.push_back(fmt::format("c{}", i % o.classes));
  }
  data.names = FeatureNames(o.features);
  data.labels = Labels::from_texts("class", texts);
  return data;
}

}  // namespace subspectra::synth
