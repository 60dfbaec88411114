// One call of one process fails, each call in turn. The job continues, recovers from that process's death, or ends with
// a sentence. It never hangs, and never reports a wrong end. A call may fail once, or from then on whenever it is made.
//
// A run without failures lists the calls (failing_calls.cpp says which are counted). Then each of them fails in a run
// of its own, or in two; with MEND_TEST_LONG=1 all of them, otherwise some. MEND_TEST_PART=2/5 tests the second fifth
// of them.

#include "tests/support/job.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

namespace {

constexpr int spares = 1;

enum class Kind { system, memory };
enum class Failing { once, forever };

/// A call of the program, as listed by failing_calls.cpp.
struct Call {
  std::string phase;
  std::string function;
  std::string frames;
  int nth = 0;

  std::string order() const { return fmt::format("{} {} {}", function, frames, nth); }
};

struct Attempt {
  support::JobEnd end;
  std::vector<Call> listed;
  bool has_failed = false;  ///< the call that should fail has failed
};

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A job in which a rank dies, the spare takes over and dies, and a process is started.
struct Program {
  const char* name;
  int ranks;
  std::vector<std::string> line;  ///< with the deaths
  std::vector<std::string> results;
  bool has_disk;
  bool speaks_after_job = false;  ///< each process that has a rank
};

const std::vector<std::string> sums{"rank 0: total 234 and 1092", "rank 1: total 234 and 1092",
                                    "rank 2: total 234 and 1092"};
const Program in_cpp{"in C++", 3, {MEND_FAILING_CALLS_SUBJECT, "1@4", "3@8"}, sums, true, true};
const Program in_c{"in C", 3, {MEND_FAILING_CALLS_C_SUBJECT, "1@4", "3@8"}, sums, true};
/// tests/fenix/jump_subject.c: its first argument is the number of spares.
const Program in_fenix{
    "for Fenix",
    3,
    {MEND_FAILING_CALLS_FENIX_SUBJECT, "1", "--die=computing:4:1:1,committed:9:1:0"},
    {"rank 0: total 630, field 15647500", "rank 1: total 630, field 40647500", "rank 2: total 630, field 65647500"},
    false};

/// The calls are those of `process`.
Attempt run(const Program& program, int process, Kind kind, const std::optional<Call>& failing,
            Failing times = Failing::once) {
  const support::ScratchFolder scratch;
  const auto list = scratch.path() / "list";
  const auto done = scratch.path() / "done";
  std::vector<std::string> line{"env", fmt::format("LD_PRELOAD={}", MEND_FAILING_CALLS),
                                fmt::format("FAILING_CALLS_PROCESS={}", process)};
  if (kind == Kind::memory) line.emplace_back("FAILING_CALLS_MEMORY=1");
  if (times == Failing::forever) line.emplace_back("FAILING_CALLS_FOREVER=1");
  if (failing) {
    line.push_back("FAILING_CALLS_FAIL=" + failing->order());
    line.push_back("FAILING_CALLS_DONE=" + done.string());
  } else {
    line.push_back("FAILING_CALLS_LIST=" + list.string());
  }
  line.insert(line.end(), program.line.begin(), program.line.end());
  line.insert(line.end(), {"--mend-on-failure=spare,spawn", "--mend-redundancy=replicas:2", "--mend-commit-every=2",
                           fmt::format("--mend-trace={}", (scratch.path() / "trace").string())});
  if (program.has_disk) line.push_back(fmt::format("--mend-disk={},every=2", (scratch.path() / "disk").string()));
  support::Job job = support::mend_run(program.ranks, spares, line);
  const auto launcher_end = std::find(job.command.begin(), job.command.end(), "--");
  job.command.insert(launcher_end, {"--start-limit", "10"});
  job.deadline = std::chrono::seconds(40);
  Attempt attempt;
  attempt.end = support::run_job(job);
  attempt.has_failed = std::filesystem::exists(done);
  std::ifstream file(list);
  for (Call call; file >> call.phase >> call.function >> call.frames >> call.nth;) attempt.listed.push_back(call);
  return attempt;
}

std::vector<unsigned long> addresses_of(const Call& call) {
  std::vector<unsigned long> addresses;
  std::istringstream frames(call.frames);
  for (std::string frame; std::getline(frames, frame, '.');) {
    addresses.push_back(std::stoul(frame, nullptr, 16) - 1);  // of the call, not of the instruction after it
  }
  return addresses;
}

/// For each call, the name of the innermost frame in mend, or of the innermost frame if there is none in mend. One run
/// of addr2line is enough for all.
std::vector<std::string> places_of(const Program& program, const std::vector<Call>& calls) {
  std::string command = fmt::format("addr2line -f -C -e {}", program.line.front());
  for (const Call& call : calls) {
    for (const unsigned long address : addresses_of(call)) command += fmt::format(" {:x}", address);
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), &::pclose);
  const auto next_line = [&] {
    std::array<char, 4096> line{};
    const bool is_there = output && std::fgets(line.data(), line.size(), output.get()) != nullptr;
    return std::string(is_there ? line.data() : "");
  };
  std::vector<std::string> places;
  for (const Call& call : calls) {
    std::string first;
    std::string of_mend;
    for (std::size_t left = addresses_of(call).size(); left > 0; --left) {
      std::string name = next_line();
      name = name.substr(0, name.find_first_of("(\n"));
      std::string where = next_line();
      where = where.substr(where.rfind('/') + 1);
      where = where.substr(0, where.find_first_of(" \n"));
      if (first.empty()) first = name + " " + where;
      const bool is_of_mend = name.starts_with("mend::") || name.starts_with("main");
      if (of_mend.empty() && is_of_mend) of_mend = name + " " + where;
    }
    places.push_back(of_mend.empty() ? first : of_mend);
  }
  return places;
}

