#pragma once
/// Local search by exchanges: one unit leaves a set, another enters, as long as a rule names an exchange.
///
/// There is one walk, walk_by_exchanges(); what differs between its users is which exchanges are looked at
/// and which one is made, and that is an ExchangeRule:
///   EveryExchange  (swaps.cpp) the best of all k (p - k) exchanges, by update formulas: single features and
///                  a pencil with a factor, where a look at all of them costs hardly more than one criterion
///   CheapestLosses the best of the exchanges in which one of the few units leaves that cost least; every set
///                  is evaluated from scratch, so that it serves groups and any pencil
///   Detours        by way of larger or smaller sets: some units enter and as many leave, or the other way
///                  round, and then cheap exchanges: where those alone are stuck
///   LowestOfTies   the first exchange for a lower unit that leaves the value where it is: of sets that tie
///                  the one with the lowest units is the answer, and copies of a feature are found this way
#include <functional>
#include <optional>

#include <subspectra/run_control.hpp>
#include "search/exact_tuning.hpp"
#include "search/explorer.hpp"

namespace subspectra::search {

class ExchangeRule {
 public:
  ExchangeRule() = default;
  ExchangeRule(const ExchangeRule&) = delete;
  ExchangeRule& operator=(const ExchangeRule&) = delete;
  virtual ~ExchangeRule() = default;
  /// The set to go to from `at`, of as many units, its units ascending and its value recomputed; nothing
  /// when the walk is over. After the first call `at` is what the last call returned.
  [[nodiscard]] virtual std::optional<RankedSet> next(const RankedSet& at) = 0;
};

struct ExchangeWalk {
  RankedSet end;
  Index exchanges = 0;
};

/// At most `most` exchanges, or until `control` says stop. `visited`, if any, sees every set but the first.
[[nodiscard]] ExchangeWalk walk_by_exchanges(RankedSet start, ExchangeRule& rule, Index most,
                                             const RunControl& control,
                                             const std::function<void(const RankedSet&)>& visited = {});

/// Of the units whose loss costs least (ExchangeTuning::leaving) one leaves for the best other one, if that
/// raises the value by more than a tie. Forced units stay. A stop ends the walk in the middle of a look.
class CheapestLosses final : public ExchangeRule {
 public:
  CheapestLosses(const Explorer& explorer, const SearchUnits& units, const ExchangeTuning& tuning,
                 const RunControl& control)
      : explorer_(explorer), units_(units), tuning_(tuning), control_(control) {}
  [[nodiscard]] std::optional<RankedSet> next(const RankedSet& at) override;
  /// Whether a look at all exchanges of a set of k units is worth its time.
  [[nodiscard]] static bool affordable(Index units, Index k, const ExchangeTuning& tuning);

 private:
  const Explorer& explorer_;
  const SearchUnits& units_;
  const ExchangeTuning& tuning_;
  const RunControl& control_;
};

/// Some units that bring most enter and as many that cost least leave, or the other way round, and from there
/// CheapestLosses; the first that raises the value by more than a tie, one unit at a time before two.
class Detours final : public ExchangeRule {
 public:
  Detours(const Explorer& explorer, const SearchUnits& units, const ExchangeTuning& tuning,
          const RunControl& control)
      : explorer_(explorer), units_(units), tuning_(tuning), control_(control) {}
  [[nodiscard]] std::optional<RankedSet> next(const RankedSet& at) override;

 private:
  [[nodiscard]] std::optional<std::vector<Index>> changed(const std::vector<Index>& set, bool enters) const;

  const Explorer& explorer_;
  const SearchUnits& units_;
  const ExchangeTuning& tuning_;
  const RunControl& control_;
};

/// The highest unit that can leaves for the lowest that is alike, if the value stays within a tie. Forced
/// units stay.
class LowestOfTies final : public ExchangeRule {
 public:
  LowestOfTies(const Explorer& explorer, const SearchUnits& units) : explorer_(explorer), units_(units) {}
  [[nodiscard]] std::optional<RankedSet> next(const RankedSet& at) override;

 private:
  const Explorer& explorer_;
  const SearchUnits& units_;
};

}  // namespace subspectra::search
