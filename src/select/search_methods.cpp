#include "select/search_methods.hpp"

#include "select/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/text.hpp"
#include "device/plugin.hpp"
#include "search/card_pass.hpp"
#include "search/certificate.hpp"
#include "search/greedy.hpp"
#include "search/nested_path.hpp"
#include "search/pass_work.hpp"
#include "search/precise_search.hpp"
#include "search/screened.hpp"
#include "search/swaps.hpp"
#include "search/threshold.hpp"
#include "select/sparse_pca_methods.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/precise.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {
namespace {

struct Passes {
  bool forward = true, backward = true;
  /// The backward pass and exchanges only where they pay, by counted work (`backward` then says that there
  /// may be one).
  bool as_they_pay = false;
};

NestedPathOptions path_options(const Problem& problem) {
  return {.criterion = problem.options().criterion,
          .components = problem.options().components,
          .pivot_floor = 0.0,
          .threads = problem.options().threads,
          .memory_limit = problem.options().memory_limit.bytes};
}

/// The sets of one pass that the answer may use.
struct ScoredPass {
  const char* name;
  Index least, most;
  NestedPath path;
};

/// At every size the set of the better pass.
void choose_entries(const Problem& problem, const std::vector<ScoredPass>& passes, Selection& selection) {
  std::vector<std::vector<Index>> wanted(passes.size());  // sizes, of every pass
  std::vector<std::size_t> from;                          // the pass, of every size
  for (const Index k : problem.k().sizes()) {
    const ScoredPass* best = nullptr;
    for (const auto& pass : passes) {
      if (k < pass.least || k > pass.most) continue;
      // Of two that agree to rounding the first, forward, is kept.
      if (best == nullptr || pass.path.objective(k) > best->path.objective(k) * (1.0 + 1e-9)) best = &pass;
    }
    if (best == nullptr) continue;
    from.push_back(static_cast<std::size_t>(best - passes.data()));
    wanted[from.back()].push_back(k);
  }
  std::vector<std::vector<PathEntry>> entries;
  entries.reserve(passes.size());
  for (std::size_t i = 0; i < passes.size(); ++i) entries.push_back(passes[i].path.entries(wanted[i]));
  std::vector<std::size_t> next(passes.size(), 0);
  for (const std::size_t i : from) {
    selection.sets().push_back(std::move(entries[i][next[i]++]));
    selection.sets().back().pass = passes[i].name;
  }
}

/// Of the units that the forward pass passed over, those that no set holds.
void warn_of_dependent(const Problem& problem, std::vector<Index> units, Selection& selection) {
  std::erase_if(units, [&](Index unit) {
    const Index j = problem.units().members[static_cast<std::size_t>(unit)].front();
    return std::any_of(selection.sets().begin(), selection.sets().end(), [&](const PathEntry& entry) {
      return std::binary_search(entry.features.begin(), entry.features.end(), j);
    });
  });
  if (units.empty()) return;
  const auto features = problem.units().features(units);
  selection.warnings.push_back(
      fmt::format("{} of the chosen features and {} passed over: {}",
                  units.size() == 1 ? "1 candidate is a linear combination"
                                    : fmt::format("{} candidates are linear combinations", units.size()),
                  units.size() == 1 ? "was" : "were", problem.data().names().some(features)));
}

/// Exchanges at every size, on single features.
void improve(const Problem& problem, Index swaps, const RunControl& control, Selection& selection) {
  Index sizes = 0;
  for (auto& entry : selection.sets()) {
    if (control.should_stop()) break;
    auto better = improve_by_swaps(
        problem.pencil(), entry.features, problem.candidates(), problem.include(),
        {.criterion = problem.options().criterion, .most = swaps, .threads = problem.options().threads},
        control);
    if (better.exchanges == 0) continue;
    ++sizes;
    auto fitted = renormalize(problem.pencil(), better.support, problem.options().criterion,
                              problem.options().components, problem.options().threads);
    entry.features = std::move(better.support);
    entry.objective = fitted.objective;
    entry.loadings = fitted.discriminants.vectors;
    entry.pass = "swaps";
  }
  record_of(selection)["swapped_sizes"] = sizes;
}

/// Whether the backward pass from all columns is worth its work: within a few times the forward pass, or
/// hardly any.
bool full_backward_pays(const Problem& problem, const GreedyOptions& options) {
  constexpr double kTimesForward = 4.0;
  constexpr double kHardlyAny = 2e8;  // a tenth of a second
  const Pencil& pencil = problem.pencil();
  if (pencil.factor() == nullptr || pencil.rows() == nullptr) return true;
  // Without a ridge a table of few rows has no backward pass; it says so itself, at once.
  if (!(pencil.shift() > 0.0) && static_cast<Index>(problem.candidates().size()) > pencil.rows()->rows())
    return true;
  const double backward = backward_work(pencil, problem.units(), options);
  return backward <= kHardlyAny || backward <= kTimesForward * forward_work(pencil, problem.units(), options);
}

/// Exchanges at every size among the screened columns, for no more work than the forward pass took.
void exchange_while_it_pays(const Problem& problem, const ScreenedColumns& screened,
                            const GreedyOptions& options, const RunControl& control, Selection& selection) {
  constexpr std::size_t kMostSizes = 1000;
  constexpr Index kMostRounds = 20;
  if (!problem.units().single || selection.sets().size() > kMostSizes) return;
  double left = forward_work(problem.pencil(), problem.units(), options);
  Index exchanges = 0;
  for (auto& entry : selection.sets()) {
    const double round = exchange_work(problem.pencil(), entry.k(), screened.count());
    const auto rounds = static_cast<Index>(std::min(left / round, static_cast<double>(kMostRounds)));
    if (rounds < 1 || control.should_stop()) break;
    const auto better = screened.improve(entry.features, problem.include(), rounds, options, control);
    left -= round * static_cast<double>(std::min(rounds, better.exchanges + 1));
    if (better.exchanges == 0) continue;
    auto fitted = renormalize(problem.pencil(), better.support, problem.options().criterion,
                              problem.options().components, problem.options().threads);
    if (!(fitted.objective > entry.objective * (1.0 + 1e-9))) continue;
    exchanges += better.exchanges;
    entry.features = better.support;
    entry.objective = fitted.objective;
    entry.loadings = fitted.discriminants.vectors;
    entry.pass = "swaps";
  }
  record_of(selection)["passes"]["exchanges"] = exchanges;
}

GreedyOptions greedy_options(const Problem& problem) {
  return {.criterion = problem.options().criterion,
          .least = problem.k().lo,
          .most = problem.k().hi,
          .threads = problem.options().threads,
          .memory_limit = problem.options().memory_limit.bytes};
}

/// The backward pass starts from all columns.
bool full_backward(const Passes& passes, const Problem& problem) {
  return passes.backward && (!passes.as_they_pay || full_backward_pays(problem, greedy_options(problem)));
}

/// The card that makes the passes; null where the processor is to do it. An automatic one is not even looked
/// for unless they would keep the processor busy for seconds.
std::shared_ptr<const device::Device> card_for_passes(const Passes& passes, const Problem& problem,
                                                      Selection& selection) {
  constexpr double kWorthACard = 5e11;  // multiplications and additions
  const device::Wish wish = device::parse_wish(problem.options().device);
  if (!wish.automatic && !wish.card) return nullptr;
  if (!search::suits_card_pass(problem.pencil(), problem.units())) {
    if (wish.card) {
      selection.warnings.emplace_back(
          "the card has no part in this search: it makes passes over single features for two or more classes (up to 33), or matrices of which A has a low rank");
    }
    return nullptr;
  }
  if (!wish.card) {
    const GreedyOptions options = greedy_options(problem);
    double work = 0.0;
    if (passes.forward) work += forward_work(problem.pencil(), problem.units(), options);
    if (full_backward(passes, problem)) work += backward_work(problem.pencil(), problem.units(), options);
    if (!(work > kWorthACard)) return nullptr;
  }
  std::string why;
  auto card = device::open_wished(wish, why);
  if (card) {
    for (const auto& note : card->notes()) selection.warnings.push_back(note);
  }
  return card;
}

/// What a card did of the passes, and why it did not do others.
void tell_card(const std::shared_ptr<const device::Device>& card, const DualPass& found,
               Selection& selection) {
  if (!card) return;
  if (found.forward.on_card || found.backward.on_card) record_of(selection)["card"] = card->description();
  for (const auto& [name, pass] :
       {std::pair("forward", &found.forward), std::pair("backward", &found.backward)}) {
    if (!pass->card_problem.empty())
      selection.warnings.push_back(fmt::format("{} did not make the {} pass, the processor did: {}",
                                               card->description(), name, pass->card_problem));
  }
}

void run_passes(const Passes& passes, const Problem& problem, Index swaps,
                const std::shared_ptr<const device::Device>& card, const RunControl& control,
                Selection& selection) {
  GreedyOptions options = greedy_options(problem);
  options.card = card;
  std::vector<ScoredPass> scored;
  selection.status = Status::kOptimal;  // worst() of what follows
  RootLosses root{.value = kInfinity};  // until a pass has got there
  bool have_root = false;
  Index largest_ordered = 0;  // of the sizes that the passes ordered features for
  const auto take = [&](const char* name, const GreedyPass& pass) {
    selection.status = worst(selection.status, pass.status);
    if (pass.most < 1) return;
    const Index ordered = std::min(pass.most, problem.k().hi);
    NestedPath path(problem.pencil(), problem.units(), pass.order, ordered, path_options(problem));
    largest_ordered = std::max(largest_ordered, ordered);
    const Index most = std::min(path.reached(), pass.most);
    scored.push_back({name, std::max(pass.least, Index{1}), most, std::move(path)});
  };
  RootLosses* const wanted = problem.options().certify ? &root : nullptr;
  DualPass found;
  std::optional<ScreenedColumns> screened;  // where the backward pass from all columns does not pay
  const bool from_all = full_backward(passes, problem);
  if (passes.backward && !from_all) {
    found.forward = forward_pass(problem.pencil(), problem.units(), options, control);
    options.card = nullptr;  // what is left is small
    screened.emplace(problem.pencil(), problem.units(), found.forward, options);
    record_of(selection)["passes"] = {{"forward", problem.candidates().size()}};
    try {
      found.backward = screened->backward_pass(options, control);
      record_of(selection)["passes"]["backward"] = screened->count();
    } catch (const Infeasible&) {  // their covariance is singular: the forward pass is what there is
    }
  } else if (passes.forward && passes.backward) {
    found = dual_pass(problem.pencil(), problem.units(), options, control, wanted);
  } else if (passes.forward) {
    found.forward = forward_pass(problem.pencil(), problem.units(), options, control);
  } else {
    found.backward = backward_pass(problem.pencil(), problem.units(), options, control, wanted);
  }
  tell_card(card, found, selection);
  bool limit_said = false;
  if (passes.forward) {
    const auto& pass = found.forward;
    if (pass.status == Status::kRankLimit && (screened || found.backward.most <= pass.most)) {
      warn_of_rank(problem, pass.most, selection);
      limit_said = true;
    }
    take("forward", pass);
  }
  if (screened && found.backward.most > 0) take("backward", found.backward);
  if (from_all) {
    if (found.infeasible.empty()) {
      have_root = problem.options().certify && root.losses.size() > 0 && std::isfinite(root.value);
      take("backward", found.backward);
    } else {
      selection.warnings.push_back(fmt::format("no backward pass: {}", found.infeasible));
    }
  } else if (problem.options().certify && problem.pencil().factor() != nullptr && !control.should_stop() &&
             !problem.data().values().outgrow_memory(problem.options().memory_limit.bytes) &&
             root_affordable(problem.pencil(), static_cast<Index>(problem.candidates().size()))) {
    try {
      // What dropping must cost says little where nearly all of very many are dropped: it is for those who
      // ask.
      const bool value_alone =
          !problem.options().bounds &&
          root_through_rows(problem.pencil(), static_cast<Index>(problem.candidates().size()), options.route);
      root = value_alone ? root_value(problem.pencil(), problem.units(), options)
                         : root_losses(problem.pencil(), problem.units(), options);
      have_root = true;
    } catch (const Infeasible&) {  // B is singular: the bounds that start from all candidates do not exist
    }
  }
  // A ridge far below rounding lets a backward pass begin, and its path then meets pivots of zero.
  Index reached = 0;
  for (const auto& pass : scored) reached = std::max(reached, pass.most);
  if (reached < largest_ordered) {
    selection.status = worst(selection.status, Status::kRankLimit);
    if (!limit_said) warn_of_rank(problem, reached, selection);
  }
  choose_entries(problem, scored, selection);
  if (screened && swaps == 0) exchange_while_it_pays(problem, *screened, options, control, selection);
  if (swaps > 0) {
    if (!problem.units().single) {
      selection.warnings.emplace_back("⟨swaps⟩ exchanges single features; with ⟨groups⟩ it does nothing");
    } else {
      improve(problem, swaps, control, selection);
    }
  }
  certify(problem, have_root ? &root : nullptr, control, selection);
  warn_of_dependent(problem, found.forward.dependent, selection);
  if (!selection.sets().empty()) {
    const KRange sizes = *problem.k().within(selection.sets().front().k(), selection.sets().back().k());
    offer_sdp_bounds(problem, sdp_bounds(problem, sizes, control), selection);
  }
}

/// The passes of a method, with its exchanges where it has them.
template <class Greedy>
Selection greedy(const Greedy& own, Passes passes, const Problem& problem, const RunControl& control) {
  Selection selection = answer_of(own);
  Index swaps = 0;
  if constexpr (requires { own.swaps; }) swaps = own.swaps;
  record_of(selection)["swaps"] =
      swaps;  // said by all of them, though the variance is searched without exchanges
  run_passes(passes, problem, swaps, card_for_passes(passes, problem, selection), control, selection);
  return selection;
}

void require_swaps(Index swaps) {
  if (swaps < 0)
    throw InvalidArgument({.field = "swaps", .value = std::to_string(swaps), .rule = "must not be negative"});
}

}  // namespace

