#include "verify/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/text.hpp"
#include "data/name_patterns.hpp"
#include "eigen/symmetric.hpp"
#include "verify/class_rows.hpp"
#include "verify/dense_pair.hpp"
#include "verify/every_set.hpp"
#include "verify/sizes.hpp"
#include "verify/wide_root.hpp"

namespace subspectra {
namespace {

using verify::DensePair;
using verify::DenseValue;

constexpr double kProven = 1e-9;       ///< the gap up to which a set is called certified (docs/verify.md)
constexpr double kHopeless = 1e-2;     ///< a tolerance above it says nothing
constexpr double kArithmetic = 1e-12;  ///< for numbers that follow from others in the file by one operation
constexpr double kClear = 1e-10;       ///< an error below it leaves what is certified its digits
constexpr double kFromRows = 1e-4;     ///< what a value of nearly dependent features may be off by
constexpr double kFewDigits = 1e-5;    ///< a tolerance above it says little of what is certified to 1e-9

/// What the sets of a result are judged on.
struct CheckedProblem {
  const FeatureNames& names;
  bool lda = true;                      ///< by (A, B); else by the covariance
  Index rows = 0;                       ///< 0: matrices
  Index classes = 0;                    ///< of a table
  std::function<bool(Index)> constant;  ///< by feature
  /// Does not vary within any class of the table, and there is no ridge: no objective is finite with it.
  std::function<bool(Index)> separating;
  /// What the fraction of the ridge is taken of, and how far rounding may move it.
  std::function<std::pair<double, double>(Index)> ridge_variance;
  std::function<DensePair(std::vector<Index>)> pair;
  /// Of too many candidates for a pair: whether it is plain that no set of k (with so many forced ones) is
  /// above a bound. `why` says why it cannot be asked.
  using WideProof = std::function<bool(Index k, Index forced, double bound)>;
  std::function<WideProof(const std::vector<Index>&, std::string& why)> wide;
};

/// A unit that could be chosen: its number as in `units`, its candidates.
struct Unit {
  Index number = 0;
  std::vector<Index> features;
  bool forced = false;
};

double relative(double a, double b) {
  const double scale = std::max(std::abs(a), std::abs(b));
  return scale > 0.0 ? std::abs(a - b) / scale : 0.0;
}

std::vector<Index> found_features(const FeatureNames& names, const std::vector<std::string>& wanted) {
  std::vector<Index> found;
  for (const auto& columns : columns_named(names, wanted))
    found.insert(found.end(), columns.begin(), columns.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool contains(const std::vector<Index>& ascending, Index j) {
  return std::binary_search(ascending.begin(), ascending.end(), j);
}

class Checker {
 public:
  Checker(const ClaimedResult& claims, const CheckedProblem& problem, const FeatureGroups* groups,
          const VerifyOptions& options, const RunControl& control)
      : claims_(claims), problem_(problem), groups_(groups), options_(options), control_(control) {}

  Verification run() {
    list_candidates();
    check_ridge();
    DensePair pair = problem_.pair(wanted_features());
    check_path(claims_.path, pair, 1);
    Index component = 1;
    const std::vector<ClaimedEntry>* before = &claims_.path;
    if (pair.identity() && pair.a.size() > 0) undeflated_ = pair.a.diagonal().maxCoeff();
    const double whole = pair.a.size() > 0 ? pair.a.diagonal().sum() : 0.0;
    for (const auto& path : claims_.further) {
      ++component;
      if (!pair.identity() || !deflate(pair, *before)) {
        say_unchecked(
            component, 0,
            "this component and later ones: the one before has no loadings to take out of the data");
        break;
      }
      check_path(path, pair, component);
      before = &path;
    }
    check_component_count(pair, *before, component, whole);
    check_status();
    if (out_.stop != RunControl::Stop::kGoOn)
      say_unchecked(1, 0, "what was left when the run was stopped; give it more time (⟨time_limit⟩)");
    return std::move(out_);
  }

 private:
  Finding& add(CheckKind kind, const ClaimedEntry& entry, Index component, std::string words = {}) {
    Finding finding;
    finding.kind = kind;
    finding.component = component;
    finding.k = entry.k;
    finding.ok = words.empty();
    finding.words = std::move(words);
    out_.findings.push_back(std::move(finding));
    return out_.findings.back();
  }

  void say_unchecked(Index component, Index k, std::string words) {
    for (auto& unchecked : out_.unchecked) {
      if (unchecked.component != component || unchecked.words != words) continue;
      if (k > 0 && std::find(unchecked.sizes.begin(), unchecked.sizes.end(), k) == unchecked.sizes.end())
        unchecked.sizes.push_back(k);
      return;
    }
    out_.unchecked.push_back(
        {component, k > 0 ? std::vector<Index>{k} : std::vector<Index>{}, std::move(words)});
  }

  // --- what could be chosen ----------------------------------------------------------------------------

  void list_candidates() {
    excluded_ = found_features(problem_.names, claims_.exclude);
    included_ = found_features(problem_.names, claims_.include);
    const auto each = columns_named(problem_.names, claims_.include);
    for (std::size_t i = 0; i < each.size(); ++i) {
      if (each[i].empty()) unknown_ = claims_.include[i];
    }
    for (Index j = 0; j < problem_.names.size(); ++j) {
      if (contains(excluded_, j)) continue;
      if (problem_.constant(j)) {
        constant_.push_back(j);
      } else if (!problem_.separating(j)) {
        candidates_.push_back(j);
      } else {
        separating_.push_back(j);
      }
    }
    if (groups_ == nullptr) {
      for (const Index j : candidates_) units_.push_back({j, {j}, contains(included_, j)});
    } else {
      for (Index g = 0; g < groups_->size(); ++g) {
        Unit unit{g, {}, false};
        for (const Index j : groups_->members[static_cast<std::size_t>(g)]) {
          if (!contains(candidates_, j)) continue;
          unit.features.push_back(j);
          unit.forced = unit.forced || contains(included_, j);
        }
        if (!unit.features.empty()) units_.push_back(std::move(unit));
      }
    }
    out_.candidates = std::ssize(units_);
    forced_ = std::count_if(units_.begin(), units_.end(), [](const Unit& unit) { return unit.forced; });
    all_in_pair_ = needs_all() && std::ssize(candidates_) <= verify::EverySet::most_features(!problem_.lda);
  }

  /// Whether the file says something of sets that are not in it: bounds, pools, sizes and components that are
  /// not there.
  [[nodiscard]] bool needs_all() const {
    const auto bounded = [](const std::vector<ClaimedEntry>& path) {
      return std::any_of(path.begin(), path.end(), [](const auto& entry) {
        return entry.upper_bound.has_value() || !entry.pool.empty();
      });
    };
    const bool whole = claims_.k && !claims_.path.empty() && claims_.path.back().k >= claims_.k->hi;
    return !whole || claims_.components > 1 || !claims_.further.empty() || bounded(claims_.path);
  }

  // --- what the fraction of the ridge was taken of -----------------------------------------------------

  void check_ridge() {
    if (!claims_.ridge_fraction && !claims_.ridge_variances && !(claims_.ridge.fraction > 0.0)) return;
    Finding& finding = add(CheckKind::kRidge, ClaimedEntry{}, 1);
    const auto fail = [&finding](std::string words) {
      finding.ok = false;
      finding.words = std::move(words);
    };
    if (!claims_.ridge_fraction) {
      fail(fmt::format("options.ridge adds the fraction {}, but the file has no `ridge` that says of what",
                       claims_.ridge.fraction));
      return;
    }
    if (*claims_.ridge_fraction != claims_.ridge.fraction) {
      fail(fmt::format("ridge.fraction is {} where options.ridge adds the fraction {}",
                       *claims_.ridge_fraction, claims_.ridge.fraction));
      return;
    }
    if (!claims_.ridge_variances || !problem_.lda) return;
    finding.deviation = 0.0;
    for (Index j = 0; j < problem_.names.size() && finding.ok; ++j) {
      const double claimed = (*claims_.ridge_variances)[static_cast<std::size_t>(j)];
      if (contains(excluded_, j) || std::isnan(claimed)) continue;
      const auto [variance, rounding] = problem_.ridge_variance(j);
      if (variance > rounding) finding.deviation = std::max(*finding.deviation, relative(claimed, variance));
      if (std::abs(claimed - variance) <= 1e-8 * variance + rounding) continue;
      finding.claimed = claimed;
      finding.recomputed = variance;
      fail(disagreement(
          fmt::format("the variance of '{}', of which the ridge is a fraction,", problem_.names[j]), claimed,
          variance, 1e-8));
    }
  }

  /// Every feature that occurs in a set, and all candidates where they are not too many.
  [[nodiscard]] std::vector<Index> wanted_features() const {
    std::set<Index> wanted;
    const auto take = [&](const ClaimedSet& set) {
      for (const Index j : set.features) {
        if (j < problem_.names.size()) wanted.insert(j);
      }
    };
    const auto take_path = [&](const std::vector<ClaimedEntry>& path) {
      for (const auto& entry : path) {
        take(entry);
        for (const auto& set : entry.pool) take(set);
      }
    };
    take_path(claims_.path);
    for (const auto& path : claims_.further) take_path(path);
    if (all_in_pair_) wanted.insert(candidates_.begin(), candidates_.end());
    return {wanted.begin(), wanted.end()};
  }

  // --- one path ----------------------------------------------------------------------------------------

  void check_path(const std::vector<ClaimedEntry>& path, const DensePair& pair, Index component) {
    check_path_sizes(path, pair, component);
    Index before = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const auto& entry = path[i];
      control_.report("verify", static_cast<double>(i) / static_cast<double>(path.size()),
                      [&] { return fmt::format("k {}", entry.k); });
      out_.stop = control_.check_limits();
      if (out_.stop != RunControl::Stop::kGoOn) return;
      ++out_.entries;
      std::string words = set_problem(entry, entry.k);
      if (words.empty()) words = size_problem(entry, before);
      before = entry.k;
      add(CheckKind::kFeatures, entry, component, std::move(words));
      add(CheckKind::kConstraints, entry, component, constraint_problem(entry));
      if (usable(entry)) {
        const DenseValue value = value_of(entry, pair);
        check_objective(entry, pair, value, component);
        check_loadings(entry, pair, value, component);
        check_bounds(entry, path, value, component);
      }
      if (!entry.pool.empty() || claims_.pool > 1) check_pool(entry, pair, component);
    }
    check_every_set(path, pair, component);
  }

  // --- which sizes there are ---------------------------------------------------------------------------

  void check_path_sizes(const std::vector<ClaimedEntry>& path, const DensePair& pair, Index component) {
    const verify::PossibleSizes possible = possible_sizes(path, pair, component);
    verify::SizesFinding sizes = verify::check_sizes(claims_, path, component, possible);
    if (component == 1) {
      out_.asked = claims_.k;
      if (possible.least <= possible.most) out_.possible = KRange{possible.least, possible.most};
      out_.missing = sizes.missing;
    }
    if (!sizes.unknown.empty()) say_unchecked(component, 0, std::move(sizes.unknown));
    add(CheckKind::kSizes, ClaimedEntry{}, component, std::move(sizes.wrong));
  }

  [[nodiscard]] verify::PossibleSizes possible_sizes(const std::vector<ClaimedEntry>& path,
                                                     const DensePair& pair, Index component) const {
    verify::PossibleSizes possible{.least = std::max<Index>(1, forced_), .most = out_.candidates};
    possible.sure = possible.most;
    const Index wanted = claims_.k ? std::min(claims_.k->hi, possible.most) : possible.most;
    if (!path.empty() && path.back().k >= wanted) return possible;
    if (!problem_.lda) {
      if (component > 1) limit_by_deflation(pair, possible);
      return possible;
    }
    limit_by_rank(pair, possible);
    return possible;
  }

  /// What the components before have taken out no longer varies.
  void limit_by_deflation(const DensePair& pair, verify::PossibleSizes& possible) const {
    constexpr double kGone = 1e-13, kClearly = 1e-9;
    possible.sure = 0;
    if (!all_in_pair_) return;
    const double largest = undeflated_;
    Index varying = 0, clearly = 0;
    for (const auto& unit : units_) {
      double most = 0.0;
      for (const Index at : pair.places(unit.features)) most = std::max(most, pair.a(at, at));
      if (most > kGone * largest) ++varying;
      if (most > kClearly * largest) ++clearly;
    }
    possible.most = std::min(possible.most, varying);
    possible.sure = std::min(possible.most, clearly);
  }

  /// Without a ridge no set has more features than the rank of B.
  void limit_by_rank(const DensePair& pair, verify::PossibleSizes& possible) const {
    constexpr double kClearly = 1e-9;
    if (claims_.ridge.fraction >= kClearly) return;  // no eigenvalue of the correlations is below that
    possible.sure = 0;
    const bool singles = groups_ == nullptr;
    const bool no_ridge = !(claims_.ridge.value > 0.0) && !(claims_.ridge.fraction > 0.0);
    if (!all_in_pair_) {
      if (singles && no_ridge && problem_.rows > 0)
        possible.most = std::min(possible.most, std::max<Index>(0, problem_.rows - problem_.classes));
      return;
    }
    const auto at = pair.places(candidates_);
    Matrix c = pair.b(at, at);
    const Vector per_unit = c.diagonal().cwiseSqrt().cwiseInverse();
    c = (per_unit.asDiagonal() * c * per_unit.asDiagonal()).eval();
    if (!c.allFinite()) return;
    const Vector values = linalg::spectrum(c, false).values;
    const double largest = values[values.size() - 1];
    const Index independent = (values.array() > kClearly * largest).count();
    if (independent == values.size()) {
      possible.sure = possible.most;
      return;
    }
    // Nearly dependent: what doubles cannot tell, more digits can.
    possible.in_doubles = independent;
    const auto rank = pair.more ? pair.more->rank(at) : std::nullopt;
    if (rank && rank->sure == values.size()) {
      possible.sure = possible.most;
    } else if (singles) {
      if (no_ridge && rank) possible.most = std::min(possible.most, rank->most);
      possible.sure = std::min(possible.most, std::max(independent, rank ? rank->sure : 0));
    }
  }

  /// Principal components end when nothing but rounding is left.
  void check_component_count(const DensePair& pair, const std::vector<ClaimedEntry>& last, Index there,
                             double whole) {
    if (problem_.lda) {
      if (!claims_.further.empty())
        add(CheckKind::kSizes, ClaimedEntry{}, 1,
            "there are further components, but with classes a set has its discriminants");
      return;
    }
    const Index asked = std::max<Index>(1, claims_.components);
    if (claims_.sets_kind() == SetsKind::kNone || claims_.sets_kind() == SetsKind::kGiven) return;
    if (there > asked) {
      add(CheckKind::kSizes, ClaimedEntry{}, there,
          fmt::format("{} were asked for", counted(asked, "component")));
      return;
    }
    if (there == asked || claims_.path.empty() || claims_.status == "time_limit" ||
        claims_.status == "interrupted" || out_.stop != RunControl::Stop::kGoOn)
      return;
    constexpr double kNothing = 1e-12, kSomething = 1e-9;
    DensePair rest = pair;
    if (!all_in_pair_ || !deflate(rest, last)) {
      say_unchecked(there + 1, 0, "whether there is a further component, which was asked for");
      return;
    }
    const double left = rest.a.diagonal().sum();
    verify::PossibleSizes possible{.least = 1, .most = out_.candidates, .sure = 0};
    limit_by_deflation(rest, possible);
    const bool large_enough = !claims_.k || possible.sure >= std::max(claims_.k->lo, forced_);
    if (left > kSomething * whole && large_enough) {
      add(CheckKind::kSizes, ClaimedEntry{}, there + 1,
          fmt::format("it is missing: {} were asked for, and {:.3g} of the variance is left",
                      counted(asked, "component"), left / whole));
    } else if (left > kNothing * whole && large_enough) {
      say_unchecked(there + 1, 0, "whether there is a further component: what is left is next to rounding");
    }
  }

  /// In range and distinct: a set that can be evaluated.
  [[nodiscard]] bool usable(const ClaimedSet& set) const {
    const std::set<Index> distinct(set.features.begin(), set.features.end());
    return !set.features.empty() && distinct.size() == set.features.size() &&
           *distinct.rbegin() < problem_.names.size();
  }

  [[nodiscard]] std::string set_problem(const ClaimedSet& set, Index k) const {
    if (set.features.empty()) return "the set is empty";
    for (std::size_t i = 0; i < set.features.size(); ++i) {
      const Index j = set.features[i];
      if (j >= problem_.names.size()) {
        return fmt::format("feature {} does not exist: there are {}", j, problem_.names.size());
      }
      if (i > 0 && j == set.features[i - 1]) return fmt::format("feature {} stands twice", j);
      if (i > 0 && j < set.features[i - 1]) {
        return fmt::format("feature {} stands after {}; they ascend", j, set.features[i - 1]);
      }
    }
    if (set.names.size() != set.features.size()) {
      return fmt::format("{} and {}", counted(set.features.size(), "feature"),
                         counted(set.names.size(), "name"));
    }
    for (std::size_t i = 0; i < set.features.size(); ++i) {
      const auto name = problem_.names[set.features[i]];
      if (name != set.names[i]) {
        return fmt::format("feature {} is '{}' in the data and '{}' in the file", set.features[i], name,
                           set.names[i]);
      }
    }
    const auto size = static_cast<Index>(set.units ? set.units->size() : set.features.size());
    if (size != k) {
      return fmt::format("k is {} and the set has {}", k, counted(size, set.units ? "group" : "feature"));
    }
    return {};
  }

  /// A path ascends, and where a method gives every size it stays within those that were asked for; the sets
  /// of `refit` come as they come.
  [[nodiscard]] std::string size_problem(const ClaimedEntry& entry, Index before) const {
    const SetsKind kind = claims_.sets_kind();
    if (kind == SetsKind::kGiven) return {};
    if (entry.k <= before) return fmt::format("it stands after k = {}; they ascend", before);
    const bool every = kind == SetsKind::kEverySize || (kind == SetsKind::kRelaxation && !claims_.rho_given);
    if (every && claims_.k && !claims_.k->contains(entry.k))
      return claims_.k->contiguous()
                 ? fmt::format("k is outside {}:{}, which was asked for", claims_.k->lo, claims_.k->hi)
                 : fmt::format("k is none of {}, which were asked for", claims_.k->text());
    return {};
  }

  [[nodiscard]] std::string constraint_problem(const ClaimedSet& set) const {
    if (claims_.sets_kind() == SetsKind::kGiven) return {};  // not chosen
    std::vector<Index> sorted = set.features;
    std::sort(sorted.begin(), sorted.end());
    if (unknown_) return fmt::format("'{}' is included and not in the data", *unknown_);
    for (const Index j : included_) {
      if (!contains(sorted, j)) return fmt::format("'{}' is included and not in the set", problem_.names[j]);
    }
    for (const Index j : sorted) {
      if (contains(excluded_, j)) return fmt::format("'{}' is excluded and in the set", problem_.names[j]);
      if (contains(constant_, j)) {
        return fmt::format("'{}' is constant and in the set", problem_.names[j]);
      }
      if (contains(separating_, j))
        return fmt::format("'{}' does not vary within any class, and there is no ridge, but it is in the set",
                           problem_.names[j]);
    }
    return groups_ != nullptr || set.units ? group_problem(set, sorted) : std::string();
  }

  [[nodiscard]] std::vector<Index> groups_touched(const std::vector<Index>& features) const {
    std::set<Index> touched;
    for (const Index j : features) {
      if (j < static_cast<Index>(groups_->group_of.size()))
        touched.insert(groups_->group_of[static_cast<std::size_t>(j)]);
    }
    return {touched.begin(), touched.end()};
  }

  [[nodiscard]] std::string group_problem(const ClaimedSet& set, const std::vector<Index>& sorted) const {
    if (groups_ == nullptr) return "it has groups and the result was made without ⟨groups⟩";
    if (!set.units) return "the result was made with ⟨groups⟩ and the set has no `units`";
    std::vector<Index> members;
    for (std::size_t i = 0; i < set.units->size(); ++i) {
      const Index g = (*set.units)[i];
      if (i > 0 && g <= (*set.units)[i - 1]) return "the groups do not ascend";
      const auto unit = std::lower_bound(units_.begin(), units_.end(), g,
                                         [](const Unit& u, Index number) { return u.number < number; });
      if (unit == units_.end() || unit->number != g) {
        return fmt::format("group {} does not exist or has nothing to choose", g);
      }
      members.insert(members.end(), unit->features.begin(), unit->features.end());
    }
    std::sort(members.begin(), members.end());
    return members == sorted ? std::string() : "the features are not those of the groups";
  }

  // --- the numbers -------------------------------------------------------------------------------------

  static std::string disagreement(std::string_view what, double claimed, double recomputed, double allowed) {
    return fmt::format(
        "{} is {:.10g} in the file and {:.10g} recomputed (relative difference {:.2g}, {:.2g} is allowed)",
        what, claimed, recomputed, relative(claimed, recomputed), allowed);
  }

  void compare(CheckKind kind, const ClaimedEntry& entry, Index component, std::string_view what,
               double claimed, double recomputed, double tolerance, double slack) {
    const double scale = std::max(std::abs(claimed), std::abs(recomputed));
    const double allowed = tolerance + (scale > 0.0 ? slack / scale : 0.0);
    const bool ok = std::abs(claimed - recomputed) <= tolerance * scale + slack;
    Finding& finding =
        add(kind, entry, component, ok ? std::string() : disagreement(what, claimed, recomputed, allowed));
    finding.claimed = claimed;
    finding.recomputed = recomputed;
    finding.deviation = relative(claimed, recomputed);
    finding.tolerance = allowed;
  }

  /// `tolerance`: of the objective, relative.
  void say_ill_conditioned(const ClaimedEntry& entry, const DenseValue& value, double tolerance,
                           Index component) {
    const bool certified = entry.certified.value_or(false);
    if (tolerance <= (certified ? kFewDigits : kHopeless)) return;
    say_unchecked(
        component, entry.k,
        fmt::format(
            "the objective{}: the features are so nearly dependent (condition {:.0e}) that it is known here to {:.0e} only; leave near-copies out (⟨exclude⟩) or give a ridge (⟨ridge⟩)",
            certified ? ", which is certified" : "", value.condition, tolerance));
  }

  /// In as many digits as it takes to know what the entry claims.
  [[nodiscard]] DenseValue value_of(const ClaimedEntry& entry, const DensePair& pair) const {
    const auto places = pair.places(entry.features);
    DenseValue value = verify::dense_value(pair, places, claims_.criterion);
    const bool certified = entry.certified.value_or(false);
    const double error = certified ? value.error + share(value.sharp_slack, value.value)
                                   : value.tolerance + share(value.slack, value.value);
    if (value.feasible && error <= (certified ? kClear : kHopeless)) return value;
    auto sharper = verify::sharper_value(pair, places, claims_.criterion);
    if (!sharper || !sharper->feasible) return value;
    // Such values come from the rows with more digits in select, too: where doubles are off by a millionth.
    sharper->tolerance = std::min(sharper->tolerance, kFromRows);
    sharper->slack = std::min(sharper->slack, kFromRows * sharper->value + sharper->sharp_slack);
    return std::move(*sharper);
  }

  static double share(double slack, double value) { return value > 0.0 ? slack / value : 0.0; }

  void check_objective(const ClaimedEntry& entry, const DensePair& pair, const DenseValue& value,
                       Index component) {
    if (!value.feasible) {
      say_unchecked(
          component, entry.k,
          "the objective: the within-class covariance of the set is singular to the digits that are known here; leave near-copies out (⟨exclude⟩) or give a ridge (⟨ridge⟩)");
      return;
    }
    // What is certified has all its digits; other values have those of a Cholesky factor in doubles.
    const bool certified = entry.certified.value_or(false);
    const double tolerance = certified ? kProven + value.error : value.tolerance;
    const double slack = certified ? value.sharp_slack : value.slack;
    const double allowed = tolerance + (value.value > 0.0 ? slack / value.value : 0.0);
    say_ill_conditioned(entry, value, allowed, component);
    if (claims_.renormalized) {
      const double scale = std::max(std::abs(entry.objective), value.value);
      if (value.quad && !certified && std::abs(entry.objective - value.value) > tolerance * scale + slack) {
        say_unchecked(
            component, entry.k,
            fmt::format(
                "the objective, which is not certified: the features are so nearly dependent (condition {:.0e}) that a method need not know it ({:.10g} in the file, {:.10g} recomputed); leave near-copies out (⟨exclude⟩) or give a ridge (⟨ridge⟩)",
                value.condition, entry.objective, value.value));
        return;
      }
      compare(CheckKind::kObjective, entry, component, "the objective", entry.objective, value.value,
              tolerance, slack);
      return;
    }
    // `no_renormalize`: the quotient of the loadings in the file, which no set's best falls below.
    const auto quotient = first_quotient(entry, pair);
    if (!quotient) {
      say_unchecked(component, entry.k,
                    "the objective, which is that of loadings (⟨no_renormalize⟩) that are not there");
      return;
    }
    compare(CheckKind::kObjective, entry, component, "the quotient of the loadings", entry.objective,
            *quotient, value.tolerance, value.slack);
    Finding& finding = out_.findings.back();
    if (finding.ok && entry.objective > value.largest() * (1.0 + value.tolerance) + value.slack) {
      finding.ok = false;
      finding.words = disagreement("the objective of given loadings, at most the best of the set,",
                                   entry.objective, value.largest(), value.tolerance);
    }
  }

  struct Quotients {
    Matrix metric;  ///< X'B_S X
    Vector values;  ///< x'A_S x of each column
  };
  static std::optional<Quotients> quotients(const ClaimedEntry& entry, const DensePair& pair,
                                            bool quad = false) {
    if (!entry.loadings || entry.loadings->cols() == 0 ||
        entry.loadings->rows() != static_cast<Index>(entry.features.size())) {
      return std::nullopt;
    }
    const auto places = pair.places(entry.features);
    const Matrix& x = *entry.loadings;
    const Matrix a = pair.a(places, places);
    Quotients q;
    if (quad) {
      auto products = pair.more->products(places, x);
      q.metric = std::move(products.b);
      q.values = products.a.diagonal();
      return q;
    }
    if (pair.identity()) {
      q.metric = x.transpose() * x;
    } else {
      const Matrix b = pair.b(places, places);
      q.metric = x.transpose() * b * x;
    }
    q.values = (x.transpose() * a * x).diagonal();
    return q;
  }
  static std::optional<double> first_quotient(const ClaimedEntry& entry, const DensePair& pair) {
    const auto q = quotients(entry, pair);
    if (!q || !(q->metric(0, 0) > 0.0)) return std::nullopt;
    return q->values[0] / q->metric(0, 0);
  }

  /// Columns x_j with x_i'B_S x_j = 1 or 0, the j-th one's quotient the j-th eigenvalue, its largest entry
  /// positive.
  void check_loadings(const ClaimedEntry& entry, const DensePair& pair, const DenseValue& value,
                      Index component) {
    if (!entry.loadings) {
      if (claims_.sets_kind() != SetsKind::kUnknown)
        add(CheckKind::kLoadings, entry, component, "there are none, and every method of sets gives them");
      return;
    }
    if (!value.feasible) return;
    const Matrix& x = *entry.loadings;
    const auto q = quotients(entry, pair, value.quad);
    if (!q) {
      add(CheckKind::kLoadings, entry, component,
          fmt::format("they are {} x {} for {}", x.rows(), x.cols(),
                      counted(entry.features.size(), "feature")));
      return;
    }
    // Loadings have the digits of a factor in doubles, whatever is known here.
    const double doubles = value.quad ? std::max(1e-8, 100.0 * value.condition * kEpsilon) : value.tolerance;
    const double tolerance = value.quad ? std::min(doubles, kHopeless) : doubles;
    bool few_digits = false;  // by which they differ, and may
    Finding finding;
    finding.tolerance = tolerance;
    const Matrix off = q->metric - Matrix::Identity(x.cols(), x.cols());
    finding.deviation = off.cwiseAbs().maxCoeff();
    if (!(*finding.deviation <= tolerance)) {
      few_digits = *finding.deviation <= doubles;
      finding.words = fmt::format("{} differs from the identity by {:.2g} ({:.2g} is allowed)",
                                  pair.identity() ? "X'X" : "X'B X", *finding.deviation, tolerance);
    }
    for (Index c = 0; c < x.cols() && finding.words.empty(); ++c) {
      const double largest = x.col(c).cwiseAbs().maxCoeff();
      if (!(x.col(c).maxCoeff() >= largest * (1.0 - kProven))) {
        finding.words = fmt::format("the largest entry of column {} is negative", c + 1);
      } else if (claims_.renormalized && c >= value.eigenvalues.size()) {
        finding.words =
            fmt::format("there are {} columns where {} are possible", x.cols(), value.eigenvalues.size());
      } else if (claims_.renormalized) {
        const double scale = value.eigenvalues[0];
        const double miss = std::abs(q->values[c] - value.eigenvalues[c]);
        if (scale > 0.0) finding.deviation = std::max(*finding.deviation, miss / scale);
        if (!(miss <= tolerance * scale + value.slack)) {
          few_digits = miss <= doubles * scale + value.slack;
          finding.claimed = q->values[c];
          finding.recomputed = value.eigenvalues[c];
          finding.words = fmt::format("the quotient of column {} is {:.10g} where {:.10g} is reached", c + 1,
                                      q->values[c], value.eigenvalues[c]);
        }
      }
    }
    if (few_digits && tolerance < doubles) {
      say_unchecked(
          component, entry.k,
          fmt::format(
              "the loadings: the features are so nearly dependent (condition {:.0e}) that doubles give them few digits ({}); leave near-copies out (⟨exclude⟩) or give a ridge (⟨ridge⟩)",
              value.condition, finding.words));
      return;
    }
    Finding& added = add(CheckKind::kLoadings, entry, component, finding.words);
    added.claimed = finding.claimed;
    added.recomputed = finding.recomputed;
    added.deviation = finding.deviation;
    added.tolerance = finding.tolerance;
  }

  void check_bounds(const ClaimedEntry& entry, const std::vector<ClaimedEntry>& path, const DenseValue& value,
                    Index component) {
    if (!entry.upper_bound && !entry.has_gap && !entry.certified) return;
    add(CheckKind::kBounds, entry, component, bound_problem(entry, path, value));
  }

  static std::string bound_problem(const ClaimedEntry& entry, const std::vector<ClaimedEntry>& path,
                                   const DenseValue& value) {
    if (!entry.upper_bound) {
      return entry.gap || entry.certified.value_or(false) ? "there is a gap or a proof without an upper_bound"
                                                          : "";
    }
    const double upper = *entry.upper_bound;
    const double objective = entry.objective;
    if (upper < objective - kArithmetic * std::abs(objective)) {
      return fmt::format("upper_bound {:.10g} is below the objective {:.10g}", upper, objective);
    }
    std::optional<double> gap;
    if (objective == 0.0) {
      if (upper == 0.0) gap = 0.0;
    } else {
      gap = (upper - objective) / objective;
    }
    if (!entry.has_gap || !entry.certified) return "there is an upper_bound without gap and certified";
    if (gap.has_value() != entry.gap.has_value()) {
      return gap ? fmt::format("gap is null where it is {:.6g}", *gap)
                 : "gap is a number where it must be null";
    }
    if (gap && std::abs(*gap - *entry.gap) > kArithmetic + kArithmetic * std::abs(*gap)) {
      return fmt::format("gap is {:.10g} where (upper_bound - objective)/objective is {:.10g}", *entry.gap,
                         *gap);
    }
    const bool proven = gap && *gap <= kProven;
    if (proven != *entry.certified) {
      return fmt::format("certified is {} with a gap of {}", *entry.certified,
                         gap ? fmt::format("{:.3g}", *gap) : "null");
    }
    // The criterion grows with the set, so that a bound for k holds for every smaller size.
    for (const auto& other : path) {
      const bool smaller = other.k < entry.k;
      if (smaller && other.objective > upper + (value.tolerance + kProven) * std::abs(upper) + value.slack) {
        return fmt::format("upper_bound {:.10g} is below the objective {:.10g} of k = {}", upper,
                           other.objective, other.k);
      }
    }
    const double room = value.tolerance * std::abs(upper) + value.slack;
    for (const auto& [name, bound] : entry.upper) {
      if (bound < objective - room) {
        return fmt::format("the upper bound '{}' is {:.10g}, below the objective {:.10g}", name, bound,
                           objective);
      }
    }
    for (const auto& [name, bound] : entry.lower_any) {
      if (value.feasible && bound > value.value + room) {
        return fmt::format("every set has at least {:.10g} ('{}'), but this one has {:.10g}", bound, name,
                           value.value);
      }
    }
    for (const auto& [name, bound] : entry.lower_best) {
      if (bound > upper + room) {
        return fmt::format("the best set has at least {:.10g} ('{}'), above upper_bound {:.10g}", bound, name,
                           upper);
      }
    }
    return {};
  }

  void check_pool(const ClaimedEntry& entry, const DensePair& pair, Index component) {
    double worst = 0.0;
    const std::string words = pool_problem(entry, pair, component, worst);
    add(CheckKind::kPool, entry, component, words).deviation = worst;
  }

  [[nodiscard]] std::string pool_problem(const ClaimedEntry& entry, const DensePair& pair, Index component,
                                         double& worst) {
    if (entry.pool.empty()) return "there is no pool, but ⟨pool⟩ asked for one";
    if (claims_.pool > 1 && std::ssize(entry.pool) > claims_.pool)
      return fmt::format("it has {} sets where ⟨pool⟩ asked for {}", entry.pool.size(), claims_.pool);
    std::set<std::vector<Index>> seen;
    for (std::size_t i = 0; i < entry.pool.size(); ++i) {
      ClaimedSet set = entry.pool[i];
      if (groups_ != nullptr && !set.units)
        set.units = groups_touched(set.features);  // pools list features alone
      const auto here = [&](const std::string& words) { return fmt::format("set {}: {}", i + 1, words); };
      std::string words = set_problem(set, entry.k);
      if (words.empty()) words = constraint_problem(set);
      if (!words.empty()) return here(words);
      if (!seen.insert(set.features).second) return here("it stands there twice");
      if (i == 0 && set.features != entry.features) return here("it is not the entry itself");
      if (i > 0 && set.objective > entry.pool[i - 1].objective * (1.0 + kProven)) {
        return here("it is better than the one before it");
      }
      if (entry.upper_bound && set.objective > *entry.upper_bound * (1.0 + kProven)) {
        return here(fmt::format("{:.10g} is above upper_bound {:.10g}", set.objective, *entry.upper_bound));
      }
      DenseValue value = verify::dense_value(pair, pair.places(set.features), claims_.criterion);
      if (!value.feasible) {
        if (auto sharper = verify::sharper_value(pair, pair.places(set.features), claims_.criterion))
          value = std::move(*sharper);
      }
      if (!value.feasible) {
        say_unchecked(
            component, entry.k,
            "a set of the pool: its within-class covariance is singular to the digits that are known here; leave near-copies out (⟨exclude⟩) or give a ridge (⟨ridge⟩)");
        continue;
      }
      worst = std::max(worst, relative(set.objective, value.value));
      if (!(std::abs(set.objective - value.value) <= value.allowance())) {
        return here(disagreement("the objective", set.objective, value.value, value.tolerance));
      }
    }
    return {};
  }

  // --- the whole ---------------------------------------------------------------------------------------

  /// The claims about every set of a size: that none is above upper_bound, and, with the status optimal, that
  /// none outside a pool is better than its last (or that there is none, where it has fewer than were asked
  /// for).
  void check_every_set(const std::vector<ClaimedEntry>& path, const DensePair& pair, Index component) {
    struct Claim {
      const ClaimedEntry* entry = nullptr;
      bool pool = false;
      double bound = 0.0;
    };
    std::vector<Claim> claims;
    std::vector<verify::SetQuestion> questions;
    for (const auto& entry : path) {
      const bool possible = entry.k >= std::max<Index>(1, forced_) && entry.k <= out_.candidates;
      if (!possible) continue;  // the finding of its features or constraints says so
      if (entry.upper_bound) {
        claims.push_back({&entry, false, *entry.upper_bound});
        questions.push_back({entry.k, *entry.upper_bound, {}});
      }
      const auto sound = [&](const ClaimedSet& set) { return usable(set); };
      if (claims_.status != "optimal" || entry.pool.empty() ||
          !std::all_of(entry.pool.begin(), entry.pool.end(), sound))
        continue;
      verify::SetQuestion question{.k = entry.k, .bound = entry.pool.back().objective};
      for (const auto& set : entry.pool) {
        if (!all_in_pair_) break;
        auto places = pair.places(set.features);
        std::sort(places.begin(), places.end());
        question.known.insert(std::move(places));
      }
      if (std::ssize(entry.pool) < claims_.pool) question.bound = -std::max(1.0, std::abs(entry.objective));
      claims.push_back({&entry, true, entry.pool.back().objective});
      questions.push_back(std::move(question));
    }
    if (claims.empty()) return;
    const auto what = [](const Claim& claim) {
      return claim.pool ? "whether a set outside the pool is better than its last"
                        : "whether a set is above upper_bound";
    };
    if (options_.no_enumerate) {
      for (const auto& claim : claims)
        say_unchecked(component, claim.entry->k, fmt::format("{} (⟨no_enumerate⟩)", what(claim)));
      return;
    }
    if (!all_in_pair_) {
      std::string why;
      const auto proof = component == 1 && groups_ == nullptr ? problem_.wide(candidates_, why)
                                                              : CheckedProblem::WideProof();
      for (const auto& claim : claims) {
        if (!claim.pool && proof && proof(claim.entry->k, forced_, claim.bound)) {
          add(CheckKind::kBranchAndBound, *claim.entry, component).claimed = claim.bound;
          continue;
        }
        say_unchecked(
            component, claim.entry->k,
            fmt::format(
                "{}: {} features are too many for a branch and bound{}; check a result with fewer (⟨exclude⟩)",
                what(claim), candidates_.size(),
                why.empty() ? ", and all of them together do not show it" : ", and " + why));
      }
      return;
    }
    verify::Choices choices;
    for (const auto& unit : units_)
      (unit.forced ? choices.forced : choices.free).push_back(pair.places(unit.features));
    verify::EverySet every(pair, std::move(choices), claims_.criterion, control_);
    const auto answers = every.answer(questions, budget_left());
    out_.sets_enumerated += every.sets();
    out_.nodes += every.nodes();
    work_ += every.work();
    for (std::size_t i = 0; i < claims.size(); ++i)
      report(claims[i].pool, *claims[i].entry, claims[i].bound, answers[i], what(claims[i]), pair, component);
  }

  [[nodiscard]] verify::SearchBudget budget_left() const {
    constexpr double kWork = 2e10;  // half a minute or so
    if (options_.node_limit > 0)
      return {.nodes = std::max(0.0, static_cast<double>(options_.node_limit) - out_.nodes)};
    if (options_.timed) return {};
    return {.work = std::max(0.0, kWork - work_)};
  }

  void report(bool pool, const ClaimedEntry& entry, double bound, const verify::SetAnswer& answer,
              std::string_view what, const DensePair& pair, Index component) {
    using End = verify::BoundAnswer::End;
    switch (answer.answer.end) {
      case End::kSpent:
        say_unchecked(component, entry.k, fmt::format("{}: {}", what, answer.why));
        return;
      case End::kStopped:
        out_.stop = control_.check_limits();
        say_unchecked(component, entry.k, fmt::format("{}: the run was stopped", what));
        return;
      case End::kUndecided:
        say_unchecked(
            component, entry.k,
            fmt::format(
                "{}: there are sets whose features are so nearly dependent (condition {:.0e}) that their value has too few digits to tell; leave near-copies out (⟨exclude⟩) or give a ridge (⟨ridge⟩)",
                what, answer.answer.condition));
        return;
      case End::kNone:
      case End::kFound:
        break;
    }
    Finding& finding = add(pool                ? CheckKind::kPoolComplete
                           : answer.enumerated ? CheckKind::kEnumeration
                                               : CheckKind::kBranchAndBound,
                           entry, component);
    finding.claimed = bound;
    if (!answer.answer.found) return;
    const verify::Exceeding& above = *answer.answer.found;
    finding.ok = false;
    finding.recomputed = above.value.value;
    finding.deviation = relative(above.value.value, bound);
    finding.tolerance = above.value.sharp;
    finding.words =
        pool
            ? fmt::format("the set {} reaches {:.10g} and is not there, where the last has {:.10g}",
                          named(above, pair), above.value.value, bound)
            : fmt::format("the set {} reaches {:.10g}, above upper_bound {:.10g}{}", named(above, pair),
                          above.value.value, bound,
                          entry.certified.value_or(false) ? ": it is not the best, as `certified` says" : "");
  }

  [[nodiscard]] std::string named(const verify::Exceeding& set, const DensePair& pair) const {
    std::vector<Index> features;
    features.reserve(set.places.size());
    for (const Index at : set.places) features.push_back(pair.features[static_cast<std::size_t>(at)]);
    std::sort(features.begin(), features.end());
    return problem_.names.some(features);
  }

  /// A <- (I - xx') A (I - xx') with x the component at the largest size, as the file has it.
  bool deflate(DensePair& pair, const std::vector<ClaimedEntry>& path) const {
    if (path.empty() || !usable(path.back()) || !quotients(path.back(), pair)) return false;
    const auto& last = path.back();
    const auto places = pair.places(last.features);
    Vector x = Vector::Zero(pair.a.rows());
    for (std::size_t i = 0; i < places.size(); ++i) x[places[i]] = (*last.loadings)(static_cast<Index>(i), 0);
    pair.noise = std::max(pair.noise, 1e-13 * pair.a.diagonal().cwiseAbs().sum());
    const Matrix projection = Matrix::Identity(x.size(), x.size()) - x * x.transpose();
    const Matrix once = projection * pair.a;
    pair.a = once * projection;
    return true;
  }

  void check_status() {
    constexpr std::array<std::string_view, 10> kKnown = {
        "optimal",    "gap_reached", "time_limit", "node_limit",      "memory_limit",
        "rank_limit", "interrupted", "converged",  "iteration_limit", "heuristic"};
    std::string words;
    if (std::find(kKnown.begin(), kKnown.end(), claims_.status) == kKnown.end()) {
      words = fmt::format("there is no status '{}'", claims_.status);
    } else if (claims_.status == "optimal") {
      const auto look = [&](const std::vector<ClaimedEntry>& path) {
        for (const auto& entry : path) {
          if (words.empty() && !entry.certified.value_or(false))
            words = fmt::format("the status is optimal but k = {} is not certified", entry.k);
        }
      };
      look(claims_.path);
      for (const auto& path : claims_.further) look(path);
    }
    add(CheckKind::kStatus, ClaimedEntry{}, 1, std::move(words));
  }

  const ClaimedResult& claims_;
  const CheckedProblem& problem_;
  const FeatureGroups* groups_;
  const VerifyOptions& options_;
  const RunControl& control_;
  std::vector<Index> candidates_, constant_, separating_, excluded_, included_;  ///< ascending
  std::optional<std::string> unknown_;  ///< an included name that the data do not have
  std::vector<Unit> units_;
  Index forced_ = 0;          ///< units
  bool all_in_pair_ = false;  ///< the matrices have every candidate
  double undeflated_ = 0.0;   ///< the largest variance before any component was taken out
  double work_ = 0.0;         ///< of the searches so far
  Verification out_;
};

// --- are these the data of the result? -------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& source, const std::string& file, std::string_view what) {
  throw BadInput({.file = source},
                 fmt::format("these are not the data of {}: {}; give the data that the result was made from",
                             file, what));
}

void require_same_features(const ClaimedResult& claims, const std::string& source,
                           const FeatureNames& names) {
  if (names.size() != claims.features) {
    refuse(source, claims.file,
           fmt::format("{} here and {} there", counted(names.size(), "feature"), claims.features));
  }
  if (!claims.names) return;
  for (Index j = 0; j < names.size(); ++j) {
    const auto& there = (*claims.names)[static_cast<std::size_t>(j)];
    if (const auto here = names[j]; here != there) {
      refuse(source, claims.file, fmt::format("feature {} is '{}' here and '{}' there", j, here, there));
    }
  }
}

void require_same_table(const ClaimedResult& claims, const Dataset& data) {
  if (claims.from_matrices()) {
    refuse(data.source(), claims.file,
           "it was made from matrices; give ⟨between A⟩ ⟨within B⟩, or ⟨covariance S⟩");
  }
  if (data.rows() != claims.rows) {
    refuse(data.source(), claims.file,
           fmt::format("{} here and {} there", counted(data.rows(), "row"), claims.rows));
  }
  require_same_features(claims, data.source(), data.names());
  if ((data.labels() != nullptr) != claims.classes.has_value()) {
    refuse(data.source(), claims.file,
           data.labels() ? "labels here and none there" : "no labels here and some there");
  }
  if (!data.labels()) return;
  const auto described = [](const std::vector<std::string>& classes, const std::vector<Index>& counts) {
    std::vector<std::string> words;
    for (std::size_t c = 0; c < classes.size(); ++c)
      words.push_back(fmt::format("{} {}", classes[c], counts[c]));
    return join_some(words);
  };
  const auto counts = data.labels()->counts();
  if (data.labels()->classes != *claims.classes || counts != claims.class_counts) {
    refuse(data.source(), claims.file,
           fmt::format("the classes are {} here and {} there", described(data.labels()->classes, counts),
                       described(*claims.classes, claims.class_counts)));
  }
}

void require_groups(const ClaimedResult& claims, const FeatureGroups* groups) {
  if (claims.groups.empty() || groups != nullptr) return;
  throw InvalidArgument({.field = "groups",
                         .subject = claims.file,
                         .rule = fmt::format("was made with groups ({})", claims.groups),
                         .way_out = "give that file with ⟨groups⟩"});
}

bool is_constant(const Dataset& data, Index j) {
  Index stored = 0;
  double lowest = kInfinity, highest = -kInfinity;
  data.values().each_entry(j, [&](Index, double value) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    ++stored;
  });
  return stored < data.rows() ? stored == 0 || (lowest == 0.0 && highest == 0.0) : lowest == highest;
}

/// What rows can say of more candidates than a matrix is made of.
CheckedProblem::WideProof wide_proof(const ClaimedResult& claims, const Dataset& data,
                                     const std::vector<Index>& features, bool lda,
                                     const VerifyOptions& options, std::string& why) {
  const auto rows = static_cast<double>(data.rows()), columns = static_cast<double>(features.size());
  require_memory(rows * columns * (lda ? 48.0 : 16.0),
                 fmt::format("the rows of {} features", features.size()),
                 "check a result with fewer features, or leave the bounds out (⟨no_enumerate⟩)",
                 options.memory_limit.bytes);
  if (!lda) {
    const auto root = std::make_shared<verify::WideVariances>(data, features);
    return [root](Index k, Index, double bound) { return root->settles(k, bound); };
  }
  if (rows * rows * columns > verify::WideRoot::kMostWork) {
    why = "the rows are too many for what they could say together";
    return {};
  }
  const auto root = std::make_shared<verify::WideRoot>(data, features, claims.ridge, claims.criterion);
  why = root->unusable();
  if (!why.empty()) return {};
  return [root](Index k, Index forced, double bound) { return root->settles(k, forced, bound); };
}

}  // namespace

