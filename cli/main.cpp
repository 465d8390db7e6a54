#include <algorithm>

#include "program.hpp"

int main(int argc, char** argv) {
  return subspectra::cli::run_program({argv + std::min(argc, 1), argv + argc});
}
