// Files in memory as members: a commit saves what was written, and a restore gives it back.

#include "store/file.hpp"

#include "base/error.hpp"
#include "store/files/file_member.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A file, and the member that the store has of it.
struct Subject {
  std::shared_ptr<mend::FileMember> member = std::make_shared<mend::FileMember>("restart");
  mend::File file{member};

  void write(const std::string& text, const char* mode = "w") const {
    std::FILE* const out = file.open(mode);
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), out), text.size());
    EXPECT_EQ(std::fclose(out), 0);
  }
  std::string content() const {
    std::string packed(member->size(), '?');
    member->pack(std::as_writable_bytes(std::span(packed)));
    return packed;
  }
  void restore(const std::string& text) const { member->unpack(std::as_bytes(std::span(text))); }
};

std::string read_all(std::FILE* file) {
  std::string text;
  for (int character = std::fgetc(file); character != EOF; character = std::fgetc(file))
    text.push_back(static_cast<char>(character));
  std::fclose(file);
  return text;
}

TEST(FileInMemory, that_was_never_written_cannot_be_read_and_is_committed_empty) {
  const Subject subject;
  EXPECT_FALSE(subject.file.exists());
  for (const char* mode : {"r", "r+", "rb"}) {
    errno = 0;
    EXPECT_EQ(subject.file.open(mode), nullptr) << mode;
    EXPECT_EQ(errno, ENOENT);
  }
  EXPECT_FALSE(subject.file.stream(std::ios::in).is_open());
  EXPECT_FALSE(subject.file.stream(std::ios::in | std::ios::out).is_open());
  EXPECT_EQ(subject.member->size(), 0U);
}

TEST(FileInMemory, is_written_and_read_as_fopen_has_it) {
  const Subject subject;
  subject.write("one two", "w");
  EXPECT_EQ(subject.content(), "one two");
  subject.write(" three", "a");
  EXPECT_EQ(subject.content(), "one two three");
  std::FILE* const both = subject.file.open("r+");
  EXPECT_EQ(std::fgetc(both), 'o');
  std::fseek(both, 4, SEEK_SET);
  std::fputs("2", both);
  std::fseek(both, -5, SEEK_END);
  EXPECT_EQ(read_all(both), "three");
  EXPECT_EQ(read_all(subject.file.open("r")), "one 2wo three");
  subject.write("", "w");
  EXPECT_EQ(subject.content(), "");
  EXPECT_TRUE(subject.file.exists());
  EXPECT_EQ(read_all(subject.file.open("r")), "");
}

TEST(FileInMemory, has_zeros_where_a_seek_has_skipped) {
  const Subject subject;
  std::FILE* const out = subject.file.open("wb+");
  std::fputs("ab", out);
  std::fseek(out, 5, SEEK_SET);
  std::fputs("z", out);
  std::fclose(out);
  EXPECT_EQ(subject.content(), std::string("ab\0\0\0z", 6));
}

TEST(FileInMemory, that_is_read_cannot_be_written) {
  const Subject subject;
  subject.write("fixed");
  std::FILE* const in = subject.file.open("r");
  EXPECT_EQ(std::fputc('x', in), EOF);
  std::fclose(in);
  EXPECT_EQ(subject.content(), "fixed");
}

TEST(FileInMemory, is_a_stream_of_cpp_too) {
  const Subject subject;
  {
    std::fstream out = subject.file.stream(std::ios::out);
    out << "step " << 7 << '\n';
  }
  {
    std::fstream more = subject.file.stream(std::ios::app);
    more << "end";
  }
  std::fstream in = subject.file.stream(std::ios::in);
  std::string word;
  int step = 0;
  in >> word >> step;
  EXPECT_EQ(word, "step");
  EXPECT_EQ(step, 7);
  in.seekg(-3, std::ios::end);
  in >> word;
  EXPECT_EQ(word, "end");
  EXPECT_EQ(subject.file.size(), 10U);
}

TEST(FileInMemory, can_be_opened_by_its_path) {
  const Subject subject;
  std::ofstream(subject.file.path()) << "by a library";
  EXPECT_EQ(subject.content(), "by a library");
  EXPECT_TRUE(subject.file.exists());
}

TEST(FileInMemory, is_refused_while_it_is_open_for_writing_however_it_was_opened) {
  const Subject subject;
  subject.write("whole");
  const auto refused =
      ThrowsMessage<mend::UsageError>(HasSubstr("file 'restart' is open for writing: close it before the commit"));
  std::FILE* const file = subject.file.open("a");
  EXPECT_THAT([&] { subject.member->size(); }, refused);
  std::fclose(file);
  std::ofstream stream(subject.file.path(), std::ios::app);
  EXPECT_THAT([&] { subject.member->size(); }, refused);
  stream.close();
  const int handle = ::open(subject.file.path().c_str(), O_RDWR);
  EXPECT_THAT([&] { subject.member->size(); }, refused);
  ::close(handle);
  std::FILE* const reader = subject.file.open("r");
  EXPECT_EQ(subject.content(), "whole");
  std::fclose(reader);
}

TEST(FileInMemory, that_is_restored_is_not_disturbed_by_who_had_it_open_before) {
  const Subject subject;
  std::FILE* const unfinished = subject.file.open("w");
  std::fputs("half a reco", unfinished);
  const std::string path = subject.file.path();
  subject.restore("as it was committed");
  std::fclose(unfinished);
  EXPECT_EQ(subject.content(), "as it was committed");
  EXPECT_EQ(read_all(subject.file.open("r")), "as it was committed");
  EXPECT_EQ(subject.file.path(), path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(std::ifstream(path).rdbuf()), {}), "as it was committed");
}

TEST(FileInMemory, exists_once_it_was_restored_even_if_it_is_empty) {
  const Subject subject;
  subject.restore("");
  EXPECT_TRUE(subject.file.exists());
  EXPECT_EQ(read_all(subject.file.open("r")), "");
  subject.restore("x");
  EXPECT_EQ(subject.content(), "x");
}

TEST(FileInMemory, may_become_shorter_and_longer_between_two_commits) {
  const Subject subject;
  for (const std::size_t size : {100'000U, 1U, 0U, 5'000U, 1'000'000U}) {
    const std::string text(size, static_cast<char>('a' + size % 7));
    subject.write(text);
    EXPECT_EQ(subject.content(), text);
    EXPECT_EQ(subject.member->contiguous().size(), size);
  }
}

TEST(FileInMemory, tells_what_is_no_mode) {
  const Subject subject;
  for (const char* mode : {"", "x", "rw", "wx", "+r"}) {
    EXPECT_THAT(
        [&] { subject.file.open(mode); },
        ThrowsMessage<mend::UsageError>(HasSubstr("is no mode of a file in memory: give r, r+, w, w+, a or a+")));
  }
}

TEST(FileInMemory, outlives_the_member) {
  std::FILE* in = nullptr;
  {
    const Subject subject;
    subject.write("still there");
    in = subject.file.open("r");
  }
  EXPECT_EQ(read_all(in), "still there");
}

}  // namespace
