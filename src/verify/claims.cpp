#include "verify/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

#include <subspectra/error.hpp>
#include "core/text.hpp"
#include "io/json_file.hpp"
#include "io/json_member.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

constexpr const char* kSelectionSchema = "subspectra.selection/1";

using Member = JsonMember;

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
  const JsonSource source{file, "give a result as `subspectra select ⟨o⟩` writes it"};
  const json document = parsed_json(text, source);
  if (!document.is_object() || document.value("schema", json()) != kSelectionSchema) {
    throw BadInput({.file = file},
                   fmt::format("this JSON is no {} result; give one written by `subspectra select ⟨o⟩`",
                               kSelectionSchema));
  }
  const Member root(document, source);
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
