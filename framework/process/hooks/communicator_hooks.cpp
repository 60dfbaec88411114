#include "framework/process/hooks/communicator_hooks.hpp"

#include "base/telemetry/activity.hpp"
#include "framework/process/hooks/attribute_hooks.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "framework/process/body_guard.hpp"
#include "transport/library_function.hpp"
#include "framework/process/process_context.hpp"
#include "framework/local_rollback/blocks.hpp"
#include "framework/local_rollback/logged_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace mend {
namespace {

/// Notes a communicator that the program makes before mend::run of all processes, or of some of them.
void note_if_of_world(MPI_Comm parent, MPI_Comm made) {
  ProcessContext& context = process_context();
  if (context.has_run || made == MPI_COMM_NULL) return;
  const auto has = [&](const std::vector<MPI_Comm>& noted) { return std::ranges::find(noted, parent) != noted.end(); };
  if (parent != MPI_COMM_WORLD && !has(context.worlds) && !has(context.parts_of_worlds)) return;
  int all = 0;
  int size = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &all);
  PMPI_Comm_size(made, &size);
  if (size > 1) (size == all ? context.worlds : context.parts_of_worlds).push_back(made);
}

/// Runs `make`, with which `call` derives a communicator. Errors may jump out of it, so nothing here must be destroyed.
template <class Make>
int derive(const char* call, MPI_Comm parent, MPI_Comm* made, const Make& make) {
  if (auto* logged = logged_calls_of(parent)) return logged->refuse(call);
  const InMpiCall in_call(mpi_call_named(call));
  const int code = make();
  const CommunicatorListener& listener = process_context().communicator_listener;
  if (code == MPI_SUCCESS && listener) listener(parent, *made);
  if (code == MPI_SUCCESS) note_if_of_world(parent, *made);
  return code;
}

/// The same for a communicator that is made later.
template <class Make>
int derive_later(MPI_Comm parent, MPI_Comm* made, MPI_Request* request, const Make& make) {
  const int code = make();
  ProcessContext& context = process_context();
  if (code == MPI_SUCCESS && (context.communicator_listener || !context.has_run))
    context.coming_communicators.push_back({parent, *made, *request});  // `made` may be a local variable of a wrapper
  return code;
}

/// Runs `make`, which makes a communicator of `parent`, inside an intercepted call. As MPI says, it has the error
/// handler of its parent.
template <class Make>
int make_in_call(LoggedCalls& logged, MPI_Comm parent, const MPI_Comm* made, Make make) {
  if (const int code = logged.in_call(make); code != MPI_SUCCESS) return code;
  if (*made == MPI_COMM_NULL) return MPI_SUCCESS;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(parent, &handler);
  PMPI_Comm_set_errhandler(*made, handler);
  PMPI_Errhandler_free(&handler);  // the communicators still have it
  return MPI_SUCCESS;
}

int derive_comm(LoggedCalls& logged, MPI_Comm parent, const CommArguments& arguments, MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  return make_in_call(logged, parent, made, [&] { return logged.derive(virtual_comm, arguments, made); });
}

/// `info`: hints in the place of the parent's; may be null.
int dup_comm(LoggedCalls& logged, MPI_Comm parent, const MPI_Info* info, MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  const Recipe* const recipe = logged.recipe_of(virtual_comm);
  CommArguments arguments{0, virtual_comm.rank};
  if (recipe != nullptr) arguments.topology = recipe->topology;
  if (const int code = derive_comm(logged, parent, arguments, made); code != MPI_SUCCESS) return code;
  if (const int code = copy_attributes(parent, *made); code != MPI_SUCCESS) {
    logged.free(made);
    logged.note_call_on(parent);  // a callback may have made calls on others
    return logged.in_call([&] { return code; });
  }
  if (info != nullptr) {
    if (*info != MPI_INFO_NULL) PMPI_Comm_set_info(*made, *info);
    return MPI_SUCCESS;
  }
  MPI_Info of_parent = MPI_INFO_NULL;
  PMPI_Comm_get_info(parent, &of_parent);
  PMPI_Comm_set_info(*made, of_parent);
  PMPI_Info_free(&of_parent);
  return MPI_SUCCESS;
}

