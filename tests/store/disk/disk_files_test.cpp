// The files on disk: they are complete or refused, and an index makes one array of them.

#include "base/error.hpp"
#include "store/restore/array_index.hpp"
#include "store/disk/version_folder.hpp"
#include "store/disk/durable_file.hpp"
#include "store/disk/folder_lock.hpp"
#include "store/disk/rank_file.hpp"
#include "store/snapshot/snapshot.hpp"
#include "store/snapshot/hash.hpp"
#include "tests/support/fuzz.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <hdf5.h>
#include <nlohmann/json.hpp>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <numeric>

namespace {

using mend::DiskOptions;
using mend::EnvironmentError;
using mend::FileSeal;
using mend::Manifest;
using mend::Rank;
using mend::UsageError;
using mend::Version;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void flip_a_bit(const std::filesystem::path& path, std::size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 1));
}

/// A rank with two rows of a global array of 2n rows, a replicated step, and a member of its own.
class RankFiles : public testing::Test {
 protected:
  static constexpr std::size_t columns = 5;

  struct Data {
    std::vector<double> rows = std::vector<double>(2 * columns);
    int step = 12;
    std::vector<std::byte> own = {std::byte{1}, std::byte{2}, std::byte{3}};
    std::vector<float> empty;
  };

  static mend::Members members(Data& data, int rank, int ranks) {
    mend::Members all;
    const auto add = [&](const char* name, auto&& object) {
      all[name] = mend::MemberOf<std::remove_cvref_t<decltype(object)>>::make(object);
    };
    add("a/field", mend::part(data.rows, {2 * static_cast<std::size_t>(ranks), columns},
                              {2 * static_cast<std::size_t>(rank), 0}, {2, columns}));
    add("step", mend::replicated(data.step));
    add("own", data.own);
    add("empty", mend::part(data.empty, {4}, {4}));
    return all;
  }

  /// Writes the file of `rank`, whose field continues the values of the previous rank.
  FileSeal write(const std::filesystem::path& folder, int rank, int ranks) {
    Data data;
    std::iota(data.rows.begin(), data.rows.end(), static_cast<double>(2 * columns) * rank);
    mend::Bytes snapshot;
    pack(members(data, rank, ranks), Rank{rank}, Version{7}, snapshot);
    const auto path = folder / mend::rank_file_name(Rank{rank});
    const auto pieces = mend::lay_out_rank_file(path, mend::members_of(snapshot));
    mend::fill_rank_file(path, pieces, {Version{7}, Rank{rank}, ranks, 0, 0});
    return mend::read_seal(path);
  }

  static std::vector<mend::Parts> parts(int ranks) {
    std::vector<mend::Parts> all;
    for (int rank = 0; rank < ranks; ++rank) {
      Data data;
      mend::Parts& mine = all.emplace_back();
      for (const auto& [name, member] : members(data, rank, ranks)) {
        if (const auto part = mend::parse_array_part(member->shape())) mine[name] = *part;
      }
    }
    return all;
  }

  support::ScratchFolder folder_;
};

