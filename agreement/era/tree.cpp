#include "agreement/era/tree.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace mend::agreement {
namespace {

std::uint32_t parent_slot(std::uint32_t slot, std::uint32_t arity) { return (slot - 1) / arity; }

struct SlotRange {
  std::uint32_t first;
  std::uint32_t end;
};

SlotRange child_slots(std::uint32_t slot, std::uint32_t arity, std::uint32_t count) {
  const std::uint64_t first = std::uint64_t{slot} * arity + 1;
  const std::uint64_t end = std::min<std::uint64_t>(first + arity, count);
  if (first >= end) return {0, 0};
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)};
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> parse_arity(std::string_view word) {
  if (word == "binary" || word == "bin") return 2;
  if (word == "star") return Layout::unbounded;
  if (word == "chain" || word == "string") return 1;
  if (word.ends_with("-ary")) return parse_number(word.substr(0, word.size() - 4));
  return std::nullopt;
}

std::string name_of_arity(std::uint32_t arity) {
  if (arity == 2) return "binary";
  if (arity == Layout::unbounded) return "star";
  if (arity == 1) return "chain";
  return fmt::format("{}-ary", arity);
}

}  // namespace

Layout Layout::parse(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::size_t colon = name.find(':');
  if (slash == std::string_view::npos && colon == std::string_view::npos) {
    if (const auto arity = parse_arity(name)) return k_ary(*arity);
  } else if (slash != std::string_view::npos && colon != std::string_view::npos && slash < colon) {
    const auto across = parse_arity(name.substr(0, slash));
    const auto within = parse_arity(name.substr(slash + 1, colon - slash - 1));
    const auto group = parse_number(name.substr(colon + 1));
    if (across && within && group) return {*across, *within, *group};
  }
  throw UsageError(
      fmt::format("\"{}\" is not a tree: give binary, star, chain, 5-ary, or two of them with the size of a group, as "
                  "in bin/star:16",
                  name));
}

std::string Layout::to_string() const {
  if (group_size == 1) return name_of_arity(across);
  const auto brief = [](std::uint32_t arity) { return arity == 2 ? std::string("bin") : name_of_arity(arity); };
  return fmt::format("{}/{}:{}", brief(across), brief(within), group_size);
}

Tree::Gaps::Gaps(const ProcessSet& set) {
  std::uint32_t before = 0;
  for (const ProcessSet::Run& run : set.runs()) {
    const std::uint32_t size = run.last.value - run.first.value + 1;
    runs_.push_back({run.first.value, size, before, run.first.value - before});
    before += size;
  }
}

std::uint32_t Tree::Gaps::below(std::uint32_t number) const {
  const auto above = std::upper_bound(runs_.begin(), runs_.end(), number,
                                      [](std::uint32_t value, const Run& run) { return value < run.first; });
  if (above == runs_.begin()) return 0;
  const Run& run = *std::prev(above);
  return run.before + std::min(number - run.first, run.size);
}

std::uint32_t Tree::Gaps::nth_outside(std::uint32_t index) const {
  const auto above = std::upper_bound(runs_.begin(), runs_.end(), index,
                                      [](std::uint32_t value, const Run& run) { return value < run.outside; });
  if (above == runs_.begin()) return index;
  const Run& run = *std::prev(above);
  return index + run.before + run.size;
}

Tree::Tree(std::uint32_t size, Layout layout, ProcessSet left_out)
    : size_(size), layout_(layout), left_out_(std::move(left_out)), gaps_(left_out_) {
  if (size == 0) throw UsageError("a tree needs at least one member");
  if (layout.across == 0 || layout.within == 0 || layout.group_size == 0) {
    throw UsageError("a tree's arities and group size must be at least 1");
  }
  ProcessSet empty_groups;
  const std::uint32_t all_groups = (size - 1) / layout_.group_size + 1;
  for (const ProcessSet::Run& run : left_out_.runs()) {
    // Only a group that begins inside the run can lie in it completely.
    const std::uint64_t first = (std::uint64_t{run.first.value} + layout_.group_size - 1) / layout_.group_size;
    for (std::uint64_t group = first; group < all_groups; ++group) {
      const std::uint64_t end = std::min<std::uint64_t>((group + 1) * layout_.group_size, size_);
      if (end - 1 > run.last.value) break;
      empty_groups.insert(Member{static_cast<std::uint32_t>(group)});
    }
  }
  empty_groups_ = Gaps(empty_groups);
  groups_ = all_groups - static_cast<std::uint32_t>(empty_groups.size());
}

Tree::Place Tree::place_of(Member member) const {
  const std::uint32_t group = member.value / layout_.group_size;
  const std::uint32_t start = group * layout_.group_size;
  if (left_out_.empty()) return {group, member.value - start};
  return {group - empty_groups_.below(group),
          (member.value - gaps_.below(member.value)) - (start - gaps_.below(start))};
}

