/// Reads the embedded Sonar data, computes its moments and prints the feature with the largest Fisher ratio.
#include <subspectra/core/build_info.hpp>
#include <subspectra/core/error.hpp>
#include <subspectra/data/moments.hpp>
#include <subspectra/data/read.hpp>

#include <iostream>

int main() {
  try {
    const auto data = subspectra::read_dataset("sonar");
    const auto moments = subspectra::compute_moments(data, subspectra::Moments::SecondOrder::kFull);
    const subspectra::Vector ratio = moments.between_variances().cwiseQuotient(moments.within_variances());
    subspectra::Index best = 0;
    ratio.maxCoeff(&best);
    std::cout << "subspectra " << subspectra::version() << ": " << data.rows() << " x " << data.features()
              << ", " << moments.classes() << " classes, best single feature " << data.names[best] << "\n"
              << subspectra::build_info();
    return moments.within_covariance().allFinite() ? 0 : 1;
  } catch (const subspectra::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
