#include "synth/problems.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "synth/bendor.hpp"
#include "synth/brownian.hpp"
#include "synth/clusters.hpp"
#include "synth/gaussian_classes.hpp"
#include "synth/weston.hpp"

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

/// A problem that is one table, a function of its options.
template <class Options>
Problem table(std::string_view name, std::string_view summary, Dataset (*make)(const Options&)) {
  return {.name = name,
          .summary = summary,
          .matrices = {},
          .options = describe_options<Options>(),
          .make = maker<Options>(
              [make](const Options& options, Product& product) { product.table = make(options); })};
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
      table<GaussianClassesOptions>("gaussian-classes",
                                    "table: Gaussian classes whose means differ in a few features",
                                    gaussian_classes),
      table<WestonLinearOptions>(
          "weston-linear", "table: two classes that 6 features tell apart, by halves; the rest is noise",
          weston_linear),
      table<WestonNonlinearOptions>(
          "weston-nonlinear", "table: two classes of two clouds each, apart in 2 features; the rest is noise",
          weston_nonlinear),
      table<ClustersOptions>(
          "clusters", "table: clusters that a few features share; the others have their own", clusters),
      table<SessionsOptions>(
          "sessions", "table: such clusters, with signs that change from session to session", sessions),
      table<BenDorOptions>("bendor", "table: a model of gene expression, two classes, most genes irrelevant",
                           ben_dor),
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
  throw InvalidArgument(
      {.field = "problem",
       .value = std::string(name),
       .subject = "there is no synthetic problem",
       .rule = near.empty() ? "'{value}'" : fmt::format("'{{value}}' (did you mean {}?)", join_some(near)),
       .way_out = fmt::format("the problems are {}", join_some(names, names.size()))});
}

}  // namespace subspectra::synth
