#include <subspectra/sparse_pca.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "core/matrix_json.hpp"
#include "core/text.hpp"
#include "search/gene_shaving.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"
#include "spectral/fitted_discriminants.hpp"
#include "spectral/principal_components.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {

void GeneShaving::validate() const {
  if (!(shave > 0.0 && shave < 1.0))
    throw InvalidArgument({.field = "shave",
                           .value = fmt::to_string(shave),
                           .rule = "{value}, but a share between 0 and 1 is needed, as in 0.1"});
  if (permutations < 1)
    throw InvalidArgument({.field = "permutations",
                           .value = fmt::to_string(permutations),
                           .rule = "{value}, but 1 or more is needed"});
}

Selection All::run(const Problem& problem, const RunControl& control) const {
  Selection selection;
  if (problem.options().k.given()) {
    selection.warnings.emplace_back("⟨k⟩ does nothing for method all, which takes every feature that varies");
  }
  selection.size_fixed = true;
  PathEntry entry;
  entry.features = problem.candidates();
  if (problem.options().certify) {  // cross-validation has no use for it
    auto fitted = renormalize(problem.pencil(), entry.features, problem.options().criterion,
                              problem.options().components, problem.options().threads);
    entry.objective = fitted.objective;
    entry.loadings = fitted.discriminants.vectors;
  }
  selection.sets().push_back(std::move(entry));
  selection.status = control.status_or(Status::kHeuristic);
  return selection;
}

namespace {

/// Components as the method's answer: rows without an entry are left out, k counts columns.
void give_components(const Problem& problem, const MatrixRef& matrix, const RunControl& control,
                     Selection& selection) {
  auto& components = selection.answer.emplace<Components>();
  const Index found = matrix.cols();
  selection.status = control.status_or(Status::kHeuristic);
  if (found < problem.k().hi && selection.status == Status::kHeuristic) {
    selection.status = Status::kRankLimit;
    selection.warnings.push_back(fmt::format("k stops at {}: {} not to be had from these rows", found,
                                             found == 0 ? "a component is" : "more components are"));
  }
  if (found == 0) return;
  FittedDiscriminants record;
  record.features = problem.candidates();
  record.matrix = matrix;
  record.converged = true;
  components.fit.push_back(leading_columns(record, found));
}

void refuse_include(const Problem& problem, const MethodTraits& method) {
  if (problem.include().empty()) return;
  throw InvalidArgument(
      {.field = "include",
       .rule = fmt::format(": the components of {} are made of what they find", method.name),
       .way_out = "the greedy and exact methods take ⟨include⟩"});
}

}  // namespace

Selection Pca::run(const Problem& problem, const RunControl& control) const {
  Selection selection;
  refuse_include(problem, kTraits);
  const auto components =
      principal_components(problem.data(), problem.candidates(), problem.k().hi, problem.options().threads);
  record_of(selection)["variances"] = to_json(components.variances);
  record_of(selection)["total_variance"] = components.total_variance;
  give_components(problem, components.loadings, control, selection);
  return selection;
}

Selection GeneShaving::run(const Problem& problem, const RunControl& control) const {
  Selection selection = answer_of(*this);
  refuse_include(problem, kTraits);
  const auto sets = gene_shaving(problem.data(), problem.candidates(), problem.k().hi, *this,
                                 problem.options().seed, problem.options().threads, control);
  auto list = nlohmann::json::array();
  Matrix means =
      Matrix::Zero(static_cast<Index>(problem.candidates().size()), static_cast<Index>(sets.size()));
  for (std::size_t m = 0; m < sets.size(); ++m) {
    const auto& set = sets[m];
    list.push_back(
        {{"features", set.features.size()}, {"variance_ratio", set.variance_ratio}, {"gap", set.gap}});
    for (std::size_t i = 0; i < set.features.size(); ++i) {
      const auto place =
          std::lower_bound(problem.candidates().begin(), problem.candidates().end(), set.features[i]) -
          problem.candidates().begin();
      means(place, static_cast<Index>(m)) =
          set.signs[static_cast<Index>(i)] / static_cast<double>(set.features.size());
    }
  }
  record_of(selection)["sets"] = std::move(list);
  give_components(problem, means, control, selection);
  return selection;
}

}  // namespace subspectra
