#include "detector/local/runtime_witness.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"
#include "detector/local/last_words.hpp"
#include "detector/local/scheduler_slice.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mend {
namespace {

constexpr pmix_status_t call_code = PMIX_EXTERNAL_ERR_BASE - 77;
constexpr const char* call_key = "mend.call";
constexpr const char* advice_key = "mend.advice";
constexpr const char* version_key = "mend.version";
constexpr const char* cause_key = "mend.cause";
constexpr const char* own_word_key = "mend.own_word";  // on notices of mend to the library

const pmix_info_t* find_info(std::span<const pmix_info_t> infos, const char* key) {
  const auto at = std::find_if(infos.begin(), infos.end(), [&](const pmix_info_t& info) {
    return std::strncmp(info.key, key, PMIX_MAX_KEYLEN) == 0;
  });
  return at == infos.end() ? nullptr : &*at;
}

RuntimeName named(const std::string& job, std::uint32_t rank) {
  RuntimeName name;
  job.copy(name.job.data(), name.job.size() - 1);
  name.rank = rank;
  return name;
}

/// A call to leave wait().
struct Call {
  Epoch epoch;
  std::optional<ProcessId> because_of{};
  friend bool operator==(const Call&, const Call&) = default;
};

/// The runtime reports a cause within milliseconds, on a busy machine within some hundred. It may never report one, for
/// example for a process that died before this one listened, or whose node is lost.
constexpr Seconds patience_for_causes{1};

/// PMIx's thread puts events here, and the application's thread reads them.
class Mailbox {
 public:
  std::size_t death_count() const { return death_count_.load(std::memory_order_acquire); }

  std::vector<WitnessedDeath> deaths() const {
    const std::lock_guard lock(mutex_);
    return deaths_;
  }

  bool has_died(const RuntimeWitness::Matters& matters) const {
    const std::lock_guard lock(mutex_);
    return any_of_the_dead(matters);
  }

  void wait(const RuntimeWitness::Wake& wake, const RuntimeWitness::Prepare& prepare) {
    std::unique_lock lock(mutex_);
    const auto is_over = [&] {
      const bool is_called = std::ranges::any_of(calls_, [&](const Call& call) {
        return call.epoch >= wake.epoch && (!call.because_of || wake.calls(*call.because_of));
      });
      return is_called || any_of_the_dead(wake.deaths);
    };
    for (;;) {
      changed_.wait(lock, [&] { return is_over() || (prepare && advice_); });
      if (is_over()) return;
      const std::vector<ByteCount> sizes = *std::exchange(advice_, std::nullopt);
      lock.unlock();
      prepare(sizes, [&] {
        const std::lock_guard look(mutex_);
        return !is_over();
      });
      lock.lock();
    }
  }

  void add_death(ProcessId process) {
    {
      const std::lock_guard lock(mutex_);
      if (any_of_the_dead([&](ProcessId known) { return known == process; })) return;
      deaths_.push_back({process, WallClock::now()});
      death_count_.store(deaths_.size(), std::memory_order_release);
      changed_.notify_all();
    }
    tell_news();
  }

