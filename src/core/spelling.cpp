#include "core/spelling.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/text.hpp"

namespace subspectra {
namespace {

constexpr std::string_view kOpening = "⟨";
constexpr std::string_view kClosing = "⟩";

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

/// What stands between the brackets.
struct MarkedOption {
  std::string_view name;
  std::optional<std::string_view> value;
};

std::optional<MarkedOption> read_mark(std::string_view inside) {
  const std::string_view name = inside.substr(0, inside.find(' '));
  if (name.empty() || !is_letter(name.front())) return std::nullopt;
  if (!std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); }))
    return std::nullopt;
  if (name.size() == inside.size()) return MarkedOption{name, std::nullopt};
  return MarkedOption{name, inside.substr(name.size() + 1)};
}

/// Columns that a reader passes over and features that are never chosen are two members in C++ and one option
/// elsewhere.
std::string_view shared_name(std::string_view name) { return name == "ignore" ? "exclude" : name; }

std::string command_line_option(const MarkedOption& option) {
  const bool is_short = option.name.size() == 1 && option.name.front() >= 'a' && option.name.front() <= 'z';
  std::string flag = (is_short ? "-" : "--") + std::string(shared_name(option.name));  // -k, -o; but --C
  std::replace(flag.begin(), flag.end(), '_', '-');
  return option.value ? flag + ' ' + std::string(*option.value) : flag;
}

/// Numbers, and the capitals that stand for what is to be put there (N, FILE, LO:HI, HxW), need no quotes.
bool stands_unquoted(std::string_view value) {
  constexpr std::string_view kOfNumbers = "0123456789.eE+-";
  const bool number = value.find_first_not_of(kOfNumbers) == std::string_view::npos &&
                      std::any_of(value.begin(), value.end(), is_digit);
  constexpr std::string_view kOfPlaceholders = "ABCDEFGHIJKLMNOPQRSTUVWXYZx:_";
  const bool placeholder = !value.empty() && value.front() >= 'A' && value.front() <= 'Z' &&
                           value.find_first_not_of(kOfPlaceholders) == std::string_view::npos;
  return number || placeholder;
}

/// `followed_by_equals`: the text itself goes on with " = VALUE".
std::string python_option(const MarkedOption& option, bool followed_by_equals) {
  constexpr std::array<std::string_view, 5> kKept = {"lambda", "from", "in", "with", "class"};
  std::string name(shared_name(option.name));
  if (std::find(kKept.begin(), kKept.end(), option.name) != kKept.end()) name += '_';
  if (followed_by_equals && !option.value) return name;
  name += '=';
  if (!option.value) return name;
  return stands_unquoted(*option.value) ? name + std::string(*option.value)
                                        : name + '"' + std::string(*option.value) + '"';
}

/// Names with commas between, as C++ writes a list of them.
std::string cpp_list(std::string_view names) {
  std::string text = "{";
  while (true) {
    const auto comma = names.find(',');
    text.append(text.size() > 1 ? ", \"" : "\"").append(names.substr(0, comma)).append("\"");
    if (comma == std::string_view::npos) return text + '}';
    names.remove_prefix(comma + 1);
  }
}

/// {1, 20}, KRange::steps(1, 100, 5), KRange::list({1, 2, 5}), KRange::log().
std::string cpp_sizes(std::string_view value) {
  if (value == "log") return "KRange::log()";
  std::string text;
  for (const char c : value) {
    if (c == ':' || c == ',') {
      text += ", ";
    } else {
      text += c;
    }
  }
  const auto colons = std::count(value.begin(), value.end(), ':');
  if (value.find(',') != std::string_view::npos) return "KRange::list({" + text + "})";
  return colons > 1 ? "KRange::steps(" + text + ')' : colons == 1 ? '{' + text + '}' : text;
}

/// {.fraction = 0.01}, {.value = 2}, Ridge::by_cross_validation(), {}.
std::string cpp_ridge(std::string_view value) {
  constexpr std::string_view kFraction = "rel:";
  if (value == "auto") return "{}";
  if (value == "cv") return "Ridge::by_cross_validation()";
  const bool relative = value.starts_with(kFraction);
  if (relative) value.remove_prefix(kFraction.size());
  return std::string(relative ? "{.fraction = " : "{.value = ").append(value).append("}");
}

/// 0.05, LambdaChoice::Kind::kCv, {LambdaChoice::Kind::kAuto, 0.1}.
std::string cpp_lambda(std::string_view value) {
  constexpr std::string_view kKind = "LambdaChoice::Kind::", kFraction = "auto:";
  if (value.starts_with(kFraction))
    return std::string("{")
        .append(kKind)
        .append("kAuto, ")
        .append(value.substr(kFraction.size()))
        .append("}");
  if (value == "cv-min") return std::string(kKind).append("kCvMin");
  if (value == "path" || value == "cv" || value == "auto")
    return std::string(kKind).append(enumerator(value));
  return std::string(value);
}

