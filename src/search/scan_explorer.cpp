/// Exact search over single features and a few discriminants: two classes (r = 1), or more by any criterion.
/// docs/theory/exact.md.
///
/// A node keeps I for good and has F free; T = I + F. It is a smaller problem of the same kind, seen from two
/// sides:
///   from below   G = B_FF - B_FI B_I^{-1} B_IF, C = M_F - B_FI B_I^{-1} M_I: i brings |C_i|^2/G_ii to f(I)
///   from above   P = G^{-1} = (B_T^{-1})_FF, U = P C:                       i takes |U_i|^2/P_ii from f(T)
/// Keeping i is a pivot of (G, C) and a deletion in (P, U); dropping it is the reverse. So the whole node
/// costs O(|F|^2), whatever |I| is, and the last two features to be kept, or dropped, need no tree: the best
/// pair is one scan over G (or P). That is for the trace; `largest` and `wilks` have the r x r matrices T_I
/// and T_T beside it, through which gains, losses and pairs are asked about (scan_criterion.hpp).
///
/// The parts:
///   ScanLevel      (scan_level.hpp)       a node as matrices, and what keeping a unit makes of them
///   ScanChild      (scan_child.hpp)       a child: what it costs, which bounds close it, its matrices
///   ScanLastUnits  (scan_last_units.hpp)  the last one or two units, by a scan
///   ScanFindings   (scan_findings.hpp)    the units kept, what is to be beaten, found and left
///   ScanDescent    (here)                 the order in which the tree is gone down, and when to stop
#include <algorithm>
#include <deque>
#include <numeric>

#include "search/factor_problem.hpp"
#include "search/scan_child.hpp"
#include "search/scan_criterion.hpp"
#include "search/scan_findings.hpp"
#include "search/scan_last_units.hpp"
#include "search/scan_level.hpp"

namespace subspectra::search {
namespace {

class ScanDescent {
 public:
  ScanDescent(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff,
              const RunControl& control, VisitFindings& findings)
      : problem_(problem),
        budget_(budget),
        control_(control),
        most_depth_(problem.most_depth(padded_row(static_cast<std::int64_t>(node.free.size())))),
        criterion_(problem.criterion, problem.m.cols(), problem.slack),
        findings_(problem, node, cutoff, findings),
        last_(problem, criterion_, findings_),
        child_(problem, criterion_, findings_) {}

  void run(const OpenNode& node) {
    ScanLevel& root = level(0, static_cast<std::int64_t>(node.free.size()));
    if (!root.build(problem_, node, control_, criterion_)) return;
    root.open_sizes.resize(findings_.sizes());
    std::iota(root.open_sizes.begin(), root.open_sizes.end(), 0);
    enter(root);
  }

 private:
  ScanLevel& level(std::size_t depth, std::int64_t count) {
    while (depth >= levels_.size()) levels_.emplace_back(problem_.m.cols(), problem_.is_trace());
    levels_[depth].resize(count);
    return levels_[depth];
  }

  /// The root of the visit is built and ordered.
  void enter(ScanLevel& root) {
    std::erase_if(root.open_sizes, [&](std::int32_t s) {
      Limits& limits = findings_.limits(s);
      const std::int64_t more = findings_.more_of(s), less = root.count - more;
      if (more < 0 || less < 0 || limits.closed(root.f_all)) return true;
      if (less == 0) {
        findings_.offer(limits, root.ids.data(), root.count);
      } else if (last_.drops_first(more, less)) {
        last_.drop(limits, root, less);
      } else if (more <= last_.most()) {
        last_.keep(limits, root, 0, more);
      } else {
        return false;
      }
      return true;
    });
    if (!root.open_sizes.empty()) walk(0);
  }

