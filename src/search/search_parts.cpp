#include "search/search_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/fingerprint.hpp"

namespace subspectra::search {
namespace {

using nlohmann::json;

std::string fingerprint_of_cut(const std::vector<QueuedNode>& nodes, const Incumbents& incumbents) {
  Fingerprint hash;
  const auto add = [&](const auto& list) {
    hash.add_value(list.size());
    hash.add(list.data(), list.size() * sizeof list.front());
  };
  for (const auto& [node, sequence] : nodes) {
    hash.add_value(node.k);
    for (const auto& size : node.also_serves) hash.add_value(size.k);
    add(node.kept);
    add(node.free);
  }
  for (const auto& size : incumbents.sizes()) {
    for (const auto& set : size.pool.sets()) add(set.units);
  }
  return hash.text();
}

/// The sizes that a node serves.
std::vector<Index> sizes_of(const OpenNode& node) {
  std::vector<Index> sizes = {node.k};
  for (const auto& size : node.also_serves) sizes.push_back(size.k);
  return sizes;
}

RankedSet set_from(const JsonMember& member, Index k, Index units) {
  RankedSet set{.units = member.at("units").counts(), .value = member.at("value").number()};
  const bool ascend =
      std::adjacent_find(set.units.begin(), set.units.end(), std::greater_equal<>()) == set.units.end();
  if (static_cast<Index>(set.units.size()) != k || !ascend || set.units.back() >= units)
    member.at("units").fail("must be a set of its size, ascending");
  return set;
}

}  // namespace

SearchParts::SearchParts(PartWork& work, std::string name, const SearchState& cut)
    : work_(work), name_(std::move(name)) {
  for (const auto& size : cut.incumbents.sizes()) {
    const auto& own = cut.open.of(size.k);
    nodes_.insert(nodes_.end(), own.begin(), own.end());
  }
  nodes_.insert(nodes_.end(), cut.open.shared().begin(), cut.open.shared().end());
  std::sort(nodes_.begin(), nodes_.end(), [](const QueuedNode& a, const QueuedNode& b) {
    return a.node.bound != b.node.bound ? a.node.bound > b.node.bound : a.sequence < b.sequence;
  });
  fingerprint_ = fingerprint_of_cut(nodes_, cut.incumbents);
  if (!work_.merging()) work_.keep(name_ + "/cut", fingerprint_);
}

std::string SearchParts::key(std::size_t i) const { return fmt::format("{}/{}", name_, i); }

std::vector<std::size_t> SearchParts::own_nodes() const {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (work_.mine(owner(i))) own.push_back(i);
  }
  return own;
}

void SearchParts::keep(std::size_t i, const SearchState& found) {
  json sizes = json::array();
  for (const Index k : sizes_of(nodes_[i].node)) {
    const auto& size = found.incumbents.of(k);
    json sets = json::array();
    for (const auto& set : size.pool.sets()) sets.push_back({{"units", set.units}, {"value", set.value}});
    sizes.push_back({{"k", k}, {"sets", std::move(sets)}});
  }
  work_.keep(key(i), {{"nodes", found.nodes}, {"sizes", std::move(sizes)}});
}

void SearchParts::take_in(Index units, SearchState& state) const {
  for (Index part = 0; part < work_.count(); ++part) {
    const JsonMember cut = work_.found(name_ + "/cut", part);
    if (!cut.is_text(fingerprint_))
      cut.fail(
          "is another cut of the search than this machine makes: its processor or its free memory led to other nodes; run the parts and put them together on machines of one kind, with the same ⟨memory_limit⟩");
  }
  state.open = NodeStore(KRange(state.incumbents.sizes().front().k, state.incumbents.sizes().back().k));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const JsonMember found = work_.found(key(i), owner(i));
    state.nodes += static_cast<std::uint64_t>(found.at("nodes").count());
    const std::vector<Index> expected = sizes_of(nodes_[i].node);
    const auto sizes = found.at("sizes").list();
    if (sizes.size() != expected.size()) found.at("sizes").fail("must be of the sizes that the node serves");
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      if (sizes[s].at("k").count() != expected[s])
        sizes[s].at("k").fail("must be a size that the node serves");
      std::vector<RankedSet> sets;
      for (const JsonMember& set : sizes[s].at("sets").list())
        sets.push_back(set_from(set, expected[s], units));
      const double best = state.incumbents.of(expected[s]).pool.best();
      state.incumbents.offer(expected[s], sets);
      if (state.incumbents.of(expected[s]).pool.best() > best) ++state.incumbent_updates;
    }
  }
}

}  // namespace subspectra::search
