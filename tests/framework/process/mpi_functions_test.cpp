// Every MPI function that could go past --mend-rollback local or --mend-world session is known: those that mpi.h
// declares with a communicator, a request or a matched message are covered, refused, or ask and set only what the
// process itself has. All but a few take MPI_COMM_WORLD for session.comm().

#include "framework/mend.hpp"
#include "tests/framework/process/refused_functions.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace {

using Names = std::set<std::string>;

/// mend logs what they send, and makes what is beneath the communicators that they make.
const Names covered{"MPI_Send",
                    "MPI_Ssend",
                    "MPI_Rsend",
                    "MPI_Bsend",
                    "MPI_Isend",
                    "MPI_Irsend",
                    "MPI_Ibsend",
                    "MPI_Issend",
                    "MPI_Recv",
                    "MPI_Irecv",
                    "MPI_Sendrecv",
                    "MPI_Sendrecv_replace",
                    "MPI_Isendrecv",
                    "MPI_Isendrecv_replace",
                    "MPI_Probe",
                    "MPI_Iprobe",
                    "MPI_Mprobe",
                    "MPI_Improbe",
                    "MPI_Send_init",
                    "MPI_Rsend_init",
                    "MPI_Bsend_init",
                    "MPI_Ssend_init",
                    "MPI_Recv_init",
                    "MPI_Barrier",
                    "MPI_Bcast",
                    "MPI_Reduce",
                    "MPI_Allreduce",
                    "MPI_Reduce_scatter",
                    "MPI_Reduce_scatter_block",
                    "MPI_Scan",
                    "MPI_Exscan",
                    "MPI_Gather",
                    "MPI_Gatherv",
                    "MPI_Scatter",
                    "MPI_Scatterv",
                    "MPI_Allgather",
                    "MPI_Allgatherv",
                    "MPI_Alltoall",
                    "MPI_Alltoallv",
                    "MPI_Alltoallw",
                    "MPI_Ibarrier",
                    "MPI_Ibcast",
                    "MPI_Ireduce",
                    "MPI_Iallreduce",
                    "MPI_Iscan",
                    "MPI_Iexscan",
                    "MPI_Ireduce_scatter",
                    "MPI_Ireduce_scatter_block",
                    "MPI_Igather",
                    "MPI_Igatherv",
                    "MPI_Iscatter",
                    "MPI_Iscatterv",
                    "MPI_Iallgather",
                    "MPI_Iallgatherv",
                    "MPI_Ialltoall",
                    "MPI_Ialltoallv",
                    "MPI_Ialltoallw",
                    "MPI_Comm_dup",
                    "MPI_Comm_dup_with_info",
                    "MPI_Comm_split",
                    "MPI_Comm_create",
                    "MPI_Cart_create",
                    "MPI_Cart_sub",
                    "MPI_Barrier_init",
                    "MPI_Bcast_init",
                    "MPI_Reduce_init",
                    "MPI_Allreduce_init",
                    "MPI_Scan_init",
                    "MPI_Exscan_init",
                    "MPI_Reduce_scatter_init",
                    "MPI_Reduce_scatter_block_init",
                    "MPI_Gather_init",
                    "MPI_Gatherv_init",
                    "MPI_Scatter_init",
                    "MPI_Scatterv_init",
                    "MPI_Allgather_init",
                    "MPI_Allgatherv_init",
                    "MPI_Alltoall_init",
                    "MPI_Alltoallv_init",
                    "MPI_Alltoallw_init",
                    "MPI_Neighbor_allgather",
                    "MPI_Neighbor_allgatherv",
                    "MPI_Neighbor_alltoall",
                    "MPI_Neighbor_alltoallv",
                    "MPI_Neighbor_alltoallw",
                    "MPI_Ineighbor_allgather",
                    "MPI_Ineighbor_allgatherv",
                    "MPI_Ineighbor_alltoall",
                    "MPI_Ineighbor_alltoallv",
                    "MPI_Ineighbor_alltoallw",
                    "MPI_Neighbor_allgather_init",
                    "MPI_Neighbor_allgatherv_init",
                    "MPI_Neighbor_alltoall_init",
                    "MPI_Neighbor_alltoallv_init",
                    "MPI_Neighbor_alltoallw_init",
                    "MPI_Comm_idup",
                    "MPI_Comm_idup_with_info",
                    "MPI_Comm_split_type",
                    "MPI_Comm_create_group",
                    "MPI_Graph_create",
                    "MPI_Dist_graph_create",
                    "MPI_Dist_graph_create_adjacent",
                    "MPI_Comm_free",
                    "MPI_Comm_disconnect",
                    "MPI_Mrecv",
                    "MPI_Imrecv",
                    "MPI_Start",
                    "MPI_Startall",
                    "MPI_Cancel",
                    "MPI_Request_free",
                    "MPI_Request_get_status",
                    "MPI_Test",
                    "MPI_Testall",
                    "MPI_Testany",
                    "MPI_Testsome",
                    "MPI_Wait",
                    "MPI_Waitall",
                    "MPI_Waitany",
                    "MPI_Waitsome"};

