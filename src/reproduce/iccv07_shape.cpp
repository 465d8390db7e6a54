/// ICCV07, Figure 6: sparse eigenshapes. Columns are the coordinates of vertices; the three of a vertex enter
/// together, and the search goes from few vertices to many.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "core/text.hpp"
#include "linalg/blas.hpp"
#include "reproduce/papers.hpp"
#include "search/greedy.hpp"
#include "spectral/deflation.hpp"
#include "spectral/pencil.hpp"
#include "spectral/renormalize.hpp"

namespace subspectra::reproduce {
namespace {

constexpr Index kRefinement = 4;     ///< a level has this many times the vertices of the one before
constexpr Index kCoarsest = 64;      ///< no coarser level is made below this many vertices
constexpr Index kDirectLimit = 600;  ///< vertices up to which the search without levels is run too

struct Vertex {
  std::string name;
  std::vector<Index> columns;  ///< x, y, z
};

/// Names that end in _x, _y, _z; else three columns in a row.
std::vector<Vertex> vertices_of(const Dataset& data) {
  const Index p = data.features();
  std::vector<Vertex> vertices;
  std::map<std::string, std::size_t> known;
  std::map<std::string, int> axes;
  bool named = true;
  for (Index j = 0; j < p && named; ++j) {
    const std::string name = data.names()[j];
    const std::size_t n = name.size();
    named = n > 2 && name[n - 2] == '_' && name[n - 1] >= 'x' && name[n - 1] <= 'z';
    if (!named) break;
    const std::string stem = name.substr(0, n - 2);
    const auto [at, fresh] = known.emplace(stem, vertices.size());
    if (fresh) vertices.push_back({.name = stem, .columns = {}});
    vertices[at->second].columns.push_back(j);
    axes[stem] += 1 << (name[n - 1] - 'x');
  }
  if (named) {
    for (const Vertex& vertex : vertices) {
      if (vertex.columns.size() != 3 || axes[vertex.name] != 7) {
        throw BadInput(fmt::format("{}: vertex {} lacks one of its columns {}_x, {}_y, {}_z", data.source(),
                                   vertex.name, vertex.name, vertex.name, vertex.name));
      }
    }
    return vertices;
  }
  if (p % 3 != 0) {
    throw BadInput(fmt::format(
        "{}: {} columns are no whole number of vertices; name the columns NAME_x, NAME_y, NAME_z or give three in a row for every vertex",
        data.source(), p));
  }
  vertices.clear();
  for (Index v = 0; v < p / 3; ++v)
    vertices.push_back({.name = fmt::format("v{}", v), .columns = {3 * v, 3 * v + 1, 3 * v + 2}});
  return vertices;
}

/// An order in which every vertex is as far as can be from those before it, on the mean shape (3 x V).
/// `nearest` tells for every level (its number of vertices) the place in the order of the nearest one.
struct Sampling {
  std::vector<Index> order;
  std::map<Index, std::vector<Index>> nearest;
};

Sampling farthest_points(const Matrix& shape, const std::vector<Index>& levels) {
  const Index count = shape.cols();
  Sampling sampling;
  Vector distance = Vector::Constant(count, kInfinity);
  std::vector<Index> nearest(static_cast<std::size_t>(count), 0);
  const Vector centre = shape.rowwise().mean();
  Index next = 0;
  (shape.colwise() - centre).colwise().squaredNorm().minCoeff(&next);
  for (Index place = 0; place < count; ++place) {
    sampling.order.push_back(next);
    for (Index v = 0; v < count; ++v) {
      const double d = (shape.col(v) - shape.col(next)).squaredNorm();
      if (d < distance[v]) {
        distance[v] = d;
        nearest[static_cast<std::size_t>(v)] = place;
      }
    }
    distance[next] = -1.0;  // taken
    nearest[static_cast<std::size_t>(next)] = place;
    if (std::find(levels.begin(), levels.end(), place + 1) != levels.end())
      sampling.nearest[place + 1] = nearest;
    distance.maxCoeff(&next);
  }
  return sampling;
}

/// Forward GSPCA over these vertices: the first k.
std::vector<Index> forward_vertices(const Pencil& pencil, const std::vector<Vertex>& vertices,
                                    std::vector<Index> candidates, Index k, int threads,
                                    const RunControl& control) {
  SearchUnits units;
  std::sort(candidates.begin(), candidates.end(), [&](Index a, Index b) {
    return vertices[static_cast<std::size_t>(a)].columns.front() <
           vertices[static_cast<std::size_t>(b)].columns.front();
  });
  units.single = false;
  for (const Index v : candidates) {
    auto columns = vertices[static_cast<std::size_t>(v)].columns;
    std::sort(columns.begin(), columns.end());
    units.members.push_back(std::move(columns));
    units.group.push_back(v);
  }
  k = std::min(k, units.count());
  const auto pass = forward_pass(pencil, units, {.most = k, .threads = threads}, control);
  std::vector<Index> chosen;
  for (Index i = 0; i < std::min(k, pass.most); ++i) {
    chosen.push_back(candidates[static_cast<std::size_t>(pass.order[static_cast<std::size_t>(i)])]);
  }
  return chosen;
}

std::vector<Index> columns_of(const std::vector<Vertex>& vertices, const std::vector<Index>& chosen) {
  std::vector<Index> columns;
  for (const Index v : chosen) {
    const auto& own = vertices[static_cast<std::size_t>(v)].columns;
    columns.insert(columns.end(), own.begin(), own.end());
  }
  std::sort(columns.begin(), columns.end());
  return columns;
}

}  // namespace

void sparse_eigenshapes(const ReproduceOptions& options, const RunControl& control, Reproduction& result) {
  constexpr Index kPaperParts = 3;
  Dataset data = load_dense_table(options);
  const auto vertices = vertices_of(data);
  const auto count = static_cast<Index>(vertices.size());
  const Index parts = options.components > 0 ? options.components : kPaperParts;
  const Index k = options.k.given()
                      ? options.k.resolved(count).hi
                      : std::max<Index>(1, std::min<Index>(count / 4, options.quick ? 30 : 200));
  std::vector<Index> levels = {count};
  while ((levels.front() + kRefinement - 1) / kRefinement >=
         std::min(kCoarsest, std::max<Index>(4, count / 8))) {
    levels.insert(levels.begin(), (levels.front() + kRefinement - 1) / kRefinement);
    if (levels.size() > 8) break;
  }
  Matrix shape(3, count);
  const Vector means = data.values().packed().colwise().mean();
  for (Index v = 0; v < count; ++v) {
    for (Index axis = 0; axis < 3; ++axis)
      shape(axis, v) = means[vertices[static_cast<std::size_t>(v)].columns[static_cast<std::size_t>(axis)]];
  }
  const Sampling sampling = farthest_points(shape, levels);
  result.axis = "part";
  result.settings = {
      {"rows", data.rows()}, {"vertices", count}, {"k", k}, {"levels", levels}, {"components", parts}};
  result.protocol = {
      fmt::format("{}: {}, {}; the x, y and z of a vertex are chosen together.", data.source(),
                  counted(data.rows(), "shape"), counted(count, "vertex", "vertices")),
      fmt::format(
          "Forward GSPCA, coarse to fine over {} vertices ({} of the mean shape, spread as evenly as farthest points are). A level chooses its share of k = {} vertices, doubled but for the last one, among those nearest to the choice of the level before.",
          fmt::join(levels, ", "), counted(levels.size(), "level"), k),
      fmt::format(
          "{} in turn, each after the one before was projected out of the data. Variances are fractions of that of the first principal component of all (remaining) coordinates.",
          counted(parts, "sparse eigenvector"))};
  result.spread = "";
  result.notes.emplace_back(
      "The paper's 3D faces are not public and its Figure 6 is a picture; it gives no numbers for this experiment.");
  result.status = Status::kHeuristic;
  result.details["parts"] = nlohmann::json::array();
  std::vector<Index> every(static_cast<std::size_t>(count));
  for (Index v = 0; v < count; ++v) every[static_cast<std::size_t>(v)] = v;
  for (Index part = 1; part <= parts; ++part) {
    const auto pencil = pca_pencil(data, options.threads);
    std::vector<Index> chosen;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const Index size = levels[level];
      const bool last = level + 1 == levels.size();
      std::vector<Index> candidates;
      if (level == 0) {
        candidates.assign(sampling.order.begin(), sampling.order.begin() + size);
      } else {
        const auto& nearest = sampling.nearest.at(levels[level - 1]);
        std::vector<char> kept(static_cast<std::size_t>(levels[level - 1]), 0);
        std::vector<Index> place(static_cast<std::size_t>(count));
        for (Index i = 0; i < count; ++i)
          place[static_cast<std::size_t>(sampling.order[static_cast<std::size_t>(i)])] = i;
        for (const Index v : chosen) kept[static_cast<std::size_t>(place[static_cast<std::size_t>(v)])] = 1;
        for (Index i = 0; i < size; ++i) {
          const Index v = sampling.order[static_cast<std::size_t>(i)];
          if (kept[static_cast<std::size_t>(nearest[static_cast<std::size_t>(v)])] != 0)
            candidates.push_back(v);
        }
      }
      const auto share = static_cast<Index>(
          std::ceil(2.0 * static_cast<double>(k) * static_cast<double>(size) / static_cast<double>(count)));
      chosen = forward_vertices(*pencil, vertices, std::move(candidates),
                                last ? k : std::max<Index>(share, 1), options.threads, control);
      if (control.should_stop() || chosen.empty()) {
        result.status = control.status_or(Status::kInterrupted);
        return;
      }
    }
    std::sort(chosen.begin(), chosen.end());
    const auto columns = columns_of(vertices, chosen);
    const auto fitted = renormalize(*pencil, columns, Criterion::kLargest, 1, options.threads);
    const double full =
        renormalize(*pencil, columns_of(vertices, every), Criterion::kLargest, 1, options.threads).objective;
    result.results.push_back(
        {.series = "variance kept",
         .x = part,
         .statement =
             part == 1
                 ? "selected regions do covary, like protruding chins and noses or symmetric left/right cheeks, and are indeed jointly coupled face parts (Section 6, Figure 6)"
                 : "",
         .obtained = fitted.objective / full});
    if (count <= kDirectLimit) {
      const auto direct = forward_vertices(*pencil, vertices, every, k, options.threads, control);
      if (!control.should_stop()) {
        const double value =
            renormalize(*pencil, columns_of(vertices, direct), Criterion::kLargest, 1, options.threads)
                .objective;
        result.results.push_back({.series = "without levels", .x = part, .obtained = value / full});
      }
    }
    std::vector<std::string> names;
    names.reserve(chosen.size());
    for (const Index v : chosen) names.push_back(vertices[static_cast<std::size_t>(v)].name);
    result.pictures.emplace_back(
        fmt::format("Part {}: {}", part, counted(names.size(), "vertex", "vertices")),
        join_some(names, 24) + '\n');
    result.details["parts"].push_back({{"vertices", names}, {"variance", fitted.objective}});
    if (part < parts) data = deflated(data, columns, fitted.discriminants.vectors.col(0));
  }
  result.status = control.status_or(Status::kHeuristic);
}

}  // namespace subspectra::reproduce
