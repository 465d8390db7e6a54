#include "search/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <subspectra/error.hpp>
#include "core/atomic_file.hpp"
#include "core/shallow_json.hpp"
#include "io/byte_source.hpp"

namespace subspectra::search {
namespace {

using nlohmann::json;
constexpr const char* kSchema = "subspectra.checkpoint/1";

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
  const std::string text = document.dump();
  hash.add(text.data(), text.size());
  return hash.text();
}

/// [bound, sequence, kept, free]; of a node of several sizes (k = 0) the bounds are read elsewhere.
Queued node_from(const json& node, Index units, Index k) {
  Queued queued;
  queued.node.k = k;
  if (k > 0) queued.node.bound = node.at(0).get<double>();
  queued.sequence = node.at(1).get<std::uint64_t>();
  queued.node.kept = unpacked(node.at(2).get<std::string>(), units);
  queued.node.free = unpacked(node.at(3).get<std::string>(), units);
  std::vector<std::int32_t> both;
  std::set_intersection(queued.node.kept.begin(), queued.node.kept.end(), queued.node.free.begin(),
                        queued.node.free.end(), std::back_inserter(both));
  if (!both.empty()) throw std::out_of_range("node");
  return queued;
}

SizeState size_from(const json& entry, Index units, const SizeState& expected) {
  SizeState size{.k = expected.k, .pool = expected.pool};
  if (entry.at("k").get<Index>() != expected.k) throw std::out_of_range("k");
  if (!entry.at("discarded").is_null()) size.discarded = entry.at("discarded").get<double>();
  for (const auto& set : entry.at("pool")) {
    auto members = set.at("units").get<std::vector<Index>>();
    const bool sorted =
        std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end();
    if (!sorted || static_cast<Index>(members.size()) != size.k || members.front() < 0 ||
        members.back() >= units) {
      throw std::out_of_range("pool");
    }
    size.pool.offer(std::move(members), set.at("value").get<double>());
  }
  for (const auto& node : entry.at("open")) size.open.push_back(node_from(node, units, size.k));
  return size;
}

/// A node of several sizes: [[[k, bound], ...], sequence, kept, free], the sizes ascending and all searched
/// for.
Queued shared_from(const json& node, Index units, const std::vector<SizeState>& sizes) {
  Queued queued = node_from(node, units, 0);
  for (const auto& entry : node.at(0)) {
    const ServedSize size{.k = entry.at(0).get<Index>(), .bound = entry.at(1).get<double>()};
    const Index before = queued.node.others.empty() ? queued.node.k : queued.node.others.back().k;
    if (size.k <= before || size.k < sizes.front().k || size.k > sizes.back().k) throw std::out_of_range("k");
    if (queued.node.k == 0) {
      queued.node.k = size.k;
      queued.node.bound = size.bound;
    } else {
      queued.node.others.push_back(size);
    }
  }
  if (queued.node.others.empty()) throw std::out_of_range("sizes");
  return queued;
}

json shared_json(const Queued& queued, Index units) {
  json sizes = json::array({json::array({queued.node.k, queued.node.bound})});
  for (const auto& size : queued.node.others) sizes.push_back(json::array({size.k, size.bound}));
  return json::array(
      {std::move(sizes), queued.sequence, packed(queued.node.kept, units), packed(queued.node.free, units)});
}

}  // namespace

std::string Fingerprint::text() const { return fmt::format("{:016x}", hash_); }

void write_checkpoint(const std::string& path, const std::string& problem, Index units,
                      const SearchState& state) {
  json sizes = json::array();
  for (const auto& size : state.sizes) {
    json pool = json::array(), open = json::array();
    for (const auto& set : size.pool.sets()) pool.push_back({{"units", set.units}, {"value", set.value}});
    for (const auto& queued : size.open) {
      open.push_back({queued.node.bound, queued.sequence, packed(queued.node.kept, units),
                      packed(queued.node.free, units)});
    }
    sizes.push_back({{"k", size.k},
                     {"discarded", std::isfinite(size.discarded) ? json(size.discarded) : json()},
                     {"pool", std::move(pool)},
                     {"open", std::move(open)}});
  }
  json shared = json::array();
  for (const auto& queued : state.shared) shared.push_back(shared_json(queued, units));
  json document = {{"schema", kSchema},    {"problem", problem},        {"units", units},
                   {"nodes", state.nodes}, {"updates", state.updates},  {"sequence", state.sequence},
                   {"round", state.round}, {"sizes", std::move(sizes)}, {"shared", std::move(shared)}};
  document["checksum"] = checksum(document);
  write_file_atomically(path, document.dump() + "\n");
}

void read_checkpoint(const std::string& path, const std::string& problem, Index units, SearchState& state) {
  const auto refuse = [&](const char* what) { throw BadInput({.file = path}, what); };
  static_cast<void>(checked_file_size(path));  // refuses what is no readable file
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  json document;
  try {
    document = parse_shallow_json(text);
  } catch (const std::exception&) {
    refuse(
        "this is no complete checkpoint (not valid JSON); give a file written by ⟨checkpoint⟩, or start without ⟨resume⟩");
  }
  if (!document.is_object() || document.value("schema", json()) != kSchema) {
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
    if (document.at("units").get<Index>() != units || document.at("sizes").size() != state.sizes.size()) {
      throw std::out_of_range("sizes");
    }
    SearchState read;
    read.nodes = document.at("nodes").get<std::uint64_t>();
    read.updates = document.at("updates").get<std::uint64_t>();
    read.sequence = document.at("sequence").get<std::uint64_t>();
    read.round = document.at("round").get<std::uint64_t>();
    for (std::size_t i = 0; i < state.sizes.size(); ++i) {
      read.sizes.push_back(size_from(document.at("sizes").at(i), units, state.sizes[i]));
    }
    for (const auto& node : document.value("shared", json::array()))
      read.shared.push_back(shared_from(node, units, read.sizes));
    state = std::move(read);
  } catch (const std::exception&) {
    refuse("the checkpoint is inconsistent; start without ⟨resume⟩");
  }
}

}  // namespace subspectra::search
