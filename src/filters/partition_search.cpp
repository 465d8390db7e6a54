#include "filters/partition_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"

namespace subspectra::filters {
namespace {

constexpr Index kCutsAStart = 50;  // of which the best is where a start begins
constexpr Index kLongestTabu =
    10;  // moves that a row stays after it has moved, a quarter of the rows at most
constexpr std::size_t kKeptTails = 64;  // sizes of classes whose tails are kept

/// The order of the rows by every feature: equal values have one place.
class RowOrders {
 public:
  RowOrders(const Dataset& data, const std::vector<Index>& features, int threads)
      : rows_(data.rows()),
        places_(static_cast<std::size_t>(data.rows()) * features.size()),
        widest_(features.size()),
        counts_(features.size()) {
    parallel_for(features_count(), threads, [&](Index f) {
      const Vector column = data.values().column(features[static_cast<std::size_t>(f)]);
      std::vector<Index> order(static_cast<std::size_t>(rows_));
      std::iota(order.begin(), order.end(), Index{0});
      std::sort(order.begin(), order.end(), [&](Index a, Index b) { return column[a] < column[b]; });
      std::uint32_t* const places = places_.data() + f * rows_;
      std::uint32_t place = 0;
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i > 0 && column[order[i]] != column[order[i - 1]]) ++place;
        places[order[i]] = place;
      }
      counts_[static_cast<std::size_t>(f)] = static_cast<Index>(place) + 1;
      widest_[static_cast<std::size_t>(f)] = gaps(column, order);
    });
  }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index features_count() const { return static_cast<Index>(counts_.size()); }
  /// One a row: 0 for the smallest value.
  [[nodiscard]] std::span<const std::uint32_t> places(Index f) const {
    return {places_.data() + f * rows_, static_cast<std::size_t>(rows_)};
  }
  [[nodiscard]] Index place_count(Index f) const { return counts_[static_cast<std::size_t>(f)]; }
  /// The place below the widest gap that leaves `least` rows or more on either side; none where there is no
  /// such gap.
  [[nodiscard]] std::optional<Index> widest_gap(Index f, Index least) const {
    const auto& cuts = widest_[static_cast<std::size_t>(f)];
    const auto found = std::find_if(cuts.begin(), cuts.end(), [&](const Cut& cut) {
      return cut.below >= least && rows_ - cut.below >= least;
    });
    if (found == cuts.end()) return std::nullopt;
    return found->place;
  }

 private:
  struct Cut {
    Index place = 0, below = 0;  ///< rows up to and with the place
  };
  /// The widest few, falling; of equally wide ones the lower first.
  static std::vector<Cut> gaps(const Vector& column, const std::vector<Index>& order) {
    constexpr std::size_t kKept = 16;
    std::vector<std::pair<double, Cut>> all;
    Index place = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (column[order[i]] == column[order[i - 1]]) continue;
      all.push_back({0.5 * column[order[i]] - 0.5 * column[order[i - 1]],
                     {.place = place++, .below = static_cast<Index>(i)}});
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Cut> cuts;
    for (std::size_t i = 0; i < std::min(all.size(), kKept); ++i) cuts.push_back(all[i].second);
    return cuts;
  }

  Index rows_;
  std::vector<std::uint32_t> places_;
  std::vector<std::vector<Cut>> widest_;
  std::vector<Index> counts_;
};

/// One start: a partition that is changed row by row. For one thread.
class Climb {
 public:
  Climb(const RowOrders& orders, const SurpriseScale& scale, Index least)
      : orders_(orders),
        scale_(scale),
        least_(least),
        sides_(static_cast<std::size_t>(orders.rows())),
        errors_(static_cast<std::size_t>(orders.features_count())),
        wrong_(static_cast<std::size_t>(orders.rows()) + 1),
        change_(2 * static_cast<std::size_t>(orders.rows())) {}

  /// Bytes that one of them takes at most.
  [[nodiscard]] static double bytes(Index rows, Index features) {
    const auto n = static_cast<double>(rows);
    return 8.0 * n * std::min(static_cast<double>(features), 0.5 * n + 1.0) +
           8.0 * static_cast<double>(kKeptTails) * n;
  }

