#include "fenix/data/regions.hpp"

#include <algorithm>
#include <iterator>

namespace mend::fenix {

Regions Regions::first(std::size_t count) {
  Regions regions;
  regions.add({0, count});
  return regions;
}

void Regions::add(Region region) {
  if (region.begin >= region.end) return;
  if (all_.empty() || all_.back().end < region.begin) return all_.push_back(region);
  // Regions that touch the new one are merged with it.
  const auto from = std::ranges::partition_point(all_, [&](const Region& r) { return r.end < region.begin; });
  const auto to = std::partition_point(from, all_.end(), [&](const Region& r) { return r.begin <= region.end; });
  if (from != to) {
    region.begin = std::min(region.begin, from->begin);
    region.end = std::max(region.end, std::prev(to)->end);
  }
  all_.insert(all_.erase(from, to), region);
}

/// In ascending order, so that each region is appended, or merged with the last.
void Regions::add(const Regions& others) {
  std::vector<Region> both;
  std::ranges::merge(all_, others.all_, std::back_inserter(both), {}, &Region::begin, &Region::begin);
  all_.clear();
  for (const Region& region : both) add(region);
}

Regions Regions::below(std::size_t count) const {
  Regions chosen;
  for (const Region& region : all_) chosen.add({region.begin, std::min(region.end, count)});
  return chosen;
}

}  // namespace mend::fenix
