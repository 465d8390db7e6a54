#include "report/page_input.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "core/json_io.hpp"
#include "io/json_file.hpp"
#include "io/json_member.hpp"

namespace subspectra {
namespace {

using nlohmann::json;

constexpr std::string_view kPageWayOut =
    "give a result as select, evaluate, fit, cluster or reproduce ⟨o⟩ writes it";
constexpr std::size_t kLongestText = 1U << 20U;

/// What no reader of a member would meet: numbers and texts everywhere. Entries of long lists get no place of
/// their own in words.
void check_values_of(const JsonMember& member) {
  const json& value = member.value();
  const auto check_plain = [&member](const json& plain) {
    if (plain.is_number() && !json_is_finite(plain)) member.fail("must be finite");
    if (plain.is_string() && plain.get_ref<const std::string&>().size() > kLongestText)
      member.fail("has too long a text");
  };
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      if (key.size() > kLongestText) member.fail("has a member whose name is too long");
      inner.is_structured() ? check_values_of(member.at(key.c_str())) : check_plain(inner);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      value[i].is_structured() ? check_values_of(member.entry(i)) : check_plain(value[i]);
  } else {
    check_plain(value);
  }
}

/// `check` of the member where it is there and not null.
void if_there(const JsonMember& from, const char* key, const std::function<void(const JsonMember&)>& check) {
  if (!from.has(key)) return;
  const JsonMember member = from.at(key);
  if (!member.is_null()) check(member);
}

void number_if_there(const JsonMember& from, const char* key) {
  if_there(from, key, [](const JsonMember& member) { (void)member.number(); });
}

void text_if_there(const JsonMember& from, const char* key) {
  if_there(from, key, [](const JsonMember& member) { (void)member.text(); });
}

void require_size(const JsonMember& member, std::size_t size, std::size_t wanted, std::string_view what) {
  if (size != wanted) member.fail(fmt::format("must have {} entries, one a {}", wanted, what));
}

std::vector<Index> features_of(const JsonMember& member, Index count) {
  std::vector<Index> features = member.counts();
  for (const Index feature : features) {
    if (feature >= count) member.fail(fmt::format("names feature {}, but the table has {}", feature, count));
  }
  return features;
}

/// How many features there are; the other members of `data` are checked against it.
Index check_data(const JsonMember& data) {
  const Index features = data.at("features").count();
  number_if_there(data, "rows");
  text_if_there(data, "source");
  text_if_there(data, "target");
  if_there(data, "names", [&](const JsonMember& names) {
    require_size(names, names.texts().size(), static_cast<std::size_t>(features), "feature");
  });
  std::size_t classes = 0;
  if_there(data, "classes", [&](const JsonMember& names) { classes = names.texts().size(); });
  if_there(data, "class_counts", [&](const JsonMember& counts) {
    require_size(counts, counts.numbers().size(), classes, "class");
  });
  return features;
}

void check_set(const JsonMember& entry, Index features) {
  (void)entry.at("k").count();
  const std::size_t size = features_of(entry.at("features"), features).size();
  if_there(entry, "names", [&](const JsonMember& names) {
    require_size(names, names.texts().size(), size, "feature of the set");
  });
  number_if_there(entry, "objective");
  number_if_there(entry, "upper_bound");
  number_if_there(entry, "gap");
  if_there(entry, "certified", [](const JsonMember& member) { (void)member.truth(); });
  if_there(entry, "groups", [](const JsonMember& member) { (void)member.texts(); });
  if_there(entry, "loadings", [&](const JsonMember& member) {
    require_size(member, static_cast<std::size_t>(member.matrix().rows()), size, "feature of the set");
  });
}

/// `discriminants`, or an entry of `lambda_path`.
void check_fit(const JsonMember& fit, Index features) {
  const std::size_t size = features_of(fit.at("features"), features).size();
  if_there(fit, "row_norms", [&](const JsonMember& member) {
    require_size(member, member.numbers().size(), size, "feature kept");
  });
  if_there(fit, "matrix", [&](const JsonMember& member) {
    require_size(member, static_cast<std::size_t>(member.matrix().rows()), size, "feature kept");
  });
  number_if_there(fit, "lambda");
  number_if_there(fit, "features_kept");
}

void check_weights(const JsonMember& root, Index features) {
  if_there(root, "weights", [&](const JsonMember& member) {
    const std::size_t size = member.numbers().size();
    if (size > 0) require_size(member, size, static_cast<std::size_t>(features), "feature");
  });
  if_there(root, "ranking", [&](const JsonMember& member) { (void)features_of(member, features); });
  if_there(root, "relevance", [](const JsonMember& member) {
    if_there(member, "cut", [](const JsonMember& cut) {
      number_if_there(cut, "k");
      number_if_there(cut, "ratio");
    });
  });
}

void check_selection(const JsonMember& root) {
  (void)root.at("method").text();
  (void)root.at("status").text();
  const Index features = check_data(root.at("data"));
  for (const JsonMember& entry : root.at("path").list()) check_set(entry, features);
  if_there(root, "components", [&](const JsonMember& components) {
    for (const JsonMember& component : components.list()) {
      for (const JsonMember& entry : component.at("path").list()) check_set(entry, features);
    }
  });
  if_there(root, "discriminants", [&](const JsonMember& fit) { check_fit(fit, features); });
  if_there(root, "lambda_path", [&](const JsonMember& fits) {
    for (const JsonMember& fit : fits.list()) check_fit(fit, features);
  });
  if_there(root, "trace", [](const JsonMember& trace) {
    for (const JsonMember& point : trace.list()) {
      (void)point.at("iteration").count();
      number_if_there(point, "objective");
      number_if_there(point, "features");
    }
  });
  if_there(root, "search", [](const JsonMember& search) { (void)search.named_numbers(); });
  check_weights(root, features);
}

void check_choice(const JsonMember& choice, Index features, std::size_t classes) {
  for (const char* name : {"k_best", "k_one_standard_error", "error", "stderr", "trivial_error",
                           "trivial_stderr", "p_value", "permutations", "auc", "feature_count"})
    number_if_there(choice, name);
  text_if_there(choice, "doubt");
  if_there(choice, "confusion", [&](const JsonMember& member) {
    const Matrix confusion = member.matrix();
    if (confusion.size() == 0) return;
    if (confusion.rows() != confusion.cols() || confusion.rows() != static_cast<Index>(classes))
      member.fail("must have a row and a column for each class");
  });
  for (const char* name : {"sensitivity", "specificity"}) {
    if_there(choice, name, [&](const JsonMember& member) {
      const std::size_t size = member.numbers().size();
      if (size > 0) require_size(member, size, classes, "class");
    });
  }
  for (const auto& [name, columns] : {std::pair{"roc", 2}, std::pair{"calibration", 3}}) {
    if_there(choice, name, [columns = columns](const JsonMember& member) {
      const Matrix points = member.matrix();
      if (points.size() > 0 && points.cols() != columns)
        member.fail(fmt::format("must be points of {} numbers", columns));
    });
  }
  std::size_t points = 0;
  if_there(choice, "projection",
           [&](const JsonMember& member) { points = static_cast<std::size_t>(member.matrix().rows()); });
  for (const char* name : {"projection_rows", "projection_classes"}) {
    if_there(choice, name, [&](const JsonMember& member) {
      const auto numbers = member.counts();
      require_size(member, numbers.size(), points, "point");
      const bool is_class = std::string_view(name) == "projection_classes";
      for (const Index number : numbers) {
        if (is_class && number >= static_cast<Index>(classes)) member.fail("names a class that is not there");
      }
    });
  }
  if_there(choice, "features", [&](const JsonMember& list) {
    for (const JsonMember& feature : list.list()) {
      if (feature.at("index").count() >= features) feature.fail("is a feature that the table does not have");
      (void)feature.at("name").text();
      number_if_there(feature, "frequency");
      if_there(feature, "substitutes", [](const JsonMember& substitutes) {
        for (const JsonMember& one : substitutes.list()) {
          (void)one.at("name").text();
          number_if_there(one, "frequency");
          number_if_there(one, "correlation");
        }
      });
    }
  });
}

void check_evaluation(const JsonMember& root) {
  const JsonMember data = root.at("data");
  const Index features = check_data(data);
  const std::size_t classes = data.has("classes") ? data.at("classes").texts().size() : 0;
  for (const JsonMember& row : root.at("results").list()) {
    (void)row.at("method").text();
    if_there(row, "k", [](const JsonMember& k) { (void)k.count(); });
    for (const char* name :
         {"error", "stderr", "balanced_error", "balanced_stderr", "apparent_error", "log_loss",
          "log_loss_stderr", "null_error", "lambda", "features", "entries", "stability"})
      number_if_there(row, name);
    if_there(row, "stability_interval",
             [](const JsonMember& ends) { require_size(ends, ends.numbers().size(), 2, "end"); });
  }
  if_there(root, "chosen", [&](const JsonMember& list) {
    for (const JsonMember& choice : list.list()) {
      (void)choice.at("method").text();
      check_choice(choice, features, classes);
    }
  });
  if_there(root, "comparison", [](const JsonMember& list) {
    for (const JsonMember& pair : list.list()) {
      const JsonMember methods = pair.at("methods");
      require_size(methods, methods.texts().size(), 2, "method");
      number_if_there(pair, "difference");
      number_if_there(pair, "stderr");
    }
  });
  if_there(root, "folds", [&](const JsonMember& list) {
    for (const JsonMember& fold : list.list()) {
      (void)fold.at("method").text();
      if_there(fold, "features", [&](const JsonMember& member) { (void)features_of(member, features); });
    }
  });
}

void check_clustering(const JsonMember& root) {
  const Index features = check_data(root.at("data"));
  (void)features_of(root.at("features"), features);
  for (const char* name : {"sizes", "eigenvalues"}) (void)root.at(name).numbers();
  if_there(root, "all_features", [](const JsonMember& all) {
    for (const char* name : {"sizes", "eigenvalues"}) (void)all.at(name).numbers();
  });
  check_weights(root, features);
}

void check_reproduction(const JsonMember& root) {
  (void)root.at("id").text();
  for (const JsonMember& finding : root.at("results").list()) {
    (void)finding.at("name").text();
    text_if_there(finding, "series");
    for (const char* name : {"published", "obtained", "spread"}) number_if_there(finding, name);
  }
  if_there(root, "notes", [](const JsonMember& notes) { (void)notes.texts(); });
}

void check_model(const JsonMember& root) {
  (void)root.at("method").text();
  const std::size_t size = root.at("features").counts().size();
  const JsonMember names = root.at("names");
  require_size(names, names.texts().size(), size, "feature");
  const std::size_t classes = root.at("classes").texts().size();
  if_there(root, "chosen_by", [&](const JsonMember& choice) {
    constexpr Index kAny = Index{1} << 48U;
    check_choice(choice, kAny, classes);
  });
}

constexpr std::pair<std::string_view, void (*)(const JsonMember&)> kPageKinds[] = {
    {"subspectra.selection/1", check_selection},
    {"subspectra.evaluation/1", check_evaluation},
    {"subspectra.clustering/1", check_clustering},
    {"subspectra.reproduction/1", check_reproduction},
    {"subspectra.model/1", check_model}};

/// JSON lines of `events`; nothing where this is something else.
std::optional<json> events_of(const std::string& text, const JsonSource& source) {
  constexpr std::size_t kMostEvents = 1000000;
  const json first = json_or_discarded(std::string_view(text).substr(0, text.find('\n')));
  if (!first.is_object() || !first.contains("event") || first.contains("schema")) return std::nullopt;
  json events = json::array();
  long line = 0;
  for (std::size_t from = 0; from < text.size() && events.size() < kMostEvents;) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view row(text.data() + from, end - from);
    from = end + 1;
    ++line;
    if (row.empty()) continue;
    json event = parsed_json(row, source);
    const JsonMember member(event, source, fmt::format("line {}", line));
    (void)member.at("k").count();
    for (const char* name : {"time_s", "nodes", "open"}) (void)member.at(name).number();
    for (const char* name : {"incumbent", "bound"}) number_if_there(member, name);
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace

void check_page_result(const json& result, const std::string& file) {
  const JsonSource source{file, std::string(kPageWayOut)};
  const JsonMember root(result, source);
  const std::string schema = result.is_object() && result.contains("schema") && result["schema"].is_string()
                                 ? result["schema"].get<std::string>()
                                 : std::string();
  const auto* const kind = std::find_if(std::begin(kPageKinds), std::end(kPageKinds),
                                        [&](const auto& one) { return one.first == schema; });
  if (kind == std::end(kPageKinds)) {
    throw BadInput({.file = file},
                   fmt::format("this JSON is no result that a page can show; {}", kPageWayOut));
  }
  check_values_of(root);
  for (const char* name : {"options", "timing"})
    if_there(root, name, [&](const JsonMember& member) {
      if (!member.value().is_object()) member.fail("must be an object");
    });
  if_there(root, "warnings", [](const JsonMember& warnings) { (void)warnings.texts(); });
  kind->second(root);
}

json parse_page_input(const std::string& text, const std::string& name) {
  const JsonSource source{name, std::string(kPageWayOut)};
  if (auto events = events_of(text, source)) return *std::move(events);
  json result = parsed_json(text, source);
  check_page_result(result, name);
  return result;
}

json read_page_input(const std::string& path) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30U;
  return parse_page_input(
      json_file_text(path, kLargest, fmt::format("is too large for a result; {}", kPageWayOut)), path);
}

}  // namespace subspectra
