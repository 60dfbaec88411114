#include "store/restore/redistribution.hpp"

#include "base/assert.hpp"
#include "base/error.hpp"
#include "store/restore/array_index.hpp"
#include "store/snapshot/hash.hpp"
#include "transport/collectives.hpp"
#include "transport/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace mend {
namespace {

/// Distributes the sending so that all holders send about the same amount.
class Sharing {
 public:
  Sharing(const Holders& holders, ByteCount slab, std::vector<Transfer>& transfers)
      : holders_(holders), slab_(slab), transfers_(transfers) {}

  void ask_for(const Overlap& box, ByteCount element_bytes, Rank owner, Rank to, const std::string& name) {
    const std::vector<Rank>& holders = holders_[static_cast<std::size_t>(owner.value)];
    if (std::find(holders.begin(), holders.end(), to) != holders.end()) {
      transfers_.push_back({to, owner, to, name, box});
      return;
    }
    const ByteCount bytes = element_bytes * elements_in(box.extents);
    // Cut along the first axis that can be cut, so that the boxes stay as contiguous as before.
    std::size_t axis = 0;
    while (axis + 1 < box.extents.size() && box.extents[axis] == 1) ++axis;
    const std::size_t most = std::min(holders.size(), std::max<std::size_t>(bytes / std::max<ByteCount>(slab_, 1), 1));
    const std::size_t slabs = std::min(most, box.extents[axis]);
    for (std::size_t i = 0; i < slabs; ++i) {
      const std::size_t begin = box.extents[axis] * i / slabs;
      Overlap slab = box;
      slab.extents[axis] = box.extents[axis] * (i + 1) / slabs - begin;
      slab.in_first[axis] += begin;
      slab.in_second[axis] += begin;
      const Rank from = least_asked(holders);
      asked_[from] += element_bytes * elements_in(slab.extents);
      transfers_.push_back({from, owner, to, name, slab});
    }
  }

 private:
  Rank least_asked(const std::vector<Rank>& holders) {
    return *std::min_element(holders.begin(), holders.end(), [&](Rank a, Rank b) { return asked_[a] < asked_[b]; });
  }

  const Holders& holders_;
  ByteCount slab_;
  std::vector<Transfer>& transfers_;
  std::map<Rank, ByteCount> asked_;
};

const SharedArray& array_named(const std::map<std::string, SharedArray>& arrays, const std::string& name,
                               const ArrayPart& wanted) {
  const auto at = arrays.find(name);
  if (at == arrays.end())
    throw UsageError(
        fmt::format("member '{}' is a {} but the restored version has no such array with this redundancy: protect the "
                    "same members before restore as before commit",
                    name, to_string(wanted)));
  require_same_array(name, wanted, at->second);
  return at->second;
}

/// Carries out the plan for this rank: one message for each pair of ranks, with all boxes in the order of the plan. A
/// rank takes boxes that it keeps itself directly.
class Redistribution {
 public:
  Redistribution(MPI_Comm comm, const FindSnapshot& find, const std::vector<Parts>& stored,
                 std::vector<Transfer> transfers)
      : comm_(comm), find_(find), stored_(stored), transfers_(std::move(transfers)) {
    MPI_Comm_rank(comm_, &self_.value);
  }

  /// Frees the outgoing messages at the end. Each message ends with its hash. Returns false if one came damaged.
  [[nodiscard]] bool exchange() {
    constexpr int tag = 2;
    std::map<Rank, ByteCount> sizes;
    std::map<Rank, Bytes> outgoing;
    for (const Transfer& transfer : transfers_) {
      if (transfer.from == self_ && transfer.to != self_) sizes[transfer.to] += bytes_of(transfer);
    }
    for (const auto& [to, size] : sizes) outgoing[to].reserve(size + sizeof(std::uint64_t));
    sizes.clear();
    for (const Transfer& transfer : transfers_) {
      if (transfer.from == self_ && transfer.to != self_) append(transfer, outgoing[transfer.to]);
      if (transfer.to == self_ && transfer.from != self_) sizes[transfer.from] += bytes_of(transfer);
    }
    for (auto& [to, message] : outgoing) append_hash(message);
    for (const auto& [from, size] : sizes) incoming_[from].resize(size + sizeof(std::uint64_t));
    Requests requests(comm_);
    for (auto& [from, message] : incoming_) requests.receive(message, from.value, tag);
    for (const auto& [to, message] : outgoing) requests.send(message, to.value, tag);
    requests.wait_all();
    return std::ranges::all_of(incoming_, [](const auto& one) { return ends_with_hash(one.second); });
  }

  /// Fills one member after the other, so that at most one member is in memory twice.
  void fill(const Members& members, const Parts& wanted) {
    std::map<Rank, ByteCount> taken;
    auto next = transfers_.begin();
    for (const auto& [name, part] : wanted) {
      Bytes filled(part.bytes());
      for (; next != transfers_.end() && (next->to != self_ || next->name == name); ++next) {
        if (next->to != self_) continue;
        Bytes own;
        if (next->from == self_) append(*next, own);
        ByteCount& at = taken[next->from];
        std::span<const std::byte> box =
            next->from == self_ ? std::span(own) : std::span(incoming_.at(next->from)).subspan(at);
        at += bytes_of(*next);
        const Runs runs = runs_of(part, next->what.in_second, next->what.extents);
        for (const ByteCount offset : runs.offsets) {
          require(runs.length <= box.size() && offset + runs.length <= filled.size(), "a box has all its elements");
          std::memcpy(filled.data() + offset, box.data(), runs.length);
          box = box.subspan(runs.length);
        }
      }
      members.find(name)->second->unpack(filled);
    }
  }

