#include "search/card_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "device/pass.hpp"
#include "search/scorer.hpp"
#include "spectral/discriminants.hpp"

namespace subspectra::search {
namespace {

constexpr Index kStepsOfMatrix = 128, kStepsOfTable = 8;  ///< between two looks at the clock

std::int32_t card_criterion(Criterion criterion) {
  switch (criterion) {
    case Criterion::kTrace:
      return SUBSPECTRA_PASS_TRACE;
    case Criterion::kWilks:
      return SUBSPECTRA_PASS_WILKS;
    default:
      return SUBSPECTRA_PASS_LARGEST;
  }
}

/// What a card is given of some units, with the memory that it stands in.
class CardPencil {
 public:
  CardPencil(const Pencil& pencil, const SearchUnits& units, const std::vector<Index>& which,
             const GreedyOptions& options)
      : pencil_(pencil), options_(options), features_(units.features(which)) {
    m_ = (*pencil.factor())(features_, Eigen::all);
    problem_.criterion = card_criterion(options.criterion);
    problem_.features = m_.rows();
    problem_.directions = m_.cols();
    problem_.direction = m_.data();
    problem_.tie = kTie;
  }
  [[nodiscard]] SubspectraPassProblem& problem() { return problem_; }
  [[nodiscard]] Index size() const { return m_.rows(); }

  /// B by the rows of the table where they are the smaller thing, else as a matrix.
  void take_b() {
    const auto n = static_cast<double>(size());
    const CovarianceOperator* const rows = pencil_.rows();
    if (rows != nullptr && static_cast<double>(rows->rows()) <= 2.0 * n) {
      require_memory(static_cast<double>(rows->rows()) * n * sizeof(double), "the centred table",
                     "use ⟨device cpu⟩, or choose among fewer features (⟨exclude⟩)", options_.memory_limit);
      block_ = rows->centred(features_);
      problem_.rows = block_.rows();
      problem_.factor = block_.data();
      problem_.factor_lead = block_.rows();
      problem_.shift = pencil_.shift();
      return;
    }
    const Matrix* b = pencil_.b_matrix();
    if (b == nullptr || size() != b->rows()) {
      require_memory(n * n * sizeof(double), fmt::format("a matrix of {} features", size()),
                     "use ⟨device cpu⟩, or choose among fewer features (⟨exclude⟩)", options_.memory_limit);
      block_ = pencil_.block(features_, options_.threads);
      b = &block_;
    }
    problem_.matrix = b->data();
    problem_.matrix_lead = b->rows();
  }

  /// The columns of the table, in single precision where that is what they are; false: stopped on the way.
  bool take_columns(const RunControl& control) {
    const CovarianceOperator* const rows = pencil_.rows();
    if (rows == nullptr) throw device::Unable("the matrices come from no table");
    if (rows->values().leaves_out_zeros()) throw device::Unable("the table is sparse");
    if (rows->keeps_centred_copy())
      throw device::Unable("columns stand so far from zero that their sums would lose digits");
    for (const int bytes : {4, 8}) {
      columns_ = std::make_unique<device::Columns>(options_.card, rows->rows(), size(), bytes);
      const auto all = bytes == 4 ? put_columns<float>(rows->values(), control)
                                  : put_columns<double>(rows->values(), control);
      if (!all) return false;
      if (*all) break;
      columns_.reset();
    }
    diagonal_ = pencil_.diagonal()(features_);
    weights_ = rows->row_shares();
    problem_.table = columns_->handle();
    problem_.diagonal = diagonal_.data();
    problem_.weights = weights_.data();
    problem_.classes = rows->codes().data();
    problem_.class_count = static_cast<std::int32_t>(rows->moments().classes());
    if (rows->per_unit().size() > 0) {
      unit_ = rows->per_unit()(features_);
      problem_.unit = unit_.data();
    }
    return true;
  }

 private:
  /// False where a number is none of this type; nothing where the run is to stop.
  template <class Number>
  std::optional<bool> put_columns(const Values& values, const RunControl& control) {
    constexpr double kBytes = 1 << 26;
    const Index rows = values.rows();
    const Index count = std::clamp<Index>(
        static_cast<Index>(kBytes / static_cast<double>(sizeof(Number)) / static_cast<double>(rows)), 1,
        size());
    std::vector<Number> block(static_cast<std::size_t>(count * rows));
    std::atomic<bool> exact = true;
    for (Index first = 0; first < size(); first += count) {
      if (control.should_stop()) return std::nullopt;
      const Index here = std::min(count, size() - first);
      constexpr Index kColumns = 64;
      parallel_for((here + kColumns - 1) / kColumns, options_.threads, [&](Index item) {
        std::vector<double> scratch;
        bool same = true;
        for (Index c = item * kColumns; c < std::min(here, (item + 1) * kColumns); ++c) {
          const double* const x =
              values.part_of_column(features_[static_cast<std::size_t>(first + c)], 0, rows, scratch);
          Number* const to = block.data() + c * rows;
          for (Index i = 0; i < rows; ++i) {
            to[i] = static_cast<Number>(x[i]);
            same &= static_cast<double>(to[i]) == x[i];
          }
        }
        if (!same) exact = false;
      });
      if (!exact) return false;
      columns_->put(first, here, block.data());
      control.report("to the card", static_cast<double>(first + here) / static_cast<double>(size()));
    }
    return true;
  }

