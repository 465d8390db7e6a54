#include "core/options.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace subspectra {

enum class Colour { kRed, kDarkBlue };
template <>
struct EnumNames<Colour> {
  static constexpr std::array<std::pair<Colour, std::string_view>, 2> kNames = {
      {{Colour::kRed, "red"}, {Colour::kDarkBlue, "dark-blue"}}};
};

namespace {

struct AllOptions {
  bool verbose = false;
  int folds = 10;
  Index limit = kUnlimited;
  std::uint64_t seed = 0;
  double time_limit = kInfinity;
  std::string target;
  std::vector<std::string> exclude;
  KRange k;
  Ridge ridge;
  ByteSize memory_limit;
  Colour colour = Colour::kRed;

  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("verbose", o.verbose, "say more");
    field("folds", o.folds, "number of folds");
    field("limit", o.limit, "limit on nodes");
    field("seed", o.seed, "seed");
    field("time_limit", o.time_limit, "seconds");
    field("target", o.target, "label column");
    field("exclude", o.exclude, "columns to leave out");
    field("k", o.k, "sizes");
    field("ridge", o.ridge, "regularisation");
    field("memory_limit", o.memory_limit, "memory");
    field("colour", o.colour, "colour");
  }
  bool operator==(const AllOptions&) const = default;
};

/// Some of them in another order; and what is not the same.
struct FewOptions {
  int folds = 3;
  std::string target = {};

  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("folds", o.folds, "number of folds");
    field("target", o.target, "label column");
  }
};
struct SameOptions {
  std::string target = "class";
  int folds = 5;

  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("target", o.target, "the column");
    field("folds", o.folds, "folds");
  }
};
struct FoldsAsNumber {
  double folds = 3.0;
  std::string target = {};

  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field("folds", o.folds, "number of folds");
    field("target", o.target, "label column");
  }
};

TEST(Options, OfAStructWithTheSameOnesAreTakenByName) {
  const auto same = options_as<SameOptions>(FewOptions{.folds = 7, .target = "type"});
  EXPECT_EQ(same.folds, 7);
  EXPECT_EQ(same.target, "type");
}

TEST(Options, OfAStructWithOthersAreRefused) {
  EXPECT_THROW((void)options_as<AllOptions>(FewOptions{}), std::logic_error);
  EXPECT_THROW((void)options_as<FewOptions>(AllOptions{}), std::logic_error);
  EXPECT_THROW((void)options_as<FewOptions>(FoldsAsNumber{}), std::logic_error);
}

std::string message_of(const OptionTexts& texts) {
  try {
    AllOptions options;
    set_options(options, texts);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "no exception";
}

/// What format() writes for every field, as set_options reads it; "not given" is left out.
OptionTexts texts_of(const AllOptions& options) {
  OptionTexts texts;
  AllOptions::visit(options, [&](std::string_view name, const auto& value, std::string_view) {
    const std::string text = OptionCodec<std::remove_cvref_t<decltype(value)>>::format(value);
    if (!text.empty()) texts[std::string(name)] = text;
  });
  return texts;
}

TEST(Options, RoundTripThroughText) {
  AllOptions options;
  options.verbose = true;
  options.folds = -3;
  options.limit = 12345678901234;
  options.seed = 18446744073709551615U;
  options.time_limit = 0.1;
  options.target = "class";
  options.exclude = {"a", "b c", "d"};
  options.k = {2, 20};
  options.ridge = {1e-300};
  options.memory_limit = {3221225472U};
  options.colour = Colour::kDarkBlue;
  for (const AllOptions& o : {options, AllOptions{}}) {
    AllOptions back;
    set_options(back, texts_of(o));
    EXPECT_EQ(back, o);
  }
}

TEST(Options, ReadTheSpellingsThatUsersWrite) {
  AllOptions o;
  set_options(
      o,
      {{"k", "5"}, {"ridge", "auto"}, {"memory_limit", "1.5GiB"}, {"exclude", " a, ,b,"}, {"verbose", ""}});
  EXPECT_EQ(o.k, (KRange{5, 5}));
  EXPECT_EQ(o.ridge, Ridge{});
  EXPECT_EQ(o.memory_limit.bytes, 1610612736U);
  EXPECT_EQ(o.exclude, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(o.verbose);
  for (const auto& [text, bytes] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"100", 100},
                                                          {"7b", 7},
                                                          {"512M", 536870912},
                                                          {"2g", 2147483648},
                                                          {"1kB", 1024},
                                                          {"1TB", 1099511627776}}) {
    set_options(o, {{"memory_limit", text}});
    EXPECT_EQ(o.memory_limit.bytes, bytes) << text;
  }
}

