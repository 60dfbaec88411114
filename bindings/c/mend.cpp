// The C API (mend.h): a Session, with status codes instead of exceptions. No exception passes through a frame of C.

#include "bindings/c/mend.h"

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "framework/run.hpp"
#include "framework/session.hpp"
#include "framework/process/body_guard.hpp"
#include "store/member.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using mend::ErrorsHandled;
using mend::OnError;
using mend::Session;

/// The exception of the last MEND_ERROR, so that the body can return it.
std::exception_ptr last_error;
/// The error of MPI that was there before it.
std::optional<mend::ReturnedError> returned_before_last_error;
std::string last_text;
bool job_is_over = false;  // a function of the API has reported that
/// The errors of members that could not be protected, by name.
std::map<std::string, std::exception_ptr> unprotected;

/// Thrown through C++ code when a callback has returned a status.
struct Returned {
  int status;
};

Session& session_of(mend_session* handle) { return *reinterpret_cast<Session*>(handle); }
const Session& session_of(const mend_session* handle) { return *reinterpret_cast<const Session*>(handle); }
mend_session* handle_of(Session& session) { return reinterpret_cast<mend_session*>(&session); }

void forget_error_of_mpi() {
  mend::forget_returned_error();
  returned_before_last_error.reset();
}

int remember(const char* text) {
  last_error = std::current_exception();
  returned_before_last_error = mend::returned_error();
  last_text = text;
  return MEND_ERROR;
}

/// Runs the work of an API function, called from C. Returns its status.
template <class Work>
int guarded(Work work) {
  const ErrorsHandled as_in_cpp(OnError::throws);
  try {
    work();
    return MEND_SUCCESS;
  } catch (const Returned& returned) {
    return returned.status;
  } catch (const mend::ProcessFailure&) {
    return MEND_FAILURE;
  } catch (const mend::agreement::Abandoned&) {
    job_is_over = true;
    return MEND_END;
  } catch (const std::exception& error) {
    return remember(error.what());
  } catch (...) {
    return remember("an exception that is not a std::exception");
  }
}

/// The same for work that returns a version, which is stored in `version` unless that is null.
template <class Work>
int guarded(unsigned long* version, Work work) {
  return guarded([&] {
    const mend::Version of_work = work();
    if (version != nullptr) *version = of_work.value;
  });
}

/// Runs `work`, after which the data of the member `name` is as the program wants it: an earlier failure to protect it
/// no longer counts.
template <class Work>
int settling(const char* name, Work work) {
  const int status = guarded(work);
  if (status == MEND_SUCCESS) unprotected.erase(name);
  return status;
}

/// Protects the member `name`. If that fails and the program ignores the status, it must not lose its data: unless it
/// calls mend_error_text, require_heeded() throws the error later.
template <class Work>
int protecting(const char* name, Work work) {
  const int status = settling(name, work);
  if (status == MEND_ERROR) unprotected[name == nullptr ? "" : name] = last_error;
  return status;
}

/// Throws the error of a member that could not be protected and is about to be committed or restored.
void require_protected() {
  if (unprotected.empty()) return;
  const auto& [name, error] = *unprotected.begin();
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& why) {
    throw mend::UsageError(fmt::format("member '{}' could not be protected: {}", name, why.what()));
  }
}

/// Throws the error of an MPI call that the program has ignored.
void require_heeded() {
  require_protected();
  if (const auto& error = mend::returned_error()) {
    throw mend::EnvironmentError(
        fmt::format("{}; the program went on without a look at that: return MEND_ERROR where it cannot go on, or call "
                    "MPI_Error_class with the code where it can",
                    error->sentence));
  }
}

const char* text_of(const char* text, const char* what) {
  if (text == nullptr) throw mend::UsageError(std::string("the ") + what + " of a protected member is NULL");
  return text;
}

/// Checks a pointer to a result or to a function: throws if it is null.
template <class Pointer>
Pointer given(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw mend::UsageError(fmt::format("{} is NULL", what));
  return pointer;
}

const char* reported(const char* text) {
  if (text == nullptr) throw mend::UsageError("the name, or the text, of a reported field is NULL");
  return text;
}

std::span<std::byte> bytes_at(void* data, std::size_t bytes) {
  if (data == nullptr && bytes > 0) throw mend::UsageError("the data of a protected member are NULL");
  return {static_cast<std::byte*>(data), bytes};
}

