// Neighbourhood collectives in all topologies, persistent collectives, and communicators made in all ways.

#pragma once

#include "tests/framework/subject/work/place_in.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace subject {

/// How many neighbours send to this rank, and to how many it sends.
inline std::array<int, 2> degrees_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  MPI_Topo_test(comm, &kind);
  std::array<int, 2> degrees{};
  int is_weighted = 0;
  if (kind == MPI_DIST_GRAPH) {
    MPI_Dist_graph_neighbors_count(comm, degrees.data(), &degrees[1], &is_weighted);
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, rank_in(comm), degrees.data());
    degrees[1] = degrees[0];
  } else {
    MPI_Cartdim_get(comm, degrees.data());
    degrees[0] *= 2;
    degrees[1] = degrees[0];
  }
  return degrees;
}

/// How a neighbourhood collective is called.
enum class Way { blocking, begun, persistent };

/// All neighbourhood collectives on `comm`: what they receive, one after the other. `seed` differs on all ranks.
inline std::vector<long> with_neighbours(MPI_Comm comm, long seed, Way way) {
  const auto [sources, destinations] = degrees_of(comm);
  constexpr int most = 3;  // values for a neighbour
  const auto in_length = static_cast<std::size_t>(most * sources);
  std::vector<long> out(static_cast<std::size_t>(most * destinations) + most);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 1000 * seed + static_cast<long>(i);
  // The same lengths on both sides of each edge.
  const std::vector<int> in_counts(static_cast<std::size_t>(sources) + 1, 2);
  const std::vector<int> out_counts(static_cast<std::size_t>(destinations) + 1, 2);
  std::vector<int> in_offsets(in_counts.size());
  std::vector<int> out_offsets(out_counts.size());
  std::vector<MPI_Aint> in_bytes(in_counts.size());
  std::vector<MPI_Aint> out_bytes(out_counts.size());
  constexpr MPI_Aint value = sizeof(long);
  for (std::size_t i = 0; i < in_offsets.size(); ++i) in_offsets[i] = most * (sources - static_cast<int>(i)) - most;
  for (std::size_t i = 0; i < out_offsets.size(); ++i) out_offsets[i] = most * static_cast<int>(i);
  for (std::size_t i = 0; i < in_bytes.size(); ++i) in_bytes[i] = value * in_offsets[i];
  for (std::size_t i = 0; i < out_bytes.size(); ++i) out_bytes[i] = value * out_offsets[i];
  const std::vector<MPI_Datatype> in_types(in_counts.size(), MPI_LONG);
  const std::vector<MPI_Datatype> out_types(out_counts.size(), MPI_LONG);

  constexpr std::size_t calls = 5;
  std::array<std::vector<long>, calls> in;
  for (std::vector<long>& one : in) one.assign(in_length + 1, -1);
  std::array<MPI_Request, calls> requests{};
  requests.fill(MPI_REQUEST_NULL);
  const void* const from = out.data();
  switch (way) {
    case Way::blocking:
      MPI_Neighbor_allgather(from, 2, MPI_LONG, in[0].data(), 2, MPI_LONG, comm);
      MPI_Neighbor_allgatherv(from, 2, MPI_LONG, in[1].data(), in_counts.data(), in_offsets.data(), MPI_LONG, comm);
      MPI_Neighbor_alltoall(from, 3, MPI_LONG, in[2].data(), 3, MPI_LONG, comm);
      MPI_Neighbor_alltoallv(from, out_counts.data(), out_offsets.data(), MPI_LONG, in[3].data(), in_counts.data(),
                             in_offsets.data(), MPI_LONG, comm);
      MPI_Neighbor_alltoallw(from, out_counts.data(), out_bytes.data(), out_types.data(), in[4].data(),
                             in_counts.data(), in_bytes.data(), in_types.data(), comm);
      break;
    case Way::begun:
      MPI_Ineighbor_allgather(from, 2, MPI_LONG, in[0].data(), 2, MPI_LONG, comm, &requests[0]);
      MPI_Ineighbor_allgatherv(from, 2, MPI_LONG, in[1].data(), in_counts.data(), in_offsets.data(), MPI_LONG, comm,
                               &requests[1]);
      MPI_Ineighbor_alltoall(from, 3, MPI_LONG, in[2].data(), 3, MPI_LONG, comm, &requests[2]);
      MPI_Ineighbor_alltoallv(from, out_counts.data(), out_offsets.data(), MPI_LONG, in[3].data(), in_counts.data(),
                              in_offsets.data(), MPI_LONG, comm, &requests[3]);
      MPI_Ineighbor_alltoallw(from, out_counts.data(), out_bytes.data(), out_types.data(), in[4].data(),
                              in_counts.data(), in_bytes.data(), in_types.data(), comm, &requests[4]);
      MPI_Waitall(calls, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case Way::persistent:
      MPI_Neighbor_allgather_init(from, 2, MPI_LONG, in[0].data(), 2, MPI_LONG, comm, MPI_INFO_NULL, &requests[0]);
      MPI_Neighbor_allgatherv_init(from, 2, MPI_LONG, in[1].data(), in_counts.data(), in_offsets.data(), MPI_LONG, comm,
                                   MPI_INFO_NULL, &requests[1]);
      MPI_Neighbor_alltoall_init(from, 3, MPI_LONG, in[2].data(), 3, MPI_LONG, comm, MPI_INFO_NULL, &requests[2]);
      MPI_Neighbor_alltoallv_init(from, out_counts.data(), out_offsets.data(), MPI_LONG, in[3].data(), in_counts.data(),
                                  in_offsets.data(), MPI_LONG, comm, MPI_INFO_NULL, &requests[3]);
      MPI_Neighbor_alltoallw_init(from, out_counts.data(), out_bytes.data(), out_types.data(), in[4].data(),
                                  in_counts.data(), in_bytes.data(), in_types.data(), comm, MPI_INFO_NULL,
                                  &requests[4]);
      for (const long change : {7L, -7L}) {  // the second time, what is sent is as in the other ways
        for (long& one : out) one += change;
        MPI_Startall(calls, requests.data());
        MPI_Waitall(calls, requests.data(), MPI_STATUSES_IGNORE);
      }
      for (MPI_Request& one : requests) MPI_Request_free(&one);
      break;
  }
  std::vector<long> all;
  for (const std::vector<long>& one : in) all.insert(all.end(), one.begin(), one.end());
  return all;
}

/// Communicators with topologies, made of `comm`: grids, also of one or two ranks in a direction, graphs, also with
/// several edges between two ranks. Those that this rank is not in are MPI_COMM_NULL.
inline std::vector<MPI_Comm> with_topologies(MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  std::vector<MPI_Comm> all;
  const auto next = [&] { return &all.emplace_back(MPI_COMM_NULL); };
  std::array<int, 2> dims{size >= 2 ? 2 : 1, size >= 2 ? size / 2 : 1};
  const std::array<std::array<int, 2>, 2> periods{{{1, 1}, {0, 1}}};
  for (const std::array<int, 2>& one : periods) MPI_Cart_create(comm, 2, dims.data(), one.data(), 0, next());
  // A ring with an edge to itself and two to the right.
  std::vector<int> index;
  std::vector<int> edges;
  for (int i = 0; i < size; ++i) {
    edges.insert(edges.end(), {(i + 1) % size, i, (i + size - 1) % size});
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Graph_create(comm, size, index.data(), edges.data(), 0, next());
  const std::array<int, 3> sources{left, left, rank};
  const std::array<int, 3> destinations{right, rank, right};
  const std::array<int, 3> weights{1, 2, rank};
  MPI_Dist_graph_create_adjacent(comm, 3, sources.data(), weights.data(), 3, destinations.data(), weights.data(),
                                 MPI_INFO_NULL, 0, next());
  // Each names the edges of its left neighbour.
  const int degree = 2;
  const std::array<int, 2> of_left{rank, (rank + 1) % size};
  MPI_Dist_graph_create(comm, 1, &left, &degree, of_left.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, next());
  return all;
}

/// A distributed graph of the ranks of `comm` with the neighbours of `graph`, which is without weights.
inline MPI_Comm with_neighbours_of(MPI_Comm graph, MPI_Comm comm) {
  const auto [sources, destinations] = degrees_of(graph);
  std::vector<int> from(static_cast<std::size_t>(sources) + 1);
  std::vector<int> to(static_cast<std::size_t>(destinations) + 1);
  MPI_Dist_graph_neighbors(graph, sources, from.data(), MPI_UNWEIGHTED, destinations, to.data(), MPI_UNWEIGHTED);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(comm, sources, from.data(), MPI_UNWEIGHTED, destinations, to.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made);
  return made;
}

/// Throws unless the neighbours and their weights are those that were asked for.
inline void check_links(MPI_Comm adjacent, MPI_Comm distributed) {
  const int rank = rank_in(adjacent);
  const int size = size_of(adjacent);
  const int left = (rank + size - 1) % size;
  std::array<int, 3> from{};
  std::array<int, 3> to{};
  std::array<int, 3> from_weights{};
  std::array<int, 3> to_weights{};
  MPI_Dist_graph_neighbors(adjacent, 3, from.data(), from_weights.data(), 3, to.data(), to_weights.data());
  if (from != std::array{left, left, rank} || to_weights != std::array{1, 2, rank})
    throw std::runtime_error("the neighbours of a distributed graph are others");
  int sources = 0;
  int destinations = 0;
  int is_weighted = 1;
  MPI_Dist_graph_neighbors_count(distributed, &sources, &destinations, &is_weighted);
  if (sources != 2 || destinations != 2 || is_weighted != 0)
    throw std::runtime_error("the degrees of a distributed graph are others");
}

inline int copy_twice(MPI_Comm, int, void* extra, void* value, void* copied, int* flag) {
  ++*static_cast<int*>(extra);
  *static_cast<void**>(copied) = static_cast<char*>(value) + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/// As MPI_Comm_create_keyval, by its name in MPI-1.
inline int make_key_by_its_old_name(MPI_Comm_copy_attr_function* copy, int* key, void* extra) {
  return MPI_Keyval_create(copy, MPI_COMM_NULL_DELETE_FN, key, extra);
}
#pragma GCC diagnostic pop

/// All persistent collectives on `comm`, of `mine`, a value for each rank: two rounds of them.
inline std::vector<double> persistently(MPI_Comm comm, std::vector<double> mine) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  const int root = size - 1;
  const auto blocks = static_cast<std::size_t>(size);
  const std::vector<int> counts(blocks, 1);
  std::vector<int> offsets(blocks);
  std::vector<int> bytes(blocks);
  for (int i = 0; i < size; ++i) offsets[static_cast<std::size_t>(i)] = i;
  for (int i = 0; i < size; ++i) bytes[static_cast<std::size_t>(i)] = i * static_cast<int>(sizeof(double));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  const std::vector<MPI_Datatype> types(blocks, type);
  constexpr std::size_t calls = 17;
  std::array<std::vector<double>, calls> in;
  for (std::vector<double>& one : in) one.assign(blocks, 0);
  std::array<MPI_Request, calls> all{};
  const double* const out = mine.data();
  const int* const each = counts.data();
  const int* const at = offsets.data();
  MPI_Barrier_init(comm, MPI_INFO_NULL, &all[0]);
  MPI_Bcast_init(in[1].data(), size, MPI_DOUBLE, root, comm, MPI_INFO_NULL, &all[1]);
  MPI_Reduce_init(out, in[2].data(), size, MPI_DOUBLE, MPI_SUM, root, comm, MPI_INFO_NULL, &all[2]);
  MPI_Allreduce_init(out, in[3].data(), size, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &all[3]);
  MPI_Scan_init(out, in[4].data(), size, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &all[4]);
  MPI_Exscan_init(out, in[5].data(), size, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &all[5]);
  MPI_Reduce_scatter_init(out, in[6].data(), each, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &all[6]);
  MPI_Reduce_scatter_block_init(out, in[7].data(), 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &all[7]);
  MPI_Gather_init(out, 1, type, in[8].data(), 1, type, root, comm, MPI_INFO_NULL, &all[8]);
  MPI_Gatherv_init(out, 1, type, in[9].data(), each, at, type, root, comm, MPI_INFO_NULL, &all[9]);
  MPI_Scatter_init(out, 1, type, in[10].data(), 1, type, root, comm, MPI_INFO_NULL, &all[10]);
  MPI_Scatterv_init(out, each, at, type, in[11].data(), 1, type, root, comm, MPI_INFO_NULL, &all[11]);
  MPI_Allgather_init(out, 1, type, in[12].data(), 1, type, comm, MPI_INFO_NULL, &all[12]);
  MPI_Allgatherv_init(out, 1, type, in[13].data(), each, at, type, comm, MPI_INFO_NULL, &all[13]);
  MPI_Alltoall_init(out, 1, type, in[14].data(), 1, type, comm, MPI_INFO_NULL, &all[14]);
  MPI_Alltoallv_init(out, each, at, type, in[15].data(), each, at, type, comm, MPI_INFO_NULL, &all[15]);
  MPI_Alltoallw_init(out, each, bytes.data(), types.data(), in[16].data(), each, bytes.data(), types.data(), comm,
                     MPI_INFO_NULL, &all[16]);
  // Requests keep it. Those of Open MPI 5.0 crash at times without it.
  if (comm != MPI_COMM_WORLD) MPI_Type_free(&type);
  std::vector<double> results;
  for (int round = 0; round < 2; ++round) {
    if (rank == root) in[1] = mine;
    for (MPI_Request& one : all) MPI_Start(&one);
    int index = 0;
    MPI_Waitany(calls, all.data(), &index, MPI_STATUS_IGNORE);
    MPI_Waitall(calls, all.data(), MPI_STATUSES_IGNORE);
    for (const std::vector<double>& one : in) results.insert(results.end(), one.begin(), one.end());
    for (double& one : mine) one += 1;
  }
  for (MPI_Request& one : all) MPI_Request_free(&one);
  if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  return results;
}

/// By which every rank's state depends on all others'.
class NeighboursWork {
 public:
  explicit NeighboursWork(MPI_Comm comm) : comm_(comm), topologies_(with_topologies(comm_)) {
    const int rank = rank_in(comm_);
    const int size = size_of(comm_);
    check_links(topologies_[3], topologies_[4]);
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &node_);
    // The first and the last make one, and the others know nothing of it.
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group ends = MPI_GROUP_NULL;
    const std::array<int, 2> of_ends{size - 1, 0};
    MPI_Comm_group(comm_, &all);
    MPI_Group_incl(all, size == 1 ? 1 : 2, of_ends.data(), &ends);
    if (rank == 0 || rank == size - 1) MPI_Comm_create_group(comm_, ends, 3, &ends_);
    MPI_Group_free(&ends);
    MPI_Group_free(&all);
    check_attributes();
  }
  ~NeighboursWork() {
    for (MPI_Comm& one : topologies_)
      if (one != MPI_COMM_NULL) MPI_Comm_free(&one);
    for (MPI_Comm* const one : {&node_, &ends_})
      if (*one != MPI_COMM_NULL) MPI_Comm_free(one);
  }
  NeighboursWork(const NeighboursWork&) = delete;
  NeighboursWork& operator=(const NeighboursWork&) = delete;

  void step(std::vector<double>& state) const {
    check_groups();
    const long seed = static_cast<long>(state[0]) % 1000;
    long sum = 0;
    for (const MPI_Comm one : topologies_) {
      if (one == MPI_COMM_NULL) continue;
      MPI_Comm passing = MPI_COMM_NULL;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Comm_idup(one, &passing, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (const Way way : {Way::blocking, Way::begun, Way::persistent}) {
        for (const long value : with_neighbours(way == Way::begun ? passing : one, seed, way))
          sum = (3 * sum + value) % 1009;
      }
      MPI_Comm_free(&passing);
    }
    double of_node = state[1];
    MPI_Allreduce(MPI_IN_PLACE, &of_node, 1, MPI_DOUBLE, MPI_SUM, node_);
    double of_ends = 0;
    if (ends_ != MPI_COMM_NULL) {
      of_ends = state[2];
      MPI_Bcast(&of_ends, 1, MPI_DOUBLE, 0, ends_);
    }
    const std::vector<double> some(state.begin(), state.begin() + size_of(comm_));
    for (const double one : persistently(comm_, some)) of_ends += 0.01 * one;
    for (double& one : state) one = 0.5 * one + 0.01 * static_cast<double>(sum) + 0.1 * of_node + 0.1 * of_ends;
    while (state[0] > 1000)
      for (double& one : state) one *= 0.5;
  }

 private:
  /// The groups of communicators that were made before and after a death fit together.
  void check_groups() const {
    const int rank = rank_in(comm_);
    const int size = size_of(comm_);
    MPI_Comm reversed = MPI_COMM_NULL;
    MPI_Comm_split(comm_, 0, size - rank, &reversed);
    MPI_Group of_all = MPI_GROUP_NULL;
    MPI_Group of_reversed = MPI_GROUP_NULL;
    MPI_Comm_group(comm_, &of_all);
    MPI_Comm_group(reversed, &of_reversed);
    for (int one = 0; one < size; ++one) {
      int translated = MPI_UNDEFINED;
      MPI_Group_translate_ranks(of_reversed, 1, &one, of_all, &translated);
      if (translated != size - 1 - one) throw std::runtime_error("the groups of two communicators do not fit together");
    }
    MPI_Comm in_order = MPI_COMM_NULL;
    MPI_Comm of_upper = MPI_COMM_NULL;
    MPI_Group upper = MPI_GROUP_NULL;
    const int lowest = size / 2;
    std::vector<int> upper_ranks(static_cast<std::size_t>(size - lowest));
    std::iota(upper_ranks.begin(), upper_ranks.end(), lowest);
    MPI_Group_incl(of_all, size - lowest, upper_ranks.data(), &upper);
    MPI_Comm_create(reversed, of_all, &in_order);
    if (rank >= lowest) MPI_Comm_create_group(reversed, upper, 4, &of_upper);
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(comm_, in_order, &result);
    if (result != MPI_CONGRUENT) throw std::runtime_error("a communicator of a group has other ranks");
    if (rank >= lowest && rank_in(of_upper) != rank - lowest)
      throw std::runtime_error("a communicator of a group has another order");
    for (MPI_Group* const one : {&upper, &of_reversed, &of_all}) MPI_Group_free(one);
    for (MPI_Comm* const one : {&of_upper, &in_order, &reversed})
      if (*one != MPI_COMM_NULL) MPI_Comm_free(one);
  }

  /// A duplicate has the attributes, as their callbacks say.
  void check_attributes() const {
    static int copies = 0;
    static std::array<char, 5> values{};
    std::array<int, 4> keys{};
    const std::array<MPI_Comm_copy_attr_function*, 3> callbacks{MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN, &copy_twice};
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_dup(comm_, &parent);
    for (std::size_t i = 0; i < callbacks.size(); ++i)
      MPI_Comm_create_keyval(callbacks[i], MPI_COMM_NULL_DELETE_FN, &keys[i], &copies);
    make_key_by_its_old_name(&copy_twice, &keys[3], &copies);
    for (std::size_t i = 0; i < keys.size(); ++i) MPI_Comm_set_attr(parent, keys[i], &values[i]);
    int freed = keys[0];
    MPI_Comm_free_keyval(&freed);  // it stays until its attributes are gone
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(parent, &copy);
    std::array<void*, 4> found{};
    std::array<int, 4> flags{};
    for (std::size_t i = 0; i < keys.size(); ++i) MPI_Comm_get_attr(copy, keys[i], &found[i], &flags[i]);
    if (flags != std::array{1, 0, 1, 1} || found[0] != &values[0] || found[2] != &values[3] || found[3] != &values[4] ||
        copies == 0)
      throw std::runtime_error("a duplicate has other attributes");
    MPI_Comm_free(&copy);
    MPI_Comm_free(&parent);
    for (const std::size_t i : {1U, 2U, 3U}) MPI_Comm_free_keyval(&keys[i]);
  }

  MPI_Comm comm_;
  std::vector<MPI_Comm> topologies_;
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Comm ends_ = MPI_COMM_NULL;
};

}  // namespace subject