/// Returns when all ranks have called it; then the request is complete.
int dup_comm_at_once(LoggedCalls& logged, MPI_Comm parent, const MPI_Info* info, MPI_Comm* made, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  if (const int code = dup_comm(logged, parent, info, made); code != MPI_SUCCESS) return code;
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  return logged.in_call([&] { return logged.messages().begin_operation(virtual_comm, {}, {}, request); });
}

int split_comm(LoggedCalls& logged, MPI_Comm parent, int color, int key, MPI_Comm* made) {
  if (color < 0 && color != MPI_UNDEFINED) return logged.in_call([] { return MPI_ERR_ARG; });
  return derive_comm(logged, parent, {color, key}, made);
}

int split_comm_by_type(LoggedCalls& logged, MPI_Comm parent, int type, int key, MPI_Comm* made) {
  if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED)
    return logged.refuse("MPI_Comm_split_type with another type than MPI_COMM_TYPE_SHARED");
  return derive_comm(logged, parent, {type == MPI_UNDEFINED ? MPI_UNDEFINED : 0, key, {}, true}, made);
}

int create_comm(LoggedCalls& logged, MPI_Comm parent, MPI_Group group, MPI_Comm* made) {
  int key = MPI_UNDEFINED;
  PMPI_Group_rank(group, &key);
  if (key == MPI_UNDEFINED) return derive_comm(logged, parent, {MPI_UNDEFINED, 0}, made);
  MPI_Group of_parent = MPI_GROUP_NULL;
  PMPI_Comm_group(parent, &of_parent);
  const int first = 0;
  int color = 0;
  PMPI_Group_translate_ranks(group, 1, &first, of_parent, &color);
  PMPI_Group_free(&of_parent);
  return derive_comm(logged, parent, {color, key}, made);
}

int create_comm_of_group(LoggedCalls& logged, MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* made) {
  int self = MPI_UNDEFINED;
  int size = 0;
  PMPI_Group_rank(group, &self);
  PMPI_Group_size(group, &size);
  *made = MPI_COMM_NULL;
  if (self == MPI_UNDEFINED) return MPI_SUCCESS;
  std::vector<int> in_group(static_cast<std::size_t>(size));
  std::iota(in_group.begin(), in_group.end(), 0);
  std::vector<int> in_parent(in_group.size());
  MPI_Group of_parent = MPI_GROUP_NULL;
  PMPI_Comm_group(parent, &of_parent);
  PMPI_Group_translate_ranks(group, size, in_group.data(), of_parent, in_parent.data());
  PMPI_Group_free(&of_parent);
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  const bool is_part = std::ranges::find(in_parent, MPI_UNDEFINED) == in_parent.end();
  return make_in_call(logged, parent, made, [&] {
    return is_part ? logged.derive_group(virtual_comm, in_parent, tag, made) : MPI_ERR_GROUP;
  });
}

int make_cart(LoggedCalls& logged, MPI_Comm parent, int ndims, const int* dims, const int* periods, MPI_Comm* made) {
  if (ndims <= 0) return logged.refuse("MPI_Cart_create without dimensions");
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  long long ranks = 1;
  for (int i = 0; i < ndims && ranks <= virtual_comm.size; ++i) ranks *= dims[i];
  if (ranks <= 0 || ranks > virtual_comm.size || std::any_of(dims, dims + ndims, [](int one) { return one <= 0; }))
    return logged.in_call([] { return MPI_ERR_DIMS; });
  const int color = virtual_comm.rank < ranks ? 0 : MPI_UNDEFINED;
  return derive_comm(logged, parent, {color, virtual_comm.rank, {{dims, dims + ndims}, {periods, periods + ndims}}},
                     made);
}

