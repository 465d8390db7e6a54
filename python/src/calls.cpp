#include "calls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <subspectra/cluster.hpp>
#include <subspectra/evaluate.hpp>
#include <subspectra/io.hpp>

#include "classify/registry.hpp"
#include "cluster/clustering.hpp"
#include "core/json_io.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "core/spelling.hpp"
#include "core/version.hpp"
#include "data/digest.hpp"
#include "data/groups.hpp"
#include "data/prepare.hpp"
#include "evaluate/cross_validation.hpp"
#include "io/part_file.hpp"
#include "io/read_groups.hpp"
#include "model/fit.hpp"
#include "report/build_info.hpp"
#include "report/command_line.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/page_facts.hpp"
#include "report/page_input.hpp"
#include "select/problem.hpp"
#include "select/registry.hpp"
#include "select/select.hpp"
#include "synth/registry.hpp"
#include "verify/check.hpp"
#include "verify/claims.hpp"

namespace subspectra::python {
namespace {

using nlohmann::json;

struct LimitOptions {
  double time_limit = kInfinity;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("time_limit", o.time_limit,
          "stop after this many seconds with what has been found (status time_limit)");
  }
};

/// A field of ReadOptions that only evaluations have a use for.
struct CvGroupsChoice {
  std::string cv_groups;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("cv_groups", o.cv_groups, "column whose equal values stay in one fold (patients, sessions)");
  }
};

/// A field of SelectOptions that results do not tell.
struct DeviceChoice {
  std::string device = SelectOptions().device;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("device", o.device,
          "where the exact search tries sets and greedy searches make their passes: cpu, cuda or cuda:N (an "
          "NVIDIA card); auto takes a card where there is one and the work is worth it");
  }
};

/// The options of one call: every part takes those it has, and what nobody took is refused at the end.
class Options {
 public:
  explicit Options(const std::string& object) : texts_(detail::texts_of_json(parse_json(object))) {
    for (const auto& [name, text] : texts_) left_[name] = text;
    take(limits_);
  }

  template <class Struct>
  void take(Struct& options) {
    set_options(options, texts_);
    for (const auto& option : describe_options<Struct>()) left_.erase(option.name);
  }

  /// What is left after every part that comes first has taken its own is the method's. `start`: a matrix in
  /// place of the option.
  [[nodiscard]] Method method(const std::string& name, const std::optional<DenseMatrix>& start = {}) {
    const MethodEntry& entry = MethodRegistry::find(name);
    Method method = entry.from_texts(texts_);
    for (const auto& option : entry.options) left_.erase(option.name);
    method_ = name;
    if (!start) return method;
    auto started = MethodRegistry::started(method, *start);
    if (!started)
      throw InvalidArgument(
          {.field = "start", .rule = fmt::format("is no option of {}", name), .way_out = "leave it out"});
    return *std::move(started);
  }

  [[nodiscard]] Classifier classifier() {
    Classifier classifier = classifier_from_texts(texts_);
    left_.erase("classifier");
    for (const auto& option : kind_of(classifier).options()) left_.erase(option.name);
    return classifier;
  }

  void refuse_rest() const {
    if (left_.empty()) return;
    const std::string& name = left_.begin()->first;
    std::vector<std::string> owners;
    for (const auto& entry : MethodRegistry::entries()) {
      for (const auto& option : entry.options) {
        if (option.name == name) owners.emplace_back(entry.traits->name);
      }
    }
    if (owners.empty() || method_.empty()) detail::refuse_unknown_option(name);
    throw InvalidArgument(
        {.field = name,
         .value = left_.begin()->second,
         .rule = fmt::format("is an option of {}, but the method is {}", fmt::join(owners, ", "), method_),
         .way_out = "leave it out"});
  }

  [[nodiscard]] const OptionTexts& texts() const { return texts_; }
  [[nodiscard]] const LimitOptions& limits() const { return limits_; }

 private:
  OptionTexts texts_, left_;
  LimitOptions limits_;
  std::string method_;
};

