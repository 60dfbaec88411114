#include "framework/reporting/result_file.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"
#include "base/files/whole_file.hpp"
#include "base/telemetry/json_text.hpp"
#include "base/telemetry/microseconds.hpp"
#include "store/snapshot/hash.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <array>
#include <cerrno>
#include <cstring>

namespace mend {
namespace {

using Json = nlohmann::ordered_json;

Json document_of(const RecoveryReport& recovery) {
  Json document{{"epoch", recovery.epoch.value},
                {"dead", Json::array()},
                {"replacements", Json::array()},
                {"given_up", Json::array()},
                {"noticed_us", in_microseconds(recovery.noticed).count()},
                {"interrupt_ms", recovery.interrupt.count()},
                {"agree_ms", recovery.agree.count()},
                {"rebuild_ms", recovery.rebuild.count()},
                {"restore_ms", recovery.restore.count()},
                {"rounds", recovery.rounds}};
  for (const ProcessId process : recovery.dead) document["dead"].push_back(process.value);
  for (const auto& [rank, dead, newcomer] : recovery.replacements) {
    document["replacements"].push_back({{"rank", rank.value}, {"dead", dead.value}, {"newcomer", newcomer.value}});
  }
  for (const auto& [rank, dead] : recovery.given_up) {
    document["given_up"].push_back({{"rank", rank.value}, {"dead", dead.value}});
  }
  return document;
}

Json document_of(const RollbackReport& rollback) {
  Json document{{"version", rollback.version.value}, {"back", Json::array()}, {"ranks", Json::array()}};
  for (const Rank rank : rollback.back) document["back"].push_back({{"rank", rank.value}});
  for (std::size_t rank = 0; rank < rollback.ranks.size(); ++rank) {
    const auto& [kept, logged] = rollback.ranks[rank];
    document["ranks"].push_back({{"rank", rank}, {"kept", kept}, {"logged", logged}});
  }
  return document;
}

template <class Plain>
Json as_json(const Plain& plain) {
  return plain;
}

/// JSON has no numbers that are not finite.
Json as_json(double number) {
  if (std::isfinite(number)) return number;
  if (std::isnan(number)) return "nan";
  return number > 0 ? "inf" : "-inf";
}

Json document_of(const JobFacts& facts, const Answer& answer, int ranks, std::optional<std::uint64_t> hash) {
  Json document{{"app", program_invocation_short_name}, {"ranks", ranks}, {"spares", facts.spares}};
  if (hash) document["hash"] = fmt::format("{:016x}", *hash);
  document["reported"] = Json::object();
  for (const auto& [name, value] : answer.fields())
    std::visit([&, &key = name](const auto& plain) { document["reported"][key] = as_json(plain); }, value);
  document["recoveries"] = Json::array();
  for (const RecoveryReport& recovery : facts.recoveries) {
    document["recoveries"].push_back(document_of(recovery));
    const auto rollback = std::ranges::find(facts.rollbacks, recovery.epoch, &RollbackReport::epoch);
    if (rollback != facts.rollbacks.end()) document["recoveries"].back()["local"] = document_of(*rollback);
  }
  document["phase_seconds"] = {{"commit", facts.store.commit_time.count()},
                               {"restore", facts.store.restore_time.count()},
                               {"total", facts.total.count()}};
  document["commits"] = facts.version.value;
  document["timed_commits"] = facts.store.commits;  // those of phase_seconds: of this process
  document["snapshot_bytes"] = facts.store.snapshot_bytes;
  return document;
}

void write(const std::filesystem::path& file, const Json& document) {
  try {
    write_whole(file, json_text(document, 2) + "\n");
  } catch (const EnvironmentError& error) {
    throw EnvironmentError(fmt::format("the result {} cannot be written: {}", file.string(), error.what()));
  }
}

/// Returns, on rank 0, one hash of the hashes of all ranks; nothing if no rank has reported one.
std::optional<std::uint64_t> hash_of_all(const Answer& answer, MPI_Comm comm, int rank, int size) {
  const std::array<std::uint64_t, 2> mine{answer.hash() ? 1U : 0U, answer.hash().value_or(0)};
  std::vector<std::uint64_t> all(rank == 0 ? 2 * static_cast<std::size_t>(size) : 0);
  call_mpi([&] { return MPI_Gather(mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, 0, comm); },
           "MPI_Gather");
  bool any = false;
  for (std::size_t i = 0; i < all.size(); i += 2) any = any || all[i] != 0;
  return any ? std::optional(hash_of(std::as_bytes(std::span(all)))) : std::nullopt;
}

/// The time line of one rank. Sent as raw bytes.
struct TimeLine {
  WallClock::time_point noticed;
  std::array<Milliseconds, 4> phases;
  std::array<char, 256> machine;
};

}  // namespace

void Answer::report_hash(std::span<const std::byte> part) {
  const std::array<std::uint64_t, 2> chain{hash_.value_or(0), hash_of(part)};
  hash_ = hash_of(std::as_bytes(std::span(chain)));
}

std::vector<RecoveryReport> over_all_ranks(std::span<const RecoveryReport> own, MPI_Comm comm) {
  int self = 0;
  MPI_Comm_rank(comm, &self);
  std::vector<RecoveryReport> recoveries(own.begin(), own.end());
  for (RecoveryReport& recovery : recoveries) {
    struct {
      double time;
      int rank;
    } slowest{recovery.whole().count(), self};
    call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm); },
             "MPI_Allreduce");
    TimeLine line{recovery.noticed, {recovery.interrupt, recovery.agree, recovery.rebuild, recovery.restore}, {}};
    launch::machine().copy(line.machine.data(), line.machine.size() - 1);
    call_mpi([&] { return MPI_Bcast(&line, sizeof line, MPI_BYTE, slowest.rank, comm); }, "MPI_Bcast");
    recovery.noticed = line.noticed;
    recovery.interrupt = line.phases[0];
    recovery.agree = line.phases[1];
    recovery.rebuild = line.phases[2];
    recovery.restore = line.phases[3];
    recovery.machine = line.machine.data();
  }
  return recoveries;
}

void write_result(const std::filesystem::path& file, const JobFacts& facts, const Answer& answer, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto hash = hash_of_all(answer, comm, rank, size);
  if (rank == 0) write(file, document_of(facts, answer, size, hash));
}

void write_result_of_failure(const std::filesystem::path& file, const JobFacts& facts, const Answer& answer, int ranks,
                             const FailedEnd& end) {
  if (destination_of(file).kind != Destination::Kind::file) return;
  Json document = document_of(facts, answer, ranks, std::nullopt);
  document["exit_code"] = static_cast<int>(end.code);
  document["reason"] = end.reason;
  write(file, document);
}

}  // namespace mend
