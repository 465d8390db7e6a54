#pragma once
/// What there is to know of a classifier: a file of this room derives one class from here and names it in
/// registry.cpp.
#include <subspectra/classifiers.hpp>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <subspectra/run_control.hpp>
#include "classify/model_reader.hpp"
#include "classify/rule.hpp"
#include "core/options.hpp"
#include "data/dataset.hpp"

namespace subspectra {

/// What a training is told beside the classifier's own options.
struct TrainingContext {
  std::uint64_t seed = 0;  ///< of inner folds and random starts
  int threads = 0;
  /// Resolves the ridge where a rule turns out to need it, in place of the one that is told: a rule that
  /// shrinks hardly ever does, and its spectrum may cost more than everything else. Empty: the one told.
  std::function<RidgeAmount()> open_ridge = {};
};

/// The columns of the prepared and labelled rows `training` that sets of features are taken from, ascending.
struct TrainingTable {
  const Dataset& training;
  const std::vector<Index>& features;
  RidgeAmount ridge;  ///< added to the diagonal of the within-class covariance (LDA)
  TrainingContext context;
};

/// Trains on one set of features after another.
class SetTrainer {
 public:
  virtual ~SetTrainer() = default;
  /// On the features with these places among those of the table; on all of them where `places` is null.
  [[nodiscard]] virtual RulePointer fit(const std::vector<Index>* places,
                                        const RunControl& control) const = 0;
};

/// The sizes that a rule in a model file must have.
struct ModelShape {
  Index features = 0, classes = 0, rows = 0;
};

class ClassifierKind {
 public:
  virtual ~ClassifierKind() = default;
  [[nodiscard]] virtual const ClassifierTraits& traits() const = 0;
  [[nodiscard]] virtual std::vector<OptionDescription> options() const = 0;
  /// With the options that `texts` names, as far as it has them; their values are checked.
  [[nodiscard]] virtual Classifier parse(const OptionTexts& texts) const = 0;

  // `classifier` is of this kind.
  virtual void validate(const Classifier& classifier) const = 0;  ///< throws InvalidArgument
  [[nodiscard]] virtual nlohmann::json options_json(const Classifier& classifier) const = 0;
  /// How far its rule pulls correlations towards 0; none where it has no such option.
  [[nodiscard]] virtual std::optional<Shrinkage> shrinkage(const Classifier& classifier) const = 0;
  /// The same classifier with another one; only where shrinkage() has one.
  [[nodiscard]] virtual Classifier with_shrinkage(const Classifier& classifier,
                                                  const Shrinkage& shrinkage) const = 0;
  /// What to warn of when there are `rows` to learn from; mostly nothing.
  [[nodiscard]] virtual std::string warning(const Classifier& /*classifier*/, Index /*rows*/) const {
    return {};
  }
  [[nodiscard]] virtual std::unique_ptr<SetTrainer> trainer(const Classifier& classifier,
                                                            const TrainingTable& table) const = 0;
  /// The rule on z = B'x as a rule on x.
  [[nodiscard]] virtual RulePointer fit_projected(const Classifier& classifier, const TrainingTable& table,
                                                  const MatrixRef& b, const RunControl& control) const = 0;

