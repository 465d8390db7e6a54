#pragma once
/// The state of an exact search between two rounds, as a file: schema subspectra.checkpoint/1.
#include <string>
#include <vector>

#include "search/explorer.hpp"

namespace subspectra::search {

struct Queued {
  OpenNode node;
  std::uint64_t sequence = 0;  ///< in the order of creation
};

struct SizeState {
  Index k = 0;
  Pool pool{1};
  double discarded = -kInfinity;
  std::vector<Queued> open;  ///< nodes that serve this size alone
};

struct SearchState {
  std::vector<SizeState> sizes;
  std::vector<Queued> shared;  ///< nodes that serve several sizes
  std::uint64_t nodes = 0, updates = 0, sequence = 0, round = 0;
};

/// `problem` names what the search is about (a hash). Written atomically.
void write_checkpoint(const std::string& path, const std::string& problem, Index units,
                      const SearchState& state);
/// Throws BadInput when the file is torn, no checkpoint, or of another problem. `state` has its sizes set up.
void read_checkpoint(const std::string& path, const std::string& problem, Index units, SearchState& state);

/// FNV-1a, 64 bits.
class Fingerprint {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash_ = (hash_ ^ bytes[i]) * 1099511628211ULL;
  }
  template <class T>
  void add_value(const T& value) {
    add(&value, sizeof value);
  }
  [[nodiscard]] std::uint64_t number() const { return hash_; }
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

}  // namespace subspectra::search
