// A job whose processes are recovery cores, above a small model of MPI and the agreements.
//
// The model; each part is as weak as the real one may be:
//   - Communicators belong to their members and can be revoked. A call on one matches the others' n-th call of its
//     kind.
//   - An agreement is decided when all living members have come. The contribution of a dead member is in it, or its
//     death is reported. The decision reaches each member at its own time. If a member dies after the decision, its
//     messages may be lost: then the members that still wait need an answer from members in a call that answers (an
//     agreement, settling, waiting for a newcomer). A member that computes, is parked or waits in MPI does not answer.
//   - Shrinking makes a communicator of the living, and perhaps of those that died while it was made. If a member dies
//     meanwhile, it may fail in one process and succeed in another.
//   - Other collective calls wait for all. If a member dies, its next neighbour sees that; the others may not. A call
//     ends with an error when its communicator was revoked.
//   - The communicators of the first epoch are made with the library's agreement, which answers from inside any call
//     of the library.
//   - A parked process learns of ranks that die, and of calls. A call is lost if the caller dies at once.
//   - A newcomer takes part while it and its host live. Each process is on a machine of its own.
//   - A body exchanges data in a ring, restores with the others if the epoch is not the first, exchanges data again and
//     returns. Each rank's data is with the rank and with the next one.
// Faults: a process dies, between two steps or between two actions of one; a call of one process fails although no
// process died.

#pragma once

#include "framework/recovery/core/recovery_core_impl.hpp"
#include "tests/framework/recovery/recovery_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mend::recovery {

template <class Rules>
class System {
 public:
  using Core = BasicCore<Rules>;

  enum class Kind : std::uint8_t { decide, go, fail, notice, newcomer_ends, error, crash };
  struct Step {
    Kind kind = Kind::go;
    std::uint8_t who = 0;    ///< the process, or the point that is decided
    std::uint8_t which = 0;  ///< the process noticed, or the way of deciding or dying
    std::uint8_t cut = 0;    ///< if not 0: dies after this many actions
  };

  explicit System(const Scene& scene) : scene_(std::make_shared<Scene>(scene)) {
    deaths_left_ = 0;
    errors_left_ = 0;
    std::vector<ProcessId> launched;
    std::vector<Placed> introduced;
    const auto total = static_cast<std::uint32_t>(scene.ranks + scene.spares);
    Comm world;
    world.used = true;
    for (std::uint32_t p = 0; p < total; ++p) {
      launched.push_back(ProcessId{p});
      introduced.push_back({ProcessId{p}, NodeId{p}});
      world.members = static_cast<Mask>(world.members | 1U << p);
      world.order[world.size++] = static_cast<std::uint8_t>(p);
      living_ = static_cast<Mask>(living_ | 1U << p);
    }
    comms_.all.push_back(world);
    nodes_.resize(total + static_cast<std::size_t>(scene.newcomers));
    for (std::uint32_t p = 0; p < nodes_.size(); ++p) nodes_[p] = std::make_shared<Node>();
    for (std::uint32_t p = 0; p < total; ++p) {
      Node& node = touch(p);
      node.core.emplace(setup(p), launched, introduced, scene.ranks);
      node.base = 0;
      node.data = data_of(p, scene.ranks);
    }
    for (std::uint32_t p = 0; p < total; ++p) act(p, touch(p).core->step(Begin{}), 0, nullptr);
    if (!scene.from_the_start) run_to_first_epoch();
    deaths_left_ = scene.deaths;
    errors_left_ = scene.errors;
  }

  // --- possible steps ------------------------------------------------------------------------------------------------

  bool progresses(Step step) const { return step.cut == 0 && step.kind != Kind::error && step.kind != Kind::crash; }