TEST(Options, IgnoreNamesOfOtherStructs) {
  AllOptions o;
  set_options(o, {{"somebody_elses", "nonsense"}});
  EXPECT_EQ(o, AllOptions{});
}

TEST(Options, RefuseWithFlagValueAndRule) {
  EXPECT_EQ(message_of({{"folds", "ten"}}), "folds 'ten': a whole number is needed");
  EXPECT_EQ(message_of({{"folds", "1.5"}}), "folds '1.5': a whole number is needed");
  EXPECT_EQ(message_of({{"folds", ""}}), "folds '': a whole number is needed");
  EXPECT_EQ(message_of({{"folds", "99999999999"}}), "folds '99999999999': the number is out of range");
  EXPECT_EQ(message_of({{"seed", "-1"}}), "seed '-1': a whole number from 0 up is needed");
  EXPECT_EQ(message_of({{"time_limit", "inf"}}), "time_limit 'inf': a finite number is needed");
  EXPECT_EQ(message_of({{"time_limit", "1,5"}}), "time_limit '1,5': a finite number is needed");
  EXPECT_EQ(message_of({{"verbose", "yes"}}), "verbose 'yes': true or false is needed");
  EXPECT_EQ(message_of({{"colour", "green"}}), "colour 'green': one of red|dark-blue is needed");
  const std::string k_rule =
      "N, LO:HI or LO:HI:STEP with 1 <= LO <= HI, a list of sizes or log is needed, for example 10, 1:20, 1:100:5 or 1,2,5,10,20";
  for (const std::string bad : {"0", "5:3", "a", ":", "1:", ":5", "1:2:0", "1:9:-2", "1:2:3:4", "-1", "1,",
                                ",", "0,3", "1:3,5", "1,a", "logs", "Log", "1,99999999999999999999"}) {
    EXPECT_EQ(message_of({{"k", bad}}), fmt::format("k '{}': {}", bad, k_rule));
  }
  for (const std::string bad : {"-1", "automatic", "nan", ""}) {
    EXPECT_EQ(
        message_of({{"ridge", bad}}),
        fmt::format(
            "ridge '{}': auto, cv, rel:F (a fraction of each column's variance) or a number from 0 up is needed",
            bad));
  }
  for (const std::string bad : {"", "G", "-1G", "1X", "0", "1GBB", "1bb", "1bib", "1e30"}) {
    EXPECT_EQ(message_of({{"memory_limit", bad}}),
              fmt::format("memory_limit '{}': a size such as 500M, 2G or 1.5GiB is needed", bad));
  }
  EXPECT_NE(message_of({{"exclude", "@/no/such/file"}}).find("'/no/such/file' cannot be read"),
            std::string::npos);
}

TEST(Options, AListFileThatIsADirectoryOrHasNoEndIsRefused) {
  EXPECT_NE(message_of({{"exclude", "@/tmp"}}).find("'/tmp' cannot be read"), std::string::npos);
  EXPECT_NE(message_of({{"exclude", "@/dev/zero"}}).find("'/dev/zero' has more than 32 MB"),
            std::string::npos);
}

