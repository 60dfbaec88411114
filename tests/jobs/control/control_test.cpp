// mend status, mend commit and mend stop, on real jobs: jobs that compute, that have lost a rank, and that are stopped.

#include "jobs/control/job_socket.hpp"
#include "jobs/control/job_state.hpp"
#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

struct Ended {
  explicit Ended(const std::vector<std::string>& arguments) {
    MendProcess process(arguments);
    code = process.wait();
    output = process.output();
    errors = process.errors();
  }
  int code = 0;
  std::string output;
  std::string errors;
};

/// The sockets are in a private folder of the test.
class Control : public testing::Test {
 protected:
  MendProcess start(const std::string& what, const std::vector<std::string>& of_program = {}) const {
    std::vector<std::string> line{"run", "-n", "2", "--spares", "1", "--", MEND_SUBJECT, "leaves:" + what};
    line.insert(line.end(), of_program.begin(), of_program.end());
    return MendProcess(line);
  }
  std::string disk() const { return "--mend-disk=" + (scratch_.path() / "disk").string() + ",every=1000000"; }

  support::ScratchFolder scratch_;
  support::ScopedEnvironment runtime_{{"XDG_RUNTIME_DIR", scratch_.path().string()}};
};

/// A job whose processes from the second one on find no files of mend run, as on other machines.
MendProcess start_elsewhere(const std::string& option, const std::string& here = "0") {
  const std::string hide =
      R"([ "$OMPI_COMM_WORLD_RANK" = ')" + here + R"(' ] || unset MEND_STATUS_FILE; exec "$0" "$@")";
  return MendProcess({"run", "-n", "2", "--spares", "1", "--host", "127.0.0.1:3", "--", "sh", "-c", hide, MEND_SUBJECT,
                      "leaves:ignores", option});
}

std::string name_of(const MendProcess& job) { return std::to_string(job.pid()); }

json state_of(const MendProcess& job) {
  const Ended status({"status", name_of(job), "--json"});
  EXPECT_EQ(status.code, 0) << status.errors;
  return json::parse(status.output);
}

/// The entry of `rank` in the status; null if no process has it.
json rank_in(const json& state, int rank) {
  const auto found = std::ranges::find(state["processes"], json(rank), [](const json& one) { return one["rank"]; });
  return found == state["processes"].end() ? json() : *found;
}

