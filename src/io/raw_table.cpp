#include "io/raw_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/spelling.hpp"
#include "core/text.hpp"
#include "data/leaks.hpp"
#include "data/name_patterns.hpp"
#include "data/symmetric.hpp"
#include "io/assembly.hpp"
#include "io/orientation.hpp"
#include "io/planned_features.hpp"
#include "io/sample_labels.hpp"
#include "io/target_choice.hpp"
#include "io/text_columns.hpp"
#include "io/text_kinds.hpp"
#include "io/text_scan.hpp"

namespace subspectra {
namespace {

/// Result files and models are JSON, which is UTF-8: names and labels must be so from the start, or a model
/// would not find its columns again.
void make_texts_utf8(Assembly& assembly) {
  std::size_t converted = 0;
  const auto convert = [&](std::string& text) {
    if (is_utf8(text)) return;
    assembly.memory.grow(3 * MemoryBudget::on_heap(2 * text.size()),
                         assembly.purpose);  // two bytes for one, in a text that doubles
    converted += make_utf8(text) ? 1 : 0;
  };
  const auto list = assembly.table.names.list();
  if (!std::all_of(list.begin(), list.end(), [](const std::string& name) { return is_utf8(name); })) {
    for (const std::string& name : list)
      assembly.memory.grow(sizeof(std::string) + MemoryBudget::on_heap(name.size()), assembly.purpose);
    std::vector<std::string> names = assembly.table.names.all();
    for (std::string& name : names) convert(name);
    assembly.table.names = FeatureNames(std::move(names));
  }
  for (SideColumn& side : assembly.table.side) {
    convert(side.name);
    for (std::string& value : side.values) convert(value);
  }
  if (converted > 0) {
    assembly.data.warnings.push_back(
        converted == 1 ? std::string("1 name or label is not UTF-8 and was read as Latin-1")
                       : fmt::format("{} names or labels are not UTF-8 and were read as Latin-1", converted));
  }
}

/// Texts and numbers of `na`, where the reader has not seen to them itself.
void apply_na(Assembly& assembly) {
  if (assembly.options.na.empty() || assembly.table.na_is_done) return;
  std::vector<double> numbers;
  for (const std::string& token : assembly.options.na) {
    double value = 0.0;
    if (parse_number(token, value)) numbers.push_back(value);
  }
  const auto replace = [&](double& value, Index row, Index column) {
    if (std::find(numbers.begin(), numbers.end(), value) == numbers.end()) return;
    value = std::nan("");
    if (!assembly.table.first_missing)
      assembly.table.first_missing = assembly.row_place("column", assembly.table.names[column], row);
  };
  if (assembly.table.columns && !numbers.empty()) {
    assembly.table.columns = assembly.table.columns->with_each_value([numbers](Index, double value) {
      const bool missing = std::find(numbers.begin(), numbers.end(), value) != numbers.end();
      return missing ? std::nan("") : value;
    });
  }
  for (Index j = 0; j < assembly.table.names.size() && !numbers.empty() && !assembly.table.columns; ++j) {
    if (assembly.table.is_sparse) {
      for (SparseMatrix::InnerIterator it(assembly.table.sparse, j); it; ++it)
        replace(it.valueRef(), it.row(), j);
    } else {
      for (Index i = 0; i < assembly.table.dense.rows(); ++i) replace(assembly.table.dense(i, j), i, j);
    }
  }
  for (SideColumn& side : assembly.table.side) {
    for (std::string& value : side.values) {
      if (std::find(assembly.options.na.begin(), assembly.options.na.end(), value) !=
          assembly.options.na.end())
        value.clear();
    }
  }
}

void take_names(Assembly& assembly) {
  if (assembly.options.names.empty()) return;
  if (assembly.table.names.given())
    throw BadInput(
        {.file = assembly.table.source},
        "the table names its features itself, and ⟨names⟩ is for one that does not; leave ⟨names⟩ out");
  assembly.table.names = FeatureNames(read_feature_names(
      assembly.options.names, static_cast<std::size_t>(assembly.table.names.size()), assembly.memory));
}

/// Text columns that name the rows: what the format or the user says, and those with a value of its own in
/// every row. Of two rows that says nothing, except where the column has not even a name.
void find_ids(Assembly& assembly) {
  constexpr std::size_t kFewRows = 3;
  if (assembly.asks_for_id()) {
    const FoundColumn found = assembly.named(assembly.options.id, "id");
    if (found.side >= 0) assembly.ids.push_back(static_cast<std::size_t>(found.side));
  }
  std::vector<std::size_t> rest;
  for (const bool beside : {false, true}) {
    for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
      const SideColumn& side = assembly.table.side[s];
      if (side.may_be_ignored != beside || assembly.is_used(s) || assembly.is_id_column(s)) continue;
      if (side.is_id) {
        assembly.ids.push_back(s);
        continue;
      }
      const bool has_another_use =
          side.is_label || side.is_numeric || side.describes_sample || assembly.is_ignored(side.name) ||
          side.name == assembly.options.target ||
          (assembly.options.target.empty() && equal_ignoring_case(side.name, "class")) ||
          side.name == assembly.options.weights || side.name == assembly.options.cv_groups ||
          assembly.is_named_category(side.name);
      if (has_another_use || assembly.knows_needs || (side.values.size() < kFewRows && !side.has_no_name))
        continue;
      if (side.values.empty() || !decimal_comma_hint(side.values.front()).empty()) continue;  // numbers
      if (all_differ(side.values, assembly.memory, assembly.purpose) && !are_dates(side.values))
        rest.push_back(s);
    }
  }
  if (assembly.label_file) {  // the ids of that file come first
    std::stable_sort(rest.begin(), rest.end(), [&](std::size_t a, std::size_t b) {
      return match_ids(*assembly.label_file, assembly.table.side[a].values).found >
             match_ids(*assembly.label_file, assembly.table.side[b].values).found;
    });
  }
  assembly.ids.insert(assembly.ids.end(), rest.begin(), rest.end());
}

void set_ids(Assembly& assembly) {
  find_ids(assembly);
  if (assembly.ids.empty()) {
    if (!assembly.asks_for_id()) return;
    std::vector<std::string> made;  // a column of numbers
    static_cast<void>(assembly.texts_of(assembly.named(assembly.options.id, "id"), made));
    assembly.data.id_name = assembly.options.id;
    assembly.data.row_ids = std::make_shared<const std::vector<std::string>>(std::move(made));
  } else {
    SideColumn& side = assembly.table.side[assembly.ids.front()];
    assembly.used_side.insert(assembly.used_side.end(), assembly.ids.begin(), assembly.ids.end());
    assembly.data.id_name = side.name;
    assembly.data.row_ids = std::make_shared<const std::vector<std::string>>(std::move(side.values));
  }
  std::vector<std::string> names = {assembly.data.id_name};
  for (std::size_t k = 1; k < assembly.ids.size(); ++k) {
    const SideColumn& side = assembly.table.side[assembly.ids[k]];
    if (!side.may_be_ignored) names.push_back(side.name);
  }
  assembly.data.understood.push_back(fmt::format("ids in {}", listed(names)));
  assembly.data.notes.push_back(fmt::format("{} {} the rows: no feature and no label", listed(names),
                                            names.size() == 1 ? "names" : "name"));
  for (std::size_t s : assembly.ids) assembly.data.left_out.push_back(assembly.table.side[s].name);
}

void note_first_unlabelled(Assembly& assembly, const FoundColumn& found) {
  if (found.side >= 0) {
    assembly.data.first_unlabelled = assembly.table.side[static_cast<std::size_t>(found.side)].first_missing;
  }
  if (assembly.data.first_unlabelled) return;
  const auto& codes = assembly.data.labels->codes;
  const auto first = std::find(codes.begin(), codes.end(), Labels::kMissing) - codes.begin();
  assembly.data.first_unlabelled = assembly.row_place("label column", assembly.data.labels->name, first);
}

void set_labels(Assembly& assembly, const FoundColumn& found) {
  const std::string name = assembly.name_of(found);
  std::vector<std::string> made;
  assembly.data.labels = Labels::from_texts(name, assembly.texts_of(found, made), [&](std::size_t bytes) {
    assembly.memory.grow(bytes, assembly.purpose);
  });
  if (assembly.data.labels->classes.empty()) {
    throw BadInput(
        {.file = assembly.table.source},
        fmt::format(
            "the label column {} holds no label at all; name another one with ⟨target⟩, or '⟨target none⟩'",
            shown(name)));
  }
  const auto missing =
      std::count(assembly.data.labels->codes.begin(), assembly.data.labels->codes.end(), Labels::kMissing);
  assembly.data.notes.push_back(fmt::format(
      "labels: column '{}', {} class{}{}", name, assembly.data.labels->class_count(),
      assembly.data.labels->class_count() == 1 ? "" : "es",
      missing > 0 ? fmt::format(", {} without a label", counted(missing, "row")) : std::string()));
  if (missing > 0) note_first_unlabelled(assembly, found);
}

/// The column of `labels` for these rows.
void set_given_labels(Assembly& assembly) {
  const LabelsOption option = parse_labels_option(assembly.options.labels);
  SideColumn labels;
  if (assembly.data.row_ids == nullptr || assembly.label_file->in_order) {
    const auto rows = static_cast<std::size_t>(assembly.table.rows());
    const auto numbers = assembly.label_file->in_order
                             ? std::nullopt
                             : numbers_as_ids(*assembly.label_file, assembly.table.dense, rows);
    std::vector<std::string> said;
    if (numbers) {
      labels = labels_of(std::move(*assembly.label_file), option,
                         match_ids(*assembly.label_file, numbers->ids), numbers->ids, said);
      std::string by = fmt::format("the number of the row, from {}", numbers->ids.front());
      if (numbers->feature >= 0) {
        const bool nameless = std::binary_search(assembly.table.nameless.begin(),
                                                 assembly.table.nameless.end(), numbers->feature);
        by = nameless ? "the numbers in the column without a name"
                      : fmt::format("the numbers in {}", shown(assembly.table.names[numbers->feature]));
        assembly.used_features.push_back(numbers->feature);
      }
      assembly.data.understood.push_back(fmt::format("labels from {} by {}", option.file, by));
    } else {
      labels = labels_in_order(std::move(*assembly.label_file), option, rows, said);
      assembly.data.understood.push_back(fmt::format("labels from {} in the order of the rows", option.file));
    }
    for (std::string& one : said) assembly.data.warnings.push_back(std::move(one));
  } else {
    const IdMatch match = match_ids(*assembly.label_file, *assembly.data.row_ids);
    if (match.found == 0) {
      const std::vector<std::string>& ids = *assembly.data.row_ids;
      const auto& firsts = assembly.label_file->columns.front();
      throw BadInput(
          {.file = option.file},
          fmt::format(
              "none of the sample ids of {} stands here: they are {} there, and the first column here holds {}; give a file with the ids of the table, or name the column of ids in the table with ⟨id⟩",
              assembly.table.source, join_some(ids, 3), join_some(firsts, 3)));
    }
    std::vector<std::string> said;
    labels = labels_of(std::move(*assembly.label_file), option, match, *assembly.data.row_ids, said);
    for (std::string& one : said) assembly.data.warnings.push_back(std::move(one));
    assembly.data.understood.push_back(fmt::format("labels from {} for {} of {}", option.file, match.found,
                                                   counted(assembly.data.row_ids->size(), "id")));
  }
  for (SideColumn& side : assembly.table.side) {  // the table's own label is no feature
    if (!equal_ignoring_case(side.name, "class") && !side.is_label) continue;
    side.may_be_ignored = true;
    side.is_label = false;
    assembly.data.notes.push_back(
        fmt::format("column {} is left out: ⟨labels⟩ takes its place", shown(side.name)));
  }
  assembly.table.side.push_back(std::move(labels));
  set_labels(assembly, {.side = static_cast<std::ptrdiff_t>(assembly.table.side.size()) - 1, .feature = -1});
}

void set_weights(Assembly& assembly) {
  if (assembly.options.weights.empty()) return;
  assembly.data.weights = assembly.numbers_of(assembly.named(assembly.options.weights, "weights"));
  for (Index i = 0; i < assembly.data.weights.size(); ++i) {
    if (is_weight(assembly.data.weights[i])) continue;
    throw BadInput(assembly.row_place("weight column", assembly.options.weights, i),
                   no_weight_sentence(number_or_nothing(assembly.data.weights[i]), assembly.options.weights));
  }
  if (assembly.data.weights.size() > 0 && assembly.data.weights.maxCoeff() == 0.0) {
    throw BadInput({.file = assembly.table.source},
                   fmt::format("weight column {}: every weight is 0; give some row a positive one",
                               shown(assembly.options.weights)));
  }
}

void set_groups(Assembly& assembly) {
  if (assembly.options.cv_groups.empty()) return;
  const std::vector<std::string>& texts =
      assembly.texts_of(assembly.named(assembly.options.cv_groups, "cv_groups"), assembly.data.row_groups);
  if (&texts != &assembly.data.row_groups) {
    assembly.memory.make_room(assembly.data.row_groups, texts.size(), assembly.purpose);
    for (const std::string& text : texts)
      assembly.memory.append(assembly.data.row_groups, text, assembly.purpose);
  }
  const auto empty =
      std::find(assembly.data.row_groups.begin(), assembly.data.row_groups.end(), std::string());
  if (empty != assembly.data.row_groups.end()) {
    const FoundColumn found = assembly.named(assembly.options.cv_groups, "cv_groups");
    std::optional<Location> where;
    if (found.side >= 0) where = assembly.table.side[static_cast<std::size_t>(found.side)].first_missing;
    if (!where)
      where = assembly.row_place("group column", assembly.options.cv_groups,
                                 empty - assembly.data.row_groups.begin());
    throw BadInput(*where, fmt::format("no group in column {}; every row needs one for ⟨cv_groups⟩",
                                       shown(assembly.options.cv_groups)));
  }
}

/// A name in `ignore` that no column has is the likelier mistake where text is about to be refused.
void refuse_unknown_ignored(const Assembly& assembly) {
  for (const std::string& name : assembly.options.ignore) {
    if (assembly.has_column(name) || (is_name_pattern(name) && !assembly.is_ignored(name)))
      continue;  // that fits something
    std::vector<std::string> side_names;
    for (const SideColumn& side : assembly.table.side) side_names.push_back(side.name);
    std::vector<std::string> near = near_names(name, side_names);
    for (std::string& other : assembly.table.names.near(name)) near.push_back(std::move(other));
    throw BadInput({.file = assembly.table.source},
                   fmt::format("{} names '{}', but no column has that name{}; names are matched exactly",
                               marked_option("ignore"), name,
                               near.empty() ? "" : fmt::format(" (did you mean {}?)", join_some(near))));
  }
}

void refuse_text_columns(const Assembly& assembly) {
  std::vector<std::string> names;
  const SideColumn* first = nullptr;
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    const SideColumn& side = assembly.table.side[s];
    if (side.is_label || side.may_be_ignored || assembly.is_used(s) || assembly.may_hold_text(side.name))
      continue;
    if (first == nullptr) first = &side;
    names.push_back(side.name);
  }
  if (first == nullptr) return;
  refuse_unknown_ignored(assembly);
  const auto value =
      std::find_if(first->values.begin(), first->values.end(), [](const auto& v) { return !v.empty(); });
  const std::string example = value == first->values.end() ? std::string() : *value;
  Location where = first->first;
  if (where.file.empty()) where.file = assembly.table.source;
  if (assembly.knows_needs) throw BadInput(where, needed_number_sentence(example, first->name));
  if (are_dates(first->values) && !assembly.is_named_category(first->name)) {
    throw BadInput(
        where,
        fmt::format(
            "column {} holds dates ({}), which are no features as they stand; leave it out with ⟨ignore {}⟩, or write numbers, such as days since the first",
            shown(first->name), shown(example), first->name));
  }
  const std::string all_names = fmt::format("{}", fmt::join(names, ","));
  throw BadInput(
      where,
      fmt::format(
          "{} and {} not the label column; leave {} out with ⟨ignore {}⟩, make {} of {} with ⟨categorical {}⟩, or write numbers{}",
          names.size() == 1 ? fmt::format("column {} holds text, such as {},", listed(names), shown(example))
                            : fmt::format("columns {} hold text", listed(names)),
          names.size() == 1 ? "is" : "are", names.size() == 1 ? "it" : "them",
          names.size() <= kMostListed ? all_names : std::string("@FILE"),
          names.size() == 1 ? "a category" : "categories", names.size() == 1 ? "it" : "them",
          names.size() <= kMostListed ? all_names : std::string("NAMES"), decimal_comma_hint(example)));
}

