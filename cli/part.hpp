#pragma once
/// --part: a command that runs one part of its work, and `merge`, which runs it from what all parts have
/// found.
#include <memory>
#include <string>
#include <vector>

#include "io/part_file.hpp"
#include "job.hpp"

namespace subspectra::cli {

struct PartOptions {
  Part part;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "part", o.part,
        "run the I-th of N parts alone and write it to the file of ⟨o⟩; `subspectra merge` puts all of them together");
  }
};

/// How a command is run this time.
class RunInParts {
 public:
  /// `merged`: all parts, or null. Refuses what a part cannot have beside it.
  RunInParts(std::string command, const Arguments& arguments, PartWork* merged);

  /// Null: as a whole.
  [[nodiscard]] PartWork* work() { return merged_ != nullptr ? merged_ : own_.get(); }
  [[nodiscard]] bool one_part() const { return own_ != nullptr; }
  /// After the table was read: what the part belongs to. When parts are put together: refuses another table
  /// than they were made of.
  void begin(const Job& job, const Dataset& data);
  /// Writes what was found, or says that it is not whole. Returns the exit code.
  int finish(bool complete, const Job& job, const Signals& signals);

 private:
  Part part_;
  PartRun run_;
  std::unique_ptr<PartWork> own_;
  PartWork* merged_ = nullptr;
};

/// A part may be anybody's: refuses options that the command has not or that write files, and names of
/// devices and pipes, which may never end. `with_data`: the table is read from where the part says.
void require_harmless(const PartWork& work, bool with_data);

/// The commands that can be cut into parts; `merged`: all parts of one, or null.
int run_evaluate(const Arguments& arguments, Signals& signals, PartWork* merged);
int run_select(const Arguments& arguments, Signals& signals, PartWork* merged);

}  // namespace subspectra::cli
