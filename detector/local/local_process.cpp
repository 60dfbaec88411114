#include "detector/local/local_process.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace mend::detector {
namespace {

constexpr unsigned long exiting_flag = 0x4;  // PF_EXITING

/// The kernel's information on a process, by its descriptor: struct pidfd_info in linux/pidfd.h of Linux 6.15 and
/// later.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t numbers_and_users[11];
  std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long get_pidfd_info = _IOWR(0xFF, 11, PidfdInfo);
constexpr std::uint64_t has_exit_code = 1U << 3;

struct Status {
  std::string name;
  char state = '?';
  unsigned long flags = 0;
  std::uint64_t started = 0;

  bool ends() const { return state == 'Z' || state == 'X' || (flags & exiting_flag) != 0; }
};

/// Returns the first page of a file; empty if there is nothing to read, because the process may end before the read.
std::string first_page(const std::string& name) {
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string page(4096, ' ');
  const ssize_t size = ::read(file, page.data(), page.size());
  ::close(file);
  page.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return page;
}

/// Reads the status of a process or a thread: proc(5), /proc/PID/stat. The fields from the third on follow the name,
/// which is in parentheses and may contain parentheses.
std::optional<Status> read_status(const std::string& file) {
  const std::string line = first_page(file);
  const auto name_begin = line.find('(');
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos || name_begin > name_end) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  Status status;
  status.name = line.substr(name_begin + 1, name_end - name_begin - 1);
  std::string skipped;
  fields >> status.state;
  for (int field = 4; field <= 8; ++field) fields >> skipped;
  fields >> status.flags;
  for (int field = 10; field <= 21; ++field) fields >> skipped;
  fields >> status.started;
  return fields ? std::optional(status) : std::nullopt;
}

std::uint64_t own_space() {
  struct stat file {};
  return ::stat("/proc/self/ns/pid", &file) == 0 ? file.st_ino : 0;
}

std::optional<Status> status_of(pid_t pid) { return read_status(fmt::format("/proc/{}/stat", pid)); }

/// Returns true if `is_so(number, status)` is true of a thread of the process.
template <class Check>
bool any_thread(pid_t pid, const Check& is_so) {
  std::error_code gone;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", pid), gone); task != end;
       task.increment(gone)) {
    const auto status = read_status(task->path() / "stat");
    if (status && is_so(task->path().filename().string(), *status)) return true;
  }
  return false;
}

/// Returns the device and the number of the file that a process runs. Returns nothing if the process is gone, or
/// belongs to another user.
std::optional<std::pair<std::uint64_t, std::uint64_t>> program_of(pid_t pid) {
  struct stat file {};
  if (::stat(fmt::format("/proc/{}/exe", pid).c_str(), &file) != 0) return std::nullopt;
  return std::pair<std::uint64_t, std::uint64_t>(file.st_dev, file.st_ino);
}

}  // namespace

bool own_main_thread_sleeps() {
  const auto status = status_of(::getpid());
  return status && status->state == 'S';
}

bool other_own_threads_compute() {
  const std::string main_thread = std::to_string(::getpid());
  const std::string own_thread = std::to_string(::gettid());
  return any_thread(::getpid(), [&](const std::string& number, const Status& status) {
    return number != main_thread && number != own_thread && status.state == 'R';
  });
}

LocalIdentity LocalIdentity::self() {
  const auto self = of(::getpid());
  if (!self) throw EnvironmentError("/proc/self/stat cannot be read");
  return *self;
}

std::optional<LocalIdentity> LocalIdentity::of(pid_t pid) {
  const auto status = status_of(pid);
  return status ? std::optional<LocalIdentity>({pid, status->started, own_space()}) : std::nullopt;
}

bool LocalIdentity::can_be_seen() const { return space == own_space(); }

LocalProcess::LocalProcess(const LocalIdentity& identity, int pidfd)
    : identity_(identity), pidfd_(pidfd), program_(program_of(identity.pid)) {}

std::optional<LocalProcess> LocalProcess::find(const LocalIdentity& identity) {
  if (!identity.can_be_seen()) return std::nullopt;
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, identity.pid, 0));
  if (pidfd < 0 && errno == ESRCH) return std::nullopt;  // otherwise it exists, but there is no descriptor for it
  LocalProcess process(identity, pidfd);
  // Checked only now, because the meaning of the descriptor can no longer change.
  if (process.is_gone()) return std::nullopt;
  return process;
}

LocalProcess::~LocalProcess() {
  if (pidfd_ >= 0) ::close(pidfd_);
}
LocalProcess::LocalProcess(LocalProcess&& other) noexcept
    : identity_(std::exchange(other.identity_, {})),
      pidfd_(std::exchange(other.pidfd_, -1)),
      program_(other.program_) {}

/// The first thread may end before the others. A process that cannot be inspected for lack of descriptors is not gone.
bool LocalProcess::is_gone() const {
  errno = 0;
  const auto first = status_of(identity_.pid);
  if (!first) return errno == ENOENT || errno == ESRCH;
  if (first->started != identity_.started) return true;
  if (!first->ends()) return false;
  return !any_thread(identity_.pid, [](const std::string&, const Status& status) { return !status.ends(); });
}

bool LocalProcess::is_kept_waiting(std::string_view thread) const {
  return any_thread(identity_.pid, [&](const std::string&, const Status& status) {
    return status.name == thread && status.state == 'R';
  });
}

bool LocalProcess::runs_another_program() const {
  const auto now = program_of(identity_.pid);
  return program_ && now && *now != *program_ && !is_gone();
}

std::optional<int> LocalProcess::exit_status() const {
  PidfdInfo info{};
  info.mask = has_exit_code;
  if (pidfd_ < 0 || ::ioctl(pidfd_, get_pidfd_info, &info) != 0 || (info.mask & has_exit_code) == 0)
    return std::nullopt;
  return info.exit_code;
}

void LocalProcess::kill() const {
  if (pidfd_ >= 0) {
    ::syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0);
  } else if (identity_.pid > 0 && !is_gone()) {
    ::kill(identity_.pid, SIGKILL);
  }
}

}  // namespace mend::detector
