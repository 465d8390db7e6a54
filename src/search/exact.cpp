/// The engine of the exact search: which open node is visited when, by which thread, until when. How nodes
/// are bounded is an Explorer's business.
///
/// Work goes in rounds. A round takes a fixed number of open nodes, chosen by their bounds alone, visits each
/// with the sets known at the start of the round, and merges what the visits bring in the order of the nodes.
/// Nothing of this depends on the number of threads, so neither does the answer.
#include "search/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include <subspectra/error.hpp>
#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "linalg/tiled.hpp"
#include "search/certificate.hpp"
#include "search/checkpoint.hpp"
#include "search/explorer.hpp"
#include "search/factor_problem.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra {
namespace search {

Pool Pool::fresh_copy() const {
  Pool copy = *this;
  copy.remembers_ = true;
  return copy;
}

bool Pool::offer(std::vector<Index> units, double value) {
  if (!std::isfinite(value)) return false;
  const auto better = [](const RankedSet& a, const RankedSet& b) {
    const double scale = kTieFraction * std::max(std::abs(a.value), std::abs(b.value));
    return std::abs(a.value - b.value) > scale ? a.value > b.value : a.units < b.units;
  };
  RankedSet set{std::move(units), value};
  const bool full = static_cast<Index>(sets_.size()) >= capacity_;
  if (full && !better(set, sets_.back())) return false;
  Fingerprint fingerprint;
  fingerprint.add(set.units.data(), set.units.size() * sizeof(Index));
  const std::uint64_t hash = fingerprint.number();
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (hashes_[i] == hash && sets_[i].units == set.units) return false;
  }
  if (full) {
    sets_.pop_back();
    hashes_.pop_back();
  }
  // By insertion: a tie within a fraction is no strict order, so that no sorting algorithm may be asked.
  auto at = sets_.end();
  while (at != sets_.begin() && better(set, *(at - 1))) --at;
  hashes_.insert(hashes_.begin() + (at - sets_.begin()), hash);
  if (remembers_) entered_.push_back(set);
  sets_.insert(at, std::move(set));
  if (static_cast<Index>(sets_.size()) >= capacity_) threshold_ = sets_.back().value;
  return true;
}

namespace {

constexpr double kHeartbeat_s = 5.0;

double node_bytes(const OpenNode& node) {
  return static_cast<double>(sizeof(Queued)) +
         4.0 * static_cast<double>(node.kept.capacity() + node.free.capacity()) +
         static_cast<double>(node.others.capacity() * sizeof(ServedSize)) + 64.0;
}

class Engine {
 public:
  Engine(const Explorer& explorer, const SearchUnits& units, const ExactOptions& options,
         const RunControl& control)
      : explorer_(explorer),
        units_(units),
        options_(options),
        control_(control),
        cutoff_(explorer.slack(), options.gap),
        // A checkpoint is written from a copy, by way of a tree of JSON values and a text.
        storage_((options.checkpoint.empty() ? 0.5 : 0.1) *
                 static_cast<double>(memory_budget(options.memory_limit))),
        visits_(explorer.visits()),
        workers_(resolve_threads(options.threads)) {
    // Fewer visits at a time where their matrices are large: the answer is the same.
    if (const double bytes = explorer.visit_bytes(); bytes > 0.0) {
      const double room = 0.5 * static_cast<double>(memory_budget(options.memory_limit));
      workers_ = static_cast<int>(std::clamp(room / bytes, 1.0, static_cast<double>(workers_)));
    }
  }

