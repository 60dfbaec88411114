// What may write into a process's memory without a write that the kernel sees.

#include "store/snapshot/unseen_writers.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

TEST(UnseenWriters, are_devices_that_are_not_known_to_be_harmless) {
  for (const char* name : {"/dev/nvidia0", "/dev/nvidiactl", "/dev/infiniband/uverbs0", "/dev/xpmem", "/dev/knem",
                           "/dev/kfd", "/dev/dri/renderD128", "/dev/cxi0", "/dev/hfi1_0", "/dev/vfio/7", "/dev/nothing",
                           "/dmabuf:", "anon_inode:[io_uring]", "anon_inode:[vfio-device]"})
    EXPECT_TRUE(mend::may_write_unseen(name)) << name;
  for (const char* name : {"/dev/null", "/dev/pts/3", "/dev/shm/sm_segment.node.1", "/dev/urandom", "/dev/tty",
                           "pipe:[17]", "socket:[18]", "anon_inode:[eventpoll]", "anon_inode:[userfaultfd]",
                           "/home/user/dev/file", "/proc/1/pagemap", "/memfd:x (deleted)", ""})
    EXPECT_FALSE(mend::may_write_unseen(name)) << name;
}

TEST(UnseenWriters, are_found_among_open_files) {
  const int harmless = ::open("/dev/null", O_RDWR);
  if (mend::has_unseen_writers()) GTEST_SKIP() << "this process was started with a device open";
  int device = -1;
  for (const char* name :
       {"/dev/fuse", "/dev/net/tun", "/dev/loop-control", "/dev/vhost-net", "/dev/cpu_dma_latency"}) {
    if (device < 0) device = ::open(name, O_RDWR | O_CLOEXEC);
  }
  if (device < 0) GTEST_SKIP() << "no device can be opened here";
  // Under a number beyond all others, behind connections.
  int connections[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, connections), 0);
  const int high = ::fcntl(device, F_DUPFD, 700);
  ::close(device);
  ASSERT_GE(high, 700);
  EXPECT_TRUE(mend::has_unseen_writers());
  for (const int file : {high, harmless, connections[0], connections[1]}) ::close(file);
  EXPECT_FALSE(mend::has_unseen_writers());
}

TEST(UnseenWriters, are_rings_of_asynchronous_input) {
  if (mend::has_unseen_writers()) GTEST_SKIP() << "this process was started with a device open";
  io_uring_params parameters{};
  const auto ring = static_cast<int>(::syscall(SYS_io_uring_setup, 4, &parameters));
  if (ring < 0) GTEST_SKIP() << "this kernel gives no io_uring";
  EXPECT_TRUE(mend::has_unseen_writers());
  ::close(ring);
  EXPECT_FALSE(mend::has_unseen_writers());
}

TEST(UnseenWriters, are_contexts_of_asynchronous_input) {
  if (mend::has_unseen_writers()) GTEST_SKIP() << "this process was started with a device open";
  unsigned long context = 0;
  if (::syscall(SYS_io_setup, 4, &context) != 0) GTEST_SKIP() << "this kernel gives no asynchronous input";
  EXPECT_TRUE(mend::has_unseen_writers());
  ::syscall(SYS_io_destroy, context);
  EXPECT_FALSE(mend::has_unseen_writers());
}

}  // namespace
