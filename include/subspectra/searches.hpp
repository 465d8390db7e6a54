#pragma once
/// Searches for the best set of every size, greedy and exact, and simple thresholding: sparse LDA with
/// labels, sparse PCA without. And what compares a few methods, for those who name none.
#include <cstdint>
#include <string>

#include <subspectra/method.hpp>
#include <subspectra/options.hpp>

namespace subspectra {

namespace detail {
template <class Self, class Visitor>
void visit_swaps(Self& o, Visitor&& field) {
  field(
      "swaps", o.swaps,
      "after the search, at every size, at most this many exchanges of one feature for another while they raise the objective; 0 for none");
}
}  // namespace detail

/// Forward and backward pass, at every size the better set, with a bound.
struct Gslda {
  Index swaps = 0;

  static constexpr MethodTraits kTraits{
      .name = "gslda",
      .summary = "greedy sparse LDA: forward and backward pass, at every size the better set; with a bound",
      .takes_matrices = true,
      .takes_groups = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_swaps(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

struct ForwardLda {
  Index swaps = 0;

  static constexpr MethodTraits kTraits{
      .name = "forward-lda",
      .summary =
          "greedy sparse LDA, forward: the feature that raises the criterion most enters; any number of columns",
      .takes_matrices = true,
      .takes_groups = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_swaps(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

struct BackwardLda {
  Index swaps = 0;

  static constexpr MethodTraits kTraits{
      .name = "backward-lda",
      .summary = "greedy sparse LDA, backward: from all features, the one that is missed least leaves",
      .takes_matrices = true,
      .takes_groups = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_swaps(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

struct Gspca {
  static constexpr MethodTraits kTraits{
      .name = "gspca",
      .summary =
          "greedy sparse PCA: forward and backward pass, at every size the better set; needs no labels",
      .needs_labels = false,
      .variance = true,
      .takes_matrices = true,
      .takes_groups = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

struct ForwardPca {
  static constexpr MethodTraits kTraits{
      .name = "forward-pca",
      .summary = "greedy sparse PCA, forward; needs no labels, any number of columns",
      .needs_labels = false,
      .variance = true,
      .takes_matrices = true,
      .takes_groups = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

struct BackwardPca {
  static constexpr MethodTraits kTraits{.name = "backward-pca",
                                        .summary = "greedy sparse PCA, backward; needs no labels",
                                        .needs_labels = false,
                                        .variance = true,
                                        .takes_matrices = true,
                                        .takes_groups = true};
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// Which vector simple thresholding cuts: the Fisher vector x, or y = B^{1/2} x.
enum class ThresholdOn { kX, kY };
template <>
struct EnumNames<ThresholdOn> {
  static constexpr std::array<std::pair<ThresholdOn, std::string_view>, 2> kNames = {
      {{ThresholdOn::kX, "x"}, {ThresholdOn::kY, "y"}}};
};

/// Simple thresholding.
struct St {
  ThresholdOn threshold = ThresholdOn::kX;
  bool no_renormalize = false;

  static constexpr MethodTraits kTraits{
      .name = "st",
      .summary =
          "simple thresholding: the largest loadings of the global discriminant (without labels: of the first principal component)",
      .needs_labels = false,
      .takes_matrices = true};
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("threshold", o.threshold,
          "which vector is cut: the Fisher vector x (ICCV07), or y = B^{1/2} x (ICML06)");
    field(
        "no_renormalize", o.no_renormalize,
        "keep the loadings of the global vector instead of the best ones on the chosen set; the objective is then theirs");
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

namespace detail {
template <class Self, class Visitor>
void visit_exact(Self& o, Visitor&& field) {
  field("pool", o.pool, "so many of the best distinct sets of every size, proven when the search is");
  field("gap", o.gap, "stop at every size as soon as no set can be better by more than this fraction");
  field("node_limit", o.node_limit, "stop after so many nodes of the search tree; 0 for no limit");
  field("checkpoint", o.checkpoint,
        "file that receives the state of the search, now and then and when it is stopped");
  field("checkpoint_every", o.checkpoint_every, "seconds between two checkpoints");
  field("resume", o.resume, "go on from this file, a checkpoint of the same data and options");
}
}  // namespace detail

struct Eslda {
  Index pool = 1;
  double gap = 0.0;
  std::uint64_t node_limit = 0;
  std::string checkpoint = {};
  double checkpoint_every = 60.0;
  std::string resume = {};

  static constexpr MethodTraits kTraits{
      .name = "eslda",
      .summary = "exact sparse LDA: the best set of every size, proven, or the best so far with a bound",
      .takes_matrices = true,
      .takes_groups = true,
      .proves = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_exact(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

struct Espca {
  Index pool = 1;
  double gap = 0.0;
  std::uint64_t node_limit = 0;
  std::string checkpoint = {};
  double checkpoint_every = 60.0;
  std::string resume = {};

  static constexpr MethodTraits kTraits{
      .name = "espca",
      .summary =
          "exact sparse PCA: the set with the largest variance, proven, or the best so far with a bound; needs no labels",
      .needs_labels = false,
      .variance = true,
      .takes_matrices = true,
      .takes_groups = true,
      .proves = true};
  void validate() const;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    detail::visit_exact(o, field);
  }
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

/// A few good methods, compared by the errors of their rule on rows held out inside the training rows, with
/// their sizes, ridges and lambdas; of those within one standard error of the best the one with fewest
/// features. fit and evaluate run it; select has no rows to hold out. docs/methods/auto.md
struct Auto {
  static constexpr MethodTraits kTraits{
      .name = "auto",
      .summary =
          "a greedy search, a group lasso and a filter, compared with their sizes and penalties inside the training rows (fit, evaluate)",
      .takes_groups = true,
      .composite = true};
  [[nodiscard]] bool fixes_size() const { return true; }
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&&) {}
  [[nodiscard]] Selection run(const Problem& problem, const RunControl& control) const;
};

}  // namespace subspectra
