/// Sums run in plain loops, as in brownian.cpp: a problem has to be the same one on every processor.
#include "synth/clusters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "synth/distributions.hpp"

namespace subspectra::synth {
namespace {

void check_size(Index rows, Index features, Index classes, Index relevant) {
  if (features < 1)
    throw InvalidArgument({.field = "features",
                           .value = fmt::to_string(features),
                           .rule = "{value}, but at least 1 is needed"});
  if (classes < 1)
    throw InvalidArgument(
        {.field = "classes", .value = fmt::to_string(classes), .rule = "{value}, but at least 1 is needed"});
  if (rows < classes) {
    throw InvalidArgument(
        {.field = "rows",
         .value = fmt::to_string(rows),
         .rule = fmt::format("{{value}}, but every one of the {} classes needs a row", classes)});
  }
  if (relevant < 0)
    throw InvalidArgument({.field = "relevant",
                           .value = fmt::to_string(relevant),
                           .rule = "{value}, but 0 or more are needed"});
}

struct Range {
  double lo, hi;
};

DatasetParts planted(const char* source, Index rows, Index features, Index classes, Index relevant,
                     std::uint64_t seed, Range centres, Range variances) {
  const Index each = (rows + classes - 1) / classes;
  DatasetParts data = empty_table(source, each * classes, features);
  for (Index j = 0; j < features; ++j) {
    Random random(seed, streams::synth_item(j));
    for (Index c = 0; c < classes; ++c) {
      const double centre = uniform(random, centres.lo, centres.hi);
      const double deviation = std::sqrt(uniform(random, variances.lo, variances.hi));
      for (Index i = 0; i < each; ++i) data.dense(c * each + i, j) = centre + deviation * random.normal();
    }
    if (j >= relevant)
      random.shuffle(std::span<double>(data.dense.col(j).data(), static_cast<std::size_t>(data.rows())));
  }
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(data.rows()));
  for (Index i = 0; i < data.rows(); ++i) texts.push_back(fmt::format("c{}", i / each));
  data.labels = Labels::from_texts("class", texts);
  return data;
}

}  // namespace

void Clusters::validate() const { check_size(rows, features, classes, relevant); }

void Sessions::validate() const {
  check_size(rows, features, classes, relevant);
  if (session < 1)
    throw InvalidArgument(
        {.field = "session", .value = fmt::to_string(session), .rule = "{value}, but at least 1 is needed"});
  if (!(spread >= 0.0) || !std::isfinite(spread)) {
    throw InvalidArgument({.field = "spread",
                           .value = fmt::to_string(spread),
                           .rule = "{value}, but 0 or a positive number is needed"});
  }
}

Dataset Clusters::make() const {
  validate();
  return planted("clusters", rows, features, classes, relevant, seed, {-1.0, 1.0}, {0.0, 0.02});
}

Dataset Sessions::make() const {
  validate();
  DatasetParts data =
      planted("sessions", rows, features, classes, relevant, seed, {0.0, 1.0}, {spread, 2.0 * spread});
  for (Index j = 0; j < features; ++j) {
    auto column = data.dense.col(j);
    if (normalize) {
      double sum = 0.0, squares = 0.0;
      for (const double x : column) sum += x;
      const double mean = sum / static_cast<double>(column.size());
      for (double& x : column) {
        x -= mean;
        squares += x * x;
      }
      if (squares > 0.0) column /= std::sqrt(squares);
    }
    Random random(seed, streams::synth_parameters() + streams::kSecondSynth + static_cast<std::uint64_t>(j));
    for (Index first = 0; first < column.size(); first += session) {
      const double sign = random.below(2) == 0 ? -1.0 : 1.0;
      column.segment(first, std::min(session, column.size() - first)) *= sign;
    }
  }
  return data;
}

}  // namespace subspectra::synth
