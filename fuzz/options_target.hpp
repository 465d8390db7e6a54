#pragma once
#include <subspectra/options.hpp>

#include "core/options.hpp"
#include "outcome.hpp"
#include "temporary_input.hpp"

namespace subspectra::fuzzing {

/// What is accepted reads back from its own text.
template <class T>
void fuzz_option(std::string_view text) {
  try {
    const T value = OptionCodec<T>::parse(text);
    const std::string words = OptionCodec<T>::format(value);
    (void)OptionCodec<T>::json(value);
    if (!words.empty() && OptionCodec<T>::format(OptionCodec<T>::parse(words)) != words) {
      std::fprintf(stderr, "'%s' does not read back\n", words.c_str());
      std::abort();
    }
  } catch (const Error&) {  // refused with words
  }
}

}  // namespace subspectra::fuzzing

/// The bytes as the value of an option of every type, and as the file of a list (@FILE).
inline void fuzz_options(std::span<const std::uint8_t> bytes) {
  using namespace subspectra;
  const std::string_view text = fuzzing::as_text(bytes);
  fuzzing::fuzz_option<int>(text);
  fuzzing::fuzz_option<std::int64_t>(text);
  fuzzing::fuzz_option<std::uint64_t>(text);
  fuzzing::fuzz_option<double>(text);
  fuzzing::fuzz_option<KRange>(text);
  fuzzing::fuzz_option<Ridge>(text);
  fuzzing::fuzz_option<ByteSize>(text);
  if (!text.starts_with('@')) {  // the name of a file of ours
    (void)OptionCodec<std::vector<std::string>>::parse(text);
  }
  const fuzzing::TemporaryInput file(bytes, ".txt");
  for (const std::string& name : OptionCodec<std::vector<std::string>>::parse("@" + file.path())) {
    if (name.empty() || name.find('\n') != std::string::npos) std::abort();
  }
}
