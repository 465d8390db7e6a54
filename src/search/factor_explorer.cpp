/// The exact search over a factor pencil, as the engine sees it.
#include <algorithm>

#include "linalg/tiled.hpp"
#include "search/explorer.hpp"
#include "search/factor_problem.hpp"

namespace subspectra::search {
namespace {

class FactorExplorer final : public Explorer {
 public:
  FactorExplorer(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                 const RunControl& control, const ExactHooks& hooks)
      : problem_(pencil, units, run, control, hooks),
        tuning_(problem_.hooks.tuning.factor),
        scans_(problem_.single && (problem_.is_trace() || problem_.m.cols() <= tuning_.most_scanned)) {}

  [[nodiscard]] double slack() const override { return problem_.slack; }
  /// A node costs O(n^2), the start of a visit O(n^3).
  [[nodiscard]] std::uint64_t budget() const override {
    const double n = static_cast<double>(problem_.b.rows());
    const double most = scans_ ? tuning_.scan_nodes : tuning_.block_nodes;
    const double cheaper = tuning_.full_features / n;
    return static_cast<std::uint64_t>(std::clamp(most * cheaper * cheaper, most * tuning_.least_share, most));
  }
  [[nodiscard]] std::size_t visits() const override {
    return problem_.hooks.tuning.engine.visits(problem_.b.rows());
  }
  [[nodiscard]] double bound(const OpenNode&) const override {
    return problem_.whole * (1.0 + problem_.slack);
  }
  [[nodiscard]] bool bound_ignores_size() const override { return true; }  // f of the whole superset
  [[nodiscard]] bool shares_sizes() const override { return true; }
  [[nodiscard]] std::uint64_t own_tree_nodes() const override {
    return (scans_ ? tuning_.scan_own_visits : tuning_.block_own_visits) * budget();
  }
  [[nodiscard]] double visit_bytes() const override { return problem_.visit_bytes(); }
  [[nodiscard]] double value(const std::vector<Index>& units) const override { return problem_.value(units); }
  [[nodiscard]] bool alike(Index a, Index b) const override { return problem_.alike(a, b); }
  [[nodiscard]] double monotone_image_to_criterion(double value) const override {
    return problem_.monotone_image_to_criterion(value);
  }
  void fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const override {
    bytes(problem_.b.data(), static_cast<std::size_t>(problem_.b.size()) * sizeof(double));
    bytes(problem_.m.data(), static_cast<std::size_t>(problem_.m.size()) * sizeof(double));
    bytes(problem_.first.data(), problem_.first.size() * sizeof(Index));
    bytes(&problem_.criterion, sizeof problem_.criterion);
  }
  void explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff, const RunControl& control,
               VisitFindings& findings) const override {
    try {
      (scans_ ? scan_explore : block_explore)(problem_, node, budget, cutoff, control, findings);
    } catch (const linalg::Stopped&) {  // before the node was looked into
      findings.open.push_back(node);
    }
  }

 private:
  FactorProblem problem_;
  const FactorTuning& tuning_;
  bool scans_;
};

}  // namespace

std::unique_ptr<Explorer> factor_explorer(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                                          const RunControl& control, const ExactHooks& hooks) {
  return std::make_unique<FactorExplorer>(pencil, units, run, control, hooks);
}

}  // namespace subspectra::search
