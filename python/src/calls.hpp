#pragma once
/// The library's calls with their options as JSON and their answers as the result files of the command line,
/// in the words of Python. Nothing here knows of Python objects.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <subspectra/dataset.hpp>
#include <subspectra/run_control.hpp>

namespace subspectra {
struct TrainedModel;
}

namespace subspectra::python {

/// What a call is told: one JSON object of options, by name, whichever part of the library they are for (a
/// name nobody has is refused), and the lists of names, which may hold commas.
struct CallOptions {
  std::string options = "{}";
  std::vector<std::string> include = {}, exclude = {};
  std::vector<std::string> feature_groups = {};  ///< the group of every feature
  bool certify = true;                           ///< bounds beside the sets
  std::optional<DenseMatrix> start = {};         ///< where the method's iteration starts; `start` is its name
  std::string read = "{}";                       ///< JSON object: how the table was read from its file
};
using NamedMethod = std::pair<std::string, std::string>;  ///< name, JSON object of its own options

/// A trained model, and what is known of how it came about where it was fitted here.
struct Fitted {
  std::shared_ptr<const TrainedModel> model;
  std::string file;        ///< `subspectra.model/1`
  std::string selection;   ///< `subspectra.selection/1`; "" of a model that was read
  std::string evaluation;  ///< `subspectra.evaluation/1` that chose the size; "" where nothing had to
  Index k = 0;
  std::string status;
  std::vector<std::string> warnings;
  std::string note;  ///< how the size was chosen
};

[[nodiscard]] std::string select(const Dataset& data, const std::string& method,
                                 const CallOptions& call_options, const RunControl& control);
[[nodiscard]] std::string select(const Covariances& matrices, const std::string& method,
                                 const CallOptions& call_options, const RunControl& control);
/// Sets that someone else chose, each with its loadings or none.
using GivenNames = std::vector<std::pair<std::vector<std::string>, std::vector<double>>>;
[[nodiscard]] std::string renormalize(const Dataset& data, const GivenNames& sets,
                                      const CallOptions& call_options);
[[nodiscard]] std::string renormalize(const Covariances& matrices, const GivenNames& sets,
                                      const CallOptions& call_options);
[[nodiscard]] Fitted fit(const Dataset& data, const std::string& method, const CallOptions& call_options,
                         const RunControl& control);
[[nodiscard]] std::string evaluate(const Dataset& data, const std::vector<NamedMethod>& methods,
                                   const CallOptions& call_options, const RunControl& control);
/// One part of an evaluation, "2/8", as the text of a part file; and all of them put together, which is the
/// answer of evaluate().
[[nodiscard]] std::string evaluate_part(const Dataset& data, const std::vector<NamedMethod>& methods,
                                        const CallOptions& call_options, const std::string& part,
                                        const RunControl& control);
[[nodiscard]] std::string merge_evaluation(const Dataset& data, const std::vector<NamedMethod>& methods,
                                           const CallOptions& call_options,
                                           const std::vector<std::string>& parts, const RunControl& control);
[[nodiscard]] std::string cluster(const Dataset& data, const std::string& method,
                                  const CallOptions& call_options, const RunControl& control);
/// Checks a result against its table, or against its matrices.
[[nodiscard]] std::string verify(const std::string& result, const Dataset* data, const Covariances* matrices,
                                 const CallOptions& call_options, const RunControl& control);

/// A result, or behind a selection the log of its search: a text, or where that is empty a file.
struct PageSource {
  std::string name;  ///< of its file
  std::string text, path;
};
struct Page {
  std::string html;
  std::vector<std::pair<std::string, std::string>> figures;  ///< name of the file, SVG
};
/// The page of results. `data`: the table they were made of, or the file that holds it, which is then read as
/// each result says; or neither. `shape`: "HxW" or "".
[[nodiscard]] Page report(const std::vector<PageSource>& sources, const Dataset* data,
                          const std::string& data_path, const std::string& shape);

[[nodiscard]] Fitted model_from_json(const std::string& text);
[[nodiscard]] Fitted model_from_file(const std::string& path);
[[nodiscard]] DenseMatrix predict_proba(const TrainedModel& model, const Dataset& rows);
[[nodiscard]] Dataset read(const std::string& path, const CallOptions& call_options);

/// A synthetic problem: a table, or named matrices.
struct Synthetic {
  std::optional<Dataset> table;
  std::vector<std::pair<std::string, DenseMatrix>> matrices;
};
[[nodiscard]] Synthetic synthesize(const std::string& name, const std::string& options);

/// What there is, as JSON: methods with their traits and options, classifiers, problems, and the options that
/// every call of a kind has.
[[nodiscard]] std::string catalogue();
[[nodiscard]] std::string build_lines();
[[nodiscard]] std::string version_text();

/// The time limit of `options`; infinity where there is none.
[[nodiscard]] double time_limit_of(const std::string& options);

}  // namespace subspectra::python
