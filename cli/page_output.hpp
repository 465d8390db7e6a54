#pragma once
/// --report and --figures: what a command found, as a page or as pictures.
#include <stop_token>
#include <string>
#include <vector>

#include "command.hpp"
#include "core/options.hpp"
#include "data/image_shape.hpp"
#include "report/page.hpp"

namespace subspectra::cli {

struct PageOptions {
  std::string report, figures;
  ImageShape shape;
  template <class Self, class Visitor>
  static void visit(Self& o, Visitor&& field) {
    field(
        "report", o.report,
        "write a page to look at to this file (.html): charts and tables of the result in one file that needs no network");
    field("figures", o.figures, "write its figures into this folder, each as SVG");
    field("shape", o.shape, "features are the pixels of images, row by row: the page shows which are chosen");
  }
};
/// Their descriptions, without those of `left_out`.
[[nodiscard]] std::vector<OptionDescription> page_options(const std::vector<std::string>& left_out = {});

/// The page of one run.
class PageOutput {
 public:
  /// Refuses, before the work, what could not be written after it.
  explicit PageOutput(PageOptions options);
  [[nodiscard]] bool wanted() const { return !options_.report.empty() || !options_.figures.empty(); }
  [[nodiscard]] const ImageShape& shape() const { return options_.shape; }
  /// Throws InvalidArgument where the features are not so many pixels.
  void check_shape(Index features) const;
  /// `results` without their commands: those are read from their options.
  void write(std::vector<PageResult> results, const std::stop_token& stop) const;

 private:
  PageOptions options_;
};
[[nodiscard]] PageOutput page_output(const OptionTexts& texts);

}  // namespace subspectra::cli
