// The engine's part that carries out the actions of the recovery core.

#include "framework/recovery/engine.hpp"

#include "agreement/find_members.hpp"
#include "base/death/crash_report.hpp"
#include "base/death/fail_stop.hpp"
#include "base/fault_point.hpp"
#include "base/name_runs.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/library_wait.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/place.hpp"
#include "framework/recovery/leave_job.hpp"
#include "framework/reporting/exit_reason.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend {
namespace {

using agreement::BallotResult;
using agreement::Proposal;
using recovery::Event;

}  // namespace

/// Revokes the communicators in which others may be blocked. Each epoch's communicators of the application are revoked
/// once by each process and belong to that epoch alone, so a late revocation cannot hit a newer one.
std::optional<Event> Engine::perform(const recovery::Revoke& revoke) {
  switch (revoke.what) {
    case recovery::What::application: interrupt(); break;
    case recovery::What::candidate: maker_.interrupt(); break;
    case recovery::What::meeting: newcomer_host_.interrupt(); break;
  }
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::CallSpares& call) {
  witness_.call(call.epoch, call.because_of);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::CastBallot& cast) {
  reach("ballot.before");
  if (cast.proposal == Proposal::finish) job_status::votes_for_end(epoch_state_.epoch);
  const BallotResult result = epoch_state_.ballot->cast(cast.proposal, true);
  if (result != BallotResult::accepted) job_status::votes_for_end({});
  if (result == BallotResult::confused) end_.fail(ExitCode::usage, epoch_state_.ballot->confusion());
  return recovery::BallotEnded{result, reporter_.deaths().known()};
}

std::optional<Event> Engine::perform(const recovery::DecideJob& decide) {
  reach("decision.before");
  begin_recovery_turns(epoch_state_.epoch);
  if (decide.intent == Intent::follow) job_status::votes_for_end(epoch_state_.epoch);
  const auto without_commit = reporter_.history().last(core_.course().without_commit);
  const bool is_in_vain = reporter_.deaths().are_in_vain(without_commit, epoch_state_.roster);
  const auto writes_done = part_.rank ? std::optional(requests_.writes_done()) : std::nullopt;
  const JobDecision decision = decide_job(*epoch_state_.everyone, decide.intent, decide.code, decide.progressed,
                                          is_in_vain, asks_for_recovery_, decide.committed_twice, writes_done);
  if (decision.what != Intent::recover) {
    job_status::at_end();
    report_crashes();  // no process recovers from crashes any more
  } else {
    job_status::votes_for_end({});
    requests_.hear(decision.writes_done);
    if (decision.asked) request_ = {true, who_asks()};
    if (!core_.saves()) reporter_.deaths().judge(decision.in_vain, without_commit, epoch_state_.roster);
    leave_epoch();
  }
  return recovery::Decided{decision};
}

/// Returns the ranks that ask for a recovery without having met a failure. Returns none if a process dies meanwhile, or
/// if there are many processes, because that would take long. Collective over all processes.
std::vector<Rank> Engine::who_asks() {
  constexpr std::size_t most_processes = 1000;
  std::vector<Rank> ranks;
  if (epoch_state_.members.size() > most_processes) return ranks;
  const auto asking = agreement::find_members(*epoch_state_.everyone, epoch_state_.base.rank(),
                                              static_cast<int>(epoch_state_.members.size()), asks_for_recovery_);
  for (const int member : asking.value_or(std::vector<int>{})) {
    if (const auto rank = epoch_state_.roster.rank_of(epoch_state_.members[static_cast<std::size_t>(member)]))
      ranks.push_back(*rank);
  }
  return ranks;
}

std::optional<Event> Engine::perform(const recovery::NewCandidate&) {
  newcomer_host_.give_up();
  maker_.begin_candidate();
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::Settle&) {
  if (core_.state() == recovery::State::settling) reach("recovery.settle");
  if (core_.state() == recovery::State::gathering) reach("spawn.meet");
  maker_.settle();
  return recovery::Settled{};
}

std::optional<Event> Engine::perform(const recovery::Shrink&) { return maker_.shrink(); }

std::optional<Event> Engine::perform(const recovery::Agree& agree) {
  const recovery::State state = core_.state();
  if (state == recovery::State::announcing && !core_.hosts()) reach("spawn.wait");
  if (state == recovery::State::confirming) reach("recovery.confirm");
  if (state == recovery::State::merged) reach("spawn.confirm");
  const recovery::Agreed agreed = maker_.agree(agree.among, agree.contribution);
  if (state == recovery::State::counting && (agreed.outcome.value & 1U) != 0) {
    reporter_.history().clock().agree_on_dead();
    reach("recovery.plan");
  }
  return agreed;
}

std::optional<Event> Engine::perform(const recovery::Split& split) { return maker_.split(split.rank); }

std::optional<Event> Engine::perform(const recovery::AdoptCandidate& adopt) {
  maker_.adopt(core_.position(), adopt.complete);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::Found&) {
  maker_.found();
  return recovery::Founded{};
}

std::optional<Event> Engine::perform(const recovery::StartProcess&) {
  reach("spawn.wait");
  try {
    if (const auto newcomer = newcomer_host_.find(epoch_state_)) return recovery::NewcomerCalled{*newcomer};
  } catch (const std::exception& error) {
    obstacle_to_hosting_ = error.what();
    return recovery::NewcomerLost{.others_may_try = true};
  }
  return recovery::NewcomerLost{};
}

