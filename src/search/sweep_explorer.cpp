/// Exact search that tries the last two, or three, features of a set all at once (sweep_scan.hpp), and goes
/// through the features before them one by one. For tables of many columns and sets of few: a proven best
/// pair or triple needs no tree. docs/theory/exact.md.
///
/// A node keeps I for good and has F free. With at most three more to be kept all of them are tried, block of
/// first features by block: what a stop leaves is the same node without the first features that are done.
#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>

#include "core/parallel.hpp"
#include "linalg/tiled.hpp"
#include "search/explorer.hpp"
#include "search/factor_problem.hpp"
#include "search/sweep_bound.hpp"
#include "search/sweep_problem.hpp"

namespace subspectra::search {
namespace {

/// Ties with the set to be beaten are looked at one by one: thresholds are lowered by this fraction.
constexpr double kTiesBelow = 1e-9;
/// Seconds of a visit on a card.
constexpr double kCardVisit = 1.0;
/// Exchanges of one feature that fill a pool for a card, or all of one place if those are more.
constexpr std::uint64_t kPoolExchanges = 20'000;

/// What one block of first features found: a part of a visit that shares nothing with the others.
class BlockFindings {
 public:
  BlockFindings(const SweepProblem& problem, const std::vector<std::int32_t>& kept, const SweepNode& node,
                const Cutoff& cutoff, const SizeFindings& known, double threshold, bool ties,
                const RunControl& control)
      : found(known.pool),
        limits_(cutoff, found),
        problem_(problem),
        kept_(kept),
        node_(node),
        threshold_(threshold),
        ties_(ties),
        control_(control) {}

  [[nodiscard]] SweepListener listener() {
    return {.user = this,
            .found = [](void* user, std::int64_t i, std::int64_t j,
                        std::int64_t l) { return static_cast<BlockFindings*>(user)->offer(i, j, l); },
            .go_on = [](void* user) { return static_cast<BlockFindings*>(user)->go_on(); }};
  }

  SizeFindings found;
  bool done = false;      ///< all of its sets were tried
  bool too_many = false;  ///< it ended because the threshold can be raised
  bool flooded = false;   ///< ... or because ties are too many to be looked at

 private:
  bool go_on() { return !control_.should_stop(); }

  bool offer(std::int64_t i, std::int64_t j, std::int64_t l) {
    ++offers_;
    if (offers_ % 1024 == 0) {
      if (!go_on()) return false;
      const auto& tuning = problem_.hooks().tuning.sweep;
      if (offers_ >= tuning.found_before_raise && limits_.exact() > threshold_ * (1.0 + 4.0 * kTiesBelow)) {
        too_many = true;
        return false;
      }
      if (ties_ && offers_ >= tuning.ties_looked_at) {
        flooded = true;
        return false;
      }
    }
    if (l >= 0 && depend(i, j)) return true;
    std::vector<Index> units(kept_.begin(), kept_.end());
    for (const std::int64_t place : {i, j, l}) {
      if (place >= 0) units.push_back(node_.free[static_cast<std::size_t>(place)]);
    }
    std::sort(units.begin(), units.end());
    const SweepValue at = problem_.evaluate(units);
    if (at.doubtful > limits_.exact()) limits_.discard(at.doubtful);
    if (at.value > -kInfinity) limits_.offer(std::move(units), at.value);
    return true;
  }

  /// Whether the first two depend on each other, so that no third makes a set of them.
  bool depend(std::int64_t i, std::int64_t j) {
    if (i == last_i_ && j == last_j_) return last_depend_;
    last_i_ = i;
    last_j_ = j;
    std::vector<Index> units(kept_.begin(), kept_.end());
    units.push_back(node_.free[static_cast<std::size_t>(i)]);
    units.push_back(node_.free[static_cast<std::size_t>(j)]);
    std::sort(units.begin(), units.end());
    const SweepValue at = problem_.evaluate(units);
    return last_depend_ = at.value == -kInfinity && at.doubtful == -kInfinity;
  }