sockaddr_un address_of(const std::filesystem::path& socket_file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_file.string().copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

std::vector<std::string> names_of_searched_folders() {
  std::vector<std::string> names;
  for (const auto& folder : mend::jobs::searched_folders()) names.push_back(folder.string());
  return names;
}

/// As from cron, or after su.
TEST(Sockets, are_looked_for_in_the_folder_of_the_users_sessions_where_its_variable_is_not_set) {
  const support::ScopedEnvironment unset{{"XDG_RUNTIME_DIR", ""}, {"MEND_SOCKETS", ""}};
  const std::string user = std::to_string(::geteuid());
  EXPECT_THAT(names_of_searched_folders(), testing::IsSupersetOf({"/run/user/" + user + "/mend", "/tmp/mend-" + user}));
  const support::ScopedEnvironment named{{"MEND_SOCKETS", "/nowhere"}};
  EXPECT_THAT(names_of_searched_folders(), testing::ElementsAre("/nowhere"));
}

TEST_F(Control, status_shows_ranks_spares_commits_and_where_each_process_is) {
  MendProcess job = start("ignores", {disk()});
  job.wait_for_output("rank 1: goes");
  const json state = state_of(job);
  EXPECT_EQ(state["ranks"], 2);
  EXPECT_EQ(state["spares_left"], 1);
  EXPECT_EQ(state["epoch"], 0);
  EXPECT_GT(state["version"], 0);
  EXPECT_EQ(state["version_on_disk"], 0);
  EXPECT_THAT(state["processes"], testing::SizeIs(3));
  EXPECT_EQ(state["processes"][2]["where"], "waiting as a spare");
  EXPECT_GT(rank_in(state, 1)["memory_bytes"], 1'000'000);
  EXPECT_GT(rank_in(state, 1)["store_bytes"], 0);
  const Ended text({"status", name_of(job)});
  EXPECT_THAT(text.output, AllOf(HasSubstr("2 ranks, 1 of 1 spares left; epoch 0"), HasSubstr("last commit: version "),
                                 HasSubstr("nothing on disk yet"), HasSubstr("waiting as a spare")));
  EXPECT_THAT(Ended({"status"}).output, HasSubstr("job " + name_of(job) + ": "));
}

TEST_F(Control, status_tells_of_the_version_that_a_job_continues_from) {
  {
    MendProcess job = start("asks", {disk()});
    job.wait_for_output("rank 1: goes");
    EXPECT_EQ(Ended({"stop", name_of(job)}).code, 0);
    EXPECT_EQ(job.wait(), 4) << job.errors();
  }
  MendProcess next = start("never_commits", {disk()});
  next.wait_for_output("rank 1: goes");
  const json state = state_of(next);
  EXPECT_GT(state["version"], 0);
  EXPECT_EQ(state["version_on_disk"], state["version"]);
  EXPECT_EQ(rank_in(state, 0)["version"], state["version"]);
  EXPECT_TRUE(state["committed_s_ago"].is_null());
  const std::string version = state["version"].dump();
  EXPECT_THAT(Ended({"status", name_of(next)}).output,
              HasSubstr("continues from version " + version + "; no commit since; on disk: version " + version));
}

TEST_F(Control, status_tells_of_a_rank_that_was_replaced_and_of_one_that_stands_still) {
  MendProcess job = start("ignores", {"--mend-timeout=30000"});
  job.wait_for_output("rank 1: goes");
  const pid_t victim = rank_in(state_of(job), 1)["pid"];
  ::kill(victim, SIGKILL);
  job.wait_for_errors("process 1 died (SIGKILL)");
  const json after = state_of(job);
  EXPECT_EQ(after["epoch"], 1);
  EXPECT_EQ(after["spares_left"], 0);
  EXPECT_EQ(rank_in(after, 1)["process"], 2);
  ::kill(rank_in(after, 1)["pid"].get<pid_t>(), SIGSTOP);
  EXPECT_TRUE(support::soon([&] { return rank_in(state_of(job), 1)["where"] == "stopped"; }));
  EXPECT_TRUE(support::soon([&] { return rank_in(state_of(job), 0)["where"] != "computes"; }));
}

TEST_F(Control, status_asks_processes_on_other_machines) {
  MendProcess job = start_elsewhere("--mend-timeout=30000");
  job.wait_for_output("rank 1: goes");
  const json before = state_of(job);
  EXPECT_THAT(before["processes"], testing::SizeIs(3));
  EXPECT_EQ(before["awaited"], 0);
  EXPECT_EQ(before["spares_left"], 1);
  EXPECT_EQ(rank_in(before, 1)["machine"], rank_in(before, 0)["machine"]);
  EXPECT_GT(rank_in(before, 1)["version"], 0);
  EXPECT_GT(rank_in(before, 1)["memory_bytes"], 1'000'000);
  EXPECT_EQ(before["processes"][2]["where"], "waiting as a spare");

  const pid_t stopped = rank_in(before, 1)["pid"];
  ::kill(stopped, SIGSTOP);
  EXPECT_TRUE(support::soon([&] { return rank_in(state_of(job), 1)["where"] == "does not answer"; }));
  ::kill(stopped, SIGKILL);
  job.wait_for_errors("process 1 died (SIGKILL)");
  EXPECT_TRUE(support::soon([&] { return rank_in(state_of(job), 1)["process"] == 2; }));
  const json after = state_of(job);
  EXPECT_THAT(after["processes"], testing::SizeIs(2));
  EXPECT_EQ(after["epoch"], 1);
  EXPECT_EQ(after["spares_left"], 0);
}

TEST_F(Control, a_job_without_a_process_here_is_asked_to_leave_by_mpirun) {
  for (const char* how : {"stop", "SIGTERM"}) {
    MendProcess job = start_elsewhere(disk(), "none");
    job.wait_for_output("rank 1: goes");
    EXPECT_THAT(Ended({"status", name_of(job)}).output,
                AllOf(HasSubstr("2 ranks, 1 spares; epoch 0"), HasSubstr("no process on this machine can ask")));
    EXPECT_EQ(Ended({"commit", name_of(job)}).code, 1);
    if (how == std::string("stop")) {
      EXPECT_THAT(Ended({"stop", name_of(job)}).output, HasSubstr("is asked to leave at its next commit"));
    } else {
      ::kill(job.pid(), SIGTERM);
    }
    EXPECT_EQ(job.wait(), 4) << job.errors();
    EXPECT_THAT(job.errors(), HasSubstr("the job has left in time (asked by mend run); version ")) << how;
  }
}

TEST_F(Control, status_of_a_program_with_a_strange_name_does_not_end_its_job) {
  const auto program = scratch_.path() / "sleep\xff";
  std::filesystem::create_symlink("/bin/sleep", program);
  MendProcess job({"run", "-n", "2", "--", program.string(), "20"});
  EXPECT_TRUE(support::soon([&] { return Ended({"status", name_of(job)}).code == 0; }));
  EXPECT_THAT(Ended({"status", name_of(job)}).output,
              AllOf(HasSubstr("sleep"), HasSubstr("0 of 2 processes are shown; the others have not begun, or do not")));
  EXPECT_EQ(::kill(job.pid(), 0), 0);
}

TEST_F(Control, a_launcher_that_stands_still_does_not_hang_status) {
  MendProcess job = start("ignores");
  job.wait_for_output("rank 1: goes");
  ::kill(job.pid(), SIGSTOP);
  const auto begun = std::chrono::steady_clock::now();
  const Ended status({"status"});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15));
  EXPECT_EQ(status.code, 1);
  EXPECT_THAT(status.errors, HasSubstr("job " + name_of(job) + " has not answered within 3 s"));
  ::kill(job.pid(), SIGCONT);
}