 private:
  static void append_hash(Bytes& message) {
    const std::uint64_t hash = hash_of(message);
    const auto bytes = std::as_bytes(std::span(&hash, 1));
    message.insert(message.end(), bytes.begin(), bytes.end());
  }
  static bool ends_with_hash(std::span<const std::byte> message) {
    const std::span<const std::byte> boxes = message.first(message.size() - sizeof(std::uint64_t));
    const std::uint64_t hash = hash_of(boxes);
    return std::memcmp(message.data() + boxes.size(), &hash, sizeof hash) == 0;
  }

  const ArrayPart& part_of(const Transfer& transfer) const {
    return stored_[static_cast<std::size_t>(transfer.owner.value)].at(transfer.name);
  }
  ByteCount bytes_of(const Transfer& transfer) const {
    return part_of(transfer).element_bytes() * elements_in(transfer.what.extents);
  }

  /// Appends the box, which lies in a snapshot that this rank keeps.
  void append(const Transfer& transfer, Bytes& message) {
    const auto [at, is_new] = packed_.try_emplace(transfer.owner);
    if (is_new) at->second = members_of(find_(transfer.owner));
    const auto member = std::ranges::find(at->second, transfer.name, &PackedMember::name);
    const Runs runs = runs_of(part_of(transfer), transfer.what.in_first, transfer.what.extents);
    message.reserve(message.size() + bytes_of(transfer));
    require(member != at->second.end(), "a rank gives of members that are in the snapshot");
    for (const ByteCount offset : runs.offsets) {
      require(offset + runs.length <= member->data.size(), "a box lies in the part that it is of");
      message.resize(message.size() + runs.length);
      std::memcpy(message.data() + message.size() - runs.length, member->data.data() + offset, runs.length);
    }
  }

  MPI_Comm comm_;
  const FindSnapshot& find_;
  const std::vector<Parts>& stored_;
  std::vector<Transfer> transfers_;  // those to one rank in the order of its members
  Rank self_{};
  std::map<Rank, std::vector<PackedMember>> packed_;  // by owner
  std::map<Rank, Bytes> incoming_;
};

}  // namespace

std::vector<Transfer> plan_redistribution(const std::vector<Parts>& stored, const Holders& holders,
                                          const std::vector<Parts>& wanted, ByteCount slab) {
  const auto arrays = arrays_of(stored);
  std::vector<Transfer> transfers;
  Sharing sharing(holders, slab, transfers);
  for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
    for (const auto& [name, part] : wanted[rank]) {
      const SharedArray& array = array_named(arrays, name, part);
      Unfound unfound(part);
      for (const auto& [owner, piece] : array.pieces) {
        const auto common = overlap(piece, part);
        if (!common) continue;
        unfound.take_out(piece);
        sharing.ask_for(*common, part.element_bytes(), owner, Rank{static_cast<int>(rank)}, name);
      }
      const std::size_t missing = unfound.elements();
      if (missing > 0)
        throw UsageError(
            fmt::format("{} elements of member '{}', a {}, belonged to no rank", missing, name, to_string(part)));
    }
  }
  return transfers;
}

std::optional<std::set<std::string, std::less<>>> redistribute(MPI_Comm comm, const Holders& holders,
                                                               const FindSnapshot& find, const Members& members) {
  int self = 0;
  MPI_Comm_rank(comm, &self);
  const Rank me{self};

  // The description of what this rank keeps for others: the first holder of each snapshot lists its parts.
  Parts told;  // each name begins with the owner
  for (std::size_t owner = 0; owner < holders.size(); ++owner) {
    if (holders[owner].front() != me) continue;
    for (auto& [name, part] : parts_of(find(Rank{static_cast<int>(owner)})))
      told[fmt::format("{}/{}", owner, name)] = part;
  }
  std::vector<Parts> stored(holders.size());
  for (const std::string& text : gather_texts(comm, to_text(told))) {
    for (const auto& [name, part] : parse_parts(text)) {
      const auto slash = name.find('/');
      stored[std::stoul(name.substr(0, slash))][name.substr(slash + 1)] = part;
    }
  }
  std::vector<Parts> wanted;
  for (const std::string& text : gather_texts(comm, to_text(parts_of(members)))) wanted.push_back(parse_parts(text));

  Redistribution work(comm, find, stored, plan_redistribution(stored, holders, wanted));
  if (!work.exchange()) return std::nullopt;
  work.fill(members, wanted[static_cast<std::size_t>(self)]);
  std::set<std::string, std::less<>> names;
  for (const Parts& parts : stored) {
    for (const auto& [name, part] : parts) names.insert(name);
  }
  return names;
}

}  // namespace mend
