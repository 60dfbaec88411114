// Checkpoints on disk, written by jobs of real processes, some of which die; and jobs that continue from them.

#include "tests/framework/place_name.hpp"
#include "tests/support/subject_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int first_steps = 30;
constexpr int all_steps = 50;

class Disk : public testing::Test {
 protected:
  std::string option(int every = 4) const { return fmt::format("--mend-disk={},every={}", folder().string(), every); }
  std::filesystem::path folder() const { return scratch_.path() / "checkpoints"; }

  support::JobEnd evolve(const std::string& what, int ranks, int spares) const {
    return play("evolves_a_table:" + what, ranks, spares, {option()});
  }
  std::vector<std::filesystem::path> versions() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      if (std::filesystem::exists(entry.path() / "manifest.json")) found.push_back(entry.path());
    }
    std::sort(found.rbegin(), found.rend());
    return found;
  }

  support::ScratchFolder scratch_;
};

/// The hash that all ranks print. There must be `ranks` of them with equal hashes.
std::string hash_said(const support::JobEnd& end, int ranks) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  const auto lines = said(end);
  EXPECT_THAT(lines, SizeIs(ranks)) << end.errors;
  if (lines.empty()) return "";
  const std::string hash = lines.front().substr(lines.front().rfind(' ') + 1);
  EXPECT_THAT(lines, Each(HasSubstr(hash)));
  return hash;
}

const std::string& undisturbed_hash(int steps) {
  static std::map<int, std::string> hashes;
  auto& hash = hashes[steps];
  if (hash.empty()) hash = hash_said(play(fmt::format("evolves_a_table:{}", steps), 2, 0), 2);
  return hash;
}

TEST_F(Disk, has_what_memory_has_lost_when_all_ranks_die_at_once_and_that_is_said) {
  const auto end = play("all_ranks_die_after_a_commit", 2, 2, {option(1)});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(2, 10, 1));
  EXPECT_THAT(end.errors, HasSubstr("all ranks have died, and the data that they committed is lost: no living process "
                                    "has any part of it; all go back to version "));
}

TEST_F(Disk, is_told_of_when_it_is_slower_than_the_commits) {
  const auto end = play("commits_faster_than_the_disk", 2, 0, {option(1)});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), Each(HasSubstr("version 10")));
  EXPECT_THAT(end.errors, HasSubstr("note: 9 versions were not written to disk, because the one before was still being "
                                    "written; the newest on disk is version 1\n"));
}

TEST_F(Disk, that_one_rank_waits_for_while_others_do_something_else_is_told_of) {
  const std::vector<std::pair<std::string, std::string>> others{
      {"end_against_commit", "ranks 0, 2 are in commit()"},
      {"end_against_restore", "ranks 0, 2 are in restore()"},
      {"end_against_agree", "ranks 0, 2 are in agree()"},
      {"finish_disk_against_commit", "ranks 0, 2 are in commit()"}};
  for (const auto& [scenario, where] : others) {
    const auto end = play(scenario, 3, 0, {option(1)});
    EXPECT_EQ(end.exit_code, 2) << scenario;
    EXPECT_THAT(support::complaints(end),
                ElementsAre(HasSubstr(where + ", rank 1 is in finish_disk() or at the end of the body: every rank must "
                                              "come to these in the same order")))
        << scenario;
  }
}

TEST_F(Disk, lets_a_job_go_on_where_another_has_ended_with_any_number_of_ranks) {
  const auto first = evolve(fmt::format("{}", first_steps), 4, 0);
  EXPECT_EQ(hash_said(first, 4), undisturbed_hash(first_steps));
  EXPECT_THAT(versions(), SizeIs(2));
  EXPECT_THAT(first.errors, testing::ContainsRegex("note: version [0-9]+ is on disk, in " + folder().string()));
  const auto copy = scratch_.path() / "copy";
  std::filesystem::copy(folder(), copy, std::filesystem::copy_options::recursive);
  for (const int ranks : {4, 3, 6, 1}) {
    std::filesystem::remove_all(folder());
    std::filesystem::copy(copy, folder(), std::filesystem::copy_options::recursive);
    const auto end = evolve(fmt::format("{}", all_steps), ranks, 0);
    EXPECT_EQ(hash_said(end, ranks), undisturbed_hash(all_steps));
    EXPECT_THAT(said(end), Each(HasSubstr("from disk")));
    EXPECT_THAT(support::complaints(end), IsEmpty());
    EXPECT_THAT(end.errors, testing::ContainsRegex("note: continues from version [0-9]+ in " + folder().string() +
                                                   ", written at [0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+"));
  }
}

class DiskDeaths : public Disk, public testing::WithParamInterface<std::string> {};

