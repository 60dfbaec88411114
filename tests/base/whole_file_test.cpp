#include "base/files/whole_file.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace mend {
namespace {

namespace fs = std::filesystem;
using Kind = Destination::Kind;

class WholeFile : public testing::Test {
 protected:
  WholeFile() {
    std::string name = (fs::path(testing::TempDir()) / "mend-whole-file-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~WholeFile() override { fs::remove_all(folder); }

  std::string obstacle_of(const fs::path& name) const {
    const Destination destination = destination_of(name);
    return destination.kind == Kind::unusable ? destination.obstacle : "none";
  }

  fs::path folder;
};

TEST_F(WholeFile, follows_links_to_where_nothing_is_yet_and_finds_those_that_lead_nowhere) {
  fs::create_symlink("b", folder / "a");
  fs::create_symlink(folder / "c", folder / "b");
  EXPECT_EQ(destination_of(folder / "a").path, folder / "c");
  EXPECT_EQ(destination_of(folder / "a").kind, Kind::file);
  fs::create_symlink("a", folder / "c");
  EXPECT_EQ(obstacle_of(folder / "a"), "is a symbolic link that leads nowhere");
}

TEST_F(WholeFile, takes_what_a_process_has_open_for_a_stream_even_if_it_is_a_file) {
  std::ofstream(folder / "open") << "first ";
  const int descriptor = ::open((folder / "open").c_str(), O_RDWR | O_CLOEXEC);
  fs::create_symlink("/proc/self/fd/" + std::to_string(descriptor), folder / "link");
  EXPECT_EQ(destination_of(folder / "link").kind, Kind::stream);
  write_whole(folder / "link", "second");
  ::close(descriptor);
  std::ifstream in(folder / "open");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "first second");
}

TEST_F(WholeFile, names_what_nothing_can_be_written_into) {
  EXPECT_EQ(obstacle_of(folder), "is a folder");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(obstacle_of(folder / "socket"), "is a socket");
  ::close(listener);
  if (::mknod((folder / "disk").c_str(), S_IFBLK | 0600, makedev(7, 99)) != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(obstacle_of(folder / "disk"), "is a block device");
  EXPECT_THROW(write_whole(folder / "disk", "text"), EnvironmentError);
}

TEST_F(WholeFile, a_reader_that_leaves_a_pipe_is_an_error_and_no_signal) {
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ::close(reader);
  EXPECT_THROW(write_whole(pipe, "text"), EnvironmentError);
}

}  // namespace
}  // namespace mend
