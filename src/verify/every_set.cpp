#include "verify/every_set.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace subspectra::verify {

EverySet::EverySet(const DensePair& pair, Choices choices, Criterion criterion, const RunControl& control)
    : pair_(pair),
      choices_(choices),
      criterion_(criterion),
      control_(control),
      enumeration_(pair, std::move(choices), criterion, control) {}

double EverySet::nodes() const { return (drop_ ? drop_->nodes() : 0.0) + (row_ ? row_->nodes() : 0.0); }
double EverySet::work() const { return (drop_ ? drop_->work() : 0.0) + (row_ ? row_->work() : 0.0); }

/// Few enough to try them all.
bool EverySet::few(Index k) const {
  constexpr double kMostSets = 1e6, kMostWork = 2e9;
  const Index units = enumeration_.forced() + enumeration_.free();
  const double count = enumeration_.count(k);
  const auto size = static_cast<double>(k);
  return units <= kMostEnumerated || (count <= kMostSets && count * size * size <= kMostWork);
}

/// Why there can be no search here; "" when there can.
std::string EverySet::refusal() {
  if (pair_.identity()) return {};
  if (!drop_) drop_.emplace(pair_, choices_, criterion_, control_);
  return drop_->unusable();
}

BoundAnswer EverySet::search(const SetQuestion& question, const SearchBudget& budget) {
  if (!pair_.identity()) return drop_->find_above(question.k, question.bound, budget, question.known);
  if (!row_) row_.emplace(pair_, choices_, control_);
  return row_->find_above(question.k, question.bound, budget, question.known);
}

std::vector<SetAnswer> EverySet::answer(const std::vector<SetQuestion>& questions, SearchBudget budget) {
  using End = BoundAnswer::End;
  std::vector<SetAnswer> answers(questions.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!few(questions[i].k)) {
      open.push_back(i);
      continue;
    }
    answers[i].enumerated = true;
    answers[i].answer = enumeration_.find_above(questions[i].k, questions[i].bound, questions[i].known);
  }
  if (open.empty()) return answers;
  const std::string why = refusal();
  // Supersets first: what no set of 10 reaches, none of 9 does.
  std::sort(open.begin(), open.end(), [&](auto a, auto b) { return questions[a].k > questions[b].k; });
  std::vector<std::size_t> proven;
  const auto follows = [&](const SetQuestion& question) {
    return std::any_of(proven.begin(), proven.end(), [&](std::size_t other) {
      return questions[other].k > question.k && questions[other].bound <= question.bound;
    });
  };
  constexpr double kFirstWork = 4e6, kFirstNodes = 500.0, kGrowth = 8.0;
  const bool deep = pair_.identity() || pair_.a.rows() <= DropSearch::kMostBranched;
  const SearchBudget all{.work = work() + budget.work, .nodes = nodes() + budget.nodes};
  SearchBudget each{.work = kFirstWork, .nodes = kFirstNodes};
  for (bool more = why.empty(); more && !open.empty();) {
    std::vector<std::size_t> left;
    for (const std::size_t i : open) {
      if (follows(questions[i])) continue;
      const SearchBudget now{.work = std::min(each.work, all.work - work()),
                             .nodes = std::min(each.nodes, all.nodes - nodes())};
      if (now.work > 0.0 && now.nodes > 0.0) answers[i].answer = search(questions[i], now);
      const End end = answers[i].answer.end;
      if (end == End::kNone && questions[i].known.empty()) proven.push_back(i);
      if (end == End::kSpent || now.work <= 0.0 || now.nodes <= 0.0) left.push_back(i);
      more = more && end != End::kStopped;
    }
    open = left;
    more = more && deep && work() < all.work && nodes() < all.nodes;
    each = {.work = kGrowth * each.work, .nodes = kGrowth * each.nodes};
  }
  for (const std::size_t i : open) {
    answers[i].answer.end = End::kSpent;
    if (!why.empty()) {
      answers[i].why = fmt::format("{}; leave near-copies out (⟨exclude⟩) or give a ridge (⟨ridge⟩)", why);
    } else if (deep) {
      answers[i].why = fmt::format(
          "the branch and bound was not through after {:.0f} nodes; give more with ⟨node_limit⟩ or ⟨time_limit⟩",
          nodes());
    } else {
      answers[i].why = fmt::format(
          "{} features are too many to branch on, and all of them together do not show it; check a result with fewer (⟨exclude⟩)",
          pair_.a.rows());
    }
  }
  return answers;
}

}  // namespace subspectra::verify