int make_cart_sub(LoggedCalls& logged, MPI_Comm parent, const int* remain, MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  const Recipe* const recipe = logged.recipe_of(virtual_comm);
  if (recipe == nullptr || recipe->topology.dims.empty()) return logged.in_call([] { return MPI_ERR_TOPOLOGY; });
  const Topology& whole = recipe->topology;
  std::vector<int> place(whole.dims.size());
  PMPI_Cart_coords(parent, virtual_comm.rank, static_cast<int>(place.size()), place.data());
  CommArguments part{0, virtual_comm.rank};
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (remain[i] == 0) {
      part.color = part.color * whole.dims[i] + place[i];
      continue;
    }
    part.topology.dims.push_back(whole.dims[i]);
    part.topology.periods.push_back(whole.periods[i]);
  }
  if (part.topology.dims.empty()) return logged.refuse("MPI_Cart_sub without dimensions");
  return derive_comm(logged, parent, part, made);
}

int make_graph(LoggedCalls& logged, MPI_Comm parent, int nodes, const int* index, const int* edges, MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  const auto is_rank = [&](int one) { return one >= 0 && one < nodes; };
  if (nodes < 0 || nodes > virtual_comm.size || !std::is_sorted(index, index + nodes) || (nodes > 0 && index[0] < 0))
    return logged.in_call([] { return MPI_ERR_ARG; });
  const int count = nodes == 0 ? 0 : index[nodes - 1];
  if (!std::all_of(edges, edges + count, is_rank)) return logged.in_call([] { return MPI_ERR_ARG; });
  const int color = virtual_comm.rank < nodes ? 0 : MPI_UNDEFINED;
  return derive_comm(logged, parent,
                     {color, virtual_comm.rank, {{}, {}, {index, index + nodes}, {edges, edges + count}}}, made);
}

/// Gathers the list of each rank, by rank. Inside an intercepted call. Returns MPI's code.
int gather_lists(LoggedCalls& logged, const VirtualComm& virtual_comm, const std::vector<int>& mine,
                 std::vector<std::vector<int>>& all) {
  const auto ranks = static_cast<std::size_t>(virtual_comm.size);
  const Blocks singles = Blocks::equal(virtual_comm.size, 1);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(ranks);
  int code = logged.collectives().allgatherv(virtual_comm, &length, 1, MPI_INT, lengths.data(), singles.counts.data(),
                                             singles.offsets.data(), MPI_INT);
  if (code != MPI_SUCCESS) return code;
  const Blocks blocks(std::move(lengths));
  std::vector<int> values(static_cast<std::size_t>(blocks.offsets.back() + blocks.counts.back()));
  code = logged.collectives().allgatherv(virtual_comm, mine.data(), length, MPI_INT, values.data(),
                                         blocks.counts.data(), blocks.offsets.data(), MPI_INT);
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto begin = values.begin() + blocks.offsets[i];
    all.emplace_back(begin, begin + blocks.counts[i]);
  }
  return code;
}

/// An edge of a distributed graph, as it is exchanged.
struct Edge {
  int from;
  int to;
  int weight;
};

/// Returns the links of `rank` in a graph of these edges, as in Topology.
std::vector<int> links_of(int rank, bool is_weighted, const std::vector<Edge>& edges) {
  std::vector<int> links{is_weighted ? 1 : 0};
  const auto append = [&](auto is_here, auto other_end) {
    const std::size_t count = links.size();
    links.push_back(0);
    for (const Edge& one : edges)
      if (is_here(one)) links.push_back(other_end(one));
    links[count] = static_cast<int>(links.size() - count - 1);
    for (const Edge& one : edges)
      if (is_here(one)) links.push_back(one.weight);
  };
  append([&](const Edge& one) { return one.to == rank; }, [](const Edge& one) { return one.from; });
  append([&](const Edge& one) { return one.from == rank; }, [](const Edge& one) { return one.to; });
  return links;
}

int make_linked_graph(LoggedCalls& logged, MPI_Comm parent, CommArguments arguments, const std::vector<int>& links,
                      MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  return make_in_call(logged, parent, made, [&] {
    const int code = gather_lists(logged, virtual_comm, links, arguments.topology.links);
    return code == MPI_SUCCESS ? logged.derive(virtual_comm, arguments, made) : code;
  });
}

