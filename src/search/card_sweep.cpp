#include "search/card_sweep.hpp"

#include <utility>

namespace subspectra::search {
namespace {

SubspectraScanProblem card_problem(const CardTable& table) {
  SubspectraScanProblem problem{};
  switch (table.kind) {
    case SweepKind::kDefinite:
      problem.form = SUBSPECTRA_SCAN_DEFINITE;
      break;
    case SweepKind::kRatio:
      problem.form = SUBSPECTRA_SCAN_RATIO;
      break;
    case SweepKind::kTrace:
      problem.form = SUBSPECTRA_SCAN_TRACE;
      break;
  }
  problem.features = table.m->rows();
  problem.directions = table.m->cols();
  problem.direction = table.m->data();
  if (table.b == nullptr) {
    problem.rows = table.z.rows();
    problem.factor = table.z.data();
    problem.factor_lead = table.z.rows();
    problem.added = table.ridge.size() > 0 ? table.ridge.data() : nullptr;
  } else {
    problem.matrix = table.b;
    problem.matrix_lead = table.b_lead;
  }
  problem.rounding = table.error;
  problem.dependent = table.dependent;
  return problem;
}

}  // namespace

CardSweep::CardSweep(std::shared_ptr<const device::Device> card, const CardTable& table, int size)
    : card_(std::move(card)), size_(size), scan_(card_, card_problem(table), size) {}

device::ScanReport CardSweep::sweep(Index size, Index first, const device::SetSeeker& seeker,
                                    const RunControl& control) const {
  const std::lock_guard<std::mutex> alone(mutex_);
  return device::try_every_set(scan_, static_cast<int>(size), first, seeker, control);
}

}  // namespace subspectra::search
