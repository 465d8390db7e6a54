#include "verify/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/text.hpp"
#include "verify/dense_pair.hpp"
#include "verify/enumeration.hpp"

namespace subspectra {
namespace {

using verify::DensePair;
using verify::DenseValue;

constexpr double kProven = 1e-9;       ///< the gap up to which a set is called certified (docs/verify.md)
constexpr double kHopeless = 1e-2;     ///< a tolerance above it says nothing
constexpr double kArithmetic = 1e-12;  ///< for numbers that follow from others in the file by one operation

/// What the sets of a result are judged on.
struct CheckedProblem {
  const FeatureNames& names;
  std::function<bool(Index)> constant;  ///< by feature
  std::function<DensePair(std::vector<Index>)> pair;
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
  for (const auto& columns : names.find_each(wanted))
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
      : claims_(claims),
        problem_(problem),
        groups_(groups),
        options_(options),
        control_(control),
        refit_(claims.method == "refit") {}

  Verification run() {
    list_candidates();
    DensePair pair = problem_.pair(wanted_features());
    check_path(claims_.path, pair, 1);
    Index component = 1;
    const std::vector<ClaimedEntry>* before = &claims_.path;
    for (const auto& path : claims_.components) {
      ++component;
      if (!pair.identity() || !deflate(pair, *before)) {
        out_.not_checked.push_back(
            fmt::format("component {} and later ones: the one before has no usable loadings", component));
        break;
      }
      check_path(path, pair, component);
      before = &path;
    }
    check_status();
    if (out_.stop != RunControl::Stop::kGoOn) {
      out_.not_checked.emplace_back("what was left when the run was stopped");
    }
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

  // --- what could be chosen ----------------------------------------------------------------------------

  void list_candidates() {
    excluded_ = found_features(problem_.names, claims_.exclude);
    included_ = found_features(problem_.names, claims_.include);
    const auto each = problem_.names.find_each(claims_.include);
    for (std::size_t i = 0; i < each.size(); ++i) {
      if (each[i].empty()) unknown_ = claims_.include[i];
    }
    for (Index j = 0; j < problem_.names.size(); ++j) {
      if (contains(excluded_, j)) continue;
      (problem_.constant(j) ? constant_ : candidates_).push_back(j);
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
    out_.candidates = static_cast<Index>(units_.size());
    const auto bounded = [](const std::vector<ClaimedEntry>& path) {
      return std::any_of(path.begin(), path.end(),
                         [](const auto& entry) { return entry.upper_bound.has_value(); });
    };
    const bool any =
        bounded(claims_.path) || std::any_of(claims_.components.begin(), claims_.components.end(), bounded);
    enumerate_ = any && !options_.no_enumerate && out_.candidates <= kMostEnumerated;
    if (any && options_.no_enumerate) {
      out_.not_checked.emplace_back("the upper bounds on every set (⟨no_enumerate⟩)");
    } else if (any && !enumerate_) {
      out_.not_checked.push_back(fmt::format("the upper bounds on every set: {} are more than {}",
                                             counted(out_.candidates, groups_ ? "group" : "candidate"),
                                             kMostEnumerated));
    }
  }

  /// Every feature that occurs in a set, and all candidates where sets are enumerated.
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
    for (const auto& path : claims_.components) take_path(path);
    if (enumerate_) wanted.insert(candidates_.begin(), candidates_.end());
    return {wanted.begin(), wanted.end()};
  }

  // --- one path ----------------------------------------------------------------------------------------

  void check_path(const std::vector<ClaimedEntry>& path, const DensePair& pair, Index component) {
    std::vector<const ClaimedEntry*> enumerable;
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
        const DenseValue value = verify::dense_value(pair, pair.places(entry.features), claims_.criterion);
        check_objective(entry, pair, value, component);
        check_loadings(entry, pair, value, component);
        check_bounds(entry, path, value, component);
      }
      if (!entry.pool.empty()) check_pool(entry, pair, component);
      if (entry.upper_bound) enumerable.push_back(&entry);
    }
    if (enumerate_) check_by_enumeration(enumerable, pair, component);
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

