#include "job.hpp"
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include <subspectra/searches.hpp>
#include "classify/registry.hpp"
#include "core/parallel.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"
#include "help.hpp"
#include "io/read_groups.hpp"
#include "io/read_matrix.hpp"
#include "io/readers.hpp"
#include "output.hpp"
#include "select/select.hpp"
#include "terminal.hpp"

namespace subspectra::cli {

Operand data_operand() {
  return {
      .name = "DATA",
      .help = fmt::format(
          "a table: .csv or .tsv with a header row (.gz too), {}; - for CSV on standard input; or the name of an embedded data set (`subspectra datasets`)",
          endings_beside_csv()),
      .brief = "a table (.csv, .npz, .svm, ...), - for standard input, or an embedded data set"};
}

OptionGroup data_group(const std::vector<OptionDescription>& more) {
  return {.title = "Data",
          .options = describe_options<ReadOptions>() + more + describe_options<PrepareOptions>()};
}

OptionGroup selection_group(const std::vector<OptionDescription>& method) {
  return {.title = "Selection",
          .options = method + describe_options<SelectOptions>() +
                     reworded(describe_options<DeviceOptions>(),
                              {{.name = "device", .hint = "auto|cpu|cuda[:N]", .help = ""}}) +
                     run_options()};
}

OptionGroup method_group(const std::vector<OptionDescription>& elsewhere) {
  std::vector<std::string> listed;
  listed.reserve(elsewhere.size());
  for (const auto& option : elsewhere) listed.push_back(option.name);
  return {.title = "Options of single methods",
          .options = without(method_specific_options(MethodRegistry::entries()), listed)};
}

std::vector<OptionDescription> classifier_options() {
  auto options = without(describe_classifiers(), {"components"});
  for (const auto& of_methods : method_specific_options(MethodRegistry::entries())) {
    for (auto& option : options) {
      if (option.name == of_methods.name) option.help += ". Of methods: " + of_methods.help;
    }
  }
  return options;
}

namespace {

bool has_option(const std::vector<OptionDescription>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(), [&](const auto& option) { return option.name == name; });
}

/// An option that only other classifiers have would do nothing. (One that methods have, too, is theirs:
/// Job::check_options.)
void check_classifier_options(const OptionTexts& texts, const Classifier& chosen) {
  const auto of_chosen = kind_of(chosen).options();
  const auto of_others =
      method_specific_options(MethodRegistry::entries()) + describe_options<SelectOptions>();
  for (const auto& kind : classifier_kinds()) {
    for (const auto& option : kind->options()) {
      if (!texts.contains(option.name) || has_option(of_chosen, option.name) ||
          has_option(of_others, option.name))
        continue;
      for (const OptionRefusal& refusal : kind->traits().refusals) {
        if (refusal.option == option.name)
          throw InvalidArgument({.field = option.name,
                                 .value = texts.at(option.name),
                                 .rule = std::string(refusal.rule),
                                 .way_out = std::string(refusal.way_out)});
      }
      throw InvalidArgument(
          {.field = option.name,
           .value = texts.at(option.name),
           .rule = fmt::format(
               "is an option of {}, but the classifier is {}",
               marked_option("classifier", fmt::format("{}", fmt::join(classifiers_with(option.name), ", "))),
               chosen.name())});
    }
  }
}

}  // namespace

std::string status_note() { return fmt::format("Statuses: {}", status_meanings()); }

Job::Job(const Arguments& arguments) : texts(arguments.texts) {
  CvGroupsOptions groups;
  set_options(read, texts);
  set_options(groups, texts);
  set_options(prepare, texts);
  set_options(selection, texts);
  DeviceOptions device;
  set_options(device, texts);
  selection.device = device.device;
  set_options(run, texts);
  set_options(output, texts);
  read.cv_groups = groups.cv_groups;
  read.ignore = selection.exclude;
  read.memory_limit = selection.memory_limit;
  read.validate();
  selection.validate();
  classifier = classifier_from_texts(texts);
  check_classifier_options(texts, classifier);
  const nlohmann::json used = kind_of(classifier).options_json(classifier);
  check_conditions(classifier.traits(), used, used, texts);
  run.validate();
}

void Job::check_options(const std::vector<const MethodEntry*>& chosen) const {
  OptionTexts own = texts;
  for (const auto& option : kind_of(classifier).options()) own.erase(option.name);
  check_method_options(own, chosen, MethodRegistry::entries(), classifiers_with);
}

Dataset Job::load(const std::string& data) {
  require_writable(output.o);
  const Stopwatch reading;
  Dataset as_read = read_table(data, read);
  if (as_read.details().gaps_are_means && prepare.missing == MissingPolicy::kError) {
    if (texts.contains("missing")) {  // somebody wants to hear of them
      DatasetDetails details = as_read.details();
      details.gaps_are_means = false;
      as_read = Dataset(std::move(details), as_read.values());
    } else {
      prepare.missing = MissingPolicy::kMean;
    }
  }
  Dataset table = check_values(std::move(as_read), prepare, selection.exclude, read.memory_limit.bytes);
  read_s = reading.seconds();
  if (output.verbose) {
    say_notes(table);
  } else if (!output.quiet) {
    say_missing_header(table);
  }
  // The head of the table says it where there is one. A run that fails says nothing but why.
  if (output.json || output.o == "-") understood = data_line(table);
  load_groups(table.names());
  return table;
}

void Job::check_exact_search(bool several) const {
  Eslda exact;  // espca has the same
  set_options(exact, texts);
  exact.validate();
  if (exact.checkpoint.empty() && exact.resume.empty()) return;
  if (several) require_no_state(Method(exact));
  require_writable(exact.checkpoint);
}

