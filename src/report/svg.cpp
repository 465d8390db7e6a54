#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/text.hpp"

namespace subspectra {
namespace {

constexpr std::string_view kFontFamily =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
constexpr double kLetterWidth = 6.6;  // of this font at 12 pixels, on average

/// Character data and attribute values of XML: printable, without markup.
std::string xml_text(std::string_view words) {
  std::string out;
  for (const char c : printable(words)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

double label_width(std::string_view words) {
  const auto letters = std::count_if(words.begin(), words.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
  return kLetterWidth * static_cast<double>(letters);
}

std::string stroke_text(const SvgDrawing::Stroke& stroke) {
  std::string text = fmt::format(R"(stroke="{}" stroke-width="{:.4g}")", stroke.colour, stroke.width);
  if (!stroke.dashes.empty()) text += fmt::format(R"( stroke-dasharray="{}")", stroke.dashes);
  return text;
}

std::string points_text(const std::vector<std::pair<double, double>>& points) {
  std::string text;
  for (const auto& [x, y] : points) text += fmt::format("{:.2f},{:.2f} ", x, y);
  return text;
}

/// Where `value` lies between the ends; in halves where no double holds their difference.
double share_between(double value, double low, double high) {
  const double span = high - low;
  return std::isfinite(span) ? (value - low) / span : (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low);
}

/// 1, 2 or 5 times a power of ten.
double tick_step(double span, int most) {
  const double raw = span / most;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10.0 * power;
}

std::vector<double> axis_ticks(const SvgChart::Axis& axis, int most) {
  // Counted, not added up: beside a huge number a step is nothing, and 10 to the power of -324 is 0.
  constexpr int kMostDecades = 16;
  std::vector<double> ticks;
  if (axis.logarithmic) {
    const int first = static_cast<int>(std::floor(std::log10(axis.low)));
    const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
    const int stride = 1 + (last - first) / kMostDecades;
    for (int exponent = first; exponent <= last; exponent += stride) {
      const double power = std::pow(10.0, exponent);
      if (power >= axis.low * (1 - 1e-9) && power <= axis.high) ticks.push_back(power);
    }
    return ticks;
  }
  double step = tick_step(axis.high - axis.low, most);
  if (axis.whole) step = std::max(1.0, std::round(step));
  if (!(step > 0.0) || !std::isfinite(step)) return ticks;
  const double first = std::ceil(axis.low / step - 1e-9);
  for (int i = 0; i <= most + 1; ++i) {
    const double tick = (first + i) * step;
    if (!(tick <= axis.high + 1e-9 * step) || !std::isfinite(tick)) break;
    ticks.push_back(std::abs(tick) < 1e-12 * step ? 0.0 : tick);
  }
  return ticks;
}

std::string tick_text(const SvgChart::Axis& axis, double tick) {
  return axis.percent ? fmt::format("{:.4g} %", 100.0 * tick) : fmt::format("{:.6g}", tick);
}

double keys_height(const std::vector<SvgChart::Key>& keys, double width) {
  double x = 8.0;
  double rows = keys.empty() ? 0.0 : 1.0;
  for (const auto& key : keys) {
    const double needs = 46.0 + label_width(key.label);
    if (x > 8.0 && x + needs > width) {
      x = 8.0;
      rows += 1.0;
    }
    x += needs;
  }
  return 19.0 * rows;
}

void draw_keys(SvgDrawing& drawing, const std::vector<SvgChart::Key>& keys) {
  double x = 8.0;
  double y = 14.0;
  for (const auto& key : keys) {
    const double needs = 46.0 + label_width(key.label);
    if (x > 8.0 && x + needs > drawing.width()) {
      x = 8.0;
      y += 19.0;
    }
    switch (key.mark) {
      case SvgChart::Key::Mark::kLine:
        drawing.line(x, y, x + 18, y, {key.colour, 2.0});
        break;
      case SvgChart::Key::Mark::kDashes:
        drawing.line(x, y, x + 18, y, {key.colour, 2.0, "5 4"});
        break;
      case SvgChart::Key::Mark::kDot:
        drawing.circle(x + 9, y, 4.5, key.colour, key.colour);
        break;
      case SvgChart::Key::Mark::kRing:
        drawing.circle(x + 9, y, 4.5, ink::kPaper, key.colour);
        break;
      case SvgChart::Key::Mark::kBand:
        drawing.rectangle(x + 1, y - 6, 16, 12, shade_of(key.colour, 0.1));
        break;
      case SvgChart::Key::Mark::kBox:
        drawing.rectangle(x + 1, y - 6, 16, 12, key.colour);
        break;
    }
    drawing.text(x + 24, y + 4, key.label);
    x += needs;
  }
}

}  // namespace

std::string_view category_colour(std::size_t i) {
  static constexpr std::array<std::string_view, kCategoryColours> kColours = {
      "#0b62b0", "#c65a00", "#008762", "#a8487f", "#9a7400", "#2f8fc4", "#6b4fb3", "#5a6472"};
  return kColours[i % kColours.size()];
}

std::string shade_of(std::string_view colour, double share) {
  if (!(share > 0.0)) return std::string(ink::kEmpty);
  const double t = 0.15 + 0.85 * std::min(share, 1.0);
  std::string out = "#";
  const auto channel = [](std::string_view hex, std::size_t at) {
    return std::stoi(std::string(hex.substr(at, 2)), nullptr, 16);
  };
  for (const std::size_t at : {1, 3, 5}) {
    const int from = channel(ink::kEmpty, at);
    out += fmt::format("{:02x}", static_cast<int>(std::lround(from + t * (channel(colour, at) - from))));
  }
  return out;
}

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

void SvgDrawing::line(double x1, double y1, double x2, double y2, const Stroke& stroke) {
  body_ += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" {}/>\n", x1, y1, x2, y2,
                       stroke_text(stroke));
}

void SvgDrawing::polyline(const std::vector<std::pair<double, double>>& points, const Stroke& stroke) {
  if (points.size() < 2) return;
  body_ += fmt::format("<polyline fill=\"none\" stroke-linejoin=\"round\" points=\"{}\" {}/>\n",
                       points_text(points), stroke_text(stroke));
}

void SvgDrawing::area(const std::vector<std::pair<double, double>>& border, std::string_view fill,
                      double opacity) {
  if (border.size() < 3) return;
  body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{:.3g}\"/>\n", points_text(border),
                       fill, opacity);
}

void SvgDrawing::circle(double x, double y, double r, std::string_view fill, std::string_view stroke) {
  body_ += fmt::format(
      "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
      x, y, r, fill, stroke);
}

void SvgDrawing::rectangle(double x, double y, double width, double height, std::string_view fill) {
  body_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                       x, y, width, height, fill);
}

void SvgDrawing::text(double x, double y, std::string_view words, Anchor anchor, std::string_view fill,
                      double size) {
  const std::string_view where = anchor == Anchor::kStart    ? "start"
                                 : anchor == Anchor::kMiddle ? "middle"
                                                             : "end";
  body_ += fmt::format(
      "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" fill=\"{}\" font-size=\"{:.3g}\">{}</text>\n", x, y,
      where, fill, size, xml_text(words));
}

void SvgDrawing::text_upwards(double x, double y, std::string_view words, std::string_view fill) {
  body_ += fmt::format(
      "<text transform=\"translate({:.2f} {:.2f}) rotate(-90)\" text-anchor=\"middle\" fill=\"{}\" font-size=\"12\">{}</text>\n",
      x, y, fill, xml_text(words));
}

std::string SvgDrawing::svg(std::string_view title, std::string_view description) const {
  constexpr double kTitle = 30.0;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 {2:.0f} {0:.0f} {1:.0f}\" font-family=\"{3}\" role=\"img\">\n"
      "<title>{4}</title>\n<desc>{5}</desc>\n<rect x=\"0\" y=\"{2:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"{6}\"/>\n"
      "<text x=\"8\" y=\"-8\" font-size=\"15\" font-weight=\"600\" fill=\"{7}\">{4}</text>\n{8}</svg>\n",
      width_, height_ + kTitle, -kTitle, kFontFamily, xml_text(title), xml_text(description), ink::kPaper,
      ink::kText, body_);
}

