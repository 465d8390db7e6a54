#pragma once
/// From option descriptions to a parser: the library's structs say which options there are, CLI11 reads the
/// line.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "progress.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"

namespace subspectra::cli {

struct MethodOptions {
  std::string method;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("method", o.method, "selection method; `subspectra methods` lists them");
  }
};

struct MethodListOptions {
  std::vector<std::string> method;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("method", o.method, "selection methods, side by side; `subspectra methods` lists them");
  }
};

/// Throws InvalidArgument when --method was given and names none ("", ",").
void require_method_name(const OptionTexts& texts, bool named);

/// Covariance input of `select` instead of a table.
struct MatrixOptions {
  std::string between, within, covariance;
  [[nodiscard]] bool given() const { return !(between + within + covariance).empty(); }
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("between", o.between,
          "the matrix A of a pair (with --within): .npy, or square .csv, .tsv (.gz too)");
    field("within", o.within, "the matrix B of a pair");
    field("covariance", o.covariance, "one covariance or correlation matrix, for the PCA methods");
  }
};

struct RefitOptions {
  std::string refit;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "refit", o.refit,
        "no search: give the sets in this file the loadings that are best on them (variational renormalization). A result file of `select`, or text with one feature a line, its loading after a comma if there is one");
  }
};

struct ProofOptions {
  bool require_optimal = false;
  double require_gap = kInfinity;
  std::string events;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("require_optimal", o.require_optimal,
          "exit with code 5 unless every set is proven to be the best of its size");
    field("require_gap", o.require_gap,
          "exit with code 5 unless every set is within this fraction of the best of its size, by its bound");
    field("events", o.events, "file that receives the log of an exact search as JSON lines");
  }
};

struct RunOptions {
  double time_limit = kInfinity;
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("time_limit", o.time_limit,
          "stop after this many seconds with what has been found (status time_limit)");
  }
};

/// A field of SelectOptions that results do not tell.
struct DeviceOptions {
  std::string device = "auto";
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "device", o.device,
        "where the exact search tries sets and greedy searches make their passes: cpu, cuda or cuda:N (an NVIDIA card); auto takes a card where there is one and the work is worth it");
  }
};

struct OutputOptions {
  bool json = false;
  std::string o;
  bool quiet = false;
  bool verbose = false;
  ProgressMode progress = ProgressMode::kAuto;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("json", o.json, "result as JSON on stdout instead of a table");
    field(
        "o", o.o,
        "write the result to this file too, its table as CSV where the name ends in .csv, else all of it as JSON (- for stdout); an existing one is replaced at once");
    field("quiet", o.quiet, "no warnings, no progress");
    field("verbose", o.verbose, "say what the reader understood");
    field("progress", o.progress, "one line on stderr; auto shows it on a terminal");
  }
};

/// `--csv-safe`, of commands whose CSV holds names that come from files.
struct CsvOptions {
  bool csv_safe = false;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "csv_safe", o.csv_safe,
        "an apostrophe before names that a spreadsheet would take for a formula (= + - @): for CSV that people open there");
  }
};

/// `--cv-groups`, which is a field of ReadOptions that only some commands have a use for.
struct CvGroupsOptions {
  std::string cv_groups;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("cv_groups", o.cv_groups, "column whose equal values stay in one fold (patients, sessions)");
  }
};

/// The description of one struct's options with other words where the command needs them.
struct Rewording {
  std::string name;
  std::string hint;  ///< "" keeps it
  std::string help;  ///< "" keeps it
};
[[nodiscard]] std::vector<OptionDescription> reworded(std::vector<OptionDescription> options,
                                                      const std::vector<Rewording>& changes);
/// Without the options of these names.
[[nodiscard]] std::vector<OptionDescription> without(std::vector<OptionDescription> options,
                                                     const std::vector<std::string>& names);
[[nodiscard]] std::vector<OptionDescription> operator+(std::vector<OptionDescription> a,
                                                       const std::vector<OptionDescription>& b);

/// The structs' descriptions with hints that say more than the type.
[[nodiscard]] std::vector<OptionDescription> run_options();
[[nodiscard]] std::vector<OptionDescription> output_options();
/// `--method` with the default said in words.
[[nodiscard]] std::vector<OptionDescription> method_option();
/// The same of fit, whose default compares methods.
[[nodiscard]] std::vector<OptionDescription> judged_method_option();
[[nodiscard]] std::vector<OptionDescription> method_list_option();
/// The methods' own options, each once, with the names of the methods it belongs to.
[[nodiscard]] std::vector<OptionDescription> method_specific_options(const std::vector<MethodEntry>& all);

/// Reads the words after the command's name. Throws InvalidArgument: an unknown option (with near names), one
/// given twice or without its value, too few or too many operands.
[[nodiscard]] Arguments parse_arguments(const CommandPage& page, const std::vector<std::string>& words);

/// Throws InvalidArgument when `texts` holds an option that belongs to methods other than the chosen ones.
/// `classifiers_with`: which values of --classifier have the option of this name, too, where there is one.
void check_method_options(
    const OptionTexts& texts, const std::vector<const MethodEntry*>& chosen,
    const std::vector<MethodEntry>& all,
    const std::function<std::vector<std::string_view>(const std::string&)>& classifiers_with = {});

/// " (did you mean A or B?)" or "".
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                                       std::string_view prefix = "");

}  // namespace subspectra::cli