std::string place_of(const Program& program, const Call& call) { return places_of(program, {call}).front(); }

/// The results that the ranks print at the end, without how they were reached. Once, though all print them again when
/// the body is entered again after its end.
std::vector<std::string> results(const support::JobEnd& end) {
  std::vector<std::string> lines = support::lines_of(end.output);
  std::erase_if(lines, [](const std::string& line) { return !line.starts_with("rank "); });
  for (std::string& line : lines) line = line.substr(0, line.find(", role"));
  const std::set<std::string> different(lines.begin(), lines.end());
  return {different.begin(), different.end()};
}

/// The ranks that have said something after the job.
std::set<std::string> ranks_after_job(const support::JobEnd& end) {
  std::set<std::string> ranks;
  for (const std::string& line : support::lines_of(end.output)) {
    if (line.starts_with("after the job: ")) ranks.insert(line.substr(line.find(':') + 2));
  }
  return ranks;
}

/// Describes the end of the job, and fails the test unless it is a permitted one.
std::string judge(const Program& program, const Attempt& attempt, const Call& call, int process) {
  const support::JobEnd& end = attempt.end;
  SCOPED_TRACE(
      fmt::format("process {}: {} ({}) in {}, {}", process, call.order(), place_of(program, call), call.phase,
                  fmt::format("exit code {}\n--- output\n{}--- errors\n{}", end.exit_code, end.output, end.errors)));
  if (!end.in_time) return "hung";
  if (!attempt.has_failed) return "not reached";
  EXPECT_THAT(end.errors, testing::Not(testing::HasSubstr("will not be noticed")));
  if (end.exit_code == 0) {
    EXPECT_EQ(results(end), program.results);
    EXPECT_THAT(end.errors, testing::Not(testing::HasSubstr("after the end of the job: ")));
    const int after_job = program.speaks_after_job ? program.ranks : 0;
    EXPECT_EQ(ranks_after_job(end).size(), static_cast<std::size_t>(after_job));
    return end.errors.find("cannot go on") != std::string::npos ? "recovered" : "went on";
  }
  // A fault of the library: its daemon crashes if a process that connects to it dies at the wrong time.
  if (end.errors.find("mpirun was killed by SIGSEGV") != std::string::npos) return "mpirun crashed";
  // Nothing can catch what a static object throws before main.
  const bool is_before_main = call.phase == "launch" && end.exit_code == 128 + SIGABRT &&
                              end.errors.find("was ended by SIGABRT before the job had begun") != std::string::npos;
  if (!is_before_main) {
    EXPECT_THAT(end.exit_code, testing::AllOf(testing::Ge(1), testing::Le(3)));
  }
  EXPECT_THAT(support::complaints(end), testing::Contains(testing::HasSubstr("mend")));
  for (const std::string& line : results(end)) EXPECT_THAT(program.results, testing::Contains(line));
  return "ended";
}

