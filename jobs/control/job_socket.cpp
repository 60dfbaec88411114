#include "jobs/control/job_socket.hpp"

#include "base/error.hpp"

#include <asio.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>
#include <utility>

namespace mend::jobs {
namespace {

using asio::local::stream_protocol;
using Error = asio::error_code;

constexpr std::size_t longest_question = 256;
constexpr Seconds patience_with_clients{5};
constexpr const char* suffix = ".sock";

/// The folder that the user has named; empty if there is none.
std::filesystem::path named_folder() {
  const char* const named = std::getenv("MEND_SOCKETS");
  return named == nullptr ? "" : named;
}

/// The folder where there is no XDG_RUNTIME_DIR.
std::filesystem::path temporary_folder() { return fmt::format("/tmp/mend-{}", ::geteuid()); }

/// The folder for this process's socket.
std::filesystem::path own_folder() {
  if (const auto named = named_folder(); !named.empty()) return named;
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && ::access(runtime, W_OK) == 0) return std::filesystem::path(runtime) / "mend";
  return temporary_folder();
}

bool is_private(const std::filesystem::path& folder) {
  struct stat about {};
  return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() &&
         (about.st_mode & 0077U) == 0;
}

std::optional<pid_t> job_of(const std::filesystem::path& file) {
  const std::string name = file.stem();
  pid_t job = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), job);
  const bool fits = error == std::errc{} && end == name.data() + name.size() && file.extension() == suffix;
  return fits ? std::optional(job) : std::nullopt;
}

/// The socket of `job`; empty if there is none.
std::filesystem::path socket_of(pid_t job) {
  for (const auto& folder : searched_folders()) {
    const auto file = folder / fmt::format("{}{}", job, suffix);
    std::error_code ignored;
    if (is_private(folder) && std::filesystem::is_socket(file, ignored)) return file;
  }
  return {};
}

bool is_of_this_user(stream_protocol::socket& peer) {
  ucred who{};
  socklen_t size = sizeof who;
  return ::getsockopt(peer.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == ::geteuid();
}

}  // namespace

std::vector<std::filesystem::path> searched_folders() {
  if (const auto named = named_folder(); !named.empty()) return {named};
  return {own_folder(), fmt::format("/run/user/{}/mend", ::geteuid()), temporary_folder()};
}

std::filesystem::path socket_folder() {
  const std::filesystem::path folder = own_folder();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw EnvironmentError(fmt::format("cannot make the folder {}: {}", folder.string(), std::strerror(errno)));
  if (!is_private(folder))
    throw EnvironmentError(fmt::format(
        "{} is not a folder that is yours alone: name another by MEND_SOCKETS, or remove it if it is nobody's",
        folder.string()));
  return folder;
}

std::vector<pid_t> known_jobs() {
  std::vector<pid_t> jobs;
  for (const auto& folder : searched_folders()) {
    if (!is_private(folder)) continue;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      if (const auto job = job_of(entry.path())) jobs.push_back(*job);
  }
  std::ranges::sort(jobs);
  jobs.erase(std::ranges::unique(jobs).begin(), jobs.end());  // several names may lead to one folder
  return jobs;
}

// --- mend run --------------------------------------------------------------------------------------------------

class JobSocket::Impl {
 public:
  Impl(pid_t job, Answer answer) : name_(fmt::format("{}{}", job, suffix)), answer_(std::move(answer)), acceptor_(io_) {
    open();
  }
  ~Impl() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void poll() {
    if (::access(file_.c_str(), F_OK) != 0) open_again();
    if (!accepts_) accept();
    io_.restart();
    io_.poll();
    std::erase_if(clients_, [](const auto& client) {
      if (client->since.elapsed() > patience_with_clients) client->socket.close();
      return !client->socket.is_open();
    });
  }

 private:
  struct Client {
    explicit Client(stream_protocol::socket connected) : socket(std::move(connected)) {}
    stream_protocol::socket socket;
    Stopwatch since;
    std::string question;
    std::string answer;
  };

