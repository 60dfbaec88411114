// Bodies with their own communicators, and with agreements.

#include "tests/framework/subject/subject.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <thread>

namespace subject {
namespace {

/// Rank 3 dies, and each of the others waits for the next: rank 2 for rank 3, rank 1 for rank 2, and rank 0 for its
/// neighbour in a communicator that `derive` made, of which no member need have died.
mend::Body blocked_in(std::function<MPI_Comm(mend::Session&)> derive) {
  return [derive](mend::Session& session) {
    MPI_Comm derived = derive(session);
    MPI_Barrier(session.comm());
    if (is_first(session, 3)) die();
    if (session.epoch() == mend::Epoch{0}) {
      int nothing = 0;
      const int rank = session.rank().value;
      if (rank > 0) MPI_Recv(&nothing, 1, MPI_INT, rank + 1, 5, session.comm(), MPI_STATUS_IGNORE);
      MPI_Recv(&nothing, 1, MPI_INT, 1, 5, derived, MPI_STATUS_IGNORE);
    }
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, derived);
    say(session, fmt::format("{} are here again", sum));
  };
}

/// Frees a communicator at the end of its scope, and then wakes the process `waits`.
class Freed {
 public:
  Freed(MPI_Comm comm, pid_t waits) : comm_(comm), waits_(waits) {}
  Freed(const Freed&) = delete;
  Freed& operator=(const Freed&) = delete;
  ~Freed() {
    free_(&comm_);
    if (waits_ > 0) kill(waits_, SIGUSR1);
  }
  static inline int (*free_)(MPI_Comm*) = MPI_Comm_free;

 private:
  MPI_Comm comm_;
  pid_t waits_;
};

/// Rank 0 of `comm` sends numbers to its last rank, which throws if they come in another order.
void send_numbers(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 50; ++i) {
    int number = i;
    if (rank == 0) MPI_Send(&number, 1, MPI_INT, size - 1, 7, comm);
    if (rank == size - 1) MPI_Recv(&number, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE);
    if (number != i) throw std::runtime_error(fmt::format("number {} came in the place of {}", number, i));
  }
}

/// Rank 2 dies. Rank 3 notices it, and frees a communicator while it leaves the body; then rank 0, which has noticed
/// nothing, sends a message in it. After the recovery, rank 3 makes communicators without rank 0.
mend::Body freed_while_others_send(int (*free)(MPI_Comm*)) {
  return [free](mend::Session& session) {
    const int rank = session.rank().value;
    static std::atomic<bool> woken;
    std::signal(SIGUSR1, [](int) { woken = true; });
    int waits = static_cast<int>(getpid());
    MPI_Bcast(&waits, 1, MPI_INT, 0, session.comm());
    {
      MPI_Comm made = MPI_COMM_NULL;
      MPI_Comm_dup(session.comm(), &made);
      Freed::free_ = free;
      const Freed freed(made, is_first(session, 3) ? waits : 0);
      send_numbers(made);
      MPI_Barrier(session.comm());
      if (is_first(session, 2)) die();
      if (session.epoch() == mend::Epoch{0} && rank == 0) {
        while (!woken) std::this_thread::yield();
        const int late = -1;
        MPI_Send(&late, 1, MPI_INT, 3, 7, made);
      }
      MPI_Barrier(made);
    }
    // Many, so that one has the number of the freed one.
    for (int i = 0; i < 10; ++i) {
      const MPI_Comm next = session.split(rank == 0 ? MPI_UNDEFINED : 0, rank);
      for (int times = 0; next != MPI_COMM_NULL && times < 2; ++times) send_numbers(next);
    }
    say(session, "has all in order");
  };
}

}  // namespace

