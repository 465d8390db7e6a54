#include "reproduce/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/spelling.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "data/feature_names.hpp"
#include "data/prepare.hpp"
#include "io/read.hpp"
#include "reproduce/papers.hpp"
#include "spectral/pencil.hpp"

namespace subspectra::reproduce {
namespace {

constexpr std::string_view kFaceImages =
    "a table with one image a row and its pixels, row by row, as columns (and ⟨shape HxW⟩), or ⟨images DIR⟩ with PGM files. The paper's faces are not public; the AT&T (ORL) faces, 400 images of 40 people in one folder each, can stand in and are distributed in that form";
constexpr std::string_view kLabelledFaces =
    "a table with one image a row, its pixels as columns and the person as label (⟨target COLUMN⟩), or ⟨images DIR⟩ with PGM files in one folder a person. The paper's faces are not public; the AT&T (ORL) faces, 400 images of 40 people, can stand in and are distributed in that form";

template <class List>
bool holds(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      {.id = "icml06-fig1",
       .source = "ICML06, Figure 1",
       .summary = "random covariance pairs, n = 16: greedy and thresholding against the best of all subsets",
       .needs = "",
       .options = {"runs"},
       .run = monte_carlo},
      {.id = "icml06-fig2",
       .source = "ICML06, Figure 2",
       .summary = "Sonar: cross-validated error of LDA against k for st, pearson, gslda",
       .needs = "",
       .options = {"data", "target", "k", "runs"},
       .run = sonar_errors},
      {.id = "icml06-fig3",
       .source = "ICML06, Figure 3",
       .summary = "Ionosphere: the same, eslda beside them",
       .needs = "",
       .options = {"data", "target", "k", "runs"},
       .run = ionosphere_errors},
      {.id = "icml06-fig4",
       .source = "ICML06, Figure 4",
       .summary =
           "colon cancer genes: leave-one-out error against k for st, pearson, the forward pass (⟨data⟩)",
       .needs =
           "the colon cancer data of Alon et al., PNAS 96:6745 (1999), 62 tissues (40 tumour, 22 normal) x 2,000 genes: the authors' files I2000 and tissues, or any copy (R packages plsgenomics and datamicroarray have one), as a table with one tissue a row and a label column",
       .needs_short = "the colon cancer genes",
       .files = {"colon"},
       .stand_in = "sonar",
       .options = {"data", "target", "k"},
       .run = colon_errors},
      {.id = "icml06-exact",
       .source = "ICML06, Section 2.3",
       .summary = "exact search: seconds and nodes until the best set is proven, n = 10 to 40 features",
       .needs = "",
       .options = {"sizes", "runs"},
       .run = exact_search_times},
      {.id = "iccv07-speed",
       .source = "ICCV07, Section 5",
       .summary = "greedy search: a factorization for every candidate against updates, in seconds",
       .needs = "",
       .options = {"sizes"},
       .run = greedy_speed},
      {.id = "iccv07-bounds",
       .source = "ICCV07, Figure 1",
       .summary = "the two-class lower bound below all subsets of a small problem",
       .needs = "",
       .options = {},
       .run = two_class_bounds},
      {.id = "iccv07-faces",
       .source = "ICCV07, Figures 2 to 4",
       .summary =
           "sparse eigenfaces: variance against the number of pixels, where they lie, how they look (⟨data⟩ or ⟨images⟩)",
       .needs = kFaceImages,
       .needs_short = "images of faces",
       .takes_images = true,
       .files = {"faces", "orl_faces", "orl"},
       .stand_in = "sonar",
       .options = {"data", "images", "target", "shape", "by_columns", "k", "components"},
       .run = sparse_eigenfaces},
      {.id = "iccv07-verification",
       .source = "ICCV07, Figure 5",
       .summary = "same person or not: eigenfaces on all and on chosen pixels (⟨data⟩ or ⟨images⟩)",
       .needs = kLabelledFaces,
       .needs_short = "images of faces, people as labels",
       .takes_images = true,
       .files = {"faces", "orl_faces", "orl"},
       .stand_in = "sonar",
       .options = {"data", "images", "target", "shape", "by_columns", "k", "components"},
       .run = face_verification},
      {.id = "iccv07-shape",
       .source = "ICCV07, Figure 6",
       .summary = "sparse eigenshapes: parts of a 3D shape, vertex by vertex, coarse to fine (⟨data⟩)",
       .needs =
           "a table with one shape a row, all with the same vertices, and the coordinates as columns: NAME_x, NAME_y, NAME_z, or three in a row for every vertex. The paper's 3D faces are not public; any registered meshes will do",
       .needs_short = "registered 3D shapes",
       .files = {"shapes"},
       .stand_in = "sonar",
       .options = {"data", "target", "k", "components"},
       .run = sparse_eigenshapes},
      {.id = "iccv07-usps",
       .source = "ICCV07, Figures 7 to 11",
       .summary =
           "digits 3 against 5: pixels by GSLDA, Fisher and soft ARD, Gaussian-process classifiers (⟨data⟩)",
       .needs =
           "the USPS digits, one image of 16 x 16 grey values a row and the digit as label; 3 and 5 are taken (1,540 of the 9,298 images). The R package ElemStatLearn distributes them",
       .needs_short = "the USPS digits",
       .files = {"usps"},
       .stand_in = "sonar",
       .options = {"data", "images", "target", "shape", "by_columns", "k"},
       .run = digit_pixels},
      {.id = "iccv07-gender",
       .source = "ICCV07, Figures 12 to 16",
       .summary = "the same on any images of two kinds, in the paper faces of men and women (⟨data⟩)",
       .needs =
           "a table with one image a row, its pixels as columns and a label of two classes. The paper has 1,755 FERET faces of 21 x 12 pixels, which are given to researchers on request",
       .needs_short = "images of two kinds",
       .files = {"gender"},
       .stand_in = "sonar",
       .options = {"data", "images", "target", "shape", "by_columns", "k"},
       .run = gender_pixels},
      {.id = "aistats15-table1",
       .source = "AISTATS15, Table 1",
       .summary = "sparse discriminants on a gene expression table: error, features, entries (⟨data⟩)",
       .needs =
           "a table of gene expressions with one sample a row and a label column. The paper has Nakayama et al. 2007 (86 x 22,283, five classes; GEO GDS2736), Sun et al. 2006 (180 x 54,613) and Ramaswamy et al. 2001 (198 x 16,063); the R package datamicroarray distributes them",
       .needs_short = "a gene expression table",
       .files = {"nakayama"},
       .stand_in = "sonar",
       .options = {"data", "target", "runs"},
       .run = sparse_discriminants_table},
      {.id = "aistats15-theorem3",
       .source = "AISTATS15, Theorem 3",
       .summary = "without noise: rvm-row finds the solution with the fewest rows, the group lasso does not",
       .needs = "",
       .options = {"runs"},
       .run = sparsest_solution},
      {.id = "jmlr05-fig2a",
       .source = "JMLR05, Figure 2a",
       .summary = "how often the leading eigenvector of a random matrix with a positive mean is positive",
       .needs = "",
       .options = {"runs"},
       .run = positive_eigenvectors},
      {.id = "jmlr05-fig2b",
       .source = "JMLR05, Figure 2b",
       .summary = "Q-alpha weights, 6 relevant features of 202 and pure noise: positive, few are large",
       .needs = "",
       .options = {"runs"},
       .run = positive_weights},
      {.id = "jmlr05-fig3b",
       .source = "JMLR05, Figure 3b",
       .summary = "weights of relevant over those of other features for 2 to 10 clusters, three choices of k",
       .needs = "",
       .options = {"runs"},
       .run = cluster_counts},
      {.id = "jmlr05-fig6b",
       .source = "JMLR05, Figure 6b",
       .summary = "signs flipped from session to session: how often Q-alpha with a kernel finds the features",
       .needs = "",
       .options = {"runs"},
       .run = kernel_sessions},
      {.id = "jmlr05-bendor",
       .source = "JMLR05, Section 6",
       .summary = "the gene expression model of Ben-Dor et al.: m, d, e, s varied one at a time",
       .needs = "",
       .options = {"runs"},
       .run = expression_model},
      {.id = "jmlr05-fig3a",
       .source = "JMLR05, Figure 3a",
       .summary = "Weston's two problems: test error of the SVM on features of Q-alpha and of filters",
       .needs = "",
       .options = {"runs"},
       .run = weston_problems},
      {.id = "jmlr05-table1",
       .source = "JMLR05, Table 1",
       .summary = "genes chosen without labels: leave-one-out errors of the SVM against rivals (⟨data⟩)",
       .needs =
           "a table of two classes with one sample a row and a label column. The paper has the lymphoma outcomes of Shipp et al. 2002 (58 x 7,129), the brain tumour outcomes of Pomeroy et al. 2002 (60 x 7,129), the breast tumours of van 't Veer et al. 2002 (78 x 24,624), all public, and an unpublished fourth table; any two-class gene expression table will do",
       .needs_short = "a two-class gene expression table",
       .files = {"golub", "colon"},
       .stand_in = "sonar",
       .options = {"data", "target", "runs"},
       .run = gene_selection_table},
      {.id = "jmlr05-images",
       .source = "JMLR05, Section 6, Figure 5",
       .summary = "kinds of animals told apart without labels by patches of their images (⟨data DIR⟩)",
       .needs =
           "a folder with one folder for every kind of image, in it PPM (or PGM) files in colour. The paper has American toads and green frogs, elephants and sea elephants, from CalPhotos (Berkeley): 27 images, 18 of the one kind and 9 of the other; any two kinds of photographs will do",
       .needs_short = "a folder of images",
       .takes_images = true,
       .files = {"animals", "photographs"},
       .options = {"data", "images", "shape", "k"},
       .run = image_clusters},
  };
  return all;
}

const Experiment& find_experiment(std::string_view id) {
  std::vector<std::string> ids;
  for (const Experiment& experiment : experiments()) {
    if (experiment.id == id) return experiment;
    ids.emplace_back(experiment.id);
  }
  const auto near = near_names(id, ids);
  throw InvalidArgument(
      {.field = "experiment",
       .value = std::string(id),
       .subject = "there is no experiment",
       .rule = near.empty() ? "'{value}'" : fmt::format("'{{value}}' (did you mean {}?)", join_some(near)),
       .way_out = fmt::format("the experiments are {}", join_some(ids, ids.size()))});
}

void ReproduceOptions::validate() const {
  if (runs < 0)
    throw InvalidArgument(
        {.field = "runs", .value = fmt::to_string(runs), .rule = "{value}, but it must not be negative"});
  if (components < 0)
    throw InvalidArgument({.field = "components",
                           .value = fmt::to_string(components),
                           .rule = "{value}, but it must not be negative"});
  if (threads < 0)
    throw InvalidArgument({.field = "threads",
                           .value = fmt::to_string(threads),
                           .rule = "{value}, but it must not be negative"});
  static_cast<void>(size_list());
}

std::vector<Index> ReproduceOptions::size_list() const {
  constexpr Index kMost = 20000;
  std::vector<Index> list;
  for (const auto& text : sizes) {
    const Index n = OptionCodec<Index>::parse(text);
    if (n < 1 || n > kMost)
      throw InvalidArgument({.field = "sizes",
                             .value = fmt::to_string(text),
                             .rule = fmt::format("'{{value}}': numbers from 1 to {} are needed", kMost)});
    list.push_back(n);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

void check_request(const Experiment& experiment, const ReproduceOptions& options) {
  options.validate();
  const ReproduceOptions defaults;
  const auto used = options_json(options);
  const auto unused = options_json(defaults);
  for (const auto& [name, value] : used.items()) {
    if (value == unused[name] || holds(std::vector<std::string_view>{"quick", "seed", "threads"}, name) ||
        holds(experiment.options, name)) {
      continue;
    }
    std::vector<std::string> owners;
    for (const Experiment& other : experiments()) {
      if (holds(other.options, name)) owners.emplace_back(other.id);
    }
    throw InvalidArgument({.field = std::string(name),
                           .rule = fmt::format("is an option of {}, but the experiment is {}",
                                               join_some(owners, owners.size()), experiment.id),
                           .way_out = "leave it out"});
  }
  const bool has_images = experiment.takes_images && !options.images.empty();
  if (!experiment.needs.empty() && options.data.empty() && !has_images) {
    throw InvalidArgument(
        {.field = "data",
         .subject = std::string(experiment.id),
         .rule = fmt::format("needs ⟨data {}⟩: {}", experiment.id == "jmlr05-images" ? "DIR" : "FILE",
                             experiment.needs)});
  }
}

Reproduction run_experiment(const Experiment& experiment, const ReproduceOptions& options,
                            const RunControl& control) {
  const auto start = std::chrono::steady_clock::now();
  check_request(experiment, options);
  Reproduction result;
  result.id = experiment.id;
  result.source = experiment.source;
  experiment.run(options, control, result);
  result.settings["quick"] = options.quick;
  result.settings["seed"] = options.seed;
  if (!options.data.empty()) result.settings["data"] = options.data;
  if (!options.images.empty()) result.settings["images_folder"] = options.images;
  result.total_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::string Reproduction::name(const Finding& finding) const {
  return finding.x ? fmt::format("{}, {} = {}", finding.series, axis, *finding.x) : finding.series;
}

namespace {

/// The same with the options in its texts spelled.
nlohmann::json with_options_spelled(nlohmann::json value, Spelling spelling) {
  if (value.is_string()) return spelled(value.get_ref<const std::string&>(), spelling);
  if (value.is_structured()) {
    for (auto& member : value) member = with_options_spelled(std::move(member), spelling);
  }
  return value;
}

}  // namespace

nlohmann::json reproduction_json(const Reproduction& reproduction, Spelling spelling) {
  const auto number = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  auto results = nlohmann::json::array();
  for (const Finding& finding : reproduction.results) {
    nlohmann::json entry = {{"name", spelled(reproduction.name(finding), spelling)},
                            {"series", spelled(finding.series, spelling)},
                            {"published", number(finding.published)},
                            {"obtained", number(finding.obtained)},
                            {"spread", number(finding.spread)}};
    if (finding.x) entry[reproduction.axis] = *finding.x;
    if (!finding.statement.empty()) entry["published_text"] = spelled(finding.statement, spelling);
    results.push_back(std::move(entry));
  }
  nlohmann::json protocol = reproduction.settings;
  protocol["text"] = spelled(reproduction.protocol, spelling);
  if (!reproduction.spread.empty()) protocol["spread"] = spelled(reproduction.spread, spelling);
  nlohmann::json json = {{"schema", "subspectra.reproduction/1"},
                         {"version", version()},
                         {"id", reproduction.id},
                         {"source", reproduction.source},
                         {"status", status_name(reproduction.status)},
                         {"protocol", std::move(protocol)},
                         {"results", std::move(results)},
                         {"notes", spelled(reproduction.notes, spelling)},
                         {"timing", {{"total_s", reproduction.total_s}}}};
  if (!reproduction.details.empty()) json["details"] = with_options_spelled(reproduction.details, spelling);
  return json;
}

Dataset load_table(const ReproduceOptions& options, const std::string& embedded) {
  ReadOptions read;
  read.target = options.target;
  return check_values(read_dataset(options.data.empty() ? embedded : options.data, read), {});
}

Dataset load_dense_table(const ReproduceOptions& options) {
  const Dataset data = load_table(options);
  return {data.details(), data.values().with_zeros(data.source())};
}

std::vector<Index> varying_columns(const Dataset& data) {
  std::vector<Index> varying;
  for (Index j = 0; j < data.features(); ++j) {
    const Vector column = data.values().column(j);
    if (column.size() > 0 && column.minCoeff() < column.maxCoeff()) varying.push_back(j);
  }
  return varying;
}

std::vector<Index> first_of(const std::vector<Index>& order, Index k) {
  std::vector<Index> set(order.begin(), order.begin() + std::min(k, static_cast<Index>(order.size())));
  std::sort(set.begin(), set.end());
  return set;
}

TwoClass two_class_pair(const Dataset& data, int threads) {
  const auto counts = data.labels()->counts();
  Vector sums[2] = {Vector::Zero(data.features()), Vector::Zero(data.features())};
  data.values().each_row(
      [&](Index i, const Vector& row) { sums[data.labels()->codes[static_cast<std::size_t>(i)]] += row; });
  const auto n1 = static_cast<double>(counts[0]);
  const auto n2 = static_cast<double>(counts[1]);
  std::vector<Index> all(static_cast<std::size_t>(data.features()));
  for (Index j = 0; j < data.features(); ++j) all[static_cast<std::size_t>(j)] = j;
  return {.a = std::sqrt(n1 * n2) / (n1 + n2) * (sums[0] / n1 - sums[1] / n2),
          .b = lda_pencil(data, 0.0, threads)->block(all, threads)};
}

}  // namespace subspectra::reproduce
