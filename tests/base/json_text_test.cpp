#include "base/telemetry/json_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using mend::json_text;

TEST(JsonText, is_on_one_line_or_indented) {
  const nlohmann::ordered_json document{{"ranks", 4}, {"app", "heat"}};
  EXPECT_EQ(json_text(document), R"({"ranks":4,"app":"heat"})");
  EXPECT_EQ(json_text(document, 2), "{\n  \"ranks\": 4,\n  \"app\": \"heat\"\n}");
}

TEST(JsonText, replaces_what_is_not_utf_8) {
  EXPECT_EQ(json_text(nlohmann::json("temp\xe9rature")), "\"temp\xef\xbf\xbdrature\"");
  EXPECT_EQ(json_text(nlohmann::json("température")), "\"température\"");
}

}  // namespace