  /// `known`: by size, bounds from outside, in the scale of the criterion; may be empty.
  ExactResult run(const std::vector<std::vector<RankedSet>>& start, const std::vector<double>& known) {
    set_up();
    const bool resumed = !options_.resume.empty();
    // A pass over the matrix that a stop would wait for.
    const std::string problem = resumed || !options_.checkpoint.empty() ? fingerprint() : std::string();
    if (resumed) read_checkpoint(options_.resume, problem, units_.count(), state_);
    if (resumed) refuse_wider_gap();
    if (resumed) alone_ = false;
    nodes_before_ = state_.nodes;
    take_known(start);
    make_heaps();
    for (const auto& size : state_.sizes) {
      for (const auto& queued : size.open) bytes_ += node_bytes(queued.node);
    }
    for (const auto& queued : state_.shared) bytes_ += node_bytes(queued.node);
    Status status = Status::kOptimal;
    double saved_at = control_.elapsed_s();
    while (anything_open()) {
      const auto stop = control_.check_limits();
      if (stop != RunControl::Stop::kGoOn || out_of_nodes()) {
        status = control_.status_or(Status::kNodeLimit);
        break;
      }
      auto batch = next_batch();
      if (batch.empty()) {  // every size that is open has had its share alone
        join_sizes();
        continue;
      }
      auto harvests = visit(batch);
      merge(batch, harvests);
      tell_closed();
      heartbeat();
      if (const double now = control_.elapsed_s();
          !options_.checkpoint.empty() && now - saved_at >= options_.checkpoint_s) {
        save(problem);
        saved_at = now;
      }
    }
    if (!options_.checkpoint.empty()) save(problem);
    return result(status, resumed, known);
  }

 private:
  void set_up() {
    std::vector<std::int32_t> kept(units_.include.begin(), units_.include.end()), free;
    for (Index u = 0; u < units_.count(); ++u) {
      if (!std::binary_search(units_.include.begin(), units_.include.end(), u))
        free.push_back(static_cast<std::int32_t>(u));
    }
    std::optional<double> bound;
    alone_ = explorer_.shares_sizes() && options_.k.hi > options_.k.lo;
    alone_nodes_.assign(static_cast<std::size_t>(options_.k.hi - options_.k.lo + 1), 0);
    for (Index k = options_.k.lo; k <= options_.k.hi; ++k) {
      SizeState size{.k = k, .pool = Pool(options_.pool)};
      const auto known = static_cast<Index>(kept.size());
      if (known <= k && k <= units_.count()) {
        OpenNode root{.k = k, .kept = kept, .free = free};
        if (!bound || !explorer_.bound_ignores_size()) {
          bound = root_bound(root);
        }
        root.bound = *bound;
        size.open.push_back({std::move(root), state_.sequence++});
      }
      state_.sizes.push_back(std::move(size));
    }
    root_kept_ = std::move(kept);
    root_free_ = std::move(free);
  }

  /// All sizes that are still open go down one tree, from the top.
  void join_sizes() {
    alone_ = false;
    OpenNode common;
    const auto open = open_bounds();
    if (std::count_if(open.begin(), open.end(), [](double bound) { return bound > -kInfinity; }) < 2) return;
    for (auto& size : state_.sizes) {
      const double bound = open[static_cast<std::size_t>(size.k - options_.k.lo)];
      if (bound == -kInfinity) continue;
      for (const auto& queued : size.open) bytes_ -= node_bytes(queued.node);
      size.open.clear();
      if (common.k == 0) {
        common = {.k = size.k, .kept = root_kept_, .free = root_free_, .bound = bound};
      } else {
        common.others.push_back({.k = size.k, .bound = bound});
      }
    }
    bytes_ += node_bytes(common);
    put(std::move(common));
  }

  [[nodiscard]] double root_bound(const OpenNode& root) const {
    if (control_.should_stop()) return explorer_.quick_bound(root);
    try {
      return explorer_.bound(root);
    } catch (const linalg::Stopped&) {
      return explorer_.quick_bound(root);
    }
  }

  [[nodiscard]] SizeState& size_of(Index k) {
    return state_.sizes[static_cast<std::size_t>(k - options_.k.lo)];
  }

  /// A new node, where it belongs: with its size, or among those of several. The heaps are as they were.
  std::vector<Queued>& put(OpenNode node) {
    auto& open = node.others.empty() ? size_of(node.k).open : state_.shared;
    open.push_back({std::move(node), state_.sequence++});
    return open;
  }

  /// A run under a wider `gap` has closed nodes for good that this one would have to look into.
  void refuse_wider_gap() const {
    for (const auto& size : state_.sizes) {
      if (size.discarded <= cutoff_.with_gap(size.pool.threshold())) continue;
      throw BadInput(
          {.file = options_.resume},
          fmt::format(
              "this search has left out sets of size {} under a wider ⟨gap⟩, so that the proof asked for now is out of reach; give that ⟨gap⟩ again, or start without ⟨resume⟩",
              size.k));
    }
  }