/// The job's complaints, for the table of all calls.
std::string complaints_of(const support::JobEnd& end) {
  std::string all;
  for (const std::string& line : support::complaints(end)) all += "\n      " + line;
  return all;
}

/// All calls that can be distinguished; of repeated calls, the first few.
std::vector<Call> worth_failing(std::vector<Call> calls, Kind kind) {
  const int most = kind == Kind::memory ? 1 : 3;
  std::erase_if(calls, [most](const Call& call) { return call.nth > most; });
  return calls;
}

/// The calls that are tried in this run.
std::vector<Call> chosen(const std::vector<Call>& calls, std::size_t sample) {
  const bool all = support::long_tests();
  const std::size_t stride = all ? 1 : std::max<std::size_t>(1, calls.size() / sample);
  std::size_t part = 1;
  std::size_t parts = 1;
  char slash = 0;
  if (std::istringstream text(setting("MEND_TEST_PART")); !(text >> part >> slash >> parts)) part = parts = 1;
  std::vector<Call> those;
  for (std::size_t i = 0; i < calls.size(); i += stride) {
    if (i / stride % parts == part - 1) those.push_back(calls[i]);
  }
  return those;
}

/// Makes each call of `process` fail in turn, and prints the result.
void walk(const Program& program, int process, Kind kind, std::size_t sample) {
  const Attempt undisturbed = run(program, process, kind, std::nullopt);
  ASSERT_EQ(undisturbed.end.exit_code, 0) << undisturbed.end.errors;
  ASSERT_EQ(results(undisturbed.end), program.results);
  const std::vector<Call> calls = worth_failing(undisturbed.listed, kind);
  ASSERT_GT(calls.size(), 20U);

  struct Row {
    std::size_t calls = 0;
    std::set<std::string> places;
    std::map<std::string, int> outcomes;
  };
  std::map<std::pair<std::string, std::string>, Row> table;
  for (const Call& call : undisturbed.listed) ++table[{call.phase, call.function}].calls;
  std::size_t reached = 0;
  const std::vector<Call> tried = chosen(calls, sample);
  std::size_t runs = 0;
  const auto fail = [&](const Call& call, Failing times) {
    ++runs;
    const Attempt failed = run(program, process, kind, call, times);
    const std::string outcome = judge(program, failed, call, process);
    reached += failed.has_failed ? 1 : 0;
    if (support::long_tests()) {
      std::cout << fmt::format("{} {} {}{} ({}): {}{}\n", call.phase, call.function, call.nth,
                               times == Failing::forever ? " and later" : "", place_of(program, call), outcome,
                               outcome == "ended" ? complaints_of(failed.end) : "")
                << std::flush;
    }
    Row& row = table[{call.phase, call.function}];
    row.places.insert(call.frames);
    ++row.outcomes[outcome];
  };
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (support::long_tests() || i % 2 == 0) fail(tried[i], Failing::once);
    if (support::long_tests() || i % 2 == 1) fail(tried[i], Failing::forever);
  }
  std::cout << fmt::format("process {} {}: {} calls, {} of them told apart, {} failed\n", process, program.name,
                           undisturbed.listed.size(), calls.size(), reached);
  std::cout << fmt::format("{:10} {:16} {:>7} {:>7}  {}\n", "phase", "call", "calls", "places", "outcomes");
  for (const auto& [key, row] : table) {
    std::vector<std::string> outcomes;
    for (const auto& [outcome, count] : row.outcomes) outcomes.push_back(fmt::format("{} {}", count, outcome));
    std::cout << fmt::format("{:10} {:16} {:>7} {:>7}  {}\n", key.first, key.second, row.calls, row.places.size(),
                             fmt::join(outcomes, ", "));
  }
  EXPECT_GE(2 * reached, runs) << "most calls that were to fail were not made";
}