  /// The best of some cuts of single features.
  void start(Random& random) {
    double best = -1.0;
    std::vector<char> chosen;
    for (Index cut = 0; cut < kCutsAStart; ++cut) {
      cut_somewhere(cut % 2 == 0, random);
      const double score = score_here();
      if (score <= best) continue;
      best = score;
      chosen = sides_;
    }
    take(chosen);
    best_score_ = best;
    best_sides_ = sides_;
  }

  /// Moves the row whose change of sides leaves the largest score, again and again; a row that has moved
  /// stays for a while, unless its move leads to a better partition than any before.
  void climb(Index patience, const RunControl& control) {
    const Index n = orders_.rows();
    const Index tabu = std::max<Index>(1, std::min(kLongestTabu, n / 4));
    std::vector<Index> free_from(static_cast<std::size_t>(n), 0);
    Index since = 0;
    while (since < patience && !control.should_stop()) {
      look_around();
      Index chosen = -1;
      double best = -1.0;
      for (Index i = 0; i < n; ++i) {
        const int side = sides_[static_cast<std::size_t>(i)];
        if (sizes_[static_cast<std::size_t>(side)] <= least_) continue;
        const bool stays = moves_ < free_from[static_cast<std::size_t>(i)];
        const double floor = stays ? std::max(best, best_score_) : best;
        const double score = score_after(i, floor);
        if (score <= floor) continue;
        best = score;
        chosen = i;
      }
      if (chosen < 0) return;
      move(chosen);
      free_from[static_cast<std::size_t>(chosen)] = ++moves_ + tabu;
      ++since;
      if (best > best_score_) {
        best_score_ = best;
        best_sides_ = sides_;
        since = 0;
      }
    }
  }

  [[nodiscard]] double best_score() const { return best_score_; }
  [[nodiscard]] const std::vector<char>& best_sides() const { return best_sides_; }
  [[nodiscard]] Index moves() const { return moves_; }

 private:
  void take(const std::vector<char>& sides) {
    sides_ = sides;
    sizes_ = {};
    for (const char side : sides_) ++sizes_[static_cast<std::size_t>(side)];
  }

  void move(Index row) {
    char& side = sides_[static_cast<std::size_t>(row)];
    --sizes_[static_cast<std::size_t>(side)];
    side = static_cast<char>(1 - side);
    ++sizes_[static_cast<std::size_t>(side)];
  }

  /// The rows below a threshold of a feature drawn by chance against those above; where ties leave no
  /// threshold with rows enough on either side, a half of the rows drawn by chance.
  void cut_somewhere(bool at_widest_gap, Random& random) {
    const auto f = static_cast<Index>(random.below(static_cast<std::uint64_t>(orders_.features_count())));
    const auto places = orders_.places(f);
    std::optional<Index> last;  // place below the threshold
    if (at_widest_gap) last = orders_.widest_gap(f, least_);
    if (!last) {
      std::vector<Index> below(static_cast<std::size_t>(orders_.place_count(f)), 0);
      for (const std::uint32_t place : places) ++below[place];
      std::partial_sum(below.begin(), below.end(), below.begin());
      std::vector<Index> possible;
      for (std::size_t place = 0; place + 1 < below.size(); ++place) {
        if (below[place] >= least_ && orders_.rows() - below[place] >= least_)
          possible.push_back(static_cast<Index>(place));
      }
      if (!possible.empty()) last = possible[random.below(possible.size())];
    }
    std::vector<char> sides(places.size());
    if (last) {
      for (std::size_t i = 0; i < places.size(); ++i)
        sides[i] = static_cast<Index>(places[i]) > *last ? 1 : 0;
    } else {
      std::fill(sides.begin() + static_cast<std::ptrdiff_t>(sides.size() / 2), sides.end(), char{1});
      random.shuffle(std::span<char>(sides));
    }
    take(sides);
  }

  /// wrong_[t]: the errors of "0 among the first t places, 1 above", t = 0 up to the number of places. The
  /// rule the other way round has N less that many. Answers the fewest of all.
  Index count_wrong(Index f) {
    const auto places = orders_.places(f);
    const auto count = static_cast<std::size_t>(orders_.place_count(f));
    std::fill_n(wrong_.begin(), count + 1, 0);
    for (std::size_t i = 0; i < places.size(); ++i) wrong_[places[i] + 1] += sides_[i] == 0 ? -1 : 1;
    wrong_[0] = static_cast<std::int32_t>(sizes_[0]);
    std::int32_t least = wrong_[0], most = wrong_[0];
    for (std::size_t t = 1; t <= count; ++t) {
      wrong_[t] += wrong_[t - 1];
      least = std::min(least, wrong_[t]);
      most = std::max(most, wrong_[t]);
    }
    return std::min<Index>(least, orders_.rows() - most);
  }

