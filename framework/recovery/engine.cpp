#include "framework/recovery/engine.hpp"

#include "base/assert.hpp"
#include "base/death/fail_stop.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/place.hpp"
#include "framework/reporting/exit_reason.hpp"
#include "framework/reporting/report_text.hpp"
#include "framework/process/communicator_hooks.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/recovery/leave_job.hpp"
#include "framework/spawn/join_info.hpp"
#include "store/snapshot/block_reserve.hpp"
#include "transport/progress.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ranges>
#include <utility>

namespace mend {
namespace {

using agreement::Motion;
using agreement::Ruling;
using recovery::Event;

constexpr int tries_of_faulty_ranks = 2;  // --mend-tries, unless it is given
constexpr int tries_with_processes = 10;

ProcessId own_number() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return launched_processes()[static_cast<std::size_t>(rank)];
}

recovery::Setup setup_of(const Options& options, ProcessId self, std::vector<NodeId> places) {
  return {self, options.on_failure, options.tries.value_or(tries_with_processes), options.disk.has_value(),
          std::move(places)};
}

RecoveryCore core_at_the_start(const Options& options, const FailureDetector& detector) {
  std::vector<ProcessId> launched = launched_processes();
  const int size = static_cast<int>(launched.size());
  const int spares = options.spares;
  if (spares < 0 || spares >= size) {
    throw UsageError(
        fmt::format("{} spares of {} processes leave nobody to work: launch more processes or ask for fewer "
                    "spares",
                    spares, size));
  }
  std::vector<Placed> introduced;
  for (const Acquaintance& other : detector.acquaintances()) introduced.push_back({other.process, other.peer.node});
  std::ranges::sort(introduced, {}, &Placed::process);
  return {setup_of(options, own_number(), detector.places()), std::move(launched), std::move(introduced),
          size - spares};
}

/// In a process that has joined `world`, where it is the last member.
RecoveryCore core_of_newcomer(const Options& options, const World& world, const std::string& text) {
  const auto memories = nlohmann::json::parse(text);
  std::vector<NodeId> places;
  for (const std::uint32_t node : memories.at("places")) places.push_back(NodeId{node});
  recovery::Course course;
  course.before = read_roster(memories.at("before"));
  course.fruitless = memories.at("fruitless");
  for (const std::uint32_t process : memories.at("dead")) course.dead.insert(ProcessId{process});
  return {setup_of(options, world.members.back(), std::move(places)),
          {world.members, world.roster, world.epoch, world.processes},
          std::move(course)};
}

}  // namespace

Engine::Engine(const Options& options, FailureDetector& detector) : Engine(options, detector, nullptr) {
  drive(recovery::Begin{});
  size_.ranks = world_.roster.size();
}

Engine::Engine(const Options& options, FailureDetector& detector, Arrival& arrival)
    : Engine(options, detector, &arrival) {
  const auto memories = nlohmann::json::parse(arrival.memories());
  size_.ranks = memories.at("first_size");
  witness_.hear(Version{memories.at("committed")});
  history_.inherit(read_reports(memories.at("recoveries")));
  history_.clock().leave_body();
  drive(recovery::Begin{});
}