SvgChart::SvgChart(double width, double height, Axis x, Axis y, const std::vector<Key>& keys)
    : x_(std::move(x)), y_(std::move(y)), drawing_(width, height + keys_height(keys, width)) {
  for (Axis* const axis : {&x_, &y_}) {
    if (!(axis->high > axis->low)) {
      const double room = std::max(0.5, 1e-9 * std::abs(axis->high));
      axis->low = std::max(axis->low - room, std::numeric_limits<double>::lowest());
      axis->high = std::min(axis->high + room, std::numeric_limits<double>::max());
    }
    if (axis->logarithmic && !(axis->low > 0.0 && std::log(axis->high) > std::log(axis->low)))
      axis->logarithmic = false;
  }
  top_ = keys_height(keys, width) + (y_.label.empty() ? 12.0 : 28.0);
  right_ = width - 18.0;
  bottom_ = drawing_.height() - 44.0;
  draw_keys(drawing_, keys);
  if (!y_.label.empty()) drawing_.text(8.0, top_ - 12.0, y_.label, SvgDrawing::Anchor::kStart, ink::kMuted);
  for (const double tick : y_.label.empty() ? std::vector<double>() : axis_ticks(y_, 5)) {
    drawing_.line(left_, this->y(tick), right_, this->y(tick), {ink::kGrid, 1.0});
    drawing_.text(left_ - 8.0, this->y(tick) + 4.0, tick_text(y_, tick), SvgDrawing::Anchor::kEnd);
  }
  drawing_.line(left_, bottom_, right_, bottom_, {ink::kMuted, 1.0});
  for (const double tick : axis_ticks(x_, 10)) {
    drawing_.line(this->x(tick), bottom_, this->x(tick), bottom_ + 5.0, {ink::kMuted, 1.0});
    drawing_.text(this->x(tick), bottom_ + 18.0, tick_text(x_, tick), SvgDrawing::Anchor::kMiddle);
  }
  drawing_.text(0.5 * (left_ + right_), bottom_ + 36.0, x_.label, SvgDrawing::Anchor::kMiddle);
}