  /// Child t drops the t-th free unit and keeps those before it: the largest subtree, that of the unit missed
  /// most, comes first and dies first. The order is the same for every size, so that all of them go down
  /// together; a child lives as long as one of them needs it. False when the budget ran out inside.
  bool walk(std::size_t depth) {
    const std::size_t kept_before = findings_.kept();
    ScanLevel& at = levels_[depth];  // a deque: growing it moves no level
    for (std::int64_t t = 0;; ++t) {
      // I + {0..t-1} kept, t.. free: two more to keep need no tree.
      std::erase_if(at.open_sizes, [&](std::int32_t s) {
        const std::int64_t more = findings_.more_of(s);
        if (more > last_.most()) return false;
        last_.keep(findings_.limits(s), at, t, more);
        return true;
      });
      if (at.open_sizes.empty()) break;
      work_ += at.count * at.count;
      if (findings_.nodes() >= budget_ ||
          (work_ > problem_.hooks.tuning.factor.entries_between_looks && asked_to_stop())) {
        findings_.hand_back(at, t);
        findings_.keep_first(kept_before);
        return false;
      }
      findings_.count_node();
      const bool done = !child_.open(at, t) || enter_child(depth, t);
      const std::int32_t unit = at.ids[static_cast<std::size_t>(t)];
      if (!done) {
        findings_.keep(unit);
        findings_.hand_back(at, t + 1);
        findings_.keep_first(kept_before);
        return false;
      }
      at.keep(t);
      findings_.keep(unit);
    }
    findings_.keep_first(kept_before);
    return true;
  }

  bool asked_to_stop() {
    work_ = 0;
    return control_.should_stop();
  }

  /// Builds the child that is open and goes down from it. False when the budget ran out inside.
  bool enter_child(std::size_t depth, std::int64_t t) {
    const std::size_t kept_before = findings_.kept();
    const ScanLevel& at = levels_[depth];
    ScanLevel& to = level(depth + 1, at.count - t - 1);
    child_.build_below(at, t, to);
    // What needs no tree, first that from (G, C) alone.
    to.open_sizes.clear();
    for (const std::int32_t s : child_.sizes()) {
      const std::int64_t more = findings_.more_of(s), less = to.count - more;
      if (less == 0) {
        findings_.offer(findings_.limits(s), to.ids.data(), to.count);
      } else if (more <= last_.most() && !last_.drops_first(more, less)) {
        last_.keep(findings_.limits(s), to, 0, more);
      } else {
        to.open_sizes.push_back(s);
      }
    }
    const bool done = to.open_sizes.empty() || walk_child(depth, t);
    findings_.keep_first(kept_before);
    return done;
  }

  /// The rest of the child's matrices, for the sizes that still need it, and the way down.
  bool walk_child(std::size_t depth, std::int64_t t) {
    const ScanLevel& at = levels_[depth];
    ScanLevel& to = levels_[depth + 1];
    child_.build_losses(at, to);
    if (depth + 1 >= most_depth_) {  // what lies below waits for a visit of its own
      findings_.hand_back(to, 0);
      return true;
    }
    child_.build_above(at, t, to);
    std::erase_if(to.open_sizes, [&](std::int32_t s) {
      const std::int64_t more = findings_.more_of(s), less = to.count - more;
      if (!last_.drops_first(more, less)) return false;
      last_.drop(findings_.limits(s), to, less);
      return true;
    });
    return to.open_sizes.empty() || walk(depth + 1);
  }

  const FactorProblem& problem_;
  std::uint64_t budget_;
  const RunControl& control_;
  std::size_t most_depth_;
  std::int64_t work_ = 0;    ///< entries passed over since the last look at the clock
  ScanCriterion criterion_;  ///< where it is no trace
  ScanFindings findings_;
  ScanLastUnits last_;
  ScanChild child_;
  std::deque<ScanLevel> levels_;
};

}  // namespace

void scan_explore(const FactorProblem& problem, const OpenNode& node, std::uint64_t budget,
                  const Cutoff& cutoff, const RunControl& control, VisitFindings& findings) {
  ScanDescent(problem, node, budget, cutoff, control, findings).run(node);
}

}  // namespace subspectra::search
