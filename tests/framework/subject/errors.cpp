// Bodies that throw, and ranks that call different operations.

#include "base/fault_point.hpp"
#include "tests/framework/subject/subject.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace subject {

/// Cannot be packed while it is stuck.
struct Drawer {
  int content = 0;
  bool stuck = false;
};

}  // namespace subject

template <>
struct mend::Serializer<subject::Drawer> {
  static std::vector<std::byte> write(const subject::Drawer& drawer) {
    if (drawer.stuck) throw std::runtime_error("the drawer is stuck");
    return std::vector<std::byte>(static_cast<std::size_t>(drawer.content));
  }
  static void read(subject::Drawer& drawer, std::span<const std::byte> bytes) {
    drawer.content = static_cast<int>(bytes.size());
  }
};

namespace subject {
namespace {

/// Blocks until interrupted: every rank waits for a message that no rank sends.
void wait_for_ever(const mend::Session& session) {
  int nothing = 0;
  const int neighbour = (session.rank().value + 1) % session.size();
  MPI_Recv(&nothing, 1, MPI_INT, neighbour, 7, session.comm(), MPI_STATUS_IGNORE);
}

/// The process dies when it is about to report why the job ends.
void die_before_telling() {
  mend::on_fault_point([](std::string_view point) {
    if (point == "end.say") die();
  });
}

void come_to_different_collectives(mend::Session& session, const std::function<void()>& first,
                                   const std::function<void()>& others) {
  long value = 1;
  session.store().protect("value", value);
  session.store().commit();
  if (session.rank() == mend::Rank{0}) {
    first();
  } else {
    others();
  }
  say(session, "went on as if nothing were wrong");
}

}  // namespace

Scenarios error_scenarios() {
  Scenarios all;
  all["one_rank_throws"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{2}) throw std::runtime_error("no more ink");
    wait_for_ever(session);
  };
  all["all_ranks_throw"] = [](mend::Session&) { throw std::runtime_error("no more ink"); };
  all["all_ranks_throw_and_who_was_to_tell_dies"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{0}) die_before_telling();
    throw std::runtime_error("no more ink");
  };
  all["one_rank_throws_and_dies_before_it_is_told"] = [](mend::Session& session) {
    if (session.rank() != mend::Rank{2}) wait_for_ever(session);
    die_before_telling();
    throw std::runtime_error("no more ink");
  };
  all["a_dead_ranks_child_stays"] = [](mend::Session& session) {
    if (subject::is_first(session, 1)) {
      if (::fork() == 0) ::execlp("sleep", "sleep", "300", nullptr);
      subject::die();
    }
    MPI_Barrier(session.comm());
    subject::say(session, "done");
  };
  all["one_rank_aborts"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{1}) MPI_Abort(session.comm(), 7);
    wait_for_ever(session);
  };
  all["all_ranks_abort"] = [](mend::Session&) { MPI_Abort(MPI_COMM_WORLD, 256); };
  all["one_rank_aborts_alone"] = [](mend::Session& session) {
    subject::count(session, 10, [&](long step) {
      if (step == 5 && subject::is_first(session, 1)) MPI_Abort(MPI_COMM_SELF, 7);
    });
  };
  all["one_rank_throws_a_number"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{2}) throw 42;
    wait_for_ever(session);
  };
  all["one_rank_misuses"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{1}) {
      int value = 0;
      session.store().protect("", value);
    }
    wait_for_ever(session);
  };
  all["one_rank_cannot_pack"] = [](mend::Session& session) {
    Drawer drawer{.content = 1, .stuck = session.rank() == mend::Rank{1}};
    session.store().protect("drawer", drawer);
    session.store().commit();
  };
  all["one_rank_cannot_pack_for_a_while"] = [](mend::Session& session) {
    Drawer drawer{.content = 1};
    long large[1000]{};
    session.store().protect("drawer", drawer);
    session.store().protect("large", large);
    if (const auto version = session.store().restore(); version != mend::Version{}) {
      say(session, fmt::format("version {}: {} {}", version.value, drawer.content, large[drawer.content]));
      return;
    }
    for (int step = 1; step <= 6; ++step) {
      if (step == 6 && is_first(session, 2)) die();
      large[step] = drawer.content = step;
      drawer.stuck = session.rank() == mend::Rank{1} && (step == 3 || step == 4);
      try {
        session.store().commit();
      } catch (const std::runtime_error&) {  // on all ranks
      }
    }
  };
  all["throws_in_the_last_step_of_one_rank"] = [](mend::Session& session) {
    count(session, 5, {});
    if (session.rank() == mend::Rank{0}) throw std::bad_alloc();
  };
  all["throws_after_a_recovery"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    if (session.epoch() == mend::Epoch{0}) wait_for_ever(session);
    if (session.role() == mend::Role::newcomer) throw std::runtime_error("the newcomer has no ink");
    wait_for_ever(session);
  };
  all["throws_when_it_meets_a_death_and_later_another_rank_throws"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    try {
      session.agree(true);
    } catch (const mend::ProcessFailure&) {
      if (session.rank() == mend::Rank{0}) throw std::runtime_error("this was said before the recovery");
      throw;
    }
    if (session.rank() == mend::Rank{2}) throw std::runtime_error("no more ink");
    wait_for_ever(session);
  };
  all["swallows_the_failure"] = [](mend::Session& session) {
    try {
      count(session, 10, [&](long step) {
        if (step == 5 && is_first(session, 2)) die();
      });
    } catch (const mend::ProcessFailure&) {
      say(session, "pretends that nothing has happened");
    }
  };
  all["exits_at_once_in_the_body"] = [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 2)) _exit(1);
    });
  };
  all["exits_quickly_in_the_body"] = [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 2)) std::quick_exit(7);
    });
  };
  all["becomes_another_program"] = [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 2)) ::execl("/bin/sleep", "sleep", "1000", nullptr);
    });
  };
  all["exits_in_a_signal_handler"] = [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step != 5 || !is_first(session, 2)) return;
      std::signal(SIGTERM, [](int) { std::_Exit(9); });
      std::raise(SIGTERM);
    });
  };
  const auto dies_again_and_again = [](void (*die_so)()) {
    return [die_so](mend::Session& session) {
      count(session, 10, [&](long step) {
        if (step == 5 && session.rank() == mend::Rank{1}) die_so();
      });
    };
  };
  all["crashes_again_and_again"] = dies_again_and_again([] { std::raise(SIGSEGV); });
  all["crashes_on_all_ranks"] = [](mend::Session&) { std::raise(SIGSEGV); };
  all["leaves_again_and_again"] = dies_again_and_again([] { _exit(3); });
  all["exits_again_and_again"] = dies_again_and_again([] { std::thread([] { std::exit(3); }).join(); });
  all["hangs_once"] = [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 1)) std::raise(SIGSTOP);
    });
  };
  all["lets_a_failure_out_of_a_destructor"] = [](mend::Session& session) {
    struct Closing {
      mend::Session& session;
      ~Closing() { session.agree(true); }
    };
    count(session, 10, [&](long step) {
      const Closing closing{session};
      if (step == 5 && is_first(session, 1)) die();
    });
  };
  all["calls_MPI_in_a_destructor"] = [](mend::Session& session) {
    struct Closing {
      MPI_Comm comm;
      ~Closing() { MPI_Barrier(comm); }
    };
    const Closing closing{session.comm()};
    count(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 1)) die();
    });
  };
  all["calls_MPI_in_a_destructor_at_the_end_of_each_step"] = [](mend::Session& session) {
    struct Closing {
      MPI_Comm comm;
      ~Closing() { MPI_Barrier(comm); }
    };
    count(session, 10, [&](long step) {
      const Closing closing{session.comm()};
      if (step == 5 && is_first(session, 1)) die();
    });
  };
  all["an_MPI_mistake_in_a_destructor"] = [](mend::Session& session) {
    struct Closing {
      MPI_Comm comm;
      ~Closing() {
        int value = 0;
        MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
      }
    };
    count(session, 10, [&](long step) {
      if (step == 5 && session.rank() == mend::Rank{1}) const Closing closing{session.comm()};
    });
  };
  all["an_MPI_mistake"] = [](mend::Session& session) {
    int value = 0;
    if (session.rank() == mend::Rank{1}) MPI_Send(&value, 1, MPI_INT, 99, 0, session.comm());
    wait_for_ever(session);
  };

  all["commit_against_agree"] = [](mend::Session& session) {
    come_to_different_collectives(
        session, [&] { session.agree(true); }, [&] { session.store().commit(); });
  };
  all["agree_against_commit"] = [](mend::Session& session) {
    come_to_different_collectives(
        session, [&] { session.store().commit(); }, [&] { session.agree(true); });
  };
  all["commit_against_restore"] = [](mend::Session& session) {
    come_to_different_collectives(
        session, [&] { session.store().commit(); }, [&] { session.store().restore(); });
  };
  all["restore_against_agree"] = [](mend::Session& session) {
    come_to_different_collectives(
        session, [&] { session.store().restore(); }, [&] { session.agree(true); });
  };
  all["finish_against_agree"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{0}) return;
    session.agree(true);
    say(session, "went on as if nothing were wrong");
  };
  all["finish_against_commit"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{0}) return;
    session.store().commit();
    say(session, "went on as if nothing were wrong");
  };
  all["finish_against_restore"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    session.store().commit();
    if (session.rank() == mend::Rank{0}) return;
    session.store().restore();
    say(session, "went on as if nothing were wrong");
  };
  return all;
}

}  // namespace subject
