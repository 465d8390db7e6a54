#pragma once
/// One visit of the search for sparse PCA: from an open node down, depth first, until the budget is spent.
#include <cstdint>
#include <memory>
#include <vector>

#include "search/perron_bounds.hpp"

namespace subspectra::search {

class PerronDescent {
 public:
  PerronDescent(const PerronProblem& problem, const Cutoff& cutoff, VisitFindings& findings)
      : problem_(problem),
        tuning_(problem.tuning()),
        findings_(findings),
        limits_(problem, cutoff, findings),
        bounds_(problem, limits_) {}

  /// The bound of a root and nothing else, in the scale of PerronProblem::a. May throw linalg::Stopped.
  [[nodiscard]] double root_bound(const OpenNode& root);
  /// The visit (Explorer::explore()).
  void run(const OpenNode& from, std::uint64_t budget, const RunControl& control);

 private:
  [[nodiscard]] double halfway_bound(const OpenNode& from);
  void search();
  bool finish_leaf(const PerronNode& node);
  [[nodiscard]] bool close(PerronNode& node);
  [[nodiscard]] Index unit_to_branch_on(const PerronNode& node) const;
  void hand_back(const PerronNode& node);
  void guard(const PerronNode& node) const;
  [[nodiscard]] bool stopped();
  PerronNode& push();
  void release();

  const PerronProblem& problem_;
  const PerronTuning& tuning_;
  VisitFindings& findings_;
  PerronLimits limits_;
  PerronBounds bounds_;
  const RunControl* control_ = nullptr;
  std::uint64_t budget_ = 0;
  bool stopped_ = false;
  std::vector<std::unique_ptr<PerronNode>> stack_;  ///< reused: those from depth_ on are not in use
  Index depth_ = 0;
};

}  // namespace subspectra::search
