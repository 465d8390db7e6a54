#include "verify/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <subspectra/error.hpp>
#include "core/json_io.hpp"
#include "core/text.hpp"
#include "io/json_file.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

constexpr const char* kSelectionSchema = "subspectra.selection/1";

/// A whole number from 0 up that every later sum can hold.
bool is_count(const json& value) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() < kMost;
  return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}

bool is_finite(const json& value) { return value.is_number() && std::isfinite(value.get<double>()); }

/// A member of the file with its place in words ("path[3].objective"); every failure names both.
class Member {
 public:
  Member(const json& value, const std::string& file, std::string place)
      : value_(value), file_(file), place_(std::move(place)) {}

  [[noreturn]] void fail(std::string_view rule) const {
    throw BadInput({.file = file_, .place = fmt::format("'{}'", place_)},
                   fmt::format("{}; give a result as `subspectra select ⟨o⟩` writes it", rule));
  }

  [[nodiscard]] bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  [[nodiscard]] Member at(const char* key) const {
    if (!value_.is_object()) fail("must be an object");
    const auto found = value_.find(key);
    const std::string place = place_.empty() ? key : fmt::format("{}.{}", place_, key);
    if (found == value_.end()) Member(value_, file_, place).fail("is missing");
    return {*found, file_, place};
  }
  [[nodiscard]] bool is_null() const { return value_.is_null(); }
  [[nodiscard]] bool is_text() const { return value_.is_string(); }
  [[nodiscard]] bool is_text(std::string_view text) const {
    return is_text() && value_.get_ref<const std::string&>() == text;
  }

  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail("must be a text");
    return value_.get<std::string>();
  }
  [[nodiscard]] bool truth() const {
    if (!value_.is_boolean()) fail("must be true or false");
    return value_.get<bool>();
  }
  [[nodiscard]] double number() const {
    if (!is_finite(value_)) fail("must be a finite number");
    return value_.get<double>();
  }
  /// NaN for null, which is how JSON writes what overflowed.
  [[nodiscard]] std::vector<double> numbers() const {
    if (!value_.is_array()) fail("must be a list of finite numbers");
    std::vector<double> result;
    result.reserve(value_.size());
    for (const auto& entry : value_) {
      if (!is_finite(entry) && !entry.is_null()) fail("must be a list of finite numbers");
      result.push_back(entry.is_null() ? std::numeric_limits<double>::quiet_NaN() : entry.get<double>());
    }
    return result;
  }
  [[nodiscard]] Index count() const {
    if (!is_count(value_)) fail("must be a whole number from 0 up");
    return value_.get<Index>();
  }
  [[nodiscard]] std::vector<Member> list() const {
    if (!value_.is_array()) fail("must be a list");
    std::vector<Member> members;
    members.reserve(value_.size());
    for (std::size_t i = 0; i < value_.size(); ++i) {
      members.emplace_back(value_[i], file_, fmt::format("{}[{}]", place_, i));
    }
    return members;
  }
  // Without a Member for each: there may be millions.
  [[nodiscard]] std::vector<std::string> texts() const {
    if (!value_.is_array()) fail("must be a list of texts");
    std::vector<std::string> result;
    result.reserve(value_.size());
    for (const auto& entry : value_) {
      if (!entry.is_string()) fail("must be a list of texts");
      result.push_back(entry.get<std::string>());
    }
    return result;
  }
  [[nodiscard]] std::vector<Index> counts() const {
    if (!value_.is_array()) fail("must be a list of whole numbers");
    std::vector<Index> result;
    result.reserve(value_.size());
    for (const auto& entry : value_) {
      if (!is_count(entry)) fail("must be a list of whole numbers from 0 up");
      result.push_back(entry.get<Index>());
    }
    return result;
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> named_numbers() const {
    if (!value_.is_object()) fail("must be an object of numbers");
    std::vector<std::pair<std::string, double>> result;
    for (const auto& [key, entry] : value_.items()) {
      result.emplace_back(key, Member(entry, file_, fmt::format("{}.{}", place_, key)).number());
    }
    return result;
  }
  [[nodiscard]] Matrix matrix() const {
    if (!value_.is_array()) fail("must be a list of rows");
    const std::size_t columns = value_.empty() || !value_[0].is_array() ? 0 : value_[0].size();
    Matrix result(static_cast<Index>(value_.size()), static_cast<Index>(columns));
    for (std::size_t i = 0; i < value_.size(); ++i) {
      if (!value_[i].is_array() || value_[i].size() != columns) fail("must be rows of equal length");
      for (std::size_t j = 0; j < columns; ++j) {
        if (!is_finite(value_[i][j])) fail("must hold finite numbers");
        result(static_cast<Index>(i), static_cast<Index>(j)) = value_[i][j].get<double>();
      }
    }
    return result;
  }
  /// One of an enum's names.
  template <class E>
  [[nodiscard]] E choice() const {
    try {
      return OptionCodec<E>::parse(text());
    } catch (const InvalidArgument& rule) {
      fail(rule.marked());
    }
  }

 private:
  const json& value_;
  const std::string& file_;
  std::string place_;
};

