#pragma once
/// A method for those who name none.
#include <subspectra/method.hpp>

namespace subspectra {

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
