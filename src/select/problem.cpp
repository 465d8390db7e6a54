#include "select/problem.hpp"

#include "linalg/tiled.hpp"
#include "search/certificate.hpp"

namespace subspectra {
namespace {

void require_covariance(const MatrixProblem& problem) {
  if (nearly_semidefinite(problem.a)) return;
  throw BadInput(
      {.file = problem.source},
      "is not positive semidefinite, so that it is no covariance; make one from complete rows (correlations that each come from other rows need not form one)");
}

/// A feature without variance, neither between the classes nor within: nothing to measure.
bool is_constant(const MatrixProblem& problem, Index j) {
  return !(problem.a(j, j) > 0.0) && !(problem.b && (*problem.b)(j, j) > 0.0);
}

}  // namespace

bool nearly_semidefinite(Matrix a) {
  a.diagonal().array() += kForgivenDip * a.diagonal().cwiseAbs().maxCoeff();
  return linalg::cholesky_tiled(a, 0);
}

RowStatistics::RowStatistics(const Dataset& data, int threads, std::uint64_t memory_limit)
    : data_(data), threads_(threads), memory_limit_(memory_limit) {}

RowStatistics::RowStatistics(const Dataset& placeholder, const MatrixProblem& matrices, int threads)
    : data_(placeholder), matrices_(&matrices), threads_(threads) {}

const std::vector<char>& RowStatistics::constant() const {
  if (constant_) return *constant_;
  ++counts_.constant;
  constant_.emplace(static_cast<std::size_t>(data_.features()), 0);
  for (Index j = 0; j < data_.features(); ++j) {
    const bool still = matrices_ != nullptr ? is_constant(*matrices_, j) : does_not_vary(data_, j);
    (*constant_)[static_cast<std::size_t>(j)] = still ? 1 : 0;
  }
  return *constant_;
}

const Moments& RowStatistics::class_moments() const {
  if (!class_moments_) {
    ++counts_.class_moments;
    class_moments_ =
        std::make_shared<const Moments>(compute_moments(data_, Moments::SecondOrder::kDiagonal, threads_));
  }
  return *class_moments_;
}

const std::shared_ptr<const CovarianceOperator>& RowStatistics::within() const {
  if (!within_) {
    (void)class_moments();
    ++counts_.within;
    within_ = std::make_shared<const CovarianceOperator>(data_, CovarianceOperator::Centring::kByClass,
                                                         class_moments_);
  }
  return within_;
}

const ResolvedRidge& RowStatistics::ridge(const std::vector<Index>& candidates, const Ridge& asked) const {
  const auto key =
      std::make_tuple(asked.value ? std::vector<Index>{} : candidates, asked.value, asked.fraction);
  const auto known = ridges_.find(key);
  if (known != ridges_.end()) return known->second;
  ++counts_.ridge;
  const auto within_rows = [&]() -> const CovarianceOperator& { return *within(); };
  return ridges_
      .emplace(key, matrices_ != nullptr
                        ? resolve_ridge(matrices_->a, *matrices_->b, candidates, asked, matrices_->names)
                        : resolve_ridge(data_, candidates, asked, threads_, memory_limit_, within_rows))
      .first->second;
}

std::shared_ptr<const Pencil> RowStatistics::lda_pencil(const RidgeAmount& ridge, Criterion criterion) const {
  // The rows' factor of A has few columns anyway: one pencil serves every criterion.
  auto& pencil = lda_pencils_[{ridge, matrices_ == nullptr ? Criterion::kLargest : criterion}];
  if (pencil) return pencil;
  ++counts_.lda_pencil;
  if (matrices_ == nullptr) return pencil = subspectra::lda_pencil(data_, within(), ridge, control_);
  // trace and wilks need the factor of A, whatever its rank.
  constexpr Index kUsualRank = 32;
  return pencil = matrix_pencil(matrices_->a, *matrices_->b, ridge,
                                criterion == Criterion::kLargest ? kUsualRank : matrices_->a.rows());
}

std::shared_ptr<const Pencil> RowStatistics::pca_pencil() const {
  if (pca_pencil_) return pca_pencil_;
  ++counts_.pca_pencil;
  if (matrices_ == nullptr) return pca_pencil_ = subspectra::pca_pencil(data_, threads_);
  require_covariance(*matrices_);
  return pca_pencil_ = covariance_pencil(matrices_->a);
}

std::shared_ptr<const ScoringProblem> RowStatistics::scoring(const std::vector<Index>& candidates,
                                                             bool may_read_blocks) const {
  may_read_blocks = may_read_blocks && data_.values().source() != nullptr;
  auto& problem = scorings_[{candidates, may_read_blocks}];
  if (!problem) {
    ++counts_.scoring;
    problem = std::make_shared<const ScoringProblem>(
        make_scoring_problem(data_, candidates, threads_, memory_limit_, may_read_blocks));
  }
  return problem;
}

const RidgeAmount& Problem::ridge() const {
  if (!parts_.open_ridge) return parts_.ridge;
  if (!ridge_) ridge_ = parts_.rows->ridge(parts_.candidates, parts_.options->ridge).amount;
  return *ridge_;
}

const Pencil& Problem::pencil() const {
  if (!pencil_) {
    pencil_ =
        parts_.lda ? parts_.rows->lda_pencil(ridge(), parts_.options->criterion) : parts_.rows->pca_pencil();
  }
  return *pencil_;
}

Problem Problem::with_options(const SelectOptions& options) const {
  Problem changed = *this;
  changed.parts_.options = &options;
  return changed;
}

Problem Problem::with_pencil(std::shared_ptr<const Pencil> pencil) const {
  Problem changed = *this;
  changed.pencil_ = std::move(pencil);
  return changed;
}

Dataset placeholder(const MatrixProblem& problem) {
  DatasetParts parts;
  parts.source = problem.source;
  parts.names = problem.names;
  parts.dense.resize(0, problem.a.rows());
  return parts;
}

}  // namespace subspectra
