#include "classify/classifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <subspectra/error.hpp>
#include "core/spelling.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "linalg/blas.hpp"
#include "resample/folds.hpp"

namespace subspectra {
namespace {

Moments moments_for(const Dataset& training, const std::vector<Index>& features, Classifier classifier,
                    int threads) {
  if (classifier == Classifier::kLda)
    return compute_moments(training, features, Moments::SecondOrder::kFull, threads);
  return {0, training.labels()->class_count(), Moments::SecondOrder::kDiagonal};
}

SvmRule train_svm(const MatrixRef& rows, const Labels& labels, const std::vector<std::vector<Index>>& folds,
                  const ModelOptions& options, const RunControl& control) {
  return fit_svm(rows, labels.codes, labels.class_count(), folds,
                 {.cost = options.cost, .prior = options.prior}, control);
}

bool is_gp(Classifier classifier) {
  return classifier == Classifier::kGpLaplace || classifier == Classifier::kGpEp;
}

GpOptions gp_options(const ModelOptions& options, int threads) {
  return {.approximation =
              options.classifier == Classifier::kGpEp ? GpApproximation::kEp : GpApproximation::kLaplace,
          .hyperparameters = options.hyperparameters,
          .ard = options.ard,
          .lengthscale = options.lengthscale,
          .signal = options.signal,
          .restarts = options.restarts,
          .prior = options.prior,
          .seed = options.seed,
          .threads = threads};
}

KernelSvmRule train_kernel_svm(const MatrixRef& rows, const Labels& labels,
                               const std::vector<std::vector<Index>>& folds, const ModelOptions& options,
                               const RunControl& control, const Matrix* projection = nullptr) {
  return fit_kernel_svm(rows, labels.codes, labels.class_count(), folds,
                        {.kernel = options.svm_kernel,
                         .degree = options.svm_degree,
                         .gamma = options.svm_gamma,
                         .cost = options.cost,
                         .prior = options.prior},
                        projection, control);
}

KnnRule train_knn(const MatrixRef& rows, const Labels& labels, const ModelOptions& options,
                  const Matrix* projection = nullptr) {
  return fit_knn(rows, labels.codes, labels.class_count(),
                 {.neighbors = options.neighbors, .prior = options.prior}, projection);
}

/// A classifier that is trained on rows and not on moments.
ClassifierRule train_rows(const MatrixRef& rows, const Labels& labels,
                          const std::vector<std::vector<Index>>& folds, const ModelOptions& options,
                          int threads, const RunControl& control) {
  if (options.classifier == Classifier::kKnn) return train_knn(rows, labels, options);
  if (is_gp(options.classifier))
    return fit_gp(rows, labels.codes, labels.class_count(), gp_options(options, threads), control);
  if (options.svm_kernel != SvmKernel::kLinear)
    return train_kernel_svm(rows, labels, folds, options, control);
  return train_svm(rows, labels, folds, options, control);
}

std::string marked_classifier(const ModelOptions& options) {
  return marked_option("classifier", OptionCodec<Classifier>::format(options.classifier));
}

}  // namespace

void ModelOptions::validate() const {
  if (!(cost > 0.0))
    throw InvalidArgument(
        {.field = "C", .value = fmt::to_string(cost), .rule = "{value}, but a positive number is needed"});
  if (!(signal > 0.0))
    throw InvalidArgument({.field = "signal",
                           .value = fmt::to_string(signal),
                           .rule = "{value}, but a positive number is needed"});
  if (ard && !is_gp(classifier))
    throw InvalidArgument({.field = "ard",
                           .value = "true",
                           .rule = "is for ⟨classifier gp-laplace⟩ and gp-ep",
                           .way_out = "leave it out (method gp-ard needs no such word)"});
  if (restarts < 1)
    throw InvalidArgument(
        {.field = "restarts", .value = fmt::to_string(restarts), .rule = "{value}, but 1 or more is needed"});
  if (svm_degree < 1 || svm_degree > 20)
    throw InvalidArgument({.field = "svm_degree",
                           .value = fmt::to_string(svm_degree),
                           .rule = "{value}, but a number from 1 to 20 is needed"});
  if (!(svm_gamma > 0.0))
    throw InvalidArgument({.field = "svm_gamma",
                           .value = fmt::to_string(svm_gamma),
                           .rule = "{value}, but a positive number is needed"});
  if (neighbors < 1)
    throw InvalidArgument({.field = "neighbors",
                           .value = fmt::to_string(neighbors),
                           .rule = "{value}, but 1 or more is needed"});
}

void refuse_weights(const Dataset& training, std::string_view what) {
  if (training.weights_are_equal()) return;
  throw InvalidArgument(
      {.field = "weights",
       .subject = std::string(what),
       .rule = "counts every row once (it has no row weights)",
       .way_out = fmt::format("leave out ⟨weights⟩, or use {}",
                              what.starts_with("⟨classifier ") ? "⟨classifier lda⟩" : "gslda")});
}

Status rule_status(const ClassifierRule& rule) {
  if (const auto* gp = std::get_if<GpRule>(&rule)) return gp->status;
  if (const auto* svm = std::get_if<SvmRule>(&rule)) return svm->status;
  if (const auto* machine = std::get_if<KernelSvmRule>(&rule)) return machine->status;
  return Status::kConverged;
}

std::string cut_short_sentence(const ClassifierRule& rule) {
  const Status status = rule_status(rule);
  const std::string name = OptionCodec<Classifier>::format(classifier_of(rule));
  if (status != Status::kTimeLimit && status != Status::kInterrupted) {
    const auto* gp = std::get_if<GpRule>(&rule);
    if (gp == nullptr) return {};
    for (const GpMachine& machine : gp->machines) {
      if (machine.posterior.converged) continue;
      return fmt::format(
          "the posterior of {} did not converge at ⟨signal {:.4g}⟩: its probabilities may be far off; give a smaller ⟨signal⟩",
          name, machine.kernel.signal);
    }
    return {};
  }
  if (const auto* gp = std::get_if<GpRule>(&rule)) {
    Index evaluations = 0;
    for (const GpMachine& machine : gp->machines) evaluations += machine.evaluations;
    return fmt::format(
        "the training of {} was stopped ({}): length-scale and signal are the best of {}, or where the optimization would start; give more time, or values with ⟨lengthscale⟩ and ⟨signal⟩",
        name, status_name(status), counted(evaluations, "gradient"));
  }
  const auto* svm = std::get_if<SvmRule>(&rule);
  const double cost = svm != nullptr ? svm->cost : std::get<KernelSvmRule>(rule).cost;
  return fmt::format(
      "the training of {} was stopped ({}) before the cross-validation inside the rows had ended: C = {:.4g} and the scale of the probabilities are the best so far; give more time, or a value with ⟨C⟩",
      name, status_name(status), cost);
}

Classifier classifier_of(const ClassifierRule& rule) {
  if (std::holds_alternative<LdaRule>(rule)) return Classifier::kLda;
  if (const auto* gp = std::get_if<GpRule>(&rule)) {
    return gp->approximation == GpApproximation::kLaplace ? Classifier::kGpLaplace : Classifier::kGpEp;
  }
  return std::holds_alternative<KnnRule>(rule) ? Classifier::kKnn : Classifier::kSvm;
}

Matrix log_posteriors(const ClassifierRule& rule, const MatrixRef& rows) {
  return std::visit([&](const auto& one) { return one.log_posteriors(rows); }, rule);
}

Index rule_entries(const ClassifierRule& rule) {
  if (const auto* lda = std::get_if<LdaRule>(&rule)) return lda->discriminants.size();
  if (const auto* gp = std::get_if<GpRule>(&rule))
    return gp->centre.size() > 0 ? gp->projection.size() : gp->inputs.cols();
  if (const auto* machine = std::get_if<KernelSvmRule>(&rule)) return machine->map.centre.size();
  if (const auto* nearest = std::get_if<KnnRule>(&rule)) return nearest->map.centre.size();
  const auto& weights = std::get<SvmRule>(rule).weights;
  return weights.cols() == 2 ? weights.rows() : weights.size();  // two classes share one function
}

std::vector<std::vector<Index>> inner_folds(const Dataset& training, std::uint64_t seed) {
  constexpr Index kMostFolds = 5;
  const auto counts = training.labels()->counts();
  std::vector<Index> rows;  // of classes that can be held out and learned as well
  for (Index i = 0; i < training.rows(); ++i) {
    if (counts[static_cast<std::size_t>(training.labels()->codes[static_cast<std::size_t>(i)])] > 1)
      rows.push_back(i);
  }
  SplitOptions protocol;
  protocol.cv.folds = kMostFolds;
  Index classes = 0;
  for (const Index count : counts) {
    if (count < 2) continue;
    ++classes;
    protocol.cv.folds = std::min(protocol.cv.folds, count);
  }
  Labels labels = *training.labels();
  labels.codes.clear();
  std::vector<std::string> groups;
  for (const Index i : rows) {
    labels.codes.push_back(training.labels()->codes[static_cast<std::size_t>(i)]);
    if (!training.row_groups().empty()) groups.push_back(training.row_groups()[static_cast<std::size_t>(i)]);
  }
  if (!groups.empty()) {
    const auto different = static_cast<Index>(std::set<std::string>(groups.begin(), groups.end()).size());
    protocol.cv.folds = std::min(protocol.cv.folds, different);
  }
  if (classes < 2 || protocol.cv.folds < 2) return {};
  auto folds = make_splits(labels, groups, training.source(), protocol, Random(seed, streams::inner_folds()));
  for (auto& fold : folds) {
    for (Index& i : fold) i = rows[static_cast<std::size_t>(i)];
  }
  return folds;
}

ClassifierTrainer::ClassifierTrainer(const Dataset& training, const std::vector<Index>& features,
                                     double ridge, const ModelOptions& options, int threads)
    : options_(options),
      labels_(*training.labels()),
      moments_(moments_for(training, features, options.classifier, threads)),
      threads_(threads) {
  switch (options_.classifier) {
    case Classifier::kLda:
      within_ = moments_.within_covariance();
      within_.diagonal().array() += ridge;
      break;
    case Classifier::kSvm:
      folds_ = inner_folds(training, options_.seed);
      [[fallthrough]];
    case Classifier::kKnn:
    case Classifier::kGpLaplace:
    case Classifier::kGpEp:
      refuse_weights(training, marked_classifier(options_));
      rows_ = training.values().columns(features);
      break;
  }
}

ClassifierRule ClassifierTrainer::fit(const std::vector<Index>& places, const RunControl& control) const {
  if (options_.classifier != Classifier::kLda)
    return train_rows(rows_(Eigen::all, places), labels_, folds_, options_, threads_, control);
  return fit_lda(moments_.class_weights(), moments_.class_means()(places, Eigen::all),
                 within_(places, places), options_.prior, options_.components);
}

ClassifierRule ClassifierTrainer::fit(const RunControl& control) const {
  if (options_.classifier != Classifier::kLda)
    return train_rows(rows_, labels_, folds_, options_, threads_, control);
  return fit_lda(moments_.class_weights(), moments_.class_means(), within_, options_.prior,
                 options_.components);
}

ClassifierRule fit_projected(const Dataset& training, const std::vector<Index>& features, const MatrixRef& b,
                             const ModelOptions& options, const RunControl& control) {
  const Matrix rows = training.values().columns(features);
  if (options.classifier == Classifier::kLda) {
    const Eigen::Map<const Vector> weights(training.weights().data(),
                                           static_cast<Index>(training.weights().size()));
    return fit_projected_lda(rows, training.labels()->codes, weights, training.labels()->class_count(), b,
                             options.prior);
  }
  refuse_weights(training, marked_classifier(options));
  if (is_gp(options.classifier)) {
    return fit_projected_gp(rows, training.labels()->codes, training.labels()->class_count(), b,
                            gp_options(options, 0), control);
  }
  const Matrix projection = b;
  if (options.classifier == Classifier::kKnn)
    return train_knn(rows, *training.labels(), options, &projection);
  if (options.svm_kernel != SvmKernel::kLinear) {
    return train_kernel_svm(rows, *training.labels(), inner_folds(training, options.seed), options, control,
                            &projection);
  }
  // f(x) = w'(B'(x - mean)) + b: the machine's weights on x are B w.
  Vector mean = Vector::Zero(rows.cols());
  if (rows.rows() > 0) mean = rows.colwise().mean();
  Matrix z(rows.rows(), b.cols());
  linalg::gemm(1.0, linalg::Op::kNone, rows.rowwise() - mean.transpose(), linalg::Op::kNone, b, 0.0, z);
  SvmRule rule = train_svm(z, *training.labels(), inner_folds(training, options.seed), options, control);
  Matrix weights(b.rows(), rule.weights.cols());
  linalg::gemm(1.0, linalg::Op::kNone, b, linalg::Op::kNone, rule.weights, 0.0, weights);
  // The mean of z is 0 but for rounding, which the offsets take in.
  rule.offsets -= rule.weights.transpose() * rule.centre;
  rule.weights = std::move(weights);
  rule.centre = std::move(mean);
  return rule;
}

ClassifierRule fit_rule(const Dataset& training, const FittedDiscriminants& discriminants,
                        const ModelOptions& options, const RunControl& control) {
  return fit_projected(training, discriminants.features, discriminants.matrix.view(), options, control);
}

void warn_of_components(const Dataset& data, const ModelOptions& options,
                        std::vector<std::string>& warnings) {
  const auto counts = data.labels()->counts();
  const auto classes = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  if (options.components < classes) return;
  warnings.push_back(fmt::format("⟨components {}⟩ is more than there are: {} have {}", options.components,
                                 counted(classes, "class", "classes"), counted(classes - 1, "discriminant")));
}

void warn_of_neighbors(Index rows, const ModelOptions& options, std::vector<std::string>& warnings) {
  if (options.classifier != Classifier::kKnn || options.neighbors <= rows) return;
  warnings.push_back(fmt::format(
      "⟨neighbors {}⟩ is more than the {} to learn from: all of them vote, whatever the row, so that it is the largest class that wins; give fewer neighbours",
      options.neighbors, counted(rows, "row")));
}

}  // namespace subspectra