/// Makes the distributed graph of the edges that all ranks give.
int make_graph_of_edges(LoggedCalls& logged, MPI_Comm parent, bool is_weighted, const std::vector<int>& words,
                        MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  return make_in_call(logged, parent, made, [&] {
    std::vector<std::vector<int>> all;
    if (const int code = gather_lists(logged, virtual_comm, words, all); code != MPI_SUCCESS) return code;
    std::vector<Edge> edges;
    for (const std::vector<int>& of_rank : all)
      for (std::size_t i = 0; i + 2 < of_rank.size(); i += 3)
        edges.push_back({of_rank[i], of_rank[i + 1], of_rank[i + 2]});
    CommArguments arguments{0, virtual_comm.rank};
    for (int rank = 0; rank < virtual_comm.size; ++rank)
      arguments.topology.links.push_back(links_of(rank, is_weighted, edges));
    return logged.derive(virtual_comm, arguments, made);
  });
}

bool are_ranks(const VirtualComm& virtual_comm, const int* ranks, int count) {
  return count >= 0 && std::all_of(ranks, ranks + count, [&](int one) { return one >= 0 && one < virtual_comm.size; });
}

int make_adjacent_graph(LoggedCalls& logged, MPI_Comm parent, int sources, const int* from, const int* from_weights,
                        int destinations, const int* to, const int* to_weights, MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  if (!are_ranks(virtual_comm, from, sources) || !are_ranks(virtual_comm, to, destinations))
    return logged.in_call([] { return MPI_ERR_ARG; });
  const bool is_weighted = from_weights != MPI_UNWEIGHTED && to_weights != MPI_UNWEIGHTED;
  std::vector<int> links{is_weighted ? 1 : 0};
  const auto append = [&](int count, const int* ranks, const int* weights) {
    links.push_back(count);
    links.insert(links.end(), ranks, ranks + count);
    for (int i = 0; i < count; ++i) links.push_back(is_weighted ? weights[i] : 0);
  };
  append(sources, from, from_weights);
  append(destinations, to, to_weights);
  return make_linked_graph(logged, parent, {0, virtual_comm.rank}, links, made);
}

int make_distributed_graph(LoggedCalls& logged, MPI_Comm parent, int count, const int* sources, const int* degrees,
                           const int* destinations, const int* weights, MPI_Comm* made) {
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(parent);
  if (!are_ranks(virtual_comm, sources, count) ||
      !std::all_of(degrees, degrees + count, [](int one) { return one >= 0; }))
    return logged.in_call([] { return MPI_ERR_ARG; });
  const int edges = std::accumulate(degrees, degrees + count, 0);
  if (!are_ranks(virtual_comm, destinations, edges)) return logged.in_call([] { return MPI_ERR_ARG; });
  const bool is_weighted = weights != MPI_UNWEIGHTED;
  std::vector<int> words;
  int edge = 0;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < degrees[i]; ++j, ++edge)
      words.insert(words.end(), {sources[i], destinations[edge], is_weighted ? weights[edge] : 0});
  }
  return make_graph_of_edges(logged, parent, is_weighted, words, made);
}

