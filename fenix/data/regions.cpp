#include "fenix/data/regions.hpp"

#include <algorithm>

namespace mend::fenix {

Regions Regions::first(std::size_t count) {
  Regions regions;
  regions.add({0, count});
  return regions;
}

void Regions::add(Region region) {
  if (region.begin >= region.end) return;
  // Regions that touch the new one are merged with it.
  const auto from = std::find_if(all_.begin(), all_.end(), [&](const Region& r) { return r.end >= region.begin; });
  const auto to = std::find_if(from, all_.end(), [&](const Region& r) { return r.begin > region.end; });
  if (from != to) {
    region.begin = std::min(region.begin, from->begin);
    region.end = std::max(region.end, std::prev(to)->end);
  }
  all_.insert(all_.erase(from, to), region);
}

void Regions::add(const Regions& others) {
  for (const Region& region : others.all_) add(region);
}

Regions Regions::below(std::size_t count) const {
  Regions chosen;
  for (const Region& region : all_) chosen.add({region.begin, std::min(region.end, count)});
  return chosen;
}

}  // namespace mend::fenix
