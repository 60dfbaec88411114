// Bodies for --mend-rollback local: what they say shows who went back, and whether anything was lost.

#include "tests/framework/process/refused_functions.hpp"
#include "tests/framework/subject/work/any_source_work.hpp"
#include "tests/framework/subject/work/begun_collectives_work.hpp"
#include "tests/framework/subject/work/neighbours_work.hpp"
#include "tests/framework/subject/work/place_in.hpp"
#include "tests/framework/subject/work/requests_work.hpp"
#include "tests/framework/subject/subject.hpp"

#include "base/fault_point.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace subject {
namespace {

constexpr int steps = 12;

/// "1@5,2@7": who dies before which step. "restore": before restore(). "2@5+recovery.begin": from step 5 on at this
/// fault point. A name with a ' dies as the successor of the first: "1'@5". "1&3@6": 1 kills 3 before it dies, so that
/// no recovery ends between the two deaths, wherever 3 is.
struct Death {
  int rank = -1;
  int with = -1;  ///< the rank whose first process it kills; -1: none
  int predecessors = 0;
  int step = 0;  ///< -1: before restore()
  std::string place;
};

std::vector<Death> placed_deaths_in(std::string_view text) {
  std::vector<Death> deaths;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const std::string one(text.substr(0, end));
    const auto at = one.find('@');
    const auto plus = one.find('+');
    const auto with = one.find('&');
    Death& death = deaths.emplace_back();
    death.rank = std::stoi(one);
    death.predecessors = static_cast<int>(std::ranges::count(one.substr(0, at), '\''));
    death.step = std::stoi(one.substr(at + 1));
    if (plus != std::string::npos) death.place = one.substr(plus + 1);
    if (with != std::string::npos) death.with = std::stoi(one.substr(with + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return deaths;
}

/// The process that was started as `number`, of the processes that were started with this one. Not asked of MPI: under
/// local rollback a rank may not receive what is different when it is sent again.
pid_t process_started_as(int number) {
  const std::string wanted = fmt::format("OMPI_COMM_WORLD_RANK={}", number);
  std::ifstream all(fmt::format("/proc/{0}/task/{0}/children", ::getppid()));
  for (pid_t one = 0; all >> one;) {
    std::ifstream environment(fmt::format("/proc/{}/environ", one));
    for (std::string variable; std::getline(environment, variable, '\0');)
      if (variable == wanted) return one;
  }
  throw std::runtime_error(fmt::format("process {} is not found", number));
}

void die_if_planned(const mend::Session& session, const std::vector<Death>& deaths, int step) {
  for (const Death& death : deaths) {
    const bool is_this = session.rank().value == death.rank && session.predecessors() == death.predecessors;
    if (!is_this || step != death.step) continue;
    if (death.with >= 0) ::kill(process_started_as(death.with), SIGKILL);
    if (death.place.empty()) die();
    mend::on_fault_point([place = death.place](std::string_view point) {
      if (point == place) die();
    });
  }
}

/// Many kinds of MPI calls, by which every rank's state depends on all others'.
class Work {
 public:
  explicit Work(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), size_(size_of(comm)) {
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &column_);
    MPI_Type_commit(&column_);
    const int is_periodic = 1;
    MPI_Cart_create(comm_, 1, &size_, &is_periodic, 0, &ring_);
    MPI_Comm_split(comm_, rank_ % 2, -rank_, &half_);
    int from = 0;
    int to = 0;
    MPI_Cart_shift(ring_, 0, 1, &from, &to);
    MPI_Recv_init(&in_, 1, MPI_DOUBLE, from, 6, ring_, &persistent_[0]);
    MPI_Send_init(&out_, 1, MPI_DOUBLE, to, 6, ring_, &persistent_[1]);
    MPI_Comm unused = MPI_COMM_NULL;
    MPI_Comm_split(comm_, rank_ == 0 ? MPI_UNDEFINED : 1, 0, &unused);
    if (unused != MPI_COMM_NULL) MPI_Comm_free(&unused);
  }
  ~Work() {
    for (MPI_Request& one : persistent_) MPI_Request_free(&one);
    MPI_Comm_free(&half_);
    MPI_Comm_free(&ring_);
    MPI_Type_free(&column_);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void step(std::vector<double>& state) const {
    const int right = (rank_ + 1) % size_;
    const int left = (rank_ + size_ - 1) % size_;
    std::vector<double> from_left(state.size());
    std::vector<double> from_right(6);
    std::array<MPI_Request, 4> requests{};
    MPI_Irecv(from_left.data(), static_cast<int>(from_left.size()), MPI_DOUBLE, left, 1, comm_, &requests[0]);
    MPI_Irecv(from_right.data(), 1, column_, right, 2, comm_, &requests[1]);
    MPI_Isend(state.data(), static_cast<int>(state.size()), MPI_DOUBLE, right, 1, comm_, &requests[2]);
    MPI_Isend(state.data(), 1, column_, left, 2, comm_, &requests[3]);
    int index = 0;
    MPI_Status status;
    MPI_Waitany(2, requests.data(), &index, &status);
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    double swapped = state[1];
    MPI_Sendrecv_replace(&swapped, 1, MPI_DOUBLE, right, 3, left, 3, comm_, &status);
    swapped += 0.1 * derived(state) + 0.1 * persistent(state[5]) + 0.1 * asked(state[6]);
    double all = state[0];
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
    const double largest = reduce_much(state);
    double before = 0;
    MPI_Scan(&state[0], &before, 1, MPI_DOUBLE, MPI_SUM, comm_);
    std::vector<double> heads(static_cast<std::size_t>(size_));
    MPI_Allgather(&state[2], 1, MPI_DOUBLE, heads.data(), 1, MPI_DOUBLE, comm_);
    std::vector<double> turned(heads.size());
    MPI_Alltoall(heads.data(), 1, MPI_DOUBLE, turned.data(), 1, MPI_DOUBLE, comm_);
    if (rank_ == 0) {
      MPI_Send(&all, 1, MPI_DOUBLE, size_ - 1, 4, comm_);
      MPI_Send(state.data(), static_cast<int>(state.size()), MPI_DOUBLE, size_ - 1, 5, comm_);
    }
    if (rank_ == size_ - 1) {
      MPI_Probe(0, 4, comm_, &status);
      MPI_Recv(&before, 1, MPI_DOUBLE, 0, MPI_ANY_TAG, comm_, &status);
      if (status.MPI_TAG != 4) throw std::runtime_error("the tag of a message is lost");
      MPI_Recv(from_left.data(), static_cast<int>(from_left.size()), MPI_DOUBLE, 0, 5, comm_, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&before, 1, MPI_DOUBLE, size_ - 1, comm_);
    before += 0.1 * exchanged(state[7]);
    const double sum = std::accumulate(turned.begin(), turned.end(), swapped + before + from_right[4] + largest);
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = 0.3 * state[i] + 0.2 * from_left[i] + 0.001 * sum + 0.0001 * all;
  }

 private:
  /// Requests that are begun again in each step, completed in the ways that there are.
  double persistent(double value) const {
    out_ = value;
    MPI_Startall(2, persistent_.data());
    for (int all = 0; all < 2;) {
      std::array<int, 2> which{};
      int done = 0;
      MPI_Testsome(2, persistent_.data(), &done, which.data(), MPI_STATUSES_IGNORE);
      if (done != MPI_UNDEFINED) all += done;
      std::this_thread::yield();
    }
    out_ = 2 * in_;
    const double first = in_;
    MPI_Start(&persistent_[0]);
    MPI_Start(&persistent_[1]);
    int index = 0;
    MPI_Status status;
    for (int i = 0; i < 2; ++i) MPI_Waitany(2, persistent_.data(), &index, &status);
    MPI_Waitall(2, persistent_.data(), MPI_STATUSES_IGNORE);  // inactive
    return first + in_;
  }

  /// Messages that are sent and received by one request.
  double exchanged(double value) const {
    const int right = (rank_ + 1) % size_;
    const int left = (rank_ + size_ - 1) % size_;
    double in = 0;
    double both = 2 * value;
    std::array<MPI_Request, 2> requests{};
    MPI_Isendrecv(&value, 1, MPI_DOUBLE, right, 9, &in, 1, MPI_DOUBLE, left, 9, comm_, &requests[0]);
    MPI_Isendrecv_replace(&both, 1, MPI_DOUBLE, left, 9, right, 9, comm_, &requests[1]);
    std::array<MPI_Status, 2> statuses{};
    MPI_Waitall(2, requests.data(), statuses.data());
    if (statuses[0].MPI_SOURCE != left || statuses[1].MPI_SOURCE != right)
      throw std::runtime_error("a status is wrong");
    return in + both;
  }

  /// A receive that is asked for, and one whose message never comes.
  double asked(double value) const {
    const int right = (rank_ + 1) % size_;
    const int left = (rank_ + size_ - 1) % size_;
    double in = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_DOUBLE, left, 7, comm_, &request);
    MPI_Send(&value, 1, MPI_DOUBLE, right, 7, comm_);
    int has_come = 0;
    MPI_Status status;
    while (has_come == 0) {
      MPI_Request_get_status(request, &has_come, &status);
      std::this_thread::yield();
    }
    if (status.MPI_SOURCE != left || status.MPI_TAG != 7) throw std::runtime_error("a status is wrong");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double never = 0;
    int is_cancelled = 0;
    MPI_Irecv(&never, 1, MPI_DOUBLE, left, 8, comm_, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    if (is_cancelled == 0) throw std::runtime_error("a receive without a message was not cancelled");
    // One that is freed, as MPI allows it; the library's next request may have the same address.
    MPI_Irecv(&never, 1, MPI_DOUBLE, left, 8, comm_, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Recv_init(&never, 1, MPI_DOUBLE, left, 8, comm_, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Ibarrier(comm_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return in;
  }

  /// Messages in communicators of the setup, and in one that lives for the step.
  double derived(const std::vector<double>& state) const {
    int from = 0;
    int to = 0;
    MPI_Cart_shift(ring_, 0, 1, &from, &to);
    double shifted = 0;
    MPI_Sendrecv(&state[3], 1, MPI_DOUBLE, to, 3, &shifted, 1, MPI_DOUBLE, from, 3, ring_, MPI_STATUS_IGNORE);
    double of_half = state[4];
    MPI_Allreduce(MPI_IN_PLACE, &of_half, 1, MPI_DOUBLE, MPI_SUM, half_);
    MPI_Comm short_lived = MPI_COMM_NULL;
    MPI_Comm_dup(half_, &short_lived);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(short_lived, &rank);
    MPI_Comm_size(short_lived, &size);
    if (rank != (size_ - 1 - rank_) / 2) throw std::runtime_error("a part has another order than it was asked for");
    double first = shifted;
    MPI_Bcast(&first, 1, MPI_DOUBLE, size - 1, short_lived);
    MPI_Comm_free(&short_lived);
    return shifted + of_half + first;
  }

  /// Reductions of as many values as are reduced in blocks.
  double reduce_much(const std::vector<double>& state) const {
    std::vector<double> largest(state.size());
    MPI_Allreduce(state.data(), largest.data(), static_cast<int>(state.size()), MPI_DOUBLE, MPI_MAX, comm_);
    std::vector<double> smallest(state.size() / static_cast<std::size_t>(size_));
    MPI_Reduce_scatter_block(largest.data(), smallest.data(), static_cast<int>(smallest.size()), MPI_DOUBLE, MPI_MIN,
                             comm_);
    MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : largest.data(), largest.data(), static_cast<int>(largest.size()), MPI_DOUBLE,
               MPI_MAX, 0, comm_);
    return largest.back() + smallest.front();
  }

  MPI_Comm comm_;
  int rank_;
  int size_;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  mutable double in_ = 0;
  mutable double out_ = 0;
  mutable std::array<MPI_Request, 2> persistent_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Comm ring_ = MPI_COMM_NULL;
  MPI_Comm half_ = MPI_COMM_NULL;
};

/// x -> factor * x + offset, modulo 2^64. Doing one after the other depends on the order.
struct Affine {
  unsigned long factor;
  unsigned long offset;
};

void compose(void* first, void* second, int* count, MPI_Datatype*) {
  const auto* before = static_cast<const Affine*>(first);
  auto* after = static_cast<Affine*>(second);
  for (int i = 0; i < *count; ++i)
    after[i] = {before[i].factor * after[i].factor, before[i].offset * after[i].factor + after[i].offset};
}

void take_larger(void* first, void* second, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i)
    static_cast<int*>(second)[i] = std::max(static_cast<int*>(first)[i], static_cast<int*>(second)[i]);
}

void take_smaller(void* first, void* second, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i)
    static_cast<int*>(second)[i] = std::min(static_cast<int*>(first)[i], static_cast<int*>(second)[i]);
}

/// All reductions of `count` values on `comm`, one result after the other.
std::vector<unsigned long> reductions(MPI_Comm comm, int count, MPI_Datatype type, MPI_Op op) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto length = 2 * static_cast<std::size_t>(count);
  const auto blocks = static_cast<std::size_t>(size);
  std::vector<unsigned long> mine(length * blocks);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = 3 + 7 * i + 1000 * static_cast<unsigned long>(rank);
  std::vector<unsigned long> all;
  std::vector<unsigned long> result;
  const auto keep = [&] { all.insert(all.end(), result.begin(), result.end()); };
  result.assign(length, 0);
  MPI_Allreduce(mine.data(), result.data(), count, type, op, comm);
  keep();
  result.assign(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(length));
  MPI_Allreduce(MPI_IN_PLACE, result.data(), count, type, op, comm);
  keep();
  for (const bool in_place : {false, true}) {
    const int root = size - 1;
    result.assign(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(length));
    const bool from_result = in_place && rank == root;
    MPI_Reduce(from_result ? MPI_IN_PLACE : mine.data(), result.data(), count, type, op, root, comm);
    if (rank == root) keep();
  }
  result.assign(length, 0);
  MPI_Reduce_scatter_block(mine.data(), result.data(), count, type, op, comm);
  keep();
  result = mine;
  MPI_Reduce_scatter_block(MPI_IN_PLACE, result.data(), count, type, op, comm);
  result.resize(length);
  keep();
  std::vector<int> counts(blocks, count);
  for (std::size_t i = 0; i < blocks; i += 2) counts[i] = count / 2;
  result.assign(2 * static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]), 0);
  MPI_Reduce_scatter(mine.data(), result.data(), counts.data(), type, op, comm);
  keep();
  return all;
}

/// Takes `prefix` off `text`. Returns false if `text` does not begin with it.
bool take_off(std::string_view prefix, std::string_view& text) {
  const bool has_it = text.starts_with(prefix);
  if (has_it) text.remove_prefix(prefix.size());
  return has_it;
}

/// Steps of `Work`, with the deaths that `what` names. "in_world:" before them: in MPI_COMM_WORLD. "async:" before
/// them: with commits that the next step completes.
template <class Work>
mend::Body steps_of(std::string_view what) {
  const bool in_world = take_off("in_world:", what);
  const bool asynchronously = take_off("async:", what);
  return [deaths = placed_deaths_in(what), in_world, asynchronously,
          entries = std::make_shared<int>(0)](mend::Session& session) {
    const MPI_Comm comm = in_world ? MPI_COMM_WORLD : session.comm();
    ++*entries;
    Work work(comm);
    double seed = 17;
    MPI_Bcast(&seed, 1, MPI_DOUBLE, 0, comm);
    std::vector<double> state(20'000);
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = seed + session.rank().value + 0.01 * static_cast<double>(i % 11);
    work.step(state);  // of the setup
    int step = 0;
    session.store().protect("state", state);
    session.store().protect("step", mend::replicated(step));
    die_if_planned(session, deaths, -1);
    session.store().restore();
    int computed = 0;
    while (step < steps) {
      die_if_planned(session, deaths, step);
      work.step(state);
      ++step;
      ++computed;
      if (!session.agree(true)) throw std::runtime_error("all agree, and are told that they do not");
      if (!session.commit_due()) continue;
      asynchronously ? session.store().commit_async() : static_cast<void>(session.store().commit());
    }
    say(session, fmt::format("sum {:a}, {} steps, entry {}", std::accumulate(state.begin(), state.end(), 0.0), computed,
                             *entries));
  };
}

/// The communicators of which hear_error() has heard.
std::vector<MPI_Comm>& errors_heard() {
  static std::vector<MPI_Comm> all;
  return all;
}

void hear_error(MPI_Comm* comm, int* /*code*/, ...) { errors_heard().push_back(*comm); }

/// Returns the class of the error.
int send_to_nobody(MPI_Comm comm) {
  const int value = 3;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Send(&value, 1, MPI_INT, 4711, 0, comm), &error_class);
  return error_class;
}

}  // namespace

