#pragma once
/// The one place where classifiers are chosen: what there is, what they are told, how they are trained on
/// some features of a table, and what comes out.
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "classify/gp.hpp"
#include "classify/kernel_svm.hpp"
#include "classify/knn.hpp"
#include "classify/lda.hpp"
#include "classify/svm.hpp"
#include "data/dataset.hpp"
#include "data/moments.hpp"
#include "spectral/fitted_discriminants.hpp"

namespace subspectra {

enum class Classifier { kLda, kSvm, kKnn, kGpLaplace, kGpEp };
template <>
struct EnumNames<Classifier> {
  static constexpr std::array<std::pair<Classifier, std::string_view>, 5> kNames = {
      {{Classifier::kLda, "lda"},
       {Classifier::kSvm, "svm"},
       {Classifier::kKnn, "knn"},
       {Classifier::kGpLaplace, "gp-laplace"},
       {Classifier::kGpEp, "gp-ep"}}};
};

struct ModelOptions {
  Prior prior = Prior::kEmpirical;
  Index components = 0;
  Classifier classifier = Classifier::kLda;
  double cost = kInfinity;
  SvmKernel svm_kernel = SvmKernel::kLinear;
  Index svm_degree = 2;
  double svm_gamma = kInfinity;
  Index neighbors = 5;
  Hyperparameters hyperparameters = Hyperparameters::kOptimize;
  LengthScales lengthscale;
  double signal = kInfinity;
  bool ard = false;
  Index restarts = 2;
  std::uint64_t seed = 0;  ///< of inner folds; that of the selection

  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "classifier", o.classifier,
        "trained on the chosen features: Fisher's linear discriminant rule, a support vector machine, the nearest neighbours, or a Gaussian process by Laplace's approximation or expectation propagation (machines and processes one against the rest)");
    field("prior", o.prior, "class probabilities before seeing a row: as in the training rows, or equal");
    field("components", o.components, "number of discriminants; 0 takes all, min(classes - 1, k)");
    field(
        "C", o.cost,
        "classifier svm: weight of the losses (squared hinge; hinge with a kernel) beside |w|^2/2, features standardized; default: chosen by cross-validation inside the training rows");
    field(
        "svm_kernel", o.svm_kernel,
        "classifier svm: u'v, (G u'v + 1)^D or exp(-G |u - v|^2) of standardized rows; D and G are ⟨svm_degree⟩ and ⟨svm_gamma⟩");
    field("svm_degree", o.svm_degree, "classifier svm, poly: the degree D");
    field("svm_gamma", o.svm_gamma, "classifier svm, poly and rbf: G; default 1/(number of features)");
    field("neighbors", o.neighbors, "classifier knn: so many of the nearest training rows vote");
    field(
        "hyperparameters", o.hyperparameters,
        "classifiers gp-laplace, gp-ep: length-scales and signal that make the log marginal likelihood largest, or as given");
    field(
        "lengthscale", o.lengthscale,
        "classifiers gp-laplace, gp-ep: of all features, or of each in ascending order; where the optimization starts unless fixed. Default: the median distance of two rows");
    field(
        "signal", o.signal,
        "classifiers gp-laplace, gp-ep: prior standard deviation s of the latent function; where the optimization starts unless fixed. Default: 2");
    field("ard", o.ard, "classifiers gp-laplace, gp-ep: one length-scale a feature");
    field(
        "restarts", o.restarts,
        "classifiers gp-laplace, gp-ep: starts of the optimization, all but the first random; the largest log marginal likelihood is kept");
  }
};

using ClassifierRule = std::variant<LdaRule, SvmRule, KernelSvmRule, KnnRule, GpRule>;
/// converged; time_limit or interrupted where the training was cut short (SVM: the choice of C; Gaussian
/// process: that of the hyperparameters), iteration_limit where it was not carried to the end.
[[nodiscard]] Status rule_status(const ClassifierRule& rule);
/// The same as a sentence for warnings; empty where a limit or a signal cut nothing short and every iteration
/// converged.
[[nodiscard]] std::string cut_short_sentence(const ClassifierRule& rule);
/// What trains such a rule.
[[nodiscard]] Classifier classifier_of(const ClassifierRule& rule);
/// n x k rows -> n x K logarithms of class probabilities.
[[nodiscard]] Matrix log_posteriors(const ClassifierRule& rule, const MatrixRef& rows);
/// Numbers in the matrix of its linear functions, or of the projection before it; features, where it has none
/// (a kernel, neighbours, a Gaussian process).
[[nodiscard]] Index rule_entries(const ClassifierRule& rule);

/// Trains the chosen classifier on one set after another of the same training rows, doing once what they
/// share.
class ClassifierTrainer {
 public:
  /// `training` is prepared and labelled. `features` ascending: the columns that sets are taken from. `ridge`
  /// is added to the diagonal of the within-class covariance (LDA). Throws InvalidArgument for row weights
  /// where the classifier has none (all but LDA).
  ClassifierTrainer(const Dataset& training, const std::vector<Index>& features, double ridge,
                    const ModelOptions& options, int threads = 0);
  /// On the features with these places among `features`. Throws Infeasible where the rule does not exist.
  /// `control` cuts short what the training chooses by itself; there is a rule in any case.
  [[nodiscard]] ClassifierRule fit(const std::vector<Index>& places,
                                   const RunControl& control = RunControl()) const;
  [[nodiscard]] ClassifierRule fit(const RunControl& control = RunControl()) const;  ///< on all of them

 private:
  ModelOptions options_;
  const Labels& labels_;
  Moments moments_;
  Matrix within_;  ///< LDA
  int threads_;
  Matrix rows_;                            ///< all but LDA
  std::vector<std::vector<Index>> folds_;  ///< SVM
};

/// Throws InvalidArgument where row weights differ: `what` ("⟨classifier svm⟩") counts every row once.
void refuse_weights(const Dataset& training, std::string_view what);

/// The rule on z = B'x, x the columns `features` of the prepared rows, as a rule on x. LDA:
/// fit_projected_lda.
[[nodiscard]] ClassifierRule fit_projected(const Dataset& training, const std::vector<Index>& features,
                                           const MatrixRef& b, const ModelOptions& options,
                                           const RunControl& control = RunControl());

/// The rule in the space of discriminants that a method fitted on the prepared rows `training`.
[[nodiscard]] ClassifierRule fit_rule(const Dataset& training, const FittedDiscriminants& discriminants,
                                      const ModelOptions& options, const RunControl& control = RunControl());

/// Says so in `warnings` when `components` asks for more discriminants than the classes of `data` have.
void warn_of_components(const Dataset& data, const ModelOptions& options, std::vector<std::string>& warnings);

/// Says so when `neighbors` asks for more rows than a training set of `rows` has.
void warn_of_neighbors(Index rows, const ModelOptions& options, std::vector<std::string>& warnings);

/// Held-out rows of the folds inside a training set, by which the SVM chooses C and the scale of its
/// probabilities: five, or as many as the smallest class has rows; rows of a class with a single row are
/// never held out, groups (`cv_groups`) stay together. Empty where two classes with two rows are not to be
/// had.
[[nodiscard]] std::vector<std::vector<Index>> inner_folds(const Dataset& training, std::uint64_t seed);

}  // namespace subspectra
