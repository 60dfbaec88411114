#include "framework/recovery/engine.hpp"

#include "base/fail_stop.hpp"
#include "base/fault_point.hpp"
#include "base/job_status.hpp"
#include "base/log.hpp"
#include "base/place.hpp"
#include "base/trace.hpp"
#include "framework/recovery/exit_reason.hpp"
#include "framework/recovery/loss_advice.hpp"
#include "framework/process/communicator_hooks.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/spawn/join_info.hpp"
#include "store/snapshot/block_reserve.hpp"
#include "transport/progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ranges>
#include <utility>

namespace mend {
namespace {

using agreement::Motion;
using agreement::Ruling;
using recovery::Event;

template <class Duration>
Milliseconds to_ms(Duration duration) {
  return std::chrono::duration_cast<Milliseconds>(duration);
}

constexpr int tries_of_faulty_ranks = 2;  // --mend-tries, unless it is given
constexpr int tries_with_processes = 10;

/// For how long a sentence that ends the job waits for word on how somebody has died.
constexpr Milliseconds patience_for_causes{200};

/// Why the job cannot go on, for the user. `tries` is set when so many recoveries have come to nothing that no more
/// processes were started.
std::string describe_vacancies(const recovery::Course& course, const Policy& policy, std::optional<int> tries,
                               const CauseOf& cause_of) {
  constexpr const char* more_spares = "start with more spares (mend run --spares N, or --mend-spares N)";
  std::vector<std::string> who;
  for (const Rank rank : course.vacant) {
    who.push_back(fmt::format("rank {} (process {})", rank.value, course.before.seat(rank).holder.process.value));
  }
  std::vector<std::string> causes;
  for (const Rank rank : course.vacant) {
    const DeathCause cause = cause_of(course.before.seat(rank).holder.process);
    if (cause.is_known()) causes.push_back(fmt::format("rank {} by {}", rank.value, cause.to_string()));
  }
  const std::string how = causes.empty() ? "" : fmt::format("; cause: {}", fmt::join(causes, ", "));
  if (!policy.takes_over_ranks()) {
    return fmt::format("{} died and no rank is left to go on: allow spares to take over (--mend-on-failure spare,{}){}",
                       fmt::join(who, ", "), policy.blank ? "blank" : "shrink", how);
  }
  const std::string loss = fmt::format("{} died and no spare is left", fmt::join(who, ", "));
  if (tries) {
    return fmt::format(
        "{}, and no more processes are started after {} recoveries in a row without a commit: perhaps it is the "
        "program that fails; if not, allow for more (--mend-tries N){}",
        loss, *tries, how);
  }
  if (policy.spawn) {
    return fmt::format(
        "{}, nor could a process be started instead: {}, or allow to go on with fewer ranks "
        "(--mend-on-failure spare,spawn,shrink){}",
        loss, more_spares, how);
  }
  return fmt::format(
      "{}: {}, or allow to start processes (--mend-on-failure spare,spawn) or to go on with fewer ranks "
      "(--mend-on-failure spare,shrink){}",
      loss, more_spares, how);
}

/// The same when it is the program that fails.
std::string describe_fault(const RepeatedDeath& fault) {
  if (fault.times == 0) {
    return "a rank died again and again with no commit in between: the program fails there by itself, and no more "
           "processes are used up for it; if that is wrong, allow for more (--mend-tries N)";
  }
  return fmt::format(
      "rank {} died {} times in a row with no commit in between ({}): the program fails there by itself, and no more "
      "processes are used up for it; if that is wrong, allow for more (--mend-tries N)",
      fault.rank.value, fault.times, fault.cause.to_string());
}

using Comms = std::vector<MPI_Comm>;

/// An attribute of derived communicators, whose value is the list that they are on: what is freed leaves it, whoever
/// frees it, and what loses the attribute does.
int list_attribute() {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto leave = [](MPI_Comm comm, int, void* list, void*) {
      std::erase(*static_cast<Comms*>(list), comm);
      return MPI_SUCCESS;
    };
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave, &made, nullptr);
    return made;
  }();
  return keyval;
}

