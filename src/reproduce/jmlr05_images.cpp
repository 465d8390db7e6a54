/// JMLR05, Section 6 and Figure 5: two kinds of animals told apart without labels, by the patches of the
/// images that Q-alpha finds relevant.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/clustering.hpp"
#include "core/text.hpp"
#include "reproduce/patch_features.hpp"
#include "reproduce/qalpha_runs.hpp"

namespace subspectra::reproduce {
namespace {

/// Templates that Figure 5 shows.
constexpr Index kShown = 20;

std::string folder_of(const ReproduceOptions& options) {
  if (!options.data.empty() && !options.images.empty())
    throw InvalidArgument({.field = "data",
                           .value = options.data,
                           .rule = "and ⟨images⟩ are two ways to give the folder",
                           .way_out = "give one of them"});
  return options.data.empty() ? options.images : options.data;
}

void require_classes(const Dataset& table) {
  if (table.labels() && table.labels()->class_count() >= 2) return;
  throw BadInput(
      {.file = table.source()},
      table.labels()
          ? "holds images in one folder alone; give every kind of image a folder of its own inside it"
          : "holds images beside its folders; put every image into the folder of its kind");
}

}  // namespace

void image_clusters(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  const PatchTable patches = patch_matching(folder_of(options), options.shape, options.threads, control);
  result.status = control.status_or(Status::kInterrupted);
  if (patches.table.rows() == 0) return;
  const Dataset& table = patches.table;
  require_classes(table);
  const auto classes = static_cast<Index>(table.labels()->class_count());
  const Index shown =
      options.k.given() ? options.k.resolved(table.features()).hi : std::min(kShown, table.features());
  const auto counts = table.labels()->counts();
  result.settings = {{"images", table.rows()},
                     {"templates", table.features()},
                     {"patch_side", patches.side},
                     {"clusters", classes},
                     {"k", shown},
                     {"colour_bins", {kHueBins, kSaturationBins, kValueBins}}};
  result.protocol = {
      fmt::format("{}: {}, {} a kind; the kinds are used to count alone.", table.source(),
                  counted(table.rows(), "image"), fmt::join(counts, ", ")),
      fmt::format(
          "Features: 3 x 3 templates of {0} x {0} pixels in the middle of every image, {1} in all. Its value for an image is the least L1 distance of its colours to those of 49 candidates, 7 x 7 patches evenly over the image. Colours: shares of the pixels in {2} x {3} x {4} bins of hue, saturation and value (the paper does not say how many). {5}",
          patches.side, table.features(), kHueBins, kSaturationBins, kValueBins,
          options.shape.given()
              ? fmt::format("Images are averaged down to {}x{}.", options.shape.height, options.shape.width)
              : "Images whose shorter side is above 140 pixels are averaged down to that."),
      fmt::format(
          "Q-alpha with k = {0}, then spectral clustering into {0} as `cluster` does it, on the templates above the largest fall of the weights, on the {1} largest weights, and on all templates, equally weighted. Accuracy: images whose cluster is matched to their kind.",
          classes, shown)};
  result.spread = "standard error of a share of so many images";
  result.notes.emplace_back(
      "The paper's animals (CalPhotos, University of California, Berkeley) are not part of the program; its figures are ranges over several pairs of kinds and hold for those alone.");

  const auto clustered = [&](const KRange& k, bool compare) {
    const SelectOptions selection{.k = k,
                                  .criterion = Criterion::kLargest,
                                  .certify = false,
                                  .seed = options.seed,
                                  .threads = options.threads};
    return cluster_rows(table, QAlpha{.clusters = classes}, selection,
                        {.clusters = classes, .no_comparison = !compare}, control.silent());
  };
  const Clustering by_cut = clustered({}, true);
  if (control.should_stop()) return;
  const Clustering by_size = clustered({shown, shown}, false);
  if (control.should_stop()) return;

  const auto accuracy = [&](const RowClusters& clusters) {
    Sample hits;
    for (Index i = 0; i < clusters.agreement->rows; ++i)
      hits.values.push_back(i < clusters.agreement->matched ? 1.0 : 0.0);
    return hits;
  };
  result.results.push_back(with_sample(
      {.series = "accuracy, templates above the fall",
       .statement = "80 % to 90 % correct assignments over many experiments over several object classes"},
      accuracy(by_cut.chosen)));
  result.results.push_back(
      with_sample({.series = fmt::format("accuracy, {} largest weights", shown)}, accuracy(by_size.chosen)));
  result.results.push_back(
      with_sample({.series = "accuracy, all templates",
                   .statement = "spectral clustering using all the features: 55 % to 65 %"},
                  accuracy(*by_cut.all)));
  const auto rand = [](const RowClusters& clusters) { return clusters.agreement->adjusted_rand; };
  result.results.push_back(
      {.series = "adjusted Rand, templates above the fall", .obtained = rand(by_cut.chosen)});
  result.results.push_back({.series = "adjusted Rand, all templates", .obtained = rand(*by_cut.all)});
  result.results.push_back(
      {.series = "templates above the fall", .obtained = static_cast<double>(by_cut.features.size())});
  const Vector weights =
      Eigen::Map<const Vector>(by_cut.selection.weights.data(), std::ssize(by_cut.selection.weights));
  result.results.push_back({.series = "negative weights",
                            .published = 0.0,
                            .statement = "the alpha weights are positive as predicted from Theorem 10",
                            .obtained = static_cast<double>(negative_weights(weights))});
  for (const Index j : by_size.features)
    result.details["templates"].push_back({{"name", table.names()[j]}, {"weight", weights[j]}});
  std::vector<double> sorted(weights.begin(), weights.end());
  std::sort(sorted.rbegin(), sorted.rend());
  result.details["weights"] = sorted;
  result.status = control.status_or(Status::kHeuristic);
}

}  // namespace subspectra::reproduce
