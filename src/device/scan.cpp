#include "device/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace subspectra::device {
namespace {

/// Sets of `size` features whose first is `first`.
double sets_from(Index n, int size, Index first) {
  double count = 1.0;
  for (int i = 1; i < size; ++i) count *= static_cast<double>(n - 1 - first - (i - 1)) / i;
  return std::max(count, 0.0);
}

/// Offers every set of `size` features that holds `part`.
void offer_supersets(Index n, int size, const std::vector<Index>& part, const SetSeeker& seeker) {
  std::vector<Index> added;
  const auto more = static_cast<std::size_t>(size) - part.size();
  for (std::size_t i = 0; i < more; ++i) added.push_back(static_cast<Index>(i));
  const auto free = n - static_cast<Index>(part.size());
  if (free < static_cast<Index>(more)) return;
  const auto nth_free = [&](Index at) {
    for (const Index j : part) at += j <= at ? 1 : 0;  // part is ascending
    return at;
  };
  for (;;) {
    std::vector<Index> set = part;
    for (const Index at : added) set.push_back(nth_free(at));
    std::sort(set.begin(), set.end());
    seeker.offer(set);
    auto at = more;
    while (at > 0 && added[at - 1] == free - static_cast<Index>(more) + static_cast<Index>(at) - 1) --at;
    if (at == 0) return;
    ++added[at - 1];
    for (; at < more; ++at) added[at] = added[at - 1] + 1;
  }
}

double supersets(Index n, int size, std::size_t part) {
  double count = 1.0;
  for (std::size_t i = part; i < static_cast<std::size_t>(size); ++i)
    count *= static_cast<double>(n) / static_cast<double>(i - part + 1);
  return count;
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// All blocks of first features, one after the other.
class Sweep {
 public:
  Sweep(Scan& scan, int size, const SetSeeker& seeker, const RunControl& control, ScanReport& report)
      : scan_(scan),
        n_(scan.features()),
        size_(size),
        seeker_(seeker),
        control_(control),
        report_(report),
        start_(Clock::now()) {}

  void run() {
    while (report_.next + size_ <= n_ && report_.next < seeker_.end) {
      if (control_.should_stop() || seconds_since(start_) > seeker_.most_s) return;
      prepare();
      Index end = block_end();
      ScanAnswer answer = scan(end);
      while (!answer.complete && end > report_.next + 1) {  // too many: fewer first features
        if (control_.should_stop()) return;
        end = report_.next + (end - report_.next) / 2;
        answer = scan(end);
      }
      if (!answer.complete) {
        if (seeker_.too_many && seeker_.too_many() && seeker_.limit() > prepared_) continue;
        return give_up(fmt::format(
            "more than {} sets with one first feature are as good as the best ones known", seeker_.capacity));
      }
      if (!hand_over(answer)) return;
      const double tried = count(report_.next, end);
      report_.next = end;
      report_.sets += tried;
      rate_ = took_ > 1e-3 ? std::clamp(tried / took_, rate_ / 4.0, rate_ * 4.0) : rate_ * 4.0;
      control_.report("on the card", static_cast<double>(report_.next) / static_cast<double>(n_));
    }
    report_.end = ScanEnd::kDone;
  }

 private:
  void prepare() {
    const double limit = seeker_.limit();
    if (!(limit > prepared_)) return;
    scan_.prepare(limit);
    prepared_ = limit;
    ++report_.raised;
  }
  [[nodiscard]] double count(Index begin, Index end) const {
    double sets = 0.0;
    for (; begin < end; ++begin) sets += sets_from(n_, size_, begin);
    return sets;
  }
  /// As many first features as the time for a block allows, one at least.
  [[nodiscard]] Index block_end() const {
    Index end = report_.next + 1;
    const Index last = std::min(n_, seeker_.end);
    for (double block = count(report_.next, end); end < last && block < seeker_.block_s * rate_; ++end)
      block += sets_from(n_, size_, end);
    return end;
  }
  ScanAnswer scan(Index end) {
    const auto begun = Clock::now();
    ScanAnswer answer = scan_.sets(size_, report_.next, end, seeker_.capacity);
    took_ = seconds_since(begun);
    ++report_.blocks;
    return answer;
  }
  void give_up(std::string why) {
    report_.end = ScanEnd::kUnable;
    report_.why = std::move(why);
  }
  /// False: stopped, or it would take too long.
  bool hand_over(const ScanAnswer& answer) {
    for (const auto& part : answer.parts) unsettled_ += supersets(n_, size_, part.size());
    if (unsettled_ > seeker_.most_unsettled) {
      give_up("double precision does not settle enough of the sets");
      return false;
    }
    std::size_t offers = 0;
    for (const auto& set : answer.sets) {
      if (++offers % 1024 == 0 && control_.should_stop()) return false;
      seeker_.offer(set);
    }
    for (const auto& part : answer.parts) {
      if (control_.should_stop()) return false;
      offer_supersets(n_, size_, part, seeker_);
      report_.offered += supersets(n_, size_, part.size());
    }
    report_.offered += static_cast<double>(answer.sets.size());
    return true;
  }

  Scan& scan_;
  Index n_;
  int size_;
  const SetSeeker& seeker_;
  const RunControl& control_;
  ScanReport& report_;
  Clock::time_point start_;
  double prepared_ = 0.0, rate_ = 1e11, took_ = 0.0, unsettled_ = 0.0;
};

}  // namespace

Scan::Scan(std::shared_ptr<const Device> device, const SubspectraScanProblem& problem, int size)
    : device_(std::move(device)), features_(problem.features) {
  std::array<char, 512> why{};
  const int code =
      device_->table().scan_open(device_->handle(), &problem, size, &handle_, why.data(), why.size());
  require_done(code, why.data());
}

Scan::~Scan() { device_->table().scan_close(handle_); }

void Scan::prepare(double limit) {
  std::array<char, 512> why{};
  const int code = device_->table().scan_prepare(handle_, limit, why.data(), why.size());
  require_done(code, why.data());
}

ScanAnswer Scan::sets(int size, Index begin, Index end, Index capacity) const {
  std::array<char, 512> why{};
  std::vector<std::int32_t> memory(static_cast<std::size_t>(capacity) * static_cast<std::size_t>(size));
  SubspectraScanList list{capacity, 0, memory.data()};
  const int code = device_->table().scan_sets(handle_, size, begin, end, &list, why.data(), why.size());
  require_done(code, why.data());
  ScanAnswer answer;
  if (list.found < 0 || list.found > list.capacity) return answer;
  answer.complete = true;
  for (std::int64_t x = 0; x < list.found; ++x) {
    std::vector<Index> set;
    for (int place = 0; place < size; ++place) {
      const Index feature = list.sets[x * size + place];
      if (feature < 0) break;
      if (feature >= features_ || (!set.empty() && feature <= set.back()))
        throw Error(fmt::format("the card failed: it handed out feature {} of {}", feature, features_));
      set.push_back(feature);
    }
    if (set.empty()) throw Error("the card failed: it handed out a set without features");
    (static_cast<int>(set.size()) == size ? answer.sets : answer.parts).push_back(std::move(set));
  }
  for (auto* sets : {&answer.sets, &answer.parts}) {
    std::sort(sets->begin(), sets->end());
    sets->erase(std::unique(sets->begin(), sets->end()), sets->end());
  }
  return answer;
}

ScanReport try_every_set(Scan& scan, int size, Index first, const SetSeeker& seeker,
                         const RunControl& control) {
  ScanReport report;
  report.next = first;
  try {
    Sweep(scan, size, seeker, control, report).run();
  } catch (const Unable& unable) {
    report.end = ScanEnd::kUnable;
    report.why = unable.marked();
  }
  return report;
}

}  // namespace subspectra::device
