#include "transport/interruptible_pmix.hpp"

#include <dlfcn.h>
#include <pmix.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mend::transport {

struct InterruptiblePmix::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool broken_off = false;
};

namespace {

using State = InterruptiblePmix::State;

std::shared_ptr<State>& present() {
  static std::shared_ptr<State> instance;
  return instance;
}

/// A call under way. It may be answered when no thread waits for it any more, so the callback and the waiting thread
/// own it together.
struct Call {
  explicit Call(std::shared_ptr<State> whose) : state(std::move(whose)) {}
  ~Call() {
    for (pmix_pdata_t& datum : found) PMIX_PDATA_DESTRUCT(&datum);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::shared_ptr<State> state;
  std::optional<pmix_status_t> answer;
  std::vector<pmix_pdata_t> found;

  void answered(pmix_status_t status) {
    const std::lock_guard lock(state->mutex);
    answer = status;
    state->changed.notify_all();
  }
  pmix_status_t wait() {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return answer || state->broken_off; });
    return answer.value_or(PMIX_ERR_LOST_CONNECTION);
  }
};

using Shared = std::shared_ptr<Call>;

/// Passes a call to PMIx; its callbacks take it back.
void* hand_out(const Shared& call) { return new Shared(call); }
Shared take_back(void* handed_out) {
  const std::unique_ptr<Shared> owner(static_cast<Shared*>(handed_out));
  return *owner;
}

void connected(pmix_status_t status, void* handed_out) { take_back(handed_out)->answered(status); }

void looked_up(pmix_status_t status, pmix_pdata_t data[], std::size_t count, void* handed_out) {
  const Shared call = take_back(handed_out);
  for (std::size_t i = 0; i < count; ++i) {
    pmix_pdata_t copy;
    PMIX_PDATA_CONSTRUCT(&copy);
    PMIX_PDATA_XFER(&copy, &data[i]);
    call->found.push_back(copy);
  }
  call->answered(status);
}

template <class Function>
Function of_the_runtime(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

InterruptiblePmix::InterruptiblePmix() : state_(std::make_shared<State>()) { present() = state_; }
InterruptiblePmix::~InterruptiblePmix() { present().reset(); }

void InterruptiblePmix::break_off() {
  const std::lock_guard lock(state_->mutex);
  state_->broken_off = true;
  state_->changed.notify_all();
}

}  // namespace mend::transport

// NOLINTBEGIN(readability-identifier-naming): the runtime's names

using mend::transport::Call;
using mend::transport::Shared;

extern "C" pmix_status_t PMIx_Connect(const pmix_proc_t procs[], std::size_t nprocs, const pmix_info_t info[],
                                      std::size_t ninfo) {
  const auto state = mend::transport::present();
  if (!state)
    return mend::transport::of_the_runtime<decltype(&PMIx_Connect)>("PMIx_Connect")(procs, nprocs, info, ninfo);
  const auto call = std::make_shared<Call>(state);
  void* const handed_out = mend::transport::hand_out(call);
  const pmix_status_t status = PMIx_Connect_nb(procs, nprocs, info, ninfo, &mend::transport::connected, handed_out);
  if (status == PMIX_SUCCESS) return call->wait();
  mend::transport::take_back(handed_out);
  return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
}

extern "C" pmix_status_t PMIx_Lookup(pmix_pdata_t data[], std::size_t ndata, const pmix_info_t info[],
                                     std::size_t ninfo) {
  const auto state = mend::transport::present();
  if (!state) return mend::transport::of_the_runtime<decltype(&PMIx_Lookup)>("PMIx_Lookup")(data, ndata, info, ninfo);
  std::vector<char*> keys;
  for (std::size_t i = 0; i < ndata; ++i) keys.push_back(data[i].key);
  keys.push_back(nullptr);
  const auto call = std::make_shared<Call>(state);
  void* const handed_out = mend::transport::hand_out(call);
  pmix_status_t status = PMIx_Lookup_nb(keys.data(), info, ninfo, &mend::transport::looked_up, handed_out);
  if (status != PMIX_SUCCESS) {
    mend::transport::take_back(handed_out);
    return status;
  }
  status = call->wait();
  if (status != PMIX_SUCCESS) return status;
  const std::lock_guard lock(state->mutex);
  for (std::size_t i = 0; i < ndata; ++i) {
    for (pmix_pdata_t& found : call->found) {
      if (std::strncmp(data[i].key, found.key, PMIX_MAX_KEYLEN) != 0) continue;
      data[i].proc = found.proc;
      status = PMIx_Value_xfer(&data[i].value, &found.value);
    }
  }
  return status;
}

// NOLINTEND(readability-identifier-naming)
