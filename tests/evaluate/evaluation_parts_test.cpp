/// An evaluation in parts is the evaluation of one run, bit for bit.
#include "evaluate/evaluation_parts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include <subspectra/rankers.hpp>
#include <subspectra/scoring.hpp>
#include <subspectra/searches.hpp>
#include "evaluate/cross_validation.hpp"
#include "oracle.hpp"
#include "parts.hpp"

namespace subspectra::evaluation_parts_test {
namespace {

using nlohmann::json;
using testing::all_parts;

struct Protocol {
  std::string name;
  DatasetParts data;
  std::vector<Method> methods = {Fisher{}};
  EvaluateOptions options = {.folds = {4}};
  SelectOptions selection = {.k = {1, 3}};
  PrepareOptions prepare = {};
  Classifier classifier = Lda{};
};

Evaluation evaluated(const Protocol& protocol, PartWork* work) {
  return evaluate_methods(protocol.data, protocol.methods, protocol.selection, protocol.prepare,
                          protocol.classifier, protocol.options, RunControl(), work);
}

/// Everything in it but the time.
json contents(const Evaluation& evaluation, const Dataset& data) {
  json all = json::parse(evaluation.to_json(data));
  all.erase("timing");
  for (const auto& predictions : evaluation.predictions) {
    json probabilities = json::array();
    for (Index i = 0; i < predictions.probabilities.rows(); ++i) {
      for (Index c = 0; c < predictions.probabilities.cols(); ++c)
        probabilities.push_back(predictions.probabilities(i, c));
    }
    all["predictions"].push_back(
        {predictions.method, predictions.k, predictions.times, predictions.predicted, probabilities});
  }
  return all;
}

std::vector<Protocol> protocols() {
  const DatasetParts two = oracle::random_classes(41, 7, 2, 1), three = oracle::random_classes(36, 6, 3, 2);
  std::vector<Protocol> all;
  all.push_back({.name = "several methods, repeats and permutations",
                 .data = two,
                 .methods = {Fisher{}, Gslda{}, ForwardLda{}},
                 .options = {.folds = {4}, .repeats = 3, .null = 4, .predictions = true}});
  all.push_back(
      {.name = "method auto, which says what it took", .data = three, .methods = {Auto{}, Fisher{}}});
  all.push_back({.name = "a penalty with a lambda of its own",
                 .data = three,
                 .methods = {Gloss{.lambda = 0.05}, Pearson{}}});
  all.push_back({.name = "features chosen on all rows",
                 .data = two,
                 .methods = {Fisher{}, Ks{}},
                 .options = {.folds = {3}, .select_on = SelectOn::kAll, .null = 3}});
  all.push_back({.name = "leave one out", .data = three, .options = {.folds = kLeaveOneOut, .repeats = 2}});
  all.push_back({.name = "random splits", .data = two, .options = {.repeats = 5, .test_fraction = 0.3}});
  all.push_back({.name = "compressed columns, scaled",
                 .data = oracle::as_sparse(two),
                 .prepare = {.standardize = true}});
  all.push_back({.name = "another classifier", .data = two, .classifier = Knn{.neighbors = 3}});
  Protocol degenerate{.name = "weights, a constant, a copy, more columns than rows",
                      .data = oracle::random_classes(18, 25, 2, 3),
                      .methods = {ForwardLda{}, Fisher{}},
                      .options = {.folds = {3}, .repeats = 2, .null = 2}};
  degenerate.data.dense.col(4).setConstant(1e12);
  degenerate.data.dense.col(5) = degenerate.data.dense.col(0);
  degenerate.data.dense.col(6) *= 1e-200;
  degenerate.data.weights = Vector::LinSpaced(18, 0.0, 1.7);  // the first row counts nothing
  all.push_back(std::move(degenerate));
  Protocol grouped{.name = "rows in groups", .data = two, .options = {.folds = {3}, .null = 3}};
  for (Index i = 0; i < 41; ++i) grouped.data.row_groups.push_back(std::to_string(i / 3));
  all.push_back(std::move(grouped));
  return all;
}

TEST(EvaluationParts, TogetherAreOneRunWhateverTheirNumber) {
  for (const Protocol& protocol : protocols()) {
    const json whole = contents(evaluated(protocol, nullptr), protocol.data);
    for (const Index count : {1, 2, 5, 100}) {
      SCOPED_TRACE(fmt::format("{}, {} parts", protocol.name, count));
      const auto merged = all_parts(count, [&](PartWork* work) {
        const Evaluation part = evaluated(protocol, work);
        EXPECT_TRUE(part.complete());
        EXPECT_TRUE(part.rows.empty());  // nothing is judged by a part of the folds
      });
      EXPECT_EQ(contents(evaluated(protocol, merged.get()), protocol.data).dump(), whole.dump());
    }
  }
}

TEST(EvaluationParts, GiveEveryPartSomethingToDoAndEveryPieceToOnePart) {
  const Protocol protocol = protocols().front();
  for (const Index count : {2, 3, 7, 19, 39}) {
    std::vector<std::size_t> pieces;
    for (Index number = 1; number <= count; ++number) {
      PartWork work(Part{.number = number, .count = count});
      (void)evaluated(protocol, &work);
      pieces.push_back(work.take_items().size());
    }
    const auto [least, most] = std::minmax_element(pieces.begin(), pieces.end());
    EXPECT_LE(*most - *least, count > 29 ? 1U : 3U) << count << " parts";  // 28 held-out sets and all rows
    EXPECT_EQ(std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}), 29U * 3U);
  }
}

