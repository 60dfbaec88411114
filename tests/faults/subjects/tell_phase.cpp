// Linked into the programs whose calls fail. Tells the library of failing calls (failing_calls.cpp), if it is loaded,
// the next phase of this process.

#include "base/fault_point.hpp"

#include <dlfcn.h>

#include <string>
#include <string_view>

namespace {

void tell_phase(std::string_view point) {
  static const auto tell = reinterpret_cast<void (*)(const char*)>(::dlsym(RTLD_DEFAULT, "failing_calls_phase"));
  if (tell == nullptr) return;
  const std::string room(point.substr(0, point.find('.')));
  if (point == "init.before") return tell("start");
  if (room == "init") return;
  if (room == "finalize" || room == "finish") return tell("end");
  for (const char* phase : {"commit", "disk", "restore", "recovery", "spawn", "newcomer", "spare", "end"}) {
    if (room == phase) return tell(phase);
  }
}

[[maybe_unused]] const bool is_listening = [] {
  mend::on_fault_point(&tell_phase);
  return true;
}();

}  // namespace