/// Each of these calls, in the process that starts others, costs only that process.
TEST(AFailingCall, of_one_process_does_not_end_the_job) {
  const Attempt undisturbed = run(in_cpp, 0, Kind::system, std::nullopt);
  struct Wanted {
    std::string function;
    std::string phase;       // empty: any phase after the start
    std::string place = "";  // a part of the name of the caller
  };
  const std::vector<Wanted> all{
      {"getifaddrs", "start"},  // when it introduces itself
      {"pipe2", ""},            // when it starts a process in the background
      {"listen", ""},           // the same
      {"pthread_create", "recovery"},
      {"open", "", "mend::trace"},      // when it begins to trace
      {"write", "end", "mend::trace"},  // when it writes the trace
  };
  for (const auto& [function, phase, place] : all) {
    const auto found = std::ranges::find_if(undisturbed.listed, [&](const Call& call) {
      return call.function == function &&
             (phase.empty() ? call.phase != "start" && call.phase != "launch" : call.phase == phase) &&
             (place.empty() || place_of(in_cpp, call).find(place) != std::string::npos);
    });
    if (found == undisturbed.listed.end()) {
      ADD_FAILURE() << "no call of " << function << " in " << phase << " " << place;
      continue;
    }
    const Attempt failed = run(in_cpp, 0, Kind::system, *found);
    EXPECT_TRUE(failed.has_failed) << function;
    EXPECT_THAT(judge(in_cpp, failed, *found, 0), testing::AnyOf("went on", "recovered")) << complaints_of(failed.end);
  }
}

/// The process that starts others lacks what it needs for that, whenever it tries, or cannot tell those that it has
/// started that they are in: another one starts them.
TEST(AFailingCall, of_the_first_host_is_answered_by_the_choice_of_another) {
  const Attempt undisturbed = run(in_cpp, 0, Kind::system, std::nullopt);
  for (const std::string function : {"pipe2", "listen", "epoll_create1", "sendmsg"}) {
    const std::string place = function == "sendmsg" ? "mend::NewcomerHost::admit" : "";
    const auto found = std::ranges::find_if(undisturbed.listed, [&](const Call& call) {
      return call.function == function && call.phase != "start" && call.phase != "launch" &&
             place_of(in_cpp, call).starts_with(place);
    });
    if (found == undisturbed.listed.end()) {
      ADD_FAILURE() << "no call of " << function;
      continue;
    }
    const Attempt failed = run(in_cpp, 0, Kind::system, *found, Failing::forever);
    EXPECT_TRUE(failed.has_failed) << function;
    EXPECT_EQ(judge(in_cpp, failed, *found, 0), "went on") << complaints_of(failed.end);
    EXPECT_THAT(failed.end.errors, testing::ContainsRegex("process 3 died .SIGKILL., process [4-7] took over"));
  }
}

/// The same, and the MPI library cannot accept the connection of the one that was started, which it does not report.
/// A process that replaces the spare is started in the background. It may have connected before ("later_full"), and
/// then cannot be admitted. A process without descriptors may not be able to meet a process that another one has
/// started; then it is replaced too.
TEST(AProcess, whose_descriptors_are_all_in_use_does_not_keep_others_from_starting_one) {
  for (const char* full : {"full:0@6", "later_full:0@6"}) {
    support::Job job = support::mend_run(
        3, spares,
        {MEND_FAILING_CALLS_SUBJECT, "1@4", full, "3@8", "--mend-on-failure=spare,spawn",
         "--mend-redundancy=replicas:2", "--mend-commit-every=2", "--mend-spawn-limit=4", "--mend-stuck-limit=4"});
    job.deadline = std::chrono::seconds(40);
    const support::JobEnd end = support::run_job(job);
    EXPECT_TRUE(end.in_time);
    EXPECT_EQ(end.exit_code, 0) << full << end.errors;
    EXPECT_EQ(results(end), sums) << full << end.errors;
  }
}

