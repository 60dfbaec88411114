// A library that is loaded before a program (LD_PRELOAD). It counts the calls that can fail, and makes one of them
// fail.
//
// It counts the calls that the program makes, including mend's code in it: directly, or through the C++ library, the
// text formatter, the logger or HDF5. Calls that the MPI library and the runtime's client make for themselves are left
// alone, because a failure would abort the process. A call is identified by its function, the innermost frames of the
// program, and the number of calls from there so far.
//
// FAILING_CALLS_PROCESS  the number of the process; other processes are left alone
// FAILING_CALLS_LIST     a file: each call is appended, as "phase function frames nth"
// FAILING_CALLS_FAIL     "function frames nth": this call fails, and is recorded in FAILING_CALLS_DONE
// FAILING_CALLS_FOREVER  if set, so do all later calls of this function from these frames

#include <arpa/inet.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <functional>
#include <string_view>
#include <utility>

namespace {

constexpr std::size_t longest_call = 160;
constexpr int frames_told = 3;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool contains(std::uintptr_t address) const { return begin <= address && address < end; }
};

/// The memory ranges of the program and of the libraries through which it calls.
struct Modules {
  Range program;
  std::uintptr_t base = 0;
  std::array<Range, 32> between{};
  std::size_t count = 0;
};
Modules modules;

int note_module(dl_phdr_info* info, std::size_t, void* first) {
  Range whole{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    whole.begin = std::min(whole.begin, begin);
    whole.end = std::max(whole.end, begin + info->dlpi_phdr[i].p_memsz);
  }
  const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (std::exchange(*static_cast<bool*>(first), false)) {
    modules.program = whole;
    modules.base = info->dlpi_addr;
    return 0;
  }
  for (const char* passed : {"failing_calls", "libstdc++", "libc.so", "libgcc_s", "libfmt", "libspdlog", "libhdf5",
                             "libsz", "libz.", "libpthread"}) {
    if (name.find(passed) != std::string_view::npos && modules.count < modules.between.size())
      modules.between[modules.count++] = whole;
  }
  return 0;
}

bool is_between(std::uintptr_t address) {
  return std::any_of(modules.between.begin(), modules.between.begin() + modules.count,
                     [&](const Range& range) { return range.contains(address); });
}

bool counts = false;  // in this process
pid_t counting = 0;   // not in its children
bool memory_only = false;
const char* list = nullptr;
const char* fail = nullptr;
const char* done = nullptr;
bool forever = false;
std::array<char, 16> phase{"launch"};
thread_local bool inside = false;

/// The number of times that each call has come. Calls in the same slot are distinguished by their text.
struct Seen {
  std::array<char, longest_call> call{};
  int times = 0;
};
std::array<Seen, 8192> seen;
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

