#include "qalpha/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/memory.hpp"
#include "core/parallel.hpp"
#include "linalg/blas.hpp"

namespace subspectra {

QAlphaKernel OptionCodec<QAlphaKernel>::parse(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from <= text.size();) {
    const auto colon = std::min(text.find(':', from), text.size());
    words.push_back(text.substr(from, colon - from));
    from = colon + 1;
  }
  try {
    QAlphaKernel kernel;
    if (words.size() == 1 && words[0] == "linear") {
      kernel.kind = QAlphaKernel::Kind::kLinear;
      return kernel;
    }
    if (words.size() == 3 && words[0] == "poly") {
      kernel.degree = OptionCodec<Index>::parse(words[1]);
      kernel.offset = OptionCodec<double>::parse(words[2]);
      constexpr Index kMostDegree = 100;
      if (kernel.degree >= 1 && kernel.degree <= kMostDegree && kernel.offset >= 0.0 &&
          std::isfinite(kernel.offset)) {
        return kernel;
      }
    }
    if (words.size() == 2 && words[0] == "rbf") {
      kernel.kind = QAlphaKernel::Kind::kRbf;
      kernel.sigma = OptionCodec<double>::parse(words[1]);
      constexpr double kLeastSigma = 1e-100, kMostSigma = 1e100;  // its square is divided by
      if (kernel.sigma >= kLeastSigma && kernel.sigma <= kMostSigma) return kernel;
    }
    if (words.size() == 2 && words[0] == "block2") {
      kernel.kind = QAlphaKernel::Kind::kBlock2;
      kernel.length = OptionCodec<Index>::parse(words[1]);
      if (kernel.length >= 1) return kernel;
    }
  } catch (const InvalidArgument&) {  // said below, with what is possible
  }
  throw InvalidArgument(
      "linear, poly:D:C (degree 1 to 100, C >= 0), rbf:SIGMA (1e-100 to 1e100) or block2:LENGTH (1 or more) is needed");
}

std::string OptionCodec<QAlphaKernel>::format(const QAlphaKernel& kernel) {
  switch (kernel.kind) {
    case QAlphaKernel::Kind::kLinear:
      return "linear";
    case QAlphaKernel::Kind::kPoly:
      return fmt::format("poly:{}:{}", kernel.degree, kernel.offset);
    case QAlphaKernel::Kind::kRbf:
      return fmt::format("rbf:{}", kernel.sigma);
    case QAlphaKernel::Kind::kBlock2:
      break;
  }
  return fmt::format("block2:{}", kernel.length);
}

namespace {

constexpr Index kTile = 256;

/// Values of the kernel between feature j and all others, a column of V.
class KernelColumns {
 public:
  KernelColumns(const FeatureRows& rows, const QAlphaKernel& kernel) : rows_(rows), kernel_(kernel) {
    if (kernel.kind == QAlphaKernel::Kind::kRbf || kernel.kind == QAlphaKernel::Kind::kPoly)
      squares_ = rows.squared_norms();
    if (kernel.kind == QAlphaKernel::Kind::kBlock2) {
      const Index q = rows.samples();
      sections_.begin.assign(1, 0);
      while (sections_.begin.back() < q)
        sections_.begin.push_back(std::min(q, sections_.begin.back() + kernel.length));
    }
  }

  [[nodiscard]] Vector diagonal() const {
    const Index p = rows_.features();
    switch (kernel_.kind) {
      case QAlphaKernel::Kind::kLinear:
        return rows_.squared_norms();
      case QAlphaKernel::Kind::kPoly:
        return squares_.unaryExpr([&](double s) { return power(s + kernel_.offset); });
      case QAlphaKernel::Kind::kRbf:
        return Vector::Ones(p);
      case QAlphaKernel::Kind::kBlock2:
        break;
    }
    Vector values(p);
    parallel_for((p + kTile - 1) / kTile, rows_.threads(), [&](Index t) {
      const Index first = t * kTile, count = std::min(kTile, p - first);
      const Matrix m = rows_.tile(first, count);
      for (Index i = 0; i < count; ++i) {
        double sum = 0.0;
        for (Index s = 0; s < sections_.count(); ++s) {
          const double inner = m.col(i).segment(sections_.first(s), sections_.size(s)).squaredNorm();
          sum += inner * inner;
        }
        values[first + i] = sum;
      }
    });
    return values;
  }

