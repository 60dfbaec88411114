// A request from outside that a job has carried out is not carried out again by a process that takes over a rank.

#include "tests/support/job.hpp"
#include "tests/support/mend_process.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gtest/gtest.h>
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

}  // namespace
