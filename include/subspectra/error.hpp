#pragma once
/// Exceptions mean a broken contract or bad input; running out of time or patience is a Status, not an
/// exception. The command line turns each class into one line on stderr and the exit code named beside it.
///
/// A sentence names an option by its field, and whoever shows it spells the field as the reader would write
/// it: `swaps` in C++, `swaps=` in Python, `--swaps` on the command line.
#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <subspectra/export.hpp>

namespace subspectra {

/// How options are written where a text is read.
enum class Spelling {
  kCommandLine,  ///< --time-limit, -k 5
  kPython,       ///< time_limit=, k=5
  kCpp           ///< time_limit, k = 5
};

/// A text of the library, such as a warning, with the options that it marks (⟨time_limit⟩, ⟨ridge auto⟩)
/// spelled.
[[nodiscard]] SUBSPECTRA_EXPORT std::string spelled(std::string_view text,
                                                    Spelling spelling = Spelling::kCpp);

/// 1: something failed while running (disk full, not enough memory).
class SUBSPECTRA_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(const std::string& marked);
  /// The sentence in the words of one language; what() is that of C++.
  [[nodiscard]] std::string text(Spelling spelling) const;
  /// The sentence with its options marked, for another sentence that quotes it (core/spelling.hpp).
  [[nodiscard]] const std::string& marked() const noexcept { return *marked_; }

 private:
  std::shared_ptr<const std::string> marked_;  // shared: an exception is copied without throwing
};

/// 2: an option or argument breaks its rule.
class SUBSPECTRA_EXPORT InvalidArgument : public Error {
 public:
  struct Parts {
    std::string field;         ///< as in its options struct: "time_limit"
    std::string value = {};    ///< what it was, as text
    std::string subject = {};  ///< what the sentence begins with, where that is not the field
    std::string rule;          ///< what it breaks
    std::string way_out = {};  ///< what to do instead, where the rule alone does not say
  };
  /// The sentence is "FIELD RULE; WAY_OUT", or "SUBJECT RULE; WAY_OUT" where there is a subject. `{value}` in
  /// the rule is replaced by the value; a rule that begins with it shows the field as set to the value:
  /// {"signal", "-1", "{value}, but a positive number is needed"} reads "signal = -1, but a positive number
  /// is needed", and the rule kept is "a positive number is needed".
  explicit InvalidArgument(Parts parts);
  /// About no single field, which is then empty: the whole sentence is the rule.
  explicit InvalidArgument(const char* sentence);
  /// A template, since GCC 12 takes {.field = "", .rule = ""} for two iterators of a std::string as well.
  template <std::same_as<std::string> Text>
  explicit InvalidArgument(const Text& sentence) : InvalidArgument(sentence.c_str()) {}

  // Each in the words of C++; text() has the whole sentence in those of any language.
  std::string field;    ///< "" for a sentence about no single one
  std::string value;    ///< what it was, as text
  std::string rule;     ///< what it breaks
  std::string way_out;  ///< what to do instead; "" where the rule says it
};

/// Where in a file something was found. Lines and columns count from 1; 0 means "not known".
/// `place` names a position inside a binary file instead ("array 'X'", "obs/class").
struct SUBSPECTRA_EXPORT Location {
  std::string file;
  long line = 0;
  long column = 0;  ///< the table column (field) for text tables, the character for others
  std::string place = {};
  [[nodiscard]] std::string text() const;  ///< "FILE:LINE:COLUMN", "FILE: array 'X'", "FILE"
};

/// 3: the data break a rule of their format or of the method. The sentence says what is wrong; what to do.
class SUBSPECTRA_EXPORT BadInput : public Error {
 public:
  BadInput(const Location& where, std::string_view what_is_wrong);
  explicit BadInput(const std::string& sentence) : Error(sentence) {}
};

/// 4: no set of features satisfies the constraints.
class SUBSPECTRA_EXPORT Infeasible : public Error {
 public:
  using Error::Error;
};

}  // namespace subspectra
