#include "framework/process/communicator_hooks.hpp"

#include "framework/process/library_function.hpp"
#include "framework/process/process_context.hpp"
#include "framework/replay/logged_calls.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mend {
namespace {

/// Runs `make`, with which `call` derives a communicator. Errors may jump out of it, so there is nothing to destroy
/// here.
template <class Make>
int derive(const char* call, MPI_Comm parent, MPI_Comm* made, const Make& make) {
  if (auto* logged = logged_calls_of(parent)) return logged->refuse(call);
  const int code = make();
  const CommunicatorListener& listener = process_context().communicator_listener;
  if (code == MPI_SUCCESS && listener) listener(parent, *made);
  return code;
}

/// The same for a communicator that is made later.
template <class Make>
int derive_later(const char* call, MPI_Comm parent, MPI_Comm* made, MPI_Request* request, const Make& make) {
  if (auto* logged = logged_calls_of(parent)) return logged->refuse(call);
  const int code = make();
  ProcessContext& context = process_context();
  if (code == MPI_SUCCESS && context.communicator_listener)
    context.coming_communicators.push_back({parent, made, *request});
  return code;
}

/// The arguments of this rank when communicators are made of a front of local rollback (framework/replay/front.hpp).
struct Part {
  int color = 0;
  int key = 0;
  std::vector<int> dims{};
  std::vector<int> periods{};
};

int derive_front(LoggedCalls& logged, MPI_Comm parent, const Part& part, MPI_Comm* made) {
  const Front& front = *logged.front_of(parent);
  return logged.in_call([&] { return logged.derive(front, part.color, part.key, part.dims, part.periods, made); });
}

int dup_front(LoggedCalls& logged, MPI_Comm parent, MPI_Comm* made) {
  const Front& front = *logged.front_of(parent);
  const Recipe* const recipe = logged.recipe_of(front);
  Part part{0, front.rank};
  if (recipe != nullptr) part = {0, front.rank, recipe->dims, recipe->periods};
  return derive_front(logged, parent, part, made);
}

int create_front(LoggedCalls& logged, MPI_Comm parent, MPI_Group group, MPI_Comm* made) {
  int key = MPI_UNDEFINED;
  PMPI_Group_rank(group, &key);
  if (key == MPI_UNDEFINED) return derive_front(logged, parent, {MPI_UNDEFINED, 0}, made);
  MPI_Group of_parent = MPI_GROUP_NULL;
  PMPI_Comm_group(parent, &of_parent);
  const int first = 0;
  int color = 0;
  PMPI_Group_translate_ranks(group, 1, &first, of_parent, &color);
  PMPI_Group_free(&of_parent);
  return derive_front(logged, parent, {color, key}, made);
}

int cart_front(LoggedCalls& logged, MPI_Comm parent, int ndims, const int* dims, const int* periods, MPI_Comm* made) {
  if (ndims <= 0) return logged.refuse("MPI_Cart_create without dimensions");
  const Front& front = *logged.front_of(parent);
  long long ranks = 1;
  for (int i = 0; i < ndims && ranks <= front.size; ++i) ranks *= dims[i];
  if (ranks <= 0 || ranks > front.size || std::any_of(dims, dims + ndims, [](int one) { return one <= 0; }))
    return logged.in_call([] { return MPI_ERR_DIMS; });
  const int color = front.rank < ranks ? 0 : MPI_UNDEFINED;
  return derive_front(logged, parent, {color, front.rank, {dims, dims + ndims}, {periods, periods + ndims}}, made);
}

int cart_sub_front(LoggedCalls& logged, MPI_Comm parent, const int* remain, MPI_Comm* made) {
  const Front& front = *logged.front_of(parent);
  const Recipe* const recipe = logged.recipe_of(front);
  if (recipe == nullptr || recipe->dims.empty()) return logged.in_call([] { return MPI_ERR_TOPOLOGY; });
  std::vector<int> place(recipe->dims.size());
  PMPI_Cart_coords(parent, front.rank, static_cast<int>(place.size()), place.data());
  Part part{0, front.rank};
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (remain[i] == 0) {
      part.color = part.color * recipe->dims[i] + place[i];
      continue;
    }
    part.dims.push_back(recipe->dims[i]);
    part.periods.push_back(recipe->periods[i]);
  }
  if (part.dims.empty()) return logged.refuse("MPI_Cart_sub without dimensions");
  return derive_front(logged, parent, part, made);
}

}  // namespace

void on_communicator_made(CommunicatorListener told) {
  process_context().communicator_listener = std::move(told);
  forget_coming_communicators();
}

void forget_coming_communicators() { process_context().coming_communicators.clear(); }

namespace detail {

bool are_communicators_coming() { return !process_context().coming_communicators.empty(); }

void ask_for_communicators(int count, const MPI_Request* requests) {
  for (ComingCommunicator& coming : process_context().coming_communicators) {
    const MPI_Request* const found = std::find(requests, requests + std::max(count, 0), coming.request);
    coming.asked = found == requests + std::max(count, 0) ? nullptr : found;
  }
}

/// A request that MPI has completed is null. If it failed, there is no communicator.
void take_made_communicators(int code) {
  ProcessContext& context = process_context();
  std::vector<ComingCommunicator> made;
  std::erase_if(context.coming_communicators, [&](const ComingCommunicator& coming) {
    const bool is_over = coming.asked != nullptr && *coming.asked == MPI_REQUEST_NULL;
    if (is_over && code == MPI_SUCCESS) made.push_back(coming);
    return is_over;
  });
  for (const ComingCommunicator& one : made) context.communicator_listener(one.parent, *one.made);
}

}  // namespace detail

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

