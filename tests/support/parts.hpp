#pragma once
/// Runs in parts, as users have them: every part by itself, written to a file, read again in another order.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/part.hpp"
#include "io/part_file.hpp"
#include "run_program.hpp"

namespace subspectra::testing {

/// What `run(work)` does for every one of `count` parts, put together.
template <class Run>
std::unique_ptr<PartWork> all_parts(Index count, const Run& run) {
  const ScratchDirectory scratch;
  std::vector<PartFile> files;
  for (Index number = 1; number <= count; ++number) {
    PartWork work(Part{.number = number, .count = count});
    run(&work);
    const PartFile file{.part = {.number = number, .count = count},
                        .run = {.command = "test", .data = "table"},
                        .items = work.take_items()};
    files.push_back(read_part(scratch.write(std::to_string(number), part_text(file))));
  }
  std::rotate(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(files.size() / 2), files.end());
  return std::make_unique<PartWork>(std::move(files));
}

}  // namespace subspectra::testing