  void open() {
    file_ = socket_folder() / name_;
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);  // left by an earlier process with this id
    try {
      acceptor_.open();
      ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
      acceptor_.bind(stream_protocol::endpoint(file_.string()));
      acceptor_.listen();
    } catch (const std::exception& error) {
      throw EnvironmentError(fmt::format("cannot listen at {}: {}", file_.string(), error.what()));
    }
    accept();
  }

  /// When a user's last session ends, XDG_RUNTIME_DIR is removed with all in it, and the job may go on.
  void open_again() {
    Error ignored;
    acceptor_.close(ignored);
    accepts_ = false;
    try {
      open();
    } catch (const EnvironmentError&) {  // the next look tries again
    }
  }

  /// After an error, such as a lack of descriptors, the next call of poll() tries again. At once, it would fail again:
  /// the client still waits.
  void accept() {
    accepts_ = true;
    acceptor_.async_accept([this](Error error, stream_protocol::socket peer) {
      if (error == asio::error::operation_aborted) return;  // open_again() accepts at another socket
      accepts_ = false;
      if (error) return;
      if (is_of_this_user(peer)) {
        ::fcntl(peer.native_handle(), F_SETFD, FD_CLOEXEC);
        listen_to(clients_.emplace_back(std::make_shared<Client>(std::move(peer))));
      }
      accept();
    });
  }

  void listen_to(const std::shared_ptr<Client>& client) {
    asio::async_read_until(client->socket, asio::dynamic_buffer(client->question, longest_question), '\n',
                           [this, client](Error error, std::size_t length) {
                             if (error) return client->socket.close();
                             client->answer = answer_(client->question.substr(0, length - 1));
                             asio::async_write(client->socket, asio::buffer(client->answer),
                                               [client](Error, std::size_t) { client->socket.close(); });
                           });
  }

  std::string name_;
  std::filesystem::path file_;
  Answer answer_;
  asio::io_context io_;
  stream_protocol::acceptor acceptor_;
  bool accepts_ = false;
  std::list<std::shared_ptr<Client>> clients_;
};

JobSocket::JobSocket(pid_t job, Answer answer) : impl_(std::make_unique<Impl>(job, std::move(answer))) {}
JobSocket::~JobSocket() = default;
void JobSocket::poll() { impl_->poll(); }

// --- the asking process ---------------------------------------------------------------------------------------

std::string ask(pid_t job, const std::string& question, Seconds patience) {
  const UsageError no_job(
      fmt::format("there is no job {} of yours on this machine: mend status lists those that run", job));
  const std::filesystem::path file = socket_of(job);
  if (file.empty()) throw no_job;
  asio::io_context io;
  stream_protocol::socket socket(io);
  const std::string line = question + "\n";
  std::string answer;
  std::optional<Error> outcome;
  socket.async_connect(stream_protocol::endpoint(file.string()), [&](Error error) {
    if (error) return void(outcome = error);
    asio::async_write(socket, asio::buffer(line), [&](Error unsent, std::size_t) {
      if (unsent) return void(outcome = unsent);
      asio::async_read(socket, asio::dynamic_buffer(answer),
                       [&](Error end, std::size_t) { outcome = end == asio::error::eof ? Error() : end; });
    });
  });
  io.run_for(std::chrono::duration_cast<std::chrono::milliseconds>(patience));
  if (outcome == asio::error::connection_refused) {  // left by a mend run that was killed
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    throw no_job;
  }
  // The job's mend run has ended meanwhile: its socket is gone, or was closed before it has answered.
  if (outcome && (*outcome || answer.empty())) throw no_job;
  if (!outcome) {
    throw EnvironmentError(
        fmt::format("job {} has not answered within {:.0f} s: its mend run is stopped, or is ending (ps -p {})", job,
                    patience.count(), job));
  }
  return answer;
}

}  // namespace mend::jobs
