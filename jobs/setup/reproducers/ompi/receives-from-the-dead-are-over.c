// receives-from-the-dead-are-over
//
// If the sender of a matched receive has died, mca_pml_ob1_recv_request_cancel (pml_ob1_recvreq.c) completes the
// receive with an error, and its memory is used for another receive, while fragments of the dead process are still on
// their way to it, or while it waits in a list to request more data. After some deaths of processes that are reached
// over TCP, a survivor crashes, or a receive gets data that no process sent to it. MPI_Recv (pml_ob1_irecv.c) keeps its
// request for the next call, whether it is over or not. A receive from any source that has its message is given up by
// MPI_Recv when any process dies, and is never over if its sender dies and that death is acknowledged (req_ft.c).
//
// Here ranks 1 to 4 stop in the middle of a long message each. Ranks 1 and 3 are declared dead, and a receive of each
// is over; their fragments arrive when rank 0 receives from rank 2. Then rank 4 is declared dead while rank 0 receives
// from any source, messages of ranks 2 and 4. Open MPI 5.0.x, 6.0.x and main (read, December 2026).
//
// processes: 5
// runs: 3
// limit: 40
// hangs: a receive does not end
// ends: the survivor has crashed
// options: --mca btl self,tcp --mca btl_tcp_flags send --mca btl_tcp_if_include lo

#include "reproducer.h"

#include <pthread.h>

enum { bytes = 8 << 20 };  // the first 64 KiB are sent at once, the rest when the receiver asks for it

static long pid[5];

// Sends long messages with the tags 1, 2, ..., and stops in the middle of each.
static void send_and_stop(int messages) {
  char* data = malloc(bytes);
  memset(data, rank, bytes);
  pid[rank] = getpid();
  MPI_Send(&pid[rank], 1, MPI_LONG, 0, 10, MPI_COMM_WORLD);
  for (int tag = 1; tag <= messages; ++tag) {
    MPI_Request request;
    MPI_Isend(data, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &request);
    progress_ms(500);
    raise(SIGSTOP);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  progress_ms(50000);
}

// Waits until `source` has stopped in the middle of that message.
static void wait_for_stop(int source, int tag) {
  MPI_Probe(source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pause_ms(1500);
}

static int dying, stopped;  // processes; 0: none
static volatile bool is_declared;

static void* meanwhile(void* unused) {
  pause_ms(300);
  if (dying != 0) hold_dead(dying);
  is_declared = true;
  pause_ms(700);
  if (stopped != 0) kill((pid_t)pid[stopped], SIGCONT);
  return unused;
}

// Receives in a blocking call. Meanwhile, `declared` is declared dead, and `continued` continues after that.
static int receive(char* data, int source, int tag, int declared, int continued) {
  dying = declared;
  stopped = continued;
  is_declared = false;
  pthread_t thread;
  pthread_create(&thread, NULL, &meanwhile, NULL);
  const int code = MPI_Recv(data, bytes, MPI_CHAR, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (declared != 0 && !is_declared) untestable("the receive has ended before a process was declared dead");
  pthread_join(thread, NULL);
  return code;
}

static void check_sender(const char* got, const char* receive) {
  for (int at = 0; at < bytes; ++at)
    if (got[at] != 2) defect("%s from rank 2 has data of rank %d, which is dead", receive, got[at]);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (rank > 0) send_and_stop(rank == 2 ? 3 : 1);
  for (int i = 1; i < 5; ++i) MPI_Recv(&pid[i], 1, MPI_LONG, i, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  char* data = malloc(bytes);
  char* got = calloc(bytes, 1);

  MPI_Request request;
  wait_for_stop(1, 1);
  MPI_Irecv(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
  progress_ms(100);  // asks for the rest
  hold_dead(1);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    untestable("the message has arrived before its sender stopped");
  MPI_Irecv(got, bytes, MPI_CHAR, 2, 1, MPI_COMM_WORLD, &request);
  kill((pid_t)pid[1], SIGCONT);  // the fragments of the dead process arrive
  progress_ms(1000);
  kill((pid_t)pid[2], SIGCONT);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_sender(got, "a receive");

  memset(got, 0, bytes);
  wait_for_stop(2, 2);
  if (receive(data, 3, 1, 3, 0) == MPI_SUCCESS) untestable("the message has arrived before its sender stopped");
  kill((pid_t)pid[3], SIGCONT);
  receive(got, 2, 2, 0, 2);
  check_sender(got, "a blocking receive");

  memset(got, 0, bytes);
  wait_for_stop(2, 3);
  wait_for_deaths(2);  // acknowledges them, so that receives from any source are allowed
  MPI_Irecv(data, bytes, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);  // only rank 4's is left
  if (receive(got, MPI_ANY_SOURCE, 3, 4, 2) != MPI_SUCCESS)
    defect("a receive from any source gives up a message of rank 2 when rank 4 dies");
  check_sender(got, "a receive from any source");
  wait_for_deaths(3);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    untestable("the message has arrived before its sender stopped");
  sound();
}
