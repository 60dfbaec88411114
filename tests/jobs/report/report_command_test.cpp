// `mend report` as users call it.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;

constexpr const char* a_result = R"({"app": "heat", "ranks": 2, "spares": 0, "recoveries": []})";

constexpr const char* a_trace = R"({"traceEvents":[
{"name":"epoch","ph":"i","pid":0,"ts":1,"args":{"epoch":0,"rank":0}}]})";

/// Makes `folder` the working folder while it lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder) { std::filesystem::current_path(folder); }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
};

class MendReport : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder() / "traces");
    std::ofstream(result()) << a_result;
    std::ofstream(trace()) << a_trace;
  }
  std::filesystem::path folder() const { return scratch_.path(); }
  std::string result() const { return (folder() / "result.json").string(); }
  std::string trace() const { return (folder() / "traces" / "process-0.json").string(); }
  static void expect_refusal(const std::vector<std::string>& line, const std::string& sentence) {
    MendProcess report(line);
    EXPECT_EQ(report.wait(), 2) << report.errors();
    EXPECT_THAT(report.errors(), HasSubstr(sentence));
  }

 private:
  support::ScratchFolder scratch_;
};

TEST_F(MendReport, says_which_page_cannot_be_written) {
  expect_refusal({"report", result(), "--html", "/nonexistent/page.html"}, "--html /nonexistent/page.html cannot be");
}

TEST_F(MendReport, refuses_what_is_nested_too_deep) {
  constexpr std::size_t levels = 100'000;
  const std::string nest = std::string(levels, '[') + std::string(levels, ']');
  std::ofstream(result()) << R"({"app": "heat", "ranks": 2, "recoveries": [], "reported": )" << nest << "}";
  expect_refusal({"report", result()}, "is nested more than 100 levels deep");
  expect_refusal({"report", result(), "--same-as", result()}, "is nested more than 100 levels deep");
  std::ofstream(trace()) << R"({"traceEvents":[{"name":"epoch","ph":"i","pid":0,"ts":1,"args":{"epoch":)" << nest
                         << "}}]}";
  expect_refusal({"report", trace()}, "is nested more than 100 levels deep");
}

TEST_F(MendReport, does_not_call_results_without_an_answer_the_same) {
  std::ofstream(result()) << R"({"app": "heat", "ranks": 2, "recoveries": [], "reported": {}})";
  expect_refusal({"report", result(), "--same-as", result()}, "the program has reported no answer in either run");
}

TEST_F(MendReport, refuses_a_pipe) {
  const auto pipe = folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refusal({"report", pipe.string()}, "is a pipe, and is read more than once: name a file");
}

TEST_F(MendReport, does_not_overwrite_what_it_reports_on) {
  expect_refusal({"report", result(), "--html", result()}, "would overwrite what is reported on: name another file");
  expect_refusal({"report", (folder() / "traces").string(), "--perfetto", trace()},
                 "would overwrite what is reported on");
  std::ifstream in(result());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), a_result);
  {
    const WorkingFolder traces(folder() / "traces");
    expect_refusal({"report", ".", "--perfetto", "process-0.json"}, "would overwrite what is reported on");
  }
  std::ifstream of_trace(trace());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(of_trace), {}), a_trace);
  MendProcess beside({"report", result(), "--html", (folder() / "page.html").string()});
  EXPECT_EQ(beside.wait(), 0) << beside.errors();
}

}  // namespace
