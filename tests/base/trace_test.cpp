#include "base/telemetry/trace.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace {

using nlohmann::json;
namespace trace = mend::trace;

class Trace : public testing::Test {
 protected:
  void TearDown() override {
    trace::stop();
    std::filesystem::remove(file_);
  }

  json stop_and_read() {
    trace::stop();
    std::ifstream in(file_);
    return json::parse(in);
  }
  static json event(const json& written, const std::string& name) {
    for (const json& one : written.at("traceEvents")) {
      if (one.at("name") == name) return one;
    }
    return {};
  }

  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("mend-trace-" + std::to_string(::getpid()) + ".json");
};

TEST_F(Trace, writes_what_Chrome_and_Perfetto_read) {
  trace::start(file_, mend::ProcessId{7});
  {
    const trace::Span span("commit");
    trace::instant("died \"suddenly\"");
  }
  const json written = stop_and_read();
  for (const json& one : written.at("traceEvents")) {
    EXPECT_EQ(one.at("pid"), 7);
    EXPECT_TRUE(one.at("ph").is_string());
  }
  const json span = event(written, "commit");
  EXPECT_EQ(span.at("ph"), "X");
  EXPECT_TRUE(span.at("ts").is_number_integer());
  EXPECT_GE(span.at("dur"), 0);
  const json instant = event(written, "died \"suddenly\"");
  EXPECT_EQ(instant.at("ph"), "i");
  EXPECT_EQ(instant.at("s"), "p");
  EXPECT_EQ(event(written, "process_name").at("args").at("name"), "process 7");
}

TEST_F(Trace, has_times_that_can_be_compared_between_processes) {
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(mend::WallClock::now().time_since_epoch()).count();
  };
  const auto before = now();
  trace::start(file_, mend::ProcessId{0});
  {
    const trace::Span span("nap");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto after = now();
  const json span = event(stop_and_read(), "nap");
  EXPECT_GE(span.at("ts"), before);
  EXPECT_GE(span.at("dur"), 2000);
  EXPECT_LE(span.at("ts").get<long long>() + span.at("dur").get<long long>(), after);
}

TEST_F(Trace, bears_spans_from_several_threads) {
  trace::start(file_, mend::ProcessId{0});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int n = 0; n < 100; ++n) const trace::Span span("work");
      });
    }
  }
  const json written = stop_and_read();
  EXPECT_EQ(written.at("traceEvents").size(), 401U);
}

TEST_F(Trace, off_records_nothing) {
  EXPECT_FALSE(trace::is_on());
  const trace::Span span("unseen");
  trace::instant("unseen");
  trace::start(file_, mend::ProcessId{0});
  EXPECT_TRUE(trace::is_on());
  EXPECT_EQ(stop_and_read().at("traceEvents").size(), 1U) << "the process's name alone";
}

TEST_F(Trace, a_span_that_began_before_the_start_is_not_recorded) {
  {
    const trace::Span span("too early");
    trace::start(file_, mend::ProcessId{0});
  }
  EXPECT_TRUE(event(stop_and_read(), "too early").is_null());
}

TEST_F(Trace, started_again_begins_anew) {
  trace::start(file_, mend::ProcessId{0});
  trace::instant("old");
  trace::start(file_, mend::ProcessId{1});
  trace::instant("new");
  const json written = stop_and_read();
  EXPECT_TRUE(event(written, "old").is_null());
  EXPECT_EQ(event(written, "new").at("pid"), 1);
}

TEST_F(Trace, stopped_without_a_start_writes_nothing) {
  trace::stop();
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(Trace, is_written_as_it_goes_for_a_process_that_is_killed) {
  trace::start(file_, mend::ProcessId{3});
  trace::instant_later("dead", {{"process", 1}});
  trace::instant("epoch", {{"epoch", 0}, {"rank", 2}});
  std::ifstream in(file_);
  const std::string unfinished{std::istreambuf_iterator<char>(in), {}};
  const json written = json::parse(unfinished + "]}");
  EXPECT_EQ(event(written, "dead").at("args").at("process"), 1);
  EXPECT_EQ(event(written, "epoch").at("args"), json::parse(R"({"epoch": 0, "rank": 2})"));
}

TEST_F(Trace, has_no_part_of_an_event_when_there_was_no_room_for_it) {
  trace::start(file_, mend::ProcessId{3});
  trace::instant("before");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{std::filesystem::file_size(file_) + 20, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &tight);
  trace::instant("without room");
  ::setrlimit(RLIMIT_FSIZE, &before);
  trace::instant("after");
  testing::internal::CaptureStderr();
  const json written = stop_and_read();
  EXPECT_NE(testing::internal::GetCapturedStderr(), "") << "events are missing";
  EXPECT_TRUE(event(written, "without room").is_null());
  EXPECT_FALSE(event(written, "before").is_null());
  EXPECT_FALSE(event(written, "after").is_null());
}

TEST_F(Trace, has_messages_only_when_asked_for) {
  for (const bool asked : {false, true}) {
    trace::start(file_, mend::ProcessId{3}, asked);
    trace::message_to(mend::ProcessId{4}, trace::Of::detector);
    EXPECT_EQ(event(stop_and_read(), "message").is_null(), !asked);
  }
}

TEST_F(Trace, that_cannot_be_written_is_a_warning_that_names_the_file) {
  trace::start("/dev/full", mend::ProcessId{0});
  testing::internal::CaptureStderr();
  trace::stop();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "mend: cannot write the trace to /dev/full\n");
  EXPECT_FALSE(trace::is_on());
}

}  // namespace