Scenarios communicator_scenarios() {
  Scenarios all;
  all["blocked_in_a_dup"] = blocked_in([](mend::Session& session) { return session.dup(); });
  all["blocked_in_a_split"] =
      blocked_in([](mend::Session& session) { return session.split(session.rank().value / 2, 0); });
  all["blocked_in_a_cart"] = blocked_in([](mend::Session& session) {
    const std::array dims{session.size()};
    const std::array periods{1};
    return session.cart(dims, periods);
  });
  all["blocked_in_a_dup_of_a_split"] = blocked_in([](mend::Session& session) {
    const MPI_Comm half = session.split(session.rank().value % 2, 0);
    return session.derive([half](MPI_Comm) {
      MPI_Comm made = MPI_COMM_NULL;
      MPI_Comm_dup(half, &made);
      return made;
    });
  });
  all["blocked_in_a_split_that_a_factory_has_made"] = blocked_in([](mend::Session& session) {
    session.derive([](MPI_Comm parent) { return parent; });
    return session.derive([&](MPI_Comm) { return session.split(session.rank().value / 2, 0); });
  });
  all["blocked_between_single_ranks"] = [](mend::Session& session) {
    const int rank = session.rank().value;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, session.comm(), rank % 2 == 0 ? rank + 1 : rank - 1, 3, &made);
    MPI_Barrier(session.comm());
    if (is_first(session, 3)) die();
    int nothing = 0;
    if (session.epoch() == mend::Epoch{0} && rank < 2) MPI_Recv(&nothing, 1, MPI_INT, 0, 5, made, MPI_STATUS_IGNORE);
    MPI_Barrier(session.comm());
    say(session, "is here again");
  };
  all["blocked_in_a_communicator_of_a_library"] = blocked_in([](mend::Session& session) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(session.comm(), &made);
    return made;
  });
  all["one_leaves_a_factory_and_another_waits_for_it_there"] = [](mend::Session& session) {
    session.derive([&](MPI_Comm parent) {
      MPI_Comm half = MPI_COMM_NULL;
      MPI_Comm made = MPI_COMM_NULL;
      MPI_Comm_split(parent, session.rank().value % 2, 0, &half);
      if (is_first(session, 0)) die();
      while (is_first(session, 1)) session.check();
      MPI_Comm_dup(half, &made);
      MPI_Comm_free(&half);
      return made;
    });
    MPI_Barrier(session.comm());
    say(session, "is here again");
  };
  all["some_take_no_part"] = [](mend::Session& session) {
    const MPI_Comm some = session.split(session.rank().value < 2 ? 0 : MPI_UNDEFINED, 0);
    if (session.rank().value < 2) {
      if (is_first(session, 1)) die();
      MPI_Barrier(some);
    }
    MPI_Barrier(session.comm());
    say(session, some == MPI_COMM_NULL ? "took no part" : "took part");
  };
  all["uses_what_it_has_derived_before"] = [](mend::Session& session) {
    static std::array<MPI_Comm, 2> old{MPI_COMM_NULL, MPI_COMM_NULL};
    if (session.epoch() == mend::Epoch{0}) {
      old = {session.dup(), session.split(session.rank().value % 2, 0)};
      if (is_first(session, 1)) die();
      MPI_Barrier(session.comm());
    }
    session.dup();  // might reuse what an old one had
    bool refused = true;
    for (MPI_Comm& comm : old) {
      if (comm == MPI_COMM_NULL) continue;
      try {
        MPI_Barrier(comm);
        refused = false;
      } catch (const mend::UsageError&) {
      }
      MPI_Comm_free(&comm);
    }
    MPI_Barrier(session.comm());
    say(session, refused ? "is here again" : "has used an old one");
  };
  all["blocked_where_nobody_has_died"] = [](mend::Session& session) {
    const MPI_Comm half = session.split(session.rank().value / 2, 0);
    if (session.epoch() == mend::Epoch{0}) {
      MPI_Barrier(session.comm());
      if (session.rank() == mend::Rank{0}) die();
      int nothing = 0;
      const int other = 1 - session.rank().value % 2;
      MPI_Recv(&nothing, 1, MPI_INT, other, 5, half, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(half);
    say(session, "is here again");
  };
  all["frees_what_it_has_derived"] = [](mend::Session& session) {
    MPI_Comm kept = session.dup();
    MPI_Comm freed = session.dup();
    MPI_Comm_free(&freed);
    if (is_first(session, 1)) die();
    MPI_Barrier(kept);
    MPI_Comm_free(&kept);
    say(session, "is here again");
  };
  all["frees_while_others_send"] = freed_while_others_send(MPI_Comm_free);
  all["disconnects_while_others_send"] = freed_while_others_send(MPI_Comm_disconnect);
  all["derives_with_nonsense"] = [](mend::Session& session) {
    const std::array dims{2, 2};
    const std::array periods{1};
    session.cart(dims, periods);
  };
  all["many_derived_communicators_and_deaths"] = [](mend::Session& session) {
    for (int i = 0; i < 20; ++i) session.split(session.rank().value % 2, i);
    count(session, 12, [&](long step) {
      const int epoch = static_cast<int>(session.epoch().value);
      if (epoch < 2 && step == 4 * epoch + 3 && session.rank().value == 2 * epoch) die();
    });
  };

  all["agrees_in_a_loop"] = [](mend::Session& session) {
    int rounds = 0;
    int agreed = 0;
    while (session.agree(rounds < 50)) {
      if (rounds == 20 && is_first(session, 1)) die();
      ++rounds;
    }
    agreed += session.agree(true) ? 1 : 0;
    agreed += session.agree(session.rank() != mend::Rank{0}) ? 1 : 0;
    say(session, fmt::format("left after {} rounds, {} of 2 agreed", rounds, agreed));
  };
  return all;
}

}  // namespace subject
