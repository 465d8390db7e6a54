/// subspectra-clp.so: Clp behind solvers/simplex.hpp.
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>

#include <vector>

#include "solvers/simplex.hpp"

namespace subspectra {
namespace {

/// Ends Clp between two pivots.
class StopBetweenPivots final : public ClpEventHandler {
 public:
  StopBetweenPivots(StopQuestion stop, const void* subject) : stop_(stop), subject_(subject) {}
  int event(Event what) override { return what == endOfIteration && stop_(subject_) ? 0 : -1; }
  [[nodiscard]] ClpEventHandler* clone() const override {
    return new StopBetweenPivots(*this);  // NOLINT(cppcoreguidelines-owning-memory): Clp deletes it
  }

 private:
  StopQuestion stop_;
  const void* subject_;
};

class ClpWorker final : public Simplex {
 public:
  ClpWorker(std::span<const double> right_side, StopQuestion stop, const void* subject)
      : rows_(right_side.size()) {
    model_.setLogLevel(0);
    model_.setPrimalTolerance(1e-9);
    model_.setDualTolerance(1e-9);
    const StopBetweenPivots handler(stop, subject);
    model_.passInEventHandler(&handler);
    model_.resize(static_cast<int>(rows_), 0);
    for (std::size_t i = 0; i < rows_; ++i) {
      model_.setRowBounds(static_cast<int>(i), right_side[i], right_side[i]);
    }
  }

  void add_columns(std::span<const double> entries) override {
    const std::size_t count = entries.size() / rows_;
    std::vector<CoinBigIndex> starts{0};
    std::vector<int> places;
    for (std::size_t column = 0; column < count; ++column) {
      for (std::size_t i = 0; i < rows_; ++i) places.push_back(static_cast<int>(i));
      starts.push_back(static_cast<CoinBigIndex>(places.size()));
    }
    const std::vector<double> zeros(count, 0.0);
    const std::vector<double> ones(count, 1.0);
    const std::vector<double> infinite(count, COIN_DBL_MAX);
    model_.addColumns(static_cast<int>(count), zeros.data(), infinite.data(), ones.data(), starts.data(),
                      places.data(), entries.data());
  }

  bool solve(int most_pivots) override {
    model_.setMaximumIterations(most_pivots);
    // y = 0 is dual feasible; afterwards new columns leave the basis primal feasible.
    const int status = solved_ ? model_.primal() : model_.dual();
    solved_ = true;
    return status == 0;
  }
  [[nodiscard]] int last_pivots() const override { return model_.numberIterations(); }
  [[nodiscard]] const double* values() const override { return model_.primalColumnSolution(); }
  [[nodiscard]] const double* multipliers() const override { return model_.dualRowSolution(); }

 private:
  std::size_t rows_;
  ClpSimplex model_;
  bool solved_ = false;
};

}  // namespace
}  // namespace subspectra

extern "C" __attribute__((visibility("default"))) subspectra::Simplex* subspectra_make_simplex(
    std::span<const double> right_side, subspectra::StopQuestion stop, const void* subject) {
  return new subspectra::ClpWorker(right_side, stop, subject);
}
