#include "replay/history.hpp"

namespace mend::replay {
namespace {

std::uint64_t both(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }

}  // namespace

void put(std::vector<std::uint64_t>& words, const History& history) {
  words.push_back(both(static_cast<std::uint32_t>(history.channels.size()), 0) | history.events.size());
  for (const Channel& one : history.channels) {
    words.push_back(both(static_cast<std::uint32_t>(one.peer), one.context));
    words.push_back(static_cast<std::uint32_t>(one.tag));
  }
  for (std::size_t i = 0; i < history.events.size(); i += 2) {
    const bool is_last = i + 1 == history.events.size();
    words.push_back(both(history.events[i], is_last ? 0 : history.events[i + 1]));
  }
}

History history_from(const std::vector<std::uint64_t>& words, std::size_t& at) {
  History history;
  const std::uint64_t sizes = words.at(at++);
  history.channels.resize(sizes >> 32U);
  history.events.resize(static_cast<std::uint32_t>(sizes));
  for (Channel& one : history.channels) {
    const std::uint64_t first = words.at(at++);
    one = {static_cast<int>(first >> 32U), static_cast<std::uint32_t>(first), static_cast<int>(words.at(at++))};
  }
  for (std::size_t i = 0; i < history.events.size(); i += 2) {
    const std::uint64_t two = words.at(at++);
    history.events[i] = static_cast<std::uint32_t>(two >> 32U);
    if (i + 1 < history.events.size()) history.events[i + 1] = static_cast<std::uint32_t>(two);
  }
  return history;
}

}  // namespace mend::replay