  void column(Index j, Vector& values) const {
    const Matrix m = rows_.tile(j, 1);
    values.resize(rows_.features());
    if (kernel_.kind == QAlphaKernel::Kind::kBlock2) {
      rows_.project(m, sections_, [&](Index first, const Matrix& tile) {
        values.segment(first, tile.rows()) = tile.rowwise().squaredNorm();
      });
      return;
    }
    rows_.project(m, rows_.whole(), [&](Index first, const Matrix& tile) {
      for (Index i = 0; i < tile.rows(); ++i) {
        const double inner = tile(i, 0);
        double value = inner;
        if (kernel_.kind == QAlphaKernel::Kind::kPoly) value = power(inner + kernel_.offset);
        if (kernel_.kind == QAlphaKernel::Kind::kRbf) {
          const double distance = std::max(0.0, squares_[first + i] + squares_[j] - 2.0 * inner);
          value = std::exp(-0.5 * distance / (kernel_.sigma * kernel_.sigma));
        }
        values[first + i] = value;
      }
    });
  }

 private:
  [[nodiscard]] double power(double x) const { return std::pow(x, static_cast<int>(kernel_.degree)); }

  const FeatureRows& rows_;
  const QAlphaKernel& kernel_;
  Vector squares_;
  SampleBlocks sections_;
};

}  // namespace

KernelFactor kernel_factor(const FeatureRows& rows, const QAlphaOfKernel& method, std::uint64_t memory_limit,
                           const RunControl& control) {
  constexpr Index kExactFeatures = 2000;  // up to here R reproduces V to rounding
  return kernel_factor(rows, method.kernel, rows.features() <= kExactFeatures ? 0.0 : method.kernel_tolerance,
                       memory_limit, control);
}

KernelFactor kernel_factor(const FeatureRows& rows, const QAlphaKernel& kernel, double tolerance,
                           std::uint64_t memory_limit, const RunControl& control) {
  const KernelColumns columns(rows, kernel);
  const Index p = rows.features();
  Vector left = columns.diagonal();  // diag(V - R R')
  // The rows of R take the place of the features.
  const double longest = std::sqrt(left.cwiseMax(0.0).maxCoeff());
  if (!left.allFinite() || longest > kLongestRow || (longest > 0.0 && longest < kShortestRow)) {
    throw InvalidArgument(
        {.field = "kernel",
         .value = OptionCodec<QAlphaKernel>::format(kernel),
         .rule = fmt::format(
             "{{value}}: its values reach {:.3g}, beyond {:.0e} to {:.0e}, where their powers stay exact",
             longest * longest, kShortestRow * kShortestRow, kLongestRow * kLongestRow),
         .way_out = "choose a lower degree or offset, or leave ⟨no_normalize⟩ out"});
  }
  const double trace = left.sum();
  const double rounding = 1e-15 * left.cwiseMax(0.0).maxCoeff();
  KernelFactor factor;
  Matrix r(0, p);  // grows by doubling; row k is column k of R
  Index rank = 0;
  Vector column;
  for (; rank < p; ++rank) {
    Index pivot = 0;
    const double largest = left.maxCoeff(&pivot);
    if (!(largest > rounding) || left.cwiseMax(0.0).sum() <= tolerance * trace) break;
    if (rank > 0 && control.should_stop()) break;
    if (rank == r.rows()) {
      const Index room = std::min(p, std::max<Index>(64, 2 * rank));
      require_memory(8.0 * static_cast<double>(room + rank) * static_cast<double>(p),
                     "the factor of the kernel matrix",
                     "allow a larger error with ⟨kernel_tolerance⟩, or leave features out", memory_limit);
      r.conservativeResize(room, Eigen::NoChange);
    }
    columns.column(pivot, column);
    // (V_j - R_j'R)/sqrt(what is left of V_jj) over all features.
    const double root = std::sqrt(largest);
    const Vector known = r.col(pivot).head(rank);
    parallel_for((p + kTile - 1) / kTile, rows.threads(), [&](Index t) {
      const Index first = t * kTile, count = std::min(kTile, p - first);
      auto part = column.segment(first, count);
      linalg::gemv(-1.0, linalg::Op::kTranspose, r.block(0, first, rank, count), known, 1.0, part);
      part /= root;
      r.row(rank).segment(first, count) = part.transpose();
      left.segment(first, count) -= part.cwiseAbs2();
    });
    left[pivot] = 0.0;
    control.report("kernel", -1.0, [&] { return fmt::format("rank {}", rank + 1); });
  }
  if (rank == 0) {
    throw InvalidArgument({.field = "kernel",
                           .value = OptionCodec<QAlphaKernel>::format(kernel),
                           .rule = "{value} is zero for every feature",
                           .way_out = "choose another one"});
  }
  factor.error = trace > 0.0 ? left.cwiseMax(0.0).sum() / trace : 0.0;
  factor.r = r.topRows(rank);
  return factor;
}

}  // namespace subspectra
