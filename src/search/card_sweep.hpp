#pragma once
/// The sweep over all pairs, triples and fours on a card (device/scan.hpp), for tables whose candidates stand
/// on it as a whole. What it hands over is evaluated here, as what the processor's own scans find.
#include <memory>
#include <mutex>
#include <string>

#include "core/types.hpp"
#include "device/scan.hpp"
#include "search/sweep_scan.hpp"

namespace subspectra::search {

/// What a card is given: B = Z'Z + diag(ridge), or B itself, with a unit diagonal; A = M M'.
struct CardTable {
  SweepKind kind = SweepKind::kDefinite;
  Matrix z;  ///< rows x n; empty where b stands
  const double* b = nullptr;
  Index b_lead = 0;
  Vector ridge;  ///< n, or empty
  const Matrix* m = nullptr;
  double error = 0.0;      ///< of an entry of B and of A against the limit
  double dependent = 0.0;  ///< pairs with 1 - B_ij^2 up to this are no sets
};

class CardSweep {
 public:
  /// Sets of up to `size` features. Throws device::Unable where the card's memory does not suffice.
  CardSweep(std::shared_ptr<const device::Device> card, const CardTable& table, int size);

  [[nodiscard]] bool serves(Index more) const { return more >= 2 && more <= size_; }
  [[nodiscard]] std::string description() const { return card_->description(); }
  /// As device::try_every_set(); one caller at a time, the others wait.
  [[nodiscard]] device::ScanReport sweep(Index size, Index first, const device::SetSeeker& seeker,
                                         const RunControl& control) const;

 private:
  std::shared_ptr<const device::Device> card_;
  int size_;
  mutable std::mutex mutex_;
  mutable device::Scan scan_;
};

/// The most features of a set that a card tries.
inline constexpr Index kMostOnCard = 4;

}  // namespace subspectra::search