/// SelectOptions with everything that CallOptions has for them.
SelectOptions selection_options(Options& options, const CallOptions& call_options) {
  SelectOptions selection;
  options.take(selection);
  options.take(selection.prepare);
  DeviceChoice choice;
  options.take(choice);
  selection.device = choice.device;
  selection.include = call_options.include;
  selection.exclude = call_options.exclude;
  selection.feature_group_names = call_options.feature_groups;
  selection.certify = call_options.certify;
  selection.validate();
  return selection;
}

/// How the table was read, as the command line tells it, so that it can be read so again; nothing of arrays.
json reading_options(const CallOptions& call_options) {
  const OptionTexts given = detail::texts_of_json(parse_json(call_options.read));
  if (given.empty()) return json::object();
  ReadOptions read;
  CvGroupsChoice groups;
  set_options(read, given);
  set_options(groups, given);
  json used = options_json(read);
  used.update(options_json(groups));
  json told = json::object();
  for (const auto& [name, value] : used.items()) {
    if (given.contains(name)) told[name] = value;
  }
  return told;
}

json used_options(const Options& options, const CallOptions& call_options, const SelectOptions& selection,
                  const KRange& k) {
  json used = reading_options(call_options);
  used.update(options_json(selection.prepare));
  used.update(options_json(selection));
  used.update(options_json(options.limits()));
  used["k"] = k.given() ? OptionCodec<KRange>::json(k) : json::array({k.lo, k.hi});
  used["threads"] = resolve_threads(selection.threads);
  return used;
}

KRange sizes_of(const Selection& found, const KRange& asked) {
  if (asked.given() || found.sets().empty()) return asked;
  return {found.sets().front().k(), found.sets().back().k()};
}

std::string text_of(const json& object) { return dump_json(object, 2) + "\n"; }

std::string selection_text(const Selection& found, const Dataset& data, const SelectOptions& selection,
                           const Options& options, const CallOptions& call_options) {
  const auto groups = groups_of(selection, data.names());
  return text_of(
      selection_json(found, data,
                     {.options = used_options(options, call_options, selection, sizes_of(found, selection.k)),
                      .total_s = found.prepare_s + found.search_s,
                      .groups = groups ? groups.get() : data.details().categories.get(),
                      .spelling = Spelling::kPython}));
}

std::vector<GivenSet> given_sets(const GivenNames& sets) {
  std::vector<GivenSet> given;
  for (const auto& [names, loadings] : sets) {
    given.push_back(
        {.names = names,
         .loadings = Eigen::Map<const Vector>(loadings.data(), static_cast<Index>(loadings.size()))});
  }
  return given;
}

Dataset prepared_copy(const Dataset& checked, const SelectOptions& selection) {
  const std::uint64_t memory_limit = selection.memory_limit.bytes;
  return Preparation::learn(checked, selection.prepare, memory_limit).changed_copy(checked, memory_limit);
}

}  // namespace

double time_limit_of(const std::string& options) { return Options(options).limits().time_limit; }

std::string select(const Dataset& data, const std::string& method, const CallOptions& call_options,
                   const RunControl& control) {
  Options options(call_options.options);
  const SelectOptions selection = selection_options(options, call_options);
  const Method asked = options.method(
      method.empty() ? std::string(default_method(data.has_labels())) : method, call_options.start);
  options.refuse_rest();
  asked.validate();
  const Dataset checked = check_values(data, selection.prepare, selection.exclude);
  const std::uint64_t memory_limit = selection.memory_limit.bytes;
  const auto preparation = Preparation::learn(checked, selection.prepare, memory_limit);
  const Dataset prepared = preparation.changed_copy(checked, memory_limit);
  Selection found = select_features(prepared, asked, selection, control);
  to_table_units(preparation, found);
  return selection_text(found, prepared, selection, options, call_options);
}

std::string select(const Covariances& matrices, const std::string& method, const CallOptions& call_options,
                   const RunControl& control) {
  Options options(call_options.options);
  const SelectOptions selection = selection_options(options, call_options);
  const Method asked = options.method(method, call_options.start);
  options.refuse_rest();
  asked.validate();
  refuse_preparation(selection.prepare);
  const Selection found = select_features(matrices.problem(), asked, selection, control);
  return selection_text(found, placeholder(matrices.problem()), selection, options, call_options);
}