void enlist(MPI_Comm comm, Comms& list) {
  list.push_back(comm);
  MPI_Comm_set_attr(comm, list_attribute(), &list);
}

void move_all(Comms& from, Comms& to) {
  for (MPI_Comm comm : Comms(from)) enlist(comm, to);  // leaves the other
}

void free_all(Comms& list) {
  const ErrorsReturned quiet;
  for (MPI_Comm comm : std::exchange(list, {})) MPI_Comm_free(&comm);
}

void release_all(const Comms& list) {
  const ErrorsReturned quiet;
  for (const MPI_Comm comm : Comms(list)) MPI_Comm_delete_attr(comm, list_attribute());
}

ProcessId own_number() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return launched_processes()[static_cast<std::size_t>(rank)];
}

recovery::Setup setup_of(const Options& options, ProcessId self, std::vector<NodeId> places) {
  return {self, Policy::parse(options.on_failure), options.tries.value_or(tries_with_processes), !options.disk.empty(),
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
  first_size_ = world_.roster.size();
}

Engine::Engine(const Options& options, FailureDetector& detector, Arrival& arrival)
    : Engine(options, detector, &arrival) {
  const auto memories = nlohmann::json::parse(arrival.memories());
  first_size_ = memories.at("first_size");
  witness_.hear(Version{memories.at("committed")});
  recoveries_ = read_reports(memories.at("recoveries"));
  left_body_ = WallClock::now();
  drive(recovery::Begin{});
}

Engine::Engine(const Options& options, FailureDetector& detector, Arrival* arrival)
    : detector_(detector),
      policy_(Policy::parse(options.on_failure)),
      agreements_(options.agreement),
      world_(arrival == nullptr ? World{} : arrival->join(agreements_)),
      maker_(world_, agreements_),
      core_(arrival == nullptr ? core_at_the_start(options, detector)
                               : core_of_newcomer(options, world_, arrival->memories())),
      self_(core_.self()),
      announcer_(self_, witness_),
      recruiter_(self_, detector, agreements_, options.spawn_limit),
      wanted_spares_(options.spares),
      spares_prepare_(options.spare_memory == "ready"),
      tries_(options.tries),
      disk_(options.disk.empty() ? std::nullopt : std::optional(DiskOptions::parse(options.disk))),
      store_(Redundancy::parse(options.redundancy), options.versions, disk_,
             options.find_changes == "writes" ? FindChanges::by_writes : FindChanges::by_hash),
      schedule_(options.commit_every),
      given_mtbf_(options.mtbf),
      result_(options.result) {
  recruiter_.prefer(core_.places());
  Redundancy::parse(options.redundancy).require_ranks(core_.ranks());  // spares must refuse it too
  if (options.find_changes == "writes" && !DirtyPages::is_possible() && arrival == nullptr && self_ == ProcessId{0}) {
    log::warn("this kernel does not tell what was written (Linux 6.7 and later do): commits find changes by hash");
  }
  if (disk_) disk_lock_.emplace(disk_->folder, FolderLock::As::member);
  log::set_speaker(self_);
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
  free_all(derived_);
  free_all(retired_);
  release_all(followed_);
}

void Engine::begin_epoch(bool newcomer) {
  if (!rank_) since_rank_ = Stopwatch();
  rank_ = core_.rank();
  newcomer_ = newcomer;
  interrupted_ = false;
  progressed_ = false;
  news_ = {};
  announced_ = false;
  advised_.clear();
  noticed_.reset();
  schedule_.restart();
  before_epoch_ = store_.statistics();
  restored_elsewhere_ = {};
  announcer_.enter(world_.roster, world_.members);
  detector_.enter(world_.members);
  note_rank(rank_ && policy_.blank ? world_.roster.seat(*rank_).origin : rank_);
  if (!rank_) return;
  take_into_epoch(store_);
  store_.hear(witness_.announced());
  if (world_.epoch == Epoch{0} && *rank_ == Rank{0} && world_.roster.size() == 1 && !world_.roster.spares.empty()) {
    log::warn("with a single rank nobody holds a copy of its data: if it dies, they are lost");
  }
}

void Engine::take_into_epoch(StoreEngine& store) {
  std::vector<NodeId> nodes;
  std::vector<Rank> numbers;
  for (const Seat& seat : world_.roster.seats) {
    nodes.push_back(seat.holder.node);
    if (policy_.blank) numbers.push_back(seat.origin);
  }
  store.begin_epoch(world_.store.get(), *world_.ballot, nodes, world_.epoch, numbers);
}

// --- the loop --------------------------------------------------------------------------------------------------

ExitCode Engine::run(const Body& body) {
  if (!world_.roster.spares.empty() || policy_.spawn) forbid_world();
  set_body_rules(rules_of_bodies());
  while (wait_for_rank()) {
    const recovery::BodyLeft left = play(body);
    if (!ended_) drive(left);
  }
  return *ended_;
}

bool Engine::wait_for_rank() {
  while (!ended_ && !rank_) drive(wait_as_spare());
  return !ended_;
}

bool Engine::finish() {
  Motion motion = Motion::finish;
  try {
    write_result_file();
  } catch (const ProcessFailure&) {
    motion = Motion::recover;
  } catch (const agreement::Abandoned&) {
    motion = Motion::abandon;
  } catch (const std::exception& error) {
    const bool misused = dynamic_cast<const UsageError*>(&error) != nullptr;
    error_ =
        Error{misused ? ExitCode::usage : ExitCode::failed, fmt::format("rank {}: {}", rank_->value, error.what())};
    motion = Motion::abandon;
  }
  reach("finish.before");
  drive(leaving(motion));
  return ended_.has_value();
}

void Engine::abandon(ExitCode code, const std::string& sentence) {
  error_ = Error{code, sentence};
  drive(leaving(Motion::abandon));
}

BodyRules Engine::rules_of_bodies() {
  return {[this] { return world_.application.get(); },
          [this](const std::string& sentence) {
            // A failure that is met meanwhile comes first, and is recovered from here.
            while (!ended_) abandon(ExitCode::usage, fmt::format("rank {}: {}", rank_->value, sentence));
          },
          [this] {
            job_status::finished(*ended_);
            has_lost_ ? leave_mpi_alone() : static_cast<void>(PMPI_Finalize());
          }};
}

recovery::BodyLeft Engine::leaving(Motion motion) {
  left_body_ = WallClock::now();
  return {motion, error_ ? error_->code : ExitCode::ok, has_progressed()};
}

/// Has the core take `event`, and carries out what it wants until this process is in the body, parked, or at the end.
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
    own_error_ = error.what();
    log::debug(fmt::format("process {} has an error of its own: {}", self_.value, own_error_));
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
    error_ = Error{ExitCode::usage,
                   fmt::format("rank {} has left the body while another rank is in a commit, restore or agree: "
                               "every rank must come to these in the same order",
                               rank_->value)};
  }
  ProcessSet dead;
  for (const WitnessedDeath& death : witness_.deaths()) dead.insert(death.process);
  return recovery::Ruled{ruling, std::move(dead)};
}