double SvgChart::x(double value) const {
  constexpr double kInset = 10.0;
  const double share = x_.logarithmic ? share_between(std::log(value), std::log(x_.low), std::log(x_.high))
                                      : share_between(value, x_.low, x_.high);
  return left_ + kInset + (x_.falling ? 1.0 - share : share) * (right_ - left_ - 2.0 * kInset);
}

double SvgChart::y(double value) const {
  const double share = share_between(value, y_.low, y_.high);
  return bottom_ - std::clamp(share, 0.0, 1.0) * (bottom_ - top_);
}

void SvgChart::curve(const std::vector<std::pair<double, double>>& points, const SvgDrawing::Stroke& stroke) {
  std::vector<std::pair<double, double>> places;
  places.reserve(points.size());
  for (const auto& [at, value] : points) places.emplace_back(x(at), y(value));
  drawing_.polyline(places, stroke);
}

void SvgChart::dot(double at, double value, double r, std::string_view fill, std::string_view stroke) {
  drawing_.circle(x(at), y(value), r, fill, stroke);
}

void SvgChart::across(double value, const SvgDrawing::Stroke& stroke) {
  drawing_.line(left_, y(value), right_, y(value), stroke);
}

void SvgChart::upright(double at, double from, double to, const SvgDrawing::Stroke& stroke) {
  drawing_.line(x(at), y(from), x(at), y(to), stroke);
}