Engine::Engine(const Options& options, FailureDetector& detector, Arrival* arrival)
    : detector_(detector),
      agreements_(options.agreement),
      world_(arrival == nullptr ? World{} : arrival->join(agreements_)),
      maker_(world_, agreements_),
      core_(arrival == nullptr ? core_at_the_start(options, detector)
                               : core_of_newcomer(options, world_, arrival->memories())),
      recruiter_(core_.self(), detector, agreements_, options.spawn_limit),
      disk_(options.disk),
      store_(options.redundancy, options.versions, disk_.options(), options.find_changes),
      size_{0, options.spares},
      communicators_(world_),
      casualties_(witness_, core_.policy(), options.tries.value_or(tries_of_faulty_ranks)),
      announcer_(core_.self(), witness_),
      briefing_(witness_, options.spare_memory == SpareMemory::ready),
      pacing_(options),
      result_{options.result} {
  recruiter_.prefer(core_.places());
  options.redundancy.require_ranks(core_.ranks());  // spares must refuse it too
  if (options.find_changes == FindChanges::by_writes && !DirtyPages::is_possible() && arrival == nullptr &&
      self() == ProcessId{0}) {
    log::warn("this kernel does not tell what was written (Linux 6.7 and later do): commits find changes by hash");
  }
  disk_.hold();
  log::set_speaker(self());
  on_process_failure([this] { carry_out(recovery::FailureNoticed{}); });
  while_mpi_waits([this] { notice_while_waiting(); });
  on_communicator_made([this](MPI_Comm parent, MPI_Comm made) { follow(parent, made); });
  store_.on_commit([this] {
    BlockReserve::instance().clear();  // a newcomer has what it needs
    tell_spares();
  });
  agreements_.on_death([this](ProcessId process) { carry_out(recovery::ProcessDied{process}); });
}

Engine::~Engine() {
  on_communicator_made({});
  while_mpi_waits({});
  on_process_failure({});
}

void Engine::begin_epoch(bool newcomer) {
  if (!part_.rank) pacing_.begin_work();
  part_ = {core_.rank(), newcomer};
  communicators_.begin_epoch();
  history_.begin_epoch(store_.statistics());
  casualties_.begin_epoch();
  briefing_.begin_epoch();
  pacing_.begin_epoch();
  forget_failure();
  announcer_.enter(world_.roster, world_.members);
  detector_.enter(world_.members);
  const auto& rank = part_.rank;
  note_rank(rank && policy().blank ? world_.roster.seat(*rank).origin : rank);
  if (!rank) return;
  take_into_epoch(store_);
  store_.hear(witness_.announced());
  if (world_.epoch == Epoch{0} && *rank == Rank{0} && world_.roster.size() == 1 && !world_.roster.spares.empty()) {
    log::warn("with a single rank nobody holds a copy of its data: if it dies, they are lost");
  }
}

void Engine::take_into_epoch(StoreEngine& store) {
  std::vector<NodeId> nodes;
  for (const Seat& seat : world_.roster.seats) nodes.push_back(seat.holder.node);
  store.begin_epoch(world_.store.get(), *world_.ballot, nodes, world_.epoch);
}

// --- the loop --------------------------------------------------------------------------------------------------

ExitCode Engine::run(const Body& body) {
  if (!world_.roster.spares.empty() || policy().spawn) forbid_world();
  set_body_rules(rules_of_bodies());
  while (wait_for_rank()) {
    const recovery::BodyLeft left = play(body);
    if (!end_.agreed) drive(left);
  }
  return *end_.agreed;
}

bool Engine::wait_for_rank() {
  while (!end_.agreed && !part_.rank) drive(wait_as_spare());
  return !end_.agreed;
}

bool Engine::finish() {
  Motion motion = Motion::finish;
  try {
    report_on_job();
  } catch (const ProcessFailure&) {
    motion = Motion::recover;
  } catch (const agreement::Abandoned&) {
    motion = Motion::abandon;
  } catch (const std::exception& error) {
    const bool misused = dynamic_cast<const UsageError*>(&error) != nullptr;
    end_.fail(misused ? ExitCode::usage : ExitCode::failed, fmt::format("rank {}: {}", rank().value, error.what()));
    motion = Motion::abandon;
  }
  reach("finish.before");
  drive(leaving(motion));
  return end_.agreed.has_value();
}

void Engine::abandon(ExitCode code, const std::string& sentence) {
  end_.fail(code, sentence);
  drive(leaving(Motion::abandon));
}

BodyRules Engine::rules_of_bodies() {
  return {[this] { return world_.application.get(); },
          [this](const std::string& sentence) {
            // A failure that is met meanwhile comes first, and is recovered from here.
            while (!end_.agreed) abandon(ExitCode::usage, fmt::format("rank {}: {}", rank().value, sentence));
          },
          [this] {
            job_status::finished(*end_.agreed);
            end_.has_lost ? leave_mpi_alone() : static_cast<void>(PMPI_Finalize());
          }};
}

