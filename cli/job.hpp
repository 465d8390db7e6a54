#pragma once
/// What select, fit and evaluate do alike: take the options apart, read the table, say what was noticed.
#include <chrono>
#include <string>
#include <vector>

#include <subspectra/selection.hpp>
#include "command.hpp"
#include "data/dataset.hpp"
#include "data/prepare.hpp"
#include "io/read.hpp"
#include "model/model.hpp"
#include "options.hpp"

namespace subspectra::cli {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The help pages' common parts.
[[nodiscard]] Operand data_operand();
[[nodiscard]] OptionGroup data_group(const std::vector<OptionDescription>& more = {});
[[nodiscard]] OptionGroup selection_group(const std::vector<OptionDescription>& method);
/// `elsewhere`: options of the page that methods have, too, and that are not listed a second time.
[[nodiscard]] OptionGroup method_group(const std::vector<OptionDescription>& elsewhere = {});
/// The classifier's options; one that methods have, too, says what it means to them.
[[nodiscard]] std::vector<OptionDescription> classifier_options();
[[nodiscard]] std::string status_note();

/// The options of a command that chooses features in a table, set from what was given and checked.
struct Job {
  explicit Job(const Arguments& arguments);

  OptionTexts texts;
  ReadOptions read;
  PrepareOptions prepare;
  SelectOptions selection;
  Classifier classifier;
  RunOptions run;
  OutputOptions output;
  Stopwatch watch;
  double read_s = 0.0;
  std::string understood =
      {};  ///< data_line() of the table, for runs that print no head of a table; warn() says it

  /// check_method_options for commands that train: what is meant for the classifier is no option of a method.
  void check_options(const std::vector<const MethodEntry*>& chosen) const;
  /// Reads --groups for these names, if it was given.
  void load_groups(const FeatureNames& names);
  /// Reads DATA, with its values checked. Notes go to stderr under --verbose.
  [[nodiscard]] Dataset load(const std::string& data);
  /// The one method of select and fit: what was asked for, or the default for these data. Its options are yet
  /// to be checked.
  [[nodiscard]] const MethodEntry& choose_method(const Dataset& data) const;
  /// The same where the method is judged by its errors: fit.
  [[nodiscard]] const MethodEntry& choose_judged_method(const Dataset& data) const;
  /// It with the options that were given.
  [[nodiscard]] Method method(const MethodEntry& entry) const { return entry.from_texts(texts); }
  /// Every option of these structs as used, `k` as the range that was run.
  [[nodiscard]] nlohmann::json used_options(const KRange& k) const;
  /// Refuses, before anything is read, options of an exact search that cannot be honoured: values, and a
  /// --checkpoint that cannot be written. `several`: the command searches more
  /// than once, so that there is no one state to save.
  void check_exact_search(bool several) const;
  /// What was understood, where no table says it, and each warning once; unless --quiet.
  void warn(const std::vector<std::string>& from_data, const std::vector<std::string>& from_result) const;
};

/// Reads DATA as in `options`; refuses to wait for a terminal.
[[nodiscard]] Dataset read_table(const std::string& data, const ReadOptions& options);
/// The matrices of `options`, a pair or one covariance. Throws InvalidArgument for another combination,
/// BadInput when they do not fit together.
[[nodiscard]] MatrixProblem read_matrices(const MatrixOptions& options, std::uint64_t memory_limit);
void say_notes(const Dataset& data);
/// The one note that nobody should miss.
void say_missing_header(const Dataset& data);

/// Its name, in the colour of what it is worth.
[[nodiscard]] std::string shown_status(Status status);

/// "sonar: 208 rows, 60 features, 2 classes (M 111, R 97)"
[[nodiscard]] std::string data_line(const Dataset& data);

}  // namespace subspectra::cli