  void add_cause(ProcessId process, DeathCause cause) {
    {
      const std::lock_guard lock(mutex_);
      DeathCause& known = causes_[process];
      if (known.is_known() && (known.is_own_word() || !cause.is_own_word())) return;
      known = cause;
      changed_.notify_all();
    }
    tell_news();
  }
  DeathCause cause_of(ProcessId process) const {
    const std::lock_guard lock(mutex_);
    const auto known = causes_.find(process);
    return known == causes_.end() ? DeathCause{} : known->second;
  }
  void wait_for_causes(std::span<const ProcessId> dead) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience_for_causes, [&] {
      return std::ranges::all_of(dead, [&](ProcessId process) { return causes_[process].is_known(); });
    });
  }

  void listen_to_news(std::function<void()> listener) {
    const std::lock_guard lock(news_mutex_);
    news_listener_ = std::move(listener);
  }

  void add_name(ProcessId process, const RuntimeName& name) {
    const std::lock_guard lock(mutex_);
    latecomers_[process] = name;
  }
  /// Returns nothing if the process belongs to another job: the runtime may have several.
  std::optional<ProcessId> find(const pmix_proc_t& process) const {
    if (job_ == process.nspace) return ProcessId{process.rank};
    const std::lock_guard lock(mutex_);
    for (const auto& [number, name] : latecomers_) {
      if (name.rank == process.rank && std::strncmp(name.job.data(), process.nspace, name.job.size()) == 0)
        return number;
    }
    return std::nullopt;
  }
  RuntimeName name_of(ProcessId process) const {
    const std::lock_guard lock(mutex_);
    const auto latecomer = latecomers_.find(process);
    return latecomer == latecomers_.end() ? named(job_, process.value) : latecomer->second;
  }

  void listen(std::function<void(ProcessId)> listener) {
    const std::lock_guard lock(listener_mutex_);
    listener_ = std::move(listener);
  }
  void tell_listener(ProcessId process) {
    const std::lock_guard lock(listener_mutex_);
    if (listener_) listener_(process);
  }

  void add_call(const Call& call) {
    const std::lock_guard lock(mutex_);
    std::erase_if(calls_, [&](const Call& earlier) { return earlier.epoch.next() < call.epoch; });  // heeded by all
    if (std::ranges::find(calls_, call) == calls_.end()) calls_.push_back(call);
    changed_.notify_all();
  }

  Version announced() const {
    const std::lock_guard lock(mutex_);
    return announced_;
  }
  void add_version(Version version) {
    const std::lock_guard lock(mutex_);
    announced_ = std::max(announced_, version);
  }

  void add_advice(std::span<const ByteCount> sizes) {
    const std::lock_guard lock(mutex_);
    advice_.emplace(sizes.begin(), sizes.end());
    changed_.notify_all();
  }

 private:
  bool any_of_the_dead(const RuntimeWitness::Matters& matters) const {
    return std::any_of(deaths_.begin(), deaths_.end(),
                       [&](const WitnessedDeath& death) { return matters(death.process); });
  }

  /// The listener looks for the news itself.
  void tell_news() {
    const std::lock_guard lock(news_mutex_);
    if (news_listener_) news_listener_();
  }

  std::atomic<std::size_t> death_count_ = 0;
  const std::string job_ = launch::job();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ProcessId, RuntimeName> latecomers_;
  std::vector<WitnessedDeath> deaths_;
  std::map<ProcessId, DeathCause> causes_;
  std::vector<Call> calls_;
  Version announced_;
  std::optional<std::vector<ByteCount>> advice_;  // the last, not taken yet
  std::mutex listener_mutex_;
  std::function<void(ProcessId)> listener_;
  std::mutex news_mutex_;
  std::function<void()> news_listener_;
};

/// A call as it is sent.
struct ToldCall {
  Epoch epoch;
  bool has_reason;
  ProcessId because_of;
};

/// A cause as it is sent from one process to the others.
struct ToldCause {
  ProcessId process;
  DeathCause cause;
};

/// Returns the cause of a death according to the runtime: the daemon has waited for the process.
DeathCause cause_by_runtime(pmix_status_t code, std::span<const pmix_info_t> infos) {
  constexpr int signal_base = 128;
  const pmix_info_t* exit = find_info(infos, PMIX_EXIT_CODE);
  const int status = exit == nullptr ? 0 : exit->value.data.integer;
  if (code == PMIX_ERR_PROC_ABORTED_BY_SIG && status > signal_base)
    return {DeathCause::Kind::signal, status - signal_base};
  // A dropped connection is reported in the same way, before the daemon knows the cause of the death.
  if (code == PMIX_ERR_PROC_TERM_WO_SYNC && exit != nullptr) return {DeathCause::Kind::left, status};
  if (code == PMIX_ERR_PROC_ABORTED && exit != nullptr) return {DeathCause::Kind::exit, status};
  return {};
}

/// Never destroyed, because PMIx's thread may still deliver an event while the process exits.
Mailbox& mailbox() {
  static Mailbox* const instance = std::make_unique<Mailbox>().release();
  return *instance;
}

void death_handler(size_t, pmix_status_t code, const pmix_proc_t* source, pmix_info_t info[], size_t ninfo,
                   pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t done, void* done_data) {
  const pmix_info_t* affected = find_info({info, ninfo}, PMIX_EVENT_AFFECTED_PROC);
  const pmix_proc_t* dead = affected ? affected->value.data.proc : source;
  std::optional<ProcessId> news;
  if (dead && dead->rank <= PMIX_RANK_VALID && !find_info({info, ninfo}, own_word_key)) news = mailbox().find(*dead);
  if (news) mailbox().add_death(*news);
  const DeathCause cause = cause_by_runtime(code, {info, ninfo});
  // The event is not only mend's: the MPI library's own handler must get it too, and before another thread wants the
  // processor.
  if (done) done(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, done_data);
  if (news) mailbox().tell_listener(*news);
  if (news && cause.is_known()) mailbox().add_cause(*news, cause);
}