/// Frees `comm` by the function `library` of MPI, which the program has called as `call`.
int free_by(const char* call, MPI_Comm* comm, int (*library)(MPI_Comm*)) {
  if (must_be_kept(*comm)) return refuse_to_free(call);
  ProcessContext& context = process_context();
  std::erase(context.worlds, *comm);
  std::erase(context.parts_of_worlds, *comm);
  if (auto* logged = logged_calls_of(*comm)) return logged->free(comm);
  if (!context.communicator_taker || !context.communicator_taker(*comm)) return library(comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace

void on_communicator_made(CommunicatorListener told) {
  process_context().communicator_listener = std::move(told);
  forget_coming_communicators();
}

void on_communicator_freed(CommunicatorTaker taker) { process_context().communicator_taker = std::move(taker); }

void forget_coming_communicators() { process_context().coming_communicators.clear(); }

namespace detail {

bool are_communicators_coming() { return !process_context().coming_communicators.empty(); }

void ask_for_communicators(int count, const MPI_Request* requests) {
  for (ComingCommunicator& coming : process_context().coming_communicators) {
    const MPI_Request* const found = std::find(requests, requests + std::max(count, 0), coming.request);
    coming.asked = found == requests + std::max(count, 0) ? nullptr : found;
  }
}

/// Reports the communicators whose requests are complete. A completed request is null. If it failed, there is no
/// communicator; after a wait for several requests of which one has failed, it is not known which.
void take_made_communicators(int code) {
  ProcessContext& context = process_context();
  std::vector<ComingCommunicator> made;
  std::erase_if(context.coming_communicators, [&](const ComingCommunicator& coming) {
    const bool is_over = coming.asked != nullptr && *coming.asked == MPI_REQUEST_NULL;
    if (is_over && code == MPI_SUCCESS) made.push_back(coming);
    return is_over;
  });
  for (const ComingCommunicator& one : made) {
    if (context.communicator_listener) context.communicator_listener(one.parent, one.made);
    note_if_of_world(one.parent, one.made);
  }
}

}  // namespace detail

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

using mend::derive;
using mend::of_the_library;

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_dup)>("PMPI_Comm_dup");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::dup_comm(*logged, comm, nullptr, newcomm);
  return derive("MPI_Comm_dup", comm, newcomm, [&] { return library(comm, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_dup);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_dup_with_info)>("PMPI_Comm_dup_with_info");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::dup_comm(*logged, comm, &info, newcomm);
  return derive("MPI_Comm_dup_with_info", comm, newcomm, [&] { return library(comm, info, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_dup_with_info);

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_idup)>("PMPI_Comm_idup");
  if (auto* logged = mend::logged_calls_of(comm))
    return mend::dup_comm_at_once(*logged, comm, nullptr, newcomm, request);
  return mend::derive_later(comm, newcomm, request, [&] { return library(comm, newcomm, request); });
}
MEND_SAME_AS_PMPI(MPI_Comm_idup);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_idup_with_info)>("PMPI_Comm_idup_with_info");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::dup_comm_at_once(*logged, comm, &info, newcomm, request);
  return mend::derive_later(comm, newcomm, request, [&] { return library(comm, info, newcomm, request); });
}
MEND_SAME_AS_PMPI(MPI_Comm_idup_with_info);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_split)>("PMPI_Comm_split");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::split_comm(*logged, comm, color, key, newcomm);
  return derive("MPI_Comm_split", comm, newcomm, [&] { return library(comm, color, key, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_split);

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_split_type)>("PMPI_Comm_split_type");
  if (auto* logged = mend::logged_calls_of(comm))
    return mend::split_comm_by_type(*logged, comm, split_type, key, newcomm);
  return derive("MPI_Comm_split_type", comm, newcomm, [&] { return library(comm, split_type, key, info, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_split_type);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_create)>("PMPI_Comm_create");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::create_comm(*logged, comm, group, newcomm);
  return derive("MPI_Comm_create", comm, newcomm, [&] { return library(comm, group, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_create);

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Comm_create_group)>("PMPI_Comm_create_group");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::create_comm_of_group(*logged, comm, group, tag, newcomm);
  return derive("MPI_Comm_create_group", comm, newcomm, [&] { return library(comm, group, tag, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_create_group);

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                          MPI_Comm* newintercomm) {
  local_comm = mend::resolve(local_comm);
  peer_comm = mend::resolve(peer_comm);
  static const auto library = of_the_library<decltype(&PMPI_Intercomm_create)>("PMPI_Intercomm_create");
  if (auto* logged = mend::logged_calls_of(peer_comm)) return logged->refuse("MPI_Intercomm_create");
  // A process that is alone on its side is its leader, so the other communicator is valid, and interrupts this one.
  const MPI_Comm parent = local_comm == MPI_COMM_SELF ? peer_comm : local_comm;
  const int code = derive("MPI_Intercomm_create", parent, newintercomm, [&] {
    return library(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
  });
  if (code == MPI_SUCCESS && parent != local_comm && mend::handles_errors_of(peer_comm))
    mend::throw_errors_of(*newintercomm);
  return code;
}
MEND_SAME_AS_PMPI(MPI_Intercomm_create);

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  intercomm = mend::resolve(intercomm);
  static const auto library = of_the_library<decltype(&PMPI_Intercomm_merge)>("PMPI_Intercomm_merge");
  return derive("MPI_Intercomm_merge", intercomm, newintracomm, [&] { return library(intercomm, high, newintracomm); });
}
MEND_SAME_AS_PMPI(MPI_Intercomm_merge);

int PMPI_Cart_create(MPI_Comm old_comm, int ndims, const int dims[], const int periods[], int reorder,
                     MPI_Comm* comm_cart) {
  old_comm = mend::resolve(old_comm);
  static const auto library = of_the_library<decltype(&PMPI_Cart_create)>("PMPI_Cart_create");
  if (auto* logged = mend::logged_calls_of(old_comm))
    return mend::make_cart(*logged, old_comm, ndims, dims, periods, comm_cart);
  return derive("MPI_Cart_create", old_comm, comm_cart,
                [&] { return library(old_comm, ndims, dims, periods, reorder, comm_cart); });
}
MEND_SAME_AS_PMPI(MPI_Cart_create);

int PMPI_Comm_free(MPI_Comm* comm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_free)>("PMPI_Comm_free");
  return mend::free_by("MPI_Comm_free", comm, library);
}
MEND_SAME_AS_PMPI(MPI_Comm_free);

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_disconnect)>("PMPI_Comm_disconnect");
  return mend::free_by("MPI_Comm_disconnect", comm, library);
}
MEND_SAME_AS_PMPI(MPI_Comm_disconnect);

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* new_comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Cart_sub)>("PMPI_Cart_sub");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::make_cart_sub(*logged, comm, remain_dims, new_comm);
  return derive("MPI_Cart_sub", comm, new_comm, [&] { return library(comm, remain_dims, new_comm); });
}
MEND_SAME_AS_PMPI(MPI_Cart_sub);

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                      MPI_Comm* comm_graph) {
  comm_old = mend::resolve(comm_old);
  static const auto library = of_the_library<decltype(&PMPI_Graph_create)>("PMPI_Graph_create");
  if (auto* logged = mend::logged_calls_of(comm_old))
    return mend::make_graph(*logged, comm_old, nnodes, index, edges, comm_graph);
  return derive("MPI_Graph_create", comm_old, comm_graph,
                [&] { return library(comm_old, nnodes, index, edges, reorder, comm_graph); });
}
MEND_SAME_AS_PMPI(MPI_Graph_create);

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int nodes[], const int degrees[], const int targets[],
                           const int weights[], MPI_Info info, int reorder, MPI_Comm* newcomm) {
  comm_old = mend::resolve(comm_old);
  static const auto library = of_the_library<decltype(&PMPI_Dist_graph_create)>("PMPI_Dist_graph_create");
  if (auto* logged = mend::logged_calls_of(comm_old))
    return mend::make_distributed_graph(*logged, comm_old, n, nodes, degrees, targets, weights, newcomm);
  return derive("MPI_Dist_graph_create", comm_old, newcomm,
                [&] { return library(comm_old, n, nodes, degrees, targets, weights, info, reorder, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Dist_graph_create);

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                    int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                    int reorder, MPI_Comm* comm_dist_graph) {
  comm_old = mend::resolve(comm_old);
  static const auto library =
      of_the_library<decltype(&PMPI_Dist_graph_create_adjacent)>("PMPI_Dist_graph_create_adjacent");
  if (auto* logged = mend::logged_calls_of(comm_old)) {
    return mend::make_adjacent_graph(*logged, comm_old, indegree, sources, sourceweights, outdegree, destinations,
                                     destweights, comm_dist_graph);
  }
  return derive("MPI_Dist_graph_create_adjacent", comm_old, comm_dist_graph, [&] {
    return library(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
                   comm_dist_graph);
  });
}
MEND_SAME_AS_PMPI(MPI_Dist_graph_create_adjacent);

// NOLINTEND(readability-identifier-naming)
