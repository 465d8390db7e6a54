#include "device/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/companion.hpp"

namespace subspectra::device {
namespace {

constexpr const char* kPluginFile = "libsubspectra_cuda.so";
constexpr const char* kPluginVariable = "SUBSPECTRA_CUDA_PLUGIN";
/// The names cuBLAS has had, newest first.
constexpr std::array<const char*, 4> kProductNames = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                                      "libcublas.so"};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Folders of cuBLAS below a folder of Python packages: nvidia/cublas/lib in the wheels up to CUDA 12,
/// nvidia/cu13/lib since.
void add_wheels(const std::filesystem::path& packages, std::vector<std::string>& folders) {
  std::error_code error;
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator entry(packages / "nvidia", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "cublas" || name.compare(0, 2, "cu") == 0) found.push_back((entry->path() / "lib").string());
  }
  std::sort(found.rbegin(), found.rend());  // cublas, cu13, cu12
  folders.insert(folders.end(), found.begin(), found.end());
}

/// site-packages of a Python environment.
void add_environment(std::string_view root, std::vector<std::string>& folders) {
  if (root.empty()) return;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(std::filesystem::path(root) / "lib", error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().compare(0, 6, "python") == 0)
      add_wheels(entry->path() / "site-packages", folders);
  }
}

std::vector<std::string> product_folders(const std::string& plugin_file) {
  std::vector<std::string> folders = {""};  // the loader's own
  const std::filesystem::path plugin(plugin_file);
  if (plugin.has_parent_path()) {
    folders.push_back(plugin.parent_path().string());
    // In a wheel the plug-in stands in site-packages/subspectra, or one below.
    for (auto folder = plugin.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
      if (folder.filename() != "site-packages" && folder.filename() != "dist-packages") continue;
      add_wheels(folder, folders);
      break;
    }
  }
  add_environment(variable("VIRTUAL_ENV"), folders);
  add_environment(variable("CONDA_PREFIX"), folders);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = variable(name); !root.empty()) folders.push_back(fmt::format("{}/lib64", root));
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  return folders;
}

std::string words_of_loader() {
  const char* words = ::dlerror();
  return words != nullptr ? words : "no reason given";
}

}  // namespace

Search find_products(const std::string& plugin_file) {
  Search search;
  for (const auto& folder : product_folders(plugin_file)) {
    for (const char* name : kProductNames) {
      std::string file = folder.empty() ? name : fmt::format("{}/{}", folder, name);
      if (!folder.empty() && ::access(file.c_str(), F_OK) != 0) {
        search.looked_for.push_back(std::move(file));
        continue;
      }
      void* loaded = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (loaded != nullptr) {
        search.looked_for.push_back(file);
        search.found = std::move(file);
        return search;
      }
      const std::string words = words_of_loader();
      search.looked_for.push_back(folder.empty() ? file : fmt::format("{} ({})", file, words));
    }
  }
  return search;
}

Plugin Plugin::load() {
  if (const auto given = variable(kPluginVariable); !given.empty()) return load(std::string(given));
  const auto places = companion_places(kPluginFile);
  for (const auto& place : places) {
    if (::access(place.c_str(), F_OK) == 0) return load(place);
  }
  throw Error(fmt::format(
      "the plug-in for NVIDIA cards was not found; looked for {}; set {} to its file, or build it where CUDA is",
      fmt::join(places, ", "), kPluginVariable));
}

