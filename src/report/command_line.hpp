#pragma once
/// The command that makes a result, for people to copy off its page.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"

namespace subspectra {

/// The options of a command that a result may tell, in the order of its help. Those are left out that say
/// nothing about the answer (`threads`) or name a file of one run (`o`). A test compares them with the
/// command's own.
[[nodiscard]] std::vector<OptionDescription> told_options(std::string_view command);

/// The command line that makes a result, from its options: those that are not as they would be anyway. ""
/// where the result does not say what it was made of.
[[nodiscard]] std::string command_of(const nlohmann::json& result);
/// Those of its flags that say how the table is read and prepared and what the objective is, each with a
/// space before it: what another command on the same rows needs, too.
[[nodiscard]] std::string shared_flags_of(const nlohmann::json& result);

}  // namespace subspectra
