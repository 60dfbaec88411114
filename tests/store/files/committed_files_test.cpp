// Files in memory that are committed and restored among real ranks.

#include "tests/store/epochs.hpp"

#include "base/error.hpp"
#include "store/file.hpp"
#include "tests/support/long_tests.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using testing::StartsWith;

std::size_t largest() { return support::long_tests() ? std::size_t{1} << 30 : std::size_t{64} << 20; }

/// 64 KiB that differ between ranks and between pieces.
std::vector<char> piece(std::size_t number, int rank) {
  std::vector<char> bytes(64 << 10, static_cast<char>(number * 13 + static_cast<std::size_t>(rank)));
  for (std::size_t i = 0; i < bytes.size(); i += 100) bytes[i] = static_cast<char>(i / 100 + number);
  return bytes;
}

void write(const mend::File& file, std::size_t size, int rank) {
  std::FILE* const out = file.open("w");
  for (std::size_t at = 0, number = 0; at < size; at += 64 << 10, ++number)
    std::fwrite(piece(number, rank).data(), 1, std::min<std::size_t>(64 << 10, size - at), out);
  EXPECT_EQ(std::fclose(out), 0);
}

void expect(const mend::File& file, std::size_t size, int rank) {
  ASSERT_EQ(file.size(), size);
  std::FILE* const in = file.open("r");
  ASSERT_NE(in, nullptr);
  std::vector<char> found(64 << 10);
  for (std::size_t at = 0, number = 0; at < size; at += 64 << 10, ++number) {
    const std::size_t wanted = std::min<std::size_t>(64 << 10, size - at);
    ASSERT_EQ(std::fread(found.data(), 1, wanted, in), wanted);
    std::vector<char> expected = piece(number, rank);
    expected.resize(wanted);
    found.resize(wanted);
    ASSERT_EQ(found, expected) << "at " << at;
    found.resize(64 << 10);
  }
  EXPECT_EQ(std::fgetc(in), EOF);
  std::fclose(in);
}

TEST(CommittedFile, comes_back_to_a_rank_that_has_lost_it_whatever_its_size) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100'001}, largest()}) {
    Epochs epochs;
    if (epochs.size() == 1) GTEST_SKIP() << "nobody keeps a copy";
    // Only the files of two ranks are large.
    const std::size_t mine = epochs.rank() < 2 ? size : size % 1000;
    write(epochs.store().file("restart"), mine, epochs.rank());
    epochs.store().commit();
    epochs.next({1});
    const mend::File restored = epochs.store().file("restart");
    epochs.store().restore();
    epochs.store().finish_commit();  // the copies have come too
    EXPECT_TRUE(restored.exists());
    expect(restored, mine, epochs.rank());
  }
}

TEST(CommittedFile, may_have_another_size_at_each_commit_and_in_each_version) {
  Epochs epochs;
  const mend::File file = epochs.store().file("restart");
  for (const std::size_t size : {10U, 300'000U, 7U}) {
    write(file, size, epochs.rank());
    epochs.store().commit();
  }
  epochs.store().restore(mend::Version{2});
  expect(file, 300'000, epochs.rank());
}

TEST(CommittedFile, that_has_hardly_changed_is_not_sent_again) {
  Epochs epochs({}, {}, 2, std::nullopt, MPI_COMM_WORLD, mend::FindChanges::by_writes);
  const mend::File file = epochs.store().file("restart");
  write(file, 8 << 20, epochs.rank());
  for (int commit = 0; commit < 6; ++commit) {
    std::FILE* const out = file.open("r+");
    std::fseek(out, 3'000'000 + commit, SEEK_SET);
    std::fputc(200 + commit, out);
    std::fclose(out);
    epochs.store().commit();
  }
  EXPECT_LT(epochs.store().statistics().changed_bytes, 1U << 20);
  std::FILE* const out = file.open("w");
  std::fclose(out);
  epochs.store().restore();
  std::FILE* const in = file.open("r");
  std::fseek(in, 3'000'000, SEEK_SET);
  for (int commit = 0; commit < 6; ++commit) EXPECT_EQ(std::fgetc(in), 200 + commit);
  std::fclose(in);
}

TEST(CommittedFile, that_one_rank_has_open_for_writing_is_committed_by_none) {
  Epochs epochs;
  const mend::File file = epochs.store().file("restart");
  write(file, 10, epochs.rank());
  epochs.store().commit();
  std::FILE* const open = epochs.rank() == 0 ? file.open("w") : nullptr;
  try {
    epochs.store().commit();
    ADD_FAILURE() << "it was committed";
  } catch (const mend::UsageError& error) {
    const std::string who = epochs.rank() == 0 ? "" : "rank 0: ";
    EXPECT_THAT(error.what(), StartsWith(who + "file 'restart' is open for writing"));
  }
  if (open != nullptr) std::fclose(open);
  epochs.store().restore();
  expect(file, 10, epochs.rank());
}

TEST(CommittedFile, is_the_same_file_for_the_same_name_and_none_for_the_name_of_another_object) {
  Epochs epochs;
  write(epochs.store().file("restart"), 5, 0);
  EXPECT_EQ(epochs.store().file("restart").size(), 5U);
  double number = 0;
  epochs.store().protect("number", number);
  EXPECT_THROW(epochs.store().file("number"), mend::UsageError);
  EXPECT_THROW(epochs.store().file(""), mend::UsageError);
}

}  // namespace
