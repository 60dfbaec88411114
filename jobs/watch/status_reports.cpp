#include "jobs/watch/status_reports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace mend::jobs {
namespace {

/// Reads the lines in order.
class Reader {
 public:
  Reader(Reports& reports, const std::string& machine) : reports_(reports), machine_(machine) {}

  void read(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "loaded") loaded(words);
    if (word == "started") ++reports_.started;
    if (word == "running") ++reports_.running;
    if (word == "introduced") introduced(words);
    if (word == "unwatched") unwatched(words);
    if (word == "unseen") ++reports_.unseen;
    if (word == "ended") ended(words);
    if (word == "erred") erred(words);
    if (word == "said") said(words);
    if (word == "unsaid") std::getline(words >> std::ws, reports_.unsaid);
    if (word == "closed") mark(words, &Stage::closed);
    int code = 0;
    if (word == "aborted" && words >> code) aborted(code, words);
    if (word == "finished" && words >> code) finished(code, words);
    if (word == "left" && words >> code) left(code, words);
    if (word == "quit" && words >> code) quit(code, words);
    if (word == "skipped" && words >> code) skipped(code, words);
    if (word == "crashed" && words >> code) {
      ++reports_.left;
      reports_.crashed_afterwards = code;
    }
    if (word == "crashed-early" && words >> code) crashed_early(code, words);
    ++reports_.lines;
  }

  void end() {
    for (const int status : statuses_) {
      if (status != reports_.finished && !reports_.too_late.contains(status)) reports_.error_afterwards = status;
    }
    reports_.erred = static_cast<int>(
        std::ranges::count_if(erred_in_, [this](long epoch) { return epoch == none || ended_in_.contains(epoch); }));
  }

 private:
  void loaded(std::istringstream& words) {
    ++reports_.loaded;
    pid_t process = 0;
    std::string machine;
    std::string when;
    if (words >> process >> machine && machine == machine_) {
      reports_.stages.try_emplace(process, Stage{.later = words >> when && when == "later"});
    }
  }

  /// Sets a flag of the process that the next word names. Returns its stage if it is on this machine.
  Stage* mark(std::istringstream& words, bool Stage::*what) {
    pid_t process = 0;
    if (!(words >> process)) return nullptr;
    const auto found = reports_.stages.find(process);
    if (found == reports_.stages.end()) return nullptr;
    found->second.*what = true;
    return &found->second;
  }

  void aborted(int code, std::istringstream& words) {
    if (reports_.aborted) return;
    reports_.aborted = code;
    std::getline(words >> std::ws, reports_.why_aborted);
  }

  void said(std::istringstream& words) {
    reports_.said = true;
    std::string reason;
    std::getline(words >> std::ws, reason);
    if (reports_.reason.empty()) reports_.reason = reason;
  }

  void introduced(std::istringstream& words) {
    const Stage* const stage = mark(words, &Stage::introduced);
    if (stage == nullptr || !stage->later) ++reports_.introduced;
  }

  void unwatched(std::istringstream& words) {
    ++reports_.unwatched;
    mark(words, &Stage::at_end);
  }

  void finished(int code, std::istringstream& words) {
    ++reports_.finishers;
    reports_.finished = reports_.finished.value_or(code);
    if (code != *reports_.finished) reports_.too_late.insert(code);
    Stage* const stage = mark(words, &Stage::at_end);
    if (stage == nullptr) return;
    if (int number = 0; words >> number) stage->number = number;
    if (int rank = 0; words >> rank) stage->rank = rank;
  }

  void ended(std::istringstream& words) {
    if (long epoch = 0; words >> epoch) ended_in_.insert(epoch);
  }

  /// Takes an error in the epoch that the line names after the process.
  void erred(std::istringstream& words) {
    pid_t process = 0;
    long epoch = none;
    if (words >> process) erred_in_.push_back(words >> epoch ? epoch : none);
  }

  void left(int code, std::istringstream& words) {
    ++reports_.left;
    if (code != 0) statuses_.push_back(code);
    mark(words, &Stage::left);
  }

  void quit(int code, std::istringstream& words) {
    ++reports_.quit;
    reports_.quit_with.insert(code);
    mark(words, &Stage::left);
  }

  void skipped(int code, std::istringstream& words) {
    Skipped skipped{.exit_code = code};
    if (!(words >> skipped.parent)) return;
    ++reports_.quit;
    reports_.skipped.push_back(skipped);
    mark(words, &Stage::left);
  }

  void crashed_early(int signal, std::istringstream& words) {
    pid_t process = 0;
    EarlyCrash crash{.signal = signal};
    if (words >> process >> crash.process) reports_.early_crashes.push_back(crash);
  }

  static constexpr long none = -1;  // the end was over

  Reports& reports_;
  const std::string& machine_;
  std::vector<int> statuses_;
  std::set<long> ended_in_;
  std::vector<long> erred_in_;
};

}  // namespace

std::string Stage::name() const {
  if (!number) return "a process";
  return rank ? fmt::format("process {} (rank {})", *number, *rank) : fmt::format("process {}", *number);
}

std::vector<pid_t> Reports::not_left() const {
  std::vector<pid_t> found;
  for (const auto& [process, stage] : stages) {
    if (stage.at_end && stage.closed && !stage.left) found.push_back(process);
  }
  return found;
}

std::string Reports::names_of(const std::vector<pid_t>& processes) const {
  constexpr std::size_t most = 4;
  if (processes.size() > most) return fmt::format("{} processes", processes.size());
  std::vector<std::string> names;
  for (const pid_t process : processes) names.push_back(stages.at(process).name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Skipped* Reports::skipped_by_child_of(pid_t launcher) const {
  const auto found = std::ranges::find(skipped, launcher, &Skipped::parent);
  return found == skipped.end() ? nullptr : &*found;
}

Reports read_reports(const std::filesystem::path& status_file, const std::string& machine) {
  std::ifstream lines(status_file);
  return read_reports(lines, machine);
}

Reports read_reports(std::istream& lines, const std::string& machine) {
  Reports reports;
  Reader reader(reports, machine);
  for (std::string line; std::getline(lines, line);) reader.read(line);
  reader.end();
  return reports;
}

}  // namespace mend::jobs
