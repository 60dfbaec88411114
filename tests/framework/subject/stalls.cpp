// Ranks that wait for others that do not come.

#include "base/clock.hpp"
#include "tests/framework/subject/subject.hpp"

#include <mpi.h>
#include <unistd.h>

#include <stdexcept>

namespace subject {
namespace {

/// Rank `late` sleeps until it is killed; all others do `work`.
mend::Body one_is_late(int late, std::function<void(mend::Session&)> work) {
  return [=](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    session.store().commit();
    if (session.rank() == mend::Rank{late}) {
      for (;;) ::pause();
    }
    work(session);
  };
}

void wait_for_message(const mend::Session& session) {
  int nothing = 0;
  MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 7, session.comm(), MPI_STATUS_IGNORE);
}

}  // namespace

Scenarios stall_scenarios() {
  Scenarios all;
  all["one_is_late_for_commit"] = one_is_late(2, [](mend::Session& session) { session.store().commit(); });
  all["one_is_late_for_restore"] = one_is_late(0, [](mend::Session& session) { session.store().restore(); });
  all["one_is_late_for_agree"] = one_is_late(2, [](mend::Session& session) { session.agree(true); });
  all["one_is_late_for_split"] = one_is_late(2, [](mend::Session& session) { session.split(0, 0); });
  all["one_is_late_for_dup"] = one_is_late(2, [](mend::Session& session) { session.dup(); });
  all["one_is_late_for_the_end"] = one_is_late(2, [](mend::Session&) {});
  all["one_is_late_for_repair"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    try {
      wait_for_message(session);
    } catch (const mend::ProcessFailure&) {
      if (session.rank() == mend::Rank{0}) {
        for (;;) ::pause();
      }
      session.repair();
    }
  };
  all["one_catches_everything_for_ever"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    while (session.rank() == mend::Rank{0}) {
      try {
        wait_for_message(session);
      } catch (...) {
      }
    }
    wait_for_message(session);
  };
  all["all_catch_everything_for_ever"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    for (;;) {
      try {
        wait_for_message(session);
      } catch (...) {
      }
    }
  };
  all["all_commit_and_catch_everything_for_ever"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    if (is_first(session, 1)) die();
    for (;;) {
      try {
        session.store().commit();
      } catch (...) {
      }
    }
  };
  all["all_compute_while_one_is_dead"] = [](mend::Session& session) {
    if (is_first(session, 1)) die();
    if (session.epoch() == mend::Epoch{0}) ::usleep(2'500'000);
    session.agree(true);
    say(session, "has agreed");
  };
  all["one_waits_for_a_message"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{2}) wait_for_message(session);
    session.agree(true);
  };
  all["all_wait_for_messages"] = [](mend::Session& session) { wait_for_message(session); };
  all["one_computes_for_long"] = [](mend::Session& session) {
    int nothing = 0;
    if (session.rank() == mend::Rank{1}) ::usleep(2'500'000);
    MPI_Bcast(&nothing, 1, MPI_INT, 1, session.comm());
    session.agree(true);
    say(session, "has agreed");
  };
  all["all_work_without_mend"] = [](mend::Session& session) {
    for (const mend::Stopwatch watch; watch.elapsed().count() < 2.5;) {
      int sum = 1;
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, session.comm());
      double time = watch.elapsed().count();
      MPI_Bcast(&time, 1, MPI_DOUBLE, 0, session.comm());
      if (time > 2.4) break;
    }
    session.agree(true);
    say(session, "has agreed");
  };
  all["split_against_commit"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    if (session.rank() == mend::Rank{0}) session.split(0, 0);
    session.store().commit();
  };
  all["one_is_late_for_a_while"] = [](mend::Session& session) {
    if (session.rank() == mend::Rank{1}) ::usleep(1'500'000);
    session.agree(true);
    say(session, "has agreed");
  };
  return all;
}

}  // namespace subject