/// The started process is turned away, perhaps when it is needed. The next one must be able to connect and take over.
TEST(AFailingCall, for_a_started_process_keeps_the_listener_open) {
  const Attempt undisturbed = run(in_cpp, 0, Kind::system, std::nullopt);
  const auto is_of_a_line = [](const Call& call) {
    return call.function == "pthread_create" && place_of(in_cpp, call).find("Connection::Impl") != std::string::npos;
  };
  const auto found = std::ranges::find_if(undisturbed.listed, is_of_a_line);
  ASSERT_NE(found, undisturbed.listed.end());
  const Attempt failed = run(in_cpp, 0, Kind::system, *found);
  EXPECT_TRUE(failed.has_failed);
  EXPECT_THAT(judge(in_cpp, failed, *found, 0), testing::AnyOf("went on", "recovered")) << complaints_of(failed.end);
  EXPECT_THAT(failed.end.errors, testing::Not(testing::HasSubstr("Bad file descriptor")));
}

/// The others are watched all the same: a spare takes its place, if there is one.
TEST(AFailingCall, for_the_control_network_at_the_start_costs_that_process_alone) {
  for (const int process : {0, 2}) {
    const Attempt undisturbed = run(in_cpp, process, Kind::system, std::nullopt);
    for (const std::string wanted : {"socket", "bind", "listen"}) {
      const auto found = std::ranges::find_if(undisturbed.listed, [&](const Call& call) {
        return call.function == wanted && call.phase == "start" &&
               place_of(in_cpp, call).find("ControlNetwork") != std::string::npos;
      });
      if (found == undisturbed.listed.end()) {
        ADD_FAILURE() << "no call of " << wanted << " at the start";
        continue;
      }
      const Attempt failed = run(in_cpp, process, Kind::system, *found);
      EXPECT_TRUE(failed.has_failed) << wanted;
      EXPECT_EQ(judge(in_cpp, failed, *found, process), "recovered") << complaints_of(failed.end);
      EXPECT_THAT(failed.end.errors, testing::HasSubstr(fmt::format(
                                         "process {} cannot go on: the control network cannot listen", process)));
    }
  }
}

/// The names of a function, one of which is in a stack: it may be inlined into the next.
using Names = std::vector<std::string>;

/// Lets an allocation of process 2 fail in the functions `wanted` in `phase`.
void expect_to_cost_that_process_alone(const std::string& phase, const std::vector<Names>& wanted) {
  std::vector<Call> calls = run(in_cpp, 2, Kind::memory, std::nullopt).listed;
  std::erase_if(calls, [&](const Call& call) { return call.phase != phase || call.nth != 1; });
  const std::vector<std::string> places = places_of(in_cpp, calls);
  for (const Names& names : wanted) {
    const std::string& place = names.front();
    const auto at = std::ranges::find_if(places, [&](const std::string& one) {
      return std::ranges::any_of(names, [&](const std::string& name) { return one.starts_with(name); });
    });
    if (at == places.end()) {
      ADD_FAILURE() << "no memory is asked for in " << place;
      continue;
    }
    const Call& call = calls[static_cast<std::size_t>(at - places.begin())];
    const Attempt failed = run(in_cpp, 2, Kind::memory, call);
    EXPECT_TRUE(failed.has_failed) << place;
    EXPECT_EQ(judge(in_cpp, failed, call, 2), "recovered") << complaints_of(failed.end);
  }
}

/// The others wait in a commit for messages of this process: it ends, and they recover.
TEST(AFailingAllocation, between_the_votes_of_a_commit_costs_that_process_alone) {
  expect_to_cost_that_process_alone("commit",
                                    {{"mend::encode"}, {"mend::MemberGroup::publish_commit", "mend::publish_commit"}});
}

