#include "command.hpp"

namespace subspectra::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      select_command(), fit_command(),   predict_command(),   evaluate_command(), cluster_command(),
      verify_command(), synth_command(), reproduce_command(), methods_command(),  datasets_command()};
  return all;
}

}  // namespace subspectra::cli
