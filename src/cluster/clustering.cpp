#include "cluster/clustering.hpp"

#include "core/spelling.hpp"
#include "data/prepare.hpp"
#include "select/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cluster/kmeans.hpp"
#include "core/memory.hpp"
#include "core/options.hpp"
#include "core/random.hpp"
#include "core/streams.hpp"
#include "core/text.hpp"
#include "eigen/lanczos.hpp"

namespace subspectra {
namespace {

constexpr Index kGapValues = 12;      // eigenvalues among which a fall is looked for
constexpr double kRankFloor = 1e-12;  // of the largest eigenvalue

/// A U with A = sum_i alpha_i m_i m_i': one pass.
Matrix affinity_times(const FeatureRows& rows, const VectorRef& alpha, const MatrixRef& u) {
  return rows.project_combine(u, rows.whole(), [&](Index first, Index count, Matrix& tile) {
    tile.array().colwise() *= alpha.segment(first, count).array();
  });
}

struct Spectrum {
  Vector values;   ///< falling
  Matrix vectors;  ///< N x used, unit columns
  double accuracy = 0.0;
};

/// `count` leading eigenvalues, and the vectors of the first `used` of them that are not zero. These get a
/// last product with A: what Lanczos left of its random start outside the range of A goes, and equal rows
/// come out equal.
Spectrum leading_spectrum(const FeatureRows& rows, const VectorRef& alpha, Index count, Index used,
                          std::uint64_t seed, const RunControl& control) {
  const Index n = rows.samples();
  Random random(seed, streams::cluster_eigenvectors());
  Vector start(n);
  for (Index i = 0; i < n; ++i) start[i] = random.normal();
  constexpr Index kMostProducts = 150;
  const auto pairs = leading_eigenpairs(
      n, [&](const Vector& x, Vector& y) { y = affinity_times(rows, alpha, x); }, start,
      {.count = count,
       .tolerance = 1e-6,
       .most_products = std::max(kMostProducts, 3 * count),
       .basis = 2 * count + 10,
       .threads = rows.threads(),
       .stop = [&] { return control.should_stop(); }},
      random);
  Spectrum spectrum;
  spectrum.values = pairs.values.cwiseMax(0.0);
  const double floor = kRankFloor * spectrum.values.maxCoeff();
  used =
      std::min({used, static_cast<Index>((spectrum.values.array() > floor).count()), pairs.vectors.cols()});
  if (used == 0) {
    spectrum.vectors.resize(n, 0);
    return spectrum;
  }
  const Matrix u = pairs.vectors.leftCols(used);
  spectrum.vectors = affinity_times(rows, alpha, u);
  for (Index c = 0; c < used; ++c) {
    const double residual = (spectrum.vectors.col(c) - spectrum.values[c] * u.col(c)).norm();
    spectrum.accuracy = std::max(spectrum.accuracy, residual / spectrum.values[c]);
    spectrum.vectors.col(c).normalize();
  }
  return spectrum;
}

/// What k-means sees: a row a sample.
Matrix place_rows(const FeatureRows& rows, const Spectrum& spectrum, RowScaling scaling) {
  const Index n = rows.samples(), used = spectrum.vectors.cols();
  // Under the affinity A + c 1 1', whose entries are positive for a large c, centred features give every row
  // the same degree, and the constant vector comes first: with it this is what Ng, Jordan and Weiss do.
  const Index constant = rows.centred() && scaling == RowScaling::kUnit ? 1 : 0;
  Matrix places(n, constant + used);
  if (constant > 0) places.col(0) = rows.roots().normalized();
  places.rightCols(used) = spectrum.vectors;
  if (scaling == RowScaling::kUnit) {
    for (Index i = 0; i < n; ++i) {
      const double length = places.row(i).norm();
      if (length > 0.0) places.row(i) /= length;
    }
    return places;
  }
  if (scaling == RowScaling::kEigenvalues) places *= spectrum.values.head(used).cwiseSqrt().asDiagonal();
  // A sample of weight w is w equal rows; its entries are sqrt(w) times theirs.
  for (Index i = 0; i < n; ++i) {
    if (rows.roots()[i] > 0.0) places.row(i) /= rows.roots()[i];
  }
  return places;
}

/// The features to cluster on, ascending: the included ones, then by rank.
std::vector<Index> choose_features(const Selection& selection, const std::vector<Index>& include, Index k) {
  std::vector<Index> chosen = include;
  for (const Index j : selection.ranking) {
    if (static_cast<Index>(chosen.size()) >= k) break;
    if (std::find(include.begin(), include.end(), j) == include.end()) chosen.push_back(j);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<Index> included_features(const Dataset& data, const Selection& selection,
                                     const std::vector<std::string>& names) {
  std::vector<Index> found;
  if (names.empty()) return found;
  for (const Index j : selection.ranking) {
    if (std::find(names.begin(), names.end(), data.names()[j]) != names.end()) found.push_back(j);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void warn_of(const RowClusters& clusters, const ClusterOptions& options, std::string_view where,
             std::vector<std::string>& warnings) {
  if (clusters.clusters() < *options.clusters) {
    warnings.push_back(fmt::format("{}: {} of {}, because the rows have no more distinct places", where,
                                   counted(clusters.clusters(), "cluster"), *options.clusters));
  }
  if (!clusters.distinct) {
    warnings.push_back(fmt::format(
        "{}: the last eigenvalue that is used equals the next one, so that its eigenvector is one choice of many; try another ⟨clusters⟩ or ⟨eigenvectors⟩",
        where));
  }
  if (options.eigenvectors > clusters.eigenvectors) {
    warnings.push_back(fmt::format("{}: ⟨eigenvectors {}⟩, but the affinity has rank {}: so many are used",
                                   where, options.eigenvectors, clusters.eigenvectors));
  }
  constexpr double kLoose = 1e-3;
  if (clusters.accuracy > kLoose) {
    warnings.push_back(fmt::format(
        "{}: an eigenvector of the affinity is known to {:.1g} only: its eigenvalue lies close to others",
        where, clusters.accuracy));
  }
}

}  // namespace

void ClusterOptions::validate() const {
  check_option_values(*this);
  if (clusters) require_at_least(*clusters, 1, "clusters");
  require_at_least(eigenvectors, 0, "eigenvectors");
  require_at_least(kmeans_restarts, 1, "kmeans_restarts");
  require_at_least(kmeans_iterations, 1, "kmeans_iterations");
}

EigenGap eigen_gap(const VectorRef& values, Index most, bool centred) {
  constexpr double kFloor = 0.05;  // what varies within clusters lies about there
  EigenGap gap;
  if (values.size() < 2 || !(values[0] > 0.0)) return gap;
  const double floor = kFloor * values[0];
  for (Index i = 0; i + 1 < std::min(values.size(), most) && values[i] > floor; ++i) {
    const double ratio = values[i] / std::max(values[i + 1], floor);
    if (ratio > gap.ratio) gap = {i + 1 + (centred ? 1 : 0), ratio};
  }
  return gap;
}

RowClusters spectral_clusters(const FeatureRows& rows, const VectorRef& alpha, const ClusterOptions& options,
                              std::uint64_t seed, const RunControl& control) {
  options.validate();
  const Index n = rows.samples();
  const Index clusters = options.clusters.value_or(QAlpha{}.clusters);
  if (clusters > n) {
    throw InvalidArgument(
        {.field = "clusters",
         .value = fmt::to_string(clusters),
         .rule = fmt::format("{{value}}, but there {} {}", n == 1 ? "is" : "are", counted(n, "row")),
         .way_out = "ask for at most as many clusters as rows"});
  }
  const Index own = clusters - (rows.centred() ? 1 : 0);
  const Index wanted = std::min(options.eigenvectors > 0 ? options.eigenvectors : own, n);
  const Index count = std::min(n, std::max(wanted + 2, kGapValues));
  require_memory(8.0 * static_cast<double>(n) * (3.0 * static_cast<double>(count) + 40.0),
                 "the eigenvectors of the affinity of the rows", "ask for fewer ⟨clusters⟩", 0);
  const auto passes = rows.passes();
  const auto spectrum = leading_spectrum(rows, alpha, count, wanted, seed, control);
  const Index used = spectrum.vectors.cols();
  RowClusters result;
  result.eigenvalues.assign(spectrum.values.begin(), spectrum.values.end());
  result.eigenvectors = used;
  result.accuracy = spectrum.accuracy;
  constexpr double kEqual = 1e-9;
  result.distinct = used == 0 || used >= spectrum.values.size() ||
                    spectrum.values[used - 1] - spectrum.values[used] > kEqual * spectrum.values[0];
  result.gap =
      eigen_gap(spectrum.values, std::min(rows.features(), n - (rows.centred() ? 1 : 0)), rows.centred());
  const Vector weights = rows.roots().cwiseAbs2();
  auto groups = kmeans(place_rows(rows, spectrum, options.row_scaling), weights,
                       {.clusters = clusters,
                        .restarts = options.kmeans_restarts,
                        .max_iterations = options.kmeans_iterations,
                        .seed = seed,
                        .threads = rows.threads()},
                       control);
  result.labels = std::move(groups.labels);
  result.sizes = std::move(groups.sizes);
  result.within = groups.within;
  result.sums = std::move(groups.sums);
  result.converged = groups.converged;
  result.passes = rows.passes() - passes;
  return result;
}

std::vector<MethodEntry> clustering_methods() {
  std::vector<MethodEntry> found;
  for (const auto& method : MethodRegistry::entries()) {
    if (method.traits->clusters_rows) found.push_back(method);
  }
  return found;
}

Vector weights_of(const Selection& selection, const std::vector<Index>& features) {
  Vector weights(static_cast<Index>(features.size()));
  for (std::size_t i = 0; i < features.size(); ++i)
    weights[static_cast<Index>(i)] = selection.weights[static_cast<std::size_t>(features[i])];
  return weights;
}

Clustering cluster_rows(const Dataset& data, const Method& method, const SelectOptions& selection,
                        const ClusterOptions& given, const RunControl& control) {
  given.validate();
  ClusterOptions options = given;
  if (!options.clusters)
    options.clusters = MethodRegistry::options_json(method).value("clusters", QAlpha{}.clusters);
  const KRange asked = selection.k;
  if (asked.given() && !asked.single()) {
    throw InvalidArgument(
        {.field = "k",
         .value = OptionCodec<KRange>::format(asked),
         .rule = "{value}, but the rows are clustered on one set",
         .way_out =
             "give one number, or leave ⟨k⟩ out and take the features above the largest fall of the weights"});
  }
  if (!method.traits().clusters_rows) {
    std::vector<std::string> names;
    for (const auto& other : clustering_methods()) names.emplace_back(other.traits->name);
    throw InvalidArgument({.field = "method",
                           .value = std::string(method.name()),
                           .rule = "{value}: the rows are clustered without labels, by weights of features",
                           .way_out = fmt::format("choose {}", fmt::join(names, ", "))});
  }
  if (asked.given()) (void)asked.resolved(data.features());
  if (*options.clusters > data.rows()) {
    throw InvalidArgument({.field = "clusters",
                           .value = fmt::to_string(*options.clusters),
                           .rule = fmt::format("{{value}}, but there {} {}", data.rows() == 1 ? "is" : "are",
                                               counted(data.rows(), "row")),
                           .way_out = "ask for at most as many clusters as rows"});
  }
  Clustering result;
  result.options = options;
  // The path is not needed, and sets of more features than rows, which have none, are welcome here.
  SelectOptions first = selection;
  Index included = 0;  // columns: a name may stand for several
  for (Index j = 0; !selection.include.empty() && j < data.features(); ++j) {
    const auto& names = selection.include;
    included += std::find(names.begin(), names.end(), data.names()[j]) != names.end() ? 1 : 0;
  }
  if (asked.given() && asked.hi < included) {
    throw Infeasible(fmt::format("{} included but k is {}; raise ⟨k⟩ or include fewer",
                                 counted(included, "feature is", "features are"), asked.hi));
  }
  first.k = {std::max<Index>(1, included), std::max<Index>(1, included)};
  result.selection = select_features(data, method, first, control);
  Selection& found = result.selection;
  found.sets().clear();

  const auto start = std::chrono::steady_clock::now();
  const auto available = static_cast<Index>(found.ranking.size());
  const bool normalize = !record_of(found).value("no_normalize", false);
  const auto include = included_features(data, found, selection.include);
  const Index positive =
      std::count_if(found.weights.begin(), found.weights.end(), [](double weight) { return weight > 0.0; });
  constexpr double kLeastFall = 1.1;  // less is no fall
  const bool falls = found.relevance && found.relevance->cut > 0 && found.relevance->cut_ratio >= kLeastFall;
  const Index cut = falls ? found.relevance->cut : 0;
  result.by_cut = !asked.given() && falls;
  const Index size = asked.given() ? std::min(asked.hi, available)
                     : cut > 0     ? cut
                                   : std::max<Index>(1, positive);
  std::vector<Index> without_weight;
  for (const Index j : choose_features(found, include, size))
    (found.weights[j] > 0.0 ? result.features : without_weight).push_back(j);
  if (asked.given() && asked.hi > available) {
    result.warnings.push_back(fmt::format("⟨k {}⟩, but only {} and {} not excluded", asked.hi,
                                          counted(available, "feature varies", "features vary"),
                                          available == 1 ? "is" : "are"));
  }
  if (!without_weight.empty()) {
    result.warnings.push_back(fmt::format(
        "{} no positive weight and {} no part in the affinity: {}",
        without_weight.size() == 1 ? "1 of the features has"
                                   : fmt::format("{} of the features have", without_weight.size()),
        without_weight.size() == 1 ? "takes" : "take", data.names().some(without_weight)));
  }
  if (result.features.empty()) {
    throw BadInput(
        {.file = data.source()},
        "none of the features has a positive weight, so that there is no affinity to cluster by; ask for more with ⟨k⟩, or leave ⟨include⟩ out");
  }
  const auto cluster_on = [&](const std::vector<Index>& features, const Vector& alpha) {
    const FeatureRows rows(data, features, normalize, {}, selection.threads, selection.memory_limit.bytes);
    RowClusters clusters = spectral_clusters(rows, alpha, options, selection.seed, control);
    clusters.passes = rows.passes();
    if (data.labels()) clusters.agreement = agreement(clusters.labels, data.labels()->codes);
    return clusters;
  };
  control.report("cluster", -1.0);
  result.chosen = cluster_on(result.features, weights_of(found, result.features));
  warn_of(result.chosen, options, "selected features", result.warnings);
  result.status = result.chosen.converged ? Status::kConverged : Status::kIterationLimit;
  result.all_features = available;
  if (!options.no_comparison && !control.should_stop()) {
    std::vector<Index> all = found.ranking;
    std::sort(all.begin(), all.end());
    const Vector equal = Vector::Constant(available, 1.0 / std::sqrt(static_cast<double>(available)));
    result.all = cluster_on(all, equal);
    warn_of(*result.all, options, "all features", result.warnings);
    result.similarity = adjusted_rand_index(contingency(result.chosen.labels, result.all->labels));
    if (!result.all->converged) result.status = Status::kIterationLimit;
  }
  result.status = control.status_or(worst(result.status, found.status));
  result.cluster_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Clustering cluster(const Dataset& data, const Method& method, const ClusterOptions& options,
                   const RunControl& control) {
  const SelectOptions& selection = options.select;
  method.validate();
  const Dataset checked =
      check_values(data, selection.prepare, selection.exclude, selection.memory_limit.bytes);
  const std::uint64_t memory_limit = selection.memory_limit.bytes;
  const Dataset prepared =
      Preparation::learn(checked, selection.prepare, memory_limit).changed_copy(checked, memory_limit);
  Clustering clustering = cluster_rows(prepared, method, selection, options, control);
  clustering.warnings = spelled(std::move(clustering.warnings), Spelling::kCpp);
  clustering.selection.warnings = spelled(std::move(clustering.selection.warnings), Spelling::kCpp);
  return clustering;
}

}  // namespace subspectra