/// Lets an allocation of `process` fail at each place in phase `end`: the rest of its work is not done, and mend
/// reports it. All have agreed to end, so this process must not begin the body again, and the others end.
void expect_to_be_told_after_the_end(const Program& program, int process, const std::string& wanted) {
  std::vector<Call> calls = run(program, process, Kind::memory, std::nullopt).listed;
  std::erase_if(calls, [](const Call& call) { return call.phase != "end" || call.nth != 1; });
  const std::vector<std::string> places = places_of(program, calls);
  std::set<std::string> tried;
  int told = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!places[i].starts_with("mend::") || !tried.insert(places[i].substr(0, places[i].find(' '))).second) continue;
    const Attempt failed = run(program, process, Kind::memory, calls[i]);
    const std::string outcome = judge(program, failed, calls[i], process);
    const bool is_after_the_end = failed.end.errors.find("after the end of the job: ") != std::string::npos;
    EXPECT_TRUE(is_after_the_end || !places[i].starts_with(wanted)) << places[i] << complaints_of(failed.end);
    if (!is_after_the_end) continue;
    ++told;
    EXPECT_EQ(outcome, "ended") << places[i] << complaints_of(failed.end);
    EXPECT_EQ(failed.end.exit_code, 1) << places[i];
    const bool body_tells_results = &program == &in_cpp;
    EXPECT_TRUE(!body_tells_results || results(failed.end) == program.results) << places[i] << failed.end.output;
  }
  EXPECT_GT(told, 0);
}

TEST(AFailingAllocation, after_the_end_is_agreed_is_told_and_fails_the_job) {
  expect_to_be_told_after_the_end(in_cpp, 2, "mend::FailureDetector::end");
}
TEST(AFailingAllocationInFenix, after_the_end_is_agreed_is_told_and_fails_the_job) {
  expect_to_be_told_after_the_end(in_fenix, 0, "mend::FailureDetector::end");
}

/// Has process 2 lack memory wherever it asks for some in the last agreements. Others may have learnt from its votes
/// that all agree to end: then nobody recovers, and what it would have done after the job is not done.
TEST(AFailingAllocation, while_the_end_is_decided_fails_the_job_or_is_recovered_from) {
  std::vector<Call> calls = run(in_cpp, 2, Kind::memory, std::nullopt).listed;
  std::erase_if(calls, [](const Call& call) { return call.phase != "end"; });
  const std::vector<std::string> places = places_of(in_cpp, calls);
  const auto is_over = [](const std::string& place) { return place.starts_with("mend::FailureDetector::end"); };
  const auto decided = std::ranges::find_if(places, is_over);
  ASSERT_NE(decided, places.end());
  int told = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(decided - places.begin()); ++i) {
    const Attempt failed = run(in_cpp, 2, Kind::memory, calls[i]);
    const std::string outcome = judge(in_cpp, failed, calls[i], 2);
    if (outcome != "ended") continue;
    EXPECT_EQ(failed.end.exit_code, 1) << places[i];
    EXPECT_THAT(failed.end.errors, testing::ContainsRegex("cannot go on (while|after) the end of the job"));
    EXPECT_EQ(results(failed.end), in_cpp.results) << places[i];
    ++told;
  }
  EXPECT_GT(told, 0);
}

/// The others wait for this process in MPI_Init.
TEST(AFailingAllocation, before_mpi_is_initialised_ends_the_job_in_one_sentence) {
  for (const int process : {0, 2}) {
    std::vector<Call> calls = run(in_cpp, process, Kind::memory, std::nullopt).listed;
    std::erase_if(calls, [](const Call& call) { return call.phase != "launch" || call.nth != 1; });
    const std::vector<std::string> places = places_of(in_cpp, calls);
    for (const std::string wanted : {"mend::take_options", "mend::log::set_level", "mend::Job::Job"}) {
      const auto at = std::ranges::find_if(places, [&](const std::string& one) { return one.starts_with(wanted); });
      if (at == places.end()) {
        // Only the first process looks for misspelt variables there.
        EXPECT_TRUE(process != 0 && wanted == "mend::Job::Job") << "no memory is asked for in " << wanted;
        continue;
      }
      const Call& call = calls[static_cast<std::size_t>(at - places.begin())];
      const Attempt failed = run(in_cpp, process, Kind::memory, call);
      EXPECT_TRUE(failed.has_failed) << wanted;
      EXPECT_EQ(judge(in_cpp, failed, call, process), "ended") << complaints_of(failed.end);
      EXPECT_EQ(failed.end.exit_code, 1) << wanted;
      EXPECT_THAT(support::complaints(failed.end), testing::ElementsAre(testing::HasSubstr(fmt::format(
                                                       "process {} cannot begin the job: std::bad_alloc", process))))
          << wanted;
    }
  }
}

constexpr std::size_t quick = 6;
constexpr std::size_t quicker = 3;  // only the start, the end and the return to the body differ from the program in C++

