#pragma once
/// What the branch-and-bound engine (exact_engine.hpp) asks of a way to bound: take one open node, go down
/// from it depth first for a while, and hand back what was found and what is left.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <subspectra/run_control.hpp>
#include "search/exact.hpp"
#include "search/exact_hooks.hpp"
#include "search/pool.hpp"

namespace subspectra::search {

/// A size that a node serves.
struct ServedSize {
  Index k = 0;
  double bound = kInfinity;  ///< no set of this size in the node is better
};

/// A node of the tree: all sets of k units that contain `kept` and lie in `kept` + `free`. Where sizes share
/// a tree it also serves the sets of other sizes.
struct OpenNode {
  Index k = 0;
  std::vector<std::int32_t> kept;            ///< ascending
  std::vector<std::int32_t> free;            ///< ascending
  double bound = kInfinity;                  ///< no set of k units in the node is better
  std::vector<ServedSize> also_serves = {};  ///< ascending, all larger than k
};

/// What one visit found for one size.
struct SizeFindings {
  explicit SizeFindings(const Pool& known) : pool(known.fresh_copy()) {}
  Pool pool;                      ///< the known sets and those found here
  double discarded = -kInfinity;  ///< the largest bound that was closed because of Eslda::gap alone
};

/// What one visit found for the node's k and for the sizes that the node serves as well, and what it left.
struct VisitFindings : SizeFindings {
  explicit VisitFindings(const Pool& known) : SizeFindings(known) {}
  std::vector<SizeFindings> also_served = {};  ///< as OpenNode::also_serves of the node
  std::vector<OpenNode> open;  ///< what is left of the node, in an order that depends on nothing but the node
  std::uint64_t nodes = 0;
};

class Explorer {
 public:
  virtual ~Explorer() = default;
  Explorer() = default;
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// Relative error that values and bounds may carry.
  [[nodiscard]] virtual double slack() const = 0;
  /// Nodes a visit should take: some milliseconds of work.
  [[nodiscard]] virtual std::uint64_t budget() const = 0;
  /// Visits of a round, between which the engine saves, logs and looks at the clock: a few seconds of work.
  [[nodiscard]] virtual std::size_t visits() const = 0;
  /// The bound of a root for its size; need not be strong. May throw linalg::Stopped.
  [[nodiscard]] virtual double bound(const OpenNode& node) const = 0;
  /// A valid bound without the work that makes bound() good, for a search that is stopped before it begins.
  [[nodiscard]] virtual double quick_bound(const OpenNode& node) const { return bound(node); }
  /// Whether bound() of a root is the same at every size, so that once is enough.
  [[nodiscard]] virtual bool bound_ignores_size() const { return false; }
  /// What a bound of the best set of k units says about the sets of k + 1.
  [[nodiscard]] virtual double bound_of_next([[maybe_unused]] Index k, [[maybe_unused]] double bound) const {
    return kInfinity;
  }
  /// Whether a node can serve several sizes: all of them then go down one tree.
  [[nodiscard]] virtual bool shares_sizes() const { return false; }
  /// Nodes that each of several sizes visits in a tree of its own before those that are still open share one.
  /// Sizes that are easy alone are proven at once then, however soon the search is stopped; little is given
  /// up for the others: half a second of work or less.
  [[nodiscard]] virtual std::uint64_t own_tree_nodes() const { return 0; }
  /// Memory of one visit; 0: not worth counting.
  [[nodiscard]] virtual double visit_bytes() const { return 0.0; }
  /// From scratch, by a factorization of the set's own matrices.
  [[nodiscard]] virtual double value(const std::vector<Index>& units) const = 0;
  /// False only where exchanging one unit for the other surely changes the criterion.
  [[nodiscard]] virtual bool alike(Index a, Index b) const = 0;
  /// A search may run on a monotone image of the criterion, t for log(1 + t): values and bounds are in the
  /// scale of the search, and this gives the criterion itself.
  [[nodiscard]] virtual double monotone_image_to_criterion(double value) const { return value; }
  /// Everything the answer depends on, as bytes: a checkpoint belongs to one such problem.
  virtual void fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const = 0;
  /// Depth first from `node` for at most `budget` nodes or until `control` says stop; closes what
  /// `cutoff` and the pool in `findings` allow. Const and free of shared state: called from many threads.
  virtual void explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff,
                       const RunControl& control, VisitFindings& findings) const = 0;
};

/// All may throw linalg::Stopped; perron_explorer() keeps `control`.
/// A = M M': superset and drop bounds in both directions (factor_explorer.cpp). Any rank, any criterion.
[[nodiscard]] std::unique_ptr<Explorer> factor_explorer(const Pencil& pencil, const SearchUnits& units,
                                                        const ExactRun& run, const RunControl& control,
                                                        const ExactHooks& hooks = {});
/// Single features, B not the identity: all pairs and triples are tried (sweep_explorer.cpp).
[[nodiscard]] std::unique_ptr<Explorer> sweep_explorer(const Pencil& pencil, const SearchUnits& units,
                                                       const ExactRun& run, const RunControl& control,
                                                       const ExactHooks& hooks = {});
/// B = I, criterion lambda_max(A_S): the row-wise Perron bound (perron_explorer.cpp).
[[nodiscard]] std::unique_ptr<Explorer> perron_explorer(const Pencil& pencil, const SearchUnits& units,
                                                        const ExactRun& run, const RunControl& control,
                                                        const ExactHooks& hooks = {});

}  // namespace subspectra::search