/// Returns the redundancy that a text describes; nothing if the text is null, so that the job's redundancy is used.
std::optional<mend::Redundancy> redundancy_of(const char* text) {
  return text == nullptr ? std::nullopt : std::optional(mend::Redundancy::parse(text));
}

mend::ByteCount bytes_of_element(const std::string& element) {
  constexpr std::array<std::string_view, 10> numbers{"float32", "float64", "int8",   "int16",  "int32",
                                                     "int64",   "uint8",   "uint16", "uint32", "uint64"};
  const mend::ByteCount bytes = mend::element_bytes(element);
  if (bytes > 0 && (element.starts_with("bytes") || std::ranges::find(numbers, element) != numbers.end())) return bytes;
  throw mend::UsageError("'" + element +
                         "' is not an element of an array: give float32 or float64, int8 to int64, uint8 to uint64, or "
                         "bytes24, for example, for elements that are not numbers");
}

mend::File file_of(mend_session* session, const char* name) {
  return session_of(session).store().file(text_of(name, "name"));
}

void protect_member(Session& session, const char* name, std::unique_ptr<mend::Member> member, const char* redundancy) {
  if (const auto own = redundancy_of(redundancy)) {
    session.store().protect(text_of(name, "name"), std::move(member), *own);
  } else {
    session.store().protect(text_of(name, "name"), std::move(member));
  }
}

/// Returns the bytes of the elements in these ranges.
mend::Subset<std::byte> subset_at(void* data, std::size_t element_bytes, int ranges, const std::size_t* begins,
                                  const std::size_t* ends) {
  if (element_bytes == 0 || ranges < 0 || (ranges > 0 && (begins == nullptr || ends == nullptr)))
    throw mend::UsageError("a protected subset needs its data, the size of an element, and where its ranges lie");
  mend::Subset<std::byte> subset;
  for (int i = 0; i < ranges; ++i) {
    if (begins[i] > ends[i]) throw mend::UsageError("a range of a protected subset ends before it begins");
    if (begins[i] == ends[i]) {  // a rank without elements may have no data
      subset.parts.emplace_back();
      continue;
    }
    if (data == nullptr) throw mend::UsageError("the data of a protected subset is NULL");
    subset.parts.emplace_back(static_cast<std::byte*>(data) + begins[i] * element_bytes,
                              (ends[i] - begins[i]) * element_bytes);
  }
  return subset;
}

std::unique_ptr<mend::Member> array_at(void* data, mend::ArrayPart place) {
  place.require_sense();
  const auto bytes = bytes_of_element(place.element) * mend::elements_in(place.extents);
  mend::ArrayMember member{std::make_unique<mend::detail::SpanMember<std::byte>>(bytes_at(data, bytes)),
                           std::move(place)};
  return mend::MemberOf<mend::ArrayMember>::make(member);
}

/// Reads `axes` numbers.
mend::Extents extents_at(const std::size_t* numbers, int axes) {
  if (axes > 0 && numbers == nullptr)
    throw mend::UsageError("the whole, the offset or the extents of a protected part are NULL");
  return {numbers, numbers + std::max(axes, 0)};
}

mend::ArrayPart part_at(const char* element, int axes, const std::size_t* whole, const std::size_t* offset,
                        const std::size_t* extents) {
  return {text_of(element, "element"), extents_at(extents, axes), extents_at(offset, axes), extents_at(whole, axes)};
}

/// Stores the first `room` versions at most. Returns the number of all versions.
int give(const std::vector<mend::Version>& versions, unsigned long* to, int room) {
  const auto count = std::min(versions.size(), static_cast<std::size_t>(std::max(room, 0)));
  for (std::size_t i = 0; i < count; ++i) to[i] = versions[i].value;
  return static_cast<int>(versions.size());
}

const mend::RecoveryReport& recovery_of(const mend_session* session, int index) {
  const auto all = session_of(session).recoveries();
  if (index < 0 || std::cmp_greater_equal(index, all.size()))
    throw mend::UsageError("there is no recovery " + std::to_string(index) + ": there have been " +
                           std::to_string(all.size()));
  return all[static_cast<std::size_t>(index)];
}

bool is_below(int number, int size) { return number >= 0 && number < size; }

/// Calls a function of the user.
template <class Function>
int call(Function function, Session& session, void* data) {
  const ErrorsHandled as_in_c(OnError::tells_and_returns);
  return function(handle_of(session), data);
}

