#include "framework/local_rollback/derived_comms.hpp"

#include <algorithm>
#include <utility>

namespace mend {
namespace {

Communicator part_of(MPI_Comm over, int color, int key) {
  MPI_Comm made = MPI_COMM_NULL;
  call_mpi([&] { return PMPI_Comm_split(over, color, key, &made); }, "MPI_Comm_split");
  return Communicator(made);
}

MPI_Comm linked_graph(const std::vector<int>& links, MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  const bool is_weighted = links[0] != 0;
  const int sources = links[1];
  const int* const from = &links[2];
  const int destinations = from[2 * static_cast<std::size_t>(sources)];
  const int* const to = from + 2 * static_cast<std::size_t>(sources) + 1;
  check_mpi(
      PMPI_Dist_graph_create_adjacent(comm, sources, from, is_weighted ? from + sources : MPI_UNWEIGHTED, destinations,
                                      to, is_weighted ? to + destinations : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
      "MPI_Dist_graph_create_adjacent");
  return made;
}

/// Returns the handle for the application. It has no traffic. `rank`: the rank of this process in it.
Communicator handle_of(const Topology& topology, int rank, MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  if (!topology.dims.empty()) {
    call_mpi(
        [&] {
          return PMPI_Cart_create(comm, static_cast<int>(topology.dims.size()), topology.dims.data(),
                                  topology.periods.data(), 0, &made);
        },
        "MPI_Cart_create");
  } else if (!topology.index.empty()) {
    check_mpi(PMPI_Graph_create(comm, static_cast<int>(topology.index.size()), topology.index.data(),
                                topology.edges.data(), 0, &made),
              "MPI_Graph_create");
  } else if (!topology.links.empty()) {
    made = linked_graph(topology.links[static_cast<std::size_t>(rank)], comm);
  } else {
    call_mpi([&] { return PMPI_Comm_dup(comm, &made); }, "MPI_Comm_dup");
  }
  return Communicator(made);
}

}  // namespace

const VirtualComm* DerivedComms::find(MPI_Comm handle) const {
  if (handle == MPI_COMM_NULL) return nullptr;
  const auto known = std::ranges::find_if(
      all_, [&](const Derived& one) { return one.is_claimed && one.virtual_comm.handle.get() == handle; });
  return known == all_.end() ? nullptr : &known->virtual_comm;
}

const VirtualComm* DerivedComms::find(std::uint32_t number) const {
  const auto known = std::ranges::find_if(
      all_, [&](const Derived& one) { return one.recipe.number == number && !one.virtual_comm.members.empty(); });
  return known == all_.end() ? nullptr : &known->virtual_comm;
}

bool DerivedComms::knows(const Recipe& recipe) const { return find_made(all_, recipe) != nullptr; }

void DerivedComms::make(const Recipe& recipe, MPI_Comm over, LeftCommunicators& left) {
  Derived made{recipe, {}, {}};
  VirtualComm& virtual_comm = made.virtual_comm;
  virtual_comm.number = recipe.number;
  int color = MPI_UNDEFINED;
  for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
    const std::vector<int>& part = recipe.parts[i];
    if (std::ranges::find(part, self_) == part.end()) continue;
    color = static_cast<int>(i);
    virtual_comm.members = part;
    virtual_comm.size = static_cast<int>(part.size());
    virtual_comm.rank = virtual_comm.rank_of(self_);
  }
  for (Communicator& comm : made.comms) comm = part_of(over, color, virtual_comm.rank);
  if (color != MPI_UNDEFINED) virtual_comm.handle = handle_of(recipe.topology, virtual_comm.rank, made.comms[0].get());
  virtual_comm.comms = {made.comms[0].get(), made.comms[1].get()};
  Derived* const before = find_made(all_, recipe);
  if (before == nullptr) {
    all_.push_back(std::move(made));
    return;
  }
  for (Communicator& comm : before->comms) left.keep(std::move(comm));
  before->comms = std::move(made.comms);
  before->virtual_comm.comms = virtual_comm.comms;  // the application keeps its handle
}

void DerivedComms::leave(LeftCommunicators& left) {
  for (Derived& one : all_) {
    for (Communicator& comm : one.comms) left.keep(std::move(comm));
    one.virtual_comm.comms = {MPI_COMM_NULL, MPI_COMM_NULL};
  }
}

MPI_Comm DerivedComms::claim(const Recipe& recipe) {
  Derived& one = *find_made(all_, recipe);
  one.is_claimed = true;
  return one.virtual_comm.handle.get();
}

Communicator DerivedComms::release(MPI_Comm handle) {
  for (Derived& one : all_)
    if (one.virtual_comm.handle.get() == handle) return std::move(one.virtual_comm.handle);
  return {};
}

/// One after the other leaves the list: the callbacks of its attributes may free others.
void DerivedComms::release_all() {
  for (Derived& one : all_) {
    const Communicator released = std::move(one.virtual_comm.handle);
  }
}

std::vector<Recipe> DerivedComms::recipes() const {
  std::vector<Recipe> recipes;
  for (const Derived& one : all_) recipes.push_back(one.recipe);
  return recipes;
}

const Recipe& DerivedComms::recipe_of(const VirtualComm& virtual_comm) const {
  return std::ranges::find_if(all_, [&](const Derived& one) { return &one.virtual_comm == &virtual_comm; })->recipe;
}

bool DerivedComms::holds_any_of_interval() const {
  return std::ranges::any_of(
      all_, [](const Derived& one) { return one.is_claimed && !one.is_of_setup && one.virtual_comm.handle; });
}

bool DerivedComms::is_of_interval(const VirtualComm& comm) const {
  return std::ranges::any_of(
      all_, [&](const Derived& one) { return &one.virtual_comm == &comm && one.is_claimed && !one.is_of_setup; });
}

void DerivedComms::end_setup() {
  for (Derived& one : all_) one.is_of_setup = one.is_claimed;
}

void DerivedComms::begin_commit() {
  for (Derived& one : all_) one.is_past = one.is_claimed && !one.is_of_setup;
}

/// Communicators that are not claimed by now do not contain this rank. It has learned of them in a recovery.
void DerivedComms::end_commit() {
  const ErrorsReturned quiet;
  std::erase_if(all_, [](const Derived& one) { return one.is_past || (!one.is_claimed && !one.is_of_setup); });
}

}  // namespace mend