Plugin Plugin::load(const std::string& file) {
  void* loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr)
    throw Error(fmt::format("the plug-in {} cannot be loaded ({}); install what is missing", file,
                            words_of_loader()));
  const auto entry = reinterpret_cast<SubspectraDeviceEntry>(::dlsym(loaded, SUBSPECTRA_DEVICE_ENTRY));
  if (entry == nullptr) {
    throw Error(fmt::format("{} is no plug-in of Subspectra: it lacks {}", file, SUBSPECTRA_DEVICE_ENTRY));
  }
  const SubspectraDeviceTable* table = entry();
  if (table == nullptr) throw Error(fmt::format("the plug-in {} has no table of functions", file));
  // Only the version may be read of a table of another one.
  if (table->abi != SUBSPECTRA_DEVICE_ABI) {
    throw Error(fmt::format(
        "the plug-in {} speaks version {} of the table of functions, but this Subspectra speaks version {}; install both from one release",
        file, table->abi, SUBSPECTRA_DEVICE_ABI));
  }
  if (table->size != sizeof(SubspectraDeviceTable)) {
    throw Error(fmt::format("the plug-in {} has a table of {} bytes, not {}; install both from one release",
                            file, table->size, sizeof(SubspectraDeviceTable)));
  }
  const std::array<std::pair<bool, const char*>, 18> functions = {
      {{table->name != nullptr, "name"},
       {table->count != nullptr, "count"},
       {table->open != nullptr, "open"},
       {table->close != nullptr, "close"},
       {table->describe != nullptr, "describe"},
       {table->scan_bytes != nullptr, "scan_bytes"},
       {table->scan_open != nullptr, "scan_open"},
       {table->scan_close != nullptr, "scan_close"},
       {table->scan_prepare != nullptr, "scan_prepare"},
       {table->scan_sets != nullptr, "scan_sets"},
       {table->table_open != nullptr, "table_open"},
       {table->table_close != nullptr, "table_close"},
       {table->table_put != nullptr, "table_put"},
       {table->pass_bytes != nullptr, "pass_bytes"},
       {table->pass_open != nullptr, "pass_open"},
       {table->pass_close != nullptr, "pass_close"},
       {table->pass_steps != nullptr, "pass_steps"},
       {table->pass_dependent != nullptr, "pass_dependent"}}};
  for (const auto& [there, name] : functions) {
    if (!there) throw Error(fmt::format("the plug-in {} lacks the function {} of its table", file, name));
  }
  return {file, table};
}

int Plugin::cards() const {
  std::array<char, 512> why{};
  int count = 0;
  if (table_->count(&count, why.data(), why.size()) != SUBSPECTRA_DEVICE_DONE)
    throw Error(fmt::format("no card can be used: {}", why.data()));
  return count;
}

Device::Device(const Plugin& plugin, int card) : plugin_(plugin), card_(card) {
  const int count = plugin.cards();
  if (count == 0) throw Error(fmt::format("there is no {} card", plugin.name()));
  if (card < 0 || card >= count) {
    throw InvalidArgument(
        {.field = "device",
         .value = fmt::format("{}:{}", plugin.name(), card),
         .rule = fmt::format("{{value}}, but the cards are {0}:0 to {0}:{1}", plugin.name(), count - 1)});
  }
  const Search products = find_products(plugin.file());
  std::array<char, 512> why{};
  int code = table().open(card, products.found.empty() ? nullptr : products.found.c_str(), &handle_,
                          why.data(), why.size());
  if (products.found.empty()) {
    notes_.push_back(
        fmt::format("cuBLAS was not found, so the plug-in makes products of matrices itself; looked for {}",
                    fmt::join(products.looked_for, ", ")));
  } else if (code == SUBSPECTRA_DEVICE_FAILED) {
    notes_.push_back(fmt::format("{} is not used ({}): the plug-in makes products of matrices itself",
                                 products.found, why.data()));
    code = table().open(card, nullptr, &handle_, why.data(), why.size());
  }
  require_done(code, why.data());
  code = table().describe(handle_, &info_, why.data(), why.size());
  if (code != SUBSPECTRA_DEVICE_DONE) {
    table().close(handle_);
    require_done(code, why.data());
  }
}

Device::~Device() { table().close(handle_); }

std::string Device::description() const {
  return fmt::format("{}:{}, {} ({})", plugin_.name(), card_, info_.name, info_.arithmetic);
}

void require_done(int code, std::string_view why) {
  if (code == SUBSPECTRA_DEVICE_DONE) return;
  if (code == SUBSPECTRA_DEVICE_MEMORY || code == SUBSPECTRA_DEVICE_UNSUITED) throw Unable(std::string(why));
  throw Error(fmt::format("the card failed: {}", why));
}

Wish parse_wish(std::string_view text) {
  if (text == "auto") return {};
  if (text == "cpu") return {.automatic = false};
  constexpr std::string_view kCard = "cuda";
  if (text.substr(0, kCard.size()) == kCard) {
    const auto rest = text.substr(kCard.size());
    Wish wish{.automatic = false, .card = true};
    if (rest.empty()) return wish;
    const char* const end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data() + 1, end, wish.number);
    if (rest.front() == ':' && error == std::errc() && stop == end && wish.number >= 0) return wish;
  }
  throw InvalidArgument({.field = "device",
                         .value = std::string(text),
                         .rule = "{value}, but auto, cpu, cuda or cuda:N is needed"});
}

std::shared_ptr<const Device> open_wished(const Wish& wish, std::string& why) {
  if (!wish.automatic && !wish.card) return nullptr;
  try {
    return std::make_shared<const Device>(Plugin::load(), wish.number);
  } catch (const Error& error) {
    if (wish.card) throw;
    why = error.marked();
    return nullptr;
  }
}

}  // namespace subspectra::device
