#include "framework/recovery/simulated/library_calls.hpp"

#include "agreement/service.hpp"
#include "base/assert.hpp"
#include "framework/process/failure_detector.hpp"

#include <bit>

namespace mend::recovery {
namespace {

using Kind = LibraryStep::Kind;

/// Adds the steps that find a number for the communicator and activate it.
void add_creation(std::vector<LibraryStep>& steps, Kind kind) {
  for (int i = 0; i < 3; ++i) steps.push_back({kind, 8});
}

/// Adds the steps of a shrink: the living agree on which processes are dead, and the later steps are agreements too.
void add_shrink(std::vector<LibraryStep>& steps) {
  steps.push_back({Kind::agreement, 8});
  add_creation(steps, Kind::agreement);
}

}  // namespace

std::vector<LibraryStep> steps_of(Call call, std::size_t members) {
  std::vector<LibraryStep> steps;
  switch (call) {
    case Call::settle: steps.push_back({Kind::agreement, 8}); break;
    case Call::found:
    case Call::shrink:
    case Call::meet:
    case Call::admit: add_shrink(steps); break;
    case Call::split:  // for the application, and for the store: colours and keys of all
      for (int i = 0; i < 2; ++i) {
        steps.push_back({Kind::allgather, 8});
        add_creation(steps, Kind::allreduce);
      }
      break;
    case Call::connect:  // the identity of the newcomer; then a communicator between all members and it
      steps.push_back({Kind::broadcast, sizeof(DetectorPeer)});
      steps.push_back({Kind::invitation, members * sizeof(Placed)});
      steps.push_back({Kind::broadcast, 64});
      add_creation(steps, Kind::allreduce);
      break;
    case Call::greet: steps.push_back({Kind::greeting, 1}); break;
    case Call::merge: add_creation(steps, Kind::allreduce); break;
    case Call::restore:  // length of the longest inventory, inventories, data; is any damaged; all done?
      steps.push_back({Kind::allreduce, 4});
      steps.push_back({Kind::allgather, 8});
      steps.push_back({Kind::allreduce, 4});
      steps.push_back({Kind::transfers, 0});
      steps.push_back({Kind::local, 0});
      steps.push_back({Kind::ballot, 0});
      break;
  }
  return steps;
}

std::uint32_t rounds_among(std::size_t members) { return static_cast<std::uint32_t>(std::bit_width(members - 1)); }

CommId Comms::make(const std::vector<ProcessId>& members) {
  auto comm = std::make_unique<Comm>();
  comm->members = members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].value >= comm->rank_of.size()) comm->rank_of.resize(members[i].value + 1, -1);
    comm->rank_of[members[i].value] = static_cast<std::int32_t>(i);
  }
  const auto size = static_cast<std::uint32_t>(members.size());
  comm->tree_of_mend = std::make_shared<const agreement::Tree>(size, agreement::Service::usual_layout());
  comm->tree_of_library = std::make_shared<const agreement::Tree>(size, agreement::Layout::binary());
  all_.push_back(std::move(comm));
  return static_cast<CommId>(all_.size() - 1);
}

CommId Comms::make(CommId parent, Call call, std::uint32_t number, const std::vector<ProcessId>& members) {
  const auto [made, is_new] = made_.try_emplace({parent, call, number}, 0);
  if (is_new) made->second = make(members);
  require(all_[made->second]->members == members, "all make the same communicator");
  return made->second;
}

}  // namespace mend::recovery
