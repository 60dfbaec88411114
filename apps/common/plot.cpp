#include "apps/common/plot.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

namespace apps {
namespace {

constexpr std::size_t readable_pixels = 512;  // smaller slices are enlarged up to this side
constexpr Rgb grey{128, 128, 128};

/// A polynomial of degree 6 in the fraction, lowest power first; each channel in 0..1.
using Polynomial = std::array<double, 7>;
constexpr std::array<Polynomial, 3> viridis{{
    {0.2777273272234177, 0.1050930431085774, -0.3308618287255563, -4.634230498983486, 6.228269936347081,
     4.776384997670288, -5.435455855934631},
    {0.005407344544966578, 1.404613529898575, 0.214847559468213, -5.799100973351585, 14.17993336680509,
     -13.74514537774601, 4.645852612178535},
    {0.3340998053353061, 1.384590162594685, 0.09509516302823659, -19.33244095627987, 56.69055260068105,
     -65.35303263337234, 26.3124352495832},
}};

double evaluate(const Polynomial& coefficients, double x) {
  double sum = 0;
  for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) sum = sum * x + *c;
  return sum;
}

/// Of the finite values only, so that one not-a-number does not blank the picture.
std::pair<double, double> range_of(std::span<const double> values) {
  double low = INFINITY;
  double high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {low, high};
}

}  // namespace

Rgb colour_of(double fraction) {
  if (std::isnan(fraction)) return grey;
  const double x = std::clamp(fraction, 0.0, 1.0);
  Rgb colour{};
  for (std::size_t channel = 0; channel < colour.size(); ++channel) {
    const double level = std::clamp(evaluate(viridis[channel], x), 0.0, 1.0);
    colour[channel] = static_cast<std::uint8_t>(std::lround(255 * level));
  }
  return colour;
}

void write_png(const std::filesystem::path& file, std::span<const double> values, std::size_t columns,
               std::size_t rows) {
  if (columns == 0 || rows == 0 || values.size() != columns * rows) {
    throw mend::UsageError(
        fmt::format("a picture of {} x {} needs as many values, not {}", columns, rows, values.size()));
  }
  const std::size_t scale = std::max<std::size_t>(1, readable_pixels / std::max(columns, rows));
  const auto [low, high] = range_of(values);
  const double span = high > low ? high - low : 1;

  std::vector<Rgb> pixels;
  pixels.reserve(values.size() * scale * scale);
  for (std::size_t y = 0; y < rows * scale; ++y) {
    for (std::size_t x = 0; x < columns * scale; ++x) {
      const double value = values[(y / scale) * columns + x / scale];
      pixels.push_back(colour_of((value - low) / span));
    }
  }

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(columns * scale);
  image.height = static_cast<png_uint_32>(rows * scale);
  image.format = PNG_FORMAT_RGB;
  errno = 0;
  if (png_image_write_to_file(&image, file.c_str(), 0, pixels.data(), 0, nullptr) == 0) {
    throw mend::EnvironmentError(fmt::format("the picture {} cannot be written: {}", file.string(),
                                             errno != 0 ? std::strerror(errno) : image.message));
  }
}

}  // namespace apps