void call_handler(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo, pmix_info_t*, size_t,
                  pmix_event_notification_cbfunc_fn_t done, void* done_data) {
  if (const pmix_info_t* call = find_info({info, ninfo}, call_key);
      call != nullptr && call->value.data.bo.size == sizeof(ToldCall)) {
    ToldCall told;
    std::memcpy(&told, call->value.data.bo.bytes, sizeof told);
    mailbox().add_call({told.epoch, told.has_reason ? std::optional(told.because_of) : std::nullopt});
  }
  if (const pmix_info_t* version = find_info({info, ninfo}, version_key))
    mailbox().add_version(Version{version->value.data.uint64});
  if (const pmix_info_t* cause = find_info({info, ninfo}, cause_key);
      cause != nullptr && cause->value.data.bo.size == sizeof(ToldCause)) {
    ToldCause told;
    std::memcpy(&told, cause->value.data.bo.bytes, sizeof told);
    mailbox().add_cause(told.process, told.cause);
  }
  if (const pmix_info_t* advice = find_info({info, ninfo}, advice_key)) {
    const pmix_byte_object_t& said = advice->value.data.bo;
    std::vector<ByteCount> sizes(said.size / sizeof(ByteCount));
    std::memcpy(sizes.data(), said.bytes, sizes.size() * sizeof(ByteCount));
    mailbox().add_advice(sizes);
  }
  if (done) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_data);
}

/// The daemon that started this process is gone. This process receives no more events, and all others have declared it
/// dead. If it is a waiting spare, it would wait for ever.
void lost_handler(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t*, size_t,
                  pmix_event_notification_cbfunc_fn_t, void*) {
  constexpr std::string_view line = "mend: the runtime is gone: this process ends\n";
  write_last_words(line);
  ::kill(::getpid(), SIGKILL);
}

/// Runs in PMIx's thread, when PMIx has accepted a handler.
void registered(pmix_status_t status, size_t, void* waiting) {
  detector::request_short_scheduler_slice();  // news of deaths arrive in this thread
  static_cast<std::promise<pmix_status_t>*>(waiting)->set_value(status);
}

/// `first`: before all other handlers, including those of the MPI library. Only one handler of a process can be first.
void listen(std::span<pmix_status_t> codes, pmix_notification_fn_t handler, bool first) {
  pmix_info_t info;
  PMIX_INFO_CONSTRUCT(&info);
  PMIX_INFO_LOAD(&info, PMIX_EVENT_HDLR_FIRST, &first, PMIX_BOOL);
  std::promise<pmix_status_t> answer;
  pmix_status_t status =
      PMIx_Register_event_handler(codes.data(), codes.size(), &info, first ? 1 : 0, handler, &registered, &answer);
  if (status == PMIX_SUCCESS) status = answer.get_future().get();
  if (status != PMIX_SUCCESS) {
    throw EnvironmentError(
        fmt::format("the runtime does not accept a listener for process deaths: {}", PMIx_Error_string(status)));
  }
}

