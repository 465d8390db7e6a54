/// Exact sparse PCA: branch and bound over a residual matrix. docs/theory/exact-pca.md.
///
/// A node keeps the units I and chooses g = k - |I| of the free ones, F. For any lambda > lambda_max(A_I)
///     lambda_max(A_S) <= lambda  if and only if  lambda_max(C_G) <= lambda,   S = I + G,
///     C = A_FF + A_FI (lambda - A_I)^{-1} A_IF,
/// so that with lambda = the value to beat the question about I + F becomes one about F alone, in which I is
/// accounted for exactly; keeping one more variable is a rank-one update of C. C is bounded row by row: for
/// any d > 0
///     lambda_max(C_G) <= max_{i in G} c_ii + (the g - 1 largest |c_ij| d_j)/d_i.
///
/// The parts: the matrix of the whole problem (perron_problem.hpp), a node and its C (perron_node.hpp,
/// row_bounded_matrix.hpp), the bounds (perron_bounds.hpp) and the way down the tree (perron_descent.hpp).
#include <memory>

#include "search/explorer.hpp"
#include "search/perron_descent.hpp"
#include "search/perron_problem.hpp"

namespace subspectra::search {
namespace {

class PerronExplorer final : public Explorer {
 public:
  PerronExplorer(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                 const RunControl& control, const ExactHooks& hooks)
      : problem_(pencil, units, run, control, hooks) {}

  [[nodiscard]] double slack() const override { return problem_.slack; }
  [[nodiscard]] std::uint64_t budget() const override { return problem_.budget; }
  [[nodiscard]] std::size_t visits() const override {
    return problem_.hooks.tuning.engine.visits(problem_.a.rows());
  }
  [[nodiscard]] double bound(const OpenNode& node) const override {
    const Pool pool(1);
    VisitFindings findings(pool);
    const Cutoff cutoff(problem_.slack, 0.0);
    return problem_.scale * PerronDescent(problem_, cutoff, findings).root_bound(node);
  }
  [[nodiscard]] double quick_bound(const OpenNode& node) const override { return problem_.quick_bound(node); }
  [[nodiscard]] double bound_of_next(Index k, double bound) const override {
    return problem_.bound_of_next(k, bound);
  }
  [[nodiscard]] double value(const std::vector<Index>& units) const override {
    return problem_.scale * problem_.scaled_value(units);
  }
  [[nodiscard]] bool alike(Index u, Index v) const override { return problem_.alike(u, v); }
  void fingerprint(const std::function<void(const void*, std::size_t)>& bytes) const override {
    bytes(problem_.a.data(), static_cast<std::size_t>(problem_.a.size()) * sizeof(double));
    bytes(problem_.first.data(), problem_.first.size() * sizeof(Index));
    bytes(&problem_.scale, sizeof problem_.scale);
  }
  void explore(const OpenNode& node, std::uint64_t budget, const Cutoff& cutoff, const RunControl& control,
               VisitFindings& findings) const override {
    PerronDescent(problem_, cutoff, findings).run(node, budget, control);
  }

 private:
  PerronProblem problem_;
};

}  // namespace

std::unique_ptr<Explorer> perron_explorer(const Pencil& pencil, const SearchUnits& units, const ExactRun& run,
                                          const RunControl& control, const ExactHooks& hooks) {
  return std::make_unique<PerronExplorer>(pencil, units, run, control, hooks);
}

}  // namespace subspectra::search