void Gslda::validate() const { require_swaps(swaps); }
void ForwardLda::validate() const { require_swaps(swaps); }
void BackwardLda::validate() const { require_swaps(swaps); }

Selection Gslda::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = true, .as_they_pay = true}, problem, control);
}
Selection ForwardLda::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = false}, problem, control);
}
Selection BackwardLda::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = false, .backward = true}, problem, control);
}
Selection Gspca::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = true}, problem, control);
}
Selection ForwardPca::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = true, .backward = false}, problem, control);
}
Selection BackwardPca::run(const Problem& problem, const RunControl& control) const {
  return greedy(*this, {.forward = false, .backward = true}, problem, control);
}

/// The sets of the k largest loadings; objective and loadings renormalized unless asked otherwise.
Selection St::run(const Problem& problem, const RunControl& control) const {
  Selection selection = answer_of(*this);
  if (!problem.units().single)
    throw InvalidArgument(
        {.field = "groups", .rule = ": st ranks single features", .way_out = "use a greedy method"});
  const Vector v =
      global_vector(problem.pencil(), problem.candidates(), threshold, problem.options().threads);
  selection.weights.assign(static_cast<std::size_t>(problem.data().features()), 0.0);
  for (std::size_t i = 0; i < problem.candidates().size(); ++i) {
    selection.weights[problem.candidates()[i]] = std::abs(v[static_cast<Index>(i)]);
  }
  selection.ranking = problem.candidates();
  std::stable_sort(selection.ranking.begin(), selection.ranking.end(),
                   [&](Index a, Index b) { return selection.weights[a] > selection.weights[b]; });
  selection.status = control.status_or(Status::kHeuristic);
  if (!no_renormalize)
    return selection;  // the sets of a ranking are made, renormalized, for every method that ranks
  // x on the set, cut from the global vector of the pencil in x, whichever vector was thresholded.
  const Vector x = threshold == ThresholdOn::kX ? v
                                                : global_vector(problem.pencil(), problem.candidates(),
                                                                ThresholdOn::kX, problem.options().threads);
  std::vector<Index> order = problem.include();
  for (const Index j : selection.ranking) {
    if (!std::binary_search(problem.include().begin(), problem.include().end(), j)) order.push_back(j);
  }
  for (const Index k : problem.k().sizes()) {
    PathEntry entry;
    entry.features.assign(order.begin(), order.begin() + k);
    std::sort(entry.features.begin(), entry.features.end());
    Vector cut(k);
    for (Index i = 0; i < k; ++i) {
      const auto at = std::lower_bound(problem.candidates().begin(), problem.candidates().end(),
                                       entry.features[static_cast<std::size_t>(i)]);
      cut[i] = x[at - problem.candidates().begin()];
    }
    entry.objective = rayleigh_quotient(problem.pencil(), entry.features, cut, problem.options().threads);
    const Vector here = problem.pencil().from_table_units(entry.features, cut);
    const double norm =
        problem.pencil().b_is_identity()
            ? cut.norm()
            : std::sqrt(here.dot(problem.pencil().block(entry.features, problem.options().threads) * here));
    Index largest = 0;
    cut.cwiseAbs().maxCoeff(&largest);
    entry.loadings = cut * ((cut[largest] < 0.0 ? -1.0 : 1.0) / (norm > 0.0 ? norm : 1.0));
    selection.sets().push_back(std::move(entry));
  }
  // A quotient is one eigenvalue's: whatever else was asked for, it is bounded, and reported, as the largest.
  SelectOptions options = problem.options();
  options.criterion = selection.criterion = Criterion::kLargest;
  certify(problem.with_options(options), nullptr, control, selection);
  return selection;
}

