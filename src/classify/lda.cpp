#include "classify/lda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "classify/classifier_kind.hpp"
#include "classify/correlation_shrinkage.hpp"
#include "core/matrix_json.hpp"
#include "data/moments.hpp"
#include "eigen/cholesky.hpp"
#include "eigen/leading.hpp"
#include "eigen/symmetric.hpp"
#include "linalg/blas.hpp"
#include "spectral/covariance_operator.hpp"
#include "spectral/discriminants.hpp"
#include "spectral/ridge.hpp"

namespace subspectra {

Vector class_priors(const VectorRef& class_weights, Prior prior) {
  if (prior == Prior::kEmpirical) return class_weights / class_weights.sum();
  const Vector present = (class_weights.array() > 0.0).cast<double>();
  return present / present.sum();
}

void normalise_log_posteriors(Matrix& log_posteriors) {
  for (Index i = 0; i < log_posteriors.rows(); ++i) {
    // In this order: largest + log(sum) would lose the logarithm.
    log_posteriors.row(i).array() -= log_posteriors.row(i).maxCoeff();
    log_posteriors.row(i).array() -= std::log(log_posteriors.row(i).array().exp().sum());
  }
}

namespace {

/// The Cholesky factor of a covariance; nothing where it is numerically singular.
std::optional<Matrix> factor_of(const MatrixRef& within) {
  Matrix l = within;
  if (!linalg::cholesky(l)) return std::nullopt;
  for (Index i = 0; i < l.rows(); ++i) {
    if (!(l(i, i) * l(i, i) > kDependentPivot * within(i, i))) return std::nullopt;
  }
  return l;
}

/// The rule of B_S = L L'.
LdaRule rule_of_factor(const VectorRef& class_weights, const MatrixRef& class_means, const Matrix& l,
                       Prior prior, Index components) {
  const Index k = class_means.rows();
  const Index classes = class_means.cols();
  const double total = class_weights.sum();
  const Vector share = class_weights / total;
  const auto present = static_cast<Index>((class_weights.array() > 0.0).count());
  LdaRule rule;
  rule.priors = class_priors(class_weights, prior);
  // M = [sqrt(n_c/N) (mu_c - mu)], C = L^{-1} M.
  rule.centre = class_means * share;
  const Matrix centred = class_means.colwise() - rule.centre;
  Matrix c = centred;
  for (Index j = 0; j < classes; ++j) c.col(j) *= std::sqrt(share[j]);
  linalg::solve_lower(l, linalg::Op::kNone, c);
  Index r = std::max<Index>(present - 1, 0);
  if (components > 0) r = std::min(r, components);
  if (r == 0) {
    rule.discriminants = Matrix::Zero(k, 0);
  } else {
    rule.discriminants = discriminants_from_factor(l, c, r).vectors;
  }
  rule.centroids = centred.transpose() * rule.discriminants;
  return rule;
}

[[noreturn]] void refuse_singular(Index k) {
  throw Infeasible(fmt::format("the within-class covariance of {} is singular; use a ridge (⟨ridge auto⟩)",
                               k == 1 ? "this feature" : fmt::format("these {} features", k)));
}

}  // namespace

LdaRule fit_lda(const VectorRef& class_weights, const MatrixRef& class_means, const MatrixRef& within,
                Prior prior, Index components) {
  const auto l = factor_of(within);
  if (!l) refuse_singular(class_means.rows());
  return rule_of_factor(class_weights, class_means, *l, prior, components);
}

LdaRule fit_projected_lda(const MatrixRef& rows, const std::vector<int>& codes, const Vector& weights,
                          Index classes, const MatrixRef& b, Prior prior) {
  constexpr double kNothing = 1e-12;  // of the largest variance: rounding
  const Index n = rows.rows();
  Vector class_weights = Vector::Zero(classes);
  const auto weight = [&](Index i) { return weights.size() == 0 ? 1.0 : weights[i]; };
  for (Index i = 0; i < n; ++i) class_weights[codes[static_cast<std::size_t>(i)]] += weight(i);
  LdaRule rule;
  rule.priors = class_priors(class_weights, prior);
  const double total = class_weights.sum();
  rule.centre = Vector::Zero(rows.cols());
  for (Index i = 0; i < n; ++i) rule.centre += weight(i) / total * rows.row(i).transpose();

  Matrix z(n, b.cols());
  linalg::gemm(1.0, linalg::Op::kNone, rows.rowwise() - rule.centre.transpose(), linalg::Op::kNone, b, 0.0,
               z);
  Matrix means = Matrix::Zero(classes, b.cols());
  for (Index i = 0; i < n; ++i) means.row(codes[static_cast<std::size_t>(i)]) += weight(i) * z.row(i);
  for (Index c = 0; c < classes; ++c) {
    if (class_weights[c] > 0.0) means.row(c) /= class_weights[c];
  }
  Matrix around = z;
  for (Index i = 0; i < n; ++i) {
    const double root = std::sqrt(weight(i) / total);
    around.row(i) = root * (z.row(i) - means.row(codes[static_cast<std::size_t>(i)]));
    z.row(i) *= root;
  }
  // Total covariance V S V': F = V S^{-1/2} makes it the identity on the directions that vary.
  Matrix covariance(b.cols(), b.cols());
  linalg::syrk(1.0, linalg::Op::kTranspose, z, 0.0, covariance);
  const auto whole = linalg::symmetric_eigen(covariance, true);
  const double largest = whole.values.size() > 0 ? whole.values.maxCoeff() : 0.0;
  std::vector<Index> varying;
  for (Index i = 0; i < whole.values.size(); ++i) {
    if (whole.values[i] > kNothing * largest) varying.push_back(i);
  }
  const Matrix f = whole.vectors(Eigen::all, varying) *
                   Vector(whole.values(varying)).array().sqrt().inverse().matrix().asDiagonal();
  Matrix scaled(n, f.cols());
  linalg::gemm(1.0, linalg::Op::kNone, around, linalg::Op::kNone, f, 0.0, scaled);
  Matrix within(f.cols(), f.cols());
  linalg::syrk(1.0, linalg::Op::kTranspose, scaled, 0.0, within);
  auto inner = linalg::symmetric_eigen(within, true);
  double smallest = 1.0;  // the total variance is 1 here
  for (Index i = inner.values.size(); i-- > 0;) {
    if (inner.values[i] > kNothing) smallest = inner.values[i];
  }
  if (inner.values.size() > 0 && !(inner.values[0] > kNothing)) {
    inner.values = inner.values.array().max(0.0) + 1e-3 * smallest;
  }
  const Matrix whitening = f * (inner.vectors * inner.values.array().sqrt().inverse().matrix().asDiagonal());
  if (whitening.cols() <= classes) {
    rule.discriminants = b * whitening;
    rule.centroids = means * whitening;
    return rule;
  }
  // Only z'm_c and |m_c| of the K centroids m_c count: an orthonormal basis of their span holds both.
  const Matrix centroids = means * whitening;
  const Matrix q = linalg::orthonormal_basis(Matrix(centroids.transpose()));
  rule.discriminants.resize(b.rows(), classes);
  linalg::gemm(1.0, linalg::Op::kNone, b, linalg::Op::kNone, Matrix(whitening * q), 0.0, rule.discriminants);
  rule.centroids = centroids * q;
  return rule;
}

Matrix LdaRule::log_posteriors(const MatrixRef& rows) const {
  const Index n = rows.rows();
  const Index classes = centroids.rows();
  Matrix z(n, discriminants.cols());
  linalg::gemm(1.0, linalg::Op::kNone, rows.rowwise() - centre.transpose(), linalg::Op::kNone, discriminants,
               0.0, z);
  // -|z - m_c|^2/2 without -|z|^2/2, which all classes share: far from the centroids it would drown the
  // difference.
  Matrix result(n, classes);
  linalg::gemm(1.0, linalg::Op::kNone, z, linalg::Op::kTranspose, centroids, 0.0, result);
  for (Index c = 0; c < classes; ++c) {
    result.col(c).array() += std::log(priors[c]) - 0.5 * centroids.row(c).squaredNorm();
  }
  normalise_log_posteriors(result);
  return result;
}

std::string LdaRule::description() const {
  if (shrinkage) return fmt::format("shrinkage {:.4g}, classifier {}", *shrinkage, classifier());
  return fmt::format("ridge {}, classifier {}", shown(ridge), classifier());
}

nlohmann::json LdaRule::to_json() const {
  nlohmann::json members = {{"priors", subspectra::to_json(priors)},
                            {"centre", subspectra::to_json(centre)},
                            {"discriminants", subspectra::to_json(discriminants)},
                            {"centroids", subspectra::to_json(centroids)}};
  if (shrinkage) members["shrinkage"] = *shrinkage;
  return members;
}

void Lda::validate() const {
  if (components < 0)
    throw InvalidArgument({.field = "components",
                           .value = fmt::to_string(components),
                           .rule = "must not be negative",
                           .way_out = "0 is the default"});
  if (shrinkage.intensity && !(*shrinkage.intensity >= 0.0 && *shrinkage.intensity <= 1.0))
    throw InvalidArgument({.field = "shrinkage",
                           .value = fmt::to_string(*shrinkage.intensity),
                           .rule = "{value}, but a number from 0 to 1 is needed"});
  if (!(shrinkage.beyond >= 0.0 && shrinkage.beyond <= 1.0))
    throw InvalidArgument({.field = "shrinkage",
                           .value = fmt::to_string(shrinkage.beyond),
                           .rule = "{value} beyond the automatic one, but a number from 0 to 1 is needed"});
}

namespace {

/// The ridge that a rule is told, resolved when it is first asked for.
class RuleRidge {
 public:
  RuleRidge(const RidgeAmount& known, std::function<RidgeAmount()> open)
      : amount_(known), open_(std::move(open)) {}
  [[nodiscard]] const RidgeAmount& amount() const {
    std::call_once(resolved_, [&] {
      if (open_) amount_ = open_();
    });
    return amount_;
  }
  /// What it adds to the variances.
  [[nodiscard]] Vector added_to(const Moments& moments) const {
    Vector added = Vector::Constant(moments.features(), amount().value);
    if (amount().fraction > 0.0) added += amount().fraction * ridge_variances(moments);
    return added;
  }
  /// What a rule that did not ask for it is told: the one that was there, else none.
  [[nodiscard]] RidgeAmount known() const { return open_ ? RidgeAmount() : amount_; }

