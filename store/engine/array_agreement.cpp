#include "store/engine/array_agreement.hpp"

#include "base/error.hpp"
#include "store/engine/protected_members.hpp"
#include "store/snapshot/hash.hpp"
#include "transport/collectives.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace mend {
namespace {

/// `arrays[r]`: the arrays that rank r has parts of, as "array<tab>name".
void require_one_array_each(const std::vector<std::vector<std::string>>& arrays) {
  std::map<std::string, std::pair<Rank, std::string>, std::less<>> first;
  for (std::size_t rank = 0; rank < arrays.size(); ++rank) {
    for (const std::string& line : arrays[rank]) {
      const auto tab = line.find('\t');
      const std::string array = line.substr(0, tab);
      const std::string name = line.substr(tab + 1);
      const auto& [other, known] = first.try_emplace(name, Rank{static_cast<int>(rank)}, array).first->second;
      if (known == array) continue;
      throw UsageError(
          fmt::format("ranks disagree about the array '{}': it is a {} for rank {}, and a {} for rank {}: give "
                      "mend::part the extents of the whole array, which are the same on all ranks",
                      name, known, other.value, array, rank));
    }
  }
}

}  // namespace

void ArrayAgreement::reach(const EpochRanks& ranks, const Members& members) {
  std::string mine;
  for (const auto& [name, member] : members) {
    if (const auto array = array_of(*member)) mine += fmt::format("{}\t{}\n", *array, name);
  }
  const std::uint64_t hash = hash_of(std::as_bytes(std::span(mine)));
  std::array<std::uint64_t, 2> extremes{hash, ~hash};
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_UINT64_T, MPI_MAX, ranks.comm); },
           "MPI_Allreduce");
  if (extremes[0] != ~extremes[1]) require_one_array_each(gather_lines(ranks.comm, mine));
  state_ = State::reached;
}

}  // namespace mend