const std::vector<CheckDescription>& check_descriptions() {
  static const std::vector<CheckDescription> all = {
      {CheckKind::kSizes, "sizes", "every size that was asked for and is possible, every component"},
      {CheckKind::kRidge, "ridge", "the variances that the fraction was taken of"},
      {CheckKind::kFeatures, "features", "distinct, ascending, named as in the data, as many as k"},
      {CheckKind::kConstraints, "constraints", "⟨include⟩, ⟨exclude⟩ and ⟨groups⟩ hold; nothing constant"},
      {CheckKind::kObjective, "objective", "the criterion recomputed on the set"},
      {CheckKind::kLoadings, "loadings", "x'Bx = 1, their quotients, the largest entry positive"},
      {CheckKind::kBounds, "bounds", "upper_bound, gap and certified agree with each other and over k"},
      {CheckKind::kPool, "pool", "distinct sets, best first, each recomputed"},
      {CheckKind::kEnumeration, "enumeration", "of all sets of the size none is above upper_bound"},
      {CheckKind::kBranchAndBound, "branch-and-bound", "the same, by ruling out sets many at a time"},
      {CheckKind::kPoolComplete, "pool-complete",
       "of all sets of the size none outside is better than its last"},
      {CheckKind::kStatus, "status", "optimal only if every size is certified"}};
  return all;
}