/// Ends the body, or a callback, of `session` according to the status that it has returned. MPI's error code for a
/// death counts as MEND_FAILURE. An error of MPI with the number of one of mend's codes is that error.
void leave_with(int status, const Session& session) {
  const auto& of_mpi = mend::returned_error();
  const bool is_newer = of_mpi && (!last_error || of_mpi != returned_before_last_error);
  const bool is_either = status == MEND_FAILURE || status == MEND_END;  // a code of mend, and one of MPI
  if (is_newer && (status == MEND_ERROR || (is_either && of_mpi->code == status)))
    throw mend::EnvironmentError(of_mpi->sentence);
  switch (status) {
    case MEND_SUCCESS: return;
    case MEND_FAILURE: throw mend::ProcessFailure("the body returned MEND_FAILURE");
    case MEND_END:
      if (job_is_over) throw mend::agreement::Abandoned();
      throw std::runtime_error(
          "the body, or a callback, returned MEND_END, which no function of mend had returned: return "
          "MEND_SUCCESS where the work is done, MEND_ERROR where it cannot be");
    case MEND_ERROR:
      if (last_error) std::rethrow_exception(last_error);
      throw std::runtime_error(
          "the body, or a callback, returned MEND_ERROR, though no function of mend and no MPI call had failed");
    default: break;
  }
  if (status < 0 || status >= MPI_ERR_LASTCODE)
    throw std::runtime_error(fmt::format(
        "the body, or a callback, returned {}, which is none of mend's codes: return MEND_SUCCESS where the "
        "work is done, MEND_ERROR where it cannot be",
        status));
  if (mend::means_failure(session.comm(), status))
    throw mend::ProcessFailure("the body returned MPI's code of a process failure");
  throw mend::EnvironmentError(
      fmt::format("the body, or a callback, returned MPI's code {}: {}", status, mend::mpi_text(status)));
}

}  // namespace

int mend_run(int argc, char** argv, mend_body body, void* data) {
  if (body == nullptr)
    return mend::refuse("mend_run was given no body: name the function that is to run on every rank");
  return mend::run(argc, argv, [&](Session& session) {
    last_error = nullptr;
    unprotected.clear();
    forget_error_of_mpi();
    leave_with(call(body, session, data), session);
    require_heeded();
  });
}

int mend_refuse(const char* sentence) {
  return mend::refuse(sentence == nullptr ? "mend_refuse was called without a sentence" : sentence);
}

MPI_Comm mend_comm(const mend_session* session) { return session_of(session).comm(); }
MPI_Fint mend_comm_fortran(const mend_session* session) { return MPI_Comm_c2f(mend_comm(session)); }
int mend_rank(const mend_session* session) { return session_of(session).rank().value; }
int mend_size(const mend_session* session) { return session_of(session).size(); }
int mend_process(const mend_session* session) { return static_cast<int>(session_of(session).process().value); }
int mend_predecessors(const mend_session* session) { return session_of(session).predecessors(); }

int mend_rollback(const mend_session* session) {
  return session_of(session).rollback() == mend::Rollback::local ? MEND_ROLLBACK_LOCAL : MEND_ROLLBACK_ALL;
}

int mend_original_size(const mend_session* session) { return session_of(session).original_size(); }

int mend_rank_in_comm(const mend_session* session, int origin) {
  if (!is_below(origin, mend_original_size(session))) return MPI_PROC_NULL;
  return session_of(session).rank_in_comm(mend::Rank{origin}).value_or(mend::Rank{MPI_PROC_NULL}).value;
}

int mend_origin(const mend_session* session, int rank) {
  return is_below(rank, mend_size(session)) ? session_of(session).origin(mend::Rank{rank}).value : MPI_PROC_NULL;
}

int mend_epoch(const mend_session* session) { return static_cast<int>(session_of(session).epoch().value); }

int mend_role(const mend_session* session) {
  switch (session_of(session).role()) {
    case mend::Role::survivor: return MEND_ROLE_SURVIVOR;
    case mend::Role::newcomer: return MEND_ROLE_NEWCOMER;
    default: return MEND_ROLE_INITIAL;
  }
}

int mend_comm_dup(mend_session* session, MPI_Comm* made) {
  return guarded([&] { *given(made, "made of mend_comm_dup") = session_of(session).dup(); });
}