TEST(EvaluationParts, DoNotDependOnTheNumberOfThreads) {
  Protocol protocol = protocols().front();
  std::string of_one;
  for (const int threads : {1, 2, 5}) {
    protocol.selection.threads = threads;
    PartWork work(Part{.number = 2, .count = 3});
    (void)evaluated(protocol, &work);
    const std::string items = work.take_items().dump();
    if (of_one.empty()) of_one = items;
    EXPECT_EQ(items, of_one);
  }
}

TEST(EvaluationParts, APartThatIsStoppedSaysThatItIsNotComplete) {
  const Protocol protocol = protocols().front();
  PartWork work(Part{.number = 3, .count = 3});
  const Evaluation part = evaluate_methods(protocol.data, protocol.methods, protocol.selection, {}, Lda{},
                                           protocol.options, RunControl({}, 0.0), &work);
  EXPECT_FALSE(part.complete());
}

/// What is changed in a part that has the right checksum, as a forger would give it.
struct Forgery {
  std::string says;
  std::function<void(json&)> change;
  std::string refusal;
};

TEST(EvaluationParts, RefusesWhatNoPartCanHaveFound) {
  const Protocol protocol{.name = "", .data = oracle::random_classes(20, 4, 2, 9), .options = {.folds = {2}}};
  const auto first = [](json& items) -> json& { return items["1/0"]["sizes"][0]; };
  const std::vector<Forgery> forgeries = {
      {"a set is left out", [](json& items) { items.erase("2/0"); }, "'items.2/0'"},
      {"no size", [](json& items) { items["1/0"] = json::object(); }, "sizes"},
      {"a size that the table has not", [&](json& items) { first(items)["k"] = 5; }, "k'"},
      {"sizes that do not rise", [&](json& items) { first(items)["k"] = 2; }, "k'"},
      {"a class too many", [&](json& items) { first(items)["wrong"].push_back(0); }, "wrong"},
      {"more rows than there are", [&](json& items) { first(items)["wrong"][0] = 1e300; }, "wrong"},
      {"a weight below 0", [&](json& items) { first(items)["weight"][0] = -1.0; }, "weight"},
      {"no number", [&](json& items) { first(items)["log_loss"] = nullptr; }, "log_loss"},
      {"a feature that the table has not", [&](json& items) { first(items)["features"] = {4}; }, "features"},
      {"a feature twice",
       [&](json& items) {
         first(items)["features"] = {1, 1};
       },
       "features"},
      {"answers that are no base64", [&](json& items) { first(items)["answers"] = "%%%%"; }, "answers"},
      {"answers of fewer rows", [&](json& items) { first(items)["answers"] = "AAAA"; }, "answers"},
      {"a class that is none",
       [&](json& items) { first(items)["answers"].get_ref<std::string&>().replace(0, 4, "////"); },
       "answers"},
      {"a probability that is none",
       [&](json& items) {
         auto& answers = first(items)["answers"].get_ref<std::string&>();
         answers.replace(answers.size() - 8, 8, "//////9/");
       },
       "answers"},
      {"a ridge of one number", [](json& items) { items["0/0"]["ridge"] = {1.0}; }, "ridge"},
      {"a warning that is no text", [](json& items) { items["0/0"]["warnings"] = {1}; }, "warnings"}};
  PartWork work(Part{.number = 1, .count = 1});
  (void)evaluated(protocol, &work);
  const json items = work.take_items();
  for (const Forgery& forgery : forgeries) {
    PartFile file{.path = "forged.json", .part = {.number = 1, .count = 1}, .run = {}, .items = items};
    forgery.change(file.items);
    PartWork merged({file});
    try {
      (void)evaluated(protocol, &merged);
      ADD_FAILURE() << forgery.says << ": was taken";
    } catch (const BadInput& refusal) {
      EXPECT_TRUE(std::string(refusal.what()).starts_with("forged.json: ")) << refusal.what();
      EXPECT_NE(std::string(refusal.what()).find(forgery.refusal), std::string::npos)
          << forgery.says << ": " << refusal.what();
    }
  }
}

}  // namespace
}  // namespace subspectra::evaluation_parts_test
