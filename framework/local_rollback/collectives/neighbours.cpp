// Neighbourhood collectives, made of logged messages.

#include "framework/local_rollback/collectives/neighbours.hpp"

#include "framework/local_rollback/collectives/logged_collectives.hpp"
#include "framework/local_rollback/plain_calls.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace mend {
namespace {

using Expected = LoggedMessages::Expected;

int find_in_grid(MPI_Comm comm, Neighbours& neighbours) {
  int dims = 0;
  if (const int code = PMPI_Cartdim_get(comm, &dims); code != MPI_SUCCESS) return code;
  for (int i = 0; i < dims; ++i) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    if (const int code = PMPI_Cart_shift(comm, i, 1, &below, &above); code != MPI_SUCCESS) return code;
    neighbours.sources.insert(neighbours.sources.end(), {below, above});
  }
  neighbours.destinations = neighbours.sources;
  neighbours.are_cartesian = true;
  return MPI_SUCCESS;
}

int find_in_graph(MPI_Comm comm, int rank, Neighbours& neighbours) {
  int count = 0;
  if (const int code = PMPI_Graph_neighbors_count(comm, rank, &count); code != MPI_SUCCESS) return code;
  neighbours.sources.resize(static_cast<std::size_t>(count));
  const int code = PMPI_Graph_neighbors(comm, rank, count, neighbours.sources.data());
  neighbours.destinations = neighbours.sources;
  return code;
}

int find_in_distributed_graph(MPI_Comm comm, Neighbours& neighbours) {
  int sources = 0;
  int destinations = 0;
  int is_weighted = 0;
  const int code = PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &is_weighted);
  if (code != MPI_SUCCESS) return code;
  neighbours.sources.resize(static_cast<std::size_t>(sources));
  neighbours.destinations.resize(static_cast<std::size_t>(destinations));
  std::vector<int> weights(neighbours.sources.size() + neighbours.destinations.size() + 1);
  return PMPI_Dist_graph_neighbors(comm, sources, neighbours.sources.data(), weights.data(), destinations,
                                   neighbours.destinations.data(), weights.data() + sources);
}

/// Returns the receives in the order in which messages between two ranks match. Along a dimension, a rank sends to its
/// lower neighbour first. If the lower neighbour is also the upper one, the first message from it was sent to this rank
/// as its lower neighbour.
std::vector<Expected> in_order_of_sending(std::vector<Expected> in, bool is_cartesian) {
  for (std::size_t i = 0; is_cartesian && i + 1 < in.size(); i += 2) std::swap(in[i], in[i + 1]);
  return in;
}

}  // namespace

int find_neighbours(const VirtualComm& virtual_comm, Neighbours& neighbours) {
  return quietly([&] {
    const MPI_Comm comm = virtual_comm.handle.get();
    int kind = MPI_UNDEFINED;
    if (const int code = PMPI_Topo_test(comm, &kind); code != MPI_SUCCESS) return code;
    switch (kind) {
      case MPI_CART: return find_in_grid(comm, neighbours);
      case MPI_GRAPH: return find_in_graph(comm, virtual_comm.rank, neighbours);
      case MPI_DIST_GRAPH: return find_in_distributed_graph(comm, neighbours);
      default: return MPI_ERR_TOPOLOGY;
    }
  });
}

int LoggedCollectives::exchange_with_neighbours(const VirtualComm& comm, std::vector<Expected> out,
                                                std::vector<Expected> in, MPI_Request* request) {
  Neighbours neighbours;
  if (const int code = find_neighbours(comm, neighbours); code != MPI_SUCCESS) return code;
  for (std::size_t i = 0; i < in.size(); ++i) in[i].from = neighbours.sources[i];
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Expected& block = out[i];
    const int to = neighbours.destinations[i];
    if (to == MPI_PROC_NULL) continue;
    if (const int code = send(comm, block.data, block.count, block.type, to); code != MPI_SUCCESS) return code;
  }
  in = in_order_of_sending(std::move(in), neighbours.are_cartesian);
  std::erase_if(in, [](const Expected& one) { return one.from == MPI_PROC_NULL; });
  if (request != nullptr) return messages_.begin_operation(comm, in, {}, request);
  for (const Expected& one : in)
    if (const int code = receive(comm, one.data, one.count, one.type, one.from); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

}  // namespace mend
