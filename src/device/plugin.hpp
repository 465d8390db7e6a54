#pragma once
/// A card, reached through a plug-in that is loaded when a run asks for one: the library itself carries
/// nothing of CUDA. docs/gpu.md says when a card pays.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <subspectra/error.hpp>
#include "core/types.hpp"
#include "device/plugin_abi.h"

namespace subspectra::device {

/// A file that was looked for in several places.
struct Search {
  std::string found;                    ///< "" for nothing
  std::vector<std::string> looked_for;  ///< up to and with the one found; why it did not do, in brackets
};

/// The table of a plug-in, as it was found. A plug-in that was loaded stays.
class Plugin {
 public:
  /// $SUBSPECTRA_CUDA_PLUGIN alone where it is set; else libsubspectra_cuda.so among the companions
  /// (core/companion.hpp). Throws Error: what was looked for and where, the loader's words about a file that
  /// cannot be loaded, a function that is missing, another version of the table than this one.
  [[nodiscard]] static Plugin load();
  /// A file by its name; throws as above.
  [[nodiscard]] static Plugin load(const std::string& file);

  [[nodiscard]] const SubspectraDeviceTable& table() const { return *table_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string_view name() const { return table_->name; }  ///< "cuda"
  /// How many cards it sees. Throws Error with the plug-in's words.
  [[nodiscard]] int cards() const;

 private:
  Plugin(std::string file, const SubspectraDeviceTable* table) : file_(std::move(file)), table_(table) {}
  std::string file_;
  const SubspectraDeviceTable* table_;
};

/// cuBLAS: where the loader looks, beside the plug-in, in the nvidia-cublas wheels of the Python environment
/// that the plug-in or $VIRTUAL_ENV or $CONDA_PREFIX belongs to, in $CUDA_HOME, $CUDA_PATH and
/// /usr/local/cuda. Newest first.
[[nodiscard]] Search find_products(const std::string& plugin_file);

/// One card, opened.
class Device {
 public:
  /// Throws Error: no such card, or the plug-in's words. Without cuBLAS the plug-in's own products are used,
  /// and notes() says what was looked for.
  Device(const Plugin& plugin, int card);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  [[nodiscard]] const SubspectraDeviceTable& table() const { return plugin_.table(); }
  [[nodiscard]] SubspectraDevice* handle() const { return handle_; }
  [[nodiscard]] const SubspectraDeviceInfo& info() const { return info_; }
  /// "cuda:0, NVIDIA H200 (double precision, cuBLAS 13.1.0 ...)"
  [[nodiscard]] std::string description() const;
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  Plugin plugin_;
  int card_;
  SubspectraDevice* handle_ = nullptr;
  SubspectraDeviceInfo info_{};
  std::vector<std::string> notes_;
};

/// The card cannot do what was asked of it, and the processor has to: too little memory, or numbers that
/// double precision does not settle.
class Unable : public Error {
 public:
  using Error::Error;
};

/// Throws Unable or Error, by what a function of the table answered.
void require_done(int code, std::string_view why);

/// Where a run computes: ⟨device⟩ as it is written, "auto", "cpu", "cuda" or "cuda:1".
struct Wish {
  bool automatic = true;  ///< a card if there is one and the work is worth it
  bool card = false;      ///< a card, or an error
  int number = 0;
};
/// Throws InvalidArgument for another word.
[[nodiscard]] Wish parse_wish(std::string_view text);

/// The card that was wished for; null, with a sentence in `why`, where it is automatic and there is none.
/// Throws Error where a card was asked for and cannot be used.
[[nodiscard]] std::shared_ptr<const Device> open_wished(const Wish& wish, std::string& why);

}  // namespace subspectra::device