int count(std::string_view call) {
  std::size_t slot = std::hash<std::string_view>{}(call) % seen.size();
  pthread_mutex_lock(&guard);
  while (seen[slot].times > 0 && call != seen[slot].call.data()) slot = (slot + 1) % seen.size();
  if (seen[slot].times == 0) call.copy(seen[slot].call.data(), longest_call - 1);
  const int times = ++seen[slot].times;
  pthread_mutex_unlock(&guard);
  return times;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void append(const char* file, std::string_view line) {
  static const auto open_file = real<int(const char*, int, ...)>("open");
  static const auto write_file = real<ssize_t(int, const void*, std::size_t)>("write");
  const int to = open_file(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (to < 0) return;
  [[maybe_unused]] const auto written = write_file(to, line.data(), line.size());
  ::close(to);
}

/// Writes the innermost frames of the program, if the call came from there. Returns the length of the text.
int find_frames(char* text, std::size_t room) {
  std::array<void*, 48> stack;
  const int depth = ::backtrace(stack.data(), static_cast<int>(stack.size()));
  int found = 0;
  int length = 0;
  for (int i = 0; i < depth && found < frames_told; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(stack[static_cast<std::size_t>(i)]);
    if (modules.program.contains(address)) {
      length += std::snprintf(text + length, room - static_cast<std::size_t>(length), "%s%lx", found == 0 ? "" : ".",
                              static_cast<unsigned long>(address - modules.base));
      ++found;
    } else if (found == 0 && !is_between(address)) {
      return 0;
    } else if (found > 0) {
      break;
    }
  }
  return length;
}

/// Returns true if `call` is the one that must fail, and comes for at least that time.
bool is_later(std::string_view call, int times) {
  const std::string_view first(fail);
  const auto number = first.rfind(' ');
  return first.substr(0, number) == call && times >= std::atoi(fail + number);
}

/// Returns true if this call of `function` must fail.
bool fails(const char* function, bool is_memory = false) {
  if (!counts || inside || is_memory != memory_only || ::getpid() != counting) return false;
  inside = true;
  const int before = errno;
  bool is_the_one = false;
  std::array<char, longest_call> call;
  const int name = std::snprintf(call.data(), call.size(), "%s ", function);
  if (find_frames(call.data() + name, call.size() - static_cast<std::size_t>(name)) > 0) {
    const int times = count(call.data());
    std::array<char, 2 * longest_call> line;
    const int length = std::snprintf(line.data(), line.size(), "%s %s %d\n", phase.data(), call.data(), times);
    const std::string_view said(line.data(), static_cast<std::size_t>(length));
    if (list != nullptr) append(list, said);
    const std::string_view known = said.substr(said.find(' ') + 1, said.size() - said.find(' ') - 2);
    is_the_one = fail != nullptr && (known == fail || (forever && is_later(call.data(), times)));
    if (is_the_one && done != nullptr) append(done, said);
  }
  inside = false;
  errno = before;
  return is_the_one;
}

[[gnu::constructor]] void begin() {
  const char* wanted = std::getenv("FAILING_CALLS_PROCESS");
  const char* self = std::getenv("MEND_PROCESS");
  if (self == nullptr) self = std::getenv("PMIX_RANK");
  if (wanted == nullptr || self == nullptr || std::strcmp(wanted, self) != 0) return;
  list = std::getenv("FAILING_CALLS_LIST");
  fail = std::getenv("FAILING_CALLS_FAIL");
  done = std::getenv("FAILING_CALLS_DONE");
  forever = std::getenv("FAILING_CALLS_FOREVER") != nullptr;
  memory_only = std::getenv("FAILING_CALLS_MEMORY") != nullptr;
  bool first = true;
  ::dl_iterate_phdr(&note_module, &first);
  std::array<void*, 4> ready;
  ::backtrace(ready.data(), static_cast<int>(ready.size()));  // loads the library that it needs
  counting = ::getpid();
  counts = true;
}

template <class Result, class... Arguments>
Result call(const char* name, int error, Result failure, Arguments... arguments) {
  if (fails(name)) {
    errno = error;
    return failure;
  }
  return real<Result(Arguments...)>(name)(arguments...);
}

}  // namespace

extern "C" {

/// The next phase of the program, for the list.
void failing_calls_phase(const char* name) {
  pthread_mutex_lock(&guard);
  std::snprintf(phase.data(), phase.size(), "%s", name);
  pthread_mutex_unlock(&guard);
}

// NOLINTBEGIN: the C library's names, and its variable arguments.
int pipe(int ends[2]) noexcept { return call("pipe", EMFILE, -1, static_cast<int*>(ends)); }
int pipe2(int ends[2], int flags) noexcept { return call("pipe2", EMFILE, -1, static_cast<int*>(ends), flags); }
int socket(int domain, int type, int protocol) noexcept { return call("socket", EMFILE, -1, domain, type, protocol); }
int bind(int socket, const sockaddr* address, socklen_t length) noexcept {
  return call("bind", EADDRINUSE, -1, socket, address, length);
}
int listen(int socket, int backlog) noexcept { return call("listen", EADDRINUSE, -1, socket, backlog); }
int accept(int socket, sockaddr* address, socklen_t* length) {
  return call("accept", EMFILE, -1, socket, address, length);
}
int accept4(int socket, sockaddr* address, socklen_t* length, int flags) {
  return call("accept4", EMFILE, -1, socket, address, length, flags);
}
int connect(int socket, const sockaddr* address, socklen_t length) {
  return call("connect", ECONNREFUSED, -1, socket, address, length);
}
ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  return call("sendmsg", ECONNRESET, ssize_t{-1}, socket, message, flags);
}
ssize_t send(int socket, const void* data, std::size_t size, int flags) {
  return call("send", ECONNRESET, ssize_t{-1}, socket, data, size, flags);
}
int setsockopt(int socket, int level, int name, const void* value, socklen_t size) noexcept {
  return call("setsockopt", ENOBUFS, -1, socket, level, name, value, size);
}
int getsockname(int socket, sockaddr* address, socklen_t* length) noexcept {
  return call("getsockname", ENOBUFS, -1, socket, address, length);
}
int epoll_create1(int flags) noexcept { return call("epoll_create1", EMFILE, -1, flags); }
int epoll_create(int size) noexcept { return call("epoll_create", EMFILE, -1, size); }
int eventfd(unsigned value, int flags) noexcept { return call("eventfd", EMFILE, -1, value, flags); }
int timerfd_create(int clock, int flags) noexcept { return call("timerfd_create", EMFILE, -1, clock, flags); }
int memfd_create(const char* name, unsigned flags) noexcept { return call("memfd_create", EMFILE, -1, name, flags); }
int getifaddrs(ifaddrs** all) noexcept { return call("getifaddrs", ENOMEM, -1, all); }
ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  return call("getrandom", EAGAIN, ssize_t{-1}, buffer, size, flags);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* given) noexcept {
  return fails("pthread_create") ? EAGAIN
                                 : real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
                                       "pthread_create")(thread, attributes, work, given);
}
int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (fails("open")) return errno = EMFILE, -1;
  return real<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (fails("open64")) return errno = EMFILE, -1;
  return real<int(const char*, int, ...)>("open64")(path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  return call("fopen", EMFILE, static_cast<FILE*>(nullptr), path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return call("fopen64", EMFILE, static_cast<FILE*>(nullptr), path, mode);
}
ssize_t write(int file, const void* data, std::size_t size) {
  if (file == STDOUT_FILENO) {  // the program's own output, by which it is judged
    static const auto write_file = real<ssize_t(int, const void*, std::size_t)>("write");
    return write_file(file, data, size);
  }
  return call("write", ENOSPC, ssize_t{-1}, file, data, size);
}
ssize_t writev(int file, const iovec* data, int count) {
  return call("writev", ENOSPC, ssize_t{-1}, file, data, count);
}
ssize_t pwrite(int file, const void* data, std::size_t size, off_t at) {
  return call("pwrite", ENOSPC, ssize_t{-1}, file, data, size, at);
}
ssize_t pwrite64(int file, const void* data, std::size_t size, off_t at) {
  return call("pwrite64", ENOSPC, ssize_t{-1}, file, data, size, at);
}
int ftruncate(int file, off_t size) noexcept { return call("ftruncate", ENOSPC, -1, file, size); }
int ftruncate64(int file, off_t size) noexcept { return call("ftruncate64", ENOSPC, -1, file, size); }
int fsync(int file) { return call("fsync", EIO, -1, file); }
int rename(const char* from, const char* to) noexcept { return call("rename", ENOSPC, -1, from, to); }
int mkdir(const char* path, mode_t mode) noexcept { return call("mkdir", ENOSPC, -1, path, mode); }
void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  return call("mmap", ENOMEM, MAP_FAILED, at, size, protection, flags, file, offset);
}
pid_t fork() noexcept { return call("fork", EAGAIN, -1); }
// NOLINTEND

}  // extern "C"

void* operator new(std::size_t size) {
  void* const memory = fails("new", true) ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