  const std::vector<double>& tails(Index a) {
    const Index smaller = std::min(a, orders_.rows() - a);
    const auto found = tails_.find(smaller);
    if (found != tails_.end()) return found->second;
    if (tails_.size() >= kKeptTails) tails_.clear();
    return tails_.emplace(smaller, threshold_error_log_tails(smaller, orders_.rows() - smaller))
        .first->second;
  }

  double score_here() {
    for (Index f = 0; f < orders_.features_count(); ++f)
      errors_[static_cast<std::size_t>(f)] = count_wrong(f);
    return scale_.surprise_of(errors_, tails(sizes_[0])).score;
  }

  /// What every feature's errors become when one row changes sides: one more, one less or the same. Moving a
  /// row of side 0 adds 1 to wrong_[t] where the row is below the threshold and takes 1 away where it is
  /// above; so the least and the most over either part, made once a feature, tell all rows.
  void look_around() {
    const Index n = orders_.rows();
    std::fill(with_.begin(), with_.end(), 0);
    with_.resize(static_cast<std::size_t>(n / 2) + 2, 0);
    slot_of_.assign(with_.size(), -1);
    fewer_.clear();
    more_.clear();
    Index slots = 0;
    for (Index f = 0; f < orders_.features_count(); ++f) {
      const Index errors = count_wrong(f);
      ++with_[static_cast<std::size_t>(errors)];
      Index& slot = slot_of_[static_cast<std::size_t>(errors)];
      if (slot < 0) {
        slot = slots++;
        fewer_.resize(static_cast<std::size_t>(slots * n), 0);
        more_.resize(static_cast<std::size_t>(slots * n), 0);
      }
      const auto count = static_cast<std::size_t>(orders_.place_count(f));
      const auto errors32 = static_cast<std::int32_t>(errors);
      const auto rows32 = static_cast<std::int32_t>(n);
      // Of thresholds above the place first (the row is below them), then with those below it.
      above_.resize(2 * count);
      std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = -least;
      for (std::size_t place = count; place-- > 0;) {
        least = std::min(least, wrong_[place + 1]);
        most = std::max(most, wrong_[place + 1]);
        above_[2 * place] = least;
        above_[2 * place + 1] = most;
      }
      least = std::numeric_limits<std::int32_t>::max();
      most = -least;
      for (std::size_t place = 0; place < count; ++place) {
        least = std::min(least, wrong_[place]);
        most = std::max(most, wrong_[place]);
        const std::int32_t high_least = above_[2 * place], high_most = above_[2 * place + 1];
        change_[2 * place] =  // of a row of side 0
            std::min(std::min(least - 1, high_least + 1), rows32 - std::max(most - 1, high_most + 1)) -
            errors32;
        change_[2 * place + 1] =
            std::min(std::min(least + 1, high_least - 1), rows32 - std::max(most + 1, high_most - 1)) -
            errors32;
      }
      const auto places = orders_.places(f);
      std::int32_t* const fewer = fewer_.data() + slot * n;
      std::int32_t* const more = more_.data() + slot * n;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const std::int32_t change = change_[2 * places[i] + static_cast<std::size_t>(sides_[i])];
        fewer[i] += change < 0 ? 1 : 0;
        more[i] += change > 0 ? 1 : 0;
      }
    }
    possible_errors_.clear();
    for (std::size_t s = 0; s < with_.size(); ++s) {
      if (with_[s] > 0 || (s > 0 && with_[s - 1] > 0) || (s + 1 < with_.size() && with_[s + 1] > 0))
        possible_errors_.push_back(static_cast<Index>(s));
    }
  }

  /// After row i has changed sides; at most `floor` where it is no more than that.
  double score_after(Index i, double floor) {
    const int side = sides_[static_cast<std::size_t>(i)];
    const auto& logs = tails(sizes_[0] + (side == 0 ? -1 : 1));
    const Index n = orders_.rows();
    const auto moving = [&](const std::vector<std::int32_t>& counts, Index errors) -> Index {
      if (errors < 0 || errors >= static_cast<Index>(slot_of_.size())) return 0;
      const Index slot = slot_of_[static_cast<std::size_t>(errors)];
      return slot < 0 ? 0 : counts[static_cast<std::size_t>(slot * n + i)];
    };
    Index before = 0, last = -1;
    std::size_t next = 0;
    double best = 0.0;
    for (const Index s : possible_errors_) {
      for (; static_cast<Index>(next) <= s; ++next) before += with_[next];
      const Index informative = before + moving(fewer_, s + 1) - moving(more_, s);
      if (informative == last || s >= static_cast<Index>(logs.size())) continue;  // no feature has s errors
      last = informative;
      best =
          std::max(best, scale_.score(logs[static_cast<std::size_t>(s)], informative, std::max(best, floor)));
    }
    return best;
  }

  const RowOrders& orders_;
  const SurpriseScale& scale_;
  Index least_;
  std::vector<char> sides_;
  std::array<Index, 2> sizes_{};
  std::vector<Index> errors_;
  std::vector<std::int32_t> wrong_, above_, change_;
  std::vector<Index> with_;          ///< features with so many errors
  std::vector<Index> slot_of_;       ///< of these errors in the two below; -1: no feature has so many
  std::vector<std::int32_t> fewer_;  ///< slots x N: features with so many errors that get one less
  std::vector<std::int32_t> more_;   ///< or one more, when the row changes sides
  std::vector<Index> possible_errors_;
  std::map<Index, std::vector<double>> tails_;
  std::vector<char> best_sides_;
  double best_score_ = -1.0;
  Index moves_ = 0;
};

}  // namespace