TEST_P(DiskDeaths, cost_no_version_that_was_complete_and_leave_none_that_is_not) {
  // A process dies while a version is being written to disk, and a spare takes over.
  EXPECT_EQ(hash_said(evolve(fmt::format("{};{}", first_steps, GetParam()), 3, 1), 3), undisturbed_hash(first_steps));
  EXPECT_THAT(versions(), SizeIs(testing::Ge(1U)));
  // The version on disk is complete enough for a new job.
  const auto end = evolve(fmt::format("{}", all_steps), 2, 0);
  EXPECT_EQ(hash_said(end, 2), undisturbed_hash(all_steps));
  EXPECT_THAT(said(end), Each(HasSubstr("from disk")));
  EXPECT_THAT(support::complaints(end), IsEmpty());
}

TEST_P(DiskDeaths, without_a_spare_end_the_job_and_a_new_one_goes_on) {
  hash_said(evolve("8", 3, 0), 3);  // so that there is a version
  const auto end = evolve(fmt::format("{};{}", first_steps, GetParam()), 3, 0);
  expect_end(
      end, 3,
      "died and no spare is left: .*; version [0-9]+ is on disk: start again with --mend-disk=" + folder().string());
  const auto next = evolve(fmt::format("{}", all_steps), 2, 0);
  EXPECT_EQ(hash_said(next, 2), undisturbed_hash(all_steps));
  EXPECT_THAT(said(next), Each(HasSubstr("from disk")));
  EXPECT_THAT(support::complaints(next), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Places, DiskDeaths,
                         testing::Values("1@disk.begin", "1@disk.write", "0@disk.write", "2@disk.rename",
                                         "0@disk.index", "0@disk.manifest", "0@disk.clean"),
                         place_name<std::string>);

TEST_F(Disk, gets_what_is_left_when_the_job_must_end) {
  for (const auto& [deaths, newest] : {std::pair{"1@commit.publish+9", 10}, std::pair{"0@commit.exchange+9", 9}}) {
    std::filesystem::remove_all(folder());
    const auto end =
        play(fmt::format("evolves_a_table:{};{}", first_steps, deaths), 4, 0, {option(1000), "--mend-commit-every=1"});
    expect_end(
        end, 3,
        fmt::format("died and no spare is left: .*; version {} is on disk: start again with --mend-disk=", newest));
    EXPECT_THAT(versions(), SizeIs(1));
    const auto next = evolve(fmt::format("{}", all_steps), 3, 0);
    EXPECT_EQ(hash_said(next, 3), undisturbed_hash(all_steps));
    EXPECT_THAT(said(next), Each(HasSubstr("from disk")));
  }
}

TEST_F(Disk, gets_what_is_left_though_another_dies_meanwhile) {
  const auto end = play("dies_while_the_rest_is_saved", 4, 0, {option(1000)});
  expect_end(
      end, 3,
      "ranks 1, 3 .processes 1, 3. died and no spare is left: .*; version 3 is on disk: start again with --mend-disk=");
  EXPECT_THAT(versions(), SizeIs(1));
  const auto next = play("dies_while_the_rest_is_saved", 4, 0, {option(1000)});
  EXPECT_EQ(next.exit_code, 0) << next.errors;
  EXPECT_THAT(said(next), ElementsAre("rank 0: 30 of version 3", "rank 1: 31 of version 3", "rank 2: 32 of version 3",
                                      "rank 3: 33 of version 3"));
}

TEST_F(Disk, is_where_a_job_goes_on_that_has_died_as_a_whole) {
  hash_said(evolve("8", 2, 0), 2);
  const auto end = evolve(fmt::format("{};1@disk.read", first_steps), 2, 1);
  EXPECT_EQ(hash_said(end, 2), undisturbed_hash(first_steps));
  EXPECT_THAT(said(end), Each(HasSubstr("in epoch 1 from disk")));
}

TEST_F(Disk, has_what_another_job_has_left_put_aside_with_a_warning_where_nothing_is_restored) {
  hash_said(evolve(fmt::format("{}", first_steps), 3, 0), 3);
  const auto newest = versions().front().filename().string();
  const int number = std::stoi(newest.substr(std::string_view("version-").size(), 10));
  ASSERT_GT(number, 8);
  const auto end = play("begins_anew", 3, 1, {option()});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(said(end), Each(HasSubstr("version 8")));
  EXPECT_THAT(
      support::complaints(end),
      testing::UnorderedElementsAre(
          HasSubstr(fmt::format(
              "another job has written, up to version {}, are renamed: restore() would have continued from them",
              number)),
          HasSubstr("1 recovery: 1 process died")));
  EXPECT_THAT(versions().front().filename().string(), HasSubstr("version-0000000008"));
  EXPECT_TRUE(std::filesystem::exists(folder() / ("aside-" + newest)));
}

TEST_F(Disk, refuses_rank_by_rank_data_to_another_number_of_ranks) {
  EXPECT_EQ(play("protects_rank_by_rank", 3, 0, {option(1)}).exit_code, 0);
  EXPECT_THAT(said(play("protects_rank_by_rank", 3, 0, {option(1)})),
              ElementsAre("rank 0: own 0", "rank 1: own 1", "rank 2: own 2"));
  expect_end(play("protects_rank_by_rank", 2, 0, {option(1)}), 2,
             "'own' is kept rank by rank, and version [0-9]+ on disk was written by 3 ranks: start that many");
}

TEST_F(Disk, refuses_what_is_torn_in_a_sentence_and_takes_the_version_before) {
  hash_said(evolve(fmt::format("{}", first_steps), 3, 0), 3);
  const auto newest = versions().front();
  std::filesystem::resize_file(newest / "rank-00001.h5", 1000);
  const auto end = evolve(fmt::format("{}", all_steps), 2, 0);
  EXPECT_EQ(hash_said(end, 2), undisturbed_hash(all_steps));
  EXPECT_THAT(support::complaints(end),
              ElementsAre(ContainsRegex("version [0-9]+ on disk cannot be used: .*rank-00001.h5 is incomplete")));
}

TEST_F(Disk, refuses_to_begin_anew_where_nothing_can_be_used) {
  hash_said(evolve(fmt::format("{}", first_steps), 3, 0), 3);
  for (const auto& version : versions()) std::ofstream(version / "manifest.json") << "{}";
  const auto end = evolve(fmt::format("{}", all_steps), 2, 0);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(support::complaints(end),
              testing::Contains(HasSubstr("to start from the beginning, give another folder")));
  EXPECT_THAT(support::complaints(end), Each(testing::Not(HasSubstr("start again with"))));
}

TEST_F(Disk, that_fails_on_the_way_is_told_of_once_and_done_without) {
  support::Job job = support::mend_run(3, 0, {MEND_SUBJECT, "loses_its_disk", option(2)});
  job.environment["MEND_TEST_FOLDER"] = folder().string();
  const auto end = support::run_job(job);
  EXPECT_EQ(hash_said(end, 3), undisturbed_hash(20));
  EXPECT_THAT(support::complaints(end),
              ElementsAre(ContainsRegex(
                  "no more checkpoints are written to disk, and the job goes on without them: .*Not a directory")));
}

TEST_F(Disk, with_a_relative_name_is_where_the_job_began) {
  const std::string relative = std::filesystem::relative(folder()).string();
  const auto end = play("changes_its_folder", 2, 0, {fmt::format("--mend-disk={},every=1", relative)});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(support::complaints(end), IsEmpty());
  EXPECT_THAT(versions(), testing::Not(IsEmpty()));
}

TEST_F(Disk, that_is_full_is_left_without_what_was_begun) {
  std::filesystem::create_directories(folder());
  if (::mount("none", folder().c_str(), "tmpfs", 0, "size=60k") != 0)
    GTEST_SKIP() << "only root can mount a small disk";
  const auto end = play("evolves_a_table:20", 3, 0, {option(2)});
  EXPECT_EQ(hash_said(end, 3), undisturbed_hash(20));
  EXPECT_THAT(support::complaints(end), ElementsAre(HasSubstr("no more checkpoints are written to disk")));
  for (const auto& version : std::filesystem::directory_iterator(folder())) {
    if (version.is_directory()) {
      EXPECT_TRUE(std::filesystem::exists(version.path() / "manifest.json")) << version.path();
    }
  }
  ::umount(folder().c_str());
}

/// Holds the folder as another job's process does, while it lives.
class OtherJob {
 public:
  explicit OtherJob(const std::filesystem::path& folder)
      : handle_(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    struct flock whole {};
    whole.l_type = F_RDLCK;
    EXPECT_EQ(::fcntl(handle_, F_OFD_SETLK, &whole), 0);
  }
  ~OtherJob() { ::close(handle_); }

 private:
  int handle_;
};

TEST_F(Disk, that_another_job_is_using_is_refused_until_that_is_over) {
  std::filesystem::create_directory(folder());
  {
    const OtherJob other(folder());
    expect_end(evolve("10", 3, 1), 2, "another job is using it.*a folder of its own");
  }
  EXPECT_EQ(evolve("10", 3, 1).exit_code, 0);
}

TEST_F(Disk, that_cannot_be_used_from_the_beginning_is_refused) {
  const std::string folder = scratch_.path() / "no" / "such";
  expect_end(play("nobody_dies", 3, 1, {"--mend-disk=" + folder}), 2,
             "the folder .*/no/such for checkpoints on disk cannot be made: No such file or directory");
  expect_end(play("nobody_dies", 2, 0, {"--mend-disk=,every=2"}), 2, "is not a place on disk");
}

}  // namespace
