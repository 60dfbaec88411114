#include "framework/session.hpp"

#include "base/telemetry/place.hpp"
#include "base/error.hpp"
#include "framework/recovery/engine.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace mend {
namespace {

void require_rank(Rank rank, int size) {
  if (rank < Rank{0} || rank.value >= size) {
    throw UsageError(fmt::format("there is no rank {} among {}", rank.value, size));
  }
}

}  // namespace

MPI_Comm Session::comm() const { return engine_.session_comm(); }

Rank Session::rank() const { return engine_.rank(); }
int Session::size() const { return engine_.epoch_state().roster.size(); }
int Session::original_size() const { return engine_.first_size(); }
Rank Session::origin() const { return origin(rank()); }

Rank Session::origin(Rank rank) const {
  require_rank(rank, size());
  return engine_.epoch_state().roster.seat(rank).origin;
}

std::optional<Rank> Session::rank_in_comm(Rank origin) const {
  require_rank(origin, original_size());
  return engine_.epoch_state().roster.now(origin);
}

Epoch Session::epoch() const { return engine_.epoch_state().epoch; }
ProcessId Session::process() const { return engine_.self(); }
int Session::predecessors() const { return engine_.epoch_state().roster.seat(engine_.rank()).predecessors; }

Role Session::role() const {
  if (epoch() == Epoch{0}) return Role::initial;
  return engine_.newcomer() ? Role::newcomer : Role::survivor;
}

Rollback Session::rollback() const { return engine_.rollback(); }
Store& Session::store() const { return engine_.session_store(); }
bool Session::commit_due() { return engine_.commit_due(); }
bool Session::should_exit() { return engine_.should_exit(); }
void Session::check() { engine_.check(); }
bool Session::agree(bool flag) { return engine_.agree(flag); }

MPI_Comm Session::derive(const std::function<MPI_Comm(MPI_Comm)>& factory) {
  const AtPlace at_place(Place::derive);
  return engine_.derive(factory);
}

MPI_Comm Session::cart(std::span<const int> dims, std::span<const int> periods) {
  if (dims.empty() || dims.size() != periods.size()) {
    throw UsageError("a Cartesian topology needs dimensions, and for each of them whether it is periodic");
  }
  const AtPlace at_place(Place::cart);
  return derive([&](MPI_Comm parent) {
    MPI_Comm made = MPI_COMM_NULL;
    call_mpi(
        [&] { return MPI_Cart_create(parent, static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &made); },
        "MPI_Cart_create");
    return made;
  });
}

MPI_Comm Session::dup() {
  const AtPlace at_place(Place::dup);
  return derive([](MPI_Comm parent) {
    MPI_Comm made = MPI_COMM_NULL;
    call_mpi([&] { return MPI_Comm_dup(parent, &made); }, "MPI_Comm_dup");
    return made;
  });
}

MPI_Comm Session::split(int color, int key) {
  const AtPlace at_place(Place::split);
  return derive([&](MPI_Comm parent) {
    MPI_Comm made = MPI_COMM_NULL;
    call_mpi([&] { return MPI_Comm_split(parent, color, key, &made); }, "MPI_Comm_split");
    return made;
  });
}

void Session::repair() { engine_.repair(); }
void Session::on_repair(std::function<void()> callback) { engine_.on_repair(std::move(callback)); }

void Session::report(std::string_view name, std::string_view text) {
  engine_.answer().report(std::string(name), std::string(text));
}
void Session::report_number(std::string_view name, double value) { engine_.answer().report(std::string(name), value); }
void Session::report_whole_number(std::string_view name, unsigned long long value) {
  engine_.answer().report(std::string(name), value);
}
void Session::report_whole_number(std::string_view name, long long value) {
  engine_.answer().report(std::string(name), value);
}
void Session::report_hash(std::span<const std::byte> part) { engine_.answer().report_hash(part); }

std::span<const RecoveryReport> Session::recoveries() const { return engine_.recoveries(); }

namespace {

/// Returns the result of `work`. If `work` throws and no recovery follows, calls `undo` first.
template <class Work, class Undo>
auto unless_refused(Work work, Undo undo) {
  try {
    return work();
  } catch (const ProcessFailure&) {
    throw;
  } catch (const agreement::Abandoned&) {  // the job ends, and the version on disk stays
    throw;
  } catch (...) {
    undo();
    throw;
  }
}

}  // namespace

bool transaction(Session& session, const std::function<bool()>& work) {
  session.engine_.refuse_if_local("transaction()");
  const Engine::InTransaction inside(session.engine_);
  StoreEngine& store = session.engine_.store();
  store.finish_commit();
  // So that there is a version to roll back to, with all members.
  if (!store.has_version() || !session.agree(store.has_present_members())) store.commit();
  const Version before = store.version();
  store.hold();  // until the unit has ended; a recovery ends the hold too
  const auto drop = [&] { store.drop_provisional(); };
  const auto take_back = [&] {
    const auto go_back = [&] {
      store.finish_commit();  // of the work's commit_async()
      store.version() == before ? store.restore() : store.restore(before);
      store.finish_commit();  // copies may come to where the version is held
    };
    unless_refused(go_back, drop);
    store.let_go();
  };
  if (!unless_refused([&] { return session.agree(work()); }, drop)) {
    take_back();
    return false;
  }
  unless_refused([&] { store.commit_and_let_go(); }, take_back);
  return true;
}

}  // namespace mend