FoundPartition most_surprising_partition(const Dataset& data, const std::vector<Index>& features,
                                         const MaxSurprise& options, std::uint64_t seed, int threads,
                                         std::uint64_t memory_limit, const RunControl& control) {
  const Index n = data.rows(), p = static_cast<Index>(features.size());
  const auto at_once = static_cast<double>(std::min<Index>(resolve_threads(threads), options.restarts));
  require_memory(4.0 * static_cast<double>(n) * static_cast<double>(p) + at_once * Climb::bytes(n, p),
                 fmt::format("the order of {} by every one of {}", counted(n, "row"), counted(p, "feature")),
                 "give fewer columns, or labels", memory_limit);
  const RowOrders orders(data, features, threads);
  const SurpriseScale scale(p);
  const auto share = static_cast<Index>(std::ceil(options.smallest_class * static_cast<double>(n)));
  const Index least = std::clamp<Index>(share, 1, n / 2);

  struct Start {
    double score = -1.0;
    std::vector<char> sides;
    Index moves = 0;
  };
  std::vector<Start> starts(static_cast<std::size_t>(options.restarts));
  std::atomic<Index> done = 0;
  parallel_for(options.restarts, threads, [&](Index r) {
    if (r > 0 && control.should_stop()) return;  // the first one begins in any case: it is an answer
    Climb climb(orders, scale, least);
    Random random(seed, streams::partition_start(r));
    climb.start(random);
    climb.climb(options.patience, control);
    starts[static_cast<std::size_t>(r)] = {
        .score = climb.best_score(), .sides = climb.best_sides(), .moves = climb.moves()};
    control.report("max-surprise", static_cast<double>(++done) / static_cast<double>(options.restarts));
  });

  FoundPartition found;
  const Start* best = nullptr;
  for (const Start& start : starts) {
    if (start.sides.empty()) continue;
    found.starts.push_back(start.score);
    found.moves += start.moves;
    if (best == nullptr || start.score > best->score) best = &start;
  }
  for (const char side : best->sides) found.sides.push_back(side == best->sides.front() ? 0 : 1);
  const auto errors = threshold_errors(data, features, found.sides, threads);
  const Index ones = std::accumulate(found.sides.begin(), found.sides.end(), Index{0});
  found.surprise = scale.surprise_of(
      errors, threshold_error_log_tails(std::min(ones, n - ones), std::max(ones, n - ones)));
  return found;
}

}  // namespace subspectra::filters
