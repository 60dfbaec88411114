// The agreement protocols on real processes: binds the pure cores to an endpoint.
//
// One service per process serves all groups it is in: each group (the members of a communicator) has a core, and
// whatever the endpoint delivers is handed to the core it is for. So while a process waits in one agreement it still
// answers for others from which it has returned - which an early returning agreement needs: a member that returned
// may be the only one alive that knows the result.
//
// The service runs inside the calls of the thread that owns it. A process that computes, or is blocked in MPI, does
// not answer; its owner must see to it that nobody waits for such an answer in vain. Two means are given:
// on_death() tells of every death while an agreement waits, so that the others can be interrupted and come; and
// progress() can be called while waiting for something else.

#pragma once

#include "agreement/agreement.hpp"
#include "agreement/core.hpp"
#include "transport/endpoint.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace mend::agreement {

/// Numbers the groups of a job; the same number at every member, a new one for every group, in ascending order.
struct GroupId {
  std::uint64_t value = 0;
  auto operator<=>(const GroupId&) const = default;
  GroupId next() const { return {value + 1}; }
};

class Service;

/// A member's view of one group.
class GroupAgreement final : public Agreement {
 public:
  GroupAgreement(Service& service, GroupId id) : service_(service), id_(id) {}

  Outcome agree(std::uint32_t contribution) override;

  /// Begins an agreement and returns at once. Any number may be under way in a group; every member begins them in the
  /// same order, with the same calls. Nobody may have more begun than it tests for in the end. Local.
  AgreementId start(std::uint32_t contribution);
  /// What agreement `id` has come to, if it has: told once. Never blocks. Local.
  std::optional<Outcome> test(AgreementId id);
  Outcome wait(AgreementId id);

 private:
  Service& service_;
  GroupId id_;
};

class Service {
 public:
  /// `dead`: processes that the endpoint does not reach, because they died before it was made.
  Service(std::unique_ptr<transport::Endpoint> endpoint, ProcessSet dead)
      : endpoint_(std::move(endpoint)), dead_(std::move(dead)) {}
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// A member's view of group `id`; all of `members`, in the same order, join the same group. The group goes on
  /// answering when the view is gone, until end_groups_before. The service must outlive the view. Local.
  std::unique_ptr<GroupAgreement> join(GroupId id, std::vector<ProcessId> members, Protocol protocol,
                                       const Layout& layout = usual_layout());
  /// Flat, eight children each: few waits one after the other, which is what costs where processes share cores.
  static Layout usual_layout() { return Layout::k_ary(8); }

  ProcessId self() const { return endpoint_->self(); }

  /// Ends all groups with smaller numbers: every living process has returned from all their agreements. Local.
  void end_groups_before(GroupId id);

  /// Has `listener` called for each death that the service learns of; an empty one stops that. Local.
  void on_death(std::function<void(ProcessId)> listener) { listener_ = std::move(listener); }

  /// Deals with one thing that has happened, if any; returns whether there was one. Never blocks. Local.
  bool progress();

 private:
  friend class GroupAgreement;

  struct Group {
    struct Number {
      ProcessId process;
      Member member;
      auto operator<=>(const Number&) const = default;
    };
    std::vector<ProcessId> members;
    std::vector<Number> numbers;  // of all members, ascending by process
    std::unique_ptr<Core> core;
    AgreementId next;
    std::vector<Actions::Decided> decided;  // and not told to the caller yet

    std::optional<Member> member(ProcessId process) const;
  };
  struct Early {
    ProcessId from;
    std::vector<std::byte> bytes;
  };

  AgreementId start(GroupId id, std::uint32_t contribution, Call call);
  std::optional<Outcome> take_decision(GroupId id, AgreementId number);
  void deliver(GroupId id, Group& group, ProcessId from, std::span<const std::byte> bytes);
  void receive(const transport::Arrival& arrival);
  void learn_death(ProcessId process);
  void perform(GroupId id, Group& group);

  std::unique_ptr<transport::Endpoint> endpoint_;
  std::map<GroupId, Group> groups_;
  std::map<GroupId, std::vector<Early>> early_;  // for groups that this process has not joined yet
  GroupId first_live_;
  ProcessSet dead_;
  std::function<void(ProcessId)> listener_;
  Actions actions_;
  std::vector<std::byte> outgoing_;
};

}  // namespace mend::agreement
