#include "base/thread.hpp"

#include "base/fail_stop.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <exception>

namespace mend {

void work_in_thread(const char* name, const std::function<void()>& work) {
  ::pthread_setname_np(::pthread_self(), name);
  try {
    work();
  } catch (const std::exception& error) {
    fail_stop(fmt::format("its thread {} failed: {}", name, error.what()));
  }
}

}  // namespace mend
