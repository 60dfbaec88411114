#include "base/telemetry/log.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

namespace {

namespace log = mend::log;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

std::string said(const std::function<void()>& speak) {
  testing::internal::CaptureStderr();
  speak();
  return testing::internal::GetCapturedStderr();
}

void say_everything() {
  log::debug("a detail");
  log::info("a fact");
  log::notice("an event");
  log::warn("a doubt");
  log::error("a mistake");
}

class Log : public testing::Test {
 protected:
  ~Log() override { log::set_level(mend::LogLevel::warn); }
};

TEST_F(Log, says_what_its_level_lets_through) {
  const struct {
    const char* level;
    int lines;
  } levels[] = {{"debug", 5}, {"info", 4}, {"notice", 3}, {"warn", 2}, {"error", 1}, {"off", 0}};
  for (const auto& [level, lines] : levels) {
    log::set_level(mend::parse_log_level(level));
    const std::string text = said(say_everything);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), lines) << level << ": " << text;
    EXPECT_EQ(log::debugging(), std::string(level) == "debug");
  }
}

TEST_F(Log, says_by_default_what_a_user_should_worry_about) {
  const auto say_everything_with_no_level_set = [] {
    say_everything();
    std::_Exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process, in which no other test has set a level
  EXPECT_EXIT(say_everything_with_no_level_set(), testing::ExitedWithCode(0),
              AllOf(HasSubstr("note: an event"), HasSubstr("a doubt"), HasSubstr("a mistake"), Not(HasSubstr("a fact")),
                    Not(HasSubstr("a detail"))));
}

TEST_F(Log, marks_what_needs_nobodys_help) {
  log::set_level(mend::LogLevel::notice);
  EXPECT_THAT(said([] { log::notice("an {event}"); }), HasSubstr(": note: an {event}\n"));
}

TEST_F(Log, lines_begin_with_mend_and_then_with_who_speaks) {
  log::set_level(mend::LogLevel::warn);
  EXPECT_EQ(said([] { log::warn("text {with} braces % and signs"); }), "mend: text {with} braces % and signs\n");
  log::set_speaker(mend::ProcessId{12});
  EXPECT_THAT(said([] { log::warn("text"); }), MatchesRegex("mend\\[12\\] [0-9:.]+: text\n"));
}

TEST_F(Log, refuses_levels_it_does_not_know) {
  for (const char* level : {"", "loud", "Debug", "warning"}) {
    try {
      log::set_level(mend::parse_log_level(level));
      FAIL() << "'" << level << "' was accepted";
    } catch (const mend::UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("use debug, info, notice, warn, error or off"));
    }
  }
}

}  // namespace
