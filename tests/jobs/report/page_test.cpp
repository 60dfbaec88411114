// The page in a browser. Needs Chromium; skipped with a message if it is not installed.

#include "jobs/report/page.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <regex>

namespace mend::jobs {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

std::string browser() {
  for (const char* name : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"})
    if (std::filesystem::exists(name)) return name;
  return "";
}

std::string output_of(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::string output;
  std::array<char, 65536> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), read);
  ::pclose(pipe);
  return output;
}

/// The document that the browser has made of a page, and its complaints.
struct Shown {
  std::string document;
  std::vector<std::string> complaints;
};

Shown show(const std::string& page, const std::filesystem::path& folder, const std::string& where = "") {
  std::ofstream(folder / "page.html") << page;
  const std::string log = (folder / "log").string();
  Shown shown;
  shown.document = output_of("timeout 120 " + browser() +
                             " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
                             "--disable-background-networking --disable-component-update --disable-sync "
                             "--window-size=1400,1000 --enable-logging=stderr --dump-dom --user-data-dir='" +
                             (folder / "profile").string() + "' 'file://" + (folder / "page.html").string() + where +
                             "' 2>'" + log + "'");
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (line.find("CONSOLE") != std::string::npos) shown.complaints.push_back(line);
  return shown;
}

/// The content of the element with this id, without tags.
std::string text_in(const std::string& document, const std::string& id, const std::string& tag) {
  const std::size_t begin = document.find("id=\"" + id + "\"");
  const std::size_t end = document.find("</" + tag + ">", begin);
  if (begin == std::string::npos || end == std::string::npos) return "";
  const std::string inside = document.substr(document.find('>', begin) + 1, end - document.find('>', begin) - 1);
  return std::regex_replace(inside, std::regex("(<[^>]*>)+"), "|");
}

/// The events of a job whose ranks commit often; the second rank dies half way. About 2·ranks·commits events.
json events_of(int ranks, int commits) {
  json events = json::array();
  const auto add = [&](int process, const char* name, int begin, int length, json notes) {
    events.push_back({{"name", name},
                      {"ph", "X"},
                      {"pid", process},
                      {"ts", 1'000'000 + begin},
                      {"dur", length},
                      {"args", std::move(notes)}});
  };
  const int half = commits / 2;
  const int death = half * 1000;
  for (int rank = 0; rank < ranks; ++rank) add(rank, "epoch", rank % 7, 0, {{"epoch", 0}, {"rank", rank}});
  add(ranks, "epoch", 5, 0, {{"epoch", 0}});
  for (int rank = 0; rank < ranks; ++rank) {
    const int process = rank == 1 ? ranks : rank;
    for (int commit = 0; commit < commits; ++commit) {
      const int begin = 100 + 1000 * commit + rank % 11 + (commit < half ? 0 : 20'000);
      const int version = commit + 1;
      add(commit < half ? rank : process, "commit", begin, 120, {{"version", version}});
      add(commit < half ? rank : process, "commit", begin + 120, 80, {{"version", version}, {"bytes", 2048}});
    }
    if (rank != 1) add(rank, "dead", death + rank % 5, 0, {{"process", 1}});
    add(process, "interrupt", death, 1000, {{"epoch", 1}});
    add(process, "agree", death + 1000, 2500, {{"epoch", 1}});
    add(process, "rebuild", death + 3500, 4000, {{"epoch", 1}});
    add(process, "recovery", death + 1000, 7000, {{"epoch", 1}});
    add(process, "epoch", death + 8000, 0, {{"epoch", 1}, {"rank", rank}});
    add(process, "restore", death + 8100, rank == 1 ? 5250 : 3000, {{"version", half}});
    add(process, "finished", 1000 * commits + 21'000, 0, json::object());
  }
  return events;
}

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (browser().empty()) GTEST_SKIP() << "the page is not looked at, because Chromium is not installed";
  }
  support::ScratchFolder scratch_;
};

