#include "replay/uncoordinated/protocol_impl.hpp"

#include <fmt/format.h>

namespace mend::replay {

namespace {

struct ProtocolText {
  std::string operator()(const Sends& sends) const { return fmt::format("sends to {}", sends.to.value); }
  std::string operator()(const Arrives& arrives) const {
    return fmt::format("gets {} from {}", to_string(arrives.letter), arrives.from.value);
  }
  std::string operator()(const Commits&) const { return "commits"; }
  std::string operator()(const Recovers& recovers) const {
    return fmt::format("recovers, round {}, holder {}", recovers.round, recovers.holder.value);
  }
  std::string operator()(const Restored& restored) const {
    return fmt::format("has restored epoch {}", restored.commit.epoch.value);
  }
  std::string operator()(const Hears& hears) const {
    return fmt::format("hears from {}: {}", hears.from.value, to_string(hears.message));
  }
  std::string operator()(const Collects&) const { return "collects garbage"; }

  std::string operator()(const Send& send) const {
    return fmt::format("send {} to {}", to_string(send.letter), send.to.value);
  }
  std::string operator()(const Tell& tell) const {
    return fmt::format("tell {}: {}", tell.to.value, to_string(tell.message));
  }
  std::string operator()(const Deliver&) const { return "deliver"; }
  std::string operator()(const Discard&) const { return "discard"; }
  std::string operator()(const Save& save) const {
    return fmt::format("save the commit of epoch {}", save.commit.epoch.value);
  }
  std::string operator()(const Restore& restore) const {
    return fmt::format("restore the commit of epoch {}", restore.epoch.value);
  }
  std::string operator()(const DropCommits& drop) const {
    return fmt::format("drop the commits before epoch {}", drop.before.value);
  }
};

}  // namespace

std::string to_string(const Event& event) { return std::visit(ProtocolText{}, event); }
std::string to_string(const Action& action) { return std::visit(ProtocolText{}, action); }

template class BasicReplay<AllRules>;

}  // namespace mend::replay
