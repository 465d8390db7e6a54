#include "command.hpp"

#include "core/spelling.hpp"

namespace subspectra::cli {

std::string option_flag(std::string_view name) { return in_flags(marked_option(name)); }

std::string in_flags(std::string_view text) { return spelled(text, Spelling::kCommandLine); }

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {select_command(),   fit_command(),       predict_command(),
                                           evaluate_command(), cluster_command(),   verify_command(),
                                           synth_command(),    reproduce_command(), report_command(),
                                           merge_command(),    methods_command(),   datasets_command()};
  return all;
}

}  // namespace subspectra::cli