int mend_comm_split(mend_session* session, int color, int key, MPI_Comm* made) {
  return guarded([&] { *given(made, "made of mend_comm_split") = session_of(session).split(color, key); });
}

int mend_comm_cart(mend_session* session, int axes, const int* dims, const int* periods, MPI_Comm* made) {
  return guarded([&] {
    const auto all = [&](const int* numbers) {
      return std::span(numbers, numbers == nullptr ? 0 : static_cast<std::size_t>(std::max(axes, 0)));
    };
    *given(made, "made of mend_comm_cart") = session_of(session).cart(all(dims), all(periods));
  });
}

int mend_comm_derive(mend_session* session, int (*factory)(MPI_Comm, MPI_Comm*, void*), void* data, MPI_Comm* made) {
  return guarded([&] {
    given(factory, "factory of mend_comm_derive");
    *given(made, "made of mend_comm_derive") = session_of(session).derive([&](MPI_Comm parent) {
      MPI_Comm of_factory = MPI_COMM_NULL;
      const int code = [&] {
        const ErrorsHandled as_in_c(OnError::tells_and_returns);
        return factory(parent, &of_factory, data);
      }();
      if (mend::means_failure(parent, code)) throw mend::ProcessFailure("making a communicator");
      mend::check_mpi(code, "making a communicator");
      return of_factory;
    });
  });
}

int mend_protect(mend_session* session, const char* name, void* data, size_t bytes) {
  return protecting(name, [&] { session_of(session).store().protect(text_of(name, "name"), bytes_at(data, bytes)); });
}

int mend_protect_with(mend_session* session, const char* name, void* data, size_t bytes, const char* redundancy) {
  return protecting(name, [&] {
    session_of(session).store().protect(text_of(name, "name"), bytes_at(data, bytes),
                                        mend::Redundancy::parse(text_of(redundancy, "redundancy")));
  });
}

int mend_protect_part(mend_session* session, const char* name, void* data, const char* element, int axes,
                      const size_t* whole, const size_t* offset, const size_t* extents, const char* redundancy) {
  return protecting(name, [&] {
    protect_member(session_of(session), name, array_at(data, part_at(element, axes, whole, offset, extents)),
                   redundancy);
  });
}

int mend_protect_subset(mend_session* session, const char* name, void* data, size_t element_bytes, int ranges,
                        const size_t* begins, const size_t* ends, const char* redundancy) {
  return protecting(name, [&] {
    auto subset = subset_at(data, element_bytes, ranges, begins, ends);
    protect_member(session_of(session), name, mend::MemberOf<mend::Subset<std::byte>>::make(subset), redundancy);
  });
}

int mend_protect_replicated(mend_session* session, const char* name, void* data, const char* element, size_t count,
                            const char* redundancy) {
  return protecting(name, [&] {
    protect_member(session_of(session), name, array_at(data, {text_of(element, "element"), {count}, {0}, {count}}),
                   redundancy);
  });
}

int mend_replace(mend_session* session, const char* name, void* data, size_t bytes) {
  return protecting(name, [&] { session_of(session).store().replace(text_of(name, "name"), bytes_at(data, bytes)); });
}

int mend_replace_part(mend_session* session, const char* name, void* data, const char* element, int axes,
                      const size_t* whole, const size_t* offset, const size_t* extents) {
  return protecting(name, [&] {
    session_of(session).store().replace(text_of(name, "name"),
                                        array_at(data, part_at(element, axes, whole, offset, extents)));
  });
}

int mend_protect_file(mend_session* session, const char* name, const char* redundancy) {
  return protecting(name, [&] {
    mend::Store& store = session_of(session).store();
    const auto own = redundancy_of(redundancy);
    own ? store.file(text_of(name, "name"), *own) : store.file(text_of(name, "name"));
  });
}

FILE* mend_file_open(mend_session* session, const char* name, const char* mode) {
  FILE* opened = nullptr;
  guarded([&] {
    opened = file_of(session, name).open(mode == nullptr ? "" : mode);
    if (opened != nullptr) return;
    throw mend::UsageError(fmt::format(
        "file '{}' cannot be read: it was neither written nor restored; ask mend_file_exists before", name));
  });
  return opened;
}

const char* mend_file_path(mend_session* session, const char* name) {
  const char* path = nullptr;
  guarded([&] { path = file_of(session, name).path().c_str(); });
  return path;
}