std::optional<Event> Engine::perform(const recovery::DecideJob& decide) {
  reach("decision.before");
  const JobDecision decision =
      decide_job(*world_.everyone, decide.intent, decide.code, decide.progressed, would_recover_in_vain());
  if (decision.what == Intent::recover) {
    if (!core_.saves()) in_vain_.reset();
    if (decision.in_vain && !core_.saves()) in_vain_ = repeated_death().value_or(RepeatedDeath{});
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
    agreed_on_dead_ = WallClock::now();
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

/// The last rung: nobody is there for some ranks, and the job ends. Those that are left bring what they have to disk
/// before that, in a world without the others.
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
    case recovery::Ending::rank_fails: return describe_fault(*in_vain_);
    default: break;
  }
  witness_.wait_for_causes(course.dead.members(), patience_for_causes);
  return describe_vacancies(course, policy_,
                            core_.out_of_tries() ? std::optional(tries_.value_or(tries_with_processes)) : std::nullopt,
                            [this](ProcessId process) { return witness_.cause_of(process); });
}

std::optional<Event> Engine::perform(const recovery::End& end) {
  if (core_.first_world()) {
    if (end.why != recovery::Ending::nobody_left) throw CommonError(sentence_on(end.why));
    throw Unrecoverable(fmt::format("{} of {} processes died while the job was starting, and it has only {} spares",
                                    core_.course().dead.size(), world_.processes, wanted_spares_));
  }
  const bool was_said = end.why == recovery::Ending::finished || end.why == recovery::Ending::abandoned;
  if (!was_said) error_ = Error{ExitCode::unrecoverable, sentence_on(end.why)};
  detector_.end();
  store_.end();
  job_status::unwatched();
  has_lost_ = !was_said || find_out_who_is_missing();
  close_restore_time();
  announcer_.finish();
  ended_ = end.why == recovery::Ending::finished ? ExitCode::ok : report_error(end.code);
  return std::nullopt;
}

