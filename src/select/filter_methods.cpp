#include <fmt/format.h>
#include <subspectra/rankers.hpp>

#include <cmath>
#include <numeric>

#include "filters/filters.hpp"
#include "filters/partition_search.hpp"
#include "filters/surprise.hpp"
#include "select/column_parts.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"

namespace subspectra {
namespace {

/// A filter's answer: scores, and the ranking they give.
Selection ranked_by(const Vector& scores, const Problem& problem, const RunControl& control) {
  Selection selection;
  selection.status = control.status_or(Status::kHeuristic);
  if (runs_one_part(problem.options())) return selection;
  selection.weights.assign(scores.begin(), scores.end());
  selection.ranking = filters::ranking(selection.weights, problem.candidates());
  return selection;
}

}  // namespace

Selection Pearson::run(const Problem& problem, const RunControl& control) const {
  return ranked_by(moment_scores(problem, filters::pearson), problem, control);
}
Selection Fisher::run(const Problem& problem, const RunControl& control) const {
  return ranked_by(moment_scores(problem, filters::fisher), problem, control);
}
Selection Ks::run(const Problem& problem, const RunControl& control) const {
  const auto score = [&](const Dataset& data) {
    return filters::kolmogorov_smirnov(data, problem.options().threads);
  };
  return ranked_by(column_scores(problem, score), problem, control);
}
Selection Snr::run(const Problem& problem, const RunControl& control) const {
  return ranked_by(moment_scores(problem, filters::signal_to_noise), problem, control);
}

void MaxSurprise::validate() const {
  if (restarts < 1)
    throw InvalidArgument({.field = "restarts",
                           .value = fmt::to_string(restarts),
                           .rule = "{value}, but at least 1 is needed"});
  if (patience < 1)
    throw InvalidArgument({.field = "patience",
                           .value = fmt::to_string(patience),
                           .rule = "{value}, but at least 1 is needed"});
  if (!(smallest_class >= 0.0 && smallest_class <= 0.5))
    throw InvalidArgument({.field = "smallest_class",
                           .value = fmt::to_string(smallest_class),
                           .rule = "{value}, but a share of the rows from 0 to 0.5 is needed"});
}

namespace {

/// -log10 P(TNoM <= s) of every feature's errors s.
std::vector<double> surprises_of(const std::vector<Index>& errors, const std::vector<double>& log_tails) {
  std::vector<double> weights;
  weights.reserve(errors.size());
  for (const Index s : errors)
    weights.push_back(std::abs(log_tails[static_cast<std::size_t>(s)]) / std::log(10.0));
  return weights;
}

}  // namespace

/// The weights of the features under the labels, or the partition found, and how surprising the number of
/// good ones is.
Selection MaxSurprise::run(const Problem& problem, const RunControl& control) const {
  Selection selection;
  const Dataset& data = problem.data();
  const int threads = problem.options().threads;
  std::vector<Index> all(static_cast<std::size_t>(data.features()));
  std::iota(all.begin(), all.end(), Index{0});
  if (data.labels() == nullptr) {
    selection = answer_of(*this);
    const auto found =
        filters::most_surprising_partition(data, problem.candidates(), *this, problem.options().seed, threads,
                                           problem.options().memory_limit.bytes, control);
    const Index ones = std::accumulate(found.sides.begin(), found.sides.end(), Index{0});
    selection.weights = surprises_of(filters::threshold_errors(data, all, found.sides, threads),
                                     filters::threshold_error_log_tails(data.rows() - ones, ones));
    selection.partition = RowPartition{.labels = found.sides,
                                       .surprise = found.surprise.score,
                                       .informative = found.surprise.informative,
                                       .informative_errors = found.surprise.errors,
                                       .starts = found.starts,
                                       .moves = found.moves};
  } else {
    const auto errors = filters::threshold_errors(data, threads);
    Index a = 0, b = 0;
    for (const Index count : data.labels()->counts()) {
      if (count > 0) (a == 0 ? a : b) = count;
    }
    const auto log_tails = filters::threshold_error_log_tails(a, b);
    selection.weights = surprises_of(errors, log_tails);
    std::vector<Index> of_candidates;
    of_candidates.reserve(problem.candidates().size());
    for (const Index j : problem.candidates()) of_candidates.push_back(errors[static_cast<std::size_t>(j)]);
    const auto surprise = filters::SurpriseScale(static_cast<Index>(of_candidates.size()))
                              .surprise_of(of_candidates, log_tails);
    record_of(selection) = {{"surprise", surprise.score},
                            {"informative", surprise.informative},
                            {"informative_errors", surprise.errors}};
  }
  selection.ranking = filters::ranking(selection.weights, problem.candidates());
  if (selection.partition && selection.partition->informative == 1) {
    selection.warnings.push_back(fmt::format(
        "the partition is a cut of a single feature ({}): no others agree on classes that would be more surprising; it takes many columns that share them",
        data.names()[selection.ranking.front()]));
  }
  selection.status = control.status_or(Status::kHeuristic);
  return selection;
}

}  // namespace subspectra
