// Requests from outside, and the death of a rank: what was carried out is not carried out again by a process that takes
// over a rank, and a job that is leaving leaves.

#include "tests/support/job.hpp"
#include "tests/support/mend_process.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

std::string answer_of(const std::vector<std::string>& arguments) {
  MendProcess command(arguments);
  EXPECT_EQ(command.wait(), 0) << command.errors();
  return command.output();
}

json status_of(const MendProcess& job) {
  return json::parse(answer_of({"status", std::to_string(job.pid()), "--json"}), nullptr, false);
}

std::size_t number_in(const json& status, const char* key) {
  return status.is_object() ? status.value(key, std::size_t{0}) : 0;
}

/// Rank 1 dies some commits after `mend commit` was carried out.
void expect_one_version_on_disk(const std::string& spares, const std::string& on_failure) {
  const support::ScratchFolder scratch;
  const support::ScopedEnvironment sockets{{"XDG_RUNTIME_DIR", scratch.path().string()}};
  MendProcess job({"run", "-n", "2", "--spares", spares, "--", MEND_SUBJECT, "leaves:asks", "--mend-commit-every=1",
                   "--mend-disk=" + (scratch / "disk").string() + ",every=1000000", "--mend-on-failure=" + on_failure});
  const std::string name = std::to_string(job.pid());
  job.wait_for_output("rank 1: goes");
  answer_of({"commit", name});
  json status;
  ASSERT_TRUE(support::soon([&] {
    status = status_of(job);
    const std::size_t on_disk = number_in(status, "version_on_disk");
    return on_disk > 0 && number_in(status, "version") > on_disk + 5;
  })) << job.errors();
  const json& processes = status["processes"];
  const auto victim = std::ranges::find_if(processes, [](const json& one) { return one["rank"] == 1; });
  ASSERT_TRUE(victim != processes.end());
  ::kill((*victim)["pid"].get<pid_t>(), SIGKILL);
  json later;
  ASSERT_TRUE(support::soon([&] {
    later = status_of(job);
    return number_in(later, "epoch") == 1 && number_in(later, "version") > number_in(status, "version") + 20;
  })) << job.errors();
  EXPECT_EQ(later["version_on_disk"], status["version_on_disk"]);
  answer_of({"stop", name});
  EXPECT_EQ(job.wait(), 4) << job.errors();
}

TEST(ARequestForAVersion, is_not_repeated_by_a_spare_that_takes_over) { expect_one_version_on_disk("1", "spare"); }

TEST(ARequestForAVersion, is_not_repeated_by_a_process_that_is_started) { expect_one_version_on_disk("0", "spawn"); }

/// The others have returned from the body when rank 1 dies, and would wait at its end while its successor works.
TEST(ARequestToLeave, is_followed_under_local_rollback_though_a_rank_dies_when_it_is_told) {
  const support::ScratchFolder scratch;
  const support::ScopedEnvironment sockets{{"XDG_RUNTIME_DIR", scratch.path().string()}};
  MendProcess job({"run", "-n", "3", "--spares", "1", "--", MEND_SUBJECT, "leaves:asks_and_dies_when_told",
                   "--mend-commit-every=1", "--mend-rollback=local"});
  job.wait_for_output("rank 1: goes");
  answer_of({"stop", std::to_string(job.pid())});
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), testing::HasSubstr("a process died while the job left in time: all ranks go back"));
  EXPECT_THAT(job.errors(), testing::Not(testing::HasSubstr("is not send-deterministic")));
}

}  // namespace
