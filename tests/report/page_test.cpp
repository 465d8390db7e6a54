#include "report/page.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <subspectra/error.hpp>
#include <subspectra/searches.hpp>

#include <algorithm>
#include <numeric>

#include "core/json_io.hpp"
#include "io/read.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/page_facts.hpp"
#include "report/page_input.hpp"
#include "select/select.hpp"

namespace subspectra::page_test {
namespace {

using nlohmann::json;

json small_selection() {
  return {{"schema", "subspectra.selection/1"},
          {"version", "0.1.0"},
          {"method", "gslda"},
          {"status", "heuristic"},
          {"options", {{"k", {1, 2}}, {"seed", 0}}},
          {"data",
           {{"source", "t.csv"},
            {"rows", 6},
            {"features", 4},
            {"names", {"a", "<b>", "c", "d"}},
            {"classes", {"u", "v"}},
            {"class_counts", {3, 3}}}},
          {"path",
           {{{"k", 1},
             {"features", {1}},
             {"names", {"<b>"}},
             {"objective", 0.25},
             {"upper_bound", 0.25},
             {"gap", 0.0},
             {"certified", true},
             {"loadings", {{0.5}}}},
            {{"k", 2},
             {"features", {1, 3}},
             {"names", {"<b>", "d"}},
             {"objective", 0.5},
             {"loadings", {{0.5}, {-1.0}}}}}},
          {"timing", {{"total_s", 0.1}}},
          {"warnings", json::array()}};
}

json small_evaluation() {
  return {{"schema", "subspectra.evaluation/1"},
          {"version", "0.1.0"},
          {"data",
           {{"source", "t.csv"},
            {"rows", 6},
            {"features", 4},
            {"classes", {"u", "v"}},
            {"class_counts", {3, 3}}}},
          {"protocol", {{"nested", true}}},
          {"results",
           {{{"method", "fisher"}, {"k", 1}, {"error", 0.25}, {"stderr", 0.1}},
            {{"method", "fisher"}, {"k", 2}, {"error", 0.5}, {"stderr", nullptr}}}},
          {"chosen",
           {{{"method", "fisher"},
             {"k_best", 1},
             {"k_one_standard_error", 1},
             {"error", 0.25},
             {"confusion", {{2, 1}, {0, 3}}},
             {"sensitivity", {0.5, nullptr}},
             {"specificity", {0.5, 0.5}},
             {"roc", {{0.0, 0.1}, {1.0, 1.0}}},
             {"calibration", {{0.1, 0.2, 4}}},
             {"projection", {{0.5}, {-0.5}}},
             {"projection_rows", {0, 4}},
             {"projection_classes", {0, 1}},
             {"features",
              {{{"index", 2}, {"name", "c"}, {"frequency", 1.0}, {"substitutes", json::array()}}}}}}}};
}

/// What is refused, and with which words.
std::string refusal_of(const json& result) {
  try {
    check_page_result(result, "r.json");
  } catch (const BadInput& problem) {
    return problem.text(Spelling::kCommandLine);
  }
  return "";
}

TEST(PageInput, ResultsAsTheyAreWrittenPass) {
  EXPECT_EQ(refusal_of(small_selection()), "");
  EXPECT_EQ(refusal_of(small_evaluation()), "");
}

TEST(PageInput, EveryMemberThatIsReadIsCheckedAndNamed) {
  struct Damage {
    const char* pointer;
    json value;
    const char* place;
  };
  const auto refused = [](json result, const Damage& damage) {
    result[json::json_pointer(damage.pointer)] = damage.value;
    const std::string words = refusal_of(result);
    EXPECT_NE(words.find(damage.place), std::string::npos) << damage.pointer << ": " << words;
    EXPECT_NE(words.find("r.json"), std::string::npos) << words;
  };
  for (const Damage& damage : std::initializer_list<Damage>{
           {"/path/1/features/1", 4, "path[1].features"},
           {"/path/1/features/1", -1, "path[1].features"},
           {"/path/1/features/1", 1.5, "path[1].features"},
           {"/path/1/k", "two", "path[1].k"},
           {"/path/0/objective", "much", "path[0].objective"},
           {"/path/1/loadings", {{0.5}}, "path[1].loadings"},
           {"/path/1/loadings", {{0.5}, {"x"}}, "path[1].loadings"},
           {"/path/0/names", {"a", "b"}, "path[0].names"},
           {"/path/0/certified", 1, "path[0].certified"},
           {"/path", 3, "path"},
           {"/data/features", nullptr, "data.features"},
           {"/data/names", {"a"}, "data.names"},
           {"/data/class_counts", {1}, "data.class_counts"},
           {"/method", nullptr, "method"},
           {"/warnings", "none", "warnings"},
           {"/weights", {1.0, 2.0}, "weights"},
           {"/ranking", {9}, "ranking"},
           {"/timing", 3, "timing"},
           {"/discriminants", {{"features", {0}}, {"row_norms", {1.0, 2.0}}}, "discriminants.row_norms"},
           {"/note", std::string(2U << 20U, 'x'), "too long"}})
    refused(small_selection(), damage);
  for (const Damage& damage :
       std::initializer_list<Damage>{{"/results/0/method", 3, "results[0].method"},
                                     {"/results/1/error", "x", "results[1].error"},
                                     {"/chosen/0/confusion", {{1, 2, 3}, {1, 2, 3}}, "chosen[0].confusion"},
                                     {"/chosen/0/confusion", {{1, 2}, {3}}, "chosen[0].confusion"},
                                     {"/chosen/0/sensitivity", {0.5}, "chosen[0].sensitivity"},
                                     {"/chosen/0/roc", {{0.0, 0.1, 0.2}}, "chosen[0].roc"},
                                     {"/chosen/0/projection_rows", {0}, "chosen[0].projection_rows"},
                                     {"/chosen/0/projection_classes", {0, 2}, "chosen[0].projection_classes"},
                                     {"/chosen/0/features/0/index", 4, "chosen[0].features[0]"},
                                     {"/data", nullptr, "data"}})
    refused(small_evaluation(), damage);
}

TEST(PageInput, WhatIsNoResultIsRefusedInWords) {
  for (const json& other :
       {json(), json::array(), json{{"schema", "subspectra.model/9"}}, json{{"schema", 3}}, json("text")})
    EXPECT_NE(refusal_of(other).find("no result that a page can show"), std::string::npos) << other;
}

TEST(PageData, NamesStandOnceAndRowsNever) {
  const json data =
      page_data({{.name = "s.json", .command = "subspectra select t.csv", .result = small_selection()}}, {});
  const json& result = data["files"][0]["result"];
  EXPECT_FALSE(result["path"][0].contains("names"));
  EXPECT_EQ(result["data"]["names"][1], "<b>");
  EXPECT_EQ(data["left_out"], json::array());
  EXPECT_EQ(data["files"][0]["command"], "subspectra select t.csv");
  json clustering = {{"schema", "subspectra.clustering/1"},
                     {"method", "qalpha"},
                     {"data", {{"features", 2}, {"rows", 3}, {"names", {"a", "b"}}}},
                     {"features", {0}},
                     {"sizes", {1, 2}},
                     {"eigenvalues", {1.0}},
                     {"labels", {0, 1, 1}},
                     {"rows", {0, 1, 2}}};
  const json clusters = page_data({{.name = "c.json", .command = {}, .result = clustering}}, {});
  EXPECT_FALSE(clusters["files"][0]["result"].contains("labels"));
  EXPECT_FALSE(clusters["files"][0]["result"].contains("rows"));
  EXPECT_FALSE(clusters["left_out"].empty());
}

TEST(PageData, LongResultsAreCutAndThePageSaysSo) {
  constexpr Index kFeatures = 40000;
  json result = small_selection();
  std::vector<Index> all(static_cast<std::size_t>(kFeatures));
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<std::string> names;
  for (const Index i : all) names.push_back("gene " + std::to_string(i));
  result["data"]["features"] = kFeatures;
  result["data"]["names"] = names;
  result["path"][1] = {{"k", kFeatures}, {"features", all}, {"names", names}, {"objective", 1.0}};
  result["ranking"] = all;
  const json data = page_data({{.name = "s.json", .command = {}, .result = result}}, {});
  const json& cut = data["files"][0]["result"];
  EXPECT_EQ(cut["path"][1]["features"].size(), 2000U);
  EXPECT_EQ(cut["path"][1]["size"], kFeatures);
  EXPECT_EQ(cut["ranking"].size(), 20000U);
  EXPECT_TRUE(cut["data"]["names"].is_object());
  EXPECT_EQ(cut["data"]["names"]["1999"], "gene 1999");
  EXPECT_EQ(cut["data"]["names"].size(), 2000U);
  EXPECT_EQ(data["left_out"].size(), 3U) << data["left_out"];
}

// Oracle: the greedy path is nested at its start, so that the set of two without its second feature is the
// set of one.
TEST(PageFacts, TheLossWithoutAFeatureIsWhatTheObjectiveThenLacks) {
  const Dataset data = read_dataset("sonar", {});
  SelectOptions options;
  options.k = KRange(1, 2);
  const Selection selection = select_features(data, Gslda{}, options, RunControl());
  ASSERT_EQ(selection.sets().size(), 2U);
  const auto& one = selection.sets()[0];
  const auto& two = selection.sets()[1];
  const auto kept = std::find(two.features.begin(), two.features.end(), one.features.front());
  ASSERT_NE(kept, two.features.end());
  const std::size_t other = kept == two.features.begin() ? 1 : 0;
  SelectOptions as_used = options;
  as_used.ridge = as_option(selection.ridge);
  const json result = selection_json(selection, data, {});
  const json facts = page_facts(result, data, as_used, ImageShape{.height = 6, .width = 10});
  ASSERT_TRUE(facts.contains("drop_loss")) << facts;
  EXPECT_NEAR(facts["drop_loss"]["2"][other].get<double>(), 1.0 - one.objective / two.objective, 1e-9);
  EXPECT_EQ(facts["class_means"]["values"].size(), 2U);
  EXPECT_EQ(facts["class_means"]["values"][0].size(), 60U);
  EXPECT_EQ(facts["class_means"]["names"], json({"M", "R"}));
  // Under another criterion the objectives are not those of the file: nothing is said.
  as_used.ridge = Ridge{.value = 0.5};
  EXPECT_FALSE(page_facts(result, data, as_used, {}).contains("drop_loss"));
}

/// gzip and base64, read by zlib and a table of our own.
std::string unpacked(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6U) | static_cast<unsigned>(letters.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xffU);
  }
  std::string out(1U << 20U, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(PageHtml, HoldsTheDataOnceAndNoMarkupOfThem) {
  json result = small_selection();
  result["data"]["names"][1] = "</script><img src=x onerror=alert(1)>";
  const json data = page_data({{.name = "</script>.json", .command = {}, .result = result}}, {});
  const std::string html = page_html(data);
  EXPECT_EQ(html.find("onerror=alert"), std::string::npos);
  EXPECT_EQ(html.find("DATA-GO-HERE"), std::string::npos);
  const std::string begin = R"(<script type="text/plain" id="data">)";
  const std::size_t at = html.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::size_t end = html.find("</script>", at);
  EXPECT_EQ(json::parse(unpacked(html.substr(at + begin.size(), end - at - begin.size()))), data);
  EXPECT_LT(html.size(), 600000U);
}

TEST(PageFigures, AreXmlWithNamesAsText) {
  json selection = small_selection();
  selection["data"]["names"][3] = "a & \"b\"\n\xe2\x80\xae]]>";
  selection["weights"] = {0.5, 0.1, 0.2, 0.3};
  json evaluation = small_evaluation();
  evaluation["results"][0]["method"] = evaluation["results"][1]["method"] =
      evaluation["chosen"][0]["method"] = "../fi<sher>";
  const json data = page_data({{.name = "s.json", .command = {}, .result = selection},
                               {.name = "e.json", .command = {}, .result = evaluation}},
                              ImageShape{.height = 2, .width = 2});
  std::vector<std::string> files;
  for (const PageFigure& figure : page_figures(data)) {
    files.push_back(figure.file);
    EXPECT_EQ(figure.file.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), std::string::npos)
        << figure.file;
    EXPECT_EQ(figure.file.find(".."), std::string::npos) << figure.file;
    EXPECT_EQ(figure.svg.find("<b>"), std::string::npos);
    EXPECT_EQ(figure.svg.find("<sher>"), std::string::npos);
    EXPECT_EQ(figure.svg.find("nan"), std::string::npos) << figure.svg;
    EXPECT_EQ(figure.svg.find("inf"), std::string::npos);
    EXPECT_EQ(figure.svg.find("\xe2\x80\xae"), std::string::npos);
    EXPECT_TRUE(figure.svg.ends_with("</svg>\n"));
  }
  for (const char* wanted :
       {"path-gslda.svg", "features-gslda.svg", "loadings-gslda.svg", "loading-map-gslda.svg",
        "weights-gslda.svg", "error----fi-sher-.svg", "confusion----fi-sher-.svg", "roc----fi-sher-.svg",
        "calibration----fi-sher-.svg", "projection----fi-sher-.svg", "frequency----fi-sher-.svg"})
    EXPECT_NE(std::find(files.begin(), files.end(), wanted), files.end())
        << wanted << " is not among " << json(files);
}

std::vector<std::string> figure_files(const json& data) {
  std::vector<std::string> files;
  for (const PageFigure& figure : page_figures(data)) files.push_back(figure.file);
  return files;
}

bool is_among(const std::vector<std::string>& files, std::string_view wanted) {
  return std::find(files.begin(), files.end(), wanted) != files.end();
}

TEST(PageFigures, MethodsOfOneTableAreRankedAndTheirDifferencesDrawn) {
  json evaluation = small_evaluation();
  for (json row : json(evaluation["results"])) {
    row["method"] = "gslda";
    evaluation["results"].push_back(row);
  }
  evaluation["chosen"].push_back(evaluation["chosen"][0]);
  evaluation["chosen"][1]["method"] = "gslda";
  evaluation["comparison"] = {{{"methods", {"fisher", "gslda"}}, {"difference", -0.1}, {"stderr", 0.02}}};
  const json one = page_data({{.name = "e.json", .command = {}, .result = evaluation}}, {});
  for (const char* wanted : {"compare.svg", "ranking.svg", "differences.svg", "error-gslda.svg"})
    EXPECT_TRUE(is_among(figure_files(one), wanted)) << wanted << json(figure_files(one));

  // Two files of one table are compared, too; of other classes they are another problem.
  const json two = page_data({{.name = "a.json", .command = {}, .result = small_evaluation()},
                              {.name = "b.json", .command = {}, .result = small_evaluation()}},
                             {});
  EXPECT_TRUE(is_among(figure_files(two), "ranking.svg"));
  json other = small_evaluation();
  other["data"]["classes"] = {"x", "y"};
  const json apart = page_data({{.name = "a.json", .command = {}, .result = small_evaluation()},
                                {.name = "b.json", .command = {}, .result = other}},
                               {});
  EXPECT_FALSE(is_among(figure_files(apart), "ranking.svg"));
}

TEST(PageFigures, FurtherComponentsHaveSetsOfTheirOwn) {
  json selection = small_selection();
  selection["components"] = {
      {{"component", 2},
       {"path", {{{"k", 2}, {"features", {0, 2}}, {"objective", 0.1}, {"loadings", {{0.6}, {0.8}}}}}}}};
  const json data = page_data({{.name = "s.json", .command = {}, .result = selection}}, {});
  bool seen = false;
  for (const PageFigure& figure : page_figures(data)) {
    if (figure.file != "loadings-2-gslda.svg") continue;
    seen = true;
    EXPECT_NE(figure.svg.find(">c</text>"), std::string::npos) << figure.svg;
    EXPECT_EQ(figure.svg.find(">d</text>"), std::string::npos) << figure.svg;
  }
  EXPECT_TRUE(seen);
}

TEST(PageFigures, AModelAloneSaysWhatItIsAndWasChosenBy) {
  const json choice = {{"confusion", {{2, 1}, {0, 3}}},
                       {"used", {{"method", "fisher"}}},
                       {"candidates",
                        {{{"method", "fisher"}, {"k", 2}, {"error", 0.1}, {"stderr", 0.05}},
                         {{"method", "gloss"}, {"k", nullptr}, {"error", 0.2}, {"stderr", 0.05}}}}};
  const json model = {{"schema", "subspectra.model/1"},
                      {"method", "auto"},
                      {"features", {4, 7}},
                      {"names", {"a", "b"}},
                      {"classes", {"u", "v"}},
                      {"discriminants", {{0.5}, {-1.0}}},
                      {"chosen_by", choice}};
  const auto files = figure_files(page_data({{.name = "m.json", .command = {}, .result = model}}, {}));
  for (const char* wanted : {"compared-auto.svg", "confusion-auto.svg", "loadings-auto.svg"})
    EXPECT_TRUE(is_among(files, wanted)) << wanted << json(files);
}

TEST(PageFigures, AllEigenvaluesOfAClusteringAreDrawn) {
  const json clustering = {{"schema", "subspectra.clustering/1"},
                           {"method", "qalpha"},
                           {"data", {{"source", "t.csv"}, {"rows", 6}, {"features", 4}}},
                           {"features", {1}},
                           {"sizes", {3, 3}},
                           {"eigenvalues", {1.0, 0.5}},
                           {"eigen_gap", {{"clusters", 1}, {"ratio", 2.0}}},
                           {"all_features", {{"sizes", {4, 2}}, {"eigenvalues", {1.0, 0.9}}}}};
  const auto files = figure_files(page_data({{.name = "c.json", .command = {}, .result = clustering}}, {}));
  EXPECT_TRUE(is_among(files, "eigenvalues-qalpha.svg")) << json(files);
  EXPECT_TRUE(is_among(files, "eigenvalues-all-qalpha.svg")) << json(files);
}

TEST(PageData, OnlyObjectivesOfOneScaleSayTheSame) {
  const auto measure = [](const char* method, const json& options, bool labelled = true) {
    json result = small_selection();
    result["method"] = method;
    result["options"].update(options);
    if (!labelled) result["data"].erase("classes");
    return page_data({{.name = "s.json", .command = {}, .result = result}}, {})["files"][0]["measure"];
  };
  const json usual = measure("gslda", {{"criterion", "largest"}, {"ridge", 0.0}, {"transform", "auto"}});
  EXPECT_EQ(usual, measure("eslda", {{"criterion", "largest"}, {"ridge", 0.0}, {"transform", "none"}}));
  for (const json& other :
       {json{{"criterion", "trace"}, {"ridge", 0.0}}, json{{"criterion", "largest"}, {"ridge", "rel:0.1"}},
        json{{"criterion", "largest"}, {"ridge", 0.0}, {"standardize", true}}})
    EXPECT_NE(usual["scale"], measure("eslda", other)["scale"]) << other;
  const json variance = measure("espca", {{"criterion", "largest"}, {"ridge", 0.0}});
  EXPECT_NE(usual["scale"], variance["scale"]);
  EXPECT_EQ(variance["scale"], measure("gspca", {{"criterion", "trace"}, {"ridge", 0.5}}, false)["scale"]);
  const json fewer = measure("eslda", {{"criterion", "largest"}, {"ridge", 0.0}, {"exclude", {"a"}}});
  EXPECT_EQ(usual["scale"], fewer["scale"]);
  EXPECT_NE(usual["among"], fewer["among"]);
}

}  // namespace
}  // namespace subspectra::page_test