int mend_file_exists(mend_session* session, const char* name) {
  bool exists = false;
  guarded([&] { exists = file_of(session, name).exists(); });
  return exists ? 1 : 0;
}

int mend_file_size(mend_session* session, const char* name, size_t* bytes) {
  return guarded([&] { *given(bytes, "bytes of mend_file_size") = file_of(session, name).size(); });
}

int mend_commit(mend_session* session, unsigned long* version) {
  return guarded(version, [&] {
    require_heeded();
    return session_of(session).store().commit();
  });
}

int mend_commit_async(mend_session* session) {
  return guarded([&] {
    require_heeded();
    session_of(session).store().commit_async();
  });
}

int mend_finish_commit(mend_session* session, unsigned long* version) {
  return guarded(version, [&] {
    require_heeded();
    return session_of(session).store().finish_commit();
  });
}

int mend_restore(mend_session* session, unsigned long* version) {
  return guarded(version, [&] {
    require_heeded();
    return session_of(session).store().restore();
  });
}

int mend_restore_version(mend_session* session, unsigned long wanted, unsigned long* version) {
  return guarded(version, [&] {
    require_heeded();
    return session_of(session).store().restore(mend::Version{wanted});
  });
}

int mend_restore_from(mend_session* session, int rank, unsigned long* version) {
  return guarded(version, [&] {
    require_heeded();
    return session_of(session).store().restore_from(mend::Rank{rank});
  });
}

int mend_restore_others(mend_session* session, unsigned long* version) {
  return guarded(version, [&] {
    require_heeded();
    return session_of(session).store().restore_others();
  });
}

int mend_commit_due(mend_session* session, int* due) {
  if (due != nullptr) *due = 0;
  return guarded([&] { *given(due, "due of mend_commit_due") = session_of(session).commit_due() ? 1 : 0; });
}

int mend_should_exit(mend_session* session) { return session_of(session).should_exit() ? 1 : 0; }

int mend_agree(mend_session* session, int* flag) {
  return guarded([&] {
    given(flag, "flag of mend_agree");
    *flag = session_of(session).agree(*flag != 0) ? 1 : 0;
  });
}

int mend_check(mend_session* session) {
  return guarded([&] { session_of(session).check(); });
}

int mend_repair(mend_session* session) {
  return guarded([&] {
    forget_error_of_mpi();  // what its callbacks do with MPI counts
    session_of(session).repair();
  });
}

int mend_on_repair(mend_session* session, int (*callback)(mend_session*, void*), void* data) {
  return guarded([&] {
    Session& of = session_of(session);
    given(callback, "callback of mend_on_repair");
    of.on_repair([&of, callback, data] {
      const int status = call(callback, of, data);
      if (status != MEND_SUCCESS) throw Returned{status};
    });
  });
}

int mend_transaction(mend_session* session, mend_work work, void* data, int* committed) {
  if (committed != nullptr) *committed = 0;
  return guarded([&] {
    require_heeded();
    Session& in = session_of(session);
    given(work, "work of mend_transaction");
    given(committed, "committed of mend_transaction");
    const auto do_work = [&] {
      int well = 1;
      const int status = [&] {
        const ErrorsHandled as_in_c(OnError::tells_and_returns);
        return work(handle_of(in), data, &well);
      }();
      leave_with(status, in);
      if (well != 0) require_heeded();  // otherwise the program has seen that something is wrong
      return well != 0;
    };
    *committed = mend::transaction(in, do_work) ? 1 : 0;
  });
}

unsigned long mend_version(const mend_session* session) { return session_of(session).store().version().value; }

int mend_unprotect(mend_session* session, const char* name) {
  return settling(name, [&] { session_of(session).store().unprotect(text_of(name, "name")); });
}

int mend_finish_disk(mend_session* session) {
  return guarded([&] { session_of(session).store().finish_disk(); });
}

int mend_restored_from(const mend_session* session) {
  switch (session_of(session).store().restored_from()) {
    case mend::Origin::memory: return MEND_ORIGIN_MEMORY;
    case mend::Origin::disk: return MEND_ORIGIN_DISK;
    default: return MEND_ORIGIN_NOWHERE;
  }
}

int mend_versions_in_memory(const mend_session* session, unsigned long* versions, int room) {
  return give(session_of(session).store().versions().in_memory, versions, room);
}

int mend_versions_on_disk(const mend_session* session, unsigned long* versions, int room) {
  return give(session_of(session).store().versions().on_disk, versions, room);
}

