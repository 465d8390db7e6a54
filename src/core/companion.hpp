#pragma once
/// Files that are installed with Subspectra and used when they are needed, so that a process which never
/// needs them carries nothing of the libraries they bring: the program that decodes MAT and HDF5 files, and
/// the modules with Clp and LIBLINEAR (docs/building.md).
#include <string>
#include <string_view>
#include <vector>

namespace subspectra {

/// Where a companion may stand, in this order: beside the program or shared library that this code is in (a
/// build folder, a Python package), in the folder for companions seen from bin/ and from lib/ (an
/// installation, wherever it was moved to), in the one this build was configured for.
[[nodiscard]] std::vector<std::string> companion_places(std::string_view name);

/// The first of those that exists. Throws Error: `why` ("MAT files are decoded by a program of its own"), the
/// name, and every place that was looked at.
[[nodiscard]] std::string companion_file(std::string_view name, std::string_view why);

/// The function `symbol` of a companion that is a shared object. It is loaded with its symbols to itself and
/// stays; a second call for the same module finds it loaded. Throws Error as above, or with the loader's
/// words when a library that it needs is missing.
[[nodiscard]] void* companion_function(std::string_view module, const char* symbol, std::string_view why);

}  // namespace subspectra
