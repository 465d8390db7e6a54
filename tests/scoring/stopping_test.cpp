/// A signal or a limit ends a penalized fit within half a second, however large it is.
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

#include <subspectra/evaluate.hpp>
#include <subspectra/model.hpp>
#include <subspectra/scoring.hpp>
#include "classes.hpp"
#include "select/select.hpp"

namespace subspectra::stopping_test {
namespace {

/// Far more work than the test waits for: many classes, and a path down to nearly no penalty.
DatasetParts many_classes() { return oracle::gaussian_classes(600, 900, 26, 3, 1.0, 200); }

// Some machines are slow and busy: what is forbidden is minutes.
constexpr double kPatience_s = 5.0;

double seconds_to_stop(const std::function<void(const RunControl&)>& work) {
  std::stop_source source;
  const RunControl control(source.get_token(), kInfinity);
  std::chrono::steady_clock::time_point asked;
  std::jthread signal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    asked = std::chrono::steady_clock::now();
    source.request_stop();
  });
  work(control);
  const auto end = std::chrono::steady_clock::now();
  signal.join();
  return std::chrono::duration<double>(end - asked).count();
}

TEST(Stopping, EndsAPathOfManyClassesSoon) {
  const Dataset data = many_classes();
  for (const Method& method : {Method(Gloss{.lambdas = 200, .lambda_ratio = 1e-6}),
                               Method(Sda{.lambdas = 200, .lambda_ratio = 1e-6})}) {
    SCOPED_TRACE(method.name());
    Selection found;
    const double seconds = seconds_to_stop([&](const RunControl& control) {
      found = select_features(data, method, {.k = {1, 900}, .threads = 1}, control);
    });
    EXPECT_LT(seconds, kPatience_s);
    EXPECT_EQ(found.status, Status::kInterrupted);
  }
}

// Oracle: the sink asks to stop at the n-th report, wherever that is.
TEST(Stopping, AtEveryReportOfACrossValidationEndsIt) {
  const Dataset data = oracle::gaussian_classes(60, 30, 3, 3);
  for (int at = 1; at <= 12; ++at) {
    SCOPED_TRACE(at);
    std::stop_source source;
    int reports = 0;
    const RunControl control(
        source.get_token(), kInfinity,
        [&](const Progress&) {
          if (++reports == at) source.request_stop();
        },
        0.0);
    const Selection found = select_features(data, Gloss{.lambda = LambdaChoice::Kind::kCv},
                                            {.k = {1, 30}, .threads = 1}, control);
    if (reports >= at) {
      EXPECT_EQ(found.status, Status::kInterrupted);
      EXPECT_LE(reports, at + 1);
    }
  }
}

}  // namespace
}  // namespace subspectra::stopping_test