TEST_F(RankFiles, are_there_whole_under_their_name_and_give_back_what_was_written) {
  const FileSeal seal = write(folder_.path(), 0, 2);
  const auto path = folder_ / "rank-00000.h5";
  EXPECT_FALSE(std::filesystem::exists(mend::unfinished(path)));
  EXPECT_EQ(seal.version, Version{7});
  EXPECT_EQ(seal.ranks, 2);
  EXPECT_EQ(seal.bytes, std::filesystem::file_size(path));
  EXPECT_EQ(mend::find_damage(path, seal), std::nullopt);

  const mend::RankFile file(path);
  const auto own = file.read_member("own");
  ASSERT_TRUE(own);
  EXPECT_THAT(own->bytes, ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
  EXPECT_EQ(own->shape, "container of 1 bytes");
  EXPECT_FALSE(file.read_member("no such thing"));

  const mend::ArrayPart stored = parts(2)[0].at("a/field");
  const mend::ArrayPart wanted{"float64", {2, 2}, {1, 3}, {4, columns}};
  std::vector<double> values(4, -1);
  file.read_overlap("a/field", stored, wanted, std::as_writable_bytes(std::span(values)));
  EXPECT_THAT(values, ElementsAre(8, 9, -1, -1)) << "what the second row has";
}

TEST_F(RankFiles, have_descriptions_of_any_length) {
  const std::string shape(200'000, '1');
  const mend::PackedMember member{"subset", shape, {}};
  const auto path = folder_ / mend::rank_file_name(Rank{0});
  const auto pieces = mend::lay_out_rank_file(path, std::vector{member});
  mend::fill_rank_file(path, pieces, {Version{1}, Rank{0}, 1, 0, 0});
  const auto own = mend::RankFile(path).read_member("subset");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->shape, shape);
}

TEST_F(RankFiles, are_refused_with_any_bit_flipped) {
  const FileSeal seal = write(folder_.path(), 1, 2);
  const auto path = folder_ / "rank-00001.h5";
  for (std::size_t at = 0; at < seal.bytes; at += support::sanitized ? 10 : 1) {
    flip_a_bit(path, at);
    ASSERT_TRUE(mend::find_damage(path, seal)) << "at byte " << at;
    flip_a_bit(path, at);
  }
  EXPECT_EQ(mend::find_damage(path, seal), std::nullopt);
}

TEST_F(RankFiles, are_refused_when_torn_and_when_foreign) {
  const FileSeal seal = write(folder_.path(), 1, 2);
  const auto path = folder_ / "rank-00001.h5";
  std::filesystem::resize_file(path, seal.bytes - 1);
  EXPECT_THAT(mend::find_damage(path, seal).value_or(""), HasSubstr("rank-00001.h5 is incomplete: it has"));
  std::filesystem::resize_file(path, 0);
  EXPECT_THAT(mend::find_damage(path, seal).value_or(""), HasSubstr("is incomplete: it has 0 bytes"));
  std::filesystem::remove(path);
  EXPECT_THAT(mend::find_damage(path, seal).value_or(""), HasSubstr("No such file"));
  std::ofstream(path) << std::string(seal.bytes, 'x');
  EXPECT_THAT(mend::find_damage(path, seal).value_or(""), HasSubstr("is not a checkpoint of mend"));
  const FileSeal other = write(folder_.path(), 1, 3);
  EXPECT_TRUE(mend::find_damage(path, seal)) << "of a job of three";
  EXPECT_FALSE(mend::find_damage(path, other));
}

TEST_F(RankFiles, say_why_they_cannot_be_written) {
  Data data;
  mend::Bytes snapshot;
  pack(members(data, 0, 1), Rank{0}, Version{1}, snapshot);
  try {
    mend::lay_out_rank_file(folder_ / "no folder" / "rank-00000.h5", mend::members_of(snapshot));
    ADD_FAILURE() << "written where there is no folder";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank-00000.h5.unfinished: No such file or directory"));
  }
}

TEST_F(RankFiles, leave_no_file_under_their_name_when_the_disk_is_full) {
  Data data;
  mend::Bytes snapshot;
  pack(members(data, 0, 1), Rank{0}, Version{1}, snapshot);
  const auto path = folder_ / "rank-00000.h5";
  const auto pieces = mend::lay_out_rank_file(path, mend::members_of(snapshot));
  // As on a full disk, nothing more can be written; here because of a limit on the file size.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{256, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  std::string said;
  try {
    mend::fill_rank_file(path, pieces, {Version{1}, Rank{0}, 1, 0, 0});
  } catch (const EnvironmentError& error) {
    said = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(said, HasSubstr("rank-00000.h5.unfinished: File too large"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// Runs in a process of its own, which has a full disk and exits normally, when HDF5 closes its open files.
[[noreturn]] void make_files_on_a_full_disk(const std::filesystem::path& folder, const mend::Bytes& snapshot,
                                            const std::vector<mend::Parts>& parts) {
  const auto complain = [](auto work) {
    try {
      work();
      std::fputs("written\n", stderr);
    } catch (const EnvironmentError& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  };
  const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                       ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount("none", folder.c_str(), "tmpfs", 0, "size=16k") == 0;
  if (!mounted) std::exit(77);
  std::ofstream(folder / "all_there_is") << std::string(1 << 20, 'x');
  complain([&] { mend::lay_out_rank_file(folder / "rank-00000.h5", mend::members_of(snapshot)); });
  complain([&] { mend::make_index(folder / "arrays.h5", mend::arrays_of(parts)); });
  std::exit(0);
}

TEST_F(RankFiles, on_a_full_disk_leave_HDF5_in_order) {
  Data data;
  mend::Bytes snapshot;
  pack(members(data, 0, 1), Rank{0}, Version{1}, snapshot);
  bool may_mount = true;
  const auto well = [&](int status) {
    may_mount = !(WIFEXITED(status) && WEXITSTATUS(status) == 77);
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || !may_mount);
  };
  EXPECT_EXIT(make_files_on_a_full_disk(folder_.path(), snapshot, parts(1)), well,
              testing::AnyOf(testing::MatchesRegex("[^\n]*rank-00000.h5.unfinished: No space left on "
                                                   "device\n[^\n]*arrays.h5.unfinished: No space left on device\n"),
                             IsEmpty()));
  if (!may_mount) GTEST_SKIP() << "only root may mount a small disk";
}

TEST_F(RankFiles, look_like_one_array_through_the_index_wherever_the_folder_is) {
  const auto here = folder_ / "here";
  std::filesystem::create_directory(here);
  for (int rank = 0; rank < 3; ++rank) write(here, rank, 3);
  make_index(here / mend::index_name, mend::arrays_of(parts(3)));
  mend::finish_file(here / mend::index_name);
  const auto there = folder_ / "there";
  std::filesystem::rename(here, there);

  const hid_t file = H5Fopen((there / mend::index_name).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t field = H5Dopen2(file, "a~1field", H5P_DEFAULT);
  ASSERT_GE(field, 0);
  const hid_t space = H5Dget_space(field);
  std::array<hsize_t, 2> extents{};
  EXPECT_EQ(H5Sget_simple_extent_dims(space, extents.data(), nullptr), 2);
  EXPECT_THAT(extents, ElementsAre(6, columns));
  std::vector<double> values(6 * columns, -1);
  EXPECT_GE(H5Dread(field, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  std::vector<double> expected(values.size());
  std::iota(expected.begin(), expected.end(), 0.0);
  EXPECT_EQ(values, expected);
  const hid_t step = H5Dopen2(file, "step", H5P_DEFAULT);
  int number = 0;
  EXPECT_GE(H5Dread(step, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &number), 0);
  EXPECT_EQ(number, 12);
  H5Sclose(space);
  H5Dclose(field);
  H5Dclose(step);
  H5Fclose(file);
}

TEST(ArrayIndex, is_described_for_viewers) {
  const std::vector<mend::Parts> ranks{
      {{"u<v", {"float32", {3, 4}, {0, 0}, {6, 4}}}, {"step", {"int32", {1}, {0}, {1}}}},
      {{"u<v", {"float32", {3, 4}, {3, 0}, {6, 4}}}, {"step", {"int32", {1}, {0}, {1}}}}};
  const std::string text = mend::describe_for_viewers("arrays.h5", Version{3}, mend::arrays_of(ranks));
  EXPECT_THAT(text, HasSubstr(R"(<Topology TopologyType="3DCoRectMesh" Dimensions="6 4 1"/>)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(<DataItem Dimensions="6 4" NumberType="Float" Precision="4" Format="HDF">arrays.h5:/u&lt;v<)"));
  EXPECT_THAT(text, Not(HasSubstr("step"))) << "a number is no field";
}

TEST(ArrayIndex, is_described_in_types_that_viewers_have) {
  const std::vector<mend::Parts> ranks{
      {{"ids", {"uint64", {7}, {0}, {7}}}, {"long", {"float128", {7}, {0}, {7}}}, {"raw", {"bytes3", {7}, {0}, {7}}}}};
  const std::string text = mend::describe_for_viewers("arrays.h5", Version{3}, mend::arrays_of(ranks));
  EXPECT_THAT(text, HasSubstr(R"(<Topology TopologyType="3DCoRectMesh" Dimensions="7 1 1"/>)"));
  EXPECT_THAT(text,
              HasSubstr(R"(<DataItem Dimensions="7" NumberType="Int" Precision="8" Format="HDF">arrays.h5:/ids<)"));
  EXPECT_THAT(text, Not(HasSubstr("long")));
  EXPECT_THAT(text, Not(HasSubstr("raw")));
}

TEST(ArrayIndex, refuses_parts_of_different_arrays_under_one_name) {
  const std::vector<mend::Parts> ranks{{{"u", {"float32", {3}, {0}, {6}}}}, {{"u", {"float32", {3}, {3}, {7}}}}};
  EXPECT_THROW(mend::arrays_of(ranks), EnvironmentError);
}

TEST(DiskOptions, are_a_folder_and_how_often) {
  EXPECT_EQ(DiskOptions::parse("/a/b").folder, "/a/b");
  EXPECT_EQ(DiskOptions::parse("/a/b").every, 10);
  EXPECT_EQ(DiskOptions::parse("c,d,every=3").folder, "c,d");
  EXPECT_EQ(DiskOptions::parse("c,d,every=3").every, 3);
  for (const char* folder : {"a,b", "a=b", "a,=b", "a,1=b", "a,x=1/b"})
    EXPECT_EQ(DiskOptions::parse(folder).folder, folder);
  for (const char* wrong : {"", ",every=3", "a,every=", "a,every=0", "a,every=-1", "a,every=3x", "a,evry=3",
                            "/b/a,every-n=3", "a,evry=3,every=2"}) {
    EXPECT_THROW(DiskOptions::parse(wrong), UsageError) << wrong;
  }
}

TEST(DiskFolder, is_made_or_refused_in_a_sentence) {
  const support::ScratchFolder scratch;
  mend::prepare_folder(scratch / "new");
  EXPECT_TRUE(std::filesystem::is_directory(scratch / "new"));
  mend::prepare_folder(scratch / "new");
  EXPECT_TRUE(std::filesystem::is_empty(scratch / "new")) << "no trace of the trial";
  std::ofstream(scratch / "file") << "x";
  for (const char* name : {"file", "no/such"}) {
    try {
      mend::prepare_folder(scratch / name);
      ADD_FAILURE() << name << " can be used";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(scratch / name) + " for checkpoints on disk can"));
    }
  }
}

TEST(FolderLock, keeps_other_jobs_out_as_long_as_any_process_of_the_first_lives) {
  const support::ScratchFolder scratch;
  using mend::FolderLock;
  const auto in_use = [&] {
    try {
      const FolderLock claim(scratch.path(), FolderLock::As::first);
      return false;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr(fmt::format("another job is using it, whose first process was process {} on", ::getpid())));
      return true;
    }
  };
  auto first = std::make_unique<FolderLock>(scratch.path(), FolderLock::As::first);
  EXPECT_TRUE(in_use());
  auto member = std::make_unique<FolderLock>(scratch.path(), FolderLock::As::member);
  first.reset();
  EXPECT_TRUE(in_use());
  auto last = std::make_unique<FolderLock>(scratch.path(), FolderLock::As::member);
  member.reset();
  EXPECT_TRUE(in_use());
  last.reset();
  EXPECT_FALSE(in_use());
}

Manifest some_manifest(std::uint64_t version = 40) {
  const mend::Parts parts{{"u", {"float64", {3}, {0}, {6}}}};
  return {Version{version},
          {{Version{version}, Rank{0}, 2, 1000, 0xabcdef}, {Version{version}, Rank{1}, 2, 2000, ~0ULL}},
          {parts, {}}};
}

TEST(Manifests, are_read_as_written) {
  const Manifest read = mend::parse_manifest(to_text(some_manifest()), "it");
  EXPECT_EQ(read.version, Version{40});
  EXPECT_EQ(read.files, some_manifest().files);
  EXPECT_EQ(read.parts, some_manifest().parts);
}

TEST(Manifests, are_refused_when_torn_damaged_or_foreign) {
  const std::string text = to_text(some_manifest());
  for (std::size_t length = 0; length + 3 < text.size(); ++length) {
    ASSERT_THROW(mend::parse_manifest(std::string_view(text).substr(0, length), "it"), EnvironmentError) << length;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    try {
      const Manifest read = mend::parse_manifest(flipped, "it");
      EXPECT_EQ(to_text(read), text) << "at " << at;  // only white space differs
    } catch (const EnvironmentError&) {
    }
  }
  EXPECT_THROW(mend::parse_manifest("[1, 2]", "it"), EnvironmentError);
  EXPECT_THROW(mend::parse_manifest(R"({"hash": "0", "contents": {}})", "it"), EnvironmentError);
}

/// A manifest with these contents and the right hash for them.
std::string sealed(const std::string& contents) {
  const std::string bare = nlohmann::json::parse(contents).dump();
  return fmt::format(R"({{"hash": "{:016x}", "contents": {}}})", mend::hash_of(std::as_bytes(std::span(bare))),
                     contents);
}

TEST(Manifests, say_numbers_that_are_some) {
  const auto with = [](const std::string& version, const std::string& bytes, const std::string& hash) {
    return mend::parse_manifest(
        sealed(
            fmt::format(R"({{"format": 1, "version": {}, "files": [{{"bytes": {}, "hash": "{}", "arrays": {{}}}}]}})",
                        version, bytes, hash)),
        "it");
  };
  EXPECT_EQ(with("4", "7", "000000000000000a").files.front().bytes, 7U);
  EXPECT_THROW(with("-1", "7", "000000000000000a"), EnvironmentError);
  EXPECT_THROW(with("4", "-7", "000000000000000a"), EnvironmentError);
  EXPECT_THROW(with("4", "1e300", "000000000000000a"), EnvironmentError);
  EXPECT_THROW(with("4", "7", "-1"), EnvironmentError);
  EXPECT_THROW(with("4", "7", "a"), EnvironmentError);
  const std::string deep(100'000, '[');
  EXPECT_THROW(mend::parse_manifest(R"({"contents": )" + deep + std::string(deep.size(), ']') + "}", "it"),
               EnvironmentError);
}

TEST(Manifests, are_read_whatever_they_say_or_refused) {
  const std::string contents = nlohmann::json::parse(to_text(some_manifest())).at("contents").dump();
  support::expect_read_or_refused<EnvironmentError>(
      [&](support::Fuzzer& fuzzer) {
        const std::string text = fuzzer.change(contents);
        return nlohmann::json::accept(text) ? sealed(text) : text;  // otherwise only the hash would be checked
      },
      [](const std::string& text) {
        const std::string read = to_text(mend::parse_manifest(text, "it"));
        EXPECT_EQ(to_text(mend::parse_manifest(read, "it")), read);
      });
}

TEST(Manifests, are_of_members_with_names_in_UTF_8) {
  for (const char* name : {"u", "température", "a b/c\t\"x\""})
    EXPECT_NO_THROW(mend::require_name_for_disk(name)) << name;
  for (const char* name : {"temp\xe9rature", "u\xff", "\xc3"})
    EXPECT_THROW(mend::require_name_for_disk(name), UsageError) << name;
  try {
    mend::require_name_for_disk("te\xe9");
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(R"(the name "te�" of a protected member is not UTF-8)"));
  }
}

TEST(Manifests, are_not_waited_for_where_there_is_a_pipe) {
  const support::ScratchFolder scratch;
  const auto pipe = scratch / mend::manifest_name;
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  try {
    mend::read_file(pipe);
    ADD_FAILURE() << "read what is no file";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("manifest.json is not a regular file"));
  }
  EXPECT_THROW(mend::read_file(scratch.path()), EnvironmentError);
}

class Versions : public testing::Test {
 protected:
  void add(std::uint64_t version, std::uint32_t attempt, bool complete) {
    const auto folder = mend::folder_of(scratch_.path(), Version{version}, attempt);
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "rank-00000.h5") << "x";
    if (complete) std::ofstream(folder / mend::manifest_name) << "{}";
  }
  std::vector<std::uint64_t> complete() const {
    std::vector<std::uint64_t> found;
    for (const auto& version : mend::complete_versions(scratch_.path())) found.push_back(version.version.value);
    return found;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(scratch_.path()), {}));
  }
  support::ScratchFolder scratch_;
};

TEST_F(Versions, count_when_they_have_a_manifest_newest_first) {
  add(9, 1, true);
  add(10, 2, true);
  add(11, 3, false);
  std::filesystem::create_directory(scratch_ / "version-x");
  std::ofstream(scratch_ / "notes.txt") << "of the user";
  EXPECT_THAT(complete(), ElementsAre(10, 9));
  EXPECT_THAT(mend::complete_versions(scratch_ / "nothing"), IsEmpty());
}

TEST_F(Versions, are_kept_as_many_as_wanted_and_nothing_else_is_touched) {
  for (std::uint64_t version = 1; version <= 4; ++version) add(version, 7, true);
  add(3, 8, false);
  add(5, 9, false);
  std::ofstream(scratch_ / "notes.txt") << "of the user";
  const std::vector<std::string> of_the_user{"version-2-of-my-paper",           "version-0000000001-",
                                             "version-0000000001-0000000g",     "version-1-00000007",
                                             "version-0000000001-00000007.old", "version-0000000001-0000000A"};
  for (const std::string& name : of_the_user) {
    std::filesystem::create_directory(scratch_ / name);
    std::ofstream(scratch_ / name / mend::manifest_name) << "chapter one";
  }
  mend::remove_old_versions(scratch_.path(), 2);
  EXPECT_THAT(complete(), ElementsAre(4, 3));
  EXPECT_EQ(entries(), 3U + of_the_user.size());
}

TEST_F(Versions, of_which_nobody_knows_whether_they_are_complete_are_kept) {
  for (std::uint64_t version = 1; version <= 3; ++version) add(version, 7, true);
  const auto manifest = mend::folder_of(scratch_.path(), Version{1}, 7) / mend::manifest_name;
  std::filesystem::remove(manifest);
  std::filesystem::create_symlink(mend::manifest_name, manifest);  // leads to itself
  EXPECT_THAT(complete(), ElementsAre(3, 2, 1));
  mend::remove_old_versions(scratch_.path(), 1);
  EXPECT_THAT(complete(), ElementsAre(3, 1));
}

TEST_F(Versions, in_a_folder_that_cannot_be_read_are_not_taken_for_none) {
  const auto no_folder = scratch_ / "notes.txt";
  std::ofstream(no_folder) << "of the user";
  std::error_code error;
  EXPECT_THAT(mend::complete_versions(no_folder, error), IsEmpty());
  EXPECT_TRUE(error);
  EXPECT_THROW(mend::remove_old_versions(no_folder, 1), EnvironmentError);
  EXPECT_THROW(mend::put_newer_aside(no_folder, Version{}), EnvironmentError);
}

TEST_F(Versions, that_were_gone_back_behind_are_put_aside) {
  for (std::uint64_t version = 1; version <= 4; ++version) add(version, 7, true);
  mend::put_newer_aside(scratch_.path(), Version{2});
  EXPECT_THAT(complete(), ElementsAre(2, 1));
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "aside-version-0000000004-00000007"));
}

}  // namespace