  std::vector<Step> steps() const {
    std::vector<Step> all;
    for (std::uint8_t i = 0; i < comms_.points.size(); ++i) {
      if (!can_decide(comms_.points[i])) continue;
      // At once, because no process can see whether something else happens before.
      all.push_back({Kind::decide, i, 0, 0});
      if (undecided_dead(comms_.points[i]) != 0) all.push_back({Kind::decide, i, 1, 0});
      return all;
    }
    for (std::uint8_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p)) continue;
      const Node& node = *nodes_[p];
      const std::size_t before = all.size();
      if (can_go(p)) {
        all.push_back({Kind::go, p, 0, 0});
        if (hears_ruling(node) && all_dead() != node.noticed) all.push_back({Kind::go, p, 1, 0});
      }
      if (can_fail(p)) all.push_back({Kind::fail, p, 0, 0});
      for (std::uint8_t q = 0; q < nodes_.size(); ++q) {
        if (can_notice(p, q)) all.push_back({Kind::notice, p, q, 0});
      }
      if (must_end(p)) all.push_back({Kind::newcomer_ends, p, 0, 0});
      if (deaths_left_ > 0 && (scene_->mortal >> p & 1U)) {
        const std::size_t after = all.size();
        for (std::size_t i = before; i < after; ++i) {
          if (all[i].kind == Kind::newcomer_ends) continue;
          for (std::uint8_t cut = 1; cut <= 3; ++cut) all.push_back({all[i].kind, p, all[i].which, cut});
        }
        all.push_back({Kind::crash, p, 0, 0});
        if (would_disturb(p)) all.push_back({Kind::crash, p, 1, 0});
      }
      if (can_err(p)) all.push_back({Kind::error, p, 0, 0});
    }
    return all;
  }

  /// `told`: gets a line for each action of a process.
  bool take(Step step, std::string* told) {
    const std::uint8_t p = step.who;
    switch (step.kind) {
      case Kind::decide: decide(comms_.points[p], step.which == 1); break;
      case Kind::go:
        if (!go(p, step.which == 1, step.cut, told)) return false;
        break;
      case Kind::fail:
        if (!fail(p, step.cut, told)) return false;
        break;
      case Kind::notice: {
        Node& node = touch(p);
        node.noticed = static_cast<Mask>(node.noticed | 1U << step.which);
        if (!feed(p, ProcessDied{ProcessId{step.which}}, step.cut, told)) return false;
        break;
      }
      case Kind::newcomer_ends:
        if (told) *told += fmt::format("  {} ends, because its host has died\n", p);
        crash(p, false);
        break;
      case Kind::error: err(p, told); break;
      case Kind::crash:
        if (told) *told += fmt::format("  {} dies{}\n", p, step.which == 1 ? ", and what it has sent is lost" : "");
        --deaths_left_;
        crash(p, step.which == 1);
        break;
    }
    tidy();
    return true;
  }

  transport::Fingerprint print() const {
    transport::Fingerprint print;
    print.add(living_ | std::uint64_t{errors_left_ > 0} << 16U | std::uint64_t(deaths_left_) << 20U |
              std::uint64_t{lost_} << 32U | std::uint64_t{saved_} << 48U);
    for (std::size_t p = 0; p < nodes_.size(); ++p) print.add(nodes_[p]->print());
    for (const Comm& comm : comms_.all) comm.add_to(print, living_, nodes_.size());
    for (const Point& point : comms_.points) point.add_to(print, comms_[point.comm], living_, nodes_.size());
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      for (std::size_t by = 0; by < nodes_.size(); ++by) calls_[p][by].add_to(print);
    }
    print.add(complaint_.size());
    return print;
  }

  // --- the promises ------------------------------------------------------------------------------------------------

  std::optional<std::string> broken(bool at_rest) const {
    if (!complaint_.empty()) return complaint_;
    const Node* first = nullptr;
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p) || !nodes_[p]->core) continue;
      const Node& node = *nodes_[p];
      if (at_rest && !node.end)
        return fmt::format("Termination: {} waits for ever, {}", p, to_string(node.core->state()));
      for (std::size_t q = 0; q < p; ++q) {
        if (!lives(q) || !nodes_[q]->core) continue;
        if (auto apart = apart_from(node, *nodes_[q])) return fmt::format("Agreement: {} and {} {}", q, p, *apart);
      }
      first = first ? first : &node;
    }
    const bool had_data = first && !first->core->first_epoch();
    const auto is_vacant = [](Ending why) { return why == Ending::nobody_left || why == Ending::rank_fails; };
    if (had_data && first->end && is_vacant(first->end->why) && scene_->disk && at_rest) {
      Mask left = 0;
      for (std::size_t p = 0; p < nodes_.size(); ++p) {
        if (lives(p)) left = static_cast<Mask>(left | nodes_[p]->data);
      }
      if (left & ~saved_) return "Data: the job ends, and what is left was not saved";
    }
    if (had_data && first->end && first->end->why == Ending::nobody_left && could_start_one(*first->core))
      return "Hosts: the job ends, although a process could be started";
    return std::nullopt;
  }

  std::string describe() const {
    std::string text;
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      const Node& node = *nodes_[p];
      if (!lives(p)) {
        if (node.stage != Stage::unborn) text += fmt::format("  in the end {} is dead\n", p);
      } else if (node.core) {
        text += fmt::format("  in the end {} is {} in epoch {}", p, to_string(node.core->state()),
                            node.core->position().epoch.value);
        if (node.end) text += ", " + to_string(Action{*node.end});
        text += "\n";
      }
    }
    return text;
  }

  // --- for scripted and random runs --------------------------------------------------------------------------------

  bool lives(std::size_t p) const { return (living_ >> p & 1U) != 0; }
  std::size_t size() const { return nodes_.size(); }
  const Core* core(std::size_t p) const { return nodes_[p]->core ? &*nodes_[p]->core : nullptr; }
  std::optional<End> end_of(std::size_t p) const { return nodes_[p]->end; }
  bool newcomer_waits(std::size_t p) const { return lives(p) && nodes_[p]->stage == Stage::at_line; }
  bool can_err(std::size_t p) const {
    const Node& node = *nodes_[p];
    if (!lives(p) || !node.core || node.op == Op::nothing || (!node.troubled && errors_left_ == 0)) return false;
    // A resource that was missing once may be missing again.
    return !node.troubled || node.op == Op::split || node.op == Op::start;
  }

 private:
  using Node = Participant<Core>;

  Setup setup(std::uint32_t p) const { return {ProcessId{p}, scene_->policy, scene_->spawn_tries, scene_->disk, {}}; }
  Mask data_of(std::uint32_t rank, int ranks) const {
    if (static_cast<int>(rank) >= ranks) return 0;
    const auto n = static_cast<std::uint32_t>(ranks);
    return static_cast<Mask>(1U << rank | 1U << ((rank + n - 1) % n));
  }

  /// Returns true if there is a process to be started, and not all that may start it have tried.
  bool could_start_one(const Core& core) const {
    const auto next = nodes_.begin() + static_cast<std::ptrdiff_t>(core.position().processes);
    const auto is_unborn = [](const auto& node) { return node->stage == Stage::unborn; };
    const std::size_t hosts = std::min(most_hosts, core.position().members.size());
    return scene_->policy.spawn && std::any_of(next, nodes_.end(), is_unborn) && core.course().unable.size() < hosts;
  }

  /// Runs without faults until all are in the first epoch, and no process has done anything in it.
  void run_to_first_epoch() {
    const auto is_there = [&](const Step& step) {
      return step.kind != Kind::decide && !nodes_[step.who]->core->first_epoch();
    };
    for (;;) {
      std::vector<Step> next = steps();
      std::erase_if(next, is_there);
      if (next.empty()) return;
      take(next.front(), nullptr);
    }
  }

  Node& touch(std::size_t p) {
    if (nodes_[p].use_count() > 1) nodes_[p] = std::make_shared<Node>(*nodes_[p]);
    nodes_[p]->known.reset();
    return *nodes_[p];
  }
  Mask all_dead() const {
    Mask dead = 0;
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p) && nodes_[p]->stage != Stage::unborn) dead = static_cast<Mask>(dead | 1U << p);
    }
    return dead;
  }

  // --- points at which calls meet

  Point* point_of(const Node& node) { return comms_.find(node.on, node.op, node.number); }
  const Point* point_of(const Node& node) const { return comms_.find(node.on, node.op, node.number); }

  void enter(std::size_t p, CommId comm, Op op, std::uint8_t tag, std::uint32_t contribution = 0) {
    Node& node = touch(p);
    if (comm == none) {
      complaint_ = fmt::format("{} has no communicator for what it does, {}", p, to_string(node.core->state()));
      return;
    }
    Point& point = comms_.enter(p, comm, op, tag);
    node.op = op;
    node.on = comm;
    node.number = point.number;
    if (point.tag != tag) complaint_ = fmt::format("Agreement: {} comes to a call for another reason than others", p);
    point.contributions[p] = contribution;
  }

  bool all_entered(const Point& point) const { return (comms_[point.comm].members & living_ & ~point.entered) == 0; }

  bool can_decide(const Point& point) const {
    if (point.decided || !all_entered(point)) return false;
    return point.op == Op::agree || point.op == Op::shrink || point.op == Op::meet;
  }
  Mask undecided_dead(const Point& point) const {
    return static_cast<Mask>(point.entered & ~living_ & ~comms_[point.comm].reported);
  }

  /// `without`: leaves out and reports the dead members that had come; otherwise they count.
  void decide(Point& point, bool without) {
    Comm& comm = comms_[point.comm];
    point.decided = true;
    Mask counted = static_cast<Mask>(point.entered & (without ? living_ : 0xffff) & ~comm.reported);
    if (point.op == Op::agree) {
      point.value = 0x7fffffff;
      for (std::size_t p = 0; p < nodes_.size(); ++p) {
        if (!(counted >> p & 1U)) continue;
        point.value &= point.contributions[p];
        point.data = static_cast<Mask>(point.data | nodes_[p]->data);
      }
      const Mask missing = static_cast<Mask>(comm.members & ~counted & ~comm.reported);
      point.died = missing != 0;
      comm.reported = static_cast<Mask>(comm.reported | missing);
      return;
    }
    const Mask members = static_cast<Mask>(comm.members & (without ? living_ : living_ | point.entered));
    point.may_fail = (comm.members & ~living_ & point.entered) != 0;
    const Comm like = comm;
    point.made = comms_.make(members, like);
  }

  /// The communicators of the first epoch are made with the library's agreement, which answers from inside any call.
  bool answers(const Node& node) const {
    return (node.core && node.core->first_epoch()) || node.op == Op::agree || node.op == Op::settle ||
           node.op == Op::start;
  }

  // --- how a wait ends: recovery_waits.hpp

  bool hears_ruling(const Node& node) const { return node.op == Op::agree && node.core->state() == State::balloting; }
  bool can_go(std::size_t p) const;
  bool is_woken(std::size_t p) const;
  bool can_fail(std::size_t p) const;
  bool can_notice(std::size_t p, std::size_t q) const;
  bool must_end(std::size_t p) const;
  bool would_disturb(std::size_t p) const;
  void crash(std::size_t p, bool disturbs);
  void note_losses();
  void err(std::size_t p, std::string* told);
  void stop_waiting(std::size_t p);
  bool leave(std::size_t p, agreement::Proposal proposal, ExitCode code, std::uint8_t cut, std::string* told);
  /// The wait ends successfully.
  bool go(std::size_t p, bool knows_all, std::uint8_t cut, std::string* told);
  bool fail(std::size_t p, std::uint8_t cut, std::string* told);
  /// p learns the result of an agreement.
  bool hear(std::size_t p, const Point& point, bool knows_all, std::uint8_t cut, std::string* told);
  /// Returns true for the first process alive, after a rank has died.
  bool knows_fault(std::size_t p) const;
  BallotEnded ballot_ended(std::size_t p, agreement::BallotResult result, bool knows_all) const;
  bool restored(std::size_t p, agreement::BallotResult result, Mask there, std::uint8_t cut, std::string* told);
  bool admitted(std::size_t p, std::uint8_t cut, std::string* told);

  // --- the core's actions: recovery_actions.hpp

  bool feed(std::size_t p, const Event& event, std::uint8_t cut, std::string* told);
  void act(std::size_t p, const Actions& actions, std::uint8_t cut, std::string* told);
  std::uint8_t tag_of(std::size_t p) const;
  void perform(std::size_t p, const Revoke& action, std::string*);
  void perform(std::size_t p, const CallSpares& action, std::string*);
  void perform(std::size_t p, const CastBallot& action, std::string* told);
  void perform(std::size_t p, const DecideJob& action, std::string*);
  void perform(std::size_t p, const NewCandidate&, std::string*);
  void perform(std::size_t p, const Settle&, std::string*);
  void perform(std::size_t p, const Shrink&, std::string*);
  void perform(std::size_t p, const Agree& action, std::string*);
  void perform(std::size_t p, const Split&, std::string*);
  bool plays_next(std::size_t p, std::uint8_t process) const;
  void perform(std::size_t p, const AdoptCandidate&, std::string*);
  void perform(std::size_t p, const Found&, std::string*);
  void perform(std::size_t p, const StartProcess&, std::string*);
  void perform(std::size_t p, const Meet&, std::string*);
  void perform(std::size_t p, const Connect& action, std::string*);
  void perform(std::size_t p, const Merge& action, std::string*);
  void perform(std::size_t p, const Admit& action, std::string*);
  void perform(std::size_t p, const EnterBody& action, std::string*);
  bool go_on_in_body(std::size_t p);
  void perform(std::size_t p, const Park&, std::string*);
  void perform(std::size_t p, const SaveWhatIsLeft&, std::string*);
  void perform(std::size_t p, const End& action, std::string*);
  void perform(std::size_t p, const Die&, std::string*);

  // --- removal of what is not needed any more

  void tidy() {
    std::erase_if(comms_.points, [&](const Point& point) {
      const Comm& comm = comms_[point.comm];
      for (std::size_t p = 0; p < nodes_.size(); ++p) {
        if (!lives(p) || !(comm.members >> p & 1U)) continue;
        if (holds(*nodes_[p], point.comm) && !(point.returned >> p & 1U)) return false;
      }
      return true;
    });
    for (CommId id = 0; id < comms_.all.size(); ++id) {
      if (!comms_[id].used) continue;
      bool is_held =
          std::ranges::any_of(comms_.points, [&](const Point& point) { return point.comm == id || point.made == id; });
      for (std::size_t p = 0; p < nodes_.size(); ++p) is_held = is_held || (lives(p) && holds(*nodes_[p], id));
      if (!is_held) comms_[id] = Comm{};
    }
    while (!comms_.all.empty() && !comms_.all.back().used) comms_.all.pop_back();
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p) || !nodes_[p]->core || nodes_[p]->end) {
        for (auto& by : calls_[p]) by = {};
        continue;
      }
      for (auto& by : calls_[p]) {
        if (by.epoch <= nodes_[p]->core->position().epoch.value) by = {};
      }
    }
  }

  static bool holds(const Node& node, CommId id) {
    return node.base == id || node.candidate == id || node.candidate_application == id || node.application == id ||
           node.meeting == id || node.joined == id || node.on == id;
  }

  std::optional<std::string> apart_from(const Node& a, const Node& b) const {
    const State at = a.core->state();
    const State other = b.core->state();
    if (a.end && b.end) {
      if (a.end->code != b.end->code || a.end->why != b.end->why) return "end the job differently";
      if (a.core->position().epoch != b.core->position().epoch) return "end in different epochs";
      if (!(a.core->position().roster == b.core->position().roster)) return "end with different rosters";
    }
    const bool plays_here = at == State::playing;
    const bool plays_there = other == State::playing;
    if (plays_here && plays_there) {
      if (a.core->position().epoch != b.core->position().epoch) return "play in different epochs";
      if (!(a.core->position().roster == b.core->position().roster)) return "play with different rosters";
      if (a.core->rank() == b.core->rank()) return "play the same rank";
    }
    const bool one_is_done = (a.end && plays_there) || (b.end && plays_here);
    if (one_is_done) return "are at the end and in the body";
    return std::nullopt;
  }

  std::shared_ptr<const Scene> scene_;
  std::vector<std::shared_ptr<Node>> nodes_;
  Communicators comms_;
  std::array<std::array<CallsHeard, most>, most> calls_{};  // [called][by]
  Mask living_ = 0;
  Mask lost_ = 0;   // ranks whose data no living process has, or had at some time
  Mask saved_ = 0;  // ranks whose data is on disk
  int deaths_left_ = 0;
  int errors_left_ = 0;
  std::string complaint_;
};

}  // namespace mend::recovery

#include "tests/framework/recovery/recovery_actions.hpp"
#include "tests/framework/recovery/recovery_waits.hpp"