/// The enums that options are of.
struct EnumOption {
  std::string_view option, type;
};
constexpr std::array<EnumOption, 12> kEnumOptions = {{{"criterion", "Criterion"},
                                                      {"hyperparameters", "Hyperparameters"},
                                                      {"laplacian_shift", "LaplacianShift"},
                                                      {"missing", "MissingPolicy"},
                                                      {"prior", "Prior"},
                                                      {"rvm_update", "RvmUpdate"},
                                                      {"scale_rows", "RowScaling"},
                                                      {"select_on", "SelectOn"},
                                                      {"start", "StartKind"},
                                                      {"svm_kernel", "SvmKernel"},
                                                      {"threshold", "ThresholdOn"},
                                                      {"transform", "Transform"}}};

/// SvmKernel::kPoly and SvmKernel::kRbf of "poly and rbf".
std::string enumerators_of(std::string_view type, std::string_view words) {
  std::string text;
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    if (!text.empty()) text += ' ';
    text += word == "and" || word == "or" ? std::string(word)
                                          : std::string(type).append("::").append(enumerator(word));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return text;
}

template <std::size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A value of an option whose type is neither text nor number, as C++ writes it.
std::string cpp_object(std::string_view name, std::string_view value) {
  const bool words = !value.empty() && std::all_of(value.begin(), value.end(),
                                                   [](char c) { return (c >= 'a' && c <= 'z') || c == ' '; });
  if (name == "cv" && value == "loo") return "kLeaveOneOut";
  if (name == "k") return cpp_sizes(value);
  if (name == "ridge") return cpp_ridge(value);
  if (name == "lambda") return cpp_lambda(value);
  if (name == "start" && value.starts_with('@'))
    return std::string("Start::from_file(").append(value.substr(1)).append(")");
  for (const EnumOption& one : kEnumOptions) {
    if (words && one.option == name) return enumerators_of(one.type, value);
  }
  return std::string(value);
}

/// ForwardLda{} of forward-lda.
std::string cpp_struct(std::string_view name) {
  std::string text;
  bool capital = true;
  for (const char c : name) {
    if (c != '-') text += capital ? static_cast<char>(c - 'a' + 'A') : c;
    capital = c == '-';
  }
  return text + "{}";
}

/// A value in a sentence, as C++ writes it where that is not the text of the command line.
std::string cpp_value(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 2> kStructs = {"classifier", "method"};
  constexpr std::array<std::string_view, 4> kLists = {"exclude", "ignore", "include", "na"};
  constexpr std::array<std::string_view, 5> kTexts = {"categorical", "device", "format", "id", "target"};
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz-";
  if (is_one_of(name, kStructs) && value.find_first_not_of(kOfNames) == std::string_view::npos)
    return cpp_struct(value);
  if (is_one_of(name, kLists)) return value.starts_with('@') ? "{...}" : cpp_list(value);
  if (is_one_of(name, kTexts) && !stands_unquoted(value)) return std::string("\"").append(value).append("\"");
  return cpp_object(name, value);
}

/// The members are called what they are; the number of folds has the name of other programs on the command
/// line, and how values are prepared is said by members of `prepare`.
std::string_view cpp_member(std::string_view name) {
  if (name == "cv") return "folds";
  if (name == "missing") return "prepare.missing";
  if (name == "standardize") return "prepare.standardize";
  if (name == "transform") return "prepare.transform";
  return name;
}

std::string cpp_option(const MarkedOption& option) {
  std::string text(cpp_member(option.name));
  if (option.value) text.append(" = ").append(cpp_value(option.name, *option.value));
  return text;
}

}  // namespace

std::string spelled(std::string_view text, Spelling spelling) {
  std::string result;
  result.reserve(text.size());
  bool quoted = false;  // between backticks, and
  bool begun = false;   // after the first character there
  while (!text.empty()) {
    if (text.starts_with(kOpening)) {
      const auto end = text.find(kClosing);
      const auto mark = end == std::string_view::npos
                            ? std::nullopt
                            : read_mark(text.substr(kOpening.size(), end - kOpening.size()));
      if (mark) {
        const std::string_view rest = text.substr(end + kClosing.size());
        const Spelling here = quoted && begun ? Spelling::kCommandLine : spelling;
        result += here == Spelling::kCommandLine ? command_line_option(*mark)
                  : here == Spelling::kPython    ? python_option(*mark, rest.starts_with(" = "))
                                                 : cpp_option(*mark);
        begun = true;
        text = rest;
        continue;
      }
    }
    if (text.front() == '`') {
      quoted = !quoted;
      begun = false;
    } else {
      begun = true;
    }
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

std::string enumerator(std::string_view word) {
  std::string name = "k" + std::string(word);
  if (name.size() > 1 && name[1] >= 'a' && name[1] <= 'z') name[1] = static_cast<char>(name[1] - 'a' + 'A');
  return name;
}

std::string spelled_value(std::string_view name, std::string_view value) { return cpp_object(name, value); }

std::vector<std::string> spelled(std::vector<std::string> texts, Spelling spelling) {
  for (std::string& text : texts) text = spelled(text, spelling);
  return texts;
}

std::string marked_option(std::string_view name) {
  return std::string(kOpening).append(name).append(kClosing);
}

std::string marked_option(std::string_view name, std::string_view value) {
  return std::string(kOpening).append(name).append(" ").append(value).append(kClosing);
}

}  // namespace subspectra
