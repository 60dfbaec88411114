#include "apps/minife/mesh/mesh.hpp"

#include "apps/minife/mesh/partition.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace apps::minife {

Mesh::Mesh(Triple elements, mend::Rank rank, int ranks) : geometry_{elements} {
  for (int axis = 0; axis < 3; ++axis) {
    if (elements[axis] < 1 || elements[axis] == std::numeric_limits<int>::max()) {
      throw mend::UsageError(
          fmt::format("a mesh needs one element at least along each axis: --n{} must be positive, not {}", "xyz"[axis],
                      elements[axis]));
    }
  }
  nodes_ = {{}, {elements.x + 1, elements.y + 1, elements.z + 1}};
  const std::vector<Box> owned = bisect(nodes_, ranks);
  const auto known_to = [&](const Box& box) { return intersection(with_one_layer(box), nodes_); };

  numbering_.owned = owned[static_cast<std::size_t>(rank.value)];
  numbering_.known = known_to(numbering_.owned);
  if (numbering_.known.volume() > std::numeric_limits<int>::max()) {
    throw mend::UsageError(
        fmt::format("rank {} would have {} nodes, more than an int counts: use more ranks or fewer "
                    "elements",
                    rank.value, numbering_.known.volume()));
  }

  for (int other = 0; other < ranks; ++other) {
    if (other == rank.value) continue;
    const Box& theirs = owned[static_cast<std::size_t>(other)];
    const Neighbour neighbour{
        {other}, intersection(numbering_.known, theirs), intersection(numbering_.owned, known_to(theirs))};
    if (!neighbour.receive.empty()) neighbours_.push_back(neighbour);
  }
  number_nodes();
}

Box Mesh::touching_elements() const {
  const Box& own = owned();
  return intersection({{own.lo.x - 1, own.lo.y - 1, own.lo.z - 1}, own.hi}, elements());
}

void Mesh::number_nodes() {
  const auto count = static_cast<std::size_t>(known_count());
  const Kokkos::View<int*> numbers("local numbers", count);
  const Kokkos::View<Triple*> places("places", count);
  const auto host_numbers = Kokkos::create_mirror_view(numbers);
  const auto host_places = Kokkos::create_mirror_view(places);

  int next = 0;
  const auto number = [&](const Box& box) {
    for (std::int64_t i = 0; i < box.volume(); ++i, ++next) {
      const Triple node = box.at(i);
      host_numbers(static_cast<std::size_t>(numbering_.known.index(node))) = next;
      host_places(static_cast<std::size_t>(next)) = node;
    }
  };
  number(numbering_.owned);
  for (const Neighbour& neighbour : neighbours_) number(neighbour.receive);

  Kokkos::deep_copy(numbers, host_numbers);
  Kokkos::deep_copy(places, host_places);
  numbering_.of_known = numbers;
  places_ = places;
}

}  // namespace apps::minife