SvgDrawing dots_drawing(const std::vector<SvgDot>& dots, SvgChart::Axis axis,
                        const SvgDrawing::Stroke& stroke, std::optional<double> mark,
                        const std::vector<SvgChart::Key>& keys) {
  constexpr double kWidth = 700.0, kRow = 34.0;
  double left = 80.0;
  axis.low = axis.high = mark.value_or(dots.front().value);
  const auto finite = [](double value) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    return std::clamp(value, -kLargest, kLargest);
  };
  for (const SvgDot& dot : dots) {
    left = std::max(left, std::min(280.0, 24.0 + label_width(dot.name)));
    axis.low = std::min(axis.low, finite(dot.value - dot.spread));
    axis.high = std::max(axis.high, finite(dot.value + dot.spread));
  }
  const double room = std::max(0.04 * axis.high - 0.04 * axis.low, 0.002 + 1e-9 * std::abs(axis.high));
  axis.low = finite(axis.low - room);
  axis.high = finite(axis.high + room);
  const double top = 12.0 + keys_height(keys, kWidth);
  const double bottom = top + kRow * static_cast<double>(dots.size());
  SvgDrawing drawing(kWidth, bottom + 46.0);
  draw_keys(drawing, keys);
  const auto place = [&](double value) {
    return left + share_between(value, axis.low, axis.high) * (kWidth - left - 18.0);
  };
  for (const double tick : axis_ticks(axis, 6)) {
    drawing.line(place(tick), top, place(tick), bottom, {ink::kGrid, 1.0});
    drawing.text(place(tick), bottom + 16.0, tick_text(axis, tick), SvgDrawing::Anchor::kMiddle);
  }
  if (mark) drawing.line(place(*mark), top, place(*mark), bottom, stroke);
  double y = top + 0.5 * kRow;
  for (const SvgDot& dot : dots) {
    drawing.line(place(finite(dot.value - dot.spread)), y, place(finite(dot.value + dot.spread)), y,
                 {dot.colour, 2.0});
    drawing.circle(place(dot.value), y, 5.5, dot.hollow ? ink::kPaper : dot.colour, dot.colour);
    drawing.text(left - 8.0, y + 4.0, dot.name, SvgDrawing::Anchor::kEnd);
    y += kRow;
  }
  drawing.text(0.5 * (left + kWidth - 18.0), bottom + 36.0, axis.label, SvgDrawing::Anchor::kMiddle);
  return drawing;
}

SvgDrawing bars_drawing(const std::vector<std::pair<std::string, double>>& bars, const std::string& label,
                        bool percent) {
  constexpr double kWidth = 640.0, kBar = 22.0;
  double left = 60.0;
  double low = 0.0;
  double high = percent ? 1.0 : 0.0;
  for (const auto& [name, value] : bars) {
    left = std::max(left, std::min(240.0, 24.0 + label_width(name)));
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(high > low)) high = low + 1.0;  // both are 0
  const double bottom = 12.0 + kBar * static_cast<double>(bars.size());
  SvgDrawing drawing(kWidth, bottom + 46.0);
  const auto place = [&](double value) {
    return left + share_between(value, low, high) * (kWidth - left - 60.0);
  };
  const SvgChart::Axis axis{.label = label, .low = low, .high = high, .percent = percent};
  for (const double tick : axis_ticks(axis, 6)) {
    drawing.line(place(tick), 8.0, place(tick), bottom, {ink::kGrid, 1.0});
    drawing.text(place(tick), bottom + 16.0, tick_text(axis, tick), SvgDrawing::Anchor::kMiddle);
  }
  double top = 12.0;
  for (const auto& [name, value] : bars) {
    drawing.rectangle(std::min(place(0.0), place(value)), top + 3.0, std::abs(place(value) - place(0.0)),
                      kBar - 6.0, value < 0.0 ? ink::kNegative : ink::kAccent);
    drawing.text(left - 8.0, top + 15.0, name, SvgDrawing::Anchor::kEnd);
    top += kBar;
  }
  drawing.line(place(0.0), 8.0, place(0.0), bottom, {ink::kText, 1.0});
  drawing.text(0.5 * (left + kWidth - 60.0), bottom + 36.0, label, SvgDrawing::Anchor::kMiddle);
  return drawing;
}

}  // namespace subspectra