Index Verification::failures() const {
  return std::count_if(findings.begin(), findings.end(), [](const Finding& finding) { return !finding.ok; });
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kFails:
      return "fails";
    case Verdict::kUnchecked:
      break;
  }
  return "unchecked";
}

Verdict Verification::verdict() const {
  if (failures() > 0) return Verdict::kFails;
  return unchecked.empty() ? Verdict::kHolds : Verdict::kUnchecked;
}

std::vector<std::string> Verification::not_checked() const {
  std::vector<std::string> sentences;
  for (const auto& part : unchecked) {
    std::string place;
    if (part.component > 1) place += fmt::format("component {}, ", part.component);
    if (!part.sizes.empty()) {
      std::vector<Index> sizes = part.sizes;
      std::sort(sizes.begin(), sizes.end());
      place += fmt::format("k = {}, ",
                           join_some(sizes.size(), [&](std::size_t i) { return fmt::to_string(sizes[i]); }));
    }
    if (!place.empty()) place.replace(place.size() - 2, 2, ": ");
    sentences.push_back(place + part.words);
  }
  return sentences;
}

Verification verify_claims(const ClaimedResult& claims, const Dataset& data, const FeatureGroups* groups,
                           const VerifyOptions& options, const RunControl& control) {
  require_same_table(claims, data);
  require_groups(claims, groups);
  const bool lda = (data.labels() != nullptr) && !claims.by_variance();
  if (lda && std::count(data.labels()->codes.begin(), data.labels()->codes.end(), Labels::kMissing) > 0) {
    refuse(data.source(), claims.file, "some rows have no label");
  }
  const bool no_ridge = !(claims.ridge.value > 0.0) && !(claims.ridge.fraction > 0.0);
  const CheckedProblem problem{
      .names = data.names(),
      .lda = lda,
      .rows = data.rows(),
      .classes = data.labels() != nullptr ? data.labels()->class_count() : 0,
      .constant = [&](Index j) { return is_constant(data, j); },
      .separating = [&,
                     no_ridge](Index j) { return lda && no_ridge && verify::column_spread(data, j).still(); },
      .ridge_variance =
          [&](Index j) {
            const verify::ColumnSpread spread = verify::column_spread(data, j);
            return std::pair(static_cast<double>(spread.ridge_variance()), spread.rounding());
          },
      .pair =
          [&](std::vector<Index> features) {
            const auto n = static_cast<double>(features.size());
            require_memory((2.0 * static_cast<double>(data.rows()) * n + 4.0 * n * n) * sizeof(double),
                           fmt::format("the covariance of {} features", features.size()),
                           "check a result with fewer sizes", options.memory_limit.bytes);
            return verify::table_pair(data, std::move(features), lda, claims.ridge);
          },
      .wide = [&](const std::vector<Index>& features,
                  std::string& why) { return wide_proof(claims, data, features, lda, options, why); }};
  const FeatureGroups* chosen_from = claims.groups.empty() ? nullptr : groups;
  // Sets of the categories of the table itself.
  if (chosen_from == nullptr && claims.has_units()) chosen_from = data.details().categories.get();
  return Checker(claims, problem, chosen_from, options, control).run();
}

