#pragma once
/// Whether a path has every size that it must have: a result from which sets were taken out proves less than
/// it seems to.
#include <optional>
#include <string>
#include <vector>

#include "verify/claims.hpp"

namespace subspectra::verify {

/// What the data and the constraints allow.
struct PossibleSizes {
  Index least = 1;  ///< the included units
  Index most = 0;   ///< no set is larger
  Index sure = 0;   ///< up to here sets exist in any case; between, rounding decides which are independent
  std::optional<Index> in_doubles;  ///< up to here doubles tell as much; nothing: as `sure`
};

struct SizesFinding {
  std::vector<Index> missing;  ///< of those that were asked for and are possible
  std::string wrong;           ///< "" when nothing is
  std::string unknown;         ///< why that cannot be said, and what to do; "" when it can
};

/// `component`: 1 is `path`, the others stand in `further`.
[[nodiscard]] SizesFinding check_sizes(const ClaimedResult& claims, const std::vector<ClaimedEntry>& path,
                                       Index component, const PossibleSizes& possible);

}  // namespace subspectra::verify
