#include "report/csv.hpp"

#include <gtest/gtest.h>
#include <subspectra/error.hpp>

namespace subspectra::csv_test {
namespace {

using nlohmann::json;

TEST(ResultCsv, ASelectionIsARowASet) {
  const json result = {{"schema", "subspectra.selection/1"},
                       {"path",
                        {{{"k", 1},
                          {"features", {3}},
                          {"names", {"a;b"}},
                          {"objective", 0.1},
                          {"upper_bound", 0.1},
                          {"gap", 0.0},
                          {"certified", true},
                          {"bound", "single"},
                          {"pass", "forward"}},
                         {{"k", 2},
                          {"features", {3, 7}},
                          {"names", {"a;b", "c, \"d\""}},
                          {"objective", 1.0 / 3.0},
                          {"pass", "backward"}}}}};
  EXPECT_EQ(result_csv(result),
            "k,objective,upper_bound,gap,certified,bound,pass,names,indices\n"
            "1,0.1,0.1,0.0,true,single,forward,a\\;b,3\n"
            "2,0.3333333333333333,,,,,backward,\"a\\;b;c, \"\"d\"\"\",3;7\n");
}

TEST(ResultCsv, ComponentsAndGroupsHaveTheirColumns) {
  const json several = {
      {"schema", "subspectra.selection/1"},
      {"path", {{{"k", 1}, {"features", {0}}, {"names", {"u"}}, {"objective", 2.0}, {"groups", {"g", "h"}}}}},
      {"components",
       {{{"component", 2},
         {"path", {{{"k", 1}, {"features", {1}}, {"names", {"v"}}, {"objective", 1.0}}}}}}}};
  EXPECT_EQ(result_csv(several),
            "k,objective,component,groups,names,indices\n1,2.0,1,g;h,u,0\n1,1.0,2,,v,1\n");
  const json over_all = {{"schema", "subspectra.selection/1"},
                         {"path", json::array()},
                         {"data", {{"names", {"u", "v", "w"}}}},
                         {"discriminants", {{"features", {0, 2}}, {"matrix", {{0.5, 0.0}, {-1.5, 2.0}}}}}};
  EXPECT_EQ(result_csv(over_all), "feature,index,component_1,component_2\nu,0,0.5,0.0\nw,2,-1.5,2.0\n");
}

TEST(ResultCsv, AnEvaluationIsARowAMethodAndSizeWithWhatWasChosen) {
  const auto row = [](int k, double error) {
    return json{{"method", "ks"},
                {"k", k},
                {"lambda", nullptr},
                {"error", error},
                {"stderr", 0.01},
                {"stability", 0.5},
                {"stability_interval", {0.25, 0.75}}};
  };
  const json result = {{"schema", "subspectra.evaluation/1"},
                       {"results", {row(1, 0.3), row(2, 0.2), row(3, 0.25)}},
                       {"chosen", {{{"method", "ks"}, {"k_best", 2}, {"k_one_standard_error", 1}}}}};
  EXPECT_EQ(result_csv(result),
            "method,k,error,stderr,stability,stability_low,stability_high,chosen\n"
            "ks,1,0.3,0.01,0.5,0.25,0.75,one_standard_error\n"
            "ks,2,0.2,0.01,0.5,0.25,0.75,best\n"
            "ks,3,0.25,0.01,0.5,0.25,0.75,\n");
}

TEST(ResultCsv, EmptyResultsHaveTheirHeaderAndOthersAreRefused) {
  EXPECT_EQ(result_csv({{"schema", "subspectra.selection/1"}, {"path", json::array()}}), "k,objective\n");
  EXPECT_EQ(result_csv({{"schema", "subspectra.reproduction/1"},
                        {"results", {{{"name", "x, k = 3"}, {"published", nullptr}, {"obtained", 1.5}}}}}),
            "name,published,obtained\n\"x, k = 3\",,1.5\n");
  EXPECT_THROW((void)result_csv({{"schema", "subspectra.model/1"}}), Error);
}

TEST(ResultCsv, IsForNamesThatEndSo) {
  EXPECT_TRUE(is_csv_name("a/b.csv"));
  EXPECT_TRUE(is_csv_name("B.CSV"));
  EXPECT_FALSE(is_csv_name("csv"));
  EXPECT_FALSE(is_csv_name("b.csv.json"));
  EXPECT_FALSE(is_csv_name("-"));
}

}  // namespace
}  // namespace subspectra::csv_test
