#include "classify/knn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "classify/classifier_kind.hpp"
#include "classify/lda.hpp"
#include "classify/svm.hpp"
#include "core/matrix_json.hpp"
#include "core/text.hpp"
#include "linalg/blas.hpp"

namespace subspectra {
namespace {

struct Neighbour {
  double distance;
  int code;
};

/// Votes of the nearest of `some`, of which m are wanted.
Vector votes_of(std::vector<Neighbour>& some, Index m, Index classes) {
  const auto last = some.begin() + (m - 1);
  std::nth_element(some.begin(), last, some.end(),
                   [](const Neighbour& a, const Neighbour& b) { return a.distance < b.distance; });
  const double farthest = last->distance;
  Vector votes = Vector::Zero(classes), tied = Vector::Zero(classes);
  for (const Neighbour& one : some) {
    if (one.distance < farthest) votes[one.code] += 1.0;
    if (one.distance == farthest) tied[one.code] += 1.0;
  }
  return votes + tied * ((static_cast<double>(m) - votes.sum()) / tied.sum());
}

}  // namespace

KnnRule fit_knn(const MatrixRef& rows, const std::vector<int>& codes, Index classes, const Knn& options,
                const Matrix* projection) {
  KnnRule rule;
  rule.map.centre = Vector::Zero(rows.cols());  // rows as given, so that equal differences are exactly equal
  if (projection != nullptr) {
    rule.map.has_projection = true;
    rule.map.projection = *projection;
  }
  rule.rows = rule.map(rows);
  rule.codes = codes;
  rule.neighbors = options.neighbors;
  rule.shares = class_shares(codes, classes);
  rule.priors = class_priors(rule.shares, options.prior);
  return rule;
}

Matrix KnnRule::log_posteriors(const MatrixRef& given) const {
  constexpr Index kBlock = 256;  // rows at a time: their distances stay in the cache
  const Index n = rows.rows(), classes = priors.size(), m = std::min(neighbors, n);
  const Matrix columns = rows.transpose();  // one training row after another
  // Distances do not see a centre, but the rounding of their products does.
  const Vector centre = columns.rowwise().mean();
  const Matrix centred = rows.rowwise() - centre.transpose();
  const double largest = centred.rowwise().squaredNorm().maxCoeff();
  Matrix result(given.rows(), classes);
  std::vector<Neighbour> some;
  std::vector<double> order(static_cast<std::size_t>(n));
  for (Index first = 0; first < given.rows(); first += kBlock) {
    const Index count = std::min(kBlock, given.rows() - first);
    const Matrix z = map(given.middleRows(first, count));
    const Matrix centred_z = z.rowwise() - centre.transpose();
    const Matrix distances = squared_distances(centred_z, centred);
    for (Index i = 0; i < count; ++i) {
      const Vector x = z.row(i).transpose();
      some.clear();
      if (!x.allFinite()) {
        result.row(first + i).setConstant(std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      const double size = centred_z.row(i).squaredNorm() + largest;
      if (std::isfinite(4.0 * size)) {
        // The product gives the distances up to `error`; those that may be among the nearest are computed
        // again from the differences, so that the answer is that of the plain definition.
        const double error = 4.0 * static_cast<double>(x.size() + 4) * 0x1.0p-52 * size;
        for (Index j = 0; j < n; ++j) order[static_cast<std::size_t>(j)] = distances(i, j);
        std::nth_element(order.begin(), order.begin() + (m - 1), order.end());
        const double limit = order[static_cast<std::size_t>(m - 1)] + 2.0 * error;
        for (Index j = 0; j < n; ++j) {
          if (distances(i, j) <= limit)
            some.push_back({(x - columns.col(j)).squaredNorm(), codes[static_cast<std::size_t>(j)]});
        }
      } else {  // squares overflow
        for (Index j = 0; j < n; ++j)
          some.push_back({(x - columns.col(j)).stableNorm(), codes[static_cast<std::size_t>(j)]});
      }
      const Vector votes = votes_of(some, m, classes);
      for (Index c = 0; c < classes; ++c) {
        result(first + i, c) =
            std::log(shares[c] > 0.0 ? (votes[c] + shares[c]) * (priors[c] / shares[c]) : 0.0);
      }
    }
  }
  normalise_log_posteriors(result);
  return result;
}

std::string KnnRule::description() const {
  return fmt::format("classifier {}, {}", classifier(), counted(neighbors, "neighbour"));
}

nlohmann::json KnnRule::to_json() const {
  return {{"priors", subspectra::to_json(priors)},
          {"rows", subspectra::to_json(rows)},
          {"codes", codes},
          {"neighbors", neighbors},
          {"projection", projection_json(map)}};
}

void Knn::validate() const {
  if (neighbors < 1)
    throw InvalidArgument({.field = "neighbors",
                           .value = fmt::to_string(neighbors),
                           .rule = "{value}, but 1 or more is needed"});
}

namespace {

class KnnKind final : public RowKind<Knn> {
 public:
  [[nodiscard]] std::string warning(const Classifier& classifier, Index rows) const override {
    const Index neighbors = classifier.as<Knn>().neighbors;
    if (neighbors <= rows) return {};
    return fmt::format(
        "⟨neighbors {}⟩ is more than the {} to learn from: all of them vote, whatever the row, so that it is the largest class that wins; give fewer neighbours",
        neighbors, counted(rows, "row"));
  }
  [[nodiscard]] RulePointer read(const ModelReader& reader, const ModelShape& shape) const override {
    auto rule = std::make_shared<KnnRule>();
    rule->priors = reader.shares("priors", shape.classes);
    rule->map = read_projection(reader, shape.features);
    const nlohmann::json& codes = reader.at("codes");
    const Index n = ModelReader::length(codes);
    if (n < 1 || n != shape.rows)
      reader.fail("codes", "must be a class number for each of the training.rows");
    for (const auto& code : codes) {
      if (!ModelReader::is_count(code) || code.get<Index>() >= shape.classes)
        reader.fail("codes", "must be numbers of classes, counted from 0");
      rule->codes.push_back(static_cast<int>(code.get<Index>()));
    }
    rule->shares = class_shares(rule->codes, shape.classes);
    reader.check_priors(rule->priors, rule->shares);
    rule->rows = reader.matrix("rows", n, rule->map.width());
    rule->neighbors = reader.count("neighbors");
    if (rule->neighbors < 1) reader.fail("neighbors", "must be 1 or more");
    return rule;
  }

 protected:
  [[nodiscard]] RulePointer train(const Knn& options, const TrainingRows& rows,
                                  const RunControl&) const override {
    return std::make_shared<KnnRule>(
        fit_knn(rows.rows, rows.labels.codes, rows.labels.class_count(), options, rows.projection));
  }
};

}  // namespace

std::unique_ptr<const ClassifierKind> knn_kind() { return std::make_unique<KnnKind>(); }

}  // namespace subspectra
