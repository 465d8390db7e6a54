#pragma once
/// Experiments of the papers, run again: every one gives a list of numbers, the published ones beside those
/// obtained here. docs/reproduce.md says how each is done and what came out.
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <subspectra/run_control.hpp>
#include "core/options.hpp"
#include "core/types.hpp"
#include "data/image_shape.hpp"

namespace subspectra::reproduce {

struct ReproduceOptions {
  bool quick = false;
  std::string data;
  std::string images;
  std::string target;
  ImageShape shape;
  bool by_columns = false;
  KRange k;
  Index runs = 0;
  std::vector<std::string> sizes;
  Index components = 0;
  std::uint64_t seed = 0;
  int threads = 0;

  void validate() const;                               ///< throws InvalidArgument
  [[nodiscard]] std::vector<Index> size_list() const;  ///< `sizes` as numbers, ascending
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("quick", o.quick, "a smaller run of the same experiment: seconds instead of minutes or hours");
    field("data", o.data,
          "the table, or the folder of images, of experiments whose data are not part of the program");
    field(
        "images", o.images,
        "faces: a folder of PGM or PPM images instead of ⟨data⟩; folders in it are people (labels), as in the AT&T faces. Eigenfaces beside ⟨data⟩, digits and gender: the folder to write pictures to (PNG)");
    field("target", o.target, "label column of ⟨data⟩; default as in the other commands");
    field(
        "shape", o.shape,
        "height and width of the images whose pixels are the columns of ⟨data⟩, row by row; images of ⟨images⟩ are averaged down to it");
    field(
        "by_columns", o.by_columns,
        "the columns of ⟨data⟩ are the pixels of an image column by column, as MATLAB keeps them; otherwise such images lie on their side");
    field(
        "k", o.k,
        "number of features (range), pixels or vertices (the largest is taken); default: the experiment's own");
    field(
        "runs", o.runs,
        "number of random pairs or matrices, of problems of a size, of repetitions of the cross-validation, or of rows left out; 0 takes the experiment's own");
    field("sizes", o.sizes, "sizes n to time, with commas between; default: the experiment's own");
    field("components", o.components, "number of principal components; 0 takes the experiment's own");
    field("seed", o.seed, "of every random choice");
    field("threads", o.threads, "0 uses every core; the answer does not depend on it");
  }
};

/// One number. A point of a curve has a series and a place on the axis, a single number only the series.
struct Finding {
  std::string series;
  std::optional<Index> x = {};
  std::optional<double> published = {};  ///< where the text of the paper gives a number
  std::string statement = {};            ///< what the paper says about it in words
  std::optional<double> obtained = {};   ///< nothing where a stopped run did not get there
  std::optional<double> spread = {};     ///< Reproduction::spread says of what
};

struct Reproduction {  // NOLINT(bugprone-exception-escape): the check takes the assertions of json for throws
  std::string id;
  std::string source;                                  ///< paper and figure
  std::vector<std::string> protocol;                   ///< what was done, in sentences
  nlohmann::json settings = nlohmann::json::object();  ///< the numbers of the protocol
  std::string axis = "k";                              ///< what Finding::x counts
  std::string spread;                                  ///< what Finding::spread is
  std::vector<Finding> results;
  std::vector<std::pair<std::string, std::string>> pictures;  ///< title, lines of text
  std::vector<std::string> notes;                             ///< what to keep in mind when comparing
  nlohmann::json details = nlohmann::json::object();          ///< more than the list of numbers has room for
  Status status = Status::kInterrupted;  ///< heuristic when all of it ran, else time_limit or interrupted
  double total_s = 0.0;

  [[nodiscard]] std::string name(const Finding& finding) const;  ///< "gslda, all rows, k = 30"
};

struct Experiment {
  std::string_view id;
  std::string_view source;            ///< "ICML06, Figure 1"
  std::string_view summary;           ///< one line
  std::string_view needs;             ///< what `data` has to be and where it comes from; empty: needs no file
  std::string_view needs_short = {};  ///< the same in a few words
  bool takes_images = false;          ///< `images` DIR can stand for `data`
  std::vector<std::string_view> files = {};  ///< in a folder of data, without suffix, what `all` takes for it
  std::string_view stand_in = {};            ///< an embedded table that it runs on, too
  std::vector<std::string_view> options;     ///< of ReproduceOptions, besides quick, seed and threads
  std::function<void(const ReproduceOptions&, const RunControl&, Reproduction&)> run;
};

[[nodiscard]] const std::vector<Experiment>& experiments();
/// Throws InvalidArgument with near names.
[[nodiscard]] const Experiment& find_experiment(std::string_view id);

/// Throws InvalidArgument when the experiment needs a file that was not given, or has no such option.
void check_request(const Experiment& experiment, const ReproduceOptions& options);
[[nodiscard]] Reproduction run_experiment(const Experiment& experiment, const ReproduceOptions& options,
                                          const RunControl& control);

/// Every experiment, one after another. `options` has quick, seed, threads and, as `data`, perhaps a folder
/// where the files of the experiments lie by their names (Experiment::files). An experiment without its file
/// runs on its embedded stand-in, where it has one, or is passed over; what it was run on is in the details.
/// Under quick an experiment is stopped after kQuickSeconds. The results are the single numbers of each, its
/// id before their names.
inline constexpr double kQuickSeconds = 25.0;
[[nodiscard]] Reproduction run_all_experiments(const ReproduceOptions& options, const std::stop_token& stop,
                                               double time_limit_s, const RunControl::Sink& sink = {},
                                               double interval_s = 0.1);

/// `subspectra.reproduction/1`
[[nodiscard]] nlohmann::json reproduction_json(const Reproduction& reproduction,
                                               Spelling spelling = Spelling::kCpp);

}  // namespace subspectra::reproduce
