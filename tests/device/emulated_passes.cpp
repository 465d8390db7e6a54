/// The plug-in's passes for a card that is emulated: its own source, and products of matrices by loops.
#include "passes.cu"  // NOLINT(bugprone-suspicious-include)

namespace gpu {

void rank_k(const SubspectraDevice& /*device*/, std::int64_t n, std::int64_t k, double times,
            const double* factor, std::int64_t factor_lead, double before, double* out, std::int64_t lead) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t l = j; l < n; ++l) {
      double sum = 0.0;
      for (std::int64_t x = 0; x < k; ++x) sum += factor[j * factor_lead + x] * factor[l * factor_lead + x];
      double& entry = out[j * lead + l];
      entry = times * sum + (before == 0.0 ? 0.0 : before * entry);
    }
}

}  // namespace gpu