void Job::load_groups(const FeatureNames& names) {
  if (selection.groups.empty()) return;
  selection.feature_groups = std::make_shared<const FeatureGroups>(
      read_groups(selection.groups, names, selection.memory_limit.bytes));
}

const MethodEntry& Job::choose_method(const Dataset& data) const {
  MethodOptions asked;
  set_options(asked, texts);
  require_method_name(texts, !asked.method.empty());
  if (asked.method.empty() && !data.labels() && data.details().row_ids && !data.details().no_target.empty())
    throw BadInput({.file = data.source()}, data.details().no_target);
  return MethodRegistry::find(asked.method.empty() ? default_method(data.labels() != nullptr) : asked.method);
}

const MethodEntry& Job::choose_judged_method(const Dataset& data) const {
  MethodOptions asked;
  set_options(asked, texts);
  return asked.method.empty() && data.labels() != nullptr ? MethodRegistry::find(default_judged_method())
                                                          : choose_method(data);
}

nlohmann::json Job::used_options(const KRange& k) const {
  nlohmann::json used = options_json(read);
  for (const char* name : {"format", "transpose", "labels", "names", "id", "categorical", "na"}) {
    if (!texts.contains(name)) used.erase(name);  // what only some files need
  }
  used.update(options_json(prepare));
  used.update(options_json(selection));
  used.update(options_json(run));
  used["k"] = OptionCodec<KRange>::json(k);
  used["threads"] = resolve_threads(selection.threads);
  return used;
}

void Job::warn(const std::vector<std::string>& from_data, const std::vector<std::string>& from_result) const {
  if (output.quiet) return;
  if (!understood.empty()) say("note", understood);
  std::vector<std::string> said;
  for (const auto* warnings : {&from_data, &from_result}) {
    for (const auto& warning : *warnings) {
      if (std::find(said.begin(), said.end(), warning) != said.end()) continue;
      said.push_back(warning);
      say("warning", warning);
    }
  }
}

Dataset read_table(const std::string& data, const ReadOptions& options) {
  if (data == "-" && ::isatty(STDIN_FILENO) == 1) {
    throw InvalidArgument(
        "DATA is - but standard input is a terminal; send a CSV table to it: subspectra ... - < table.csv");
  }
  return read_dataset(data, options);
}

MatrixProblem read_matrices(const MatrixOptions& options, std::uint64_t memory_limit) {
  if (!options.covariance.empty()) {
    if (!options.between.empty() || !options.within.empty()) {
      throw InvalidArgument("--covariance stands alone; a pair is --between A --within B");
    }
    auto s = read_square_matrix(options.covariance, memory_limit);
    return {options.covariance, std::move(s.names), std::move(s.values), std::nullopt};
  }
  if (options.between.empty() || options.within.empty()) {
    throw InvalidArgument("--between A and --within B go together; a single matrix is --covariance S");
  }
  auto a = read_square_matrix(options.between, memory_limit);
  auto b = read_square_matrix(options.within, memory_limit);
  if (a.values.rows() != b.values.rows()) {
    throw BadInput({.file = options.within},
                   fmt::format("B is {0} x {0} and A ({1}) is {2} x {2}; both are over the same features",
                               b.values.rows(), options.between, a.values.rows()));
  }
  if (a.names.given() && b.names.given() && a.names.all() != b.names.all()) {
    throw BadInput({.file = options.within},
                   fmt::format("the names differ from those of A ({}); both are over the same features",
                               options.between));
  }
  return {fmt::format("{} and {}", options.between, options.within),
          a.names.given() ? std::move(a.names) : std::move(b.names), std::move(a.values),
          std::move(b.values)};
}

void say_notes(const Dataset& data) {
  for (const auto& note : data.notes()) say("note", fmt::format("{}: {}", data.source(), note));
}

void say_missing_header(const Dataset& data) {
  for (const auto& note : data.notes()) {
    if (note.starts_with("no header row")) say("note", fmt::format("{}: {}", data.source(), note));
  }
}

std::string shown_status(Status status) {
  switch (status) {
    case Status::kOptimal:
    case Status::kGapReached:
      return styled(status_name(status), Style::kGood);
    case Status::kConverged:
    case Status::kHeuristic:
    case Status::kRankLimit:
      return std::string(status_name(status));
    case Status::kIterationLimit:
    case Status::kNodeLimit:
    case Status::kMemoryLimit:
    case Status::kTimeLimit:
    case Status::kInterrupted:
      break;
  }
  return styled(status_name(status), Style::kDoubtful);
}

std::string data_line(const Dataset& data) {
  if (data.rows() == 0)
    return fmt::format("{}: {}", printable(data.source()), counted(data.features(), "feature"));  // matrices
  std::string line = fmt::format("{}: {}, {}", printable(data.source()), counted(data.rows(), "row"),
                                 counted(data.features(), "feature"));
  std::string understood;
  for (const std::string& one : data.details().understood) understood += "; " + printable(one);
  if (!data.labels()) return line + ", no labels" + understood;
  constexpr int kMostNamed = 8;
  const auto counts = data.labels()->counts();
  std::string named;
  for (int c = 0; c < std::min(data.labels()->class_count(), kMostNamed); ++c) {
    const auto at = static_cast<std::size_t>(c);
    named += fmt::format("{}{} {}", c > 0 ? ", " : "", printable(data.labels()->classes[at]), counts[at]);
  }
  if (data.labels()->class_count() > kMostNamed) named += ", ...";
  const std::string& target = data.labels()->name;
  return line + fmt::format(", {}{} ({}){}", counted(data.labels()->class_count(), "class", "classes"),
                            target == "class" ? "" : fmt::format(" of '{}'", printable(target)), named,
                            understood);
}

}  // namespace subspectra::cli
