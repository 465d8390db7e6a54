#pragma once
/// Exceptions mean a broken contract or bad input; running out of time or patience is a Status, not an
/// exception. The command line turns each class into one line on stderr and the exit code named beside it.
#include <stdexcept>
#include <string>
#include <string_view>

namespace subspectra {

/// 1: something failed while running (disk full, not enough memory).
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// 2: an option or argument breaks its rule.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// Where in a file something was found. Lines and columns count from 1; 0 means "not known".
/// `place` names a position inside a binary file instead ("array 'X'", "obs/class").
struct Location {
  std::string file;
  long line = 0;
  long column = 0;  ///< the table column (field) for text tables, the character for others
  std::string place = {};
  [[nodiscard]] std::string text() const;  ///< "FILE:LINE:COLUMN", "FILE: array 'X'", "FILE"
};

/// 3: the data break a rule of their format or of the method. The sentence says what is wrong; what to do.
class BadInput : public Error {
 public:
  BadInput(const Location& where, std::string_view what_is_wrong);
  explicit BadInput(const std::string& sentence) : Error(sentence) {}
};

/// 4: no set of features satisfies the constraints.
class Infeasible : public Error {
 public:
  using Error::Error;
};

}  // namespace subspectra