std::string renormalize(const Dataset& data, const GivenNames& sets, const CallOptions& call_options) {
  Options options(call_options.options);
  const SelectOptions selection = selection_options(options, call_options);
  options.refuse_rest();
  const Dataset checked = check_values(data, selection.prepare, selection.exclude);
  const Dataset prepared = prepared_copy(checked, selection);
  return selection_text(refit_sets(prepared, given_sets(sets), selection), prepared, selection, options,
                        call_options);
}

std::string renormalize(const Covariances& matrices, const GivenNames& sets,
                        const CallOptions& call_options) {
  Options options(call_options.options);
  const SelectOptions selection = selection_options(options, call_options);
  options.refuse_rest();
  return selection_text(refit_sets(matrices.problem(), given_sets(sets), selection),
                        placeholder(matrices.problem()), selection, options, call_options);
}

Fitted fit(const Dataset& data, const std::string& method, const CallOptions& call_options,
           const RunControl& control) {
  Options options(call_options.options);
  SelectOptions selection = selection_options(options, call_options);
  const Classifier classifier = options.classifier();
  const Method asked =
      options.method(method.empty() ? std::string(default_judged_method()) : method, call_options.start);
  options.refuse_rest();
  require_class_labels(data, "fit");
  asked.validate();
  kind_of(classifier).validate(classifier);
  const Dataset checked = check_values(data, selection.prepare, selection.exclude);
  if (!selection.feature_group_names.empty())
    selection.feature_groups = groups_of(selection, checked.names());
  const FitResult fit = fit_features(checked, asked, selection, selection.prepare, classifier, control);
  json rule = kind_of(classifier).options_json(classifier);
  rule["classifier"] = classifier.name();
  json of_model = used_options(options, call_options, selection, {fit.k, fit.k});
  of_model["k_asked"] = OptionCodec<KRange>::json(selection.k);
  json object = model_json(fit, std::move(of_model), rule, selection.seed);
  Fitted fitted;
  for (const auto* list : {&data.warnings(), &fit.warnings}) {
    for (const auto& warning : *list) fitted.warnings.push_back(spelled(warning, Spelling::kPython));
  }
  object["warnings"] = fitted.warnings;
  fitted.file = text_of(object);
  // With missing values as features of their own the sets are of the prepared table.
  const Dataset shown =
      fit.selection.features == checked.features() ? checked : prepared_copy(checked, selection);
  fitted.selection = selection_text(fit.selection, shown, selection, options, call_options);
  if (fit.chosen.evaluation) {
    const Evaluation& judged = *fit.chosen.evaluation;
    json used = used_options(options, call_options, selection, selection.k);
    used["classifier"] = classifier.name();
    used["ridge_all_rows"] = ridge_all_rows_json(judged);
    fitted.evaluation = text_of(evaluation_json(
        judged, checked,
        {.options = std::move(used), .total_s = judged.total_s, .spelling = Spelling::kPython}));
  }
  fitted.k = fit.k;
  fitted.status = status_name(fit.status);
  fitted.note = spelled(fit.note, Spelling::kPython);
  fitted.model = std::make_shared<const TrainedModel>(fit.model);
  return fitted;
}

namespace {

/// What an evaluation is asked, as a whole or in parts.
struct EvaluationCall {
  Options options;
  EvaluateOptions protocol;
  SelectOptions selection;
  Classifier classifier;
  std::vector<Method> methods;
  Dataset checked;

  EvaluationCall(const Dataset& data, const std::vector<NamedMethod>& asked, const CallOptions& call_options)
      : options(call_options.options), checked(data) {
    options.take(protocol);
    protocol.validate();
    selection = selection_options(options, call_options);
    classifier = options.classifier();
    options.refuse_rest();
    kind_of(classifier).validate(classifier);
    for (const auto& [name, own] : asked) {
      Options of_method(own);
      methods.push_back(of_method.method(name));
      of_method.refuse_rest();
      methods.back().validate();
    }
    require_class_labels(data, "evaluate");
    checked = check_values(data, selection.prepare, selection.exclude);
    if (!selection.feature_group_names.empty())
      selection.feature_groups = groups_of(selection, checked.names());
  }

  [[nodiscard]] Evaluation run(const RunControl& control, PartWork* work) const {
    return evaluate_methods(checked, methods, selection, selection.prepare, classifier, protocol, control,
                            work);
  }

