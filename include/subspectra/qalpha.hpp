#pragma once
/// Spectral relevance weights (Q-alpha, JMLR05), in time linear in the number of features. Most of them need
/// no labels.
#include <subspectra/method.hpp>
#include <subspectra/options.hpp>

namespace subspectra {

using QAlphaStart = StartKind;

enum class LaplacianShift { kDegree, kDiagonal };
template <>
struct EnumNames<LaplacianShift> {
  static constexpr std::array<std::pair<LaplacianShift, std::string_view>, 2> kNames = {
      {{LaplacianShift::kDegree, "degree"}, {LaplacianShift::kDiagonal, "diagonal"}}};
};

/// A kernel of two features x, y.
struct QAlphaKernel {
  enum class Kind { kLinear, kPoly, kRbf, kBlock2 };
  Kind kind = Kind::kPoly;
  Index degree = 2;  ///< kPoly: (x'y + offset)^degree
  double offset = 0.0;
  double sigma = 1.0;  ///< kRbf: exp(-|x - y|^2/(2 sigma^2))
  Index length = 8;    ///< kBlock2: sum over sections of so many successive samples of (x_s'y_s)^2
  bool operator==(const QAlphaKernel&) const = default;
};

namespace detail {
inline constexpr std::string_view kClustersHelp =
    "columns of Q: the directions in which the rows are to be coherent";
template <class Self, class Visitor>
void visit_qalpha_blocks(Self& o, Visitor&& field) {
  field("gamma", o.gamma, "weight of the energy between classes, which is subtracted");
  field("within_vectors", o.within_vectors, "columns of Q for a class with itself");
  field("between_vectors", o.between_vectors, "columns of Q for two classes; 0 leaves these terms out");
}
template <class Self, class Visitor>
void visit_qalpha_iteration(Self& o, Visitor&& field) {
  field(
      "start", o.start,
      "of Q: the leading eigenvectors at equal weights, random, the former behind a column of ones, or a matrix in a file (.npy, .csv, .tsv), a row for every row of the table and a column for every one of Q; qalpha-supervised, qalpha-semi and qalpha-kernel have no such matrix");
  field("restarts", o.restarts, "so many starts, all but the first random; the best objective is kept");
  field("no_normalize", o.no_normalize, "features as given, neither centred nor scaled to unit norm");
  field("max_iterations", o.max_iterations, "stop after so many iterations");
  field("tolerance", o.tolerance,
        "stop when the weights, of unit norm, move by less than this; 0 runs all iterations");
}
}  // namespace detail

/// The plain form: Q by one power step for every alpha.
struct QAlpha {
  Index clusters = 2;
  Start start = QAlphaStart::kEqual;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{
      .name = "qalpha",
      .summary = "spectral relevance weights: features that together make the rows cluster",
      .needs_labels = false,
      .variance = true,
      .clusters_rows = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, detail::kClustersHelp);
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// All eigenvectors anew in every iteration.
struct QAlphaBasic {
  Index clusters = 2;
  Start start = QAlphaStart::kEqual;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{
      .name = "qalpha-basic",
      .summary = "Q-alpha with all eigenvectors found anew in every iteration",
      .needs_labels = false,
      .variance = true,
      .clusters_rows = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, detail::kClustersHelp);
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// The columns of Q in the order of their Ritz values.
struct QAlphaRitz {
  Index clusters = 2;
  Start start = QAlphaStart::kEqual;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{
      .name = "qalpha-ritz",
      .summary = "Q-alpha with the directions in order; the same weights as qalpha",
      .needs_labels = false,
      .variance = true,
      .clusters_rows = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, detail::kClustersHelp);
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// On L = A - D + d I.
struct QAlphaLaplacian {
  Index clusters = 2;
  LaplacianShift laplacian_shift = LaplacianShift::kDegree;
  Start start = QAlphaStart::kEqual;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{
      .name = "qalpha-laplacian",
      .summary = "Q-alpha on the Laplacian of the affinities, for values >= 0",
      .needs_labels = false,
      .variance = true,
      .clusters_rows = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, detail::kClustersHelp);
    field("laplacian_shift", o.laplacian_shift,
          "d of L = A - D + d I: the largest row sum of A, or its largest diagonal entry");
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Leading minus remaining energy.
struct QAlphaGap {
  Index clusters = 2;
  Start start = QAlphaStart::kEqual;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{.name = "qalpha-gap",
                                        .summary = "Q-alpha for the gap between leading and other energy",
                                        .needs_labels = false,
                                        .variance = true,
                                        .clusters_rows = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, detail::kClustersHelp);
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Blocks of classes.
struct QAlphaSupervised {
  double gamma = 0.5;
  Index within_vectors = 2;
  Index between_vectors = 1;
  Start start = QAlphaStart::kOnes;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{
      .name = "qalpha-supervised",
      .summary = "Q-alpha with classes: coherent within each one, not between two"};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_qalpha_blocks(o, field);
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Labels for some of the rows.
struct QAlphaSemi {
  Index clusters = 2;
  double gamma = 0.5;
  Index within_vectors = 2;
  Index between_vectors = 1;
  double supervision = 0.5;
  Start start = QAlphaStart::kOnes;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{.name = "qalpha-semi",
                                        .summary = "Q-alpha with labels for some of the rows",
                                        .needs_labels = false,
                                        .variance = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, detail::kClustersHelp);
    detail::visit_qalpha_blocks(o, field);
    field("supervision", o.supervision,
          "weight of the supervised criterion, from 0 (labels ignored) to 1 (rows without a label ignored)");
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// On a kernel of the features.
struct QAlphaOfKernel {
  Index clusters = 2;
  QAlphaKernel kernel = {};
  double kernel_tolerance = 1e-4;
  Start start = QAlphaStart::kEqual;
  Index restarts = 1;
  bool no_normalize = false;
  Index max_iterations = 25;
  double tolerance = 1e-3;

  static constexpr MethodTraits kTraits{
      .name = "qalpha-kernel",
      .summary = "Q-alpha on a kernel of the features: interactions beyond pairs",
      .needs_labels = false,
      .variance = true,
      .clusters_rows = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("clusters", o.clusters, detail::kClustersHelp);
    field(
        "kernel", o.kernel,
        "of two features x, y: x'y; (x'y + C)^D; exp(-|x - y|^2/(2 SIGMA^2)); or the sum over sections of LENGTH successive rows of (x_s'y_s)^2");
    field("kernel_tolerance", o.kernel_tolerance,
          "beyond 2,000 features the kernel matrix is factored until this fraction of its trace is left");
    detail::visit_qalpha_iteration(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

}  // namespace subspectra
