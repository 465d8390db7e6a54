#pragma once
/// How alike the sets are that a method chose on different training rows.
#include <optional>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace subspectra {

struct Stability {
  double index = 0.0;
  std::pair<double, double> interval;  ///< 95 %, cut to the values the index can take, -1/(M-1) to 1
};

/// Nogueira, Sechidis & Brown, "On the stability of feature selection algorithms", JMLR 18(174), 2018, Eq.
/// (4), and the interval of their Section 4. 1: always the same set; 0: what drawing at random would give;
/// -1/(M-1), the least it can be: sets that share as little as possible.
///     Phi = 1 - [1/p sum_f M/(M-1) h_f (1 - h_f)] / [kbar/p (1 - kbar/p)],   h_f the frequency of feature f.
/// `sets`: M >= 2 ascending sets out of p features. Nothing when M < 2; 1 when every set is empty or full.
[[nodiscard]] std::optional<Stability> nogueira_stability(const std::vector<std::vector<Index>>& sets,
                                                          Index p);

}  // namespace subspectra