Verification verify_claims(const ClaimedResult& claims, const VerifyMatrices& matrices,
                           const FeatureGroups* groups, const VerifyOptions& options,
                           const RunControl& control) {
  if (!claims.from_matrices()) {
    refuse(matrices.source, claims.file,
           fmt::format("it was made from a table of {}", counted(claims.rows, "row")));
  }
  require_same_features(claims, matrices.source, matrices.names);
  require_groups(claims, groups);
  const bool no_ridge = !(claims.ridge.value > 0.0) && !(claims.ridge.fraction > 0.0);
  // Of A alone every feature without a variance is constant; of a pair B measures, and A where B has none.
  const auto varies_within = [&](Index j) { return matrices.b != nullptr && (*matrices.b)(j, j) > 0.0; };
  const CheckedProblem problem{
      .names = matrices.names,
      .lda = matrices.b != nullptr,
      .constant = [&](Index j) { return !varies_within(j) && !(matrices.a(j, j) > 0.0); },
      .separating = [&](Index j) { return matrices.b != nullptr && no_ridge && !varies_within(j); },
      .ridge_variance =
          [&](Index j) { return std::pair((varies_within(j) ? *matrices.b : matrices.a)(j, j), 0.0); },
      .pair =
          [&](std::vector<Index> features) {
            return verify::matrix_pair(matrices.a, matrices.b, std::move(features), claims.ridge);
          },
      .wide =
          [](const std::vector<Index>&, std::string& why) {
            why = "a matrix has no rows to begin from";
            return CheckedProblem::WideProof();
          }};
  return Checker(claims, problem, claims.groups.empty() ? nullptr : groups, options, control).run();
}

}  // namespace subspectra