TEST_F(Browser, shows_the_numbers_of_the_traces) {
  const json model = page_model({"heat & ice", timeline_of(parsed(events_of(4, 20))), {}});
  const Shown shown = show(page_of(model), scratch_.path());
  EXPECT_THAT(shown.complaints, IsEmpty());
  EXPECT_EQ(text_in(shown.document, "name", "h1"), "heat &amp; ice");
  EXPECT_THAT(text_in(shown.document, "figures", "dl"),
              HasSubstr("|Ranks|4| and 1 spare|Time|41 ms|Processes died|1|Recoveries|1|Recovery, median|12.75| ms|"
                        "Commits|20|A commit, mean|200 µs|"));
  EXPECT_THAT(text_in(shown.document, "recoveries", "table"),
              HasSubstr("|1|10 ms|rank 1|process 4|1.00|2.50|4.00|5.25|12.75|"));
  EXPECT_EQ(text_in(shown.document, "advice", "p"), model.at("economy").at("advice").get<std::string>() + ".");
  EXPECT_NE(shown.document.find("<canvas"), std::string::npos);
}

TEST_F(Browser, shows_what_there_is_of_a_result_alone) {
  const json result = json::parse(R"({"app": "<heat>", "ranks": 4, "commits": 8, "reported": {"norm": 0.5},
    "phase_seconds": {"commit": 0.5, "restore": 0, "total": 9}, "recoveries": [
    {"epoch": 1, "dead": [2], "replacements": [{"rank": 2, "dead": 2, "newcomer": 4}], "agree_ms": 2.5}]})");
  std::string page = page_of(page_model({"<heat>", std::nullopt, result}));
  page.insert(page.rfind("</body>"), R"(<script>
    const before = root.dataset.theme;
    for (const key of ["n", "ArrowUp", "d"])
      document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    document.body.append(make("p", root.dataset.theme === before ? "as before" : "switched", { id: "said" }));
  </script>)");
  const Shown shown = show(page, scratch_.path());
  EXPECT_THAT(shown.complaints, IsEmpty());
  EXPECT_EQ(text_in(shown.document, "said", "p"), "switched") << "the key d works without a timeline";
  EXPECT_EQ(text_in(shown.document, "name", "h1"), "&lt;heat&gt;");
  EXPECT_THAT(text_in(shown.document, "recoveries", "table"), HasSubstr("|1|rank 2|process 4|2.50|2.50|"));
  EXPECT_THAT(text_in(shown.document, "reported", "table"), HasSubstr("|norm|0.5|"));
  for (const char* left_out : {"<section id=\"timeline-section\"", "<div id=\"commits-chart\""})
    EXPECT_EQ(shown.document.find(left_out), std::string::npos) << left_out << ": there is nothing to draw";
}

