#include "base/telemetry/job_board.hpp"

#include "base/error.hpp"
#include "base/telemetry/activity.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/packed_word.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace mend::board {
namespace {

/// Names a running kernel, in the form of a UUID.
using Boot = std::array<char, 37>;

Boot this_boot() {
  Boot boot{};
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return boot;
  [[maybe_unused]] const ssize_t length = ::read(file, boot.data(), boot.size() - 1);
  ::close(file);
  return boot;
}

struct alignas(64) Head {
  Boot boot{};  // of the machine on which the board was made
  std::atomic<std::uint32_t> slots{0};
  std::atomic<std::uint32_t> taken{0};
  Requests requests;
  std::atomic<std::uint32_t> look_taken{0};  // by the process that asks for it
  std::atomic<std::uint32_t> look_asked{0};  // by that process, when it has asked
};
/// Processes of this node have slots from the beginning of the board; others from its end, by their number.
struct alignas(64) AlignedSlot : SlotElsewhere {};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share these words");

constinit Head own_head;
constinit AlignedSlot own_slot;
Head* head = &own_head;
Slot* slot = &own_slot;

AlignedSlot* slots_after(void* memory) {
  return reinterpret_cast<AlignedSlot*>(static_cast<std::byte*>(memory) + sizeof(Head));
}

AlignedSlot* end_of_own_slots(Head* board) {
  return slots_after(board) + std::min(board->taken.load(), board->slots.load());
}
AlignedSlot* end_of_slots(Head* board) { return slots_after(board) + board->slots; }

std::vector<SlotElsewhere*> slots_elsewhere_on(Head* board) {
  std::vector<SlotElsewhere*> taken;
  for (AlignedSlot* one = end_of_own_slots(board); one != end_of_slots(board); ++one)
    if (one->is_taken != 0) taken.push_back(one);
  return taken;
}

/// Maps the whole file. Returns null on failure.
void* map(int file, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* map_existing(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat about {};
  const bool is_board = ::fstat(file, &about) == 0 && about.st_size >= static_cast<off_t>(sizeof(Head));
  void* const memory = is_board ? map(file, static_cast<std::size_t>(about.st_size)) : nullptr;
  ::close(file);
  return memory;
}

}  // namespace
}  // namespace mend::board

constinit std::atomic<std::uint64_t>* mend::activity_word = &mend::board::own_slot.activity;

namespace mend::board {

std::string_view describe(Leave why) {
  switch (why) {
    case Leave::no: return "nobody has asked";
    case Leave::time_limit: return "its time limit is near";
    case Leave::signal_to_rank: return "a process was sent SIGTERM";
    case Leave::signal_to_launcher: return "mend run was sent SIGTERM";
    case Leave::stop: return "asked by mend stop";
    case Leave::launcher: return "asked by mend run";
  }
  return "?";
}

Whereabouts whereabouts(const Slot& slot) {
  const auto place = PackedWord<mend::Place>::from(slot.place);
  return {place.what, std::chrono::microseconds(place.number), PackedWord<MpiCall>::from(slot.activity).what};
}

void set_whereabouts(Slot& slot, const Whereabouts& now) {
  slot.place = PackedWord<mend::Place>{now.place, static_cast<std::uint64_t>(now.since.count())}.packed();
  slot.activity = PackedWord<MpiCall>{now.call, 0}.packed();
}

void join() {
  const char* status_file = std::getenv(job_status::environment_variable);
  if (status_file == nullptr) return;
  void* const memory = map_existing((std::filesystem::path(status_file).parent_path() / file_name).string());
  if (memory == nullptr) return;
  if (static_cast<const Head*>(memory)->boot != this_boot()) {  // several nodes see one folder
    const Head* const other = static_cast<const Head*>(memory);
    ::munmap(memory, sizeof(Head) + other->slots * sizeof(AlignedSlot));
    return;
  }
  head = static_cast<Head*>(memory);
  const std::uint32_t number = head->taken.fetch_add(1);
  if (number >= head->slots) return;  // more processes were started than there is room for: this one is not shown
  slot = slots_after(memory) + number;
  activity_word = &slot->activity;
  slot->process = Slot::none;
  slot->rank = Slot::none;
  slot->pid = ::getpid();
}

Slot& mine() { return *slot; }
const Requests& requests() { return head->requests; }

std::optional<std::uint32_t> take_look() {
  const std::uint32_t wanted = head->requests.looks;
  std::uint32_t taken = head->look_taken;
  if (wanted == taken || !head->look_taken.compare_exchange_strong(taken, wanted)) return std::nullopt;
  return wanted;
}

void asked_for_look(std::uint32_t look) { head->look_asked = look; }

std::vector<ProcessId> processes_here() {
  std::vector<ProcessId> here;
  for (const AlignedSlot* one = slots_after(head); one != end_of_own_slots(head); ++one)
    if (one->process != Slot::none) here.push_back(ProcessId{static_cast<std::uint32_t>(one->process.load())});
  return here;
}

SlotElsewhere* slot_elsewhere(ProcessId process) {
  if (process.value >= end_of_slots(head) - end_of_own_slots(head)) return nullptr;
  AlignedSlot* const its = end_of_slots(head) - 1 - process.value;
  its->process = static_cast<std::int32_t>(process.value);
  its->is_taken = 1;
  return its;
}

std::vector<SlotElsewhere*> slots_elsewhere() { return slots_elsewhere_on(head); }

Board::Board(const std::filesystem::path& folder, std::size_t slots)
    : memory_(nullptr), bytes_(sizeof(Head) + slots * sizeof(AlignedSlot)) {
  const std::string path = (folder / file_name).string();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : ::posix_fallocate(file, 0, static_cast<off_t>(bytes_));
  if (error == 0) memory_ = map(file, bytes_);
  if (error == 0 && memory_ == nullptr) error = errno;
  if (file >= 0) ::close(file);
  if (error != 0) throw EnvironmentError(fmt::format("cannot make the file {}: {}", path, std::strerror(error)));
  (new (memory_) Head)->boot = this_boot();
  std::uninitialized_default_construct_n(slots_after(memory_), slots);
  static_cast<Head*>(memory_)->slots = static_cast<std::uint32_t>(slots);
}

Board::~Board() { ::munmap(memory_, bytes_); }

Requests& Board::requests() const { return static_cast<Head*>(memory_)->requests; }

std::vector<const Slot*> Board::slots() const {
  Head* const made = static_cast<Head*>(memory_);
  std::vector<const Slot*> taken;
  for (const AlignedSlot* one = slots_after(made); one != end_of_own_slots(made); ++one)
    if (one->pid != 0) taken.push_back(one);
  return taken;
}

std::vector<const SlotElsewhere*> Board::slots_elsewhere() const {
  const auto taken = slots_elsewhere_on(static_cast<Head*>(memory_));
  return {taken.begin(), taken.end()};
}

std::uint32_t Board::last_look() const { return static_cast<const Head*>(memory_)->look_asked; }

}  // namespace mend::board
