#include "search/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <subspectra/error.hpp>
#include "core/atomic_file.hpp"
#include "core/fingerprint.hpp"
#include "core/json_io.hpp"
#include "io/json_file.hpp"

namespace subspectra::search {
namespace {

using nlohmann::json;
constexpr const char* kCheckpointSchema = "subspectra.checkpoint/1";

/// Units as bits, four a letter: "5" is {0, 2}.
std::string packed(const std::vector<std::int32_t>& units, Index count) {
  std::string digits(static_cast<std::size_t>((count + 3) / 4), '0');
  for (const auto u : units) {
    char& digit = digits[static_cast<std::size_t>(u / 4)];
    const int value = (digit <= '9' ? digit - '0' : digit - 'a' + 10) | (1 << (u % 4));
    digit = static_cast<char>(value < 10 ? '0' + value : 'a' + value - 10);
  }
  return digits;
}

std::vector<std::int32_t> unpacked(const std::string& digits, Index count) {
  if (static_cast<Index>(digits.size()) != (count + 3) / 4) throw std::out_of_range("set");
  std::vector<std::int32_t> units;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    const char digit = digits[d];
    const bool number = digit >= '0' && digit <= '9';
    if (!number && !(digit >= 'a' && digit <= 'f')) throw std::out_of_range("digit");
    const int value = number ? digit - '0' : digit - 'a' + 10;
    for (int bit = 0; bit < 4; ++bit) {
      if ((value & (1 << bit)) != 0) units.push_back(static_cast<std::int32_t>(4 * d) + bit);
    }
  }
  if (!units.empty() && units.back() >= count) throw std::out_of_range("unit");
  return units;
}

std::string checksum(const json& document) {
  Fingerprint hash;
  const std::string text = dump_json(document);
  hash.add(text.data(), text.size());
  return hash.text();
}

/// A whole number from 0 up that every sum can hold; no other one has a defined conversion.
std::uint64_t whole(const json& value) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
  const bool sound = value.is_number_unsigned() && value.get<std::uint64_t>() < kMost;
  if (!sound) throw std::out_of_range("number");
  return value.get<std::uint64_t>();
}
Index whole_index(const json& value) { return static_cast<Index>(whole(value)); }

/// Every node has sets of the sizes it serves.
void require_size(const OpenNode& node, Index k) {
  const auto least = static_cast<Index>(node.kept.size());
  if (k < least || k > least + static_cast<Index>(node.free.size())) throw std::out_of_range("size");
}

/// [bound, sequence, kept, free]; of a node of several sizes (k = 0) the bounds are read elsewhere.
QueuedNode node_from(const json& node, Index units, Index k) {
  QueuedNode queued;
  queued.node.k = k;
  if (k > 0) queued.node.bound = node.at(0).is_null() ? kInfinity : node.at(0).get<double>();
  queued.sequence = whole(node.at(1));
  queued.node.kept = unpacked(node.at(2).get<std::string>(), units);
  queued.node.free = unpacked(node.at(3).get<std::string>(), units);
  std::vector<std::int32_t> both;
  std::set_intersection(queued.node.kept.begin(), queued.node.kept.end(), queued.node.free.begin(),
                        queued.node.free.end(), std::back_inserter(both));
  if (!both.empty()) throw std::out_of_range("node");
  if (k > 0) require_size(queued.node, k);
  return queued;
}

Incumbents::Size size_from(const json& entry, Index units, const Incumbents::Size& expected) {
  Incumbents::Size size{.k = expected.k, .pool = Pool(expected.pool.capacity())};
  if (whole_index(entry.at("k")) != expected.k) throw std::out_of_range("k");
  if (!entry.at("discarded").is_null()) size.discarded = entry.at("discarded").get<double>();
  for (const auto& set : entry.at("pool")) {
    std::vector<Index> members;
    for (const auto& unit : set.at("units")) members.push_back(whole_index(unit));
    const bool sorted =
        std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end();
    if (!sorted || static_cast<Index>(members.size()) != size.k || members.back() >= units) {
      throw std::out_of_range("pool");
    }
    size.pool.offer(std::move(members), set.at("value").get<double>());
  }
  return size;
}

/// A node of several sizes: [[[k, bound], ...], sequence, kept, free], the sizes ascending and all searched
/// for.
QueuedNode shared_from(const json& node, Index units, const std::vector<Incumbents::Size>& sizes) {
  QueuedNode queued = node_from(node, units, 0);
  for (const auto& entry : node.at(0)) {
    const ServedSize size{.k = whole_index(entry.at(0)), .bound = entry.at(1).get<double>()};
    const Index before = queued.node.also_serves.empty() ? queued.node.k : queued.node.also_serves.back().k;
    if (size.k <= before || size.k < sizes.front().k || size.k > sizes.back().k) throw std::out_of_range("k");
    require_size(queued.node, size.k);
    if (queued.node.k == 0) {
      queued.node.k = size.k;
      queued.node.bound = size.bound;
    } else {
      queued.node.also_serves.push_back(size);
    }
  }
  if (queued.node.also_serves.empty()) throw std::out_of_range("sizes");
  return queued;
}

json shared_json(const QueuedNode& queued, Index units) {
  json sizes = json::array({json::array({queued.node.k, queued.node.bound})});
  for (const auto& size : queued.node.also_serves) sizes.push_back(json::array({size.k, size.bound}));
  return json::array(
      {std::move(sizes), queued.sequence, packed(queued.node.kept, units), packed(queued.node.free, units)});
}