/// A notice of mend to the library, kept until PMIx has passed it on.
struct Notice {
  explicit Notice(ProcessId process) {
    PMIX_PROC_CONSTRUCT(&dead);
    const RuntimeName name = mailbox().name_of(process);
    PMIX_LOAD_PROCID(&dead, name.job.data(), name.rank);
    for (pmix_info_t& info : infos) PMIX_INFO_CONSTRUCT(&info);
    const bool yes = true;
    PMIX_INFO_LOAD(&infos[0], PMIX_EVENT_AFFECTED_PROC, &dead, PMIX_PROC);
    PMIX_INFO_LOAD(&infos[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[2], own_word_key, &yes, PMIX_BOOL);
  }
  ~Notice() {
    for (pmix_info_t& info : infos) PMIX_INFO_DESTRUCT(&info);
  }
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;

  pmix_proc_t dead;
  std::array<pmix_info_t, 3> infos;
};

/// Sends `value`, under `key`, to all processes of the launch.
void say_to_all(const char* key, const void* value, pmix_data_type_t type) {
  std::array<pmix_info_t, 2> infos;
  for (pmix_info_t& info : infos) PMIX_INFO_CONSTRUCT(&info);
  const bool yes = true;
  PMIX_INFO_LOAD(&infos[0], key, value, type);
  PMIX_INFO_LOAD(&infos[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
  PMIx_Notify_event(call_code, nullptr, PMIX_RANGE_SESSION, infos.data(), infos.size(), nullptr, nullptr);
  for (pmix_info_t& info : infos) PMIX_INFO_DESTRUCT(&info);
}

void say_bytes_to_all(const char* key, const void* data, std::size_t size) {
  pmix_byte_object_t said;
  said.bytes = const_cast<char*>(static_cast<const char*>(data));  // only read
  said.size = size;
  say_to_all(key, &said, PMIX_BYTE_OBJECT);
}

/// Returns when the daemon has read what this process has sent: it answers in order.
void wait_for_daemon() {
  pmix_query_t query;
  PMIX_QUERY_CONSTRUCT(&query);
  PMIx_Argv_append_nosize(&query.keys, PMIX_QUERY_NAMESPACES);
  pmix_info_t* answer = nullptr;
  std::size_t count = 0;
  PMIx_Query_info(&query, 1, &answer, &count);
  if (answer != nullptr) PMIX_INFO_FREE(answer, count);
  PMIX_QUERY_DESTRUCT(&query);
}

void notice_passed_on(pmix_status_t, void* notice) { delete static_cast<Notice*>(notice); }

/// Registers the handlers, once in the life of the process. They are never removed: a later call would reach Open MPI's
/// handler of last resort, which takes an unknown event for a fatal error and aborts.
bool listen_to_runtime() {
  std::array<pmix_status_t, 3> death_codes{PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_ABORTED_BY_SIG,
                                           PMIX_ERR_PROC_ABORTED};
  std::array<pmix_status_t, 1> call_codes{call_code};
  listen(death_codes, &death_handler, true);
  std::array<pmix_status_t, 1> lost_codes{PMIX_ERR_LOST_CONNECTION};
  listen(call_codes, &call_handler, false);
  listen(lost_codes, &lost_handler, false);
  return true;
}

}  // namespace

RuntimeName RuntimeName::self() {
  const char* job = std::getenv("PMIX_NAMESPACE");
  const char* rank = std::getenv("PMIX_RANK");
  return named(job == nullptr ? "" : job,
               rank == nullptr ? 0 : static_cast<std::uint32_t>(std::strtoul(rank, nullptr, 10)));
}

DeathCause RuntimeWitness::cause_of(ProcessId process) const { return mailbox().cause_of(process); }

void RuntimeWitness::note_cause(ProcessId process, DeathCause cause) { mailbox().add_cause(process, cause); }

void RuntimeWitness::tell_cause(ProcessId process, DeathCause cause) {
  mailbox().add_cause(process, cause);
  const ToldCause told{process, cause};
  say_bytes_to_all(cause_key, &told, sizeof told);
}

void RuntimeWitness::tell_own_cause(ProcessId self, DeathCause cause) {
  tell_cause(self, cause);
  wait_for_daemon();
}

void RuntimeWitness::wait_for_causes(std::span<const ProcessId> dead) const { mailbox().wait_for_causes(dead); }

void RuntimeWitness::on_news(std::function<void()> listener) { mailbox().listen_to_news(std::move(listener)); }

RuntimeWitness::RuntimeWitness() { static const bool listening [[maybe_unused]] = listen_to_runtime(); }

void RuntimeWitness::know(ProcessId process, const RuntimeName& name) { mailbox().add_name(process, name); }
bool RuntimeWitness::tells_of(ProcessId process) const {
  return mailbox().name_of(process).job == RuntimeName::self().job;
}

std::size_t RuntimeWitness::death_count() const { return mailbox().death_count(); }
std::vector<WitnessedDeath> RuntimeWitness::deaths() const { return mailbox().deaths(); }
bool RuntimeWitness::has_died(const Matters& matters) const { return mailbox().has_died(matters); }
void RuntimeWitness::wait(const Wake& wake, const Prepare& prepare) { mailbox().wait(wake, prepare); }

void RuntimeWitness::report(ProcessId process) { mailbox().add_death(process); }
void RuntimeWitness::on_death(std::function<void(ProcessId)> listener) { mailbox().listen(std::move(listener)); }

void RuntimeWitness::tell_library(ProcessId process) {
  auto notice = std::make_unique<Notice>(process);
  const pmix_status_t status =
      PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &notice->dead, PMIX_RANGE_PROC_LOCAL, notice->infos.data(),
                        notice->infos.size(), &notice_passed_on, notice.get());
  if (status == PMIX_SUCCESS) static_cast<void>(notice.release());  // otherwise the callback is not called
}

void RuntimeWitness::call(Epoch epoch, std::optional<ProcessId> because_of) {
  const ToldCall told{epoch, because_of.has_value(), because_of.value_or(ProcessId{})};
  say_bytes_to_all(call_key, &told, sizeof told);
}

void RuntimeWitness::announce(Version version) {
  say_to_all(version_key, &version.value, PMIX_UINT64);
  wait_for_daemon();
}
Version RuntimeWitness::announced() const { return mailbox().announced(); }
void RuntimeWitness::hear(Version announced) { mailbox().add_version(announced); }

void RuntimeWitness::advise(std::span<const ByteCount> sizes) {
  say_bytes_to_all(advice_key, sizes.data(), sizes.size_bytes());
}

}  // namespace mend