/// As many rows as columns and symmetric: no table of samples.
void refuse_covariance(Assembly& assembly) {
  if (assembly.data.is_sparse || assembly.data.labels ||
      assembly.data.dense.rows() != assembly.data.dense.cols() || assembly.data.dense.rows() < 3)
    return;
  if (!assembly.data.dense.allFinite()) return;
  const double tolerance = kSymmetryTolerance * assembly.data.dense.cwiseAbs().maxCoeff();
  for (Index j = 0; j < assembly.data.dense.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      if (std::abs(assembly.data.dense(i, j) - assembly.data.dense(j, i)) > tolerance) return;
    }
  }
  const std::string sentence = fmt::format(
      "the {} rows and columns form a symmetric matrix, as of covariances or correlations, not of samples; give it as ⟨covariance {}⟩ in place of a table",
      assembly.data.dense.rows(), assembly.data.source);
  if (assembly.options.target != "none")
    throw BadInput({.file = assembly.data.source},
                   fmt::format("{}, or say ⟨target none⟩ if its rows are samples", sentence));
  assembly.data.warnings.push_back(sentence);
}

void run_assembly(Assembly& assembly) {
  assembly.data.notes = std::move(assembly.table.notes);
  make_texts_utf8(assembly);
  assembly.spell_out_ignored();
  apply_na(assembly);
  assembly.named_categories = names_in_list(assembly.options.categorical);
  if (assembly.options.transpose && !assembly.table.samples_in_rows) transpose_table(assembly);
  if (assembly.options.transpose) {
    assembly.was_turned = true;
    assembly.data.understood.emplace_back("transposed");
  }
  turn_for_needs(assembly);
  read_labels(assembly);
  take_names(assembly);
  assembly.spell_out_ignored();  // of the columns that there are now
  assembly.knows_needs = std::any_of(assembly.options.needed.begin(), assembly.options.needed.end(),
                                     [&](const std::string& name) { return assembly.has_column(name); });
  set_weights(assembly);
  set_groups(assembly);
  set_ids(assembly);
  FoundColumn target;
  if (assembly.label_file) {
    set_given_labels(assembly);
  } else if (assembly.options.target.empty()) {
    target = default_target(assembly);
  } else if (assembly.options.target != "none" &&
             !(assembly.options.target_optional && !assembly.has_column(assembly.options.target))) {
    target = assembly.named(assembly.options.target, "target");
  }
  if (target.any()) {
    set_labels(assembly, target);
  } else if (!assembly.label_file) {
    assembly.data.notes.emplace_back("labels: none");
    if (assembly.options.target.empty()) explain_no_target(assembly);
  }
  if (!assembly.options.derived.empty()) plan_derived(assembly);
  plan_categories(assembly);
  refuse_text_columns(assembly);
  assembly.drop_index_columns();
  assembly.drop_used_features();
  std::vector<std::string> not_needed;
  for (std::size_t s = 0; s < assembly.table.side.size(); ++s) {
    const SideColumn& side = assembly.table.side[s];
    if (assembly.is_ignored(side.name)) {
      assembly.data.left_out.push_back(side.name);
    } else if (assembly.knows_needs && !assembly.is_used(s) && !side.may_be_ignored && !side.is_label) {
      not_needed.push_back(side.name);
    }
  }
  if (!not_needed.empty()) {
    assembly.data.notes.push_back(
        fmt::format("text in columns that are not needed is left alone: {}", listed(not_needed)));
  }

  assembly.data.source = std::move(assembly.table.source);
  assembly.data.is_sparse = assembly.table.is_sparse;
  assembly.data.dense = std::move(assembly.table.dense);
  assembly.data.sparse.swap(assembly.table.sparse);
  assembly.data.columns = std::move(assembly.table.columns);
  assembly.data.gaps_are_means = assembly.table.gaps_are_means;
  assembly.data.names = std::move(assembly.table.names);
  assembly.data.first_missing = std::move(assembly.table.first_missing);
  assembly.data.first_infinite = std::move(assembly.table.first_infinite);
  add_planned(assembly);
  if (assembly.data.features() == 0) {
    throw BadInput(
        {.file = assembly.data.source},
        "there is no column of numbers to choose features from; a table has samples in rows and features in columns");
  }
  if (assembly.data.rows() == 0)
    throw BadInput({.file = assembly.data.source}, "there are no rows; add at least one");
  if (!assembly.knows_needs) {
    refuse_covariance(assembly);
    for (std::string& warning : leak_warnings(assembly.data, assembly.ignored))
      assembly.data.warnings.push_back(std::move(warning));
  }
  HeldMemory hashes(assembly.memory);
  hashes.grow(assembly.data.names.list().size() * 2 * sizeof(std::size_t), assembly.purpose);
  const std::vector<std::string> repeated = duplicate_name_reports(assembly.data.names);
  if (!repeated.empty()) {
    std::string text = fmt::format("{} feature name{} stand{} for several columns: ", repeated.size(),
                                   repeated.size() == 1 ? "" : "s", repeated.size() == 1 ? "s" : "");
    for (std::size_t i = 0; i < std::min(repeated.size(), kMostListed); ++i)
      text += (i > 0 ? "; " : "") + repeated[i];
    if (repeated.size() > kMostListed) text += fmt::format("; and {} more", repeated.size() - kMostListed);
    assembly.data.warnings.push_back(std::move(text));
  }
}

}  // namespace

Dataset assemble(RawTable&& table, const ReadOptions& options) {
  DatasetParts data;
  Assembly assembly(table, options, data);
  run_assembly(assembly);
  return data;
}

bool is_weight(double value) { return value >= 0.0 && std::isfinite(value); }

std::string no_weight_sentence(std::string_view text, std::string_view column) {
  return fmt::format(
      "{} is no weight (column {}, ⟨weights⟩); a weight is a number from 0 up: correct it, or write 0 to leave the row out",
      text.empty() ? "a missing value" : shown(text), shown(column));
}

std::string needed_number_sentence(std::string_view text, std::string_view column) {
  return fmt::format(
      "{} is not a number in column {}, which the model uses; correct it, or write NA for a missing value{}",
      shown(text), shown(column), decimal_comma_hint(text));
}

}  // namespace subspectra