  void take_known(const std::vector<std::vector<RankedSet>>& start) {
    for (std::size_t i = 0; i < std::min(start.size(), state_.sizes.size()); ++i) {
      auto& size = state_.sizes[i];
      for (const auto& set : start[i]) size.pool.offer(set.units, explorer_.value(set.units));
    }
    if (options_.exchange) {
      parallel_for(static_cast<Index>(state_.sizes.size()), options_.threads,
                   [&](Index i) { exchange(state_.sizes[static_cast<std::size_t>(i)]); });
    }
    for (const auto& size : state_.sizes) {
      if (!size.pool.sets().empty()) tell(size, "greedy");
    }
  }

  /// Local search from the best set known: of the units whose loss costs least, one leaves for the best other
  /// one, while that helps.
  void exchange(SizeState& size) const {
    constexpr std::size_t kLeaving = 4;
    constexpr int kMost = 50;
    constexpr double kAffordable = 2e8;  // units times k^3, the flops of a value
    const auto k = static_cast<double>(size.k);
    if (size.pool.sets().empty() || static_cast<double>(units_.count()) * k * k * k > kAffordable) return;
    RankedSet best = size.pool.sets().front();
    for (int round = 0; round < kMost; ++round) {
      std::vector<std::pair<double, Index>> leaving;
      for (const Index u : best.units) {
        if (size.k == 1 || std::binary_search(units_.include.begin(), units_.include.end(), u)) continue;
        leaving.emplace_back(-explorer_.value(replaced(best.units, u, -1)), u);
      }
      if (size.k == 1 && units_.include.empty()) leaving.emplace_back(0.0, best.units.front());
      std::sort(leaving.begin(), leaving.end());
      leaving.resize(std::min(leaving.size(), kLeaving));
      RankedSet better = best;
      for (const auto& [value, out] : leaving) {
        for (Index in = 0; in < units_.count(); ++in) {
          if (std::binary_search(best.units.begin(), best.units.end(), in)) continue;
          if (control_.should_stop()) return;
          auto units = replaced(best.units, out, in);
          const double worth = explorer_.value(units);
          if (worth > better.value * (1.0 + kTieFraction)) better = {std::move(units), worth};
        }
      }
      if (better.units == best.units) return;
      best = std::move(better);
      size.pool.offer(best.units, best.value);
    }
  }

  /// `units` with `in` in place of `out`, ascending; in = -1: without `out`.
  static std::vector<Index> replaced(std::vector<Index> units, Index out, Index in) {
    units.erase(std::find(units.begin(), units.end(), out));
    if (in >= 0) units.insert(std::lower_bound(units.begin(), units.end(), in), in);
    return units;
  }

  /// Of sets that tie the one with the lowest units is the answer. A tie closes a node, so that the tree need
  /// not have met it: copies of a feature are found by exchanging single units for lower ones.
  void take_lowest(SizeState& size) const {
    if (size.pool.sets().empty()) return;
    RankedSet best = size.pool.sets().front();
    for (bool lower = true; lower;) {
      lower = false;
      for (const Index out : std::vector<Index>(best.units.rbegin(), best.units.rend())) {
        if (std::binary_search(units_.include.begin(), units_.include.end(), out)) continue;
        for (Index in = 0; in < out && !lower; ++in) {
          if (std::binary_search(best.units.begin(), best.units.end(), in)) continue;
          if (!explorer_.alike(out, in)) continue;
          auto units = replaced(best.units, out, in);
          const double value = explorer_.value(units);
          if (std::abs(value - best.value) > kTieFraction * best.value) continue;
          best = {std::move(units), value};
          lower = true;
        }
        if (lower) break;
      }
    }
    size.pool.offer(best.units, best.value);
  }

  std::string fingerprint() const {
    Fingerprint hash;
    explorer_.fingerprint([&](const void* data, std::size_t bytes) { hash.add(data, bytes); });
    for (const Index u : units_.include) hash.add_value(u);
    for (const auto& members : units_.members) {
      hash.add(members.data(), members.size() * sizeof(Index));
      hash.add_value(members.size());
    }
    hash.add_value(options_.k.lo);
    hash.add_value(options_.k.hi);
    hash.add_value(options_.pool);
    return hash.text();
  }

