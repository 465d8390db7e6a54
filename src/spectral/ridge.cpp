#include "spectral/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/memory.hpp"
#include "core/text.hpp"
#include "data/finite.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

/// lambda_min > lambda_max/kMostCondition, shown by a Cholesky factorisation of C - |C|/kMostCondition I (|C|
/// >= lambda_max the largest row sum): n^3/3 level-3 flops instead of a full spectrum. False says only "not
/// shown".
bool clearly_well_conditioned(Matrix c) {
  const double norm = c.cwiseAbs().rowwise().sum().maxCoeff();
  if (!(norm > 0.0)) return false;
  c.diagonal().array() -= norm / kMostCondition;
  return linalg::cholesky(c);
}

/// The fraction for correlations with this spectrum (ascending).
double fraction_for(const Vector& values) {
  constexpr double kOfSmallest = 1e-3, kLeastOfLargest = 1e-6;
  const double largest = values.size() > 0 ? values[values.size() - 1] : 0.0;
  if (!(largest > 0.0)) return kOfSmallest;
  for (const double value : values) {
    if (value > largest / kMostCondition) return std::max(kOfSmallest * value, kLeastOfLargest * largest);
  }
  return kLeastOfLargest * largest;
}

/// Two features are one column, up to a factor and to the digits of a table, where 1 - |c_ij| is at most
/// this.
constexpr double kSame = 1e-9;

/// The first pairs of such features, for a sentence.
class NearCopies {
 public:
  explicit NearCopies(const FeatureNames& names) : names_(names) {}
  [[nodiscard]] bool full() const { return pairs_.size() > kMost; }
  void add(Index one, Index other) {
    pairs_.push_back(pairs_.size() < kMost ? fmt::format("'{}' and '{}'", names_[std::min(one, other)],
                                                         names_[std::max(one, other)])
                                           : "...");
  }
  [[nodiscard]] std::string text() const { return fmt::format("{}", fmt::join(pairs_, ", ")); }

 private:
  static constexpr std::size_t kMost = 5;
  const FeatureNames& names_;
  std::vector<std::string> pairs_;
};

std::string near_copies(const Matrix& c, const std::vector<Index>& features, const FeatureNames& names) {
  NearCopies found(names);
  for (Index j = 0; j < c.cols(); ++j) {
    for (Index i = 0; i < j && !found.full(); ++i) {
      if (std::abs(c(i, j)) >= 1.0 - kSame)
        found.add(features[static_cast<std::size_t>(i)], features[static_cast<std::size_t>(j)]);
    }
  }
  return found.text();
}

/// The same without the p x p correlations: of columns z of unit length |r'z_i -+ r'z_j| <= |r| sqrt(2 (1 -
/// |c_ij|)) for any r, so that copies stand near each other in the order of |r'z|. One pass over the rows for
/// four r, whose values only real copies are likely to share.
std::string near_copies(const CovarianceOperator& correlations, const std::vector<Index>& features,
                        const FeatureNames& names, int threads) {
  constexpr Index kVectors = 4;
  constexpr double kGoldenRatio = 0.6180339887498949;
  constexpr std::size_t kMostLookedAt = 10'000'000;
  Matrix r(correlations.rows(), kVectors);
  for (Index m = 0; m < kVectors; ++m) {
    for (Index i = 0; i < r.rows(); ++i) {
      const double turns = static_cast<double>((m * r.rows() + i + 1)) * kGoldenRatio;
      r(i, m) = turns - std::floor(turns) - 0.5;
    }
  }
  const double width = std::sqrt(2.0 * kSame) * r.colwise().norm().maxCoeff() * (1.0 + 1e-6);
  const Matrix t = correlations.transposed_times(r, threads);
  std::vector<Index> order = features;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return std::abs(t(i, 0)) < std::abs(t(j, 0)); });
  NearCopies found(names);
  std::size_t looked_at = 0;
  for (std::size_t a = 0; a < order.size() && !found.full(); ++a) {
    for (std::size_t b = a + 1; b < order.size() && !found.full(); ++b) {
      const Index i = order[a], j = order[b];
      if (std::abs(t(j, 0)) - std::abs(t(i, 0)) > width || ++looked_at > kMostLookedAt) break;
      const double sign = t(i, 0) * t(j, 0) < 0.0 ? -1.0 : 1.0;
      if ((t.row(i) - sign * t.row(j)).cwiseAbs().maxCoeff() > width) continue;
      const Matrix both = correlations.centred({i, j});
      if (std::abs(both.col(0).dot(both.col(1))) >= (1.0 - kSame) * both.col(0).norm() * both.col(1).norm())
        found.add(i, j);
    }
  }
  return found.text();
}

std::string stand_in_sentence(double fraction, const std::vector<Index>& still, const FeatureNames& names) {
  const bool one = still.size() == 1;
  return fmt::format(
      "{} within any class and {} the classes perfectly: {:.3g} of {} total variance stands in for the within-class variance: {}",
      one ? "1 column does not vary" : fmt::format("{} columns do not vary", still.size()),
      one ? "separates" : "separate", fraction, one ? "its" : "their", names.some(still));
}

