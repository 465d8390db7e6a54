#include "select/component_methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/matrix_json.hpp"
#include "core/text.hpp"
#include "spectral/principal_components.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

void GeneShavingMethodOptions::validate() const {
  if (!(shave > 0.0 && shave < 1.0))
    throw InvalidArgument({.field = "shave",
                           .value = fmt::to_string(shave),
                           .rule = "{value}, but a share between 0 and 1 is needed, as in 0.1"});
  if (permutations < 1)
    throw InvalidArgument({.field = "permutations",
                           .value = fmt::to_string(permutations),
                           .rule = "{value}, but 1 or more is needed"});
}

namespace {

void run_all(const SelectionInput& input, const OptionTexts&, const RunControl& control,
             Selection& selection) {
  if (input.options.k.given()) {
    selection.warnings.emplace_back("⟨k⟩ does nothing for method all, which takes every feature that varies");
  }
  selection.size_fixed = true;
  PathEntry entry;
  entry.features = input.candidates;
  if (input.options.certify) {  // cross-validation has no use for it
    auto fitted = renormalize(input.pencil, entry.features, input.options.criterion, input.options.components,
                              input.options.threads);
    entry.objective = fitted.objective;
    entry.loadings = std::move(fitted.discriminants.vectors);
  }
  selection.path.push_back(std::move(entry));
  selection.status = control.status_or(Status::kHeuristic);
}

/// Components as the method's answer: rows without an entry are left out, k counts columns.
void give_components(const SelectionInput& input, const MatrixRef& matrix, const RunControl& control,
                     Selection& selection) {
  selection.own_rule = selection.by_columns = true;
  const Index found = matrix.cols();
  selection.status = control.status_or(Status::kHeuristic);
  if (found < input.k.hi && selection.status == Status::kHeuristic) {
    selection.status = Status::kRankLimit;
    selection.warnings.push_back(fmt::format("k stops at {}: {} not to be had from these rows", found,
                                             found == 0 ? "a component is" : "more components are"));
  }
  if (found == 0) return;
  FittedDiscriminants record;
  record.features = input.candidates;
  record.matrix = matrix;
  record.converged = true;
  selection.lambda_path.push_back(leading_columns(record, found));
  selection.chosen_record = 0;
}

void refuse_include(const SelectionInput& input, const Selection& selection) {
  if (input.include.empty()) return;
  throw InvalidArgument(
      {.field = "include",
       .rule = fmt::format(": the components of {} are made of what they find", selection.method),
       .way_out = "the greedy and exact methods take ⟨include⟩"});
}

void run_pca(const SelectionInput& input, const OptionTexts&, const RunControl& control,
             Selection& selection) {
  refuse_include(input, selection);
  const auto components =
      principal_components(input.data, input.candidates, input.k.hi, input.options.threads);
  selection.method_options["variances"] = to_json(components.variances);
  selection.method_options["total_variance"] = components.total_variance;
  give_components(input, components.loadings, control, selection);
}

void run_gene_shaving(const SelectionInput& input, const OptionTexts& texts, const RunControl& control,
                      Selection& selection) {
  GeneShavingMethodOptions own;
  set_options(own, texts);
  own.validate();
  refuse_include(input, selection);
  const auto sets = gene_shaving(input.data, input.candidates, input.k.hi,
                                 {.shave = own.shave,
                                  .permutations = own.permutations,
                                  .seed = input.options.seed,
                                  .threads = input.options.threads},
                                 control);
  selection.method_options = options_json(own);
  auto list = nlohmann::json::array();
  Matrix means = Matrix::Zero(static_cast<Index>(input.candidates.size()), static_cast<Index>(sets.size()));
  for (std::size_t m = 0; m < sets.size(); ++m) {
    const auto& set = sets[m];
    list.push_back(
        {{"features", set.features.size()}, {"variance_ratio", set.variance_ratio}, {"gap", set.gap}});
    for (std::size_t i = 0; i < set.features.size(); ++i) {
      const auto place = std::lower_bound(input.candidates.begin(), input.candidates.end(), set.features[i]) -
                         input.candidates.begin();
      means(place, static_cast<Index>(m)) =
          set.signs[static_cast<Index>(i)] / static_cast<double>(set.features.size());
    }
  }
  selection.method_options["sets"] = std::move(list);
  give_components(input, means, control, selection);
}

}  // namespace

std::vector<MethodInfo> component_methods() {
  return {
      {.name = "all",
       .summary = "every feature that varies: what a selection is compared with",
       .needs_labels = false,
       .fixes_size = [](const OptionTexts&) { return true; },
       .options = {},
       .run = run_all},
      {.name = "pca",
       .summary = "the first k principal components, each over all features",
       .needs_labels = false,
       .variance = true,
       .options = {},
       .run = run_pca},
      {.name = "gene-shaving",
       .summary = "signed means of k sets of features that vary together, shaved out of principal components",
       .needs_labels = false,
       .variance = true,
       .options = describe_options<GeneShavingMethodOptions>(),
       .run = run_gene_shaving},
  };
}

}  // namespace subspectra
