/// A user's program: reads the embedded Sonar data, ranks its bands by Fisher's ratio, trains on three of
/// them.
#include <iostream>
#include <subspectra/subspectra.hpp>

int main() {
  namespace ss = subspectra;
  try {
    const ss::Dataset data = ss::read_dataset("sonar");
    const ss::Selection ranked = ss::select(data, ss::Fisher{}, {.k = 1});
    const ss::Model model = ss::fit(data, ss::Gslda{}, {.k = 3});
    std::cout << data.rows() << " x " << data.features() << ", " << data.classes().size()
              << " classes, best single feature "
              << data.feature_names()[static_cast<std::size_t>(ranked.at(1).features.front())] << "\n";
    return model.predict(data).size() == static_cast<std::size_t>(data.rows()) ? 0 : 1;
  } catch (const ss::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