  Limits limits_;
  const SweepProblem& problem_;
  const std::vector<std::int32_t>& kept_;
  const SweepNode& node_;
  double threshold_;
  bool ties_;
  const RunControl& control_;
  std::int64_t offers_ = 0, last_i_ = -1, last_j_ = -1;
  bool last_depend_ = false;
};

/// All sets of `more` of the places 0..n-1, in lexicographic order, until `take` says false.
template <class Take>
void each_set(std::int64_t n, std::int64_t more, const Take& take) {
  std::vector<std::int64_t> set(static_cast<std::size_t>(more));
  std::iota(set.begin(), set.end(), std::int64_t{0});
  while (take(set)) {
    std::int64_t at = more - 1;
    while (at >= 0 && set[static_cast<std::size_t>(at)] == n - more + at) --at;
    if (at < 0) return;
    ++set[static_cast<std::size_t>(at)];
    for (auto next = static_cast<std::size_t>(at) + 1; next < set.size(); ++next)
      set[next] = set[next - 1] + 1;
  }
}

/// Whether there is a ridge for dual_bound() to work with.
bool has_dual(const SweepProblem& problem) {
  return problem.ridge().size() > 0 && !problem.by_blocks() && problem.columns() > 0;
}
/// What sets are worth at most whose T has this trace; and the trace up to which they are worth no more.
double from_trace(const SweepProblem& problem, double trace) {
  const auto r = static_cast<double>(problem.columns());
  return problem.kind() == SweepKind::kRatio ? r * std::log1p(trace / r) : trace;
}
double to_trace(const SweepProblem& problem, double value) {
  const auto r = static_cast<double>(problem.columns());
  return problem.kind() == SweepKind::kRatio ? r * std::expm1(value / r) : value;
}

class SweepVisit {
 public:
  SweepVisit(const SweepProblem& problem, const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff,
             int threads, const RunControl& control, VisitFindings& findings)
      : problem_(problem),
        tuning_(problem.hooks().tuning.sweep),
        node_(node),
        budget_(budget),
        cutoff_(cutoff),
        limits_(cutoff, findings),
        threads_(threads),
        control_(control),
        findings_(findings),
        more_(node.k - static_cast<Index>(node.kept.size())) {}

  void run() {
    findings_.nodes = 1;
    if (more_ < 0 || static_cast<Index>(node_.free.size()) < more_) return;
    if (node_.k > problem_.most_features() || limits_.closed(node_.bound)) return;
    if (!tighten()) return;
    findings_.nodes = 0;
    if (static_cast<Index>(node_.free.size()) < more_) return;
    if (more_ <= 1) {
      last_one();
    } else if (on_card()) {
      return;
    } else if (more_ <= 3) {
      scan();
    } else {
      expand();
    }
  }

 private:
  void leave(std::vector<std::int32_t> free) const {
    if (static_cast<Index>(free.size()) < more_) return;
    findings_.open.push_back(
        {.k = node_.k, .kept = node_.kept, .free = std::move(free), .bound = node_.bound});
  }
  void leave_from(const std::vector<std::int32_t>& free, std::int64_t first) const {
    leave({free.begin() + first, free.end()});
  }

