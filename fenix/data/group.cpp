#include "fenix/data/group.hpp"

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "base/telemetry/log.hpp"
#include "framework/recovery/engine.hpp"
#include "fenix/fenix.h"
#include "fenix/data/archive.hpp"
#include "fenix/data/serializer.hpp"
#include "transport/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

namespace mend::fenix {
namespace {

using agreement::Motion;

/// What the Store commits, and fills.
class ArchiveMember final : public Member {
 public:
  ArchiveMember(Committed& committed, std::size_t places) : committed_(committed), places_(places) {}
  std::string shape() const override { return "Fenix data group"; }
  ByteCount size() const override { return written_size(committed_); }
  void pack(std::span<std::byte> to) const override { write(committed_, places_, to); }
  void unpack(std::span<const std::byte> from) override {
    Committed kept = read(from);
    committed_.history = std::move(kept.history);
    for (const Definition& definition : kept.definitions) {
      const auto same = [&](const Definition& known) { return known.id == definition.id; };
      if (std::ranges::none_of(committed_.definitions, same)) committed_.definitions.push_back(definition);
    }
  }

 private:
  Committed& committed_;
  std::size_t places_;
};

/// The policy's mode 1 has pairs of ranks hold copies of each other, mode 5 makes parities in groups. Which ranks those
/// are is up to the store, which knows the nodes; so the separation says nothing here.
Redundancy redundancy_of(const GroupSettings& settings) {
  if (settings.policy_name == FENIX_DATA_POLICY_LOCAL) return Redundancy::parse("local");
  if (settings.policy_value.empty() || settings.policy_value[0] == 1) return Redundancy::parse("partner");
  if (settings.policy_value[0] != 5) {
    throw UsageError(
        fmt::format("the policy's mode {} is none: it is 1 (copies) or 5 (parities)", settings.policy_value[0]));
  }
  return Redundancy::parse(fmt::format("xor:{}", settings.policy_value[2]));
}

void vote(Engine& engine) {
  if (!engine.ballot().vote(Motion::flag, true)) throw EnvironmentError("a rank refused to go on");
}

}  // namespace

Group::Group(GroupSettings settings, Engine& engine)
    : settings_(std::move(settings)),
      engine_(engine),
      store_(redundancy_of(settings_)),
      informed_(engine.world().epoch == Epoch{0}) {
  redundancy_of(settings_).require_ranks(engine.first_size());  // the same on newcomers, whom survivors wait for
  store_.protect("group", std::make_unique<ArchiveMember>(committed_, static_cast<std::size_t>(settings_.depth) + 1));
  engine.take_into_epoch(store_);
}

Group::~Group() = default;

// --- after a failure -------------------------------------------------------------------------------------------

bool Group::is_local() const { return settings_.policy_name == FENIX_DATA_POLICY_LOCAL; }

void Group::catch_up() {
  const Epoch now = engine_.world().epoch;
  if (caught_up_ == now) return;
  open_.clear();
  if (is_local()) {
    stage_newest();
    caught_up_ = now;
    return;
  }
  if (const RecoveryReport* fewer = recovery_with_fewer_ranks()) {
    keep_own_history(*fewer);
  } else {
    restore();
  }
  stage_newest();
  share_definitions();
  caught_up_ = now;
}

/// The recovery that began this epoch, if ranks were given up in it. All are told alike.
const RecoveryReport* Group::recovery_with_fewer_ranks() const {
  const auto recoveries = engine_.recoveries();
  const bool fewer =
      !recoveries.empty() && recoveries.back().epoch == engine_.world().epoch && !recoveries.back().given_up.empty();
  return fewer ? &recoveries.back() : nullptr;
}

/// The snapshots in the store were of ranks with other numbers, and are forgotten. Each rank has its own history still,
/// but not one that was taken over: then nobody shall have any, so that all ranks go on alike.
void Group::keep_own_history(const RecoveryReport& recovery) {
  if (recovery.replacements.empty()) return;
  committed_.history.clear();
  if (engine_.rank() == Rank{0}) {
    log::warn(
        "what was committed to a Fenix data group is lost: some ranks were given up and others taken over at once");
  }
}

void Group::restore() {
  committed_.history.clear();
  const Seconds before = store_.statistics().restore_time;
  try {
    store_.restore();
    engine_.note_restore(store_.statistics().restore_time - before);
  } catch (const DataLoss& loss) {
    if (engine_.rank() == Rank{0}) log::warn(loss.what());
    committed_.history.clear();
  }
}

void Group::stage_newest() {
  staged_.clear();
  if (!committed_.history.empty()) staged_ = committed_.history.front().members;
  for (auto& [id, kept] : staged_) kept.fresh = {};
  std::erase_if(staged_, [this](const auto& staged) { return find(staged.first) == nullptr; });
}

/// Members that were created and never committed are known to survivors alone; the first of them tells of them. And so
/// is the number of commits, if nothing was restored.
void Group::share_definitions() {
  const MPI_Comm comm = engine_.world().store.get();
  const std::optional<int> teller = lowest_rank_with(comm, informed_);
  commits_ = store_.version().value;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &commits_, 1, MPI_UINT64_T, MPI_MAX, comm), "MPI_Allreduce");
  Bytes bytes = write_definitions(committed_.definitions);
  if (teller) broadcast_bytes(comm, *teller, bytes);
  vote(engine_);
  for (const Definition& definition : read_definitions(bytes)) {
    if (find(definition.id) == nullptr) committed_.definitions.push_back(definition);
  }
  informed_ = true;
}

