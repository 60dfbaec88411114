#include "framework/local_rollback/log_limit.hpp"

#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace mend {
namespace {

constexpr ByteCount gib = ByteCount{1} << 30U;

void write_line(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

TEST(LimitOfLogs, is_divided_among_the_ranks_of_a_machine) {
  EXPECT_EQ(log_limit_of(160 * gib, {}, 1), 16 * gib);
  EXPECT_EQ(log_limit_of(160 * gib, {}, 64), gib / 4);
  EXPECT_GT(default_log_limit(64), 0U);
  EXPECT_EQ(default_log_limit(64), default_log_limit(1) / 64);
}

TEST(LimitOfLogs, goes_by_what_the_control_group_allows) {
  EXPECT_EQ(log_limit_of(160 * gib, 20 * gib, 2), gib);
  EXPECT_EQ(log_limit_of(160 * gib, 500 * gib, 2), 8 * gib);
}

TEST(MemoryOfAControlGroup, is_the_least_of_it_and_of_those_around_it) {
  const support::ScratchFolder root;
  EXPECT_EQ(memory_of_control_group(root.path()), std::nullopt);
  write_line(root / "proc/self/cgroup", "0::/batch/job");
  write_line(root / "sys/fs/cgroup/batch/job/memory.max", "max");
  EXPECT_EQ(memory_of_control_group(root.path()), std::nullopt);
  write_line(root / "sys/fs/cgroup/batch/memory.max", "3000");
  EXPECT_EQ(memory_of_control_group(root.path()), 3000U);
  write_line(root / "sys/fs/cgroup/batch/job/memory.max", "2000");
  EXPECT_EQ(memory_of_control_group(root.path()), 2000U);
  write_line(root / "sys/fs/cgroup/memory.max", "1000");  // of a container
  EXPECT_EQ(memory_of_control_group(root.path()), 1000U);
}

TEST(MemoryOfAControlGroup, is_found_in_version_1_too) {
  const support::ScratchFolder root;
  write_line(root / "proc/self/cgroup", "9:cpu,memory:/elsewhere\n3:pids:/batch\n0::/");
  write_line(root / "sys/fs/cgroup/memory/memory.limit_in_bytes", "4000");
  EXPECT_EQ(memory_of_control_group(root.path()), 4000U);
  write_line(root / "sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes", "500");
  EXPECT_EQ(memory_of_control_group(root.path()), 500U);
}

}  // namespace
}  // namespace mend