  /// The bound of the dual where there is a ridge: what it closes, keeps and leaves out. False: the node is
  /// closed.
  bool tighten() {
    if (!has_dual(problem_) || more_ < 2) return true;
    const double to_beat = limits_.exact() > 0.0 ? threshold() : 0.0;
    // A bound far above is not lowered enough by one more feature that is kept; then the scan is all there
    // is.
    if (more_ <= 3 && !node_.kept.empty() && node_.bound > tuning_.promising * to_beat) return true;
    const double worth = to_trace(problem_, to_beat);
    dual_ = dual_bound(problem_, node_.kept, node_.free, more_, worth);
    node_.bound = std::min(node_.bound, from_trace(problem_, dual_.bound));
    if (to_beat > 0.0 && dual_.bound <= worth) return false;
    std::vector<double> largest = dual_.terms;
    const auto wanted = static_cast<std::size_t>(more_);
    if (largest.size() <= wanted || !(to_beat > 0.0)) return true;
    std::partial_sort(largest.begin(), largest.begin() + more_ + 1, largest.end(), std::greater<>());
    const double last_in = largest[wanted - 1], first_out = largest[wanted];
    std::vector<std::int32_t> free;
    std::vector<double> terms;
    for (std::size_t i = 0; i < node_.free.size(); ++i) {
      const double term = dual_.terms[i];
      const std::int32_t u = node_.free[i];
      if (term < last_in && dual_.bound - last_in + term <= worth) continue;  // no set with it is good enough
      if (term >= last_in && last_in > first_out && dual_.bound - term + first_out <= worth) {
        node_.kept.insert(std::upper_bound(node_.kept.begin(), node_.kept.end(), u), u);  // nor one without
        dual_.kept += term;
        --more_;
        continue;
      }
      free.push_back(u);
      terms.push_back(term);
    }
    node_.free = std::move(free);
    dual_.terms = std::move(terms);
    return static_cast<Index>(node_.free.size()) >= more_;
  }

  void offer(std::vector<Index> units) {
    std::sort(units.begin(), units.end());
    const SweepValue at = problem_.evaluate(units);
    if (at.doubtful > limits_.exact()) limits_.discard(at.doubtful);
    if (at.value > -kInfinity) limits_.offer(std::move(units), at.value);
  }

  void last_one() {
    findings_.nodes = 1;
    std::vector<Index> units(node_.kept.begin(), node_.kept.end());
    if (more_ == 0) {
      offer(units);
      return;
    }
    for (std::size_t i = 0; i < node_.free.size(); ++i) {
      if (i % 1024 == 1023 && control_.should_stop()) {
        leave_from(node_.free, static_cast<std::int64_t>(i));
        return;
      }
      units.push_back(node_.free[i]);
      offer(units);
      units.pop_back();
    }
  }

  /// Until there is something to beat: sets one by one. False: stopped, or all of them were tried.
  bool first_sets() {
    bool going = true;
    std::uint64_t tried = 0;
    // Where the classes do not differ in any of the features no set beats 0.
    const bool nothing = !problem_.separate(node_.kept) && !problem_.separate(node_.free);
    const auto enough = [&] { return limits_.exact() > 0.0 || (nothing && limits_.exact() >= 0.0); };
    if (enough()) return !nothing;
    each_set(static_cast<std::int64_t>(node_.free.size()), more_, [&](const auto& set) {
      if (++tried % 1024 == 0 && control_.should_stop()) {
        leave(node_.free);
        going = false;
        return false;
      }
      std::vector<Index> units(node_.kept.begin(), node_.kept.end());
      for (const std::int64_t place : set) units.push_back(node_.free[static_cast<std::size_t>(place)]);
      offer(std::move(units));
      return !enough();
    });
    return going && limits_.exact() > 0.0;
  }

  /// What sets have to beat to be looked at.
  [[nodiscard]] double threshold() {
    if (limits_.limit() > limits_.exact()) {  // a gap: sets between are not looked for
      limits_.discard(std::min(node_.bound, limits_.limit()));
      return limits_.limit();
    }
    return ties_ ? findings_.pool.threshold() * (1.0 - kTiesBelow) : limits_.exact();
  }

