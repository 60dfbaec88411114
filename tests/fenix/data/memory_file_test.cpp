#include "fenix/data/memory_file.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <string>

namespace {

using mend::fenix::Bytes;
using mend::fenix::FileUse;
using mend::fenix::MemoryFile;
using mend::fenix::MemoryStream;

std::string text_in(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

TEST(MemoryFile, that_nothing_is_written_to_has_no_bytes) {
  EXPECT_TRUE(MemoryFile({}, FileUse::write).take().empty());
}

TEST(MemoryFile, keeps_what_is_written_and_overwritten_and_zeros_where_nothing_was) {
  MemoryFile file({}, FileUse::write);
  std::fputs("abc", file.file());
  std::fseek(file.file(), 5, SEEK_SET);
  std::fputs("xyz", file.file());
  std::fseek(file.file(), -1, SEEK_END);
  std::fputc('Z', file.file());
  std::rewind(file.file());
  std::fputc('A', file.file());
  EXPECT_EQ(text_in(file.take()), std::string("Abc\0\0xyZ", 8));
}

TEST(MemoryFile, is_read_to_its_end_and_cannot_be_written_then) {
  MemoryFile file(bytes_of("three bytes"), FileUse::read);
  file.seek(6);
  char word[16] = "";
  EXPECT_EQ(std::fread(word, 1, sizeof word, file.file()), 5U);
  EXPECT_STREQ(word, "bytes");
  EXPECT_NE(std::feof(file.file()), 0);
  EXPECT_EQ(std::fputc('x', file.file()), EOF);
}

TEST(MemoryFile, takes_many_megabytes) {
  MemoryFile file({}, FileUse::write);
  const std::string block(1 << 20, 'm');
  for (int i = 0; i < 64; ++i) EXPECT_EQ(std::fwrite(block.data(), 1, block.size(), file.file()), block.size());
  EXPECT_EQ(file.take().size(), 64U << 20);
}

TEST(MemoryStream, writes_and_reads_at_places_of_their_own) {
  MemoryStream memory({});
  memory.stream() << "one " << 2 << " three";
  std::string word;
  int number = 0;
  memory.stream() >> word >> number;
  EXPECT_EQ(word, "one");
  EXPECT_EQ(number, 2);
  memory.seek(4);
  memory.stream() << "7";
  memory.stream() >> number >> word;
  EXPECT_EQ(number, 7);
  EXPECT_EQ(word, "three");
  EXPECT_EQ(text_in(memory.take()), "one 7 three");
}

TEST(MemoryStream, ends_where_its_bytes_end) {
  MemoryStream memory(bytes_of("a line\nanother"));
  std::string line;
  std::getline(memory.stream(), line);
  EXPECT_EQ(line, "a line");
  std::getline(memory.stream(), line);
  EXPECT_EQ(line, "another");
  EXPECT_TRUE(memory.stream().eof());
}

}  // namespace
