#include "detector/local/scheduler_slice.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace mend::detector {

void request_short_scheduler_slice() {
  struct {
    std::uint32_t size = 48;
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 100'000;  // nanoseconds; the minimum
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
  } attributes;
  attributes.nice = ::getpriority(PRIO_PROCESS, 0);
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace mend::detector
