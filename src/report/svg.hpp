#pragma once
/// Charts as SVG text, for figures that are written without a browser (docs/report.md says why they are not
/// the page's own).
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subspectra {

/// The light colours of the page (report/src/palette.ts).
namespace ink {
inline constexpr std::string_view kText = "#1c2330", kMuted = "#5a6472", kGrid = "#e3e7ec",
                                  kPaper = "#ffffff", kAccent = "#0b62b0", kWarn = "#a65200",
                                  kBad = "#b3261e", kNegative = "#c65a00", kEmpty = "#eef1f4";
}  // namespace ink
inline constexpr std::size_t kCategoryColours = 8;
/// The i-th of several, again from the first after the last.
[[nodiscard]] std::string_view category_colour(std::size_t i);
/// From kEmpty (0) to a colour (1).
[[nodiscard]] std::string shade_of(std::string_view colour, double share);

/// Shapes on white paper, measured in pixels from the upper left corner. Texts are data and never markup.
class SvgDrawing {
 public:
  SvgDrawing(double width, double height) : width_(width), height_(height) {}

  enum class Anchor { kStart, kMiddle, kEnd };
  struct Stroke {
    std::string_view colour = ink::kText;
    double width = 1.0;
    std::string_view dashes = {};
  };
  void line(double x1, double y1, double x2, double y2, const Stroke& stroke);
  void polyline(const std::vector<std::pair<double, double>>& points, const Stroke& stroke);
  void area(const std::vector<std::pair<double, double>>& border, std::string_view fill, double opacity);
  void circle(double x, double y, double r, std::string_view fill, std::string_view stroke);
  void rectangle(double x, double y, double width, double height, std::string_view fill);
  void text(double x, double y, std::string_view words, Anchor anchor = Anchor::kStart,
            std::string_view fill = ink::kText, double size = 12.0);
  void text_upwards(double x, double y, std::string_view words, std::string_view fill);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] std::string svg(std::string_view title, std::string_view description) const;

 private:
  double width_, height_;
  std::string body_;
};

/// A number for people: four digits.
[[nodiscard]] std::string short_number(double value);

/// Two axes with their ticks, a title and keys; shapes are then drawn in the units of the data.
class SvgChart {
 public:
  struct Axis {
    std::string label;
    double low = 0.0, high = 1.0;
    bool logarithmic = false, percent = false, whole = false;
    bool falling = false;  ///< of x: from the highest on the left
  };
  struct Key {
    std::string label;
    std::string_view colour;
    enum class Mark { kLine, kDashes, kDot, kRing, kBand, kBox } mark = Mark::kLine;
  };
  SvgChart(double width, double height, Axis x, Axis y, const std::vector<Key>& keys);

  [[nodiscard]] double x(double value) const;
  [[nodiscard]] double y(double value) const;
  [[nodiscard]] SvgDrawing& drawing() { return drawing_; }
  void curve(const std::vector<std::pair<double, double>>& points, const SvgDrawing::Stroke& stroke);
  void dot(double at, double value, double r, std::string_view fill, std::string_view stroke);
  void across(double value, const SvgDrawing::Stroke& stroke);  ///< a level line
  void upright(double at, double from, double to, const SvgDrawing::Stroke& stroke);

 private:
  Axis x_, y_;
  double left_ = 64.0, right_ = 0.0, top_ = 0.0, bottom_ = 0.0;
  SvgDrawing drawing_;
};

struct SvgDot {
  std::string name;
  double value = 0.0, spread = 0.0;
  std::string_view colour = ink::kAccent;
  bool hollow = false;
};
/// One dot a name with its spread to both sides, and an upright line at `mark`.
[[nodiscard]] SvgDrawing dots_drawing(const std::vector<SvgDot>& dots, SvgChart::Axis axis,
                                      const SvgDrawing::Stroke& stroke, std::optional<double> mark,
                                      const std::vector<SvgChart::Key>& keys);

/// One bar a name, from 0; those below it in another colour.
[[nodiscard]] SvgDrawing bars_drawing(const std::vector<std::pair<std::string, double>>& bars,
                                      const std::string& label, bool percent);

}  // namespace subspectra
