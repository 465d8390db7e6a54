#pragma once
/// A model: the features that were chosen and the rule that was trained on them, to be applied to new rows.
#include <memory>
#include <string>
#include <vector>

#include <subspectra/classifiers.hpp>
#include <subspectra/dataset.hpp>
#include <subspectra/evaluate.hpp>
#include <subspectra/export.hpp>
#include <subspectra/method.hpp>
#include <subspectra/run_control.hpp>
#include <subspectra/selection.hpp>
#include <subspectra/types.hpp>

namespace subspectra {

struct FitResult;

struct FitOptions {
  /// One size is taken as it is; a range, or none, is decided by cross-validation in the rows.
  KRange k = {};
  Classifier classifier = Lda{};
  SelectOptions select = {};  ///< what the method is told
};

/// Cheap to copy; never changes.
class Model {
 public:
  // A move is a copy, which is cheap: what is moved from stays what it was.
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
  ~Model() = default;
  /// Throws BadInput where the file is no model.
  [[nodiscard]] SUBSPECTRA_EXPORT static Model load(const std::string& path);
  [[nodiscard]] SUBSPECTRA_EXPORT static Model from_json(const std::string& text);
  /// Written under another name first, then renamed: there is never half a file.
  SUBSPECTRA_EXPORT void save(const std::string& path) const;
  [[nodiscard]] SUBSPECTRA_EXPORT std::string to_json() const;

  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<std::string>& classes() const;
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<Index>& features()
      const;  ///< columns of the training table
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<std::string>& feature_names() const;
  /// What was chosen, and how; of a model that was loaded the sets are gone.
  [[nodiscard]] SUBSPECTRA_EXPORT const Selection& selection() const;
  /// How the fit ended: time_limit or interrupted where the choice of k, the method or the training was
  /// stopped, and the warnings say which. Of a model that was loaded what its file says.
  [[nodiscard]] SUBSPECTRA_EXPORT Status status() const;
  [[nodiscard]] SUBSPECTRA_EXPORT const std::vector<std::string>& warnings() const;
  /// The cross-validation that chose the number of features, with what it says of the choice; null where the
  /// number was given, and of a model that was loaded.
  [[nodiscard]] SUBSPECTRA_EXPORT const Evaluation* evaluation() const;

  /// n x K class probabilities, columns as in classes(). Columns of `rows` are matched by name where both
  /// have names, else by position in a table as wide as the training table. Throws BadInput that names the
  /// columns `rows` lacks.
  [[nodiscard]] SUBSPECTRA_EXPORT DenseMatrix predict_proba(const Dataset& rows) const;
  /// The class with the largest probability, the first of several.
  [[nodiscard]] SUBSPECTRA_EXPORT std::vector<std::string> predict(const Dataset& rows) const;

 private:
  explicit Model(std::shared_ptr<const FitResult> fit) : fit_(std::move(fit)) {}
  friend SUBSPECTRA_EXPORT Model fit(const Dataset&, const Method&, const FitOptions&, const RunControl&);
  std::shared_ptr<const FitResult> fit_;
};

/// Chooses features by `method`, how many by 5-fold cross-validation unless `k` is one number, and trains the
/// classifier on them. Stopped early it trains on the best set that the method has by then; where it has none
/// of the size, on that of one forward pass, which a warning says. Throws InvalidArgument (options), BadInput
/// (values, labels), Infeasible (constraints), Error.
[[nodiscard]] SUBSPECTRA_EXPORT Model fit(const Dataset& data, const Method& method,
                                          const FitOptions& options = {},
                                          const RunControl& control = RunControl());

}  // namespace subspectra