std::optional<Event> Engine::perform(const recovery::Meet&) {
  return recovery::MeetingEnded{newcomer_host_.meet(epoch_state_)};
}

std::optional<Event> Engine::perform(const recovery::Connect&) {
  return recovery::MeetingEnded{newcomer_host_.connect(epoch_state_, core_.host(), record())};
}

std::optional<Event> Engine::perform(const recovery::Merge&) {
  return recovery::MeetingEnded{newcomer_host_.merge(epoch_state_)};
}

std::optional<Event> Engine::perform(const recovery::Admit&) {
  return recovery::Admitted{newcomer_host_.admit(epoch_state_)};
}

std::optional<Event> Engine::perform(const recovery::EnterBody& enter) {
  enter_epoch(enter.newcomer);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::Park&) {
  enter_epoch(false);
  return std::nullopt;
}

/// The last step before the job ends because some ranks have no process: the remaining ranks save their data to disk,
/// in communicators without the others.
std::optional<Event> Engine::perform(const recovery::SaveWhatIsLeft&) {
  begin_epoch(false);
  try {
    store_.save_what_is_left();
  } catch (const ProcessFailure&) {
    return leaving(Proposal::recover);
  } catch (const CommonError& error) {
    log::debug(fmt::format("nothing is saved: {}", error.what()));
  }
  return leaving(Proposal::finish);
}

std::optional<Event> Engine::perform(const recovery::End& end) {
  if (core_.first_epoch()) {
    if (end.why != recovery::Ending::nobody_left)
      throw CommonError(reporter_.describe_end(end.why, core_, epoch_state_.roster));
    throw Unrecoverable(fmt::format("{} of {} processes died while the job was starting, and it has only {}",
                                    core_.course().dead.size(), epoch_state_.processes,
                                    counted(static_cast<std::size_t>(reporter_.first_spares()), "spare")));
  }
  const bool was_said = end.why == recovery::Ending::finished || end.why == recovery::Ending::abandoned;
  if (was_said && end_.code() != end.code) end_.error.reset();  // a rank with another code reports the reason
  if (!was_said) end_.fail(ExitCode::unrecoverable, reporter_.describe_end(end.why, core_, epoch_state_.roster));
  detector_.end();
  store_.end();
  job_status::unwatched();
  end_.has_lost = !was_said || leave_job(epoch_state_, detector_);
  close_restore_time();
  reporter_.end_job();
  end_.agreed = end.why == recovery::Ending::finished ? ExitCode::ok : report_error(end.code);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::Die&) { fail_stop(end_.own_error); }

// --- steps of these actions -------------------------------------------------------------------------------------

/// Makes all ranks leave the calls in which the application can be blocked.
void Engine::interrupt() {
  reporter_.history().clock().notice();
  if (part_.rank) note_failure();
  communicators_.interrupt();
}

/// Ends the epoch, because all processes recover.
void Engine::leave_epoch() {
  reporter_.history().clock().begin_recovery();
  close_restore_time();
  end_.error.reset();
  store_.end_epoch();
  reach("recovery.begin");
  communicators_.end_epoch();
  left_.end_epoch();
}

/// Begins an epoch when its communicators exist: the first epoch, or the one after a recovery.
void Engine::enter_epoch(bool newcomer) {
  if (epoch_state_.epoch == Epoch{0}) {
    begin_epoch(newcomer);
    return reporter_.end_start(core_);
  }
  if (!core_.saves()) reporter_.end_recovery(core_, epoch_state_, request_);
  begin_epoch(newcomer);
  if (core_.saves()) return;
  const auto spares = static_cast<std::size_t>(reporter_.first_spares());
  if (policy().spawn && epoch_state_.roster.spares.size() < spares && newcomer_host_.hosts(epoch_state_)) {
    newcomer_host_.prepare(spares - epoch_state_.roster.spares.size(), epoch_state_);
  }
  reach("recovery.done");
}

/// Returns the data for a process that joins the job in this recovery.
JobRecord Engine::record() const {
  const recovery::Course& course = core_.course();
  const auto recoveries = reporter_.history().recoveries();
  return {reporter_.first_ranks(), std::max(store_.version(), witness_.announced()),
          newcomer_host_.places(), {recoveries.begin(), recoveries.end()},
          course.before,           course.dead,
          course.without_commit,   course.row,
          course.unable,           course.started,
          course.rounds,           requests_.writes_done()};
}

/// Has one process report why the job ends. Returns the exit code of all processes.
ExitCode Engine::report_error(ExitCode code) {
  const auto& error = end_.error;
  std::optional<std::string> said;
  const auto why = [&] {
    said = error->text + (code == ExitCode::unrecoverable && error->disk_may_help ? disk_.advice() : "");
    return *said;
  };
  say_why(epoch_state_.base.get(), error ? std::function<std::string()>(why) : nullptr);
  if (said) {
    job_status::said(*said);
    reporter_.end_in_failure({code, *said}, store_.statistics(), store_.version(), pacing_.run_time());
  }
  return code;
}

}  // namespace mend
