#pragma once
/// The classifiers that are trained on the chosen features, one struct of options each; Classifier holds any
/// of them:
///
///     Classifier rule = Svm{.C = 1};
#include <subspectra/export.hpp>
#include <subspectra/options.hpp>

#include <array>
#include <concepts>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace subspectra {

/// Class probabilities before a row is seen.
enum class Prior { kEmpirical, kUniform };
template <>
struct EnumNames<Prior> {
  static constexpr std::array<std::pair<Prior, std::string_view>, 2> kNames = {
      {{Prior::kEmpirical, "empirical"}, {Prior::kUniform, "uniform"}}};
};

enum class SvmKernel { kLinear, kPoly, kRbf };
template <>
struct EnumNames<SvmKernel> {
  static constexpr std::array<std::pair<SvmKernel, std::string_view>, 3> kNames = {
      {{SvmKernel::kLinear, "linear"}, {SvmKernel::kPoly, "poly"}, {SvmKernel::kRbf, "rbf"}}};
};

/// Of the posterior of a Gaussian process: Laplace's at its mode, or expectation propagation.
enum class GpApproximation { kLaplace, kEp };
template <>
struct EnumNames<GpApproximation> {
  static constexpr std::array<std::pair<GpApproximation, std::string_view>, 2> kNames = {
      {{GpApproximation::kLaplace, "laplace"}, {GpApproximation::kEp, "ep"}}};
};

/// Those that make the log marginal likelihood largest, or as given.
enum class Hyperparameters { kOptimize, kFixed };
template <>
struct EnumNames<Hyperparameters> {
  static constexpr std::array<std::pair<Hyperparameters, std::string_view>, 2> kNames = {
      {{Hyperparameters::kOptimize, "optimize"}, {Hyperparameters::kFixed, "fixed"}}};
};

/// One for all features, {{2.0}}, or one each in ascending order, {{1.0, 2.5}}; empty: not given.
struct LengthScales {
  std::vector<double> values;  ///< positive and finite
  bool operator==(const LengthScales&) const = default;
};

/// An option that does something only where another one has one of some values.
struct OptionCondition {
  std::string_view option;
  std::string_view depends_on;
  std::span<const std::string_view> values;
  std::string_view noun;  ///< what `depends_on` chooses, for messages
};

/// What to say of an option beside a classifier that has none such, where the usual sentence is not enough.
struct OptionRefusal {
  std::string_view option;
  std::string_view rule;
  std::string_view way_out;
};

/// What a classifier needs and can do, as data.
struct ClassifierTraits {
  std::string_view name;
  std::string_view summary;    ///< a few words; empty where those of the classifier before it say it
  bool takes_weights = false;  ///< rows may count differently
  bool inner_folds = false;    ///< chooses something by cross-validation inside the training rows
  bool says_priors = false;    ///< of no feature at all it has a rule: the class probabilities
  std::span<const OptionCondition> conditions = {};
  std::span<const OptionRefusal> refusals = {};
};

/// Fisher's linear discriminant rule.
struct Lda {
  Prior prior = Prior::kEmpirical;
  Index components = 0;
  Shrinkage shrinkage = {};

  static constexpr ClassifierTraits kTraits{.name = "lda",
                                            .summary = "Fisher's linear discriminant rule",
                                            .takes_weights = true,
                                            .says_priors = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("prior", o.prior, "class probabilities before seeing a row: as in the training rows, or equal");
    field("components", o.components, "number of discriminants; 0 takes all, min(classes - 1, k)");
    field(
        "shrinkage", o.shrinkage,
        "classifier lda: how far the within-class correlations of the rule are pulled towards 0, from 0 (the plain rule) to 1; auto: as far as their uncertainty says; auto:F: of what that leaves the share F, too");
  }
};

/// The support vector machine, linear or with a kernel; one against the rest.
struct Svm {
  Prior prior = Prior::kEmpirical;
  double C = std::numeric_limits<double>::infinity();  ///< infinity: chosen by cross-validation inside the
                                                       ///< training rows
  SvmKernel svm_kernel = SvmKernel::kLinear;
  Index svm_degree = 2;
  double svm_gamma = std::numeric_limits<double>::infinity();  ///< infinity: 1/(columns that vary)

  static constexpr std::array<std::string_view, 2> kKernelsWithGamma = {"poly", "rbf"};
  static constexpr std::array<OptionCondition, 2> kConditions = {
      {{.option = "svm_degree",
        .depends_on = "svm_kernel",
        .values = std::span(kKernelsWithGamma).first(1),
        .noun = "kernel"},
       {.option = "svm_gamma", .depends_on = "svm_kernel", .values = kKernelsWithGamma, .noun = "kernel"}}};
  static constexpr ClassifierTraits kTraits{
      .name = "svm", .summary = "a support vector machine", .inner_folds = true, .conditions = kConditions};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("prior", o.prior, "class probabilities before seeing a row: as in the training rows, or equal");
    field(
        "C", o.C,
        "classifier svm: weight of the losses (squared hinge; hinge with a kernel) beside |w|^2/2, features standardized; default: chosen by cross-validation inside the training rows");
    field(
        "svm_kernel", o.svm_kernel,
        "classifier svm: u'v, (G u'v + 1)^D or exp(-G |u - v|^2) of standardized rows; D and G are ⟨svm_degree⟩ and ⟨svm_gamma⟩");
    field("svm_degree", o.svm_degree, "classifier svm, poly: the degree D");
    field("svm_gamma", o.svm_gamma, "classifier svm, poly and rbf: G; default 1/(number of features)");
  }
};

