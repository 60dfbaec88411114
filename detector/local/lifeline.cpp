#include "detector/local/lifeline.hpp"

#include "base/thread.hpp"
#include "detector/local/scheduler_slice.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>

namespace mend::detector {
namespace {

constexpr std::size_t mapped_bytes = sizeof(LifelineWord);

void* map_word(int descriptor, int protection) {
  void* const begin = ::mmap(nullptr, mapped_bytes, protection, MAP_SHARED, descriptor, 0);
  return begin == MAP_FAILED ? nullptr : begin;
}

enum class Sharing : std::uint32_t { own = FUTEX_PRIVATE_FLAG, across_processes = 0 };

/// Makes the kernel's wait condition: `word` no longer holds `value`.
futex_waitv while_it_is(std::uint32_t value, const LifelineWord& word, Sharing sharing) {
  return {.val = value,
          .uaddr = reinterpret_cast<std::uintptr_t>(&word),
          .flags = FUTEX_32 | static_cast<std::uint32_t>(sharing),
          .__reserved = 0};
}

void wake_all(LifelineWord& word, Sharing sharing) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE | static_cast<int>(sharing), INT_MAX, nullptr, nullptr, 0);
}

bool kernel_waits_for_several() {
  return ::syscall(SYS_futex_waitv, nullptr, 0, 0, nullptr, 0) < 0 && errno != ENOSYS && errno != EPERM;
}

/// A word that the kernel marks when the calling thread ends. It replaces the list that the C library has registered
/// for the thread, so the thread must not use robust mutexes.
class HeldWord {
 public:
  explicit HeldWord(LifelineWord& word) : word_(word) {
    entry_.next = &held_.list;
    held_.list.next = &entry_;
    held_.futex_offset = reinterpret_cast<char*>(&word) - reinterpret_cast<char*>(&entry_);
    held_.list_op_pending = nullptr;
    word.store(static_cast<std::uint32_t>(::gettid()) | FUTEX_WAITERS);  // without FUTEX_WAITERS no waiter is woken
    ::syscall(SYS_set_robust_list, &held_, sizeof held_);
  }
  ~HeldWord() {
    held_.list.next = &held_.list;
    word_.store(0);
    wake_all(word_, Sharing::across_processes);
  }
  HeldWord(const HeldWord&) = delete;
  HeldWord& operator=(const HeldWord&) = delete;

 private:
  // The kernel keeps a pointer to this for the lifetime of the thread.
  inline static thread_local robust_list_head held_{};
  inline static thread_local robust_list entry_{};
  LifelineWord& word_;
};

}  // namespace

// ---- The word of another process

std::shared_ptr<const NeighbourLifeline> NeighbourLifeline::open(pid_t pid, int descriptor) {
  if (descriptor < 0) return nullptr;
  const int file = ::open(fmt::format("/proc/{}/fd/{}", pid, descriptor).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return nullptr;
  void* const word = map_word(file, PROT_READ);
  ::close(file);
  if (word == nullptr) return nullptr;
  return std::shared_ptr<const NeighbourLifeline>(new NeighbourLifeline(static_cast<const LifelineWord*>(word)));
}

NeighbourLifeline::~NeighbourLifeline() { ::munmap(const_cast<LifelineWord*>(word_), mapped_bytes); }

// ---- The word of this process

Lifeline::Lifeline(std::function<void(ProcessId)> ended) : ended_(std::move(ended)) {
  if (!kernel_waits_for_several()) return;
  const int file = ::memfd_create("mend-lifeline", MFD_CLOEXEC);
  if (file < 0) return;
  void* const memory = ::ftruncate(file, mapped_bytes) == 0 ? map_word(file, PROT_READ | PROT_WRITE) : nullptr;
  if (memory == nullptr) {
    ::close(file);
    return;
  }
  descriptor_ = file;
  word_ = new (memory) LifelineWord(0);
  thread_ = start_thread("mend-lifeline", [this] { run(); });
  word_->wait(0);  // a process that looks at a word that is not held yet would take it for released
}

Lifeline::~Lifeline() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  ring_bell();
  thread_.join();
  ::munmap(word_, mapped_bytes);
  ::close(descriptor_);
}

void Lifeline::look_at(ProcessId process, std::shared_ptr<const NeighbourLifeline> line) {
  {
    const std::lock_guard lock(mutex_);
    if (line == target_.line) return;
    target_ = {process, std::move(line)};
  }
  ring_bell();
}

void Lifeline::ring_bell() {
  ++bell_;
  wake_all(bell_, Sharing::own);
}

Lifeline::Target Lifeline::target() {
  const std::lock_guard lock(mutex_);
  return target_;
}

void Lifeline::forget(const Target& seen) {
  const std::lock_guard lock(mutex_);
  if (target_.line == seen.line) target_ = {};
}

void Lifeline::run() {
  request_short_scheduler_slice();
  const HeldWord held(*word_);
  word_->notify_all();
  while (!stopping_) {
    const std::uint32_t bell = bell_;
    const Target looked_at = target();
    const std::uint32_t value = looked_at.line ? looked_at.line->word().load() : 0;
    const bool is_held = (value & FUTEX_TID_MASK) != 0;
    if (looked_at.line && !is_held) {
      const bool died = (value & FUTEX_OWNER_DIED) != 0;
      forget(looked_at);
      if (died) ended_(looked_at.process);
      continue;
    }
    std::array<futex_waitv, 2> awaited{while_it_is(bell, bell_, Sharing::own)};
    if (is_held) awaited[1] = while_it_is(value, looked_at.line->word(), Sharing::across_processes);
    ::syscall(SYS_futex_waitv, awaited.data(), is_held ? 2 : 1, 0, nullptr, 0);
  }
}

}  // namespace mend::detector
