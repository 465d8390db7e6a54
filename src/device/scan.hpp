#pragma once
/// Every pair, triple or four of n features against a limit, tried on a card. What the card hands back are
/// sets that may beat the limit; whether they do is for the caller to say, in its own arithmetic.
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include "device/plugin.hpp"

namespace subspectra::device {

/// Sets that may beat the limit.
struct ScanAnswer {
  bool complete = false;                 ///< false: they are too many, and none is given
  std::vector<std::vector<Index>> sets;  ///< ascending each, in lexicographic order, each once
  /// Fewer features than a set has: all sets that hold them may beat the limit.
  std::vector<std::vector<Index>> parts;
};

/// A problem on a card.
class Scan {
 public:
  /// Throws Unable where the card's memory does not suffice.
  Scan(std::shared_ptr<const Device> device, const SubspectraScanProblem& problem, int size);
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;
  ~Scan();

  [[nodiscard]] Index features() const { return features_; }
  /// Sets above `limit` are looked for. Throws Unable.
  void prepare(double limit);
  /// All sets of `size` features whose first lies in [begin, end); at most `capacity` are handed back.
  [[nodiscard]] ScanAnswer sets(int size, Index begin, Index end, Index capacity) const;

 private:
  std::shared_ptr<const Device> device_;
  SubspectraScan* handle_ = nullptr;
  Index features_;
};

/// Who wants the best sets. All is called from one thread.
struct SetSeeker {
  /// What sets have to beat now, lowered by what ties and rounding ask for: it may only rise.
  std::function<double()> limit;
  /// A set that may beat it, ascending.
  std::function<void(const std::vector<Index>&)> offer;
  /// One first feature alone has more of them than `capacity`: true where the limit was raised. Null: it
  /// cannot be.
  std::function<bool()> too_many = {};
  /// Blocks may take so long; a stop is looked for between them.
  double block_s = 0.1;
  /// After so long the report comes back with the rest undone, as after a stop.
  double most_s = kInfinity;
  /// Sets that the card cannot settle are offered one by one, up to so many.
  double most_unsettled = 2e7;
  /// Sets of a block that are handed over at a time.
  Index capacity = 100000;
  /// Sets whose first feature is this one or comes after it are not tried.
  Index end = std::numeric_limits<Index>::max();
};

enum class ScanEnd {
  kDone,     ///< every set was tried
  kStopped,  ///< the control said so, or SetSeeker::most_s
  kUnable,   ///< the processor has to do the rest: see why
};

struct ScanReport {
  ScanEnd end = ScanEnd::kStopped;
  Index next = 0;        ///< all sets with a first feature before this one were tried
  double sets = 0.0;     ///< tried
  double offered = 0.0;  ///< to the seeker
  Index blocks = 0;
  Index raised = 0;  ///< times the matrices were made for a higher limit
  std::string why;
};

/// Tries all sets of `size` features whose first is `first` or comes after it. Which sets are offered depends
/// on the time blocks take, that every set which beats the seeker's last limit was offered does not.
/// seeker.limit() must be above 0.
[[nodiscard]] ScanReport try_every_set(Scan& scan, int size, Index first, const SetSeeker& seeker,
                                       const RunControl& control);

}  // namespace subspectra::device
