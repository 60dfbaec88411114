// Runs the agreement protocols on real processes: binds the pure cores to an endpoint.
//
// One service per process serves all groups of the process. Each group (the members of a communicator) has a core, and
// each message from the endpoint goes to the core of its group. So while a process waits in one agreement, it still
// answers for agreements from which it has returned. An early returning agreement needs this: a member that has
// returned may be the only living one that knows the result.
//
// The service runs inside the calls of the thread that owns it. A process that computes, or is blocked in MPI, does not
// answer. Its owner must ensure that no process waits for an answer forever. There are two means: on_death() reports
// every death while an agreement waits, so that the other ranks can be interrupted and take part; progress() can be
// called while waiting for something else.

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

/// Numbers the groups of a job. The number is the same at every member, and grows with every new group.
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

  /// Begins an agreement and returns at once. A group may have any number of agreements under way. Every member begins
  /// them in the same order, with the same calls, and must test for each of them in the end. Local.
  AgreementId start(std::uint32_t contribution);
  /// Returns the result of agreement `id` once, if there is one. Never blocks. Local.
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

  /// Returns this member's view of group `id`. All `members` join with the same list, in the same order. The group goes
  /// on answering after the view is destroyed, until end_groups_before. The service must outlive the view. Local.
  std::unique_ptr<GroupAgreement> join(GroupId id, std::vector<ProcessId> members, Protocol protocol,
                                       const Layout& layout = usual_layout());
  /// Returns a flat tree in which each member has at most eight children. This tree has few steps that wait for one
  /// another. These waits matter most where processes share cores.
  static Layout usual_layout() { return Layout::k_ary(8); }

  ProcessId self() const { return endpoint_->self(); }

  /// Ends all groups with smaller numbers. Every living process must have returned from all their agreements. Local.
  void end_groups_before(GroupId id);

  /// Calls `listener` for each death that the service learns of; an empty function stops that. Local.
  void on_death(std::function<void(ProcessId)> listener) { listener_ = std::move(listener); }

  /// Handles one event, if there is any. Returns true if there was one. Never blocks. Local.
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
    std::vector<Actions::Decided> decided;  // decisions not yet returned to the caller

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
  std::map<GroupId, std::vector<Early>> early_;  // messages for groups that this process has not joined yet
  GroupId first_live_;
  ProcessSet dead_;
  std::function<void(ProcessId)> listener_;
  Actions actions_;
  std::vector<std::byte> outgoing_;
};

}  // namespace mend::agreement