  /// Two or three more: all of them, block by block.
  void scan() {
    if (!first_sets()) {
      findings_.nodes = 1;
      return;
    }
    const bool blocks = problem_.by_blocks();
    const std::int64_t step = blocks ? tuning_.pair_block : kSweepBlock;
    std::vector<std::int32_t> free = node_.free;
    std::optional<SweepNode> at;
    double used = -kInfinity;
    std::int64_t first = 0;
    while (static_cast<std::int64_t>(free.size()) - first >= more_) {
      if (findings_.nodes >= budget_ || (findings_.nodes > 0 && control_.should_stop())) {
        leave_from(free, first);
        return;
      }
      const double now = threshold();
      if (!at || now != used) {
        at = problem_.node(node_.kept, free, now);
        used = now;
        if (!at) {  // the kept ones are no set, or as good as what is to be beaten
          one_by_one();
          return;
        }
        free = at->free;  // without those that depend on the kept ones: the first time, when first = 0
      }
      const auto n = static_cast<std::int64_t>(free.size());
      const std::int64_t left = (n - more_ - first) / step + 1;
      if (n - first < more_) return;
      const auto items =
          std::min<std::int64_t>({left, tuning_.batch, static_cast<std::int64_t>(budget_ - findings_.nodes)});
      std::deque<BlockFindings> found;  // they point into themselves: none is moved
      for (std::int64_t i = 0; i < items; ++i)
        found.emplace_back(problem_, node_.kept, *at, cutoff_, findings_, now, ties_, control_);
      parallel_for(items, threads_, [&](Index i) {
        auto& own = found[static_cast<std::size_t>(i)];
        const std::int64_t begin = first + i * step, end = std::min(n - more_ + 1, begin + step);
        if (control_.should_stop()) return;
        const SweepListener listener = own.listener();
        own.done = blocks       ? pairs_by_blocks(*at, begin, end, listener)
                   : more_ == 2 ? processor_sweep().pairs(at->view, begin, end, listener)
                                : processor_sweep().triples(at->view, begin, end, listener);
      });
      bool all = true, stopped = false;
      for (auto& block : found) {
        for (const auto& set : block.found.pool.entered()) limits_.offer(set.units, set.value);
        limits_.discard(block.found.discarded);
        if (block.flooded) ties_ = false;
        if (all && block.done) {
          first += step;
          ++findings_.nodes;
        } else {
          all = false;
          stopped = stopped || (!block.too_many && !block.flooded);
        }
      }
      if (stopped) {
        leave_from(free, first);
        return;
      }
    }
  }

  bool pairs_by_blocks(const SweepNode& at, std::int64_t begin, std::int64_t end,
                       const SweepListener& listener) const {
    Matrix x1, x2;
    const SweepView& view = at.view;
    for (std::int64_t l = begin + 1; l < view.n; l += tuning_.pair_panel) {
      const std::int64_t width = std::min<std::int64_t>(tuning_.pair_panel, view.n - l);
      problem_.block(at, begin, end - begin, l, width, x1, x2);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t skip = std::max<std::int64_t>(0, i + 1 - l);
        if (skip >= width) continue;
        SweepRow row{.kind = view.kind,
                     .x1 = x1.data() + (i - begin) * width + skip,
                     .d1 = view.d1 + l + skip,
                     .own1 = view.d1[i],
                     .base = view.base,
                     .error1 = view.error1,
                     .error2 = view.error2,
                     .size1 = view.size1,
                     .size2 = view.size2};
        if (view.kind != SweepKind::kDefinite) {
          row.x2 = x2.data() + (i - begin) * width + skip;
          row.d2 = view.d2 + l + skip;
          row.own2 = view.d2[i];
        }
        if (!sweep_row(row, i, l + skip, width - skip, listener)) return false;
      }
      if (!listener.go_on(listener.user)) return false;
    }
    return true;
  }

  /// Whether this node's sets are some that the card tries: all features from one on, or all with the
  /// included one and not much fewer others.
  [[nodiscard]] bool card_tries_these() const {
    const CardSweep* const card = problem_.card();
    if (card == nullptr || node_.free.empty()) return false;
    const auto free = static_cast<Index>(node_.free.size());
    const auto& order = problem_.card_order();
    if (order.empty())
      return card->serves(more_) && node_.kept.empty() && node_.free.front() + free == problem_.size();
    return card->serves(more_ + 1) && node_.kept.size() == 1 && node_.kept.front() == order.front() &&
           2 * free >= problem_.size();
  }