  /// Of the nodes of one size the best bound first; when the store is full the newest first, which keeps it
  /// from growing.
  [[nodiscard]] auto before() const {
    return [newest = depth_first_](const Queued& a, const Queued& b) {
      if (newest) return a.sequence < b.sequence;
      return a.node.bound != b.node.bound ? a.node.bound < b.node.bound : a.sequence > b.sequence;
    };
  }
  void make_heaps() {
    for (auto& size : state_.sizes) std::make_heap(size.open.begin(), size.open.end(), before());
  }

  /// At most `count` shared nodes, taken out: for every size in turn the one with the largest bound of that
  /// size, so that none waits for another; the newest where the store is full.
  std::vector<Queued> take_shared(std::size_t count) {
    auto& shared = state_.shared;
    std::vector<std::size_t> picks;
    std::vector<char> taken(shared.size(), 0);
    const auto take = [&](std::size_t at) {
      if (taken[at] != 0 || picks.size() >= count) return false;
      taken[at] = 1;
      picks.push_back(at);
      return true;
    };
    if (depth_first_) {
      std::vector<std::size_t> order(shared.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      const auto some = static_cast<std::ptrdiff_t>(std::min(count, order.size()));
      std::partial_sort(order.begin(), order.begin() + some, order.end(), [&](std::size_t a, std::size_t b) {
        return shared[a].sequence > shared[b].sequence;
      });
      for (const std::size_t at : order) take(at);
    }
    for (bool any = true; any && picks.size() < count;) {
      any = false;
      for (const std::size_t at : best_of_sizes(taken)) {
        if (at < shared.size() && take(at)) any = true;
      }
    }
    std::vector<Queued> result;
    for (const std::size_t at : picks) {
      bytes_ -= node_bytes(shared[at].node);
      result.push_back(std::move(shared[at]));
    }
    std::size_t kept = 0;
    for (std::size_t at = 0; at < shared.size(); ++at) {
      if (taken[at] != 0) continue;
      if (kept != at) shared[kept] = std::move(shared[at]);
      ++kept;
    }
    shared.resize(kept);
    return result;
  }

  /// For every size, another one first in every round, the place of the shared node with the largest bound of
  /// that size that is not taken; past the end: none.
  [[nodiscard]] std::vector<std::size_t> best_of_sizes(const std::vector<char>& taken) const {
    const auto& shared = state_.shared;
    const std::size_t sizes = state_.sizes.size();
    std::vector<std::size_t> best(sizes, shared.size());
    std::vector<double> bounds(sizes, -kInfinity);
    for (std::size_t at = 0; at < shared.size(); ++at) {
      if (taken[at] != 0) continue;
      const auto offer = [&](Index k, double bound) {
        const auto size = static_cast<std::size_t>(k - options_.k.lo);
        if (best[size] < shared.size() &&
            (bound < bounds[size] ||
             (bound == bounds[size] && shared[at].sequence > shared[best[size]].sequence))) {
          return;
        }
        best[size] = at;
        bounds[size] = bound;
      };
      offer(shared[at].node.k, shared[at].node.bound);
      for (const auto& other : shared[at].node.others) offer(other.k, other.bound);
    }
    std::rotate(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(state_.round % sizes), best.end());
    return best;
  }

  bool anything_open() {
    drop_closed_sizes();
    if (!state_.shared.empty()) return true;
    for (auto& size : state_.sizes) {
      drop_closed(size);
      if (!size.open.empty()) return true;
    }
    return false;
  }

  /// Whether what is known closes a bound of this size; what `gap` alone closes is remembered.
  bool closes(SizeState& size, double bound) const {
    const double threshold = size.pool.threshold();
    if (bound > cutoff_.with_gap(threshold)) return false;
    if (bound > cutoff_.exact(threshold)) size.discarded = std::max(size.discarded, bound);
    return true;
  }

  /// Takes the sizes from shared nodes that sets found since have closed. A node with one size left goes to
  /// it, one with none is gone.
  void drop_closed_sizes() {
    if (state_.shared.empty()) return;
    std::vector<Queued> moved;
    std::erase_if(state_.shared, [&](Queued& queued) {
      OpenNode& node = queued.node;
      const bool first = closes(size_of(node.k), node.bound);
      const auto gone = std::erase_if(
          node.others, [&](const ServedSize& other) { return closes(size_of(other.k), other.bound); });
      if (!first && gone == 0) return false;
      bytes_ -= static_cast<double>(gone * sizeof(ServedSize));
      if (first && node.others.empty()) {
        bytes_ -= node_bytes(node);
        return true;
      }
      if (first) {
        node.k = node.others.front().k;
        node.bound = node.others.front().bound;
        node.others.erase(node.others.begin());
      }
      if (!node.others.empty()) return false;
      moved.push_back(std::move(queued));
      return true;
    });
    for (auto& queued : moved) {
      auto& open = size_of(queued.node.k).open;
      open.push_back(std::move(queued));
      std::push_heap(open.begin(), open.end(), before());
    }
  }

  /// Takes nodes off the heap's top that sets found since have closed.
  void drop_closed(SizeState& size) {
    while (!size.open.empty() && closes(size, size.open.front().node.bound)) pop(size.open);
  }

  Queued pop(std::vector<Queued>& open) {
    std::pop_heap(open.begin(), open.end(), before());
    Queued top = std::move(open.back());
    open.pop_back();
    bytes_ -= node_bytes(top.node);
    return top;
  }

  [[nodiscard]] bool out_of_nodes() const {
    return options_.node_limit > 0 && state_.nodes - nodes_before_ >= options_.node_limit;
  }

  struct Task {
    Queued from;
    std::uint64_t budget;
  };

  /// Shared nodes, and one node of every size with a tree of its own in turn, until the round is full. Empty:
  /// no size may go on alone.
  std::vector<Task> next_batch() {
    std::vector<Task> batch;
    std::uint64_t left = options_.node_limit > 0 ? options_.node_limit - (state_.nodes - nodes_before_)
                                                 : std::numeric_limits<std::uint64_t>::max();
    const std::size_t count = state_.sizes.size();
    const auto start = static_cast<std::size_t>(state_.round % count);
    const auto add = [&](Queued node) {
      const auto budget = std::min(left, explorer_.budget());
      batch.push_back({std::move(node), budget});
      left -= budget;
    };
    std::size_t own = 0;
    for (auto& size : state_.sizes) {
      drop_closed(size);
      own += size.open.empty() ? 0 : 1;
    }
    const std::uint64_t affordable = (left - 1) / explorer_.budget() + 1;
    const auto shared = std::min<std::uint64_t>(visits_ - std::min(own, visits_ / 2), affordable);
    for (auto& node : take_shared(static_cast<std::size_t>(shared))) add(std::move(node));
    for (bool any = true; any && batch.size() < visits_ && left > 0;) {
      any = false;
      for (std::size_t i = 0; i < count && batch.size() < visits_ && left > 0; ++i) {
        const std::size_t at = (start + i) % count;
        auto& size = state_.sizes[at];
        if (size.open.empty() || (alone_ && alone_nodes_[at] >= explorer_.alone_nodes())) continue;
        add(pop(size.open));
        any = true;
      }
    }
    return batch;
  }

  std::vector<Harvest> visit(const std::vector<Task>& batch) {
    std::vector<Harvest> harvests;
    harvests.reserve(batch.size());
    for (const auto& task : batch) {
      harvests.emplace_back(size_of(task.from.node.k).pool);
      for (const auto& other : task.from.node.others)
        harvests.back().others.emplace_back(size_of(other.k).pool);
    }
    parallel_for(static_cast<Index>(batch.size()), workers_, [&](Index i) {
      const auto& task = batch[static_cast<std::size_t>(i)];
      auto& harvest = harvests[static_cast<std::size_t>(i)];
      if (control_.should_stop()) {
        harvest.open.push_back(task.from.node);
        return;
      }
      explorer_.explore(task.from.node, task.budget, cutoff_, control_, harvest);
    });
    return harvests;
  }

  void merge(const std::vector<Task>& batch, std::vector<Harvest>& harvests) {
    ++state_.round;
    std::vector<Index> better;  // sizes
    const auto take_in = [&](Index k, const SizeHarvest& harvest) {
      auto& size = size_of(k);
      size.discarded = std::max(size.discarded, harvest.discarded);
      const double best = size.pool.best();
      for (const auto& set : harvest.pool.entered()) size.pool.offer(set.units, set.value);
      if (size.pool.best() <= best) return;
      ++state_.updates;
      better.push_back(k);
    };
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto& from = batch[i].from.node;
      auto& harvest = harvests[i];
      const auto nodes = std::max<std::uint64_t>(1, harvest.nodes);
      state_.nodes += nodes;
      if (alone_) alone_nodes_[static_cast<std::size_t>(from.k - options_.k.lo)] += nodes;
      take_in(from.k, harvest);
      for (std::size_t j = 0; j < from.others.size(); ++j) take_in(from.others[j].k, harvest.others[j]);
      for (auto& node : harvest.open) {
        if (from.others.empty()) node.bound = std::min(node.bound, from.bound);
        bytes_ += node_bytes(node);
        auto& open = put(std::move(node));
        if (&open != &state_.shared) std::push_heap(open.begin(), open.end(), before());
      }
    }
    drop_closed_sizes();
    // Only now are all nodes back that the bounds are taken over.
    for (const Index k : better) tell(size_of(k), "tree");
    if (!depth_first_ && bytes_ > storage_) {
      depth_first_ = true;
      make_heaps();
    }
  }

