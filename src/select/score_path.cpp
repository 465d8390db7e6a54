#include "subspectra/select/score_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subspectra/core/memory.hpp"
#include "subspectra/data/moments.hpp"
#include "subspectra/linalg/blas.hpp"
#include "subspectra/spectral/discriminants.hpp"

namespace subspectra {
namespace {

struct Walk {
  Matrix l;                      ///< K x K lower factor, K = k.hi
  Matrix c;                      ///< K x classes
  std::vector<Index> chosen;     ///< features, in the order of entry
  std::vector<Index> dependent;  ///< passed over
};

}  // namespace

void score_nested_path(const SelectionInput& input, const std::vector<Index>& order, double ridge,
                       Selection& selection) {
  const Dataset& data = input.data;
  const Index most = input.k.hi;
  require_memory(3.0 * static_cast<double>(most) * static_cast<double>(most) * sizeof(double),
                 fmt::format("a path of {} features", most), "ask for fewer with -k",
                 input.options.memory_limit.bytes);
  Walk walk;
  walk.l = Matrix::Zero(most, most);
  // One batch of k.hi features suffices unless dependent ones are passed over; then as many as are missing
  // are added and the moments of the chosen ones are taken again with them (their cross products are needed).
  std::size_t next = 0;
  Index classes = 0;
  Matrix b, m;               // over `batch`: B + ridge I and M
  std::vector<Index> batch;  // features of b and m; the chosen ones come first
  while (static_cast<Index>(walk.chosen.size()) < most && next < order.size()) {
    const std::size_t want = static_cast<std::size_t>(most) - walk.chosen.size();
    const std::size_t end = std::min(order.size(), next + want);
    batch = walk.chosen;
    batch.insert(batch.end(), order.begin() + static_cast<std::ptrdiff_t>(next),
                 order.begin() + static_cast<std::ptrdiff_t>(end));
    const Moments moments = compute_moments(data, batch, Moments::SecondOrder::kFull, input.options.threads);
    b = moments.within_covariance();
    b.diagonal().array() += ridge;
    m = moments.between_factor();
    if (!b.allFinite() || !m.allFinite()) {
      throw BadInput(
          {.file = data.source},
          "the squares of the values overflow; rescale the columns (--standardize, or divide by a constant)");
    }
    classes = m.cols();
    if (walk.c.size() == 0) walk.c = Matrix::Zero(most, classes);
    std::vector<Index> place;  // rows of b of the chosen features, in the order of entry
    for (std::size_t i = 0; i < walk.chosen.size(); ++i) place.push_back(static_cast<Index>(i));
    for (auto i = static_cast<Index>(walk.chosen.size()); next < end; ++i, ++next) {
      const auto size = static_cast<Index>(walk.chosen.size());
      Matrix w = b(place, i);
      linalg::solve_lower(walk.l.topLeftCorner(size, size), linalg::Op::kNone, w);
      const double pivot = b(i, i) - w.squaredNorm();
      if (!(pivot > kDependentPivot * b(i, i)) || !(pivot > 0.0)) {
        walk.dependent.push_back(order[next]);
        continue;
      }
      const double root = std::sqrt(pivot);
      walk.l.row(size).head(size) = w.col(0).transpose();
      walk.l(size, size) = root;
      walk.c.row(size) = (m.row(i) - w.col(0).transpose() * walk.c.topRows(size)) / root;
      walk.chosen.push_back(order[next]);
      place.push_back(i);
    }
  }
  if (!walk.dependent.empty()) {
    selection.warnings.push_back(
        walk.dependent.size() == 1
            ? fmt::format("1 feature depends linearly on better ones and was passed over: {}",
                          data.names.some(walk.dependent))
            : fmt::format("{} features depend linearly on better ones and were passed over: {}",
                          walk.dependent.size(), data.names.some(walk.dependent)));
  }
  const auto reached = static_cast<Index>(walk.chosen.size());
  if (reached < most) {
    selection.status = worst(selection.status, Status::kRankLimit);
    selection.warnings.push_back(fmt::format(
        "no more than {} linearly independent {}; larger k were left out (a ridge, --ridge, makes them "
        "possible)",
        reached, reached == 1 ? "feature exists" : "features exist"));
  }
  for (Index k = input.k.lo; k <= reached; ++k) {
    const Discriminants found =
        discriminants_from_factor(walk.l.topLeftCorner(k, k), walk.c.topRows(k), classes - 1);
    PathEntry entry;
    entry.objective = criterion_value(input.options.criterion, found.values);
    std::vector<Index> ascending(static_cast<std::size_t>(k));
    for (Index i = 0; i < k; ++i) ascending[static_cast<std::size_t>(i)] = i;
    std::sort(ascending.begin(), ascending.end(),
              [&](Index x, Index y) { return walk.chosen[x] < walk.chosen[y]; });
    for (const Index i : ascending) entry.features.push_back(walk.chosen[i]);
    entry.loadings = found.vectors(ascending, Eigen::all);
    selection.path.push_back(std::move(entry));
  }
}

}  // namespace subspectra
