#include "search/node_store.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace subspectra::search {
namespace {

double node_bytes(const OpenNode& node) {
  return static_cast<double>(sizeof(QueuedNode)) +
         4.0 * static_cast<double>(node.kept.capacity() + node.free.capacity()) +
         static_cast<double>(node.also_serves.capacity() * sizeof(ServedSize)) + 64.0;
}

/// The order of a heap: the largest bound first, of equal ones the oldest; or the newest first.
auto comes_later(bool newest_first) {
  return [newest_first](const QueuedNode& a, const QueuedNode& b) {
    if (newest_first) return a.sequence < b.sequence;
    return a.node.bound != b.node.bound ? a.node.bound < b.node.bound : a.sequence > b.sequence;
  };
}

}  // namespace

NodeStore::NodeStore(const KRange& sizes)
    : sizes_(sizes), own_(static_cast<std::size_t>(sizes.hi - sizes.lo + 1)) {}

void NodeStore::add(OpenNode node) {
  bytes_ += node_bytes(node);
  if (!node.also_serves.empty()) {
    shared_.push_back({std::move(node), next_sequence_++});
    return;
  }
  auto& open = own_[place(node.k)];
  open.push_back({std::move(node), next_sequence_++});
  std::push_heap(open.begin(), open.end(), comes_later(depth_first_));
}

QueuedNode NodeStore::take(Index k) {
  auto& open = own_[place(k)];
  std::pop_heap(open.begin(), open.end(), comes_later(depth_first_));
  QueuedNode top = std::move(open.back());
  open.pop_back();
  bytes_ -= node_bytes(top.node);
  return top;
}

std::vector<QueuedNode> NodeStore::take_shared(std::size_t count, std::uint64_t round) {
  std::vector<std::size_t> picks;
  std::vector<char> taken(shared_.size(), 0);
  const auto pick = [&](std::size_t at) {
    if (taken[at] != 0 || picks.size() >= count) return false;
    taken[at] = 1;
    picks.push_back(at);
    return true;
  };
  if (depth_first_) {
    std::vector<std::size_t> order(shared_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto some = static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::partial_sort(order.begin(), order.begin() + some, order.end(), [&](std::size_t a, std::size_t b) {
      return shared_[a].sequence > shared_[b].sequence;
    });
    for (const std::size_t at : order) pick(at);
  }
  for (bool any = true; any && picks.size() < count;) {
    any = false;
    for (const std::size_t at : best_of_sizes(taken, round)) {
      if (at < shared_.size() && pick(at)) any = true;
    }
  }
  std::vector<QueuedNode> result;
  for (const std::size_t at : picks) {
    bytes_ -= node_bytes(shared_[at].node);
    result.push_back(std::move(shared_[at]));
  }
  std::size_t left = 0;
  for (std::size_t at = 0; at < shared_.size(); ++at) {
    if (taken[at] != 0) continue;
    if (left != at) shared_[left] = std::move(shared_[at]);
    ++left;
  }
  shared_.resize(left);
  return result;
}

/// For every size, another one first in every round, the place of the shared node with the largest bound of
/// that size that is not taken; past the end: none.
std::vector<std::size_t> NodeStore::best_of_sizes(const std::vector<char>& taken, std::uint64_t round) const {
  std::vector<std::size_t> best(own_.size(), shared_.size());
  std::vector<double> bounds(own_.size(), -kInfinity);
  for (std::size_t at = 0; at < shared_.size(); ++at) {
    if (taken[at] != 0) continue;
    const auto offer = [&](Index k, double bound) {
      const auto size = place(k);
      if (best[size] < shared_.size() &&
          (bound < bounds[size] ||
           (bound == bounds[size] && shared_[at].sequence > shared_[best[size]].sequence))) {
        return;
      }
      best[size] = at;
      bounds[size] = bound;
    };
    offer(shared_[at].node.k, shared_[at].node.bound);
    for (const auto& size : shared_[at].node.also_serves) offer(size.k, size.bound);
  }
  std::rotate(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(round % best.size()), best.end());
  return best;
}

void NodeStore::clear(Index k) {
  auto& open = own_[place(k)];
  for (const auto& queued : open) bytes_ -= node_bytes(queued.node);
  open.clear();
}

void NodeStore::drop_closed_shared(Incumbents& incumbents) {
  if (shared_.empty()) return;
  std::vector<QueuedNode> single;
  std::erase_if(shared_, [&](QueuedNode& queued) {
    OpenNode& node = queued.node;
    const bool first = incumbents.closes(node.k, node.bound);
    const auto gone = std::erase_if(
        node.also_serves, [&](const ServedSize& size) { return incumbents.closes(size.k, size.bound); });
    if (!first && gone == 0) return false;
    bytes_ -= static_cast<double>(gone * sizeof(ServedSize));
    if (first && node.also_serves.empty()) {
      bytes_ -= node_bytes(node);
      return true;
    }
    if (first) {
      node.k = node.also_serves.front().k;
      node.bound = node.also_serves.front().bound;
      node.also_serves.erase(node.also_serves.begin());
    }
    if (!node.also_serves.empty()) return false;
    single.push_back(std::move(queued));
    return true;
  });
  for (auto& queued : single) {
    auto& open = own_[place(queued.node.k)];
    open.push_back(std::move(queued));
    std::push_heap(open.begin(), open.end(), comes_later(depth_first_));
  }
}

void NodeStore::drop_closed(Index k, Incumbents& incumbents) {
  const auto& open = own_[place(k)];
  while (!open.empty() && incumbents.closes(k, open.front().node.bound)) static_cast<void>(take(k));
}

void NodeStore::drop_closed(Incumbents& incumbents) {
  for (Index k = sizes_.lo; k <= sizes_.hi; ++k) drop_closed(k, incumbents);
}

bool NodeStore::anything_open(Incumbents& incumbents) {
  drop_closed_shared(incumbents);
  if (!shared_.empty()) return true;
  for (Index k = sizes_.lo; k <= sizes_.hi; ++k) {
    drop_closed(k, incumbents);
    if (has(k)) return true;
  }
  return false;
}

void NodeStore::go_depth_first() {
  depth_first_ = true;
  for (auto& open : own_) std::make_heap(open.begin(), open.end(), comes_later(depth_first_));
}

std::uint64_t NodeStore::count() const {
  std::uint64_t nodes = shared_.size();
  for (const auto& open : own_) nodes += open.size();
  return nodes;
}

std::vector<double> NodeStore::open_bounds() const {
  std::vector<double> bounds(own_.size(), -kInfinity);
  const auto raise = [&](Index k, double bound) {
    double& own = bounds[place(k)];
    own = std::max(own, bound);
  };
  for (Index k = sizes_.lo; k <= sizes_.hi; ++k) {
    for (const auto& queued : of(k)) raise(k, queued.node.bound);
  }
  for (const auto& queued : shared_) {
    raise(queued.node.k, queued.node.bound);
    for (const auto& size : queued.node.also_serves) raise(size.k, size.bound);
  }
  return bounds;
}

void NodeStore::restore(std::vector<std::vector<QueuedNode>> own, std::vector<QueuedNode> shared,
                        std::uint64_t next_sequence) {
  own_ = std::move(own);
  shared_ = std::move(shared);
  next_sequence_ = next_sequence;
  bytes_ = 0.0;
  for (auto& open : own_) {
    for (const auto& queued : open) bytes_ += node_bytes(queued.node);
    std::make_heap(open.begin(), open.end(), comes_later(depth_first_));
  }
  for (const auto& queued : shared_) bytes_ += node_bytes(queued.node);
}

}  // namespace subspectra::search
