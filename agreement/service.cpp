#include "agreement/service.hpp"

#include "agreement/wire.hpp"
#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "base/death/fail_stop.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/library_wait.hpp"
#include "base/telemetry/trace.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mend::agreement {
namespace {

std::span<const std::byte> bytes_of(const GroupId& id) { return std::as_bytes(std::span(&id.value, 1)); }

}  // namespace

Outcome GroupAgreement::agree(std::uint32_t contribution) {
  const InLibrary in_library(InLibrary::Step::agreement);
  return or_fail_stop([&] { return wait(service_.start(id_, contribution, Call::blocking)); });
}

AgreementId GroupAgreement::start(std::uint32_t contribution) {
  return service_.start(id_, contribution, Call::nonblocking);
}

std::optional<Outcome> GroupAgreement::test(AgreementId id) {
  if (auto outcome = service_.take_decision(id_, id)) return outcome;
  service_.progress();
  return service_.take_decision(id_, id);
}

Outcome GroupAgreement::wait(AgreementId id) {
  for (;;) {
    if (const auto outcome = service_.take_decision(id_, id)) return *outcome;
    while (!service_.progress()) {
    }
  }
}

std::optional<Member> Service::Group::member(ProcessId process) const {
  const auto at = std::lower_bound(numbers.begin(), numbers.end(), Number{process, {}});
  if (at == numbers.end() || at->process != process) return std::nullopt;
  return at->member;
}

std::unique_ptr<GroupAgreement> Service::join(GroupId id, std::vector<ProcessId> members, Protocol protocol,
                                              const Layout& layout) {
  if (id < first_live_ || groups_.contains(id)) throw UsageError("a group's number must be new");
  Group& group = groups_[id];
  group.members = std::move(members);
  for (std::uint32_t i = 0; i < group.members.size(); ++i) group.numbers.push_back({group.members[i], Member{i}});
  std::sort(group.numbers.begin(), group.numbers.end());
  const auto self = group.member(endpoint_->self());
  if (!self) throw UsageError("a process can only join a group that it is a member of");
  const auto size = static_cast<std::uint32_t>(group.members.size());
  group.core = make_core(protocol, *self, std::make_shared<const Tree>(size, layout));

  ProcessSet gone;
  for (ProcessId process : dead_.members()) {
    if (const auto member = group.member(process)) gone.insert(*member);
  }
  if (!gone.empty()) {
    group.core->dead(gone, actions_);
    perform(id, group);
  }
  if (const auto early = early_.extract(id)) {
    for (const Early& message : early.mapped()) deliver(id, group, message.from, message.bytes);
  }
  return std::make_unique<GroupAgreement>(*this, id);
}

void Service::end_groups_before(GroupId id) {
  first_live_ = std::max(first_live_, id);
  groups_.erase(groups_.begin(), groups_.lower_bound(id));
  early_.erase(early_.begin(), early_.lower_bound(id));
}

AgreementId Service::start(GroupId id, std::uint32_t contribution, Call call) {
  Group& group = groups_.at(id);
  const AgreementId number = std::exchange(group.next, {group.next.value + 1});
  group.core->contribute(number, {.value = value_of(contribution), .call = call}, actions_);
  perform(id, group);
  return number;
}

std::optional<Outcome> Service::take_decision(GroupId id, AgreementId number) {
  Group& group = groups_.at(id);
  const auto at = std::find_if(group.decided.begin(), group.decided.end(),
                               [&](const Actions::Decided& decided) { return decided.agreement == number; });
  if (at == group.decided.end()) return std::nullopt;
  const Outcome outcome{value_as<std::uint32_t>(at->decision.value), at->decision.unacknowledged_failure};
  group.decided.erase(at);
  reach("agreement.decided");
  return outcome;
}

bool Service::progress() {
  const auto event = endpoint_->poll();
  if (!event) return false;
  if (const auto* arrival = std::get_if<transport::Arrival>(&*event)) {
    receive(*arrival);
  } else {
    learn_death(std::get<transport::Death>(*event).process);
  }
  return true;
}

void Service::receive(const transport::Arrival& arrival) {
  reach("agreement.receive");
  trace::message_from(arrival.from, trace::Of::agreement);
  ByteReader reader(arrival.bytes, [] { throw EnvironmentError("an agreement message of no group has arrived"); });
  const GroupId id{reader.take<decltype(GroupId::value)>()};
  const auto message = reader.left();
  if (id < first_live_) return;  // no living process waits in that group any more
  const auto group = groups_.find(id);
  if (group == groups_.end()) {
    early_[id].push_back({arrival.from, {message.begin(), message.end()}});
    return;
  }
  deliver(id, group->second, arrival.from, message);
}

void Service::deliver(GroupId id, Group& group, ProcessId from, std::span<const std::byte> bytes) {
  const auto member = group.member(from);
  if (!member) return;
  group.core->receive(*member, read(bytes, static_cast<std::uint32_t>(group.members.size())), actions_);
  perform(id, group);
}

void Service::learn_death(ProcessId process) {
  if (!dead_.insert(process)) return;
  for (auto& [id, group] : groups_) {
    if (const auto member = group.member(process)) {
      group.core->dead({*member}, actions_);
      perform(id, group);
    }
  }
  if (listener_) listener_(process);
}

/// Carries out the actions of the core of `group`.
void Service::perform(GroupId id, Group& group) {
  for (const Actions::Send& send : actions_.sends) {
    const auto header = bytes_of(id);
    outgoing_.assign(header.begin(), header.end());
    write(send.message, outgoing_);
    reach("agreement.send");
    trace::message_to(group.members[send.to.value], trace::Of::agreement);
    endpoint_->send(group.members[send.to.value], outgoing_);
  }
  std::move(actions_.decided.begin(), actions_.decided.end(), std::back_inserter(group.decided));
  actions_.clear();
}

}  // namespace mend::agreement
