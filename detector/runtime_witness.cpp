#include "detector/runtime_witness.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <pmix.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace mend {
namespace {

constexpr pmix_status_t call_code = PMIX_EXTERNAL_ERR_BASE - 77;
constexpr const char* call_epoch_key = "mend.epoch";

const pmix_info_t* find(std::span<const pmix_info_t> infos, const char* key) {
  const auto at = std::find_if(infos.begin(), infos.end(),
                               [&](const pmix_info_t& info) { return std::strncmp(info.key, key, PMIX_MAX_KEYLEN) == 0; });
  return at == infos.end() ? nullptr : &*at;
}

/// The witness that registered the handler: PMIx hands back what was registered with it.
RuntimeWitness* owner(std::span<const pmix_info_t> infos) {
  const pmix_info_t* object = find(infos, PMIX_EVENT_RETURN_OBJECT);
  return object ? static_cast<RuntimeWitness*>(object->value.data.ptr) : nullptr;
}

void death_handler(size_t, pmix_status_t, const pmix_proc_t* source, pmix_info_t info[], size_t ninfo, pmix_info_t*,
                   size_t, pmix_event_notification_cbfunc_fn_t done, void* done_data) {
  const std::span infos(info, ninfo);
  const pmix_info_t* affected = find(infos, PMIX_EVENT_AFFECTED_PROC);
  const pmix_proc_t* dead = affected ? affected->value.data.proc : source;
  RuntimeWitness* witness = owner(infos);
  if (witness && dead && dead->rank <= PMIX_RANK_VALID) witness->on_death(ProcessId{dead->rank});
  // Not ours alone: the MPI library's own handler must hear of it too.
  if (done) done(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, done_data);
}

void call_handler(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo, pmix_info_t*, size_t,
                  pmix_event_notification_cbfunc_fn_t done, void* done_data) {
  const std::span infos(info, ninfo);
  const pmix_info_t* epoch = find(infos, call_epoch_key);
  RuntimeWitness* witness = owner(infos);
  if (witness && epoch) witness->on_call(Epoch{epoch->value.data.uint32});
  if (done) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_data);
}

/// `first`: before all other handlers, the MPI library's among them; one handler of a process can be that.
std::size_t listen(std::span<pmix_status_t> codes, pmix_notification_fn_t handler, RuntimeWitness* self, bool first) {
  std::array<pmix_info_t, 2> infos;
  for (pmix_info_t& info : infos) PMIX_INFO_CONSTRUCT(&info);
  PMIX_INFO_LOAD(&infos[0], PMIX_EVENT_RETURN_OBJECT, self, PMIX_POINTER);
  PMIX_INFO_LOAD(&infos[1], PMIX_EVENT_HDLR_FIRST, &first, PMIX_BOOL);
  // Without a callback the call blocks and returns the registration's number, or a negative error.
  const pmix_status_t reference =
      PMIx_Register_event_handler(codes.data(), codes.size(), infos.data(), first ? 2 : 1, handler, nullptr, nullptr);
  if (reference < 0) {
    throw EnvironmentError(fmt::format("the runtime takes no listener for process deaths: {}", PMIx_Error_string(reference)));
  }
  return static_cast<std::size_t>(reference);
}

}  // namespace

RuntimeWitness::RuntimeWitness() {
  std::array<pmix_status_t, 3> death_codes{PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_ABORTED};
  std::array<pmix_status_t, 1> call_codes{call_code};
  registrations_.push_back(listen(death_codes, &death_handler, this, true));
  registrations_.push_back(listen(call_codes, &call_handler, this, false));
}

RuntimeWitness::~RuntimeWitness() {
  for (std::size_t registration : registrations_) PMIx_Deregister_event_handler(registration, nullptr, nullptr);
}

std::vector<WitnessedDeath> RuntimeWitness::deaths() const {
  const std::lock_guard lock(mutex_);
  return deaths_;
}

void RuntimeWitness::call(Epoch epoch) {
  std::array<pmix_info_t, 2> infos;
  for (pmix_info_t& info : infos) PMIX_INFO_CONSTRUCT(&info);
  bool no_cache = true;
  PMIX_INFO_LOAD(&infos[0], call_epoch_key, &epoch.value, PMIX_UINT32);
  PMIX_INFO_LOAD(&infos[1], PMIX_EVENT_DO_NOT_CACHE, &no_cache, PMIX_BOOL);
  PMIx_Notify_event(call_code, nullptr, PMIX_RANGE_SESSION, infos.data(), infos.size(), nullptr, nullptr);
}

void RuntimeWitness::wait(Epoch epoch, const std::function<bool(ProcessId)>& matters) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    const bool called = called_ && *called_ >= epoch;
    return called || std::any_of(deaths_.begin(), deaths_.end(),
                                 [&](const WitnessedDeath& death) { return matters(death.process); });
  });
}

void RuntimeWitness::on_death(ProcessId process) {
  const std::lock_guard lock(mutex_);
  const bool known = std::any_of(deaths_.begin(), deaths_.end(),
                                 [&](const WitnessedDeath& death) { return death.process == process; });
  if (known) return;
  deaths_.push_back({process, WallClock::now()});
  death_count_.store(deaths_.size(), std::memory_order_release);
  changed_.notify_all();
}

void RuntimeWitness::on_call(Epoch epoch) {
  const std::lock_guard lock(mutex_);
  if (!called_ || *called_ < epoch) called_ = epoch;
  changed_.notify_all();
}

}  // namespace mend