  /// What parts of one run have in common.
  [[nodiscard]] std::string table() const {
    return table_digest(checked, selection.feature_groups.get(), resolve_threads(selection.threads));
  }

  [[nodiscard]] std::string text(const Evaluation& evaluation, const CallOptions& call_options) const {
    json used = used_options(options, call_options, selection, selection.k);
    used.update(options_json(protocol));
    used["classifier"] = classifier.name();
    used["ridge_all_rows"] = ridge_all_rows_json(evaluation);
    return text_of(evaluation_json(
        evaluation, checked,
        {.options = std::move(used), .total_s = evaluation.total_s, .spelling = Spelling::kPython}));
  }
};

}  // namespace

std::string evaluate(const Dataset& data, const std::vector<NamedMethod>& methods,
                     const CallOptions& call_options, const RunControl& control) {
  const EvaluationCall call(data, methods, call_options);
  return call.text(call.run(control, nullptr), call_options);
}

std::string evaluate_part(const Dataset& data, const std::vector<NamedMethod>& methods,
                          const CallOptions& call_options, const std::string& part,
                          const RunControl& control) {
  const EvaluationCall call(data, methods, call_options);
  PartFile file{.path = part,
                .part = OptionCodec<Part>::parse(part),
                .run = {.command = "evaluate", .data = data.source(), .table = call.table()}};
  PartWork work(file.part);
  if (!call.run(control, &work).complete())
    throw Error(fmt::format("part {} of the evaluation was not finished; run it again", part));
  file.items = work.take_items();
  return part_text(file);
}

std::string merge_evaluation(const Dataset& data, const std::vector<NamedMethod>& methods,
                             const CallOptions& call_options, const std::vector<std::string>& parts,
                             const RunControl& control) {
  const EvaluationCall call(data, methods, call_options);
  std::vector<PartFile> files;
  for (std::size_t i = 0; i < parts.size(); ++i)
    files.push_back(parse_part(parts[i], fmt::format("part {}/{}", i + 1, parts.size())));
  PartWork work(std::move(files));
  if (work.run().table != call.table())
    throw BadInput({.file = data.source()},
                   "a worker has read another table under this name; put the same file where every worker "
                   "finds it, or give the data themselves");
  return call.text(call.run(control, &work), call_options);
}

std::string cluster(const Dataset& data, const std::string& method, const CallOptions& call_options,
                    const RunControl& control) {
  Options options(call_options.options);
  ClusterOptions clusters;
  options.take(clusters);
  clusters.validate();
  const SelectOptions selection = selection_options(options, call_options);
  const Method asked =
      options.method(method.empty() ? std::string(default_method(false)) : method, call_options.start);
  options.refuse_rest();
  asked.validate();
  const Dataset checked = check_values(data, selection.prepare, selection.exclude);
  const Dataset prepared = prepared_copy(checked, selection);
  const Clustering found = cluster_rows(prepared, asked, selection, clusters, control);
  const auto k = static_cast<Index>(found.features.size());
  json used = used_options(options, call_options, selection, {k, k});
  used["k_asked"] = OptionCodec<KRange>::json(selection.k);
  return text_of(
      clustering_json(found, prepared,
                      {.options = std::move(used),
                       .total_s = found.selection.prepare_s + found.selection.search_s + found.cluster_s,
                       .spelling = Spelling::kPython}));
}