// The PMPI functions are replaced: C calls, the library's wrappers for Fortran and tools that intercept MPI all reach
// them.
#define MEND_SAME_AS_PMPI(name) extern "C" decltype(name) name __attribute__((alias("P" #name)))

using mend::derive;
using mend::of_the_library;

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_dup)>("PMPI_Comm_dup");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::dup_front(*logged, comm, newcomm);
  return derive("MPI_Comm_dup", comm, newcomm, [&] { return library(comm, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_dup);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_dup_with_info)>("PMPI_Comm_dup_with_info");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::dup_front(*logged, comm, newcomm);
  return derive("MPI_Comm_dup_with_info", comm, newcomm, [&] { return library(comm, info, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_dup_with_info);

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_idup)>("PMPI_Comm_idup");
  return mend::derive_later("MPI_Comm_idup", comm, newcomm, request, [&] { return library(comm, newcomm, request); });
}
MEND_SAME_AS_PMPI(MPI_Comm_idup);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_idup_with_info)>("PMPI_Comm_idup_with_info");
  return mend::derive_later("MPI_Comm_idup_with_info", comm, newcomm, request,
                            [&] { return library(comm, info, newcomm, request); });
}
MEND_SAME_AS_PMPI(MPI_Comm_idup_with_info);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_split)>("PMPI_Comm_split");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::derive_front(*logged, comm, {color, key}, newcomm);
  return derive("MPI_Comm_split", comm, newcomm, [&] { return library(comm, color, key, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_split);

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_split_type)>("PMPI_Comm_split_type");
  return derive("MPI_Comm_split_type", comm, newcomm, [&] { return library(comm, split_type, key, info, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_split_type);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_create)>("PMPI_Comm_create");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::create_front(*logged, comm, group, newcomm);
  return derive("MPI_Comm_create", comm, newcomm, [&] { return library(comm, group, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_create);

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_create_group)>("PMPI_Comm_create_group");
  return derive("MPI_Comm_create_group", comm, newcomm, [&] { return library(comm, group, tag, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Comm_create_group);

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                          MPI_Comm* newintercomm) {
  static const auto library = of_the_library<decltype(&PMPI_Intercomm_create)>("PMPI_Intercomm_create");
  return derive("MPI_Intercomm_create", local_comm, newintercomm,
                [&] { return library(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm); });
}
MEND_SAME_AS_PMPI(MPI_Intercomm_create);

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  static const auto library = of_the_library<decltype(&PMPI_Intercomm_merge)>("PMPI_Intercomm_merge");
  return derive("MPI_Intercomm_merge", intercomm, newintracomm, [&] { return library(intercomm, high, newintracomm); });
}
MEND_SAME_AS_PMPI(MPI_Intercomm_merge);

int PMPI_Cart_create(MPI_Comm old_comm, int ndims, const int dims[], const int periods[], int reorder,
                     MPI_Comm* comm_cart) {
  static const auto library = of_the_library<decltype(&PMPI_Cart_create)>("PMPI_Cart_create");
  if (auto* logged = mend::logged_calls_of(old_comm))
    return mend::cart_front(*logged, old_comm, ndims, dims, periods, comm_cart);
  return derive("MPI_Cart_create", old_comm, comm_cart,
                [&] { return library(old_comm, ndims, dims, periods, reorder, comm_cart); });
}
MEND_SAME_AS_PMPI(MPI_Cart_create);

int PMPI_Comm_free(MPI_Comm* comm) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_free)>("PMPI_Comm_free");
  auto* logged = mend::logged_calls_of(*comm);
  return logged == nullptr ? library(comm) : logged->free(comm);
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* new_comm) {
  static const auto library = of_the_library<decltype(&PMPI_Cart_sub)>("PMPI_Cart_sub");
  if (auto* logged = mend::logged_calls_of(comm)) return mend::cart_sub_front(*logged, comm, remain_dims, new_comm);
  return derive("MPI_Cart_sub", comm, new_comm, [&] { return library(comm, remain_dims, new_comm); });
}
MEND_SAME_AS_PMPI(MPI_Cart_sub);

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                      MPI_Comm* comm_graph) {
  static const auto library = of_the_library<decltype(&PMPI_Graph_create)>("PMPI_Graph_create");
  return derive("MPI_Graph_create", comm_old, comm_graph,
                [&] { return library(comm_old, nnodes, index, edges, reorder, comm_graph); });
}
MEND_SAME_AS_PMPI(MPI_Graph_create);

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int nodes[], const int degrees[], const int targets[],
                           const int weights[], MPI_Info info, int reorder, MPI_Comm* newcomm) {
  static const auto library = of_the_library<decltype(&PMPI_Dist_graph_create)>("PMPI_Dist_graph_create");
  return derive("MPI_Dist_graph_create", comm_old, newcomm,
                [&] { return library(comm_old, n, nodes, degrees, targets, weights, info, reorder, newcomm); });
}
MEND_SAME_AS_PMPI(MPI_Dist_graph_create);

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                    int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                    int reorder, MPI_Comm* comm_dist_graph) {
  static const auto library =
      of_the_library<decltype(&PMPI_Dist_graph_create_adjacent)>("PMPI_Dist_graph_create_adjacent");
  return derive("MPI_Dist_graph_create_adjacent", comm_old, comm_dist_graph, [&] {
    return library(comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
                   comm_dist_graph);
  });
}
MEND_SAME_AS_PMPI(MPI_Dist_graph_create_adjacent);

// NOLINTEND(readability-identifier-naming)