 private:
  mutable RidgeAmount amount_;
  std::function<RidgeAmount()> open_;
  mutable std::once_flag resolved_;
};

/// How far a rule shrinks whose correlations say `automatic` of themselves.
double shrinkage_of(const Shrinkage& asked, double automatic) {
  const double intensity = asked.intensity.value_or(automatic);
  return intensity + asked.beyond * (1.0 - intensity);
}

/// The moments of all features are computed once; a set takes its part of them. A rule that shrinks has its
/// correlations pulled towards 0 in place of the ridge: what makes them regular has no units and depends on
/// the set alone. The ridge comes back where that is not enough (a feature without within-class variance).
class RulesFromMoments {
 public:
  RulesFromMoments(const Lda& options, const Dataset& training, const std::vector<Index>& features,
                   int threads)
      : options_(options),
        moments_(compute_moments(training, features, Moments::SecondOrder::kFull, threads)),
        within_(moments_.within_covariance()) {
    if (options.shrinkage.automatic()) uncertainty_.emplace(training, features, moments_, within_);
  }
  [[nodiscard]] RulePointer fit(const std::vector<Index>* places, const RuleRidge& ridge) const {
    if (places == nullptr) return rule_of(moments_.class_means(), within_, ridge, nullptr);
    return rule_of(moments_.class_means()(*places, Eigen::all), within_(*places, *places), ridge, places);
  }

