#pragma once
/// Exact searches: the best set of every size, proven, or the best so far with a bound.
#include <cstdint>
#include <string>

#include <subspectra/method.hpp>
#include <subspectra/options.hpp>

namespace subspectra {

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
  std::string checkpoint;
  double checkpoint_every = 60.0;
  std::string resume;

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
  std::string checkpoint;
  double checkpoint_every = 60.0;
  std::string resume;

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

}  // namespace subspectra