/// What `auto` says of `whose` correlations ("of 60 features and 208 rows").
std::string added_sentence(std::string_view whose, const Vector& values, double fraction,
                           const std::string& copies) {
  const double largest = values[values.size() - 1];
  const double condition = values[0] > 0.0 ? largest / values[0] : kInfinity;
  const double of_rounding = 1.0 / (static_cast<double>(values.size()) * kEpsilon);
  return fmt::format(
      "{} {}: {:.3g} of each column's own variance was added to it (⟨ridge auto⟩; ⟨ridge rel:F⟩ or ⟨ridge VALUE⟩ sets it){}",
      whose,
      condition < of_rounding ? fmt::format("has correlations with a condition of {:.1g}", condition)
                              : std::string("is singular"),
      fraction, copies.empty() ? "" : fmt::format("; copies or nearly so: {}", copies));
}

[[noreturn]] void refuse_overflow(const Dataset& data, const std::vector<Index>& candidates) {
  require_finite(data, candidates);
  Index widest = candidates.front();
  double largest = 0.0;
  for (const Index j : candidates) {
    const double value = data.values().column(j).cwiseAbs().maxCoeff();
    if (value > largest) {
      largest = value;
      widest = j;
    }
  }
  const std::string rule = fmt::format("the squares of column '{}' overflow, its largest value being {:.3g}",
                                       data.names()[widest], largest);
  const std::string way_out = "rescale it (⟨standardize⟩, or divide by a constant)";
  refuse_table(data, BadInput({.file = data.source()}, rule + "; " + way_out),
               {.field = "x", .subject = "x:", .rule = rule, .way_out = way_out});
}

/// The ridge that was asked for; nothing for `auto`.
std::optional<RidgeAmount> asked_amount(const Ridge& ridge) {
  if (ridge.fraction) return RidgeAmount(0.0, *ridge.fraction);
  if (ridge.value) return RidgeAmount(*ridge.value);
  return std::nullopt;
}

}  // namespace

std::vector<Index> without_within_variance(const Moments& moments, const std::vector<Index>& features) {
  constexpr double kRounding = 64.0 * kEpsilon;
  const Vector variances = moments.within_variances();
  std::vector<Index> found;
  for (const Index j : features) {
    const double most = kRounding * moments.class_means().row(j).cwiseAbs().maxCoeff();
    if (!(variances[j] > most * most)) found.push_back(j);
  }
  return found;
}

Vector ridge_variances(const Moments& moments) {
  Vector variances = moments.within_variances();
  std::vector<Index> all(static_cast<std::size_t>(variances.size()));
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<Index>(j);
  const auto still = without_within_variance(moments, all);
  if (still.empty()) return variances;
  const Vector between = moments.between_variances();
  for (const Index j : still) variances[j] += between[j];
  return variances;
}

