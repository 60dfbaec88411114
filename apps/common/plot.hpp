#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>

namespace apps {

using Rgb = std::array<std::uint8_t, 3>;

/// Returns a colour for `fraction` in [0, 1], dark to bright, in steps that look equal to the eye (a fit to viridis).
/// Other values are clamped; not-a-number is grey.
Rgb colour_of(double fraction);

/// Draws a 2-D slice as a PNG. `values` holds `rows` rows of `columns` each, the first row at the top; the colours span
/// from the smallest value to the largest. Small slices are enlarged by a whole factor. Local. Throws
/// mend::EnvironmentError if the file cannot be written, mend::UsageError if the sizes do not fit.
void write_png(const std::filesystem::path& file, std::span<const double> values, std::size_t columns,
               std::size_t rows);

}  // namespace apps