  /// From a model file, with everything checked. Throws BadInput.
  [[nodiscard]] virtual RulePointer read(const ModelReader& reader, const ModelShape& shape) const = 0;
};

/// Refuses an option that does nothing beside the value of another one, such as the degree of a kernel that
/// has none, where it is not `defaults`. `texts`: what was said in words, where even the default was meant.
void check_conditions(const ClassifierTraits& traits, const nlohmann::json& used,
                      const nlohmann::json& defaults, const OptionTexts& texts = {});

/// What follows from a struct of options.
template <ClassifierOptions Options>
class TypedKind : public ClassifierKind {
 public:
  [[nodiscard]] const ClassifierTraits& traits() const final { return Options::kTraits; }
  [[nodiscard]] std::vector<OptionDescription> options() const final { return describe_options<Options>(); }
  [[nodiscard]] Classifier parse(const OptionTexts& texts) const final {
    Options options;
    set_options(options, texts);
    options.validate();
    return options;
  }
  void validate(const Classifier& classifier) const final {
    const auto& options = classifier.as<Options>();
    check_option_values(options);
    options.validate();
    check_conditions(Options::kTraits, subspectra::options_json(options),
                     subspectra::options_json(Options()));
  }
  [[nodiscard]] nlohmann::json options_json(const Classifier& classifier) const final {
    return subspectra::options_json(classifier.as<Options>());
  }
  [[nodiscard]] std::optional<Shrinkage> shrinkage(const Classifier& classifier) const final {
    if constexpr (requires(Options own) { own.shrinkage; }) return classifier.as<Options>().shrinkage;
    return std::nullopt;
  }
  [[nodiscard]] Classifier with_shrinkage(const Classifier& classifier,
                                          const Shrinkage& shrinkage) const final {
    Options options = classifier.as<Options>();
    if constexpr (requires { options.shrinkage; }) options.shrinkage = shrinkage;
    return options;
  }
};

/// The rows of one set of features.
struct TrainingRows {
  const Matrix& rows;  ///< N x k
  const Labels& labels;
  /// inner_folds() where the traits ask for them, else empty.
  const std::vector<std::vector<Index>>& folds;
  const Matrix* projection = nullptr;  ///< B (k x L): the rule is trained on B'x and handed back as one on x
  TrainingContext context;
};

/// Copies the columns of a table once, and makes its inner folds once, for all sets.
class SharedRows {
 public:
  /// Throws InvalidArgument for row weights where the classifier takes none.
  SharedRows(const ClassifierTraits& traits, const TrainingTable& table);
  [[nodiscard]] const Matrix& rows() const { return rows_; }
  /// Of some columns of rows(), or all.
  [[nodiscard]] TrainingRows with(const Matrix& columns) const {
    return {.rows = columns, .labels = labels_, .folds = folds_, .context = context_};
  }

 private:
  Labels labels_;
  TrainingContext context_;
  std::vector<std::vector<Index>> folds_;
  Matrix rows_;
};

/// A classifier that is trained on the rows themselves: one function, `train`, does for all uses.
template <ClassifierOptions Options>
class RowKind : public TypedKind<Options> {
 public:
  [[nodiscard]] std::unique_ptr<SetTrainer> trainer(const Classifier& classifier,
                                                    const TrainingTable& table) const final {
    return std::make_unique<Trainer>(*this, classifier.as<Options>(), table);
  }
  [[nodiscard]] RulePointer fit_projected(const Classifier& classifier, const TrainingTable& table,
                                          const MatrixRef& b, const RunControl& control) const final {
    const SharedRows store(Options::kTraits, table);
    const Matrix projection = b;
    TrainingRows rows = store.with(store.rows());
    rows.projection = &projection;
    return train(classifier.as<Options>(), rows, control);
  }

 protected:
  [[nodiscard]] virtual RulePointer train(const Options& options, const TrainingRows& rows,
                                          const RunControl& control) const = 0;

 private:
  class Trainer final : public SetTrainer {
   public:
    Trainer(const RowKind& kind, const Options& options, const TrainingTable& table)
        : kind_(kind), options_(options), store_(Options::kTraits, table) {}
    [[nodiscard]] RulePointer fit(const std::vector<Index>* places, const RunControl& control) const final {
      if (places == nullptr) return kind_.train(options_, store_.with(store_.rows()), control);
      const Matrix some = store_.rows()(Eigen::all, *places);
      return kind_.train(options_, store_.with(some), control);
    }

   private:
    const RowKind& kind_;  // lives as long as the program
    Options options_;
    SharedRows store_;
  };
};

}  // namespace subspectra
