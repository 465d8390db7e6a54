#include "io/read.hpp"

namespace subspectra {
namespace embedded {
// Defined in the file that cmake/EmbedData.cmake makes from data/.
extern const unsigned char sonar[];
extern const std::size_t sonar_size;
extern const unsigned char ionosphere[];
extern const std::size_t ionosphere_size;
}  // namespace embedded

const std::vector<EmbeddedDataset>& embedded_datasets() {
  static const auto text = [](const unsigned char* bytes, std::size_t size) {
    return std::string_view(reinterpret_cast<const char*>(bytes), size);
  };
  static const std::vector<EmbeddedDataset> all = {
      {.name = "sonar",
       .summary = "208 sonar echoes x 60 bands, mine (M) or rock (R); Gorman & Sejnowski 1988, UCI",
       .csv = text(embedded::sonar, embedded::sonar_size)},
      {.name = "ionosphere",
       .summary = "351 radar returns x 34 attributes, good or bad; Sigillito et al. 1989, UCI",
       .csv = text(embedded::ionosphere, embedded::ionosphere_size)},
  };
  return all;
}

}  // namespace subspectra