  /// Two to four more, or the included feature and one to three: on the card. False: not there.
  bool on_card() {
    if (!card_tries_these()) return false;
    const CardSweep* const card = problem_.card();
    const auto& order = problem_.card_order();
    const bool included = !order.empty();
    if (!first_sets()) {
      findings_.nodes = 1;
      return true;
    }
    // A feature that has nearly what is to be beaten by itself stands for all its sets, and the card names it
    // where it comes first.
    constexpr double kNearly = 1e-5;
    if (included && problem_.kind() == SweepKind::kDefinite &&
        !(problem_.largest_alone() < threshold() * (1.0 - kNearly)))
      return false;
    fill_pool();
    const Index first = included ? 0 : node_.free.front();
    device::SetSeeker seeker;
    seeker.limit = [this] { return threshold(); };
    seeker.offer = [&](const std::vector<Index>& places) {
      std::vector<Index> units = places;
      for (Index& unit : units) unit = included ? order[static_cast<std::size_t>(unit)] : unit;
      // What the card does not settle it names with all that holds it, also what the included one is not in.
      if (!included || places.front() == 0) offer(std::move(units));
    };
    if (included) seeker.end = 1;
    seeker.too_many = [this] { return std::exchange(ties_, false); };
    seeker.most_s = kCardVisit;
    const device::ScanReport report = card->sweep(included ? more_ + 1 : more_, first, seeker, control_);
    if (report.end == device::ScanEnd::kUnable) throw device::Unable(report.why);
    findings_.nodes = static_cast<std::uint64_t>(std::max<Index>(1, report.next - first));
    if (report.end == device::ScanEnd::kStopped) leave_from(node_.free, report.next - first);
    return true;
  }

  /// What a card is to beat is given before it begins, and a pool that holds any sets at all gives it
  /// everything to find: a pool of several is filled with the sets that differ from the best one in one
  /// feature.
  void fill_pool() {
    const auto& sets = findings_.pool.sets();
    if (findings_.pool.capacity() == 1 || sets.empty()) return;
    const std::vector<Index> best = sets.front().units;
    std::uint64_t tried = 0;
    for (std::size_t place = best.size(); place-- > 0 && tried < kPoolExchanges;) {
      if (std::find(node_.kept.begin(), node_.kept.end(), best[place]) != node_.kept.end()) continue;
      for (Index u = 0; u < problem_.size(); ++u) {
        if (++tried % 1024 == 0 && control_.should_stop()) return;
        if (std::find(best.begin(), best.end(), u) != best.end()) continue;
        std::vector<Index> units = best;
        units[place] = u;
        offer(std::move(units));
      }
    }
  }

  /// Where there is no view of the node, every set for itself.
  void one_by_one() {
    std::vector<Index> kept(node_.kept.begin(), node_.kept.end());
    ++findings_.nodes;
    if (!kept.empty() && problem_.evaluate(kept).value == -kInfinity &&
        problem_.evaluate(kept).doubtful == -kInfinity)
      return;  // nor is any set that holds them
    std::uint64_t tried = 0;
    each_set(static_cast<std::int64_t>(node_.free.size()), more_, [&](const auto& set) {
      if (++tried % 1024 == 0 && control_.should_stop()) {
        leave(node_.free);
        return false;
      }
      std::vector<Index> units = kept;
      for (const std::int64_t place : set) units.push_back(node_.free[static_cast<std::size_t>(place)]);
      offer(std::move(units));
      return true;
    });
  }

