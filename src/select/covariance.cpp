/// Covariance matrices of the caller's memory, checked at the door.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <subspectra/selection.hpp>
#include <utility>

#include "core/spelling.hpp"
#include "core/text.hpp"
#include "data/symmetric.hpp"
#include "select/select.hpp"

namespace subspectra {
namespace {

[[noreturn]] void refuse_matrix(std::string_view field, std::string rule, std::string_view way_out,
                                std::string value = {}) {
  throw InvalidArgument({.field = std::string(field),
                         .value = std::move(value),
                         .rule = std::move(rule),
                         .way_out = std::string(way_out)});
}

/// `field` is what the constructor calls the matrix.
Matrix checked_covariance(const DenseView& view, std::string_view field) {
  if (view.rows != view.cols)
    refuse_matrix(field, fmt::format("has {} rows and {} columns, but must be square", view.rows, view.cols),
                  "a table of samples is a Dataset");
  if (view.rows <= 0 || view.data == nullptr)
    refuse_matrix(field, "has no entries", "give a row and a column for every feature");
  Matrix a(view.rows, view.rows);
  for (Index j = 0; j < a.cols(); ++j) {
    for (Index i = 0; i < a.rows(); ++i) a(i, j) = view(i, j);
  }
  if (const auto flaw = symmetrize_covariance(a)) {
    const double found = a(flaw->row, flaw->column);
    const std::string here =
        fmt::format("holds {} in row {} of column {}", number_text(found), flaw->row, flaw->column);
    switch (flaw->kind) {
      case CovarianceFlaw::Kind::kNotFinite:
        refuse_matrix(field, fmt::format("{}, but must be finite", here), "give a value for every pair",
                      fmt::to_string(found));
      case CovarianceFlaw::Kind::kNegativeVariance:
        refuse_matrix(field, fmt::format("{}, but a variance is never negative", here),
                      "check that it is a covariance", fmt::to_string(found));
      case CovarianceFlaw::Kind::kNotSymmetric:
        refuse_matrix(field,
                      fmt::format("{} and {} at the mirrored place, but must be symmetric", here,
                                  number_text(a(flaw->column, flaw->row))),
                      "fill both triangles, or give (A + A')/2 if the difference is rounding",
                      fmt::to_string(found));
    }
  }
  if (!nearly_semidefinite(a))
    refuse_matrix(field, "must be positive semidefinite, and is not",
                  "make it from complete rows: correlations that each come from other rows need not be");
  return a;
}

FeatureNames checked_names(std::vector<std::string> names, Index features) {
  if (names.empty()) return FeatureNames(features);
  const auto given = static_cast<Index>(names.size());
  if (given != features)
    refuse_matrix(
        "names",
        fmt::format("has {} for {}", counted(given, "entry", "entries"), counted(features, "column")),
        "give one for each column", fmt::to_string(given));
  return FeatureNames(std::move(names));
}

}  // namespace

namespace detail {

std::shared_ptr<const MatrixProblem> make_covariance(const DenseView& covariance, CovarianceExtras extras) {
  Matrix s = checked_covariance(covariance, "covariance");
  FeatureNames names = checked_names(std::move(extras.names), s.rows());
  return std::make_shared<const MatrixProblem>(
      MatrixProblem{std::move(extras.source), std::move(names), std::move(s), std::nullopt});
}

std::shared_ptr<const MatrixProblem> make_covariance_pair(const DenseView& between, const DenseView& within,
                                                          CovarianceExtras extras) {
  Matrix a = checked_covariance(between, "between");
  Matrix b = checked_covariance(within, "within");
  if (a.rows() != b.rows())
    refuse_matrix("within", fmt::format("is {0} x {0}, but between is {1} x {1}", b.rows(), a.rows()),
                  "give both over the same features");
  FeatureNames names = checked_names(std::move(extras.names), a.rows());
  return std::make_shared<const MatrixProblem>(
      MatrixProblem{std::move(extras.source), std::move(names), std::move(a), std::move(b)});
}

}  // namespace detail

Index Covariances::features() const { return problem_->a.rows(); }
std::vector<std::string> Covariances::feature_names() const { return problem_->names.all(); }
const std::string& Covariances::source() const { return problem_->source; }

Selection select(const Covariances& matrices, const Method& method, const SelectOptions& options,
                 const RunControl& control) {
  return select(matrices, method, options, control, nullptr);
}

Selection select(const Covariances& matrices, const Method& method, const SelectOptions& options,
                 const RunControl& control, const MethodRun& run) {
  method.validate();
  refuse_preparation(options.prepare);
  const MatrixProblem& problem = matrices.problem();
  if (method.traits().takes_matrices && method.traits().needs_labels && !problem.b)
    throw InvalidArgument({.field = "method",
                           .value = std::string(method.name()),
                           .subject = "method",
                           .rule = "{value} needs a CovariancePair",
                           .way_out = "for a single covariance use gspca"});
  Selection found = select_features(problem, method, options, control, run);
  found.warnings = spelled(std::move(found.warnings), Spelling::kCpp);
  found.table = identity_of(placeholder(problem));
  return found;
}

}  // namespace subspectra