recovery::BodyLeft Engine::leaving(Motion motion) {
  history_.clock().leave_body();
  return {motion, end_.code(), history_.has_progressed(store_.statistics())};
}

/// Has the core take `event`, and carries out what it wants until this process is in the body, parked, or at the
/// end.
void Engine::drive(Event event) {
  or_fail_stop([&] {
    std::optional<AtPlace> at_place;
    for (std::optional<Event> next = std::move(event); next;) {
      const recovery::Actions actions = core_.step(*std::exchange(next, std::nullopt));
      world_.processes = core_.position().processes;
      for (const recovery::Action& action : actions) {
        if (const auto place = place_of(action)) at_place.emplace(*place);
        if (auto result = attempt(action)) next = std::move(result);
      }
    }
  });
}

/// Has the core take what comes while this process waits: nothing follows that it would wait in.
void Engine::carry_out(const Event& event) {
  for (const recovery::Action& action : core_.step(event)) attempt(action);
}

/// Where this process is from `action` on, for those who wait for it; nothing: where it was.
std::optional<Place> Engine::place_of(const recovery::Action& action) const {
  if (core_.saves()) return std::nullopt;
  if (const auto* cast = std::get_if<recovery::CastBallot>(&action)) {
    return cast->motion == Motion::finish    ? Place::finish
           : cast->motion == Motion::abandon ? Place::end
                                             : Place::recovery;
  }
  if (const auto* decide = std::get_if<recovery::DecideJob>(&action)) {
    return decide->intent == Intent::finish    ? Place::finish
           : decide->intent == Intent::abandon ? Place::end
                                               : Place::recovery;
  }
  return std::nullopt;
}

std::optional<Event> Engine::attempt(const recovery::Action& action) {
  try {
    return std::visit([this](const auto& what) { return perform(what); }, action);
  } catch (const CommonError&) {
    throw;
  } catch (const std::exception& error) {
    end_.own_error = error.what();
    log::debug(fmt::format("process {} has an error of its own: {}", self().value, end_.own_error));
    return recovery::LocalError{};
  }
}

// --- what the core wants ---------------------------------------------------------------------------------------

/// Revokes what others may be blocked in. Each epoch's communicators of the application are revoked once by each
/// process and belong to that epoch alone, so a late revocation cannot hit a newer one.
std::optional<Event> Engine::perform(const recovery::Revoke& revoke) {
  switch (revoke.what) {
    case recovery::What::application: interrupt(); break;
    case recovery::What::candidate: maker_.interrupt(); break;
    case recovery::What::meeting: recruiter_.interrupt(); break;
  }
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::CallSpares& call) {
  witness_.call(call.epoch);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::CastBallot& cast) {
  reach("ballot.before");
  const Ruling ruling = world_.ballot->cast(cast.motion, true);
  if (ruling == Ruling::confused) {
    end_.fail(ExitCode::usage,
              fmt::format("rank {} has left the body while another rank is in a commit, restore or agree: "
                          "every rank must come to these in the same order",
                          rank().value));
  }
  return recovery::Ruled{ruling, casualties_.known()};
}

std::optional<Event> Engine::perform(const recovery::DecideJob& decide) {
  reach("decision.before");
  const auto fruitless = history_.last(core_.course().fruitless);
  const JobDecision decision = decide_job(*world_.everyone, decide.intent, decide.code, decide.progressed,
                                          casualties_.are_in_vain(fruitless, world_.roster));
  if (decision.what == Intent::recover) {
    if (!core_.saves()) casualties_.judge(decision.in_vain, fruitless, world_.roster);
    leave_epoch();
  }
  return recovery::Decided{decision};
}

std::optional<Event> Engine::perform(const recovery::NewCandidate&) {
  recruiter_.give_up();
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
    history_.clock().agree_on_dead();
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
    if (const auto newcomer = recruiter_.find(world_)) return recovery::NewcomerCalled{*newcomer};
  } catch (const std::exception& error) {
    log::warn(fmt::format("no process can be started to take over a rank: {}", error.what()));
  }
  return recovery::NewcomerLost{};
}