std::string verify(const std::string& result, const Dataset* data, const Covariances* matrices,
                   const CallOptions& call_options, const RunControl& control) {
  Options options(call_options.options);
  VerifyOptions asked;
  options.take(asked);
  options.refuse_rest();
  asked.timed = std::isfinite(options.limits().time_limit);
  const ClaimedResult claims = parse_claims(result, "result");
  const auto groups_for = [&](const FeatureNames& names) -> std::shared_ptr<const FeatureGroups> {
    if (!call_options.feature_groups.empty())
      return groups_of({.feature_group_names = call_options.feature_groups}, names);
    if (claims.groups.empty()) return nullptr;
    return std::make_shared<const FeatureGroups>(read_groups(claims.groups, names));
  };
  Verification found;
  std::string source;
  if (matrices != nullptr) {
    const MatrixProblem& problem = matrices->problem();
    const auto groups = groups_for(problem.names);
    source = problem.source;
    found = verify_claims(
        claims, VerifyMatrices{problem.source, problem.names, problem.a, problem.b ? &*problem.b : nullptr},
        groups.get(), asked, control);
  } else {
    const Dataset checked = check_values(*data, claims.prepare, claims.exclude);
    const Dataset prepared = Preparation::learn(checked, claims.prepare).apply(checked);
    const auto groups = groups_for(prepared.names());
    source = prepared.source();
    found = verify_claims(claims, prepared, groups.get(), asked, control);
  }
  json findings = json::array();
  for (const Finding& finding : found.findings) {
    json one = {{"ok", finding.ok}};
    for (const CheckDescription& check : check_descriptions()) {
      if (check.kind == finding.kind) one["check"] = check.name;
    }
    if (finding.k > 0) one["k"] = finding.k;
    if (finding.component > 1) one["component"] = finding.component;
    if (!finding.words.empty()) one["what"] = spelled(finding.words, Spelling::kPython);
    if (finding.claimed) one["claimed"] = *finding.claimed;
    if (finding.recomputed) one["recomputed"] = *finding.recomputed;
    if (finding.deviation) one["deviation"] = *finding.deviation;
    if (finding.tolerance) one["tolerance"] = *finding.tolerance;
    findings.push_back(std::move(one));
  }
  const Verdict verdict = found.verdict();
  return text_of({{"schema", "subspectra.verification/1"},
                  {"version", version()},
                  {"data", source},
                  {"method", claims.method},
                  {"verdict", verdict_name(verdict)},
                  {"holds", verdict == Verdict::kUnchecked ? json() : json(verdict == Verdict::kHolds)},
                  {"entries", found.entries},
                  {"findings", std::move(findings)},
                  {"not_checked", spelled(found.not_checked(), Spelling::kPython)}});
}

namespace {

struct ShapeChoice {
  ImageShape shape;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("shape", o.shape, "features are the pixels of images, row by row");
  }
};

/// The facts that only the table tells; of results without sets there are none.
json facts_of(const PageSource& source, const PageResult& one, const Dataset* data,
              const std::string& data_path, const ImageShape& shape) {
  if (!one.result.contains("path")) return json::object();
  const ClaimedResult claims =
      source.text.empty() ? read_claims(source.path) : parse_claims(source.text, source.name);
  if (claims.from_matrices()) return json::object();
  return page_facts(one.result, source.name, data != nullptr ? *data : read_dataset(data_path, claims.read),
                    {.rows = claims.rows,
                     .features = claims.features,
                     .prepare = claims.prepare,
                     .exclude = claims.exclude,
                     .criterion = claims.criterion,
                     .ridge = claims.ridge},
                    shape);
}

}  // namespace

Page report(const std::vector<PageSource>& sources, const Dataset* data, const std::string& data_path,
            const std::string& shape) {
  ShapeChoice choice;
  if (!shape.empty()) set_options(choice, OptionTexts{{"shape", shape}});
  const ImageShape& image = choice.shape;
  std::vector<PageResult> results;
  for (const PageSource& source : sources) {
    json input =
        source.text.empty() ? read_page_input(source.path) : parse_page_input(source.text, source.name);
    if (input.is_array()) {
      const auto selection = std::find_if(results.rbegin(), results.rend(),
                                          [](const PageResult& one) { return one.result.contains("path"); });
      if (selection == results.rend())
        throw BadInput(
            {.file = source.name},
            "this is the log of a search, but no selection stands before it; name the result first, then its log");
      selection->events = std::move(input);
      continue;
    }
    PageResult one{.name = source.name,
                   .command = command_of(input),
                   .flags = shared_flags_of(input),
                   .result = std::move(input)};
    if (data != nullptr || !data_path.empty()) one.facts = facts_of(source, one, data, data_path, image);
    results.push_back(std::move(one));
  }
  const json all = page_data(results, image);
  Page page{.html = page_html(all)};
  for (PageFigure& figure : page_figures(all))
    page.figures.emplace_back(std::move(figure.file), std::move(figure.svg));
  return page;
}