 private:
  [[nodiscard]] RulePointer rule_of(const MatrixRef& means, Matrix within, const RuleRidge& ridge,
                                    const std::vector<Index>* places) const {
    std::optional<double> shrinkage;
    std::optional<Matrix> factor;
    RidgeAmount used = ridge.known();
    if (options_.shrinkage.intensity != 0.0) {
      shrinkage = shrinkage_of(options_.shrinkage, uncertainty_ ? uncertainty_->intensity(places) : 0.0);
      const Vector variances = within.diagonal();
      within *= 1.0 - *shrinkage;
      within.diagonal() = variances;
      factor = factor_of(within);
    }
    if (!factor) {
      used = ridge.amount();
      const Vector added = ridge.added_to(moments_);
      within.diagonal() += places == nullptr ? added : Vector(added(*places));
      factor = factor_of(within);
    }
    if (!factor) refuse_singular(within.rows());
    auto rule = std::make_shared<LdaRule>(
        rule_of_factor(moments_.class_weights(), means, *factor, options_.prior, options_.components));
    rule->ridge = used;
    rule->shrinkage = shrinkage;
    return rule;
  }

  Lda options_;
  Moments moments_;
  Matrix within_;
  std::optional<CorrelationShrinkage> uncertainty_;
};

/// The rule on all features of a table that has more of them than rows, nothing of their number squared.
/// B = D^{1/2} (a Y'Y + I) D^{1/2} with D diagonal, Y = Z D^{-1/2} and a the share of the correlations that
/// is kept, so that with M of the class means
///     D^{1/2} B^{-1} M = m - Y'(I/a + Y Y')^{-1} Y m,   m = D^{-1/2} M        (Woodbury),
/// T = M'B^{-1}M = V L V', and the discriminants are B^{-1} M V L^{-1/2}. N^2 k flops.
LdaRule rule_by_rows(const CovarianceOperator& within, const Vector& diagonal, double kept, Prior prior,
                     Index components, int threads) {
  constexpr Index kPanel = 1024;
  constexpr double kRounding = 1e-12;  // of the largest eigenvalue: T is a difference
  const Moments& moments = within.moments();
  const Index k = moments.features(), n = within.rows();
  const Vector share = moments.class_weights() / moments.total_weight();
  LdaRule rule;
  rule.priors = class_priors(moments.class_weights(), prior);
  rule.centre = moments.class_means() * share;
  const Matrix centred = moments.class_means().colwise() - rule.centre;
  const Vector root = diagonal.cwiseSqrt();
  Matrix m = centred;
  for (Index c = 0; c < m.cols(); ++c) m.col(c).array() *= std::sqrt(share[c]) / root.array();
  Matrix u = m;
  if (kept > 0.0) {
    const CovarianceOperator scaled = within.in_units_of(root);
    std::vector<Index> panel(static_cast<std::size_t>(k));
    std::iota(panel.begin(), panel.end(), Index{0});
    Matrix inner = scaled.gram(panel, threads);
    inner.diagonal().array() += 1.0 / kept;
    if (!linalg::cholesky(inner)) refuse_singular(k);
    Matrix ym = Matrix::Zero(n, m.cols());
    for (Index first = 0; first < k; first += kPanel) {
      panel.resize(static_cast<std::size_t>(std::min(kPanel, k - first)));
      std::iota(panel.begin(), panel.end(), first);
      linalg::gemm(1.0, linalg::Op::kNone, scaled.centred(panel), linalg::Op::kNone,
                   m.middleRows(first, static_cast<Index>(panel.size())), 1.0, ym);
    }
    linalg::solve_lower(inner, linalg::Op::kNone, ym);
    linalg::solve_lower(inner, linalg::Op::kTranspose, ym);
    u -= scaled.transposed_times(ym, threads);
  }
  Matrix t(m.cols(), m.cols());
  linalg::gemm(1.0, linalg::Op::kTranspose, m, linalg::Op::kNone, u, 0.0, t);
  t = (0.5 * (t + t.transpose())).eval();
  const auto eigen = linalg::symmetric_eigen(std::move(t), true);
  const Index q = eigen.values.size();
  Index r = std::max<Index>((moments.class_weights().array() > 0.0).count() - 1, 0);
  if (components > 0) r = std::min(r, components);
  while (r > 0 && !(eigen.values[q - r] > kRounding * eigen.values[q - 1])) --r;
  rule.discriminants.resize(k, r);
  const Matrix turn = eigen.vectors.rightCols(r).rowwise().reverse() *
                      Vector(eigen.values.tail(r).reverse()).cwiseSqrt().cwiseInverse().asDiagonal();
  linalg::gemm(1.0, linalg::Op::kNone, u, linalg::Op::kNone, turn, 0.0, rule.discriminants);
  rule.discriminants.array().colwise() /= root.array();
  make_largest_positive(rule.discriminants);
  rule.centroids = centred.transpose() * rule.discriminants;
  return rule;
}

class LdaTrainer final : public SetTrainer {
 public:
  LdaTrainer(const Lda& options, const TrainingTable& table)
      : options_(options),
        training_(table.training),
        features_(table.features),
        threads_(table.context.threads),
        ridge_(table.ridge, table.context.open_ridge) {
    if (!by_rows(std::ssize(features_))) (void)together();
  }
  [[nodiscard]] RulePointer fit(const std::vector<Index>* places, const RunControl&) const override {
    constexpr std::ptrdiff_t kMostTogether = 4000;  // features whose covariances are kept for all sets
    const std::ptrdiff_t k = places == nullptr ? std::ssize(features_) : std::ssize(*places);
    if (!by_rows(k) && std::ssize(features_) <= kMostTogether) return together().fit(places, ridge_);
    std::vector<Index> set = features_;
    if (places != nullptr) {
      set.clear();
      for (const Index place : *places) set.push_back(features_[static_cast<std::size_t>(place)]);
    }
    if (!by_rows(k)) return RulesFromMoments(options_, training_, set, threads_).fit(nullptr, ridge_);
    return rule_of_rows(k == training_.features() ? training_ : training_.with_features(set));
  }