  const Pencil& pencil_;
  const GreedyOptions& options_;
  std::vector<Index> features_;
  Matrix m_, block_;
  Vector diagonal_, weights_, unit_;
  std::unique_ptr<device::Columns> columns_;
  SubspectraPassProblem problem_{};
};

std::vector<Index> all_units(const SearchUnits& units) {
  std::vector<Index> all(units.members.size());
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace

bool suits_card_pass(const Pencil& pencil, const SearchUnits& units) {
  return units.one_each() && !pencil.b_is_identity() && pencil.factor() != nullptr &&
         pencil.factor()->cols() <= SUBSPECTRA_PASS_DIRECTIONS && units.count() > 1;
}

GreedyPass forward_on_card(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                           const CardForward& plan, const RunControl& control) {
  GreedyPass result;
  const std::vector<Index> all = all_units(units);
  CardPencil given(pencil, units, all, options);
  auto& problem = given.problem();
  if (plan.dense) {
    given.take_b();
  } else if (!given.take_columns(control)) {
    result.status = control.status_or(Status::kInterrupted);
    return result;
  }
  const Index most = std::min(plan.most, plan.rank);
  const std::vector<std::int32_t> forced(units.include.begin(), units.include.end());
  if (static_cast<Index>(forced.size()) > most) throw device::Unable("the included features are dependent");
  problem.forced = forced.data();
  problem.forced_count = static_cast<std::int64_t>(forced.size());
  problem.most = most;
  problem.dependent = kDependentPivot;
  device::Pass pass(options.card, problem);
  result.least = std::max<Index>(1, static_cast<Index>(forced.size()));
  result.status = Status::kHeuristic;
  while (static_cast<Index>(result.order.size()) < most) {
    if (result.order.size() >= forced.size() && control.should_stop()) {
      result.status = control.status_or(Status::kHeuristic);
      break;
    }
    const int state = pass.steps(plan.dense ? kStepsOfMatrix : kStepsOfTable, result.order);
    if (state == SUBSPECTRA_PASS_DEPENDENT) throw device::Unable("the included features are dependent");
    control.report("forward on the card",
                   static_cast<double>(result.order.size()) / static_cast<double>(plan.most),
                   [&] { return fmt::format("k {}/{}", result.order.size(), plan.most); });
    if (state != SUBSPECTRA_PASS_RUNNING) break;
  }
  result.most = static_cast<Index>(result.order.size());
  result.dependent = pass.dependent();
  if (result.status == Status::kHeuristic && result.most < plan.most) result.status = Status::kRankLimit;
  if (result.status == Status::kRankLimit && result.most == plan.rank) {
    std::vector<char> chosen(all.size(), 0);
    for (const Index u : result.order) chosen[static_cast<std::size_t>(u)] = 1;
    result.dependent.clear();
    std::copy_if(all.begin(), all.end(), std::back_inserter(result.dependent),
                 [&](Index u) { return chosen[static_cast<std::size_t>(u)] == 0; });
  }
  return result;
}

GreedyPass backward_on_card(const Pencil& pencil, const SearchUnits& units, const GreedyOptions& options,
                            const RunControl& control) {
  GreedyPass result;
  result.most = units.count();
  result.status = Status::kHeuristic;
  const auto included = units.included();
  const Index least = std::max<Index>({1, options.least, static_cast<Index>(units.include.size())});
  const Index steps = units.count() - least;
  std::vector<Index> left = all_units(units), deleted;
  while (static_cast<Index>(deleted.size()) < steps && result.status == Status::kHeuristic) {
    // Afresh from what is left: at the start, and where the updates have lost digits.
    CardPencil given(pencil, units, left, options);
    given.take_b();
    auto& problem = given.problem();
    std::vector<std::int8_t> held;
    held.reserve(left.size());
    for (const Index u : left)
      held.push_back(static_cast<std::int8_t>(included[static_cast<std::size_t>(u)]));
    problem.backward = 1;
    problem.held = held.data();
    problem.most = steps - static_cast<Index>(deleted.size());
    constexpr double kLost = 1e-5;  // of diag(P): what is left has at most 1e-11 relative error
    problem.digits_lost = kLost;
    problem.singular = pencil.shift() > 0.0 ? 0.0 : static_cast<double>(left.size()) * kEpsilon;
    device::Pass pass(options.card, problem);
    std::vector<Index> order;  // places in `left`
    for (int state = SUBSPECTRA_PASS_RUNNING;
         state == SUBSPECTRA_PASS_RUNNING && static_cast<Index>(order.size()) < problem.most;) {
      if (control.should_stop()) {
        result.status = control.status_or(Status::kHeuristic);
        break;
      }
      state = pass.steps(kStepsOfMatrix, order);
      const Index remaining = units.count() - static_cast<Index>(deleted.size() + order.size());
      control.report("backward on the card",
                     static_cast<double>(units.count() - remaining) / static_cast<double>(steps),
                     [&] { return fmt::format("{} of {} left", remaining, units.count()); });
    }
    if (order.empty() && result.status == Status::kHeuristic)
      throw device::Unable("double precision does not settle which feature to delete");
    std::vector<char> gone(left.size(), 0);
    for (const Index place : order) {
      gone[static_cast<std::size_t>(place)] = 1;
      deleted.push_back(left[static_cast<std::size_t>(place)]);
    }
    std::vector<Index> rest;
    for (std::size_t place = 0; place < left.size(); ++place) {
      if (gone[place] == 0) rest.push_back(left[place]);
    }
    left = std::move(rest);
  }
  result.order = std::move(left);
  result.least = static_cast<Index>(result.order.size());
  result.order.insert(result.order.end(), deleted.rbegin(), deleted.rend());
  return result;
}

}  // namespace subspectra::search
