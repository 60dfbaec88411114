#include "base/telemetry/user_text.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace {

struct Silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST(UserText, has_its_control_characters_written_out_but_for_ends_of_lines_and_tabs) {
  EXPECT_EQ(mend::printable("a\x1b[31m\rb\x7f\tc\nd"), "a\\x1b[31m\\x0db\\x7f\tc\nd");
  EXPECT_EQ(mend::printable("Größe"), "Größe");
}

TEST(UserText, of_an_exception_that_says_nothing_is_its_type) {
  EXPECT_EQ(mend::text_of(std::runtime_error("a text")), "a text");
  EXPECT_THAT(mend::text_of(Silent{}), testing::MatchesRegex("an exception that says nothing \\(.*Silent\\)"));
  EXPECT_EQ(mend::text_of(std::runtime_error("")), "an exception that says nothing (std::runtime_error)");
}

}  // namespace