  /// The largest bound among the open nodes of every size; -infinity: the size has none.
  [[nodiscard]] std::vector<double> open_bounds() const {
    std::vector<double> bounds(state_.sizes.size(), -kInfinity);
    const auto raise = [&](Index k, double bound) {
      double& own = bounds[static_cast<std::size_t>(k - options_.k.lo)];
      own = std::max(own, bound);
    };
    for (const auto& size : state_.sizes) {
      for (const auto& queued : size.open) raise(size.k, queued.node.bound);
    }
    for (const auto& queued : state_.shared) {
      raise(queued.node.k, queued.node.bound);
      for (const auto& other : queued.node.others) raise(other.k, other.bound);
    }
    return bounds;
  }

  /// `open`: the size's entry of open_bounds().
  [[nodiscard]] static double upper_bound(const SizeState& size, double open) {
    const double bound = std::max({size.pool.best(), size.discarded, open});
    // Closer than a tie is what a search proves.
    return bound <= size.pool.best() * (1.0 + kTieFraction) ? size.pool.best() : bound;
  }

  [[nodiscard]] std::uint64_t open_nodes() const {
    std::uint64_t open = state_.shared.size();
    for (const auto& size : state_.sizes) open += size.open.size();
    return open;
  }

  void tell(const SizeState& size, std::string_view source) const {
    if (!control_.hears_events()) return;
    const double bound = open_bounds()[static_cast<std::size_t>(size.k - options_.k.lo)];
    control_.event({.k = size.k,
                    .source = source,
                    .nodes = state_.nodes,
                    .open = open_nodes(),
                    .incumbent = explorer_.told(size.pool.best()),
                    .bound = explorer_.told(upper_bound(size, bound)),
                    .elapsed_s = control_.elapsed_s()});
  }