/// The vote of the nearest training rows.
struct Knn {
  Prior prior = Prior::kEmpirical;
  Index neighbors = 5;

  static constexpr ClassifierTraits kTraits{.name = "knn", .summary = "the nearest neighbours"};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("prior", o.prior, "class probabilities before seeing a row: as in the training rows, or equal");
    field("neighbors", o.neighbors, "classifier knn: so many of the nearest training rows vote");
  }
};

/// A Gaussian process with the probit likelihood; one against the rest. GpLaplace and GpEp are the two there
/// are.
template <GpApproximation approximation>
struct GpClassifier {
  Prior prior = Prior::kEmpirical;
  Hyperparameters hyperparameters = Hyperparameters::kOptimize;
  LengthScales lengthscale = {};
  double signal = std::numeric_limits<double>::infinity();  ///< s, not s^2; infinity: not given
  bool ard = false;                                         ///< a list of length-scales means it too
  Index restarts = 2;
  Index max_iterations = 200;  ///< not an option: gradients of the log marginal likelihood in one start
  double tolerance = 1e-5;     ///< not an option: a start ends when no derivative of it exceeds this times
                               ///< 1 + its size

  static constexpr GpApproximation kApproximation = approximation;
  static constexpr std::array<OptionRefusal, 1> kRefusals = {
      {{.option = "ard",
        .rule = "is for ⟨classifier gp-laplace⟩ and gp-ep",
        .way_out = "leave it out (method gp-ard needs no such word)"}}};
  static constexpr ClassifierTraits kTraits{
      .name = approximation == GpApproximation::kLaplace ? "gp-laplace" : "gp-ep",
      .summary = approximation == GpApproximation::kLaplace
                     ? "a Gaussian process by Laplace's approximation or expectation propagation"
                     : "",
      .refusals = kRefusals};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("prior", o.prior, "class probabilities before seeing a row: as in the training rows, or equal");
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
using GpLaplace = GpClassifier<GpApproximation::kLaplace>;
using GpEp = GpClassifier<GpApproximation::kEp>;

template <class Options>
concept ClassifierOptions = requires {
  requires std::same_as<decltype(Options::kTraits), const ClassifierTraits>;
};

/// Any of the classifiers, with its options. Cheap to copy.
class Classifier {
 public:
  Classifier() : Classifier(Lda{}) {}
  // A move is a copy, which is cheap: what is moved from stays what it was.
  Classifier(const Classifier&) = default;
  Classifier& operator=(const Classifier&) = default;
  ~Classifier() = default;
  /// From one of the structs above. The options are checked where they are used; InvalidArgument then.
  template <ClassifierOptions Options>
  Classifier(Options options)  // NOLINT(google-explicit-constructor): {.classifier = Svm{.C = 1}} is what
                               // people write
      : name_(Options::kTraits.name), options_(std::make_shared<const Options>(std::move(options))) {}
  /// By name, with its defaults. Throws InvalidArgument.
  SUBSPECTRA_EXPORT explicit Classifier(std::string_view name);
  /// From text as on the command line: {{"C", "0.5"}}. Throws InvalidArgument, also for an option it has not.
  [[nodiscard]] SUBSPECTRA_EXPORT static Classifier parse(
      std::string_view name, const std::vector<std::pair<std::string, std::string>>& options);
  /// From a JSON object of its options, as options_json() gives it.
  [[nodiscard]] SUBSPECTRA_EXPORT static Classifier from_json(std::string_view name,
                                                              std::string_view options);

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] SUBSPECTRA_EXPORT const ClassifierTraits& traits() const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::string options_json() const;
  /// The struct it was made from; throws InvalidArgument where it is another classifier's.
  template <ClassifierOptions Options>
  [[nodiscard]] const Options& as() const {
    require_name(Options::kTraits.name);
    return *static_cast<const Options*>(options_.get());
  }

 private:
  SUBSPECTRA_EXPORT void require_name(std::string_view name) const;

  std::string_view name_;  ///< of a kTraits, which lives for ever
  std::shared_ptr<const void> options_;
};

/// Every classifier there is, in the order of the help pages.
[[nodiscard]] SUBSPECTRA_EXPORT std::vector<ClassifierTraits> classifier_list();

}  // namespace subspectra