TEST_F(Control, a_job_that_ends_while_it_is_asked_has_ended) {
  const auto folder = scratch_.path() / "mend";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(folder / "4711.sock");
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  MendProcess status({"status", "4711"});
  ::close(::accept(listener, nullptr, nullptr));  // ends without an answer
  EXPECT_EQ(status.wait(), 2);
  EXPECT_THAT(status.errors(), HasSubstr("there is no job 4711 of yours on this machine"));
  ::close(listener);
}

/// Lets this process open no more descriptors while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = ::dup(STDIN_FILENO);
    ::close(lowest_free);
    const rlimit limit{static_cast<rlim_t>(lowest_free), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_F(Control, a_question_that_cannot_be_accepted_does_not_hold_the_launcher_up_and_is_answered_later) {
  mend::jobs::JobSocket socket(4711, [](const std::string& question) { return "answer to " + question; });
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(scratch_.path() / "mend" / "4711.sock");
  ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::send(client, "status\n", 7, MSG_NOSIGNAL), 7);
  char bytes[64];
  {
    const NoDescriptors here;
    ASSERT_EQ(::dup(STDIN_FILENO), -1);
    socket.poll();
    EXPECT_EQ(::recv(client, bytes, sizeof bytes, MSG_DONTWAIT), -1);
  }
  ssize_t got = -1;
  EXPECT_TRUE(support::soon([&] {
    socket.poll();
    got = ::recv(client, bytes, sizeof bytes, MSG_DONTWAIT);
    return got > 0;
  }));
  EXPECT_EQ(std::string(bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0))), "answer to status");
  ::close(client);
}

TEST_F(Control, commit_brings_a_version_to_disk_and_the_job_goes_on) {
  MendProcess job = start("ignores", {disk()});
  job.wait_for_output("rank 1: goes");
  const Ended commit({"commit", name_of(job)});
  EXPECT_EQ(commit.code, 0) << commit.errors;
  EXPECT_EQ(commit.output, "job " + name_of(job) + " writes its next commit to disk\n");
  job.wait_for_errors(" is on disk, in ");
  EXPECT_TRUE(support::soon([&] { return state_of(job)["version_on_disk"] > 0; }));
  const json first = state_of(job);
  EXPECT_TRUE(support::soon([&] { return state_of(job)["version"] > first["version"]; }));
  EXPECT_EQ(Ended({"commit", name_of(job)}).code, 0);
  EXPECT_TRUE(support::soon([&] { return state_of(job)["version_on_disk"] > first["version_on_disk"]; }));
}

TEST_F(Control, commit_is_done_once_though_some_processes_are_elsewhere) {
  MendProcess job = start_elsewhere(disk());
  job.wait_for_output("rank 1: goes");
  EXPECT_EQ(Ended({"commit", name_of(job)}).code, 0);
  EXPECT_TRUE(support::soon([&] { return state_of(job)["version_on_disk"] > 0; }));
  const json first = state_of(job);
  EXPECT_TRUE(support::soon([&] { return state_of(job)["version"] > first["version"].get<int>() + 5; }));
  EXPECT_EQ(state_of(job)["version_on_disk"], first["version_on_disk"]);
}

