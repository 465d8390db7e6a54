#pragma once
/// Greedy subset search: what one pass gives, and the doors to the passes. docs/methods/greedy.md.
#include <memory>
#include <string>
#include <vector>

#include <subspectra/options.hpp>
#include <subspectra/path.hpp>
#include <subspectra/run_control.hpp>
#include "search/units.hpp"
#include "spectral/pencil.hpp"

namespace subspectra {

namespace device {
class Device;
}

/// How a backward pass over a table holds B^{-1}: as a matrix, or through the rows (Woodbury) when there are
/// fewer of them than columns. Automatic takes what is faster and fits.
enum class InverseRoute { kAutomatic, kDense, kRows };

struct GreedyOptions {
  Criterion criterion = Criterion::kLargest;
  Index least = 1;  ///< backward stops at this many units
  Index most = 0;   ///< forward stops at this many units; 0: all
  int threads = 0;
  std::uint64_t memory_limit = 0;
  InverseRoute route = InverseRoute::kAutomatic;
  /// Makes the passes where it can (search/card_pass.hpp); null: the processor does.
  std::shared_ptr<const device::Device> card = nullptr;
};

/// Nested sets. In both directions the set of size k is the first k units of `order` (a backward pass lists
/// the unit it deleted last right after those that were never deleted, and the first deleted at the end).
struct GreedyPass {
  std::vector<Index> order;
  Index least = 1;  ///< sets of least..most units are known (a pass that was stopped knows fewer)
  Index most = 0;
  std::vector<Index> dependent;  ///< forward: units that were linear combinations of the chosen ones
  Status status = Status::kInterrupted;
  bool on_card = false;      ///< a card made it
  std::string card_problem;  ///< why the processor made it though there was a card
};

/// What is known of all candidates together: the root of every upper bound.
struct RootLosses {
  double value = 0.0;  ///< the criterion of the set of all candidates
  /// By unit: value - criterion without it (0 for included units, which never leave). Empty: not computed.
  Vector losses;
  Vector eigenvalues;  ///< of (A, B) over all candidates, descending: the nonzero ones, or the largest
  /// Upper bounds on lambda_max of P = B^{-1} scaled to a unit diagonal, and of D^{1/2} P D^{1/2}, D =
  /// diag(B) (the inverse of the smallest eigenvalue of B's correlation matrix); infinite where they were not
  /// computed.
  double inverse_correlation = kInfinity;
  double correlation_inverse = kInfinity;
  bool precise = false;                 ///< to more digits than a double has (search/precise_search.hpp)
  double correlation_norm = kInfinity;  ///< upper bound on the largest eigenvalue of B's correlation matrix
};

/// Adds, one after another, the unit with the largest criterion (ties: the lowest). docs/theory/greedy.md
/// where A has a factor, variance_forward.cpp and variance_groups.cpp where it has none.
[[nodiscard]] GreedyPass forward_pass(const Pencil& pencil, const SearchUnits& units,
                                      const GreedyOptions& options, const RunControl& control);
/// Starts from all units and deletes, one after another, the one whose loss is smallest (ties: the lowest).
/// elimination.hpp where A has a factor, variance_backward.cpp where it has none. Throws Infeasible when B
/// over the candidates is singular. `root` receives the losses at the start if it is not null.
[[nodiscard]] GreedyPass backward_pass(const Pencil& pencil, const SearchUnits& units,
                                       const GreedyOptions& options, const RunControl& control,
                                       RootLosses* root = nullptr);

/// Both passes, one after the other: side by side, each on half of the threads' time, they were measured to
/// be slower (they compete for the memory).
struct DualPass {
  GreedyPass forward;
  GreedyPass backward;     ///< empty where there is none
  std::string infeasible;  ///< why there is no backward pass: B over the candidates is singular
};
[[nodiscard]] DualPass dual_pass(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                                 const RunControl& control, RootLosses* root = nullptr);

/// Whether the losses of all candidates go through the rows, N x N.
[[nodiscard]] bool root_through_rows(const Pencil& pencil, Index candidates, InverseRoute route);

/// The value of all candidates together where root_through_rows(), without their losses: the bounds of
/// inclusion and of single features. From Z Z', which the automatic ridge has computed as a rule, one pass
/// over the rows, where the losses take three times 2 N^2 p flops and a copy of the table.
[[nodiscard]] RootLosses root_value(const Pencil& pencil, const SearchUnits& units,
                                    const GreedyOptions& options);

/// The losses alone, for pencils with a factor.
[[nodiscard]] RootLosses root_losses(const Pencil& pencil, const SearchUnits& units,
                                     const GreedyOptions& options);

/// The same two for pencils whose A has no factor (PCA, a dense pair): search/variance_search.cpp. The
/// criterion is lambda_max(A_S, B_S), whatever the options say.
[[nodiscard]] GreedyPass forward_variance_pass(const Pencil& pencil, const SearchUnits& units,
                                               const GreedyOptions& options, const RunControl& control);
[[nodiscard]] GreedyPass backward_variance_pass(const Pencil& pencil, const SearchUnits& units,
                                                const GreedyOptions& options, const RunControl& control,
                                                RootLosses* root = nullptr);

}  // namespace subspectra
