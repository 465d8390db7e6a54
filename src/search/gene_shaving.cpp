#include "search/gene_shaving.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/streams.hpp"
#include "eigen/leading.hpp"
#include "linalg/blas.hpp"
#include "spectral/covariance_operator.hpp"

namespace subspectra {
namespace {

/// One of the nested sets.
struct Nested {
  std::vector<Index> columns;
  Vector signs;
  double ratio = 0.0;
};

/// The leading left singular vector of a matrix that loses columns. While there are more columns than rows, Z
/// Z' is kept and what is dropped subtracted from it; it is made anew when half of the columns it was made of
/// are gone, so that at most a bit is lost to cancellation.
class LeadingComponent {
 public:
  [[nodiscard]] const Vector& of(const MatrixRef& z) {
    if (z.cols() <= z.rows()) {
      Matrix small(z.cols(), z.cols());
      linalg::syrk(1.0, linalg::Op::kTranspose, z, 0.0, small);
      Vector c = Vector::Ones(z.cols());
      if (u_.size() > 0) linalg::gemv(1.0, linalg::Op::kTranspose, z, u_, 0.0, c);
      const double length = c.norm();
      c = length > 0.0 ? leading_vector_near(small, c / length)
                       : Vector(leading_pairs(small, 1).vectors.col(0));
      u_.resize(z.rows());
      linalg::gemv(1.0, linalg::Op::kNone, z, c, 0.0, u_);
      const double norm = u_.norm();
      if (norm > 0.0) u_ /= norm;
      return u_;
    }
    if (made_of_ == 0 || 2 * z.cols() < made_of_) {
      gram_.resize(z.rows(), z.rows());
      linalg::syrk(1.0, linalg::Op::kNone, z, 0.0, gram_);
      made_of_ = z.cols();
    }
    u_ = u_.size() > 0 ? leading_vector_near(gram_, u_) : Vector(leading_pairs(gram_, 1).vectors.col(0));
    return u_;
  }
  void drop(const Matrix& columns) {
    if (made_of_ > 0) linalg::syrk(-1.0, linalg::Op::kNone, columns, 1.0, gram_);
  }

 private:
  Matrix gram_;
  Vector u_;  ///< of the matrix before
  Index made_of_ = 0;
};

/// The nested sets of one shaving, the largest first, handed to `take` one by one.
template <class Take>
void shave_down(Matrix table, double share, Take take) {
  Index size = table.cols();  // the columns in play stand first
  std::vector<Index> columns(static_cast<std::size_t>(size)), order;
  std::iota(columns.begin(), columns.end(), Index{0});
  Vector squares = table.colwise().squaredNorm();
  LeadingComponent leading;
  for (;;) {
    const auto z = table.leftCols(size);
    const Vector& u = leading.of(z);
    Vector c(size);
    linalg::gemv(1.0, linalg::Op::kTranspose, z, u, 0.0, c);
    Index largest = 0;
    c.cwiseAbs().maxCoeff(&largest);
    if (c[largest] < 0.0) c = -c;
    Nested set;
    set.columns = columns;
    set.signs = c.unaryExpr([](double x) { return x < 0.0 ? -1.0 : 1.0; });
    // V_B = |mean|^2 / N and V_T = |Z|^2 / (N size): the columns are centred, so is their mean.
    Vector sum(z.rows());
    linalg::gemv(1.0, linalg::Op::kNone, z, set.signs, 0.0, sum);
    const double total = squares.head(size).sum();
    set.ratio = total > 0.0 ? sum.squaredNorm() / static_cast<double>(size) / total : 0.0;
    take(std::move(set));
    if (size == 1) return;
    const auto kept = std::clamp<Index>(
        static_cast<Index>(std::ceil((1.0 - share) * static_cast<double>(size))), 1, size - 1);
    order.resize(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), Index{0});
    std::nth_element(order.begin(), order.begin() + kept, order.end(), [&](Index a, Index b) {
      const double size_a = std::abs(c[a]), size_b = std::abs(c[b]);
      return size_a > size_b || (size_a == size_b && a < b);
    });
    const std::vector<Index> gone(order.begin() + kept, order.end());
    leading.drop(z(Eigen::all, gone));
    order.resize(static_cast<std::size_t>(kept));
    std::sort(order.begin(), order.end());
    for (Index to = 0; to < kept; ++to) {
      const Index from = order[static_cast<std::size_t>(to)];
      if (from == to) continue;
      table.col(to) = table.col(from);
      squares[to] = squares[from];
      columns[static_cast<std::size_t>(to)] = columns[static_cast<std::size_t>(from)];
    }
    columns.resize(static_cast<std::size_t>(kept));
    size = kept;
  }
}

std::vector<double> permuted_ratios(Matrix z, double share, Random random) {
  for (Index j = 0; j < z.cols(); ++j)
    random.shuffle(std::span<double>(z.col(j).data(), static_cast<std::size_t>(z.rows())));
  std::vector<double> ratios;
  shave_down(std::move(z), share, [&](Nested&& set) { ratios.push_back(set.ratio); });
  return ratios;
}

}  // namespace