#if OMPI_MAJOR_VERSION >= 6
const Names covered_since_6{"MPI_Request_get_status_all", "MPI_Request_get_status_any", "MPI_Request_get_status_some"};
#else
const Names covered_since_6;
#endif

/// They send nothing, or only in partitioned messages, which are refused. MPI_Abort ends the job.
const Names local{"MPI_Abort",
                  "MPI_Attr_delete",
                  "MPI_Attr_get",
                  "MPI_Attr_put",
                  "MPI_Cart_coords",
                  "MPI_Cart_get",
                  "MPI_Cart_map",
                  "MPI_Cart_rank",
                  "MPI_Cart_shift",
                  "MPI_Cartdim_get",
                  "MPI_Comm_call_errhandler",
                  "MPI_Comm_compare",
                  "MPI_Comm_delete_attr",
                  "MPI_Comm_get_attr",
                  "MPI_Comm_get_errhandler",
                  "MPI_Comm_get_info",
                  "MPI_Comm_get_name",
                  "MPI_Comm_get_parent",
                  "MPI_Comm_group",
                  "MPI_Comm_rank",
                  "MPI_Comm_remote_group",
                  "MPI_Comm_remote_size",
                  "MPI_Comm_set_attr",
                  "MPI_Comm_set_errhandler",
                  "MPI_Comm_set_info",
                  "MPI_Comm_set_name",
                  "MPI_Comm_size",
                  "MPI_Comm_test_inter",
                  "MPI_Dist_graph_neighbors",
                  "MPI_Dist_graph_neighbors_count",
                  "MPI_Errhandler_get",
                  "MPI_Errhandler_set",
                  "MPI_Graph_get",
                  "MPI_Graph_map",
                  "MPI_Graph_neighbors",
                  "MPI_Graph_neighbors_count",
                  "MPI_Graphdims_get",
                  "MPI_Grequest_complete",
                  "MPI_Grequest_start",
                  "MPI_Pack",
                  "MPI_Pack_size",
                  "MPI_Parrived",
                  "MPI_Pready",
                  "MPI_Pready_list",
                  "MPI_Pready_range",
                  "MPI_Topo_test",
                  "MPI_Unpack",
                  "MPIX_Comm_ack_failed",
                  "MPIX_Comm_failure_ack",
                  "MPIX_Comm_failure_get_acked",
                  "MPIX_Comm_get_failed",
                  "MPIX_Comm_is_revoked"};

#if OMPI_MAJOR_VERSION >= 6
const Names local_since_6{"MPI_Buffer_iflush", "MPI_Comm_toint",    "MPI_Message_toint",         "MPI_Pack_c",
                          "MPI_Pack_size_c",   "MPI_Request_toint", "MPI_Session_iflush_buffer", "MPI_Unpack_c"};