std::optional<Event> Engine::perform(const recovery::Die&) { fail_stop(own_error_); }

// --- the end ---------------------------------------------------------------------------------------------------

/// Whether this rank has committed anything in this epoch.
bool Engine::has_progressed() const { return progressed_ || store_.statistics().commits > before_epoch_.commits; }

/// Those whose holders are known to have died in this epoch.
std::vector<Loss> Engine::lost_ranks() const {
  std::vector<Loss> lost;
  for (int i = 0; i < world_.roster.size(); ++i) {
    const Seat& seat = world_.roster.seat(Rank{i});
    const auto is_it = [&](ProcessId process) { return process == seat.holder.process; };
    if (witness_.has_died(is_it)) lost.push_back({policy_.blank ? seat.origin : Rank{i}, seat.holder.process});
  }
  return lost;
}

/// The recoveries before the present one since which nothing was committed.
std::vector<RecoveryReport> Engine::fruitless_recoveries() const {
  const auto count = std::min(static_cast<std::size_t>(core_.course().fruitless), recoveries_.size());
  return {recoveries_.end() - static_cast<std::ptrdiff_t>(count), recoveries_.end()};
}

std::optional<RepeatedDeath> Engine::repeated_death() const {
  return find_repeated_death(fruitless_recoveries(), lost_ranks(),
                             [this](ProcessId process) { return witness_.cause_of(process); });
}

/// As far as this process knows; unless somebody has committed since.
bool Engine::would_recover_in_vain() const {
  const auto repeated = repeated_death();
  return repeated && repeated->times > tries_.value_or(tries_of_faulty_ranks);
}

/// Whether anybody who has ever been in the job is not here any more. The same everywhere.
bool Engine::find_out_who_is_missing() const {
  int nothing = 0;
  const bool known_to_all = static_cast<std::uint32_t>(world_.base.size()) < world_.processes;
  if (!known_to_all) return MPIX_Comm_agree(world_.base.get(), &nothing) != MPI_SUCCESS;
  part();
  return true;
}

/// Ends when nobody needs this process's answers any more. Whoever knows that leaves, which the runtime calls no death;
/// should one have died before it passed that on, there may be nobody left to ask. So those who are gone are not waited
/// for.
void Engine::part() const {
  const ErrorsReturned quiet;
  constexpr Seconds now_and_then{1e-3};
  int nothing = 0;
  int over = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPIX_Comm_iagree(world_.base.get(), &nothing, &request);
  for (Stopwatch since; over == 0;) {
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    if (since.elapsed() < now_and_then) continue;
    detector_.let_go_of_the_gone();
    since = Stopwatch();
  }
}