void greedy_sets(const Problem& problem, Index swaps, bool as_they_pay, const RunControl& control,
                 Selection& selection) {
  run_passes({.as_they_pay = as_they_pay}, problem, swaps, nullptr, control, selection);
}

namespace {

constexpr std::size_t kMostPrecise = 150;  ///< features of a set that is looked at with more digits

/// What may be spent on looking again at sets that doubles are trusted with: some 15 ns for each of N k^2/2
/// products.
class Attention {
 public:
  explicit Attention(Index rows) : rows_(static_cast<double>(rows)) {}
  bool affords(std::size_t k) {
    constexpr double kMostProducts = 5e6, kMostOfAll = 3e7;
    const double products = 0.5 * rows_ * static_cast<double>(k * k);
    if (k > kMostPrecise || products > kMostProducts || spent_ + products > kMostOfAll) return false;
    spent_ += products;
    return true;
  }

 private:
  double rows_, spent_ = 0.0;
};

/// The criterion of the set to as many digits as a double holds; nothing where that cannot be had.
std::optional<double> precise_objective(const Problem& problem, const std::vector<Index>& features) {
  auto block = problem.pencil().precise_block(features);
  if (!block) return std::nullopt;
  const auto found = precise_value(std::move(*block), problem.options().criterion);
  if (!found || !(found->error < 0.1 * kCertifiedGap)) return std::nullopt;
  return found->value;
}

/// Puts the precise value where the one by doubles is off by more than a certificate may be; whether it was.
bool correct(double& objective, double precise) {
  if (std::abs(objective - precise) <= 0.5 * kCertifiedGap * std::abs(precise)) return false;
  objective = precise;
  return true;
}

/// There is one set of this size: all units, or those that are included.
bool only_possible(const Problem& problem, Index k) {
  return k == problem.units().count() || k == static_cast<Index>(problem.units().include.size());
}

void fill_bounds(const Problem& problem, const RootLosses* root, const RunControl& control,
                 Selection& selection) {
  const KRange k{selection.sets().front().k(), selection.sets().back().k()};
  const auto bounds = certificate(problem.pencil(), problem.units(), root,
                                  {.criterion = problem.options().criterion,
                                   .k = k,
                                   .lower = problem.options().bounds,
                                   .threads = problem.options().threads,
                                   .control = &control});
  for (auto& entry : selection.sets()) {
    const auto& at = bounds[static_cast<std::size_t>(entry.k() - k.lo)];
    if (only_possible(problem, entry.k())) {
      entry.upper_bound = entry.objective;
      entry.bound = "inclusion";
    } else if (const auto* best = at.best_upper()) {
      // A bound that rounding took below the value of a set it bounds is that value.
      entry.upper_bound = std::max(best->second, entry.objective);
      if (*entry.upper_bound - entry.objective <= 2e-10 * entry.objective)
        entry.upper_bound = entry.objective;
      entry.bound = best->first;
    }
    if (problem.options().bounds) entry.bounds = at;
  }
}

constexpr double kMostLogDet = 10.0;

/// log det(I + T) of several discriminants in doubles loses what is small beside the largest eigenvalue, here
/// above some 2e4.
bool logarithms_lose_digits(const Problem& problem, const Selection& selection) {
  const Matrix* const factor = problem.pencil().factor();
  return problem.options().criterion == Criterion::kWilks && factor != nullptr && factor->cols() > 1 &&
         std::any_of(selection.sets().begin(), selection.sets().end(),
                     [](const PathEntry& entry) { return entry.objective > kMostLogDet; });
}

/// Whether a set is worth so little beside all candidates together (one of them separates the classes nearly
/// perfectly) that what searches and bounds compute, f(T) less the losses, has no digits left for it; log
/// det(I + T) in doubles loses what is small beside the largest eigenvalue, here above some 2e4.
bool dwarfed(const Problem& problem, const RootLosses* root, const Selection& selection) {
  constexpr double kMostBeside = 1e5;
  const bool log_det = problem.options().criterion == Criterion::kWilks;
  double least = kInfinity, most = 0.0;
  for (const auto& entry : selection.sets()) {
    most = std::max(most, entry.objective);
    least = std::min({least, entry.objective, entry.pool.empty() ? kInfinity : entry.pool.back().objective});
  }
  const auto features = problem.units().features();
  const bool small = features.size() <= kMostPrecise;
  if (small) {
    most =
        std::max(most, root != nullptr ? root->value
                                       : renormalize(problem.pencil(), features, problem.options().criterion,
                                                     1, problem.options().threads)
                                             .objective);
  }
  return log_det ? most > kMostLogDet : small && most > kMostBeside * least;
}

/// Whether the pool of an exact search is best first by the values that are reported.
bool in_order(const PathEntry& entry) {
  return std::is_sorted(entry.pool.begin(), entry.pool.end(), [](const PoolSet& x, const PoolSet& y) {
    return x.objective > y.objective * (1.0 + kCertifiedGap);
  });
}

/// The best sets of one unit (the included one, where there is one), best first, as many as are wanted, by
/// values that have all digits: of such sets all can be tried.
std::vector<PoolSet> best_singles(const Problem& problem, std::size_t wanted) {
  constexpr Index kMost = 5000;
  const SearchUnits& units = problem.units();
  std::vector<Index> choices = units.include;
  if (choices.empty()) {
    choices.resize(units.members.size());
    std::iota(choices.begin(), choices.end(), Index{0});
  }
  if (std::ssize(choices) > kMost) return {};
  std::vector<PoolSet> sets;
  for (const Index u : choices) {
    PoolSet set{.features = units.features({u}), .objective = 0.0};
    const auto value =
        set.features.size() <= kMostPrecise ? precise_objective(problem, set.features) : std::nullopt;
    if (!value) return {};
    set.objective = *value;
    sets.push_back(std::move(set));
  }
  sort_pool(sets);
  sets.resize(std::min(sets.size(), wanted));
  return sets;
}

/// Where doubles have too few digits: every value from the rows, every bound from a root that has more of
/// them, and what a search has `proven` proven again, or taken back with a warning. A pool holds `pool` sets
/// where there are as many: doubles may have taken some for singular.
void settle_precisely(const Problem& problem, bool proven, Index pool, const RunControl& control,
                      Selection& selection) {
  std::vector<std::string> unknown, unsure;
  std::vector<char> known;
  for (auto& entry : selection.sets()) {
    const auto value =
        entry.features.size() <= kMostPrecise ? precise_objective(problem, entry.features) : std::nullopt;
    known.push_back(value ? 1 : 0);
    if (value) entry.objective = *value;
    if (!value) unknown.push_back(fmt::to_string(entry.k()));
    for (auto& set : entry.pool) {
      if (const auto member = precise_objective(problem, set.features)) set.objective = *member;
    }
    if (!in_order(entry)) {
      sort_pool(entry.pool);
      replace_set(problem, entry.pool.front(), entry);
    }
    entry.upper_bound.reset();
    entry.bound.clear();
  }
  const auto root = precise_root(problem.pencil(), problem.units(), problem.options().criterion);
  fill_bounds(problem, root ? &*root : nullptr, control, selection);
  for (std::size_t i = 0; i < selection.sets().size(); ++i) {
    auto& entry = selection.sets()[i];
    const bool only_one = only_possible(problem, entry.k());
    const std::size_t wanted = std::max(entry.pool.size(), possible_sets(problem, entry.k(), pool));
    bool tree_proven = false;
    if (known[i] != 0 && proven && (!entry.certified() || wanted > 1)) {
      const std::vector<PoolSet> sets =
          entry.pool.empty() ? std::vector<PoolSet>{{entry.features, entry.objective}} : entry.pool;
      auto best = precise_best(problem.pencil(), problem.units(), problem.options().criterion, entry.k(),
                               sets, wanted, control);
      replace_set(problem, best.sets.front(), entry);
      if (!entry.pool.empty()) entry.pool = std::move(best.sets);
      tree_proven = best.proven;
      if (tree_proven) {
        entry.upper_bound = entry.objective;
        entry.bound = "branch-and-bound";
      }
    }
    bool pool_proven = wanted < 2 || tree_proven;
    if (known[i] != 0 && entry.k() == 1) {
      auto singles = best_singles(problem, wanted);
      if (!singles.empty()) {
        try {
          replace_set(problem, singles.front(), entry);
          if (!entry.pool.empty()) entry.pool = std::move(singles);
          entry.upper_bound = entry.objective;
          entry.bound = "scores";
          pool_proven = true;
        } catch (const Infeasible&) {  // a group that is regular to 31 digits and singular to doubles
          pool_proven = false;
        }
      }
    }
    if (known[i] != 0 && only_one) {
      entry.upper_bound = entry.objective;
      entry.bound = "inclusion";
    }
    // A bound may certify the best set; that no better one is missing behind it takes the search.
    if (known[i] == 0 || !pool_proven) {
      entry.upper_bound.reset();
      entry.bound.clear();
    }
    if ((proven || only_one) && known[i] != 0 && !entry.certified())
      unsure.push_back(fmt::to_string(entry.k()));
  }
  if (!unsure.empty() || !unknown.empty()) {
    if (selection.status == Status::kOptimal || selection.status == Status::kGapReached)
      selection.status = Status::kHeuristic;
  }
  constexpr std::string_view kWhy =
      "features are so nearly combinations of each other, or separate the classes so nearly perfectly,";
  const std::string way_out =
      fmt::format("leave near-copies out (⟨exclude⟩), or give a {}", larger_ridge(problem.ridge()));
  if (!unknown.empty()) {
    selection.warnings.push_back(
        fmt::format("at k = {} {} that the objective has few digits or none, and nothing is certified; {}",
                    join_some(unknown), kWhy, way_out));
  }
  if (!unsure.empty()) {
    selection.warnings.push_back(
        fmt::format("nothing is certified at k = {}: {} that the digits of the search do not prove it; {}",
                    join_some(unsure), kWhy, way_out));
  }
}

}  // namespace

