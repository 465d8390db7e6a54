#pragma once
/// Greedy passes on a card (device/pass.hpp), where A has a factor and single features move. The order is
/// what the card gives; sets, objectives and bounds are computed here, as those of any pass.
#include "device/plugin.hpp"
#include "search/greedy.hpp"

namespace subspectra::search {

/// Whether a card can make passes over this pencil.
[[nodiscard]] bool suits_card_pass(const Pencil& pencil, const SearchUnits& units);

/// How far a forward pass goes, and from what.
struct CardForward {
  Index most = 0;      ///< units, at most
  Index rank = 0;      ///< no set is larger than this: what is left then depends on what has been chosen
  bool dense = false;  ///< from B as a whole, else from the columns of the table
};

/// Throws device::Unable where the processor has to do it.
[[nodiscard]] GreedyPass forward_on_card(const Pencil& pencil, const SearchUnits& units,
                                         const GreedyOptions& options, const CardForward& plan,
                                         const RunControl& control);
/// Throws device::Unable, also where B is singular.
[[nodiscard]] GreedyPass backward_on_card(const Pencil& pencil, const SearchUnits& units,
                                          const GreedyOptions& options, const RunControl& control);

}  // namespace subspectra::search
