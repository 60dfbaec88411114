// Local rollback: the communicators that the application makes of session.comm(). All ranks that take part keep the
// recipe of each communicator, so that it is made again on the communicators of another epoch.

#include "base/assert.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/recovery/engine.hpp"
#include "framework/local_rollback/blocks.hpp"
#include "framework/local_rollback/local_rollback.hpp"
#include "framework/local_rollback/plain_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mend {
namespace {

/// Makes a communicator of these ranks of `comm`. Collective over them.
Communicator group_of(MPI_Comm comm, const std::vector<int>& ranks, int tag) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_group(comm, &all);
  PMPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  PMPI_Group_free(&all);
  const int code = quietly([&] { return PMPI_Comm_create_group(comm, some, tag, &made); });
  PMPI_Group_free(&some);
  if (means_failure(comm, code)) throw ProcessFailure("MPI_Comm_create_group");
  check_mpi(code, "MPI_Comm_create_group");
  return Communicator(made);
}

}  // namespace

int LocalRollback::derive(const VirtualComm& parent, const CommArguments& arguments, MPI_Comm* made) {
  struct ExchangedArguments {
    int color;
    int key;
    int number;
  };
  constexpr int words = sizeof(ExchangedArguments) / sizeof(int);
  std::vector<ExchangedArguments> by_rank(static_cast<std::size_t>(parent.size));
  const bool is_by_node = arguments.by_node && arguments.color != MPI_UNDEFINED;
  const int color = is_by_node ? nodes_[static_cast<std::size_t>(session_.rank)] : arguments.color;
  const ExchangedArguments mine{color, arguments.key, static_cast<int>(derived_.next_number())};
  const Blocks blocks = Blocks::equal(parent.size, words);
  if (const int code = collectives_.allgatherv(parent, &mine, words, MPI_INT, by_rank.data(), blocks.counts.data(),
                                               blocks.offsets.data(), MPI_INT);
      code != MPI_SUCCESS)
    return code;

  Recipe recipe{0, parent.members, {}, arguments.topology};
  std::map<int, std::vector<std::pair<int, int>>> parts;  // by color: keys and ranks
  for (int rank = 0; rank < parent.size; ++rank) {
    const ExchangedArguments& one = by_rank[static_cast<std::size_t>(rank)];
    recipe.number = std::max(recipe.number, static_cast<std::uint32_t>(one.number));
    if (one.color != MPI_UNDEFINED) parts[one.color].emplace_back(one.key, rank);
  }
  for (auto& [of_color, ranks] : parts) {
    std::ranges::sort(ranks);
    std::vector<int>& part = recipe.parts.emplace_back();
    for (const auto& [of_rank, rank] : ranks) part.push_back(parent.member(rank));
  }
  derived_.set_next_number(recipe.number + 1);
  through_failures([&] {  // a recovery after a failure may have made it
    if (!derived_.knows(recipe)) derived_.make(recipe, parent.comm(Traffic::messages), engine_.left_communicators());
  });
  *made = derived_.claim(recipe);
  return MPI_SUCCESS;
}

/// The other ranks of the parent do not know of the call, so the ranks of the group exchange their next numbers.
int LocalRollback::derive_group(const VirtualComm& parent, const std::vector<int>& ranks, int tag, MPI_Comm* made) {
  if (tag < 0 || tag > highest_tag()) return MPI_ERR_TAG;
  const int tags = highest_tag() - parent.collectives_tag;  // mend's own are at the end
  const int to_group = parent.collectives_tag + 1 + tag % (tags / 2);
  const auto mine = static_cast<int>(derived_.next_number());
  Recipe recipe{static_cast<std::uint32_t>(mine), {}, {}};
  for (const int rank : ranks) {
    recipe.parent.push_back(parent.member(rank));
    if (rank == parent.rank) continue;
    if (const int code = messages_.send(parent, Traffic::collectives, &mine, 1, MPI_INT, rank, to_group,
                                        LoggedMessages::SendEnds::at_once);
        code != MPI_SUCCESS)
      return code;
  }
  for (const int rank : ranks) {
    if (rank == parent.rank) continue;
    int theirs = 0;
    if (const int code =
            messages_.receive(parent, Traffic::collectives, &theirs, 1, MPI_INT, rank, to_group, MPI_STATUS_IGNORE);
        code != MPI_SUCCESS)
      return code;
    recipe.number = std::max(recipe.number, static_cast<std::uint32_t>(theirs));
  }
  recipe.parts = {recipe.parent};
  derived_.set_next_number(recipe.number + 1);
  through_failures([&] {
    if (derived_.knows(recipe)) return;
    const MPI_Comm comm = parent.comm(Traffic::messages);
    const Communicator over = group_of(comm, ranks, tag);
    derived_.make(recipe, over.get(), engine_.left_communicators());
  });
  *made = derived_.claim(recipe);
  return MPI_SUCCESS;
}

const Recipe* LocalRollback::recipe_of(const VirtualComm& virtual_comm) const {
  return virtual_comm.number == 0 ? nullptr : &derived_.recipe_of(virtual_comm);
}

int LocalRollback::free(MPI_Comm* comm) {
  if (*comm == session_.handle.get()) return refuse_to_free("MPI_Comm_free");
  const Communicator freed = derived_.release(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

/// Returns the virtual communicator of this number. This rank has sent or received messages on it.
const VirtualComm& LocalRollback::virtual_comm_with(std::uint32_t number) const {
  if (number == 0) return session_;
  const VirtualComm* const known = derived_.find(number);
  require(known != nullptr, "a message of the log belongs to a communicator that is known");
  return *known;
}

}  // namespace mend