Member Tree::member_at(Place place) const {
  if (left_out_.empty()) return {place.group * layout_.group_size + place.in_group};
  const std::uint32_t start = empty_groups_.nth_outside(place.group) * layout_.group_size;
  return {gaps_.nth_outside(start - gaps_.below(start) + place.in_group)};
}

std::uint32_t Tree::living_in(std::uint32_t group) const {
  const std::uint32_t start = empty_groups_.nth_outside(group) * layout_.group_size;
  const std::uint32_t end = std::min(size_ - start, layout_.group_size) + start;
  return (end - gaps_.below(end)) - (start - gaps_.below(start));
}

std::optional<Member> Tree::first_parent(Member member) const {
  const Place place = place_of(member);
  if (place.in_group > 0) return member_at({place.group, parent_slot(place.in_group, layout_.within)});
  if (place.group > 0) return member_at({parent_slot(place.group, layout_.across), 0});
  return std::nullopt;
}

template <class Function>
void Tree::each_first_child(Member member, Function function) const {
  const Place place = place_of(member);
  if (layout_.group_size > 1) {
    const SlotRange inside = child_slots(place.in_group, layout_.within, living_in(place.group));
    for (std::uint32_t slot = inside.first; slot < inside.end; ++slot) function(member_at({place.group, slot}));
  }
  if (place.in_group == 0) {
    const SlotRange leaders = child_slots(place.group, layout_.across, groups_);
    for (std::uint32_t slot = leaders.first; slot < leaders.end; ++slot) function(member_at({slot, 0}));
  }
}

std::optional<Member> Tree::root(const ProcessSet& dead) const {
  std::uint32_t lowest = 0;
  const auto skip = [&](const ProcessSet& set) {
    const std::uint32_t before = lowest;
    for (const ProcessSet::Run& run : set.runs()) {
      if (run.first.value > lowest) break;
      lowest = std::max(lowest, run.last.value + 1);
    }
    return lowest != before;
  };
  while (skip(dead) || skip(left_out_)) {
  }
  if (lowest >= size_) return std::nullopt;
  return Member{lowest};
}

std::optional<Member> Tree::parent(Member member, const ProcessSet& dead) const {
  std::optional<Member> above = first_parent(member);
  while (above && dead.contains(*above)) above = first_parent(*above);
  if (above) return above;
  const std::optional<Member> lowest = root(dead);
  if (lowest && *lowest < member) return lowest;
  return std::nullopt;
}

void Tree::add_living_below(Member member, const ProcessSet& dead, std::vector<Member>& found) const {
  std::vector<Member> to_pass;
  const auto look_at = [&](Member child) { (dead.contains(child) ? to_pass : found).push_back(child); };
  each_first_child(member, look_at);
  while (!to_pass.empty()) {
    const Member passed = to_pass.back();
    to_pass.pop_back();
    each_first_child(passed, look_at);
  }
}

void Tree::children(Member member, const ProcessSet& dead, std::vector<Member>& children) const {
  children.clear();
  if (dead.empty()) {
    each_first_child(member, [&](Member child) { children.push_back(child); });
  } else {
    add_living_below(member, dead, children);
    const Member first_root = *root({});
    if (first_root != member && root(dead) == member) {
      // The new root adopts the members whose ancestors are all dead: the living ones just below the dead top of the
      // tree.
      add_living_below(first_root, dead, children);
      std::erase(children, member);
    }
  }
  std::sort(children.begin(), children.end());
}

ProcessSet Tree::between(Member member, Member upper) const {
  ProcessSet passed;
  for (auto above = first_parent(member); above && *above != upper; above = first_parent(*above)) {
    passed.insert(*above);
  }
  return passed;
}

bool Tree::degenerated(const ProcessSet& dead) const {
  // No member has more children than there are other groups, and other members in its group.
  const std::uint64_t fresh =
      std::uint64_t{std::min(layout_.across, groups_ - 1)} + std::min(layout_.within, layout_.group_size - 1);
  std::vector<Member> found;
  Member last_looked_at{size_};
  for (Member gone : dead.members()) {
    if (left_out_.contains(gone)) continue;
    const std::optional<Member> heir = parent(gone, dead) ? parent(gone, dead) : root(dead);
    if (!heir || *heir == last_looked_at) continue;
    last_looked_at = *heir;
    children(*heir, dead, found);
    if (found.size() > 2 * fresh) return true;
  }
  return false;
}

Tree Tree::without(const ProcessSet& dead) const {
  ProcessSet gone = left_out_;
  gone.insert(dead);
  return {size_, layout_, std::move(gone)};
}

}  // namespace mend::agreement