TEST_F(Browser, shows_who_went_back_alone_and_the_log_of_each_rank) {
  json events = events_of(4, 20);
  const auto moment = [&](int process, const char* name, int at, json notes) {
    events.push_back(
        {{"name", name}, {"ph", "i"}, {"pid", process}, {"ts", 1'000'000 + at}, {"args", std::move(notes)}});
  };
  for (int step = 0; step < 3; ++step) {
    moment(1, "step", 9'500 + 100 * step, json::object());
    moment(4, "step", 25'000 + 1000 * step, json::object());
  }
  for (int rank = 0; rank < 4; ++rank) {
    moment(rank == 1 ? 4 : rank, "rollback", 18'050,
           {{"epoch", 1},
            {"stays", rank == 1 ? 0 : 1},
            {"version", 10},
            {"kept", rank == 1 ? 0 : 3},
            {"logged", 1024 * rank}});
  }
  const json model = page_model({"heat", timeline_of(parsed(events)), {}});
  const Shown shown = show(page_of(model), scratch_.path());
  EXPECT_THAT(shown.complaints, IsEmpty());
  EXPECT_THAT(text_in(shown.document, "rollbacks", "table"), HasSubstr("|1|rank 1|10|3|9|6 KiB|3 KiB|"));
  EXPECT_NE(shown.document.find("rank 3: 3 KiB logged; keeps 3 steps"), std::string::npos);
  EXPECT_NE(shown.document.find("rank 1: 1 KiB logged; went back"), std::string::npos);
  EXPECT_THAT(text_in(shown.document, "legend", "div"), HasSubstr("computes again"));
  const Shown global = show(page_of(page_model({"heat", timeline_of(parsed(events_of(4, 20))), {}})), scratch_.path());
  EXPECT_EQ(global.document.find("<section id=\"rollbacks-section\""), std::string::npos);
}

TEST_F(Browser, does_what_keys_and_the_search_ask_for) {
  std::string page = page_of(page_model({"heat", timeline_of(parsed(events_of(4, 20))), {}}));
  page.insert(page.rfind("</body>"), R"(<script>(async () => {
    const press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const search = text => { element("search").value = text; element("search").dispatchEvent(new Event("input")); };
    const range = () => element("range").textContent;
    const rows = () => timeline.shown.map(row => model.rows[row].name).join(" ");
    const said = [];
    const say = async what => { await null; await null; said.push(what()); };  // uPlot moves in a microtask
    await say(range);
    press("n"), await say(range);
    press("+"), await say(range);
    press("0"), await say(range);
    search("0, 2-3"), await say(rows);
    search(""), await say(rows);
    press("m"), press("d"), await say(() => root.dataset.theme);
    timeline.plot.setCursor({ left: timeline.plot.valToPos(10000, "x"), top: timeline.plot.valToPos(1.5, "y") });
    await say(() => element("tip").textContent);
    document.body.append(make("p", said.join("; "), { id: "said" }));
  })();</script>)");
  const Shown shown = show(page, scratch_.path());
  EXPECT_THAT(shown.complaints, IsEmpty());
  EXPECT_EQ(text_in(shown.document, "said", "p"),
            "0.0 ms – 41.0 ms; 6.2 ms – 29.1 ms; 11.9 ms – 23.4 ms; 0.0 ms – 41.0 ms; rank 0 rank 2 rank 3; "
            "rank 0 rank 1 rank 2 rank 3 spare 4; dark; rank 1, process 1process died, at 10 ms");
}

/// Measured in the page, where each step of a zoom is drawn at once and its pixels are read.
TEST_F(Browser, zooms_fluently_in_256_ranks_and_a_hundred_thousand_events) {
  const json events = events_of(256, 200);
  const json model = page_model({"large", timeline_of(parsed(events)), {}});
  ASSERT_GE(model.at("bars").at("row").size(), 100'000U);
  ASSERT_EQ(model.at("rows").size(), 257U);
  std::string page = page_of(model);
  page.insert(page.rfind("</body>"), R"(<script>
    const times = [];
    const ctx = timeline.plot.ctx;
    for (let i = 0; i < 40; ++i) {
      const begin = performance.now();
      timeline.plot.batch(() => timeline.zoom(i < 20 ? 0.9 : 1 / 0.9));
      ctx.getImageData(0, 0, 1, 1);
      times.push(performance.now() - begin);
    }
    document.body.append(make("p", times.sort((a, b) => a - b)[20].toFixed(1), { id: "frame" }));
  </script>)");
  const Shown shown = show(page, scratch_.path());
  const std::string frame = text_in(shown.document, "frame", "p");
  ASSERT_FALSE(frame.empty()) << shown.document.substr(0, 200);
  RecordProperty("frame_ms", frame);
  std::printf("  %s ms a frame (median of 40), %zu events\n", frame.c_str(), events.size());
  EXPECT_LT(std::stod(frame), 500) << "far above what it takes on a busy machine without a graphics card";
}

}  // namespace
}  // namespace mend::jobs