namespace {

Fitted loaded(TrainedModel model, std::string file) {
  Fitted fitted;
  fitted.status = model.status;
  fitted.k = static_cast<Index>(model.features.size());
  fitted.file = std::move(file);
  fitted.model = std::make_shared<const TrainedModel>(std::move(model));
  return fitted;
}

json described(const std::vector<OptionDescription>& options) {
  json list = json::array();
  for (const auto& option : options) {
    list.push_back({{"name", option.name},
                    {"hint", option.hint},
                    {"default", option.default_text},
                    {"help", spelled(option.help, Spelling::kPython)},
                    {"switch", option.is_switch}});
  }
  return list;
}

}  // namespace

Fitted model_from_json(const std::string& text) { return loaded(TrainedModel::parse(text, "model"), text); }

Fitted model_from_file(const std::string& path) {
  TrainedModel model = TrainedModel::load(path);
  json object = model.to_json();
  if (!model.status.empty()) object["status"] = model.status;
  std::string file = text_of(object);
  return loaded(std::move(model), std::move(file));
}

DenseMatrix predict_proba(const TrainedModel& model, const Dataset& rows) {
  return predict_probabilities(model, rows);
}

Dataset read(const std::string& path, const CallOptions& call_options) {
  Options options(call_options.options);
  ReadOptions asked;
  CvGroupsChoice groups;
  options.take(asked);
  options.take(groups);
  options.refuse_rest();
  asked.cv_groups = groups.cv_groups;
  asked.ignore = call_options.exclude;
  asked.validate();
  return read_dataset(path, asked);
}

Synthetic synthesize(const std::string& name, const std::string& options) {
  const synth::SynthEntry& problem = synth::find_synth(name);
  const OptionTexts texts = detail::texts_of_json(parse_json(options));
  for (const auto& [given, text] : texts) {
    bool known = false;
    for (const auto& option : problem.options) known = known || option.name == given;
    if (!known)
      throw InvalidArgument({.field = given, .value = text, .rule = fmt::format("is no option of {}", name)});
  }
  synth::Synthesized made = synth::synthesize(problem.from_texts(texts));
  Synthetic result;
  result.table = std::move(made.table);
  for (const auto& [matrix, values] : made.matrices) result.matrices.emplace_back(matrix, values);
  return result;
}

std::string catalogue() {
  json methods = json::array();
  for (const auto& entry : MethodRegistry::entries()) {
    const MethodTraits& traits = *entry.traits;
    methods.push_back({{"name", traits.name},
                       {"summary", spelled(traits.summary, Spelling::kPython)},
                       {"needs_labels", traits.needs_labels},
                       {"two_classes_only", traits.two_classes_only},
                       {"variance", traits.variance},
                       {"takes_matrices", traits.takes_matrices},
                       {"takes_groups", traits.takes_groups},
                       {"proves", traits.proves},
                       {"own_rule", traits.own_rule},
                       {"clusters_rows", traits.clusters_rows},
                       {"options", described(entry.options)}});
  }
  json classifiers = json::array();
  for (const auto& kind : classifier_kinds())
    classifiers.push_back({{"name", kind->traits().name}, {"options", described(kind->options())}});
  json problems = json::array();
  for (const auto& problem : synth::synth_entries()) {
    problems.push_back({{"name", problem.traits->name},
                        {"summary", spelled(problem.traits->summary, Spelling::kPython)},
                        {"options", described(problem.options)}});
  }
  std::vector<OptionDescription> of_selection = describe_options<SelectOptions>();
  of_selection.push_back(describe_options<DeviceChoice>().front());
  return dump_json({{"methods", std::move(methods)},
                    {"classifiers", std::move(classifiers)},
                    {"problems", std::move(problems)},
                    {"select", described(of_selection)},
                    {"prepare", described(describe_options<PrepareOptions>())},
                    {"evaluate", described(describe_options<EvaluateOptions>())},
                    {"cluster", described(describe_options<ClusterOptions>())},
                    {"read", described(describe_options<ReadOptions>())},
                    {"verify", described(describe_options<VerifyOptions>())}});
}

std::string build_lines() { return build_info(); }
std::string version_text() { return version(); }

}  // namespace subspectra::python
