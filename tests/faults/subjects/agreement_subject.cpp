// One process of a group that agrees several times by one of mend's protocols, and dies where it is told to.
//
//   test_agreement_subject PROTOCOL AGREEMENTS EVIDENCE [RANK:POINT:N ...]
//
// RANK dies the N-th time that it reaches POINT. Each process contributes all bits except that of its rank. It appends
// the result to EVIDENCE/rank-R before it does anything else, so that there are records of dead processes too. At the
// end it writes the numbers of messages sent and received to EVIDENCE/messages-R.

#include "agreement/service.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/job_status.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "tests/support/flush.hpp"
#include "tests/support/world.hpp"
#include "transport/mpi_endpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

namespace {

using mend::ProcessId;
using mend::agreement::Service;

struct Order {
  std::string point;
  int occurrence;
};

std::vector<Order> orders_for(int rank, int argc, char** argv) {
  std::vector<Order> orders;
  for (int i = 4; i < argc; ++i) {
    const std::string text = argv[i];
    const auto first = text.find(':');
    const auto last = text.rfind(':');
    if (std::stoi(text.substr(0, first)) != rank) continue;
    orders.push_back({text.substr(first + 1, last - first - 1), std::stoi(text.substr(last + 1))});
  }
  return orders;
}

void testify(const std::string& file, const std::string& line) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (::write(out, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  ::close(out);
}

void take_part(int argc, char** argv) {
  const int rank = support::world_rank();
  const std::string evidence = fmt::format("{}/rank-{}", argv[3], rank);
  const std::vector<ProcessId> members = mend::launched_processes();
  Service service(std::make_unique<mend::transport::MpiEndpoint>(MPI_COMM_WORLD, members), {});
  int all_are_there = 1;  // before any death: making the endpoint's communicator does not survive one
  MPIX_Comm_agree(MPI_COMM_WORLD, &all_are_there);
  // A binary tree, so that a few processes have a root, an inner node and leaves.
  const auto group =
      service.join({1}, members, mend::agreement::parse_protocol(argv[1]), mend::agreement::Layout::binary());

  const std::vector<Order> orders = orders_for(rank, argc, argv);
  std::map<std::string, int, std::less<>> times;
  mend::on_fault_point([&](std::string_view point) {
    const int now = ++times[std::string(point)];
    for (const Order& order : orders) {
      if (order.point == point && order.occurrence == now) support::die();
    }
  });
  for (int i = 0; i < std::stoi(argv[2]); ++i) {
    const auto outcome = group->agree(0xffU & ~(1U << rank));
    testify(evidence, fmt::format("{} {:x} {}\n", i, outcome.value, outcome.somebody_died ? "died" : "-"));
  }
  mend::on_fault_point({});
  support::flush(service);
  testify(fmt::format("{}/messages-{}", argv[3], rank),
          fmt::format("{} {}\n", times["agreement.send"], times["agreement.receive"]));
  testify(evidence, "end\n");
}

}  // namespace

int main(int argc, char** argv) {
  mend::MpiRuntime mpi;
  take_part(argc, argv);
  mend::job_status::finished(mend::ExitCode::ok);
  mpi.leave_alone();
}