// --- members ---------------------------------------------------------------------------------------------------

Definition* Group::find(int id) {
  const auto found = std::ranges::find(committed_.definitions, id, &Definition::id);
  return found == committed_.definitions.end() ? nullptr : &*found;
}

void Group::define(const Definition& definition) {
  if (Definition* known = find(definition.id)) {
    *known = definition;
  } else {
    committed_.definitions.push_back(definition);
  }
}

void Group::remove(int id) {
  open_.erase(id);
  std::erase_if(committed_.definitions, [id](const Definition& definition) { return definition.id == id; });
  staged_.erase(id);
}

// --- store and commit ------------------------------------------------------------------------------------------

void Group::stage(const Definition& definition, const Regions& regions) {
  if (regions.empty()) return;
  if (definition.buffer == nullptr && !definition.serializer) {
    throw UsageError(fmt::format(
        "member {} has no buffer here yet: restore it, or set FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER", definition.id));
  }
  KeptMember& staged = staged_[definition.id];
  const bool replaces_all = !staged.elements || (regions.all().size() == 1 && regions.all()[0].begin == 0 &&
                                                 regions.end() >= staged.elements->known.end());
  auto fresh = replaces_all ? std::make_shared<Elements>() : std::make_shared<Elements>(*staged.elements);
  fresh->known.add(regions);
  fresh->bytes.resize(fresh->known.end() * definition.element_bytes);
  write_elements_of(definition, regions, fresh->bytes);
  staged.elements = std::move(fresh);
  staged.fresh.add(regions);
}

void Group::stage_whole(const Definition& definition) { stage_bytes(definition, write_whole(definition)); }

void Group::stage_bytes(const Definition& definition, Bytes bytes) {
  const Regions all = Regions::first((bytes.size() + definition.element_bytes - 1) / definition.element_bytes);
  bytes.resize(all.end() * definition.element_bytes);
  staged_[definition.id] = {std::make_shared<Elements>(Elements{all, std::move(bytes)}), all};
}

int Group::commit() {
  catch_up();
  const int time_stamp = settings_.start_time_stamp + static_cast<int>(commits_);
  const std::deque<FenixSnapshot> before = committed_.history;
  committed_.history.push_front({time_stamp, staged_});
  if (committed_.history.size() > static_cast<std::size_t>(settings_.depth) + 1) committed_.history.pop_back();
  try {
    commits_ = is_local() ? commits_ + 1 : store_.commit().value;
  } catch (...) {
    committed_.history = before;
    throw;
  }
  for (auto& [id, kept] : staged_) kept.fresh = {};
  return time_stamp;
}

// --- snapshots -------------------------------------------------------------------------------------------------

const FenixSnapshot* Group::snapshot_or_newest(int time_stamp) const {
  const auto& history = committed_.history;
  if (history.empty()) return nullptr;
  const auto found = std::ranges::find(history, time_stamp, &FenixSnapshot::time_stamp);
  return found != history.end() ? &*found : &history.front();
}

bool Group::forget(int time_stamp) {
  return std::erase_if(committed_.history, [&](const FenixSnapshot& snapshot) {
           return time_stamp == FENIX_DATA_SNAPSHOT_ALL || snapshot.time_stamp == time_stamp;
         }) > 0;
}

Elements Group::fetch(const Elements& mine, int source) {
  vote(engine_);  // that all ranks are here
  const MPI_Comm comm = engine_.world().store.get();
  const auto ranks = static_cast<std::size_t>(engine_.world().roster.size());
  std::vector<int> wanted(ranks);
  check_mpi(MPI_Allgather(&source, 1, MPI_INT, wanted.data(), 1, MPI_INT, comm), "MPI_Allgather");

  const Bytes lent = write_elements(mine);
  std::vector<std::uint64_t> lent_sizes(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    lent_sizes[rank] = wanted[rank] == engine_.rank().value ? lent.size() : 0;
  std::vector<std::uint64_t> sizes(ranks);
  check_mpi(MPI_Alltoall(lent_sizes.data(), 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm), "MPI_Alltoall");
  const bool fits = lent.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (!engine_.ballot().vote(Motion::flag, fits)) throw EnvironmentError("a member of 2 GiB or more cannot be fetched");

  const std::vector<int> counts_out(lent_sizes.begin(), lent_sizes.end());
  const std::vector<int> counts_in(sizes.begin(), sizes.end());
  const std::vector<int> from_the_start(ranks, 0);  // only one lends anything to this rank
  Bytes borrowed(sizes[static_cast<std::size_t>(source)]);
  check_mpi(MPI_Alltoallv(lent.data(), counts_out.data(), from_the_start.data(), MPI_BYTE, borrowed.data(),
                          counts_in.data(), from_the_start.data(), MPI_BYTE, comm),
            "MPI_Alltoallv");
  vote(engine_);
  return read_elements(borrowed);
}

void copy_elements(const Elements& elements, std::size_t element_bytes, const Regions& which, std::byte* target) {
  for (const Region& region : which.all()) {
    const std::size_t begin = region.begin * element_bytes;
    std::memcpy(target + begin, elements.bytes.data() + begin, (region.end - region.begin) * element_bytes);
  }
}

}  // namespace mend::fenix
