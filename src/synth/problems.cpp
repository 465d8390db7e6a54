#include "subspectra/synth/problems.hpp"

#include <fmt/format.h>

#include "subspectra/core/text.hpp"
#include "subspectra/synth/brownian.hpp"
#include "subspectra/synth/gaussian_classes.hpp"

namespace subspectra::synth {
namespace {

/// From an options struct and a function of it to an entry's `make`.
template <class Options, class Fill>
auto maker(Fill fill) {
  return [fill](const OptionTexts& texts) {
    Options options;
    set_options(options, texts);
    options.validate();
    Product product;
    fill(options, product);
    product.options = options_json(options);
    return product;
  };
}

}  // namespace

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {.name = "brownian",
       .summary = "table: two classes of random walks whose means differ by a random walk",
       .matrices = {},
       .options = describe_options<BrownianOptions>(),
       .make = maker<BrownianOptions>([](const BrownianOptions& o, Product& product) {
         product.table = brownian_classes(o.rows, o.features, o.seed);
       })},
      {.name = "brownian-pair",
       .summary = "matrices A and B: covariances of fractional Brownian paths or of heavy-tailed walks",
       .matrices = {"A", "B"},
       .options = describe_options<BrownianPairOptions>(),
       .make = maker<BrownianPairOptions>([](const BrownianPairOptions& o, Product& product) {
         auto [a, b] = brownian_pair(o.kind, o.features, o.seed);
         product.matrices = {{.name = "A", .values = std::move(a)}, {.name = "B", .values = std::move(b)}};
       })},
      {.name = "gaussian-classes",
       .summary = "table: Gaussian classes whose means differ in a few features",
       .matrices = {},
       .options = describe_options<GaussianClassesOptions>(),
       .make = maker<GaussianClassesOptions>(
           [](const GaussianClassesOptions& o, Product& product) { product.table = gaussian_classes(o); })},
  };
  return all;
}

const Problem& find_problem(std::string_view name) {
  std::vector<std::string> names;
  for (const Problem& problem : problems()) {
    if (problem.name == name) return problem;
    names.emplace_back(problem.name);
  }
  const auto near = near_names(name, names);
  throw InvalidArgument(fmt::format("there is no synthetic problem '{}'{}; the problems are {}", name,
                                    near.empty() ? "" : fmt::format(" (did you mean {}?)", join_some(near)),
                                    join_some(names, names.size())));
}

}  // namespace subspectra::synth