json parsed(std::string_view text, const std::string& file) {
  std::string why;
  try {
    return parse_shallow_json(text);
  } catch (const json::out_of_range&) {
    why = ": it has a number that is larger than a double holds";
  } catch (const json::exception&) {
  } catch (const std::length_error& problem) {
    why = fmt::format(": {}", problem.what());
  }
  throw BadInput(
      {.file = file},
      fmt::format("this is not valid JSON{}; give a result as `subspectra select ⟨o⟩` writes it", why));
}

ClaimedSet claimed_set(const Member& from) {
  ClaimedSet set;
  set.features = from.at("features").counts();
  set.names = from.at("names").texts();
  set.objective = from.at("objective").number();
  if (from.has("units")) set.units = from.at("units").counts();
  return set;
}

ClaimedEntry claimed_entry(const Member& from) {
  ClaimedEntry entry;
  static_cast<ClaimedSet&>(entry) = claimed_set(from);
  entry.k = from.at("k").count();
  if (from.has("groups")) entry.groups = from.at("groups").texts();
  if (from.has("upper_bound") && !from.at("upper_bound").is_null())
    entry.upper_bound = from.at("upper_bound").number();
  entry.has_gap = from.has("gap");
  if (entry.has_gap && !from.at("gap").is_null()) entry.gap = from.at("gap").number();
  if (from.has("certified")) entry.certified = from.at("certified").truth();
  if (from.has("bounds")) {
    const Member bounds = from.at("bounds");
    if (bounds.has("upper")) entry.upper = bounds.at("upper").named_numbers();
    if (bounds.has("lower_any")) entry.lower_any = bounds.at("lower_any").named_numbers();
    if (bounds.has("lower_best")) entry.lower_best = bounds.at("lower_best").named_numbers();
  }
  if (from.has("loadings")) entry.loadings = from.at("loadings").matrix();
  if (from.has("pool")) {
    for (const auto& member : from.at("pool").list()) entry.pool.push_back(claimed_set(member));
  }
  return entry;
}

std::vector<ClaimedEntry> claimed_path(const Member& from) {
  std::vector<ClaimedEntry> path;
  for (const auto& member : from.list()) path.push_back(claimed_entry(member));
  return path;
}

/// A number, or "rel:F".
RidgeAmount claimed_ridge(const Member& from) {
  constexpr std::string_view kRule = "must be a number from 0 up, or \"rel:F\" with such a number";
  if (!from.is_text()) {
    const double value = from.number();
    if (value < 0.0) from.fail(kRule);
    return {value};
  }
  constexpr std::string_view kFraction = "rel:";
  const std::string text = from.text();
  double fraction = -1.0;
  if (!text.starts_with(kFraction) ||
      !parse_number(std::string_view(text).substr(kFraction.size()), fraction) || !(fraction >= 0.0) ||
      !std::isfinite(fraction)) {
    from.fail(kRule);
  }
  return {0.0, fraction};
}

