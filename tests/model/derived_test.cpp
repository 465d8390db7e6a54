/// Models with features that are made of columns: of what is missing, of categories.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <subspectra/subspectra.hpp>
#include "data/derived_features.hpp"
#include "model/model.hpp"

namespace subspectra {
namespace derived_models {

/// Where a value is missing tells the classes apart, the values do not.
Eigen::MatrixXd with_telling_gaps(std::vector<std::string>& y) {
  Eigen::MatrixXd x(30, 3);
  for (Index i = 0; i < 30; ++i) {
    y.emplace_back(i % 2 == 0 ? "u" : "v");
    for (Index j = 0; j < 3; ++j) x(i, j) = static_cast<double>((i * 7 + j * 5) % 11);
    if (i % 2 == 0 && i % 5 != 0) x(i, 1) = std::numeric_limits<double>::quiet_NaN();
  }
  return x;
}

TEST(ModelsOfMadeFeatures, WhatIsMissingIsSeenAgainInArraysWithoutNames) {
  std::vector<std::string> y;
  const Eigen::MatrixXd x = with_telling_gaps(y);
  const Model model =
      fit(Dataset(x, y), Fisher{}, {.k = 2, .select = {.prepare = {.missing = MissingPolicy::kIndicator}}});
  EXPECT_EQ(model.feature_names().back(), "x1 is missing");
  const auto predicted = model.predict(Dataset(x));
  Index right = 0;
  for (std::size_t i = 0; i < y.size(); ++i) right += predicted[i] == y[i] ? 1 : 0;
  EXPECT_GE(right, 24);
  const Model back = Model::from_json(model.to_json());
  EXPECT_EQ(back.predict(Dataset(x)), predicted);
  EXPECT_EQ(back.predict(Dataset(x.topRows(1))).front(), predicted.front());
  EXPECT_THROW((void)model.predict(Dataset(x.leftCols(2))), InvalidArgument);
}

TEST(ModelsOfMadeFeatures, WhatIsMissingIsSeenAgainByName) {
  std::vector<std::string> y;
  const Eigen::MatrixXd x = with_telling_gaps(y);
  const std::vector<std::string> names = {"a", "b", "c"};
  const Model model = fit(Dataset(x, y, {.names = names}), Fisher{},
                          {.k = 1, .select = {.prepare = {.missing = MissingPolicy::kIndicator}}});
  EXPECT_EQ(model.feature_names(), (std::vector<std::string>{"b is missing"}));
  const Eigen::MatrixXd only = x.col(1);
  const std::vector<std::string> only_name = {"b"};
  EXPECT_EQ(model.predict(Dataset(only, {.names = only_name})), model.predict(Dataset(x, {.names = names})));
}

TEST(ModelsOfMadeFeatures, TheFileNamesTheColumnsThatAreNeeded) {
  TrainedModel model;
  model.names = {"age", "b is missing", "stage=II"};
  model.derived = {{.name = "b is missing", .column = "b"},
                   {.name = "stage=I", .column = "stage", .value = "I"},
                   {.name = "stage=II", .column = "stage", .value = "II"}};
  EXPECT_EQ(needed_columns(model), (std::vector<std::string>{"age", "b", "stage"}));
}

}  // namespace derived_models
}  // namespace subspectra