 private:
  /// So many features beside the rows that what is rows x rows is the smaller thing.
  [[nodiscard]] bool by_rows(std::ptrdiff_t k) const {
    constexpr std::ptrdiff_t kSmall = 500;
    return k > kSmall && k > training_.rows();
  }
  [[nodiscard]] const RulesFromMoments& together() const {
    std::call_once(made_, [&] { together_.emplace(options_, training_, features_, threads_); });
    return *together_;
  }
  [[nodiscard]] RulePointer rule_of_rows(const Dataset& rows) const {
    const CovarianceOperator within(rows, CovarianceOperator::Centring::kByClass, threads_);
    const Vector& variances = within.diagonal();
    std::optional<double> shrinkage;
    if (options_.shrinkage.intensity != 0.0) {
      shrinkage =
          shrinkage_of(options_.shrinkage,
                       options_.shrinkage.automatic() ? shrinkage_by_rows(rows, within, threads_) : 0.0);
    }
    const double pulled = shrinkage.value_or(0.0);
    Vector diagonal = pulled * variances;
    RidgeAmount used = ridge_.known();
    if (!(pulled > kDependentPivot) || !(variances.minCoeff() > 0.0)) {
      used = ridge_.amount();
      diagonal += ridge_.added_to(within.moments());
    }
    if (!(diagonal.array() > kDependentPivot * variances.array()).all()) refuse_singular(rows.features());
    auto rule = std::make_shared<LdaRule>(
        rule_by_rows(within, diagonal, 1.0 - pulled, options_.prior, options_.components, threads_));
    rule->ridge = used;
    rule->shrinkage = shrinkage;
    return rule;
  }

