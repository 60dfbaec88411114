// A running `mend` command: its output, how it ends, and the processes that it leaves behind.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

/// The constructor starts it, as a batch system does: without a terminal, with empty standard input unless another is
/// given, and without the variables `unset`; the destructor kills it if it has not ended. Every wait has a deadline,
/// after which the test fails.
class MendProcess {
 public:
  static constexpr int no_input = -1;
  static constexpr std::chrono::seconds usual_deadline{40};

  explicit MendProcess(const std::vector<std::string>& arguments, int input = no_input,
                       const std::vector<std::string>& unset = {});
  ~MendProcess();
  MendProcess(const MendProcess&) = delete;
  MendProcess& operator=(const MendProcess&) = delete;

  /// Waits until standard output has this text.
  void wait_for_output(const std::string& text) { wait_for(text, output_); }
  /// Waits until standard error has this text after position `from`.
  void wait_for_errors(const std::string& text, std::size_t from = 0) { wait_for(text, errors_, from); }
  /// Waits for the end. Returns the exit code, or 1000 + the signal that ended it.
  int wait(std::chrono::seconds at_most = usual_deadline);

  pid_t pid() const { return pid_; }
  /// Complete once wait() has returned.
  const std::string& output() const { return output_; }
  const std::string& errors() const { return errors_; }

 private:
  void wait_for(const std::string& text, const std::string& stream, std::size_t from = 0);
  /// Reads the available output. Returns false when both streams have ended.
  bool read_some(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  int output_pipe_ = -1;
  int errors_pipe_ = -1;
  std::string output_;
  std::string errors_;
};

/// The processes on this machine, without zombies, that have `word` among their arguments.
std::vector<pid_t> processes_with_argument(const std::string& word);
/// Waits until there are none. Returns false if some are left after ten seconds.
bool all_gone(const std::string& word);
/// The child of `mend run` that is mpirun; fails the test if there is another number of them.
pid_t mpirun_of(const MendProcess& job);
/// Those of processes_with_argument(word) that mpirun has started: neither `job` itself nor its children.
std::vector<pid_t> launched_with_argument(const std::string& word, const MendProcess& job);