/// Plays this process's rank until the body is left, and returns why it was.
recovery::BodyLeft Engine::play(const Body& body) {
  step_watch_ = Stopwatch();
  store_.forget_members();
  callbacks_.clear();
  answer_ = {};
  Motion motion = Motion::finish;
  try {
    Session session(*this);
    const InBody in_body;
    body(session);
    throw_noted_error();
    store_.finish_commit();
    store_.finish_disk();
    write_result_file();
    reach("finish.before");
  } catch (const ProcessFailure& failure) {
    log::debug(fmt::format("rank {} left the body: {}", rank_->value, failure.what()));
    motion = Motion::recover;
  } catch (const agreement::Abandoned&) {
    motion = Motion::abandon;
  } catch (const UsageError& error) {
    error_ = Error{ExitCode::usage, fmt::format("rank {}: {}", rank_->value, error.what())};
    motion = Motion::abandon;
  } catch (const NothingUsable& error) {
    error_ = Error{ExitCode::unrecoverable, error.what(), false};
    motion = Motion::abandon;
  } catch (const DataLoss& error) {
    error_ = Error{ExitCode::unrecoverable, error.what() + advice_on_loss()};
    motion = Motion::abandon;
  } catch (const std::exception& error) {
    error_ = Error{ExitCode::failed, fmt::format("rank {}: {}", rank_->value, error.what())};
    motion = Motion::abandon;
  } catch (...) {
    // Let through, it would end this process, and then each spare that takes its place.
    error_ = Error{ExitCode::failed, fmt::format("rank {}: the body threw what is no std::exception", rank_->value)};
    motion = Motion::abandon;
  }
  return leaving(motion);
}

Event Engine::wait_as_spare() {
  const AtPlace at_place(Place::spare);
  reach("spare.parked");
  const auto matters = [this](ProcessId process) { return holds_rank(process); };
  witness_.wait(world_.epoch, matters, [](std::span<const ByteCount> sizes, const std::function<bool()>& time) {
    reach("spare.prepare");
    BlockReserve::instance().prepare(sizes, time);
    reach("spare.prepared");
  });
  reach("spare.woken");
  left_body_ = WallClock::now();
  return recovery::Called{};
}

/// Tells the spares, after a commit, that there is one, in case that all ranks die at once; and what memory a rank
/// needs for its blocks, when that is new. Rank 0 speaks for all.
void Engine::tell_spares() {
  if (rank_ != Rank{0} || world_.roster.spares.empty()) return;
  if (!std::exchange(announced_, true)) witness_.announce(store_.version());
  if (!spares_prepare_) return;
  std::vector<ByteCount> sizes = store_.block_sizes();
  std::erase_if(sizes, [](ByteCount size) { return size < large_page; });
  std::ranges::transform(sizes, sizes.begin(), with_room_to_grow);
  if (sizes == advised_) return;
  advised_ = sizes;
  witness_.advise(sizes);
}

// --- failure and recovery --------------------------------------------------------------------------------------

/// Ranks that wait for each other in a communicator of which nobody has died, and nobody has heard of anything, would
/// go on doing so. That the application's was revoked, or that the runtime has told of a death, is seen from inside of
/// the call in which they wait.
void Engine::notice_while_waiting() {
  const bool may_wait_elsewhere = !derived_.empty() || !followed_.empty();
  if (!rank_ || interrupted_ || !may_wait_elsewhere) return;
  const bool has_news = news_.is_there(witness_);
  if (is_revoked(world_.application.get()) || (has_news && knows_of_failure())) carry_out(recovery::FailureNoticed{});
}

/// Revokes what the application can be blocked in, what was derived first.
void Engine::interrupt() {
  if (!noticed_) noticed_ = WallClock::now();
  interrupted_ = true;
  reach("recovery.interrupt");
  for (MPI_Comm comm : derived_) revoke(comm);
  for (MPI_Comm comm : followed_) revoke(comm);
  if (world_.store) revoke(world_.store.get());
  if (world_.application) revoke(world_.application.get());
}

