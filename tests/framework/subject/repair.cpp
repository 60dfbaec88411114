// Bodies that stay where they are when a rank dies, and bodies that roll work back.

#include "tests/framework/subject/subject.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/launch.hpp"
#include "detector/local/runtime_witness.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace subject {
namespace {

/// The same as subject::count, but survivors stay in the loop. `after_repair(n)` runs after the n-th repair, before the
/// data is restored.
void count_in_place(mend::Session& session, long steps, const std::function<void(long)>& at_step,
                    const std::function<void(int)>& after_repair = {}) {
  long step = 0;
  long total = 0;
  int repairs = 0;
  session.store().protect("step", step);
  session.store().protect("total", total);
  session.store().restore();
  for (bool whole = true; step < steps;) {
    try {
      if (!whole) {
        session.repair();
        ++repairs;
        if (after_repair) after_repair(repairs);
        session.store().restore();
        whole = true;
      }
      at_step(step);
      count_step(session, step, total);
    } catch (const mend::ProcessFailure&) {
      whole = false;
    }
  }
  say(session, fmt::format("total {} after {} steps, {} repairs", total, step, repairs));
}

}  // namespace

Scenarios repair_scenarios() {
  Scenarios all;
  all["repairs_in_place"] = [](mend::Session& session) {
    count_in_place(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 1)) die();
    });
  };
  all["asks_the_world"] = [](mend::Session& session) {
    long step = 0;
    session.store().protect("step", step);
    session.store().restore();
    while (step < 6) {
      try {
        if (step == 3 && is_first(session, 1)) die();
        const int one = 1;
        int count = 0;
        MPI_Allreduce(&one, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (count != session.size()) throw std::runtime_error("the world has other ranks than the session");
        ++step;
        session.store().commit();
      } catch (const mend::ProcessFailure&) {
        session.repair();
        session.store().restore();
      }
    }
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(MPI_COMM_WORLD, session.comm(), &result);
    int is_revoked = 1;
    MPIX_Comm_is_revoked(MPI_COMM_WORLD, &is_revoked);
    if (result != MPI_IDENT || is_revoked != 0) throw std::runtime_error("the world is not the session's communicator");
    int rank = -1;
    int size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_name(MPI_COMM_WORLD, "of my program");
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    MPI_Comm_get_name(session.comm(), name.data(), &length);
    say(session, fmt::format("is {} of {}, named {}, in epoch {}", rank, size, name.data(), session.epoch().value));
  };
  // In each epoch the survivors add 1 to the committed value. Then the ranks die that are to die in this epoch.
  const auto keep_data = [](mend::Session& session, const std::function<bool()>& dies) {
    long value = 100 * session.rank().value;
    session.store().protect("value", value);
    session.store().restore();
    for (;;) {
      try {
        MPI_Barrier(session.comm());
        session.store().commit();
        session.store().finish_disk();
        session.agree(true);  // all ranks have committed before any of them dies
        value += 1;
        if (dies()) die();
        if (session.epoch() == mend::Epoch{2}) break;
        MPI_Barrier(session.comm());
      } catch (const mend::ProcessFailure&) {
        session.repair();
        session.store().restore_others();
      }
    }
    say(session, fmt::format("value {}, {} predecessors", value, session.predecessors()));
  };
  all["survivors_keep_their_data"] = [keep_data](mend::Session& session) {
    keep_data(session, [&] {
      return session.epoch() < mend::Epoch{2} && session.rank().value == static_cast<int>(session.epoch().value) + 1;
    });
  };
  all["survivors_keep_their_data_and_the_others_come_from_disk"] = [keep_data](mend::Session& session) {
    keep_data(session, [&] {
      return session.epoch() < mend::Epoch{2} && session.rank().value / 2 == static_cast<int>(session.epoch().value);
    });
  };
  // Processes are started for ranks 1, 2 and 3; the last one dies when the first of them has come.
  all["three_are_started_in_one_recovery"] = [](mend::Session& session) {
    if (is_first(session, 3)) {
      mend::on_fault_point([](std::string_view point) {
        if (point == "spawn.done") die();
      });
    }
    if (is_first(session, 1) || is_first(session, 2)) die();
    MPI_Barrier(session.comm());
    const std::string recovery = session.recoveries().back().to_string();
    say(session, fmt::format("{} died; {}", session.recoveries().back().dead.size(),
                             recovery.substr(0, recovery.find("; interrupt"))));
  };
  all["rank_0_is_repaired_in_place"] = [](mend::Session& session) {
    count_in_place(session, 10, [&](long step) {
      if (step == 5 && is_first(session, 0)) die();
    });
  };
  all["one_dies_in_the_repair_of_another"] = [](mend::Session& session) {
    count_in_place(
        session, 10,
        [&](long step) {
          if (step == 5 && is_first(session, 1)) die();
        },
        [&](int repairs) {
          if (repairs == 1 && session.rank() == mend::Rank{3}) die();  // not rank 1's holder
        });
  };
  all["some_repair_and_some_leave_the_body"] = [](mend::Session& session) {
    const auto at_step = [&](long step) {
      if (step == 5 && is_first(session, 1)) die();
    };
    session.rank().value % 2 == 0 ? count_in_place(session, 10, at_step) : count(session, 10, at_step);
  };
  all["repairs_layer_by_layer"] = [](mend::Session& session) {
    MPI_Comm outer = session.dup();
    MPI_Comm inner = MPI_COMM_NULL;
    const auto make_inner = [&] {
      inner = session.derive([&](MPI_Comm) {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_dup(outer, &made);
        return made;
      });
    };
    make_inner();
    session.on_repair([&] { outer = session.dup(); });
    session.on_repair(make_inner);
    try {
      if (is_first(session, 3)) die();
      if (session.epoch() == mend::Epoch{0}) MPI_Barrier(inner);
    } catch (const mend::ProcessFailure&) {
      session.repair();
    }
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inner);
    say(session, fmt::format("{} are here again", sum));
  };
  all["takes_back_a_transaction_after_keeping"] = [](mend::Session& session) {
    long value = 100 * session.rank().value;
    session.store().protect("value", value);
    try {
      session.store().restore();
      if (session.epoch() == mend::Epoch{0}) session.store().commit();
      session.agree(true);
      value += 1;
      if (is_first(session, 1)) die();
      if (session.epoch() == mend::Epoch{0}) MPI_Barrier(session.comm());
    } catch (const mend::ProcessFailure&) {
      session.repair();
      session.store().restore_others();
      session.agree(true);
    }
    mend::transaction(session, [&] {
      value = -1;
      return false;
    });
    say(session, fmt::format("value {}", value));
  };
  all["repairs_in_a_callback"] = [](mend::Session& session) {
    session.on_repair([&] { session.repair(); });
    try {
      if (is_first(session, 1)) die();
      MPI_Barrier(session.comm());
    } catch (const mend::ProcessFailure&) {
      session.repair();
    }
  };
  all["asks_for_a_recovery_after_each_commit"] = [](mend::Session& session) {
    long step = 0;
    session.store().protect("step", step);
    session.store().restore();
    ++step;
    session.store().commit();
    if (session.rank().value == 1) throw mend::ProcessFailure("by itself");
    MPI_Barrier(session.comm());
  };
  all["asks_for_a_recovery_after_each_two_commits"] = [](mend::Session& session) {
    long step = 0;
    session.store().protect("step", step);
    session.store().restore();
    for (int i = 0; i < 2; ++i) {
      ++step;
      session.store().commit();
    }
    if (step < 30 && session.rank().value == 1) throw mend::ProcessFailure("by itself");
    MPI_Barrier(session.comm());
    say(session, fmt::format("step {}", step));
  };
  all["fails_though_nobody_dies"] = [](mend::Session&) { throw mend::ProcessFailure("by itself"); };
  all["one_rank_asks_for_a_recovery"] = [](mend::Session& session) {
    if (session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{1}) session.repair();
    if (session.epoch() == mend::Epoch{0}) {
      int nothing = 0;
      MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 7, session.comm(), MPI_STATUS_IGNORE);
    }
    session.agree(true);
    say(session, "has recovered");
  };
  all["ranks_0_and_2_ask_for_a_recovery"] = [](mend::Session& session) {
    if (session.epoch() == mend::Epoch{0}) {
      sigset_t signals;
      sigemptyset(&signals);
      sigaddset(&signals, SIGUSR2);
      pthread_sigmask(SIG_BLOCK, &signals, nullptr);
      const pid_t self = ::getpid();
      std::array<pid_t, 3> processes{};
      MPI_Allgather(&self, 1, MPI_INT, processes.data(), 1, MPI_INT, session.comm());
      if (session.rank() == mend::Rank{1}) MPI_Recv(nullptr, 0, MPI_INT, 0, 7, session.comm(), MPI_STATUS_IGNORE);
      // When both are here, neither calls MPI, so neither learns of the other's request.
      int signal = 0;
      const pid_t other = processes.at(static_cast<std::size_t>(2 - session.rank().value));
      ::tgkill(other, other, SIGUSR2);
      sigwait(&signals, &signal);
      session.repair();
    }
    session.agree(true);
    say(session, "has recovered");
  };
  all["registers_more_in_a_callback"] = [](mend::Session& session) {
    int calls = 0;
    session.on_repair([&] {
      ++calls;
      for (int i = 0; i < 50; ++i) session.on_repair([&calls] { ++calls; });
    });
    session.on_repair([&] { calls += 1000; });
    try {
      if (is_first(session, 3)) die();
      if (session.epoch() == mend::Epoch{0}) MPI_Barrier(session.comm());
    } catch (const mend::ProcessFailure&) {
      session.repair();
    }
    say(session, fmt::format("{} calls", calls));
  };
  all["swallows_the_end"] = [](mend::Session& session) {
    try {
      count_in_place(session, 10, [&](long step) {
        if (step == 5 && is_first(session, 1)) die();
      });
    } catch (...) {
    }
    for (int i = 0; i < 3; ++i) {
      try {
        session.store().commit();
      } catch (...) {
      }
      try {
        session.agree(true);
      } catch (...) {
      }
    }
  };
  all["takes_back_what_fails_somewhere"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    session.store().restore();
    const auto add = [&](long what, bool well) {
      return mend::transaction(session, [&, well] {
        value += what;
        return well;
      });
    };
    const bool first = add(1, true);
    const bool second = add(10, session.rank() != mend::Rank{1});
    if (is_first(session, 2)) die();
    const bool third = add(100, true);
    say(session, fmt::format("{} {} {}: {}", first, second, third, value));
  };
  all["takes_back_without_having_restored"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    for (int i = 0; i < 3; ++i) {
      mend::transaction(session, [&] {
        if (i == 2 && is_first(session, 2)) die();
        MPI_Barrier(session.comm());
        value += 1;
        return i < 2;
      });
    }
    say(session, fmt::format("value {}", value));
  };
  all["takes_back_what_a_part_has_committed"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    mend::transaction(session, [&] {
      value += 1;
      mend::transaction(session, [&] {
        value += 10;
        return true;
      });
      return false;
    });
    say(session, fmt::format("value {}", value));
  };
  all["takes_back_a_part_after_many_commits_in_it"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    mend::transaction(session, [&] {
      value = 1;
      session.store().commit();
      mend::transaction(session, [&] {
        for (value = 10; value < 15; ++value) session.store().commit();
        return false;
      });
      return true;
    });
    say(session, fmt::format("value {}", value));
  };
  all["repairs_inside_a_transaction"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    mend::transaction(session, [&] {
      if (is_first(session, 1)) die();
      try {
        MPI_Barrier(session.comm());
      } catch (const mend::ProcessFailure&) {
        session.repair();
      }
      return true;
    });
    say(session, "is through");
  };
  all["repairs_after_a_transaction"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    for (bool is_through = false; !is_through;) {
      try {
        session.store().restore();
        is_through = mend::transaction(session, [&] {
          value += 5;
          if (is_first(session, 1)) die();
          MPI_Barrier(session.comm());
          return true;
        });
      } catch (const mend::ProcessFailure&) {
        session.repair();
      }
    }
    say(session, fmt::format("value {}", value));
  };
  all["throws_in_a_transaction"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    session.store().commit();
    try {
      mend::transaction(session, [&]() -> bool {
        for (value = 2; value < 7; ++value) session.store().commit();
        throw std::runtime_error("on all ranks");
      });
    } catch (const std::runtime_error&) {
    }
    session.store().restore();
    const bool well = mend::transaction(session, [&] {
      value += 10;
      return true;
    });
    say(session, fmt::format("{} at version {}, {}", value, session.store().version().value, well));
  };
  all["takes_back_what_it_has_begun_to_commit"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    session.store().commit();
    mend::transaction(session, [&] {
      value = 2;
      session.store().commit_async();
      return false;
    });
    say(session, fmt::format("value {} at version {}", value, session.store().version().value));
  };
  all["takes_back_other_members_than_were_committed"] = [](mend::Session& session) {
    long given_up = 1;
    long new_one = 1;
    session.store().protect("given_up", given_up);
    session.store().commit();
    session.store().unprotect("given_up");
    session.store().protect("new", new_one);
    for (int i = 0; i < 2; ++i) {
      mend::transaction(session, [&] {
        given_up += 10;
        new_one += 10;
        return false;
      });
    }
    session.store().commit();
    say(session, fmt::format("{} and {} at version {}", given_up, new_one, session.store().version().value));
  };
  // Rank 1 throws while the others wait for it, and a commit is under way. A later unit is not part of the former one.
  all["throws_alone_while_a_commit_is_under_way"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    session.store().restore();
    session.store().commit();
    mend::transaction(session, [&] {
      value = 2;
      session.store().commit_async();
      if (session.rank() == mend::Rank{1}) throw std::runtime_error("on this rank alone");
      MPI_Barrier(session.comm());
      return true;
    });
  };
  all["goes_back_after_it_has_thrown_while_a_commit_is_under_way"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    for (; value <= 2; ++value) session.store().commit();
    try {
      mend::transaction(session, [&]() -> bool {
        session.store().commit_async();
        throw std::runtime_error("on all ranks");
      });
    } catch (const std::runtime_error&) {
    }
    session.store().restore(mend::Version{1});
    say(session, fmt::format("value {}", value));
  };
  all["restores_before_the_beginning_in_a_transaction"] = [](mend::Session& session) {
    long value = 1;
    session.store().protect("value", value);
    session.store().commit();
    session.store().commit();
    mend::transaction(session, [&] {
      session.store().restore(mend::Version{1});
      return false;
    });
  };
  all["takes_back_to_what_another_had"] = [](mend::Session& session) {
    long value = 100 + session.rank().value;
    session.store().protect("value", value);
    session.store().commit();
    session.store().restore_from(mend::Rank{2});
    mend::transaction(session, [&] {
      value = -1;
      return false;
    });
    say(session, fmt::format("value {}", value));
  };
  // Rank 1 dies in a unit in which some parts are already committed. Nothing of the first entry may be left.
  all["dies_in_a_transaction_after_parts_of_it"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    session.store().restore();
    const long found = value;
    const bool kept = mend::transaction(session, [&] {
      for (int part = 1; part <= 3; ++part) {
        mend::transaction(session, [&] {
          value += 10;
          return true;
        });
        value += 100;
        session.store().commit();
      }
      if (is_first(session, 1)) die();
      MPI_Barrier(session.comm());
      value += 1000;
      return true;
    });
    say(session, fmt::format("found {}, kept {}: {}", found, kept, value));
  };
  all["answers_no_after_many_parts"] = [](mend::Session& session) {
    long value = 7;
    session.store().protect("value", value);
    mend::transaction(session, [&] {
      for (int part = 1; part <= 5; ++part) {
        value += 10;
        session.store().commit();
      }
      return session.rank() != mend::Rank{1};
    });
    say(session, fmt::format("value {} at version {}", value, session.store().version().value));
  };
  return all;
}

mend::Body die_long_after_a_spare() {
  static constexpr mend::ProcessId spare{5};
  if (mend::launch::self() == spare) {
    mend::on_fault_point([](std::string_view point) {
      if (point == "spare.parked") die();
    });
  }
  return [](mend::Session& session) {
    static mend::WallClock::time_point all_know;
    if (session.epoch() == mend::Epoch{0}) {
      const mend::RuntimeWitness witness;
      while (!witness.has_died([](mend::ProcessId process) { return process == spare; })) std::this_thread::yield();
      session.agree(true);
      all_know = mend::WallClock::now();
      session.agree(true);
      if (session.rank() == mend::Rank{1}) die();
      MPI_Barrier(session.comm());
    }
    const mend::RecoveryReport& recovery = session.recoveries().back();
    if (session.rank() == mend::Rank{0})
      say(session, fmt::format("{} died, noticed {}", recovery.dead.size(),
                               recovery.noticed < all_know ? "too early" : "in time"));
  };
}

}  // namespace subject