void replace_set(const Problem& problem, const PoolSet& set, PathEntry& entry) {
  if (set.features != entry.features) {
    entry.loadings = renormalize(problem.pencil(), set.features, problem.options().criterion,
                                 problem.options().components, problem.options().threads)
                         .discriminants.vectors;
    entry.features = set.features;
    const SearchUnits& units = problem.units();
    entry.units.clear();
    for (Index u = 0; u < units.count() && !units.single; ++u) {
      const Index first = units.members[static_cast<std::size_t>(u)].front();
      if (std::binary_search(entry.features.begin(), entry.features.end(), first))
        entry.units.push_back(units.group[static_cast<std::size_t>(u)]);
    }
    std::sort(entry.units.begin(), entry.units.end());
  }
  entry.objective = set.objective;
}

void warn_of_rank(const Problem& problem, Index reached, Selection& selection) {
  const char* const what = problem.units().single ? "feature" : "group";
  selection.warnings.push_back(fmt::format(
      "no more than {} linearly independent {}{}; larger k were left out (a ridge, ⟨ridge⟩, makes them possible)",
      reached, what, reached == 1 ? " exists" : "s exist"));
}

std::string larger_ridge(const RidgeAmount& ridge) {
  if (ridge.value > 0.0) return fmt::format("larger ridge than {:.3g}", ridge.value);
  if (!(ridge.fraction > 0.0)) return "ridge (⟨ridge rel:1e-6⟩)";
  return fmt::format("larger ridge (⟨ridge rel:1e{:.0f}⟩)",
                     std::max(-6.0, std::floor(std::log10(ridge.fraction)) + 1.0));
}

