#pragma once
/// Every sentence of the library that names an option marks it, ⟨time_limit⟩ or, with a value, ⟨ridge auto⟩,
/// and the border (command line, Python, C++) spells the marks as its users write options. So nothing in the
/// library knows of flags.
///
/// A command inside backticks is of the command line whoever reads it: a mark there that does not begin the
/// quoted text, as in `subspectra select ⟨o⟩`, is spelled as the command line does in every language.
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/error.hpp>

namespace subspectra {

/// spelled() is declared in the public header: ⟨some_name⟩ becomes `--some-name`, `some_name=` or
/// `some_name`; ⟨ridge auto⟩ becomes `--ridge auto`, `ridge="auto"` or `ridge = {}`. A name of one small
/// letter is `-k` on the command line; a name that Python keeps for itself has `_` behind it, and the two
/// options whose C++ members have another name (cv: folds, C: cost) have that one. Brackets around something
/// else are left alone.
[[nodiscard]] std::vector<std::string> spelled(std::vector<std::string> texts, Spelling spelling);

/// kLargest of "largest": the enumerators of options are called as their words are.
[[nodiscard]] std::string enumerator(std::string_view word);

/// The value of an option by itself, as C++ writes it: {1, 20} of k 1:20, Criterion::kTrace.
[[nodiscard]] std::string spelled_value(std::string_view name, std::string_view value);

/// ⟨name⟩, or ⟨name value⟩: what `spelled` reads.
[[nodiscard]] std::string marked_option(std::string_view name);
[[nodiscard]] std::string marked_option(std::string_view name, std::string_view value);

}  // namespace subspectra
