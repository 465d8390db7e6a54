#pragma once
/// A run in parts: what one part has found, as a file (schema subspectra.part/1), and all of them put
/// together. docs/scale.md
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/part.hpp"
#include "io/json_member.hpp"

namespace subspectra {

/// What the parts of one run have in common.
struct PartRun {
  std::string command;  ///< "evaluate"
  std::string data;     ///< the table as it was named
  OptionTexts options;  ///< as given, without those that no answer depends on
  std::string table;    ///< hash of what was read (data/digest.hpp)
  std::string files;    ///< hash of the files whose contents are options (@FILE)
};

struct PartFile {
  std::string path;
  Part part;
  PartRun run;
  nlohmann::json items = nlohmann::json::object();  ///< what was found, by key
};

/// As it is written: on one line, with a checksum.
[[nodiscard]] std::string part_text(const PartFile& file);
/// Throws BadInput for what is no part, damaged, or of another version of the program.
[[nodiscard]] PartFile read_part(const std::string& path, std::uint64_t memory_limit = 0);
/// The same of a text; `name` stands for its file in what is refused.
[[nodiscard]] PartFile parse_part(const std::string& text, const std::string& name);

/// The work of a run in parts: dealt out to the one that runs, or all of it found in files.
class PartWork {
 public:
  /// The run of this part alone.
  explicit PartWork(const Part& part) : part_(part) {}
  /// All parts of a run, in any order. Throws BadInput where one is missing, doubled or of another run, and
  /// names it.
  explicit PartWork(std::vector<PartFile> files);
  PartWork(const PartWork&) = delete;
  PartWork& operator=(const PartWork&) = delete;

  [[nodiscard]] bool merging() const { return !files_.empty(); }
  [[nodiscard]] Index count() const { return part_.count; }
  [[nodiscard]] const Part& part() const { return part_; }
  /// Pre: merging(). Of the first part.
  [[nodiscard]] const PartRun& run() const { return files_.front().run; }
  [[nodiscard]] const std::string& first_path() const { return files_.front().path; }

  /// Whether the work that goes to part `owner` (counted from 0) is to be done here.
  [[nodiscard]] bool mine(Index owner) const { return !merging() && owner == part_.number - 1; }
  /// What was found under this key. From any thread.
  void keep(const std::string& key, nlohmann::json item);
  /// Everything that was kept.
  [[nodiscard]] nlohmann::json take_items() { return std::move(kept_); }
  /// What part `owner` found under this key. Throws BadInput that names its file where there is nothing.
  [[nodiscard]] JsonMember found(const std::string& key, Index owner) const;

 private:
  Part part_;
  std::vector<PartFile> files_;  ///< by number
  std::vector<JsonSource> sources_;
  std::mutex mutex_;
  nlohmann::json kept_ = nlohmann::json::object();
};

}  // namespace subspectra
