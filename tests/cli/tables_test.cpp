/// What was understood of a table is one line, always, and what is kept of it through predict.
#include <gtest/gtest.h>

#include <string>

#include "run_program.hpp"

namespace subspectra {
namespace {

using testing::Finished;
using testing::run_program;
using testing::ScratchDirectory;

std::string pandas_export() {
  std::string text = "Unnamed: 0,id,a,b,stage,smoker,outcome\n";
  for (int i = 0; i < 30; ++i) {
    text += std::to_string(i) + ",p" + std::to_string(i) + "," + std::to_string((i * 7) % 11 + 2 * (i % 2)) +
            "," + std::to_string((i * 5) % 7) + "," + std::string(static_cast<std::size_t>(i % 3) + 1, 'I') +
            "," + (i % 4 < 2 ? "TRUE," : "FALSE,") + std::to_string(i % 2) + "\n";
  }
  return text;
}

TEST(Tables, WhatWasUnderstoodIsOneLineAlways) {
  const ScratchDirectory scratch;
  scratch.write("t.csv", pandas_export());
  const auto run = [&](std::vector<std::string> words) {
    return run_program(words, {.directory = scratch.path()});
  };
  for (const std::string option : {"", "--target=outcome"}) {
    std::vector<std::string> words = {"select", "t.csv", "-k", "1"};
    if (!option.empty()) words.insert(words.end(), {"--target", "outcome"});
    const Finished table = run(words);
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_EQ(table.out.substr(0, table.out.find(':')), "t.csv");
    EXPECT_NE(table.out.find("index 'Unnamed: 0' left out"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("ids in 'id'"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("categories 'stage' (3), 'smoker' (2)"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find("2 classes of 'outcome' (0 15, 1 15)"), std::string::npos) << table.out;
    words.emplace_back("--json");
    const Finished quiet_table = run(words);
    EXPECT_NE(quiet_table.err.find("subspectra: note: t.csv: 30 rows, 5 features"), std::string::npos)
        << quiet_table.err;
    EXPECT_EQ(quiet_table.out.front(), '{') << "and not on stdout";
    words.emplace_back("--quiet");
    EXPECT_EQ(run(words).err, "");
  }
}

TEST(Tables, IdsAndCategoriesGoThroughPredict) {
  const ScratchDirectory scratch;
  scratch.write("t.csv", pandas_export());
  const auto run = [&](std::vector<std::string> words, const std::string& input = {}) {
    return run_program(words, {.directory = scratch.path(), .input = input});
  };
  const Finished fitted =
      run({"fit", "t.csv", "--method", "forward-lda", "-k", "4", "-o", "m.json", "--categorical", "auto"});
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  const Finished predicted = run({"predict", "m.json", "t.csv"});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(predicted.out.substr(0, predicted.out.find('\n')), "row,id,predicted,p_0,p_1");
  EXPECT_NE(predicted.out.find("\n29,p29,"), std::string::npos);
  // In another order, without what is not needed, with a single row and an id that is a number.
  const Finished one = run({"predict", "m.json", "-"}, "stage,b,a,id,smoker\nII,3,9,17,TRUE\n");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("\n0,17,"), std::string::npos) << one.out;
  const Finished unseen = run({"predict", "m.json", "-"}, "stage,b,a,smoker\nIX,3,9,TRUE\n");
  EXPECT_EQ(unseen.code, 0) << unseen.err;
  EXPECT_NE(unseen.err.find("column 'stage' holds a value that the model has not seen ('IX')"),
            std::string::npos)
      << unseen.err;
}

}  // namespace
}  // namespace subspectra