void mend_statistics(const mend_session* session, mend_store_statistics* statistics) {
  if (guarded([&] { given(statistics, "statistics of mend_statistics"); }) != MEND_SUCCESS) {
    mend::refuse_in_body(last_text);  // there is no status to return
    return;
  }
  const mend::StoreStatistics& all = session_of(session).store().statistics();
  *statistics = {all.commits,
                 all.restores,
                 all.snapshot_bytes,
                 all.changed_bytes,
                 all.memory_bytes,
                 all.commit_time.count(),
                 all.restore_time.count()};
}

int mend_recovery_count(const mend_session* session) {
  return static_cast<int>(session_of(session).recoveries().size());
}

int mend_recovery_get(const mend_session* session, int index, mend_recovery* recovery) {
  return guarded([&] {
    const mend::RecoveryReport& report = recovery_of(session, index);
    *given(recovery, "recovery of mend_recovery_get") = {static_cast<int>(report.epoch.value),
                                                         report.rounds,
                                                         static_cast<int>(report.dead.size()),
                                                         static_cast<int>(report.replacements.size()),
                                                         static_cast<int>(report.given_up.size()),
                                                         report.interrupt.count(),
                                                         report.agree.count(),
                                                         report.rebuild.count(),
                                                         report.restore.count()};
  });
}

int mend_recovery_dead(const mend_session* session, int index, int number) {
  const auto all = session_of(session).recoveries();
  if (index < 0 || std::cmp_greater_equal(index, all.size())) return -1;
  const auto& dead = all[static_cast<std::size_t>(index)].dead;
  if (number < 0 || std::cmp_greater_equal(number, dead.size())) return -1;
  return static_cast<int>(dead[static_cast<std::size_t>(number)].value);
}

int mend_recovery_rank(const mend_session* session, int index, int number, int* rank, int* dead, int* newcomer) {
  return guarded([&] {
    const mend::RecoveryReport& report = recovery_of(session, index);
    const auto at = static_cast<std::size_t>(std::max(number, 0));
    const std::size_t replaced = report.replacements.size();
    if (number < 0 || at >= replaced + report.given_up.size())
      throw mend::UsageError("there is no rank of this number in the recovery: it has " +
                             std::to_string(replaced + report.given_up.size()));
    const mend::Replacement change = at < replaced ? report.replacements[at] : mend::Replacement{};
    const mend::LostRank loss =
        at < replaced ? mend::LostRank{change.rank, change.dead} : report.given_up[at - replaced];
    *given(rank, "rank of mend_recovery_rank") = loss.rank.value;
    *given(dead, "dead of mend_recovery_rank") = static_cast<int>(loss.dead.value);
    *given(newcomer, "newcomer of mend_recovery_rank") = at < replaced ? static_cast<int>(change.newcomer.value) : -1;
  });
}

int mend_report_number(mend_session* session, const char* name, double value) {
  return guarded([&] { session_of(session).report(reported(name), value); });
}

int mend_report_integer(mend_session* session, const char* name, long value) {
  return guarded([&] { session_of(session).report(reported(name), value); });
}

int mend_report_text(mend_session* session, const char* name, const char* text) {
  return guarded([&] { session_of(session).report(reported(name), std::string_view(reported(text))); });
}

int mend_report_hash(mend_session* session, const void* part, size_t bytes) {
  return guarded([&] {
    if (part == nullptr && bytes > 0) throw mend::UsageError("the part of the answer that is reported is NULL");
    session_of(session).report_hash({static_cast<const std::byte*>(part), bytes});
  });
}

/// For the Fortran module: an OPEN statement has failed.
extern "C" int mend_fortran_file_not_opened(const char* name, const char* why);
int mend_fortran_file_not_opened(const char* name, const char* why) {
  return guarded([&] { throw mend::UsageError(fmt::format("file '{}' cannot be opened: {}", name, why)); });
}

const char* mend_error_text(void) {
  unprotected.clear();  // the program has seen the errors
  forget_error_of_mpi();
  return last_text.c_str();
}

// A program that calls one of these functions has handled the error.

int MPI_Error_class(int code, int* error_class) {
  forget_error_of_mpi();
  return PMPI_Error_class(code, error_class);
}

int MPI_Error_string(int code, char* text, int* length) {
  forget_error_of_mpi();
  return PMPI_Error_string(code, text, length);
}
