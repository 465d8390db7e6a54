/// The library inside somebody else's process: after a fork, from two threads at once, and before it is used.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <subspectra/selection.hpp>

#include "classify/svm.hpp"
#include "core/parallel.hpp"
#include "oracle.hpp"

namespace subspectra {
namespace {

/// Threads of this process when its static objects are made, after those of the libraries it is linked to.
const auto threads_at_start = std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});

/// Every bit of what a method answers, with as many threads as tests can want on two cores.
std::string answer_of(std::string_view method) {
  const Dataset data = oracle::random_classes(60, 14, 2, 7);
  SelectOptions options;
  options.k = {1, 4};
  options.threads = 4;
  const Selection found = select(data, Method(method), options);
  std::string bits;
  const auto add = [&](double value) { bits += std::to_string(std::bit_cast<std::uint64_t>(value)) + ' '; };
  for (const PathEntry& set : found.sets()) {
    for (const Index j : set.features) bits += 'x' + std::to_string(j) + ' ';
    add(set.objective);
  }
  for (const double weight : found.weights) add(weight);
  for (const FittedDiscriminants& fit : found.fits()) {
    for (Index i = 0; i < fit.matrix.size(); ++i) add(fit.matrix.data()[i]);
  }
  EXPECT_FALSE(bits.empty()) << method;
  return bits;
}

/// A linear support vector machine: LIBLINEAR, in its module.
std::string machine_bits() {
  const DatasetParts data = oracle::random_classes(60, 5, 2, 9);
  const SvmRule rule = fit_svm(data.dense, data.labels->codes, 2, {}, {.C = 1.0});
  std::string bits;
  for (const double value : rule.weights.reshaped()) {
    bits += std::to_string(std::bit_cast<std::uint64_t>(value)) + ' ';
  }
  return bits;
}

constexpr std::array kMethods = {"gslda", "eslda", "gspca", "espca", "rvm-row", "sulda", "qalpha", "fisher"};

std::string all_answers() {
  std::string all;
  for (const char* method : kMethods) all += std::string(method) + ": " + answer_of(method) + '\n';
  return all + "svm: " + machine_bits() + '\n';
}

/// What `work` returns in a forked child, or what became of the child.
template <class Work>
std::string in_child(const Work& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);  // a child that hangs is killed, and the test says so
    const std::string text = work();
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t put = ::write(ends[1], text.data() + at, text.size() - at);
      if (put <= 0) ::_exit(1);
      at += static_cast<std::size_t>(put);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return text + "the child died: " + ::strsignal(WTERMSIG(status));
  return text;
}

/// GCC 12's address sanitizer takes no lock of its allocator before a fork (the C library's malloc does):
/// what another thread holds at that moment is held for ever in the child, whoever forks.
#if defined(__SANITIZE_ADDRESS__)
#define SKIP_WHERE_MALLOC_DIES_IN_A_FORK() GTEST_SKIP() << "the sanitizer's malloc may hang in the child"
#else
#define SKIP_WHERE_MALLOC_DIES_IN_A_FORK() static_cast<void>(0)
#endif

TEST(HostProcess, LoadingTheLibraryStartsNoThread) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has a thread of its own";
#endif
  EXPECT_EQ(threads_at_start, 1);
}

// Oracle: the parent's answer. Of the threads of the parent's pools none exists in the child.
TEST(HostProcess, AForkAfterTheFirstUseAnswersTheSame) {
  SKIP_WHERE_MALLOC_DIES_IN_A_FORK();
  const std::string before = all_answers();
  EXPECT_EQ(in_child(all_answers), before);
  EXPECT_EQ(all_answers(), before) << "the parent, after the fork";
}

TEST(HostProcess, AForkBeforeTheFirstUseAnswersTheSame) {
  const std::string in_fresh_child = in_child([] { return answer_of("gslda") + machine_bits(); });
  EXPECT_EQ(answer_of("gslda") + machine_bits(), in_fresh_child);
}

TEST(HostProcess, NestedLoopsEndInAForkedChild) {
  SKIP_WHERE_MALLOC_DIES_IN_A_FORK();
  const auto nested = [] {
    std::vector<std::string> parts(20);
    parallel_for(20, 4, [&](Index i) {
      std::vector<Index> squares(30);
      parallel_for(30, 4, [&](Index j) { squares[static_cast<std::size_t>(j)] = i * j * j; });
      Index sum = 0;
      for (const Index square : squares) sum += square;
      parts[static_cast<std::size_t>(i)] = std::to_string(sum) + ' ';
    });
    std::string text;
    for (const std::string& part : parts) text += part;
    return text;
  };
  EXPECT_EQ(in_child(nested), nested());
  EXPECT_EQ(in_child([&] { return in_child(nested); }), nested()) << "the child of a child";
}

// Oracle: each answer made alone.
TEST(HostProcess, TwoThreadsAtOnceAnswerAsEachAlone) {
  const std::string alone = all_answers();
  std::array<std::string, 2> together;
  {
    std::vector<std::jthread> threads;
    for (std::string& answer : together) threads.emplace_back([&answer] { answer = all_answers(); });
  }
  EXPECT_EQ(together[0], alone);
  EXPECT_EQ(together[1], alone);
}

}  // namespace
}  // namespace subspectra
