#pragma once
/// Greedy passes on a card, and tables that are resident there. What comes back is an order of features; what
/// its sets are worth is for the caller to say, in its own arithmetic.
#include <memory>
#include <vector>

#include "core/types.hpp"
#include "device/plugin.hpp"

namespace subspectra::device {

/// Columns of numbers on a card.
class Columns {
 public:
  /// Of `bytes` bytes a number, 4 or 8. Throws Unable where the card's memory does not suffice.
  Columns(std::shared_ptr<const Device> device, Index rows, Index features, int bytes);
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  ~Columns();

  [[nodiscard]] SubspectraTable* handle() const { return handle_; }
  /// Columns first .. first + count - 1, one after another.
  void put(Index first, Index count, const void* numbers);

 private:
  std::shared_ptr<const Device> device_;
  SubspectraTable* handle_ = nullptr;
};

/// One pass.
class Pass {
 public:
  /// Throws Unable. The columns that a problem names have to outlive the pass.
  Pass(std::shared_ptr<const Device> device, const SubspectraPassProblem& problem);
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  ~Pass();

  /// Up to `count` features more are appended to `order`. Throws Error where the card names what cannot be.
  /// Returns SUBSPECTRA_PASS_...
  [[nodiscard]] int steps(Index count, std::vector<Index>& order);
  /// Forward: features that were found to depend on the chosen ones, ascending.
  [[nodiscard]] std::vector<Index> dependent() const;

 private:
  std::shared_ptr<const Device> device_;
  SubspectraPass* handle_ = nullptr;
  std::vector<char> possible_;  ///< by feature: neither held nor named before
};

}  // namespace subspectra::device