TEST_F(Control, commit_says_no_when_the_disk_was_given_up) {
  MendProcess job = start("ignores", {disk()});
  job.wait_for_output("rank 1: goes");
  std::filesystem::rename(scratch_.path() / "disk", scratch_.path() / "moved");
  std::ofstream(scratch_.path() / "disk") << "no folder";
  EXPECT_EQ(Ended({"commit", name_of(job)}).code, 0);
  job.wait_for_errors("no more checkpoints are written to disk");
  EXPECT_TRUE(support::soon([&] { return state_of(job)["disk_given_up"] == true; }));
  EXPECT_THAT(Ended({"status", name_of(job)}).output, HasSubstr("; nothing on disk, and no more is written"));
  const Ended commit({"commit", name_of(job)});
  EXPECT_EQ(commit.code, 1);
  EXPECT_THAT(commit.errors, HasSubstr("writes no more to disk, because that has failed: its messages say why"));
  EXPECT_THAT(Ended({"stop", name_of(job)}).output, HasSubstr("it writes no more to disk, because that has failed"));
}

TEST_F(Control, stop_ends_the_job_at_its_next_commit) {
  MendProcess job = start("asks", {disk()});
  job.wait_for_output("rank 1: goes");
  const Ended stop({"stop", name_of(job)});
  EXPECT_EQ(stop.output, "job " + name_of(job) + " is asked to leave at its next commit\n");
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), HasSubstr("the job has left in time (asked by mend stop); version "));
  EXPECT_THAT(Ended({"stop", "2147483"}).errors, HasSubstr("there is no job 2147483 of yours on this machine"));
}