std::optional<Event> Engine::perform(const recovery::Meet&) { return recovery::MeetingEnded{recruiter_.meet(world_)}; }

std::optional<Event> Engine::perform(const recovery::Connect&) {
  return recovery::MeetingEnded{recruiter_.connect(world_, core_.host(), memories())};
}

std::optional<Event> Engine::perform(const recovery::Merge&) {
  return recovery::MeetingEnded{recruiter_.merge(world_)};
}

std::optional<Event> Engine::perform(const recovery::Admit&) { return recovery::Admitted{recruiter_.admit(world_)}; }

std::optional<Event> Engine::perform(const recovery::EnterBody& enter) {
  enter_epoch(enter.newcomer);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::Park&) {
  enter_epoch(false);
  return std::nullopt;
}

/// The last rung: nobody is there for some ranks, and the job ends. Those that are left bring what they have to
/// disk before that, in a world without the others.
std::optional<Event> Engine::perform(const recovery::SaveWhatIsLeft&) {
  begin_epoch(false);
  try {
    store_.save_what_is_left();
  } catch (const ProcessFailure&) {
    return leaving(Motion::recover);
  } catch (const CommonError& error) {
    log::debug(fmt::format("nothing is saved: {}", error.what()));
  }
  return leaving(Motion::finish);
}

/// Why all end that have come to the end together, though no rank has said so.
std::string Engine::sentence_on(recovery::Ending why) const {
  const recovery::Course& course = core_.course();
  switch (why) {
    case recovery::Ending::no_shrink: return "the MPI library could not shrink a communicator";
    case recovery::Ending::no_split: return "the MPI library could not split a communicator, though nobody died";
    case recovery::Ending::program_fails:
      return fmt::format(
          "{} recoveries in a row came to nothing, and in the last nobody had died: the program fails by itself",
          course.fruitless);
    case recovery::Ending::rank_fails: return describe_fault(casualties_.to_blame());
    default: break;
  }
  return casualties_.describe(recoveries_before(), course.before, world_.roster, course.dead,
                              core_.out_of_tries() ? std::optional(core_.spawn_tries()) : std::nullopt);
}

std::optional<Event> Engine::perform(const recovery::End& end) {
  if (core_.first_world()) {
    if (end.why != recovery::Ending::nobody_left) throw CommonError(sentence_on(end.why));
    throw Unrecoverable(fmt::format("{} of {} processes died while the job was starting, and it has only {} spares",
                                    core_.course().dead.size(), world_.processes, size_.spares));
  }
  const bool was_said = end.why == recovery::Ending::finished || end.why == recovery::Ending::abandoned;
  if (!was_said) end_.fail(ExitCode::unrecoverable, sentence_on(end.why));
  detector_.end();
  store_.end();
  job_status::unwatched();
  end_.has_lost = !was_said || leave_job(world_, detector_);
  close_restore_time();
  announcer_.finish();
  end_.agreed = end.why == recovery::Ending::finished ? ExitCode::ok : report_error(end.code);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::Die&) { fail_stop(end_.own_error); }

// --- the body --------------------------------------------------------------------------------------------------