TEST(Options, ReadListsFromAFile) {
  const auto path = std::filesystem::temp_directory_path() / "subspectra_options_test_list";
  std::ofstream(path) << "one\r\n\n  two words \nwith,comma";
  AllOptions o;
  set_options(o, {{"exclude", "@" + path.string()}});
  EXPECT_EQ(o.exclude, (std::vector<std::string>{"one", "two words", "with,comma"}));
  std::filesystem::remove(path);
}

TEST(Options, AreWrittenAsJsonWithNullForNoLimit) {
  AllOptions o;
  const auto none = options_json(o);
  EXPECT_TRUE(none["time_limit"].is_null());
  EXPECT_TRUE(none["limit"].is_null());
  EXPECT_TRUE(none["k"].is_null());
  EXPECT_TRUE(none["memory_limit"].is_null());
  EXPECT_EQ(none["ridge"], "auto");
  EXPECT_EQ(none["colour"], "red");
  EXPECT_EQ(none["exclude"], nlohmann::json::array());
  o.k = {1, 10};
  o.ridge = {0.0};
  o.time_limit = 2.5;
  o.verbose = true;
  const auto some = options_json(o);
  EXPECT_EQ(some["k"], nlohmann::json::array({1, 10}));
  EXPECT_EQ(some["ridge"], 0.0);
  EXPECT_EQ(some["time_limit"], 2.5);
  EXPECT_EQ(some["verbose"], true);
  EXPECT_EQ(some.size(), 11U);
}

TEST(Options, DescribeEveryFieldOnce) {
  const auto all = describe_options<AllOptions>();
  ASSERT_EQ(all.size(), 11U);
  EXPECT_TRUE(all[0].is_switch);
  EXPECT_EQ(all[0].hint, "");
  EXPECT_EQ(all[1].default_text, "10");
  EXPECT_EQ(all[1].help, "number of folds");
  EXPECT_EQ(all[4].name, "time_limit");
  EXPECT_EQ(all[4].default_text, "");
  EXPECT_EQ(all[7].hint, "N|LO:HI|LO:HI:STEP|A,B,C|log");
  EXPECT_EQ(all[10].hint, "red|dark-blue");
}

TEST(SetOptions, SaysWhichFieldAndWhatWasGivenAsData) {
  try {
    AllOptions options;
    set_options(options, {{"folds", "ten"}});
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field, "folds");
    EXPECT_EQ(error.value, "ten");
    EXPECT_EQ(error.rule, "a whole number is needed");
    EXPECT_EQ(error.text(Spelling::kCommandLine), "--folds 'ten': a whole number is needed");
  }
}

TEST(KRange, ResolvesAgainstTheNumberOfFeatures) {
  EXPECT_EQ(KRange{}.resolved(200), (KRange{1, 50}));
  EXPECT_EQ(KRange{}.resolved(7), (KRange{1, 7}));
  EXPECT_EQ((KRange{3, 7}).resolved(7), (KRange{3, 7}));
  try {
    static_cast<void>((KRange{3, 8}).resolved(7));
    FAIL() << "no exception";
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "k = {3, 8}, but 1 <= LO <= HI <= 7 is needed (7 features can be chosen)");
  }
  try {
    static_cast<void>((KRange{2, 2}).resolved(1, "group"));
    FAIL() << "no exception";
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "k = 2, but 1 <= LO <= HI <= 1 is needed (1 group can be chosen)");
  }
}

