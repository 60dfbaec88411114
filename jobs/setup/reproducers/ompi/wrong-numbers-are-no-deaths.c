// wrong-numbers-are-no-deaths
//
// If a process connects over TCP to the port of a dead process, and another process has been given that port since,
// that other process accepts the connection (mca_btl_tcp_component_recv_handler in btl_tcp_component.c). The caller
// closes the connection when it detects the mistake. The other process loses the messages that it sends over this
// connection, treats its end as the death of the caller, and reports that to all: the living caller aborts itself. Here
// rank 2 is dead, and rank 1 sends to it; this program's own connect leads that to the port of rank 0. Then ranks 0 and
// 1 exchange messages. Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 2
// limit: 20
// hangs: a message between living processes does not arrive after a wrong connection
// ends: a living process has been taken for dead
// options: --mca btl self,tcp --mca btl_tcp_if_include lo --mca btl_tcp_disable_family 6

#define _GNU_SOURCE
#include "reproducer.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <sys/socket.h>

static int own_port = 0, port_of_0 = 0, port_of_2 = 0, led_astray = 0;

int listen(int socket, int backlog) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  if (getsockname(socket, (struct sockaddr*)&address, &length) == 0 && address.sin_family == AF_INET)
    own_port = ntohs(address.sin_port);
  int (*next)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "listen");
  return next(socket, backlog);
}

int connect(int socket, const struct sockaddr* to, socklen_t length) {
  struct sockaddr_in other;
  if (rank == 1 && to->sa_family == AF_INET && ntohs(((const struct sockaddr_in*)to)->sin_port) == port_of_2) {
    other = *(const struct sockaddr_in*)to;
    other.sin_port = htons((uint16_t)port_of_0);
    to = (const struct sockaddr*)&other;
    led_astray = 1;
  }
  int (*next)(int, const struct sockaddr*, socklen_t) =
      (int (*)(int, const struct sockaddr*, socklen_t))dlsym(RTLD_NEXT, "connect");
  return next(socket, to, length);
}

// Exchanges ports through PMIx: over MPI there would be connections already.
static void tell_port(void) {
  const uint32_t port = (uint32_t)own_port;
  pmix_value_t value;
  PMIX_VALUE_LOAD(&value, &port, PMIX_UINT32);
  PMIx_Put(PMIX_GLOBAL, "reproducer.port", &value);
  PMIx_Commit();
  pmix_proc_t all = myself();
  all.rank = PMIX_RANK_WILDCARD;
  const bool yes = true;
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  PMIx_Fence(&all, 1, &info, 1);
}
static int port_of(int other) {
  pmix_proc_t proc = myself();
  proc.rank = (pmix_rank_t)other;
  pmix_value_t* value;
  if (PMIx_Get(&proc, "reproducer.port", NULL, 0, &value) != PMIX_SUCCESS) untestable("PMIx_Get has failed");
  return (int)value->data.uint32;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  tell_port();
  port_of_0 = port_of(0);
  port_of_2 = port_of(2);
  if (port_of_0 == 0 || port_of_2 == 0) untestable("the transport listens to no port");
  int data = 1;
  if (rank == 2) pause_ms(30000);
  if (rank == 1) {
    MPI_Request request;
    MPI_Isend(&data, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request);
    progress_ms(500);
    if (!led_astray) untestable("the transport has not connected by connect");
    if (MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      defect("a message between living processes has failed");
    MPI_Send(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    progress_ms(15000);
  }
  progress_ms(200);
  MPI_Send(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
  if (MPI_Recv(&data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    defect("a living process has been taken for dead");
  sound();
}
