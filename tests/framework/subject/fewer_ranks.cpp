// Bodies that continue in place when a rank dies for which there is no spare.

#include "tests/framework/subject/subject.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace subject {
namespace {

/// The remaining ranks, and their numbers at the start.
std::string present(const mend::Session& session) {
  std::vector<std::string> ranks;
  for (int i = 0; i < session.original_size(); ++i) {
    const auto here = session.rank_in_comm(mend::Rank{i});
    if (here) ranks.push_back(fmt::format("{} (was {})", here->value, session.origin(*here).value));
  }
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  const bool same = session.rank() == mend::Rank{rank} && session.size() == size;
  return fmt::format("{} of {}{}: {}", session.rank().value, session.size(), same ? "" : ", unlike its communicator",
                     fmt::join(ranks, ", "));
}

/// Gathers by plain MPI the committed values of all ranks: 100 times the number at the start, plus one for each step.
/// `at_step` runs before each of the 10 steps.
void go_on_in_place(mend::Session& session, const std::function<void(long)>& at_step) {
  long step = 0;
  long mine = 100 * session.origin().value;
  session.store().protect("step", step);
  session.store().protect("mine", mine);
  session.store().commit();
  for (bool whole = true; step < 10;) {
    try {
      if (!whole) {
        session.repair();
        MPI_Allreduce(MPI_IN_PLACE, &step, 1, MPI_LONG, MPI_MIN, session.comm());
        mine = 100 * session.origin().value + step;
        session.store().commit();
        whole = true;
      }
      at_step(step);
      MPI_Barrier(session.comm());
      ++step;
      ++mine;
      session.store().commit();
    } catch (const mend::ProcessFailure&) {
      whole = false;
    }
  }
  long sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
  std::vector<int> given_up;
  for (const auto& recovery : session.recoveries()) {
    for (const auto& loss : recovery.given_up) given_up.push_back(loss.rank.value);
  }
  say(session, fmt::format("{}; sum {}, given up {}", present(session), sum, fmt::join(given_up, " ")));
}

/// Returns true if this process had `rank` at the start.
bool was(const mend::Session& session, int rank) {
  return session.process() == mend::ProcessId{static_cast<std::uint32_t>(rank)};
}

}  // namespace

mend::Body give_up_two(std::string_view point) {
  return [point = std::string(point)](mend::Session& session) {
    go_on_in_place(session, [&](long step) {
      if (step != 5) return;
      if (was(session, 1)) die();
      if (was(session, 3)) {
        mend::on_fault_point([&](std::string_view reached) {
          if (reached == point) die();
        });
      }
    });
  };
}

Scenarios fewer_ranks_scenarios() {
  Scenarios all;
  all["one_is_given_up"] = [](mend::Session& session) {
    go_on_in_place(session, [&](long step) {
      if (step == 5 && was(session, 1)) die();
    });
  };
  all["one_after_another_is_given_up"] = [](mend::Session& session) {
    go_on_in_place(session, [&](long step) {
      if ((step == 3 && was(session, 0)) || (step == 6 && was(session, 2))) die();
    });
  };
  all["all_but_one_are_given_up"] = [](mend::Session& session) {
    go_on_in_place(session, [&](long step) {
      if (step == 4 && !was(session, 2)) die();
    });
  };
  all["one_is_given_up_and_the_body_entered_again"] = [](mend::Session& session) {
    count(session, 10, [&](long step) {
      if (step == 5 && was(session, 1)) die();
    });
  };
  // Then there are two units: one is rolled back, and rank 2 dies in the other.
  all["one_is_given_up_and_then_come_units"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", mend::replicated(value));
    if (session.epoch() == mend::Epoch{0}) {
      session.store().commit();
      if (was(session, 1)) die();
      MPI_Barrier(session.comm());
    }
    session.store().restore();
    const auto add = [&](long what, bool well) {
      mend::transaction(session, [&, well] {
        value += what;
        session.store().commit();
        if (well && session.epoch() == mend::Epoch{1} && session.origin() == mend::Rank{2}) die();
        return well;
      });
    };
    add(10, false);
    add(100, true);
    say(session, fmt::format("value {}", value));
  };
  all["one_is_given_up_and_all_take_the_data_of_rank_3"] = [](mend::Session& session) {
    if (session.epoch() == mend::Epoch{0} && was(session, 1)) die();
    if (session.epoch() == mend::Epoch{0}) MPI_Barrier(session.comm());
    int value = 100 * session.origin().value;
    session.store().protect("value", value);
    session.store().commit();
    value = -1;
    session.store().restore_from(session.rank());
    const int own = value;
    session.store().restore_from(*session.rank_in_comm(mend::Rank{3}));
    try {
      session.store().restore_from(mend::Rank{3});
    } catch (const mend::UsageError& refusal) {
      say(session, fmt::format("{}, {}, {}", own, value, refusal.what()));
    }
  };
  all["fewer_begin_anew"] = [](mend::Session& session) {
    if (session.epoch() == mend::Epoch{0} && was(session, 1)) die();
    MPI_Barrier(session.comm());
    say(session, present(session));
  };
  return all;
}

}  // namespace subject