std::size_t possible_sets(const Problem& problem, Index k, Index pool) {
  const auto fixed = std::ssize(problem.units().include);
  const auto free = static_cast<double>(problem.units().count() - fixed);
  double sets = 1.0;
  for (Index i = 1; i <= k - fixed && sets > 0.0; ++i)
    sets *= (free - static_cast<double>(i - 1)) / static_cast<double>(i);
  return static_cast<std::size_t>(sets < static_cast<double>(pool) ? std::llround(sets) : pool);
}

bool settle(const Problem& problem, const RootLosses* root, Proof proof, const RunControl& control,
            Selection& selection, Index pool) {
  if (problem.pencil().b_is_identity()) return true;
  bool trusted;
  if (proof == Proof::kFromTheSets) {
    // What all candidates are together, and whether they depend on each other, plays no part.
    trusted = variances_have_digits(problem.pencil(), problem.units().features()) &&
              !logarithms_lose_digits(problem, selection);
  } else {
    trusted = digits_suffice(problem.pencil(), problem.units().features(), root, problem.options().threads) &&
              !dwarfed(problem, root, selection);
  }
  // A search whose pool is in another order by the values that are reported did not know them.
  trusted = trusted && std::all_of(selection.sets().begin(), selection.sets().end(), in_order);
  if (trusted) {
    // What is certified is looked at once more, from the rows: where that shows other digits none are
    // trusted.
    Attention attention(problem.data().rows());
    for (const auto& entry : selection.sets()) {
      if (!entry.certified() || !attention.affords(entry.features.size())) continue;
      double objective = entry.objective;
      const auto precise = precise_objective(problem, entry.features);
      if (precise && correct(objective, *precise)) trusted = false;
    }
  }
  if (!trusted) settle_precisely(problem, proof != Proof::kNone, pool, control, selection);
  return trusted;
}