  /// Four more, or more than that: a node for each of the next features, those that promise most first, and
  /// one for what is behind them.
  void expand() {
    findings_.nodes = 1;
    const auto n = static_cast<std::int64_t>(node_.free.size());
    std::vector<std::size_t> order(node_.free.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool bounded = !dual_.terms.empty();
    if (bounded) {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t x, std::size_t y) { return dual_.terms[x] > dual_.terms[y]; });
    }
    // Of sets whose first feature, in this order, is the t-th or comes later.
    const auto bound_from = [&](std::int64_t t) {
      if (!bounded) return node_.bound;
      double sum = dual_.kept;
      for (std::int64_t i = t; i < std::min<std::int64_t>(n, t + more_); ++i)
        sum += dual_.terms[order[static_cast<std::size_t>(i)]];
      return std::min(node_.bound, from_trace(problem_, sum * (1.0 + 1e-11)));
    };
    const double to_beat = limits_.exact() > 0.0 ? threshold() : -kInfinity;
    const std::int64_t last = std::min<std::int64_t>(n - more_ + 1, tuning_.children);
    std::vector<char> gone(node_.free.size(), 0);
    const auto rest = [&] {
      std::vector<std::int32_t> free;
      for (std::size_t i = 0; i < gone.size(); ++i) {
        if (gone[i] == 0) free.push_back(node_.free[i]);
      }
      return free;
    };
    for (std::int64_t t = 0; t < last; ++t) {
      const double bound = bound_from(t);
      if (bound <= to_beat) return;
      const std::size_t place = order[static_cast<std::size_t>(t)];
      gone[place] = 1;
      OpenNode child{.k = node_.k, .kept = node_.kept, .free = rest(), .bound = bound};
      const std::int32_t u = node_.free[place];
      child.kept.insert(std::upper_bound(child.kept.begin(), child.kept.end(), u), u);
      findings_.open.push_back(std::move(child));
    }
    if (n - last < more_) return;
    node_.bound = bound_from(last);
    if (node_.bound > to_beat) leave(rest());
  }

  const SweepProblem& problem_;
  const SweepTuning& tuning_;
  OpenNode node_;
  std::uint64_t budget_;
  const Cutoff& cutoff_;
  Limits limits_;
  int threads_;
  const RunControl& control_;
  VisitFindings& findings_;
  Index more_;
  DualBound dual_;    ///< of the node; without terms where none was computed
  bool ties_ = true;  ///< ties with the set to be beaten are looked at
};

class SweepExplorer final : public Explorer {
 public:
  SweepExplorer(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                const RunControl& control, const ExactHooks& hooks)
      : problem_(pencil, units, run, control, hooks), threads_(run.threads) {}

  [[nodiscard]] double slack() const override { return 1e-11; }
  /// Blocks of first features.
  [[nodiscard]] std::uint64_t budget() const override {
    const auto& tuning = problem_.hooks().tuning.sweep;
    const auto n = static_cast<double>(problem_.size());
    const double blocks = problem_.by_blocks()
                              ? tuning.block_flops / (1e3 * static_cast<double>(tuning.pair_block) * n)
                              : tuning.visit_sets / (8.0 * n * std::max(n, 64.0));
    return static_cast<std::uint64_t>(std::clamp(blocks, 4.0, 4096.0));
  }
  [[nodiscard]] std::size_t visits() const override { return problem_.hooks().tuning.sweep.visits; }
  [[nodiscard]] double bound(const OpenNode& node) const override {
    if (!has_dual(problem_)) return kInfinity;
    const Index more = node.k - static_cast<Index>(node.kept.size());
    return from_trace(problem_, dual_bound(problem_, node.kept, node.free, more, 0.0).bound);
  }
  [[nodiscard]] double quick_bound(const OpenNode&) const override { return kInfinity; }
  [[nodiscard]] bool bound_ignores_size() const override { return !has_dual(problem_); }
  [[nodiscard]] double visit_bytes() const override { return problem_.node_bytes(); }
  [[nodiscard]] double value(const std::vector<Index>& units) const override {
    return problem_.evaluate(units).value;
  }
  [[nodiscard]] bool alike(Index a, Index b) const override { return problem_.alike(a, b); }
  [[nodiscard]] double monotone_image_to_criterion(double value) const override {
    return problem_.monotone_image_to_criterion(value);
  }
  void fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const override {
    problem_.fingerprint(bytes);
  }
  void explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff, const RunControl& control,
               VisitFindings& findings) const override {
    SweepVisit(problem_, node, budget, cutoff, threads_, control, findings).run();
  }

 private:
  SweepProblem problem_;
  int threads_;
};

}  // namespace

std::unique_ptr<Explorer> sweep_explorer(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                                         const RunControl& control, const ExactHooks& hooks) {
  return std::make_unique<SweepExplorer>(pencil, units, run, control, hooks);
}

}  // namespace subspectra::search