  Lda options_;
  Dataset training_;
  std::vector<Index> features_;
  int threads_;
  RuleRidge ridge_;
  mutable std::once_flag made_;
  mutable std::optional<RulesFromMoments> together_;
};

class LdaKind final : public TypedKind<Lda> {
 public:
  [[nodiscard]] std::unique_ptr<SetTrainer> trainer(const Classifier& classifier,
                                                    const TrainingTable& table) const override {
    return std::make_unique<LdaTrainer>(classifier.as<Lda>(), table);
  }
  [[nodiscard]] RulePointer fit_projected(const Classifier& classifier, const TrainingTable& table,
                                          const MatrixRef& b, const RunControl&) const override {
    const Labels& labels = *table.training.labels();
    const auto given = table.training.weights();
    const Eigen::Map<const Vector> weights(given.data(), static_cast<Index>(given.size()));
    return std::make_shared<LdaRule>(fit_projected_lda(table.training.values().columns(table.features),
                                                       labels.codes, weights, labels.class_count(), b,
                                                       classifier.as<Lda>().prior));
  }
  [[nodiscard]] RulePointer read(const ModelReader& reader, const ModelShape& shape) const override {
    auto rule = std::make_shared<LdaRule>();
    rule->priors = reader.shares("priors", shape.classes);
    rule->centre = reader.numbers("centre", shape.features);
    const Index r = ModelReader::width(reader.at("discriminants"));
    if (r > std::min(shape.features, shape.classes))
      reader.fail("discriminants", "has more columns than features or classes");
    rule->discriminants = reader.matrix("discriminants", shape.features, r);
    rule->centroids = reader.matrix("centroids", shape.classes, r);
    rule->ridge = reader.ridge("ridge");
    if (reader.has("shrinkage")) {
      rule->shrinkage = reader.number("shrinkage");
      if (!(*rule->shrinkage >= 0.0 && *rule->shrinkage <= 1.0))
        reader.fail("shrinkage", "must be a number from 0 to 1");
    }
    return rule;
  }
};

}  // namespace

std::unique_ptr<const ClassifierKind> lda_kind() { return std::make_unique<LdaKind>(); }

}  // namespace subspectra
