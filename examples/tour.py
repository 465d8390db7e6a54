"""Makes a program of the examples in docs/cpp.md: tour.py docs/cpp.md OUTPUT.cpp. Every ```cpp block becomes a function, and
main calls them in order; the block marked `prelude` stands at the top."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^```cpp( prelude)?\n(.*?)^```$", text, re.S | re.M)
prelude = "".join(body for mark, body in blocks if mark)
bodies = [body for mark, body in blocks if not mark]
functions = "".join(f"void example_{i}() {{\n{body}}}\n\n" for i, body in enumerate(bodies))
calls = "".join(f"  example_{i}();\n" for i in range(len(bodies)))
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write(f"""// Made by examples/tour.py from docs/cpp.md.
#include <fmt/format.h>

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cmath>
#include <random>
#include <stop_token>
#include <string>
#include <vector>
{prelude}
namespace {{

Eigen::MatrixXd random_rows(unsigned seed, Eigen::Index rows) {{
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd x(rows, 30);
  for (double& value : x.reshaped()) value = normal(generator);
  for (Eigen::Index i = 1; i < rows; i += 2)
    for (const Eigen::Index j : {{3, 11, 20}}) x(i, j) += 1.2;
  return x;
}}

const Eigen::MatrixXd X = random_rows(1, 120), X_new = random_rows(2, 10);
const std::vector<int> y = [] {{
  std::vector<int> labels(120);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i % 2);
  return labels;
}}();

{functions}}}  // namespace

int main() {{
{calls}}}
""")