void correct_values(const Problem& problem, Selection& selection) {
  constexpr double kSafeFraction = 1e-7, kKnown = 1e-6;
  auto& sets = selection.sets();
  // With such a fraction of the variances the condition is too small for it.
  if (sets.empty() || problem.pencil().b_is_identity() || problem.ridge().fraction >= kSafeFraction) return;
  std::vector<Index> all;
  for (const auto& entry : sets) all.insert(all.end(), entry.features.begin(), entry.features.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > kMostPrecise || digits_suffice(problem.pencil(), all, nullptr, problem.options().threads))
    return;
  Attention attention(problem.data().rows());
  std::vector<std::string> unknown;
  for (auto& entry : sets) {
    if (entry.certified() || !attention.affords(entry.features.size())) continue;
    const auto value = precise_objective(problem, entry.features);
    if (!value) {
      unknown.push_back(fmt::to_string(entry.k()));
    } else if (std::abs(entry.objective - *value) > kKnown * *value) {
      entry.objective = *value;
      if (entry.upper_bound) entry.upper_bound = std::max(*entry.upper_bound, *value);
    }
  }
  if (unknown.empty()) return;
  selection.warnings.push_back(fmt::format(
      "at k = {} features are so nearly combinations of each other that the objective has few digits or none; leave near-copies out (⟨exclude⟩), or give a {}",
      join_some(unknown), larger_ridge(problem.ridge())));
}

void certify(const Problem& problem, const RootLosses* root, const RunControl& control,
             Selection& selection) {
  if (selection.sets().empty() || !problem.options().certify) return;
  fill_bounds(problem, root, control, selection);
  (void)settle(problem, root, Proof::kNone, control, selection);
  mark_proven(selection);
}

void mark_proven(Selection& selection) {
  const auto proven = [](const PathEntry& entry) {
    const auto gap = entry.known_gap();
    return gap && *gap <= kCertifiedGap;
  };
  if (selection.status == Status::kHeuristic && !selection.sets().empty() &&
      std::all_of(selection.sets().begin(), selection.sets().end(), proven)) {
    selection.status = Status::kOptimal;
  }
}

}  // namespace subspectra