TEST(AFailingCall, of_the_first_rank_which_starts_processes_hangs_nobody) { walk(in_cpp, 0, Kind::system, quick); }
TEST(AFailingCall, of_another_rank_hangs_nobody) { walk(in_cpp, 2, Kind::system, quick); }
TEST(AFailingCall, of_a_spare_that_takes_over_hangs_nobody) { walk(in_cpp, 3, Kind::system, quick); }
TEST(AFailingCall, of_a_process_that_is_started_hangs_nobody) { walk(in_cpp, 4, Kind::system, quick); }
TEST(AFailingAllocation, of_the_first_rank_hangs_nobody) { walk(in_cpp, 0, Kind::memory, quick); }
TEST(AFailingAllocation, of_a_spare_that_takes_over_hangs_nobody) { walk(in_cpp, 3, Kind::memory, quick); }
TEST(AFailingAllocation, of_a_process_that_is_started_hangs_nobody) { walk(in_cpp, 4, Kind::memory, quick); }

/// A program for Fenix may ignore the result of a commit.
TEST(AFailingAllocationInFenix, of_a_commit_costs_that_process_alone) {
  const Attempt undisturbed = run(in_fenix, 0, Kind::memory, std::nullopt);
  int failed = 0;
  for (const Call& call : undisturbed.listed) {
    if (call.nth > 1 || call.phase != "commit" || failed == 3) continue;
    const Attempt attempt = run(in_fenix, 0, Kind::memory, call);
    if (attempt.has_failed) ++failed;
    EXPECT_THAT(judge(in_fenix, attempt, call, 0), testing::AnyOf("went on", "recovered", "not reached"))
        << complaints_of(attempt.end);
  }
  EXPECT_EQ(failed, 3);
}

/// Complete only in the long mode.
void walk_at_length(const Program& program, int process, Kind kind) {
  if (!support::long_tests()) GTEST_SKIP() << "set MEND_TEST_LONG=1 to walk through this too";
  walk(program, process, kind, quicker);
}

TEST(AFailingCallInC, of_the_first_rank_which_starts_processes_hangs_nobody) { walk(in_c, 0, Kind::system, quicker); }
TEST(AFailingCallInC, of_another_rank_hangs_nobody) { walk_at_length(in_c, 2, Kind::system); }
TEST(AFailingCallInC, of_a_spare_that_takes_over_hangs_nobody) { walk_at_length(in_c, 3, Kind::system); }
TEST(AFailingCallInC, of_a_process_that_is_started_hangs_nobody) { walk_at_length(in_c, 4, Kind::system); }
TEST(AFailingAllocationInC, of_the_first_rank_hangs_nobody) { walk_at_length(in_c, 0, Kind::memory); }
TEST(AFailingAllocationInC, of_a_spare_that_takes_over_hangs_nobody) { walk(in_c, 3, Kind::memory, quicker); }
TEST(AFailingAllocationInC, of_a_process_that_is_started_hangs_nobody) { walk_at_length(in_c, 4, Kind::memory); }
TEST(AFailingCallInFenix, of_the_first_rank_which_starts_processes_hangs_nobody) {
  walk(in_fenix, 0, Kind::system, quicker);
}
TEST(AFailingCallInFenix, of_another_rank_hangs_nobody) { walk_at_length(in_fenix, 2, Kind::system); }
TEST(AFailingCallInFenix, of_a_spare_that_takes_over_hangs_nobody) { walk_at_length(in_fenix, 3, Kind::system); }
TEST(AFailingCallInFenix, of_a_process_that_is_started_hangs_nobody) { walk_at_length(in_fenix, 4, Kind::system); }
TEST(AFailingAllocationInFenix, of_the_first_rank_hangs_nobody) { walk_at_length(in_fenix, 0, Kind::memory); }
TEST(AFailingAllocationInFenix, of_a_spare_that_takes_over_hangs_nobody) { walk(in_fenix, 3, Kind::memory, quicker); }
TEST(AFailingAllocationInFenix, of_a_process_that_is_started_hangs_nobody) {
  walk_at_length(in_fenix, 4, Kind::memory);
}

}  // namespace
