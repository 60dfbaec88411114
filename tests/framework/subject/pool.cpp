// A body that, when it is told to, needs a process that was started in the background.

#include "base/fault_point.hpp"
#include "tests/framework/subject/subject.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>

namespace subject {

mend::Body keep_a_pool(std::string_view what) {
  const auto semicolon = std::min(what.find(';'), what.size() - 1);
  const std::filesystem::path folder(what.substr(0, semicolon));
  int doomed = -1;
  std::from_chars(what.data() + semicolon + 1, what.data() + what.size(), doomed);
  mend::on_fault_point([folder](std::string_view point) {
    if (point == "newcomer.call" && std::filesystem::remove(folder / "stop")) std::raise(SIGSTOP);
  });
  return [folder, doomed](mend::Session& session) {
    if (is_first(session, 1)) die();
    if (session.epoch() == mend::Epoch{1}) {
      if (session.rank() == mend::Rank{0}) say(session, "a process is started");
      while (!session.agree(std::filesystem::exists(folder / "go"))) continue;
      if (session.rank() == mend::Rank{doomed}) die();
    }
    MPI_Barrier(session.comm());
    say(session, fmt::format("is here in epoch {}", session.epoch().value));
  };
}

}  // namespace subject
