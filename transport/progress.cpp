#include "transport/progress.hpp"

#include "base/telemetry/library_wait.hpp"

#include <dlfcn.h>

namespace mend {
namespace {

std::function<void()>& work_now() {
  static std::function<void()> instance;
  return instance;
}

int do_work() {
  note_library_round();
  if (work_now()) work_now()();
  return 0;  // no event of MPI was handled
}

/// Registers with Open MPI's own progress engine, among the callbacks of low priority, which are called in every eighth
/// round.
bool enter_rounds() {
  using Enter = int (*)(int (*)());
  const auto enter = reinterpret_cast<Enter>(::dlsym(RTLD_DEFAULT, "opal_progress_register_lp"));
  return enter != nullptr && enter(&do_work) == 0;
}

}  // namespace

std::function<void()> while_mpi_waits(std::function<void()> work) {
  static const bool entered [[maybe_unused]] = enter_rounds();
  return std::exchange(work_now(), std::move(work));
}

}  // namespace mend