/// Plays this process's rank until the body is left, and returns why it was.
recovery::BodyLeft Engine::play(const Body& body) {
  pacing_.begin_step();
  store_.forget_members();
  callbacks_.clear();
  result_.answer = {};
  Motion motion = Motion::finish;
  try {
    Session session(*this);
    const InBody in_body;
    body(session);
    throw_noted_error();
    store_.require_restored();
    store_.finish_commit();
    store_.finish_disk();
    report_on_job();
    reach("finish.before");
  } catch (const ProcessFailure& failure) {
    log::debug(fmt::format("rank {} left the body: {}", rank().value, failure.what()));
    motion = Motion::recover;
  } catch (const agreement::Abandoned&) {
    motion = Motion::abandon;
  } catch (const UsageError& error) {
    end_.fail(ExitCode::usage, fmt::format("rank {}: {}", rank().value, error.what()));
    motion = Motion::abandon;
  } catch (const NothingUsable& error) {
    end_.error = {ExitCode::unrecoverable, error.what(), false};
    motion = Motion::abandon;
  } catch (const DataLoss& error) {
    end_.fail(ExitCode::unrecoverable,
              error.what() + casualties_.advise(history_.last(core_.course().fruitless), size_.ranks, disk_.exists()));
    motion = Motion::abandon;
  } catch (const std::exception& error) {
    end_.fail(ExitCode::failed, fmt::format("rank {}: {}", rank().value, error.what()));
    motion = Motion::abandon;
  } catch (...) {
    // Let through, it would end this process, and then each spare that takes its place.
    end_.fail(ExitCode::failed, fmt::format("rank {}: the body threw what is no std::exception", rank().value));
    motion = Motion::abandon;
  }
  return leaving(motion);
}

Event Engine::wait_as_spare() {
  const AtPlace at_place(Place::spare);
  reach("spare.parked");
  const auto matters = [this](ProcessId process) { return world_.roster.rank_of(process).has_value(); };
  witness_.wait(world_.epoch, matters, [](std::span<const ByteCount> sizes, const std::function<bool()>& time) {
    reach("spare.prepare");
    BlockReserve::instance().prepare(sizes, time);
    reach("spare.prepared");
  });
  reach("spare.woken");
  history_.clock().leave_body();
  return recovery::Called{};
}

/// Tells the spares, after a commit, that there is one, in case that all ranks die at once; and what memory a rank
/// needs for its blocks, when that is new. Rank 0 speaks for all.
void Engine::tell_spares() {
  if (part_.rank != Rank{0} || world_.roster.spares.empty()) return;
  briefing_.tell(store_.version(), store_.block_sizes());
}

// --- failure and recovery --------------------------------------------------------------------------------------

/// Ranks that wait for each other in a communicator of which nobody has died, and nobody has heard of anything,
/// would go on doing so. That the application's was revoked, or that the runtime has told of a death, is seen from
/// inside of the call in which they wait.
void Engine::notice_while_waiting() {
  if (!part_.rank || communicators_.interrupted() || !communicators_.has_others()) return;
  const bool has_news = casualties_.have_news();
  if (is_revoked(world_.application.get()) || (has_news && knows_of_failure())) carry_out(recovery::FailureNoticed{});
}

/// Has everyone leave what the application can be blocked in.
void Engine::interrupt() {
  history_.clock().notice();
  if (part_.rank) note_failure();
  communicators_.interrupt();
}

/// All recover: what belongs to the epoch is put away.
void Engine::leave_epoch() {
  history_.clock().begin_recovery();
  close_restore_time();
  store_.end_epoch();
  reach("recovery.begin");
  communicators_.end_epoch();
}

/// The communicators of an epoch are there: the first, or the one after a recovery.
void Engine::enter_epoch(bool newcomer) {
  if (world_.epoch == Epoch{0}) {
    begin_epoch(newcomer);
    return;
  }
  if (!core_.saves()) report_recovery();
  begin_epoch(newcomer);
  if (core_.saves()) return;
  const auto spares = static_cast<std::size_t>(size_.spares);
  if (policy().spawn && world_.roster.spares.size() < spares && recruiter_.hosts(world_)) {
    recruiter_.prepare(spares - world_.roster.spares.size(), world_);
  }
  reach("recovery.done");
}

void Engine::report_recovery() {
  const recovery::Course& course = core_.course();
  const Roster& before = course.before;
  RecoveryReport report;
  report.epoch = world_.epoch;
  report.dead = course.dead.members();
  const auto numbered = [&](Rank rank) { return policy().blank ? before.seat(rank).origin : rank; };
  for (const auto& [rank, dead, newcomer] : replacements(before, world_.roster))
    report.replacements.push_back({numbered(rank), dead, newcomer});
  for (const auto& [rank, dead] : course.given_up) report.given_up.push_back({numbered(rank), dead});
  report.rounds = course.rounds;
  history_.clock().stamp(report, casualties_.first_of(course.dead, before));
  history_.clock().trace(report);
  const auto fruitless = recoveries_before();
  announcer_.tell(report, {fruitless.begin(), fruitless.end()});
  history_.add(std::move(report));
}

