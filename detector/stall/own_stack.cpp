#include "detector/stall/own_stack.hpp"

#include "detector/stall/function_names.hpp"

#include <fmt/format.h>

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace mend::detector {
namespace {

constexpr int most_frames = 64;
constexpr int own_frames = 2;  // the handler's frame, and the frame that the kernel returns to

// The one stack that is taken; the handler has no other place for it.
std::array<void*, most_frames> frames;
std::atomic<int> frame_count = -1;

void write_down_stack(int) {
  const int error = errno;
  frame_count.store(::backtrace(frames.data(), most_frames), std::memory_order_release);
  errno = error;
}

}  // namespace

void OwnStack::take() {
  begun_ = std::chrono::steady_clock::now();
  std::array<void*, 1> unused;
  ::backtrace(unused.data(), 1);  // loads what backtrace needs, which a signal handler must not do
  struct sigaction action {};
  action.sa_handler = write_down_stack;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGURG, &action, nullptr);
  const pid_t self = ::getpid();
  ::syscall(SYS_tgkill, self, self, SIGURG);  // the main thread's number is the process's number
}

bool OwnStack::is_there() const {
  return frame_count.load(std::memory_order_acquire) >= 0 || std::chrono::steady_clock::now() - begun_ >= patience;
}

std::string OwnStack::text() const {
  const int count = frame_count.load(std::memory_order_acquire);
  if (count <= own_frames) return "  (no stack: the main thread does not answer)\n";
  FunctionNames names;
  std::string text;
  for (int i = own_frames; i < count; ++i) {
    // All addresses but the first are return addresses, which may be the beginning of another function.
    const auto address = reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]);
    text += fmt::format("  #{} {}\n", i - own_frames, names.describe(i == own_frames ? address : address - 1));
  }
  return text;
}

}  // namespace mend::detector