/// All recover: what belongs to the epoch is put away.
void Engine::leave_epoch() {
  recovery_began_ = WallClock::now();
  close_restore_time();
  store_.end_epoch();
  reach("recovery.begin");
  for (MPI_Comm comm : derived_) take_for_outdated(comm);
  for (MPI_Comm comm : followed_) take_for_outdated(comm);
  free_all(retired_);
  move_all(derived_, retired_);
  release_all(followed_);
  if (world_.application) take_for_outdated(world_.application.get());
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
  const auto spares = static_cast<std::size_t>(wanted_spares_);
  if (policy_.spawn && world_.roster.spares.size() < spares && recruiter_.hosts(world_)) {
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
  const auto numbered = [&](Rank rank) { return policy_.blank ? before.seat(rank).origin : rank; };
  for (const auto& [rank, dead, newcomer] : replacements(before, world_.roster))
    report.replacements.push_back({numbered(rank), dead, newcomer});
  for (const auto& [rank, dead] : course.given_up) report.given_up.push_back({numbered(rank), dead});
  auto noticed = noticed_.value_or(left_body_);
  // It began with the first death of one that held a rank: a spare may have died long before.
  for (const WitnessedDeath& death : witness_.deaths()) {
    if (course.dead.contains(death.process) && before.rank_of(death.process)) noticed = std::min(noticed, death.when);
  }
  report.set_moments(noticed, left_body_, agreed_on_dead_, WallClock::now());
  const auto after = [&](Milliseconds time) {
    return report.noticed + std::chrono::duration_cast<WallClock::duration>(time);
  };
  trace::record("interrupt", report.noticed, after(report.interrupt));
  trace::record("agree", after(report.interrupt), after(report.interrupt + report.agree));
  trace::record("rebuild", after(report.interrupt + report.agree), after(report.until_rebuilt()));
  report.rounds = course.rounds;
  std::vector<RecoveryReport> fruitless;
  if (course.fruitless > 1) {
    fruitless = fruitless_recoveries();
    fruitless.erase(fruitless.begin(),
                    fruitless.end() - std::min<std::ptrdiff_t>(course.fruitless - 1, std::ssize(fruitless)));
  }
  announcer_.tell(report, std::move(fruitless));
  recoveries_.push_back(report);
  trace::record("recovery", recovery_began_.value_or(left_body_), WallClock::now());
}

/// What a process that joins later should know of what has been.
std::string Engine::memories() const {
  const recovery::Course& course = core_.course();
  std::vector<std::uint32_t> places;
  for (const NodeId place : recruiter_.places()) places.push_back(place.value);
  std::vector<std::uint32_t> dead;
  for (const ProcessId process : course.dead.members()) dead.push_back(process.value);
  return nlohmann::json{{"first_size", first_size_},
                        {"fruitless", course.fruitless},
                        {"committed", std::max(store_.version(), witness_.announced()).value},
                        {"places", places},
                        {"recoveries", write_reports(recoveries_)},
                        {"before", write_roster(course.before)},
                        {"dead", dead}}
      .dump();
}

/// The restore phase ends when the body has its data; what it took is known only afterwards.
void Engine::close_restore_time() {
  if (recoveries_.empty()) return;
  recoveries_.back().restore =
      to_ms(store_.statistics().restore_time - before_epoch_.restore_time + restored_elsewhere_);
}

std::span<const RecoveryReport> Engine::recoveries() {
  close_restore_time();
  return recoveries_;
}

/// When all ranks have come to the end of the body: another that is in a commit would wait for messages in vain.
void Engine::write_result_file() {
  if (result_.empty() || !ballot().vote(Motion::finish, true)) return;
  close_restore_time();
  write_result(result_, {wanted_spares_, since_start_.elapsed(), store_.version(), store_.statistics(), recoveries_},
               answer_, world_.application.get());
}

/// Has it be said why the job ends, and returns what all exit with.
ExitCode Engine::report_error(ExitCode code) {
  std::function<std::string()> why;
  if (error_) why = [&] { return error_->text + advice_on_disk(code); };
  say_why(world_.base.get(), why);
  return code;
}

/// What would have kept the data of those who died since the last commit.
std::string Engine::advice_on_loss() const {
  std::vector<LostRank> lost;
  const auto deaths = witness_.deaths();
  const auto add = [&](Rank rank, ProcessId process) {
    const auto found = std::ranges::find(deaths, process, &WitnessedDeath::process);
    if (found != deaths.end()) lost.push_back({rank, witness_.cause_of(process), found->when});
  };
  for (const RecoveryReport& report : fruitless_recoveries()) {
    for (const Replacement& one : report.replacements) add(one.rank, one.dead);
    for (const Loss& one : report.given_up) add(one.rank, one.dead);
  }
  return advise_on_loss(lost, first_size_, disk_.has_value());
}

/// Where a new job could go on, if this one cannot.
std::string Engine::advice_on_disk(ExitCode code) const {
  if (!disk_ || code != ExitCode::unrecoverable || !error_->disk_may_help) return "";
  const auto versions = complete_versions(disk_->folder);
  if (versions.empty()) return "";
  return fmt::format("; version {} is on disk: start again with --mend-disk={}", versions.front().version.value,
                     disk_->folder.string());
}

// --- for Session -----------------------------------------------------------------------------------------------

bool Engine::knows_of_failure() const {
  return witness_.has_died([this](ProcessId process) { return holds_rank(process); });
}

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
  const Seconds since_last = step_watch_.lap();
  if (schedule_.wants_measurement() && store_.statistics().commits > before_epoch_.commits) measure_commits(since_last);
  return schedule_.step();
}