  /// The last line of a size: nothing of it is open any more.
  void tell_closed() {
    closed_.resize(state_.sizes.size(), false);
    for (auto& size : state_.sizes) drop_closed(size);
    const auto open = open_bounds();
    for (std::size_t i = 0; i < state_.sizes.size(); ++i) {
      const auto& size = state_.sizes[i];
      if (closed_[i] || open[i] > -kInfinity || size.pool.sets().empty()) continue;
      closed_[i] = true;
      tell(size, "done");
    }
  }

  void heartbeat() {
    const double now = control_.elapsed_s();
    if (now - told_at_ >= kHeartbeat_s) {
      told_at_ = now;
      const auto open = open_bounds();
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (open[i] > -kInfinity) tell(state_.sizes[i], "-");
      }
    }
    control_.report("exact search", -1.0, [&] {
      const SizeState* worst = nullptr;
      double worst_gap = -1.0, worst_bound = 0.0;
      std::size_t done = 0;
      const auto open = open_bounds();
      for (std::size_t i = 0; i < open.size(); ++i) {
        const auto& size = state_.sizes[i];
        if (open[i] == -kInfinity) {
          ++done;
          continue;
        }
        const double best = size.pool.best(), bound = upper_bound(size, open[i]);
        const double gap = (bound - best) / std::max(best, 1e-300);
        if (gap > worst_gap) {
          worst_gap = gap;
          worst_bound = bound;
          worst = &size;
        }
      }
      if (worst == nullptr) return std::string();
      return describe(worst->k, explorer_.told(worst->pool.best()), explorer_.told(worst_bound), done);
    });
  }