/// Everything that the answer depends on.
std::string fingerprint(const Explorer& explorer, const SearchUnits& units, const ExactRun& run) {
  Fingerprint hash;
  explorer.fingerprint([&](const void* data, std::size_t bytes) { hash.add(data, bytes); });
  for (const Index u : units.include) hash.add_value(u);
  for (const auto& members : units.members) {
    hash.add(members.data(), members.size() * sizeof(Index));
    hash.add_value(members.size());
  }
  hash.add_value(run.k.lo);
  hash.add_value(run.k.hi);
  hash.add_value(run.asked.pool);
  return hash.text();
}

}  // namespace

void write_checkpoint(const std::string& path, const std::string& problem, Index units,
                      const SearchState& state) {
  json sizes = json::array();
  for (const auto& size : state.incumbents.sizes()) {
    json pool = json::array(), open = json::array();
    for (const auto& set : size.pool.sets()) pool.push_back({{"units", set.units}, {"value", set.value}});
    for (const auto& queued : state.open.of(size.k)) {
      open.push_back({std::isfinite(queued.node.bound) ? json(queued.node.bound) : json(), queued.sequence,
                      packed(queued.node.kept, units), packed(queued.node.free, units)});
    }
    sizes.push_back({{"k", size.k},
                     {"discarded", std::isfinite(size.discarded) ? json(size.discarded) : json()},
                     {"pool", std::move(pool)},
                     {"open", std::move(open)}});
  }
  json shared = json::array();
  for (const auto& queued : state.open.shared()) shared.push_back(shared_json(queued, units));
  json document = {{"schema", kCheckpointSchema},
                   {"problem", problem},
                   {"units", units},
                   {"nodes", state.nodes},
                   {"updates", state.incumbent_updates},
                   {"sequence", state.open.next_sequence()},
                   {"round", state.round},
                   {"sizes", std::move(sizes)},
                   {"shared", std::move(shared)}};
  document["checksum"] = checksum(document);
  write_file_atomically(path, dump_json(document) + "\n");
}

void read_checkpoint(const std::string& path, const std::string& problem, Index units, SearchState& state,
                     std::uint64_t memory_limit) {
  const auto refuse = [&](const char* what) { throw BadInput({.file = path}, what); };
  const std::string text = json_file_text(path, std::numeric_limits<std::uint64_t>::max(), "", memory_limit);
  json document;
  try {
    document = parse_shallow_json(text);
  } catch (const std::exception&) {
    refuse(
        "this is no complete checkpoint (not valid JSON); give a file written by ⟨checkpoint⟩, or start without ⟨resume⟩");
  }
  if (!document.is_object() || document.value("schema", json()) != kCheckpointSchema) {
    refuse("this is no checkpoint of an exact search; give a file written by ⟨checkpoint⟩");
  }
  const json sum = document.value("checksum", json());
  document.erase("checksum");
  if (sum != checksum(document))
    refuse("the checksum does not match: the file was damaged or changed; start without ⟨resume⟩");
  if (document.value("problem", json()) != problem) {
    refuse(
        "this checkpoint belongs to other data or other options (⟨k⟩, criterion, ridge, include, exclude, groups, pool must be the same); start without ⟨resume⟩");
  }
  try {
    const auto& expected = state.incumbents.sizes();
    if (whole_index(document.at("units")) != units || document.at("sizes").size() != expected.size()) {
      throw std::out_of_range("sizes");
    }
    const std::uint64_t nodes = whole(document.at("nodes"));
    const std::uint64_t updates = whole(document.at("updates"));
    const std::uint64_t sequence = whole(document.at("sequence"));
    const std::uint64_t round = whole(document.at("round"));
    std::vector<Incumbents::Size> sizes;
    std::vector<std::vector<QueuedNode>> own(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& entry = document.at("sizes").at(i);
      sizes.push_back(size_from(entry, units, expected[i]));
      for (const auto& node : entry.at("open")) own[i].push_back(node_from(node, units, sizes[i].k));
    }
    std::vector<QueuedNode> shared;
    for (const auto& node : document.value("shared", json::array()))
      shared.push_back(shared_from(node, units, sizes));
    state.incumbents.restore(std::move(sizes));
    state.open.restore(std::move(own), std::move(shared), sequence);
    state.nodes = nodes;
    state.incumbent_updates = updates;
    state.round = round;
  } catch (const std::exception&) {
    refuse("the checkpoint is inconsistent; start without ⟨resume⟩");
  }
}

Checkpoint::Checkpoint(const Explorer& explorer, const SearchUnits& units, const ExactRun& run)
    : run_(run), units_(units.count()) {
  // A pass over the matrix that a stop would wait for.
  if (!run.asked.checkpoint.empty() || resumes()) problem_ = fingerprint(explorer, units, run);
}

void Checkpoint::resume(SearchState& state) const {
  read_checkpoint(run_.asked.resume, problem_, units_, state, run_.memory_limit);
  for (const auto& size : state.incumbents.sizes()) {
    if (!state.incumbents.discarded_too_much(size.k)) continue;
    throw BadInput(
        {.file = run_.asked.resume},
        fmt::format(
            "this search has left out sets of size {} under a wider ⟨gap⟩, so that the proof asked for now is out of reach; give that ⟨gap⟩ again, or start without ⟨resume⟩",
            size.k));
  }
}

void Checkpoint::save_if_due(const SearchState& state, const RunControl& control) {
  const double now_s = control.elapsed_s();
  if (run_.asked.checkpoint.empty() || now_s - saved_at_s_ < run_.asked.checkpoint_every) return;
  save(state);
  saved_at_s_ = now_s;
}

void Checkpoint::save(const SearchState& state) {
  if (run_.asked.checkpoint.empty()) return;
  try {
    write_checkpoint(run_.asked.checkpoint, problem_, units_, state);
    trouble_.clear();
  } catch (const Error& reason) {  // the next attempt may succeed
    trouble_ = reason.marked();
  }
}

}  // namespace subspectra::search