/// The member `key`, a count, of every one of a list.
std::vector<Index> claimed_sizes(const Member& from, const char* key) {
  std::vector<Index> sizes;
  for (const auto& fit : from.list()) sizes.push_back(fit.at(key).count());
  return sizes;
}

/// [LO, HI], or the text of what is not one range.
KRange claimed_range(const Member& k) {
  if (k.is_text()) {
    try {
      return OptionCodec<KRange>::parse(k.text());
    } catch (const InvalidArgument&) {
      k.fail("must be [LO, HI] or sizes as after ⟨k⟩, such as \"1:100:5\", \"1,2,5\" or \"log\"");
    }
  }
  const auto range = k.counts();
  if (range.size() != 2) k.fail("must be [LO, HI]");
  return {range[0], range[1]};
}

void take_options(const Member& options, ClaimedResult& result) {
  const auto text = [&](const char* key, std::string& value) {
    if (options.has(key) && !options.at(key).is_null()) value = options.at(key).text();
  };
  const auto texts = [&](const char* key, std::vector<std::string>& value) {
    if (options.has(key)) value = options.at(key).texts();
  };
  text("target", result.read.target);
  text("weights", result.read.weights);
  if (options.has("features")) result.read.features = options.at("features").count();
  if (options.has("index_base")) {
    const Index base = options.at("index_base").count();
    if (base > 1) options.at("index_base").fail("must be 0 or 1");
    result.read.index_base = static_cast<int>(base);
  }
  text("format", result.read.format);
  text("labels", result.read.labels);
  text("names", result.read.names);
  text("id", result.read.id);
  text("categorical", result.read.categorical);
  texts("na", result.read.na);
  if (options.has("transpose")) result.read.transpose = options.at("transpose").truth();
  if (options.has("missing")) result.prepare.missing = options.at("missing").choice<MissingPolicy>();
  if (options.has("standardize")) result.prepare.standardize = options.at("standardize").truth();
  if (options.has("transform")) result.prepare.transform = options.at("transform").choice<Transform>();
  texts("include", result.include);
  texts("exclude", result.exclude);
  result.read.ignore = result.exclude;
  text("groups", result.groups);
  if (options.has("criterion")) {
    result.criterion = options.at("criterion").choice<Criterion>();
    if (result.criterion == Criterion::kAuto)
      options.at("criterion").fail("must be the one that sets were judged by");
  }
  if (options.has("ridge")) result.ridge = claimed_ridge(options.at("ridge"));
  if (options.has("k") && !options.at("k").is_null()) {
    result.k = claimed_range(options.at("k"));
  }
  if (options.has("pool")) result.pool = options.at("pool").count();
  if (options.has("components")) result.components = options.at("components").count();
  if (options.has("lambda") && !options.at("lambda").is_null())
    result.lambda_given = !options.at("lambda").is_text("path");
  if (options.has("rho")) result.rho_given = !options.at("rho").is_null();
  if (options.has("fits")) result.fitted_sizes = claimed_sizes(options.at("fits"), "features");
  if (options.has("no_renormalize")) result.renormalized = !options.at("no_renormalize").truth();
}

void take_data(const Member& data, ClaimedResult& result) {
  result.rows = data.at("rows").count();
  result.features = data.at("features").count();
  if (data.has("names")) {
    result.names = data.at("names").texts();
    if (static_cast<Index>(result.names->size()) != result.features) {
      data.at("names").fail(fmt::format("must be {} names, one a feature", result.features));
    }
  }
  if (data.has("classes")) {
    result.classes = data.at("classes").texts();
    result.class_counts = data.at("class_counts").counts();
    if (result.class_counts.size() != result.classes->size()) {
      data.at("class_counts").fail("must be one number a class");
    }
  }
}

}  // namespace

