#include <subspectra/rankers.hpp>

#include <cmath>

#include "filters/filters.hpp"
#include "filters/surprise.hpp"
#include "select/problem.hpp"
#include "select/record.hpp"

namespace subspectra {
namespace {

/// A filter's answer: scores, and the ranking they give.
Selection ranked_by(const Vector& scores, const Problem& problem, const RunControl& control) {
  Selection selection;
  selection.weights.assign(scores.begin(), scores.end());
  selection.ranking = filters::ranking(selection.weights, problem.candidates());
  selection.status = control.status_or(Status::kHeuristic);
  return selection;
}

}  // namespace

Selection Pearson::run(const Problem& problem, const RunControl& control) const {
  return ranked_by(filters::pearson(problem.rows().class_moments()), problem, control);
}
Selection Fisher::run(const Problem& problem, const RunControl& control) const {
  return ranked_by(filters::fisher(problem.rows().class_moments()), problem, control);
}
Selection Ks::run(const Problem& problem, const RunControl& control) const {
  return ranked_by(filters::kolmogorov_smirnov(problem.data(), problem.options().threads), problem, control);
}
Selection Snr::run(const Problem& problem, const RunControl& control) const {
  return ranked_by(filters::signal_to_noise(problem.rows().class_moments()), problem, control);
}

/// -log10 P(TNoM <= s) of every feature's errors s, and how surprising the number of good ones is.
Selection MaxSurprise::run(const Problem& problem, const RunControl& control) const {
  Selection selection;
  const auto errors = filters::threshold_errors(problem.data(), problem.options().threads);
  Index a = 0, b = 0;
  for (const Index count : problem.data().labels()->counts()) {
    if (count > 0) (a == 0 ? a : b) = count;
  }
  const auto log_tails = filters::threshold_error_log_tails(a, b);
  selection.weights.resize(static_cast<std::size_t>(problem.data().features()));
  for (std::size_t j = 0; j < selection.weights.size(); ++j)
    selection.weights[j] = std::abs(log_tails[static_cast<std::size_t>(errors[j])]) / std::log(10.0);
  selection.ranking = filters::ranking(selection.weights, problem.candidates());
  std::vector<Index> of_candidates;
  of_candidates.reserve(problem.candidates().size());
  for (const Index j : problem.candidates()) of_candidates.push_back(errors[static_cast<std::size_t>(j)]);
  const auto surprise = filters::surprise_of(of_candidates, log_tails);
  record_of(selection) = {{"surprise", surprise.score},
                          {"informative", surprise.informative},
                          {"informative_errors", surprise.errors}};
  selection.status = control.status_or(Status::kHeuristic);
  return selection;
}

}  // namespace subspectra
