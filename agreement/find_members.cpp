#include "agreement/find_members.hpp"

namespace mend::agreement {

std::optional<std::vector<int>> find_members(Agreement& agreement, int self, int members, bool has) {
  constexpr int at_once = 31;  // bits that an agreement carries
  constexpr std::uint32_t none = (1U << at_once) - 1;
  std::vector<int> found;
  for (int first = 0; first < members; first += at_once) {
    const int bit = self - first;
    const bool is_among_these = bit >= 0 && bit < at_once;
    const Outcome outcome = agreement.agree(has && is_among_these ? none & ~(1U << bit) : none);
    if (outcome.somebody_died) return std::nullopt;
    for (int i = 0; i < at_once && first + i < members; ++i) {
      if ((outcome.value & (1U << i)) == 0) found.push_back(first + i);
    }
  }
  return found;
}

}  // namespace mend::agreement