/// Agrees on what a commit and a step cost, so that all ranks commit at the same steps. `step_with_commit`: what lay
/// between the last two questions. Only this epoch's commits count: they are the same on newcomers and survivors.
void Engine::measure_commits(Seconds step_with_commit) {
  const AtPlace at_place(Place::commit_due);
  const StoreStatistics& now = store_.statistics();
  const Seconds commit_cost =
      (now.commit_time - before_epoch_.commit_time) / static_cast<double>(now.commits - before_epoch_.commits);
  // The most that any rank has measured; of the times between failures the least, so with its sign turned.
  const Seconds mtbf = mtbf_of(given_mtbf_, since_start_.elapsed(), recoveries_.size()).time;
  std::array<double, 3> worst{commit_cost.count(), std::max(Seconds{0}, step_with_commit - commit_cost).count(),
                              -mtbf.count()};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, worst.data(), 3, MPI_DOUBLE, MPI_MAX, world_.store.get()), "MPI_Allreduce");
  schedule_.measured(Seconds{worst[0]}, Seconds{worst[1]}, Seconds{-worst[2]});
}

CommitEconomy Engine::commit_economy() const {
  const StoreStatistics& store = store_.statistics();
  // Commits are those of this process, which may have come later.
  return {since_rank_.elapsed(), store.commits, store.commit_time, recoveries_.size(),
          mtbf_of(given_mtbf_, since_start_.elapsed(), recoveries_.size())};
}

agreement::Ballot& Engine::ballot() {
  if (ended_) throw agreement::Abandoned();
  return *world_.ballot;
}

/// As if the body were left and entered again, but for that.
void Engine::repair() {
  if (ended_) throw agreement::Abandoned();
  if (in_callbacks_)
    throw UsageError(
        "repair() was called by a callback of on_repair(): let the failure pass, and repair again after that");
  if (store_.holds()) {
    abandon(
        ExitCode::usage,
        fmt::format("rank {}: repair() was called inside a transaction: let the failure pass, and repair after that",
                    rank_->value));
    throw agreement::Abandoned();
  }
  drive(leaving(Motion::recover));
  if (ended_) throw agreement::Abandoned();
  step_watch_ = Stopwatch();
  // What a callback registers is for the next repair.
  const std::vector<std::function<void()>> callbacks = callbacks_;
  const struct Within {
    explicit Within(bool& flag) : flag_(flag) { flag_ = true; }
    ~Within() { flag_ = false; }
    bool& flag_;
  } now(in_callbacks_);
  for (const auto& callback : callbacks) callback();
}

MPI_Comm Engine::derive(const std::function<MPI_Comm(MPI_Comm)>& factory) {
  const MPI_Comm made = factory(world_.application.get());
  if (made != MPI_COMM_NULL) {
    throw_errors_of(made);
    enlist(made, derived_);
    if (interrupted_) revoke(made);  // while it was made
  }
  return made;
}

/// The application has made `made` of `parent` by MPI itself, and will free it, or is on the way to what derive() is
/// for: should it descend from this epoch's communicator, nobody stays blocked in it after a failure.
void Engine::follow(MPI_Comm parent, MPI_Comm made) {
  if (ended_ || parent == MPI_COMM_NULL || made == MPI_COMM_NULL) return;
  take_for_new(made);
  const auto has = [parent](const Comms& list) { return std::ranges::find(list, parent) != list.end(); };
  const bool descends = parent == world_.application.get() || has(derived_) || has(followed_);
  if (!descends) return;
  enlist(made, followed_);
  if (interrupted_) revoke(made);  // while it was made
}

}  // namespace mend