/// What a process that joins later should know of what has been.
std::string Engine::memories() const {
  const recovery::Course& course = core_.course();
  std::vector<std::uint32_t> places;
  for (const NodeId place : recruiter_.places()) places.push_back(place.value);
  std::vector<std::uint32_t> dead;
  for (const ProcessId process : course.dead.members()) dead.push_back(process.value);
  return nlohmann::json{{"first_size", size_.ranks},
                        {"fruitless", course.fruitless},
                        {"committed", std::max(store_.version(), witness_.announced()).value},
                        {"places", places},
                        {"recoveries", write_reports(history_.recoveries())},
                        {"before", write_roster(course.before)},
                        {"dead", dead}}
      .dump();
}

std::span<const RecoveryReport> Engine::recoveries() {
  close_restore_time();
  return history_.recoveries();
}

/// When all ranks have come to the end of the body: another that is in a commit would wait for messages in vain.
void Engine::report_on_job() {
  const bool is_wanted = !result_.path.empty() || !history_.recoveries().empty();
  if (!is_wanted || !ballot().vote(Motion::finish, true)) return;
  close_restore_time();
  of_all_ranks_ = over_all_ranks(history_.recoveries(), world_.store.get());
  if (result_.path.empty()) return;
  write_result(result_.path, {size_.spares, pacing_.run_time(), store_.version(), store_.statistics(), of_all_ranks_},
               result_.answer, world_.store.get());
}

/// Has it be said why the job ends, and returns what all exit with.
ExitCode Engine::report_error(ExitCode code) {
  std::function<std::string()> why;
  if (const auto& error = end_.error) {
    const bool disk_may_help = code == ExitCode::unrecoverable && error->disk_may_help;
    why = [&error, disk_may_help, this] { return error->text + (disk_may_help ? disk_.advice() : ""); };
  }
  say_why(world_.base.get(), why);
  return code;
}

Rank Engine::rank() const {
  require(part_.rank.has_value(), "a process that is asked for its rank has one");
  return *part_.rank;
}

// --- for Session -----------------------------------------------------------------------------------------------

bool Engine::knows_of_failure() const { return casualties_.are_in(world_.roster); }

void Engine::check() {
  throw_noted_error();
  if (!knows_of_failure()) return;
  carry_out(recovery::FailureNoticed{});
  throw ProcessFailure("the runtime reported a death");
}

bool Engine::commit_due() {
  throw_noted_error();
  if (witness_.death_count() > 0) check();
  store_.finish_commit();
  return pacing_.due(history_, store_.statistics(), world_.store.get());
}

agreement::Ballot& Engine::ballot() {
  if (end_.agreed) throw agreement::Abandoned();
  return *world_.ballot;
}

/// As if the body were left and entered again, but for that.
void Engine::repair() {
  if (end_.agreed) throw agreement::Abandoned();
  if (callbacks_.under_way())
    throw UsageError(
        "repair() was called by a callback of on_repair(): let the failure pass, and repair again after that");
  if (store_.holds()) {
    abandon(
        ExitCode::usage,
        fmt::format("rank {}: repair() was called inside a transaction: let the failure pass, and repair after that",
                    rank().value));
    throw agreement::Abandoned();
  }
  drive(leaving(Motion::recover));
  if (end_.agreed) throw agreement::Abandoned();
  pacing_.begin_step();
  callbacks_.call();
}

void Engine::follow(MPI_Comm parent, MPI_Comm made) {
  if (end_.agreed || parent == MPI_COMM_NULL || made == MPI_COMM_NULL) return;
  communicators_.follow(parent, made);
}

}  // namespace mend
