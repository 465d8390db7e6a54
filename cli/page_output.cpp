#include "page_output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include <subspectra/error.hpp>
#include "options.hpp"
#include "output.hpp"
#include "report/command_line.hpp"
#include "report/figures.hpp"

namespace subspectra::cli {

using nlohmann::json;

std::vector<OptionDescription> page_options(const std::vector<std::string>& left_out) {
  return without(reworded(describe_options<PageOptions>(), {{.name = "report", .hint = "FILE", .help = ""},
                                                            {.name = "figures", .hint = "DIR", .help = ""}}),
                 left_out);
}

PageOutput::PageOutput(PageOptions options) : options_(std::move(options)) {
  require_writable(options_.report);
  if (options_.figures.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(options_.figures, failure);
  if (failure)
    throw Error(fmt::format("{}: this folder cannot be made ({}); choose another place for --figures",
                            options_.figures, failure.message()));
  require_writable((std::filesystem::path(options_.figures) / "path.svg").string());
}

void PageOutput::check_shape(Index features) const {
  const ImageShape& shape = options_.shape;
  if (!shape.given() || shape.height * shape.width == features) return;
  throw InvalidArgument(
      fmt::format("--shape {}x{} has {} pixels, but there are {} features; give the shape of one row",
                  shape.height, shape.width, shape.height * shape.width, features));
}

PageOutput page_output(const OptionTexts& texts) {
  PageOptions options;
  set_options(options, texts);
  return PageOutput(std::move(options));
}

void PageOutput::write(std::vector<PageResult> results, const std::stop_token& stop) const {
  if (!wanted()) return;
  for (PageResult& one : results) {
    one.command = command_of(one.result);
    one.flags = shared_flags_of(one.result);
  }
  const json data = page_data(results, options_.shape);
  if (!options_.report.empty()) write_result(options_.report, page_html(data), stop);
  if (options_.figures.empty()) return;
  for (const PageFigure& figure : page_figures(data))
    write_result((std::filesystem::path(options_.figures) / figure.file).string(), figure.svg, stop);
}

}  // namespace subspectra::cli
