// Programs that use mend in wrong ways.

#include "tests/framework/subject/subject.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>

namespace subject {
namespace {

struct Silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

struct Unwritable {
  bool refuses = false;
};

}  // namespace
}  // namespace subject

template <>
struct mend::Serializer<subject::Unwritable> {
  static std::vector<std::byte> write(const subject::Unwritable& member) {
    if (member.refuses) throw subject::Silent{};
    return std::vector<std::byte>(1);
  }
  static void read(subject::Unwritable&, std::span<const std::byte>) {}
};

namespace subject {
namespace {

void ignore_error(MPI_Comm*, int*, ...) {}

/// Calls `wrong` in the third step of a computation.
mend::Body in_the_third_step(std::function<void(mend::Session&)> wrong) {
  return [=](mend::Session& session) {
    count(session, 5, [&](long step) {
      if (step == 2) wrong(session);
    });
  };
}

mend::Body on_rank_1(std::function<void(mend::Session&)> wrong) {
  return in_the_third_step([=](mend::Session& session) {
    if (session.rank() == mend::Rank{1}) wrong(session);
  });
}

void wait_for(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 2)
    throw std::runtime_error("the child has not ended as it should");
}

/// Rank 1 forks a child in the third step, which does `wrong` and then goes on in the body.
mend::Body in_a_child(std::function<void(mend::Session&)> wrong) {
  return on_rank_1([=](mend::Session& session) {
    const pid_t child = ::fork();
    child == 0 ? wrong(session) : wait_for(child);
  });
}

/// Persistent requests that send a number round the ranks, or those of a barrier.
class Persistent {
 public:
  Persistent(const mend::Session& session, bool barrier) : requests_(barrier ? 1 : 2) {
    const int rank = session.rank();
    const int size = session.size();
    if (barrier) {
      MPI_Barrier_init(session.comm(), MPI_INFO_NULL, requests_.data());
    } else {
      MPI_Send_init(&sent_, 1, MPI_INT, (rank + 1) % size, 0, session.comm(), &requests_[0]);
      MPI_Recv_init(&received_, 1, MPI_INT, (rank + size - 1) % size, 0, session.comm(), &requests_[1]);
    }
  }
  void use() {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  int sent_ = 1;
  int received_ = 0;
  std::vector<MPI_Request> requests_;
};

/// Survivors use the requests of before the repair, and the newcomer has made its own.
void keep_over_a_repair(mend::Session& session, bool barrier) {
  Persistent requests(session, barrier);
  try {
    requests.use();
    if (session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{1}) std::raise(SIGKILL);
    MPI_Barrier(session.comm());
  } catch (const mend::ProcessFailure&) {
    session.repair();
  }
  requests.use();
}

}  // namespace

Scenarios wrong_uses() {
  Scenarios all;
  all["finalizes_MPI"] = in_the_third_step([](mend::Session&) { MPI_Finalize(); });
  all["finalizes_MPI_on_one_rank"] = on_rank_1([](mend::Session&) { MPI_Finalize(); });
  all["closes_all_descriptors"] = in_the_third_step([](mend::Session&) {
    ::close_range(3, ~0U, 0);
    ::pause();  // nothing comes any more
  });
  all["exits_with_success"] = in_the_third_step([](mend::Session&) { std::exit(0); });
  all["exits_on_one_rank"] = on_rank_1([](mend::Session&) { std::exit(3); });
  all["frees_the_communicator"] = in_the_third_step([](mend::Session& session) {
    MPI_Comm comm = session.comm();
    MPI_Comm_free(&comm);
  });
  all["frees_the_communicator_in_a_destructor"] = on_rank_1([](mend::Session& session) {
    const struct Owner {
      MPI_Comm comm;
      ~Owner() { MPI_Comm_free(&comm); }
    } owner{session.comm()};
  });
  all["disconnects_the_communicator"] = on_rank_1([](mend::Session& session) {
    MPI_Comm comm = session.comm();
    MPI_Comm_disconnect(&comm);
  });
  all["has_a_child_that_goes_on"] = in_a_child([](mend::Session&) {});
  all["has_a_child_that_throws"] = in_a_child([](mend::Session&) { throw std::runtime_error("no such program"); });
  all["has_a_child_that_commits"] = in_a_child([](mend::Session& session) { session.store().commit(); });
  all["has_a_child_that_finalizes_MPI"] = in_a_child([](mend::Session&) { MPI_Finalize(); });
  all["has_a_child_that_aborts"] = in_a_child([](mend::Session& session) { MPI_Abort(session.comm(), 5); });
  all["has_a_child_that_returns"] = [](mend::Session& session) {
    const pid_t child = session.rank() == mend::Rank{1} ? ::fork() : 1;
    if (child == 0) return;
    if (child > 1) wait_for(child);
    count(session, 5, [](long) {});
  };
  all["makes_errors_fatal"] =
      on_rank_1([](mend::Session& session) { MPI_Comm_set_errhandler(session.comm(), MPI_ERRORS_ARE_FATAL); });
  all["makes_errors_of_a_duplicate_fatal"] =
      in_the_third_step([](mend::Session& session) { MPI_Comm_set_errhandler(session.dup(), MPI_ERRORS_ARE_FATAL); });
  all["has_handlers_of_its_own"] = [](mend::Session& session) {
    MPI_Errhandler own = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(&ignore_error, &own);
    MPI_Comm duplicate = session.dup();
    MPI_Comm_set_errhandler(duplicate, own);
    MPI_Comm_set_errhandler(session.comm(), MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(duplicate, &found);
    if (found == own) say(session, "has its own");
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&own);
  };
  all["meets_in_the_world"] = in_the_third_step([](mend::Session&) { MPI_Barrier(MPI_COMM_WORLD); });
  all["wants_codes_of_the_world"] = in_the_third_step([](mend::Session&) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
  });
  all["wants_errors_of_the_world_to_be_fatal"] = in_the_third_step([](mend::Session&) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
  });
  all["wants_codes_of_the_world_after_a_death"] = [](mend::Session& session) {
    if (session.epoch() == mend::Epoch{0}) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{1}) std::raise(SIGKILL);
    MPI_Barrier(session.comm());
    MPI_Barrier(MPI_COMM_WORLD);
  };
  all["sends_in_partitions"] = in_the_third_step([](mend::Session& session) {
    int word = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Psend_init(&word, 1, 1, MPI_INT, 0, 0, session.comm(), MPI_INFO_NULL, &request);
  });
  all["sends_in_the_world"] = on_rank_1([](mend::Session&) {
    const int word = 5;
    MPI_Send(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  });
  all["splits_the_world"] = in_the_third_step([](mend::Session&) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
  });
  all["opens_a_file_in_the_world"] = in_the_third_step([](mend::Session&) {
    MPI_File file = MPI_FILE_NULL;
    MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  });
  all["makes_a_window_in_the_world"] = in_the_third_step([](mend::Session&) {
    long cell = 0;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(&cell, sizeof cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  });
  all["allocates_a_window_in_the_world"] = in_the_third_step([](mend::Session&) {
    void* cell = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&cell), &window);
  });
  all["allocates_a_shared_window_in_the_world"] = in_the_third_step([](mend::Session&) {
    void* cell = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate_shared(sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&cell), &window);
  });
  all["makes_a_dynamic_window_in_the_world"] = in_the_third_step([](mend::Session&) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  });
  all["starts_a_process_in_the_world"] = in_the_third_step([](mend::Session&) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made, MPI_ERRCODES_IGNORE);
  });
  all["asks_for_the_size_of_the_world"] = in_the_third_step([](mend::Session&) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &size);
  });
  all["meets_in_no_communicator"] = in_the_third_step([](mend::Session&) { MPI_Barrier(MPI_COMM_NULL); });
  all["makes_a_type_of_nothing"] = in_the_third_step([](mend::Session&) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(-1, MPI_INT, &type);
  });
  all["receives_from_nobody_in_itself"] = in_the_third_step([](mend::Session&) {
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, 5, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  });
  all["initialises_MPI_again"] = in_the_third_step([](mend::Session&) { MPI_Init(nullptr, nullptr); });
  all["uses_the_world_after_a_death"] = [](mend::Session& session) {
    for (long step = 0; step < 5; ++step) {
      if (session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{1} && step == 2) std::raise(SIGKILL);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  };
  all["keeps_its_communicator_over_a_repair"] = [](mend::Session& session) {
    const MPI_Comm first = session.comm();
    try {
      if (session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{1}) std::raise(SIGKILL);
      MPI_Barrier(first);
    } catch (const mend::ProcessFailure&) {
      session.repair();
    }
    MPI_Barrier(first);
  };
  all["keeps_persistent_requests_over_a_repair"] = [](mend::Session& session) { keep_over_a_repair(session, false); };
  all["keeps_a_persistent_barrier_over_a_repair"] = [](mend::Session& session) { keep_over_a_repair(session, true); };
  all["makes_a_communicator_of_the_world_as_a_set"] = [](mend::Session&) {
    MPI_Session library = MPI_SESSION_NULL;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &library);
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group_from_session_pset(library, "mpi://WORLD", &world);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_create_from_group(world, "a test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  };
  all["restores_a_version_that_is_not_kept"] =
      in_the_third_step([](mend::Session& session) { session.store().restore(mend::Version{77}); });
  all["leaves_a_child_behind"] = on_rank_1([](mend::Session& session) {
    if (session.epoch() != mend::Epoch{0}) return;
    if (::fork() == 0) ::execlp("sleep", "sleep", "60", nullptr);
    std::raise(SIGKILL);
  });
  all["restores_twice_on_one_rank"] = [](mend::Session& session) {
    long step = 0;
    session.store().protect("step", step);
    session.store().restore();
    if (session.rank() == mend::Rank{1}) session.store().restore();
    session.store().commit();
  };
  all["restores_on_one_rank_alone"] = [](mend::Session& session) {
    long step = 0;
    session.store().protect("step", step);
    if (session.rank() == mend::Rank{1}) session.store().restore();
    session.store().commit();
  };
  all["restores_different_versions"] = in_the_third_step([](mend::Session& session) {
    session.store().restore(mend::Version{session.rank() == mend::Rank{0} ? 1U : 2U});
  });
  all["restores_from_a_rank_that_is_not_there"] =
      in_the_third_step([](mend::Session& session) { session.store().restore_from(mend::Rank{77}); });
  all["throws_no_memory"] = on_rank_1([](mend::Session&) { throw std::bad_alloc(); });
  all["throws_what_says_nothing"] = on_rank_1([](mend::Session&) { throw Silent{}; });
  all["has_a_serializer_that_throws_what_says_nothing"] = [](mend::Session& session) {
    Unwritable member{session.rank().value == 1};
    session.store().protect("member", member);
    session.store().restore();
    session.store().commit();
  };
  all["throws_what_paints_the_terminal"] = on_rank_1([](mend::Session&) { throw std::runtime_error("red: \x1b[31m"); });
  all["throws_a_mistake"] = on_rank_1([](mend::Session&) { throw std::out_of_range("no such cell"); });
  all["throws_a_word"] = on_rank_1([](mend::Session&) { throw "a word"; });
  all["asks_for_a_hole"] = on_rank_1([](mend::Session& session) { session.rank_in_comm(mend::Rank{-1}); });
  all["one_rank_returns"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value);
    if (session.rank() != mend::Rank{1}) session.store().commit();
  };
  const auto after_a_commit = [](std::function<void(mend::Session&)> of_rank_1,
                                 std::function<void(mend::Session&)> of_others) {
    return [=](mend::Session& session) {
      long value = 0;
      session.store().protect("value", value);
      session.store().commit();
      session.rank() == mend::Rank{1} ? of_rank_1(session) : of_others(session);
    };
  };
  const auto return_now = [](mend::Session&) {};
  const auto commit = [](mend::Session& session) { session.store().commit(); };
  const auto restore = [](mend::Session& session) { session.store().restore(); };
  const auto agree = [](mend::Session& session) { session.agree(true); };
  const auto finish_disk = [](mend::Session& session) { session.store().finish_disk(); };
  all["end_against_commit"] = after_a_commit(return_now, commit);
  all["end_against_restore"] = after_a_commit(return_now, restore);
  all["end_against_agree"] = after_a_commit(return_now, agree);
  all["finish_disk_against_commit"] = after_a_commit(finish_disk, commit);
  all["protects_two_objects_under_one_name"] = [](mend::Session& session) {
    long step = 0;
    long sum = 0;
    session.store().protect("x", step);
    session.store().restore();
    session.store().protect("x", sum);
    session.store().commit();
  };
  all["protects_after_restore"] = [](mend::Session& session) {
    long step = 0;
    long sum = 0;
    session.store().protect("step", step);
    session.store().restore();
    session.store().protect("sum", sum);
    if (session.epoch() == mend::Epoch{0}) session.store().commit();
    if (session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{1}) std::raise(SIGKILL);
    MPI_Barrier(session.comm());
  };
  all["rank_1_protects_no_more_after_the_failure"] = [](mend::Session& session) {
    long step = 0;
    long late = 0;
    session.store().protect("step", step);
    session.store().restore();
    while (step < 10) {
      if (step == 2 && session.rank() == mend::Rank{1}) session.store().protect("late", late);
      if (step == 5 && session.epoch() == mend::Epoch{0} && session.rank() == mend::Rank{1}) std::raise(SIGKILL);
      ++step;
      session.store().commit();
    }
  };
  all["protects_too_large_a_redundancy"] = [](mend::Session& session) {
    long value = 0;
    session.store().protect("value", value, mend::Redundancy::parse("rs:8+2"));
    session.store().commit();
  };
  return all;
}

}  // namespace subject