TEST(KRange, IsReadAndWrittenAsARangeStepsAListOrASeries) {
  const auto read = [](const char* text) { return OptionCodec<KRange>::parse(text); };
  EXPECT_EQ(read("1:100:5"), KRange::steps(1, 100, 5));
  EXPECT_EQ(read("1,2,5,10,20"), KRange::list({1, 2, 5, 10, 20}));
  EXPECT_EQ(read("20,5,5,1"), KRange::list({1, 5, 20}));
  EXPECT_EQ(read("log"), KRange::log());
  EXPECT_EQ(read("3:9:1"), KRange(3, 9));
  EXPECT_EQ(read("2,4,3"), KRange(2, 4));  // nothing is left out between
  EXPECT_EQ(read("7,7"), KRange(7));
  for (const char* text : {"10", "1:20", "1:100:5", "1,2,5,10,20", "1,3", "log"}) {
    EXPECT_EQ(OptionCodec<KRange>::format(read(text)), text);
    EXPECT_EQ(read(text).text(), text);
  }
  EXPECT_EQ(OptionCodec<KRange>::json(read("1:20")).dump(), "[1,20]");
  EXPECT_EQ(OptionCodec<KRange>::json(read("4")).dump(), "[4,4]");
  EXPECT_EQ(OptionCodec<KRange>::json(read("1,4")).dump(), "\"1,4\"");  // [1,4] would be a range
  AllOptions options;
  set_options_from_json(options, {{"k", {1, 2, 5, 10}}});
  EXPECT_EQ(options.k, KRange::list({1, 2, 5, 10}));
  set_options_from_json(options, {{"k", "1:100:5"}});
  EXPECT_EQ(options.k, KRange::steps(1, 100, 5));
  set_options_from_json(options, {{"k", {1, 10}}});
  EXPECT_EQ(options.k, KRange(1, 10));
}

TEST(KRange, HoldsWhatItSaysAndNothingBetween) {
  const KRange steps = KRange::steps(1, 100, 5).resolved(100);
  EXPECT_EQ(steps.lo, 1);
  EXPECT_EQ(steps.hi, 96);
  EXPECT_EQ(steps.count(), 20);
  EXPECT_TRUE(steps.contains(41));
  EXPECT_FALSE(steps.contains(42));
  EXPECT_EQ(KRange::list({9, 2, 4}).sizes(), (std::vector<Index>{2, 4, 9}));
  EXPECT_EQ(KRange::log().resolved(60).sizes(), (std::vector<Index>{1, 2, 3, 5, 7, 10, 15, 20, 30, 50}));
  EXPECT_EQ(KRange::log().resolved(50000).hi, 1000);
  EXPECT_EQ(KRange::log().resolved(1), KRange(1));
  EXPECT_EQ(*KRange::list({2, 4, 9}).within(3, 8), KRange(4));
  EXPECT_FALSE(KRange::list({2, 9}).within(3, 8));
  EXPECT_EQ(KRange::steps(2, 1000000000000000000, 2).within(7, 12)->sizes(), (std::vector<Index>{8, 10, 12}));
  EXPECT_TRUE(KRange::log().given());
  EXPECT_FALSE(KRange::log().single());
  EXPECT_TRUE(KRange(3).single());
}

TEST(KRange, RefusesSizesOutsideOfTheCandidatesInEveryForm) {
  const auto message = [](const KRange& k) -> std::string {
    try {
      static_cast<void>(k.resolved(7));
      return "no exception";
    } catch (const InvalidArgument& error) {
      return error.text(Spelling::kCommandLine) + " | " + error.what();
    }
  };
  EXPECT_EQ(
      message(KRange::list({2, 8})),
      "-k 2,8, but sizes from 1 to 7 are needed (7 features can be chosen) | k = KRange::list({2, 8}), but "
      "sizes from 1 to 7 are needed (7 features can be chosen)");
  EXPECT_EQ(
      message(KRange::steps(1, 8, 3)),
      "-k 1:8:3, but 1 <= LO <= HI <= 7 is needed and a step from 1 up (7 features can be chosen) | k = "
      "KRange::steps(1, 8, 3), but 1 <= LO <= HI <= 7 is needed and a step from 1 up (7 features can be "
      "chosen)");
  EXPECT_NE(message(KRange::steps(1, 5, 0)), "no exception");
  EXPECT_NE(message(KRange::steps(1, 5, -1)), "no exception");
  EXPECT_NE(message(KRange::list({0, 3})), "no exception");
  EXPECT_NE(message(KRange::list({})), "no exception");
}

}  // namespace
}  // namespace subspectra