std::vector<ShavedSet> gene_shaving(const Dataset& data, const std::vector<Index>& features, Index count,
                                    const GeneShaving& options, std::uint64_t seed, int threads,
                                    const RunControl& control) {
  constexpr double kRoundingShare = 1e-12;  // of the total variance: rounding
  const auto cells = static_cast<double>(data.rows()) * static_cast<double>(features.size());
  require_memory(8.0 * cells * (2.0 + 2.0 * resolve_threads(threads)), "the tables of gene shaving",
                 "use fewer ⟨threads⟩ or ⟨exclude⟩ columns");
  Matrix z = CovarianceOperator(data, CovarianceOperator::Centring::kWhole, threads).centred(features);
  const double total = z.squaredNorm();
  std::vector<ShavedSet> found;
  for (Index m = 0; m < count && !control.should_stop(); ++m) {
    if (!(z.squaredNorm() > kRoundingShare * total)) break;
    std::vector<Nested> sets;
    shave_down(z, options.shave, [&](Nested&& set) { sets.push_back(std::move(set)); });
    std::vector<std::vector<double>> permuted(static_cast<std::size_t>(options.permutations));
    parallel_for(options.permutations, threads, [&](Index b) {
      permuted[static_cast<std::size_t>(b)] =
          permuted_ratios(z, options.shave, Random(seed, streams::gene_shaving(m, b)));
    });
    ShavedSet best;
    best.gap = -kInfinity;
    const Nested* chosen = nullptr;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      double mean = 0.0;
      for (const auto& ratios : permuted) mean += ratios[i] / static_cast<double>(options.permutations);
      const double gap = sets[i].ratio - mean;
      if (gap < best.gap) continue;  // of equal ones the smaller set, which comes later
      best.gap = gap;
      chosen = &sets[i];
    }
    best.variance_ratio = chosen->ratio;
    best.signs = chosen->signs;
    for (const Index at : chosen->columns) best.features.push_back(features[static_cast<std::size_t>(at)]);
    // z_j <- z_j - a (a'z_j)/(a'a), a the signed mean
    const Matrix part = z(Eigen::all, chosen->columns);
    Vector a(z.rows());
    linalg::gemv(1.0 / static_cast<double>(part.cols()), linalg::Op::kNone, part, best.signs, 0.0, a);
    Vector along(z.cols());
    linalg::gemv(-1.0 / a.squaredNorm(), linalg::Op::kTranspose, z, a, 0.0, along);
    linalg::gemm(1.0, linalg::Op::kNone, a, linalg::Op::kTranspose, along, 1.0, z);
    found.push_back(std::move(best));
    control.report("gene shaving", static_cast<double>(m + 1) / static_cast<double>(count));
  }
  return found;
}

}  // namespace subspectra
