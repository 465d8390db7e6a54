#include "scoring/lambda_path.hpp"

#include <algorithm>

namespace subspectra {

std::vector<ScoringFit> fit_lambda_path(ScoringSolver& solver, const std::vector<double>& lambdas,
                                        Index most_features, const RunControl& control) {
  std::vector<double> order = lambdas;
  if (solver.rising()) std::reverse(order.begin(), order.end());
  std::vector<ScoringFit> fits;
  int too_many = 0;
  for (const double lambda : order) {
    if (control.should_stop()) break;
    fits.push_back(solver.fit(lambda, control));
    const auto features = static_cast<Index>(fits.back().b.rows.size());
    if (solver.rising()) {
      if (features == 0) break;  // and none comes back
      continue;
    }
    too_many = features > most_features ? too_many + 1 : 0;
    if (too_many == 2) break;
  }
  if (solver.rising()) std::reverse(fits.begin(), fits.end());
  return fits;
}

}  // namespace subspectra