bool ClaimedResult::has_units() const {
  return std::any_of(path.begin(), path.end(),
                     [](const ClaimedEntry& entry) { return entry.units.has_value(); });
}

bool ClaimedResult::by_variance() const {
  constexpr std::array<std::string_view, 15> kMethods = {
      "gspca",      "forward-pca",  "backward-pca", "espca",        "spca",        "dspca",
      "pca",        "gene-shaving", "qalpha",       "qalpha-basic", "qalpha-ritz", "qalpha-laplacian",
      "qalpha-gap", "qalpha-semi",  "qalpha-kernel"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

SetsKind ClaimedResult::sets_kind() const {
  using Names = std::initializer_list<std::string_view>;
  const auto among = [this](Names those) {
    return std::find(those.begin(), those.end(), method) != those.end();
  };
  if (among(
          {"rvm-row", "rvm-entry", "gloss", "sda", "plda", "sfd", "jeffreys-row", "jeffreys-entry", "spca"}))
    return SetsKind::kAlongLambda;
  if (among({"gslda",
             "forward-lda",
             "backward-lda",
             "eslda",
             "gspca",
             "forward-pca",
             "backward-pca",
             "espca",
             "st",
             "pearson",
             "fisher",
             "ks",
             "snr",
             "max-surprise",
             "gp-ard",
             "svm-rfe",
             "svm-rmb",
             "qalpha",
             "qalpha-basic",
             "qalpha-ritz",
             "qalpha-laplacian",
             "qalpha-gap",
             "qalpha-supervised",
             "qalpha-semi",
             "qalpha-kernel"}))
    return SetsKind::kEverySize;
  if (method == "dspca") return SetsKind::kRelaxation;
  if (method == "sulda") return SetsKind::kOneFit;
  if (method == "all") return SetsKind::kAll;
  if (among({"pca", "gene-shaving"})) return SetsKind::kNone;
  return method == "refit" ? SetsKind::kGiven : SetsKind::kUnknown;
}

ClaimedResult parse_claims(std::string_view text, const std::string& file) {
  const json document = parsed(text, file);
  if (!document.is_object() || document.value("schema", json()) != kSelectionSchema) {
    throw BadInput({.file = file},
                   fmt::format("this JSON is no {} result; give one written by `subspectra select ⟨o⟩`",
                               kSelectionSchema));
  }
  const Member root(document, file, "");
  ClaimedResult result;
  result.file = file;
  result.method = root.at("method").text();
  result.status = root.at("status").text();
  take_options(root.at("options"), result);
  take_data(root.at("data"), result);
  if (result.k && !result.k->contiguous())  // those that can be: a step or a series has no end of its own
    result.k = result.k->within(1, result.features).value_or(*result.k);
  if (root.has("ridge")) {
    const Member ridge = root.at("ridge");
    result.ridge_fraction = ridge.at("fraction").number();
    if (ridge.has("variances")) {
      result.ridge_variances = ridge.at("variances").numbers();
      if (std::ssize(*result.ridge_variances) != result.features)
        ridge.at("variances").fail(fmt::format("must be {} numbers, one a feature", result.features));
    }
  }
  result.path = claimed_path(root.at("path"));
  if (root.has("components")) {
    for (const auto& member : root.at("components").list()) {
      result.further.push_back(claimed_path(member.at("path")));
    }
  }
  if (root.has("lambda_path")) result.fitted_sizes = claimed_sizes(root.at("lambda_path"), "features_kept");
  if (root.has("discriminants")) result.chosen_size = root.at("discriminants").at("features_kept").count();
  return result;
}

ClaimedResult read_claims(const std::string& path, std::uint64_t memory_limit) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30U;
  return parse_claims(
      json_file_text(path, kLargest,
                     "is too large for a result; give one as `subspectra select ⟨o⟩` writes it",
                     memory_limit),
      path);
}

}  // namespace subspectra
