#pragma once
/// The clustered problems of Wolf and Shashua (JMLR 2005): a few features share the clusters, the others have
/// clusters of their own. See docs/synth.md.
#include <cstdint>

#include "core/options.hpp"
#include "data/dataset.hpp"
#include "synth/traits.hpp"

namespace subspectra::synth {

/// Every class has ceil(rows/classes) rows, one class after another ("c0", "c1", ...). A feature draws for
/// each class a centre from U(-1, 1) and a variance from U(0, 0.02), and its entries from that normal
/// distribution; a feature beyond the relevant ones then has its entries permuted. Feature j depends on
/// (seed, j), the rows and the classes alone.
struct Clusters {
  Index rows = 60;
  Index features = 125;
  Index classes = 3;
  Index relevant = 5;
  std::uint64_t seed = 0;

  static constexpr SynthTraits kTraits{
      .name = "clusters", .summary = "table: clusters that a few features share; the others have their own"};
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("rows", o.rows, "number of samples");
    field("features", o.features, "number of features");
    field("classes", o.classes, "number of classes");
    field("relevant", o.relevant,
          "so many features share the clusters: the first ones (all, where there are fewer)");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] Dataset make() const;  ///< throws InvalidArgument, Error (memory)
};

/// As `clusters` with centres from U(0, 1) and variances from U(spread, 2 spread); then every feature is
/// multiplied by +1 or -1, drawn anew for each `session` rows and each feature.
struct Sessions {
  Index rows = 120;
  Index features = 60;
  Index classes = 3;
  Index relevant = 12;
  Index session = 8;
  double spread = 0.01;
  bool normalize = false;
  std::uint64_t seed = 0;

  static constexpr SynthTraits kTraits{
      .name = "sessions", .summary = "table: such clusters, with signs that change from session to session"};
  void validate() const;  ///< throws InvalidArgument
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("rows", o.rows, "number of samples");
    field("features", o.features, "number of features");
    field("classes", o.classes, "number of classes");
    field("relevant", o.relevant,
          "so many features share the clusters: the first ones (all, where there are fewer)");
    field("session", o.session, "so many rows in a row have the same signs");
    field("spread", o.spread, "the paper's lambda: the variances are drawn between it and twice it");
    field(
        "normalize", o.normalize,
        "centre every feature and give it unit norm before the signs are flipped, when it can still be done");
    field("seed", o.seed, "seed of the random numbers: the same one gives the same file");
  }
  [[nodiscard]] Dataset make() const;  ///< throws InvalidArgument, Error (memory)
};

}  // namespace subspectra::synth