ResolvedRidge resolve_ridge(const Dataset& data, const std::vector<Index>& candidates, const Ridge& ridge,
                            int threads, std::uint64_t memory_limit, const WithinRows& within) {
  const auto asked = asked_amount(ridge);
  if (candidates.empty() || (asked && !(asked->fraction > 0.0))) return {asked.value_or(RidgeAmount()), {}};
  const auto p = static_cast<Index>(candidates.size());
  const Index n = data.rows();
  const bool wide = p > n;
  const double side = static_cast<double>(std::min(p, n));
  constexpr double kMostSide = 12000.0;  // its spectrum takes 9 n^3 flops: some minutes
  if (!asked && side > kMostSide) {
    throw InvalidArgument(
        {.field = "ridge",
         .value = "auto",
         .rule = fmt::format("{{value}} needs the spectrum of a {0} x {0} matrix, which is too much work",
                             std::min(p, n)),
         .way_out = "give a fraction of each column's variance, for example ⟨ridge rel:0.001⟩, or a number"});
  }
  if (!asked) {
    require_memory(2.0 * side * side * sizeof(double),
                   "⟨ridge auto⟩ (the spectrum of the within-class covariance)",
                   "give a fraction with ⟨ridge rel:F⟩", memory_limit);
  }
  std::optional<CovarianceOperator> own;
  if (!within) own.emplace(data, CovarianceOperator::Centring::kByClass, threads);
  const CovarianceOperator& rows = within ? within() : *own;
  const Vector variances = ridge_variances(rows.moments());
  if (!Vector(variances(candidates)).allFinite()) refuse_overflow(data, candidates);
  const auto still = without_within_variance(rows.moments(), candidates);
  if (asked) return {*asked, still.empty() ? "" : stand_in_sentence(asked->fraction, still, data.names())};

  Vector scale = variances.cwiseSqrt();
  for (double& unit : scale) unit = unit > 0.0 ? unit : 1.0;  // constant, and no candidate
  const CovarianceOperator correlations = rows.in_units_of(scale);
  std::string copies;
  Matrix c;
  std::vector<Index> varying;
  std::set_difference(candidates.begin(), candidates.end(), still.begin(), still.end(),
                      std::back_inserter(varying));
  if (wide) {
    c = correlations.gram(candidates, threads);
    copies = near_copies(correlations, varying, data.names(), threads);
  } else {
    c = correlations.block(varying, threads);
    if (still.empty()) {
      // Of a large one no copy is made: should it be needed, the sums behind it are kept.
      constexpr Index kCopied = 1024;
      const bool copied = c.rows() <= kCopied;
      Matrix tried;
      if (copied) {
        tried = c;
      } else {
        tried.swap(c);
      }
      if (clearly_well_conditioned(std::move(tried))) return {};
      if (!copied) c = correlations.block(varying, threads);
    }
    copies = near_copies(c, varying, data.names());
  }
  if (!c.allFinite()) refuse_overflow(data, candidates);
  const Vector values = c.size() > 0 ? linalg::symmetric_eigen(std::move(c), false).values : Vector();
  const bool nothing = values.size() == 0 || !(values[values.size() - 1] > 0.0);
  if (!wide && still.empty() && !nothing && values[0] * kMostCondition > values[values.size() - 1]) return {};
  const double fraction = fraction_for(values);
  if (nothing) {
    return {
        {0.0, fraction},
        fmt::format(
            "no feature varies within a class: {:.3g} of each one's total variance stands in for it (⟨ridge rel:F⟩ or ⟨ridge VALUE⟩ sets the ridge)",
            fraction)};
  }
  std::string note;
  if (wide || values[0] * kMostCondition <= values[values.size() - 1]) {
    Vector of_all = values;
    if (wide) of_all[0] = 0.0;  // p > N: there are p - N more eigenvalues, all 0
    note = added_sentence(fmt::format("the within-class covariance of {} features and {} rows", p, n), of_all,
                          fraction, copies);
  }
  if (!still.empty()) {
    if (!note.empty()) note += "; ";
    note += stand_in_sentence(fraction, still, data.names());
  }
  return {{0.0, fraction}, note};
}

Vector ridge_variances(const Matrix& a, const Matrix& b) {
  return (b.diagonal().array() > 0.0).select(b.diagonal(), a.diagonal()).cwiseMax(0.0);
}

std::vector<Index> without_within_variance(const Matrix& b, const std::vector<Index>& features) {
  std::vector<Index> found;
  std::copy_if(features.begin(), features.end(), std::back_inserter(found),
               [&](Index j) { return !(b(j, j) > 0.0); });
  return found;
}

ResolvedRidge resolve_ridge(const Matrix& a, const Matrix& b, const std::vector<Index>& candidates,
                            const Ridge& ridge, const FeatureNames& names) {
  const auto asked = asked_amount(ridge);
  if (candidates.empty()) return {asked.value_or(RidgeAmount()), {}};
  const auto still = without_within_variance(b, candidates);
  const Vector variances = ridge_variances(a, b)(candidates);
  const Vector per_unit =
      (variances.array() > 0.0).select(variances, Vector::Ones(variances.size())).cwiseSqrt().cwiseInverse();
  Matrix c = per_unit.asDiagonal() * b(candidates, candidates) * per_unit.asDiagonal();
  const auto refuse_indefinite = [&] {
    throw BadInput(fmt::format(
        "B (⟨within⟩) has the eigenvalue {:.6g}; a within-class matrix is positive semidefinite; make one from complete rows",
        linalg::symmetric_eigen(Matrix(b(candidates, candidates)), false).values[0]));
  };
  if (asked) {
    c.diagonal().array() += kForgivenDip;
    if (!linalg::cholesky(c)) refuse_indefinite();
    const bool of_total = asked->fraction > 0.0 && !still.empty();
    return {*asked, of_total ? stand_in_sentence(asked->fraction, still, names) : ""};
  }
  if (still.empty() && clearly_well_conditioned(c)) return {};
  const std::string copies = near_copies(c, candidates, names);
  const Vector all = linalg::symmetric_eigen(std::move(c), false).values;
  const double largest = all[all.size() - 1];
  const double rounding = static_cast<double>(all.size()) * kEpsilon * std::max(largest, -all[0]);
  if (all[0] < -1e3 * rounding) refuse_indefinite();
  // A variance of 0 has covariances of 0 only, and is one of the eigenvalues.
  const Vector values = all.tail(all.size() - std::ssize(still));
  const bool singular = values.size() > 0 && values[0] * kMostCondition <= largest;
  if (still.empty() && !singular) return {};
  const double fraction = fraction_for(values);
  std::string note = singular ? added_sentence("B (⟨within⟩)", values, fraction, copies) : "";
  if (!still.empty()) {
    if (!note.empty()) note += "; ";
    note += stand_in_sentence(fraction, still, names);
  }
  return {{0.0, fraction}, note};
}

}  // namespace subspectra
