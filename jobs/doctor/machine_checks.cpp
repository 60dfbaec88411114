#include "jobs/doctor/checks.hpp"
#include "jobs/plan/quantities.hpp"
#include "jobs/run/process_limits.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

namespace mend::jobs {
namespace {

double soft_limit(decltype(RLIMIT_NPROC) what) {
  rlimit limit{};
  if (::getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit.rlim_cur);
}

std::string count_text(double value) { return std::isinf(value) ? "no limit" : fmt::format("{:.0f}", value); }

/// Returns true if there is an RDMA network, which must lock memory and may write to protected memory past the kernel.
bool has_rdma() {
  std::error_code error;
  std::filesystem::directory_iterator devices("/sys/class/infiniband", error);
  return !error && devices != std::filesystem::directory_iterator();
}

Finding locked_memory() {
  constexpr double least = 64 << 20;
  const double limit = soft_limit(RLIMIT_MEMLOCK);
  const std::string value = std::isinf(limit) ? "no limit" : size_text(limit);
  if (has_rdma() && limit < least) {
    return {Level::warn, "locked memory",
            fmt::format("{}: too little for the InfiniBand devices of this machine", value),
            "ulimit -l unlimited (/etc/security/limits.conf, and the batch system's daemon)"};
  }
  return {Level::pass, "locked memory", value, ""};
}

Finding shared_memory(int processes) {
  // Open MPI's shared-memory segment of each process.
  constexpr double each = 4 << 20;
  struct statvfs disk {};
  if (::statvfs("/dev/shm", &disk) != 0 || ::access("/dev/shm", W_OK) != 0) {
    return {Level::fail, "shared memory", "/dev/shm cannot be written: processes of a machine cannot share memory",
            "mount -t tmpfs tmpfs /dev/shm"};
  }
  const double left = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  if (left < each * processes) {
    return {Level::fail, "shared memory",
            fmt::format("/dev/shm has {} left, and {} processes want about {}", size_text(left), processes,
                        size_text(each * processes)),
            "clear /dev/shm, or mount -o remount,size=1G /dev/shm (containers: --shm-size)"};
  }
  return {Level::pass, "shared memory", fmt::format("{} left in /dev/shm", size_text(left)), ""};
}

bool on_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

Findings check_limits(const DoctorOptions& options) {
  const ProcessLimits limits = process_limits();
  Findings findings;
  // The two limits are judged separately, because each has its own remedy.
  const auto judge = [&](const char* subject, const ProcessLimits& one, const std::string& value, const char* remedy) {
    const std::string objection = objection_to(options.processes, one);
    findings.push_back(objection.empty() ? Finding{Level::pass, subject, value, ""}
                                         : Finding{Level::fail, subject, objection, remedy});
  };
  judge("open files", {.tasks = {}, .open_files = limits.open_files}, count_text(soft_limit(RLIMIT_NOFILE)),
        "ulimit -n 65536 (/etc/security/limits.conf, and the batch system's daemon)");
  judge("processes", {.tasks = limits.tasks, .tasks_from = limits.tasks_from, .open_files = {}},
        limits.tasks ? fmt::format("{} ({})", *limits.tasks, limits.tasks_from) : "no limit",
        "ulimit -u 65536, or raise the limit that is named");
  findings.push_back(locked_memory());
  findings.push_back(shared_memory(options.processes));
  return findings;
}

Findings check_network() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return {{Level::fail, "network", fmt::format("the interfaces cannot be listed: {}", std::strerror(errno)),
             "allow netlink sockets in this container"}};
  }
  std::string others;
  bool loopback = false;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0) {
      loopback = true;
      continue;
    }
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text.data(), text.size());
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", one->ifa_name, text.data());
  }
  ::freeifaddrs(list);
  if (!loopback) {
    return {{Level::fail, "network", "the loopback interface is down: processes of this machine cannot meet",
             "ip link set lo up"}};
  }
  if (others.empty())
    return {{Level::warn, "network", "there is only the loopback interface: jobs stay on this machine",
             "connect the machine, and give its interface an IPv4 address"}};
  return {{Level::pass, "network", others, ""}};
}

Findings check_clock() {
  std::string source = "unknown";
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  if (source == "hpet" || source == "acpi_pm" || source == "jiffies") {
    return {{Level::warn, "clock",
             fmt::format("the clock source {} is slow or coarse: short times are not exact", source),
             "boot with clocksource=tsc, if the processor's is stable"}};
  }
  timex state{};
  if (const int synchronised = ::adjtimex(&state); synchronised == TIME_ERROR || (state.status & STA_UNSYNC) != 0) {
    return {{Level::warn, "clock",
             fmt::format("{}; not synchronised: timelines of several machines do not line up", source),
             "start chrony or ntpd"}};
  }
  return {{Level::pass, "clock", fmt::format("{}, synchronised", source), ""}};
}

Findings check_scheduler() {
  struct Scheduler {
    const char* name;
    const char* variable;
    const char* command;
  };
  for (const Scheduler& one : {Scheduler{"Slurm", "SLURM_JOB_ID", "sbatch"}, Scheduler{"PBS", "PBS_JOBID", "qsub"},
                               Scheduler{"LSF", "LSB_JOBID", "bsub"}, Scheduler{"Flux", "FLUX_URI", "flux"}}) {
    if (const char* job = std::getenv(one.variable); job != nullptr && *job != '\0')
      return {{Level::pass, "scheduler", fmt::format("{}, in job {}", one.name, job), ""}};
    if (on_path(one.command)) return {{Level::pass, "scheduler", fmt::format("{}, in no job", one.name), ""}};
  }
  return {{Level::pass, "scheduler", "none: jobs run here", ""}};
}

HeartbeatFloor heartbeat_floor(double wake_up_ms) {
  const double heartbeat = std::max(10.0, std::ceil(4 * wake_up_ms));
  return {heartbeat, 10 * heartbeat};
}

Finding judge_heartbeat(double wake_up_ms, double heartbeat_ms, double timeout_ms) {
  const HeartbeatFloor floor = heartbeat_floor(wake_up_ms);
  const std::string remedy =
      fmt::format("--mend-heartbeat {:g} --mend-timeout {:g}", std::max(floor.heartbeat_ms, heartbeat_ms),
                  std::max(floor.timeout_ms, 10 * std::max(floor.heartbeat_ms, heartbeat_ms)));
  if (timeout_ms < 2 * heartbeat_ms) {
    return {Level::fail, "heartbeat",
            fmt::format("the time-out of {:g} ms is too short: with a heartbeat every {:g} ms the living would be held "
                        "dead, and jobs do not start",
                        timeout_ms, heartbeat_ms),
            remedy};
  }
  if (timeout_ms < heartbeat_ms + 4 * wake_up_ms) {
    return {Level::fail, "heartbeat",
            fmt::format("the time-out of {:g} ms is too short: processes here wake up {:.2g} ms late", timeout_ms,
                        wake_up_ms),
            remedy};
  }
  if (timeout_ms < floor.timeout_ms) {
    return {Level::warn, "heartbeat",
            fmt::format("the time-out of {:g} ms is below what is safe here, {:g} ms: processes wake up {:.2g} ms late",
                        timeout_ms, floor.timeout_ms, wake_up_ms),
            remedy};
  }
  return {Level::pass, "heartbeat",
          fmt::format("processes wake up {:.2g} ms late; safe: heartbeat {:g} ms, time-out {:g} ms", wake_up_ms,
                      floor.heartbeat_ms, floor.timeout_ms),
          ""};
}

}  // namespace mend::jobs