  /// A path ascends within the range that was asked for; the sets of `refit` come as they come.
  [[nodiscard]] std::string size_problem(const ClaimedEntry& entry, Index before) const {
    if (refit_) return {};
    if (entry.k <= before) return fmt::format("it stands after k = {}; they ascend", before);
    // Below the included ones there are no sets.
    const Index least = std::max<Index>(claims_.k ? claims_.k->lo : 1,
                                        groups_ != nullptr ? 0 : static_cast<Index>(included_.size()));
    const Index next = before > 0 ? before + 1 : least;
    if (claims_.status == "optimal" && entry.k > next && (before > 0 || groups_ == nullptr))
      return fmt::format("k = {} is missing and the status is optimal", next);
    if (claims_.k && (entry.k < claims_.k->lo || entry.k > claims_.k->hi)) {
      return fmt::format("k is outside {}:{}, which was asked for", claims_.k->lo, claims_.k->hi);
    }
    return {};
  }

  [[nodiscard]] std::string constraint_problem(const ClaimedSet& set) const {
    if (refit_) return {};  // its sets are given, not chosen
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

  void say_ill_conditioned(const ClaimedEntry& entry, const DenseValue& value) {
    if (value.tolerance <= kHopeless) return;
    out_.not_checked.push_back(fmt::format(
        "k = {}: the features are so nearly dependent (condition {:.1g}) that its numbers have a tolerance of {:.1g}",
        entry.k, value.condition, value.tolerance));
  }

  void check_objective(const ClaimedEntry& entry, const DensePair& pair, const DenseValue& value,
                       Index component) {
    if (!value.feasible) {
      add(CheckKind::kObjective, entry, component,
          "the within-class covariance of the set is singular, so that no objective exists");
      return;
    }
    say_ill_conditioned(entry, value);
    if (claims_.renormalized) {
      compare(CheckKind::kObjective, entry, component, "the objective", entry.objective, value.value,
              value.tolerance, value.slack);
      return;
    }
    // `no_renormalize`: the quotient of the loadings in the file, which no set's best falls below.
    const auto quotient = first_quotient(entry, pair);
    if (!quotient) {
      out_.not_checked.push_back(fmt::format(
          "k = {}: the objective is that of loadings (⟨no_renormalize⟩) that are not there", entry.k));
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
  static std::optional<Quotients> quotients(const ClaimedEntry& entry, const DensePair& pair) {
    if (!entry.loadings || entry.loadings->cols() == 0 ||
        entry.loadings->rows() != static_cast<Index>(entry.features.size())) {
      return std::nullopt;
    }
    const auto places = pair.places(entry.features);
    const Matrix& x = *entry.loadings;
    const Matrix a = pair.a(places, places);
    Quotients q;
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
    if (!entry.loadings || !value.feasible) return;
    const Matrix& x = *entry.loadings;
    const auto q = quotients(entry, pair);
    if (!q) {
      add(CheckKind::kLoadings, entry, component,
          fmt::format("they are {} x {} for {}", x.rows(), x.cols(),
                      counted(entry.features.size(), "feature")));
      return;
    }
    Finding finding;
    finding.tolerance = value.tolerance;
    const Matrix off = q->metric - Matrix::Identity(x.cols(), x.cols());
    finding.deviation = off.cwiseAbs().maxCoeff();
    if (!(*finding.deviation <= value.tolerance)) {
      finding.words = fmt::format("{} differs from the identity by {:.2g} ({:.2g} is allowed)",
                                  pair.identity() ? "X'X" : "X'B X", *finding.deviation, value.tolerance);
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
        if (!(miss <= value.tolerance * scale + value.slack)) {
          finding.claimed = q->values[c];
          finding.recomputed = value.eigenvalues[c];
          finding.words = fmt::format("the quotient of column {} is {:.10g} where {:.10g} is reached", c + 1,
                                      q->values[c], value.eigenvalues[c]);
        }
      }
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
    const std::string words = pool_problem(entry, pair, worst);
    add(CheckKind::kPool, entry, component, words).deviation = worst;
  }

  [[nodiscard]] std::string pool_problem(const ClaimedEntry& entry, const DensePair& pair,
                                         double& worst) const {
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
      const DenseValue value = verify::dense_value(pair, pair.places(set.features), claims_.criterion);
      if (!value.feasible) return here("its within-class covariance is singular");
      worst = std::max(worst, relative(set.objective, value.value));
      if (!(std::abs(set.objective - value.value) <= value.allowance())) {
        return here(disagreement("the objective", set.objective, value.value, value.tolerance));
      }
    }
    return {};
  }

  // --- the whole ---------------------------------------------------------------------------------------

  void check_by_enumeration(const std::vector<const ClaimedEntry*>& entries, const DensePair& pair,
                            Index component) {
    verify::Choices choices;
    for (const auto& unit : units_) {
      (unit.forced ? choices.forced : choices.free).push_back(pair.places(unit.features));
    }
    verify::Enumeration every(pair, std::move(choices), claims_.criterion, control_);
    const double before = out_.sets_enumerated;
    for (const auto* entry : entries) {
      const auto above = every.find_above(entry->k, *entry->upper_bound);
      out_.sets_enumerated = before + every.sets();
      if (every.stopped()) {
        out_.stop = control_.check_limits();
        return;
      }
      if (!above) {
        add(CheckKind::kEnumeration, *entry, component).claimed = entry->upper_bound;
        check_pool_by_enumeration(*entry, pair, component, every);
        out_.sets_enumerated = before + every.sets();
        if (every.stopped()) {
          out_.stop = control_.check_limits();
          return;
        }
        continue;
      }
      Finding& finding = add(
          CheckKind::kEnumeration, *entry, component,
          fmt::format("the set {} reaches {:.10g}, above upper_bound {:.10g}{}", named(*above, pair),
                      above->value.value, *entry->upper_bound,
                      entry->certified.value_or(false) ? ": it is not the best, as `certified` says" : ""));
      finding.claimed = entry->upper_bound;
      finding.recomputed = above->value.value;
      finding.deviation = relative(above->value.value, *entry->upper_bound);
      finding.tolerance = above->value.tolerance;
    }
  }

  /// Status optimal: the pool holds the best sets, so that no set outside it is better than its last.
  void check_pool_by_enumeration(const ClaimedEntry& entry, const DensePair& pair, Index component,
                                 verify::Enumeration& every) {
    const auto sound = [&](const ClaimedSet& set) { return usable(set); };
    if (claims_.status != "optimal" || (entry.pool.empty() && claims_.pool <= 1) ||
        !std::all_of(entry.pool.begin(), entry.pool.end(), sound))
      return;
    if (entry.pool.empty()) {
      add(CheckKind::kPoolComplete, entry, component, "there is no pool, but ⟨pool⟩ asked for one");
      return;
    }
    std::set<std::vector<Index>> known;
    for (const auto& set : entry.pool) {
      auto places = pair.places(set.features);
      std::sort(places.begin(), places.end());
      known.insert(std::move(places));
    }
    // A pool with fewer sets than were asked for claims that there are no others.
    const bool all = std::ssize(entry.pool) < claims_.pool;
    const double last = entry.pool.back().objective;
    const auto above =
        every.find_above(entry.k, all ? -std::max(1.0, std::abs(entry.objective)) : last, std::move(known));
    if (every.stopped()) return;
    Finding& finding =
        add(CheckKind::kPoolComplete, entry, component,
            above ? fmt::format("the set {} reaches {:.10g} and is not there, where the last has {:.10g}",
                                named(*above, pair), above->value.value, last)
                  : std::string());
    finding.claimed = last;
    if (!above) return;
    finding.recomputed = above->value.value;
    finding.deviation = relative(above->value.value, last);
    finding.tolerance = above->value.tolerance;
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
      for (const auto& path : claims_.components) look(path);
      if (claims_.path.empty()) {
        words = "the status is optimal but there is no set";
      } else if (claims_.k && claims_.path.back().k < claims_.k->hi) {
        words = fmt::format("the status is optimal but k = {} is missing", claims_.k->hi);
      }
    }
    add(CheckKind::kStatus, ClaimedEntry{}, 1, std::move(words));
  }

  const ClaimedResult& claims_;
  const CheckedProblem& problem_;
  const FeatureGroups* groups_;
  const VerifyOptions& options_;
  const RunControl& control_;
  const bool refit_;
  std::vector<Index> candidates_, constant_, excluded_, included_;  ///< ascending
  std::optional<std::string> unknown_;  ///< an included name that the data do not have
  std::vector<Unit> units_;
  bool enumerate_ = false;
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

}  // namespace

const std::vector<CheckDescription>& check_descriptions() {
  static const std::vector<CheckDescription> all = {
      {CheckKind::kFeatures, "features", "distinct, ascending, named as in the data, as many as k"},
      {CheckKind::kConstraints, "constraints", "⟨include⟩, ⟨exclude⟩ and ⟨groups⟩ hold; nothing constant"},
      {CheckKind::kObjective, "objective", "the criterion recomputed on the set"},
      {CheckKind::kLoadings, "loadings", "x'Bx = 1, their quotients, the largest entry positive"},
      {CheckKind::kBounds, "bounds", "upper_bound, gap and certified agree with each other and over k"},
      {CheckKind::kPool, "pool", "distinct sets, best first, each recomputed"},
      {CheckKind::kEnumeration, "enumeration", "of all sets of the size none is above upper_bound"},
      {CheckKind::kPoolComplete, "pool-complete",
       "of all sets of the size none outside is better than its last"},
      {CheckKind::kStatus, "status", "optimal only if every size is certified"}};
  return all;
}

Index Verification::failures() const {
  return std::count_if(findings.begin(), findings.end(), [](const Finding& finding) { return !finding.ok; });
}

Verification verify_claims(const ClaimedResult& claims, const Dataset& data, const FeatureGroups* groups,
                           const VerifyOptions& options, const RunControl& control) {
  require_same_table(claims, data);
  require_groups(claims, groups);
  const bool lda = (data.labels() != nullptr) && !claims.by_variance();
  if (lda && std::count(data.labels()->codes.begin(), data.labels()->codes.end(), Labels::kMissing) > 0) {
    refuse(data.source(), claims.file, "some rows have no label");
  }
  const CheckedProblem problem{
      .names = data.names(),
      .constant = [&](Index j) { return is_constant(data, j); },
      .pair =
          [&](std::vector<Index> features) {
            const auto n = static_cast<double>(features.size());
            require_memory((2.0 * static_cast<double>(data.rows()) * n + 4.0 * n * n) * sizeof(double),
                           fmt::format("the covariance of {} features", features.size()),
                           "check a result with fewer sizes", options.memory_limit.bytes);
            return verify::table_pair(data, std::move(features), lda, claims.ridge);
          }};
  return Checker(claims, problem, claims.groups.empty() ? nullptr : groups, options, control).run();
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
  const Matrix& measured = matrices.b != nullptr ? *matrices.b : matrices.a;
  const CheckedProblem problem{.names = matrices.names,
                               .constant = [&](Index j) { return !(measured(j, j) > 0.0); },
                               .pair =
                                   [&](std::vector<Index> features) {
                                     return verify::matrix_pair(matrices.a, matrices.b, std::move(features),
                                                                claims.ridge);
                                   }};
  return Checker(claims, problem, claims.groups.empty() ? nullptr : groups, options, control).run();
}

}  // namespace subspectra