TEST_F(Control, a_job_is_found_again_when_the_folder_of_sockets_has_vanished) {  // as when its user logs out
  MendProcess job = start("asks", {disk()});
  job.wait_for_output("rank 1: goes");
  std::filesystem::remove_all(scratch_.path() / "mend");
  const std::filesystem::path socket = scratch_.path() / "mend" / (name_of(job) + ".sock");
  for (int i = 0; i < 200 && !std::filesystem::exists(socket); ++i) ::usleep(100'000);
  EXPECT_EQ(Ended({"stop", name_of(job)}).code, 0);
  EXPECT_EQ(job.wait(), 4) << job.errors();
}

TEST_F(Control, watch_ends_with_the_job) {
  MendProcess job = start("asks", {disk()});
  job.wait_for_output("rank 1: goes");
  MendProcess watch({"status", name_of(job), "--watch"});
  watch.wait_for_output("last commit: version ");
  EXPECT_EQ(Ended({"stop", name_of(job)}).code, 0);
  EXPECT_EQ(job.wait(), 4);
  EXPECT_EQ(watch.wait(), 0);
  EXPECT_THAT(watch.output(), HasSubstr(" has ended\n"));
}

TEST_F(Control, watch_ends_when_nobody_reads_any_more) {
  MendProcess job = start("ignores");
  job.wait_for_output("rank 1: goes");
  const std::string command = "timeout 30 " MEND_COMMAND " status " + name_of(job) + " --watch --json";
  FILE* const output = ::popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  EXPECT_EQ(std::fgetc(output), '{');
  // Closes the pipe, and waits for the command. timeout would exit with 124.
  const int status = ::pclose(output);
  EXPECT_EQ(WEXITSTATUS(status), 1) << "the output could not be written";
}

TEST_F(Control, what_cannot_be_is_said) {
  // Another job of the user, in a folder where this test does not look.
  const support::ScopedEnvironment elsewhere{{"XDG_RUNTIME_DIR", ""}};
  MendProcess other = start("ignores");
  other.wait_for_output("rank 1: goes");
  const support::ScopedEnvironment here{{"MEND_SOCKETS", (scratch_.path() / "sockets").string()}};
  EXPECT_EQ(Ended({"status"}).output, "no job of yours runs on this machine\n");
  EXPECT_EQ(Ended({"status", "--watch"}).code, 2);
  MendProcess job = start("ignores");
  job.wait_for_output("rank 1: goes");
  const Ended commit({"commit", name_of(job)});
  EXPECT_EQ(commit.code, 1);
  EXPECT_THAT(commit.errors, HasSubstr("has no disk: start it with --mend-disk"));
  EXPECT_THAT(Ended({"stop", name_of(job)}).output, HasSubstr("leaves only if it asks should_exit()"));
}

/// A process of a status as mend run gives it.
json process_on(const json& machine, int rank, const std::string& where) {
  return {{"machine", machine}, {"rank", rank},      {"process", rank},    {"pid", 100 + rank},
          {"epoch", 0},         {"version", 7},      {"store_bytes", 0.0}, {"memory_bytes", 1024.0},
          {"where", where},     {"since_s", nullptr}};
}

TEST(StatusText, has_a_column_for_machines_if_there_are_several) {
  json state{{"job", 1},
             {"program", "solver"},
             {"ranks", 2},
             {"spares", 0},
             {"spares_left", 0},
             {"epoch", 0},
             {"running_s", 1.0},
             {"launched", 2},
             {"version", 0},
             {"asked_to_leave", nullptr},
             {"processes", {process_on("n1", 0, "computes"), process_on("login-node", 1, "does not answer")}}};
  const std::string text = mend::jobs::to_text(state);
  EXPECT_THAT(text, HasSubstr("memory  machine     where\n"));
  EXPECT_THAT(text, HasSubstr("1KiB  n1          computes\n"));
  EXPECT_THAT(text, HasSubstr("1KiB  login-node  does not answer\n"));
  state["processes"][1]["machine"] = "n1";
  EXPECT_THAT(mend::jobs::to_text(state), HasSubstr("memory  where\n"));
  state["processes"].erase(1);
  EXPECT_THAT(mend::jobs::to_text(state), HasSubstr("1 of 2 processes are shown; no process on this machine can ask"));
}

TEST(StatusText, tells_a_version_that_was_restored_from_one_that_was_committed) {
  json state{{"job", 1},
             {"program", "solver"},
             {"ranks", 1},
             {"spares", 0},
             {"spares_left", 0},
             {"epoch", 0},
             {"running_s", 1.0},
             {"launched", 1},
             {"version", 7},
             {"committed_s_ago", nullptr},
             {"has_disk", true},
             {"disk_given_up", false},
             {"version_on_disk", 7},
             {"asked_to_leave", nullptr},
             {"processes", json::array({process_on("n1", 0, "computes")})}};
  EXPECT_THAT(mend::jobs::to_text(state),
              HasSubstr("  continues from version 7; no commit since; on disk: version 7\n"));
  state["committed_s_ago"] = 2.0;
  EXPECT_THAT(mend::jobs::to_text(state), HasSubstr("  last commit: version 7, 2s ago; on disk: version 7\n"));
}

/// What the job's socket answers a process of the user `uid`, as far as its buffer goes.
std::string answer_to(uid_t uid, const std::filesystem::path& socket_file) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t asker = ::fork();
  if (asker == 0) {
    const int line = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = address_of(socket_file);
    const bool asks = ::setuid(uid) == 0 &&
                      ::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                      ::send(line, "status\n", 7, MSG_NOSIGNAL) == 7;
    char bytes[64];
    const ssize_t got = asks ? ::recv(line, bytes, sizeof bytes, 0) : -1;
    const std::string answer =
        !asks && errno == EACCES ? "cannot connect" : std::string(bytes, std::max<ssize_t>(got, 0));
    const bool is_told = ::write(ends[1], answer.data(), answer.size()) >= 0;
    ::_exit(is_told ? 0 : 1);
  }
  ::close(ends[1]);
  char bytes[64];
  const ssize_t got = ::read(ends[0], bytes, sizeof bytes);
  ::close(ends[0]);
  ::waitpid(asker, nullptr, 0);
  return std::string(bytes, std::max<ssize_t>(got, 0));
}

TEST_F(Control, another_user_gets_no_answer_even_if_the_folder_lets_him_in) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can ask as another user";
  constexpr uid_t nobody = 65534;
  MendProcess job = start("ignores");
  job.wait_for_output("rank 1: goes");
  const auto folder = scratch_.path() / "mend";
  const auto file = folder / (name_of(job) + ".sock");
  for (const auto& open : {scratch_.path(), folder, file})
    std::filesystem::permissions(open, std::filesystem::perms::all);
  EXPECT_THAT(answer_to(::geteuid(), file), HasSubstr("asked_to_leave"));
  EXPECT_EQ(answer_to(nobody, file), "");
}

TEST_F(Control, the_folder_is_the_users_alone_and_empty_when_the_job_has_ended) {
  const auto folder = scratch_.path() / "mend";
  {
    MendProcess job = start("ends");
    EXPECT_EQ(job.wait(), 0);
  }
  struct stat about {};
  ASSERT_EQ(::lstat(folder.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  MendProcess job = start("ends");
  EXPECT_EQ(job.wait(), 0);
  EXPECT_THAT(job.errors(), HasSubstr("mend status will not find this job: " + folder.string() +
                                      " is not a folder that is yours alone"));
}

}  // namespace
