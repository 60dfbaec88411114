#include "apps/common/plot.hpp"

#include "base/error.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using apps::Rgb;

struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<Rgb> pixels;
};

Picture read_png(const std::filesystem::path& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, file.c_str()), 0) << image.message;
  image.format = PNG_FORMAT_RGB;
  Picture picture{image.width, image.height, std::vector<Rgb>(std::size_t{image.width} * image.height)};
  EXPECT_NE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr), 0) << image.message;
  return picture;
}

double luminance(const Rgb& colour) { return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]; }

void expect_close(const Rgb& colour, const Rgb& wanted) {
  for (std::size_t channel = 0; channel < 3; ++channel) EXPECT_NEAR(colour[channel], wanted[channel], 4) << channel;
}

TEST(Colours, are_those_of_viridis) {
  expect_close(apps::colour_of(0), {68, 1, 84});
  expect_close(apps::colour_of(0.5), {33, 145, 140});
  expect_close(apps::colour_of(1), {253, 231, 37});
}

TEST(Colours, grow_brighter_all_the_way) {
  for (int i = 1; i <= 100; ++i) {
    EXPECT_GT(luminance(apps::colour_of(i / 100.0)) + 0.5, luminance(apps::colour_of((i - 1) / 100.0))) << i;
  }
}

TEST(Colours, bear_what_is_outside_the_range) {
  EXPECT_EQ(apps::colour_of(-1), apps::colour_of(0));
  EXPECT_EQ(apps::colour_of(INFINITY), apps::colour_of(1));
  EXPECT_EQ(apps::colour_of(std::nan("")), (Rgb{128, 128, 128}));
}

TEST(Plot, is_a_png_with_the_smallest_value_darkest_and_the_first_row_at_the_top) {
  const support::ScratchFolder folder;
  const auto file = folder / "slice.png";
  apps::write_png(file, std::vector<double>{-3, 0, 0, 0, 0, 7}, 3, 2);

  const Picture picture = read_png(file);
  ASSERT_EQ(picture.width % 3, 0u);
  EXPECT_EQ(picture.width / 3, picture.height / 2) << "enlarged by one factor";
  EXPECT_GE(picture.width, 300u) << "a small slice is enlarged";
  EXPECT_EQ(picture.pixels.front(), apps::colour_of(0));
  EXPECT_EQ(picture.pixels.back(), apps::colour_of(1));
  EXPECT_EQ(picture.pixels[picture.width - 1], apps::colour_of(0.3));
}

TEST(Plot, of_a_constant_field_is_drawn_too) {
  const support::ScratchFolder folder;
  apps::write_png(folder / "flat.png", std::vector<double>(4, 1.0), 2, 2);
  EXPECT_EQ(read_png(folder / "flat.png").pixels.front(), apps::colour_of(0));
}

TEST(Plot, one_value_that_is_no_number_does_not_blank_the_rest) {
  const support::ScratchFolder folder;
  apps::write_png(folder / "hole.png", std::vector<double>{0, std::nan(""), 1, 1}, 2, 2);
  const Picture picture = read_png(folder / "hole.png");
  EXPECT_EQ(picture.pixels.front(), apps::colour_of(0));
  EXPECT_EQ(picture.pixels.back(), apps::colour_of(1));
}

TEST(Plot, of_the_wrong_size_is_refused) {
  EXPECT_THROW(apps::write_png("unused.png", std::vector<double>(5, 0.0), 3, 2), mend::UsageError);
  EXPECT_THROW(apps::write_png("unused.png", {}, 0, 0), mend::UsageError);
}

TEST(Plot, that_cannot_be_written_names_the_file) {
  try {
    apps::write_png("/nonexistent/a.png", std::vector<double>(4, 0.0), 2, 2);
    FAIL() << "written";
  } catch (const mend::EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/a.png"), std::string::npos);
  }
}

}  // namespace