mend::Body roll_back_locally(std::string_view what) { return steps_of<Work>(what); }
mend::Body roll_back_with_requests(std::string_view what) { return steps_of<RequestsWork>(what); }
mend::Body roll_back_with_begun_collectives(std::string_view what) { return steps_of<BegunCollectivesWork>(what); }
mend::Body fill_logs(std::string_view what) {
  const bool commits = what.starts_with("commits:");
  what.remove_prefix(what.find(':') + 1);
  return [deaths = placed_deaths_in(what), commits](mend::Session& session) {
    constexpr int most_steps = 40;
    const MPI_Comm comm = session.comm();
    const int right = (session.rank().value + 1) % session.size();
    const int left = (session.rank().value + session.size() - 1) % session.size();
    std::vector<double> state(12'800, session.rank().value);  // 100 KiB
    std::vector<int> commits_at(most_steps);
    int commits_made = 0;
    int step = 0;
    session.store().protect("state", state);
    session.store().protect("commits", commits_at);
    session.store().protect("commits_made", mend::replicated(commits_made));
    session.store().protect("step", mend::replicated(step));
    session.store().restore();
    int computed = 0;
    while (step < most_steps) {
      die_if_planned(session, deaths, step);
      std::vector<double> in(state.size());
      MPI_Sendrecv(state.data(), static_cast<int>(state.size()), MPI_DOUBLE, right, 0, in.data(),
                   static_cast<int>(in.size()), MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
      for (std::size_t i = 0; i < state.size(); ++i) state[i] = 0.5 * state[i] + 0.25 * in[i] + 1;
      ++step;
      ++computed;
      if (!session.commit_due() || !commits) continue;
      commits_at[static_cast<std::size_t>(commits_made++)] = step;
      session.store().commit();
    }
    say(session, fmt::format("sum {:a} commits at {}, {} steps", std::accumulate(state.begin(), state.end(), 0.0),
                             fmt::join(commits_at.begin(), commits_at.begin() + commits_made, " "), computed));
  };
}

mend::Body roll_back_with_neighbours(std::string_view what) { return steps_of<NeighboursWork>(what); }
mend::Body roll_back_from_any(std::string_view what) { return steps_of<AnySourceWork>(what); }

Scenarios local_rollback_scenarios() {
  Scenarios all;
  const auto in_body = [](const std::function<void(mend::Session&)>& work) {
    return [work](mend::Session& session) {
      long step = 0;
      session.store().protect("step", step);
      session.store().restore();
      work(session);
      session.store().commit();
      say(session, "was not refused");
    };
  };
  // Values are taken as they come, until an end mark that is sent before each commit. Ranks 1 to `last_to_die` die
  // after a commit has begun.
  const auto poll_for_what_comes = [](mend::Session& session, int last_to_die) {
    constexpr int value_tag = 0;
    constexpr int end_tag = 1;
    int step = 0;
    double result = 0;
    session.store().protect("step", mend::replicated(step));
    session.store().protect("result", result);
    session.store().restore();
    const MPI_Comm comm = session.comm();
    const int size = size_of(comm);
    const int left = (session.rank().value + size - 1) % size;
    const int right = (session.rank().value + 1) % size;
    double part = 0;
    const auto take = [&] {
      double value = 0;
      MPI_Status status;
      MPI_Recv(&value, 1, MPI_DOUBLE, left, MPI_ANY_TAG, comm, &status);
      if (status.MPI_TAG == value_tag) part += value;
      return status.MPI_TAG == end_tag;
    };
    bool has_ended = false;
    const auto end_part = [&] {
      const double mark = 0;
      MPI_Send(&mark, 1, MPI_DOUBLE, right, end_tag, comm);
      while (!has_ended) has_ended = take();
      has_ended = false;
      result += std::exchange(part, 0);
    };
    while (step < 15) {
      const int rank = session.rank().value;
      if (rank >= 1 && rank <= last_to_die && step == 12 && session.predecessors() == 0) die();
      const double value = 100 * session.rank().value + step;
      double largest = 0;
      MPI_Send(&value, 1, MPI_DOUBLE, right, value_tag, comm);
      MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, comm);
      ++step;
      int has_come = 1;
      while (MPI_Iprobe(left, MPI_ANY_TAG, comm, &has_come, MPI_STATUS_IGNORE) == MPI_SUCCESS && has_come != 0)
        has_ended = take();
      if (!session.commit_due()) continue;
      end_part();
      session.store().commit_async();
    }
    end_part();
    say(session, fmt::format("result {:a}", result));
  };
  for (const int last_to_die : {0, 1, 2})
    all[fmt::format("polls_for_what_comes:{}", last_to_die)] = [=](mend::Session& session) {
      poll_for_what_comes(session, last_to_die);
    };
  all["reduces_as_the_library"] = in_body([](mend::Session& session) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_UNSIGNED_LONG, &type);
    MPI_Type_commit(&type);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&compose, 0, &op);
    for (const int count : {0, 1, 3, 4096, 10'001}) {
      if (reductions(session.comm(), count, type, op) == reductions(MPI_COMM_WORLD, count, type, op)) continue;
      throw std::runtime_error(fmt::format("reductions of {} values differ", count));
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  });
  all["finds_the_smallest_with_its_place"] = in_body([](mend::Session& session) {
    struct Placed {
      double value;
      int place;
    };
    const int rank = session.rank().value;
    const Placed mine{.value = -1.5 * rank, .place = rank};
    const long double part = rank;
    Placed smallest{};
    long double sum = 0;
    std::array<MPI_Request, 2> requests{};
    MPI_Iallreduce(&mine, &smallest, 1, MPI_DOUBLE_INT, MPI_MINLOC, session.comm(), requests.data());
    MPI_Iallreduce(&part, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, session.comm(), &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    const int last = session.size() - 1;
    if (smallest.place != last || sum != last * (last + 1) / 2) throw std::runtime_error("a reduction is wrong");
  });
  // What MPI refuses is not sent.
  all["goes_on_after_refused_sends"] = in_body([](mend::Session& session) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(session.comm(), &handler);
    MPI_Comm_set_errhandler(session.comm(), MPI_ERRORS_RETURN);
    const auto expect = [](int code, int wanted) {
      int error_class = MPI_SUCCESS;
      MPI_Error_class(code, &error_class);
      if (error_class != wanted) throw std::runtime_error(fmt::format("an error is of class {}", error_class));
    };
    const int next = (session.rank().value + 1) % session.size();
    const std::array<int, 4> values{};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);  // not committed
    expect(MPI_Isend(values.data(), 1, MPI_INT, next, -1, session.comm(), &request), MPI_ERR_TAG);
    expect(MPI_Send(values.data(), 1, type, next, 0, session.comm()), MPI_ERR_TYPE);
    expect(MPI_Send(nullptr, 1, MPI_INT, next, 0, session.comm()), MPI_ERR_BUFFER);
    std::array<int, 8> received{};
    expect(MPI_Gather(values.data(), 1, type, received.data(), 1, type, 0, session.comm()), MPI_ERR_TYPE);
    MPI_Type_free(&type);
    MPI_Sendrecv(values.data(), 1, MPI_INT, next, 0, received.data(), 1, MPI_INT, MPI_ANY_SOURCE, 0, session.comm(),
                 MPI_STATUS_IGNORE);  // a type of which the size is known now
    expect(MPI_Send(values.data(), 1, MPI_DATATYPE_NULL, next, 0, session.comm()), MPI_ERR_TYPE);
    expect(MPI_Irecv(received.data(), 1, MPI_DATATYPE_NULL, next, 0, session.comm(), &request), MPI_ERR_TYPE);
    expect(MPI_Send_init(values.data(), 1, MPI_DATATYPE_NULL, next, 0, session.comm(), &request), MPI_ERR_TYPE);
    MPI_Comm refused = MPI_COMM_NULL;
    MPI_Group everyone = MPI_GROUP_NULL;
    MPI_Comm_group(session.comm(), &everyone);
    expect(MPI_Comm_create_group(session.comm(), everyone, -1, &refused), MPI_ERR_TAG);
    MPI_Group_free(&everyone);
    expect(MPI_Comm_split(session.comm(), -1, 0, &refused), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(session.comm(), handler);
    MPI_Errhandler_free(&handler);
    MPI_Group all_ranks = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    const int* highest = nullptr;
    int is_there = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &is_there);
    MPI_Comm_group(session.comm(), &all_ranks);
    MPI_Comm_create_group(session.comm(), all_ranks, *highest, &made);
    MPI_Group_free(&all_ranks);
    MPI_Comm_free(&made);
  });
  all["goes_on_after_refused_reductions"] = in_body([](mend::Session& session) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(session.comm(), &handler);
    MPI_Comm_set_errhandler(session.comm(), MPI_ERRORS_RETURN);
    const double value = 2;
    double result = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto is_refused = [](int code) {
      int error_class = MPI_SUCCESS;
      MPI_Error_class(code, &error_class);
      return error_class == MPI_ERR_OP;
    };
    if (!is_refused(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_BAND, session.comm())) ||
        !is_refused(MPI_Reduce(&value, &result, 1, MPI_DOUBLE, MPI_BAND, 0, session.comm())) ||
        !is_refused(MPI_Iscan(&value, &result, 1, MPI_DOUBLE, MPI_BAND, session.comm(), &request)))
      throw std::runtime_error("a reduction was not refused");
    MPI_Comm_set_errhandler(session.comm(), handler);
    MPI_Errhandler_free(&handler);
    // A type of which MPI's operations know, though it is none of its own.
    MPI_Datatype real = MPI_DATATYPE_NULL;
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
    MPI_Iallreduce(&value, &result, 1, real, MPI_SUM, session.comm(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (result != 2 * session.size()) throw std::runtime_error("a sum is wrong");
  });
  all["commits_with_a_persistent_request"] = in_body([](mend::Session& session) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;
    MPI_Comm_dup(session.comm(), &made);
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, made, &request);
    MPI_Comm_free(&made);
  });
  // Rank 1 dies, and rank 0 of its cluster enters the body again.
  all["starts_a_request_of_an_earlier_entry"] = [](mend::Session& session) {
    static MPI_Request kept = MPI_REQUEST_NULL;
    static int value = 0;
    session.store().restore();
    if (session.rank() == mend::Rank{0}) {
      if (kept == MPI_REQUEST_NULL) MPI_Recv_init(&value, 1, MPI_INT, 1, 0, session.comm(), &kept);
      MPI_Start(&kept);
    }
    if (is_first(session, 1)) die();
    MPI_Barrier(session.comm());
    say(session, "was not refused");
  };
  // Rank 1 dies, and rank 0 of its cluster enters the body again, where it first waits for what it had begun before.
  all["waits_for_requests_of_an_earlier_entry"] = [](mend::Session& session) {
    static std::array<MPI_Request, 3> kept{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    static int in = 0;
    static const int out = 5;
    MPI_Waitall(3, kept.data(), MPI_STATUSES_IGNORE);
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(session.comm(), &made);
    session.store().restore();
    if (session.rank() == mend::Rank{0}) {
      MPI_Irecv(&in, 1, MPI_INT, 1, 0, made, &kept[0]);
      MPI_Issend(&out, 1, MPI_INT, 1, 1, session.comm(), &kept[1]);
    }
    MPI_Ibarrier(session.comm(), &kept[2]);
    if (is_first(session, 1)) die();
    if (session.rank() == mend::Rank{1}) {
      int got = 0;
      MPI_Recv(&got, 1, MPI_INT, 0, 1, session.comm(), MPI_STATUS_IGNORE);
      MPI_Send(&got, 1, MPI_INT, 0, 0, made);
    }
    MPI_Waitall(3, kept.data(), MPI_STATUSES_IGNORE);
    if (session.rank() == mend::Rank{0} && in != out) throw std::runtime_error("another value has come");
    session.store().commit();
    say(session, fmt::format("epoch {}", session.epoch().value));
  };
  // Rank 1 dies, and rank 0 of its cluster goes back from calls that it repeats until a message of rank 1 is there. It
  // does not look at codes, and errors are returned, as in C.
  const auto in_c = [](const std::function<void(MPI_Comm, int*)>& receive) {
    return [receive](mend::Session& session) {
      int in = 0;
      const int out = 5;
      session.store().restore();
      if (is_first(session, 1)) die();
      if (session.rank() == mend::Rank{1}) MPI_Send(&out, 1, MPI_INT, 0, 7, session.comm());
      if (session.rank() == mend::Rank{0}) {
        const mend::ErrorsHandled as_in_c(mend::OnError::tells_and_returns);
        receive(session.comm(), &in);
        MPI_Request request = reinterpret_cast<MPI_Request>(&in);  // as a variable that was not set
        MPI_Ibcast(&in, 1, MPI_INT, 0, session.comm(), &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        int unused = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(&unused, 1, MPI_INT, 0, session.comm(), &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      session.store().commit();
      say(session, fmt::format("{} in epoch {}", session.rank() == mend::Rank{0} ? in : out, session.epoch().value));
    };
  };
  all["polls_in_c:iprobe"] = in_c([](MPI_Comm comm, int* in) {
    MPI_Status status;
    for (int is_there = 0; is_there == 0;) MPI_Iprobe(1, 7, comm, &is_there, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    std::vector<int> all_of_it(static_cast<std::size_t>(count));
    MPI_Recv(all_of_it.data(), count, MPI_INT, status.MPI_SOURCE, 7, comm, MPI_STATUS_IGNORE);
    if (count == 1) *in = all_of_it[0];
  });
  all["polls_in_c:improbe"] = in_c([](MPI_Comm comm, int* in) {
    MPI_Message message = MPI_MESSAGE_NULL;
    for (int is_there = 0; is_there == 0;) MPI_Improbe(1, 7, comm, &is_there, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  });
  all["polls_in_c:waitany"] = in_c([](MPI_Comm comm, int* in) {
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(in, 1, MPI_INT, 1, 7, comm, &requests[1]);
    for (int which = -1; which != 1 && which != MPI_UNDEFINED;)
      MPI_Waitany(2, requests.data(), &which, MPI_STATUS_IGNORE);
  });
  all["polls_in_c:waitsome"] = in_c([](MPI_Comm comm, int* in) {
    std::array<MPI_Request, 1> requests{MPI_REQUEST_NULL};
    MPI_Irecv(in, 1, MPI_INT, 1, 7, comm, requests.data());
    std::array<int, 1> which{};
    int done = 0;
    for (int left = 1; left > 0; left -= done)
      MPI_Waitsome(1, requests.data(), &done, which.data(), MPI_STATUSES_IGNORE);
  });
  all["polls_in_c:testsome"] = in_c([](MPI_Comm comm, int* in) {
    std::array<MPI_Request, 1> requests{MPI_REQUEST_NULL};
    MPI_Irecv(in, 1, MPI_INT, 1, 7, comm, requests.data());
    std::array<int, 1> which{};
    int done = 0;
    for (int left = 1; left > 0; left -= done)
      MPI_Testsome(1, requests.data(), &done, which.data(), MPI_STATUSES_IGNORE);
  });
  all["polls_in_c:status"] = in_c([](MPI_Comm comm, int* in) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(in, 1, MPI_INT, 1, 7, comm, &request);
    for (int is_there = 0; is_there == 0;) MPI_Request_get_status(request, &is_there, MPI_STATUS_IGNORE);
#if OMPI_MAJOR_VERSION >= 6
    int which = 0;
    for (int all_there = 0; all_there == 0;) MPI_Request_get_status_all(1, &request, &all_there, MPI_STATUSES_IGNORE);
    for (int is_there = 0; is_there == 0;)
      MPI_Request_get_status_any(1, &request, &which, &is_there, MPI_STATUS_IGNORE);
    for (int count = 0; count == 0;) MPI_Request_get_status_some(1, &request, &count, &which, MPI_STATUSES_IGNORE);
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  // Rank 1 dies after it has sent long doubles, whose unused bytes are different in each process, in types of several
  // kinds.
  all["sends_long_doubles"] = [](mend::Session& session) {
    struct Numbered {
      int number;
      std::array<long double, 3> values;
    };
    std::array<MPI_Datatype, 4> types{MPI_LONG_DOUBLE};
    MPI_Type_dup(MPI_LONG_DOUBLE, &types[1]);
    MPI_Type_vector(2, 1, 2, types[1], &types[2]);
    const std::array<int, 3> lengths{1, 1, 1};
    const std::array<MPI_Aint, 3> places{offsetof(Numbered, number), offsetof(Numbered, values),
                                         offsetof(Numbered, values) + 2 * sizeof(long double)};
    const std::array<MPI_Datatype, 3> parts{MPI_INT, types[1], MPI_LONG_DOUBLE};
    MPI_Type_create_struct(3, lengths.data(), places.data(), parts.data(), &types[3]);
    for (std::size_t i = 1; i < types.size(); ++i) MPI_Type_commit(&types[i]);
    session.store().restore();
    for (int step = 0; step < 3; ++step) {
      Numbered out{};
      const std::vector<unsigned char> noise(sizeof(long double), static_cast<unsigned char>(::getpid()));
      constexpr std::size_t used = 10;
      const long double value = 100 * session.rank().value + step;
      out.number = step;
      for (long double& one : out.values) {
        std::memcpy(&one, noise.data(), sizeof one);
        std::memcpy(&one, &value, used);
      }
      const int next = (session.rank().value + 1) % session.size();
      const int before = (session.rank().value + session.size() - 1) % session.size();
      for (const MPI_Datatype type : types) {
        Numbered in{};
        const bool is_of_all = type == types.back();
        MPI_Sendrecv(is_of_all ? static_cast<void*>(&out) : out.values.data(), 1, type, next, 0,
                     is_of_all ? static_cast<void*>(&in) : in.values.data(), 1, type, before, 0, session.comm(),
                     MPI_STATUS_IGNORE);
        if (in.values[0] != 100 * before + step) throw std::runtime_error("another value has come");
        if (is_of_all && (in.number != step || in.values[2] != in.values[0]))
          throw std::runtime_error("another structure has come");
      }
      MPI_Barrier(session.comm());
      if (step == 1 && is_first(session, 1)) die();
    }
    for (std::size_t i = 1; i < types.size(); ++i) MPI_Type_free(&types[i]);
    session.store().commit();
    say(session, fmt::format("epoch {}", session.epoch().value));
  };
  all["begins_as_the_library"] = in_body([](mend::Session& session) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_UNSIGNED_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&compose, 0, &op);
    for (const int count : {0, 1, 3, 5000}) {
      std::vector<unsigned long> mine(2 * static_cast<std::size_t>(count * session.size()));
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i] = 3 + 7 * i + 1000 * static_cast<unsigned long>(session.rank().value);
      for (const bool in_place : {false, true}) {
        if (begin_all(session.comm(), mine, count, pair, 2, op, in_place) ==
            begin_all(MPI_COMM_WORLD, mine, count, pair, 2, op, in_place))
          continue;
        throw std::runtime_error(fmt::format("collective calls of {} values that do not block differ", count));
      }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
  });
  all["has_neighbours_as_the_library"] = in_body([](mend::Session& session) {
    const long seed = session.rank().value + 1;
    std::vector<MPI_Comm> own = with_topologies(session.comm());
    std::vector<MPI_Comm> of_library = with_topologies(MPI_COMM_WORLD);
    // MPI does not say in which order neighbours are that others have named.
    MPI_Comm_free(&of_library.back());
    of_library.back() = with_neighbours_of(own.back(), MPI_COMM_WORLD);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if ((own[i] == MPI_COMM_NULL) != (of_library[i] == MPI_COMM_NULL))
        throw std::runtime_error(fmt::format("communicator {} has other ranks", i));
      if (own[i] == MPI_COMM_NULL) continue;
      for (const Way way : {Way::blocking, Way::begun, Way::persistent}) {
        // Open MPI 5.0 exchanges the blocks of a neighbour on both sides, where it does not block.
        if (with_neighbours(own[i], seed, way) == with_neighbours(of_library[i], seed, Way::blocking)) continue;
        throw std::runtime_error(fmt::format("neighbours of communicator {} differ", i));
      }
      MPI_Comm_free(&own[i]);
      MPI_Comm_free(&of_library[i]);
    }
    std::vector<double> mine(static_cast<std::size_t>(session.size()), static_cast<double>(seed));
    std::iota(mine.begin(), mine.end(), mine.front() * 10);
    if (persistently(session.comm(), mine) != persistently(MPI_COMM_WORLD, mine))
      throw std::runtime_error("persistent collectives differ");
  });
  all["keeps_begun_collectives_going"] = in_body([](mend::Session& session) {
    const MPI_Comm comm = session.comm();
    const int rank = session.rank().value;
    std::vector<int> values(3, rank);
    int most = rank;
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op larger = MPI_OP_NULL;
    MPI_Op smaller = MPI_OP_NULL;
    MPI_Op_create(&take_larger, 1, &larger);
    std::array<MPI_Request, 3> requests{};
    MPI_Ibcast(values.data(), 1, pair, 2, comm, &requests[0]);
    MPI_Iallreduce(MPI_IN_PLACE, &values[2], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Iallreduce(MPI_IN_PLACE, &most, 1, MPI_INT, larger, comm, &requests[2]);
    MPI_Type_free(&pair);  // they last as long as they are needed
    MPI_Op_free(&larger);
    MPI_Op_create(&take_smaller, 1, &smaller);  // where the other was, if that is gone
    if (larger != MPI_OP_NULL) throw std::runtime_error("an operation that was freed still has its handle");
    // Each waits for the next, and none for what it began.
    int token = 0;
    if (rank != 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Op_free(&smaller);
    if (rank + 1 < session.size()) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, comm);
    if (values != std::vector{2, 2, 3} || most != session.size() - 1) throw std::runtime_error("a result is wrong");
  });
  all["commits_with_a_collective_pending"] = in_body([](mend::Session& session) {
    static MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(session.comm(), &request);
    if (session.rank() == mend::Rank{0}) MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  all["makes_a_communicator"] = in_body([](mend::Session& session) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Intercomm_create(session.comm(), 0, MPI_COMM_WORLD, 1, 0, &made);
  });
  all["is_refused_each"] = [](mend::Session& session) {
    std::string not_refused;
    for (const RefusedFunction& one : refused_functions()) {
      try {
        one.call(session.comm());
        not_refused += " " + one.name;
      } catch (const mend::UsageError& error) {
        const std::string start = one.name + " on session.comm() is not covered by --mend-rollback local";
        if (!std::string_view(error.what()).starts_with(start))
          not_refused += fmt::format(" {} ({})", one.name, error.what());
      }
    }
    say(session, "not refused:" + not_refused);
  };
  all["commits_with_a_communicator"] = in_body([](mend::Session& session) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(session.comm(), &made);
  });
  all["makes_a_window"] = in_body([](mend::Session& session) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, session.comm(), &window);
  });
  all["commits_with_a_message_under_way"] = in_body([](mend::Session& session) {
    const int value = 3;
    if (session.rank() == mend::Rank{0}) MPI_Send(&value, 1, MPI_INT, 1, 0, session.comm());
  });
  all["commits_with_a_receive_pending"] = in_body([](mend::Session& session) {
    static int value = 0;
    static MPI_Request request = MPI_REQUEST_NULL;
    if (session.rank() == mend::Rank{1}) MPI_Irecv(&value, 1, MPI_INT, 0, 0, session.comm(), &request);
  });
  all["commits_with_a_matched_message"] = in_body([](mend::Session& session) {
    static MPI_Message message = MPI_MESSAGE_NULL;
    const int value = 3;
    if (session.rank() == mend::Rank{0}) MPI_Send(&value, 1, MPI_INT, 1, 0, session.comm());
    if (session.rank() == mend::Rank{1}) MPI_Mprobe(0, 0, session.comm(), &message, MPI_STATUS_IGNORE);
  });
  all["sends_too_much_of_a_derived_type"] = in_body([](mend::Session& session) {
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1 << 29, MPI_DOUBLE, &block);
    MPI_Type_commit(&block);
    const double value = 0;
    if (session.rank() == mend::Rank{0}) MPI_Send(&value, 1, block, 1, 0, session.comm());
  });
  all["joins_with_one_process"] = in_body([](mend::Session& session) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, session.comm(), 1 - session.rank().value, 0, &made);
  });
  all["frees_in_a_callback"] = in_body([](mend::Session& session) {
    const auto free_inner = [](MPI_Comm, int, void* attribute, void*) {
      return MPI_Comm_free(static_cast<MPI_Comm*>(attribute));
    };
    static MPI_Comm inner;
    MPI_Comm outer = MPI_COMM_NULL;
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, nullptr);
    MPI_Comm_dup(session.comm(), &outer);
    MPI_Comm_dup(outer, &inner);
    MPI_Comm_set_attr(outer, key, &inner);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&outer);
    if (inner != MPI_COMM_NULL) throw std::runtime_error("the callback did not free the inner communicator");
  });
  // The same when the body has ended: the callback of one that the program has left frees another, and makes a third
  // one of its own, which may be where that was.
  all["leaves_communicators_to_callbacks"] = [](mend::Session& session) {
    static MPI_Comm inner = MPI_COMM_NULL;
    static MPI_Comm own = MPI_COMM_NULL;
    const auto free_inner = [](MPI_Comm, int, void*, void*) {
      MPI_Comm_free(&inner);
      return MPI_Comm_dup(MPI_COMM_SELF, &own);
    };
    const auto ask_own = [](MPI_Comm, int, void*, void*) {
      int size = 0;
      if (MPI_Comm_size(own, &size) != MPI_SUCCESS || size != 1) fmt::print("a communicator was freed twice\n");
      return MPI_SUCCESS;
    };
    MPI_Comm outer = MPI_COMM_NULL;
    MPI_Comm last = MPI_COMM_NULL;
    int key = MPI_KEYVAL_INVALID;
    int key_of_last = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, nullptr);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ask_own, &key_of_last, nullptr);
    MPI_Comm_dup(session.comm(), &outer);
    MPI_Comm_dup(outer, &inner);
    MPI_Comm_dup(session.comm(), &last);
    MPI_Comm_set_attr(outer, key, nullptr);
    MPI_Comm_set_attr(last, key_of_last, nullptr);
    session.store().restore();
    say(session, "leaves them");
  };
  all["truncates_an_earlier_receive"] = in_body([](mend::Session& session) {
    const std::array<int, 2> two{1, 2};
    if (session.rank() == mend::Rank{0}) {
      MPI_Send(two.data(), 2, MPI_INT, 1, 5, session.comm());
      MPI_Send(two.data(), 1, MPI_INT, 1, 5, session.comm());
    } else {
      int first = 0;
      int second = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(&first, 1, MPI_INT, 0, 5, session.comm(), &request);
      MPI_Recv(&second, 1, MPI_INT, 0, 5, session.comm(), MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  all["goes_on_after_a_cut_message"] = in_body([](mend::Session& session) {
    const std::array<int, 2> two{1, 2};
    int one = 0;
    MPI_Comm_set_errhandler(session.comm(), MPI_ERRORS_RETURN);
    if (session.rank() == mend::Rank{0}) MPI_Send(two.data(), 2, MPI_INT, 1, 5, session.comm());
    if (session.rank() == mend::Rank{1}) MPI_Recv(&one, 1, MPI_INT, 0, 5, session.comm(), MPI_STATUS_IGNORE);
    session.store().commit();
  });
  // Rank 1 dies while errors are returned.
  all["handles_its_errors"] = in_body([](mend::Session& session) {
    const auto expect = [](int code, int wanted) {
      int error_class = MPI_SUCCESS;
      MPI_Error_class(code, &error_class);
      if (error_class != wanted) throw std::runtime_error(fmt::format("an error is of class {}", error_class));
    };
    MPI_Errhandler own = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(&hear_error, &own);
    MPI_Comm with_own = MPI_COMM_NULL;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_dup(session.comm(), &with_own);
    MPI_Comm_set_errhandler(with_own, own);
    MPI_Errhandler_free(&own);
    MPI_Comm_split(with_own, session.rank().value % 2, 0, &half);  // it has the same handler
    try {
      send_to_nobody(session.comm());
      throw std::runtime_error("an error was not thrown");
    } catch (const mend::EnvironmentError&) {
    }
    MPI_Comm_set_errhandler(session.comm(), MPI_ERRORS_RETURN);
    for (const MPI_Comm one : {session.comm(), with_own, half, session.comm()})
      if (send_to_nobody(one) != MPI_ERR_RANK) throw std::runtime_error("an error has another class");
    if (errors_heard() != std::vector<MPI_Comm>{with_own, half})
      throw std::runtime_error("a handler has not heard of its errors");
    // Errors of calls for requests and matched messages: one that is longer than its receive, and one that is never
    // sent.
    errors_heard().clear();
    std::array<int, 2> two{1, 2};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Isend(two.data(), 2, MPI_INT, session.rank().value, 5, with_own, &request);
    MPI_Mprobe(session.rank().value, 5, with_own, &message, MPI_STATUS_IGNORE);
    expect(MPI_Mrecv(two.data(), 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send_init(two.data(), 2, MPI_INT, session.rank().value, -1, with_own, &request);
    expect(MPI_Start(&request), MPI_ERR_TAG);
    MPI_Request_free(&request);
    // The callback of an attribute refuses to copy it, after a call on another communicator.
    const auto refuse_to_copy = [](MPI_Comm, int, void* other, void*, void*, int*) {
      MPI_Group group = MPI_GROUP_NULL;
      MPI_Comm_group(*static_cast<MPI_Comm*>(other), &group);
      MPI_Group_free(&group);
      return MPI_ERR_ARG;
    };
    MPI_Comm other = session.comm();
    MPI_Comm refused = MPI_COMM_NULL;
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(refuse_to_copy, MPI_COMM_NULL_DELETE_FN, &key, &other);
    MPI_Comm_set_attr(with_own, key, nullptr);
    expect(MPI_Comm_dup(with_own, &refused), MPI_ERR_ARG);
    MPI_Comm_delete_attr(with_own, key);
    MPI_Comm_free_keyval(&key);
    if (errors_heard() != std::vector<MPI_Comm>(3, with_own))
      throw std::runtime_error("a handler has not heard of the errors of its requests");
    for (MPI_Comm* const one : {&half, &with_own}) MPI_Comm_free(one);
    if (is_first(session, 1)) die();
    int sum = 1;
    if (MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, session.comm()) != MPI_SUCCESS || sum != session.size())
      throw std::runtime_error("a sum is wrong");
  });
  all["asks_the_world_for_attributes"] = in_body([](mend::Session& session) {
    const int* highest = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &is_set);
    if (is_set == 0 || *highest < 32767) throw std::runtime_error("the world has no highest tag");
    int value = 17;
    int key = MPI_KEYVAL_INVALID;
    const int* found = nullptr;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_get_attr(session.comm(), key, static_cast<void*>(&found), &is_set);
    if (is_set == 0 || found != &value) throw std::runtime_error("an attribute of the world is not the session's");
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
  });
  all["sends_synchronously"] = in_body([](mend::Session& session) {
    const MPI_Comm comm = session.comm();
    int value = 3;
    if (session.rank() == mend::Rank{0}) {
      std::array<MPI_Request, 2> requests{};
      MPI_Issend(&value, 1, MPI_INT, 1, 0, comm, &requests[0]);
      MPI_Ssend_init(&value, 1, MPI_INT, 1, 1, comm, &requests[1]);
      MPI_Start(&requests[1]);
      std::array<int, 2> have_ended{};
      for (std::size_t i = 0; i < 2; ++i) MPI_Test(&requests[i], &have_ended[i], MPI_STATUS_IGNORE);
      MPI_Send(&value, 1, MPI_INT, 1, 2, comm);  // the others are received after this one
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      MPI_Request_free(&requests[1]);
      if (have_ended != std::array{0, 0}) throw std::runtime_error("a synchronous send has ended before its receive");
    } else {
      for (const int tag : {2, 1, 0}) MPI_Recv(&value, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE);
    }
  });
  // 8,000 bytes to the next rank in each of 8 steps
  const auto send_in_a_ring = [](mend::Session& session, int dies_at, int ranks_die) {
    std::vector<double> out(1000, session.rank().value);
    std::vector<double> in(out.size());
    int step = 0;
    session.store().protect("step", mend::replicated(step));
    session.store().restore();
    const int right = (session.rank().value + 1) % session.size();
    const int left = (session.rank().value + session.size() - 1) % session.size();
    while (step < 8) {
      if (step == dies_at && session.epoch() == mend::Epoch{0}) {
        const int rank = session.rank().value;
        int other = ::getpid();
        if (ranks_die == 2 && rank == 2) {  // rank 1 kills both at once
          MPI_Send(&other, 1, MPI_INT, 1, 1, session.comm());
          ::pause();
        }
        if (ranks_die == 2 && rank == 1) {
          MPI_Recv(&other, 1, MPI_INT, 2, 1, session.comm(), MPI_STATUS_IGNORE);
          ::kill(other, SIGKILL);
        }
        if (rank == 1) die();
      }
      MPI_Sendrecv(out.data(), 1000, MPI_DOUBLE, right, 0, in.data(), 1000, MPI_DOUBLE, left, 0, session.comm(),
                   MPI_STATUS_IGNORE);
      if (in.front() != left) throw std::runtime_error("a value is wrong");
      ++step;
      if (session.commit_due()) session.store().commit();
    }
    say(session, "has sent");
  };
  all["sends_in_a_ring"] = [=](mend::Session& session) { send_in_a_ring(session, -1, 0); };
  all["sends_in_a_ring_that_becomes_smaller"] = [=](mend::Session& session) { send_in_a_ring(session, 6, 1); };
  all["sends_in_a_ring_of_which_two_die"] = [=](mend::Session& session) { send_in_a_ring(session, 6, 2); };
  all["restores_twice"] = in_body([](mend::Session& session) { session.store().restore(); });
  all["sends_its_process"] = [](mend::Session& session) {
    long sum = 0;
    int step = 0;
    session.store().protect("sum", sum);
    session.store().protect("step", step);
    session.store().restore();
    for (; step < 8; ++step) {
      long mine = step;
      MPI_Bcast(&mine, 1, MPI_LONG, 0, session.comm());
      if (session.rank() == mend::Rank{0}) mine = ::getpid();
      if (session.rank() == mend::Rank{0}) MPI_Send(&mine, 1, MPI_LONG, 1, 42, session.comm());
      if (session.rank() == mend::Rank{1}) MPI_Recv(&mine, 1, MPI_LONG, 0, 42, session.comm(), MPI_STATUS_IGNORE);
      sum += mine;
      if (session.commit_due()) session.store().commit();
    }
    say(session, "has ended");
  };
  all["is_not_send_deterministic"] = [](mend::Session& session) {
    long sum = 0;
    int step = 0;
    session.store().protect("sum", sum);
    session.store().protect("step", step);
    session.store().restore();
    for (; step < 4; ++step) {
      long mine = ::getpid();
      MPI_Bcast(&mine, 1, MPI_LONG, 1, session.comm());
      sum += mine;
      if (step == 2) MPI_Barrier(session.comm());  // the others have received something
      if (step == 2 && is_first(session, 1)) die();
    }
    session.store().commit();
    say(session, fmt::format("epoch {}", session.epoch().value));
  };
  all["receives_less_again"] = [](mend::Session& session) {
    session.store().restore();
    const int next = (session.rank().value + 1) % session.size();
    const int previous = (session.rank().value + session.size() - 1) % session.size();
    for (int step = 0; step < 4; ++step) {
      const std::vector<long> out(2, step);
      std::vector<long> in(session.role() == mend::Role::newcomer ? 1 : 2);
      MPI_Sendrecv(out.data(), 2, MPI_LONG, next, 0, in.data(), static_cast<int>(in.size()), MPI_LONG, previous, 0,
                   session.comm(), MPI_STATUS_IGNORE);
      if (step == 2 && is_first(session, 1)) die();
    }
    session.store().commit();
    say(session, fmt::format("epoch {}", session.epoch().value));
  };
  const auto in_four_steps = [](const std::function<void(mend::Session&, int)>& work) {
    return [work](mend::Session& session) {
      int step = 0;
      session.store().protect("step", step);
      session.store().restore();
      for (; step < 4; ++step) work(session, step);
      session.store().commit();
      say(session, fmt::format("epoch {}", session.epoch().value));
    };
  };
  // Ranks 0 and 2 stay in a barrier that 1 and 3 leave out when they go back: each gets one's message of the barrier
  // for its value of the sum.
  all["leaves_out_a_barrier_again"] = in_four_steps([](mend::Session& session, int step) {
    const bool dies = session.rank().value % 2 == 1;
    if (step == 2 && session.role() == mend::Role::initial && dies) die();
    if (step == 2 && session.role() != mend::Role::newcomer) MPI_Barrier(session.comm());
    long sum = session.rank().value;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
    if (sum != 6) throw std::runtime_error(fmt::format("the sum is {}", sum));
  });
  // The same with an agreement, whose messages are shorter than those of the sum.
  all["leaves_out_an_agreement_again"] = in_four_steps([](mend::Session& session, int step) {
    const bool dies = session.rank().value % 2 == 1;
    if (step == 2 && session.role() == mend::Role::initial && dies) die();
    if (step == 2 && session.role() != mend::Role::newcomer) session.agree(true);
    long sum = session.rank().value;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, session.comm());
    if (sum != 6) throw std::runtime_error(fmt::format("the sum is {}", sum));
  });
  // Rank 1 sends only when it has never gone back: rank 0 waits for its message, and rank 1 in the commit for rank 0.
  all["leaves_out_a_message_again"] = in_four_steps([](mend::Session& session, int step) {
    if (step == 2 && is_first(session, 1)) die();
    if (session.rank().value == 1 && session.role() != mend::Role::newcomer)
      MPI_Send(&step, 1, MPI_INT, 0, 5, session.comm());
    int in = 0;
    if (session.rank().value == 0) MPI_Recv(&in, 1, MPI_INT, 1, 5, session.comm(), MPI_STATUS_IGNORE);
  });
  // The same, but rank 1 waits in an agreement, as rank 2 does.
  all["leaves_out_a_message_before_it_agrees"] = in_four_steps([](mend::Session& session, int step) {
    if (step == 2 && is_first(session, 1)) die();
    if (session.rank().value == 1 && session.role() != mend::Role::newcomer)
      MPI_Send(&step, 1, MPI_INT, 0, 5, session.comm());
    int in = 0;
    if (session.rank().value == 0) MPI_Recv(&in, 1, MPI_INT, 1, 5, session.comm(), MPI_STATUS_IGNORE);
    session.agree(true);
  });
  // The same, but the ranks poll for messages: 0 for one of 1, 1 for one of 2, and 2, with pauses, for one of 0. Rank 0
  // tests a persistent request too that it has not started. When rank 1 has gone back, it sends until a step.
  const auto poll_again = [](mend::Session& session, int step, int last_sent) {
    const int rank = session.rank().value;
    const auto send = [&] { MPI_Send(&step, 1, MPI_INT, (rank + 2) % 3, 5, session.comm()); };
    if (step == 2 && is_first(session, 1)) die();
    if (rank == 1 && (step <= last_sent || session.role() != mend::Role::newcomer)) send();
    int in = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % 3, 5, session.comm(), &request);
    MPI_Request idle = MPI_REQUEST_NULL;
    MPI_Recv_init(&in, 1, MPI_INT, (rank + 1) % 3, 6, session.comm(), &idle);
    for (int is_there = 0; is_there == 0;) {
      int is_idle = 0;
      if (rank == 0) MPI_Test(&idle, &is_idle, MPI_STATUS_IGNORE);
      MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
      if (rank == 2 && is_there == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    MPI_Request_free(&idle);
    if (rank != 1) send();
  };
  all["polls_for_a_message_again"] =
      in_four_steps([=](mend::Session& session, int step) { poll_again(session, step, 1); });
  // Rank 1 polls for messages that the others have sent only because of those that it does not send again.
  all["polls_before_it_sends_again"] =
      in_four_steps([=](mend::Session& session, int step) { poll_again(session, step, -1); });
  // Rank 2 answers a message that it has only probed. Rank 0 polls for messages that rank 2 sends because of one that
  // rank 0 sends later. When rank 0 goes back, the messages of rank 2 are there at once.
  all["finds_nothing_before_its_cause"] = in_four_steps([](mend::Session& session, int step) {
    const MPI_Comm comm = session.comm();
    const int rank = session.rank().value;
    const auto send = [&](int to, int tag) { MPI_Send(&step, 1, MPI_INT, to, tag, comm); };
    const auto receive = [&](int from, int tag) {
      int in = -1;
      MPI_Status status;
      MPI_Recv(&in, 1, MPI_INT, from, tag, comm, &status);
      if (in != step) throw std::runtime_error("a message of another step has come");
      return status.MPI_SOURCE;
    };
    if (step == 2 && is_first(session, 0)) die();
    if (rank == 1) {
      send(0, 5);
      send(0, 7);
    }
    if (rank == 2) {
      MPI_Probe(0, 6, comm, MPI_STATUS_IGNORE);
      send(0, 5);
      receive(0, 6);
      receive(0, 8);
      send(0, 7);
      send(0, 9);
    }
    if (rank == 0) {
      if (receive(MPI_ANY_SOURCE, 5) != 1) throw std::runtime_error("an answer has come before its question");
      send(2, 6);
      if (receive(MPI_ANY_SOURCE, 5) != 2) throw std::runtime_error("no answer has come");
      std::array<int, 2> in{};
      std::array<MPI_Request, 2> requests{};
      MPI_Irecv(in.data(), 1, MPI_INT, 2, 7, comm, requests.data());
      MPI_Irecv(&in[1], 1, MPI_INT, 1, 7, comm, &requests[1]);
      int which = -1;
      int has_come = 0;
      int is_there = 0;
      MPI_Waitany(2, requests.data(), &which, MPI_STATUS_IGNORE);
      if (which == 1) MPI_Test(requests.data(), &has_come, MPI_STATUS_IGNORE);
      MPI_Iprobe(2, 9, comm, &is_there, MPI_STATUS_IGNORE);
      if (which != 1 || has_come != 0 || is_there != 0)
        throw std::runtime_error("a poll has found a message before its cause");
      send(2, 8);
      MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
      receive(2, 9);
    }
    MPI_Barrier(comm);
  });
  // Rank 0 has probed a message of rank 2 when one of rank 1 comes and rank 3 dies. The receive takes what was probed.
  all["receives_what_it_has_probed"] = in_four_steps([](mend::Session& session, int step) {
    const MPI_Comm comm = session.comm();
    const int rank = session.rank().value;
    int in = 0;
    const auto send = [&](int to, int tag) { MPI_Send(&step, 1, MPI_INT, to, tag, comm); };
    const auto receive = [&](int from, int tag) { MPI_Recv(&in, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE); };
    if (rank == 2) send(0, 5);
    if (rank == 1) {
      receive(0, 6);
      send(0, 5);
      send(0, 6);
    }
    if (rank == 3) {
      receive(0, 7);
      if (step == 2 && is_first(session, 3)) die();
      send(0, 8);
    }
    if (rank == 0) {
      MPI_Status status;
      MPI_Probe(MPI_ANY_SOURCE, 5, comm, &status);
      send(1, 6);
      receive(1, 6);
      send(3, 7);
      receive(3, 8);
      MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status);
      if (status.MPI_SOURCE != 2) throw std::runtime_error("another message has come than was probed");
      MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status);
      if (status.MPI_SOURCE != 1) throw std::runtime_error("a message has come twice");
    }
    MPI_Barrier(comm);
  });
  // Ranks 0 and 2 wait for any of their requests: one of a collective call that does not block, to which rank 1 does
  // not come again, and rank 0's receive of a message that it does not send. A part of rank 2's request is complete.
  all["leaves_out_what_others_wait_for_any_of"] = in_four_steps([](mend::Session& session, int step) {
    if (step == 2 && is_first(session, 1)) die();
    const int rank = session.rank().value;
    if (rank == 1 && session.role() == mend::Role::newcomer) return;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<int, 3> all_steps{};
    int in = 0;
    MPI_Iallgather(&step, 1, MPI_INT, all_steps.data(), 1, MPI_INT, session.comm(), &requests[0]);
    if (rank == 1) MPI_Send(&step, 1, MPI_INT, 0, 5, session.comm());
    if (rank == 0) MPI_Irecv(&in, 1, MPI_INT, 1, 5, session.comm(), &requests[1]);
    int which = 0;
    for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests.data(), &which, MPI_STATUS_IGNORE);
  });
  // A message goes round. In the last step, after the recovery, rank 0 sends it only when threads of its process have
  // computed; until then all ranks wait for each other, and rank 0 polls.
  all["polls_while_a_thread_computes"] = in_four_steps([](mend::Session& session, int step) {
    if (step == 2 && is_first(session, 1)) die();
    const int rank = session.rank().value;
    const auto send = [&] { MPI_Send(&step, 1, MPI_INT, (rank + 1) % 3, 5, session.comm()); };
    int in = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_INT, (rank + 2) % 3, 5, session.comm(), &request);
    if (rank == 0 && step == 3) {
      // More than one, so that they get most of the processors although the other ranks wait busily.
      std::atomic<int> computing = 8;
      std::vector<std::jthread> workers;
      for (int i = computing; i > 0; --i) {
        workers.emplace_back([&] {
          const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
          while (std::chrono::steady_clock::now() < end) continue;
          --computing;
        });
      }
      for (int is_there = 0; computing > 0;) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    }
    if (rank == 0) send();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank != 0) send();
  });
  return all;
}

}  // namespace subject
