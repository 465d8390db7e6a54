/// The support vector machine against scikit-learn's.
#include <gtest/gtest.h>

#include "run_program.hpp"

namespace subspectra {
namespace {

void expect_agreement(const std::string& script) {
  const testing::ScratchDirectory scratch;
  const testing::Finished run =
      testing::run_words({SUBSPECTRA_PYTHON, SUBSPECTRA_SOURCE_DIR "/tests/cli/" + script, SUBSPECTRA_PROGRAM,
                          SUBSPECTRA_SOURCE_DIR "/data/sonar.csv", scratch.path()});
  constexpr int kSkipped = 77;
  constexpr int kNoPython = 127;
  if (run.code == kSkipped || run.code == kNoPython)
    GTEST_SKIP() << "python3-sklearn is not there: " << run.out;
  EXPECT_EQ(run.code, 0) << run.out << run.err;
}

TEST(SvmAgainstScikitLearn, DecisionsAndPredictionsAgree) { expect_agreement("sklearn_svm.py"); }

TEST(SvmAgainstScikitLearn, EliminationOrderAndKernelDecisionsAgree) {
  expect_agreement("sklearn_machines.py");
}

}  // namespace
}  // namespace subspectra