  [[nodiscard]] std::string describe(Index k, double best, double bound, std::size_t done) const;

  void save(const std::string& problem) {
    try {
      write_checkpoint(options_.checkpoint, problem, units_.count(), state_);
      checkpoint_problem_.clear();
    } catch (const Error& reason) {  // a full disk must not cost the answer; the next attempt may succeed
      checkpoint_problem_ = reason.marked();
    }
  }

  ExactResult result(Status status, bool resumed, const std::vector<double>& known) {
    for (auto& size : state_.sizes) take_lowest(size);
    ExactResult answer;
    answer.nodes = state_.nodes;
    answer.incumbent_updates = state_.updates;
    answer.resumed = resumed;
    answer.checkpoint_problem = checkpoint_problem_;
    Status worst_size = Status::kOptimal;
    drop_closed_sizes();
    for (auto& size : state_.sizes) drop_closed(size);
    answer.open_nodes = open_nodes();
    const auto open = open_bounds();
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto& size = state_.sizes[i];
      ExactSize entry;
      for (auto set : size.pool.sets()) {
        set.value = explorer_.told(set.value);
        entry.pool.push_back(std::move(set));
      }
      if (!entry.pool.empty()) {
        const double bound = upper_bound(size, open[i]);
        entry.upper_bound = bound <= size.pool.best() ? entry.pool.front().value : explorer_.told(bound);
      } else if (open[i] > -kInfinity) {
        entry.upper_bound = explorer_.told(upper_bound(size, open[i]));
      }
      answer.sizes.push_back(std::move(entry));
    }
    for (std::size_t i = 0; i < known.size(); ++i) lower(answer.sizes[i], known[i]);
    share_bounds(answer.sizes);
    for (std::size_t i = 0; i < open.size(); ++i) {
      auto& entry = answer.sizes[i];
      const auto& size = state_.sizes[i];
      // A bound from outside the tree may be the proof.
      if (options_.pool == 1 && !entry.pool.empty() &&
          entry.upper_bound <= entry.pool.front().value * (1.0 + kTieFraction)) {
        entry.upper_bound = entry.pool.front().value;
      } else if (open[i] > -kInfinity) {
        worst_size = worst(worst_size, status);
      } else if (!entry.pool.empty() &&
                 size.discarded > size.pool.threshold() * (1.0 + kTieFraction)) {  // of the last in the pool
        worst_size = worst(worst_size, Status::kGapReached);
      }
    }
    answer.status = worst_size;
    return answer;
  }

  static void lower(ExactSize& size, double bound) {
    size.upper_bound = std::min(size.upper_bound, bound);
    if (!size.pool.empty()) size.upper_bound = std::max(size.upper_bound, size.pool.front().value);
  }

  /// What is proven for one size bounds its neighbours: every set of k lies in one of k + 1, which is no
  /// worse; and where Explorer::bound_of_next() says so, the other way round.
  void share_bounds(std::vector<ExactSize>& sizes) const {
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const Index k = options_.k.lo + static_cast<Index>(i) - 1;
      lower(sizes[i], explorer_.bound_of_next(k, sizes[i - 1].upper_bound));
    }
    for (std::size_t i = sizes.size(); i-- > 1;) lower(sizes[i - 1], sizes[i].upper_bound);
  }

  const Explorer& explorer_;
  const SearchUnits& units_;
  const ExactOptions& options_;
  const RunControl& control_;
  Cutoff cutoff_;
  double storage_;  ///< bytes of open nodes before the search goes depth first
  std::size_t visits_;
  int workers_;
  SearchState state_;
  bool alone_ = false;                      ///< every size has a tree of its own still
  std::vector<std::uint64_t> alone_nodes_;  ///< by size
  std::vector<std::int32_t> root_kept_, root_free_;
  std::uint64_t nodes_before_ = 0;
  double bytes_ = 0.0, told_at_ = 0.0;
  bool depth_first_ = false;
  std::string checkpoint_problem_;
  std::vector<bool> closed_;  ///< sizes whose last line was told
};