#else
const Names local_since_6;
#endif

/// On MPI_COMM_WORLD they do the same as on session.comm(), or cannot be called for it; or C++ does not let them be
/// called any more.
const Names left_alone{"MPI_Comm_get_parent", "MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Grequest_complete",
                       "MPI_Grequest_start",  "MPI_Pack",           "MPI_Pack_size",      "MPI_Parrived",
                       "MPI_Pready",          "MPI_Pready_list",    "MPI_Pready_range",   "MPI_Unpack"};

Names refused() {
  Names names;
  for (const RefusedFunction& one : refused_functions()) names.insert(one.name);
  return names;
}

/// Those that have a parameter of type MPI_Comm, MPI_Request or MPI_Message, or a pointer to one. Windows are refused
/// when they are made, and files when they are opened, so their requests do not matter.
Names declared_with_what_is_logged(const std::string& header) {
  std::ifstream file(header);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex declaration(R"(OMPI_DECLSPEC\s+int\s+(MPIX?_\w+)\s*\(([^;]*)\)[^;]*;)");
  const std::regex communicator(R"(\bMPI_Comm\b)");
  const std::regex request(R"(\bMPI_(Request|Message)\b)");
  const std::regex elsewhere(R"(\bMPI_(File|Win)\b)");
  Names names;
  for (auto one = std::sregex_iterator(text.begin(), text.end(), declaration); one != std::sregex_iterator(); ++one) {
    const std::string parameters = (*one)[2];
    const bool is_request = std::regex_search(parameters, request) && !std::regex_search(parameters, elsewhere);
    if (is_request || std::regex_search(parameters, communicator)) names.insert((*one)[1]);
  }
  return names;
}

/// Returns true if the program has this function, and not the library.
bool is_of_program(const std::string& function) {
  Dl_info found{};
  Dl_info here{};
  ::dladdr(::dlsym(RTLD_DEFAULT, function.c_str()), &found);
  ::dladdr(reinterpret_cast<void*>(&refused), &here);
  return found.dli_fbase == here.dli_fbase;
}

/// The same for the functions that all ways lead through: of extensions there are two, which do not call each other.
bool is_intercepted(const std::string& name) {
  return is_of_program("P" + name) && (!name.starts_with("MPIX") || is_of_program(name));
}

TEST(MpiFunctions, are_all_known_to_local_rollback) {
  Names declared = declared_with_what_is_logged(MEND_MPI_HEADER);
  declared.merge(declared_with_what_is_logged(MEND_MPI_EXTENSION_HEADER));
  ASSERT_GT(declared.size(), 150U);
  Names known = refused();
  known.insert(covered.begin(), covered.end());
  known.insert(covered_since_6.begin(), covered_since_6.end());
  known.insert(local.begin(), local.end());
  known.insert(local_since_6.begin(), local_since_6.end());
  EXPECT_EQ(declared, known);
  EXPECT_EQ(known.size(),
            covered.size() + covered_since_6.size() + local.size() + local_since_6.size() + refused().size())
      << "some stand in two lists";
}

TEST(MpiFunctions, that_send_are_intercepted) {
  const volatile auto whole_program = static_cast<int (*)(const mend::Options&, const mend::Body&)>(&mend::run);
  ASSERT_NE(whole_program, nullptr);
  for (const Names& names : {covered, covered_since_6, refused()})
    for (const std::string& name : names) EXPECT_TRUE(is_intercepted(name)) << name;
  for (const char* const other : {"MPI_Op_free", "MPI_Comm_create_keyval", "MPI_Keyval_create", "MPI_Comm_f2c"})
    EXPECT_TRUE(is_intercepted(other)) << other;
  EXPECT_FALSE(is_intercepted("MPI_Type_size"));
}

TEST(MpiFunctions, that_have_a_communicator_are_intercepted_for_the_world) {
  for (const std::string& name : local) EXPECT_EQ(is_intercepted(name), !left_alone.contains(name)) << name;
}

}  // namespace
