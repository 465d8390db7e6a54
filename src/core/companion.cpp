#include "core/companion.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include <subspectra/error.hpp>

namespace subspectra {
namespace {

std::string target_of_link(const char* link) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlink(link, target.data(), target.size());
  target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return target;
}

/// The file this code was loaded from: a shared library, or the program it was linked into. dladdr names the
/// latter as it was called, perhaps by a name on the PATH, so the kernel is asked.
std::string own_file() {
  Dl_info info{};
  link_map* map = nullptr;
  const bool found = ::dladdr1(reinterpret_cast<const void*>(&own_file), &info,
                               reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  if (!found || map == nullptr || map->l_name == nullptr || *map->l_name == '\0') {
    return target_of_link("/proc/self/exe");
  }
  std::string resolved(PATH_MAX, '\0');
  return ::realpath(map->l_name, resolved.data()) != nullptr ? std::string(resolved.c_str()) : map->l_name;
}

}  // namespace

std::vector<std::string> companion_places(std::string_view name) {
  std::vector<std::string> places;
  const auto add = [&](const std::string& folder) {
    std::string place = fmt::format("{}/{}", folder, name);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
  };
  const std::string self = own_file();
  if (const auto slash = self.rfind('/'); slash != std::string::npos) {
    const std::string folder = self.substr(0, slash);
    add(folder);
    add(fmt::format("{}/{}", folder, SUBSPECTRA_COMPANIONS_FROM_BIN));
    add(fmt::format("{}/{}", folder, SUBSPECTRA_COMPANIONS_FROM_LIB));
  }
  add(SUBSPECTRA_COMPANIONS);
  return places;
}

std::string companion_file(std::string_view name, std::string_view why) {
  const std::vector<std::string> places = companion_places(name);
  for (const std::string& place : places) {
    if (::access(place.c_str(), F_OK) == 0) return place;
  }
  throw Error(fmt::format("{}, but {} was not found; looked for {}; install Subspectra as a whole", why, name,
                          fmt::join(places, ", ")));
}

void* companion_function(std::string_view module, const char* symbol, std::string_view why) {
  const std::string file = companion_file(module, why);
  void* loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = loaded != nullptr ? ::dlsym(loaded, symbol) : nullptr;
  if (function == nullptr) {
    throw Error(fmt::format("{}, but it cannot be loaded ({}); install what is missing", why, ::dlerror()));
  }
  return function;
}

}  // namespace subspectra