std::string Engine::describe(Index k, double best, double bound, std::size_t done) const {
  return fmt::format("{}/{} sizes proven, {} nodes; k {}  incumbent {:.6g}  bound {:.6g}  gap {:.2f} %", done,
                     state_.sizes.size(), state_.nodes, k, best, bound,
                     best > 0.0 ? 100.0 * (bound - best) / best : 0.0);
}

bool by_variance(const Pencil& pencil) { return pencil.b_is_identity() && pencil.factor() == nullptr; }

/// By size, the bounds that need no factorization: with far more candidates than rows the one from single
/// scores is below what all candidates reach together; for PCA the largest variances. O(n log n).
std::vector<double> bounds_at_once(const Pencil& pencil, const SearchUnits& units,
                                   const ExactOptions& options) {
  std::vector<double> result;
  if (by_variance(pencil)) {
    const auto sums = variance_sums(pencil, units);
    for (Index k = options.k.lo; k <= options.k.hi; ++k)
      result.push_back(sums[static_cast<std::size_t>(k - 1)]);
    return result;
  }
  for (const auto& size :
       certificate(pencil, units, nullptr,
                   {.criterion = options.criterion, .k = options.k, .threads = options.threads})) {
    const auto* upper = size.best_upper();
    result.push_back(upper != nullptr ? upper->second : kInfinity);
  }
  return result;
}

/// A search that was stopped before its first node, and before what it starts from was factorized: the sets
/// and the bounds that are known.
ExactResult unexplored(const Pencil& pencil, const SearchUnits& units,
                       const std::vector<std::vector<RankedSet>>& start, const std::vector<double>& known,
                       const ExactOptions& options, const RunControl& control) {
  ExactResult result;
  result.status = control.status_or(Status::kInterrupted);
  const double all = by_variance(pencil) ? kInfinity : trace_bound(pencil, units, options);
  for (std::size_t i = 0; i < known.size(); ++i) {
    Pool pool(options.pool);
    for (const auto& set : i < start.size() ? start[i] : std::vector<RankedSet>()) {
      try {
        const auto features = units.features(set.units);
        pool.offer(set.units, renormalize(pencil, features, options.criterion, 1, options.threads).objective);
      } catch (const Infeasible&) {  // linearly dependent: no answer
      }
    }
    ExactSize size{.pool = pool.sets()};
    size.upper_bound = std::max(std::min(known[i], all), pool.best());
    if (options.k.lo + static_cast<Index>(i) == units.count() && !pool.sets().empty())
      size.upper_bound = pool.best();  // there is only this one
    result.sizes.push_back(std::move(size));
  }
  result.open_nodes = 1;
  return result;
}

}  // namespace
}  // namespace search

ExactResult exact_search(const Pencil& pencil, const SearchUnits& units,
                         const std::vector<std::vector<RankedSet>>& start, const ExactOptions& options,
                         const RunControl& control) {
  if (options.k.lo < 1 || options.k.hi < options.k.lo || options.k.hi > units.count()) {
    throw InvalidArgument({.field = "k",
                           .value = OptionCodec<KRange>::format(options.k),
                           .subject = "exact_search: k",
                           .rule = "must lie in 1..number of units"});
  }
  if (options.pool < 1)
    throw InvalidArgument(
        {.field = "pool", .value = fmt::to_string(options.pool), .rule = "must be at least 1"});
  if (!(options.gap >= 0.0))
    throw InvalidArgument(
        {.field = "gap", .value = fmt::to_string(options.gap), .rule = "must not be negative"});
  std::unique_ptr<search::Explorer> explorer;
  const auto known = search::bounds_at_once(pencil, units, options);
  // A checkpoint that is to be read or written needs the problem.
  const RunControl patient;
  const bool may_leave = options.checkpoint.empty() && options.resume.empty();
  try {
    explorer = search::by_variance(pencil)
                   ? search::perron_explorer(pencil, units, options, control)
                   : search::factor_explorer(pencil, units, options, may_leave ? control : patient);
  } catch (const linalg::Stopped&) {
    return search::unexplored(pencil, units, start, known, options, control);
  }
  return search::Engine(*explorer, units, options, control).run(start, known);
}

}  // namespace subspectra
